/* SPDX-License-Identifier: MIT */
/* Statistics of the voxels of several volumes together: of each volume, or of
 * all, where their masks choose. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/jobs.h"
#include "tools/parse.h"
#include "tools/stats/by.h"
#include "tools/stats/group.h"
#include "tools/text.h"

/* The names of a collection, sorted. */
struct names {
  char **items;
  size_t n, capacity;
};

struct run {
  struct rd_args *args;
  const struct rd_group_request *request;
  struct rd_nodes nodes;
  struct rd_by by;
  const struct rd_by_group *group;    /* NULL: without --by */
  struct rd_target *first;    /* of the group */
  size_t n;                   /* of its volumes */
  struct radio_store *store;  /* whose masks are listed */
  struct names masks;
  struct radio_volume **opened;       /* masks of the group's volumes, opened
                                         ahead; NULL: not */
  char *lacks_mask;           /* the message of a volume without one, or NULL */
  struct rd_json_items items;
  size_t nprinted;            /* as text */
};

/*------------------------------------------------------------------------
 * Options
 *----------------------------------------------------------------------*/

/* Parses numbers between commas; false after a usage error. */
static bool
take_numbers (struct rd_args *args, double *numbers, size_t most, size_t *n)
{
  if (rd_parse_doubles (args->value, numbers, most, n))
    return true;
  rd_usage_error (args, "--%s: '%s' is not a list of up to %zu numbers",
                  args->option->name, args->value, most);
  return false;
}

/* Parses labels: integers that doubles hold. */
static bool
take_labels (struct rd_args *args, int64_t *labels, size_t most, size_t *n)
{
  double numbers[RD_MAX_LABELS];
  if (!take_numbers (args, numbers, most, n))
    return false;
  for (size_t i = 0; i < *n; i++) {
    if (floor (numbers[i]) != numbers[i] || fabs (numbers[i]) > 0x1p53) {
      rd_usage_error (args, "--%s: '%s' has a label that is not an integer",
                      args->option->name, args->value);
      return false;
    }
    labels[i] = (int64_t) numbers[i];
  }
  return true;
}

int
rd_group_take (struct rd_args *args, int id, struct rd_group_request *request)
{
  struct radio_group_options *options = &request->options;
  size_t n;
  uint64_t nbins;
  bool ok = true;
  switch (id) {
  case RD_OPTION_POOL:
    request->pool = true;
    break;
  case RD_OPTION_BY:
    request->by = args->value;
    break;
  case RD_OPTION_MASK:
    request->mask = args->value;
    break;
  case RD_OPTION_LABEL:
    ok = take_labels (args, request->labels, RD_MAX_LABELS,
                      &options->nlabels);
    options->labels = request->labels;
    break;
  case RD_OPTION_IGNORE_LABEL:
    ok = take_labels (args, &options->ignored, 1, &n);
    options->has_ignored = true;
    break;
  case RD_OPTION_PERCENTILES:
    ok = take_numbers (args, request->percents, RADIO_GROUP_MAX_PERCENTS,
                       &options->npercents);
    for (size_t i = 0; ok && i < options->npercents; i++)
      if (!(request->percents[i] >= 0 && request->percents[i] <= 100)) {
        rd_usage_error (args, "--percentiles: '%s' has one outside of 0 to 100",
                        args->value);
        ok = false;
      }
    options->percents = request->percents;
    break;
  case RD_OPTION_BINS:
    ok = rd_args_number (args, 1, (uint64_t) 1 << 20, &nbins);
    options->nbins = ok ? (size_t) nbins : 0;
    break;
  case RD_OPTION_RANGE:
    ok = rd_parse_range (args->value, &options->low, &options->high);
    if (!ok)
      rd_usage_error (args, "--range: '%s' is not LO,HI with LO below HI",
                      args->value);
    break;
  default:
    return 0;
  }
  request->is_given = true;
  return ok ? 1 : -1;
}

