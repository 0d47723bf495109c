/* SPDX-License-Identifier: MIT */
/* radio gc: removes data that no volume uses. */
#include <config.h>

#include <inttypes.h>
#include <strings.h>

#include "tools/interrupt.h"
#include "tools/names.h"
#include "tools/options.h"
#include "tools/text.h"

/* Collects garbage, and also reports the work done before a signal. */
static int
collect_garbage (const struct rd_args *args)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  const char *name = rd_store_name (args);
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  struct radio_gc_result result = { 0 };
  enum radio_status status = radio_store_gc (store, args->dry_run, &result);
  if (status != RADIO_OK && status != RADIO_ERROR_CANCELLED)
    return rd_error_library (name);
  char size[RD_TEXT_NBYTES];
  printf ("%s %" PRIu64 " unused item%s, %s",
          args->dry_run ? "would remove" : "removed", result.removed_count,
          rd_plural (result.removed_count),
          rd_text_size (result.removed_nbytes, size));
  if (result.repaired_count > 0)
    printf ("; %s %" PRIu64 " item%s",
            args->dry_run ? "would repair" : "repaired",
            result.repaired_count, rd_plural (result.repaired_count));
  if (result.busy_count > 0)
    printf ("; kept %" PRIu64 " that %s written now", result.busy_count,
            strncasecmp (name, "s3://", 5) == 0 ? "may be" : "are being");
  putchar ('\n');
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (name);
}

static int
run_gc (struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    bool ok = id == RD_OPTION_GRACE
      ? rd_args_number (args, 1, UINT64_MAX, &args->s3.grace_s)
      : rd_args_number (args, 1, 3, &args->generations);
    if (!ok)
      return args->status;
  }
  if (id < 0 || !rd_args_want (args, 0, 0, ""))
    return args->status;
  rd_interrupt_catch ();
  int status = collect_garbage (args);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_DRY_RUN, "dry-run", NULL,
    "change nothing, print what would be removed" },
  { RD_OPTION_GRACE, "grace", "SECONDS",
    "in S3: keep what is younger, since its writer may\n"
    "still be running (default: 86400, a day)" },
  { RD_OPTION_GENERATIONS, "generations", "N",
    "of each table keep the last N (default: 3); with\n"
    "1 nothing is left of rows that were removed" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_gc = {
  .name = "gc",
  .operands = "[OPTION]...",
  .summary = "remove what no volume uses",
  .description =
    "Removes from the store what no volume uses: data of ingests that were "
    "killed, and of volumes that were replaced; and of each table all but the "
    "last three generations. Data being written are kept; in S3 they are "
    "recognised by their age. Header arrays that are stale or damaged, and "
    "documents of collections that are missing, are written again.",
  .options = options,
  .examples =
    "radio gc --dry-run\n"
    "radio gc -s s3://bucket/study --grace 3600\n"
    "radio gc --generations 1",
  .run = run_gc,
};
