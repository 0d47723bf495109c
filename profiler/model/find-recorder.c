/* SPDX-License-Identifier: MIT */
/* Findings about failures, CPU time and the recorder itself. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/text.h"
#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/*------------------------------------------------------------------------
 * Failures and CPU time
 *----------------------------------------------------------------------*/

/* Threads that ran for a smaller part of their work lacked CPUs that they
 * could have used, if they waited at least that long. */
#define RAN_SHARE 0.8
#define MIN_IDLE_NS 10000000

/* The same of time in which they were runnable without a CPU; from a half on,
 * nothing else limits the program. */
#define STARVED_SHARE 0.2
#define STARVED_PROBLEM_SHARE 0.5

/* A quota that withheld CPUs for this part of that time explains it. */
#define QUOTA_SHARE 0.9

static uint64_t
failures_of (const struct rd_finder *finder, size_t node)
{
  return radio_profile_counter (finder->profile, node,
                                rd_count_failures.name, false);
}

/* True if all that failed was to find something: an answer that programs ask
 * for, as where a name may be a volume or a collection. */
static bool
only_lacked (const struct rd_finder *finder, size_t node)
{
  bool varies = false;
  const char *why = rd_finder_note (finder, node, RD_NOTE_FAILED, &varies);
  return why && !varies
         && strcmp (why, radio_status_name (RADIO_ERROR_NOT_FOUND)) == 0;
}

/* The innermost operation that failed, the most frequent of these: an error
 * propagates through all operations around it. */
static size_t
find_failing_node (const struct rd_finder *finder, bool whole_failed)
{
  const struct radio_profile *profile = finder->profile;
  size_t found = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    uint64_t own = failures_of (finder, i);
    uint64_t all = radio_profile_counter (profile, i, rd_count_failures.name,
                                          true);
    if (own <= most || own != all || (!whole_failed && only_lacked (finder, i)))
      continue;
    most = own;
    found = i;
  }
  return found;
}

static enum radio_status
find_failures (struct rd_finder *finder)
{
  /* Ranked before all others, since a failure affects all other numbers of
   * the profile. */
  const char *message = rd_profile_find_fact (finder->profile,
                                              RD_FACT_FAILED);
  size_t at = find_failing_node (finder, message != NULL);
  struct rd_claim whole = {
    "failed", "It failed", RADIO_FINDING_PROBLEM, 2, at
  };
  if (message != NULL)
    return rd_found (finder, &whole, "within %s: %.400s",
                     rd_format_ns (finder->profile->info.wall_ns).text,
                     message);

  /* A program may tolerate an operation that failed: only a hint, unless the
   * whole program failed. */
  if (at == RADIO_NO_PARENT)
    return RADIO_OK;
  const struct radio_profile_node *node = &finder->profile->nodes.at[at];
  bool varies = false;
  const char *why = rd_finder_note (finder, at, RD_NOTE_FAILED, &varies);
  uint64_t own = failures_of (finder, at);
  struct rd_claim claim = {
    "failures", "Operations failed", RADIO_FINDING_HINT,
    (double) own / (double) rd_max_u64 (node->calls, 1), at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " of %" PRIu64 " '%.60s' failed%s%.80s%s", own,
                   node->calls, node->name, why ? ": " : "", why ? why : "",
                   varies ? ", and other errors" : "");
}

/* The threads' time but waits for each other, which are longer if those that
 * they wait for lack a CPU. */
static uint64_t
time_of_threads (const struct rd_finder *finder)
{
  return rd_sum (finder->busy_ns, finder->starved_ns);
}

double
rd_finder_starved_share (const struct rd_finder *finder)
{
  return finder->starved_ns ? (double) finder->starved_ns
                              / (double) time_of_threads (finder) : 0;
}

static bool
is_starved (const struct rd_finder *finder)
{
  return finder->starved_ns >= MIN_IDLE_NS
         && rd_finder_starved_share (finder) >= STARVED_SHARE;
}

/* True if the process had CPUs for much less than its threads were neither
 * waiting nor starved. */
static bool
is_off_cpu (const struct rd_finder *finder)
{
  uint64_t ns = rd_subtract (finder->work_ns, finder->starved_ns);
  return ns - finder->cpu_ns >= MIN_IDLE_NS
         && (double) finder->cpu_ns < RAN_SHARE * (double) ns;
}

