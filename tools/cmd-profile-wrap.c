/* SPDX-License-Identifier: MIT */
/* radio profile -- COMMAND: runs a program with RADIO_PROFILE in its
 * environment, and joins what it and its children wrote. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/output.h"
#include "tools/profile-commands.h"
#include "tools/profile-output.h"
#include "tools/profile-ranks.h"
#include "tools/profile-temp.h"

/* As env and nohup have them. */
enum {
  EXIT_OURS = 125,            /* this command failed before the other ran */
  EXIT_NOT_EXECUTABLE = 126,
  EXIT_NOT_FOUND = 127,
};

extern char **environ;

struct wrap {
  struct rd_profile_output output;
  char **argv;                /* the program's */
  char *temp;
  struct radio_profile **profiles;
  size_t n;
};

/* Of the environment, what asks for profiles is replaced. */
static char **
make_environment (const char *pattern)
{
  size_t n = 0, used = 0;
  while (environ[n])
    n++;
  char **list = calloc (n + 2, sizeof *list);
  if (list == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++)
    if (strncmp (environ[i], "RADIO_PROFILE=", 14) != 0)
      list[used++] = environ[i];
  list[used] = (char *) pattern;
  return list;
}

/* Wait for the program.  Ctrl-C goes to it as well, and shall not end us
 * before it has ended: its profile is to be collected. */
static int
wait_for (pid_t pid)
{
  int status;
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR) {
      rd_complain ("cannot wait for the program: %s", strerror (errno));
      return EXIT_OURS;
    }
  return WIFSIGNALED (status) ? 128 + WTERMSIG (status)
                              : WEXITSTATUS (status);
}

/* Signals as this process got them, for the program. */
struct signals {
  struct sigaction interrupt, quit;
};

static void
ignore_signals (struct signals *before)
{
  struct sigaction ignore = { .sa_handler = SIG_IGN };
  sigemptyset (&ignore.sa_mask);
  sigaction (SIGINT, &ignore, &before->interrupt);
  sigaction (SIGQUIT, &ignore, &before->quit);
}

static void
restore_signals (const struct signals *before)
{
  sigaction (SIGINT, &before->interrupt, NULL);
  sigaction (SIGQUIT, &before->quit, NULL);
}

/* The signals that this command ignores or catches are the program's to
 * decide on. */
static int
start (const struct wrap *wrap, char **environment,
       const struct signals *before, pid_t *pid)
{
  posix_spawnattr_t attributes;
  sigset_t defaults;
  sigemptyset (&defaults);
  sigaddset (&defaults, SIGPIPE);
  sigaddset (&defaults, SIGXFSZ);
  if (before->interrupt.sa_handler != SIG_IGN)
    sigaddset (&defaults, SIGINT);
  if (before->quit.sa_handler != SIG_IGN)
    sigaddset (&defaults, SIGQUIT);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF);
  int number = posix_spawnp (pid, wrap->argv[0], NULL, &attributes,
                             wrap->argv, environment);
  posix_spawnattr_destroy (&attributes);
  return number;
}

/* What RADIO_PROFILE is to be.  Absolute, since children may go to other
 * folders; and none of its own may stand for a number. */
static char *
make_pattern (const struct wrap *wrap)
{
  RD_FREE char *folder = realpath (wrap->temp, NULL);
  if (folder == NULL) {
    rd_complain ("%s: %s", wrap->temp, strerror (errno));
    return NULL;
  }
  if (strstr (folder, "%p") != NULL) {
    rd_complain ("%s: '%%p' in the folder for temporary files would become "
                 "a number: set TMPDIR to another", rd_temp_folder ());
    return NULL;
  }
  return rd_format ("RADIO_PROFILE=%s/%%p.json", folder);
}

/* Run the program to its end: *status is what to exit with.  false: it was
 * not run, which is told.  The status alone cannot say so, since programs
 * may exit with any, 127 as well. */
static bool
run_program (const struct wrap *wrap, int *status)
{
  struct signals before;
  RD_FREE char *pattern = make_pattern (wrap);
  RD_FREE char **environment = pattern ? make_environment (pattern) : NULL;
  pid_t pid;
  *status = EXIT_OURS;
  if (environment == NULL)
    return false;
  /* What is still in our buffer comes before what the program prints. */
  fflush (stdout);
  ignore_signals (&before);
  int number = start (wrap, environment, &before, &pid);
  *status = number == 0 ? wait_for (pid)
    : number == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
  restore_signals (&before);
  if (number != 0)
    rd_complain ("%s: cannot be run: %s", wrap->argv[0], strerror (number));
  return number == 0;
}

