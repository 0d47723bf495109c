/* SPDX-License-Identifier: MIT */
/* radio gc: reclaim what no volume names. */
#include <config.h>

#include <inttypes.h>
#include <strings.h>

#include "tools/commands.h"
#include "tools/names.h"
#include "tools/profile/temp.h"
#include "tools/text.h"

static void
tell (const struct radio_gc_result *result, bool dry_run, bool is_s3)
{
  char size[RD_TEXT_NBYTES];
  printf ("%s %" PRIu64 " unused item%s, %s",
          dry_run ? "would remove" : "removed", result->removed_count,
          result->removed_count == 1 ? "" : "s",
          rd_text_size (result->removed_nbytes, size));
  if (result->repaired_count > 0)
    printf ("; %s %" PRIu64 " header%s",
            dry_run ? "would mend" : "mended", result->repaired_count,
            result->repaired_count == 1 ? "" : "s");
  if (result->busy_count > 0)
    printf ("; left %" PRIu64 " alone, %sbeing written now",
            result->busy_count, is_s3 ? "maybe " : "");
  putchar ('\n');
}

/* Returns the usage error that it told, or 0. */
static int
take_grace (struct rd_args *args)
{
  if (rd_parse_u64 (args->value, &args->s3.grace_s) && args->s3.grace_s > 0)
    return 0;
  return rd_usage_error (args, "--grace: '%s' is not a number of seconds "
                         "from 1 on", args->value);
}

/* What was done before a signal came is told as well. */
static int
collect (const struct rd_args *args, bool dry_run)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  struct radio_gc_result result = { 0 };
  enum radio_status status = radio_store_gc (store, dry_run, &result);
  if (status != RADIO_OK && status != RADIO_ERROR_CANCELLED)
    return rd_error_library (rd_store_name (args));
  bool is_s3 = strncasecmp (rd_store_name (args), "s3://", 5) == 0;
  tell (&result, dry_run, is_s3);
  return status == RADIO_OK ? RD_EXIT_OK
                            : rd_error_library (rd_store_name (args));
}

static int
run_gc (struct rd_args *args)
{
  bool dry_run = false;
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (id == RD_OPTION_DRY_RUN)
      dry_run = true;
    else if (take_grace (args) != 0)
      return args->status;
  if (id < 0 || !rd_args_want (args, 0, 0, ""))
    return args->status;
  rd_interrupt_catch ();
  int status = collect (args, dry_run);
  rd_interrupt_die ();
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_DRY_RUN, "dry-run", NULL,
    "change nothing, tell what would be removed" },
  { RD_OPTION_GRACE, "grace", "SECONDS",
    "in S3: leave alone what is younger, for its\n"
    "writer may be alive (default: 86400, a day)" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_gc = {
  .name = "gc",
  .operands = "[OPTION]...",
  .summary = "remove what no volume uses",
  .description =
    "Removes from the store what no volume uses: data of ingests that were "
    "killed, and of volumes that were replaced. What is being written is left "
    "alone; in S3 that is known by its age.",
  .options = options,
  .examples =
    "radio gc --dry-run\n"
    "radio gc -s study.zarr\n"
    "radio gc -s s3://bucket/study --grace 3600",
  .run = run_gc,
};
