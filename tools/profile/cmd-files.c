/* SPDX-License-Identifier: MIT */
/* radio profile show|convert|merge: profiles that were written before. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/json.h"
#include "tools/profile/commands.h"
#include "tools/profile/output.h"
#include "tools/profile/ranks.h"
#include "tools/profile/report.h"
#include "tools/text.h"

static int
read_profile (const char *file, struct radio_profile **profile)
{
  if (radio_profile_read (file, profile) == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (file);
}

static int
run_show (struct rd_args *args)
{
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  bool json = false;
  int id;
  while ((id = rd_args_next (args)) > 0) {
    if (id == RD_OPTION_JSON)
      json = true;
    else if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
  }
  if (id < 0 || !rd_args_want (args, 1, 1, "FILE"))
    return args->status;
  int failed = rd_profile_output_settle (&output, NULL);
  if (!failed)
    failed = read_profile (args->operands[0], &profile);
  if (failed)
    return failed;
  if (!json)
    return rd_profile_print (profile, &output);
  struct json_object *object = json_object_new_object ();
  rd_profile_info_put (object, profile, output.redact);
  rd_report_put (object, "scopes", rd_profile_paths_json (profile));
  rd_report_put (object, "findings", rd_profile_findings_json (profile));
  rd_report_print (object);
  return RD_EXIT_OK;
}

/* convert IN OUT...: OUTs are outputs like those of -o. */
static int
run_convert (struct rd_args *args)
{
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
  if (id < 0 || !rd_args_want (args, 2, 1 + RD_PROFILE_MAX_FILES,
                               args->noperands == 0 ? "IN" : "OUT"))
    return args->status;
  for (size_t i = 1; i < args->noperands; i++) {
    args->value = args->operands[i];
    if (rd_profile_output_take (args, 'o', &output) < 0)
      return args->status;
  }
  int failed = rd_profile_output_settle (&output, NULL);
  if (!failed)
    failed = read_profile (args->operands[0], &profile);
  return failed ? failed : rd_profile_output_write (&output, profile, false);
}

struct merge {
  struct rd_profile_output output;
  enum radio_profile_parts parts;
  bool json;
  struct radio_profile **profiles;      /* as many as operands */
};

static bool
parse_merge (struct merge *merge, struct rd_args *args)
{
  static const char *const words[] = { "ranks", "runs", NULL };
  int id;
  while ((id = rd_args_next (args)) > 0) {
    int word = 0;
    if (id == RD_OPTION_JSON)
      merge->json = true;
    else if (id == RD_OPTION_AS)
      word = rd_args_choose (args, "--as", words);
    else if (rd_profile_output_take (args, id, &merge->output) < 0)
      return false;
    if (word < 0)
      return false;
    if (word > 0)
      merge->parts = RADIO_PARTS_RUNS;
  }
  return id == 0 && rd_args_want (args, 1, SIZE_MAX, "FILE");
}

static int
report_merge (const struct merge *merge, const struct radio_profile *joined)
{
  if (merge->json) {
    struct json_object *object = json_object_new_object ();
    rd_profile_info_put (object, joined, merge->output.redact);
    rd_report_put (object, "parts", rd_ranks_json (joined));
    rd_report_put (object, "imbalance", rd_imbalance_json (joined));
    rd_report_print (object);
    return RD_EXIT_OK;
  }
  int failed = rd_ranks_print (joined);
  return failed ? failed : rd_imbalance_print (joined);
}

static int
merge_files (struct merge *merge, struct rd_args *args)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  int failed = rd_profile_output_settle (&merge->output, "merged");
  if (failed)
    return failed;
  merge->profiles = calloc (args->noperands, sizeof *merge->profiles);
  if (merge->profiles == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < args->noperands && !failed; i++)
    failed = read_profile (args->operands[i], &merge->profiles[i]);
  if (failed)
    return failed;
  if (radio_profile_join (merge->profiles, args->noperands, merge->parts,
                          &joined) != RADIO_OK)
    return rd_error_library (NULL);
  failed = report_merge (merge, joined);
  int unwritten = rd_profile_output_write (&merge->output, joined,
                                           merge->json);
  return failed ? failed : unwritten;
}

static int
run_merge (struct rd_args *args)
{
  struct merge merge = { .parts = RADIO_PARTS_RANKS };
  int status = parse_merge (&merge, args) ? merge_files (&merge, args)
                                          : args->status;
  for (size_t i = 0; merge.profiles && i < args->noperands; i++)
    radio_profile_close (merge.profiles[i]);
  free (merge.profiles);
  rd_profile_output_clear (&merge.output);
  return status;
}

#define REDACT_OPTIONS                                                  \
  { RD_OPTION_REDACT, "redact", NULL,                                   \
    "replace names of files, volumes, hosts by pseudonyms" },           \
  { RD_OPTION_REDACT_KEY, "redact-key", "FILE",                         \
    "redact, with pseudonyms that only who has FILE's\n"                \
    "bytes can test" }

static const struct rd_option show_options[] = {
  { RD_OPTION_JSON, "json", NULL, "print a JSON object" },
  REDACT_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_show = {
  .name = "profile show",
  .operands = "FILE [OPTION]...",
  .summary = "print a profile",
  .description =
    "Prints the tree and the findings of a profile that was written as "
    ".json or .html.",
  .options = show_options,
  .examples =
    "radio profile show radio-profile-slice.html\n"
    "radio profile show before.json --json",
  .run = run_show,
};

static const struct rd_option convert_options[] = {
  { RD_OPTION_OVERWRITE, "overwrite", NULL, "replace OUT" },
  REDACT_OPTIONS,
  { RD_OPTION_ARGUMENTS, "arguments", NULL,
    ".trace.json: texts and counters with each span" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_convert = {
  .name = "profile convert",
  .operands = "IN OUT... [OPTION]...",
  .summary = "write a profile in other formats",
  .description =
    "Reads a profile (.json or .html) and writes it as what the suffix of "
    "OUT says: .html (a page), .json (radio's own), .trace.json (Perfetto, "
    "Chrome), .speedscope.json, .folded (flamegraph.pl), .pb.gz or .pprof "
    "(go tool pprof), .txt.",
  .options = convert_options,
  .examples =
    "radio profile convert run.html run.trace.json run.pb.gz\n"
    "radio profile convert run.json for-others.html --redact",
  .run = run_convert,
};

static const struct rd_option merge_options[] = {
  { RD_OPTION_AS, "as", "WHAT",
    "the files are ranks, processes that ran at the same\n"
    "time (default), or runs of one thing" },
  RD_PROFILE_OUTPUT_OPTIONS,
  { RD_OPTION_JSON, "json", NULL, "print the figures as a JSON object" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_merge = {
  .name = "profile merge",
  .operands = "FILE... [OPTION]...",
  .summary = "join profiles of several processes",
  .description =
    "Joins profiles (.json or .html) of processes that ran together, and "
    "tells what each took, how evenly they shared the work (imbalance: the "
    "largest over the mean) and who lagged behind.",
  .options = merge_options,
  .examples =
    "radio profile merge rank-*.json -o all.html\n"
    "radio profile merge run1.json run2.json --as runs -o runs.json",
  .run = run_merge,
};
