/* SPDX-License-Identifier: MIT */
/* For formats with tables of functions: the places in the program that
 * the nodes of a tree stand for, each once. */
#ifndef RD_FRAMES_H
#define RD_FRAMES_H

#include "profiler/model/profile.h"

/* Nodes of equal name, file and line are one frame, anywhere in the tree. */
struct rd_frames {
  uint32_t *of_node;          /* the frame of each node */
  uint32_t *node;             /* of each frame: one node that it is of */
  uint32_t n;
};

/* Frames are in the order of their names.  RADIO_ERROR_MEMORY. */
enum radio_status rd_frames_make (const struct radio_profile *profile,
                                  struct rd_frames *frames)
  RADIO_USE_RESULT;

void rd_frames_free (struct rd_frames *frames);

#define RD_FRAMES_SCOPE RD_CLEANUP (rd_frames_free)

/* The node that a frame's name, file and line are taken from. */
static inline const struct radio_profile_node *
rd_frames_node (const struct radio_profile *profile,
                const struct rd_frames *frames, uint32_t frame)
{
  return &profile->nodes.at[frames->node[frame]];
}

#endif /* RD_FRAMES_H */
