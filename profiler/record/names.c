/* SPDX-License-Identifier: MIT */
/* The copies of names: a hash table under a lock. */
#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
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

const char *
rd_names_keep (struct rd_names *names, const char *text)
{
  text = text ? text : "";
  uint32_t hash = 2166136261u;
  size_t n = 0;
  for (; text[n]; n++)
    hash = (hash ^ (unsigned char) text[n]) * 16777619u;
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
