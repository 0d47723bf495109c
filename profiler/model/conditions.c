/* SPDX-License-Identifier: MIT */
/* The conditions of two recordings.
 *
 * A wall time says something about a program only if its threads had CPUs, and
 * the same ones.  What they did on CPUs is known apart from that, but is not
 * quite independent of it either: other processes take caches and the other
 * half of a core, a hypervisor or another clock stretch it.  So where
 * conditions differ times on CPUs are compared, and differences as small as
 * these effects are noise. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/conditions.h"
#include "profiler/model/findings.h"
#include "profiler/model/format.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/* Two processes of one program differ by this much: by the placement of their
 * memory, and by other work of the machine.  With several rounds the difference
 * is measured instead. */
#define FLOOR 0.05
#define FLOOR_OF_ROUNDS 0.01

/* Their whole operations differ by this much more: 19 of 20 pairs of processes
 * of the trial in docs/findings.md by less than 9 %, all by less than 15 %. */
#define FLOOR_OF_ROOTS 0.1

/* The smallest relevant part of the whole: with rounds; with one process each,
 * as a thread that started slowly may take more; and where conditions differ,
 * as a scope in which a thread lost its CPU takes longer. */
#define LEAST_SHARE_OF_ROUNDS 0.005
#define LEAST_SHARE 0.01
#define LEAST_SHARE_UNFAIR 0.02

/* The time that other processes may add to times on CPUs, through caches and
 * through cores that two threads share. */
#define FLOOR_OF_LOAD 0.25

/* The same where both lacked CPUs alike: others had them between their
 * threads. */
#define FLOOR_OF_SHARED 0.05

/* Times on CPUs of different processors. */
#define FLOOR_OF_MACHINES 1

/* Threads that lacked CPUs for more of their work and waits: then wall times
 * say little, even if equal.  As a part of work alone, a little time without a
 * CPU beside long waits would hide a change of these. */
#define MAX_LACK 0.1

/* The part of work that had a CPU: a larger difference makes conditions
 * unequal, if the part above, which waits alone can change, differs, too. */
#define CPU_SHARE_CHANGE 0.05

/* The same for the work that the process had CPU time for, if it is unknown
 * which threads were starved; its CPU time is known to a millisecond at either
 * end. */
#define RAN_SHARE_CHANGE 0.1
#define CPU_TIME_ERROR_NS 2e6

/* CPUs that others used, or that were idle while others waited for a disk: a
 * kernel that writes takes caches and interrupts any CPU; and part of all CPUs.
 * The system counts in ticks of 10 ms. */
#define LOAD_CHANGE 0.25
#define LOAD_CHANGE_SHARE 0.05
#define TICKS_ERROR_NS 1.5e7

/* Part of the time in which other processes waited for a disk.  It is known to
 * a microsecond: some 1 % where nothing goes on, 10 to 20 % beside a process
 * that writes and gets a tenth of a CPU, all of it where that gets one. */
#define PRESSURE_CHANGE 0.1

#define STEAL_CHANGE 0.03

/* A clock is measured at an end of each run, to a percent.  It may change by
 * itself: by what neighbours in the machine do, in virtual ones. */
#define CLOCK_CHANGE 0.1
#define CLOCK_ERROR 0.02

/* A share of the bytes that a run read from files, and their least number. */
#define COLD_CHANGE 0.1
#define COLD_CHANGE_NBYTES 65536

size_t
rd_count_runs (const struct radio_profile *profile)
{
  return profile->info.parts == RADIO_PARTS_RUNS ? profile->parts.n : 1;
}

/* The number of the operating system is 1 in each container, and is used
 * again. */
bool
rd_is_same_process (const struct rd_profile_part *a,
                    const struct rd_profile_part *b)
{
  return a->pid == b->pid
         && (a->process == 0 || b->process == 0 || a->process == b->process);
}

size_t
rd_count_rounds (const struct radio_profile *profile)
{
  const struct rd_profile_part *parts = profile->parts.at;
  size_t n = 0;
  for (size_t i = 0; i < rd_count_runs (profile); i++) {
    if (parts[i].pid == 0)
      return 0;
    n += i == 0 || !rd_is_same_process (&parts[i], &parts[i - 1]);
  }
  return n;
}

bool
rd_is_by_rounds (const struct radio_profile *before,
                 const struct radio_profile *after)
{
  return rd_count_rounds (before) >= RD_MIN_ROUNDS
         && rd_count_rounds (after) >= RD_MIN_ROUNDS;
}

