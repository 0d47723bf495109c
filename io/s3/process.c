/* SPDX-License-Identifier: MIT */
/* The credential_process of a profile: a program that prints credentials.  It
 * runs without a shell; its output and its run time are limited, and its
 * standard error is discarded. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/cancel.h"
#include "src/base/error.h"
#include "src/base/now.h"
#include "io/s3/sources.h"

#define MAX_OUTPUT_NBYTES 65536
#define WAIT_MS 5             /* between polls for its end */

extern char **environ;

/*------------------------------------------------------------------------
 * The command
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_split_command (const char *command, char *words, size_t *n)
{
  *n = 0;
  for (;;) {
    command += strspn (command, " \t\n");
    if (*command == '\0')
      return RADIO_OK;
    char quote = '\0';
    for (; *command && (quote || !strchr (" \t\n", *command)); command++) {
      if (quote ? *command == quote : *command == '"' || *command == '\'') {
        quote = quote ? '\0' : *command;
        continue;
      }
      bool escapes = *command == '\\' && quote != '\''
                     && (!quote || command[1] == '"' || command[1] == '\\');
      if (escapes && *++command == '\0') {
        quote = '\\';
        break;
      }
      *words++ = *command;
    }
    *words++ = '\0';
    if (quote)
      return rd_fail (RADIO_ERROR_ARGUMENT, "a credential_process has an "
                      "unterminated quote");
    ++*n;
  }
}

/*------------------------------------------------------------------------
 * The process
 *----------------------------------------------------------------------*/

struct process {
  pid_t pid;                  /* and that of its group; 0: it was reaped */
  int fd;                     /* its output */
  uint64_t deadline_ms;
  const char *where;
};

static uint64_t
now_ms (void)
{
  return rd_now_ns () / 1000000;
}

/* With the signals of a program that a shell runs, in a group of its own. */
static int
spawn (char **arguments, int output, pid_t *pid)
{
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset (&none);
  sigfillset (&all);
  int errnum = posix_spawn_file_actions_init (&files);
  if (errnum != 0)
    return errnum;
  errnum = posix_spawnattr_init (&attributes);
  if (errnum != 0) {
    posix_spawn_file_actions_destroy (&files);
    return errnum;
  }
  errnum = posix_spawnattr_setsigmask (&attributes, &none);
  if (errnum == 0)
    errnum = posix_spawnattr_setsigdefault (&attributes, &all);
  if (errnum == 0)
    errnum = posix_spawnattr_setpgroup (&attributes, 0);
  if (errnum == 0)
    errnum = posix_spawnattr_setflags (
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
                   | POSIX_SPAWN_SETPGROUP);
  if (errnum == 0)
    errnum = posix_spawn_file_actions_addopen (&files, STDIN_FILENO,
                                               "/dev/null", O_RDONLY, 0);
  if (errnum == 0)
    errnum = posix_spawn_file_actions_addopen (&files, STDERR_FILENO,
                                               "/dev/null", O_WRONLY, 0);
  if (errnum == 0)
    errnum = posix_spawn_file_actions_adddup2 (&files, output, STDOUT_FILENO);
  if (errnum == 0)
    errnum = posix_spawnp (pid, arguments[0], &files, &attributes, arguments,
                           environ);
  posix_spawnattr_destroy (&attributes);
  posix_spawn_file_actions_destroy (&files);
  return errnum;
}

static void
cleanup_process (struct process *process)
{
  if (process->fd >= 0)
    close (process->fd);
  if (process->pid == 0)
    return;
  kill (-process->pid, SIGKILL);
  while (waitpid (process->pid, NULL, 0) < 0 && errno == EINTR)
    ;
}

/* Fails when it has run for too long, or nobody waits for it any more. */
static enum radio_status
check_wait (const struct process *process)
{
  if (now_ms () >= process->deadline_ms)
    return rd_fail (RADIO_ERROR_IO, "%s: timed out, and was killed",
                    process->where);
  return rd_thread_is_cancelled ()
         ? rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", process->where)
         : RADIO_OK;
}

