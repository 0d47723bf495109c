/* SPDX-License-Identifier: MIT */
/* radio validate: reads and checks every tile, and the documents of the groups
 * above volumes; of these only those are reported that are not ok.  Then, if
 * that is asked for, compares the volumes with each other, as check does. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/jobs.h"
#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/pairs.h"
#include "tools/progress.h"
#include "tools/text.h"

/* A volume that is replaced while it is checked is checked again, this many
 * times. */
#define MAX_REPLACED 5

/* The memory of a check. */
#define MEMORY_LEAST_NBYTES ((uint64_t) 1 << 20)
#define MEMORY_MOST_NBYTES ((uint64_t) 64 << 20)

/* The first that applies, from the last. */
enum state { OK, REPLACED, STALE, NOT_CHECKED, BAD, NSTATES };

static const char *const words[NSTATES] = {
  [OK] = "ok", [REPLACED] = "replaced", [STALE] = "stale",
  [NOT_CHECKED] = "not checked", [BAD] = "bad",
};

/* A message about a node, until its turn. */
struct note {
  struct note *next;
  bool is_error;
  char text[];
};

/* The outcome for a node. */
struct outcome {
  struct radio_check check;
  enum state state;
  bool is_array, is_missing, is_damaged;
  struct note *notes, **last;
};

struct validation {
  const struct rd_args *args;
  struct rd_nodes nodes;
  struct rd_progress progress;
  struct outcome *outcomes;           /* of each node */
  size_t width;
  size_t counts[NSTATES];
  size_t nmissing;
  size_t nsilent;                     /* groups that are ok */
  uint64_t tile_count, stored_nbytes, damaged_count;
  bool compares;                      /* pairs */
  struct rd_pairs pairs;
  const struct rd_root *root;         /* whose pairs are compared */
  uint64_t npairs, nfaults;
  struct rd_json_items items;
  struct rd_jobs jobs;
};

static void
note (struct outcome *outcome, const char *message, bool is_error)
{
  size_t nbytes = strlen (message) + 1;
  struct note *added = malloc (sizeof *added + nbytes);
  if (added == NULL) {
    rd_error_memory ();
    return;
  }
  *added = (struct note) { .is_error = is_error };
  memcpy (added->text, message, nbytes);
  *outcome->last = added;
  outcome->last = &added->next;
}

static void
free_notes (struct outcome *outcome)
{
  while (outcome->notes) {
    struct note *next = outcome->notes->next;
    free (outcome->notes);
    outcome->notes = next;
  }
}

static void
on_damage (const char *message, void *user_data)
{
  struct outcome *outcome = user_data;
  outcome->is_damaged = true;
  note (outcome, message, true);
}

/* Opens what is at the node's path now. */
static enum radio_status
open_node (struct rd_target *node, bool is_array)
{
  if (node->array || node->is_group)
    return RADIO_OK;
  if (is_array)
    return radio_array_open (node->store, node->path, &node->array);
  return rd_node_try_open (node);
}

static enum radio_status
check_once (struct outcome *outcome, const struct rd_target *node)
{
  outcome->check = (struct radio_check) { 0 };
  if (node->is_group)
    return radio_store_validate_group (node->store, node->path,
                                       &outcome->check, on_damage, outcome);
  return node->volume
    ? radio_volume_validate (node->volume, &outcome->check, on_damage,
                             outcome)
    : radio_array_check (node->array, &outcome->check, on_damage, outcome);
}

/* The check takes a slab of the node, at most a shard. */
static uint64_t
memory_nbytes (const struct rd_target *node)
{
  struct radio_array_info info;
  if (node->array == NULL)
    return MEMORY_LEAST_NBYTES;
  radio_array_get_info (node->array, &info);
  uint64_t nbytes = rd_raw_nbytes (&info);
  return MEMORY_LEAST_NBYTES
         + (nbytes < MEMORY_MOST_NBYTES ? nbytes : MEMORY_MOST_NBYTES);
}

