/* SPDX-License-Identifier: MIT */
/* Frames: scopes while they are open.  For scopes that come over from
 * another thread, which open and close a frame with a little more about
 * it. */
#ifndef RD_SCOPE_H
#define RD_SCOPE_H

#include "profiler/record/record.h"

/* Open a frame at a node (of rd_tree_child) on the entered writer.  shared
 * is what the new scope's parent has, here or elsewhere, or NULL; it is
 * entered.  What the site's kind asks for is done.  The frame's id is its
 * token.  NULL: too deep; the innermost node counts it as skipped. */
struct rd_frame *rd_frame_open (struct rd_writer_state *writer,
                                struct rd_node *node,
                                struct rd_shared *shared);

/* Close the innermost frame.  Calls what shared.h has where others are
 * concerned. */
void rd_frame_close (struct rd_writer_state *writer);

/* Add to the innermost scope on the entered writer. */
void rd_frame_count (struct rd_writer_state *writer,
                     const struct radio_counter *counter, uint64_t value);

#endif /* RD_SCOPE_H */
