/* SPDX-License-Identifier: MIT */
/* The engine's thread: takes tasks, keeps some of them under way in one
 * multi handle of libcurl, looks at those that ended or that nothing is
 * heard of, and begins them again or tells of their end. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "io/http/engine.h"

/* The thread looks at its clocks this often, at least while it is busy. */
#define MAX_POLL_MS 1000
#define MAX_IDLE_MS 60000

struct list {
  struct rd_http_task *first, **last;
};

struct rd_http {
  struct rd_http_options options;     /* without zeros; texts are owned */
  pid_t pid;                          /* who opened it */
  pthread_t thread;
  CURLM *multi;

  pthread_mutex_t mutex;
  struct {
    struct list coming;
    bool closing;
  } synced;

  /* The thread's own. */
  struct rd_http_manners manners;
  struct rd_http_hedges hedges;
  struct rd_http_ahead ahead;
  struct list waiting;                /* to be begun, or begun again */
  struct rd_http_task *active;
  unsigned nactive;                   /* attempts of these */
};

static void
list_append (struct list *list, struct rd_http_task *task)
{
  task->next = NULL;
  *list->last = task;
  list->last = &task->next;
}

static void
list_prepend (struct list *list, struct rd_http_task *task)
{
  task->next = list->first;
  if (!list->first)
    list->last = &task->next;
  list->first = task;
}

/* Take what `at' points to. */
static struct rd_http_task *
list_take (struct list *list, struct rd_http_task **at)
{
  struct rd_http_task *task = *at;
  *at = task->next;
  if (list->last == &task->next)
    list->last = at;
  task->next = NULL;
  return task;
}

/*------------------------------------------------------------------------
 * Tasks that end
 *----------------------------------------------------------------------*/

