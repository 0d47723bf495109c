/* SPDX-License-Identifier: MIT */
/* radio profile show|convert|merge|recover: profiles read from files. */
#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/json.h"
#include "tools/options.h"
#include "tools/profile/output.h"
#include "tools/profile/report.h"
#include "tools/report.h"
#include "tools/text.h"

static int
read_profile (const char *file, struct radio_profile **profile)
{
  if (radio_profile_read (file, profile) == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (file);
}

/* Prints a profile, as text or as JSON. */
static int
print_profile (const struct rd_args *args, const struct radio_profile *profile,
               const struct rd_profile_output *output)
{
  if (!args->json)
    return rd_profile_print (profile, output);
  struct json_object *object = json_object_new_object ();
  rd_profile_info_put (object, profile, output->redact);
  rd_json_set (object, "scopes", rd_profile_paths_json (profile));
  rd_json_set (object, "findings", rd_profile_findings_json (profile));
  rd_json_print (object);
  return RD_EXIT_OK;
}

static int
run_show (struct rd_args *args)
{
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
  if (id < 0 || !rd_args_want (args, 1, 1, "FILE"))
    return args->status;
  int failed = rd_profile_output_prepare (&output, args, NULL);
  if (!failed)
    failed = read_profile (args->operands[0], &profile);
  return failed ? failed : print_profile (args, profile, &output);
}

/* In "convert IN OUT...", OUT is an output like that of -o. */
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
  int failed = rd_profile_output_prepare (&output, args, NULL);
  if (!failed)
    failed = read_profile (args->operands[0], &profile);
  return failed ? failed : rd_profile_output_write (&output, profile, false);
}

static int
merge_profiles (const struct rd_args *args,
                const struct rd_profile_output *output,
                enum radio_profile_parts parts,
                struct radio_profile **profiles)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < args->noperands && !failed; i++)
    failed = read_profile (args->operands[i], &profiles[i]);
  if (failed)
    return failed;
  if (radio_profile_join (profiles, args->noperands, parts, &joined)
      != RADIO_OK)
    return rd_error_library (NULL);
  if (args->json) {
    struct json_object *object = json_object_new_object ();
    rd_profile_info_put (object, joined, output->redact);
    rd_json_set (object, "parts", rd_ranks_json (joined));
    rd_json_set (object, "imbalance", rd_imbalance_json (joined));
    rd_json_print (object);
  } else {
    failed = rd_ranks_print (joined);
    if (!failed)
      failed = rd_imbalance_print (joined);
  }
  int unwritten = rd_profile_output_write (output, joined, args->json);
  return failed ? failed : unwritten;
}

static int
run_merge (struct rd_args *args)
{
  static const char *const words[] = { "ranks", "runs", NULL };
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  enum radio_profile_parts parts = RADIO_PARTS_RANKS;
  int id;
  while ((id = rd_args_next (args)) > 0) {
    int word = 0;
    if (id == RD_OPTION_AS)
      word = rd_args_choose (args, words);
    if (word < 0 || rd_profile_output_take (args, id, &output) < 0)
      return args->status;
    if (word > 0)
      parts = RADIO_PARTS_RUNS;
  }
  if (id < 0 || !rd_args_want (args, 1, SIZE_MAX, "FILE"))
    return args->status;
  int status = rd_profile_output_prepare (&output, args, "merged");
  if (status)
    return status;
  RD_FREE struct radio_profile **profiles = calloc (args->noperands,
                                                    sizeof *profiles);
  if (profiles == NULL)
    return rd_error_memory ();
  status = merge_profiles (args, &output, parts, profiles);
  for (size_t i = 0; i < args->noperands; i++)
    radio_profile_close (profiles[i]);
  return status;
}

static void
warn_of_damage (const char *file, const struct radio_profile *profile)
{
  const char *why = rd_find_fact (profile, "damage of the ring");
  const char *n = rd_find_fact (profile, "damaged spans not kept");
  if (!why)
    return;
  RD_FREE char *text = rd_format ("%s: this ring is damaged (%s): %s span%s "
                                  "dropped; calls and times of the call tree "
                                  "include what was dropped", file, why,
                                  n ? n : "0", n && strcmp (n, "1") == 0
                                               ? "" : "s");
  rd_warn (text ? text : why);
}