/* Checks a node, and what has replaced it since. */
static void
check_node (void *data, size_t i)
{
  struct validation *v = data;
  struct rd_target *node = &v->nodes.list[i];
  struct outcome *outcome = &v->outcomes[i];
  bool is_array = node->array && !node->volume;
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  unsigned nreplaced = 0;
  outcome->is_array = is_array;
  while (status == RADIO_ERROR_NOT_FOUND && nreplaced <= MAX_REPLACED) {
    outcome->is_damaged = false;
    status = open_node (node, is_array);
    bool was_open = status == RADIO_OK;
    if (was_open) {
      uint64_t nbytes = memory_nbytes (node);
      rd_jobs_reserve (&v->jobs, nbytes);
      status = check_once (outcome, node);
      rd_jobs_release (&v->jobs, nbytes);
    }
    bool was_replaced = status == RADIO_ERROR_NOT_FOUND && was_open;
    bool is_reported = status == RADIO_ERROR_CHECKSUM && outcome->is_damaged;
    if (status != RADIO_OK && !was_replaced && !is_reported)
      note (outcome, radio_error_message (), true);
    rd_node_close (node);
    outcome->is_missing = status == RADIO_ERROR_NOT_FOUND && !was_open;
    if (outcome->is_missing)
      return;
    nreplaced += was_replaced;
  }
  if (status == RADIO_ERROR_NOT_FOUND)
    note (outcome, "it was replaced again and again while it was checked",
          true);
  if (outcome->check.stale_count > 0)
    note (outcome, node->is_group
          ? "its consolidated_metadata, which another program wrote, differs "
            "from the documents; have it written again, or remove it"
          : "its array nifti has the header of the volume before, since a "
            "writer was interrupted; radio gc repairs it", false);
  outcome->state = outcome->is_damaged || status == RADIO_ERROR_CHECKSUM
                   || status == RADIO_ERROR_FORMAT  ? BAD
                   : status != RADIO_OK             ? NOT_CHECKED
                   : outcome->check.stale_count > 0 ? STALE
                   : nreplaced > 0                  ? REPLACED
                                                    : OK;
}

static void
print_json (struct validation *v, const struct outcome *outcome,
            const struct rd_target *node)
{
  const struct radio_check *check = &outcome->check;
  struct json_object *object = json_object_new_object ();
  struct json_object *messages = json_object_new_array ();
  for (const struct note *n = outcome->notes; n; n = n->next)
    json_object_array_add (messages, rd_json_new_text (n->text));
  rd_json_set_text (object, "path", node->name);
  rd_json_set_text (object, "kind", node->is_group       ? "group"
                                    : outcome->is_array  ? "array"
                                                         : "volume");
  rd_json_set_text (object, "state", words[outcome->state]);
  rd_json_set_u64 (object, "tile_count", check->tile_count);
  rd_json_set_u64 (object, "damaged_count", check->damaged_count);
  rd_json_set_u64 (object, "stored_nbytes", check->stored_nbytes);
  rd_json_set (object, "messages", messages);
  rd_json_items_print (&v->items, object);
}

static void
print_line (const struct validation *v, const struct rd_target *node,
            const struct radio_check *check, enum state state)
{
  const char *name = node->name;
  char size[RD_TEXT_NBYTES], count[RD_TEXT_NBYTES], stored[32] = "";
  const char *color = state == OK             ? RD_GREEN
                      : state >= NOT_CHECKED  ? RD_RED
                                              : RD_BOLD;
  if (check->stored_nbytes > 0)
    snprintf (stored, sizeof stored, "%s  %8s",
              check->tile_count == 1 ? " " : "",
              rd_text_size (check->stored_nbytes, size));
  rd_text_print (stdout, name);
  size_t width = rd_text_columns (name);
  printf ("%*s", (int) (v->width > width ? v->width - width : 0), "");
  if (node->is_group) {
    printf ("  %s%s%s\n", rd_color (stdout, color), words[state],
            rd_color (stdout, RD_PLAIN));
    return;
  }
  printf ("  %s%-11s%s  %8s tile%s%s\n", rd_color (stdout, color),
          words[state], rd_color (stdout, RD_PLAIN),
          rd_number_grouped (check->tile_count, count),
          rd_plural (check->tile_count), stored);
}

static void
print_notes (const struct outcome *outcome, const char *name)
{
  for (const struct note *n = outcome->notes; n; n = n->next) {
    bool names_it = strstr (n->text, name) != NULL;
    RD_FREE char *line = rd_format ("%s%s%s", names_it ? "" : name,
                                    names_it ? "" : ": ", n->text);
    if (line && n->is_error)
      rd_error ("%s", line);
    else if (line)
      rd_warn (line);
  }
}

