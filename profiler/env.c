/* SPDX-License-Identifier: MIT */
/* Recording by environment variables: from the call at the beginning of main to
 * the exit of the process.  If a profile cannot be written then, a line goes to
 * standard error, since no caller is left to return an error to. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <radio/profile.h>

#include "src/base/checked.h"
#include "src/base/digest.h"
#include "src/base/environment.h"
#include "src/base/text.h"
#include "src/base/thread.h"
#include "profiler/export/export.h"
#include "profiler/on-demand.h"
#include "profiler/record/process.h"
#include "profiler/record/recorder.h"
#include "profiler/record/recover/rings.h"
#include "profiler/record/slow.h"
#include "profiler/slow-files.h"
#include "profiler/triggers.h"

/* A file with more bytes is no key, but was named by mistake. */
#define KEY_MAX_NBYTES ((size_t) 1 << 20)

/* Names tried in the folder for temporary files. */
#define NAME_TRIES 100

#define RING_NBYTES ((uint64_t) 64 << 20)
#define RING_NFOLDERS 2
#define MAX_EVERY_S 10000000

/* The recording that the environment requests. */
struct request {
  bool is_wanted;
  char *path;                 /* absolute; NULL: slow runs alone */
  char *ring_path;            /* NULL: the first folder in memory */
  struct rd_buffer key;
  struct radio_profile_write_options write;
  struct radio_recorder_options record;
  struct rd_on_demand_options on_demand;
  struct radio_slow_options slow;       /* triggers: NULL if there are none */
  struct rd_slow_files *slow_files;
  char *rescue_path;          /* the temporary file that has it; or NULL */
  bool is_lost;               /* the last one was written nowhere */
  char *reported;             /* why the last snapshot was not written; or
                                 NULL */
};

/* The recording in progress. */
static struct {
  pthread_mutex_t mutex;
  _Atomic pid_t mutex_pid;    /* process that the mutex belongs to, or 0 */
  _Atomic pid_t pid;          /* process that records; children do not */
  bool is_registered;         /* with atexit */
  atomic_bool is_reported;    /* that nothing is recorded */
  struct radio_recorder *recorder;      /* NULL: none */
  struct request request;
  struct rd_on_demand *on_demand;       /* or NULL */
} recording = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void
free_request (struct request *request)
{
  free (request->path);
  free (request->ring_path);
  free (request->rescue_path);
  free (request->reported);
  rd_slow_files_free (request->slow_files);
  rd_buffer_free (&request->key);
  *request = (struct request) { 0 };
}

/*------------------------------------------------------------------------
 * The environment
 *----------------------------------------------------------------------*/

/* NULL if it is empty. */
static const char *
get_variable (const char *name)
{
  const char *value = rd_get_variable (name);
  return value && *value ? value : NULL;
}

/* Expands each "%p" of a pattern to the process's number, and makes it
 * absolute, since the program may change its folder before it exits; it stays
 * relative where the current folder is unknown. */
static enum radio_status
expand_path (const char *pattern, char **path)
{
  char pid[24], folder[4096] = "";
  size_t nmarks = 0;
  snprintf (pid, sizeof pid, "%lld", (long long) getpid ());
  if (*pattern == '/' || getcwd (folder, sizeof folder - 1) == NULL)
    folder[0] = '\0';
  else
    strncat (folder, "/", 2);
  for (const char *p = pattern; (p = strstr (p, "%p")) != NULL; p += 2)
    nmarks++;
  size_t room = strlen (folder) + strlen (pattern) + 1
                + nmarks * strlen (pid);
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

/* Reads a key, all bytes of a file; it may not be empty. */
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
                    key->nbytes ? "larger than 1 MiB, so not a key"
                                : "empty, so not a key");
  return RADIO_OK;
}

/* A size; or the default if there is a file. */
static enum radio_status
read_ring (uint64_t *nbytes)
{
  const char *text = get_variable ("RADIO_PROFILE_RING");
  *nbytes = get_variable ("RADIO_PROFILE_RING_FILE") ? RING_NBYTES : 0;
  if (!text || (rd_parse_size (text, nbytes) && *nbytes > 0))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "RADIO_PROFILE_RING: '%s' is not a "
                  "size such as 64M", text);
}

