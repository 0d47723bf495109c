/* SPDX-License-Identifier: MIT */
/* The profile of a recorder that was stopped: the steps in their order, and
 * what is to be said of the whole. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "profiler/record/collect.h"

/*------------------------------------------------------------------------
 * Times
 *----------------------------------------------------------------------*/

/* When the first scope began and the last one ended; the recorder's own
 * beginning where there was none. */
static void
find_extent (const struct radio_recorder *recorder, uint64_t *begin,
             uint64_t *end)
{
  *begin = UINT64_MAX;
  *end = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    if (writer->first_begin == 0)
      continue;
    *begin = rd_min_u64 (*begin, writer->first_begin);
    *end = rd_max_u64 (*end, writer->last_end);
  }
  if (*begin == UINT64_MAX)
    *begin = recorder->start.ticks;
  *end = rd_max_u64 (*begin, *end);
}

static void
say_times (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile_info *info = &collection->profile->info;
  uint64_t end;
  find_extent (recorder, &collection->origin, &end);
  info->wall_ns = rd_collect_time (collection, end);
  uint64_t start = recorder->start.ticks;
  uint64_t delay = collection->origin > start
    ? rd_rate_ns (&recorder->rate, collection->origin - start)
    : 0;
  info->started_unix_ns = recorder->started_unix_ns + delay;
  info->scope_cost_ns = recorder->scope_cost_ns;
}

/*------------------------------------------------------------------------
 * Names and facts
 *----------------------------------------------------------------------*/

static const char *
program_name (void)
{
#ifdef __GLIBC__
  return program_invocation_short_name;
#else
  return "";
#endif
}

static enum radio_status
own_string (struct radio_profile *profile, const char *text,
            const char **own)
{
  *own = rd_profile_string (profile, text);
  return *own ? RADIO_OK : rd_fail_memory (strlen (text) + 1);
}

static enum radio_status
say_names (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  const char *program = program_name ();
  RD_TRY (own_string (profile, program, &profile->info.program));
  RD_TRY (own_string (profile, recorder->title ? recorder->title : program,
                      &profile->info.title));
  return own_string (profile, recorder->clock.tsc ? "tsc" : "monotonic",
                     &profile->info.clock);
}

static enum radio_status
add_number (struct radio_profile *profile, const char *key, uint64_t value)
{
  char text[32];
  snprintf (text, sizeof text, "%" PRIu64, value);
  return rd_profile_add_fact (profile, key, text, false);
}

static enum radio_status
add_number_if_any (struct radio_profile *profile, const char *key,
                   uint64_t value)
{
  return value ? add_number (profile, key, value) : RADIO_OK;
}

/* The command line, its arguments apart by blanks; nothing where the system
 * does not tell. */
static enum radio_status
add_command (struct radio_profile *profile)
{
  char text[4096];
  FILE *file = fopen ("/proc/self/cmdline", "re");
  if (!file)
    return RADIO_OK;
  size_t n = fread (text, 1, sizeof text - 1, file);
  fclose (file);
  while (n > 0 && text[n - 1] == '\0')
    n--;
  for (size_t i = 0; i < n; i++) {
    if (text[i] == '\0')
      text[i] = ' ';
  }
  text[n] = '\0';
  return n ? rd_profile_add_fact (profile, "command", text, true) : RADIO_OK;
}

static enum radio_status
add_process (const struct radio_recorder *recorder,
             struct radio_profile *profile)
{
  char host[256];
  if (gethostname (host, sizeof host) == 0) {
    host[sizeof host - 1] = '\0';
    RD_TRY (rd_profile_add_fact (profile, "host", host, true));
  }
  RD_TRY (add_number (profile, "pid", (uint64_t) getpid ()));
  long ncpus = sysconf (_SC_NPROCESSORS_ONLN);
  if (ncpus > 0)
    RD_TRY (add_number (profile, "ncpus", (uint64_t) ncpus));
  RD_TRY (add_number_if_any (profile, RD_FACT_CPU_NS,
                             recorder->stop.cpu_ns - recorder->start.cpu_ns));
  return add_command (profile);
}