bool
rd_finder_lacked_cpus (const struct rd_finder *finder)
{
  return is_starved (finder) || is_off_cpu (finder);
}

bool
rd_finder_is_blurred (const struct rd_finder *finder)
{
  return is_off_cpu (finder)
         || (is_starved (finder)
             && rd_finder_starved_share (finder) >= STARVED_PROBLEM_SHARE);
}

/* "only CPU", "2 CPUs": after "the". */
static struct rd_formatted
name_cpus (const struct rd_finder *finder)
{
  return finder->ncpus == 1
         ? (struct rd_formatted) { "only CPU" }
         : rd_format_count (finder->ncpus, "CPU", "CPUs");
}

/* True if this process's own threads may be what had the CPUs: there are more
 * than CPUs, or those that were not recorded used much. */
static bool
is_crowd (const struct rd_finder *finder)
{
  uint64_t known_ns = rd_sum (
    rd_subtract (finder->work_ns, finder->starved_ns),
    rd_finder_number (finder, RD_FACT_OWN_NS));
  uint64_t others_ns = rd_subtract (
    rd_finder_number (finder, RD_FACT_CPU_NS), known_ns);
  return finder->ncpus > 0 && (finder->nthreads > finder->ncpus
                               || others_ns >= finder->starved_ns / 2);
}

/* Threads that could have run.  The kernel knows that of each thread. */
static enum radio_status
find_starved (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  double share = rd_finder_starved_share (finder);
  size_t at = 0;
  if (!is_starved (finder))
    return RADIO_OK;
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (profile->nodes.at[i].starved_ns > profile->nodes.at[at].starved_ns)
      at = i;

  /* CPUs that another guest of the host had, or that no process could have. */
  char stolen[64] = "", withheld[80] = "";
  uint64_t steal_ns = rd_finder_number (finder, RD_FACT_STEAL_NS);
  uint64_t quota_ns = rd_finder_number (finder, RD_FACT_QUOTA_NS);
  bool has_quota = quota_ns >= MIN_IDLE_NS;
  bool is_all_quota = has_quota
                      && (double) quota_ns
                         >= QUOTA_SHARE * (double) finder->starved_ns;
  if (steal_ns >= MIN_IDLE_NS)
    snprintf (stolen, sizeof stolen, ", a hypervisor took %.20s",
              rd_format_ns (steal_ns).text);
  if (has_quota)
    snprintf (withheld, sizeof withheld,
              "a quota of CPU time withheld CPUs for %.20s%s",
              rd_format_ns (quota_ns).text,
              is_all_quota ? "" : "; for the rest ");
  /* Beside a quota, ncpus may be that, rounded up: others had more. */
  char used[96] = " used the CPUs";
  /* The time withheld by a quota is known only for the whole process. */
  bool is_of_run = rd_profile_find_fact (profile, RD_FACT_SLOW_TRIGGER);
  if (finder->ncpus > 0 && !has_quota)
    snprintf (used, sizeof used, " used the %.20s%s",
              name_cpus (finder).text,
              is_of_run ? ", or a quota of CPU time withheld them" : "");
  struct rd_claim claim = {
    "starved", "Threads had no CPU",
    share >= STARVED_PROBLEM_SHARE ? RADIO_FINDING_PROBLEM
                                   : RADIO_FINDING_HINT,
    1 + share, at
  };
  return rd_found (
    finder, &claim,
    "for %s of their %s of work%s (%s) threads could run but had no CPU, %s of "
    "it in '%.60s'; %s%s%s%s: wall times include that, times on CPUs do not",
    rd_format_ns (finder->starved_ns).text,
    rd_format_ns (time_of_threads (finder)).text,
    time_of_threads (finder) > finder->work_ns ? " and waiting" : "",
    rd_format_percent (share, 1).text,
    rd_format_ns (profile->nodes.at[at].starved_ns).text,
    profile->nodes.at[at].name, withheld,
    is_all_quota ? "" : is_crowd (finder)
    ? "other processes, or this one's other threads," : "other processes",
    is_all_quota ? "" : used, stolen);
}

/* Work is the time on the clock without known waits.  The process cannot have
 * worked longer than its threads had CPUs: the rest was sleep, in pieces too
 * short to be found, or the system had the CPU, as for interrupts, or, where
 * the kernel does not say so, the CPUs were others'. */