/* A variable that is a number of things, 1 to most; 0: it is not set. */
static enum radio_status
read_number (const char *name, const char *things, unsigned most,
             unsigned *number)
{
  const char *text = get_variable (name);
  uint64_t value = 0;
  if (text && (!rd_parse_u64 (text, &value) || value == 0 || value > most))
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: '%s' is not a number of %s from "
                    "1 to %u", name, text, things, most);
  *number = (unsigned) value;
  return RADIO_OK;
}

static const struct {
  const char *name;
  int number;
} signal_names[RD_ON_DEMAND_SIGNALS] = {
  { "TERM", SIGTERM }, { "INT", SIGINT }, { "USR1", SIGUSR1 },
};

/* RADIO_PROFILE_SIGNAL, "USR1,TERM", and RADIO_PROFILE_EVERY, seconds. */
static enum radio_status
read_on_demand (struct rd_on_demand_options *options)
{
  const char *list = get_variable ("RADIO_PROFILE_SIGNAL");
  for (const char *p = list; p && *p; p += *p == ',') {
    size_t n = strcspn (p, ","), i = 0;
    const char *name = strncmp (p, "SIG", 3) == 0 ? p + 3 : p;
    size_t nname = n - rd_min_u64 (n, (size_t) (name - p));
    while (i < RD_ON_DEMAND_SIGNALS
           && (strlen (signal_names[i].name) != nname
               || strncmp (signal_names[i].name, name, nname) != 0))
      i++;
    if (i == RD_ON_DEMAND_SIGNALS)
      return rd_fail (RADIO_ERROR_ARGUMENT, "RADIO_PROFILE_SIGNAL: '%.*s' is "
                      "not TERM, INT or USR1", (int) n, p);
    options->signals[i] = signal_names[i].number;
    p += n;
  }
  return read_number ("RADIO_PROFILE_EVERY", "seconds", MAX_EVERY_S,
                      &options->every_s);
}

/* RADIO_PROFILE_SLOW, "read>50ms, decode*>5ms cpu", and how many such runs are
 * written a minute. */
static enum radio_status
read_slow (struct radio_slow_options *options)
{
  const char *text = get_variable ("RADIO_PROFILE_SLOW");
  unsigned per_minute;
  struct rd_triggers triggers;
  RD_TRY (read_number ("RADIO_PROFILE_SLOW_PER_MINUTE", "profiles",
                       RD_SLOW_MOST_PER_MINUTE, &per_minute));
  if (!text)
    return RADIO_OK;
  enum radio_status status = rd_triggers_parse (text, &triggers);
  rd_triggers_free (&triggers);
  if (status != RADIO_OK)
    return rd_fail_in (status, "RADIO_PROFILE_SLOW");
  *options = (struct radio_slow_options) {
    .triggers = text, .report = rd_slow_files_write,
    .per_minute = per_minute,
  };
  return RADIO_OK;
}

static void report_error (void);

static void
report_slow_error (void)
{
  report_error ();
  rd_slow_fail ();
}

/* The files of slow runs are in the folder of the profile. */
static enum radio_status
make_slow_files (struct request *request)
{
  RD_FREE_PLAIN char *folder = NULL;
  RD_TRY (expand_path ("", &folder));
  if (request->path) {
    free (RD_STEAL (folder));
    folder = strdup (request->path);
    char *slash = folder ? strrchr (folder, '/') : NULL;
    if (!folder)
      return rd_fail_memory (strlen (request->path) + 1);
    *(slash ? slash + 1 : folder) = '\0';
  }
  RD_TRY (rd_slow_files_new (folder, rd_profile_suffix (request->write.format),
                             &request->write, report_slow_error,
                             &request->slow_files));
  request->slow.user_data = request->slow_files;
  return RADIO_OK;
}

