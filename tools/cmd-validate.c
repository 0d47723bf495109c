/* SPDX-License-Identifier: MIT */
/* radio validate: reads and checks every tile. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/text.h"

/* A volume that is replaced while it is checked is checked again, this many
 * times. */
#define MAX_REPLACED 5

/* The first that applies, from the last. */
enum state { OK, REPLACED, STALE, NOT_CHECKED, BAD, NSTATES };

static const char *const words[NSTATES] = {
  [OK] = "ok", [REPLACED] = "replaced", [STALE] = "stale",
  [NOT_CHECKED] = "not checked", [BAD] = "bad",
};

struct validation {
  const struct rd_args *args;
  struct rd_nodes nodes;
  struct rd_progress progress;
  size_t width;
  size_t counts[NSTATES];
  size_t nmissing;
  uint64_t tile_count, stored_nbytes, damaged_count;
  struct rd_json_items items;

  /* Of the current node. */
  const char *current;
  bool is_damaged;
  struct json_object *messages;       /* with --json */
};

static void
note (struct validation *v, const char *message, bool is_error)
{
  bool names_it = strstr (message, v->current) != NULL;
  RD_FREE char *line = rd_format ("%s%s%s", names_it ? "" : v->current,
                                  names_it ? "" : ": ", message);
  rd_progress_clear (&v->progress);
  if (line && is_error)
    rd_error ("%s", line);
  else if (line)
    rd_warn (line);
  if (v->messages)
    json_object_array_add (v->messages, rd_json_new_text (message));
}

static void
on_damage (const char *message, void *user_data)
{
  struct validation *v = user_data;
  v->is_damaged = true;
  note (v, message, true);
}

/* Opens and checks what is at the node's path now. */
static enum radio_status
check_once (struct validation *v, struct rd_target *node, bool is_array,
            struct radio_check *check)
{
  enum radio_status status = RADIO_OK;
  *check = (struct radio_check) { 0 };
  if (is_array && node->array == NULL)
    status = radio_array_open (node->store, node->path, &node->array);
  else if (node->array == NULL) {
    status = radio_volume_open (node->store, node->path, &node->volume);
    if (status == RADIO_OK)
      node->array = radio_volume_array (node->volume);
  }
  if (status == RADIO_OK)
    status = node->volume
      ? radio_volume_validate (node->volume, check, on_damage, v)
      : radio_array_check (node->array, check, on_damage, v);
  return status;
}

/* Checks a node, and what has replaced it since.  False if there is none any
 * more. */
static bool
check_node (struct validation *v, struct rd_target *node,
            struct radio_check *check, enum state *state)
{
  bool is_array = node->array && !node->volume;
  enum radio_status status = RADIO_ERROR_NOT_FOUND;
  unsigned nreplaced = 0;
  while (status == RADIO_ERROR_NOT_FOUND && nreplaced <= MAX_REPLACED) {
    v->is_damaged = false;
    status = check_once (v, node, is_array, check);
    bool was_open = node->array != NULL;
    bool was_replaced = status == RADIO_ERROR_NOT_FOUND && was_open;
    bool is_reported = status == RADIO_ERROR_CHECKSUM && v->is_damaged;
    if (status != RADIO_OK && !was_replaced && !is_reported)
      note (v, radio_error_message (), true);
    rd_node_close (node);
    if (status == RADIO_ERROR_NOT_FOUND && !was_open)
      return false;
    nreplaced += was_replaced;
  }
  if (status == RADIO_ERROR_NOT_FOUND)
    note (v, "it was replaced again and again while it was checked", true);
  if (check->stale_count > 0)
    note (v, "its array nifti has the header of the volume before, since a "
          "writer was interrupted; radio gc repairs it", false);
  *state = v->is_damaged || status == RADIO_ERROR_CHECKSUM
           || status == RADIO_ERROR_FORMAT ? BAD
           : status != RADIO_OK            ? NOT_CHECKED
           : check->stale_count > 0        ? STALE
           : nreplaced > 0                 ? REPLACED
                                           : OK;
  return true;
}

static void
print_json (struct validation *v, const char *name,
            const struct radio_check *check, enum state state)
{
  struct json_object *object = json_object_new_object ();
  rd_json_set_text (object, "path", name);
  rd_json_set_text (object, "state", words[state]);
  rd_json_set_u64 (object, "tile_count", check->tile_count);
  rd_json_set_u64 (object, "damaged_count", check->damaged_count);
  rd_json_set_u64 (object, "stored_nbytes", check->stored_nbytes);
  rd_json_set (object, "messages", json_object_get (v->messages));
  rd_json_items_print (&v->items, object);
}

