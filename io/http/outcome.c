/* SPDX-License-Identifier: MIT */
/* What an attempt came to, in words and in what follows. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "io/http/engine.h"

/* How often and how long it was tried, where it was more than once. */
static enum radio_status
tell_attempts (const struct rd_http_task *task, enum radio_status status)
{
  struct rd_error error;
  uint64_t ms = (rd_http_now () - task->begin_ns) / 1000000;
  if (task->nattempts <= 1)
    return status;
  rd_error_save (&error, status);
  return rd_fail (status, "%s (%u attempts in %" PRIu64 ".%" PRIu64 " s)",
                  error.message, task->nattempts, ms / 1000, ms % 1000 / 100);
}

static enum radio_status
fail_after (const struct rd_http_task *task, enum radio_status status,
            const char *why)
{
  rd_fail (status, "%s: %s", rd_http_name (task), why);
  return tell_attempts (task, status);
}

static enum radio_status
fail_transfer (const struct rd_http_attempt *attempt, CURLcode code)
{
  const struct rd_http_task *task = attempt->task;
  const char *why = attempt->message[0] ? attempt->message
                                        : curl_easy_strerror (code);
  if (code == CURLE_PEER_FAILED_VERIFICATION)
    return rd_fail (RADIO_ERROR_PERMISSION, "%s: whoever answers cannot be "
                    "trusted: %s", rd_http_name (task), why);
  if (code == CURLE_OUT_OF_MEMORY)
    return rd_fail_memory (0);
  return fail_after (task, RADIO_ERROR_IO, why);
}

static enum radio_status
fail_busy (const struct rd_http_task *task)
{
  char why[64];
  snprintf (why, sizeof why, "the server answers with status %u",
            task->answer.status);
  return fail_after (task, RADIO_ERROR_IO, why);
}

/* An answer that its task has the last word on. */
static struct rd_http_outcome
conclude (struct rd_http_attempt *attempt)
{
  struct rd_http_task *task = attempt->task;
  enum rd_http_next next = RD_HTTP_END;
  enum radio_status status = task->conclude (task, &attempt->problem, &next);
  if (next != RD_HTTP_END)
    status = tell_attempts (task, status);
  return (struct rd_http_outcome) { CURLE_OK, status, next };
}

/* A connection that had been there may be closed while the request goes out.
 * That tells nothing of the server, as with one that was kept, where libcurl
 * asks again by itself. */
static bool
was_stale (const struct rd_http_attempt *attempt, CURLcode code)
{
  return attempt->is_ahead && !attempt->has_byte
         && code != CURLE_OPERATION_TIMEDOUT;
}

/* No byte of an answer can be used. */
static struct rd_http_outcome
judge_failure (struct rd_http_attempt *attempt, CURLcode code)
{
  struct rd_http_task *task = attempt->task;
  bool is_busy = !attempt->is_accepted
                 && rd_http_is_busy (task->answer.status);
  if (is_busy)
    code = CURLE_OK;
  else if (code == CURLE_OK)
    code = CURLE_PARTIAL_FILE;
  task->is_ambiguous |= attempt->is_sent
                        && (!is_busy || task->answer.status >= 500);
  enum rd_http_next next = rd_http_next_after (task, code);
  if (next == RD_HTTP_LATER && was_stale (attempt, code))
    next = RD_HTTP_AGAIN;
  return (struct rd_http_outcome) {
    code, is_busy ? fail_busy (task) : fail_transfer (attempt, code), next,
  };
}

struct rd_http_outcome
rd_http_judge (struct rd_http_attempt *attempt, CURLcode code)
{
  struct rd_http_task *task = attempt->task;
  bool is_whole = code == CURLE_OK && rd_http_attempt_is_whole (attempt);
  if (attempt->is_refused)
    return (struct rd_http_outcome) {
      CURLE_OK, rd_error_raise (&task->error), RD_HTTP_END
    };
  if (attempt->has_problem)
    task->is_ambiguous |= task->answer.status >= 500;
  if (attempt->has_problem || (is_whole && task->conclude))
    return conclude (attempt);
  if (is_whole)
    return (struct rd_http_outcome) { CURLE_OK, RADIO_OK, RD_HTTP_END };
  return judge_failure (attempt, code);
}
