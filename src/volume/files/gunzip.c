/* SPDX-License-Identifier: MIT */
/* Reads of gzip files: which threads inflate from where.
 *
 * Where members say how long they are, a chain of claims leads through the
 * file: each member's end has the length of its output, and the next one
 * follows.  Threads inflate all of them, up to what is wanted, and each checks
 * that it ends where the next one begins.  Only then are they points. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "src/base/little.h"
#include "src/base/reserve.h"
#include "profiler/counters.h"
#include "src/nifti/gzip.h"
#include "src/nifti/input.h"
#include "src/volume/files/gunzip.h"
#include "src/volume/files/inflate.h"
#include "src/volume/read-ahead.h"

/* Output between two points, at first. */
#define GAP_NBYTES ((uint64_t) 2 << 20)

/* A run has at most this much: threads begin with a run, after a point, and
 * what is between the two is inflated by both. */
#define CAP_NBYTES ((uint64_t) 64 << 10)

/* Runs that are inflated at once: as much as is in a processor's cache when its
 * checksum is computed, or it is placed. */
#define BATCH_NBYTES ((uint64_t) 512 << 10)

/* What lies between is inflated in any case. */
#define RUN_GAP_NBYTES ((uint64_t) 64 << 10)

/* Of a remote file as many sessions are active at once, each of which waits for
 * a request at first. */
#define MAX_REMOTE_SESSIONS 16

/* Members are inflated in parallel if at least this much is to be inflated. */
#define MEMBERS_MIN_NBYTES ((uint64_t) 4 << 20)

/* What a task inflates, at least; and of a remote file at most. */
#define TASK_MIN_NBYTES ((uint64_t) 256 << 10)
#define MEMBERS_TASK_MIN_NBYTES ((uint64_t) 1 << 20)
#define REMOTE_TASK_MAX_NBYTES ((uint64_t) 16 << 20)
#define TASKS_PER_THREAD 4

/* What is read of a member's header, after the end of the one before. */
#define TRAILER_NBYTES 8
#define HEAD_NBYTES 512

/* Returns the idle session if no point is closer to an output, or NULL. */
static struct rd_session *
take_idle (struct rd_gunzip *gunzip, uint64_t output)
{
  struct rd_point point;
  bool found = rd_points_find (gunzip->points, output, false, &point, NULL);
  RD_LOCK_SCOPE (&gunzip->mutex);
  const struct rd_session *idle = gunzip->synced.idle;
  if (!idle || idle->output > output
      || (found && point.output > idle->output))
    return NULL;
  return RD_STEAL (gunzip->synced.idle);
}

/* Keeps a session without its window for a read that follows: what is read
 * plane by plane is inflated once, and its checksum is verified. */
static void
put_idle (struct rd_session *session)
{
  struct rd_gunzip *gunzip = session->gunzip;
  rd_buffer_free (&session->window);
  session->window_start = session->output;
  session->stop = NULL;
  struct rd_session *other = session;
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    const struct rd_session *idle = gunzip->synced.idle;
    if (!idle || idle->output < session->output) {
      other = gunzip->synced.idle;
      gunzip->synced.idle = session;
    }
  }
  rd_session_close (other);
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

struct gunzip_job {
  struct rd_job job;
  struct rd_gunzip *gunzip;
  struct rd_tile_read *read;
  const struct rd_linear_run *runs;
  size_t *firsts;             /* run of each task, and the end */
};

/* Returns a session that goes on to an output, and from there to what is
 * needed; that of a check begins with the file. */
static enum radio_status
begin_session (struct rd_gunzip *gunzip, const struct rd_tile_read *read,
               uint64_t output, uint64_t needed_output,
               struct rd_session **result)
{
  bool is_fresh = read->fresh_indexes;
  struct rd_session *session RD_CLEANUP (rd_cleanup_session)
    = is_fresh ? NULL : take_idle (gunzip, output);
  if (!session) {
    RD_TRY (rd_session_open (gunzip, read->stop, &session));
    session->needed_output = needed_output;
    RD_TRY (rd_session_enter (session, is_fresh ? 0 : output));
  } else {
    session->needed_output = needed_output;
    rd_session_expect (session);
  }
  session->stop = read->stop;
  *result = RD_STEAL (session);
  return RADIO_OK;
}

