/* SPDX-License-Identifier: MIT */
/* Writing a whole array as it is read from a file: layer by layer of tiles,
 * each encoded by the pool while the caller reads the next ones, and appended
 * to its shard in the order in which the layers were given.  So only a few
 * layers are in memory, never a shard.
 *
 * A layer is a box of whole tiles (or up to the array's end) within one
 * shard.  The layers of a shard follow each other without those of another
 * one in between; together they are all of it.  A shard holds its tiles layer
 * by layer, in C order within each. */
#ifndef RD_WRITE_LAYERS_H
#define RD_WRITE_LAYERS_H

#include "src/array/array.h"

struct rd_layers;

/* Called with the elements of each layer as they were given: one layer after
 * the other, in order, on any thread. */
typedef enum radio_status rd_layers_observe_fn (void *user_data,
                                                const void *elements,
                                                size_t nbytes);

struct rd_layers_observer {
  rd_layers_observe_fn *observe;
  void *user_data;
  const struct radio_site *site;      /* in profiles */
};

/* Starts to write a sharded array in layers of at most this shape, holding as
 * many of them at a time as the context's memory allows; RADIO_ERROR_LIMIT
 * when it allows not even one.  The observer is copied; NULL is legal. */
enum radio_status rd_layers_open (struct radio_array *array,
                                  const uint64_t *shape,
                                  const struct rd_layers_observer *observer,
                                  struct rd_layers **layers)
  RADIO_USE_RESULT;

/* Returns how many layers are held at a time.  From 2 on, the elements of one
 * are not changed while the next one is being filled.  For tests. */
unsigned rd_layers_count (const struct rd_layers *layers);

/* Returns the buffer for the elements of the next layer, which is free once an
 * earlier layer has been written; or the failure of writing that. */
enum radio_status rd_layers_buffer (struct rd_layers *layers,
                                    unsigned char **buffer)
  RADIO_USE_RESULT;

/* Encodes and writes the elements in the buffer.  strides are of the box's
 * elements in bytes, without gaps between them; swapped when they are not in
 * the machine's byte order. */
enum radio_status rd_layers_give (struct rd_layers *layers,
                                  const struct radio_box *box,
                                  const int64_t *strides, bool swapped)
  RADIO_USE_RESULT;

/* Writes the remaining layers, and has them observed.  The shards may not be
 * durable yet: the caller can do other work meanwhile. */
enum radio_status rd_layers_complete (struct rd_layers *layers)
  RADIO_USE_RESULT;

/* The same, and waits until all shards are durable; *stored_nbytes is
 * increased by their size. */
enum radio_status rd_layers_finish (struct rd_layers *layers,
                                    uint64_t *stored_nbytes)
  RADIO_USE_RESULT;

/* Waits for running tasks, drops the shard that is not complete, and frees the
 * rest.  The thread's message is kept; NULL is legal. */
void rd_layers_close (struct rd_layers *layers);
RD_DEFINE_CLEANUP (layers, struct rd_layers, rd_layers_close);

#endif /* RD_WRITE_LAYERS_H */