static void
print_line (const struct validation *v, const char *name,
            const struct radio_check *check, enum state state)
{
  char stored[RD_TEXT_NBYTES] = "", count[RD_TEXT_NBYTES];
  const char *color = state == OK             ? RD_GREEN
                      : state >= NOT_CHECKED  ? RD_RED
                                              : RD_BOLD;
  if (check->stored_nbytes > 0)
    rd_text_size (check->stored_nbytes, stored);
  rd_text_print (stdout, name);
  printf ("%*s", (int) (v->width - rd_text_columns (name)), "");
  printf ("  %s%-11s%s  %8s tile%s  %8s\n", rd_color (stdout, color),
          words[state], rd_color (stdout, RD_PLAIN),
          rd_number_grouped (check->tile_count, count),
          check->tile_count == 1 ? " " : "s", stored);
}

static void
validate_one (struct validation *v, struct rd_target *node)
{
  struct radio_check check;
  enum state state;
  v->current = node->name;
  if (v->args->json)
    v->messages = json_object_new_array ();
  if (!check_node (v, node, &check, &state)) {
    v->nmissing++;
  } else {
    v->counts[state]++;
    v->tile_count += check.tile_count;
    v->stored_nbytes += check.stored_nbytes;
    v->damaged_count += check.damaged_count;
    rd_progress_clear (&v->progress);
    if (v->args->json)
      print_json (v, node->name, &check, state);
    else if (!v->args->quiet || state >= NOT_CHECKED)
      print_line (v, node->name, &check, state);
  }
  json_object_put (v->messages);
  v->messages = NULL;
}

static void
print_summary (const struct validation *v)
{
  char tiles[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], time[RD_TEXT_NBYTES];
  char damaged[RD_TEXT_NBYTES];
  double seconds = rd_clock_s () - v->progress.start_s;
  size_t n = v->nodes.n - v->nmissing - v->counts[NOT_CHECKED];
  printf ("%zu checked, %zu bad", n, v->counts[BAD]);
  for (enum state state = NOT_CHECKED; state > OK; state--)
    if (v->counts[state] > 0)
      printf (", %zu %s", v->counts[state], words[state]);
  printf ("; %s tiles, %s read in %s",
          rd_number_grouped (v->tile_count, tiles),
          rd_text_size (v->stored_nbytes, stored),
          rd_text_time (seconds, time));
  if (v->damaged_count > 0)
    printf ("; %s tile%s damaged",
            rd_number_grouped (v->damaged_count, damaged),
            v->damaged_count == 1 ? "" : "s");
  putchar ('\n');
}

static int
validate (struct validation *v)
{
  struct rd_nodes *nodes = &v->nodes;
  int status = rd_nodes_find (v->args, RD_NODES_ARRAYS | RD_NODES_UNREAD,
                              nodes);
  if (status && nodes->n == 0)
    return status;
  for (size_t i = 0; i < nodes->n; i++) {
    size_t width = rd_text_columns (nodes->list[i].name);
    if (width > v->width)
      v->width = width;
  }
  v->items.is_list = !nodes->names_one;
  rd_progress_start (&v->progress, NULL);
  for (size_t i = 0; i < nodes->n; i++) {
    rd_progress_update (&v->progress, nodes->list[i].name, i, nodes->n);
    validate_one (v, &nodes->list[i]);
  }
  rd_progress_clear (&v->progress);
  if (v->args->json)
    rd_json_items_end (&v->items);
  else
    print_summary (v);
  if (v->counts[BAD] + v->nmissing > 0)
    return RD_EXIT_FAILED;
  return status ? status
         : v->counts[NOT_CHECKED] > 0 ? RD_EXIT_NOT_CHECKED : RD_EXIT_OK;
}

static int
run_validate (struct rd_args *args)
{
  struct validation v = { .args = args };
  if (rd_args_next (args) < 0)
    return args->status;
  int status = validate (&v);
  rd_nodes_clear (&v.nodes);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'q', "quiet", NULL, "print only damage and the summary" },
  RD_JSON_NODES_OPTION,
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
    "Each damage is reported on a line of its own. "
    "The exit status is 1 if a volume is bad, else 4 if one could not be "
    "read.",
  .options = options,
  .examples =
    "radio validate\n"
    "radio validate -s study.zarr ct 'T1w/sub-0*'\n"
    "radio validate any/array.zarr/0",
  .run = run_validate,
};
