/* SPDX-License-Identifier: MIT */
/* What redacting looks for within texts that are no names: of each name the
 * whole, every component of its path, and the last one without its suffix.
 *
 * First all names are added, then the set is closed, then pieces are looked
 * up; each of them has room for what stands in its place. */
#ifndef RD_PIECES_H
#define RD_PIECES_H

#include "profiler/model/intern.h"
#include "profiler/model/profile.h"

struct rd_piece {
  const char *name;           /* the set's own */
  const char *pseudonym;      /* the user's of the set */
  size_t nbytes;              /* of name */
  size_t prefix;              /* 1 + the longest other piece that this one
                                 begins with, or 0 */
};

struct rd_pieces {
  RD_VECTOR (struct rd_piece) list;     /* once closed: by name, unique */
  struct rd_intern *texts;
  bool begins[256];           /* whether a piece has this first byte */
};

void rd_pieces_free (struct rd_pieces *pieces);

/* The end of a name that says what kind of file it is, or "". */
const char *rd_harmless_suffix (const char *name);

/* Add what is to be found of a name, and of each word of a command line that
 * looks like the name of a file. */
enum radio_status rd_pieces_add_name (struct rd_pieces *pieces,
                                      const char *name);
enum radio_status rd_pieces_add_command (struct rd_pieces *pieces,
                                         const char *command);

/* Put them in order; nothing is added any more. */
void rd_pieces_close (struct rd_pieces *pieces);

/* The longest piece at the beginning of text, or NULL; the comparisons that
 * this took are added to *ncomparisons. */
const struct rd_piece *rd_pieces_at (const struct rd_pieces *pieces,
                                     const char *text,
                                     uint64_t *ncomparisons);

#endif /* RD_PIECES_H */
