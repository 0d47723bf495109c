/* SPDX-License-Identifier: MIT */
/* Kept facts: a short list, the newest first. */
#include <config.h>

#include <string.h>

#include "src/array/kept.h"
#include "src/base/cleanup.h"
#include "src/base/digest.h"

/* Facts of a list: some for each volume of a cohort that is read again and
 * again. */
#define MAX_FACTS 4096

struct rd_kept {
  struct rd_kept *next;
  unsigned char fact[RD_KEPT_NBYTES];
  unsigned char key[RD_SHA256_NBYTES];
};

/* Keys may be long: the text of a whole pipeline. */
static bool
digest_key (const struct rd_buffer *key,
            unsigned char digest[RD_SHA256_NBYTES])
{
  const EVP_MD *sha256 = rd_digest_sha256 ();
  return sha256 && EVP_Digest (key->data, key->nbytes, digest, NULL, sha256,
                               NULL) == 1;
}

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
rd_kept_find (struct rd_kept_list *list, const struct rd_buffer *key,
              void *fact, size_t nbytes)
{
  unsigned char digest[RD_SHA256_NBYTES];
  if (!digest_key (key, digest))
    return false;
  RD_LOCK_SCOPE (&list->mutex);
  const struct rd_kept *kept = list->synced.first;
  while (kept && memcmp (kept->key, digest, sizeof digest) != 0)
    kept = kept->next;
  if (kept)
    memcpy (fact, kept->fact, nbytes);
  return kept != NULL;
}

void
rd_kept_add (struct rd_kept_list *list, const struct rd_buffer *key,
             const void *fact, size_t nbytes)
{
  unsigned char digest[RD_SHA256_NBYTES];
  struct rd_kept *kept = digest_key (key, digest) ? rd_malloc (sizeof *kept)
                                                  : NULL;
  if (!kept)
    return;
  memcpy (kept->fact, fact, nbytes);
  memcpy (kept->key, digest, sizeof digest);
  RD_LOCK_SCOPE (&list->mutex);
  kept->next = list->synced.first;
  list->synced.first = kept;
  struct rd_kept **last = &list->synced.first;
  for (size_t n = 0; *last && n < MAX_FACTS; n++)
    last = &(*last)->next;
  rd_free (*last);
  *last = NULL;
}
