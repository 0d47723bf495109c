/* SPDX-License-Identifier: MIT */
/* The table of texts: sorted, and looked up by halving. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/alloc.h"
#include "src/base/error.h"
#include "profiler/export/pprof-texts.h"

enum radio_status
rd_pprof_texts_add (struct rd_pprof_texts *texts, const char *text)
{
  if (texts->n == texts->capacity) {
    size_t capacity = texts->capacity ? 2 * texts->capacity : 64;
    const char **at = rd_realloc (texts->at, capacity * sizeof *at);
    if (at == NULL)
      return rd_fail_memory (capacity * sizeof *at);
    texts->at = at;
    texts->capacity = capacity;
  }
  texts->at[texts->n++] = text;
  return RADIO_OK;
}

static int
compare_texts (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

void
rd_pprof_texts_sort (struct rd_pprof_texts *texts)
{
  qsort (texts->at, texts->n, sizeof *texts->at, compare_texts);
  size_t n = 0;
  for (size_t i = 0; i < texts->n; i++)
    if (n == 0 || strcmp (texts->at[n - 1], texts->at[i]) != 0)
      texts->at[n++] = texts->at[i];
  texts->n = n;
}

size_t
rd_pprof_texts_index (const struct rd_pprof_texts *texts, const char *text)
{
  const char **found = bsearch (&text, texts->at, texts->n,
                                sizeof *texts->at, compare_texts);
  return found == NULL ? 0 : (size_t) (found - texts->at);
}

void
rd_pprof_texts_free (struct rd_pprof_texts *texts)
{
  rd_free (texts->at);
  *texts = (struct rd_pprof_texts) { 0 };
}
