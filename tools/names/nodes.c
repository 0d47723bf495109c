/* SPDX-License-Identifier: MIT */
/* The nodes that operands name, once they are found: each kept once, opened and
 * closed. */
#include <config.h>

#include <string.h>

#include "tools/jobs.h"
#include "tools/names.h"
#include "tools/select.h"

void
rd_node_clear (struct rd_target *node)
{
  if (!node->is_listed)
    rd_node_close (node);
  free (node->path);
  free (node->level);
  free (node->name);
  free (node->url);
  radio_pipeline_free (node->drawn);
}

void
rd_files_close (struct rd_files *files)
{
  if (files)
    radio_context_close (files->context);
  free (files);
}

const char *
rd_target_operand (const struct rd_target *target)
{
  return target->url ? target->url : target->name;
}

/* Keeps a node, which is then no longer the caller's. */
static int
keep_node (struct rd_target *node, void *user_data)
{
  struct rd_nodes *nodes = user_data;
  if (nodes->n == nodes->capacity) {
    size_t capacity = nodes->capacity ? 2 * nodes->capacity : 64;
    struct rd_target *list = reallocarray (nodes->list, capacity,
                                           sizeof *list);
    if (list == NULL)
      return rd_error_memory ();
    nodes->list = list;
    nodes->capacity = capacity;
  }
  nodes->list[nodes->n++] = *node;
  *node = (struct rd_target) { 0 };
  return RD_EXIT_OK;
}

/* The order of stores and paths, and of files; 0: they are the same node. */
static int
order_nodes (const struct rd_target *x, const struct rd_target *y)
{
  int order = (x->store > y->store) - (x->store < y->store);
  if (order == 0)
    order = strcmp (x->path, y->path);
  if (order == 0)
    order = x->is_group - y->is_group;
  return order == 0 && x->files ? strcmp (rd_target_operand (x),
                                          rd_target_operand (y)) : order;
}

/* Equal ones in the order in which they were found. */
static int
compare_nodes (const void *a, const void *b)
{
  const struct rd_target *x = *(struct rd_target *const *) a;
  const struct rd_target *y = *(struct rd_target *const *) b;
  int order = order_nodes (x, y);
  return order ? order : (x > y) - (x < y);
}

/* Sets the pipeline of each node: the sample of the first is that of --draw,
 * of the next ones those after it.  False after an error. */
static bool
set_pipelines (const struct rd_args *args, struct rd_nodes *nodes)
{
  for (size_t i = 0; i < nodes->n; i++) {
    struct rd_target *node = &nodes->list[i];
    if (rd_args_draw_again (args, i, &node->drawn) != RD_EXIT_OK)
      return false;
    node->pipeline = node->drawn ? node->drawn : args->pipeline;
  }
  return true;
}

/* "ct ct/head" names one twice. */
static int
drop_doubles (struct rd_nodes *nodes)
{
  RD_FREE struct rd_target **sorted = calloc (nodes->n, sizeof *sorted);
  if (sorted == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < nodes->n; i++)
    sorted[i] = &nodes->list[i];
  qsort (sorted, nodes->n, sizeof *sorted, compare_nodes);
  for (size_t first = 0, i = 1; i < nodes->n; i++) {
    if (order_nodes (sorted[first], sorted[i]) == 0) {
      rd_node_clear (sorted[i]);
      sorted[i]->name = NULL;
    } else
      first = i;
  }
  size_t n = 0;
  for (size_t i = 0; i < nodes->n; i++)
    if (nodes->list[i].name)
      nodes->list[n++] = nodes->list[i];
  nodes->n = n;
  return RD_EXIT_OK;
}

/*------------------------------------------------------------------------
 * A sample, and the first ones
 *----------------------------------------------------------------------*/

/* Nodes of which --sample and --head leave some. */
struct choice {
  const struct rd_args *args;
  rd_node_fn *take;
  void *user_data;
  uint64_t ntaken;
  struct rd_nodes nodes;              /* all, to sample from; no stores */
};

static int
take_first (struct rd_target *node, void *user_data)
{
  struct choice *choice = user_data;
  uint64_t head = choice->args->select.head;
  if (head > 0 && choice->ntaken >= head)
    return RD_EXIT_OK;
  choice->ntaken++;
  return choice->take (node, choice->user_data);
}

static int
keep_choice (struct rd_target *node, void *user_data)
{
  struct choice *choice = user_data;
  return keep_node (node, &choice->nodes);
}