static void
report_node (void *data, size_t i)
{
  struct validation *v = data;
  struct outcome *outcome = &v->outcomes[i];
  const struct radio_check *check = &outcome->check;
  const struct rd_target *node = &v->nodes.list[i];
  const char *name = node->name;
  rd_progress_clear (&v->progress);
  print_notes (outcome, name);
  if (outcome->is_missing) {
    v->nmissing++;
  } else if (node->is_group && outcome->state == OK) {
    v->nsilent++;
  } else {
    v->counts[outcome->state]++;
    v->tile_count += check->tile_count;
    v->stored_nbytes += check->stored_nbytes;
    /* An image in its file has no tiles. */
    v->damaged_count += node->is_group || node->files ? 0
                                                      : check->damaged_count;
    if (v->args->json)
      print_json (v, outcome, node);
    else if (!v->args->quiet || outcome->state >= NOT_CHECKED)
      print_line (v, node, check, outcome->state);
  }
  free_notes (outcome);
  rd_progress_update (&v->progress, name, i + 1, v->nodes.n);
}

static void
print_summary (const struct validation *v)
{
  char tiles[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], time[RD_TEXT_NBYTES];
  char damaged[RD_TEXT_NBYTES];
  double seconds = rd_clock_s () - v->progress.start_s;
  size_t n = v->nodes.n - v->nmissing - v->nsilent - v->counts[NOT_CHECKED];
  printf ("%zu checked, %zu bad", n, v->counts[BAD]);
  for (enum state state = NOT_CHECKED; state > OK; state--)
    if (v->counts[state] > 0)
      printf (", %zu %s", v->counts[state], words[state]);
  printf ("; %s tile%s, %s read in %s",
          rd_number_grouped (v->tile_count, tiles),
          rd_plural (v->tile_count),
          rd_text_size (v->stored_nbytes, stored),
          rd_text_time (seconds, time));
  if (v->damaged_count > 0)
    printf ("; %s tile%s damaged",
            rd_number_grouped (v->damaged_count, damaged),
            rd_plural (v->damaged_count));
  if (v->compares)
    printf ("; %" PRIu64 " pair%s compared, %" PRIu64 " fault%s", v->npairs,
            rd_plural (v->npairs), v->nfaults, rd_plural (v->nfaults));
  putchar ('\n');
}

/*------------------------------------------------------------------------
 * Pairs
 *----------------------------------------------------------------------*/

/* Returns a path in the store whose pairs are compared as volumes of it are
 * called, allocated; NULL after an error. */
static char *
name_in_root (const struct validation *v, const char *path)
{
  const char *root = v->root->name;
  size_t n = root ? rd_unslashed_nbytes (root) : 0;
  return rd_format ("%.*s%s%s", (int) n, root ? root : "", root ? "/" : "",
                    path);
}

static enum radio_status
on_fault (const struct radio_pair_fault *fault, void *user_data)
{
  struct validation *v = user_data;
  /* That was found before. */
  if (fault->kind == RADIO_PAIR_DAMAGED)
    return RADIO_OK;
  RD_FREE char *path = name_in_root (v, fault->path);
  RD_FREE char *other = fault->other ? name_in_root (v, fault->other) : NULL;
  if (path == NULL || (fault->other && other == NULL))
    return RADIO_ERROR_MEMORY;
  v->nfaults++;
  rd_error ("%s%s", path, fault->message + strlen (fault->path));
  if (!v->args->json)
    return RADIO_OK;
  struct json_object *object = json_object_new_object ();
  struct json_object *messages = json_object_new_array ();
  json_object_array_add (messages, rd_json_new_text (fault->message));
  rd_json_set_text (object, "path", path);
  rd_json_set_text (object, "kind", "pair");
  rd_json_set_text (object, "state", words[BAD]);
  rd_json_set_text (object, "fault", radio_pair_fault_name (fault->kind));
  if (other)
    rd_json_set_text (object, "other", other);
  else
    rd_json_set (object, "other", NULL);
  rd_json_set (object, "messages", messages);
  rd_json_items_print (&v->items, object);
  return RADIO_OK;
}