/* RADIO_PROFILE_SPANS: 0 means the tree alone. */
static enum radio_status
read_spans (struct radio_recorder_options *options)
{
  const char *text = get_variable ("RADIO_PROFILE_SPANS");
  uint64_t n = 0;
  if (text && (!rd_parse_u64 (text, &n) || n > UINT32_MAX))
    return rd_fail (RADIO_ERROR_ARGUMENT, "RADIO_PROFILE_SPANS: '%s' is not a "
                    "number of spans from 0 to %" PRIu32, text, UINT32_MAX);
  options->max_spans = (size_t) n;
  options->tree_only = text && n == 0;
  return RADIO_OK;
}

/* Checks every variable that is set, even where nothing begins a recording. */
static enum radio_status
read_environment (struct request *request)
{
  const char *pattern = get_variable ("RADIO_PROFILE");
  RD_TRY (read_slow (&request->slow));
  RD_TRY (read_spans (&request->record));
  RD_TRY (read_ring (&request->record.ring_nbytes));
  RD_TRY (read_on_demand (&request->on_demand));
  request->is_wanted = pattern || request->slow.triggers;
  if (!request->is_wanted)
    return RADIO_OK;
  request->write.format = RADIO_PROFILE_HTML;
  enum radio_status status
    = pattern ? radio_profile_format_of (pattern, &request->write.format)
              : RADIO_OK;
  if (status != RADIO_OK)
    return rd_fail_in (status, "RADIO_PROFILE");

  if (request->record.ring_nbytes == 0
      && (rd_on_demand_is_wanted (&request->on_demand)
          || request->slow.triggers))
    request->record.ring_nbytes = RING_NBYTES;

  const char *key_path = get_variable ("RADIO_PROFILE_REDACT_KEY");
  if (key_path)
    RD_TRY (read_key (key_path, &request->key));
  request->write.redact = key_path || get_variable ("RADIO_PROFILE_REDACT");
  request->write.redact_key = request->key.data;
  request->write.redact_key_nbytes = request->key.nbytes;
  request->record.whole_process = true;
  request->record.taps = get_variable ("RADIO_PROFILE_TAPS") != NULL;
  const char *ring_pattern = get_variable ("RADIO_PROFILE_RING_FILE");
  if (ring_pattern)
    RD_TRY (expand_path (ring_pattern, &request->ring_path));
  if (pattern)
    RD_TRY (expand_path (pattern, &request->path));
  return request->slow.triggers ? make_slow_files (request) : RADIO_OK;
}

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* Signals that writing sends to this thread when it reaches a limit of the
 * disk, or the standard error's reader is gone: they would end the process,
 * with another status than its own. */
static const int write_signals[] = { SIGXFSZ, SIGPIPE };

struct blocked_signals {
  sigset_t old, pending_before;
};

static void
block_signals (struct blocked_signals *blocked)
{
  sigset_t set;
  sigemptyset (&set);
  for (size_t i = 0; i < sizeof write_signals / sizeof write_signals[0]; i++)
    sigaddset (&set, write_signals[i]);
  sigpending (&blocked->pending_before);
  pthread_sigmask (SIG_BLOCK, &set, &blocked->old);
}

/* Consumes the signals that arrived meanwhile; those that were pending before
 * stay. */
static void
unblock_signals (struct blocked_signals *blocked)
{
  for (size_t i = 0; i < sizeof write_signals / sizeof write_signals[0];
       i++) {
    sigset_t pending, one;
    int taken;
    sigpending (&pending);
    sigemptyset (&one);
    sigaddset (&one, write_signals[i]);
    if (sigismember (&pending, write_signals[i])
        && !sigismember (&blocked->pending_before, write_signals[i]))
      sigwait (&one, &taken);
  }
  pthread_sigmask (SIG_SETMASK, &blocked->old, NULL);
}

/* Writes "FOLDER/radio-profile-PID.json", with a number from the second try
 * on, in the folder for temporary files, readable by the user alone.  A
 * recording has one such file, which each later profile replaces: else one that
 * is written every minute would fill the folder. */
