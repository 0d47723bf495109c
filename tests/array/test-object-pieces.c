/* SPDX-License-Identifier: MIT */
/* Splitting objects into pieces, whatever their indexes say: gaps, tiles that
 * overlap or are stored once for several, tiles larger than a piece. */
#include <config.h>

#include <stdlib.h>

#include "src/array/object-pieces.h"
#include "tests/element/random.h"
#include "tests/unit.h"

#define MAX_TILES 40

static int
compare (const void *a, const void *b)
{
  const struct rd_object_tile *x = a, *y = b;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Any tiles within an object of any size. */
static void
make (uint64_t *seed, struct rd_object_tile *tiles,
      struct rd_object_pieces *pieces)
{
  *pieces = (struct rd_object_pieces) {
    .object_nbytes = 1 + random_next (seed) % 2000,
    .target_nbytes = 1 + random_next (seed) % 300,
    .tiles = tiles, .n = random_next (seed) % MAX_TILES,
  };
  for (uint64_t i = 0; i < pieces->n; i++) {
    uint64_t offset = random_next (seed) % pieces->object_nbytes;
    uint64_t left = pieces->object_nbytes - offset;
    uint64_t most = random_next (seed) % 4 ? 50 : 1000;
    uint64_t nbytes = 1 + random_next (seed) % (left < most ? left : most);
    tiles[i] = (struct rd_object_tile) { offset, nbytes, i };
  }
  qsort (tiles, pieces->n, sizeof *tiles, compare);
}

static void
assert_tiles_are_within (const struct rd_object_pieces *pieces,
                         const struct rd_object_piece *piece)
{
  for (uint64_t i = piece->first; i < piece->first + piece->n; i++) {
    const struct rd_object_tile *tile = &pieces->tiles[i];
    assert_true (tile->offset >= piece->offset);
    assert_true (tile->offset + tile->nbytes
                 <= piece->offset + piece->nbytes);
  }
}

static void
pieces_cover_the_object_and_each_tile_is_in_one (void **state)
{
  (void) state;
  uint64_t seed = 1;
  for (int round = 0; round < 20000; round++) {
    struct rd_object_tile tiles[MAX_TILES];
    struct rd_object_pieces pieces;
    struct rd_object_piece piece;
    uint64_t at = 0, next = 0;
    make (&seed, tiles, &pieces);
    while (rd_object_pieces_next (&pieces, &piece)) {
      assert_int_equal (piece.offset, at);
      assert_int_equal (piece.first, next);
      assert_true (piece.nbytes > 0);
      assert_tiles_are_within (&pieces, &piece);
      at += piece.nbytes;
      next += piece.n;
    }
    assert_int_equal (at, pieces.object_nbytes);
    assert_int_equal (next, pieces.n);
  }
}

/* Small tiles, one after the other: no piece is longer than it was to be by
 * more than a tile. */
static void
pieces_are_about_as_large_as_requested (void **state)
{
  (void) state;
  struct rd_object_tile tiles[MAX_TILES];
  for (uint64_t target = 1; target < 300; target++) {
    struct rd_object_pieces pieces = {
      .object_nbytes = MAX_TILES * 7 + 1000, .target_nbytes = target,
      .tiles = tiles, .n = MAX_TILES,
    };
    struct rd_object_piece piece;
    for (uint64_t i = 0; i < MAX_TILES; i++)
      tiles[i] = (struct rd_object_tile) { i * 7, 7, i };
    while (rd_object_pieces_next (&pieces, &piece))
      assert_in_range (piece.nbytes, 1, target + 6);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (pieces_cover_the_object_and_each_tile_is_in_one),
    cmocka_unit_test (pieces_are_about_as_large_as_requested),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