static int
add_profile (struct wrap *wrap, const char *name)
{
  RD_FREE char *path = rd_format ("%s/%s", wrap->temp, name);
  struct radio_profile **longer = reallocarray (
    wrap->profiles, wrap->n + 1, sizeof *longer);
  if (path == NULL || longer == NULL)
    return rd_complain_memory ();
  wrap->profiles = longer;
  if (radio_profile_read (path, &wrap->profiles[wrap->n]) != RADIO_OK)
    return rd_complain_library (path);
  wrap->n++;
  return RD_EXIT_OK;
}

/* By number: processes that were started first come first, mostly. */
static int
by_number (const struct dirent **a, const struct dirent **b)
{
  size_t x = strlen ((*a)->d_name), y = strlen ((*b)->d_name);
  if (x != y)
    return x < y ? -1 : 1;
  return strcmp ((*a)->d_name, (*b)->d_name);
}

static int
is_profile (const struct dirent *entry)
{
  return entry->d_name[0] != '.' && rd_has_suffix (entry->d_name, ".json");
}

static int
collect (struct wrap *wrap)
{
  struct dirent **entries = NULL;
  int n = scandir (wrap->temp, &entries, is_profile, by_number);
  int failed = n < 0 ? rd_complain ("%s: %s", wrap->temp, strerror (errno))
                     : RD_EXIT_OK;
  for (int i = 0; i < n; i++) {
    if (!failed)
      failed = add_profile (wrap, entries[i]->d_name);
    free (entries[i]);
  }
  free (entries);
  return failed;
}

static int
report (const struct wrap *wrap)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  const struct radio_profile *profile = wrap->profiles[0];
  if (wrap->n > 1) {
    if (radio_profile_join (wrap->profiles, wrap->n, RADIO_PARTS_RANKS,
                            &joined) != RADIO_OK)
      return rd_complain_library (NULL);
    profile = joined;
  }
  int failed = RD_EXIT_OK;
  if (joined)
    failed = rd_ranks_print (joined);
  if (!failed && joined)
    failed = rd_imbalance_print (joined);
  if (!failed)
    failed = rd_profile_print (profile, &wrap->output);
  int unwritten = rd_profile_output_write (&wrap->output, profile, false);
  return failed ? failed : unwritten;
}

/* The program's own status goes before ours. */
static int
run_and_report (struct wrap *wrap)
{
  int failed = rd_temp_make (NULL, &wrap->temp);
  if (failed)
    return EXIT_OURS;
  int status;
  if (!run_program (wrap, &status))
    return status;
  failed = collect (wrap);
  if (!failed && wrap->n == 0) {
    rd_complain ("%s recorded nothing: %s", wrap->argv[0], status > 128
                 ? "a signal ended it before it could write"
                 : "it is not linked with this library, or does not call "
                   "radio_profile_from_env");
    return status;
  }
  if (!failed)
    failed = report (wrap);
  return status ? status : failed;
}

/* A name for the page, of the program's. */
static char *
page_name (const char *program)
{
  const char *slash = strrchr (program, '/');
  const char *base = slash ? slash + 1 : program;
  return rd_format ("%.100s", *base ? base : "program");
}

static bool
parse (struct wrap *wrap, struct rd_args *args)
{
  int dashes = 1, id;
  while (strcmp (args->argv[dashes], "--") != 0)
    dashes++;
  wrap->argv = args->argv + dashes + 1;
  int argc = args->argc;
  args->argc = dashes;
  while ((id = rd_args_next (args)) > 0)
    if (rd_profile_output_take (args, id, &wrap->output) < 0)
      return false;
  if (id < 0 || !rd_args_want (args, 0, 0, "COMMAND"))
    return false;
  if (dashes + 1 < argc)
    return true;
  rd_usage_error (args, "COMMAND is missing behind --");
  return false;
}

int
rd_profile_wrap (struct rd_args *args)
{
  struct wrap wrap = { 0 };
  if (!parse (&wrap, args)) {
    rd_profile_output_clear (&wrap.output);
    return args->status;
  }
  RD_FREE char *name = page_name (wrap.argv[0]);
  int status = name == NULL
               || rd_profile_output_settle (&wrap.output, name)
    ? EXIT_OURS : run_and_report (&wrap);
  for (size_t i = 0; i < wrap.n; i++)
    radio_profile_close (wrap.profiles[i]);
  free (wrap.profiles);
  rd_temp_remove (wrap.temp);
  rd_profile_output_clear (&wrap.output);
  return status;
}