static enum radio_status
write_rescue (const struct radio_profile *profile, struct request *request)
{
  struct radio_profile_write_options options = request->write;
  const char *folder = get_variable ("TMPDIR");
  enum radio_status status = RADIO_ERROR_EXISTS;
  if (folder == NULL || *folder != '/')
    folder = "/tmp";
  options.format = RADIO_PROFILE_JSON;
  if (request->rescue_path)
    return rd_profile_write_file (profile, request->rescue_path, &options,
                                  true, 0600);
  size_t room = strlen (folder) + 64;
  for (unsigned try = 0; status == RADIO_ERROR_EXISTS && try < NAME_TRIES;
       try++) {
    char number[16] = "";
    RD_FREE_PLAIN char *name = malloc (room);
    if (name == NULL)
      return rd_fail_memory (room);
    if (try > 0)
      snprintf (number, sizeof number, "-%u", try);
    snprintf (name, room, "%s/radio-profile-%lld%s.json", folder,
              (long long) getpid (), number);
    status = rd_profile_write_file (profile, name, &options, false, 0600);
    if (status == RADIO_OK)
      request->rescue_path = RD_STEAL (name);
  }
  return status;
}

/* Leaves a trace of a profile that could not be written there, by which the
 * command that runs this program ('radio profile -- PROGRAM') knows. */
static void
touch_folder (const char *path)
{
  const char *slash = strrchr (path, '/');
  RD_FREE_PLAIN char *folder = slash ? strndup (path, (size_t) (slash - path))
                                     : NULL;
  if (folder)
    (void) !utimensat (AT_FDCWD, folder, NULL, 0);
}

/* Writes to the file; or, if that fails, the data to a temporary file. */
static enum radio_status
write_profile (const struct radio_profile *profile, struct request *request,
               char **path)
{
  struct rd_error error;
  enum radio_status status = rd_profile_write_file (
    profile, request->path, &request->write, true, 0666);
  request->is_lost = false;
  if (status == RADIO_OK) {
    *path = strdup (request->path);
    return *path ? RADIO_OK : rd_fail_memory (strlen (request->path));
  }
  rd_error_save (&error, status);
  touch_folder (request->path);
  if (write_rescue (profile, request) == RADIO_OK) {
    *path = strdup (request->rescue_path);
    return rd_fail (status, "%s; the profile is in %s", error.message,
                    request->rescue_path);
  }
  char second[RD_ERROR_NBYTES];
  request->is_lost = true;
  memcpy (second, radio_error_message (), sizeof second);
  return rd_fail (status, "%s; the profile is lost, since %s", error.message,
                  second);
}

/*------------------------------------------------------------------------
 * Begin and end
 *----------------------------------------------------------------------*/

/* Where the profile that would say so is not written. */
static void
report_unused_triggers (const struct radio_profile *profile)
{
  const char *names = rd_profile_find_fact (profile, RD_FACT_SLOW_UNKNOWN);
  if (!names)
    return;
  (void) !rd_fail (RADIO_ERROR_NOT_FOUND, "RADIO_PROFILE_SLOW: no scope that "
                   "ran has such a name: %s; use names as in the call tree",
                   names);
  report_error ();
}

/* Prefixes the message with the path of the profile. */
static enum radio_status
fail_without_profile (enum radio_status status, const struct request *request)
{
  return request->path
         ? rd_fail_in (status, "%s: no profile was made", request->path)
         : status;
}

/* Stops the recorder and writes the profile.  The ring's file stays if no file
 * has the profile. */
