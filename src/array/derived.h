/* SPDX-License-Identifier: MIT */
/* Arrays that are derived from others as they are read: a box is cut into boxes
 * of the source, whose elements are placed in another order, and computed, on
 * the way to the caller; no other tiles are read than those that hold them. */
#ifndef RD_DERIVED_H
#define RD_DERIVED_H

#include "src/array/array.h"
#include "src/array/stop.h"
#include "src/element/copy.h"
#include "src/operation/grid.h"
#include "src/operation/row.h"

/* An element of padding. */
struct rd_fill {
  unsigned char stored[RD_ITEM_MAX_NBYTES];   /* of the source's type */
  double value;               /* what the kernels from first_kernel on get */
  size_t first_kernel;
};

struct rd_derived {
  struct radio_array *source;         /* not derived */
  bool owns_source;                   /* else it lives longer */
  struct rd_grid grid;
  size_t nfills;
  struct rd_fill *fills;

  bool computes;                      /* the program is used */
  struct rd_row_program program;

  /* Completes the program by what must be known of the whole source; NULL: it
   * is complete.  Called by the first read, whose stop may be NULL, and again
   * only if it failed. */
  enum radio_status (*complete) (struct rd_derived *derived,
                                 struct rd_read_stop *stop);
  void *data;                         /* its own */
  void (*free_data) (void *data);
  pthread_mutex_t mutex;              /* of completing */
  atomic_bool is_complete;
  atomic_bool has_nan;                /* some value that was computed is NaN */
};

/* Calls a function, which may be NULL, with one line if a derived array has
 * computed NaN. */
void rd_derived_warn (const struct radio_array *array,
                      radio_warning_fn *warning, void *user_data);

/* Opens the array that derived describes, whose members are set except the
 * last three; its document is doc.  Both are taken, also on failure. */
enum radio_status rd_derived_open (struct rd_derived *derived,
                                   struct rd_array_doc *doc,
                                   struct radio_array **array)
  RADIO_USE_RESULT;

void rd_derived_free (struct rd_derived *derived);
RD_DEFINE_CLEANUP (derived, struct rd_derived, rd_derived_free);

/* Completes the program, or waits for the thread that does. */
enum radio_status rd_derived_complete (struct rd_derived *derived,
                                       struct rd_read_stop *stop)
  RADIO_USE_RESULT;

/* The placement of the elements of a request for the source. */
struct rd_piece {
  int64_t strides[RADIO_MAX_RANK];
  uint64_t repeat[RADIO_MAX_RANK];    /* an element, that often along strides */
  bool repeats;
};

struct rd_pieces {
  size_t n;
  struct radio_request *requests;     /* strides are those of the list */
  struct rd_piece *list;
};

/* Cuts requests, which are checked, into those for the source; padding is
 * written at once.  delivery: how an element of the source's type is copied; of
 * computed values how one of the type of computation is. */
enum radio_status rd_derived_cut (const struct rd_derived *derived,
                                  const struct radio_request *requests,
                                  size_t n, const struct rd_box_copy *delivery,
                                  size_t item_nbytes,
                                  struct rd_pieces *pieces) RADIO_USE_RESULT;

void rd_pieces_free (struct rd_pieces *pieces);

#endif /* RD_DERIVED_H */
