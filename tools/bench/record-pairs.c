/* SPDX-License-Identifier: MIT */
/* record-pairs FOLDER NPAIRS [CONDITION]...: for tools/bench/trial-diff.
 * Records a small program in pairs, each half in a process of its own or in
 * several that take turns with the other's, quiet and while other processes
 * load the machine, and compares them with each other.  Where both halves are
 * the same program every change that is called is a false one; else one scope
 * does a tenth more, and only that may be called.  Prints a row of the table
 * for each condition; the profiles stay in the folder.  With NPAIRS 0 nothing
 * is recorded: those that are there are compared again. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "tools/profile/output.h"
#include "tools/profile/report.h"
#include "tools/text.h"
#include "tools/tool.h"

/* Runs of a recording of one process, as `radio profile' makes them; a run
 * takes some 17 ms where nothing disturbs it. */
#define NRUNS 20

/* Processes of a recording in turn, and runs of each, as `--against' has
 * them. */
#define NROUNDS 10
#define RUNS_OF_ROUND 4

/* The scope that one half of a pair may do more of, and how much. */
#define CHANGED "segment"
#define MORE 1.1

#define FAIL_PERCENT 5

enum quiet { NONE_QUIET, FIRST_QUIET, SECOND_QUIET };

struct condition {
  const char *name, *label;
  unsigned nloops;            /* beside the recordings */
  bool is_hogged;             /* a process writes and syncs meanwhile */
  enum quiet quiet;           /* the recording that has none of these */
  double more;                /* that the second one does of a scope */
  bool is_in_turn;            /* of NROUNDS processes each */
};

static const struct condition conditions[] = {
  { "quiet", "quiet", 0, false, NONE_QUIET, 1, false },
  { "loop-1", "beside 1 busy loop", 1, false, NONE_QUIET, 1, false },
  { "loop-4", "beside 4 busy loops", 4, false, NONE_QUIET, 1, false },
  { "loop-12", "beside 12 busy loops", 12, false, NONE_QUIET, 1, false },
  { "disk", "beside a disk hog", 0, true, NONE_QUIET, 1, false },
  { "before-1", "1 busy loop beside the second", 1, false, FIRST_QUIET, 1,
    false },
  { "before-4", "4 busy loops beside the second", 4, false, FIRST_QUIET, 1,
    false },
  { "before-12", "12 busy loops beside the second", 12, false, FIRST_QUIET, 1,
    false },
  { "before-disk", "a disk hog beside the second", 0, true, FIRST_QUIET, 1,
    false },
  { "after-4", "4 busy loops beside the first", 4, false, SECOND_QUIET, 1,
    false },
  { "more", "10 % more of one scope, quiet", 0, false, NONE_QUIET, MORE,
    false },
  { "turns", "quiet, in turn", 0, false, NONE_QUIET, 1, true },
  { "turns-4", "beside 4 busy loops, in turn", 4, false, NONE_QUIET, 1, true },
  { "turns-more", "10 % more of one scope, quiet, in turn", 0, false,
    NONE_QUIET, MORE, true },
};

/*------------------------------------------------------------------------
 * The program that is recorded
 *----------------------------------------------------------------------*/

enum { BOX = 48, NSORTED = 12000, NADDED = 1 << 22 };

struct program {
  const char *store;
  struct radio_volume *volume;
  double more;
  int16_t voxels[BOX * BOX * BOX];
  uint32_t sorted[NSORTED];
  uint32_t *added;
  struct radio_handoff handoff;
};

static volatile uint64_t result;

