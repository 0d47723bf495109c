/* SPDX-License-Identifier: MIT */
/* The sub-commands of 'radio profile' and 'radio bench'. */
#ifndef RD_PROFILE_COMMANDS_H
#define RD_PROFILE_COMMANDS_H

#include "tools/options.h"

extern const struct rd_command rd_profile_convert;
extern const struct rd_command rd_profile_full;
extern const struct rd_command rd_profile_ingest;
extern const struct rd_command rd_profile_merge;
extern const struct rd_command rd_profile_roi;
extern const struct rd_command rd_profile_show;
extern const struct rd_command rd_profile_slice;
extern const struct rd_command rd_profile_sweep;

extern const struct rd_command rd_bench_compare;
extern const struct rd_command rd_bench_memory;
extern const struct rd_command rd_bench_profiler;

/* The sub-command that a command line names, behind its command; argc and
 * argv begin with the command.  NULL: none. */
const struct rd_command *
rd_find_sub_command (const struct rd_command *const *list, int argc,
                     char *const *argv);

/* Complain that argv[1] names none, suggesting what is near.  Returns an
 * exit status. */
int rd_error_sub_command (const struct rd_command *command,
                          const struct rd_command *const *list,
                          const char *name);

/* Run a sub-command with what follows its name. */
int rd_run_sub_command (const struct rd_command *command,
                        struct rd_args *args);

/* 'radio profile [OPTION]... -- COMMAND'. */
int rd_profile_wrap (struct rd_args *args);

#endif /* RD_PROFILE_COMMANDS_H */
