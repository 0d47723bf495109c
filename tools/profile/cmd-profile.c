/* SPDX-License-Identifier: MIT */
/* radio profile: finds the sub-command, or wraps a program. */
#include <config.h>

#include <string.h>

#include "tools/commands.h"
#include "tools/profile/commands.h"
#include "tools/profile/output.h"
#include "tools/text.h"

const struct rd_command *
rd_find_sub_command (const struct rd_command *const *list, int argc,
                     char *const *argv)
{
  if (argc < 2)
    return NULL;
  for (; *list; list++) {
    const char *space = strchr ((*list)->name, ' ');
    if (space && strcmp (space + 1, argv[1]) == 0)
      return *list;
  }
  return NULL;
}

int
rd_error_sub_command (const struct rd_command *command,
                      const struct rd_command *const *list,
                      const char *name)
{
  const char *best = NULL;
  size_t least = 3;
  for (; *list; list++) {
    size_t distance = rd_text_distance (name, strchr ((*list)->name, ' ') + 1);
    if (distance < least) {
      least = distance;
      best = (*list)->name;
    }
  }
  if (best)
    rd_error ("%s: there is no '%s', did you mean 'radio %s'?",
              command->name, name, best);
  else
    rd_error ("%s: there is no '%s' (see 'radio %s --help')",
              command->name, name, command->name);
  return RD_EXIT_USAGE;
}

int
rd_run_sub_command (const struct rd_command *command, struct rd_args *args)
{
  args->command = command;
  args->argc--;
  args->argv++;
  return command->run (args);
}

static const struct rd_command *const subs[] = {
  &rd_profile_ingest,
  &rd_profile_full,
  &rd_profile_slice,
  &rd_profile_roi,
  &rd_profile_sweep,
  &rd_profile_merge,
  &rd_profile_show,
  &rd_profile_convert,
  NULL
};

/* Whether the line has a "--" that a command may follow. */
static bool
has_dashes (const struct rd_args *args)
{
  for (int i = 1; i < args->argc; i++)
    if (strcmp (args->argv[i], "--") == 0)
      return true;
  return false;
}

static int
run_profile (struct rd_args *args)
{
  const struct rd_command *sub = rd_find_sub_command (subs, args->argc,
                                                      args->argv);
  if (sub)
    return rd_run_sub_command (sub, args);
  if (args->argc > 1 && args->argv[1][0] != '-')
    return rd_error_sub_command (args->command, subs, args->argv[1]);
  if (has_dashes (args))
    return rd_profile_wrap (args);
  struct rd_profile_output output = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
  if (id == 0)
    rd_usage_error (args, "say what: ingest, full, slice, roi, "
                    "sweep, merge, show, convert, or -- COMMAND");
  return args->status;
}

static const struct rd_option options[] = {
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_profile = {
  .name = "profile",
  .operands = "WHAT [OPTION]...  or  [OPTION]... -- COMMAND [ARG]...",
  .summary = "measure an operation, or any program of the library",
  .description =
    "Measures an operation of this library, or runs a program that is linked "
    "with it (and calls radio_profile_from_env) and collects what it and its "
    "children recorded. The result is a page to look at in any browser.",
  .options = options,
  .subs = subs,
  .examples =
    "radio profile slice --roi 64\n"
    "radio profile -- radio stats sub-01\n"
    "radio profile -o train.html -- mpirun -n 4 ./train",
  .run = run_profile,
};
