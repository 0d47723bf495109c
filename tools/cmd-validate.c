/* SPDX-License-Identifier: MIT */
/* radio validate: reads and checks every tile. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/names.h"
#include "tools/options.h"
#include "tools/progress.h"
#include "tools/text.h"

struct validation {
  const struct rd_args *args;
  struct rd_nodes nodes;
  struct rd_progress progress;
  const char *current;
  size_t width;
  size_t nbad;
  uint64_t tile_count, stored_nbytes, damaged_count;
};

static void
on_damage (const char *message, void *user_data)
{
  struct validation *v = user_data;
  rd_progress_clear (&v->progress);
  if (strstr (message, v->current) != NULL)
    rd_error ("%s", message);
  else
    rd_error ("%s: %s", v->current, message);
}

static void
validate_one (struct validation *v, struct rd_target *node)
{
  struct radio_check check = { 0 };
  const char *name = node->name;
  v->current = name;
  if (rd_node_open (node) != RD_EXIT_OK) {
    v->nbad++;
    return;
  }
  enum radio_status status = node->volume
    ? radio_volume_validate (node->volume, &check, on_damage, v)
    : radio_array_check (node->array, &check, on_damage, v);
  rd_node_close (node);
  bool is_bad = status != RADIO_OK;
  if (is_bad && status != RADIO_ERROR_CHECKSUM)
    on_damage (radio_error_message (), v);
  v->nbad += is_bad;
  v->tile_count += check.tile_count;
  v->stored_nbytes += check.stored_nbytes;
  v->damaged_count += check.damaged_count;
  if (check.stale_count > 0)
    on_damage ("its array nifti has the header of the volume before, since a "
               "writer was interrupted; radio gc repairs it", v);
  bool is_stale = check.stale_count > 0 && !is_bad;
  if (v->args->quiet && !is_bad && !is_stale)
    return;
  char stored[RD_TEXT_NBYTES], count[RD_TEXT_NBYTES];
  rd_progress_clear (&v->progress);
  rd_text_print (stdout, name);
  printf ("%*s", (int) (v->width - rd_text_columns (name)), "");
  printf ("  %s%-7s%s  %8s tile%s  %8s\n",
          rd_color (stdout, is_bad ? RD_RED : RD_GREEN),
          is_bad ? "DAMAGED" : is_stale ? "stale" : "ok",
          rd_color (stdout, RD_PLAIN),
          rd_number_grouped (check.tile_count, count),
          check.tile_count == 1 ? " " : "s",
          rd_text_size (check.stored_nbytes, stored));
}

static int
validate (struct validation *v)
{
  struct rd_nodes *nodes = &v->nodes;
  int status = rd_nodes_find (v->args, RD_NODES_ARRAYS, nodes);
  if (status && nodes->n == 0)
    return status;
  for (size_t i = 0; i < nodes->n; i++) {
    size_t width = rd_text_columns (nodes->list[i].name);
    if (width > v->width)
      v->width = width;
  }
  rd_progress_start (&v->progress, NULL);
  for (size_t i = 0; i < nodes->n; i++) {
    rd_progress_update (&v->progress, nodes->list[i].name, i, nodes->n);
    validate_one (v, &nodes->list[i]);
  }
  rd_progress_clear (&v->progress);

  char tiles[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], time[RD_TEXT_NBYTES];
  char damaged[RD_TEXT_NBYTES];
  double seconds = rd_clock_s () - v->progress.start_s;
  printf ("%zu checked, %zu bad; %s tiles, %s read in %s", nodes->n, v->nbad,
          rd_number_grouped (v->tile_count, tiles),
          rd_text_size (v->stored_nbytes, stored),
          rd_text_time (seconds, time));
  if (v->damaged_count > 0)
    printf ("; %s tile%s damaged",
            rd_number_grouped (v->damaged_count, damaged),
            v->damaged_count == 1 ? "" : "s");
  putchar ('\n');
  return v->nbad ? RD_EXIT_FAILED : status;
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
    "Each damage is reported on a line of its own; the exit status is then 1.",
  .options = options,
  .examples =
    "radio validate\n"
    "radio validate -s study.zarr ct 'T1w/sub-0*'\n"
    "radio validate any/array.zarr/0",
  .run = run_validate,
};