bool
rd_is_summed (const struct radio_profile *profile)
{
  uint32_t last = RD_NO_INDEX;
  uint64_t total_ns = 0, ncalls = 0;
  for (size_t i = 0; i < profile->spans.n; i++) {
    const struct rd_span *span = &profile->spans.at[i];
    const struct rd_lane *lanes = profile->lanes.at;
    if (span->lane == last || lanes[span->lane].is_async
        || profile->nodes.at[span->node].parent != RADIO_NO_PARENT)
      continue;
    if (last != RD_NO_INDEX
        && (lanes[last].part == lanes[span->lane].part
            || profile->info.parts == RADIO_PARTS_RANKS))
      return true;
    last = span->lane;
  }
  if (profile->spans.n > 0 && profile->info.dropped_count == 0)
    return false;
  /* The log does not say it.  Each time is rounded to a nanosecond. */
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    if (node->parent == RADIO_NO_PARENT) {
      total_ns = rd_sum (total_ns, node->total_ns);
      ncalls = rd_sum (ncalls, node->calls);
    }
  }
  return profile->info.wall_ns > 0
         && total_ns > rd_sum (profile->info.wall_ns, ncalls);
}

/*------------------------------------------------------------------------
 * Measured conditions
 *----------------------------------------------------------------------*/

/* The conditions of a recording, from its facts.  Times are of all runs. */
struct state {
  const struct radio_profile *profile;
  double nruns;
  double wall_ns;             /* of ranks, which run at once, too */
  double work_ns, starved_ns;
  double wait_ns;             /* except for other threads */
  double cpu_ns;              /* of the process */
  /* The machine's figures cover the time from a recorder's start to its stop,
   * which is longer than the time of its scopes; those of disks cover only the
   * runs that used none. */
  double recorded_ns, recorded_cpu_ns, no_disk_ns;
  double machine_ns;          /* CPUs of all processes; 0: not known */
  double steal_ns, disk_wait_ns, ncpus, clock_mhz;
  bool is_pressure_known, is_disk_known;
  double disk_pressure_ns;
  double disk_nbytes, fetched_nbytes;   /* of a run */
  size_t nthreads;
};

static double
number_of (const struct radio_profile *profile, const char *key)
{
  return (double) rd_profile_number (profile, key);
}

/* Threads by their names, since those of runs and rounds have the same. */
static size_t
count_threads (const struct radio_profile *profile)
{
  size_t n = 0;
  for (size_t i = 0; i < profile->lanes.n && i < 1000; i++) {
    const struct rd_lane *lane = &profile->lanes.at[i];
    bool is_new = !lane->is_async;
    for (size_t j = 0; j < i && is_new; j++)
      is_new = profile->lanes.at[j].name != lane->name;
    n += is_new;
  }
  return n;
}

static double
first_known (double value, double other)
{
  return value > 0 ? value : other;
}

static struct state
read_state (const struct radio_profile *profile)
{
  struct state state = {
    .profile = profile,
    .nruns = (double) rd_count_runs (profile),
    .wall_ns = (double) profile->info.wall_ns,
    .work_ns = (double) profile->info.work_ns,
    .starved_ns = (double) profile->info.starved_ns,
    .cpu_ns = number_of (profile, RD_FACT_CPU_NS),
    .machine_ns = number_of (profile, RD_FACT_MACHINE_NS),
    .steal_ns = number_of (profile, RD_FACT_STEAL_NS),
    .disk_wait_ns = number_of (profile, RD_FACT_DISK_WAIT),
    .is_pressure_known = rd_profile_find_fact (profile,
                                               RD_FACT_DISK_PRESSURE),
    .disk_pressure_ns = number_of (profile, RD_FACT_DISK_PRESSURE),
    .ncpus = number_of (profile, RD_FACT_NCPUS),
    .clock_mhz = number_of (profile, RD_FACT_CLOCK),
    .is_disk_known = rd_profile_find_fact (profile, RD_FACT_BLOCK_INPUT),
    .nthreads = count_threads (profile),
  };
  /* Older recordings, or some of those that were joined, lack them. */
  state.recorded_ns = fmax (number_of (profile, RD_FACT_RECORDED_NS),
                            state.wall_ns);
  state.recorded_cpu_ns = fmax (number_of (profile, RD_FACT_RECORDED_CPU_NS),
                                state.cpu_ns);
  state.no_disk_ns = first_known (number_of (profile, RD_FACT_NO_DISK_NS),
                                  state.recorded_ns);
  state.disk_nbytes = number_of (profile, RD_FACT_BLOCK_INPUT) / state.nruns;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (strcmp (profile->nodes.at[i].category, RD_IN_QUEUE) != 0)
      state.wait_ns += (double) profile->nodes.at[i].wait_ns;
  for (size_t i = 0; i < profile->counters.n; i++)
    if (strcmp (profile->counters.at[i].name, rd_count_fetched.name) == 0)
      state.fetched_nbytes += (double) rd_profile_counter_sum (profile, i)
                              / state.nruns;
  return state;
}

