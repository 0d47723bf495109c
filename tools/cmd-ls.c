/* SPDX-License-Identifier: MIT */
/* radio ls: the volumes of a store. */
#include <config.h>

#include <string.h>

#include "tools/commands.h"
#include "tools/facts.h"
#include "tools/names.h"
#include "tools/table.h"
#include "tools/text.h"

struct listing {
  bool is_long, is_json;
  struct radio_store *store;
  struct rd_table table;
  struct json_object *json;
  size_t nvolumes, nfailed;
  uint64_t raw_nbytes, stored_nbytes;
};

/* One volume, opened. */
struct opened {
  struct radio_volume *volume;
  struct radio_volume_info info;
  uint64_t stored_nbytes;
};

static bool
open_entry (struct listing *listing, const char *path, struct opened *opened)
{
  opened->volume = NULL;
  if (radio_volume_open (listing->store, path, &opened->volume) == RADIO_OK
      && radio_volume_stored_nbytes (opened->volume, &opened->stored_nbytes)
         == RADIO_OK) {
    radio_volume_info (opened->volume, &opened->info);
    return true;
  }
  rd_error_library (path);
  radio_volume_close (opened->volume);
  listing->nfailed++;
  return false;
}

static bool
add_row (struct listing *listing, const char *path,
         const struct opened *opened)
{
  const struct radio_volume_info *info = &opened->info;
  char type[32], raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES];
  char ratio[RD_TEXT_NBYTES];
  size_t axes[RADIO_MAX_RANK], n = rd_display_axes (info, axes);
  uint64_t raw_nbytes = rd_raw_nbytes (&info->array);
  RD_FREE char *shape = rd_join_u64 (info->array.shape, axes, n, "x");
  RD_FREE char *spacing = rd_join_double (info->spacing, axes,
                                          n < 3 ? n : 3, "x");
  const char *cells[] = {
    path, shape, rd_volume_type (info, type), spacing, info->orientation,
    *info->codec ? info->codec : "-", rd_text_size (raw_nbytes, raw),
    rd_text_size (opened->stored_nbytes, stored),
    rd_text_ratio (raw_nbytes, opened->stored_nbytes, ratio)
  };
  listing->raw_nbytes += raw_nbytes;
  listing->stored_nbytes += opened->stored_nbytes;
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
    if (cells[i] == NULL || !rd_table_add (&listing->table, cells[i]))
      return false;
  return true;
}

static struct json_object *
entry_json (const struct radio_entry *entry, const struct opened *opened)
{
  struct json_object *object = opened
    ? rd_volume_json (entry->path, &opened->info, opened->stored_nbytes)
    : json_object_new_object ();
  if (!opened)
    rd_report_put_text (object, "path", entry->path);
  rd_report_put_text (object, "collection", entry->collection);
  rd_report_put_text (object, "name", entry->name);
  return object;
}

/* A volume that cannot be opened is complained about, and still listed by
 * its name in the short forms. */
static enum radio_status
on_entry (const struct radio_entry *entry, void *user_data)
{
  struct listing *listing = user_data;
  struct opened opened;
  listing->nvolumes++;
  if (!listing->is_long) {
    if (listing->is_json)
      json_object_array_add (listing->json, entry_json (entry, NULL));
    else {
      rd_text_print (stdout, entry->path);
      putchar ('\n');
    }
    return RADIO_OK;
  }
  if (!open_entry (listing, entry->path, &opened))
    return RADIO_OK;
  bool added = true;
  if (listing->is_json)
    json_object_array_add (listing->json, entry_json (entry, &opened));
  else
    added = add_row (listing, entry->path, &opened);
  radio_volume_close (opened.volume);
  return added ? RADIO_OK : RADIO_ERROR_MEMORY;
}

static bool
start_table (struct listing *listing)
{
  static const char *const titles[] = {
    "VOLUME", "SHAPE", "TYPE", "SPACING", "ORIENT", "CODEC", "RAW",
    "STORED", "RATIO"
  };
  listing->table.ncolumns = sizeof titles / sizeof titles[0];
  listing->table.alignment = "llllllrrr";
  for (size_t i = 0; i < listing->table.ncolumns; i++)
    if (!rd_table_add (&listing->table, titles[i]))
      return false;
  return true;
}

static void
finish (struct listing *listing)
{
  char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  if (listing->is_json)
    rd_report_print (json_object_get (listing->json));
  if (listing->is_json || !listing->is_long)
    return;
  if (listing->table.ncells > listing->table.ncolumns)
    rd_table_print (&listing->table, stdout);
  printf ("%zu volume%s, %s raw, %s stored", listing->nvolumes,
          listing->nvolumes == 1 ? "" : "s",
          rd_text_size (listing->raw_nbytes, raw),
          rd_text_size (listing->stored_nbytes, stored));
  if (listing->stored_nbytes > 0)
    printf (" (%s)", rd_text_ratio (listing->raw_nbytes,
                                    listing->stored_nbytes, ratio));
  putchar ('\n');
}

static int
list (struct listing *listing, struct rd_args *args)
{
  int failed = rd_store_open (args, false, &listing->store);
  if (failed)
    return failed;
  if (listing->is_long && !start_table (listing))
    return RD_EXIT_FAILED;
  if (listing->is_json)
    listing->json = json_object_new_array ();
  size_t n = args->noperands > 0 ? args->noperands : 1;
  for (size_t i = 0; i < n; i++) {
    const char *collection = args->noperands ? args->operands[i] : NULL;
    if (radio_store_list (listing->store, collection, on_entry, listing)
        == RADIO_OK)
      continue;
    rd_error_library (collection);
    listing->nfailed++;
  }
  finish (listing);
  return listing->nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_ls (struct rd_args *args)
{
  struct listing listing = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (id == 'l')
      listing.is_long = true;
    if (id == RD_OPTION_JSON)
      listing.is_json = true;
  }
  if (id < 0)
    return args->status;
  int status = list (&listing, args);
  rd_table_clear (&listing.table);
  json_object_put (listing.json);
  radio_store_close (listing.store);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'l', "long", NULL, "with shape, type, spacing, codec and sizes" },
  { RD_OPTION_JSON, "json", NULL,
    "print a JSON list; with -l of all that info tells" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_ls = {
  .name = "ls",
  .operands = "[OPTION]... [COLLECTION]...",
  .summary = "list the volumes of a store",
  .description =
    "Lists the volumes of a store, or those of some collections, a path a "
    "line.",
  .options = options,
  .examples =
    "radio ls\n"
    "radio ls -l ct\n"
    "radio ls -s study.zarr --json -l",
  .run = run_ls,
};
