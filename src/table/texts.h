/* SPDX-License-Identifier: MIT */
/* Strings by offsets: one of them, a growing list of them, and finding them by
 * their bytes. */
#ifndef RD_TABLE_TEXTS_H
#define RD_TABLE_TEXTS_H

#include <string.h>

#include <radio/strings.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

/* Bytes of a string, without a NUL at their end. */
struct rd_slice {
  const char *at;
  size_t n;
};

static inline struct rd_slice
rd_string (const struct radio_strings *strings, size_t i)
{
  int64_t start = strings->offsets[i], end = strings->offsets[i + 1];
  return (struct rd_slice) { strings->bytes ? strings->bytes + start : "",
                             (size_t) (end - start) };
}

static inline bool
rd_slice_equal (struct rd_slice a, struct rd_slice b)
{
  return a.n == b.n && (a.n == 0 || memcmp (a.at, b.at, a.n) == 0);
}

/* Below 0, 0 or above 0, by the bytes. */
int rd_slice_compare (struct rd_slice a, struct rd_slice b);

/* A growing list. */
struct rd_text_list {
  int64_t *offsets;           /* NULL: none */
  size_t n, capacity;
  struct rd_buffer bytes;
};

enum radio_status rd_text_list_add (struct rd_text_list *texts,
                                    struct rd_slice text) RADIO_USE_RESULT;

/* Hands the strings over, which radio_strings_free frees; the list is empty
 * then. */
enum radio_status rd_text_list_end (struct rd_text_list *texts,
                                struct radio_strings *strings)
  RADIO_USE_RESULT;

void rd_text_list_free (struct rd_text_list *texts);
#define RD_TEXT_LIST_SCOPE RD_CLEANUP (rd_text_list_free)

/* Checks strings of a caller's: offsets that do not decrease, and bytes if
 * these say that there are any. */
enum radio_status rd_strings_check (const struct radio_strings *strings,
                                    const char *where) RADIO_USE_RESULT;

enum radio_status rd_strings_copy (const struct radio_strings *from,
                                   struct radio_strings *to) RADIO_USE_RESULT;
#define RD_STRINGS_FREE RD_CLEANUP (radio_strings_free)

/* Finds keys by their bytes.  Sorted, not hashed: names from a hostile file
 * may be chosen to collide. */
struct rd_lookup_key {
  struct rd_slice key;
  size_t at;                  /* its place in what was given */
};

struct rd_lookup {
  struct rd_lookup_key *keys;
  size_t n;
};

#define RD_NOT_THERE SIZE_MAX

/* Prepares a lookup of n keys, which must outlive it. */
enum radio_status rd_lookup_make (const struct rd_slice *keys, size_t n,
                                  struct rd_lookup *lookup) RADIO_USE_RESULT;
enum radio_status rd_lookup_strings (const struct radio_strings *strings,
                                     struct rd_lookup *lookup)
  RADIO_USE_RESULT;

/* Returns a key's place, or RD_NOT_THERE; of equal keys the first one's. */
size_t rd_lookup_find (const struct rd_lookup *lookup, struct rd_slice key);

/* Returns the place of a key that is there twice, or RD_NOT_THERE. */
size_t rd_lookup_repeated (const struct rd_lookup *lookup);

void rd_lookup_free (struct rd_lookup *lookup);
#define RD_LOOKUP_SCOPE RD_CLEANUP (rd_lookup_free)

#endif /* RD_TABLE_TEXTS_H */
