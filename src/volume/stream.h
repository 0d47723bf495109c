/* SPDX-License-Identifier: MIT */
/* A box of an array as a stream of bytes, in any order of axes: read slab by
 * slab in bounded memory, each slab being consumed while the next one is
 * read. */
#ifndef RD_STREAM_H
#define RD_STREAM_H

#include <radio/array.h>
#include <radio/profile.h>

struct rd_inflation;
struct rd_read_stop;
struct rd_scaling;

struct rd_stream {
  struct radio_array *array;
  struct radio_box box;
  /* The array's axes, from the slowest in the stream to the fastest. */
  size_t order[RADIO_MAX_RANK];
  enum radio_dtype dtype;     /* of the elements delivered; not STORED */
  size_t item_nbytes;         /* of one */
  const struct rd_scaling *scaling;   /* NULL: values as they are stored */
  struct rd_read_stop *stop;          /* of the reads; NULL: none */
  const struct radio_site *site;      /* of consuming, in profiles */
};

/* The stream of a whole array as it is stored, in the order of its axes. */
struct rd_stream rd_stream_of (struct radio_array *array);

/* Consumes the next bytes; on any thread, but one call after the other.  It
 * may modify them. */
typedef enum radio_status rd_stream_fn (void *user_data, void *data,
                                        size_t nbytes);

enum radio_status rd_stream_run (const struct rd_stream *stream,
                                 rd_stream_fn *take, void *user_data)
  RADIO_USE_RESULT;

/* The division of a box into slabs: the axes before order[cut] one element at
 * a time, that one by `step' elements from multiples of `step' on, those
 * after it whole. */
struct rd_slabs {
  size_t cut;
  uint64_t step;
};

/* Choose slabs of about target_nbytes and, if the tiles permit, of at most
 * max_nbytes, so that tiles are decoded once: slabs are layers of whole tiles
 * if one such layer fits. */
void rd_slabs_choose (const struct rd_stream *stream,
                      const uint64_t *tile_shape, uint64_t target_nbytes,
                      uint64_t max_nbytes, struct rd_slabs *slabs);

/* The same within the memory limit of the array's context; nbytes is the size
 * of the largest slab.  RADIO_ERROR_LIMIT if two do not fit.  The box must not
 * be empty.  If the slabs inflate a file often, its opener is warned. */
enum radio_status rd_slabs_plan (const struct rd_stream *stream,
                                 struct rd_slabs *slabs, uint64_t *nbytes)
  RADIO_USE_RESULT;

/* The first slab of a stream's box, which must not be empty, and the next
 * one; false after the last. */
void rd_slabs_first (const struct rd_stream *stream,
                     const struct rd_slabs *slabs, struct radio_box *slab);
bool rd_slabs_next (const struct rd_stream *stream,
                    const struct rd_slabs *slabs, struct radio_box *slab);

/* Finds what the slabs of a stream read of a file, which the array is made
 * of. */
enum radio_status rd_stream_inflation (const struct rd_stream *stream,
                                       struct rd_inflation *inflation)
  RADIO_USE_RESULT;

/* Reads a slab with its bytes in the stream's order; nbytes is set to their
 * number. */
enum radio_status rd_slab_read (const struct rd_stream *stream,
                                const struct radio_box *slab, void *data,
                                size_t *nbytes) RADIO_USE_RESULT;

/* A slab that is read while the calling thread does other work. */
struct rd_slab_read {
  int64_t strides[RADIO_MAX_RANK];
  struct radio_read *read;            /* NULL: none was started */
};

/* Returns whether a stream's slabs can be read so without holding a thread: it
 * is of a store whose requests are asynchronous, and of tiles. */
bool rd_slab_may_start (const struct rd_stream *stream);

/* Starts to read a slab into data: what is given stays valid until
 * rd_slab_end. */
enum radio_status rd_slab_start (const struct rd_stream *stream,
                                 const struct radio_box *slab, void *data,
                                 size_t *nbytes, struct rd_slab_read *read)
  RADIO_USE_RESULT;

/* Waits until it is read; its result. */
enum radio_status rd_slab_wait (struct rd_slab_read *read) RADIO_USE_RESULT;

/* Ends it, if it was started.  Keeps the thread's message. */
void rd_slab_end (struct rd_slab_read *read);

#endif /* RD_STREAM_H */
