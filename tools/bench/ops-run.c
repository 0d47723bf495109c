/* SPDX-License-Identifier: MIT */
/* Runs of operations: the time of each part of a run by the clock; how a read
 * is shared between converting and operating by recording it, and by a plain
 * read of the same volume in the same round. */
#include <config.h>

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tools/bench/ops.h"
#include "tools/interrupt.h"
#include "tools/profile/output.h"
#include "tools/profile/samples.h"
#include "tools/progress.h"

/* A round of a case takes about this long, in at most this many runs. */
#define SLICE_S 0.02
#define MOST_RUNS 1000

/* Less is touched by the calling thread alone, since starting others takes
 * longer. */
#define TOGETHER_NBYTES ((uint64_t) 16 << 20)

/* At least this many bytes are copied by each measurement of memcpy. */
#define COPY_LEAST ((uint64_t) 32 << 20)

/*------------------------------------------------------------------------
 * One run
 *----------------------------------------------------------------------*/

static uint64_t
count_faults (void)
{
  struct rusage usage;
  getrusage (RUSAGE_SELF, &usage);
  return (uint64_t) usage.ru_minflt;
}

struct touch {
  unsigned char *memory;
  uint64_t nbytes, part_nbytes, page_nbytes;
};

/* Writes a byte of each page of a part. */
static int
touch_part (void *data, unsigned i)
{
  const struct touch *touch = data;
  uint64_t begin = i * touch->part_nbytes;
  uint64_t end = begin + touch->part_nbytes;
  volatile unsigned char *memory = touch->memory;
  for (uint64_t k = begin; k < end && k < touch->nbytes;
       k += touch->page_nbytes)
    memory[k] = 0;
  return RD_EXIT_OK;
}

static int
touch_pages (void *memory, uint64_t nbytes, unsigned nthreads)
{
  struct touch touch = {
    .memory = memory, .nbytes = nbytes, .part_nbytes = nbytes,
    .page_nbytes = (uint64_t) sysconf (_SC_PAGESIZE),
  };
  double seconds;
  if (nthreads == 1 || nbytes < TOGETHER_NBYTES)
    return touch_part (&touch, 0);
  uint64_t pages = nbytes / touch.page_nbytes / nthreads + 1;
  touch.part_nbytes = pages * touch.page_nbytes;
  return rd_run_together (nthreads, touch_part, &touch, &seconds);
}

/* One run of a case: memory is allocated, touched, read into, and released; in
 * place it is only read into.  faults may be NULL: they are not counted. */
static int
run_case (struct rd_ops *ops, const struct rd_op_case *one,
          struct rd_op_parts *parts, struct rd_op_faults *faults)
{
  uint64_t counts[4] = { 0 };
  double times[5];
  int failed = RD_EXIT_OK;
  if (faults)
    counts[0] = count_faults ();
  times[0] = rd_clock_s ();
  void *buffer = one->source->memory;
  if (!one->in_place) {
    RADIO_SCOPE_FULL ("allocate", "memory", RADIO_SCOPE_WORK);
    buffer = rd_destination_take (&ops->destination,
                                  (size_t) one->output_nbytes);
  }
  if (buffer == NULL)
    return RD_EXIT_FAILED;
  if (faults)
    counts[1] = count_faults ();
  times[1] = rd_clock_s ();
  if (ops->destination.kind != RD_DESTINATION_REUSED && !one->in_place) {
    RADIO_SCOPE_FULL ("fault in", "memory", RADIO_SCOPE_WORK);
    failed = touch_pages (buffer, one->output_nbytes, one->source->nthreads);
  }
  if (faults)
    counts[2] = count_faults ();
  times[2] = rd_clock_s ();
  if (!failed
      && radio_volume_read (one->volume, &one->box, one->dtype, buffer,
                            (size_t) one->output_nbytes, NULL) != RADIO_OK)
    failed = rd_error_library (one->name);
  times[3] = rd_clock_s ();
  if (faults)
    counts[3] = count_faults ();
  if (!one->in_place) {
    RADIO_SCOPE_FULL ("release", "memory", RADIO_SCOPE_WORK);
    rd_destination_return (&ops->destination, buffer);
  }
  times[4] = rd_clock_s ();
  *parts = (struct rd_op_parts) {
    .allocate_s = times[1] - times[0] + times[4] - times[3],
    .fault_in_s = times[2] - times[1],
    .read_s = times[3] - times[2],
    .whole_s = times[4] - times[0],
  };
  if (faults)
    *faults = (struct rd_op_faults) {
      counts[1] - counts[0], counts[2] - counts[1], counts[3] - counts[2]
    };
  return failed;
}

