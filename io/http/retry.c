/* SPDX-License-Identifier: MIT */
/* Retry policy: classifies the outcome of an attempt, and decides whether and
 * when to retry.  Waits grow exponentially, with full jitter; all tasks share
 * a budget of retries, so that an outage is not made worse; a server that
 * throttles gets half as many concurrent requests, then slowly more. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "src/base/checked.h"
#include "io/http/engine.h"

#define TOKENS 500            /* the budget when full */
#define TOKENS_RETRY 5        /* the cost of a retry */
#define TOKENS_TIMEOUT 10     /* of one after a timeout */
#define MAX_BACKOFF_NS (UINT64_C (20) * 1000000000)
#define THROTTLE_BACKOFF_NS (UINT64_C (1) * 1000000000)

/* Where no server ever answered, the URL is as likely to be wrong. */
#define MAX_ATTEMPTS_UNANSWERED 2

/*------------------------------------------------------------------------
 * Outcomes
 *----------------------------------------------------------------------*/

bool
rd_http_is_transient (unsigned status)
{
  switch (status) {
  case 408: case 429: case 500: case 502: case 503: case 504:
    return true;
  default:
    return false;
  }
}

static bool
is_throttle (unsigned status)
{
  return status == 429 || status == 503;
}

static bool
is_transient_failure (CURLcode code)
{
  switch (code) {
  case CURLE_COULDNT_RESOLVE_PROXY: case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_CONNECT: case CURLE_SEND_ERROR: case CURLE_RECV_ERROR:
  case CURLE_GOT_NOTHING: case CURLE_PARTIAL_FILE:
  case CURLE_WEIRD_SERVER_REPLY: case CURLE_OPERATION_TIMEDOUT:
  case CURLE_SSL_CONNECT_ERROR:
    return true;
  default:
    return false;
  }
}

/* Appends the number and duration of the attempts, if there were several. */
static enum radio_status
fail_after_attempts (const struct rd_http_task *task,
                     enum radio_status status)
{
  struct rd_error error;
  uint64_t ms = (rd_now_ns () - task->begin_ns) / 1000000;
  if (task->nattempts <= 1)
    return status;
  rd_error_save (&error, status);
  return rd_fail (status, "%s (%u attempts in %" PRIu64 ".%" PRIu64 " s)",
                  error.message, task->nattempts, ms / 1000, ms % 1000 / 100);
}

/* Classifies an attempt whose response cannot be used. */
static struct rd_http_outcome
classify_failure (struct rd_http_attempt *attempt, CURLcode code)
{
  struct rd_http_task *task = attempt->task;
  unsigned http_status = task->response.status;
  bool is_transient = !attempt->is_accepted
                      && rd_http_is_transient (http_status);
  struct rd_http_outcome outcome = { code, RADIO_ERROR_IO, RD_HTTP_FINISH };
  if (is_transient)
    outcome.code = CURLE_OK;
  else if (code == CURLE_OK)
    outcome.code = CURLE_PARTIAL_FILE;
  task->is_ambiguous |= attempt->is_sent
                        && (!is_transient || http_status >= 500);
  bool may_repeat = task->method != RD_HTTP_POST || task->is_repeatable
                    || !task->is_ambiguous;
  /* A preconnected socket may be closed while the request goes out.  That is
   * no failure of the server: libcurl itself retries on kept connections. */
  bool was_stale = attempt->is_preconnected && !attempt->has_byte
                   && outcome.code != CURLE_OPERATION_TIMEDOUT;
  if (may_repeat && (is_transient || is_transient_failure (outcome.code)))
    outcome.next = is_transient && is_throttle (http_status)
                   ? RD_HTTP_RETRY_SLOWER
                   : was_stale ? RD_HTTP_RETRY_NOW : RD_HTTP_RETRY_LATER;

  const char *why = attempt->message[0] ? attempt->message
                                        : curl_easy_strerror (outcome.code);
  if (is_transient) {
    rd_fail (RADIO_ERROR_IO, "%s: the server answers with status %u",
             rd_http_name (task), http_status);
    outcome.status = fail_after_attempts (task, RADIO_ERROR_IO);
  } else if (outcome.code == CURLE_PEER_FAILED_VERIFICATION) {
    outcome.status = rd_fail (RADIO_ERROR_PERMISSION, "%s: TLS certificate "
                              "verification failed: %s", rd_http_name (task),
                              why);
  } else if (outcome.code == CURLE_SSL_CACERT_BADFILE) {
    outcome.status = rd_fail (RADIO_ERROR_IO, "%s: %s; install the system's "
                              "certificates, or name a file of them in "
                              "SSL_CERT_FILE", rd_http_name (task), why);
  } else if (outcome.code == CURLE_OUT_OF_MEMORY) {
    outcome.status = rd_fail_memory (0);
  } else {
    rd_fail (RADIO_ERROR_IO, "%s: %s", rd_http_name (task), why);
    outcome.status = fail_after_attempts (task, RADIO_ERROR_IO);
  }
  return outcome;
}

/* True for a response that promises the object, but is not what was requested:
 * a proxy or a broken server made it, and the next one may be right. */