static const struct radio_site queued_site = {
  "queued", RD_IN_QUEUE, "rd_http_submit", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site retry_site = {
  "wait for retry", RD_IN_NETWORK, "try_again", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site hedge_site = {
  "hedge", RD_IN_NETWORK, "begin_hedge", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static void
tell_hedges (const struct rd_http_task *task)
{
  if (task->nhedges == 0)
    return;
  radio_async_add (task->request, &rd_count_hedges, task->nhedges);
  radio_async_text (task->request, "hedge",
                    task->was_overtaken ? "won" : "lost", RADIO_TEXT_PLAIN);
}

static void
tell_request (const struct rd_http_task *task)
{
  char status[16];
  struct radio_async *request = task->request;
  if (request == NULL)
    return;
  if (task->answer.status > 0) {
    snprintf (status, sizeof status, "%u", task->answer.status);
    radio_async_text (request, "status", status, RADIO_TEXT_PLAIN);
  }
  if (task->nattempts > 1)
    radio_async_add (request, &rd_count_retries, task->nattempts - 1);
  tell_hedges (task);
}

static void
end_task (struct rd_http_task *task, enum radio_status status)
{
  task->error.status = status;
  if (status == RADIO_OK)
    task->error.message[0] = '\0';
  else
    rd_error_save (&task->error, status);
  tell_request (task);
  task->done (task);
}

/*------------------------------------------------------------------------
 * Attempts that end
 *----------------------------------------------------------------------*/

static bool
start (struct rd_http *http, struct rd_http_attempt *attempt)
{
  uint64_t now_ns = rd_http_now ();
  attempt->begin_ns = attempt->heard_ns = attempt->asked_ns = now_ns;
  attempt->alone_ns = now_ns;
  if (curl_multi_add_handle (http->multi, attempt->easy) != CURLM_OK)
    return false;
  http->nactive++;
  return true;
}

static void
stop (struct rd_http *http, struct rd_http_attempt *attempt)
{
  curl_multi_remove_handle (http->multi, attempt->easy);
  http->nactive--;
}

/* The other one of two goes on alone. */
static void
drop (struct rd_http *http, struct rd_http_attempt *attempt)
{
  struct rd_http_task *task = attempt->task;
  task->was_overtaken = task->attempt == attempt;
  task->attempt = rd_http_rival_of (attempt);
  task->rival = NULL;
  stop (http, attempt);
  rd_http_attempt_close (attempt);
}

static void
forget_active (struct rd_http *http, struct rd_http_task *task)
{
  struct rd_http_task **at = &http->active;
  while (*at != task)
    at = &(*at)->next;
  *at = task->next;
}

/* Before those that were not begun yet: its time is running. */
static void
try_again (struct rd_http *http, struct rd_http_task *task)
{
  radio_async_phase (task->request, &retry_site);
  list_prepend (&http->waiting, task);
}

/* What the next tasks learn of one that was answered. */
static void
praise (struct rd_http *http, const struct rd_http_task *task)
{
  rd_http_manners_praise (&http->manners, task);
  if (task->method == RD_HTTP_GET && rd_http_is_good (task->answer.status))
    rd_http_hedges_note (&http->hedges, task->attempt->waited_ns);
}

/* The only attempt of a task ended. */
static void
finish_task (struct rd_http *http, struct rd_http_task *task, CURLcode code)
{
  struct rd_http_attempt *attempt = task->attempt;
  stop (http, attempt);
  forget_active (http, task);
  struct rd_http_outcome outcome = rd_http_judge (attempt, code);
  bool is_answer = outcome.code == CURLE_OK && outcome.next == RD_HTTP_END;
  if (is_answer)
    praise (http, task);
  bool again = rd_http_manners_again (&http->manners, &http->options, task,
                                      outcome.code, outcome.next,
                                      rd_http_now ());
  rd_http_attempt_close (RD_STEAL (task->attempt));
  if (again)
    try_again (http, task);
  else
    end_task (task, outcome.status);
}

/* One of two was told to come again.  That the other one is slow was to be
 * helped, and was not: after as long a wait again it may be once more. */
static void
heed_shunned (struct rd_http *http, const struct rd_http_attempt *attempt,
              struct rd_http_attempt *rival)
{
  uint64_t now_ns = rd_http_now ();
  rd_http_manners_heed (&http->manners, attempt->shunned_status,
                        attempt->begin_ns, now_ns);
  rival->is_hedged = false;
  rival->alone_ns = now_ns;
}

/* One of two that nothing was heard of, or nothing that helps, has not failed
 * the task. */
static void
finish_attempt (struct rd_http *http, struct rd_http_attempt *attempt,
                CURLcode code)
{
  struct rd_http_task *task = attempt->task;
  struct rd_http_attempt *rival = rd_http_rival_of (attempt);
  if (rival && !attempt->has_byte) {
    if (attempt->is_shunned)
      heed_shunned (http, attempt, rival);
    drop (http, attempt);
    return;
  }
  if (rival)
    drop (http, rival);
  finish_task (http, task, code);
}

static void
take_finished (struct rd_http *http)
{
  CURLMsg *message;
  for (int n; (message = curl_multi_info_read (http->multi, &n));) {
    struct rd_http_attempt *attempt = NULL;
    CURLcode code = message->data.result;
    curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE,
                       (char **) &attempt);
    finish_attempt (http, attempt, code);
  }
}

/*------------------------------------------------------------------------
 * Clocks
 *----------------------------------------------------------------------*/

/* A second for each of them is what a slow link takes. */
#define SLOW_NBYTES 32768

/* What the kernel may still have of what was sent. */
#define MAX_UNSENT_NBYTES (UINT64_C (4) << 20)

static uint64_t
patience_ns (const struct rd_http *http,
             const struct rd_http_attempt *attempt)
{
  uint64_t ms = attempt->has_byte ? http->options.stall_timeout_ms
                                  : http->options.first_byte_timeout_ms;
  if (!attempt->has_byte)
    ms += rd_min_u64 (attempt->sent_nbytes, MAX_UNSENT_NBYTES) * 1000
          / SLOW_NBYTES;
  return attempt->is_sent ? ms * 1000000 : UINT64_MAX;
}

/* Who keeps sending or taking gets more time. */
static uint64_t
allowed_ns (const struct rd_http *http,
            const struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  uint64_t nbytes = attempt->sent_nbytes;
  if (attempt->is_accepted && task->into)
    nbytes += task->into->nbytes;
  return rd_add_sat (http->options.deadline_ms * 1000000,
                     rd_mul_sat (nbytes, 1000000000) / SLOW_NBYTES);
}

static bool
is_overdue (const struct rd_http *http,
            const struct rd_http_attempt *attempt, uint64_t now_ns)
{
  return now_ns - attempt->heard_ns >= patience_ns (http, attempt)
         || now_ns - attempt->task->begin_ns >= allowed_ns (http, attempt);
}

static void
give_up_on (struct rd_http *http, struct rd_http_attempt *attempt)
{
  uint64_t silent_ns = rd_http_now () - attempt->heard_ns;
  if (silent_ns >= patience_ns (http, attempt))
    snprintf (attempt->message, sizeof attempt->message,
              "nothing came for %" PRIu64 " ms", silent_ns / 1000000);
  else
    snprintf (attempt->message, sizeof attempt->message,
              "it takes longer than %" PRIu64 " ms",
              http->options.deadline_ms);
  finish_attempt (http, attempt, CURLE_OPERATION_TIMEDOUT);
}

/* As soon as one of two is answered, outside of libcurl's callbacks. */
static void
end_hedge (struct rd_http *http, struct rd_http_task *task)
{
  if (rd_http_is_beaten (task->attempt))
    drop (http, task->attempt);
  else if (task->rival && rd_http_is_beaten (task->rival))
    drop (http, task->rival);
}

static void
look_at_clocks (struct rd_http *http)
{
  uint64_t now_ns = rd_http_now ();
  struct rd_http_task *next;
  for (struct rd_http_task *task = http->active; task; task = next) {
    next = task->next;
    end_hedge (http, task);
    if (task->rival && is_overdue (http, task->rival, now_ns))
      give_up_on (http, task->rival);
    if (is_overdue (http, task->attempt, now_ns))
      give_up_on (http, task->attempt);
  }
  if (rd_http_ahead_left_ns (&http->ahead, now_ns) == 0)
    rd_http_ahead_end (&http->ahead);
}

static uint64_t
patience_left_ns (const struct rd_http *http,
                  const struct rd_http_attempt *attempt, uint64_t now_ns)
{
  uint64_t heard_ns = now_ns - attempt->heard_ns;
  uint64_t most = patience_ns (http, attempt);
  return most > heard_ns ? most - heard_ns : 0;
}

/* Until a second request is made; UINT64_MAX: as things are, none is. */
static uint64_t
hedge_left_ns (const struct rd_http *http, const struct rd_http_task *task,
               uint64_t now_ns)
{
  const struct rd_http_attempt *attempt = task->attempt;
  uint64_t after = rd_http_hedges_after (&http->hedges);
  uint64_t waited_ns = now_ns - attempt->alone_ns;
  if (task->method != RD_HTTP_GET || attempt->has_byte || attempt->is_hedged
      || after == UINT64_MAX || http->nactive >= http->manners.limit)
    return UINT64_MAX;
  return after > waited_ns ? after - waited_ns : 0;
}

/* How long an active task needs nothing unless something comes. */
static uint64_t
idle_ns (const struct rd_http *http, const struct rd_http_task *task,
         uint64_t now_ns)
{
  uint64_t ns = rd_min_u64 (patience_left_ns (http, task->attempt, now_ns),
                            hedge_left_ns (http, task, now_ns));
  return task->rival
         ? rd_min_u64 (ns, patience_left_ns (http, task->rival, now_ns)) : ns;
}

/* How long nothing is to be done unless something comes. */
static int
poll_ms (const struct rd_http *http)
{
  uint64_t now_ns = rd_http_now ();
  bool is_busy = http->active || http->waiting.first;
  uint64_t ns = UINT64_C (1000000) * (is_busy ? MAX_POLL_MS : MAX_IDLE_MS);
  ns = rd_min_u64 (ns, rd_http_ahead_left_ns (&http->ahead, now_ns));
  for (const struct rd_http_task *task = http->waiting.first;
       task && http->nactive < http->manners.limit; task = task->next)
    ns = rd_min_u64 (ns, task->not_before_ns > now_ns
                         ? task->not_before_ns - now_ns : 0);
  for (const struct rd_http_task *task = http->active; task;
       task = task->next)
    ns = rd_min_u64 (ns, idle_ns (http, task, now_ns));
  return (int) rd_div_up (ns, 1000000);
}

/*------------------------------------------------------------------------
 * Tasks that begin
 *----------------------------------------------------------------------*/

static void
begin_attempt (struct rd_http *http, struct rd_http_task *task)
{
  enum radio_status status = rd_http_attempt_open (&http->options,
                                                   &http->ahead, task,
                                                   &task->attempt);
  if (status != RADIO_OK) {
    end_task (task, status);
    return;
  }
  if (!start (http, task->attempt)) {
    rd_http_attempt_close (RD_STEAL (task->attempt));
    end_task (task, rd_fail_memory (0));
    return;
  }
  if (task->nattempts++ == 0)
    task->begin_ns = task->attempt->begin_ns;
  task->next = http->active;
  http->active = task;
}

/* A first request that no second one can be made beside goes on alone. */
static void
begin_hedge (struct rd_http *http, struct rd_http_task *task)
{
  struct rd_http_attempt *rival;
  task->attempt->is_hedged = true;
  if (rd_http_attempt_open (&http->options, &http->ahead, task, &rival)
      != RADIO_OK)
    return;
  if (!start (http, rival)) {
    rd_http_attempt_close (rival);
    return;
  }
  rival->is_hedged = true;
  rival->asked_ns = task->attempt->asked_ns;
  task->rival = rival;
  task->nhedges++;
  rd_http_hedges_spend (&http->hedges);
  radio_async_phase (task->request, &hedge_site);
}

static void
begin_hedges (struct rd_http *http)
{
  uint64_t now_ns = rd_http_now ();
  for (struct rd_http_task *task = http->active; task; task = task->next)
    if (hedge_left_ns (http, task, now_ns) == 0)
      begin_hedge (http, task);
}

/* On this thread, which takes no signals: libcurl says good-bye to those
 * it is connected with. */
static void
end_multi (struct rd_http *http)
{
  rd_http_ahead_end (&http->ahead);
  RD_LOCK_SCOPE (&http->mutex);
  curl_multi_cleanup (RD_STEAL (http->multi));
}

/* False when the engine is to end. */
static bool
take_coming (struct rd_http *http)
{
  struct rd_http_task *task;
  RD_LOCK_SCOPE (&http->mutex);
  struct list *coming = &http->synced.coming;
  while ((task = coming->first) != NULL)
    list_append (&http->waiting, list_take (coming, &coming->first));
  return !http->synced.closing;
}

static void
begin_waiting (struct rd_http *http)
{
  uint64_t now_ns = rd_http_now ();
  struct rd_http_task **at = &http->waiting.first;
  while (*at && http->nactive < http->manners.limit)
    if ((*at)->not_before_ns > now_ns)
      at = &(*at)->next;
    else
      begin_attempt (http, list_take (&http->waiting, at));
}

static void *
run_thread (void *argument)
{
  struct rd_http *http = argument;
  int nrunning;
  radio_thread_name ("radio http");
  while (take_coming (http)) {
    begin_waiting (http);
    curl_multi_perform (http->multi, &nrunning);
    take_finished (http);
    look_at_clocks (http);
    begin_waiting (http);
    begin_hedges (http);
    curl_multi_poll (http->multi, NULL, 0, poll_ms (http), NULL);
  }
  end_multi (http);
  return NULL;
}

enum radio_status
rd_http_submit (struct rd_http *http, struct rd_http_task *task)
{
  if (http->pid != getpid ())
    return rd_fail (RADIO_ERROR_FORKED, "the handle was opened before fork: "
                    "open it again in the child process");
  task->not_before_ns = 0;
  task->nattempts = task->nhedges = 0;
  task->is_ambiguous = task->was_overtaken = false;
  task->attempt = task->rival = NULL;
  radio_async_phase (task->request, &queued_site);
  {
    RD_LOCK_SCOPE (&http->mutex);
    list_append (&http->synced.coming, task);
    /* While it is held the handle is there, whatever done leads to. */
    curl_multi_wakeup (http->multi);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * The engine itself
 *----------------------------------------------------------------------*/

static uint64_t
or_else (uint64_t value, uint64_t otherwise)
{
  return value ? value : otherwise;
}

/* A caller's time that is as good as none does not overflow, in nanoseconds
 * or as a long of libcurl's. */
static uint64_t
ms_or (uint64_t ms, uint64_t otherwise)
{
  return rd_min_u64 (or_else (ms, otherwise), INT32_MAX);
}

static enum radio_status
copy_text (const char *text, const char **copy)
{
  *copy = text ? rd_strdup (text) : NULL;
  return text && !*copy ? rd_fail_memory (strlen (text) + 1) : RADIO_OK;
}

static enum radio_status
settle (struct rd_http *http, const struct rd_http_options *options)
{
  struct rd_http_options *to = &http->options;
  *to = (struct rd_http_options) {
    .nconnections = (unsigned) or_else (options->nconnections, 32),
    .nattempts = (unsigned) or_else (options->nattempts, 8),
    .connect_timeout_ms = ms_or (options->connect_timeout_ms, 5000),
    .first_byte_timeout_ms = ms_or (options->first_byte_timeout_ms, 15000),
    .stall_timeout_ms = ms_or (options->stall_timeout_ms, 15000),
    .deadline_ms = ms_or (options->deadline_ms, 120000),
    .backoff_ms = ms_or (options->backoff_ms, 100),
    .hedge_percent = options->hedge_percent,
  };
  to->nahead = (unsigned) rd_min_u64 (options->nahead,
                                      to->nconnections - 1);
  RD_TRY (copy_text (options->ca_file, &to->ca_file));
  return copy_text (options->proxy, &to->proxy);
}

static enum radio_status
make_multi (struct rd_http *http)
{
  long n = (long) http->options.nconnections;
  http->multi = curl_multi_init ();
  if (http->multi == NULL
      || curl_multi_setopt (http->multi, CURLMOPT_MAXCONNECTS, n) != CURLM_OK
      || curl_multi_setopt (http->multi, CURLMOPT_MAX_HOST_CONNECTIONS, n)
           != CURLM_OK
      || curl_multi_setopt (http->multi, CURLMOPT_PIPELINING,
                            (long) CURLPIPE_NOTHING) != CURLM_OK)
    return rd_fail_memory (0);
  /* Without descriptors for it there is a handle all the same. */
  if (curl_multi_wakeup (http->multi) != CURLM_OK)
    return rd_fail (RADIO_ERROR_IO, "the thread for requests cannot be "
                    "woken: too many files are open");
  return RADIO_OK;
}

/* Signals are for the program's own threads. */
static enum radio_status
start_thread (struct rd_http *http)
{
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  int errnum = pthread_create (&http->thread, NULL, run_thread, http);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  if (errnum != 0)
    return rd_fail_errno (errnum, "cannot start a thread for requests");
  return RADIO_OK;
}

static void
destroy (struct rd_http *http)
{
  curl_multi_cleanup (http->multi);
  curl_global_cleanup ();
  pthread_mutex_destroy (&http->mutex);
  rd_free ((char *) http->options.ca_file);
  rd_free ((char *) http->options.proxy);
  rd_free (http);
}

static enum radio_status
make (struct rd_http *http, const struct rd_http_options *options)
{
  http->pid = getpid ();
  http->waiting.last = &http->waiting.first;
  http->synced.coming.last = &http->synced.coming.first;
  RD_TRY (settle (http, options));
  rd_http_manners_begin (&http->manners, &http->options);
  http->hedges.percent = http->options.hedge_percent;
  rd_http_ahead_init (&http->ahead, http->options.nahead);
  RD_TRY (make_multi (http));
  return start_thread (http);
}

/* libcurl counts who initialised it, since 7.84 under a lock. */
enum radio_status
rd_http_open (const struct rd_http_options *options, struct rd_http **result)
{
  struct rd_http *http = rd_calloc (1, sizeof *http);
  if (http == NULL)
    return rd_fail_memory (sizeof *http);
  if (curl_global_init (CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    rd_free (http);
    return rd_fail (RADIO_ERROR_IO, "libcurl cannot be initialised");
  }
  pthread_mutex_init (&http->mutex, NULL);
  enum radio_status status = make (http, options);
  if (status != RADIO_OK) {
    destroy (http);
    return status;
  }
  *result = http;
  return RADIO_OK;
}

/* In a forked child the thread is its parent's, and so is what it had. */
void
rd_http_close (struct rd_http *http)
{
  if (!http || http->pid != getpid ())
    return;
  pthread_mutex_lock (&http->mutex);
  http->synced.closing = true;
  curl_multi_wakeup (http->multi);
  pthread_mutex_unlock (&http->mutex);
  pthread_join (http->thread, NULL);
  destroy (http);
}
