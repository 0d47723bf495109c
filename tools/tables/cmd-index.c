/* SPDX-License-Identifier: MIT */
/* radio index: makes the tables of volumes agree with the volumes. */
#include <config.h>

#include <inttypes.h>

#include "tools/interrupt.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/text.h"

static enum radio_status
on_fault (enum radio_index_fault fault, const char *path, void *user_data)
{
  static const char *const words[] = {
    [RADIO_INDEX_NO_ROW] = "no row     ",
    [RADIO_INDEX_NO_VOLUME] = "no volume  ",
    [RADIO_INDEX_STALE] = "stale row  ",
  };
  const bool *check = user_data;
  if (fault == RADIO_INDEX_DAMAGED)
    rd_error_library (path);
  else if (*check) {
    fputs (words[fault], stdout);
    rd_text_print (stdout, path);
    if (fault == RADIO_INDEX_STALE) {
      fputs (": ", stdout);
      rd_text_print (stdout, radio_error_message ());
    }
    putchar ('\n');
  }
  return RADIO_OK;
}

static void
print_result (const struct radio_index_result *result, bool check,
              bool check_values)
{
  uint64_t nadded = result->no_row_count, nremoved = result->no_volume_count;
  printf ("%" PRIu64 " volume%s", result->volume_count,
          rd_plural (result->volume_count));
  if (check)
    printf (", %" PRIu64 " without a row; %" PRIu64 " row%s without a volume",
            nadded, nremoved, rd_plural (nremoved));
  else
    printf (": %" PRIu64 " row%s added, %" PRIu64 " removed; %" PRIu64
            " table%s written", nadded, rd_plural (nadded), nremoved,
            result->written_count, rd_plural (result->written_count));
  if (check_values)
    printf ("; %" PRIu64 " stale", result->stale_count);
  if (result->damaged_count > 0)
    printf ("; %" PRIu64 " damaged", result->damaged_count);
  putchar ('\n');
}

static int
index_store (const struct rd_args *args,
             struct radio_index_options index_options)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  const char *collection = args->noperands ? args->operands[0] : NULL;
  struct radio_index_result result = { 0 };
  bool check = index_options.check;
  index_options.report = on_fault;
  index_options.user_data = &check;
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  enum radio_status status
    = radio_store_index (store, collection, &index_options, &result);
  if (status != RADIO_OK)
    return rd_error_library (rd_store_name (args));
  print_result (&result, check, index_options.check_values);
  bool differs = result.no_row_count > 0 || result.no_volume_count > 0
                 || result.stale_count > 0;
  return result.damaged_count > 0 || (check && differs) ? RD_EXIT_FAILED
                                                        : RD_EXIT_OK;
}

static int
run_index (struct rd_args *args)
{
  struct radio_index_options index_options = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (id == RD_OPTION_RECOVER)
      index_options.recover = true;
    else {
      index_options.check = true;
      index_options.check_values = index_options.check_values
                                   || id == RD_OPTION_CHECK_VALUES;
    }
  if (id < 0 || !rd_args_want (args, 0, 1, "COLLECTION"))
    return args->status;
  if (index_options.check && index_options.recover)
    return rd_usage_error (args, "--recover writes, and --check does not; give "
                           "one of them");
  args->newest_tables = !index_options.recover;
  rd_interrupt_catch ();
  return index_store (args, index_options);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_CHECK, "check", NULL,
    "change nothing, list volumes without a row and\n"
    "rows without a volume" },
  { RD_OPTION_CHECK_VALUES, "check-values", NULL,
    "the same, and rows whose derived values are not\n"
    "the volume's: reads each volume's document" },
  { RD_OPTION_RECOVER, "recover", NULL,
    "recover tables whose last generations are missing\n"
    "from what remains; the rest is lost" },
  RD_SINGLE_WRITER_OPTION,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_index = {
  .name = "index",
  .operands = "[OPTION]... [COLLECTION]",
  .summary = "make tables of the volumes",
  .description =
    "Makes the tables of the store agree with its volumes, or with those of a "
    "collection: adds rows that are missing, makes the columns that are "
    "derived from volumes again, and removes rows without a volume. Your own "
    "columns stay. With --check nothing is changed, and the exit status is 1 "
    "if there is a difference.",
  .options = options,
  .examples =
    "radio index -s study.zarr\n"
    "radio index -s study.zarr --check ct",
  .run = run_index,
};