static bool
is_wrong (const struct rd_http_attempt *attempt)
{
  const struct rd_http_task *task = attempt->task;
  unsigned http_status = task->response.status;
  enum radio_status status = task->error.status;
  return (task->method == RD_HTTP_GET || task->method == RD_HTTP_HEAD)
         && (rd_http_is_good (http_status) || http_status == 416)
         && (status == RADIO_ERROR_IO || status == RADIO_ERROR_UNSUPPORTED)
         && !task->is_believed;
}

struct rd_http_outcome
rd_http_classify (struct rd_http_attempt *attempt, CURLcode code)
{
  struct rd_http_task *task = attempt->task;
  struct rd_http_outcome outcome = { CURLE_OK, RADIO_OK, RD_HTTP_FINISH };
  bool is_complete = code == CURLE_OK
                     && rd_http_attempt_is_complete (attempt);
  if (attempt->is_rejected) {
    outcome.status = rd_error_raise (&task->error);
    if (is_wrong (attempt)) {
      outcome.code = CURLE_WEIRD_SERVER_REPLY;
      outcome.next = RD_HTTP_RETRY_SOON;
      outcome.status = fail_after_attempts (task, outcome.status);
    }
    return outcome;
  }
  if (attempt->has_error)
    task->is_ambiguous |= task->response.status >= 500;
  if (attempt->has_error || (is_complete && task->conclude)) {
    outcome.status = task->conclude (task, &attempt->error_body,
                                     &outcome.next);
    if (outcome.next != RD_HTTP_FINISH)
      outcome.status = fail_after_attempts (task, outcome.status);
    return outcome;
  }
  return is_complete ? outcome : classify_failure (attempt, code);
}

/*------------------------------------------------------------------------
 * The policy
 *----------------------------------------------------------------------*/

void
rd_http_retry_init (struct rd_http_retry_policy *policy,
                    const struct rd_http_options *options)
{
  *policy = (struct rd_http_retry_policy) {
    .limit = options->nconnections,
    .max = options->nconnections,
    .tokens = TOKENS,
    .random = rd_now_ns () | 1,
  };
}

/* Refunds the cost of a retry that succeeded. */
void
rd_http_retry_on_success (struct rd_http_retry_policy *policy,
                          const struct rd_http_task *task)
{
  unsigned ntokens = task->nattempts > 1 ? task->ntokens : 1;
  policy->was_answered = true;
  policy->tokens += ntokens;
  if (policy->tokens > TOKENS)
    policy->tokens = TOKENS;
  if (policy->limit == policy->max || ++policy->nsuccesses < policy->limit)
    return;
  policy->limit++;
  policy->nsuccesses = 0;
}

/* Once for all attempts that were active at the time. */
static void
halve_limit (struct rd_http_retry_policy *policy, uint64_t begin_ns,
             uint64_t now_ns)
{
  if (begin_ns < policy->throttled_ns)
    return;
  policy->throttled_ns = now_ns;
  policy->limit = policy->limit > 1 ? policy->limit / 2 : 1;
  policy->nsuccesses = 0;
}

void
rd_http_retry_on_throttle (struct rd_http_retry_policy *policy,
                           unsigned status, uint64_t begin_ns,
                           uint64_t now_ns)
{
  if (is_throttle (status))
    halve_limit (policy, begin_ns, now_ns);
}

bool
rd_http_retry_schedule (struct rd_http_retry_policy *policy,
                        const struct rd_http_options *options,
                        struct rd_http_task *task, CURLcode code,
                        enum rd_http_next next, uint64_t now_ns)
{
  unsigned cost = next == RD_HTTP_RETRY_NOW ? 0
                  : code == CURLE_OPERATION_TIMEDOUT ? TOKENS_TIMEOUT
                                                     : TOKENS_RETRY;
  policy->was_answered |= code == CURLE_OK || task->attempt->is_sent;
  unsigned nattempts = policy->was_answered ? options->nattempts
                                            : MAX_ATTEMPTS_UNANSWERED;
  if (next == RD_HTTP_RETRY_SLOWER)
    halve_limit (policy, task->attempt->begin_ns, now_ns);
  if (next == RD_HTTP_FINISH || policy->tokens < cost
      || task->nattempts >= nattempts)
    return false;
  uint64_t begin_ns = now_ns;
  if (next == RD_HTTP_RETRY_LATER || next == RD_HTTP_RETRY_SLOWER) {
    uint64_t most = options->backoff_ms * 1000000;
    if (next == RD_HTTP_RETRY_SLOWER)
      most = rd_min_u64 (THROTTLE_BACKOFF_NS, 10 * most);
    for (unsigned i = 1; i < task->nattempts && most < MAX_BACKOFF_NS; i++)
      most *= 2;
    /* Marsaglia's xorshift64. */
    policy->random ^= policy->random << 13;
    policy->random ^= policy->random >> 7;
    policy->random ^= policy->random << 17;
    uint64_t ns = policy->random % (rd_min_u64 (most, MAX_BACKOFF_NS) + 1);
    uint64_t retry_after = rd_mul_sat (task->response.retry_after_s,
                                       1000000000);
    begin_ns += rd_max_u64 (ns, rd_min_u64 (retry_after, MAX_BACKOFF_NS));
  }
  if (begin_ns - task->begin_ns >= options->deadline_ms * 1000000)
    return false;
  policy->tokens -= cost;
  task->ntokens = cost;
  task->not_before_ns = begin_ns;
  return true;
}
