/* SPDX-License-Identifier: MIT */
/* radio check: compares images and masks of the same subjects and sessions. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/parse.h"
#include "tools/text.h"

struct checking {
  struct rd_args *args;
  struct rd_json_items items;
  struct radio_pairs_options options;
};

static enum radio_status
on_fault (const struct radio_pair_fault *fault, void *user_data)
{
  struct checking *checking = user_data;
  if (!checking->args->json) {
    rd_text_print (stdout, fault->message);
    putchar ('\n');
    return RADIO_OK;
  }
  struct json_object *object = json_object_new_object ();
  rd_json_set_text (object, "fault", radio_pair_fault_name (fault->kind));
  rd_json_set_text (object, "path", fault->path);
  if (fault->other)
    rd_json_set_text (object, "other", fault->other);
  else
    rd_json_set (object, "other", NULL);
  rd_json_set_text (object, "message", fault->message);
  rd_json_items_print (&checking->items, object);
  return RADIO_OK;
}

static void
print_result (const struct radio_pairs_result *result)
{
  printf ("%" PRIu64 " pair%s of %" PRIu64 " volume%s in %" PRIu64
          " collection%s", result->pair_count, rd_plural (result->pair_count),
          result->volume_count, rd_plural (result->volume_count),
          result->collection_count, rd_plural (result->collection_count));
  if (result->read_count > 0)
    printf (", %" PRIu64 " mask%s read", result->read_count,
            rd_plural (result->read_count));
  printf (": %" PRIu64 " fault%s\n", result->fault_count,
          rd_plural (result->fault_count));
}

static int
check_store (struct checking *checking)
{
  struct rd_args *args = checking->args;
  RD_CLOSE_STORE struct radio_store *store = NULL;
  struct radio_pairs_result result = { 0 };
  struct radio_pairs_options *options = &checking->options;
  if (args->noperands > 0) {
    options->collections = (const char *const *) args->operands;
    options->ncollections = args->noperands;
  }
  options->report = on_fault;
  options->user_data = checking;
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  enum radio_status status
    = radio_store_check_pairs (store, options, &result);
  if (status != RADIO_OK)
    return rd_error_library (rd_store_name (args));
  if (args->json)
    rd_json_items_end (&checking->items);
  else
    print_result (&result);
  return result.fault_count > 0 ? RD_EXIT_FAILED : RD_EXIT_OK;
}

/* Takes an option; false after an error. */
static bool
take_option (struct rd_args *args, int id, struct radio_pairs_options *options,
             const char ***masks, const char ***complete)
{
  if (id == RD_OPTION_TOLERANCE) {
    if (rd_parse_double (args->value, &options->tolerance)
        && options->tolerance > 0)
      return true;
    rd_usage_error (args, "--tolerance: '%s' is not a number above 0",
                    args->value);
    return false;
  }
  const char ***names = id == RD_OPTION_MASKS ? masks : complete;
  size_t n;
  free (*names);
  *names = rd_args_names (args, &n);
  if (id == RD_OPTION_MASKS) {
    options->masks = *masks;
    options->nmasks = n;
  } else {
    options->complete = *complete;
    options->ncomplete = n;
  }
  return *names != NULL;
}

static int
run_check (struct rd_args *args)
{
  struct checking checking = { .args = args, .items = { .is_list = true } };
  RD_FREE const char **masks = NULL;
  RD_FREE const char **complete = NULL;
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (!take_option (args, id, &checking.options, &masks, &complete))
      return args->status;
  return id < 0 ? args->status : check_store (&checking);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_COMPLETE, "complete", "LIST",
    "collections, as ct,seg, that must have volumes of\n"
    "the same subjects, sessions and runs" },
  { RD_OPTION_MASKS, "masks", "LIST",
    "collections of masks, besides those of labels" },
  { RD_OPTION_TOLERANCE, "tolerance", "VOXELS",
    "how far apart voxels may lie (default: 0.001)" },
  { RD_OPTION_JSON, "json", NULL, "print a list of JSON objects, one a fault" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_check = {
  .name = "check",
  .operands = "[OPTION]... [COLLECTION]...",
  .summary = "compare the grids of images and masks",
  .description =
    "Compares the volumes of the same subject, session and run in the given "
    "collections, or in all of the store, with that of the first collection: "
    "shape, unit and affine must agree. Values of masks must be integers. "
    "Prints a line for each fault; the exit status is 1 if there is one.",
  .options = options,
  .examples =
    "radio check -s study.zarr ct seg\n"
    "radio check -s study.zarr --complete ct,seg ct seg",
  .run = run_check,
};