enum radio_status
rd_find_process (struct rd_finder *finder)
{
  RD_TRY (find_failures (finder));
  RD_TRY (find_starved (finder));
  if (!is_off_cpu (finder))
    return RADIO_OK;
  uint64_t ns = rd_subtract (finder->work_ns, finder->starved_ns);
  double share = (double) finder->cpu_ns / (double) ns;
  struct rd_claim claim = {
    "threads-off-cpu", "Work without CPU time",
    RADIO_FINDING_HINT, 1 - share, RADIO_NO_PARENT
  };
  return rd_found (
    finder, &claim,
    "of %s counted as work the process had %s of CPU time (%s): otherwise "
    "scopes slept, or the system%s%s; work times are too large",
    rd_format_ns (ns).text, rd_format_ns (finder->cpu_ns).text,
    rd_format_percent (share, 1).text,
    finder->starved_ns > 0 ? " had the CPU" : " or other processes used the ",
    finder->starved_ns > 0 ? ""
    : finder->ncpus ? name_cpus (finder).text : "CPUs");
}

/*------------------------------------------------------------------------
 * Overhead and limits of the recorder
 *----------------------------------------------------------------------*/

/* The part of the threads' time on CPUs above which small scopes look too
 * large. */
#define OVERHEAD_SHARE 0.03
#define OVERHEAD_PROBLEM_SHARE 0.1

/* Less time, which is also less of the wall time, delays nothing: a program
 * that mostly waits has hardly any CPU time. */
#define OVERHEAD_MIN_NS 10000000
#define OVERHEAD_WALL_SHARE 0.01

/* The recorder's own threads, where the program's hardly worked: they delayed
 * nothing, but used CPUs for such a part of the wall time. */
#define OWN_WALL_SHARE 0.1

static enum radio_status
find_own_threads (struct rd_finder *finder, uint64_t own_ns)
{
  double share = finder->span_ns
                 ? (double) own_ns / (double) finder->span_ns : 0;
  struct rd_claim claim = {
    "profiler-overhead", "The recorder worked while the program hardly did",
    RADIO_FINDING_HINT, share, RADIO_NO_PARENT
  };
  if (share < OWN_WALL_SHARE)
    return RADIO_OK;
  return rd_found (finder, &claim,
                   "its own threads, which take snapshots, write profiles and "
                   "note signs of life, had %s of CPU time in %s (%s), beside "
                   "%s of the program's",
                   rd_format_ns (own_ns).text,
                   rd_format_ns (finder->span_ns).text,
                   rd_format_percent (share, 1).text,
                   rd_format_ns (finder->ran_ns).text);
}

static enum radio_status
find_overhead (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  uint64_t cpu_ns, own_ns = rd_finder_number (finder, RD_FACT_OWN_NS);
  uint64_t ns = rd_profile_recording_ns (finder->profile, &cpu_ns);
  if (cpu_ns == 0)
    return find_own_threads (finder, own_ns);
  double share = (double) ns / (double) cpu_ns;
  char own[64] = ", ";
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    if (finder->profile->nodes.at[i].calls <= most)
      continue;
    most = finder->profile->nodes.at[i].calls;
    at = i;
  }
  bool is_short = ns < OVERHEAD_MIN_NS
                  && (double) ns
                     < OVERHEAD_WALL_SHARE * (double) finder->span_ns;
  if (share < OVERHEAD_SHARE || is_short || at == RADIO_NO_PARENT)
    return RADIO_OK;
  const struct radio_profile_node *node = &finder->profile->nodes.at[at];
  struct rd_claim claim = {
    "profiler-overhead", "High profiler overhead",
    share >= OVERHEAD_PROBLEM_SHARE ? RADIO_FINDING_PROBLEM
                                    : RADIO_FINDING_HINT, share, at
  };
  if (own_ns > 0)
    snprintf (own, sizeof own, ", its own threads %.20s: together ",
              rd_format_ns (own_ns).text);
  return rd_found (finder, &claim,
                   "%s of %s ns are %s%s%s of the threads' CPU time; '%.60s' "
                   "has %" PRIu64 " of them",
                   rd_format_count (info->scope_count, "scope",
                                   "scopes").text,
                   rd_format_number (info->scope_cost_ns).text,
                   rd_format_ns (info->overhead_ns).text, own,
                   rd_format_percent (share, 1).text, node->name,
                   node->calls);
}

