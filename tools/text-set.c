/* SPDX-License-Identifier: MIT */
/* Sets of texts: a list that is searched once it is sorted. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tools/text-set.h"
#include "tools/tool.h"

bool
rd_text_set_add (struct rd_text_set *set, const char *text, size_t n)
{
  if (set->n == set->capacity) {
    size_t capacity = set->capacity ? 2 * set->capacity : 64;
    char **list = reallocarray (set->list, capacity, sizeof *list);
    if (list == NULL)
      return rd_error_memory (), false;
    set->list = list;
    set->capacity = capacity;
  }
  set->list[set->n] = strndup (text, n);
  if (set->list[set->n] == NULL)
    return rd_error_memory (), false;
  set->n++;
  set->longest = n > set->longest ? n : set->longest;
  return true;
}

bool
rd_text_set_add_all (struct rd_text_set *set,
                     const struct radio_strings *strings)
{
  for (uint64_t i = 0; i < strings->n; i++)
    if (!rd_text_set_add (set, strings->bytes + strings->offsets[i],
                          (size_t) (strings->offsets[i + 1]
                                    - strings->offsets[i])))
      return false;
  return true;
}

static int
by_bytes (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

void
rd_text_set_sort (struct rd_text_set *set)
{
  if (set->n > 0)
    qsort (set->list, set->n, sizeof *set->list, by_bytes);
}

bool
rd_text_set_has (const struct rd_text_set *set, const char *text, size_t n)
{
  size_t low = 0, high = set->n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const char *found = set->list[middle];
    int order = strncmp (found, text, n);
    if (order == 0 && found[n] == '\0')
      return true;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

void
rd_text_set_clear (struct rd_text_set *set)
{
  for (size_t i = 0; i < set->n; i++)
    free (set->list[i]);
  free (set->list);
  *set = (struct rd_text_set) { 0 };
}
