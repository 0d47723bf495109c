/* SPDX-License-Identifier: MIT */
/* The limits of arithmetic: the memory that it moves, or computing, by the
 * measured rates of the machine.
 *
 * A program that measures both (radio profile op, radio bench ops) counts, in
 * the scope of a run, the threads' time that copying as many bytes as the run
 * touches takes at that size: so data that is in a cache is compared with the
 * rate of that cache.  Other programs give the limits as facts; that of memory
 * is for data that is in no cache. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"
#include "profiler/model/vector.h"

/* Facts of programs that measure what the machine can do, for all threads and,
 * with ", 1 thread", for one. */
#define MEMORY_LIMIT "limit memory bytes/s"
#define COMPUTE_LIMIT "limit flop/s"

/* Counters of the scope of a run: bytes of input; those and bytes of output;
 * threads' time of copying the latter. */
#define INPUT "bytes of input"
#define TOUCHED "bytes touched"
static const struct radio_counter copying
  = { "ns of copying as much", "count" };

/* The category of scopes that allocate, touch and release memory. */
#define IN_MEMORY "memory"

/* The share from which a limit counts.  Rates far above a limit were not bound
 * by what was measured. */
#define BOUND_SHARE 0.5
#define MOST_SHARE 1.1

/* The least share of the threads' time of a scope that is compared with
 * facts. */
#define ARITHMETIC_SHARE 0.1

/* Names of operations in one finding. */
#define LIST_NBYTES 330

enum limit { MEMORY, COMPUTE, NEITHER, PAGES, NLIMITS };

static const char *const names[NLIMITS][2] = {
  [MEMORY] = { "bound-by-memory", "Bound by memory" },
  [COMPUTE] = { "bound-by-compute", "Bound by computing" },
  [NEITHER] = { "bound-by-neither", "Bound by neither memory nor arithmetic" },
  [PAGES] = { "bound-by-pages", "Bound by new pages of memory" },
};

/* A hint where there is something to do about it. */
static enum radio_finding_weight
weight_of (enum limit limit)
{
  return limit == NEITHER ? RADIO_FINDING_NOTE : RADIO_FINDING_HINT;
}

/* The limit that is reached to the greater share. */
static enum limit
choose_limit (double memory, double compute)
{
  bool is_memory = memory >= compute;
  double share = is_memory ? memory : compute;
  if (share < BOUND_SHARE || share > MOST_SHARE)
    return NEITHER;
  return is_memory ? MEMORY : COMPUTE;
}

/* The greatest number of a fact: joined runs have a list, "100, 110". */
static double
greatest (const struct rd_finder *finder, const char *key)
{
  const char *text = rd_profile_find_fact (finder->profile, key);
  double most = 0, number = 0;
  for (; text && *text; text++) {
    bool is_digit = *text >= '0' && *text <= '9';
    number = is_digit ? number * 10 + (*text - '0') : 0;
    most = number > most ? number : most;
  }
  return most;
}

/* Returns the limit of one thread among all; 0: not measured. */
static double
limit_of_thread (const struct rd_finder *finder, const char *all,
                 const char *one)
{
  uint64_t n = finder->nthreads;
  return n <= 1 ? greatest (finder, one) : greatest (finder, all) / (double) n;
}

/*------------------------------------------------------------------------
 * Operations that were measured with their limit
 *----------------------------------------------------------------------*/

/* The threads' time of copying as much as a run of an operation touches; 0: the
 * node is no such run. */
static double
copying_ns_of (const struct radio_profile *profile, size_t node)
{
  return (double) radio_profile_counter (profile, node, copying.name, false);
}

/* Threads' time on CPUs. */
static double
ran_ns (const struct radio_profile_node *node)
{
  return (double) rd_subtract (node->tree_work_ns, node->tree_starved_ns);
}

/* Figures of a node that findings need. */
struct place {
  size_t root;
  size_t largest;             /* of a root, which is an operation: the run with
                                 the most time, of all its sizes */
  double pages_ns;            /* of those below it that handle memory */
};

