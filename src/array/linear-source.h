/* SPDX-License-Identifier: MIT */
/* Where the bytes of an array without tiles come from: its elements lie in one
 * object, or in the caller's memory, at a fixed distance from each other along
 * each axis, as in an image's file. */
#ifndef RD_LINEAR_SOURCE_H
#define RD_LINEAR_SOURCE_H

#include <radio/box.h>

#include "src/base/file-identity.h"

struct rd_io_file;
struct rd_tile_read;

/* Bytes that are read at once: the elements of a box, or of a part of it, and
 * the bytes between them.  Or, if the source supports it, some pieces of nbytes
 * at a fixed distance, which are placed one after the other. */
struct rd_linear_run {
  uint64_t offset, nbytes;            /* among the array's bytes */
  uint64_t npieces, distance;
  size_t request;                     /* that wants them */
  uint64_t number;                    /* of the request's runs */
};

/* Every source begins with this. */
struct rd_linear {
  /* Reads runs, of which each begins at or after the one before, and calls
   * rd_linear_place for each, in any order and on any threads. */
  enum radio_status (*read) (struct rd_linear *linear,
                             struct rd_tile_read *read,
                             const struct rd_linear_run *runs, size_t n);
  void (*close) (struct rd_linear *linear);

  /* Elements are read as one run if the gap between them is at most this, and
   * the whole at most the cap.  Pieces of a run are at most pieces_nbytes
   * together; 0: the source takes none. */
  uint64_t gap_nbytes, cap_nbytes, pieces_nbytes;

  bool is_mapped;                     /* pieces are placed where they are */
  bool is_inflated;                   /* what is before a byte is read, too,
                                         from a point of entry on; has warn */

  /* Gives a warning about reads to the source's opener, once. */
  void (*warn) (struct rd_linear *linear, const char *what);

  struct rd_io_file *file;            /* held, or NULL */

  /* The first element, in memory of the caller's; NULL: it is not there.  If it
   * is, all above but close is not used. */
  const unsigned char *memory;

  /* Set by its opener. */
  bool is_identified;                 /* the next is known, and will not be that
                                         of another content */
  struct rd_file_identity identity;     /* of the object, when it was opened */
  int64_t strides[RADIO_MAX_RANK];    /* of elements, in bytes; positive, but
                                         in memory */
  bool swapped;                       /* elements in the other byte order */
  uint64_t nbytes;                    /* of all elements */
  uint64_t missing_nbytes;            /* at their end: the object is cut short
                                         */
};

#endif /* RD_LINEAR_SOURCE_H */