bool
rd_group_consistent (struct rd_args *args, struct rd_group_request *request)
{
  const struct radio_group_options *options = &request->options;
  bool has_range = options->low < options->high;
  if (has_range != (options->nbins > 0))
    rd_usage_error (args, "--bins and --range need each other");
  else if (!request->mask && (options->nlabels > 0 || options->has_ignored))
    rd_usage_error (args, "labels need a mask; use --mask");
  else if (request->pool && request->by)
    rd_usage_error (args, "--by pools the volumes of each value; give --pool "
                    "alone to pool them all");
  else if (request->mask && args->pipeline)
    rd_usage_error (args, "--mask excludes --apply, which would move voxels "
                    "away from the mask's");
  else
    return true;
  return false;
}

/*------------------------------------------------------------------------
 * Masks
 *----------------------------------------------------------------------*/

static void
clear_names (struct names *names)
{
  for (size_t i = 0; i < names->n; i++)
    free (names->items[i]);
  free (names->items);
  *names = (struct names) { 0 };
}

static enum radio_status
add_name (const struct radio_entry *entry, void *user_data)
{
  struct names *names = user_data;
  if (names->n == names->capacity) {
    size_t capacity = 2 * names->capacity + 64;
    char **items = realloc (names->items, capacity * sizeof *items);
    if (items == NULL)
      return RADIO_ERROR_MEMORY;
    names->items = items;
    names->capacity = capacity;
  }
  char *name = strdup (entry->name);
  if (name == NULL)
    return RADIO_ERROR_MEMORY;
  names->items[names->n++] = name;
  return RADIO_OK;
}

static int
compare_names (const void *a, const void *b)
{
  return strcmp (*(char *const *) a, *(char *const *) b);
}

/* Finds the name of a volume's mask: the same one, else the first of the same
 * subject, session and run; NULL without a mask. */
static const char *
find_mask (const struct names *names, const char *name)
{
  char *const *found = names->n == 0 ? NULL
    : bsearch (&name, names->items, names->n, sizeof *names->items,
               compare_names);
  for (size_t i = 0; found == NULL && i < names->n; i++)
    if (radio_is_pair (name, names->items[i]))
      found = &names->items[i];
  return found ? *found : NULL;
}

/* Lists the masks of a store, unless it was the last one. */
static enum radio_status
need_names (struct run *run, struct radio_store *store)
{
  if (store == run->store)
    return RADIO_OK;
  clear_names (&run->masks);
  run->store = NULL;
  enum radio_status listed = radio_store_list (store, run->request->mask,
                                               add_name, &run->masks);
  if (listed != RADIO_OK)
    return listed;
  run->store = store;
  if (run->masks.n > 0)
    qsort (run->masks.items, run->masks.n, sizeof *run->masks.items,
           compare_names);
  return RADIO_OK;
}

/* Masks that are opened at the same time. */
struct opening {
  const struct run *run;
  size_t first;
};

static void
open_ahead (void *data, size_t i)
{
  const struct opening *opening = data;
  const struct run *run = opening->run;
  size_t at = opening->first + i;
  const struct rd_target *node = &run->first[at];
  const char *found = node->store == run->store
                      ? find_mask (&run->masks, rd_base_name (node->path))
                      : NULL;
  RD_FREE char *path = found ? rd_format ("%s/%s", run->request->mask, found)
                             : NULL;
  /* A failure is reported when it is the volume's turn. */
  if (path && radio_volume_open (node->store, path, &run->opened[at])
              != RADIO_OK)
    run->opened[at] = NULL;
}

static void
report_nothing (void *data, size_t i)
{
  (void) data;
  (void) i;
}

/* Opens masks from that of volume i on, if they are on a network and that one
 * is not open. */
static void
open_masks_ahead (struct run *run, size_t i)
{
  struct opening opening = { run, i };
  size_t n = run->n - i;
  if (n < 2 || run->opened[i] || !rd_nodes_are_remote (run->args, &run->nodes))
    return;
  struct rd_jobs jobs = {
    .n = n < RD_JOBS_MAX_THREADS ? n : RD_JOBS_MAX_THREADS,
    .nthreads = rd_nodes_nthreads (run->args, &run->nodes),
    .run = open_ahead, .report = report_nothing, .data = &opening,
  };
  (void) !rd_jobs_run (&jobs);
}

