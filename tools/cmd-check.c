/* SPDX-License-Identifier: MIT */
/* radio check: compares images and masks of the same subjects and sessions. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/json.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/pairs.h"
#include "tools/text.h"

struct checking {
  struct rd_args *args;
  struct rd_json_items items;
  struct rd_pairs pairs;
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
  struct radio_pairs_options *options = &checking->pairs.options;
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

static int
run_check (struct rd_args *args)
{
  struct checking checking = { .args = args, .items = { .is_list = true } };
  int id = 0, taken = 1;
  while (taken > 0 && (id = rd_args_next (args)) > 0)
    taken = rd_pairs_take (args, id, &checking.pairs);
  int status = taken < 0 || id < 0 ? args->status : check_store (&checking);
  rd_pairs_clear (&checking.pairs);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_PAIRS_OPTIONS,
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
