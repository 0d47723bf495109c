/* SPDX-License-Identifier: MIT */
/* Recording that the environment asks for: from the call at the beginning of
 * main to the exit of the process.  The only file of the library that reads
 * the environment, that keeps state of the process, and that ever writes to
 * the standard error: when a profile could not be written at exit there is
 * nobody else left to tell. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <radio/profile.h>

#include "profiler/export/export.h"

/* A key of more bytes is no key but a file given by mistake. */
#define KEY_MAX_NBYTES ((size_t) 1 << 20)

/* Names tried in the folder for temporary files. */
#define NAME_TRIES 100

/* What the environment says. */
struct request {
  char *path;                 /* absolute; NULL: nothing is asked for */
  struct rd_buffer key;
  struct radio_profile_write_options write;
  struct radio_recorder_options record;
};

/* The recording that is on. */
static struct {
  pthread_mutex_t mutex;
  _Atomic pid_t mutex_pid;    /* whose the mutex is; 0: nobody used it yet */
  _Atomic pid_t pid;          /* who records; a child of fork does not */
  bool is_registered;         /* with atexit */
  struct radio_recorder *recorder;      /* NULL: none */
  struct request request;
} recording = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void
free_request (struct request *request)
{
  free (request->path);
  rd_buffer_free (&request->key);
  *request = (struct request) { 0 };
}

/*------------------------------------------------------------------------
 * The environment
 *----------------------------------------------------------------------*/

/* A variable, or NULL where it is empty.  A program that runs with rights
 * that its user lacks does not write where the user says. */
static const char *
get_variable (const char *name)
{
#ifdef HAVE_SECURE_GETENV
  const char *value = secure_getenv (name);
#else
  const char *value = geteuid () == getuid () && getegid () == getgid ()
                        ? getenv (name) : NULL;
#endif
  return value && *value ? value : NULL;
}

/* The current folder and a slash, for a relative path: the program may go
 * elsewhere before it exits.  "" where that cannot be told. */
static char *
folder_of (const char *path)
{
  char room[4096];
  if (*path == '/' || getcwd (room, sizeof room - 1) == NULL)
    return strdup ("");
  strncat (room, "/", 2);
  return strdup (room);
}

/* How often "%p" stands in a pattern. */
static size_t
count_marks (const char *pattern)
{
  size_t n = 0;
  while ((pattern = strstr (pattern, "%p")) != NULL) {
    pattern += 2;
    n++;
  }
  return n;
}

/* FOLDER and PATTERN, with the process's number for each "%p". */
static enum radio_status
expand_path (const char *pattern, char **path)
{
  char pid[24];
  snprintf (pid, sizeof pid, "%lld", (long long) getpid ());
  RD_FREE_PLAIN char *folder = folder_of (pattern);
  if (folder == NULL)
    return rd_fail_memory (strlen (pattern));
  size_t room = strlen (folder) + strlen (pattern) + 1
                + count_marks (pattern) * strlen (pid);
  char *to = malloc (room);
  if (to == NULL)
    return rd_fail_memory (room);
  *path = to;
  memcpy (to, folder, strlen (folder));
  to += strlen (folder);
  while (*pattern != '\0') {
    bool is_mark = strncmp (pattern, "%p", 2) == 0;
    size_t n = is_mark ? strlen (pid) : 1;
    memcpy (to, is_mark ? pid : pattern, n);
    to += n;
    pattern += is_mark ? 2 : 1;
  }
  *to = '\0';
  return RADIO_OK;
}

/* A number of spans; 0 asks for the tree alone. */
static enum radio_status
read_spans (struct radio_recorder_options *options)
{
  const char *text = get_variable ("RADIO_PROFILE_SPANS");
  uint64_t value = 0;
  if (text == NULL)
    return RADIO_OK;
  for (const char *p = text; *p != '\0' && value <= UINT32_MAX; p++)
    value = *p >= '0' && *p <= '9' ? 10 * value + (uint64_t) (*p - '0')
                                   : UINT64_MAX;
  if (value > UINT32_MAX)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "RADIO_PROFILE_SPANS is \"%s\", not a number of 0 to"
                    " 2^32 - 1", text);
  options->max_spans = (size_t) value;
  options->tree_only = value == 0;
  return RADIO_OK;
}

