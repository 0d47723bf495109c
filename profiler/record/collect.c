/* SPDX-License-Identifier: MIT */
/* The profile of a recorder that was stopped: its steps, times, lanes, facts
 * and total memory. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/buffer.h"
#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/model/format.h"
#include "profiler/record/collect.h"
#include "profiler/record/writer.h"

/*------------------------------------------------------------------------
 * Times
 *----------------------------------------------------------------------*/

uint64_t
rd_collect_time (const struct rd_collection *collection, uint64_t ticks)
{
  uint64_t since = ticks > collection->begin
    ? ticks - collection->begin
    : 0;
  /* A profile has no later time, but a clock may jump there. */
  return rd_min_u64 (rd_rate_ns (&collection->recorder->rate, since),
                     INT64_MAX);
}

/*------------------------------------------------------------------------
 * Lanes: one for each thread and name
 *----------------------------------------------------------------------*/

/* Sets the lane of a session.  Equal names of one thread are one lane, with
 * any writer. */
static enum radio_status
add_lane (struct rd_collection *collection, struct rd_ids *known,
          const struct rd_session *session, uint32_t *lane)
{
  struct radio_profile *profile = collection->profile;
  /* A thread without a name of its own has the process's, of which the system
   * keeps 15 bytes. */
  const char *name = session->name, *program = profile->info.program;
  bool is_inherited = strncmp (name, program, 15) == 0
                      && strlen (name) == strnlen (program, 15);
  if (!session->is_named && session->os_tid == collection->origin->pid)
    name = "main";
  else if (!session->is_named && (!*name || is_inherited))
    name = "thread";

  uint32_t id, hash = 2166136261u;
  for (const char *c = name; *c; c++)
    hash = (hash ^ (unsigned char) *c) * 16777619u;
  uint64_t key = session->os_tid ^ (uint64_t) hash << 32;
  RD_TRY (rd_ids_give (known, 0, key, &id));
  *lane = id - 1;
  if (*lane < profile->lanes.n)
    return RADIO_OK;
  struct rd_lane new = {
    .name = (char *) name, .os_tid = session->os_tid
  };
  return rd_profile_add_lane (profile, &new, lane);
}

static int
compare_lanes (const void *a, const void *b)
{
  const struct rd_lane *x = *(const struct rd_lane *const *) a;
  const struct rd_lane *y = *(const struct rd_lane *const *) b;
  int by = strcmp (x->name, y->name);
  return by ? by : (x > y) - (x < y);
}

