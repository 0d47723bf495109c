/* SPDX-License-Identifier: MIT */
/* Building a profile: adding nodes, counters, lanes, spans and the rest. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/cleanup.h"
#include "profiler/model/builder.h"
#include "profiler/model/string-table.h"
#include "profiler/model/vector.h"

enum radio_status
rd_profile_new (struct radio_profile **result)
{
  RD_PROFILE_SCOPE struct radio_profile *profile =
    calloc (1, sizeof *profile);
  if (profile == NULL)
    return rd_fail_memory (sizeof *profile);
  profile->strings = rd_string_table_new ();
  profile->builder = calloc (1, sizeof *profile->builder);
  if (profile->strings == NULL || profile->builder == NULL)
    return rd_fail_memory (sizeof *profile->builder);
  const char *nothing = rd_profile_string (profile, "");
  if (nothing == NULL)
    return rd_fail_memory (1);
  profile->info.title = nothing;
  profile->info.program = nothing;
  profile->info.clock = nothing;
  *result = RD_STEAL (profile);
  return RADIO_OK;
}

void
radio_profile_close (struct radio_profile *profile)
{
  if (profile == NULL)
    return;
  if (profile->builder != NULL)
    free (profile->builder->slots);
  free (profile->builder);
  free (profile->nodes.at);
  free (profile->counters.at);
  free (profile->gauges.at);
  free (profile->values.at);
  free (profile->shares.at);
  free (profile->running.at);
  free (profile->extents);
  free (profile->parts.at);
  free (profile->lanes.at);
  free (profile->spans.at);
  free (profile->notes.at);
  free (profile->samples.at);
  free (profile->facts.at);
  free (profile->findings.at);
  rd_string_table_free (profile->strings);
  free (profile);
}

const char *
rd_profile_string (struct radio_profile *profile, const char *text)
{
  return rd_string_table_add (profile->strings, text ? text : "");
}

enum radio_status
rd_profile_set_string (struct radio_profile *profile, const char *text,
                       const char **string)
{
  const char *copy = rd_profile_string (profile, text);
  if (copy == NULL)
    return rd_fail_memory (text ? strlen (text) + 1 : 1);
  *string = copy;
  return RADIO_OK;
}

/* The same, of a text in place. */
static enum radio_status
own (struct radio_profile *profile, const char **text)
{
  return rd_profile_set_string (profile, *text, text);
}

/* Indexes have 32 bits, and RD_NO_INDEX is no valid one. */
static enum radio_status
check_room (size_t n, const char *what, uint32_t *index)
{
  if (n >= RD_NO_INDEX)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "a profile of more than %" PRIu32 " %s",
                    RD_NO_INDEX - 1, what);
  if (index)
    *index = (uint32_t) n;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Nodes, and the table of them
 *----------------------------------------------------------------------*/

/* Identifies a node; strings are the profile's own. */
struct key {
  size_t parent;
  const char *name, *category;
  enum radio_edge edge;
};

static struct key
key_of (const struct radio_profile_node *node)
{
  return (struct key) { node->parent, node->name, node->category,
                        node->edge };
}

/* The slot where a node is, or where it would be put; nslots > 0. */
static uint32_t *
find_slot (const struct radio_profile *profile, const struct key *key)
{
  const struct rd_builder *builder = profile->builder;
  size_t mask = builder->nslots - 1;
  uint64_t hash = rd_string_table_seed (profile->strings);
  hash = rd_mix (hash ^ key->parent);
  hash = rd_mix (hash ^ (uint64_t) (uintptr_t) key->name);
  hash = rd_mix (hash ^ (uint64_t) (uintptr_t) key->category);
  size_t i = (rd_mix (hash ^ (uint64_t) key->edge)) & mask;
  for (; builder->slots[i] != RD_NO_INDEX; i = (i + 1) & mask) {
    struct key other = key_of (&profile->nodes.at[builder->slots[i]]);
    if (other.parent == key->parent && other.name == key->name
        && other.category == key->category && other.edge == key->edge)
      break;
  }
  return &builder->slots[i];
}

static enum radio_status
make_slots (struct radio_profile *profile)
{
  struct rd_builder *builder = profile->builder;
  if (2 * (profile->nodes.n + 1) <= builder->nslots)
    return RADIO_OK;
  size_t nslots = builder->nslots ? 2 * builder->nslots : 64;
  uint32_t *slots = malloc (nslots * sizeof *slots);
  if (slots == NULL)
    return rd_fail_memory (nslots * sizeof *slots);
  for (size_t i = 0; i < nslots; i++)
    slots[i] = RD_NO_INDEX;
  free (builder->slots);
  builder->slots = slots;
  builder->nslots = nslots;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    struct key key = key_of (&profile->nodes.at[i]);
    *find_slot (profile, &key) = (uint32_t) i;
  }
  return RADIO_OK;
}