static enum radio_status
end_recording (struct radio_recorder *recorder, struct request *request,
               char **written)
{
  RD_PROFILE_SCOPE struct radio_profile *profile = NULL;
  RD_FREE_PLAIN char *ring = NULL;
  struct blocked_signals blocked;
  struct rd_error error;
  block_signals (&blocked);
  enum radio_status status = rd_recorder_finish (recorder, &profile);
  request->is_lost = status != RADIO_OK;
  if (status != RADIO_OK)
    status = fail_without_profile (status, request);
  else if (request->path)
    status = write_profile (profile, request, written);
  else
    report_unused_triggers (profile);
  unblock_signals (&blocked);
  rd_error_save (&error, status);
  if (request->path && request->is_lost)
    rd_recorder_give_file (recorder, &ring);
  rd_recorder_release (recorder);
  if (status == RADIO_OK)
    return RADIO_OK;
  return ring ? rd_fail (status, "%s; recover it by 'radio profile recover "
                         "%s'", error.message, ring)
              : rd_error_raise (&error);
}

static bool
is_own_process (void)
{
  return atomic_load (&recording.pid) == getpid ();
}

/* on_demand: to be freed by the caller once it has reported what is wrong, for
 * then a signal that came meanwhile may end the process. */
static enum radio_status
finish (char **path, struct rd_on_demand **on_demand)
{
  RD_CLEANUP (free_request) struct request request = { 0 };
  RD_FREE_PLAIN char *written = NULL;
  struct radio_recorder *recorder;
  *on_demand = NULL;
  if (path)
    *path = NULL;
  /* In a child of fork another thread may have held the mutex. */
  if (!is_own_process ())
    return RADIO_OK;
  pthread_mutex_lock (&recording.mutex);
  recorder = RD_STEAL (recording.recorder);
  *on_demand = RD_STEAL (recording.on_demand);
  if (recorder) {
    request = recording.request;
    recording.request = (struct request) { 0 };
  }
  pthread_mutex_unlock (&recording.mutex);
  rd_on_demand_stop (*on_demand);
  if (recorder == NULL)
    return RADIO_OK;
  enum radio_status status = end_recording (recorder, &request, &written);
  if (path)
    *path = RD_STEAL (written);
  return status;
}

enum radio_status
radio_profile_finish_env (char **path)
{
  struct rd_on_demand *on_demand;
  struct rd_error error;
  RD_NO_CANCEL_SCOPE ();
  enum radio_status status = finish (path, &on_demand);
  rd_error_save (&error, status);
  rd_on_demand_free (on_demand);
  return status == RADIO_OK ? RADIO_OK : rd_error_raise (&error);
}

enum radio_status
radio_profile_env_fact (const char *key, const char *value,
                        enum radio_text_kind kind)
{
  RD_NOT_NULL (key);
  RD_NOT_NULL (value);
  if (!is_own_process ())
    return RADIO_OK;
  RD_LOCK_SCOPE (&recording.mutex);
  return recording.recorder
         ? radio_recorder_fact (recording.recorder, key, value, kind)
         : RADIO_OK;
}

/* Prints an error as one line, in one call, so that lines of several
 * processes do not mix. */
static void
report_error (void)
{
  char line[RD_ERROR_NBYTES + 16];
  struct blocked_signals blocked;
  int n = snprintf (line, sizeof line, "radio: %s\n",
                    radio_error_message ());
  block_signals (&blocked);
  if (n > 0 && write (STDERR_FILENO, line, (size_t) n) < 0)
    errno = 0;                /* nothing is left to do */
  unblock_signals (&blocked);
}

static void
write_at_exit (void)
{
  struct rd_on_demand *on_demand;
  RD_NO_CANCEL_SCOPE ();
  if (finish (NULL, &on_demand) != RADIO_OK)
    report_error ();
  rd_on_demand_free (on_demand);
}

static enum radio_status
write_snapshot (char **written)
{
  RD_PROFILE_SCOPE struct radio_profile *profile = NULL;
  struct blocked_signals blocked;
  enum radio_status status = radio_recorder_snapshot (recording.recorder,
                                                      &profile);
  if (status != RADIO_OK)
    return fail_without_profile (status, &recording.request);
  block_signals (&blocked);
  status = write_profile (profile, &recording.request, written);
  unblock_signals (&blocked);
  return status;
}

/* Reports what went wrong with a snapshot, if it is not the same as before:
 * there may be one a second. */
