/* SPDX-License-Identifier: MIT */
/* The set of strings: an open hash table of pointers into blocks that are
 * released all at once. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/now.h"
#include "src/base/text.h"
#include "profiler/model/string-table.h"

#define BLOCK_NBYTES ((size_t) 32 << 10)

struct rd_text_block {
  struct rd_text_block *next;
  size_t nbytes, capacity;    /* of text[] */
  char text[];
};

struct rd_text_slot {
  const char *text;           /* NULL: free */
  uint64_t hash;
};

struct rd_string_table {
  struct rd_text_block *blocks;    /* the first has room, maybe */
  struct rd_text_slot *slots;
  size_t n, nslots;           /* nslots: a power of 2, or 0 */
  uint64_t seed;
};

struct rd_string_table *
rd_string_table_new (void)
{
  struct rd_string_table *texts = calloc (1, sizeof *texts);
  if (texts == NULL)
    return NULL;
  texts->seed = rd_mix ((uint64_t) (uintptr_t) texts) ^ rd_mix (rd_now_ns ());
  return texts;
}

void
rd_string_table_free (struct rd_string_table *texts)
{
  if (texts == NULL)
    return;
  while (texts->blocks) {
    struct rd_text_block *block = texts->blocks;
    texts->blocks = block->next;
    free (block);
  }
  free (texts->slots);
  free (texts);
}

uint64_t
rd_string_table_seed (const struct rd_string_table *texts)
{
  return texts->seed;
}

/*------------------------------------------------------------------------
 * Cleaning
 *----------------------------------------------------------------------*/

/* The next clean character of *text as bytes, with their number; 0 at the
 * end.  Invalid ones and control characters are replaced. */
static size_t
next_character (const char **text, const char **bytes)
{
  const unsigned char *p = (const unsigned char *) *text;
  if (*p == '\0')
    return 0;
  size_t n;
  if (p[0] < 0x80)
    n = p[0] >= 0x20 && p[0] != 0x7f;
  else
    n = p[0] == 0xc2 && p[1] < 0xa0 ? 0 : rd_utf8_nbytes (*text);
  *bytes = n > 0 ? *text : "\xef\xbf\xbd";
  *text += n > 0 ? n : (p[0] == 0xc2 && (p[1] & 0xc0) == 0x80 ? 2 : 1);
  return n > 0 ? n : 3;
}

static uint64_t
hash_of (const struct rd_string_table *texts, const char *text, size_t *nbytes)
{
  uint64_t hash = texts->seed;
  const char *bytes;
  size_t n;
  *nbytes = 0;
  while ((n = next_character (&text, &bytes)) > 0) {
    for (size_t i = 0; i < n; i++)
      hash = (hash ^ (unsigned char) bytes[i]) * 0x100000001b3;
    *nbytes += n;
  }
  return rd_mix (hash);
}

/* Returns whether text, cleaned, equals this clean one. */
static bool
is_same (const char *clean, const char *text)
{
  const char *bytes;
  size_t n;
  while ((n = next_character (&text, &bytes)) > 0) {
    if (strncmp (clean, bytes, n) != 0)
      return false;
    clean += n;
  }
  return *clean == '\0';
}

/*------------------------------------------------------------------------
 * The table
 *----------------------------------------------------------------------*/

/* Where a text is, or where it would be put; nslots > 0. */
static struct rd_text_slot *
find_slot (const struct rd_string_table *texts, const char *text,
           uint64_t hash)
{
  size_t i = hash & (texts->nslots - 1);
  while (texts->slots[i].text
         && (texts->slots[i].hash != hash
             || !is_same (texts->slots[i].text, text)))
    i = (i + 1) & (texts->nslots - 1);
  return &texts->slots[i];
}

static bool
grow_table (struct rd_string_table *texts)
{
  size_t nslots = texts->nslots ? 2 * texts->nslots : 64;
  struct rd_text_slot *slots = calloc (nslots, sizeof *slots);
  if (slots == NULL)
    return false;
  for (size_t i = 0; i < texts->nslots; i++) {
    if (texts->slots[i].text == NULL)
      continue;
    size_t to = texts->slots[i].hash & (nslots - 1);
    while (slots[to].text)
      to = (to + 1) & (nslots - 1);
    slots[to] = texts->slots[i];
  }
  free (texts->slots);
  texts->slots = slots;
  texts->nslots = nslots;
  return true;
}

/* A text's clean copy, of nbytes, in the newest block or a new one. */
static const char *
copy_clean (struct rd_string_table *texts, const char *text, size_t nbytes)
{
  struct rd_text_block *block = texts->blocks;
  if (block == NULL || block->capacity - block->nbytes < nbytes + 1) {
    size_t capacity = nbytes + 1 > BLOCK_NBYTES ? nbytes + 1 : BLOCK_NBYTES;
    block = malloc (sizeof *block + capacity);
    if (block == NULL)
      return NULL;
    block->capacity = capacity;
    block->nbytes = 0;
    block->next = texts->blocks;
    texts->blocks = block;
  }

  char *copy = block->text + block->nbytes, *to = copy;
  const char *bytes;
  size_t n;
  while ((n = next_character (&text, &bytes)) > 0) {
    memcpy (to, bytes, n);
    to += n;
  }
  *to = '\0';
  block->nbytes += nbytes + 1;
  return copy;
}

const char *
rd_string_table_add (struct rd_string_table *texts, const char *text)
{
  if (2 * (texts->n + 1) > texts->nslots && !grow_table (texts))
    return NULL;
  size_t nbytes;
  uint64_t hash = hash_of (texts, text, &nbytes);
  struct rd_text_slot *slot = find_slot (texts, text, hash);
  if (slot->text)
    return slot->text;
  const char *copy = copy_clean (texts, text, nbytes);
  if (copy == NULL)
    return NULL;
  *slot = (struct rd_text_slot) { copy, hash };
  texts->n++;
  return copy;
}

const char *
rd_string_table_find (const struct rd_string_table *texts, const char *text)
{
  if (texts->nslots == 0)
    return NULL;
  size_t nbytes;
  uint64_t hash = hash_of (texts, text, &nbytes);
  return find_slot (texts, text, hash)->text;
}
