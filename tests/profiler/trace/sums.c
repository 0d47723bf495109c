/* SPDX-License-Identifier: MIT */
/* Sums by key. */
#include <config.h>

#include "tests/profiler/trace/sums.h"
#include "tests/unit.h"

void
sums_add (struct sums *sums, const char *key, uint64_t value)
{
  if (sums->n == sums->capacity) {
    sums->capacity = sums->capacity ? 2 * sums->capacity : 64;
    sums->at = realloc (sums->at, sums->capacity * sizeof *sums->at);
    assert_non_null (sums->at);
  }
  sums->at[sums->n] = (struct sum) { strdup (key), value };
  assert_non_null (sums->at[sums->n++].key);
}

static int
compare_keys (const void *a, const void *b)
{
  return strcmp (((const struct sum *) a)->key,
                 ((const struct sum *) b)->key);
}

/* Merges equal keys, and drops sums of 0. */
static void
tidy (struct sums *sums)
{
  if (sums->n == 0)
    return;
  qsort (sums->at, sums->n, sizeof *sums->at, compare_keys);
  size_t n = 0;
  for (size_t i = 0; i < sums->n; i++) {
    if (n > 0 && strcmp (sums->at[n - 1].key, sums->at[i].key) == 0) {
      sums->at[n - 1].value += sums->at[i].value;
      free (sums->at[i].key);
      continue;
    }
    if (n > 0 && sums->at[n - 1].value == 0)
      free (sums->at[--n].key);
    sums->at[n++] = sums->at[i];
  }
  if (sums->at[n - 1].value == 0)
    free (sums->at[--n].key);
  sums->n = n;
}

void
sums_assert_equal (struct sums *a, struct sums *b, const char *what)
{
  tidy (a);
  tidy (b);
  for (size_t i = 0; i < a->n && i < b->n; i++) {
    if (strcmp (a->at[i].key, b->at[i].key) != 0)
      fail_msg ("%s: '%s' where '%s' should be", what, b->at[i].key,
                a->at[i].key);
    if (a->at[i].value != b->at[i].value)
      fail_msg ("%s: '%s' is %llu, not %llu", what, a->at[i].key,
                (unsigned long long) b->at[i].value,
                (unsigned long long) a->at[i].value);
  }
  if (a->n != b->n)
    fail_msg ("%s: %zu paths, not %zu", what, b->n, a->n);
}

void
sums_free (struct sums *sums)
{
  for (size_t i = 0; i < sums->n; i++)
    free (sums->at[i].key);
  free (sums->at);
  *sums = (struct sums) { 0 };
}

/* No name contains a line feed: the model replaces control characters. */
void
path_push (struct path *path, const char *name)
{
  assert_true (path->depth < sizeof path->ends / sizeof path->ends[0]);
  path->ends[path->depth++] = path->nbytes;
  int n = snprintf (path->text + path->nbytes,
                    sizeof path->text - path->nbytes, "\n%s", name);
  path->nbytes += (size_t) n;
  assert_true (path->nbytes < sizeof path->text);
}

void
path_pop (struct path *path)
{
  assert_true (path->depth > 0);
  path->nbytes = path->ends[--path->depth];
  path->text[path->nbytes] = '\0';
}
