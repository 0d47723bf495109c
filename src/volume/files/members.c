/* SPDX-License-Identifier: MIT */
/* Reads of gzip files whose members say how long they are.
 *
 * A chain of claims leads through the file: each member's end has the length
 * of its output, and the next one follows.  Threads inflate all of them, up to
 * the output wanted, and each checks that it ends where the next one begins.
 * Only then are they points.
 *
 * For a local file the chain is followed first.  A file on a network is
 * requested in order; members that have arrived are inflated from memory while
 * the next ones arrive. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/little.h"
#include "src/base/reserve.h"
#include "profiler/counters.h"
#include "src/nifti/gzip.h"
#include "src/volume/files/members.h"
#include "src/volume/read-ahead.h"

/* Members are inflated in parallel if at least this much is to be inflated. */
#define MEMBERS_MIN_NBYTES ((uint64_t) 4 << 20)

/* The fewest bytes that a task inflates. */
#define TASK_MIN_NBYTES ((uint64_t) 1 << 20)

/* Bytes read of a member's header, after the end of the previous member. */
#define TRAILER_NBYTES 8
#define HEAD_NBYTES 512

/* The most bytes that arrive and are inflated at once, also as a share of the
 * memory limit. */
#define WINDOW_NBYTES ((uint64_t) 8 << 20)
#define WINDOW_SHARE 16

/* Where more was needed than expected. */
#define MORE_NBYTES ((uint64_t) 256 << 10)

struct claims {
  struct rd_claim *list;      /* far enough from each other to be points */
  size_t n, capacity;
  struct rd_claim last;       /* the last member */
  struct rd_claim end;        /* after it */
};

static void
clear_claims (struct claims *claims)
{
  rd_free (claims->list);
}

/* Adds the member at the end of the claims. */
static enum radio_status
add_member (struct claims *claims, uint64_t nbytes, const void *trailer)
{
  const struct rd_claim at = claims->end;
  if (claims->n == 0
      || at.output - claims->list[claims->n - 1].output >= TASK_MIN_NBYTES) {
    RD_TRY (rd_reserve (&claims->list, &claims->capacity, claims->n,
                        sizeof *claims->list));
    claims->list[claims->n++] = at;
  }
  claims->last = at;
  claims->end.input += nbytes;
  claims->end.output += rd_get_little ((const unsigned char *) trailer + 4, 4);
  return RADIO_OK;
}

/* Returns the last member that is known not to be after an output. */
static struct rd_claim
find_begin (struct rd_gunzip *gunzip, uint64_t output)
{
  struct rd_point point;
  struct rd_claim at;
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    at = gunzip->synced.frontier;
  }
  if (rd_points_find (gunzip->points, output, RD_POINTS_MEMBERS, &point,
                      NULL)
      && point.output > at.output)
    at = (struct rd_claim) { point.output, point.input };
  return at;
}

/* Finds where the members begin up to an output, as far as they say.  There
 * are less than two where that leads nowhere. */