static void
report_snapshot (enum radio_status status)
{
  char **reported = &recording.request.reported;
  const char *message = status == RADIO_OK ? "" : radio_error_message ();
  if (status != RADIO_OK && *reported && strcmp (*reported, message) == 0)
    return;
  free (RD_STEAL (*reported));
  if (status == RADIO_OK)
    return;
  *reported = strdup (message);
  report_error ();
}

/* Called by the thread of rd_on_demand_start.  The last time, before a signal
 * ends the process, the recording ends, so that nothing of it is left. */
static bool
write_on_demand (bool is_last)
{
  RD_FREE_PLAIN char *written = NULL;
  rd_thread_hide ();
  RD_LOCK_SCOPE (&recording.mutex);
  /* The end of the recording takes recorder and on_demand; a signal that the
   * program survived took the recorder alone. */
  if (!recording.recorder)
    return recording.on_demand != NULL;
  if (!recording.request.path && !is_last)
    return true;
  if (!is_last)
    report_snapshot (write_snapshot (&written));
  else if (end_recording (RD_STEAL (recording.recorder), &recording.request,
                          &written) != RADIO_OK)
    report_error ();
  rd_thread_charge (recording.recorder);
  return true;
}

/* Reports that nothing is recorded though a recording was asked for, once; but
 * not where an empty RADIO_PROFILE turns it off. */
static void
report_no_recording (void)
{
  static const char *const names[] = {
    "RADIO_PROFILE_RING", "RADIO_PROFILE_RING_FILE", "RADIO_PROFILE_SIGNAL",
    "RADIO_PROFILE_EVERY",
  };
  const char *name = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !name; i++)
    name = get_variable (names[i]) ? names[i] : NULL;
  if (!name || rd_get_variable ("RADIO_PROFILE")
      || atomic_exchange (&recording.is_reported, true))
    return;
  (void) !rd_fail (RADIO_ERROR_ARGUMENT, "%s: nothing is recorded, since "
                   "RADIO_PROFILE is not set; name the profile's file by "
                   "RADIO_PROFILE=FILE", name);
  report_error ();
}

/* Reports that the ring is lost if the process is killed: at once where a ring
 * or its file was asked for, for then it is too late. */
static void
report_no_file (struct radio_recorder *recorder, const char *why)
{
  (void) !radio_recorder_fact (recorder, RD_FACT_NO_FILE, why,
                               RADIO_TEXT_NAME);
  if (!get_variable ("RADIO_PROFILE_RING")
      && !get_variable ("RADIO_PROFILE_RING_FILE"))
    return;
  (void) !rd_fail (RADIO_ERROR_IO, "%s; the ring has no file, so nothing is "
                   "left of it if the process is killed; name one by "
                   "RADIO_PROFILE_RING_FILE", why);
  report_error ();
}

/* Reports that the ring has another file than the one that was asked for. */
static void
report_other_file (const char *why, const char *path)
{
  (void) !rd_fail (RADIO_ERROR_IO, "%s; the ring is in %s instead", why, path);
  report_error ();
}

/* The i-th folder for rings without a file of their own, in the order in which
 * they are tried; NULL: no such folder, or tried already. */
static const char *
ring_folder (size_t i)
{
  static const char shared[] = "/dev/shm";
  const char *own = get_variable ("XDG_RUNTIME_DIR");
  if (i == 0)
    return own;
  return own && strcmp (own, shared) == 0 ? NULL : shared;
}

enum radio_status
radio_profile_list_rings (radio_ring_fn *each, void *user_data)
{
  RD_NOT_NULL (each);
  for (size_t i = 0; i < RING_NFOLDERS; i++)
    if (ring_folder (i))
      RD_TRY (rd_rings_list (ring_folder (i), each, user_data));
  return RADIO_OK;
}

/* Starts the recorder with a ring in a folder, whose path it sets.  A process
 * of another container may have this one's number, and its name. */
