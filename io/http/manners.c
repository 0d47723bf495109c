/* SPDX-License-Identifier: MIT */
/* When to try again, and how much to ask for at one time: waits grow
 * exponentially, with full jitter; all tasks share a budget of further
 * attempts, so that an outage is not made worse; and who says that it is
 * too much is asked for half of it at one time, then slowly for more. */
#include <config.h>

#include "src/base/checked.h"
#include "io/http/engine.h"

#define TOKENS 500            /* the budget when full */
#define TOKENS_AGAIN 5        /* an attempt beyond the first costs */
#define TOKENS_TIMEOUT 10     /* one after a timeout */
#define MAX_BACKOFF_NS (UINT64_C (20) * 1000000000)
#define BUSY_BACKOFF_NS (UINT64_C (1) * 1000000000)

/* Where nothing ever answered, the URL is as likely to be wrong. */
#define MAX_ATTEMPTS_UNHEARD 2

void
rd_http_manners_begin (struct rd_http_manners *manners,
                       const struct rd_http_options *options)
{
  *manners = (struct rd_http_manners) {
    .limit = options->nconnections,
    .most = options->nconnections,
    .tokens = TOKENS,
    .random = rd_http_now () | 1,
  };
}

/* What an attempt that succeeds had cost is given back. */
void
rd_http_manners_praise (struct rd_http_manners *manners,
                        const struct rd_http_task *task)
{
  unsigned ntokens = task->nattempts > 1 ? task->ntokens : 1;
  manners->was_answered = true;
  manners->tokens += ntokens;
  if (manners->tokens > TOKENS)
    manners->tokens = TOKENS;
  if (manners->limit == manners->most
      || ++manners->nsuccesses < manners->limit)
    return;
  manners->limit++;
  manners->nsuccesses = 0;
}

bool
rd_http_is_busy (unsigned status)
{
  switch (status) {
  case 408: case 429: case 500: case 502: case 503: case 504:
    return true;
  default:
    return false;
  }
}

static bool
is_too_much (unsigned status)
{
  return status == 429 || status == 503;
}

/* What may go better next time. */
static bool
is_passing (CURLcode code)
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

/* Whether the server may have acted: all is well where that does no harm. */
static bool
may_repeat (const struct rd_http_task *task)
{
  return task->method != RD_HTTP_POST || task->is_repeatable
         || !task->is_ambiguous;
}

enum rd_http_next
rd_http_next_after (const struct rd_http_task *task, CURLcode code)
{
  if ((code != CURLE_OK && !is_passing (code)) || !may_repeat (task))
    return RD_HTTP_END;
  return code == CURLE_OK && is_too_much (task->answer.status)
         ? RD_HTTP_SLOWER : RD_HTTP_LATER;
}

/* Marsaglia's xorshift64. */
static uint64_t
next_random (uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static uint64_t
wait_ns (struct rd_http_manners *manners,
         const struct rd_http_options *options,
         const struct rd_http_task *task, bool is_busy)
{
  uint64_t most = is_busy ? rd_min_u64 (BUSY_BACKOFF_NS,
                                        10 * options->backoff_ms * 1000000)
                          : options->backoff_ms * 1000000;
  for (unsigned i = 1; i < task->nattempts && most < MAX_BACKOFF_NS; i++)
    most *= 2;
  uint64_t told = rd_mul_sat (task->answer.retry_after_s, 1000000000);
  uint64_t ns = next_random (&manners->random)
                % (rd_min_u64 (most, MAX_BACKOFF_NS) + 1);
  return rd_max_u64 (ns, rd_min_u64 (told, MAX_BACKOFF_NS));
}

/* Once for all that were under way at the time. */
static void
slow_down (struct rd_http_manners *manners, uint64_t begin_ns,
           uint64_t now_ns)
{
  if (begin_ns < manners->slowed_ns)
    return;
  manners->slowed_ns = now_ns;
  manners->limit = manners->limit > 1 ? manners->limit / 2 : 1;
  manners->nsuccesses = 0;
}

void
rd_http_manners_heed (struct rd_http_manners *manners, unsigned status,
                      uint64_t begin_ns, uint64_t now_ns)
{
  if (is_too_much (status))
    slow_down (manners, begin_ns, now_ns);
}

bool
rd_http_manners_again (struct rd_http_manners *manners,
                       const struct rd_http_options *options,
                       struct rd_http_task *task, CURLcode code,
                       enum rd_http_next next, uint64_t now_ns)
{
  unsigned cost = next == RD_HTTP_AGAIN ? 0
                  : code == CURLE_OPERATION_TIMEDOUT ? TOKENS_TIMEOUT
                                                     : TOKENS_AGAIN;
  manners->was_answered |= code == CURLE_OK || task->attempt->is_sent;
  unsigned nattempts = manners->was_answered ? options->nattempts
                                             : MAX_ATTEMPTS_UNHEARD;
  if (next == RD_HTTP_SLOWER)
    slow_down (manners, task->attempt->begin_ns, now_ns);
  if (next == RD_HTTP_END || manners->tokens < cost
      || task->nattempts >= nattempts)
    return false;
  uint64_t begin_ns = now_ns;
  if (next != RD_HTTP_AGAIN)
    begin_ns += wait_ns (manners, options, task, next == RD_HTTP_SLOWER);
  if (begin_ns - task->begin_ns >= options->deadline_ms * 1000000)
    return false;
  manners->tokens -= cost;
  task->ntokens = cost;
  task->not_before_ns = begin_ns;
  return true;
}