static enum radio_status
list_claims (struct rd_gunzip *gunzip, struct rd_read_stop *stop,
             uint64_t output, struct claims *claims)
{
  RD_SCOPE ("list members", RD_IN_METADATA);
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  uint64_t file_nbytes;
  claims->end = find_begin (gunzip, output);
  RD_TRY (rd_gunzip_read_bytes (gunzip, claims->end.input, HEAD_NBYTES, &bytes,
                                &file_nbytes));
  const unsigned char *header = bytes.data;
  size_t left = bytes.nbytes;
  while (claims->end.output < output) {
    uint64_t nbytes = rd_gzip_member_nbytes (header, left);
    if (nbytes < TRAILER_NBYTES || nbytes > file_nbytes - claims->end.input)
      break;
    RD_TRY (rd_read_stop_check (stop));
    RD_TRY (rd_gunzip_read_bytes (
      gunzip, claims->end.input + nbytes - TRAILER_NBYTES,
      TRAILER_NBYTES + HEAD_NBYTES, &bytes, &file_nbytes));
    if (bytes.nbytes < TRAILER_NBYTES)
      break;
    RD_TRY (add_member (claims, nbytes, bytes.data));
    header = bytes.data + TRAILER_NBYTES;
    left = bytes.nbytes - TRAILER_NBYTES;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Inflating
 *----------------------------------------------------------------------*/

/* A part of a remote file that has arrived. */
struct window {
  struct rd_read_ahead *ahead;
  struct rd_buffer bytes;
  struct rd_claim at;         /* its first member */
};

static void
clear_window (struct window *window)
{
  rd_read_ahead_close (window->ahead);
  rd_buffer_free (&window->bytes);
}

struct members_job {
  struct rd_gunzip_job base;
  const struct claims *claims;
  const size_t *first_claims;         /* of each task, and the end */
  const struct window *window;        /* NULL: a local file */
};

/* Inflates from a task's first member to that of the next one, or to the last
 * run; of a window all of its members. */
static enum radio_status
inflate_members (struct rd_job *base, uint64_t task,
                 struct rd_scratch *scratch)
{
  struct members_job *members = (struct members_job *) base;
  struct rd_gunzip_job *job = &members->base;
  struct rd_gunzip *gunzip = job->gunzip;
  const struct claims *claims = members->claims;
  const struct window *window = members->window;
  const struct rd_claim *end = claims->list + claims->n;
  const struct rd_claim *claim = claims->list + members->first_claims[task];
  const struct rd_claim *next = claims->list + members->first_claims[task + 1];
  (void) scratch;
  RD_SCOPE ("inflate", RD_IN_DECODE);
  struct rd_session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  const struct rd_point point = {
    .output = claim->output, .input = claim->input, .is_member = true,
  };
  RD_TRY (rd_session_open (gunzip, job->read->stop, &session));
  session->is_claimed = true;
  session->next_claim = claim;
  session->end_claim = next < end ? next + 1 : next;
  if (window) {
    session->memory = window->bytes.data;
    session->memory_start = window->at.input;
    session->memory_end = claims->end.input;
  }
  RD_TRY (rd_session_enter_at (session, &point));
  RD_TRY (rd_gunzip_read_runs (job, session, job->firsts[task],
                               job->firsts[task + 1]));
  /* Some data of the next member are inflated, since it is met then. */
  if (next < end) {
    RD_TRY (rd_session_skip_to (session, next->output));
    RD_TRY (rd_session_meet_claims (session));
  }
  if ((window && next == end)
      || session->output >= gunzip->offset + gunzip->nbytes)
    RD_TRY (rd_session_finish (session));
  RD_COUNT (inflated, session->output - claim->output);
  if (window && next == end && session->output != claims->end.output)
    return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: a member is not as long as it "
                    "says", gunzip->store->io->uri, gunzip->key);
  return RADIO_OK;
}

/* Groups claims into tasks, and finds the runs of each, as far as they end
 * within the members.  Returns the number of tasks. */
static size_t
divide_claims (const struct rd_gunzip *gunzip, const struct claims *claims,
               const struct rd_linear_run *runs, size_t n,
               size_t *first_claims, size_t *firsts)
{
  size_t ntasks = 0, run = 0, nwithin = 0;
  uint64_t task_end = 0;
  while (nwithin < n && gunzip->offset + runs[nwithin].offset
                        + runs[nwithin].nbytes <= claims->end.output)
    nwithin++;
  for (size_t i = 0; i < claims->n; i++) {
    const struct rd_claim *claim = &claims->list[i];
    if (claim->output < task_end)
      continue;
    task_end = rd_add_sat (
      claim->output,
      rd_gunzip_task_nbytes (gunzip, claims->end.output - claim->output,
                             TASK_MIN_NBYTES));
    while (run < nwithin && gunzip->offset + runs[run].offset < claim->output)
      run++;
    first_claims[ntasks] = i;
    firsts[ntasks++] = run;
  }
  first_claims[ntasks] = claims->n;
  firsts[ntasks] = nwithin;
  return ntasks;
}

/* Reads the runs that the claims lead to; *first and *end are set to them.
 * After RADIO_ERROR_FORMAT claims are not followed again. */
static enum radio_status
read_claims (struct rd_gunzip *gunzip, struct rd_tile_read *read,
             const struct claims *claims, const struct window *window,
             const struct rd_linear_run *runs, size_t n, size_t *first,
             size_t *end)
{
  struct radio_context *context = gunzip->store->context;
  size_t room = (claims->n + 1) * sizeof (size_t);
  RD_FREE size_t *first_claims = rd_malloc (room);
  RD_FREE size_t *firsts = rd_malloc (room);
  if (!first_claims || !firsts)
    return rd_fail_memory (room);
  struct members_job job = {
    .base = {
      .job = {
        .run = inflate_members, .site = &rd_linear_runs_site,
        .max_active = rd_fetch_share_limit (
          read, RD_TILE_PARTS, sizeof (struct rd_session)
                               + 2 * RD_GUNZIP_BATCH_NBYTES,
          context->nthreads),
      },
      .gunzip = gunzip, .read = read, .runs = runs, .firsts = firsts,
    },
    .claims = claims, .first_claims = first_claims, .window = window,
  };
  job.base.job.n = divide_claims (gunzip, claims, runs, n, first_claims,
                                  firsts);
  enum radio_status status = rd_pool_run (context->pool, &job.base.job);
  if (status == RADIO_ERROR_FORMAT) {
    /* Damage, of a claim or of the data, is found by inflating in order. */
    RD_LOCK_SCOPE (&gunzip->mutex);
    gunzip->synced.distrusts_claims = true;
  }
  RD_TRY (status);
  *first = firsts[0];
  *end = firsts[job.base.job.n];
  for (size_t i = 0; i < claims->n; i++) {
    struct rd_point point = {
      .output = claims->list[i].output, .input = claims->list[i].input,
      .is_member = true,
    };
    rd_points_add (gunzip->points, &point);
  }
  RD_LOCK_SCOPE (&gunzip->mutex);
  if (claims->list[claims->n - 1].output > gunzip->synced.frontier.output)
    gunzip->synced.frontier = claims->list[claims->n - 1];
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Windows of a remote file
 *----------------------------------------------------------------------*/

/* Requests more of the file, up to nbytes in the window; what follows is
 * requested ahead up to an offset. */
static enum radio_status
fill_window (struct window *window, struct rd_read_stop *stop,
             uint64_t needed_input, uint64_t nbytes)
{
  struct rd_buffer *bytes = &window->bytes;
  RD_TRY (rd_buffer_reserve (bytes, (size_t) nbytes));
  while (bytes->nbytes < nbytes) {
    size_t got;
    RD_TRY (rd_read_ahead_read (window->ahead, stop,
                                window->at.input + bytes->nbytes, needed_input,
                                bytes->data + bytes->nbytes,
                                (size_t) nbytes - bytes->nbytes, &got));
    if (got == 0)
      break;
    bytes->nbytes += got;
  }
  return RADIO_OK;
}

/* Lists the members that are whole in the window, up to an output. */
static enum radio_status
list_in_window (const struct window *window, uint64_t output,
                struct claims *claims)
{
  claims->n = 0;
  claims->last = claims->end = window->at;
  for (size_t used = 0; claims->end.output < output;) {
    const unsigned char *member = window->bytes.data + used;
    size_t left = window->bytes.nbytes - used;
    uint64_t nbytes = rd_gzip_member_nbytes (member, left);
    if (nbytes < TRAILER_NBYTES || nbytes > left)
      break;
    used += (size_t) nbytes;
    RD_TRY (add_member (claims, nbytes, member + nbytes - TRAILER_NBYTES));
  }
  return RADIO_OK;
}

/* Drops what is before the member that the next run begins in, of all members
 * that were inflated.  False if that is nothing. */
static bool
move_window (struct window *window, const struct claims *claims,
             uint64_t next_output)
{
  struct rd_claim next = claims->end;
  if (next_output < next.output)
    next = claims->last;
  for (size_t i = claims->n; next_output < next.output && i > 0; i--)
    next = claims->list[i - 1];
  size_t passed = (size_t) (next.input - window->at.input);
  window->bytes.nbytes -= passed;
  memmove (window->bytes.data, window->bytes.data + passed,
           window->bytes.nbytes);
  window->at = next;
  return passed > 0;
}

/* Reads what is in members window by window.  Ends early where a member does
 * not say how long it is, or not rightly, or is larger than a window. */
static enum radio_status
read_windows (struct rd_gunzip *gunzip, struct rd_tile_read *read,
              const struct rd_linear_run *runs, size_t n, uint64_t wanted,
              size_t *first, size_t *end)
{
  const uint64_t room = rd_min_u64 (
    WINDOW_NBYTES, gunzip->store->context->memory_limit_nbytes / WINDOW_SHARE);
  struct window window RD_CLEANUP (clear_window) = {
    .at = find_begin (gunzip, wanted),
  };
  struct claims claims RD_CLEANUP (clear_claims) = { 0 };
  if (gunzip->first_member_nbytes > room)
    return RADIO_OK;
  RD_TRY (rd_read_ahead_open (&gunzip->object, gunzip->base.file,
                              &window.ahead));
  while (*first < n && gunzip->offset + runs[*first].offset < window.at.output)
    ++*first;
  *end = *first;
  uint64_t needed = rd_gunzip_expect (gunzip, &window.at, wanted);
  while (window.at.output < wanted && *end < n) {
    size_t ignored, ndone;
    RD_TRY (fill_window (&window, read->stop, needed,
                         rd_min_u64 (room, needed - window.at.input)));
    RD_TRY (list_in_window (&window, wanted, &claims));
    if (claims.n == 0) {
      uint64_t got_end = window.at.input + window.bytes.nbytes;
      if (window.bytes.nbytes >= room
          || got_end >= gunzip->object.object_nbytes)
        return RADIO_OK;
      needed = got_end + MORE_NBYTES;
      continue;
    }
    enum radio_status status = read_claims (gunzip, read, &claims, &window,
                                            runs + *end, n - *end, &ignored,
                                            &ndone);
    if (status == RADIO_ERROR_FORMAT)
      return RADIO_OK;
    RD_TRY (status);
    *end += ndone;
    uint64_t next_output = *end < n ? gunzip->offset + runs[*end].offset
                                    : UINT64_MAX;
    if (!move_window (&window, &claims, next_output))
      return RADIO_OK;
    needed = rd_max_u64 (needed, window.at.input);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Choosing
 *----------------------------------------------------------------------*/

enum radio_status
rd_members_read (struct rd_gunzip *gunzip, struct rd_tile_read *read,
                 const struct rd_linear_run *runs, size_t n, size_t *first,
                 size_t *end)
{
  const struct radio_context *context = gunzip->store->context;
  struct claims claims RD_CLEANUP (clear_claims) = { 0 };
  struct rd_point point = { 0 };
  uint64_t wanted = 0, reached = 0;
  *first = *end = 0;
  if (read->fresh_indexes || context->nthreads == 1
      || (gunzip->is_remote && gunzip->first_member_nbytes == 0))
    return RADIO_OK;
  for (size_t i = 0; i < n; i++)
    wanted = rd_max_u64 (wanted,
                         gunzip->offset + runs[i].offset + runs[i].nbytes);
  if (rd_points_find (gunzip->points, wanted, RD_POINTS_ALL, &point,
                      NULL))
    reached = point.output;
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    if (gunzip->synced.distrusts_claims || gunzip->synced.is_frontier_silent)
      return RADIO_OK;
    const struct rd_session *idle = gunzip->synced.idle;
    if (idle && idle->output <= wanted)
      reached = rd_max_u64 (reached, idle->output);
  }
  if (wanted < reached + MEMBERS_MIN_NBYTES)
    return RADIO_OK;
  if (gunzip->is_remote)
    return read_windows (gunzip, read, runs, n, wanted, first, end);
  RD_TRY (list_claims (gunzip, read->stop, wanted, &claims));
  if (claims.n < 2) {
    RD_LOCK_SCOPE (&gunzip->mutex);
    gunzip->synced.is_frontier_silent = true;
    return RADIO_OK;
  }
  enum radio_status status = read_claims (gunzip, read, &claims, NULL, runs, n,
                                          first, end);
  return status == RADIO_ERROR_FORMAT ? RADIO_OK : status;
}
