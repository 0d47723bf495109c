/* SPDX-License-Identifier: MIT */
/* String tables: a hash table of indexes. */
#include <config.h>

#include <string.h>

#include "src/base/alloc.h"
#include "src/base/hash.h"
#include "profiler/export/string-index.h"

static uint32_t *
find_slot (const struct rd_string_index *strings, const char *text)
{
  uint32_t mask = strings->nslots - 1;
  uint64_t hash = rd_hash_text (text);
  uint32_t at = (uint32_t) (hash ^ hash >> 32) & mask;
  while (strings->slots[at] != 0
         && strcmp (strings->texts[strings->slots[at] - 1], text) != 0)
    at = (at + 1) & mask;
  return &strings->slots[at];
}

/* Doubles the capacity and rehashes. */
static bool
grow (struct rd_string_index *strings)
{
  if (strings->capacity > UINT32_MAX / 8)
    return false;
  uint32_t capacity = strings->capacity ? 2 * strings->capacity : 64;
  const char **texts
    = rd_realloc (strings->texts, capacity * sizeof *texts);
  if (texts == NULL)
    return false;
  strings->texts = texts;
  uint32_t *slots = rd_calloc (2 * (size_t) capacity, sizeof *slots);
  if (slots == NULL)
    return false;
  rd_free (strings->slots);
  strings->slots = slots;
  strings->nslots = 2 * capacity;
  strings->capacity = capacity;
  for (uint32_t i = 0; i < strings->n; i++)
    *find_slot (strings, texts[i]) = i + 1;
  return true;
}

uint32_t
rd_string_index_add (struct rd_string_index *strings, const char *text)
{
  if (strings->n == strings->capacity && !grow (strings))
    return RD_NO_INDEX;
  uint32_t *slot = find_slot (strings, text);
  if (*slot == 0) {
    strings->texts[strings->n] = text;
    *slot = ++strings->n;
  }
  return *slot - 1;
}

void
rd_string_index_free (struct rd_string_index *strings)
{
  rd_free (strings->texts);
  rd_free (strings->slots);
}