/* A profile that has no log on purpose is not incomplete. */
static enum radio_status
find_dropped (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  size_t nspans = finder->profile->spans.n;
  if (info->dropped_count == 0 || nspans == 0)
    return RADIO_OK;
  char tiny[96];

  uint64_t count = rd_finder_number (finder, RD_FACT_THROTTLED);
  tiny[0] = '\0';
  if (count > 0)
    snprintf (tiny, sizeof tiny, "; of %.32s, short and frequent, only long "
              "runs are logged",
              rd_format_count (count, "path", "paths").text);

  double all = (double) info->dropped_count + (double) nspans;
  uint64_t ring_begin = rd_finder_number (finder, RD_FACT_RING_BEGIN);
  if (ring_begin > 0 && ring_begin < info->wall_ns
      && info->parts == RADIO_PARTS_NONE) {
    struct rd_claim claim = {
      "log-ring", "The timeline has the end of the run", RADIO_FINDING_NOTE,
      (double) info->dropped_count / all, RADIO_NO_PARENT
    };
    return rd_found (finder, &claim,
                     "the last %s of %s, since the log is a ring of %s: %"
                     PRIu64 " of %s spans (%s) are older%s; the call tree has "
                     "them all",
                     rd_format_ns (info->wall_ns - ring_begin).text,
                     rd_format_ns (info->wall_ns).text,
                     rd_format_nbytes (rd_finder_number (finder,
                                                         RD_FACT_RING)).text,
                     info->dropped_count, rd_format_number (all).text,
                     rd_format_percent ((double) info->dropped_count,
                                        all).text, tiny);
  }
  size_t at = RADIO_NO_PARENT;
  uint64_t most = 0;
  for (size_t i = 0; i < finder->profile->nodes.n; i++) {
    if (finder->profile->nodes.at[i].dropped_count <= most)
      continue;
    most = finder->profile->nodes.at[i].dropped_count;
    at = i;
  }
  struct rd_claim claim = {
    "log-incomplete", "The timeline is incomplete", RADIO_FINDING_NOTE,
    (double) info->dropped_count / all, at
  };
  return rd_found (finder, &claim,
                   "%" PRIu64 " of %s spans were not kept (%s), most of them "
                   "of '%.60s'%s; the call tree has them all",
                   info->dropped_count, rd_format_number (all).text,
                   rd_format_percent ((double) info->dropped_count, all).text,
                   at == RADIO_NO_PARENT
                   ? "" : finder->profile->nodes.at[at].name, tiny);
}

/* Idle workers among ranks are killed, as those of Python's Pool are: without
 * an open scope there is nothing to report. */
static enum radio_status
find_recovered (struct rd_finder *finder)
{
  const struct radio_profile_info *info = &finder->profile->info;
  const char *process = rd_profile_find_fact (finder->profile,
                                              RD_FACT_RECOVERED);
  struct rd_claim claim = {
    "recovered", "Recovered from a ring", RADIO_FINDING_NOTE, 0.9,
    RADIO_NO_PARENT
  };
  if (!process
      || (info->parts == RADIO_PARTS_RANKS && info->open_count == 0))
    return RADIO_OK;
  uint64_t seen = info->parts == RADIO_PARTS_NONE
                  ? rd_finder_number (finder, RD_FACT_SEEN) : 0;
  return rd_found (finder, &claim,
                   "of %.40s%s%s, which did not write this profile: requests "
                   "that were open, and the memory held, are not known",
                   process, seen ? " and was last seen at " : "",
                   seen ? rd_format_ns (seen).text : "");
}

/* Reports damage of the ring.  The call tree knows its runs and times without
 * the log. */
static enum radio_status
find_damage (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  const char *why = rd_profile_find_fact (profile, RD_FACT_DAMAGE);
  uint64_t nlost = rd_finder_number (finder, RD_FACT_DAMAGED);
  struct rd_claim claim = {
    "ring-damaged", "The ring was damaged", RADIO_FINDING_PROBLEM, 1,
    RADIO_NO_PARENT
  };
  if (!why)
    return RADIO_OK;
  return rd_found (finder, &claim,
                   "%s of %s dropped (%.240s); the call tree includes their "
                   "runs",
                   rd_format_count (nlost, "span was", "spans were").text,
                   rd_format_number ((double) (profile->spans.n + nlost)).text,
                   why);
}