/* Parents come before their children.  Free *places with free. */
static enum radio_status
make_places (const struct radio_profile *profile, struct place **places)
{
  void *made;
  RD_TRY (rd_new_array (profile->nodes.n, sizeof **places, &made));
  struct place *place = *places = made;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    bool is_root = node->parent == RADIO_NO_PARENT;
    place[i].root = is_root ? i : place[node->parent].root;
    place[i].largest = RADIO_NO_PARENT;
    if (!is_root && strcmp (node->category, IN_MEMORY) == 0)
      place[node->parent].pages_ns += ran_ns (node);
    size_t *largest = &place[place[i].root].largest;
    if (copying_ns_of (profile, i) > 0
        && (*largest == RADIO_NO_PARENT
            || ran_ns (node) > ran_ns (&profile->nodes.at[*largest])))
      *largest = i;
  }
  return RADIO_OK;
}

/* The shares of limits that runs of an operation reached. */
struct reached {
  double ns;                  /* of threads */
  double memory, compute, pages;
};

static struct reached
measure (const struct rd_finder *finder, size_t node, double pages_ns)
{
  const struct radio_profile *profile = finder->profile;
  double compute = limit_of_thread (finder, COMPUTE_LIMIT,
                                    COMPUTE_LIMIT ", 1 thread");
  struct reached reached = { .ns = ran_ns (&profile->nodes.at[node]) };
  double read_ns = reached.ns - pages_ns;
  if (!(read_ns > 0))
    return reached;
  /* Cropped elements are not read. */
  double input = (double) radio_profile_counter (profile, node, INPUT, false);
  double touched = (double) radio_profile_counter (profile, node, TOUCHED,
                                                   false);
  double fetched = (double) radio_profile_counter (
    profile, node, rd_count_fetched.name, true);
  double moved = fetched > 0 && fetched < input ? touched - input + fetched
                                                : touched;
  if (touched > 0)
    reached.memory = copying_ns_of (profile, node) * moved / touched / read_ns;
  double flop = (double) rd_flop (profile, node);
  if (compute > 0)
    reached.compute = flop * 1e9 / compute / read_ns;
  reached.pages = pages_ns / reached.ns;
  return reached;
}

/* The operations of one kind. */
struct list {
  char text[LIST_NBYTES];
  size_t used, n, nleft;
  double ns, most_ns;
  size_t most;
};

static void
add_operation (struct list *list, const char *name, const char *share,
               size_t node, double ns)
{
  size_t room = sizeof list->text - list->used;
  int n = snprintf (list->text + list->used, room, "%s%.40s %s",
                    list->n > 0 ? ", " : "", name, share);
  if (n < 0 || (size_t) n >= room) {
    list->text[list->used] = '\0';
    list->nleft++;
  } else {
    list->used += (size_t) n;
    list->n++;
  }
  list->ns += ns;
  if (ns > list->most_ns) {
    list->most_ns = ns;
    list->most = node;
  }
}

static enum radio_status
report_list (struct rd_finder *finder, enum limit limit,
             const struct list *list)
{
#define SHARES "shares of the threads' time of reading that "
#define AT_BEST " take at the machine's best rates: "
  static const char *const says[NLIMITS][2] = {
    [MEMORY] = { SHARES "copying as many bytes, and the arithmetic," AT_BEST,
                 "" },
    [COMPUTE] = { SHARES "the arithmetic, and copying as many bytes," AT_BEST,
                  "" },
    [NEITHER] = { SHARES "copying as many bytes, and the arithmetic," AT_BEST,
                  "; else conversion, indices, latency, fixed costs" },
    [PAGES] = { "shares of the threads' time of a run that allocating, first "
                "touching and releasing memory take: ", "; reuse memory" },
  };
  char more[48] = "";
  if (list->n == 0)
    return RADIO_OK;
  if (list->nleft > 0)
    snprintf (more, sizeof more, ", %zu more", list->nleft);
  struct rd_claim claim = {
    names[limit][0], names[limit][1], weight_of (limit),
    list->ns / (double) rd_max_u64 (finder->busy_ns, 1), list->most
  };
  return rd_found (finder, &claim, "%s%s%s%s", says[limit][0], list->text,
                   more, says[limit][1]);
}