/* "2026-11-26 03:14", or "-". */
static const char *
text_date (int64_t unix_s, char text[32])
{
  time_t seconds = (time_t) unix_s;
  struct tm tm;
  if (unix_s <= 0 || !localtime_r (&seconds, &tm)
      || strftime (text, 32, "%Y-%m-%d %H:%M", &tm) == 0)
    snprintf (text, 32, "-");
  return text;
}

static enum radio_status
add_ring (const struct radio_ring *ring, void *user_data)
{
  struct rd_table *table = user_data;
  char pid[24] = "-", size[RD_TEXT_NBYTES], started[32], written[32];
  if (ring->is_known)
    snprintf (pid, sizeof pid, "%" PRIu64, ring->pid);
  const char *cells[] = {
    ring->path, *ring->program ? ring->program : "-", pid,
    text_date ((int64_t) (ring->started_unix_ns / 1000000000), started),
    text_date (ring->written_unix_s, written),
    rd_text_size (ring->nbytes, size),
    !ring->is_known ? "of another version" : ring->runs ? "runs" : "ended"
  };
  return rd_table_add_row (table, cells) ? RADIO_OK : RADIO_ERROR_MEMORY;
}

static enum radio_status
add_json_ring (const struct radio_ring *ring, void *user_data)
{
  struct json_object *object = json_object_new_object ();
  rd_json_set_text (object, "path", ring->path);
  rd_json_set_bool (object, "known", ring->is_known);
  if (ring->is_known) {
    rd_json_set_text (object, "program", ring->program);
    rd_json_set_u64 (object, "pid", ring->pid);
    rd_json_set_u64 (object, "started_unix_ns", ring->started_unix_ns);
    rd_json_set_bool (object, "runs", ring->runs);
  }
  rd_json_set (object, "written_unix_s",
               json_object_new_int64 (ring->written_unix_s));
  rd_json_set_u64 (object, "nbytes", ring->nbytes);
  json_object_array_add (user_data, object);
  return RADIO_OK;
}

static int
list_rings_json (void)
{
  struct json_object *rings = json_object_new_array ();
  struct json_object *object = json_object_new_object ();
  bool is_listed = radio_profile_list_rings (add_json_ring, rings)
                   == RADIO_OK;
  rd_json_set (object, "rings", rings);
  if (is_listed)
    rd_json_print (object);
  else
    json_object_put (object);
  return is_listed ? RD_EXIT_OK : rd_error_library (NULL);
}

/* Prints the rings where programs put them that were given no file. */
static int
list_rings (void)
{
  static const char *const titles[] = {
    "RING", "PROGRAM", "PID", "BEGAN", "WRITTEN", "SIZE", "PROCESS"
  };
  RD_CLEANUP (rd_table_clear) struct rd_table table = {
    .ncolumns = sizeof titles / sizeof titles[0], .alignment = "llrllrl"
  };
  if (!rd_table_add_row (&table, titles))
    return RD_EXIT_FAILED;
  if (radio_profile_list_rings (add_ring, &table) != RADIO_OK)
    return rd_error_library (NULL);
  if (table.ncells == table.ncolumns) {
    puts ("no rings of yours in $XDG_RUNTIME_DIR or /dev/shm");
    return RD_EXIT_OK;
  }
  rd_table_print (&table, stdout);
  puts ("\n'radio profile recover RING' makes a profile of one; with --remove "
        "it then\nremoves the ring of a process that ended.  One of another "
        "version needs that\nversion, or rm.");
  return RD_EXIT_OK;
}

/* Removes the ring of a process that ended. */
static int
remove_ring (const char *file, const struct radio_profile *profile)
{
  const char *from = rd_find_fact (profile, "recovered from");
  if (!from || strcmp (from, "a process that ended") != 0)
    return rd_error ("%s: not removed, its process runs", file);
  if (unlink (file) != 0)
    return rd_error ("%s: cannot be removed: %s", file, strerror (errno));
  return RD_EXIT_OK;
}