/* The threads' time of copying as many bytes as a run touches, at the best rate
 * of as many as the volume has, so by the caches that these are in.  0: not
 * measured. */
static uint64_t
copying_ns (const struct rd_op_case *one)
{
  const struct rd_op_source *source = one->source;
  /* A copy reads a byte for each that it writes. */
  double nbytes = (double) (source->nbytes + one->output_nbytes) / 2;
  return source->limit > 0
         ? (uint64_t) (1e9 * source->nthreads * nbytes / source->limit) : 0;
}

int
rd_ops_run_all (struct rd_ops *ops)
{
  static const struct radio_counter input = { "bytes of input", "bytes" };
  static const struct radio_counter touched = { "bytes touched", "bytes" };
  static const struct radio_counter copying
    = { "ns of copying as much", "count" };
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < ops->ncases && !failed && !rd_interrupted (); i++) {
    struct rd_op_case *one = &ops->cases[i];
    struct rd_op_parts parts;
    if (one->skipped)
      continue;
    uint64_t root = radio_scope_begin_if_on (&one->sites[0]);
    uint64_t branch = radio_scope_begin_if_on (&one->sites[1]);
    failed = run_case (ops, one, &parts, &one->faults);
    if (radio_profile_is_on ()) {
      if (*one->text)
        radio_scope_text ("pipeline", one->text, RADIO_TEXT_PLAIN);
      radio_scope_add (&input, one->source->nbytes);
      radio_scope_add (&touched, one->source->nbytes + one->output_nbytes);
      radio_scope_add (&copying, copying_ns (one));
    }
    radio_scope_end (branch);
    radio_scope_end (root);
  }
  return failed;
}

/*------------------------------------------------------------------------
 * Fractions of a read
 *----------------------------------------------------------------------*/

/* Nanoseconds of threads in the scopes of a read. */
struct scopes {
  uint64_t move_ns;           /* placing, converting and operating */
  uint64_t fetch_ns;          /* fetching and decoding */
  uint64_t plan_ns;
};

/* The plain read of a source is its first case. */
static bool
is_plain (const struct rd_op_case *one)
{
  return *one->text == '\0';
}

static bool
is_named (const struct radio_profile_node *node, const char *name)
{
  return strcmp (node->name, name) == 0;
}

/* Finds the case whose scopes a node is in: 1 more than its number, of its own
 * scopes and of those of other cases 0.  numbers has those of the nodes
 * before. */
static size_t
find_case (const struct rd_ops *ops, const struct radio_profile *profile,
           const struct radio_profile_node *node, const size_t *numbers)
{
  if (node->depth < 2)
    return 0;
  if (node->depth > 2)
    return numbers[node->parent];
  if (strcmp (node->category, "memory") == 0)
    return 0;
  const struct radio_profile_node *branch
    = radio_profile_get_node (profile, node->parent);
  const struct radio_profile_node *root
    = radio_profile_get_node (profile, branch->parent);
  for (size_t i = 0; i < ops->ncases; i++)
    if (is_named (branch, ops->cases[i].branch)
        && is_named (root, ops->cases[i].root))
      return i + 1;
  return 0;
}

