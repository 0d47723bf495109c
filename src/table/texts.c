/* SPDX-License-Identifier: MIT */
/* Strings by offsets, and finding them. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/checked.h"
#include "src/base/reserve.h"
#include "src/table/texts.h"

void
radio_strings_free (struct radio_strings *strings)
{
  if (!strings)
    return;
  rd_free (strings->offsets);
  rd_free (strings->bytes);
  *strings = (struct radio_strings) { 0 };
}

int
rd_slice_compare (struct rd_slice a, struct rd_slice b)
{
  size_t n = a.n < b.n ? a.n : b.n;
  int order = n > 0 ? memcmp (a.at, b.at, n) : 0;
  return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

enum radio_status
rd_text_list_add (struct rd_text_list *texts, struct rd_slice text)
{
  /* One more for the end of the last. */
  RD_TRY (rd_reserve (&texts->offsets, &texts->capacity, texts->n + 1,
                      sizeof *texts->offsets));
  if (texts->n == 0)
    texts->offsets[0] = 0;
  RD_TRY (rd_buffer_append (&texts->bytes, text.at, text.n));
  texts->offsets[++texts->n] = (int64_t) texts->bytes.nbytes;
  return RADIO_OK;
}

enum radio_status
rd_text_list_end (struct rd_text_list *texts, struct radio_strings *strings)
{
  if (!texts->offsets) {
    texts->offsets = rd_calloc (1, sizeof *texts->offsets);
    if (!texts->offsets)
      return rd_fail_memory (sizeof *texts->offsets);
  }
  /* So that the data are never NULL, and text of one string ends in a NUL. */
  RD_TRY (rd_buffer_append (&texts->bytes, "", 1));
  *strings = (struct radio_strings) { texts->n, texts->offsets,
                                      (char *) texts->bytes.data };
  *texts = (struct rd_text_list) { 0 };
  return RADIO_OK;
}

void
rd_text_list_free (struct rd_text_list *texts)
{
  rd_free (texts->offsets);
  rd_buffer_free (&texts->bytes);
  *texts = (struct rd_text_list) { 0 };
}

enum radio_status
rd_strings_check (const struct radio_strings *strings, const char *where)
{
  const int64_t *offsets = strings->offsets;
  if (strings->n == 0)
    return RADIO_OK;
  if (!offsets || offsets[0] < 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: strings without offsets",
                    where);
  for (uint64_t i = 0; i < strings->n; i++)
    if (offsets[i + 1] < offsets[i])
      return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the offsets of string %" PRIu64
                      " decrease", where, i);
  if (!strings->bytes && offsets[strings->n] > 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: strings without bytes", where);
  return RADIO_OK;
}

enum radio_status
rd_strings_copy (const struct radio_strings *from, struct radio_strings *to)
{
  RD_TEXT_LIST_SCOPE struct rd_text_list texts = { 0 };
  for (size_t i = 0; i < from->n; i++)
    RD_TRY (rd_text_list_add (&texts, rd_string (from, i)));
  return rd_text_list_end (&texts, to);
}

/* Equal keys in the order in which they were given. */
static int
compare_keys (const void *a, const void *b)
{
  const struct rd_lookup_key *p = a, *q = b;
  int order = rd_slice_compare (p->key, q->key);
  return order != 0 ? order : (p->at > q->at) - (p->at < q->at);
}

static enum radio_status
make_room (struct rd_lookup *lookup, size_t n)
{
  lookup->keys = rd_calloc (n + 1, sizeof *lookup->keys);
  lookup->n = n;
  return lookup->keys ? RADIO_OK
                      : rd_fail_memory ((n + 1) * sizeof *lookup->keys);
}

static void
sort (struct rd_lookup *lookup)
{
  if (lookup->n > 1)
    qsort (lookup->keys, lookup->n, sizeof *lookup->keys, compare_keys);
}

enum radio_status
rd_lookup_make (const struct rd_slice *keys, size_t n,
                struct rd_lookup *lookup)
{
  RD_TRY (make_room (lookup, n));
  for (size_t i = 0; i < n; i++)
    lookup->keys[i] = (struct rd_lookup_key) { keys[i], i };
  sort (lookup);
  return RADIO_OK;
}

enum radio_status
rd_lookup_strings (const struct radio_strings *strings,
                   struct rd_lookup *lookup)
{
  RD_TRY (make_room (lookup, strings->n));
  for (size_t i = 0; i < strings->n; i++)
    lookup->keys[i] = (struct rd_lookup_key) { rd_string (strings, i), i };
  sort (lookup);
  return RADIO_OK;
}

size_t
rd_lookup_find (const struct rd_lookup *lookup, struct rd_slice key)
{
  /* The first that is not before the key. */
  size_t low = 0, high = lookup->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rd_slice_compare (lookup->keys[middle].key, key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < lookup->n && rd_slice_equal (lookup->keys[low].key, key))
    return lookup->keys[low].at;
  return RD_NOT_THERE;
}

size_t
rd_lookup_repeated (const struct rd_lookup *lookup)
{
  for (size_t i = 1; i < lookup->n; i++)
    if (rd_slice_equal (lookup->keys[i - 1].key, lookup->keys[i].key))
      return lookup->keys[i].at;
  return RD_NOT_THERE;
}

void
rd_lookup_free (struct rd_lookup *lookup)
{
  rd_free (lookup->keys);
  *lookup = (struct rd_lookup) { 0 };
}