/* Some 1 ms for n = 1 on a processor of 3 GHz. */
static void
calculate (double n)
{
  uint64_t x = result | 1;
  for (uint64_t i = 0; i < (uint64_t) (400000 * n); i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  result = x;
}

static int
compare_numbers (const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
  return (x > y) - (x < y);
}

static void
sort (struct program *program)
{
  RADIO_SCOPE ("sort");
  for (uint32_t i = 0; i < NSORTED; i++)
    program->sorted[i] = i * 2654435761u;
  qsort (program->sorted, NSORTED, sizeof program->sorted[0],
         compare_numbers);
}

/* Through more memory than caches hold, in order: where it is then matters
 * little. */
static void
add_up (const struct program *program)
{
  RADIO_SCOPE ("add up");
  uint64_t sum = 0;
  for (size_t i = 0; i < NADDED; i++)
    sum += program->added[i];
  result += sum;
}

static void *
label (void *arg)
{
  struct program *program = arg;
  RADIO_SCOPE_RECEIVED (&program->handoff, "label");
  calculate (5);
  return NULL;
}

static int
run_once (struct program *program)
{
  RADIO_SCOPE ("study");
  struct radio_box box = { .rank = 3, .size = { BOX, BOX, BOX },
                           .start = { 16, 16, 16 } };
  pthread_t helper;
  {
    RADIO_SCOPE ("load");
    if (radio_volume_read (program->volume, &box, RADIO_STORED,
                           program->voxels, sizeof program->voxels, NULL)
        != RADIO_OK)
      return rd_error_library (NULL);
  }
  {
    RADIO_SCOPE ("smooth");
    calculate (6);
  }
  {
    RADIO_SCOPE (CHANGED);
    calculate (5 * program->more);
  }
  sort (program);
  add_up (program);
  radio_handoff_give (&program->handoff);
  if (pthread_create (&helper, NULL, label, program) != 0)
    return rd_error ("cannot start a thread");
  {
    RADIO_SCOPE ("measure");
    calculate (3);
  }
  {
    RADIO_SCOPE_FULL ("wait", "queue", RADIO_SCOPE_WAIT);
    pthread_join (helper, NULL);
  }
  radio_handoff_release (&program->handoff);
  return RD_EXIT_OK;
}

static int
join_runs (struct radio_profile *const *runs, size_t n, const char *path)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  struct radio_profile_write_options as = {
    .format = RADIO_PROFILE_JSON, .plain_blocks = true
  };
  if (radio_profile_join (runs, n, RADIO_PARTS_RUNS, &joined) != RADIO_OK
      || radio_profile_write (joined, path, &as) != RADIO_OK)
    return rd_error_library (path);
  return RD_EXIT_OK;
}

/* Records the runs one by one, after a first one that is not. */
static int
record (struct program *program, int nruns, const char *path)
{
  struct radio_profile *runs[NRUNS];
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = RD_EXIT_OK;
  program->added = malloc (NADDED * sizeof *program->added);
  if (!program->added)
    return rd_error_memory ();
  memset (program->added, 1, NADDED * sizeof *program->added);
  if (radio_store_open (program->store, NULL, &store) != RADIO_OK
      || radio_volume_open (store, "ct/head", &program->volume) != RADIO_OK)
    return rd_error_library (NULL);
  for (int i = -1; i < nruns && !failed; i++) {
    struct radio_recorder_options options = { .title = "study" };
    struct radio_recorder *recorder = NULL;
    if (radio_recorder_start (&options, &recorder) != RADIO_OK)
      return rd_error_library (NULL);
    failed = run_once (program);
    if (radio_recorder_stop (recorder, i >= 0 ? &runs[i] : NULL)
        != RADIO_OK)
      failed = rd_error_library (NULL);
  }
  if (!failed)
    failed = join_runs (runs, (size_t) nruns, path);
  /* The process ends now. */
  return failed;
}

/*------------------------------------------------------------------------
 * Processes.  They die with this one.
 *----------------------------------------------------------------------*/

static pid_t
start_process (void)
{
  fflush (NULL);
  pid_t pid = fork ();
#ifdef __linux__
  if (pid == 0)
    prctl (PR_SET_PDEATHSIG, SIGKILL);
#endif
  return pid;
}

static int
record_apart (const char *store, double more, int nruns, const char *path)
{
  int status = 0;
  pid_t pid = start_process ();
  if (pid == 0) {
    static struct program program;
    program.store = store;
    program.more = more;
    _exit (record (&program, nruns, path));
  }
  if (pid < 0 || waitpid (pid, &status, 0) < 0 || status != 0)
    return rd_error ("a recording failed: %s",
                     pid < 0 ? strerror (errno) : path);
  return RD_EXIT_OK;
}

static char *
name_round (const char *folder, int round, int side)
{
  return rd_format ("%s/round-%d-%c.json", folder, round, "ab"[side]);
}

static int
join_rounds (const char *folder, int side, const char *path)
{
  struct radio_profile *rounds[NROUNDS] = { NULL };
  int failed = RD_EXIT_OK;
  for (int i = 0; i < NROUNDS && !failed; i++) {
    RD_FREE char *round = name_round (folder, i, side);
    if (!round)
      failed = RD_EXIT_FAILED;
    else if (radio_profile_read (round, &rounds[i]) != RADIO_OK)
      failed = rd_error_library (round);
    else
      unlink (round);
  }
  if (!failed)
    failed = join_runs (rounds, NROUNDS, path);
  for (int i = 0; i < NROUNDS; i++)
    radio_profile_close (rounds[i]);
  return failed;
}