static void
add_scope (struct scopes *scopes, const struct radio_profile_node *node)
{
  static const char *const fetching[] = { "disk", "network", "decode" };
  /* Memory is not waited for; a thread without a CPU does nothing. */
  uint64_t ns = node->work_ns - node->starved_ns;
  if (strcmp (node->category, "queue") == 0)
    return;
  if (strcmp (node->category, "place") == 0
      || strcmp (node->category, "operate") == 0) {
    scopes->move_ns += ns;
    return;
  }
  for (size_t i = 0; i < sizeof fetching / sizeof *fetching; i++)
    if (strcmp (node->category, fetching[i]) == 0) {
      scopes->fetch_ns += ns;
      return;
    }
  scopes->plan_ns += ns;
}

/* Adds the fractions of the reads in a recording of rd_ops_run_all. */
static int
add_fractions (struct rd_ops *ops, const struct radio_profile *profile)
{
  struct radio_profile_info info;
  radio_profile_get_info (profile, &info);
  RD_FREE size_t *numbers = calloc (info.nnodes + 1, sizeof *numbers);
  RD_FREE struct scopes *scopes = calloc (ops->ncases + 1, sizeof *scopes);
  if (numbers == NULL || scopes == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < info.nnodes; i++) {
    const struct radio_profile_node *node = radio_profile_get_node (profile,
                                                                    i);
    numbers[i] = find_case (ops, profile, node, numbers);
    if (numbers[i] > 0)
      add_scope (&scopes[numbers[i] - 1], node);
  }
  /* The first case of a source is its plain read, which moves as well. */
  double moving = 0;
  for (size_t i = 0; i < ops->ncases; i++) {
    struct rd_op_case *one = &ops->cases[i];
    const struct scopes *s = &scopes[i];
    double sum = (double) s->move_ns + (double) s->fetch_ns
                 + (double) s->plan_ns;
    if (one->skipped || !(sum > 0))
      continue;
    if (is_plain (one))
      moving = (double) s->move_ns / (double) one->noutput;
    double convert = moving * (double) one->noutput;
    if (convert > (double) s->move_ns)
      convert = (double) s->move_ns;
    one->fraction_sum.convert += (convert + (double) s->fetch_ns) / sum;
    one->fraction_sum.operate += ((double) s->move_ns - convert) / sum;
    one->fraction_sum.plan += (double) s->plan_ns / sum;
    one->nrecorded++;
  }
  return RD_EXIT_OK;
}

struct rd_op_parts
rd_op_mean_parts (const struct rd_op_case *one)
{
  double n = one->sample.n > 0 ? (double) one->sample.n : 1;
  return (struct rd_op_parts) {
    one->sum.allocate_s / n, one->sum.fault_in_s / n, one->sum.read_s / n,
    one->sum.whole_s / n
  };
}

struct rd_op_fractions
rd_op_mean_fractions (const struct rd_op_case *one)
{
  double n = one->nrecorded > 0 ? (double) one->nrecorded : 1;
  return (struct rd_op_fractions) {
    one->fraction_sum.convert / n, one->fraction_sum.operate / n,
    one->fraction_sum.plan / n
  };
}

/*------------------------------------------------------------------------
 * Limits
 *----------------------------------------------------------------------*/

struct copying {
  bool is_past_caches;
  const unsigned char *from;
  unsigned char *to;
  uint64_t part_nbytes;
  uint64_t ntimes;
};

static int
copy_part (void *data, unsigned i)
{
  const struct copying *copying = data;
  uint64_t at = i * copying->part_nbytes;
  size_t nbytes = (size_t) copying->part_nbytes;
  for (uint64_t k = 0; k < copying->ntimes; k++) {
    if (copying->is_past_caches)
      rd_copy_past_caches (copying->to + at, copying->from + at, nbytes);
    else
      memcpy (copying->to + at, copying->from + at, nbytes);
    /* So that no copy is left out. */
    __asm__ volatile ("" : : "r" (copying->to) : "memory");
  }
  return RD_EXIT_OK;
}

