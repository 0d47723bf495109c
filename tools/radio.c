/* SPDX-License-Identifier: MIT */
/* The command: finds the sub-command and runs it. */
#include <config.h>

#include <locale.h>
#include <signal.h>
#include <string.h>

#include "tools/commands.h"
#include "tools/profile/commands.h"
#include "tools/text.h"
#include "tools/words.h"

static const struct rd_command *const commands[] = {
  &rd_command_ingest,
  &rd_command_ls,
  &rd_command_info,
  &rd_command_slice,
  &rd_command_roi,
  &rd_command_export,
  &rd_command_stats,
  &rd_command_validate,
  &rd_command_cp,
  &rd_command_rm,
  &rd_command_gc,
  &rd_command_phantom,
  &rd_command_profile,
  &rd_command_diff,
  &rd_command_bench,
  NULL
};

static const struct rd_command *
find_command (const char *name)
{
  for (const struct rd_command *const *c = commands; *c; c++)
    if (strcmp ((*c)->name, name) == 0)
      return *c;
  return NULL;
}

/* The command nearest to what was typed, or NULL when none is near. */
static const char *
near_command (const char *name)
{
  const char *best = NULL;
  size_t least = 3;
  for (const struct rd_command *const *c = commands; *c; c++) {
    size_t distance = rd_text_distance (name, (*c)->name);
    if (distance < least && distance < strlen ((*c)->name)) {
      least = distance;
      best = (*c)->name;
    }
  }
  return best;
}

static int
complain_unknown (const char *name)
{
  const char *near = near_command (name);
  if (near)
    rd_error ("there is no command '%s', did you mean '%s'?", name, near);
  else
    rd_error ("there is no command '%s' (see 'radio --help')", name);
  return RD_EXIT_USAGE;
}

static int
run_help (int argc, char **argv)
{
  if (argc < 2) {
    rd_help (commands);
    return RD_EXIT_OK;
  }
  const struct rd_command *command = find_command (argv[1]);
  if (command == NULL)
    return complain_unknown (argv[1]);
  if (argc > 2 && command->subs) {
    const struct rd_command *sub = rd_find_sub_command (command->subs,
                                                        argc - 1, argv + 1);
    if (sub == NULL)
      return rd_error_sub_command (command, command->subs, argv[2]);
    command = sub;
  }
  rd_help_command (command);
  return RD_EXIT_OK;
}

/* A profile of a command that failed says so, and why. */
static void
tell_failure (int status)
{
  char number[32];
  const char *message = rd_first_error ();
  snprintf (number, sizeof number, "exit status %d", status);
  if (status != RD_EXIT_OK
      && radio_profile_env_fact ("failed", message ? message : number,
                                 RADIO_TEXT_NAME) != RADIO_OK)
    rd_error_library (NULL);
}

/* Run a command, recorded when RADIO_PROFILE names a file.  That a profile
 * fails is told and changes nothing else. */
static int
run_recorded (struct rd_args *args)
{
  const char *variable = getenv ("RADIO_PROFILE");
  bool asked = variable != NULL && *variable != '\0';
  bool records = args->command == &rd_command_profile
                 || args->command == &rd_command_bench;
  if (asked && records)
    fprintf (stderr, "radio: RADIO_PROFILE is ignored: 'radio %s' makes "
             "recordings of its own\n", args->command->name);
  if (!asked || records)
    return args->command->run (args);
  bool recorded = radio_profile_from_env () == RADIO_OK;
  if (!recorded)
    rd_error_library ("RADIO_PROFILE");
  int status = args->command->run (args);
  tell_failure (status);
  /* The message also says where the profile is instead. */
  if (recorded && radio_profile_finish_env (NULL) != RADIO_OK)
    rd_error ("RADIO_PROFILE: %s", radio_error_message ());
  return status;
}

static int
run (int argc, char **argv)
{
  if (argc < 1) {
    rd_error ("no command given (see 'radio --help')");
    return RD_EXIT_USAGE;
  }
  if (strcmp (argv[0], "--version") == 0 || strcmp (argv[0], "-V") == 0) {
    printf ("radio %s\n", radio_version ());
    return RD_EXIT_OK;
  }
  if (strcmp (argv[0], "--help") == 0 || strcmp (argv[0], "-h") == 0
      || strcmp (argv[0], "help") == 0)
    return run_help (argc, argv);
  const struct rd_command *command = find_command (argv[0]);
  if (command == NULL)
    return complain_unknown (argv[0]);
  struct rd_args args = { .command = command, .argc = argc, .argv = argv };
  if (!rd_words_take (getenv ("RADIO_S3"), "RADIO_S3", rd_s3_words, &args.s3))
    return RD_EXIT_USAGE;
  return run_recorded (&args);
}

/* Only the letters' widths follow the user's locale; numbers stay as they
 * are written everywhere.  A closed pipe, and a file that grew to the size
 * that `ulimit -f' allows, shall be errors like any other, not a silent
 * death. */
int
main (int argc, char **argv)
{
  if (setlocale (LC_CTYPE, "") == NULL)
    setlocale (LC_CTYPE, "C.UTF-8");
  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
  int skip = argc > 0;
  return rd_close_stdout (run (argc - skip, argv + skip));
}