/* Takes those that are chosen of all that were kept. */
static int
take_sample (struct choice *choice)
{
  struct rd_nodes *nodes = &choice->nodes;
  RD_FREE const char **ids = calloc (nodes->n + 1, sizeof *ids);
  RD_FREE bool *chosen = calloc (nodes->n + 1, sizeof *chosen);
  if (ids == NULL || chosen == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < nodes->n; i++)
    ids[i] = *nodes->list[i].path ? nodes->list[i].path : nodes->list[i].name;
  int failed = rd_select_choose (&choice->args->select, ids, nodes->n, chosen);
  for (size_t i = 0; i < nodes->n && !failed; i++)
    if (chosen[i])
      failed = take_first (&nodes->list[i], choice);
  return failed;
}

/* Nothing is selected: an error where something is needed, else a warning if
 * there is no such subject. */
static int
report_none (const struct rd_args *args, unsigned how,
             const struct rd_cohorts *cohorts)
{
  RD_FREE char *why = rd_select_why_none (args, cohorts);
  RD_FREE char *text = why ? rd_format ("no volume is selected%s", why) : NULL;
  if (text == NULL)
    return RD_EXIT_FAILED;
  if (how & RD_NODES_SOME)
    return rd_error ("%s", text);
  if (*why)
    rd_warn (text);
  return RD_EXIT_OK;
}

int
rd_nodes_each (const struct rd_args *args, unsigned how,
               struct rd_nodes *nodes, rd_node_fn *take, void *user_data)
{
  struct choice choice = {
    .args = args, .take = take, .user_data = user_data
  };
  bool has_sample = args->select.sample > 0;
  if (!rd_args_selects (args))
    return rd_operands_each (args, how, nodes, take, user_data);
  how &= ~(unsigned) (has_sample ? RD_NODES_OPENED | RD_NODES_GROUPS
                                 : RD_NODES_GROUPS);
  int status = rd_operands_each (args, how, nodes,
                                 has_sample ? keep_choice : take_first,
                                 &choice);
  int failed = has_sample ? take_sample (&choice) : RD_EXIT_OK;
  rd_nodes_clear (&choice.nodes);
  if (status || failed)
    return status ? status : failed;
  return choice.ntaken > 0 ? RD_EXIT_OK
                           : report_none (args, how, &nodes->cohorts);
}

int
rd_nodes_find (const struct rd_args *args, unsigned how,
               struct rd_nodes *nodes)
{
  /* There are no pipelines of arrays alone. */
  if (args->pipeline)
    how &= ~(unsigned) RD_NODES_ARRAYS;
  int status = rd_nodes_each (args, how, nodes, keep_node, nodes);
  if (args->noperands > 1 && nodes->n > 1) {
    int failed = drop_doubles (nodes);
    if (failed)
      return failed;
  }
  return set_pipelines (args, nodes) ? status : RD_EXIT_FAILED;
}

static enum radio_status
apply_pipeline (struct rd_target *node)
{
  struct radio_volume *derived;
  if (!node->pipeline || node->is_applied)
    return RADIO_OK;
  enum radio_status status
    = radio_volume_apply (node->volume, node->pipeline, &derived);
  if (status != RADIO_OK)
    return status;
  radio_volume_close (node->volume);
  node->volume = derived;
  node->array = radio_volume_array (derived);
  node->is_applied = true;
  return RADIO_OK;
}

/* Returns the folder of the user's cache for points of entry, allocated; NULL
 * without such a folder. */
static char *
find_index_folder (void)
{
  const char *cache = getenv ("XDG_CACHE_HOME"), *home = getenv ("HOME");
  if (cache != NULL && *cache == '/')
    return rd_format ("%s/radio", cache);
  return home != NULL && *home == '/' ? rd_format ("%s/.cache/radio", home)
                                      : NULL;
}

static enum radio_status
open_file (struct rd_target *node)
{
  RD_FREE char *folder = find_index_folder ();
  const struct radio_file_options options = {
    .warning = rd_on_warning,
    .keep_index = node->keep_index, .index_folder = folder,
    .map = node->map, .s3 = &node->files->s3,
  };
  return radio_volume_open_file (node->files->context,
                                 rd_target_operand (node), &options,
                                 &node->volume);
}

enum radio_status
rd_node_try_open (struct rd_target *node)
{
  if (node->array)
    return apply_pipeline (node);
  enum radio_status status = node->files
    ? open_file (node)
    : radio_volume_open (node->store, node->path, &node->volume);
  if (status != RADIO_OK)
    return status;
  node->array = radio_volume_array (node->volume);
  return apply_pipeline (node);
}

int
rd_node_open (struct rd_target *node)
{
  return rd_node_try_open (node) == RADIO_OK ? RD_EXIT_OK
                                             : rd_error_library (node->name);
}

