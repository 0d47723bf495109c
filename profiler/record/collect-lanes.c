/* SPDX-License-Identifier: MIT */
/* A lane for each thread that was recorded, by what it was called. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profiler/record/collect.h"

/* Equal names of one thread are one lane, whichever writers it had. */
static uint32_t
hash_name (const char *name)
{
  uint32_t hash = 2166136261u;
  for (; *name; name++)
    hash = (hash ^ (unsigned char) *name) * 16777619u;
  return hash;
}

/* Whether the system's name is what a thread has that nobody named: that of
 * the process, which it keeps 15 bytes of. */
static bool
is_inherited (const char *name, const char *program)
{
  return strncmp (name, program, 15) == 0
         && strlen (name) == strnlen (program, 15);
}

static const char *
name_of (const struct rd_session *session, const char *program)
{
  if (session->is_named)
    return session->name;
  if (session->os_tid == (uint64_t) getpid ())
    return "main";
  return session->name[0] && !is_inherited (session->name, program)
    ? session->name
    : "thread";
}

/* The lane of a session, which is new or known. */
static enum radio_status
collect_session (struct radio_profile *profile, struct rd_ids *known,
                 const struct rd_session *session, uint32_t *lane)
{
  const char *name = name_of (session, profile->info.program);
  uint64_t key = session->os_tid ^ (uint64_t) hash_name (name) << 32;
  uint32_t id;
  RD_TRY (rd_ids_give (known, 0, key, &id));
  *lane = id - 1;
  if (*lane < profile->lanes.n)
    return RADIO_OK;
  struct rd_lane new = {
    .name = (char *) name, .os_tid = session->os_tid
  };
  return rd_profile_add_lane (profile, &new, lane);
}

static size_t
count_sessions (const struct radio_recorder *recorder)
{
  size_t n = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    n += recorder->synced.writers.at[i]->sessions.n;
  return n;
}

static enum radio_status
collect_sessions (struct rd_collection *collection, struct rd_ids *known)
{
  const struct radio_recorder *recorder = collection->recorder;
  uint32_t *lane = collection->lanes;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->sessions.n; j++)
      RD_TRY (collect_session (collection->profile, known,
                               &writer->sessions.at[j], lane++));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Threads that share a name
 *----------------------------------------------------------------------*/

static int
compare_lanes (const void *a, const void *b)
{
  const struct rd_lane *x = *(const struct rd_lane *const *) a;
  const struct rd_lane *y = *(const struct rd_lane *const *) b;
  int by = strcmp (x->name, y->name);
  return by ? by : (x > y) - (x < y);
}

static enum radio_status
append_number (struct radio_profile *profile, struct rd_lane *lane,
               size_t number)
{
  char name[96];
  snprintf (name, sizeof name, "%s %zu", lane->name, number);
  const char *copy = rd_profile_string (profile, name);
  if (!copy)
    return rd_fail_memory (strlen (name) + 1);
  lane->name = (char *) copy;
  return RADIO_OK;
}

/* "loader", "loader 2", "loader 3": in the order in which they came. */
static enum radio_status
number_equal_names (struct radio_profile *profile, struct rd_lane **sorted)
{
  const char *name = "";
  size_t number = 0;
  for (size_t i = 0; i < profile->lanes.n; i++) {
    struct rd_lane *lane = sorted[i];
    number = strcmp (name, lane->name) == 0 ? number + 1 : 1;
    name = lane->name;
    if (number > 1)
      RD_TRY (append_number (profile, lane, number));
  }
  return RADIO_OK;
}

static enum radio_status
tell_apart (struct radio_profile *profile)
{
  size_t n = profile->lanes.n;
  RD_FREE_PLAIN struct rd_lane **sorted = calloc (n ? n : 1, sizeof *sorted);
  if (!sorted)
    return rd_fail_memory (n * sizeof *sorted);
  for (size_t i = 0; i < n; i++)
    sorted[i] = &profile->lanes.at[i];
  qsort (sorted, n, sizeof *sorted, compare_lanes);
  return number_equal_names (profile, sorted);
}

enum radio_status
rd_collect_lanes (struct rd_collection *collection)
{
  size_t n = count_sessions (collection->recorder);
  collection->lanes = calloc (n ? n : 1, sizeof *collection->lanes);
  if (!collection->lanes)
    return rd_fail_memory (n * sizeof *collection->lanes);
  RD_IDS_SCOPE struct rd_ids known;
  RD_TRY (rd_ids_init (&known, 1));
  RD_TRY (collect_sessions (collection, &known));
  return tell_apart (collection->profile);
}