/* Runs that are inflated at once, from the first one's offset on. */
struct batch {
  size_t n;
  uint64_t nbytes;
  unsigned char *destination;         /* of all of them; or NULL */
};

/* Finds the first runs of some that may be inflated straight into the caller's
 * memory, since it takes them one after the other, as they are in the file, and
 * no later run needs any of their bytes. */
static bool
find_direct (const struct rd_tile_read *read,
             const struct rd_linear_run *runs, size_t n, struct batch *batch)
{
  *batch = (struct batch) {
    .destination = rd_linear_destination (read, &runs[0]),
  };
  while (batch->destination && batch->n < n && batch->nbytes < BATCH_NBYTES) {
    const struct rd_linear_run *run = &runs[batch->n];
    if (run->offset != runs[0].offset + batch->nbytes
        || rd_linear_destination (read, run)
           != batch->destination + batch->nbytes)
      break;
    batch->nbytes += run->nbytes;
    batch->n++;
  }
  return batch->n > 0
         && (batch->n == n
             || runs[batch->n].offset >= runs[0].offset + batch->nbytes);
}

/* Finds the first runs that are inflated into the window.  All between them is
 * inflated in any case. */
static void
find_windowed (const struct rd_linear_run *runs, size_t n,
               struct batch *batch)
{
  *batch = (struct batch) { .n = 1, .nbytes = runs[0].nbytes };
  for (; batch->n < n; batch->n++) {
    const struct rd_linear_run *run = &runs[batch->n];
    uint64_t nbytes = run->offset + run->nbytes - runs[0].offset;
    if (nbytes > BATCH_NBYTES)
      break;
    batch->nbytes = rd_max_u64 (batch->nbytes, nbytes);
  }
}

/* Inflates and places the runs from first to end - 1. */
static enum radio_status
read_runs (const struct gunzip_job *job, struct rd_session *session,
           size_t first, size_t end)
{
  struct rd_tile_read *read = job->read;
  struct batch batch;
  for (size_t i = first; i < end; i += batch.n) {
    const struct rd_linear_run *runs = &job->runs[i];
    uint64_t output = job->gunzip->offset + runs[0].offset;
    RD_TRY (rd_read_stop_check (read->stop));
    if (output >= session->output
        && find_direct (read, runs, end - i, &batch)) {
      RD_TRY (rd_session_fill_into (session, output, batch.destination,
                                    (size_t) batch.nbytes));
      RD_COUNT (delivered, batch.nbytes);
      continue;
    }
    find_windowed (runs, end - i, &batch);
    RD_TRY (rd_session_fill (session, output, (size_t) batch.nbytes));
    for (size_t k = 0; k < batch.n; k++)
      RD_TRY (rd_linear_place (read, &runs[k], session->window.data
                               + (runs[k].offset - runs[0].offset)));
  }
  return RADIO_OK;
}

static enum radio_status
inflate_runs (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct gunzip_job *job = (struct gunzip_job *) base;
  struct rd_gunzip *gunzip = job->gunzip;
  const struct rd_linear_run *runs = job->runs;
  size_t first = job->firsts[task], end = job->firsts[task + 1];
  (void) scratch;
  RD_SCOPE ("inflate", RD_IN_DECODE);
  struct rd_session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  uint64_t needed = 0;
  for (size_t i = first; i < end; i++)
    needed = rd_max_u64 (needed, runs[i].offset + runs[i].nbytes);
  RD_TRY (begin_session (gunzip, job->read,
                         gunzip->offset + runs[first].offset,
                         gunzip->offset + needed, &session));
  uint64_t begin = session->output;
  RD_TRY (read_runs (job, session, first, end));
  RD_COUNT (inflated, session->output - begin);
  if (session->output < gunzip->offset + gunzip->nbytes)
    put_idle (RD_STEAL (session));
  else
    return rd_session_finish (session);
  return RADIO_OK;
}

/* Returns how much of what is left of a read a task should inflate: tasks
 * become smaller, so that threads end at about the same time.  Those of a
 * remote file are all alike, since each has requests of its own. */
