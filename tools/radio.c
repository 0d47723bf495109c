/* SPDX-License-Identifier: MIT */
/* The command: finds the sub-command and runs it. */
#include <config.h>

#include <string.h>

#include "tools/interrupt.h"
#include "tools/options.h"

static const struct rd_command *const commands[] = {
  &rd_command_ingest,
  &rd_command_ls,
  &rd_command_info,
  &rd_command_slice,
  &rd_command_roi,
  &rd_command_export,
  &rd_command_stats,
  &rd_command_apply,
  &rd_command_validate,
  &rd_command_check,
  &rd_command_index,
  &rd_command_table,
  &rd_command_split,
  &rd_command_cp,
  &rd_command_mv,
  &rd_command_rm,
  &rd_command_gc,
  &rd_command_phantom,
  &rd_command_profile,
  &rd_command_diff,
  &rd_command_bench,
  NULL
};

/* Runs a command in a scope of its name, so that none of its steps is outside
 * of all scopes. */
static int
run_in_scope (struct rd_args *args)
{
  static char name[64];
  static const struct radio_site site = {
    name, "user", __func__, __FILE__, __LINE__, RADIO_SCOPE_BLOCKING
  };
  snprintf (name, sizeof name, "radio %s", args->command->name);
  uint64_t token = radio_scope_begin (&site);
  int status = args->command->run (args);
  radio_scope_end (token);
  return status;
}

static bool
is_set (const char *variable)
{
  const char *value = getenv (variable);
  return value != NULL && *value != '\0';
}

/* Runs a command, recorded when RADIO_PROFILE names a file, or to find slow
 * runs.  A profile that cannot be written is reported, and the exit status
 * stays. */
static int
run_recorded (struct rd_args *args)
{
  static const char *const variables[] = {
    "RADIO_PROFILE", "RADIO_PROFILE_SLOW"
  };
  bool records = args->command == &rd_command_profile
                 || args->command == &rd_command_bench;
  for (int i = 0; i < 2; i++)
    if (is_set (variables[i]) && records)
      fprintf (stderr, "radio: %s is ignored: 'radio %s' makes its own "
               "recordings\n", variables[i], args->command->name);
  if (records)
    return args->command->run (args);
  /* Also an invalid variable that nothing uses yet is reported. */
  bool is_wanted = is_set (variables[0]) || is_set (variables[1]);
  bool recorded = radio_profile_from_env () == RADIO_OK;
  if (!recorded)
    rd_error_library (is_wanted ? "RADIO_PROFILE" : NULL);
  if (!is_wanted)
    return args->command->run (args);
  char title[64];
  snprintf (title, sizeof title, "radio %s", args->command->name);
  if (radio_profile_env_fact ("title", title, RADIO_TEXT_PLAIN) != RADIO_OK)
    rd_error_library (NULL);
  int status = run_in_scope (args);
  /* The profile of a command that failed says so, and why. */
  char number[32];
  const char *message = rd_first_error ();
  int signalled = rd_interrupted ();
  if (signalled) {
    message = NULL;
    snprintf (number, sizeof number, "ended by signal %d", signalled);
  } else
    snprintf (number, sizeof number, "exit status %d", status);
  if ((status != RD_EXIT_OK || signalled)
      && radio_profile_env_fact ("failed", message ? message : number,
                                 RADIO_TEXT_NAME) != RADIO_OK)
    rd_error_library (NULL);
  /* The message also says where the profile was saved instead. */
  if (recorded && radio_profile_finish_env (NULL) != RADIO_OK)
    rd_error ("RADIO_PROFILE: %s", radio_error_message ());
  return status;
}

static int
run (int argc, char **argv)
{
  bool helps = false;
  if (argc < 1) {
    rd_error ("no command given (see 'radio --help')");
    return RD_EXIT_USAGE;
  }
  if (strcmp (argv[0], "--version") == 0 || strcmp (argv[0], "-V") == 0) {
    printf ("radio %s\n", radio_version ());
    return RD_EXIT_OK;
  }
  if (strcmp (argv[0], "--help") == 0 || strcmp (argv[0], "-h") == 0
      || strcmp (argv[0], "help") == 0) {
    if (argc < 2) {
      rd_help (commands);
      return RD_EXIT_OK;
    }
    helps = true;
    argc--;
    argv++;
  }
  const struct rd_command *command = rd_find_command (commands, argv[0]);
  if (command == NULL)
    return rd_unknown_command (NULL, commands, argv[0]);
  if (helps) {
    const struct rd_command *const *subs = command->subs;
    const struct rd_command *sub = command;
    if (argc > 1 && subs)
      sub = rd_find_command (subs, argv[1]);
    if (sub == NULL)
      return rd_unknown_command (command, subs, argv[1]);
    rd_help_command (sub);
    return RD_EXIT_OK;
  }
  struct rd_args args;
  int status = rd_args_init (&args, command, argc, argv)
               ? run_recorded (&args) : RD_EXIT_USAGE;
  rd_args_clear (&args);
  return status;
}

int
main (int argc, char **argv)
{
  rd_program_init ();
  int skip = argc > 0;
  int status = run (argc - skip, argv + skip);
  /* Once the profile is written. */
  rd_interrupt_die ();
  return rd_close_stdout (status);
}
