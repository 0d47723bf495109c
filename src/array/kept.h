/* SPDX-License-Identifier: MIT */
/* Facts about arrays that took a pass over their elements: kept in the context,
 * so that another handle on the same level does not take it again. */
#ifndef RD_KEPT_H
#define RD_KEPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/buffer.h"

/* The most bytes of a fact. */
#define RD_KEPT_NBYTES 64

struct rd_kept;

struct rd_kept_list {
  pthread_mutex_t mutex;
  struct {
    struct rd_kept *first;            /* the newest */
  } synced;
};

void rd_kept_init (struct rd_kept_list *list);
void rd_kept_clear (struct rd_kept_list *list);

/* Copies a fact of nbytes; false if it is not kept.  A key is any bytes. */
bool rd_kept_find (struct rd_kept_list *list, const struct rd_buffer *key,
                   void *fact, size_t nbytes);

/* Keeps a fact of up to RD_KEPT_NBYTES.  Does nothing without memory for it;
 * the oldest of many are forgotten. */
void rd_kept_add (struct rd_kept_list *list, const struct rd_buffer *key,
                  const void *fact, size_t nbytes);

#endif /* RD_KEPT_H */