static enum radio_status
collect_lanes (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  size_t nsessions = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    nsessions += recorder->synced.writers.at[i]->sessions.n;
  collection->lanes = calloc (nsessions ? nsessions : 1,
                              sizeof *collection->lanes);
  if (!collection->lanes)
    return rd_fail_memory (nsessions * sizeof *collection->lanes);
  RD_IDS_SCOPE struct rd_ids known;
  RD_TRY (rd_ids_init (&known, 1));
  uint32_t *next = collection->lanes;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->sessions.n; j++)
      RD_TRY (add_lane (collection, &known, &writer->sessions.at[j], next++));
  }

  /* Number the threads that share a name, in the order in which they came:
   * "loader", "loader 2", "loader 3". */
  size_t n = profile->lanes.n, number = 0;
  const char *name = "";
  RD_FREE_PLAIN struct rd_lane **sorted = calloc (n ? n : 1, sizeof *sorted);
  if (!sorted)
    return rd_fail_memory (n * sizeof *sorted);
  for (size_t i = 0; i < n; i++)
    sorted[i] = &profile->lanes.at[i];
  qsort (sorted, n, sizeof *sorted, compare_lanes);
  for (size_t i = 0; i < n; i++) {
    struct rd_lane *lane = sorted[i];
    char numbered[96];
    number = strcmp (name, lane->name) == 0 ? number + 1 : 1;
    name = lane->name;
    if (number == 1)
      continue;
    snprintf (numbered, sizeof numbered, "%s %zu", name, number);
    RD_TRY (rd_profile_set_string (profile, numbered, &lane->name));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Facts
 *----------------------------------------------------------------------*/

/* Facts of 0 are left out. */
static enum radio_status
add_number (struct radio_profile *profile, const char *key, uint64_t value)
{
  return value == 0 ? RADIO_OK : rd_profile_add_number (profile, key, value);
}

/* A reading is incomplete if it lacks more than a tenth of the time, or maybe
 * more than a fifth of its CPU time, and 1 ms. */
#define MAX_UNREAD_PARTS 10
#define MAX_UNREAD_CPU_PARTS 5
#define MIN_UNREAD_CPU_NS 1000000

/* CPU time of the process in the profile's wall time: from the first begin to
 * the last end, by the reading nearest to that.  For a process that was killed
 * too long after its last reading, that reading is a lower bound, if it was
 * after the first begin. */
static enum radio_status
add_cpu_time (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  const struct rd_writer_state *first = NULL, *last = NULL;
  uint64_t from = recorder->start.cpu_ns;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    if (writer->first_begin == 0)
      continue;
    if (!first || writer->first_begin < first->first_begin)
      first = writer;
    if (!last || writer->last_end > last->last_end)
      last = writer;
  }
  if (first && first->first.ticks == first->first_begin)
    from = first->first.cpu_ns;
  const struct rd_cpu_mark to
    = rd_recorder_nearest_mark (recorder, last ? last->last_end : UINT64_MAX);
  const uint64_t ns = rd_subtract (to.cpu_ns, from), until = to.ticks;
  const uint64_t unread = last ? rd_subtract (last->last_end, until) : 0;
  const uint64_t unread_ns = rd_rate_ns (&recorder->rate,
                                         recorder->unread_cpu);
  if (unread == 0
      || (unread <= (last->last_end - first->first_begin) / MAX_UNREAD_PARTS
          && unread_ns <= rd_max_u64 (ns / MAX_UNREAD_CPU_PARTS,
                                      MIN_UNREAD_CPU_NS)))
    return add_number (profile, RD_FACT_CPU_NS, ns);
  char why[128];
  if (until <= first->first_begin || ns == 0)
    snprintf (why, sizeof why, "it was not read after the first scope began");
  else
    snprintf (why, sizeof why, "it was last read %s before the last event",
              rd_format_ns (rd_rate_ns (&recorder->rate, unread)).text);
  if (until > first->first_begin)
    RD_TRY (add_number (profile, RD_FACT_CPU_LEAST_NS, ns));
  return rd_profile_add_fact (profile, RD_FACT_CPU_UNKNOWN, why, false);
}

/* The numbers of slow runs, and the triggers whose name no scope had. */
static enum radio_status
add_slow_facts (struct radio_profile *profile, struct rd_slow *slow)
{
  struct rd_slow_counts counts = rd_slow_counts (slow);
  RD_BUFFER_SCOPE struct rd_buffer names = { 0 };
  RD_TRY (add_number (profile, RD_FACT_SLOW_WRITTEN, counts.written));
  RD_TRY (add_number (profile, RD_FACT_SLOW_DROPPED, counts.dropped));
  if (counts.error[0] != '\0')
    RD_TRY (rd_profile_add_fact (profile, RD_FACT_SLOW_ERROR, counts.error,
                                 true));
  for (size_t i = 0; i < slow->triggers.n; i++) {
    const char *name = slow->triggers.at[i].name;
    if (atomic_load_explicit (&slow->is_known[i], memory_order_relaxed))
      continue;
    RD_TRY (rd_buffer_append (&names, ", ", names.nbytes > 0 ? 2 : 0));
    RD_TRY (rd_buffer_append (&names, name, strlen (name)));
  }
  if (names.nbytes == 0)
    return RADIO_OK;
  RD_TRY (rd_buffer_append (&names, "", 1));
  return rd_profile_add_fact (profile, RD_FACT_SLOW_UNKNOWN,
                              (const char *) names.data, false);
}

