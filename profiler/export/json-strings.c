/* SPDX-License-Identifier: MIT */
/* The strings: a hash table of indexes. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/export/json-strings.h"

/* FNV-1a, its bits spread. */
static uint32_t
hash_text (const char *text)
{
  uint64_t hash = 0xcbf29ce484222325;
  for (; *text != '\0'; text++)
    hash = (hash ^ (unsigned char) *text) * 0x100000001b3;
  return (uint32_t) (hash ^ hash >> 32);
}

static uint32_t *
find_slot (const struct rd_json_strings *strings, const char *text)
{
  uint32_t mask = strings->nslots - 1;
  uint32_t at = hash_text (text) & mask;
  while (strings->slots[at] != 0
         && strcmp (strings->texts[strings->slots[at] - 1], text) != 0)
    at = (at + 1) & mask;
  return &strings->slots[at];
}

/* Twice the room; the slots are filled anew. */
static bool
grow (struct rd_json_strings *strings)
{
  if (strings->capacity > UINT32_MAX / 8)
    return false;
  uint32_t capacity = strings->capacity ? 2 * strings->capacity : 64;
  const char **texts
    = realloc (strings->texts, capacity * sizeof *texts);
  if (texts == NULL)
    return false;
  strings->texts = texts;
  uint32_t *slots = calloc (2 * (size_t) capacity, sizeof *slots);
  if (slots == NULL)
    return false;
  free (strings->slots);
  strings->slots = slots;
  strings->nslots = 2 * capacity;
  strings->capacity = capacity;
  for (uint32_t i = 0; i < strings->n; i++)
    *find_slot (strings, texts[i]) = i + 1;
  return true;
}

uint32_t
rd_json_strings_add (struct rd_json_strings *strings, const char *text)
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
rd_json_strings_free (struct rd_json_strings *strings)
{
  free (strings->texts);
  free (strings->slots);
  *strings = (struct rd_json_strings) { 0 };
}