static uint64_t
task_nbytes (const struct rd_gunzip *gunzip, uint64_t all_nbytes,
             uint64_t left_nbytes, uint64_t min_nbytes)
{
  uint64_t nthreads = gunzip->store->context->nthreads;
  if (gunzip->is_remote)
    return rd_min_u64 (all_nbytes / (TASKS_PER_THREAD * nthreads),
                       REMOTE_TASK_MAX_NBYTES);
  if (nthreads == 1)
    return UINT64_MAX;
  return rd_max_u64 (left_nbytes / (2 * nthreads), min_nbytes);
}

/* Divides the runs into tasks, each of which begins with the first run after a
 * point: where that skips something, or the task before has its part.  What is
 * from the point to the run is inflated by both.  Returns their number. */
static size_t
divide_runs (const struct rd_tile_read *read, struct rd_gunzip *gunzip,
             const struct rd_linear_run *runs, size_t n, size_t *firsts)
{
  size_t ntasks = 0;
  uint64_t before = 0, end = 0, task_end = 0;
  uint64_t all_nbytes = runs[n - 1].offset - runs[0].offset;
  for (size_t i = 0; i < n; i++) {
    struct rd_point point;
    uint64_t begin = 0;
    if (!read->fresh_indexes
        && rd_points_find (gunzip->points, gunzip->offset + runs[i].offset,
                           false, &point, NULL))
      begin = point.output;
    if (i == 0 || (begin > before && (begin > gunzip->offset + end
                                      || runs[i].offset >= task_end))) {
      uint64_t left_nbytes = runs[n - 1].offset - runs[i].offset;
      firsts[ntasks++] = i;
      task_end = rd_add_sat (runs[i].offset,
                             task_nbytes (gunzip, all_nbytes, left_nbytes,
                                          TASK_MIN_NBYTES));
    }
    before = begin;
    end = runs[i].offset + runs[i].nbytes;
  }
  firsts[ntasks] = n;
  return ntasks;
}

/* Reads runs from the points that there are. */
static enum radio_status
read_from_points (struct rd_gunzip *gunzip, struct rd_tile_read *read,
                  const struct rd_linear_run *runs, size_t n)
{
  struct radio_context *context = gunzip->store->context;
  if (n == 0)
    return RADIO_OK;
  RD_FREE size_t *firsts = rd_malloc ((n + 1) * sizeof *firsts);
  if (!firsts)
    return rd_fail_memory ((n + 1) * sizeof *firsts);
  uint64_t session_nbytes = sizeof (struct rd_session) + 2 * BATCH_NBYTES
    + (gunzip->is_remote ? RD_READ_AHEAD_NBYTES : 0);
  struct gunzip_job job = {
    .job = {
      .run = inflate_runs, .site = &rd_linear_runs_site,
      .max_active = rd_fetch_share_limit (
        read, RD_TILE_PARTS, session_nbytes,
        gunzip->is_remote ? MAX_REMOTE_SESSIONS : context->nthreads),
    },
    .gunzip = gunzip, .read = read, .runs = runs, .firsts = firsts,
  };
  job.job.n = divide_runs (read, gunzip, runs, n, firsts);
  if (!gunzip->is_remote)
    return rd_pool_run (context->pool, &job.job);
  return rd_pool_run_apart ((unsigned) rd_min_u64 (job.job.max_active,
                                                   job.job.n), &job.job);
}

/*------------------------------------------------------------------------
 * Members that say how long they are
 *----------------------------------------------------------------------*/

struct claims {
  struct rd_claim *list;
  size_t n, capacity;
  uint64_t end;                       /* output after the last member */
};

static void
clear_claims (struct claims *claims)
{
  rd_free (claims->list);
}

static enum radio_status
add_claim (struct claims *claims, const struct rd_claim *claim)
{
  RD_TRY (rd_reserve (&claims->list, &claims->capacity, claims->n,
                      sizeof *claims->list));
  claims->list[claims->n++] = *claim;
  return RADIO_OK;
}

/* Reads nbytes of the file, or fewer at its end. */
static enum radio_status
read_bytes (struct rd_gunzip *gunzip, uint64_t offset, size_t nbytes,
            struct rd_buffer *into, uint64_t *file_nbytes)
{
  struct rd_io_get get = {
    .key = gunzip->key, .file = gunzip->file, .range = RD_RANGE_SPAN,
    .offset = offset, .nbytes = nbytes, .into = into,
  };
  RD_TRY (rd_io_read (gunzip->store->io, &get));
  *file_nbytes = get.object_nbytes;
  return RADIO_OK;
}

