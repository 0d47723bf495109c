/* SPDX-License-Identifier: MIT */
/* A user's program, for test-env.sh: the environment starts its recording, and
 * its first argument selects what it does. */
#include <config.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <radio/radio.h>

#include "src/base/sanitizers.h"
#include "profiler/export/export.h"

static int released[2];

/* A signal that comes as the profile is written; 0: none. */
static int raised_in_write;
static atomic_int nwritten;

enum radio_status __real_rd_profile_write_file (
  const struct radio_profile *profile, const char *path,
  const struct radio_profile_write_options *options, bool overwrite,
  mode_t mode);
enum radio_status __wrap_rd_profile_write_file (
  const struct radio_profile *profile, const char *path,
  const struct radio_profile_write_options *options, bool overwrite,
  mode_t mode);

enum radio_status
__wrap_rd_profile_write_file (
  const struct radio_profile *profile, const char *path,
  const struct radio_profile_write_options *options, bool overwrite,
  mode_t mode)
{
  if (raised_in_write != 0)
    kill (getpid (), raised_in_write);
  enum radio_status status = __real_rd_profile_write_file (
    profile, path, options, overwrite, mode);
  atomic_fetch_add (&nwritten, 1);
  return status;
}

static void
work (void)
{
  RADIO_SCOPE ("env work");
  radio_scope_text ("file", "Doe^Jane.nii.gz", RADIO_TEXT_NAME);
  for (int i = 0; i < 3; i++) {
    RADIO_SCOPE ("env inner");
    (void) getppid ();        /* more than a nanosecond on every clock */
    RADIO_COUNT ("rows", "count", 7);
  }
}

/* Ends a child process by exit, which calls its atexit handlers. */
static int
fork_and_work (void)
{
  int status;
  pid_t pid = fork ();
  if (pid < 0)
    return 1;
  if (pid == 0) {
    work ();
    exit (5);
  }
  if (waitpid (pid, &status, 0) != pid || !WIFEXITED (status))
    return 1;
  return WEXITSTATUS (status) == 5 ? 3 : 1;
}

/* Stays in a scope while main returns. */
static void *
stay (void *unused)
{
  char byte = 0;
  RADIO_SCOPE ("env stays");
  if (write (released[1], &byte, 1) == 1)
    for (;;)
      pause ();
  return unused;
}

static int
leave_a_thread (void)
{
  pthread_t thread;
  char byte;
  if (pipe (released) || pthread_create (&thread, NULL, stay, NULL))
    return 1;
  return read (released[0], &byte, 1) == 1 ? 0 : 1;
}

/* Sends itself a signal, if the number is not 0, and waits until there is a
 * file; then works on. */
static int
raise_signal (int number, const char *file)
{
  if (number != 0 && raise (number) != 0)
    return 1;
  for (int i = 0; i < 3000; i++) {
    if (access (file, F_OK) == 0) {
      RADIO_SCOPE ("env after");
      return unlink (file) != 0;
    }
    usleep (10000);
  }
  return 5;
}

/* Asks for a profile, and again as each is written. */
static int
raise_in_each_write (void)
{
  raised_in_write = SIGUSR1;
  if (raise (SIGUSR1) != 0)
    return 1;
  for (int i = 0; i < 3000; i++) {
    if (atomic_load (&nwritten) >= 3)
      return 0;
    usleep (10000);
  }
  return 5;
}

/* Asks twice for a profile that goes to $TMPDIR. */
static int
raise_twice (void)
{
  char path[1024];
  const char *folder = getenv ("TMPDIR");
  snprintf (path, sizeof path, "%s/radio-profile-%lld.json",
            folder ? folder : "/tmp", (long long) getpid ());
  int failed = raise_signal (SIGUSR1, path);
  return failed ? failed : raise_signal (SIGUSR1, path);
}

static void *
work_beside (void *barrier)
{
  RADIO_SCOPE ("env beside");
  pthread_barrier_wait (barrier);
  return NULL;
}

/* A child that gets signals which it ignores lives on. */
static int
fork_and_raise (void)
{
  int status;
  pid_t pid = fork ();
  if (pid == 0)
    _exit (raise (SIGUSR1) != 0 || raise (SIGTERM) != 0);
  if (pid < 0 || waitpid (pid, &status, 0) != pid)
    return 1;
  return WIFEXITED (status) && WEXITSTATUS (status) == 0 ? 0 : 2;
}

/* Limits the size of files.  The program sets the limit itself: under a limit
 * set by the shell, the signal would kill the run time of ThreadSanitizer,
 * which writes a file before main. */
static int
limit_files (void)
{
  struct rlimit limit;
  if (getrlimit (RLIMIT_FSIZE, &limit))
    return 1;
  limit.rlim_cur = 0;
  return setrlimit (RLIMIT_FSIZE, &limit) ? 1 : 17;
}

/* Leaves no memory for a profile of many spans. */
static int
limit_memory (void)
{
  struct rlimit limit;
  char text[64] = "";
  for (int i = 0; i < 10000; i++) {
    RADIO_SCOPE ("env many");
    (void) getppid ();
  }
  FILE *file = fopen ("/proc/self/statm", "r");
  size_t n = file ? fread (text, 1, sizeof text - 1, file) : 0;
  if (file)
    fclose (file);
  if (n == 0 || getrlimit (RLIMIT_AS, &limit))
    return 1;
  limit.rlim_cur = strtoull (text, NULL, 10)
                   * (rlim_t) sysconf (_SC_PAGESIZE);
  return setrlimit (RLIMIT_AS, &limit) ? 1 : 17;
}

