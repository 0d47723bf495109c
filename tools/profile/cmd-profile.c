/* SPDX-License-Identifier: MIT */
/* radio profile: finds the sub-command, or runs a program with RADIO_PROFILE
 * in its environment and joins the profiles of it and its children. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/text.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/profile/output.h"
#include "tools/profile/report.h"

/* The same as those of env and nohup. */
enum {
  EXIT_OURS = 125,         /* this command failed before the other ran */
  EXIT_NOT_EXECUTABLE = 126,
  EXIT_NOT_FOUND = 127,
};

struct child {
  sigset_t blocked;           /* signals that are waited for */
  sigset_t mask;              /* the mask before */
  struct sigaction child_ended; /* the action of SIGCHLD before */
  int number;                 /* the signal to die of at the end, or 0 */
};

/*------------------------------------------------------------------------
 * Running a program, and forwarding signals to it.  Signals are blocked and
 * waited for together with the end of the program: there is no handler, so
 * none can be lost or sent to another process that got the same number.
 *----------------------------------------------------------------------*/

/* Blocked signals that are ignored by default may be discarded, unless there
 * is a handler; this one is never called. */
static void
do_nothing (int number)
{
  (void) number;
}

static void
block_signals (struct child *child)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
  struct sigaction action = { .sa_handler = do_nothing };
  sigemptyset (&action.sa_mask);
  sigemptyset (&child->blocked);
  sigaddset (&child->blocked, SIGCHLD);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction before;
    /* A signal that nohup ignores stays ignored. */
    if (sigaction (signals[i], NULL, &before) == 0
        && before.sa_handler != SIG_IGN)
      sigaddset (&child->blocked, signals[i]);
  }
  child->number = 0;
  sigaction (SIGCHLD, &action, &child->child_ended);
  sigprocmask (SIG_BLOCK, &child->blocked, &child->mask);
}

/* Runs a program to its end, with signals blocked.  *status is the exit status
 * to use: the program's, or 128 and the signal that ended it.  Returns false
 * when it was not run, after an error; the status alone cannot say so, since
 * programs may exit with any. */
static bool
run_child (struct child *child, char **argv, char **environment,
           int *status)
{
  pid_t pid;
  posix_spawnattr_t attributes;
  sigset_t defaults;
  /* Signals that this command ignores or blocks are not inherited. */
  sigemptyset (&defaults);
  sigaddset (&defaults, SIGPIPE);
  sigaddset (&defaults, SIGXFSZ);
  posix_spawnattr_init (&attributes);
  posix_spawnattr_setsigdefault (&attributes, &defaults);
  posix_spawnattr_setsigmask (&attributes, &child->mask);
  posix_spawnattr_setflags (&attributes, POSIX_SPAWN_SETSIGDEF
                            | POSIX_SPAWN_SETSIGMASK);
  int number = posix_spawnp (&pid, argv[0], NULL, &attributes, argv,
                             environment);
  posix_spawnattr_destroy (&attributes);
  if (number != 0) {
    *status = number == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    rd_error ("%s: cannot be run: %s", argv[0], strerror (number));
    return false;
  }
  /* The program may be stopped and continued meanwhile. */
  int result = 0;
  pid_t ended;
  while ((ended = waitpid (pid, &result, WNOHANG)) == 0) {
    siginfo_t info;
    if (sigwaitinfo (&child->blocked, &info) <= 0
        || info.si_signo == SIGCHLD)
      continue;
    /* Keys typed at the terminal reach the program as well, so they are not
     * forwarded, and the program decides what they do.  A signal that was
     * sent also ends this command, after the program. */
    bool typed = info.si_code > 0 && info.si_signo != SIGHUP;
    if (typed)
      continue;
    kill (pid, info.si_signo);
    if (info.si_signo != SIGQUIT)
      child->number = info.si_signo;
  }
  *status = WIFSIGNALED (result) ? 128 + WTERMSIG (result)
                                 : WEXITSTATUS (result);
  if (ended < 0) {
    rd_error ("cannot wait for the program: %s", strerror (errno));
    *status = EXIT_OURS;
  }
  return true;
}

/*------------------------------------------------------------------------
 * radio profile -- PROGRAM
 *----------------------------------------------------------------------*/

extern char **environ;

struct wrap {
  struct rd_profile_output output;
  struct child child;
  char **argv;                /* the program's */
  char *temp;
  bool is_marked;             /* the folder has the epoch as its time */
  bool keep;                  /* the folder: no other copy exists */
  uint64_t started_unix_ns;   /* before the program */
  struct radio_profile **profiles;
  size_t n;
  size_t nunreadable;
};