/* Adds a measured condition, with the text of each side. */
static enum radio_status
add_measured (struct rd_conditions *conditions, const char *name,
              bool is_unfair, const char *before, const char *after)
{
  char *texts[2];
  for (int k = 0; k < 2; k++) {
    texts[k] = conditions->texts[conditions->ntexts++];
    snprintf (texts[k], sizeof conditions->texts[0], "%.39s",
              k ? after : before);
  }
  conditions->is_unfair |= is_unfair;
  struct radio_condition condition = {
    name, texts[0], texts[1], false, is_unfair
  };
  return rd_vector_append (&conditions->list, condition);
}

static enum radio_status
add_numbers (struct rd_conditions *conditions, const char *name,
             bool is_unfair, double before, double after, int ndigits,
             const char *unit)
{
  char texts[2][40];
  snprintf (texts[0], sizeof texts[0], "%.*f%.20s", ndigits, before, unit);
  snprintf (texts[1], sizeof texts[1], "%.*f%.20s", ndigits, after, unit);
  return add_measured (conditions, name, is_unfair, texts[0], texts[1]);
}

/* The part of work for which threads had CPUs. */
static enum radio_status
compare_cpu_shares (const struct state *a, const struct state *b,
                    struct rd_conditions *conditions)
{
  double on[2] = { a->work_ns - a->starved_ns, b->work_ns - b->starved_ns };
  if (!(on[0] > 0 && on[1] > 0))
    return RADIO_OK;
  double share[2] = { on[0] / a->work_ns, on[1] / b->work_ns };
  double lack[2] = { a->starved_ns / (a->work_ns + a->wait_ns),
                     b->starved_ns / (b->work_ns + b->wait_ns) };
  if (fmax (lack[0], lack[1]) > MAX_LACK)
    conditions->basis = RADIO_BASIS_CPU;
  if (fmin (fabs (share[0] - share[1]), fabs (lack[0] - lack[1]))
      > CPU_SHARE_CHANGE)
    RD_TRY (add_numbers (conditions, "CPU share", true, 100 * share[0],
                         100 * share[1], 1, " %"));

  /* The share of the remaining time for which the process had CPU time. */
  double ran[2] = { a->cpu_ns / on[0], b->cpu_ns / on[1] };
  double error = RAN_SHARE_CHANGE
                 + CPU_TIME_ERROR_NS * fmax (a->nruns / on[0],
                                             b->nruns / on[1]);
  if (!(ran[0] > 0 && ran[1] > 0)
      || fabs (fmin (ran[0], 1) - fmin (ran[1], 1)) <= error)
    return RADIO_OK;
  conditions->basis = RADIO_BASIS_NONE;
  return add_numbers (conditions, "CPU time of work", true,
                      100 * fmin (ran[0], 1), 100 * fmin (ran[1], 1), 1,
                      " %");
}

/* How much other processes used disks: their waits, or if these are not known
 * of both, the CPUs that were idle meanwhile. */
static enum radio_status
compare_disks (const struct state *a, const struct state *b, double least,
               struct rd_conditions *conditions)
{
  double load[2] = { a->disk_wait_ns / a->no_disk_ns,
                     b->disk_wait_ns / b->no_disk_ns };
  double pressure[2] = { a->disk_pressure_ns / a->no_disk_ns,
                         b->disk_pressure_ns / b->no_disk_ns };
  if (a->is_pressure_known && b->is_pressure_known)
    return fabs (pressure[0] - pressure[1]) <= PRESSURE_CHANGE
           ? RADIO_OK
           : add_numbers (conditions, "disk pressure", true,
                          100 * pressure[0], 100 * pressure[1], 1, " %");
  return fabs (load[0] - load[1]) <= least
         ? RADIO_OK
         : add_numbers (conditions, "disk load", true, load[0], load[1], 2,
                        " CPUs");
}

/* CPUs that other processes used, disks, and CPUs that a hypervisor used. */
static enum radio_status
compare_loads (const struct state *a, const struct state *b,
               struct rd_conditions *conditions)
{
  if (!(a->machine_ns > 0 && b->machine_ns > 0 && a->wall_ns > 0
        && b->wall_ns > 0))
    return RADIO_OK;
  double load[2] = {
    fmax (a->machine_ns - a->recorded_cpu_ns, 0) / a->recorded_ns,
    fmax (b->machine_ns - b->recorded_cpu_ns, 0) / b->recorded_ns
  };
  double error = TICKS_ERROR_NS * fmax (sqrt (a->nruns) / a->recorded_ns,
                                        sqrt (b->nruns) / b->recorded_ns);
  double least = error + fmax (LOAD_CHANGE, LOAD_CHANGE_SHARE
                                            * fmin (a->ncpus, b->ncpus));
  if (fabs (load[0] - load[1]) > least)
    RD_TRY (add_numbers (conditions, "load", true, load[0], load[1], 2,
                         " CPUs"));
  RD_TRY (compare_disks (a, b, least, conditions));