/* As `radio profile --against' does: every other round the second is first. */
static int
record_in_turn (const char *folder, const char *store, double more,
                const char *const paths[2])
{
  int failed = RD_EXIT_OK;
  for (int i = 0; i < 2 * NROUNDS && !failed; i++) {
    int round = i / 2, side = (i + round) % 2;
    RD_FREE char *path = name_round (folder, round, side);
    failed = path ? record_apart (store, side == 1 ? more : 1, RUNS_OF_ROUND,
                                  path)
                  : RD_EXIT_FAILED;
  }
  for (int side = 0; side < 2 && !failed; side++)
    failed = join_rounds (folder, side, paths[side]);
  return failed;
}

static void
load_disk (const char *path)
{
  static char block[1 << 20];
  for (;;) {
    int fd = open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; fd >= 0 && i < 64; i++)
      if (write (fd, block, sizeof block) < 0)
        break;
    if (fd < 0 || fsync (fd) != 0)
      _exit (RD_EXIT_FAILED);
    close (fd);
  }
}

#define MAX_PROCESSES 16

struct load {
  pid_t pids[MAX_PROCESSES];
  unsigned n;
};

static void
start_load (struct load *load, const struct condition *condition,
            const char *file)
{
  load->n = condition->nloops + condition->is_hogged;
  for (unsigned i = 0; i < load->n; i++) {
    load->pids[i] = start_process ();
    if (load->pids[i] == 0 && i < condition->nloops)
      for (;;)
        calculate (1);
    if (load->pids[i] == 0)
      load_disk (file);
  }
  /* Until it has begun. */
  if (load->n > 0)
    usleep (50000);
}

static void
end_load (struct load *load)
{
  for (unsigned i = 0; i < load->n; i++)
    if (load->pids[i] > 0) {
      kill (load->pids[i], SIGKILL);
      waitpid (load->pids[i], NULL, 0);
    }
  load->n = 0;
}

static int
record_pair (const char *folder, const char *store,
             const struct condition *condition, const char *const paths[2])
{
  struct load load = { .n = 0 };
  RD_FREE char *hog = rd_format ("%s/hog", folder);
  int failed;
  if (!hog)
    return RD_EXIT_FAILED;
  if (condition->quiet != FIRST_QUIET)
    start_load (&load, condition, hog);
  if (condition->is_in_turn)
    failed = record_in_turn (folder, store, condition->more, paths);
  else {
    failed = record_apart (store, 1, NRUNS, paths[0]);
    if (condition->quiet == SECOND_QUIET)
      end_load (&load);
    else if (condition->quiet == FIRST_QUIET)
      start_load (&load, condition, hog);
    if (!failed)
      failed = record_apart (store, condition->more, NRUNS, paths[1]);
  }
  end_load (&load);
  unlink (hog);
  return failed;
}

/*------------------------------------------------------------------------
 * Comparing
 *----------------------------------------------------------------------*/

struct counts {
  unsigned npairs, npaths;
  unsigned ncalled;           /* paths, falsely */
  unsigned nroots;            /* pairs in which the root is */
  unsigned nfound;            /* pairs in which the changed scope is */
  unsigned nfirst;            /* pairs in which its change is the largest */
  unsigned nby_cpu;           /* pairs compared by time on CPUs */
  unsigned nfailed, nunclear; /* pairs that --fail-if-slower fails for */
};

static void
count_paths (const struct radio_comparison *comparison,
             const struct condition *condition, const char *pair,
             struct counts *counts)
{
  struct radio_comparison_info info;
  radio_comparison_get_info (comparison, &info);
  uint64_t largest_ns = 0;    /* change of the paths called */
  bool is_first = false;      /* it is the changed scope's */
  counts->npairs++;
  counts->nby_cpu += info.basis != RADIO_BASIS_WALL;
  for (size_t i = 0; i < radio_comparison_count (comparison); i++) {
    const struct radio_difference *d = radio_comparison_get (comparison, i);
    bool is_changed = condition->more > 1 && strcmp (d->name, CHANGED) == 0;
    bool is_called = d->change != RADIO_CHANGE_NONE;
    if (d->is_split)
      continue;
    counts->npaths += !is_changed;
    counts->ncalled += is_called && !is_changed;
    counts->nfound += is_changed && d->change == RADIO_CHANGE_SLOWER;
    uint64_t changed_ns
      = (uint64_t) llabs (d->self_after_ns - d->self_before_ns);
    if (is_called && changed_ns > largest_ns) {
      largest_ns = changed_ns;
      is_first = is_changed && d->change == RADIO_CHANGE_SLOWER;
    }
    if (is_called && !is_changed)
      fprintf (stderr, "%s: %s is called: median total %.3f -> %.3f ms\n",
               pair, d->name, (double) d->median_before_ns / 1e6,
               (double) d->median_after_ns / 1e6);
    if (d->parent != RADIO_NO_PARENT)
      continue;
    bool is_root_called = d->total_change != RADIO_CHANGE_NONE;
    enum rd_root_verdict verdict = rd_diff_verdict (&info, d, FAIL_PERCENT);
    counts->nroots += (is_root_called && condition->more <= 1) || is_called;
    counts->nfailed += verdict == RD_ROOT_SLOWER;
    counts->nunclear += verdict != RD_ROOT_NOT_SLOWER
                        && verdict != RD_ROOT_SLOWER;
    if (is_root_called && condition->more <= 1)
      fprintf (stderr, "%s: the root is called: %.3f -> %.3f ms\n", pair,
               (double) d->median_before_ns / 1e6,
               (double) d->median_after_ns / 1e6);
  }
  counts->nfirst += is_first;
}