/* Returns where the members begin up to an output, as far as they say, at
 * least gap_nbytes apart.  There are less than two where that leads nowhere. */
static enum radio_status
list_claims (struct rd_gunzip *gunzip, struct rd_read_stop *stop,
             uint64_t output, uint64_t gap_nbytes, struct claims *claims)
{
  RD_SCOPE ("list members", RD_IN_METADATA);
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  struct rd_claim at;
  struct rd_point point;
  uint64_t file_nbytes;
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    at = gunzip->synced.frontier;
  }
  if (rd_points_find (gunzip->points, output, true, &point, NULL)
      && point.output > at.output)
    at = (struct rd_claim) { point.output, point.input };
  RD_TRY (read_bytes (gunzip, at.input, HEAD_NBYTES, &bytes, &file_nbytes));
  const unsigned char *header = bytes.data;
  size_t left = bytes.nbytes;
  while (at.output < output) {
    uint64_t nbytes = rd_gzip_member_nbytes (header, left);
    if (nbytes < TRAILER_NBYTES || nbytes > file_nbytes - at.input)
      break;
    if (claims->n == 0
        || at.output - claims->list[claims->n - 1].output >= gap_nbytes)
      RD_TRY (add_claim (claims, &at));
    RD_TRY (rd_read_stop_check (stop));
    RD_TRY (read_bytes (gunzip, at.input + nbytes - TRAILER_NBYTES,
                        TRAILER_NBYTES + HEAD_NBYTES, &bytes, &file_nbytes));
    if (bytes.nbytes < TRAILER_NBYTES)
      break;
    at.input += nbytes;
    at.output += rd_get_little (bytes.data + 4, 4);
    header = bytes.data + TRAILER_NBYTES;
    left = bytes.nbytes - TRAILER_NBYTES;
  }
  claims->end = at.output;
  return RADIO_OK;
}

struct members_job {
  struct gunzip_job base;
  const struct rd_claim *claims;         /* of the first member of each task */
  const struct rd_claim *end;
  const size_t *first_claims;         /* of each task, and the end */
};

/* Inflates from a task's first member to that of the next one, or to the last
 * run. */
static enum radio_status
inflate_members (struct rd_job *base, uint64_t task,
                 struct rd_scratch *scratch)
{
  struct members_job *members = (struct members_job *) base;
  struct gunzip_job *job = &members->base;
  struct rd_gunzip *gunzip = job->gunzip;
  const struct rd_claim *claim = members->claims + members->first_claims[task];
  const struct rd_claim *next = members->claims
                             + members->first_claims[task + 1];
  (void) scratch;
  RD_SCOPE ("inflate", RD_IN_DECODE);
  struct rd_session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  const struct rd_point point = {
    .output = claim->output, .input = claim->input, .is_member = true,
  };
  RD_TRY (rd_session_open (gunzip, job->read->stop, &session));
  session->is_claimed = true;
  session->next_claim = claim;
  session->end_claim = next < members->end ? next + 1 : next;
  RD_TRY (rd_session_enter_at (session, &point));
  RD_TRY (read_runs (job, session, job->firsts[task],
                     job->firsts[task + 1]));
  /* Some data of the next member are inflated, since it is met then. */
  if (next < members->end) {
    RD_TRY (rd_session_skip_to (session, next->output));
    RD_TRY (rd_session_meet_claims (session));
  }
  RD_COUNT (inflated, session->output - claim->output);
  if (session->output >= gunzip->offset + gunzip->nbytes)
    return rd_session_finish (session);
  return RADIO_OK;
}

/* Groups claims into tasks, and finds the runs of each; those of the last one
 * are up to `end'.  Returns the number of tasks. */
static size_t
divide_claims (const struct rd_gunzip *gunzip, const struct claims *claims,
               const struct rd_linear_run *runs, size_t n,
               size_t *first_claims, size_t *firsts)
{
  size_t ntasks = 0, run = 0;
  uint64_t task_end = 0;
  uint64_t all_nbytes = claims->end - claims->list[0].output;
  for (size_t i = 0; i < claims->n; i++) {
    const struct rd_claim *claim = &claims->list[i];
    if (claim->output < task_end)
      continue;
    task_end = rd_add_sat (
      claim->output, task_nbytes (gunzip, all_nbytes,
                                  claims->end - claim->output,
                                  MEMBERS_TASK_MIN_NBYTES));
    while (run < n && gunzip->offset + runs[run].offset < claim->output)
      run++;
    first_claims[ntasks] = i;
    firsts[ntasks++] = run;
  }
  while (run < n
         && gunzip->offset + runs[run].offset + runs[run].nbytes
            <= claims->end)
    run++;
  first_claims[ntasks] = claims->n;
  firsts[ntasks] = run;
  return ntasks;
}

