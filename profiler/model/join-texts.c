/* SPDX-License-Identifier: MIT */
/* Facts and the nodes' texts of profiles that are joined.  What all agree on
 * is kept; of facts that differ a few values are listed, of a node's texts
 * the first one stands for all, as within one profile. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/model/findings.h"
#include "profiler/model/join.h"
#include "profiler/model/vector.h"

/* So many different values of a fact are listed. */
#define MAX_VALUES 8

struct listing {
  const struct rd_fact *values[MAX_VALUES];
  size_t n;
  bool has_more;
  bool is_name;
};

static void
list_value (struct listing *listing, const struct rd_fact *fact)
{
  listing->is_name |= fact->is_name;
  for (size_t i = 0; i < listing->n; i++)
    if (strcmp (listing->values[i]->value, fact->value) == 0)
      return;
  if (listing->n < MAX_VALUES)
    listing->values[listing->n++] = fact;
  else
    listing->has_more = true;
}

static const struct rd_fact *
find_fact (const struct radio_profile *profile, const char *key)
{
  for (size_t i = 0; i < profile->facts.n; i++)
    if (strcmp (profile->facts.at[i].key, key) == 0)
      return &profile->facts.at[i];
  return NULL;
}

/* Append to a text that has room for it. */
static char *
append (char *to, const char *text)
{
  size_t nbytes = strlen (text);
  memcpy (to, text, nbytes + 1);
  return to + nbytes;
}

/* "a, b, c", or "a, b, ..." */
static enum radio_status
add_listing (struct radio_profile *joined, const char *key,
             const struct listing *listing)
{
  size_t nbytes = sizeof ", ...";
  for (size_t i = 0; i < listing->n; i++)
    nbytes += strlen (listing->values[i]->value) + 2;
  RD_FREE_PLAIN char *text = malloc (nbytes);
  if (text == NULL)
    return rd_fail_memory (nbytes);
  char *end = text;
  *end = '\0';
  for (size_t i = 0; i < listing->n; i++) {
    end = append (end, i > 0 ? ", " : "");
    end = append (end, listing->values[i]->value);
  }
  if (listing->has_more)
    append (end, ", ...");
  return rd_profile_add_fact (joined, key, text, listing->is_name);
}

/* Numbers that are of each part alone, and add up. */
static bool
is_sum (const char *key)
{
  static const char *const keys[] = {
    RD_FACT_CPU_NS, RD_FACT_SKIPPED, RD_FACT_THROTTLED, RD_FACT_TEXTS,
    RD_FACT_VALUES, RD_FACT_SAMPLES, RD_FACT_THREADS,
  };
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
    if (strcmp (keys[i], key) == 0)
      return true;
  return false;
}

static enum radio_status
add_sum (struct radio_profile *joined, struct radio_profile *const *sources,
         size_t n, const char *key)
{
  uint64_t sum = 0;
  char text[24];
  for (size_t i = 0; i < n; i++) {
    const struct rd_fact *fact = find_fact (sources[i], key);
    sum = rd_sum (sum, fact ? rd_parse_digits (fact->value) : 0);
  }
  snprintf (text, sizeof text, "%" PRIu64, sum);
  return rd_profile_add_fact (joined, key, text, false);
}

static enum radio_status
join_fact (struct radio_profile *joined,
           struct radio_profile *const *sources, size_t n, const char *key)
{
  struct listing listing = { 0 };
  if (is_sum (key))
    return add_sum (joined, sources, n, key);
  for (size_t i = 0; i < n; i++) {
    const struct rd_fact *fact = find_fact (sources[i], key);
    if (fact)
      list_value (&listing, fact);
  }
  return add_listing (joined, key, &listing);
}

enum radio_status
rd_join_facts (struct radio_profile *joined,
               struct radio_profile *const *sources, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < sources[i]->facts.n; j++) {
      const char *key = sources[i]->facts.at[j].key;
      if (rd_profile_find_fact (joined, key) == NULL)
        RD_TRY (join_fact (joined, sources, n, key));
    }
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Texts of nodes
 *----------------------------------------------------------------------*/

struct entry {
  struct rd_note note;        /* with the joined profile's node */
  size_t order;
};

static size_t
count_node_notes (const struct radio_profile *profile)
{
  size_t n = 0;
  for (size_t i = 0; i < profile->notes.n; i++)
    n += profile->notes.at[i].span == 0;
  return n;
}

static size_t
list_node_notes (const struct radio_profile *profile, const uint32_t *nodes,
                 struct entry *entries, size_t n)
{
  for (size_t i = 0; i < profile->notes.n; i++) {
    if (profile->notes.at[i].span != 0)
      continue;
    entries[n].note = profile->notes.at[i];
    entries[n].note.node = nodes[entries[n].note.node];
    entries[n].order = n;
    n++;
  }
  return n;
}

static int
compare_keys (const struct entry *x, const struct entry *y)
{
  if (x->note.node != y->note.node)
    return x->note.node < y->note.node ? -1 : 1;
  return strcmp (x->note.key, y->note.key);
}

static int
compare_entries (const void *a, const void *b)
{
  const struct entry *x = a, *y = b;
  int by = compare_keys (x, y);
  return by ? by : (x->order > y->order) - (x->order < y->order);
}

/* The first of the entries stands for all with its node and key. */
static enum radio_status
add_first (struct radio_profile *joined, const struct entry *entries,
           size_t n, size_t *nequal)
{
  struct rd_note note = entries[0].note;
  size_t i = 1;
  for (; i < n && compare_keys (&entries[0], &entries[i]) == 0; i++) {
    const struct rd_note *other = &entries[i].note;
    note.varies |= other->varies || strcmp (note.value, other->value) != 0;
    note.is_name |= other->is_name;
  }
  *nequal = i;
  return rd_profile_add_note (joined, &note);
}

enum radio_status
rd_join_node_notes (struct radio_profile *joined,
                    struct radio_profile *const *sources, size_t n,
                    uint32_t *const *nodes)
{
  size_t nnotes = 0, at = 0, nequal;
  RD_FREE_PLAIN void *memory = NULL;
  for (size_t i = 0; i < n; i++)
    nnotes += count_node_notes (sources[i]);
  RD_TRY (rd_new_array (nnotes, sizeof (struct entry), &memory));
  struct entry *entries = memory;
  for (size_t i = 0; i < n; i++)
    at = list_node_notes (sources[i], nodes[i], entries, at);
  if (nnotes > 0)
    qsort (entries, nnotes, sizeof *entries, compare_entries);
  for (size_t i = 0; i < nnotes; i += nequal)
    RD_TRY (add_first (joined, entries + i, nnotes - i, &nequal));
  return RADIO_OK;
}