void
rd_node_close (struct rd_target *node)
{
  if (node->volume)
    radio_volume_close (node->volume);
  else
    radio_array_close (node->array);
  node->volume = NULL;
  node->array = NULL;
  node->is_applied = false;
  node->has_stored_nbytes = false;
}

static bool
is_closed (const struct rd_target *node)
{
  return node->volume == NULL && node->array == NULL;
}

struct opening {
  struct rd_target *first;
  bool with_sizes;
};

static void
open_node (void *data, size_t i)
{
  const struct opening *opening = data;
  struct rd_target *node = &opening->first[i];
  if (is_closed (node) && rd_node_try_open (node) == RADIO_OK
      && node->volume && opening->with_sizes)
    node->has_stored_nbytes
      = radio_volume_stored_nbytes (node->volume, &node->stored_nbytes)
        == RADIO_OK;
}

static void
report_nothing (void *data, size_t i)
{
  (void) data;
  (void) i;
}

bool
rd_nodes_are_remote (const struct rd_args *args, const struct rd_nodes *nodes)
{
  bool are_remote = false;
  for (size_t k = 0; k < nodes->nroots; k++) {
    const char *name = nodes->roots[k].name;
    are_remote |= rd_is_url (name ? name : rd_store_name (args));
  }
  return are_remote;
}

void
rd_nodes_open_ahead (const struct rd_args *args, struct rd_nodes *nodes,
                     size_t i, size_t n, bool with_sizes)
{
  if (n < 2 || !is_closed (&nodes->list[i])
      || !rd_nodes_are_remote (args, nodes))
    return;
  struct opening opening = { &nodes->list[i], with_sizes };
  struct rd_jobs jobs = {
    .n = n < RD_JOBS_MAX_THREADS ? n : RD_JOBS_MAX_THREADS,
    .nthreads = rd_nodes_nthreads (args, nodes),
    .run = open_node, .report = report_nothing, .data = &opening,
  };
  (void) !rd_jobs_run (&jobs);
}

void
rd_nodes_clear (struct rd_nodes *nodes)
{
  for (size_t i = 0; i < nodes->n; i++)
    rd_node_clear (&nodes->list[i]);
  free (nodes->list);
  rd_cohorts_clear (&nodes->cohorts);
  for (size_t i = 0; i < nodes->nroots; i++) {
    radio_store_close (nodes->roots[i].store);
    free (nodes->roots[i].name);
  }
  free (nodes->roots);
  rd_files_close (nodes->files);
  *nodes = (struct rd_nodes) { 0 };
}

int
rd_target_open (const struct rd_args *args, const char *operand, bool arrays,
                struct rd_target *target)
{
  RD_CLEANUP (rd_nodes_clear) struct rd_nodes nodes = { 0 };
  char *operands[] = { (char *) operand };
  struct rd_args one = *args;
  one.operands = operands;
  one.noperands = 1;
  memset (target, 0, sizeof *target);
  int failed = rd_nodes_find (&one, RD_NODES_ONE
                              | (arrays ? RD_NODES_ARRAYS : 0), &nodes);
  if (!failed)
    failed = rd_node_open (&nodes.list[0]);
  if (failed)
    return failed;
  rd_cohorts_clear (&nodes.cohorts);
  /* The store is that of the only operand, as the context is. */
  *target = nodes.list[0];
  nodes.n = nodes.nroots = 0;
  nodes.files = NULL;
  free (nodes.roots[0].name);
  return RD_EXIT_OK;
}

void
rd_target_close (struct rd_target *target)
{
  rd_node_clear (target);
  radio_store_close (target->store);
  rd_files_close (target->files);
}

char *
rd_target_stem (const struct rd_target *target)
{
  const char *path = *target->path ? target->path : target->name;
  size_t n = rd_unslashed_nbytes (path), start = 0;
  RD_FREE char *ingested = NULL;
  if (target->files && radio_ingest_path (path, "x", &ingested) == RADIO_OK)
    return strdup (ingested + 2);
  if (*target->path == '\0') {
    /* A store's or file's own name; of a URL with the collection, since a
     * path does not show which part is one. */
    size_t above = rd_parent_length (path, n, rd_scheme_nbytes (path));
    size_t host = rd_scheme_nbytes (path);
    host += strcspn (path + host, "/");
    bool has_collection = rd_is_url (path) && above > host
                          && !rd_is_store_name (path, above);
    start = has_collection ? rd_parent_length (path, above, host) : above;
    while (path[start] == '/')
      start++;
    if (rd_is_store_name (path, n))
      n -= strlen (".zarr");
  }
  char *stem = rd_format ("%.*s", (int) (n - start), path + start);
  for (char *slash = stem; slash && (slash = strchr (slash, '/'));)
    *slash = '_';
  return stem;
}