uint32_t
rd_profile_find_node (const struct radio_profile *profile, uint32_t parent,
                      const char *name, const char *category,
                      enum radio_edge edge)
{
  struct key key = {
    .parent = parent == RD_NO_INDEX ? RADIO_NO_PARENT : parent,
    .name = rd_string_table_find (profile->strings, name ? name : ""),
    .category = rd_string_table_find (profile->strings,
                                      category ? category : ""),
    .edge = edge,
  };
  if (key.name == NULL || key.category == NULL
      || profile->builder->nslots == 0)
    return RD_NO_INDEX;
  return *find_slot (profile, &key);
}

enum radio_status
rd_profile_add_node (struct radio_profile *profile,
                     const struct radio_profile_node *node, uint32_t *index)
{
  struct radio_profile_node copy = *node;
  RD_TRY (check_room (profile->nodes.n, "nodes", NULL));
  RD_TRY (own (profile, &copy.name));
  RD_TRY (own (profile, &copy.category));
  RD_TRY (own (profile, &copy.function));
  RD_TRY (own (profile, &copy.file));
  copy.depth = 0;
  if (node->parent != RADIO_NO_PARENT) {
    if (node->parent >= profile->nodes.n)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "node %zu '%s' is below node %zu, which does not come "
                      "before it", profile->nodes.n, copy.name, node->parent);
    copy.depth = profile->nodes.at[node->parent].depth + 1;
    if (copy.depth >= RD_MAX_NODE_DEPTH)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "node %zu '%s' is more than %d levels deep",
                      profile->nodes.n, copy.name, RD_MAX_NODE_DEPTH);
  }
  if ((unsigned) copy.edge > RADIO_EDGE_INSTANT)
    return rd_fail (RADIO_ERROR_FORMAT, "node %zu '%s': edge %d is unknown",
                    profile->nodes.n, copy.name, (int) copy.edge);
  RD_TRY (make_slots (profile));
  struct key key = key_of (&copy);
  uint32_t *slot = find_slot (profile, &key);
  if (*slot != RD_NO_INDEX)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "node %zu '%s' (%s) is the same as node %" PRIu32,
                    profile->nodes.n, copy.name, copy.category, *slot);
  RD_TRY (rd_vector_append (&profile->nodes, copy));
  *slot = (uint32_t) (profile->nodes.n - 1);
  if (index)
    *index = *slot;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Counters and gauges, values and shares
 *----------------------------------------------------------------------*/

/* True if a name is another one with the unit after it. */
static bool
has_unit (const char *name, const char *plain, const char *unit)
{
  size_t n = strlen (plain), nunit = strlen (unit);
  return strncmp (name, plain, n) == 0 && strncmp (name + n, " (", 2) == 0
         && strncmp (name + n + 2, unit, nunit) == 0
         && strcmp (name + n + 2 + nunit, ")") == 0;
}

/* The index of a counter or gauge, else the number of all.  One name with two
 * units gives two: all but the first are named "NAME (UNIT)", and the first in
 * this profile may be a later one in another. */
static size_t
find_counter (const struct rd_counters *counters, const char *name,
              const char *unit)
{
  for (size_t i = 0; i < counters->n; i++) {
    const struct rd_counter *known = &counters->at[i];
    if (strcmp (known->unit, unit) == 0
        && (strcmp (known->name, name) == 0
            || has_unit (name, known->name, unit)
            || has_unit (known->name, name, unit)))
      return i;
  }
  return counters->n;
}

bool
rd_profile_has_room (const struct rd_counters *counters, const char *name,
                     const char *unit)
{
  return counters->n < RD_MAX_KEYS
         || find_counter (counters, name, unit) < counters->n;
}

static enum radio_status
fail_too_many (const char *what)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "a profile with more than %d %s", RD_MAX_KEYS, what);
}

static enum radio_status
add_counter (struct radio_profile *profile, struct rd_counters *counters,
             const char *name, const char *unit, uint32_t *index)
{
  /* Those that are known are as a profile's texts are: repaired. */
  RD_TRY (own (profile, &name));
  RD_TRY (own (profile, &unit));
  size_t i = find_counter (counters, name, unit), n = counters->n;
  if (index)
    *index = (uint32_t) i;
  if (i < n)
    return RADIO_OK;
  if (n == RD_MAX_KEYS)
    return fail_too_many (counters == &profile->gauges ? "gauges"
                                                       : "counters");
  for (i = 0; i < n && strcmp (counters->at[i].name, name) != 0;)
    i++;
  size_t nbytes = strlen (name) + strlen (unit) + sizeof " ()";
  RD_FREE_PLAIN char *label = malloc (nbytes);
  if (!label)
    return rd_fail_memory (nbytes);
  if (i < n)
    snprintf (label, nbytes, "%s (%s)", name, unit);
  else
    memcpy (label, name, strlen (name) + 1);
  struct rd_counter counter = { label, unit };
  RD_TRY (own (profile, &counter.name));
  return rd_vector_append (counters, counter);
}

