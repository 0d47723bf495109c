/* SPDX-License-Identifier: MIT */
/* radio ls: lists the volumes of a store. */
#include <config.h>

#include <string.h>

#include "tools/facts.h"
#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/report.h"
#include "tools/text.h"

struct listing {
  const struct rd_args *args;
  bool is_long;
  struct radio_store *store;
  struct rd_table table;
  struct json_object *json;           /* a list, with --json */
  size_t nvolumes, nfailed;
  uint64_t raw_nbytes, stored_nbytes;
};

static enum radio_status
add_json (struct listing *listing, const struct radio_entry *entry,
          struct json_object *object)
{
  rd_json_set_text (object, "collection", entry->collection);
  rd_json_set_text (object, "name", entry->name);
  json_object_array_add (listing->json, object);
  return RADIO_OK;
}

static enum radio_status
on_entry (const struct radio_entry *entry, void *user_data)
{
  struct listing *listing = user_data;
  if (listing->json) {
    struct json_object *object = json_object_new_object ();
    rd_json_set_text (object, "path", entry->path);
    return add_json (listing, entry, object);
  }
  rd_text_print (stdout, entry->path);
  putchar ('\n');
  return RADIO_OK;
}

/* A volume that cannot be opened is reported, and still listed by its name in
 * the short forms. */
static enum radio_status
on_opened (const struct radio_entry *entry, struct radio_volume *volume,
           uint64_t stored_nbytes, void *user_data)
{
  struct listing *listing = user_data;
  struct radio_volume_info info;
  listing->nvolumes++;
  if (volume == NULL) {
    rd_error_library (entry->path);
    listing->nfailed++;
    return RADIO_OK;
  }
  radio_volume_get_info (volume, &info);
  if (listing->json)
    return add_json (listing, entry,
                     rd_volume_json (entry->path, &info, stored_nbytes));
  char type[32], raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES];
  char ratio[RD_TEXT_NBYTES];
  size_t axes[RADIO_MAX_RANK], n = rd_display_axes (&info, axes);
  uint64_t raw_nbytes = rd_raw_nbytes (&info.array);
  RD_FREE char *shape = rd_join_u64 (info.array.shape, axes, n, "x");
  RD_FREE char *spacing = rd_join_double (info.spacing, axes, n < 3 ? n : 3,
                                          "x");
  listing->raw_nbytes += raw_nbytes;
  listing->stored_nbytes += stored_nbytes;
  const char *cells[] = {
    entry->path, shape, rd_volume_type (&info, type), spacing,
    info.orientation, *info.codec ? info.codec : "-",
    rd_text_size (raw_nbytes, raw), rd_text_size (stored_nbytes, stored),
    rd_text_ratio (raw_nbytes, stored_nbytes, ratio)
  };
  return shape && spacing && rd_table_add_row (&listing->table, cells)
         ? RADIO_OK : RADIO_ERROR_MEMORY;
}

static int
list_volumes (struct listing *listing)
{
  static const char *const titles[] = {
    "VOLUME", "SHAPE", "TYPE", "SPACING", "ORIENT", "CODEC", "RAW",
    "STORED", "RATIO"
  };
  const struct rd_args *args = listing->args;
  struct rd_table *table = &listing->table;
  int failed = rd_store_open (args, false, &listing->store);
  if (failed)
    return failed;
  *table = (struct rd_table) { .ncolumns = 9, .alignment = "llllllrrr" };
  if (args->json)
    listing->json = json_object_new_array ();
  else if (listing->is_long && !rd_table_add_row (table, titles))
    return RD_EXIT_FAILED;
  size_t n = args->noperands > 0 ? args->noperands : 1;
  for (size_t i = 0; i < n; i++) {
    const char *collection = args->noperands ? args->operands[i] : NULL;
    enum radio_status status = listing->is_long
      ? radio_store_list_opened (listing->store, collection, on_opened,
                                 listing)
      : radio_store_list (listing->store, collection, on_entry, listing);
    if (status == RADIO_OK)
      continue;
    rd_error_library (collection);
    listing->nfailed++;
  }
  if (args->json)
    rd_json_print (json_object_get (listing->json));
  else if (listing->is_long) {
    char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
    if (table->ncells > table->ncolumns)
      rd_table_print (table, stdout);
    printf ("%zu volume%s, %s raw, %s stored", listing->nvolumes,
            listing->nvolumes == 1 ? "" : "s",
            rd_text_size (listing->raw_nbytes, raw),
            rd_text_size (listing->stored_nbytes, stored));
    if (listing->stored_nbytes > 0)
      printf (" (%s)", rd_text_ratio (listing->raw_nbytes,
                                      listing->stored_nbytes, ratio));
    putchar ('\n');
  }
  return listing->nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_ls (struct rd_args *args)
{
  struct listing listing = { .args = args };
  int id;
  while ((id = rd_args_next (args)) > 0)
    listing.is_long = true;
  if (id < 0)
    return args->status;
  int status = list_volumes (&listing);
  rd_table_clear (&listing.table);
  json_object_put (listing.json);
  radio_store_close (listing.store);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { 'l', "long", NULL, "with shape, type, spacing, codec and sizes" },
  { RD_OPTION_JSON, "json", NULL,
    "print a JSON list; with -l all that info prints" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_ls = {
  .name = "ls",
  .operands = "[OPTION]... [COLLECTION]...",
  .summary = "list the volumes of a store",
  .description =
    "Lists the volumes of a store, or of the given collections, one path per "
    "line.",
  .options = options,
  .examples =
    "radio ls\n"
    "radio ls -l ct\n"
    "radio ls -s study.zarr --json -l",
  .run = run_ls,
};