/* Runs the program to its end; false: it was not run, after an error. */
static bool
run_program (struct wrap *wrap, int *status)
{
  *status = EXIT_OURS;
  /* An absolute path, since children may change their folder; and only the
   * name may have the placeholder for a number. */
  RD_FREE char *folder = realpath (wrap->temp, NULL);
  if (folder == NULL) {
    rd_error ("%s: %s", wrap->temp, strerror (errno));
    return false;
  }
  if (strstr (folder, "%p") != NULL) {
    rd_error ("%s: '%%p' in the folder for temporary files would become a "
              "number; set TMPDIR to another", rd_temp_folder ());
    return false;
  }
  RD_FREE char *variable = rd_format ("RADIO_PROFILE=%s/%%p.json", folder);
  size_t n = 0, used = 0;
  while (environ[n])
    n++;
  RD_FREE char **environment = calloc (n + 2, sizeof *environment);
  if (variable == NULL || environment == NULL)
    return false;
  for (size_t i = 0; i < n; i++)
    if (strncmp (environ[i], "RADIO_PROFILE=", 14) != 0
        && strncmp (environ[i], "RADIO_PROFILE_SLOW=", 19) != 0)
      environment[used++] = environ[i];
  environment[used] = variable;
  /* Buffered output comes before that of the program. */
  fflush (stdout);
  return run_child (&wrap->child, wrap->argv, environment, status);
}

/* By number: mostly in the order in which processes were started. */
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

/* One that cannot be read is reported, and the others are kept. */
static int
collect_profiles (struct wrap *wrap)
{
  struct dirent **entries = NULL;
  int n = scandir (wrap->temp, &entries, is_profile, by_number);
  int failed = n < 0 ? rd_error ("%s: %s", wrap->temp, strerror (errno))
                     : RD_EXIT_OK;
  wrap->profiles = calloc ((size_t) (n > 0 ? n : 1), sizeof *wrap->profiles);
  if (wrap->profiles == NULL)
    failed = rd_error_memory ();
  for (int i = 0; i < n; i++) {
    RD_FREE struct dirent *entry = entries[i];
    if (failed || rd_interrupted ())
      continue;
    RD_FREE char *path = rd_format ("%s/%s", wrap->temp, entry->d_name);
    if (path == NULL) {
      failed = RD_EXIT_FAILED;
    } else if (radio_profile_read (path, &wrap->profiles[wrap->n])
               == RADIO_OK) {
      wrap->n++;
    } else {
      wrap->nunreadable++;
      RD_FREE char *text = rd_format ("a process's profile is skipped: %s",
                                      radio_error_message ());
      rd_warn (text ? text : radio_error_message ());
    }
  }
  free (entries);
  return failed;
}