static int
measure_copy (struct rd_op_source *source, uint64_t nbytes)
{
  struct copying copying = {
    .part_nbytes = nbytes / source->nthreads / 16 * 16,
    .ntimes = nbytes < COPY_LEAST ? COPY_LEAST / nbytes : 1,
  };
  RD_FREE unsigned char *from = malloc ((size_t) nbytes);
  RD_FREE unsigned char *to = malloc ((size_t) nbytes);
  if (from == NULL || to == NULL)
    return rd_error_memory ();
  memset (from, 1, (size_t) nbytes);
  memset (to, 2, (size_t) nbytes);
  copying.from = from;
  copying.to = to;
  int failed = RD_EXIT_OK;
  for (int i = 0; i < 2 && !failed; i++) {
    double seconds = 0;
    copying.is_past_caches = i > 0;
    failed = rd_run_together (source->nthreads, copy_part, &copying,
                              &seconds);
    double rate = seconds > 0 ? (double) (copying.part_nbytes * copying.ntimes)
                                * source->nthreads / seconds : 0;
    if (i == 0 && rate > source->copy)
      source->copy = rate;
    if (rate > source->limit)
      source->limit = rate;
  }
  return failed;
}

/* Measures memcpy of as many bytes as each source delivers. */
static int
measure_copies (struct rd_ops *ops)
{
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < ops->ncases && !failed; i++) {
    const struct rd_op_case *one = &ops->cases[i];
    if (is_plain (one) && !one->skipped && !rd_interrupted ())
      failed = measure_copy (&ops->sources[one->source - ops->sources],
                             one->output_nbytes);
  }
  return failed;
}

/* Adds the bytes of a kind of cache, of all threads that have their own. */
static int
describe_cache (struct rd_conditions *conditions, const char *key, int name,
                unsigned ncaches)
{
  long nbytes = name >= 0 ? sysconf (name) : 0;
  return nbytes <= 0 ? RD_EXIT_OK
    : rd_conditions_add_u64 (conditions, key, (uint64_t) nbytes * ncaches);
}

int
rd_ops_measure_limits (struct rd_ops *ops, struct rd_limits *limits,
                       struct rd_conditions *conditions)
{
  uint64_t most = 0;
  for (size_t i = 0; i < ops->ncases; i++) {
    const struct rd_op_case *one = &ops->cases[i];
    if (one->source->nthreads > limits->nthreads)
      limits->nthreads = one->source->nthreads;
    most = one->output_nbytes > most ? one->output_nbytes : most;
  }
  int failed = rd_limits_memory (limits, most);
  if (!failed)
    failed = rd_limits_compute (limits);
  if (!failed)
    failed = measure_copies (ops);
  /* memcpy reads a byte for each that it writes. */
  const struct {
    const char *key;
    double value;
  } rates[] = {
    { "limit memory bytes/s, 1 thread", 2 * limits->copy_one },
    { "limit memory bytes/s", 2 * limits->copy_all },
    { "limit flop/s, 1 thread", limits->compute_one },
    { "limit flop/s", limits->compute_all },
  };
  for (size_t i = 0; i < sizeof rates / sizeof *rates && !failed; i++)
    if (rates[i].value > 0)
      failed = rd_conditions_add_u64 (conditions, rates[i].key,
                                      (uint64_t) rates[i].value);
#ifdef _SC_LEVEL1_DCACHE_SIZE
  /* Each processor has caches of the first two levels for itself. */
  if (!failed)
    failed = describe_cache (conditions, "L1d cache bytes",
                             _SC_LEVEL1_DCACHE_SIZE, limits->nthreads);
  if (!failed)
    failed = describe_cache (conditions, "L2 cache bytes",
                             _SC_LEVEL2_CACHE_SIZE, limits->nthreads);
  if (!failed)
    failed = describe_cache (conditions, "L3 cache bytes",
                             _SC_LEVEL3_CACHE_SIZE, 1);
#endif
  return failed;
}

