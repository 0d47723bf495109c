/* SPDX-License-Identifier: MIT */
/* Random arrays, made through the public API in a store in memory, with the
 * same elements beside them in C order: what a read must deliver is found
 * there by a loop over elements that knows nothing of chunks. */
#ifndef RD_TESTS_ARRAY_MODEL_H
#define RD_TESTS_ARRAY_MODEL_H

#include "tests/unit.h"

#include <radio/array.h>

#include "io/io.h"

struct model {
  uint64_t seed;
  struct radio_context *context;
  struct radio_store *store;
  struct radio_array *array;
  struct radio_array_info info;
  struct radio_array_options options;
  char codecs[2048];
  const char *fill_json;
  unsigned char fill[16];             /* one element */
  unsigned char *elements;            /* C order */
  size_t count;                       /* of elements */
};

/* A number of 0 to n-1. */
uint64_t model_below (struct model *model, uint64_t n);

/* Make an array of some shape, type and codecs, all by the seed.  With
 * deferred the store does not block. */
void model_open (struct model *model, uint64_t seed, unsigned nthreads,
                 bool deferred);

/* The same with these options; rank 0: some. */
void model_open_as (struct model *model, uint64_t seed, unsigned nthreads,
                    bool deferred, const struct radio_array_options *options);

void model_close (struct model *model);

/* Fill the array with elements, chunk row by chunk row or all at once; some
 * chunks stay or become fill value. */
void model_write (struct model *model);

/* A random box within the array; maybe empty. */
struct radio_box model_box (struct model *model);

/* Read a box with some strides and compare it with the elements. */
void model_compare (struct model *model, const struct radio_box *box);

/* The element at some point. */
const unsigned char *model_element (const struct model *model,
                                    const uint64_t *at);

/* Compare what was delivered in C order with the elements. */
void model_compare_c_order (const struct model *model,
                            const struct radio_box *box,
                            const unsigned char *delivered);

#endif /* RD_TESTS_ARRAY_MODEL_H */