static int
recover_ring (const struct rd_args *args, struct rd_profile_output *output,
              bool removes)
{
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  const char *file = args->operands[0];
  if (radio_profile_recover (file, &profile) != RADIO_OK)
    return rd_error_library (NULL);
  warn_of_damage (file, profile);
  int failed = print_profile (args, profile, output);
  int unwritten = rd_profile_output_write (output, profile, args->json);
  failed = failed ? failed : unwritten;
  return failed || !removes ? failed : remove_ring (file, profile);
}

static int
run_recover (struct rd_args *args)
{
  RD_CLEAR_OUTPUT struct rd_profile_output output = { 0 };
  bool removes = false, has_options = false;
  int id;
  while ((id = rd_args_next (args)) > 0) {
    has_options = true;
    if (id == RD_OPTION_REMOVE)
      removes = true;
    else if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
  }
  if (id == 0 && args->noperands == 0 && !has_options)
    return args->json ? list_rings_json () : list_rings ();
  if (id < 0 || !rd_args_want (args, 1, 1, "FILE"))
    return args->status;
  int failed = rd_profile_output_prepare (&output, args, "recovered");
  return failed ? failed : recover_ring (args, &output, removes);
}

static const struct rd_option show_options[] = {
  RD_JSON_OPTION,
  RD_REDACT_OPTIONS,
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
  RD_REDACT_OPTIONS,
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
    "Reads a profile (.json or .html) and writes it in the format of the "
    "suffix of OUT: .html (a page), .json (radio's own), .trace.json "
    "(Perfetto, Chrome), .pt.trace.json (the same on PyTorch's clock), "
    ".speedscope.json, .folded (flamegraph.pl), .pb.gz or .pprof "
    "(go tool pprof), .svg (a flame graph as a picture), .txt, "
    ".tensorboard (a folder for TensorBoard).",
  .options = convert_options,
  .examples =
    "radio profile convert run.html run.trace.json run.pb.gz\n"
    "radio profile convert run.json for-others.html --redact",
  .run = run_convert,
};

static const struct rd_option recover_options[] = {
  RD_PROFILE_OUTPUT_OPTIONS,
  { RD_OPTION_REMOVE, "remove", NULL,
    "remove FILE afterwards if its process ended" },
  RD_JSON_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_recover = {
  .name = "profile recover",
  .operands = "[FILE [OPTION]...] [--json]",
  .summary = "make a profile from a killed process's ring",
  .description =
    "Makes a profile of the ring (RADIO_PROFILE_RING_FILE) of a process "
    "that was killed, or ended without writing its profile. The call tree "
    "has all that ended before, the timeline what was last, and scopes that "
    "were open end there. FILE is kept unless you give --remove. Without "
    "FILE, lists your rings in $XDG_RUNTIME_DIR and /dev/shm, where "
    "programs put them unless RADIO_PROFILE_RING_FILE is set.",
  .options = recover_options,
  .examples =
    "radio profile recover\n"
    "radio profile recover /dev/shm/radio-ring-4711 --remove\n"
    "radio profile recover service.ring -o crash.html -o crash.json",
  .run = run_recover,
};

static const struct rd_option merge_options[] = {
  { RD_OPTION_AS, "as", "WHAT",
    "ranks: processes that ran at the same time (default);\n"
    "runs: repeated runs of one operation" },
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_merge = {
  .name = "profile merge",
  .operands = "FILE... [OPTION]...",
  .summary = "join profiles of several processes",
  .description =
    "Joins profiles (.json or .html) of processes that ran together, and "
    "reports how long each took, how evenly they shared the work (imbalance: "
    "the largest over the mean), and which was the slowest.",
  .options = merge_options,
  .examples =
    "radio profile merge rank-*.json -o all.html\n"
    "radio profile merge run1.json run2.json --as runs -o runs.json",
  .run = run_merge,
};
