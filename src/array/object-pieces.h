/* SPDX-License-Identifier: MIT */
/* A stored chunk's object, read in pieces of whole tiles, so that each can be
 * verified although the object may not fit into memory.  For copying. */
#ifndef RD_OBJECT_PIECES_H
#define RD_OBJECT_PIECES_H

#include "src/array/array.h"

/* Some contiguous bytes. */
struct rd_object_piece {
  uint64_t offset, nbytes;
  uint64_t first, n;          /* of its tiles, in rd_object_pieces.tiles */
};

/* A tile's bytes, or those of the index. */
struct rd_object_tile {
  uint64_t offset, nbytes;
  uint64_t tile;              /* its number; UINT64_MAX: the index */
};

struct rd_object_pieces {
  /* The caller's, valid until rd_object_pieces_close. */
  const struct radio_context *context;
  const struct rd_layout *layout;
  struct rd_io *io;
  const char *key;
  struct rd_io_file *file;            /* the object, held, or NULL */
  uint64_t object_nbytes;
  uint64_t target_nbytes;             /* of a piece, unless a tile is larger */

  struct rd_buffer index;             /* as it is stored; empty: unsharded */
  struct rd_object_tile *tiles;        /* by their offsets */
  uint64_t n;
  uint64_t at, next;                  /* offset and tile of the next piece */
  bool found_other;                   /* see rd_io_get.is_other */
};

/* Reads the object's index and checks it.  Damage is RADIO_ERROR_FORMAT or
 * RADIO_ERROR_CHECKSUM. */
enum radio_status rd_object_pieces_open (struct rd_object_pieces *pieces,
                                         struct rd_scratch *scratch)
  RADIO_USE_RESULT;
void rd_object_pieces_close (struct rd_object_pieces *pieces);
#define RD_OBJECT_PIECES_SCOPE RD_CLEANUP (rd_object_pieces_close)

/* Finds the next piece; false after the last one. */
bool rd_object_pieces_next (struct rd_object_pieces *pieces,
                            struct rd_object_piece *piece);

/* Sets up the read of a piece, except get->into and get->done.
 * RADIO_ERROR_LIMIT when there is no memory for such a piece. */
enum radio_status
rd_object_pieces_prepare_read (const struct rd_object_pieces *pieces,
                               const struct rd_object_piece *piece,
                               struct rd_io_get *get) RADIO_USE_RESULT;

/* Checks that all of the piece was read, of an object of the same size. */
enum radio_status
rd_object_pieces_check_read (struct rd_object_pieces *pieces,
                             const struct rd_object_piece *piece,
                             const struct rd_io_get *get) RADIO_USE_RESULT;

/* Verifies every tile of a piece, by its checksum or by decoding it. */
enum radio_status
rd_object_pieces_verify (const struct rd_object_pieces *pieces,
                         const struct rd_object_piece *piece,
                         const unsigned char *bytes,
                         struct rd_scratch *scratch) RADIO_USE_RESULT;

/* True if checksums cover all of an object, so that it can be verified by
 * itself. */
bool rd_layout_has_checksums (const struct rd_layout *layout);

#endif /* RD_OBJECT_PIECES_H */