double
rd_op_limit_s (const struct rd_ops *ops, const struct rd_limits *limits,
               const struct rd_op_case *one)
{
  double nbytes = (double) one->output_nbytes, copy = one->source->copy;
  if (!(copy > 0))
    return 0;
  return nbytes / copy
         + (one->in_place ? 0
            : rd_limits_touch_s (limits, one->source->nthreads,
                                 &ops->destination, nbytes));
}

/*------------------------------------------------------------------------
 * The rounds
 *----------------------------------------------------------------------*/

static int
keep_run (struct rd_op_case *one, const struct rd_op_parts *parts)
{
  if (rd_sample_add (&one->sample, parts->whole_s) != RD_EXIT_OK)
    return RD_EXIT_FAILED;
  one->sum.allocate_s += parts->allocate_s;
  one->sum.fault_in_s += parts->fault_in_s;
  one->sum.read_s += parts->read_s;
  one->sum.whole_s += parts->whole_s;
  return RD_EXIT_OK;
}

/* Warms up before the first round: a statistic that the operation needs is
 * known afterwards. */
static int
measure_case (struct rd_ops *ops, struct rd_op_case *one, uint64_t round)
{
  struct rd_sample *sample = &one->sample;
  struct rd_op_parts parts = { 0 };
  int failed = RD_EXIT_OK;
  if (one->skipped)
    return RD_EXIT_OK;
  if (round == 0) {
    for (uint64_t i = 0; i < ops->nwarm && !failed; i++)
      failed = run_case (ops, one, &parts, NULL);
    rd_sample_plan (sample, ops->nruns, parts.whole_s, SLICE_S, MOST_RUNS);
  }
  for (size_t k = 0; k < sample->nperround && !failed; k++) {
    failed = run_case (ops, one, &parts, NULL);
    if (!failed)
      failed = keep_run (one, &parts);
  }
  return failed;
}

/* Records one run of each case.  A library that was built without the profiler
 * gives no fractions. */
static int
record_cases (struct rd_ops *ops, const struct rd_conditions *conditions,
              struct radio_profile **profile)
{
  const struct radio_recorder_options options = { .title = "ops" };
  struct radio_recorder *recorder = NULL;
  enum radio_status status = radio_recorder_start (&options, &recorder);
  *profile = NULL;
  if (status == RADIO_ERROR_UNSUPPORTED)
    return rd_ops_run_all (ops);
  if (status != RADIO_OK)
    return rd_error_library (NULL);
  int failed = rd_ops_run_all (ops);
  if (!failed && rd_conditions_record (conditions, recorder) != RADIO_OK)
    failed = rd_error_library (NULL);
  if (radio_recorder_stop (recorder, profile) != RADIO_OK && !failed)
    failed = rd_error_library (NULL);
  return failed ? failed : add_fractions (ops, *profile);
}

int
rd_ops_measure (struct rd_ops *ops, struct rd_limits *limits,
                struct rd_conditions *conditions,
                struct radio_profile **profiles, size_t *nprofiles)
{
  struct rd_progress progress;
  int failed = RD_EXIT_OK;
  rd_progress_start (&progress, NULL);
  for (uint64_t round = 0; round < ops->nrounds && !failed; round++) {
    failed = rd_ops_measure_limits (ops, limits, conditions);
    for (size_t i = 0; i < ops->ncases && !failed && !rd_interrupted ();
         i++) {
      rd_progress_update (&progress, ops->cases[i].name,
                          round * ops->ncases + i,
                          ops->nrounds * ops->ncases);
      failed = measure_case (ops, &ops->cases[i], round);
    }
    if (failed || rd_interrupted ())
      break;
    failed = record_cases (ops, conditions, &profiles[*nprofiles]);
    *nprofiles += profiles[*nprofiles] != NULL;
  }
  rd_progress_clear (&progress);
  return failed;
}
