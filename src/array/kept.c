/* SPDX-License-Identifier: MIT */
/* Kept facts: a short list, the newest first. */
#include <config.h>

#include <string.h>

#include "src/array/kept.h"
#include "src/base/cleanup.h"

/* Facts of a list, and the bytes of one's key: longer ones are not kept. */
#define MAX_FACTS 256
#define MAX_KEY_NBYTES 16384

struct rd_kept {
  struct rd_kept *next;
  unsigned char fact[RD_KEPT_NBYTES];
  char key[];
};

void
rd_kept_init (struct rd_kept_list *list)
{
  pthread_mutex_init (&list->mutex, NULL);
  list->synced.first = NULL;
}

void
rd_kept_clear (struct rd_kept_list *list)
{
  while (list->synced.first) {
    struct rd_kept *kept = list->synced.first;
    list->synced.first = kept->next;
    rd_free (kept);
  }
  pthread_mutex_destroy (&list->mutex);
}

bool
rd_kept_find (struct rd_kept_list *list, const char *key, void *fact,
              size_t nbytes)
{
  RD_LOCK_SCOPE (&list->mutex);
  const struct rd_kept *kept = list->synced.first;
  while (kept && strcmp (kept->key, key) != 0)
    kept = kept->next;
  if (kept)
    memcpy (fact, kept->fact, nbytes);
  return kept != NULL;
}

void
rd_kept_add (struct rd_kept_list *list, const char *key, const void *fact,
             size_t nbytes)
{
  size_t key_nbytes = strlen (key) + 1;
  struct rd_kept *kept = key_nbytes <= MAX_KEY_NBYTES
    ? rd_malloc (sizeof *kept + key_nbytes) : NULL;
  if (!kept)
    return;
  memcpy (kept->fact, fact, nbytes);
  memcpy (kept->key, key, key_nbytes);
  RD_LOCK_SCOPE (&list->mutex);
  kept->next = list->synced.first;
  list->synced.first = kept;
  struct rd_kept **last = &list->synced.first;
  for (size_t n = 0; *last && n < MAX_FACTS; n++)
    last = &(*last)->next;
  rd_free (*last);
  *last = NULL;
}