/* A kill then leaves nothing, which is why the process had a ring. */
static enum radio_status
find_no_file (struct rd_finder *finder)
{
  const char *why = rd_profile_find_fact (finder->profile, RD_FACT_NO_FILE);
  uint64_t nbytes = rd_finder_number (finder, RD_FACT_RING);
  struct rd_claim claim = {
    "ring-without-file", "The ring had no file", RADIO_FINDING_HINT, 0.5,
    RADIO_NO_PARENT
  };
  if (!why)
    return RADIO_OK;
  return rd_found (finder, &claim,
                   "%.240s: a kill would have left nothing to recover of the "
                   "ring%s%s; name a file with room by RADIO_PROFILE_RING_FILE",
                   why, nbytes ? " of " : "",
                   nbytes ? rd_format_nbytes (nbytes).text : "");
}

static enum radio_status
find_open (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  size_t at = RADIO_NO_PARENT;
  for (size_t i = profile->nodes.n; i-- > 0;)
    if (profile->nodes.at[i].open_count > 0)
      at = i;
  /* Those that were left are open, too. */
  uint64_t nopen = rd_subtract (profile->info.open_count,
                                rd_finder_number (finder, RD_FACT_LEFT));
  if (at == RADIO_NO_PARENT || nopen == 0)
    return RADIO_OK;
  struct rd_claim claim = {
    "open-scopes", "Scopes were open at the end", RADIO_FINDING_NOTE, 0, at
  };
  return rd_found (finder, &claim,
                   "%s had not ended when the recording did, the outermost "
                   "in '%.60s': their times end there",
                   rd_format_count (nopen, "scope", "scopes").text,
                   profile->nodes.at[at].name);
}

/* Scopes without an end of their own, which are too long. */
static enum radio_status
find_left (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  uint64_t nleft = rd_finder_number (finder, RD_FACT_LEFT);
  size_t at = 0;
  bool varies;
  while (at < profile->nodes.n
         && !rd_finder_note (finder, at, RD_NOTE_LEFT, &varies))
    at++;
  if (nleft == 0 || at == profile->nodes.n)
    return RADIO_OK;
  struct rd_claim claim = {
    "left-scopes", "Scopes were left without an end", RADIO_FINDING_HINT, 0.5,
    at
  };
  return rd_found (finder, &claim,
                   "%s, the first in '%.60s', by longjmp, pthread_exit, "
                   "cancellation or an end in the wrong order: they end with "
                   "the scope around them or with their thread, and have "
                   "what ran until then",
                   rd_format_count (nleft, "scope", "scopes").text,
                   profile->nodes.at[at].name);
}

static enum radio_status
find_away (struct rd_finder *finder)
{
  uint64_t naway = rd_finder_number (finder, RD_FACT_AWAY);
  uint64_t ns = rd_finder_number (finder, RD_FACT_AWAY_NS);
  struct rd_claim claim = {
    "recorded-elsewhere", "Another recorder had a thread",
    RADIO_FINDING_HINT, 0.5, RADIO_NO_PARENT
  };
  if (naway == 0)
    return RADIO_OK;
  return rd_found (finder, &claim,
                   "%s, for %s: what ran then is in its profile, and not in "
                   "this one",
                   rd_format_count (naway, "time", "times").text,
                   rd_format_ns (ns).text);
}

static enum radio_status
find_clock_jump (struct rd_finder *finder)
{
  struct rd_claim claim = {
    "clock-jumped", "The clock jumped", RADIO_FINDING_PROBLEM, 1,
    RADIO_NO_PARENT
  };
  if (rd_finder_number (finder, RD_FACT_CLOCK_JUMPS) == 0)
    return RADIO_OK;
  return rd_found (finder, &claim,
                   "the processor's time stamp counter did not run at one "
                   "rate while recording (the machine was suspended, or "
                   "moved): times around that are wrong, counts and bytes are "
                   "right; use portable_clock if it happens again");
}

/* The times of a run's nodes by which the longest is found: on CPUs of its
 * thread, where these are what was slow, else on the clock: what several
 * threads did at once delays the run by less than their sum. */
