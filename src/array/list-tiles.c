/* SPDX-License-Identifier: MIT */
/* The tiles that a read of a box decodes: found as a read finds them, through
 * all that derives and samples, but nothing is read. */
#include <config.h>

#include <stdlib.h>

#include "src/array/context.h"
#include "src/array/derived.h"
#include "src/array/sampled.h"
#include "src/base/checked.h"
#include "src/base/reserve.h"
#include "src/element/box.h"

/* Numbers of tiles in the C order of the whole array's. */
struct tiles {
  const struct radio_array *array;    /* that has them; NULL: none yet */
  uint64_t *list;
  size_t n, capacity;
};

static void
free_tiles (struct tiles *tiles)
{
  rd_free (tiles->list);
}

static int
compare_numbers (const void *a, const void *b)
{
  return rd_compare_u64 (*(const uint64_t *) a, *(const uint64_t *) b);
}

static void
sort_tiles (struct tiles *tiles)
{
  size_t n = 0;
  if (tiles->n > 0)
    qsort (tiles->list, tiles->n, sizeof *tiles->list, compare_numbers);
  for (size_t i = 0; i < tiles->n; i++)
    if (n == 0 || tiles->list[n - 1] != tiles->list[i])
      tiles->list[n++] = tiles->list[i];
  tiles->n = n;
}

/* The tiles of the whole array, by axis. */
static uint64_t
count_along (const struct radio_array *array, size_t i)
{
  return rd_div_up (array->doc->shape[i], array->layout.tile.shape[i]);
}

/* Makes room.  Boxes that overlap do not let the list grow without end. */
static enum radio_status
grow_tiles (struct tiles *tiles)
{
  sort_tiles (tiles);
  if (tiles->n < tiles->capacity / 2)
    return RADIO_OK;
  RD_TRY (rd_context_allows (tiles->array->store->context,
                             rd_mul_sat (2 * (uint64_t) tiles->capacity,
                                         sizeof *tiles->list),
                             "listing the tiles of a box"));
  return rd_reserve (&tiles->list, &tiles->capacity, tiles->capacity,
                     sizeof *tiles->list);
}

static enum radio_status
add_tiles (const struct radio_array *array, const struct radio_box *box,
           void *user_data)
{
  struct tiles *tiles = user_data;
  struct radio_box cells;
  uint64_t cell[RADIO_MAX_RANK];
  if (array->linear)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "an image in its file, or in "
                    "memory, has no tiles");
  tiles->array = array;
  rd_grid_touched (box, array->layout.tile.shape, &cells);
  rd_box_unravel (&cells, 0, cell);
  do {
    uint64_t number = 0;
    for (size_t i = 0; i < box->rank; i++)
      number = number * count_along (array, i) + cell[i];
    if (tiles->n == tiles->capacity)
      RD_TRY (grow_tiles (tiles));
    tiles->list[tiles->n++] = number;
  } while (rd_box_next (&cells, cell));
  return RADIO_OK;
}

/* Adds the tiles of boxes of the array that has the elements. */
static enum radio_status
touch (const struct radio_array *array, const struct radio_box *box,
       void *tiles)
{
  struct rd_grid_cursor cursor;
  struct rd_grid_piece piece;
  if (radio_box_count (box) == 0)
    return RADIO_OK;
  if (array->sampled)
    return rd_sampled_boxes (array->sampled, box, touch, tiles);
  if (!array->derived)
    return add_tiles (array, box, tiles);
  if (rd_grid_cursor_init (&cursor, &array->derived->grid, box) == 0)
    return RADIO_OK;
  while (rd_grid_next (&cursor, &piece))
    if (piece.fill == 0)
      RD_TRY (touch (array->derived->source, &piece.source, tiles));
  return RADIO_OK;
}

/* Returns the part of the array that a tile holds. */
static struct radio_box
tile_box (const struct radio_array *array, uint64_t number)
{
  struct radio_box box = { .rank = array->doc->rank };
  for (size_t i = box.rank; i-- > 0;) {
    uint64_t n = count_along (array, i), size = array->layout.tile.shape[i];
    box.start[i] = number % n * size;
    box.size[i] = rd_min_u64 (size, array->doc->shape[i] - box.start[i]);
    number /= n;
  }
  return box;
}

enum radio_status
radio_array_list_tiles (struct radio_array *array,
                        const struct radio_box *wanted,
                        radio_tile_fn *callback, void *user_data)
{
  struct tiles tiles RD_CLEANUP (free_tiles) = { .n = 0 };
  RD_NOT_NULL (array);
  RD_NOT_NULL (callback);
  if (wanted)
    RD_TRY (rd_array_check_box (array, wanted));
  const struct radio_box box = wanted ? *wanted
                               : rd_box_whole (array->doc->rank,
                                               array->doc->shape);
  enum radio_status status = touch (array, &box, &tiles);
  if (status != RADIO_OK)
    return rd_array_fail_in (array, status);
  sort_tiles (&tiles);
  for (size_t i = 0; i < tiles.n; i++) {
    const struct rd_layout *layout = &tiles.array->layout;
    uint64_t nbytes = layout->tile.type.dtype == RADIO_STRING
                      ? 0 : layout->tile_nbytes;
    const struct radio_box tile = tile_box (tiles.array, tiles.list[i]);
    RD_TRY (callback (&tile, nbytes, user_data));
  }
  return RADIO_OK;
}