static enum radio_status
open_mask (struct run *run, size_t i, struct radio_volume **mask)
{
  const char *collection = run->request->mask;
  const struct rd_target *node = &run->first[i];
  enum radio_status listed = need_names (run, node->store);
  if (listed != RADIO_OK)
    return listed;
  open_masks_ahead (run, i);
  *mask = run->opened[i];
  run->opened[i] = NULL;
  if (*mask)
    return RADIO_OK;
  const char *name = rd_base_name (node->path);
  const char *found = find_mask (&run->masks, name);
  RD_FREE char *path = rd_format ("%s/%s", collection, found ? found : name);
  RD_FREE char *similar = NULL;
  enum radio_status status = path ? RADIO_OK : RADIO_ERROR_MEMORY;
  if (path && found == NULL) {        /* its message names similar ones */
    status = radio_store_find (node->store, path, &similar);
    if (status == RADIO_ERROR_NOT_FOUND && run->lacks_mask == NULL)
      run->lacks_mask = rd_format ("%s", radio_error_message ());
  }
  return status == RADIO_OK ? radio_volume_open (node->store, path, mask)
                            : status;
}

static enum radio_status
open_volume (size_t i, struct radio_volume **volume,
             struct radio_volume **mask, void *user_data)
{
  struct run *run = user_data;
  struct rd_target *node = &run->first[i];
  rd_nodes_open_ahead (run->args, &run->nodes,
                       (size_t) (node - run->nodes.list), run->n - i, false);
  enum radio_status status = rd_node_try_open (node);
  if (status != RADIO_OK)
    return status;
  *volume = node->volume;
  node->volume = NULL;
  node->array = NULL;
  node->is_applied = false;
  return run->request->mask ? open_mask (run, i, mask) : RADIO_OK;
}

/*------------------------------------------------------------------------
 * Output
 *----------------------------------------------------------------------*/

static enum radio_status
print_figures (const struct radio_group_figures *group, void *user_data)
{
  struct run *run = user_data;
  const struct rd_group_request *request = run->request;
  const struct radio_group_options *options = &request->options;
  bool own = options->npercents == 0;
  const struct rd_figures figures = {
    .stats = group->stats,
    .npercents = own ? RADIO_STATS_NPERCENTILES : options->npercents,
    .percents = own ? rd_stats_own_percents : options->percents,
    .percentiles = own ? group->stats->percentile : group->percentiles,
    .nbins = options->nbins, .low = options->low, .high = options->high,
    .bins = group->bins,
  };
  const char *name = request->pool || run->group ? NULL : run->first->name;
  if (run->args->json) {
    struct json_object *object = json_object_new_object ();
    if (name)
      rd_json_set_text (object, "path", name);
    if (run->group)
      rd_json_set (object, "group", rd_by_json (&run->by, run->group));
    rd_json_set_u64 (object, "volume_count", run->n);
    if (group->label)
      rd_json_set (object, "label", json_object_new_int64 (*group->label));
    rd_json_set_text (object, "values", options->raw ? "stored" : "scaled");
    rd_figures_json (&figures, object);
    rd_json_items_print (&run->items, object);
    return RADIO_OK;
  }
  if (run->nprinted++ > 0)
    putchar ('\n');
  if (run->group) {
    rd_by_print (&run->by, run->group);
    fputs (", ", stdout);
  }
  if (name)
    rd_text_print (stdout, name);
  else
    printf ("%zu volume%s", run->n, rd_plural (run->n));
  if (group->label)
    printf (", label %" PRId64, *group->label);
  putchar ('\n');
  rd_figures_print (&figures);
  return RADIO_OK;
}