/* Compares the largest size of each operation with its limits. */
static enum radio_status
find_operations (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  struct list lists[NLIMITS] = { { .n = 0 } };
  RD_FREE_PLAIN struct place *places = NULL;
  RD_TRY (make_places (profile, &places));
  for (size_t i = 0; i < profile->nodes.n; i++) {
    char share[80];
    if (places[places[i].root].largest != i)
      continue;
    const char *name = profile->nodes.at[places[i].root].name;
    const struct reached reached = measure (finder, i, places[i].pages_ns);
    enum limit limit = choose_limit (reached.memory, reached.compute);
    double first = limit == COMPUTE ? reached.compute : reached.memory;
    double second = limit == COMPUTE ? reached.memory : reached.compute;
    snprintf (share, sizeof share, "%.0f/%.0f %%", 100 * first, 100 * second);
    add_operation (&lists[limit], name, share, i, reached.ns);
    if (reached.pages >= BOUND_SHARE)
      add_operation (&lists[PAGES], name,
                     rd_format_percent (reached.pages, 1).text, i,
                     reached.ns * reached.pages);
  }
  for (int limit = 0; limit < NLIMITS; limit++)
    RD_TRY (report_list (finder, (enum limit) limit, &lists[limit]));
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Scopes of other programs
 *----------------------------------------------------------------------*/

/* The scope with the most work of those that count arithmetic operations. */
static enum radio_status
find_scope (struct rd_finder *finder)
{
  const struct radio_profile *profile = finder->profile;
  double memory = limit_of_thread (finder, MEMORY_LIMIT,
                                   MEMORY_LIMIT ", 1 thread");
  double compute = limit_of_thread (finder, COMPUTE_LIMIT,
                                    COMPUTE_LIMIT ", 1 thread");
  size_t most = RADIO_NO_PARENT;
  uint64_t ns = 0, flop = 0;
  if (memory <= 0 || compute <= 0)
    return RADIO_OK;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    uint64_t node_ns = rd_subtract (node->work_ns, node->starved_ns);
    uint64_t count = node_ns > ns
      ? rd_unit_sum (profile, i, RD_UNIT_FLOP, false) : 0;
    if (count == 0)
      continue;
    most = i;
    ns = node_ns;
    flop = count;
  }
  if (ns == 0 || (double) ns < ARITHMETIC_SHARE * (double) finder->busy_ns)
    return RADIO_OK;
  uint64_t nbytes = rd_unit_sum (profile, most, "bytes", false);
  double moved = (double) nbytes * 1e9 / (double) ns;
  double computed = (double) flop * 1e9 / (double) ns;
  enum limit limit = choose_limit (moved / memory, computed / compute);
  struct rd_claim claim = {
    names[limit][0], names[limit][1], weight_of (limit),
    (double) ns / (double) finder->busy_ns, most
  };
  return rd_found (
    finder, &claim,
    "'%.60s' read and wrote %s at %s a thread, %s of %s, and computed %s "
    "GFLOP/s, %s of %s: what a thread was measured to reach, %" PRIu64
    " at a time; %s flop/B", profile->nodes.at[most].name,
    rd_format_nbytes (nbytes).text, rd_format_rate (nbytes, ns).text,
    rd_format_percent (moved, memory).text,
    rd_format_rate ((uint64_t) memory, 1000000000).text,
    rd_format_number (computed / 1e9).text,
    rd_format_percent (computed, compute).text,
    rd_format_number (compute / 1e9).text,
    finder->nthreads,
    rd_format_number (nbytes > 0 ? (double) flop / (double) nbytes : 0).text);
}

enum radio_status
rd_find_limits (struct rd_finder *finder)
{
  if (rd_finder_is_blurred (finder))
    return RADIO_OK;
  return rd_finder_sum (finder, &copying) > 0 ? find_operations (finder)
                                              : find_scope (finder);
}
