/* SPDX-License-Identifier: MIT */
/* What is measured: the volume that was named, the first of the store, or a
 * phantom in a temporary folder; and places in it. */
#ifndef RD_PROFILE_SUBJECT_H
#define RD_PROFILE_SUBJECT_H

#include "tools/names.h"

struct rd_subject {
  struct rd_args args;        /* the command's, with the phantom's store */
  struct rd_target target;
  struct radio_volume_info info;
  char *folder;               /* of the volume's files; allocated */
  char *temp;                 /* the phantom's store lies in it; or NULL */
  size_t axis_of[3];          /* array axes of x, y, z; rank: not there */
};

struct rd_subject_options {
  bool phantom;               /* --phantom: also where there is a store */
  uint64_t shape[3];          /* z, y, x; of the phantom */
  const char *tiling, *codec; /* of the phantom */
};

#define RD_SUBJECT_SHAPE { 256, 256, 256 }

#define RD_SUBJECT_OPTIONS                                              \
  { RD_OPTION_PHANTOM, "phantom", "N|X,Y,Z",                            \
    "measure a synthetic head CT of this size, in a\n"                  \
    "temporary folder (also without a store: 256)" },                   \
  { RD_OPTION_TILING, "tiling", "TILING", "of the phantom" },           \
  { RD_OPTION_CODEC, "codec", "CODEC", "of the phantom" }

/* Take one of the options above: 1, 0 when it is none of them, -1 after
 * telling a mistake. */
int rd_subject_take (struct rd_args *args, int id,
                     struct rd_subject_options *options);

/* After the last option: whether they go together with the operands; false
 * after telling. */
bool rd_subject_settle (struct rd_args *args,
                        struct rd_subject_options *options);

/* Open what is to be measured; operand may be NULL.  What was chosen without
 * being named is told on stderr unless quiet.  Returns an exit status, after
 * complaining; the subject is to be closed in any case. */
int rd_subject_open (const struct rd_args *args, const char *operand,
                     const struct rd_subject_options *options, bool quiet,
                     struct rd_subject *subject);

/* Open its store and volume anew, so that nothing of them is remembered. */
int rd_subject_reopen (struct rd_subject *subject);

void rd_subject_close (struct rd_subject *subject);
#define RD_CLOSE_SUBJECT RD_CLEANUP (rd_subject_close)

/* A box of so many voxels along x, y, z, as random as state; axes beside
 * these are one thick.  With at (x, y, z) it stands there.  Returns an exit
 * status, after complaining that it does not fit. */
int rd_subject_box (const struct rd_subject *subject, const uint64_t size[3],
                    const uint64_t *at, uint64_t *state,
                    struct radio_box *box);

/* "64 x 64 x 64" of a box, x first; allocated, NULL after complaining. */
char *rd_subject_shape_text (const struct rd_subject *subject,
                             const uint64_t *shape);

/* Bytes of a box as stored; 0 when that overflows. */
uint64_t rd_subject_nbytes (const struct rd_subject *subject,
                            const struct radio_box *box);

#endif /* RD_PROFILE_SUBJECT_H */