static enum radio_status
measure_run (const struct radio_profile *profile, bool is_cpu, uint64_t *ns)
{
  const struct radio_profile_node *nodes = profile->nodes.at;
  if (!is_cpu)
    RD_TRY (rd_span_sum_nodes (profile, NULL, ns));
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (!is_cpu)
      ns[i] = rd_min_u64 (ns[i], nodes[i].self_ns);
    else if (!rd_finder_is_elsewhere (profile, i, 0))
      ns[i] = rd_subtract (nodes[i].work_ns, nodes[i].starved_ns);
  return RADIO_OK;
}

/* The node that has most of a run's time; of a wait, what was waited for. */
static enum radio_status
find_longest (const struct radio_profile *profile, bool is_cpu, size_t *found)
{
  const struct radio_profile_node *nodes = profile->nodes.at;
  size_t at = 0, awaited = RADIO_NO_PARENT;
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (profile->nodes.n, sizeof (uint64_t), &memory));
  const uint64_t *ns = memory;
  RD_TRY (measure_run (profile, is_cpu, memory));
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (ns[i] > ns[at])
      at = i;
  double least = RD_AWAITED_SHARE * (double) ns[at];
  for (size_t i = 0; i < profile->nodes.n; i++)
    if (i != at && ns[i] > 0 && (double) ns[i] >= least
        && rd_finder_is_elsewhere (profile, i, 0)
        && (awaited == RADIO_NO_PARENT || ns[i] > ns[awaited]))
      awaited = i;
  *found = awaited != RADIO_NO_PARENT && (double) nodes[at].wait_ns >= least
           ? awaited : at;
  return RADIO_OK;
}

/* The run that a profile of a slow run is about. */
static enum radio_status
find_slow_run (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  const char *trigger = rd_profile_find_fact (profile, RD_FACT_SLOW_TRIGGER);
  if (!trigger || profile->nodes.n == 0)
    return RADIO_OK;
  size_t at;
  bool is_cpu = rd_ends_with (trigger, " cpu");
  RD_TRY (find_longest (profile, is_cpu, &at));
  uint64_t cpu_ns = rd_finder_number (finder, RD_FACT_SLOW_CPU);
  uint64_t lost_ns = rd_finder_number (finder, RD_FACT_RING_BEGIN);
  char cpu[48] = "", lost[112] = "", calls[48] = "";
  if (cpu_ns > 0)
    snprintf (cpu, sizeof cpu, ", %.20s of it on a CPU",
              rd_format_ns (cpu_ns).text);
  if (lost_ns > 0)
    snprintf (lost, sizeof lost, "; what ended in its first %.20s had left "
              "the ring: use a larger one", rd_format_ns (lost_ns).text);
  /* Several at a time may take longer than the run. */
  uint64_t ncalls = profile->nodes.at[at].calls;
  if (ncalls > 1)
    snprintf (calls, sizeof calls, " in %.40s",
              rd_format_count (ncalls, "call", "calls").text);
  struct rd_claim claim = {
    "slow-run", "A slow run", RADIO_FINDING_HINT, 2, at
  };
  return rd_found (finder, &claim,
                   "'%.60s' took %s%s (trigger: %.90s), %s after the first "
                   "scope began; most of it in '%.60s': %s%s%s%s",
                   profile->nodes.at[0].name,
                   rd_format_ns (profile->nodes.at[0].total_ns).text, cpu,
                   trigger,
                   rd_format_ns (rd_finder_number (finder,
                                                   RD_FACT_SLOW_BEGIN)).text,
                   profile->nodes.at[at].name,
                   rd_format_ns (is_cpu ? rd_subtract (
                                            profile->nodes.at[at].work_ns,
                                            profile->nodes.at[at].starved_ns)
                                        : profile->nodes.at[at].self_ns).text,
                   is_cpu ? " on a CPU" : "", calls, lost);
}

