/* SPDX-License-Identifier: MIT */
/* The copies of names: a hash table under a lock. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "src/base/text.h"
#include "profiler/record/names.h"

#define NLISTS 1024           /* programs have some hundred names */

struct name {
  struct name *next;
  char text[];
};

struct rd_names {
  struct rd_arena *arena;
  pthread_mutex_t mutex;
  struct name *lists[NLISTS]; /* by hash */
};

struct rd_names *
rd_names_new (struct rd_arena *arena)
{
  struct rd_names *names = calloc (1, sizeof *names);
  if (!names)
    return NULL;
  pthread_mutex_init (&names->mutex, NULL);
  names->arena = arena;
  return names;
}

void
rd_names_free (struct rd_names *names)
{
  if (!names)
    return;
  for (size_t i = 0; i < NLISTS && !names->arena; i++)
    while (names->lists[i]) {
      struct name *name = names->lists[i];
      names->lists[i] = name->next;
      free (name);
    }
  pthread_mutex_destroy (&names->mutex);
  free (names);
}

/* The bytes of a text that a name may have as it is. */
static size_t
count_valid (const char *text)
{
  size_t n = 0, next;
  for (; text[n] && (next = rd_utf8_nbytes (text + n)) > 0
         && n + next <= RD_NAME_NBYTES; n += next)
    ;
  return n;
}

/* A text with a name's bytes, to be freed: of each byte that is not UTF-8 a
 * replacement character, cut at a whole character. */
static char *
repair (const char *text)
{
  RD_FREE_PLAIN char *from = strndup (text, RD_NAME_NBYTES + 3);
  char *to = malloc (3 * (RD_NAME_NBYTES + 3) + 1);
  if (!from || !to) {
    free (to);
    return NULL;
  }
  rd_utf8_repair (from, to);
  to[count_valid (to)] = '\0';
  return to;
}

const char *
rd_names_keep (struct rd_names *names, const char *text)
{
  RD_FREE_PLAIN char *repaired = NULL;
  text = text ? text : "";
  uint32_t hash = 2166136261u;
  size_t n = count_valid (text);
  if (text[n] != '\0') {
    repaired = repair (text);
    if (!repaired)
      return NULL;
    text = repaired;
    n = strlen (text);
  }
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ (unsigned char) text[i]) * 16777619u;
  RD_LOCK_SCOPE (&names->mutex);
  struct name **list = &names->lists[hash % NLISTS];
  for (const struct name *name = *list; name; name = name->next)
    if (strcmp (name->text, text) == 0)
      return name->text;
  struct name *new = rd_arena_alloc (names->arena, _Alignof (struct name),
                                     sizeof *new + n + 1);
  if (!new)
    return NULL;
  memcpy (new->text, text, n + 1);
  new->next = *list;
  *list = new;
  return new->text;
}

bool
rd_names_keep_counter (struct rd_names *names, struct radio_counter *counter)
{
  counter->name = rd_names_keep (names, counter->name);
  counter->unit = rd_names_keep (names, counter->unit);
  return counter->name && counter->unit;
}

bool
rd_names_keep_site (struct rd_names *names, struct radio_site *site)
{
  site->name = rd_names_keep (names, site->name);
  site->category = rd_names_keep (names, site->category);
  site->function = rd_names_keep (names, site->function);
  site->file = rd_names_keep (names, site->file);
  return site->name && site->category && site->function && site->file;
}
