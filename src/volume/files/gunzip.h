/* SPDX-License-Identifier: MIT */
/* The elements of an array in a gzip file, read from anywhere in it.  On the
 * way through the file points of entry are kept: where a block of deflate
 * begins, and the 32 KiB before it that the block may refer to.  A later read
 * begins at the nearest point, and threads inflate from several at once.
 * Known as zran, after the example of that name in zlib.  Members that say how
 * long they are, as BGZF's and pgzip's do, are inflated by all threads from the
 * first read on. */
#ifndef RD_GUNZIP_H
#define RD_GUNZIP_H

#include "src/array/linear.h"
#include "src/volume/files/index-file.h"

struct rd_gunzip_options {
  uint64_t point_gap_nbytes;          /* inflated between two points; 0: as
                                         much as is of use */

  /* The length that the first member claims in its header, or 0. */
  uint64_t first_member_nbytes;

  /* NULL: its points are for this handle alone. */
  const struct rd_file_identity *identity;

  /* The path of a local file; NULL: it is not local, and points are neither
   * looked for nor kept on disk. */
  const char *path;
  const char *index_folder;           /* as radio_file_options has it */
  bool keep_index;
  radio_warning_fn *warning;          /* as radio_file_options has it */
  void *user_data;
};

/* The elements are the nbytes bytes from offset on, after inflating the
 * object. */
enum radio_status rd_gunzip_open (const struct rd_linear_object *object,
                                  uint64_t offset, uint64_t nbytes,
                                  const struct rd_gunzip_options *options,
                                  struct rd_linear **linear)
  RADIO_USE_RESULT;

/* Returns the number of points that are kept now.  For tests. */
size_t rd_gunzip_npoints (struct rd_linear *linear);

#endif /* RD_GUNZIP_H */