/* What could not be kept: only what there is none of may go unsaid. */
static enum radio_status
add_losses (const struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  uint64_t nskipped = collection->nfolded;
  uint64_t nthrottled = 0, ntexts = 0;
  uint64_t nsamples = collection->nsamples_lost;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    ntexts += writer->texts.dropped_count;
    nsamples += writer->samples.dropped_count;
    for (size_t j = 0; j < writer->nnodes; j++) {
      nskipped += writer->nodes[j]->nskipped;
      nthrottled += writer->nodes[j]->throttled;
    }
  }
  RD_TRY (add_number_if_any (profile, RD_FACT_SKIPPED, nskipped));
  RD_TRY (add_number_if_any (profile, RD_FACT_THROTTLED, nthrottled));
  RD_TRY (add_number_if_any (profile, RD_FACT_TEXTS, ntexts));
  RD_TRY (add_number_if_any (profile, RD_FACT_VALUES,
                             collection->nvalues_lost));
  RD_TRY (add_number_if_any (profile, RD_FACT_SAMPLES, nsamples));
  return add_number_if_any (profile, RD_FACT_THREADS,
                            recorder->synced.nrefused);
}

/* The caller's come last, and replace what is called the same. */
static enum radio_status
add_facts (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  RD_TRY (add_process (recorder, profile));
  RD_TRY (add_losses (collection));
  for (size_t i = 0; i < recorder->synced.facts.n; i++) {
    const struct rd_recorder_fact *fact = &recorder->synced.facts.at[i];
    RD_TRY (rd_profile_add_fact (profile, fact->key, fact->value,
                                 fact->kind == RADIO_TEXT_NAME));
  }
  return RADIO_OK;
}

/* Memory of the whole; how often and how much was added up by the tree. */
static void
say_memory (struct rd_collection *collection)
{
  const struct rd_account *account = collection->recorder->account;
  struct radio_profile *profile = collection->profile;
  if (!account)
    return;
  int64_t live = atomic_load_explicit (&account->live, memory_order_relaxed);
  int64_t peak = atomic_load_explicit (&account->peak, memory_order_relaxed);
  uint64_t limit = peak > 0 ? (uint64_t) peak : 0;
  profile->info.alloc_live_nbytes = live > 0 ? (uint64_t) live : 0;
  profile->info.alloc_peak_nbytes = limit;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    uint64_t *nbytes = &profile->nodes.at[i].alloc_peak_nbytes;
    *nbytes = rd_min_u64 (*nbytes, limit);
  }
}

/*------------------------------------------------------------------------
 * All of it
 *----------------------------------------------------------------------*/

static enum radio_status
collect (struct rd_collection *collection)
{
  say_times (collection);
  RD_TRY (say_names (collection));
  RD_TRY (rd_collect_tree (collection));
  RD_TRY (rd_collect_lanes (collection));
  RD_TRY (rd_collect_log (collection));
  RD_TRY (rd_collect_notes (collection));
  RD_TRY (rd_collect_samples (collection));
  RD_TRY (add_facts (collection));
  say_memory (collection);
  return RADIO_OK;
}

enum radio_status
rd_collect (const struct radio_recorder *recorder,
            struct radio_profile **profile)
{
  RD_PROFILE_SCOPE struct radio_profile *new = NULL;
  RD_TRY (rd_profile_new (&new));
  struct rd_collection collection = {
    .recorder = recorder, .profile = new
  };
  RD_TRY (rd_ids_init (&collection.ids, recorder->synced.writers.n));
  enum radio_status status = collect (&collection);
  rd_ids_free (&collection.ids);
  free (collection.lanes);
  RD_TRY (status);
  RD_TRY (rd_profile_finish (new));
  *profile = RD_STEAL (new);
  return RADIO_OK;
}
