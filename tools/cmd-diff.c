/* SPDX-License-Identifier: MIT */
/* radio diff: two profiles, compared. */
#include <config.h>

#include "tools/commands.h"
#include "tools/output.h"
#include "tools/profile/diff.h"
#include "tools/profile/output.h"
#include "tools/text.h"

static bool
take_percent (struct rd_diff *diff, struct rd_args *args)
{
  if (rd_parse_double (args->value, &diff->fail_percent)
      && diff->fail_percent >= 0)
    return true;
  rd_usage_error (args, "--fail-if-slower: '%s' is not a percentage from 0 "
                  "on", args->value);
  return false;
}

/* What a page is written by; only pages compare. */
static bool
take_output (struct rd_profile_output *output, struct rd_args *args, int id)
{
  if (id == 'o' && !rd_has_suffix (args->value, ".html")) {
    rd_usage_error (args, "-o: '%s' does not end in .html: a comparison is "
                    "written as a page", args->value);
    return false;
  }
  return rd_profile_output_take (args, id, output) >= 0;
}

static bool
parse (struct rd_diff *diff, struct rd_profile_output *output,
       struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (!take_output (output, args, id))
      return false;
    if (id == RD_OPTION_ALL)
      diff->all = true;
    if (id == RD_OPTION_JSON)
      diff->json = true;
    if (id == RD_OPTION_FAIL_IF_SLOWER && !take_percent (diff, args))
      return false;
  }
  return id == 0 && rd_args_want (args, 2, 2, args->noperands == 0
                                  ? "BEFORE" : "AFTER");
}

/* What the terminal is told, then the page, if one is asked for.  JSON stays
 * alone on stdout. */
static int
report (struct rd_diff *diff, struct rd_profile_output *output)
{
  diff->redact = output->redact;
  int status = rd_diff_report (diff);
  output->before = diff->before;
  int failed = rd_profile_output_write (output, diff->after, diff->json);
  return failed ? failed : status;
}

static int
compare (struct rd_diff *diff, struct rd_profile_output *output,
         const struct rd_args *args)
{
  const char *before_file = args->operands[0];
  const char *after_file = args->operands[1];
  RD_CLOSE_PROFILE struct radio_profile *before = NULL;
  RD_CLOSE_PROFILE struct radio_profile *after = NULL;
  struct radio_comparison *comparison = NULL;
  if (radio_profile_read (before_file, &before) != RADIO_OK)
    return rd_error_library (before_file);
  if (radio_profile_read (after_file, &after) != RADIO_OK)
    return rd_error_library (after_file);
  if (radio_profile_compare (before, after, &comparison) != RADIO_OK)
    return rd_error_library (NULL);
  diff->comparison = comparison;
  diff->before = before;
  diff->after = after;
  int status = report (diff, output);
  radio_comparison_close (comparison);
  return status;
}

static int
run_diff (struct rd_args *args)
{
  struct rd_diff diff = { .fail_percent = -1 };
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  if (!parse (&diff, &output, args))
    return args->status;
  int failed = rd_profile_output_settle (&output, NULL);
  return failed ? failed : compare (&diff, &output, args);
}

static const struct rd_option options[] = {
  { RD_OPTION_ALL, "all", NULL, "also paths that take less than 1 %" },
  { RD_OPTION_FAIL_IF_SLOWER, "fail-if-slower", "PERCENT",
    "exit 1 when an operation got slower by more than\n"
    "PERCENT, and that is not noise" },
  { RD_OPTION_JSON, "json", NULL, "print a JSON object" },
  { 'o', "output", "FILE",
    "write a page (.html) that shows both, and what\n"
    "changed; may be given several times" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace FILE" },
  { RD_OPTION_REDACT, "redact", NULL,
    "replace names of files, volumes, hosts by\n"
    "pseudonyms" },
  { RD_OPTION_REDACT_KEY, "redact-key", "FILE",
    "redact, with pseudonyms that only who has FILE's\n"
    "bytes can test" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_diff = {
  .name = "diff",
  .operands = "BEFORE AFTER [OPTION]...",
  .summary = "compare two profiles",
  .description =
    "Compares two profiles (.json or .html of 'radio profile' or of "
    "RADIO_PROFILE), path by path: times of one run (medians over the runs), "
    "their difference, and the interval that holds it with 95 % confidence. "
    "What the spread over the runs explains is called noise. That the profiles "
    "are of different operations, or under other conditions, is told first. "
    "The exit status is 0 also when there are differences.",
  .options = options,
  .examples =
    "radio diff before.json after.json\n"
    "radio diff main.html branch.html --fail-if-slower 5\n"
    "radio diff before.json after.json -o changes.html",
  .run = run_diff,
};
