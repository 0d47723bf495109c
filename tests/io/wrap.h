/* SPDX-License-Identifier: MIT */
/* The base of a store that wraps another one, and the functions of its table
 * that forward unchanged. */
#ifndef RD_WRAP_H
#define RD_WRAP_H

#include "io/io.h"

struct rd_wrap {
  struct rd_io base;
  struct rd_io *inner;        /* owned */
  struct rd_io_ops ops;       /* the wrapper's own table */
};

/* Begin a wrapper, whose table hands everything on to inner; the wrapper
 * then puts in its own functions.  close must be one of its own that ends
 * with rd_wrap_finish.  RADIO_ERROR_MEMORY; inner stays the caller's then.
 */
enum radio_status rd_wrap_init (struct rd_wrap *wrap, const char *name,
                                struct rd_io *inner) RADIO_USE_RESULT;

/* Closes the inner store and releases the memory of rd_wrap_init. */
void rd_wrap_finish (struct rd_wrap *wrap);

#endif /* RD_WRAP_H */
