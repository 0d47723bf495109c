/* SPDX-License-Identifier: MIT */
/* Planning a read: boxes -> the chunks that they touch -> tiles -> runs of
 * tiles that are fetched at once.  A plan is made batch by batch, so that a
 * box of any size is planned in bounded memory; a small read's plan fits
 * into the batch itself and allocates nothing. */
#ifndef RD_PLAN_H
#define RD_PLAN_H

#include <radio/array.h>

#include "src/array/index-cache.h"
#include "src/array/layout.h"
#include "src/array/tile-cache.h"

/* Of one batch, at most. */
#define RD_BATCH_MAX_TOUCHES 1024
#define RD_BATCH_MAX_TILES 16384

/* What one request wants of one chunk. */
struct rd_touch {
  size_t request;
  uint64_t chunk[RADIO_MAX_RANK];
  struct radio_box tiles;             /* in the chunk's grid of tiles */
  uint64_t first, n;                  /* which of them, in C order */
  uint64_t first_tile;                /* the chunk's, by its number in the
                                         array */

  /* Filled in when the indexes were read; the first touch of a chunk has
   * them for all touches of that chunk that follow it. */
  struct rd_index_entry *entry;
  struct rd_io_file *file;            /* its object, held, or NULL */
  bool missing;                       /* there is no such object */
  bool failed;                        /* its index is damaged */
  uint32_t first_item;                /* of the chunk's items */
};

/* One tile for one request. */
struct rd_item {
  struct rd_cached_tile *cached;      /* in use until the batch is done */
  uint64_t offset, nbytes;            /* in the object */
  uint64_t tile;                      /* number in the chunk, or: */
  uint32_t touch;
};
#define RD_ITEM_WHOLE UINT64_MAX      /* all of a chunk that is missing */

/* The offset of a tile that need not be fetched, beyond those of others. */
#define RD_ITEM_CACHED (RD_SHARD_MISSING - 1)

enum rd_unit_kind {
  RD_UNIT_FILL,                       /* nothing is stored */
  RD_UNIT_CACHED,                     /* tiles that were decoded before */
  RD_UNIT_SPAN,                       /* some tiles of a shard */
  RD_UNIT_OBJECT,                     /* a whole object, one tile */
};

/* Items that are fetched at once; those of one tile follow each other. */
struct rd_unit {
  enum rd_unit_kind kind;
  uint32_t first, n;                  /* items */
  uint64_t offset, nbytes;            /* SPAN */
  uint64_t shard_nbytes;              /* SPAN */
  uint64_t shard_version;             /* SPAN */
  struct rd_io_file *file;            /* the object, held, or NULL */
};

#define RD_BATCH_INLINE 16

struct rd_batch {
  struct rd_touch *touches;
  struct rd_item *items;
  struct rd_unit *units;
  uint32_t ntouches, nitems, nunits;
  uint32_t touch_room, item_room, unit_room;
  uint32_t ncached;                   /* items */
  uint64_t most_unit_nbytes;          /* of the largest unit */
  struct rd_touch inline_touches[RD_BATCH_INLINE / 2];
  struct rd_item inline_items[RD_BATCH_INLINE];
  struct rd_unit inline_units[RD_BATCH_INLINE];
};

void rd_batch_init (struct rd_batch *batch);
void rd_batch_free (struct rd_batch *batch);
#define RD_BATCH_SCOPE RD_CLEANUP (rd_batch_free)

/* Where planning stands. */
struct rd_walk {
  const struct rd_layout *layout;
  const struct radio_request *requests;
  size_t n, at;
  bool inside;                        /* requests[at] was begun */
  struct radio_box chunks;            /* that it touches */
  uint64_t chunk[RADIO_MAX_RANK];
  uint64_t first;                     /* tiles of the chunk done */
};

/* Replace the batch's touches by the next ones, those of one chunk together;
 * none are left when ntouches is 0.  max_index_nbytes bounds the indexes
 * that they need, beyond one. */
enum radio_status rd_plan_touches (struct rd_walk *walk,
                                   uint64_t max_index_nbytes,
                                   struct rd_batch *batch) RADIO_USE_RESULT;

/* How to join tiles to one fetch. */
struct rd_coalesce {
  uint64_t gap_nbytes, cap_nbytes;
  unsigned nworkers;                  /* give each some units; 0: as large
                                         as the cap lets them */
};

/* Where to look for tiles of an array that were decoded before. */
struct rd_known {
  struct rd_tile_cache *cache;        /* NULL: nowhere */
  uint64_t array;
};

/* What an item's tile, of one touch, is kept under. */
struct rd_tile_key rd_item_key (const struct rd_known *known,
                                const struct rd_touch *touch,
                                const struct rd_item *item);

/* Make items and units of the batch's touches, whose entries were filled
 * in. */
enum radio_status rd_plan_units (const struct rd_layout *layout,
                                 const struct rd_coalesce *coalesce,
                                 const struct rd_known *known,
                                 struct rd_batch *batch) RADIO_USE_RESULT;

/* End the use of cached tiles. */
void rd_plan_release (const struct rd_known *known, struct rd_batch *batch);

/* Whether touch i is the first of its chunk. */
bool rd_touch_is_head (const struct rd_batch *batch, uint32_t i);

#endif /* RD_PLAN_H */
