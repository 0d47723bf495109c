/* SPDX-License-Identifier: MIT */
/* The engine thread: takes tasks, keeps some of them active in one multi
 * handle of libcurl, checks timeouts, and retries or finishes tasks. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "src/base/cancel.h"
#include "src/base/checked.h"
#include "src/base/thread.h"
#include "profiler/counters.h"
#include "io/http/engine.h"
#include "io/store.h"

/* The thread checks timeouts this often, at least while it is busy. */
#define MAX_POLL_MS 1000
#define MAX_IDLE_MS 60000

struct list {
  struct rd_http_task *first, **last;
};

struct rd_http {
  struct rd_http_options options;     /* without zeros; texts are owned */
  pid_t pid;                          /* of the process that opened it */
  pthread_t thread;
  CURLM *multi;

  pthread_mutex_t mutex;
  struct {
    struct list submitted;
    bool closing;
  } synced;

  /* The thread's own. */
  struct rd_http_retry_policy policy;
  struct rd_http_hedges hedges;
  struct rd_http_preconnect preconnect;
  struct list waiting;                /* to be begun or retried */
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

/* Removes the task that `at' points to. */
static struct rd_http_task *
list_remove (struct list *list, struct rd_http_task **at)
{
  struct rd_http_task *task = *at;
  *at = task->next;
  if (list->last == &task->next)
    list->last = at;
  task->next = NULL;
  return task;
}

/*------------------------------------------------------------------------
 * Finishing tasks
 *----------------------------------------------------------------------*/

static const struct radio_site queued_site = {
  "queued", RD_IN_QUEUE, "rd_http_submit", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site retry_site = {
  "wait for retry", RD_IN_NETWORK, "finish_last_attempt", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};
static const struct radio_site hedge_site = {
  "hedge", RD_IN_NETWORK, "begin_hedge", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static void
finish_task (struct rd_http_task *task, enum radio_status status)
{
  struct radio_async *request = task->request;
  task->error.status = status;
  if (status == RADIO_OK)
    task->error.message[0] = '\0';
  else
    rd_error_save (&task->error, status);
  if (request && task->response.status > 0) {
    char text[16];
    snprintf (text, sizeof text, "%u", task->response.status);
    radio_async_text (request, "status", text, RADIO_TEXT_PLAIN);
  }
  if (request && task->nattempts > 1)
    radio_async_add (request, &rd_count_retries, task->nattempts - 1);
  if (request && task->nhedges > 0) {
    radio_async_add (request, &rd_count_hedges, task->nhedges);
    radio_async_text (request, "hedge", task->hedge_won ? "won" : "lost",
                      RADIO_TEXT_PLAIN);
  }
  task->done (task);
}

/*------------------------------------------------------------------------
 * Attempts
 *----------------------------------------------------------------------*/

static bool
start (struct rd_http *http, struct rd_http_attempt *attempt)
{
  uint64_t now_ns = rd_now_ns ();
  attempt->begin_ns = attempt->activity_ns = attempt->requested_ns = now_ns;
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

/* Ends one of two attempts; the other one continues. */
static void
drop (struct rd_http *http, struct rd_http_attempt *attempt)
{
  struct rd_http_task *task = attempt->task;
  task->hedge_won = task->attempt == attempt;
  task->attempt = rd_http_other_attempt (attempt);
  task->hedge = NULL;
  stop (http, attempt);
  rd_http_attempt_close (attempt);
}

/* Called when the only attempt of a task ended. */
static void
finish_last_attempt (struct rd_http *http, struct rd_http_task *task,
                     CURLcode code)
{
  struct rd_http_attempt *attempt = task->attempt;
  stop (http, attempt);
  struct rd_http_task **at = &http->active;
  while (*at != task)
    at = &(*at)->next;
  *at = task->next;
  struct rd_http_outcome outcome = rd_http_classify (attempt, code);
  if (outcome.code == CURLE_OK && outcome.next == RD_HTTP_FINISH) {
    rd_http_retry_on_success (&http->policy, task);
    if (task->method == RD_HTTP_GET
        && rd_http_is_good (task->response.status))
      rd_http_hedges_add_wait (&http->hedges, attempt->waited_ns);
  }
  bool retry = rd_http_retry_schedule (&http->policy, &http->options, task,
                                       outcome.code, outcome.next,
                                       rd_now_ns ());
  rd_http_attempt_close (RD_STEAL (task->attempt));
  if (!retry) {
    finish_task (task, outcome.status);
    return;
  }
  /* Before those that were not begun yet: its deadline is running. */
  radio_async_phase (task->request, &retry_site);
  task->next = http->waiting.first;
  if (!http->waiting.first)
    http->waiting.last = &task->next;
  http->waiting.first = task;
}

/* One of two attempts that has received nothing, or was throttled, does not
 * fail the task. */
static void
finish_attempt (struct rd_http *http, struct rd_http_attempt *attempt,
                CURLcode code)
{
  struct rd_http_attempt *other = rd_http_other_attempt (attempt);
  if (other && !attempt->has_byte) {
    if (attempt->was_throttled) {
      /* Another hedge is allowed after as long a wait again. */
      other->alone_ns = rd_now_ns ();
      other->is_hedged = false;
      rd_http_retry_on_throttle (&http->policy, attempt->throttle_status,
                                 attempt->begin_ns, other->alone_ns);
    }
    drop (http, attempt);
    return;
  }
  if (other)
    drop (http, other);
  finish_last_attempt (http, attempt->task, code);
}

/*------------------------------------------------------------------------
 * Tasks that their caller ends early
 *----------------------------------------------------------------------*/

/* RADIO_OK while a task goes on. */
static enum radio_status
check_stop (const struct rd_http_task *task, uint64_t now_ns)
{
  const struct rd_io_stop *stop = task->stop;
  if (stop == NULL)
    return RADIO_OK;
  if (atomic_load_explicit (&stop->is_cancelled, memory_order_relaxed))
    return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled",
                    rd_http_name (task));
  if (now_ns >= stop->deadline_ns)
    return rd_fail (RADIO_ERROR_TIMEOUT, "%s: not done by the deadline",
                    rd_http_name (task));
  return RADIO_OK;
}

/* Ends the stopped tasks of one list, the waiting ones or the active. */
static void
end_stopped (struct rd_http *http, struct rd_http_task **at, uint64_t now_ns)
{
  while (*at) {
    struct rd_http_task *task = *at;
    enum radio_status status = check_stop (task, now_ns);
    if (status == RADIO_OK) {
      at = &task->next;
      continue;
    }
    if (task->attempt == NULL)
      (void) list_remove (&http->waiting, at);
    else
      *at = task->next;
    if (task->hedge)
      drop (http, task->hedge);
    if (task->attempt) {
      stop (http, task->attempt);
      rd_http_attempt_close (RD_STEAL (task->attempt));
    }
    finish_task (task, status);
  }
}

static uint64_t
stop_left_ns (const struct rd_http_task *task, uint64_t now_ns)
{
  uint64_t end_ns = task->stop ? task->stop->deadline_ns : UINT64_MAX;
  return end_ns == UINT64_MAX ? end_ns : end_ns > now_ns ? end_ns - now_ns : 0;
}

/*------------------------------------------------------------------------
 * Timeouts
 *----------------------------------------------------------------------*/

/* A slow link transfers this much in a second. */
#define SLOW_NBYTES 32768

/* Upper bound of unsent bytes in the socket buffer. */
#define MAX_UNSENT_NBYTES (UINT64_C (4) << 20)

/* The time without activity after which an attempt times out. */
static uint64_t
inactivity_limit_ns (const struct rd_http *http,
                     const struct rd_http_attempt *attempt)
{
  uint64_t ms = attempt->has_byte ? http->options.stall_timeout_ms
                                  : http->options.first_byte_timeout_ms;
  if (!attempt->has_byte)
    ms += rd_min_u64 (attempt->sent_nbytes, MAX_UNSENT_NBYTES) * 1000
          / SLOW_NBYTES;
  return attempt->is_sent ? ms * 1000000 : UINT64_MAX;
}

/* Ends an attempt that is inactive, or whose task is past its deadline, which
 * is later for a task that keeps sending or receiving. */
static void
check_timeout (struct rd_http *http, struct rd_http_attempt *attempt,
               uint64_t now_ns)
{
  const struct rd_http_task *task = attempt->task;
  uint64_t nbytes = attempt->sent_nbytes;
  if (attempt->is_accepted && task->into)
    nbytes += task->into->nbytes;
  uint64_t deadline_ns = rd_add_sat (http->options.deadline_ms * 1000000,
                                     rd_mul_sat (nbytes, 1000000000)
                                     / SLOW_NBYTES);
  uint64_t silent_ns = now_ns - attempt->activity_ns;
  if (silent_ns >= inactivity_limit_ns (http, attempt))
    snprintf (attempt->message, sizeof attempt->message,
              "no data for %" PRIu64 " ms", silent_ns / 1000000);
  else if (now_ns - task->begin_ns >= deadline_ns)
    snprintf (attempt->message, sizeof attempt->message,
              "it takes longer than %" PRIu64 " ms",
              http->options.deadline_ms);
  else
    return;
  finish_attempt (http, attempt, CURLE_OPERATION_TIMEDOUT);
}

static void
check_timeouts (struct rd_http *http)
{
  uint64_t now_ns = rd_now_ns ();
  struct rd_http_task *next;
  for (struct rd_http_task *task = http->active; task; task = next) {
    next = task->next;
    /* Here, since libcurl's callbacks may not remove handles. */
    if (rd_http_lost_race (task->attempt))
      drop (http, task->attempt);
    else if (task->hedge && rd_http_lost_race (task->hedge))
      drop (http, task->hedge);
    if (task->hedge)
      check_timeout (http, task->hedge, now_ns);
    check_timeout (http, task->attempt, now_ns);
  }
  if (rd_http_preconnect_left_ns (&http->preconnect, now_ns) == 0)
    rd_http_preconnect_close (&http->preconnect);
}

static uint64_t
inactivity_left_ns (const struct rd_http *http,
                    const struct rd_http_attempt *attempt, uint64_t now_ns)
{
  uint64_t silent_ns = now_ns - attempt->activity_ns;
  uint64_t limit_ns = inactivity_limit_ns (http, attempt);
  return limit_ns > silent_ns ? limit_ns - silent_ns : 0;
}

/* The time until a hedge is sent; UINT64_MAX: as things are, none is. */
static uint64_t
hedge_left_ns (const struct rd_http *http, const struct rd_http_task *task,
               uint64_t now_ns)
{
  const struct rd_http_attempt *attempt = task->attempt;
  uint64_t after = rd_http_hedges_after (&http->hedges);
  uint64_t waited_ns = now_ns - attempt->alone_ns;
  if (task->method != RD_HTTP_GET || attempt->has_byte || attempt->is_hedged
      || after == UINT64_MAX || http->nactive >= http->policy.limit)
    return UINT64_MAX;
  return after > waited_ns ? after - waited_ns : 0;
}

/* The time until something is to be done, unless data come. */
static int
poll_ms (const struct rd_http *http)
{
  uint64_t now_ns = rd_now_ns ();
  bool is_busy = http->active || http->waiting.first;
  uint64_t ns = UINT64_C (1000000) * (is_busy ? MAX_POLL_MS : MAX_IDLE_MS);
  ns = rd_min_u64 (ns, rd_http_preconnect_left_ns (&http->preconnect,
                                                   now_ns));
  for (const struct rd_http_task *task = http->waiting.first; task;
       task = task->next) {
    if (http->nactive < http->policy.limit)
      ns = rd_min_u64 (ns, task->not_before_ns > now_ns
                           ? task->not_before_ns - now_ns : 0);
    ns = rd_min_u64 (ns, stop_left_ns (task, now_ns));
  }
  for (const struct rd_http_task *task = http->active; task;
       task = task->next) {
    ns = rd_min_u64 (ns, inactivity_left_ns (http, task->attempt, now_ns));
    ns = rd_min_u64 (ns, hedge_left_ns (http, task, now_ns));
    ns = rd_min_u64 (ns, stop_left_ns (task, now_ns));
    if (task->hedge)
      ns = rd_min_u64 (ns, inactivity_left_ns (http, task->hedge, now_ns));
  }
  return (int) rd_div_up (ns, 1000000);
}

/*------------------------------------------------------------------------
 * Beginning tasks
 *----------------------------------------------------------------------*/

static void
begin_waiting (struct rd_http *http)
{
  uint64_t now_ns = rd_now_ns ();
  struct rd_http_task **at = &http->waiting.first;
  while (*at && http->nactive < http->policy.limit) {
    if ((*at)->not_before_ns > now_ns) {
      at = &(*at)->next;
      continue;
    }
    struct rd_http_task *task = list_remove (&http->waiting, at);
    enum radio_status status = rd_http_attempt_open (&http->options,
                                                     &http->preconnect, task,
                                                     &task->attempt);
    if (status == RADIO_OK && !start (http, task->attempt)) {
      rd_http_attempt_close (RD_STEAL (task->attempt));
      status = rd_fail_memory (0);
    }
    if (status != RADIO_OK) {
      finish_task (task, status);
      continue;
    }
    if (task->nattempts++ == 0)
      task->begin_ns = task->attempt->begin_ns;
    task->next = http->active;
    http->active = task;
  }
}

/* If that fails, the first attempt continues alone. */
static void
begin_hedge (struct rd_http *http, struct rd_http_task *task)
{
  struct rd_http_attempt *hedge;
  task->attempt->is_hedged = true;
  if (rd_http_attempt_open (&http->options, &http->preconnect, task, &hedge)
      != RADIO_OK)
    return;
  if (!start (http, hedge)) {
    rd_http_attempt_close (hedge);
    return;
  }
  hedge->is_hedged = true;
  hedge->requested_ns = task->attempt->requested_ns;
  task->hedge = hedge;
  task->nhedges++;
  rd_http_hedges_spend (&http->hedges);
  radio_async_phase (task->request, &hedge_site);
}

/* Moves submitted tasks to the waiting ones.  False when the engine is to
 * end. */
static bool
take_submitted (struct rd_http *http)
{
  struct rd_http_task *task;
  RD_LOCK_SCOPE (&http->mutex);
  struct list *submitted = &http->synced.submitted;
  while ((task = submitted->first) != NULL)
    list_append (&http->waiting, list_remove (submitted, &submitted->first));
  return !http->synced.closing;
}

static void *
run_thread (void *argument)
{
  struct rd_http *http = argument;
  int nrunning;
  radio_thread_name ("radio http");
  while (take_submitted (http)) {
    end_stopped (http, &http->waiting.first, rd_now_ns ());
    end_stopped (http, &http->active, rd_now_ns ());
    begin_waiting (http);
    curl_multi_perform (http->multi, &nrunning);
    CURLMsg *message;
    for (int n; (message = curl_multi_info_read (http->multi, &n));) {
      struct rd_http_attempt *attempt = NULL;
      CURLcode code = message->data.result;
      curl_easy_getinfo (message->easy_handle, CURLINFO_PRIVATE,
                         (char **) &attempt);
      finish_attempt (http, attempt, code);
    }
    check_timeouts (http);
    begin_waiting (http);
    uint64_t now_ns = rd_now_ns ();
    for (struct rd_http_task *task = http->active; task; task = task->next)
      if (hedge_left_ns (http, task, now_ns) == 0)
        begin_hedge (http, task);
    curl_multi_poll (http->multi, NULL, 0, poll_ms (http), NULL);
  }
  /* On this thread, which blocks signals: libcurl sends farewells on its
   * connections. */
  rd_http_preconnect_close (&http->preconnect);
  RD_LOCK_SCOPE (&http->mutex);
  curl_multi_cleanup (RD_STEAL (http->multi));
  return NULL;
}

/*------------------------------------------------------------------------
 * Submitting tasks
 *----------------------------------------------------------------------*/

enum radio_status
rd_http_submit (struct rd_http *http, struct rd_http_task *task)
{
  if (http->pid != getpid ())
    return rd_fail (RADIO_ERROR_FORKED, "the handle was opened before fork: "
                    "open it again in the child process");
  task->not_before_ns = 0;
  task->nattempts = task->nhedges = 0;
  task->is_ambiguous = task->hedge_won = task->is_believed = false;
  task->attempt = task->hedge = NULL;
  radio_async_phase (task->request, &queued_site);
  {
    RD_LOCK_SCOPE (&http->mutex);
    list_append (&http->synced.submitted, task);
    /* Under the mutex, since done may lead to closing the handle. */
    curl_multi_wakeup (http->multi);
  }
  return RADIO_OK;
}

void
rd_http_wake (struct rd_http *http)
{
  RD_LOCK_SCOPE (&http->mutex);
  if (http->multi)
    curl_multi_wakeup (http->multi);
}

static void
wake (struct rd_http_task *task)
{
  radio_async_end (task->request);
  rd_waiter_wake (task->user_data);
}

static void
wake_engine (void *http)
{
  rd_http_wake (http);
}

enum radio_status
rd_http_run (struct rd_http *http, struct rd_http_task *task)
{
  struct rd_waiter waiter = RD_WAITER_INIT;
  struct rd_io_stop stop = { .deadline_ns = UINT64_MAX };
  /* The effect of a write is unknown once it is sent. */
  bool is_ours = !task->stop && rd_thread_has_cancel ()
                 && (task->method == RD_HTTP_GET
                     || task->method == RD_HTTP_HEAD || task->leaves_nothing);
  task->done = wake;
  task->user_data = &waiter;
  if (is_ours)
    task->stop = &stop;
  enum radio_status status = rd_http_submit (http, task);
  if (status != RADIO_OK)
    radio_async_end (task->request);
  else if (is_ours)
    rd_waiter_wait_or_cancel (&waiter, &stop, wake_engine, http);
  else
    rd_waiter_wait (&waiter);
  if (is_ours)
    task->stop = NULL;
  return status != RADIO_OK ? status : rd_error_raise (&task->error);
}

/*------------------------------------------------------------------------
 * Opening and closing
 *----------------------------------------------------------------------*/

static uint64_t
or_default (uint64_t value, uint64_t otherwise)
{
  return value ? value : otherwise;
}

/* Bounded, so that a caller's huge timeout overflows neither nanoseconds nor
 * a long of libcurl's. */
static uint64_t
ms_or_default (uint64_t ms, uint64_t otherwise)
{
  return rd_min_u64 (or_default (ms, otherwise), INT32_MAX);
}

static enum radio_status
copy_options (struct rd_http_options *to,
              const struct rd_http_options *options)
{
  *to = (struct rd_http_options) {
    .nconnections = (unsigned) or_default (options->nconnections, 64),
    .nattempts = (unsigned) or_default (options->nattempts, 8),
    .connect_timeout_ms = ms_or_default (options->connect_timeout_ms, 5000),
    .first_byte_timeout_ms = ms_or_default (options->first_byte_timeout_ms,
                                            15000),
    .stall_timeout_ms = ms_or_default (options->stall_timeout_ms, 15000),
    .deadline_ms = ms_or_default (options->deadline_ms, 120000),
    .backoff_ms = ms_or_default (options->backoff_ms, 100),
    .hedge_percent = options->hedge_percent,
    .preconnect_idle_ms = ms_or_default (options->preconnect_idle_ms, 3000),
  };
  to->npreconnect = (unsigned) rd_min_u64 (options->npreconnect,
                                           to->nconnections - 1);
  const char *ca_file = options->ca_file ? options->ca_file
                                         : rd_http_find_certificates ();
  to->ca_file = ca_file ? rd_strdup (ca_file) : NULL;
  if (ca_file && !to->ca_file)
    return rd_fail_memory (strlen (ca_file) + 1);
  to->proxy = options->proxy ? rd_strdup (options->proxy) : NULL;
  if (options->proxy && !to->proxy)
    return rd_fail_memory (strlen (options->proxy) + 1);
  return RADIO_OK;
}

/* Called without its thread.  NULL is legal. */
static void
destroy (struct rd_http *http)
{
  if (http == NULL)
    return;
  curl_multi_cleanup (http->multi);
  curl_global_cleanup ();
  pthread_mutex_destroy (&http->mutex);
  rd_free ((char *) http->options.ca_file);
  rd_free ((char *) http->options.proxy);
  rd_free (http);
}

RD_DEFINE_CLEANUP (http, struct rd_http, destroy);

/* libcurl counts its initialisations, since 7.84 under a lock. */
enum radio_status
rd_http_open (const struct rd_http_options *options, struct rd_http **result)
{
  RD_FREE struct rd_http *memory = rd_calloc (1, sizeof *memory);
  if (memory == NULL)
    return rd_fail_memory (sizeof *memory);
  if (curl_global_init (CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return rd_fail (RADIO_ERROR_IO, "libcurl cannot be initialised");
  RD_CLEANUP (rd_cleanup_http) struct rd_http *http = RD_STEAL (memory);
  http->pid = getpid ();
  http->waiting.last = &http->waiting.first;
  http->synced.submitted.last = &http->synced.submitted.first;
  pthread_mutex_init (&http->mutex, NULL);
  RD_TRY (copy_options (&http->options, options));
  rd_http_retry_init (&http->policy, &http->options);
  http->hedges.percent = http->options.hedge_percent;
  rd_http_preconnect_init (&http->preconnect, http->options.npreconnect,
                           http->options.preconnect_idle_ms);

  long n = (long) http->options.nconnections;
  http->multi = curl_multi_init ();
  if (http->multi == NULL
      || curl_multi_setopt (http->multi, CURLMOPT_MAXCONNECTS, n) != CURLM_OK
      || curl_multi_setopt (http->multi, CURLMOPT_MAX_HOST_CONNECTIONS, n)
           != CURLM_OK
      || curl_multi_setopt (http->multi, CURLMOPT_PIPELINING,
                            (long) CURLPIPE_NOTHING) != CURLM_OK)
    return rd_fail_memory (0);
  /* curl_multi_init succeeds without descriptors for that. */
  if (curl_multi_wakeup (http->multi) != CURLM_OK)
    return rd_fail (RADIO_ERROR_IO, "the thread for requests cannot be "
                    "woken: too many files are open");

  int errnum = rd_start_thread (&http->thread, run_thread, http);
  if (errnum != 0)
    return rd_fail_errno (errnum, "cannot start a thread for requests");
  *result = RD_STEAL (http);
  return RADIO_OK;
}

/* In a forked child the thread and its handles belong to the parent. */
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