/* Reads the runs that the claims lead to; *first and *end are set to them. */
static enum radio_status
read_claims (struct rd_gunzip *gunzip, struct rd_tile_read *read,
             const struct claims *claims, const struct rd_linear_run *runs,
             size_t n, size_t *first, size_t *end)
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
          read, RD_TILE_PARTS, sizeof (struct rd_session) + 2 * BATCH_NBYTES,
          context->nthreads),
      },
      .gunzip = gunzip, .read = read, .runs = runs, .firsts = firsts,
    },
    .claims = claims->list, .end = claims->list + claims->n,
    .first_claims = first_claims,
  };
  job.base.job.n = divide_claims (gunzip, claims, runs, n, first_claims,
                                  firsts);
  RD_TRY (rd_pool_run (context->pool, &job.base.job));
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

/* Inflates what is before the runs and was not reached yet by all threads, if
 * it is in members that say how long they are.  *first and *end are the runs
 * that are read then. */
static enum radio_status
read_members (struct rd_gunzip *gunzip, struct rd_tile_read *read,
              const struct rd_linear_run *runs, size_t n, size_t *first,
              size_t *end)
{
  const struct radio_context *context = gunzip->store->context;
  struct claims claims RD_CLEANUP (clear_claims) = { 0 };
  struct rd_point point = { 0 };
  uint64_t wanted = 0, reached = 0;
  *first = *end = 0;
  if (read->fresh_indexes || context->nthreads == 1
      || !gunzip->store->io->ops->is_blocking)
    return RADIO_OK;
  for (size_t i = 0; i < n; i++)
    wanted = rd_max_u64 (wanted,
                         gunzip->offset + runs[i].offset + runs[i].nbytes);
  if (rd_points_find (gunzip->points, wanted, false, &point, NULL))
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
  RD_TRY (list_claims (gunzip, read->stop, wanted, MEMBERS_TASK_MIN_NBYTES,
                       &claims));
  if (claims.n < 2) {
    RD_LOCK_SCOPE (&gunzip->mutex);
    gunzip->synced.is_frontier_silent = true;
    return RADIO_OK;
  }
  enum radio_status status = read_claims (gunzip, read, &claims, runs, n,
                                          first, end);
  if (status != RADIO_ERROR_FORMAT)
    return status;
  /* What is damaged, a claim or the data, is found in order. */
  RD_LOCK_SCOPE (&gunzip->mutex);
  gunzip->synced.distrusts_claims = true;
  return RADIO_OK;
}

static enum radio_status
read_gunzip (struct rd_linear *linear, struct rd_tile_read *read,
             const struct rd_linear_run *runs, size_t n)
{
  struct rd_gunzip *gunzip = (struct rd_gunzip *) linear;
  size_t first, end;
  RD_TRY (read_members (gunzip, read, runs, n, &first, &end));
  RD_TRY (read_from_points (gunzip, read, runs, first));
  return read_from_points (gunzip, read, runs + end, n - end);
}

/*------------------------------------------------------------------------
 * Opening and closing
 *----------------------------------------------------------------------*/

static void
close_gunzip (struct rd_linear *linear)
{
  struct rd_gunzip *gunzip = (struct rd_gunzip *) linear;
  size_t nunsaved;
  rd_session_close (gunzip->synced.idle);
  if (gunzip->keep_index && gunzip->place.file
      && rd_points_count (gunzip->points, &nunsaved) > 0 && nunsaved > 0) {
    /* An index is of use only later: what was read is right without. */
    enum radio_status ignored = rd_index_keep (
      &gunzip->place, &gunzip->points_key, gunzip->points);
    (void) ignored;
  }
  rd_points_release (gunzip->points);
  rd_io_release (gunzip->store->io, gunzip->file);
  pthread_mutex_destroy (&gunzip->mutex);
  rd_free ((char *) gunzip->place.file);
  rd_free ((char *) gunzip->place.folder);
  rd_free (gunzip);
}