  double steal[2] = { a->steal_ns / (a->machine_ns + a->steal_ns),
                      b->steal_ns / (b->machine_ns + b->steal_ns) };
  error = TICKS_ERROR_NS * fmax (sqrt (a->nruns) / a->machine_ns,
                                 sqrt (b->nruns) / b->machine_ns);
  double change = fabs (steal[0] - steal[1]);
  if (change <= STEAL_CHANGE + error)
    return RADIO_OK;
  conditions->floor += change;
  return add_numbers (conditions, "steal", true, 100 * steal[0],
                      100 * steal[1], 1, " %");
}

static enum radio_status
compare_machines (const struct state *a, const struct state *b,
                  struct rd_conditions *conditions)
{
  double low = fmin (a->clock_mhz, b->clock_mhz);
  double high = fmax (a->clock_mhz, b->clock_mhz);
  if (low > 0 && high > (1 + CLOCK_ERROR) * low) {
    conditions->floor += high / low - 1;
    conditions->least_floor += high / low - 1;
    RD_TRY (add_numbers (conditions, "clock", high > (1 + CLOCK_CHANGE) * low,
                         a->clock_mhz, b->clock_mhz, 0, " MHz"));
  }

  /* Bytes that a run read from disks. */
  double least = COLD_CHANGE_NBYTES
                 + COLD_CHANGE * fmax (a->fetched_nbytes, b->fetched_nbytes);
  if (a->is_disk_known && b->is_disk_known
      && fabs (a->disk_nbytes - b->disk_nbytes) > least)
    RD_TRY (add_measured (
      conditions, "cold files", true,
      rd_format_nbytes ((uint64_t) a->disk_nbytes).text,
      rd_format_nbytes ((uint64_t) b->disk_nbytes).text));

  /* The number of threads is the program's choice. */
  if (a->nthreads == b->nthreads || a->nthreads == 0 || b->nthreads == 0)
    return RADIO_OK;
  return add_numbers (conditions, "threads", false, (double) a->nthreads,
                      (double) b->nthreads, 0, "");
}

/*------------------------------------------------------------------------
 * Facts
 *----------------------------------------------------------------------*/

static enum radio_status
compare_facts (const struct radio_profile *before,
               const struct radio_profile *after,
               struct rd_conditions *conditions)
{
  for (size_t i = 0; i < before->facts.n; i++) {
    const struct rd_fact *fact = &before->facts.at[i];
    const char *other = rd_profile_find_fact (after, fact->key);
    if (rd_find_fact_rule (fact->key)->is_incidental || !other
        || strcmp (fact->value, other) == 0)
      continue;
    bool is_machine = strcmp (fact->key, RD_FACT_CPU_MODEL) == 0
                      || strcmp (fact->key, RD_FACT_NCPUS) == 0;
    if (is_machine)
      conditions->floor += FLOOR_OF_MACHINES;
    conditions->is_unfair |= is_machine;
    struct radio_condition condition = {
      fact->key, fact->value, other, true, is_machine
    };
    RD_TRY (rd_vector_append (&conditions->list, condition));
  }
  return RADIO_OK;
}

enum radio_status
rd_conditions_compare (const struct radio_profile *before,
                       const struct radio_profile *after,
                       struct rd_conditions *conditions)
{
  struct state a = read_state (before), b = read_state (after);
  bool is_by_rounds = rd_is_by_rounds (before, after);
  conditions->least_floor = is_by_rounds ? FLOOR_OF_ROUNDS : FLOOR;
  conditions->floor = conditions->least_floor;
  RD_TRY (compare_cpu_shares (&a, &b, conditions));
  RD_TRY (compare_loads (&a, &b, conditions));
  RD_TRY (compare_machines (&a, &b, conditions));
  RD_TRY (compare_facts (before, after, conditions));
  if (conditions->is_unfair)
    conditions->floor += FLOOR_OF_LOAD;
  else if (conditions->basis == RADIO_BASIS_CPU && !is_by_rounds)
    conditions->floor += FLOOR_OF_SHARED;
  if (conditions->is_unfair && conditions->basis == RADIO_BASIS_WALL)
    conditions->basis = RADIO_BASIS_CPU;
  conditions->root_floor = conditions->floor
                           + (is_by_rounds ? 0 : FLOOR_OF_ROOTS);
  conditions->least_share = conditions->is_unfair ? LEAST_SHARE_UNFAIR
                            : is_by_rounds ? LEAST_SHARE_OF_ROUNDS
                            : LEAST_SHARE;
  return RADIO_OK;
}