/* The numbers of things that could not be kept. */
static enum radio_status
add_losses (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  uint64_t nskipped = collection->nfolded;
  uint64_t nthrottled = 0, ntexts = 0, noutside = 0;
  uint64_t ninterrupting = 0, nleft = 0, naway = 0, away = 0;
  uint64_t nsamples = collection->nsamples_lost, retired_until = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    noutside += writer->noutside;
    ninterrupting += writer->ninterrupting;
    nleft += writer->nleft;
    retired_until = rd_max_u64 (retired_until, writer->log.retired_until);
    naway += writer->naway;
    away += writer->away;
    ntexts += writer->texts.dropped_count;
    nsamples += writer->samples.dropped_count;
    for (size_t j = 0; j < writer->nnodes; j++) {
      nskipped += writer->nodes[j]->nskipped;
      nthrottled += writer->nodes[j]->throttled;
    }
  }
  RD_TRY (add_number (profile, RD_FACT_SKIPPED, nskipped));
  RD_TRY (add_number (profile, RD_FACT_THROTTLED, nthrottled));
  RD_TRY (add_number (profile, RD_FACT_AWAY, naway));
  RD_TRY (add_number (profile, RD_FACT_AWAY_NS,
                      rd_rate_ns (&recorder->rate, away)));
  RD_TRY (add_number (profile, RD_FACT_LEFT, nleft));
  RD_TRY (add_number (profile, RD_FACT_CLOCK_JUMPS, recorder->clock_jumped));
  RD_TRY (add_number (profile, RD_FACT_INTERRUPTING, ninterrupting));
  RD_TRY (add_number (profile, RD_FACT_OUTSIDE, noutside));
  RD_TRY (add_number (profile, RD_FACT_TEXTS, ntexts));
  RD_TRY (add_number (profile, RD_FACT_VALUES, collection->nvalues_lost));
  RD_TRY (add_number (profile, RD_FACT_SAMPLES, nsamples));
  RD_TRY (add_number (profile, RD_FACT_THREADS, recorder->synced.nrefused));
  RD_TRY (add_number (profile, RD_FACT_RING, recorder->ring_nbytes));
  return retired_until == 0
         ? RADIO_OK : add_number (profile, RD_FACT_RING_BEGIN,
                                  rd_collect_time (collection, retired_until));
}

