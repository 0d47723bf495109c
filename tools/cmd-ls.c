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
  struct rd_table table;
  struct json_object *json;           /* a list, with --json */
  size_t nvolumes, nfailed;
  uint64_t raw_nbytes, stored_nbytes;
  bool has_unknown;                   /* sizes, over HTTP */
};

/* A volume that cannot be opened is reported, and still listed by its name in
 * the short forms. */
static int
list_node (struct rd_target *node, void *user_data)
{
  struct listing *listing = user_data;
  struct radio_volume_info info;
  struct json_object *object = NULL;
  uint64_t stored_nbytes = node->stored_nbytes;
  bool added = true;
  if (listing->is_long) {
    int failed = RD_EXIT_OK;
    if (!node->is_listed)
      failed = rd_node_open (node);
    else if (node->volume == NULL)
      failed = rd_error_library (node->name);
    if (!failed && !node->is_listed) {
      enum radio_status status =
        radio_volume_stored_nbytes (node->volume, &stored_nbytes);
      if (status == RADIO_ERROR_UNSUPPORTED)    /* over HTTP */
        stored_nbytes = RD_UNKNOWN_NBYTES;
      else if (status != RADIO_OK)
        failed = rd_error_library (node->name);
    }
    if (failed) {
      listing->nfailed++;
      return RD_EXIT_OK;
    }
    radio_volume_get_info (node->volume, &info);
    if (listing->json) {
      object = rd_volume_json (node->name, &info, stored_nbytes);
    } else {
      char type[32], raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES];
      char ratio[RD_TEXT_NBYTES];
      size_t axes[RADIO_MAX_RANK], n = rd_display_axes (&info, axes);
      uint64_t raw_nbytes = rd_raw_nbytes (&info.array);
      RD_FREE char *shape = rd_join_u64 (info.array.shape, axes, n, "x");
      RD_FREE char *spacing = rd_join_double (info.spacing, axes,
                                              n < 3 ? n : 3, "x");
      listing->raw_nbytes += raw_nbytes;
      bool is_known = stored_nbytes != RD_UNKNOWN_NBYTES;
      if (is_known)
        listing->stored_nbytes += stored_nbytes;
      else
        listing->has_unknown = true;
      const char *cells[] = {
        node->name, shape, rd_volume_type (&info, type), spacing,
        *info.orientation ? info.orientation : "-",
        *info.codec ? info.codec : "-",
        rd_text_size (raw_nbytes, raw),
        is_known ? rd_text_size (stored_nbytes, stored) : "-",
        is_known ? rd_text_ratio (raw_nbytes, stored_nbytes, ratio) : "-"
      };
      added = shape && spacing && rd_table_add_row (&listing->table, cells);
    }
  } else if (listing->json) {
    object = json_object_new_object ();
    rd_json_set_text (object, "path", node->name);
  } else {
    rd_text_print (stdout, node->name);
    putchar ('\n');
  }
  listing->nvolumes++;
  if (object) {
    char *slash = strrchr (node->path, '/');
    RD_FREE char *collection
      = strndup (node->path, slash ? (size_t) (slash - node->path) : 0);
    rd_json_set_text (object, "collection", collection ? collection : "");
    rd_json_set_text (object, "name", slash ? slash + 1 : node->path);
    json_object_array_add (listing->json, object);
  }
  /* The reader has closed the pipe. */
  if (ferror (stdout))
    return RD_EXIT_FAILED;
  return added ? RD_EXIT_OK : rd_error_memory ();
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
  RD_CLEAR_NODES struct rd_nodes nodes = { 0 };
  *table = (struct rd_table) { .ncolumns = 9, .alignment = "llllllrrr" };
  if (args->json)
    listing->json = json_object_new_array ();
  else if (listing->is_long && !rd_table_add_row (table, titles))
    return RD_EXIT_FAILED;
  int failed = rd_nodes_each (args, listing->is_long ? RD_NODES_OPENED : 0,
                              &nodes, list_node, listing);
  bool has_any = !failed || listing->nvolumes + listing->nfailed > 0;
  if (ferror (stdout))
    return RD_EXIT_OK;                /* see rd_close_stdout */
  if (args->json && has_any)
    rd_json_print (json_object_get (listing->json));
  else if (listing->is_long && has_any) {
    char raw[RD_TEXT_NBYTES], stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
    if (table->ncells > table->ncolumns)
      rd_table_print (table, stdout);
    printf ("%zu volume%s, %s raw", listing->nvolumes,
            rd_plural (listing->nvolumes),
            rd_text_size (listing->raw_nbytes, raw));
    if (!listing->has_unknown)
      printf (", %s stored", rd_text_size (listing->stored_nbytes, stored));
    if (!listing->has_unknown && listing->stored_nbytes > 0)
      printf (" (%s)", rd_text_ratio (listing->raw_nbytes,
                                      listing->stored_nbytes, ratio));
    if (listing->nfailed > 0)
      printf ("; %zu failed", listing->nfailed);
    putchar ('\n');
  }
  return failed ? failed : listing->nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
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
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_OPTIONS,
  { 'l', "long", NULL, "with shape, type, spacing, codec and sizes" },
  { RD_OPTION_JSON, "json", NULL,
    "print a JSON list; with -l all that info prints" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_ls = {
  .name = "ls",
  .operands = "[OPTION]... [COLLECTION|VOLUME]...",
  .summary = "list the volumes of a store",
  .description =
    "Lists the volumes of a store, or those that the operands name, one path "
    "per line.",
  .options = options,
  .examples =
    "radio ls -l ct 'T1w/sub-0*'\n"
    "radio ls -s study.zarr --json -l\n"
    "radio ls ct --where 'age >= 18 and not has(seg)'",
  .run = run_ls,
};
