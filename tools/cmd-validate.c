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
  char **names;
  size_t n, capacity;
  struct rd_progress progress;
  const char *current;
  size_t width;
  size_t nbad;
  uint64_t tile_count, stored_nbytes, damaged_count;
};

static bool
add_name (struct validation *v, const char *name)
{
  if (v->n == v->capacity) {
    size_t capacity = v->capacity ? 2 * v->capacity : 64;
    char **names = reallocarray (v->names, capacity, sizeof *names);
    if (names == NULL)
      return false;
    v->names = names;
    v->capacity = capacity;
  }
  v->names[v->n] = strdup (name);
  if (v->names[v->n] == NULL)
    return false;
  v->n++;
  size_t width = rd_text_columns (name);
  if (width > v->width)
    v->width = width;
  return true;
}

static enum radio_status
on_volume (const struct radio_entry *entry, void *user_data)
{
  return add_name (user_data, entry->path) ? RADIO_OK : RADIO_ERROR_MEMORY;
}

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
validate_one (struct validation *v, struct radio_store *store,
              const char *name)
{
  RD_CLOSE_TARGET struct rd_target target = { 0 };
  struct radio_check check = { 0 };
  int failed = RD_EXIT_OK;
  v->current = name;
  if (store == NULL)
    failed = rd_target_open (v->args, name, true, &target);
  /* Names from the list are the store's own, and no paths of the disk. */
  else if (radio_volume_open (store, name, &target.volume) != RADIO_OK)
    failed = rd_error_library (name);
  if (failed) {
    v->nbad++;
    return;
  }
  enum radio_status status = target.volume
    ? radio_volume_validate (target.volume, &check, on_damage, v)
    : radio_array_check (target.array, &check, on_damage, v);
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
validate (struct validation *v, struct rd_args *args)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  if (args->noperands == 0) {
    int failed = rd_store_open (args, false, &store);
    if (failed)
      return failed;
    if (radio_store_list (store, NULL, on_volume, v) != RADIO_OK)
      return rd_error_library (rd_store_name (args));
  }
  for (size_t i = 0; i < args->noperands; i++)
    if (!add_name (v, args->operands[i]))
      return rd_error_memory ();
  rd_progress_start (&v->progress, NULL);
  for (size_t i = 0; i < v->n; i++) {
    rd_progress_update (&v->progress, v->names[i], i, v->n);
    validate_one (v, store, v->names[i]);
  }
  rd_progress_clear (&v->progress);

  char tiles[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], time[RD_TEXT_NBYTES];
  char damaged[RD_TEXT_NBYTES];
  double seconds = rd_clock_s () - v->progress.start_s;
  printf ("%zu checked, %zu bad; %s tiles, %s read in %s", v->n, v->nbad,
          rd_number_grouped (v->tile_count, tiles),
          rd_text_size (v->stored_nbytes, stored),
          rd_text_time (seconds, time));
  if (v->damaged_count > 0)
    printf ("; %s tile%s damaged",
            rd_number_grouped (v->damaged_count, damaged),
            v->damaged_count == 1 ? "" : "s");
  putchar ('\n');
  return v->nbad ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_validate (struct rd_args *args)
{
  struct validation v = { .args = args };
  if (rd_args_next (args) < 0)
    return args->status;
  int status = validate (&v, args);
  for (size_t i = 0; i < v.n; i++)
    free (v.names[i]);
  free (v.names);
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
  .operands = "[OPTION]... [VOLUME|ARRAY]...",
  .summary = "read and check every tile of volumes",
  .description =
    "Reads and checks every tile of the given volumes, or of all in the "
    "store, and compares the voxels with the checksum of the source image. "
    "Each damage is reported on a line of its own; the exit status is then 1.",
  .options = options,
  .examples =
    "radio validate\n"
    "radio validate -s study.zarr ct/sub-01 ct/sub-02\n"
    "radio validate any/array.zarr/0",
  .run = run_validate,
};