static enum radio_status
add_facts (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  const struct rd_origin *origin = collection->origin;
  if (origin->host[0])
    RD_TRY (rd_profile_add_fact (profile, "host", origin->host, true));
  RD_TRY (add_number (profile, RD_FACT_PID, origin->pid));
  RD_TRY (add_number (profile, RD_FACT_NCPUS, origin->ncpus));
  if (origin->cpu_model[0])
    RD_TRY (rd_profile_add_fact (profile, RD_FACT_CPU_MODEL,
                                 origin->cpu_model, false));
  RD_TRY (add_number (profile, RD_FACT_CLOCK, origin->clock_mhz));
  const struct rd_usage *usage = &recorder->usage;
  RD_TRY (add_cpu_time (collection));
  RD_TRY (add_number (profile, RD_FACT_OWN_NS, recorder->own_cpu_ns));
  RD_TRY (add_number (profile, RD_FACT_MACHINE_NS, usage->machine_ns));
  uint64_t recorded_ns = 0;
  if (usage->is_known && recorder->stop.ticks > recorder->start.ticks) {
    recorded_ns = rd_rate_ns (&recorder->rate, recorder->stop.ticks
                                               - recorder->start.ticks);
    RD_TRY (add_number (profile, RD_FACT_RECORDED_NS, recorded_ns));
    RD_TRY (add_number (profile, RD_FACT_RECORDED_CPU_NS,
                        rd_subtract (recorder->stop.cpu_ns,
                                     recorder->start.cpu_ns)));
  }
  RD_TRY (add_number (profile, RD_FACT_STEAL_NS, usage->steal_ns));
  RD_TRY (add_number (profile, RD_FACT_QUOTA_NS, usage->throttled_ns));
  RD_TRY (add_number (profile, RD_FACT_MINOR, usage->nminor_faults));
  RD_TRY (add_number (profile, RD_FACT_MAJOR, usage->nmajor_faults));
  RD_TRY (add_number (profile, RD_FACT_RESIDENT, usage->resident_nbytes));
  if (usage->is_known || usage->block_input_nbytes > 0)
    RD_TRY (rd_profile_add_number (profile, RD_FACT_BLOCK_INPUT,
                                   usage->block_input_nbytes));
  /* Else these may be its own waits. */
  if (usage->block_input_nbytes == 0 && usage->block_output_nbytes == 0) {
    RD_TRY (add_number (profile, RD_FACT_NO_DISK_NS, recorded_ns));
    RD_TRY (add_number (profile, RD_FACT_DISK_WAIT, usage->disk_wait_ns));
    if (usage->is_pressure_known)
      RD_TRY (rd_profile_add_number (profile, RD_FACT_DISK_PRESSURE,
                                     usage->disk_pressure_ns));
  }
  if (origin->command[0])
    RD_TRY (rd_profile_add_fact (profile, "command", origin->command, true));

  RD_TRY (add_losses (collection));
  if (recorder->seen > 0)
    RD_TRY (add_number (profile, RD_FACT_SEEN,
                        rd_collect_time (collection, recorder->seen)));

  if (recorder->slow)
    RD_TRY (add_slow_facts (profile, recorder->slow));

  /* The caller's facts are last, and replace those of the same key, or the
   * title. */
  for (size_t i = 0; i < recorder->synced.facts.n; i++) {
    const struct rd_recorder_fact *fact = &recorder->synced.facts.at[i];
    if (strcmp (fact->key, RD_FACT_TITLE) == 0)
      RD_TRY (rd_profile_set_string (profile, fact->value,
                                     &profile->info.title));
    else
      RD_TRY (rd_profile_add_fact (profile, fact->key, fact->value,
                                   fact->kind == RADIO_TEXT_NAME));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The steps
 *----------------------------------------------------------------------*/

static enum radio_status
collect_all (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  struct radio_profile_info *info = &profile->info;
  const char *program = collection->origin->program;
  /* The profile begins when the first scope began, and ends when the last one
   * ended; where there was none, both are the recorder's start. */
  uint64_t begin = UINT64_MAX, end = 0, start = recorder->start.ticks;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    if (writer->first_begin == 0)
      continue;
    begin = rd_min_u64 (begin, writer->first_begin);
    end = rd_max_u64 (end, writer->last_end);
  }
  if (begin == UINT64_MAX)
    begin = start;
  collection->begin = begin;
  info->wall_ns = rd_collect_time (collection, rd_max_u64 (begin, end));
  info->started_unix_ns = recorder->started_unix_ns;
  if (begin > start)
    info->started_unix_ns += rd_rate_ns (&recorder->rate, begin - start);
  info->scope_cost_ns = recorder->scope_cost_ns;
  profile->process = collection->origin->process;

  RD_TRY (rd_profile_set_string (profile, program, &info->program));
  const char *title = recorder->title ? recorder->title : program;
  RD_TRY (rd_profile_set_string (profile, title, &info->title));
  RD_TRY (rd_profile_set_string (profile, collection->origin->clock,
                                 &info->clock));
  RD_TRY (rd_collect_tree (collection));
  RD_TRY (collect_lanes (collection));
  RD_TRY (rd_collect_log (collection));
  RD_TRY (add_facts (collection));

  /* The memory held at the end and at most; counts of allocations are set by
   * the tree. */
  const struct rd_account *account = recorder->account;
  if (!account)
    return RADIO_OK;
  int64_t live = atomic_load_explicit (&account->live, memory_order_relaxed);
  int64_t peak = atomic_load_explicit (&account->peak, memory_order_relaxed);
  uint64_t limit = peak > 0 ? (uint64_t) peak : 0;
  info->alloc_live_nbytes = live > 0 ? (uint64_t) live : 0;
  info->alloc_peak_nbytes = limit;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    uint64_t *nbytes = &profile->nodes.at[i].alloc_peak_nbytes;
    *nbytes = rd_min_u64 (*nbytes, limit);
  }
  return RADIO_OK;
}

enum radio_status
rd_collect_run (const struct radio_recorder *recorder,
                const struct rd_slow_run *run,
                struct radio_profile **profile, uint32_t *id)
{
  RD_PROFILE_SCOPE struct radio_profile *new = NULL;
  RD_TRY (rd_profile_new (&new));
  struct rd_origin own;
  struct rd_collection collection = {
    .recorder = recorder, .profile = new, .origin = recorder->origin,
    .spans_from = run ? run->begin : 0,
  };
  if (!collection.origin) {
    rd_origin_read (&own, &recorder->clock);
    collection.origin = &own;
  }
  RD_TRY (rd_ids_init (&collection.ids, recorder->synced.writers.n));
  enum radio_status status = collect_all (&collection);
  *id = run && run->writer < recorder->synced.writers.n
        ? rd_ids_find (&collection.ids, run->writer, run->sequence) : 0;
  if (*id > new->spans.n)     /* a parent that is not in the log */
    *id = 0;
  rd_ids_free (&collection.ids);
  free (collection.lanes);
  RD_TRY (status);
  RD_TRY (rd_profile_finalize (new));
  *profile = RD_STEAL (new);
  return RADIO_OK;
}

enum radio_status
rd_collect (const struct radio_recorder *recorder,
            struct radio_profile **profile)
{
  uint32_t none;
  return rd_collect_run (recorder, NULL, profile, &none);
}
