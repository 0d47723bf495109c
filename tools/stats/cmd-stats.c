/* SPDX-License-Identifier: MIT */
/* radio stats: prints statistics and a histogram of the values of a volume or
 * array. */
#include <config.h>

#include <string.h>

#include "tools/jobs.h"
#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/stats/figures.h"
#include "tools/stats/group.h"
#include "tools/text.h"

static struct rd_figures
figures_of (const struct radio_stats *stats)
{
  return (struct rd_figures) {
    .stats = stats, .npercents = RADIO_STATS_NPERCENTILES,
    .percents = rd_stats_own_percents, .percentiles = stats->percentile,
  };
}

static void
print_stats (const char *name, const struct radio_stats *stats)
{
  const struct rd_figures figures = figures_of (stats);
  rd_text_print (stdout, name);
  putchar ('\n');
  rd_figures_print (&figures);
}

static struct json_object *
stats_json (const char *name, const struct radio_stats *stats, bool raw)
{
  const struct rd_figures figures = figures_of (stats);
  struct json_object *object = json_object_new_object ();
  rd_json_set_text (object, "path", name);
  rd_json_set_text (object, "values", raw ? "stored" : "scaled");
  rd_figures_json (&figures, object);
  return object;
}

/* Two slabs of the volume. */
#define MEMORY_NBYTES ((uint64_t) 16 << 20)

/* The outcome for a node. */
struct outcome {
  struct radio_stats stats;
  bool is_volume;
  char *message;                      /* of the failure; NULL: none */
};

struct computation {
  const struct rd_args *args;
  bool raw, keep;
  struct rd_nodes nodes;
  struct outcome *outcomes;           /* of each node */
  struct rd_json_items items;
  size_t nprinted;                    /* as text */
  int status;
  struct rd_jobs jobs;
};

static void
compute_node (void *data, size_t i)
{
  struct computation *c = data;
  struct rd_target *node = &c->nodes.list[i];
  struct outcome *outcome = &c->outcomes[i];
  enum radio_status status = rd_node_try_open (node);
  outcome->is_volume = node->volume != NULL;
  if (status == RADIO_OK && c->keep && !node->volume)
    outcome->message = strdup ("an array; only the statistics of volumes are "
                               "kept");
  else if (status == RADIO_OK) {
    rd_jobs_reserve (&c->jobs, MEMORY_NBYTES);
    status = node->volume && c->keep
      ? radio_volume_keep_stats (node->volume, &outcome->stats)
      : node->volume
      ? radio_volume_stats (node->volume, c->raw, &outcome->stats)
      : radio_array_stats (node->array, &outcome->stats);
    rd_jobs_release (&c->jobs, MEMORY_NBYTES);
  }
  if (status != RADIO_OK)
    outcome->message = rd_format ("%s", radio_error_message ());
  if (status != RADIO_OK && outcome->message == NULL)
    outcome->message = strdup ("out of memory");
  rd_node_close (node);
}

static void
report_node (void *data, size_t i)
{
  struct computation *c = data;
  const struct outcome *outcome = &c->outcomes[i];
  const char *name = c->nodes.list[i].name;
  /* Statistics are computed without a read that could warn. */
  if (!outcome->message && c->args->pipeline && outcome->stats.nan_count > 0) {
    RD_FREE char *line = rd_format ("%s: some results are NaN, of values "
                                    "that are NaN or infinite", name);
    rd_warn (line ? line : "some results are NaN");
  }
  if (outcome->message) {
    rd_error_message (name, outcome->message);
    c->status = RD_EXIT_FAILED;
  } else if (c->args->json)
    rd_json_items_print (&c->items,
                         stats_json (name, &outcome->stats,
                                     c->raw || !outcome->is_volume));
  else {
    if (c->nprinted++ > 0)
      putchar ('\n');
    print_stats (name, &outcome->stats);
  }
}

/* JSON is a list, unless the operand names a node itself. */
static int
compute (struct computation *c)
{
  struct rd_nodes *nodes = &c->nodes;
  c->status = rd_nodes_find (c->args, RD_NODES_ARRAYS | RD_NODES_SOME, nodes);
  c->items.is_list = !nodes->names_one;
  c->outcomes = calloc (nodes->n + 1, sizeof *c->outcomes);
  if (c->outcomes == NULL)
    return rd_error_memory ();
  c->jobs = (struct rd_jobs) {
    .n = nodes->n,
    .nthreads = rd_nodes_nthreads (c->args, nodes),
    .limit_nbytes = rd_jobs_limit_nbytes (c->args),
    .run = compute_node,
    .report = report_node,
    .data = c,
  };
  if (!rd_jobs_run (&c->jobs))
    return RD_EXIT_FAILED;
  if (nodes->n > 0 && c->args->json)
    rd_json_items_end (&c->items);
  return c->status;
}

static int
run_stats (struct rd_args *args)
{
  struct computation c = { .args = args };
  struct rd_group_request request = { 0 };
  int id, taken;
  while ((id = rd_args_next (args)) > 0)
    if ((taken = rd_group_take (args, id, &request)) < 0)
      return args->status;
    else if (taken == 0)
      *(id == RD_OPTION_RAW ? &c.raw : &c.keep) = true;
  if (id < 0
      || !rd_args_want (args, !rd_args_selects (args), SIZE_MAX, "VOLUME"))
    return args->status;
  if (c.keep && (c.raw || args->pipeline)) {
    rd_usage_error (args, "--keep keeps the statistics of scaled values, and "
                    "goes with neither --raw nor --apply");
    return args->status;
  }
  if (request.is_given && c.keep) {
    rd_usage_error (args, "--keep keeps the statistics of whole volumes: give "
                    "no option that changes them");
    return args->status;
  }
  if (request.is_given) {
    request.options.raw = c.raw;
    args->newest_tables = request.by != NULL;
    return rd_group_consistent (args, &request)
           ? rd_group_run (args, &request) : args->status;
  }
  int status = compute (&c);
  for (size_t i = 0; c.outcomes && i < c.nodes.n; i++)
    free (c.outcomes[i].message);
  free (c.outcomes);
  rd_nodes_clear (&c.nodes);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { RD_OPTION_RAW, "raw", NULL,
    "use stored values (default: scaled by scl_slope and\n"
    "scl_inter)" },
  RD_GROUP_OPTIONS,
  { RD_OPTION_KEEP, "keep", NULL,
    "also keep them in the store, for pipelines that need\n"
    "them (znorm, rescale from percentiles)" },
  { RD_OPTION_JSON, "json", NULL,
    "print a JSON object, with all 64 bins; a list of\n"
    "them for several volumes" },
  RD_APPLY_OPTION,
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_stats = {
  .name = "stats",
  .operands = "[OPTION]... VOLUME|COLLECTION|ARRAY...",
  .summary = "print range, mean, percentiles and histogram",
  .description =
    "Prints minimum, maximum, mean, standard deviation, percentiles and the "
    "histogram of volumes, or of any Zarr v3 array of real numbers. All "
    "figures are exact.",
  .options = options,
  .examples =
    "radio stats --raw --json ct 'T1w/sub-0*'\n"
    "radio stats --pool --mask seg --percentiles 0.5,99.5 ct\n"
    "radio stats --by site --mask seg --label 1,2 ct",
  .run = run_stats,
};