static int
report_profiles (struct wrap *wrap)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  const struct radio_profile *profile = wrap->profiles[0];
  if (wrap->n > 1) {
    if (radio_profile_join (wrap->profiles, wrap->n, RADIO_PARTS_RANKS,
                            &joined) != RADIO_OK) {
      wrap->keep = true;
      return rd_error_library ("the profiles cannot be joined");
    }
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

/* A ring that a process left which began since the program did, and wrote no
 * profile: one of its children, or itself. */
static enum radio_status
report_ring (const struct radio_ring *ring, void *user_data)
{
  const struct wrap *wrap = user_data;
  if (!ring->is_known || ring->runs
      || ring->started_unix_ns < wrap->started_unix_ns)
    return RADIO_OK;
  RD_FREE char *text = rd_format (
    "process %" PRIu64 " (%s) ended without writing its profile, as one does "
    "that is killed; 'radio profile recover %s' makes one of its ring",
    ring->pid, ring->program, ring->path);
  rd_warn (text ? text : ring->path);
  return RADIO_OK;
}

/* Explains why there is nothing to report. */
static int
report_no_profile (struct wrap *wrap, int status)
{
  const char *program = wrap->argv[0];
  struct stat st;
  if (wrap->nunreadable > 0) {
    wrap->keep = true;
    return rd_error ("%s: none of its profiles can be read", program);
  }
  /* A file that was made in the folder, even if it was removed again, and a
   * profile that could not be written there have changed the folder's time. */
  bool was_touched = wrap->is_marked && stat (wrap->temp, &st) == 0
                     && st.st_mtime != 0;
  /* Else a file of some bytes is made, to see if that is possible. */
  static const char bytes[4096];
  RD_FREE char *name = rd_format ("%s/room", wrap->temp);
  int fd = -1;
  bool has_room = name == NULL;
  if (name && !was_touched)
    fd = open (name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd >= 0) {
    has_room = write (fd, bytes, sizeof bytes) == (ssize_t) sizeof bytes;
    close (fd);
    unlink (name);
  }
  if (was_touched || !has_room)
    return rd_error ("%s: its profile %s be written into %s, the folder for "
                     "temporary files; set TMPDIR to another", program,
                     was_touched ? "could not" : "cannot",
                     rd_temp_folder ());
  rd_error (status > 128 && (getenv ("RADIO_PROFILE_RING")
                             || getenv ("RADIO_PROFILE_RING_FILE"))
            ? "%s: a signal ended it before it could write; 'radio profile "
              "recover' makes a profile of its ring, if that has a file"
            : status > 128
            ? "%s: recorded nothing: a signal ended it before it could write"
            : "%s: recorded nothing; link it with this library, and call "
              "radio_profile_from_env", program);
  return RD_EXIT_OK;
}

static int
run_and_report (struct wrap *wrap)
{
  static const struct timespec epoch[2] = { { 0, 0 }, { 0, 0 } };
  int status = EXIT_OURS;
  block_signals (&wrap->child);
  bool was_run = false;
  if (rd_temp_make (NULL, &wrap->temp) == RD_EXIT_OK) {
    wrap->is_marked = utimensat (AT_FDCWD, wrap->temp, epoch, 0) == 0;
    struct timespec now;
    if (clock_gettime (CLOCK_REALTIME, &now) == 0)
      wrap->started_unix_ns = (uint64_t) now.tv_sec * 1000000000
                              + (uint64_t) now.tv_nsec;
    was_run = run_program (wrap, &status);
  }
  sigaction (SIGCHLD, &wrap->child.child_ended, NULL);
  sigprocmask (SIG_SETMASK, &wrap->child.mask, NULL);
  if (!was_run)
    return status;
  int failed = collect_profiles (wrap);
  if (rd_interrupted ())
    return RD_EXIT_FAILED;
  if (radio_profile_list_rings (report_ring, wrap) != RADIO_OK)
    rd_error_library (NULL);
  if (!failed)
    failed = wrap->n == 0 ? report_no_profile (wrap, status)
                          : report_profiles (wrap);
  /* The program's own status takes precedence. */
  return status ? status : failed;
}

static int
run_wrapped (struct rd_args *args)
{
  struct wrap wrap = { 0 };
  int dashes = 1, id;
  while (strcmp (args->argv[dashes], "--") != 0)
    dashes++;
  wrap.argv = args->argv + dashes + 1;
  bool has_program = dashes + 1 < args->argc, ok = true;
  args->argc = dashes;
  while (ok && (id = rd_args_next (args)) != 0)
    ok = id > 0 && rd_profile_output_take (args, id, &wrap.output) >= 0;
  ok = ok && rd_args_want (args, 0, 0, "");
  if (ok && !has_program)
    rd_usage_error (args, "PROGRAM is missing after --");
  if (!ok || !has_program) {
    rd_profile_output_clear (&wrap.output);
    return args->status;
  }
  /* The page is named after the program. */
  const char *base = rd_base_name (wrap.argv[0]);
  RD_FREE char *name = rd_format ("%.100s", *base ? base : "program");
  int status = name == NULL
               || rd_profile_output_prepare (&wrap.output, args, name)
    ? EXIT_OURS : run_and_report (&wrap);
  for (size_t i = 0; i < wrap.n; i++)
    radio_profile_close (wrap.profiles[i]);
  free (wrap.profiles);
  if (wrap.keep) {
    rd_error ("the profiles of the single processes%s are in %s",
              wrap.output.redact ? ", not redacted," : "", wrap.temp);
    free (wrap.temp);
  } else
    rd_temp_remove (wrap.temp);
  rd_profile_output_clear (&wrap.output);
  rd_interrupt_note (wrap.child.number);
  return status;
}

/*------------------------------------------------------------------------
 * The command
 *----------------------------------------------------------------------*/

static const struct rd_command *const subs[] = {
  &rd_profile_ingest,
  &rd_profile_full,
  &rd_profile_slice,
  &rd_profile_roi,
  &rd_profile_sweep,
  &rd_profile_op,
  &rd_profile_merge,
  &rd_profile_show,
  &rd_profile_convert,
  &rd_profile_recover,
  NULL
};

/* Explains what compares a program with an earlier profile.  True if the
 * options ask for that. */
static bool
explain_against (struct rd_args *args)
{
  for (int i = 1; i < args->argc && strcmp (args->argv[i], "--") != 0; i++) {
    if (strncmp (args->argv[i], "--against", strlen ("--against")) != 0)
      continue;
    rd_usage_error (args, "--against is for full, slice, roi, sweep, op and "
                    "ingest; profile a program by -o NEW.json, then compare "
                    "by 'radio diff OLD NEW.json'");
    return true;
  }
  return false;
}

static int
run_profile (struct rd_args *args)
{
  if (rd_run_sub_command (args, false) || explain_against (args))
    return args->status;
  for (int i = 1; i < args->argc; i++)
    if (strcmp (args->argv[i], "--") == 0)
      return run_wrapped (args);
  struct rd_profile_output output = { 0 };
  int id;
  while ((id = rd_args_next (args)) > 0)
    if (rd_profile_output_take (args, id, &output) < 0)
      return args->status;
  if (id == 0)
    rd_usage_error (args, "no command given: ingest, full, slice, roi, "
                    "sweep, op, merge, show, convert, recover, or -- PROGRAM");
  return args->status;
}

static const struct rd_option options[] = {
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_profile = {
  .name = "profile",
  .operands = "COMMAND [OPTION]...  or  [OPTION]... -- PROGRAM [ARG]...",
  .summary = "profile an operation, or any program that uses libradio",
  .description =
    "Profiles an operation of this library, or runs a program that is linked "
    "with it (and calls radio_profile_from_env) and joins the profiles of the "
    "program and its children. The result is a page for any browser.",
  .options = options,
  .subs = subs,
  .examples =
    "radio profile slice --roi 64\n"
    "radio profile -- radio stats sub-01\n"
    "radio profile -o train.html -- mpirun -n 4 ./train",
  .run = run_profile,
};