static int
compare_pair (const struct condition *condition, const char *pair,
              const char *const paths[2], struct counts *counts)
{
  RD_CLOSE_PROFILE struct radio_profile *before = NULL;
  RD_CLOSE_PROFILE struct radio_profile *after = NULL;
  struct radio_comparison *comparison = NULL;
  if (radio_profile_read (paths[0], &before) != RADIO_OK
      || radio_profile_read (paths[1], &after) != RADIO_OK
      || radio_profile_compare (before, after, &comparison) != RADIO_OK)
    return rd_error_library (NULL);
  count_paths (comparison, condition, pair, counts);
  radio_comparison_close (comparison);
  return RD_EXIT_OK;
}

static void
print_row (const struct condition *condition, const struct counts *counts)
{
  char found[32] = "", first[32] = "";
  if (condition->more > 1) {
    snprintf (found, sizeof found, "%u of %u", counts->nfound,
              counts->npairs);
    snprintf (first, sizeof first, "%u of %u", counts->nfirst,
              counts->npairs);
  }
  printf ("| %s | %u | %u of %u (%.1f %%) | %u | %s | %s | %u | %u | %u |\n",
          condition->label, counts->npairs, counts->ncalled, counts->npaths,
          100. * counts->ncalled / fmax (counts->npaths, 1), counts->nroots,
          found, first, counts->nby_cpu, counts->nfailed, counts->nunclear);
  fflush (stdout);
}

static int
try_condition (const char *folder, const char *store, unsigned npairs,
               const struct condition *condition)
{
  struct counts counts = { 0 };
  int failed = RD_EXIT_OK;
  for (unsigned i = 0; !failed && (npairs == 0 || i < npairs); i++) {
    RD_FREE char *pair = rd_format ("%s-%u", condition->name, i + 1);
    RD_FREE char *a = rd_format ("%s/%s-a.json", folder, pair);
    RD_FREE char *b = rd_format ("%s/%s-b.json", folder, pair);
    if (!pair || !a || !b)
      return RD_EXIT_FAILED;
    if (npairs == 0 && access (b, F_OK) != 0)
      break;
    const char *const paths[] = { a, b };
    if (npairs > 0)
      failed = record_pair (folder, store, condition, paths);
    if (!failed)
      failed = compare_pair (condition, pair, paths, &counts);
  }
  if (!failed && counts.npairs > 0)
    print_row (condition, &counts);
  return failed;
}

static int
make_store (const char *path)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  struct radio_store_options options = { .create = true };
  struct radio_phantom_options phantom = { .shape = { 96, 96, 96 } };
  if (radio_store_open (path, &options, &store) != RADIO_OK
      || radio_phantom (store, "ct/head", &phantom) != RADIO_OK)
    return rd_error_library (path);
  return RD_EXIT_OK;
}

int
main (int argc, char **argv)
{
  rd_set_program ("record-pairs");
  if (argc < 3) {
    rd_error ("usage: record-pairs FOLDER NPAIRS [CONDITION]...");
    return RD_EXIT_USAGE;
  }
  unsigned npairs = (unsigned) strtoul (argv[2], NULL, 10);
  RD_FREE char *store = rd_format ("%s/store", argv[1]);
  if (!store)
    return RD_EXIT_FAILED;

  /* By a process of its own: this one has a single thread, so that it can
   * fork. */
  if (npairs > 0 && access (store, F_OK) != 0) {
    int status = 0;
    pid_t pid = start_process ();
    if (pid == 0)
      _exit (make_store (store));
    if (pid < 0 || waitpid (pid, &status, 0) < 0 || status != 0)
      return RD_EXIT_FAILED;
  }
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
    bool is_wanted = argc == 3;
    for (int k = 3; k < argc; k++)
      is_wanted |= strcmp (argv[k], conditions[i].name) == 0;
    if (is_wanted && !failed)
      failed = try_condition (argv[1], store, npairs, &conditions[i]);
  }
  return rd_close_stdout (failed);
}
