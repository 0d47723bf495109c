/* SPDX-License-Identifier: MIT */
/* A chunk's object as it lies in a store, taken piece by piece: a piece is
 * some whole tiles, so that each can be checked without its object having to
 * fit into memory.  How objects are copied. */
#ifndef RD_CUTS_H
#define RD_CUTS_H

#include "src/array/array.h"

/* Some bytes that follow each other. */
struct rd_cut {
  uint64_t offset, nbytes;
  uint64_t first, n;          /* of the tiles in it, by their place */
};

/* A tile's bytes, or those of the index. */
struct rd_cut_tile {
  uint64_t offset, nbytes;
  uint64_t tile;              /* its number, or RD_CUT_INDEX */
};
#define RD_CUT_INDEX UINT64_MAX

struct rd_cuts {
  /* The caller's, to stay until the end. */
  const struct radio_context *context;
  const struct rd_layout *layout;
  struct rd_io *io;
  const char *key;
  struct rd_io_file *file;            /* the object, held, or NULL */
  uint64_t object_nbytes;
  uint64_t target_nbytes;             /* of a piece, unless a tile is larger */

  struct rd_buffer index;             /* as it is stored; empty: unsharded */
  struct rd_cut_tile *tiles;        /* by their offsets */
  uint64_t n;
  uint64_t at, next;                  /* where the walk stands */
};

/* Read the object's index and check it.  Damage is RADIO_ERROR_FORMAT or
 * RADIO_ERROR_CHECKSUM. */
enum radio_status rd_cuts_open (struct rd_cuts *cuts,
                                struct rd_scratch *scratch)
  RADIO_USE_RESULT;
void rd_cuts_close (struct rd_cuts *cuts);
#define RD_CUTS_SCOPE RD_CLEANUP (rd_cuts_close)

/* The next piece; false when there is none. */
bool rd_cuts_next (struct rd_cuts *cuts, struct rd_cut *piece);

/* Read one; get->into is given, and done, if it is not waited for.
 * RADIO_ERROR_LIMIT when there is no memory for such a piece. */
enum radio_status rd_cuts_ask (const struct rd_cuts *cuts,
                               const struct rd_cut *piece,
                               struct rd_io_get *get) RADIO_USE_RESULT;

/* Look at what came: the whole piece, of an object of the same size. */
enum radio_status rd_cuts_look (const struct rd_cuts *cuts,
                                const struct rd_cut *piece,
                                const struct rd_io_get *get)
  RADIO_USE_RESULT;

/* Check every tile of it, by its checksum or by decoding it. */
enum radio_status rd_cuts_check (const struct rd_cuts *cuts,
                                 const struct rd_cut *piece,
                                 const unsigned char *bytes,
                                 struct rd_scratch *scratch)
  RADIO_USE_RESULT;

/* Whether every bit of an object that matters is under a checksum, so that
 * it can be told to be whole by itself. */
bool rd_layout_has_checksums (const struct rd_layout *layout);

#endif /* RD_CUTS_H */
