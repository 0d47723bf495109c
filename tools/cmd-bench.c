/* SPDX-License-Identifier: MIT */
/* radio bench: finds what is to be measured. */
#include <config.h>

#include "tools/commands.h"
#include "tools/profile-commands.h"

static const struct rd_command *const subs[] = {
  &rd_bench_profiler,
  NULL
};

static int
run_bench (struct rd_args *args)
{
  const struct rd_command *sub = rd_find_sub_command (subs, args->argc,
                                                      args->argv);
  if (sub)
    return rd_run_sub_command (sub, args);
  if (args->argc > 1 && args->argv[1][0] != '-')
    return rd_complain_sub_command (args->command, subs, args->argv[1]);
  if (rd_args_next (args) == 0)
    rd_usage_error (args, "say what: profiler");
  return args->status;
}

static const struct rd_option options[] = {
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_bench = {
  .name = "bench",
  .operands = "WHAT [OPTION]...",
  .summary = "measure this software on this machine",
  .description =
    "Measures this software itself on this machine, and holds the figures "
    "against what it promises.",
  .options = options,
  .subs = subs,
  .examples =
    "radio bench profiler\n"
    "radio bench profiler --json",
  .run = run_bench,
};