/* The bytes of a file, all of them; it may not be empty. */
static enum radio_status
read_key (const char *path, struct rd_buffer *key)
{
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return rd_fail_errno (errno, "RADIO_PROFILE_REDACT_KEY: %s", path);
  RD_TRY (rd_buffer_reserve (key, KEY_MAX_NBYTES + 1));
  ssize_t n;
  while (key->nbytes < key->capacity
         && (n = read (fd, key->data + key->nbytes,
                       key->capacity - key->nbytes)) != 0) {
    if (n < 0 && errno != EINTR)
      return rd_fail_errno (errno, "RADIO_PROFILE_REDACT_KEY: %s", path);
    key->nbytes += n < 0 ? 0 : (size_t) n;
  }
  if (key->nbytes == 0 || key->nbytes > KEY_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "RADIO_PROFILE_REDACT_KEY: %s: %s", path,
                    key->nbytes ? "is larger than 1 MiB, no key"
                                : "is empty, no key");
  return RADIO_OK;
}

/* Whoever gives a key wants pseudonyms. */
static enum radio_status
read_redacting (struct request *request)
{
  const char *path = get_variable ("RADIO_PROFILE_REDACT_KEY");
  request->write.redact = path || get_variable ("RADIO_PROFILE_REDACT");
  if (path)
    RD_TRY (read_key (path, &request->key));
  request->write.redact_key = request->key.data;
  request->write.redact_key_nbytes = request->key.nbytes;
  return RADIO_OK;
}

static enum radio_status
read_environment (struct request *request)
{
  const char *pattern = get_variable ("RADIO_PROFILE");
  if (pattern == NULL)
    return RADIO_OK;
  enum radio_status status
    = radio_profile_format_of (pattern, &request->write.format);
  if (status != RADIO_OK)
    return rd_fail_in (status, "RADIO_PROFILE");
  RD_TRY (read_spans (&request->record));
  RD_TRY (read_redacting (request));
  request->record.whole_process = true;
  request->record.taps = get_variable ("RADIO_PROFILE_TAPS") != NULL;
  return expand_path (pattern, &request->path);
}

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* Signals that writing sends to this thread where the disk's limit is
 * reached or nobody reads the standard error: they would end the process,
 * with a status that is not its own. */
struct held_signals {
  sigset_t old, pending_before;
};

static void
fill_signals (sigset_t *set)
{
  sigemptyset (set);
  sigaddset (set, SIGXFSZ);
  sigaddset (set, SIGPIPE);
}

static void
hold_signals (struct held_signals *held)
{
  sigset_t set;
  fill_signals (&set);
  sigpending (&held->pending_before);
  pthread_sigmask (SIG_BLOCK, &set, &held->old);
}

/* What came meanwhile is taken; what was waiting before stays. */
static void
release_signals (struct held_signals *held)
{
  static const int signals[] = { SIGXFSZ, SIGPIPE };
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    sigset_t pending, one;
    int taken;
    sigpending (&pending);
    sigemptyset (&one);
    sigaddset (&one, signals[i]);
    if (sigismember (&pending, signals[i])
        && !sigismember (&held->pending_before, signals[i]))
      sigwait (&one, &taken);
  }
  pthread_sigmask (SIG_SETMASK, &held->old, NULL);
}

/* "FOLDER/radio-profile-PID.json", with a number from the second try on. */
static char *
name_rescue (const char *folder, unsigned try)
{
  size_t room = strlen (folder) + 64;
  char *path = malloc (room);
  if (path == NULL)
    return NULL;
  int n = snprintf (path, room, "%s/radio-profile-%lld", folder,
                    (long long) getpid ());
  if (try > 0)
    snprintf (path + n, room - (size_t) n, "-%u.json", try);
  else
    snprintf (path + n, room - (size_t) n, ".json");
  return path;
}

/* Write where there is mostly room, for the user's eyes alone. */
static enum radio_status
rescue (const struct radio_profile *profile, const struct request *request,
        char **path)
{
  struct radio_profile_write_options options = request->write;
  const char *folder = get_variable ("TMPDIR");
  enum radio_status status = RADIO_ERROR_EXISTS;
  if (folder == NULL || *folder != '/')
    folder = "/tmp";
  options.format = RADIO_PROFILE_JSON;
  for (unsigned try = 0; status == RADIO_ERROR_EXISTS && try < NAME_TRIES;
       try++) {
    RD_FREE_PLAIN char *name = name_rescue (folder, try);
    if (name == NULL)
      return rd_fail_memory (strlen (folder));
    status = rd_profile_write_file (profile, name, &options, false, 0600);
    if (status == RADIO_OK)
      *path = RD_STEAL (name);
  }
  return status;
}

