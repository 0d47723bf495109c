/* SPDX-License-Identifier: MIT */
/* Marks of who removes something of a volume, in stores whose locks do not
 * tell of other processes (S3).
 *
 * That nothing of a level is young says no more than that nobody wrote to it
 * for a while: a copy may begin again at any moment to count on what lies
 * there.  So both say what they do before they look what the other does.
 *
 *   who removes                      who copies
 *   1. puts a mark                   a. publishes the volume's document
 *   2. reads the document: goes on   b. waits until there is no mark
 *      only if it names no such      c. looks at all objects again, and
 *      level, and nothing is young      brings anew what went
 *   3. removes
 *   4. removes its mark
 *
 * If 2 came after a, nothing is removed.  If it came before, then so did 1,
 * and b finds the mark, or 4 has been before: then c sees all that 3 did.
 * Whichever way, what c leaves is whole, and nobody removes of it any more.
 * This needs no clock, but for the marks of those who died: one that is older
 * than an hour counts as left behind.  So one is put anew before each level
 * that is removed, which takes far less.  The grace time does not matter: who
 * collects with a short one must not take away marks of others.
 *
 * Who may write and not remove leaves marks that are empty: they tell
 * nothing. */
#ifndef RD_MARKS_H
#define RD_MARKS_H

#include "src/array/array.h"

/* The folder of a volume that they are in. */
#define RD_MARKS_NAME ".radio-gc"

/* A mark that was put, or none. */
struct rd_mark {
  struct rd_io *io;
  char *key;
};

/* Put a mark for the volume at path, or put it anew; none where locks
 * tell. */
enum radio_status rd_mark_put (struct radio_store *store, const char *path,
                               struct rd_mark *mark) RADIO_USE_RESULT;

/* Remove it.  status is of what was done meanwhile, and is returned with its
 * message unless it is RADIO_OK. */
enum radio_status rd_mark_end (struct rd_mark *mark, enum radio_status status)
  RADIO_USE_RESULT;

/* The key of one that somebody who may be alive has put, allocated; NULL:
 * there is none. */
enum radio_status rd_marks_look (struct radio_store *store, const char *path,
                                 char **key) RADIO_USE_RESULT;

/* Remove those that were left behind, or only count them. */
enum radio_status rd_marks_sweep (struct radio_store *store, const char *path,
                                  bool dry_run, uint64_t *n)
  RADIO_USE_RESULT;

#endif /* RD_MARKS_H */