/* Computes the figures of n volumes. */
static int
run_volumes (struct run *run, struct rd_target *first, size_t n)
{
  run->first = first;
  run->n = n;
  free (run->lacks_mask);
  run->lacks_mask = NULL;
  for (size_t i = 0; run->request->mask && i < n; i++)
    if (first[i].store == NULL)
      return rd_error ("%s: an image in its file, which has no mask; ingest "
                       "both", first[i].name);
  run->opened = calloc (n + 1, sizeof (struct radio_volume *));
  if (run->opened == NULL)
    return rd_error_memory ();
  enum radio_status status
    = radio_group_stats (n, open_volume, &run->request->options,
                         print_figures, run);
  for (size_t i = 0; i < n; i++)
    radio_volume_close (run->opened[i]);
  free (run->opened);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  if (run->lacks_mask
      && strcmp (run->lacks_mask, radio_error_message ()) == 0)
    return rd_error ("%s; --where 'has(%s)' leaves out volumes without a mask",
                     radio_error_message (), run->request->mask);
  return rd_error_library (n == 1 ? first->name : NULL);
}

/* True if the collection of masks, or a volume in it, is an operand. */
static bool
names_masks (const struct rd_args *args, const char *mask)
{
  size_t n = strlen (mask);
  for (size_t i = 0; i < args->noperands; i++) {
    const char *operand = args->operands[i];
    for (const char *p = strstr (operand, mask); p; p = strstr (p + 1, mask))
      if ((p == operand || p[-1] == '/') && (p[n] == '\0' || p[n] == '/'))
        return true;
  }
  return false;
}

/* Leaves out the masks themselves, which a store has beside the volumes. */
static int
drop_masks (struct run *run)
{
  struct rd_nodes *nodes = &run->nodes;
  const char *mask = run->request->mask;
  size_t n = strlen (mask), nkept = 0, nfound = nodes->n;
  for (size_t i = 0; i < nfound; i++) {
    struct rd_target *node = &nodes->list[i];
    const char *slash = strrchr (node->path, '/');
    if (node->store && slash && (size_t) (slash - node->path) == n
        && memcmp (node->path, mask, n) == 0)
      rd_node_clear (node);
    else
      nodes->list[nkept++] = *node;
  }
  nodes->n = nkept;
  return nfound == 0 || nkept > 0 ? RD_EXIT_OK
    : rd_error ("%s: all volumes are masks of this collection; name it to "
                "have the statistics of masks", mask);
}

/* Those of each value of a column. */
static int
run_groups (struct run *run)
{
  int status = rd_by_group (run->args, run->request->by, &run->nodes,
                            &run->by);
  for (size_t i = 0; i < run->by.n && !status; i++) {
    run->group = &run->by.groups[i];
    status = run_volumes (run, run->group->first, run->group->n);
  }
  return status;
}

static int
run_nodes (struct run *run)
{
  struct rd_nodes *nodes = &run->nodes;
  const char *mask = run->request->mask;
  int status = rd_nodes_find (run->args, RD_NODES_SOME, nodes);
  if (mask && !names_masks (run->args, mask)) {
    int failed = drop_masks (run);
    status = failed ? failed : status;
  }
  bool is_pooled = run->request->pool || run->request->by;
  run->items.is_list = run->request->options.nlabels > 1 || run->request->by
                       || (!is_pooled && !nodes->names_one);
  if (run->request->by && nodes->n > 0 && status == RD_EXIT_OK)
    status = run_groups (run);
  else if (is_pooled && nodes->n > 0 && status == RD_EXIT_OK)
    status = run_volumes (run, nodes->list, nodes->n);
  for (size_t i = 0; !is_pooled && i < nodes->n; i++) {
    int failed = run_volumes (run, &nodes->list[i], 1);
    status = failed ? failed : status;
  }
  if (nodes->n > 0 && run->args->json && status != RD_EXIT_USAGE)
    rd_json_items_end (&run->items);
  return status;
}

int
rd_group_run (struct rd_args *args, const struct rd_group_request *request)
{
  struct run run = { .args = args, .request = request };
  int status = run_nodes (&run);
  clear_names (&run.masks);
  free (run.lacks_mask);
  rd_by_clear (&run.by);
  rd_nodes_clear (&run.nodes);
  return status;
}