/* Completes the key of the file's points by the checksums of its two ends. */
static enum radio_status
set_key (struct rd_gunzip *gunzip, const struct rd_file_identity *identity)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  uint64_t file_nbytes, nbytes = identity->nbytes;
  struct rd_points_key *key = &gunzip->points_key;
  uint64_t tail = nbytes > RD_POINTS_END_NBYTES
                  ? nbytes - RD_POINTS_END_NBYTES : 0;
  key->device = identity->device;
  key->inode = identity->inode;
  key->nbytes = nbytes;
  key->mtime_ns = identity->mtime_ns;
  gunzip->has_key = gunzip->is_remote;
  if (gunzip->is_remote)
    return RADIO_OK;
  RD_TRY (read_bytes (gunzip, 0, RD_POINTS_END_NBYTES, &bytes, &file_nbytes));
  key->head_crc32c = rd_crc32c (0, bytes.data, bytes.nbytes);
  RD_TRY (read_bytes (gunzip, tail, RD_POINTS_END_NBYTES, &bytes,
                      &file_nbytes));
  key->tail_crc32c = rd_crc32c (0, bytes.data, bytes.nbytes);
  /* Else the file was replaced since it was inspected. */
  gunzip->has_key = file_nbytes == nbytes;
  return RADIO_OK;
}

static enum radio_status
set_place (struct rd_gunzip *gunzip, const struct rd_gunzip_options *options)
{
  struct rd_index_place *place = &gunzip->place;
  place->most_nbytes = gunzip->store->context->memory_limit_nbytes / 16;
  place->file = rd_strdup (options->path);
  if (!place->file)
    return rd_fail_memory (strlen (options->path) + 1);
  if (!options->index_folder)
    return RADIO_OK;
  place->folder = rd_strdup (options->index_folder);
  return place->folder ? RADIO_OK
                       : rd_fail_memory (strlen (options->index_folder) + 1);
}

static void
cleanup_gunzip (struct rd_gunzip **gunzip)
{
  if (*gunzip)
    close_gunzip (&(*gunzip)->base);
}

enum radio_status
rd_gunzip_open (const struct rd_linear_object *object, uint64_t offset,
                uint64_t nbytes, const struct rd_gunzip_options *options,
                struct rd_linear **result)
{
  struct radio_store *store = object->store;
  size_t key_nbytes = strlen (object->key) + 1;
  struct rd_gunzip *gunzip RD_CLEANUP (cleanup_gunzip)
    = rd_calloc (1, sizeof *gunzip + key_nbytes);
  if (!gunzip)
    return rd_fail_memory (sizeof *gunzip + key_nbytes);
  gunzip->base = (struct rd_linear) {
    .read = read_gunzip, .close = close_gunzip,
    .gap_nbytes = RUN_GAP_NBYTES, .cap_nbytes = CAP_NBYTES,
  };
  gunzip->store = store;
  gunzip->object = *object;
  gunzip->object.key = memcpy (gunzip->key, object->key, key_nbytes);
  gunzip->is_remote = !store->io->ops->is_blocking;
  gunzip->offset = offset;
  gunzip->nbytes = nbytes;
  gunzip->keep_index = options->keep_index;
  pthread_mutex_init (&gunzip->mutex, NULL);
  gunzip->file = rd_io_hold (store->io, gunzip->key, false);
  if (options->identity)
    RD_TRY (set_key (gunzip, options->identity));
  RD_TRY (rd_points_open (store->context->points,
                          gunzip->has_key ? &gunzip->points_key : NULL,
                          options->point_gap_nbytes > 0
                          ? options->point_gap_nbytes : GAP_NBYTES,
                          &gunzip->points));
  if (gunzip->has_key && options->path) {
    RD_TRY (set_place (gunzip, options));
    if (rd_points_count (gunzip->points, NULL) == 0)
      rd_index_find (&gunzip->place, &gunzip->points_key, gunzip->points);
  }
  *result = &RD_STEAL (gunzip)->base;
  return RADIO_OK;
}

size_t
rd_gunzip_npoints (struct rd_linear *linear)
{
  return rd_points_count (((struct rd_gunzip *) linear)->points, NULL);
}