/* The slow runs of the process. */
static enum radio_status
find_slow_runs (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  uint64_t nwritten = rd_finder_number (finder, RD_FACT_SLOW_WRITTEN);
  uint64_t ndropped = rd_finder_number (finder, RD_FACT_SLOW_DROPPED);
  const char *unknown = rd_profile_find_fact (profile, RD_FACT_SLOW_UNKNOWN);
  bool is_one = rd_profile_find_fact (profile, RD_FACT_SLOW_TRIGGER) != NULL;
  struct rd_claim unused = {
    "unused-triggers", "Triggers without a scope", RADIO_FINDING_HINT, 0.9,
    RADIO_NO_PARENT
  };
  if (unknown)
    RD_TRY (rd_found (finder, &unused, "no scope that ran has such a name: "
                      "%.200s; use names as in the call tree", unknown));
  if (is_one || nwritten + ndropped == 0)
    return RADIO_OK;
  struct rd_claim runs = {
    "slow-runs", "Runs were slow",
    ndropped > 0 ? RADIO_FINDING_HINT : RADIO_FINDING_NOTE, 0.9,
    RADIO_NO_PARENT
  };
  const char *error = rd_profile_find_fact (profile, RD_FACT_SLOW_ERROR);
  char dropped[320] = "";
  if (ndropped > 0)
    snprintf (dropped, sizeof dropped, ", and %" PRIu64 " have none: there "
              "were too many at a time, or they had left the ring%s%.150s",
              ndropped, error ? ", or it failed: " : "", error ? error : "");
  return rd_found (finder, &runs, "%s a profile of %s%s",
                   rd_format_count (nwritten, "has", "have").text,
                   nwritten == 1 ? "its own" : "their own", dropped);
}

/* Counts and texts outside of all scopes, which are lost. */
static enum radio_status
find_outside (struct rd_finder *finder)
{
  struct rd_claim claim = {
    "outside-scopes", "Counts were outside of all scopes",
    RADIO_FINDING_HINT, 0.5, RADIO_NO_PARENT
  };
  uint64_t noutside = rd_finder_number (finder, RD_FACT_OUTSIDE);
  if (noutside == 0)
    return RADIO_OK;
  return rd_found (finder, &claim,
                   "%s lost, counts or texts whose thread was in no scope (an "
                   "asynchronous request, in Python 'async with', is not a "
                   "scope); begin a scope around them",
                   rd_format_count (noutside, "event was",
                                    "events were").text);
}

/* Limits of the recorder, the most important first. */
static const struct limit {
  const char *fact, *one, *many, *consequence;
  bool is_of_tree;            /* the call tree lacks it, too */
} limits[] = {
  { RD_FACT_THREADS, "thread was", "threads were", "not recorded", true },
  { RD_FACT_SKIPPED, "scope was", "scopes were",
    "counted into their parent, beyond 256 levels or 65,535 paths", true },
  { RD_FACT_VALUES, "value was", "values were",
    "not kept, of counters beyond the limit", true },
  { RD_FACT_INTERRUPTING, "event was", "events were",
    "dropped, in signal handlers that interrupted the recorder", true },
  { RD_FACT_TEXTS, "text was", "texts were", "not kept", false },
  { RD_FACT_SAMPLES, "sample was", "samples were", "not kept", false },
};

enum radio_status
rd_find_recorder (struct rd_finder *finder)
{
  RD_TRY (find_overhead (finder));

  char text[448];
  size_t n = 0;
  struct rd_claim claim = {
    "limits-reached", "The recorder reached its limits",
    RADIO_FINDING_NOTE, 0.5, RADIO_NO_PARENT
  };
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    uint64_t count = rd_finder_number (finder, limits[i].fact);
    if (count == 0)
      continue;
    if (limits[i].is_of_tree)
      claim.weight = RADIO_FINDING_HINT;
    int more = snprintf (text + n, sizeof text - n, "%s%s %s",
                         n > 0 ? "; " : "",
                         rd_format_count (count, limits[i].one,
                                          limits[i].many).text,
                         limits[i].consequence);
    n = more > 0 ? rd_min_u64 (n + (size_t) more, sizeof text - 1) : n;
  }
  if (n > 0)
    RD_TRY (rd_found (finder, &claim, "%s", text));
  RD_TRY (find_outside (finder));

  RD_TRY (find_slow_run (finder));
  RD_TRY (find_slow_runs (finder));
  RD_TRY (find_recovered (finder));
  RD_TRY (find_damage (finder));
  RD_TRY (find_no_file (finder));
  RD_TRY (find_dropped (finder));
  RD_TRY (find_clock_jump (finder));
  RD_TRY (find_away (finder));
  RD_TRY (find_left (finder));
  return find_open (finder);
}