/* Compares the volumes of a store that were checked. */
static int
compare_pairs (struct validation *v, const struct rd_root *root)
{
  struct radio_pairs_options *options = &v->pairs.options;
  struct radio_pairs_result result = { 0 };
  RD_FREE const char **paths = calloc (v->nodes.n + 1, sizeof *paths);
  if (paths == NULL)
    return rd_error_memory ();
  options->volumes = paths;
  options->nvolumes = 0;
  for (size_t i = 0; i < v->nodes.n; i++) {
    const struct rd_target *node = &v->nodes.list[i];
    if (node->store == root->store && !node->is_group
        && !v->outcomes[i].is_array && strchr (node->path, '/') != NULL)
      paths[options->nvolumes++] = node->path;
  }
  options->report = on_fault;
  options->user_data = v;
  v->root = root;
  enum radio_status status
    = radio_store_check_pairs (root->store, options, &result);
  v->npairs += result.pair_count;
  return status == RADIO_OK ? RD_EXIT_OK
                            : rd_error_library (root->name);
}

static int
validate (struct validation *v)
{
  struct rd_nodes *nodes = &v->nodes;
  int status = rd_nodes_find (v->args, RD_NODES_ARRAYS | RD_NODES_UNREAD
                              | RD_NODES_GROUPS, nodes);
  if (status && nodes->n == 0)
    return status;
  v->outcomes = calloc (nodes->n + 1, sizeof *v->outcomes);
  if (v->outcomes == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < nodes->n; i++) {
    size_t width = rd_text_columns (nodes->list[i].name);
    v->outcomes[i].last = &v->outcomes[i].notes;
    if (width > v->width && !nodes->list[i].is_group)
      v->width = width;
  }
  v->items.is_list = !nodes->names_one || v->compares;
  rd_progress_start (&v->progress, NULL);
  struct rd_jobs *jobs = &v->jobs;
  *jobs = (struct rd_jobs) {
    .n = nodes->n,
    .nthreads = rd_nodes_nthreads (v->args, nodes),
    .limit_nbytes = rd_jobs_limit_nbytes (v->args),
    .run = check_node,
    .report = report_node,
    .data = v,
  };
  if (!rd_jobs_run (jobs))
    return RD_EXIT_FAILED;
  rd_progress_clear (&v->progress);
  if (status && v->nsilent == nodes->n)
    return status;
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < nodes->nroots && v->compares; i++)
    if (compare_pairs (v, &nodes->roots[i]) != RD_EXIT_OK)
      failed = RD_EXIT_FAILED;
  if (v->args->json)
    rd_json_items_end (&v->items);
  else
    print_summary (v);
  if (v->counts[BAD] + v->nmissing + v->nfaults > 0 || failed)
    return RD_EXIT_FAILED;
  return status ? status
         : v->counts[NOT_CHECKED] > 0 ? RD_EXIT_NOT_CHECKED : RD_EXIT_OK;
}

static int
run_validate (struct rd_args *args)
{
  struct validation v = { .args = args };
  int id = 0, taken = 0;
  while (taken >= 0 && (id = rd_args_next (args)) > 0) {
    taken = rd_pairs_take (args, id, &v.pairs);
    v.compares = true;
  }
  int status = taken < 0 || id < 0 ? args->status : validate (&v);
  rd_pairs_clear (&v.pairs);
  free (v.outcomes);
  rd_nodes_clear (&v.nodes);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { 'q', "quiet", NULL, "print only damage and the summary" },
  { RD_OPTION_PAIRS, "pairs", NULL,
    "also compare volumes of the same subject, session and\n"
    "run, as 'radio check' does; the next three imply this" },
  RD_PAIRS_OPTIONS,
  RD_JSON_NODES_OPTION,
  RD_FILE_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_validate = {
  .name = "validate",
  .operands = "[OPTION]... [VOLUME|COLLECTION|ARRAY]...",
  .summary = "read and check every tile of volumes",
  .description =
    "Reads and checks every tile of the given volumes, or of all in the "
    "store, and compares the voxels with the checksum of the source image. "
    "Of a store or collection also checks the documents above volumes, and of "
    "a store its tables: damage, heads without a generation, rows without a "
    "volume. "
    "Each damage is reported on a line of its own. "
    "With --pairs so is each fault that 'radio check' would find among these "
    "volumes. "
    "The exit status is 1 if a volume or pair is bad, else 4 if a volume could "
    "not be read.",
  .options = options,
  .examples =
    "radio validate\n"
    "radio validate -s study.zarr --pairs ct seg 'T1w/sub-0*'\n"
    "radio validate any/array.zarr/0",
  .run = run_validate,
};