/* Returns how long it is waited for until that is asked again. */
static int
wait_ms (const struct process *process)
{
  uint64_t ms = now_ms ();
  uint64_t left_ms = ms < process->deadline_ms ? process->deadline_ms - ms : 0;
  if (left_ms > RD_CANCEL_ASK_MS && rd_thread_has_cancel ())
    left_ms = RD_CANCEL_ASK_MS;
  return (int) left_ms;
}

static enum radio_status
read_output (const struct process *process, struct rd_buffer *output)
{
  RD_TRY (rd_buffer_reserve (output, MAX_OUTPUT_NBYTES));
  for (;;) {
    struct pollfd wanted = { process->fd, POLLIN, 0 };
    RD_TRY (check_wait (process));
    int npolled = poll (&wanted, 1, wait_ms (process));
    if (npolled < 0 && errno != EINTR)
      return rd_fail_errno (errno, "%s", process->where);
    if (npolled <= 0)
      continue;
    ssize_t n = read (process->fd, output->data + output->nbytes,
                      MAX_OUTPUT_NBYTES - output->nbytes);
    if (n == 0)
      return RADIO_OK;
    if (n < 0 && errno != EINTR)
      return rd_fail_errno (errno, "%s", process->where);
    output->nbytes += n < 0 ? 0 : (size_t) n;
    if (output->nbytes == MAX_OUTPUT_NBYTES)
      return rd_fail (RADIO_ERROR_FORMAT, "%s: prints %d bytes or more",
                      process->where, MAX_OUTPUT_NBYTES);
  }
}

/* In a program that ignores SIGCHLD the exit status is unknown. */
static enum radio_status
wait_for_end (struct process *process)
{
  const struct timespec pause = { 0, WAIT_MS * 1000000 };
  int status = 0;
  pid_t pid;
  while ((pid = waitpid (process->pid, &status, WNOHANG)) != process->pid) {
    if (pid < 0 && errno != EINTR)
      break;
    RD_TRY (check_wait (process));
    nanosleep (&pause, NULL);
  }
  process->pid = 0;
  if (pid < 0 || (WIFEXITED (status) && WEXITSTATUS (status) == 0))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_PERMISSION, "%s: failed, with %s %d",
                  process->where,
                  WIFEXITED (status) ? "exit status" : "signal",
                  WIFEXITED (status) ? WEXITSTATUS (status)
                                     : WTERMSIG (status));
}

/* No message shows the command: it may contain a secret. */
enum radio_status
rd_s3_process_credentials (const char *command, const char *profile,
                           uint64_t timeout_ms,
                           struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer output = { 0 };
  RD_FREE char *words = rd_malloc (strlen (command) + 2);
  RD_FREE char **arguments = NULL;
  char where[300];
  size_t n = 0;
  if (words == NULL)
    return rd_fail_memory (strlen (command) + 2);
  RD_TRY (rd_s3_split_command (command, words, &n));
  arguments = rd_calloc (n + 1, sizeof *arguments);
  if (arguments == NULL)
    return rd_fail_memory ((n + 1) * sizeof *arguments);
  snprintf (where, sizeof where, "the credential_process of the profile "
            "'%.200s'", profile);
  if (n == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: no command", where);
  char *word = words;
  for (size_t i = 0; i < n; i++, word += strlen (word) + 1)
    arguments[i] = word;
  RD_CLEANUP (cleanup_process) struct process process = {
    .fd = -1, .deadline_ms = now_ms () + timeout_ms, .where = where,
  };
  int fds[2];
  if (pipe2 (fds, O_CLOEXEC) < 0)
    return rd_fail_errno (errno, "%s", where);
  process.fd = fds[0];
  int errnum = spawn (arguments, fds[1], &process.pid);
  close (fds[1]);
  if (errnum != 0) {
    process.pid = 0;
    return rd_fail_errno (errnum, "%s: cannot be run", where);
  }
  RD_TRY (read_output (&process, &output));
  RD_TRY (wait_for_end (&process));
  return rd_s3_credentials_from_json (&output, where, true, credentials);
}
