/* SPDX-License-Identifier: MIT */
/* The volume that is measured: the one that was named, the first one of the
 * store, or a phantom in a temporary folder; and places in it. */
#ifndef RD_PROFILE_SUBJECT_H
#define RD_PROFILE_SUBJECT_H

#include "tools/names.h"

struct rd_subject {
  struct rd_args args;        /* the command's, with the phantom's store */
  struct rd_target target;
  bool is_borrowed;           /* the target: rd_subjects closes it */
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
    "temporary folder (default without a store: 256)" },                   \
  { RD_OPTION_TILING, "tiling", "TILING", "of the phantom" },           \
  { RD_OPTION_CODEC, "codec", "CODEC", "of the phantom" }

/* Handles one of the options above: 1, 0 for any other, -1 after a usage
 * error. */
int rd_subject_take (struct rd_args *args, int id,
                     struct rd_subject_options *options);

/* Checks the options, after the last one, with the operands; false after a
 * usage error. */
bool rd_subject_check (struct rd_args *args,
                       struct rd_subject_options *options);

/* Opens the volume; operand may be NULL.  A default that was chosen is printed
 * on stderr unless quiet.  Returns an exit status; prints errors; the subject
 * is to be closed in any case. */
int rd_subject_open (const struct rd_args *args, const char *operand,
                     const struct rd_subject_options *options, bool quiet,
                     struct rd_subject *subject);

/* Opens store and volume again, so that nothing of them is cached. */
int rd_subject_reopen (struct rd_subject *subject);

void rd_subject_close (struct rd_subject *subject);
#define RD_CLOSE_SUBJECT RD_CLEANUP (rd_subject_close)

/* Volumes that are measured in turn: those that the operands name or, without
 * any, the default of rd_subject_open. */
struct rd_subjects {
  struct rd_subject *list;
  size_t n;
  struct rd_nodes nodes;      /* that the operands name */
};

int rd_subjects_open (const struct rd_args *args,
                      const struct rd_subject_options *options, bool quiet,
                      struct rd_subjects *subjects);
void rd_subjects_close (struct rd_subjects *subjects);

/* Chooses a box of a size along x, y, z, at a random place or at `at' (x, y,
 * z); it has length 1 along other axes.  Returns an exit status; prints an
 * error when it does not fit. */
int rd_subject_box (const struct rd_subject *subject, const uint64_t size[3],
                    const uint64_t *at, uint64_t *state,
                    struct radio_box *box);

/* "64 x 64 x 64" of a box, x first; allocated, NULL after an error. */
char *rd_subject_shape_text (const struct rd_subject *subject,
                             const uint64_t *shape);

/* Bytes of a box as stored; 0 when that overflows. */
uint64_t rd_subject_nbytes (const struct rd_subject *subject,
                            const struct radio_box *box);

#endif /* RD_PROFILE_SUBJECT_H */