static bool
start_in_folder (const struct radio_recorder_options *options,
                 const char *folder, char *path, size_t room,
                 struct radio_recorder **recorder)
{
  struct radio_recorder_options own = *options;
  enum radio_status status = RADIO_ERROR_EXISTS;
  own.ring_file = path;
  for (unsigned i = 0; status == RADIO_ERROR_EXISTS && i < NAME_TRIES; i++) {
    char number[16] = "";
    if (i > 0)
      snprintf (number, sizeof number, "-%u", i + 1);
    int n = snprintf (path, room, "%s/" RD_RING_PREFIX "%lld%s", folder,
                      (long long) getpid (), number);
    if (n < 0 || (size_t) n >= room)
      return false;
    status = radio_recorder_start (&own, recorder);
  }
  return status == RADIO_OK;
}

/* Starts the recorder: a ring without a file of its own, or whose own cannot be
 * made, is in the first of these folders that has room for it, else it has no
 * file. */
static enum radio_status
start_recorder (const struct request *request,
                struct radio_recorder **recorder)
{
  struct radio_recorder_options options = request->record;
  char why[RD_ERROR_NBYTES] = "";
  options.slow = request->slow.triggers ? &request->slow : NULL;
  options.ring_file = request->ring_path;
  if (request->ring_path) {
    if (radio_recorder_start (&options, recorder) == RADIO_OK)
      return RADIO_OK;
    snprintf (why, sizeof why, "%s", radio_error_message ());
    options.ring_file = NULL;
  }
  for (size_t i = 0; i < RING_NFOLDERS; i++) {
    char path[4096];
    const char *folder = ring_folder (i);
    if (options.ring_nbytes == 0 || !folder)
      continue;
    if (start_in_folder (&options, folder, path, sizeof path, recorder)) {
      if (request->ring_path)
        report_other_file (why, path);
      return RADIO_OK;
    }
    if (!*why)
      snprintf (why, sizeof why, "%s", radio_error_message ());
  }
  enum radio_status status = radio_recorder_start (&options, recorder);
  if (status == RADIO_ERROR_MEMORY && options.ring_nbytes > 0)
    return rd_fail_in (status, "RADIO_PROFILE_RING");
  RD_TRY (status);
  if (*why)
    report_no_file (*recorder, why);
  return RADIO_OK;
}

enum radio_status
radio_profile_from_env (void)
{
  RD_CLEANUP (free_request) struct request request = { 0 };
  RD_NO_CANCEL_SCOPE ();
  RD_TRY (read_environment (&request));
  if (!request.is_wanted) {
    report_no_recording ();
    return RADIO_OK;
  }

  /* In a child of fork a thread of the parent may hold the mutex: so the child
   * initialises it again. */
  pid_t pid = getpid (), owner = atomic_load (&recording.mutex_pid);
  if (owner != pid
      && atomic_compare_exchange_strong (&recording.mutex_pid, &owner, pid)
      && owner != 0)
    pthread_mutex_init (&recording.mutex, NULL);
  RD_LOCK_SCOPE (&recording.mutex);
  if (recording.recorder != NULL && is_own_process ())
    return RADIO_OK;
  if (recording.recorder != NULL) {     /* the parent's, before fork */
    (void) !radio_recorder_stop (RD_STEAL (recording.recorder), NULL);
    free_request (&recording.request);
  }
  /* The last handler is called first: OpenSSL's, which frees what pages and
   * pseudonyms need, must be registered before. */
  if (request.write.redact || request.write.format == RADIO_PROFILE_HTML)
    rd_digest_sha256 ();
  if (!recording.is_registered && atexit (write_at_exit) != 0)
    return rd_fail_memory (sizeof recording);
  recording.is_registered = true;
  RD_TRY (start_recorder (&request, &recording.recorder));
  atomic_store (&recording.pid, getpid ());
  recording.request = request;
  request = (struct request) { 0 };
  recording.on_demand = NULL;
  if (!rd_on_demand_is_wanted (&recording.request.on_demand))
    return RADIO_OK;
  return rd_on_demand_start (&recording.request.on_demand, write_on_demand,
                             &recording.on_demand);
}