/* Does as a daemon does: closes all descriptors of others, and opens its own.
 * The recording goes on, and writes into none of them. */
static int
close_all (const char *profile)
{
  struct stat status;
  int fds[16], failed = 0;
  for (int i = 3; i < 1000; i++)
    close (i);
  for (size_t i = 0; i < 16; i++) {
    FILE *file = tmpfile ();
    fds[i] = file ? fileno (file) : -1;
    failed |= fds[i] < 0;
  }
  /* More than a megabyte of the ring's file. */
  static pthread_t threads[40];
  static pthread_barrier_t all;
  pthread_barrier_init (&all, NULL, 40);
  for (size_t i = 0; i < 40; i++)
    failed |= pthread_create (&threads[i], NULL, work_beside, &all) != 0;
  for (size_t i = 0; i < 40 && !failed; i++)
    pthread_join (threads[i], NULL);
  failed = failed || raise_signal (SIGUSR1, profile) != 0;
  for (size_t i = 0; i < 16; i++)
    failed |= fstat (fds[i], &status) != 0 || status.st_size != 0;
  return failed;
}

/* Writes the profile now.  Later scopes are not recorded, and nothing is
 * written at exit. */
static int
finish (void)
{
  char *path;
  if (radio_profile_finish_env (&path) != RADIO_OK) {
    printf ("failed: %s\n", radio_error_message ());
    printf ("%s\n", path ? path : "nothing");
    free (path);
    return 1;
  }
  printf ("%s\n", path ? path : "nothing");
  free (path);
  {
    RADIO_SCOPE ("env after");
  }
  return radio_profile_finish_env (NULL) == RADIO_OK ? 0 : 1;
}

/* The handler of a program that does not end by SIGTERM. */
static volatile sig_atomic_t is_term_handled;

static void
handle_term (int signum)
{
  (void) signum;
  is_term_handled = 1;
}

/* Goes on after SIGTERM, which ended the recording, until SIGINT ends it. */
static void
survive_term (void)
{
  raise (SIGTERM);
  for (int i = 0; i < 3000 && !is_term_handled; i++)
    usleep (10000);
  raise (SIGINT);
  for (int i = 0; i < 3000; i++)
    usleep (10000);
  _exit (5);
}

static void *
send_term (void *after_us)
{
  usleep ((useconds_t) (uintptr_t) after_us);
  kill (getpid (), SIGTERM);
  return NULL;
}

/* SIGTERM comes at about the end. */
static int
end_beside_term (int after_us)
{
  pthread_t thread;
  pthread_create (&thread, NULL, send_term, (void *) (uintptr_t) after_us);
  usleep (1000);
  return 3;
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp (what, "survive-term") == 0) {
    signal (SIGTERM, handle_term);
    signal (SIGINT, SIG_DFL);           /* shells ignore it in background */
  }
  if (radio_profile_from_env () != RADIO_OK) {
    fprintf (stderr, "env-program: %s\n", radio_error_message ());
    return 9;
  }
  work ();
  if (strcmp (what, "exit") == 0)
    exit (atoi (argv[2]));
  if (strcmp (what, "_exit") == 0)
    _exit (4);
  if (strcmp (what, "exec") == 0)
    return execl (argv[0], argv[0], "_exit", (char *) NULL);
  if (strcmp (what, "fork") == 0)
    return fork_and_work ();
  if (strcmp (what, "thread") == 0)
    return leave_a_thread ();
  if (strcmp (what, "finish") == 0)
    return finish ();
  if (strcmp (what, "fail") == 0)
    return radio_profile_env_fact ("failed", "Doe^Jane: out of luck",
                                   RADIO_TEXT_NAME) != RADIO_OK;
  if (strcmp (what, "raise") == 0)
    return raise_signal (strcmp (argv[2], "USR1") == 0   ? SIGUSR1
                         : strcmp (argv[2], "TERM") == 0 ? SIGTERM : 0,
                         argv[3]);
  if (strcmp (what, "raise-in-each-write") == 0)
    return raise_in_each_write ();
  if (strcmp (what, "raise-twice") == 0)
    return raise_twice ();
  if (strcmp (what, "finish-and-raise") == 0)
    return radio_profile_finish_env (NULL) != RADIO_OK
           || raise (SIGUSR1) != 0;
  if (strcmp (what, "survive-term") == 0)
    survive_term ();
  if (strcmp (what, "raise-in-write") == 0) {
    raised_in_write = SIGTERM;
    return 3;
  }
  if (strcmp (what, "end-beside-term") == 0)
    return end_beside_term (atoi (argv[2]));
  if (strcmp (what, "fork-and-raise") == 0)
    return fork_and_raise ();
  if (strcmp (what, "close-all") == 0)
    return close_all (argv[2]);
  if (strcmp (what, "limit") == 0)
    return limit_files ();
  if (strcmp (what, "limit-memory") == 0)
    return limit_memory ();
  if (strcmp (what, "sanitized") == 0)
    return !(RD_HAS_ASAN || RD_HAS_TSAN);
  if (strcmp (what, "chdir") == 0)
    return chdir ("/") != 0;
  if (strcmp (what, "twice") == 0)
    return radio_profile_from_env () != RADIO_OK;
  return 0;
}