/* To the file; or, when that fails, the data somewhere else. */
static enum radio_status
write_profile (const struct radio_profile *profile,
               const struct request *request, char **path)
{
  struct rd_error error;
  enum radio_status status = rd_profile_write_file (
    profile, request->path, &request->write, true, 0666);
  if (status == RADIO_OK) {
    *path = strdup (request->path);
    return *path ? RADIO_OK : rd_fail_memory (strlen (request->path));
  }
  rd_error_save (&error, status);
  if (rescue (profile, request, path) == RADIO_OK)
    return rd_fail (status, "%s; the profile is in %s", error.message, *path);
  char second[RD_ERROR_NBYTES];
  memcpy (second, radio_error_message (), sizeof second);
  return rd_fail (status, "%s; the profile is lost, since %s", error.message,
                  second);
}

/*------------------------------------------------------------------------
 * Beginning and end
 *----------------------------------------------------------------------*/

static bool
is_own_process (void)
{
  return atomic_load (&recording.pid) == getpid ();
}

/* Take the recording out of the process's state; false: there is none. */
static bool
take_recording (struct radio_recorder **recorder, struct request *request)
{
  RD_LOCK_SCOPE (&recording.mutex);
  if (recording.recorder == NULL)
    return false;
  *recorder = RD_STEAL (recording.recorder);
  *request = recording.request;
  recording.request = (struct request) { 0 };
  return true;
}

enum radio_status
radio_profile_finish_env (char **path)
{
  RD_CLEANUP (free_request) struct request request = { 0 };
  RD_PROFILE_SCOPE struct radio_profile *profile = NULL;
  RD_FREE_PLAIN char *written = NULL;
  struct radio_recorder *recorder;
  struct held_signals held;
  if (path)
    *path = NULL;
  /* In a child of fork another thread may have held the mutex. */
  if (!is_own_process () || !take_recording (&recorder, &request))
    return RADIO_OK;
  RD_TRY (radio_recorder_stop (recorder, &profile));
  hold_signals (&held);
  enum radio_status status = write_profile (profile, &request, &written);
  release_signals (&held);
  if (path)
    *path = RD_STEAL (written);
  return status;
}

enum radio_status
radio_profile_env_fact (const char *key, const char *value,
                        enum radio_text_kind kind)
{
  if (!is_own_process ())
    return RADIO_OK;
  RD_LOCK_SCOPE (&recording.mutex);
  return recording.recorder
         ? radio_recorder_fact (recording.recorder, key, value, kind)
         : RADIO_OK;
}

/* One line, at once: so that lines of several processes do not mix. */
static void
tell (const char *message)
{
  char line[RD_ERROR_NBYTES + 16];
  struct held_signals held;
  int n = snprintf (line, sizeof line, "radio: %s\n", message);
  hold_signals (&held);
  if (n > 0 && write (STDERR_FILENO, line, (size_t) n) < 0)
    errno = 0;                /* nobody is left to tell that, either */
  release_signals (&held);
}

static void
write_at_exit (void)
{
  if (radio_profile_finish_env (NULL) != RADIO_OK)
    tell (radio_error_message ());
}

/* In a child of fork a thread that is only the parent's may hold the mutex:
 * it is made anew there. */
static void
own_mutex (void)
{
  pid_t pid = getpid (), owner = atomic_load (&recording.mutex_pid);
  if (owner != pid
      && atomic_compare_exchange_strong (&recording.mutex_pid, &owner, pid)
      && owner != 0)
    pthread_mutex_init (&recording.mutex, NULL);
}

/* What a parent recorded before fork is nothing of this process's. */
static void
forget_parent (void)
{
  if (recording.recorder == NULL || is_own_process ())
    return;
  (void) !radio_recorder_stop (RD_STEAL (recording.recorder), NULL);
  free_request (&recording.request);
}

enum radio_status
radio_profile_from_env (void)
{
  RD_CLEANUP (free_request) struct request request = { 0 };
  RD_TRY (read_environment (&request));
  if (request.path == NULL)
    return RADIO_OK;
  own_mutex ();
  RD_LOCK_SCOPE (&recording.mutex);
  forget_parent ();
  if (recording.recorder != NULL)
    return RADIO_OK;
  if (!recording.is_registered && atexit (write_at_exit) != 0)
    return rd_fail_memory (sizeof recording);
  recording.is_registered = true;
  RD_TRY (radio_recorder_start (&request.record, &recording.recorder));
  atomic_store (&recording.pid, getpid ());
  recording.request = request;
  request = (struct request) { 0 };
  return RADIO_OK;
}