enum radio_status
rd_profile_add_counter (struct radio_profile *profile, const char *name,
                        const char *unit, uint32_t *index)
{
  return add_counter (profile, &profile->counters, name, unit, index);
}

enum radio_status
rd_profile_add_gauge (struct radio_profile *profile, const char *name,
                      const char *unit, uint32_t *index)
{
  return add_counter (profile, &profile->gauges, name, unit, index);
}

/* `what' names the kind of index in the message. */
static enum radio_status
check_index (uint32_t index, size_t n, const char *what)
{
  if (index < n)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s %" PRIu32 " where there are only %zu", what, index, n);
}

enum radio_status
rd_profile_add_value (struct radio_profile *profile, uint32_t node,
                      uint32_t counter, uint64_t value)
{
  RD_TRY (check_index (node, profile->nodes.n, "a value of node"));
  RD_TRY (check_index (counter, profile->counters.n, "a value of counter"));
  struct rd_value entry = { node, counter, value };
  return rd_vector_append (&profile->values, entry);
}

enum radio_status
rd_profile_add_share (struct radio_profile *profile, uint32_t node,
                      uint32_t part, const struct radio_profile_share *share)
{
  RD_TRY (check_index (node, profile->nodes.n, "a share of node"));
  RD_TRY (check_index (part, profile->parts.n, "a share of part"));
  struct rd_part_share entry = { node, part, *share };
  return rd_vector_append (&profile->shares, entry);
}

/*------------------------------------------------------------------------
 * The rest
 *----------------------------------------------------------------------*/

enum radio_status
rd_profile_add_part (struct radio_profile *profile,
                     const struct rd_profile_part *part, uint32_t *index)
{
  struct rd_profile_part copy = *part;
  RD_TRY (check_room (profile->parts.n, "parts", index));
  RD_TRY (own (profile, &copy.name));
  return rd_vector_append (&profile->parts, copy);
}

enum radio_status
rd_profile_add_lane (struct radio_profile *profile,
                     const struct rd_lane *lane, uint32_t *index)
{
  struct rd_lane copy = *lane;
  RD_TRY (check_room (profile->lanes.n, "lanes", index));
  RD_TRY (own (profile, &copy.name));
  return rd_vector_append (&profile->lanes, copy);
}

enum radio_status
rd_profile_add_span (struct radio_profile *profile,
                     const struct rd_span *span)
{
  RD_TRY (check_room (profile->spans.n, "spans", NULL));
  return rd_vector_append (&profile->spans, *span);
}

enum radio_status
rd_profile_add_note (struct radio_profile *profile,
                     const struct rd_note *note)
{
  struct rd_note copy = *note;
  RD_TRY (own (profile, &copy.key));
  RD_TRY (own (profile, &copy.value));
  return rd_vector_append (&profile->notes, copy);
}

enum radio_status
rd_profile_add_sample (struct radio_profile *profile,
                       const struct rd_sample *sample)
{
  return rd_vector_append (&profile->samples, *sample);
}

enum radio_status
rd_profile_add_fact (struct radio_profile *profile, const char *key,
                     const char *value, bool is_name)
{
  struct rd_fact fact = { key, value, is_name };
  RD_TRY (own (profile, &fact.key));
  RD_TRY (own (profile, &fact.value));
  for (size_t i = 0; i < profile->facts.n; i++) {
    if (profile->facts.at[i].key == fact.key) {
      profile->facts.at[i] = fact;
      return RADIO_OK;
    }
  }
  if (profile->facts.n == RD_MAX_KEYS)
    return fail_too_many ("facts");
  return rd_vector_append (&profile->facts, fact);
}

enum radio_status
rd_profile_add_number (struct radio_profile *profile, const char *key,
                       uint64_t value)
{
  char text[24];
  snprintf (text, sizeof text, "%" PRIu64, value);
  return rd_profile_add_fact (profile, key, text, false);
}

const char *
rd_profile_find_fact (const struct radio_profile *profile, const char *key)
{
  const char *own_key = rd_string_table_find (profile->strings, key);
  for (size_t i = 0; own_key && i < profile->facts.n; i++)
    if (profile->facts.at[i].key == own_key)
      return profile->facts.at[i].value;
  return NULL;
}

uint64_t
rd_parse_digits (const char *text)
{
  uint64_t value = 0;
  size_t n = 0;
  for (; text[n] >= '0' && text[n] <= '9' && n < 18; n++)
    value = 10 * value + (uint64_t) (text[n] - '0');
  return text[n] == '\0' ? value : 0;
}

uint64_t
rd_profile_number (const struct radio_profile *profile, const char *key)
{
  const char *value = rd_profile_find_fact (profile, key);
  return value ? rd_parse_digits (value) : 0;
}
