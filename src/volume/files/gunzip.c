/* SPDX-License-Identifier: MIT */
/* Reads of gzip files: which threads inflate from which points. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/crc32c.h"
#include "profiler/counters.h"
#include "src/nifti/input.h"
#include "src/volume/files/gunzip.h"
#include "src/volume/files/inflate.h"
#include "src/volume/files/members.h"
#include "src/volume/read-ahead.h"

/* Output between two points, at first. */
#define GAP_NBYTES ((uint64_t) 2 << 20)

/* A run has at most this much: threads begin with a run, after a point, and
 * what is between the two is inflated by both. */
#define CAP_NBYTES ((uint64_t) 64 << 10)

/* Bytes between two runs are inflated in any case. */
#define RUN_GAP_NBYTES ((uint64_t) 64 << 10)

/* For a remote file this many sessions are active at once, each of which first
 * waits for a request. */
#define MAX_REMOTE_SESSIONS 16

/* The fewest bytes that a task inflates, and the most for a remote file. */
#define TASK_MIN_NBYTES ((uint64_t) 256 << 10)
#define REMOTE_TASK_MAX_NBYTES ((uint64_t) 16 << 20)
#define TASKS_PER_THREAD 4

/* Returns the idle session if no point of a kind is closer to an output, or
 * NULL. */
static struct rd_session *
take_idle (struct rd_gunzip *gunzip, uint64_t output, enum rd_points_kind kind)
{
  struct rd_point point;
  bool found = rd_points_find (gunzip->points, output, kind, &point, NULL);
  RD_LOCK_SCOPE (&gunzip->mutex);
  const struct rd_session *idle = gunzip->synced.idle;
  if (!idle || idle->output > output
      || (idle->is_unchecked && kind == RD_POINTS_CHECKED)
      || (found && point.output > idle->output))
    return NULL;
  return RD_STEAL (gunzip->synced.idle);
}

/* Keeps a session without its window for the next read: a file that is read
 * plane by plane is inflated once, and its checksum is verified.  So a session
 * whose checksum is known is preferred to one further on. */
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
    if (!idle || (idle->is_unchecked == session->is_unchecked
                  ? idle->output < session->output : idle->is_unchecked)) {
      other = gunzip->synced.idle;
      gunzip->synced.idle = session;
    }
  }
  rd_session_close (other);
}

void
rd_gunzip_warn (struct rd_gunzip *gunzip, enum rd_gunzip_warning which,
                const char *what)
{
  char line[1024];
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    if (gunzip->synced.has_warned[which] || !gunzip->warning)
      return;
    gunzip->synced.has_warned[which] = true;
  }
  snprintf (line, sizeof line, "%s/%s: %s", gunzip->store->io->uri,
            gunzip->key, what);
  gunzip->warning (line, gunzip->user_data);
}

static void
warn_repeated (struct rd_linear *linear, const char *what)
{
  rd_gunzip_warn ((struct rd_gunzip *) linear, RD_GUNZIP_REPEATED, what);
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

/* Finds a hint for an output, and one before it, to prove it.  False if there
 * is a point, or the idle session, that is not before them. */
static bool
find_hints (struct rd_gunzip *gunzip, uint64_t output, struct rd_point *from,
            struct rd_point *hint)
{
  struct rd_point point;
  if (!gunzip->hints
      || !rd_points_find (gunzip->hints, output, RD_POINTS_ALL, hint, NULL)
      || hint->output == 0
      || !rd_points_find (gunzip->hints, hint->output - 1, RD_POINTS_ALL, from,
                          NULL)
      || (rd_points_find (gunzip->points, output, RD_POINTS_ALL, &point, NULL)
          && point.output >= from->output))
    return false;
  RD_LOCK_SCOPE (&gunzip->mutex);
  const struct rd_session *idle = gunzip->synced.idle;
  return !idle || idle->output > output || idle->output < from->output;
}

/* Returns a session at a hint for an output, or NULL if there is no hint, or it
 * is wrong: then no hints are used from then on. */
static enum radio_status
begin_at_hint (struct rd_gunzip *gunzip, const struct rd_tile_read *read,
               uint64_t output, struct rd_session **result)
{
  struct rd_point from, hint;
  struct rd_session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  if (!find_hints (gunzip, output, &from, &hint))
    return RADIO_OK;
  RD_TRY (rd_session_open (gunzip, read->stop, &session));
  rd_points_find (gunzip->hints, from.output, RD_POINTS_ALL, &from,
                  session->packed);
  enum radio_status status = rd_session_prove (session, &from, &hint);
  if (status == RADIO_ERROR_FORMAT) {
    rd_points_clear (gunzip->hints);
    rd_gunzip_warn (gunzip, RD_GUNZIP_WRONG_HINTS, "its index (.gzidx) is of "
                    "another file, or one of both is damaged; it is not used: "
                    "remove it, or make it again");
    return RADIO_OK;
  }
  if (status == RADIO_OK)
    *result = RD_STEAL (session);
  return status;
}

/* Returns a session that goes on to an output, from a point of a kind, and from
 * there to what is needed; that of a check begins with the file. */
static enum radio_status
begin_session (struct rd_gunzip *gunzip, const struct rd_tile_read *read,
               uint64_t output, enum rd_points_kind kind,
               uint64_t needed_output, struct rd_session **result)
{
  bool is_fresh = read->fresh_indexes;
  struct rd_session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  if (!is_fresh && kind == RD_POINTS_ALL)
    RD_TRY (begin_at_hint (gunzip, read, output, &session));
  if (!is_fresh && !session)
    session = take_idle (gunzip, output, kind);
  if (!session) {
    RD_TRY (rd_session_open (gunzip, read->stop, &session));
    session->needed_output = needed_output;
    session->ignores_joints = is_fresh;
    RD_TRY (rd_session_enter (session, is_fresh ? 0 : output, kind));
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
    .destination = rd_linear_destination (read, &runs[0], NULL),
  };
  while (batch->destination && batch->n < n
         && batch->nbytes < RD_GUNZIP_BATCH_NBYTES) {
    const struct rd_linear_run *run = &runs[batch->n];
    if (run->offset != runs[0].offset + batch->nbytes
        || rd_linear_destination (read, run, NULL)
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
    if (nbytes > RD_GUNZIP_BATCH_NBYTES)
      break;
    batch->nbytes = rd_max_u64 (batch->nbytes, nbytes);
  }
}

enum radio_status
rd_gunzip_read_runs (const struct rd_gunzip_job *job,
                     struct rd_session *session, size_t first, size_t end)
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

/* Tasks that begin at points.  One that follows the task before without a gap
 * has a joint: the point that it begins at, as it was when the read began,
 * which the task before passes. */
struct points_job {
  struct rd_gunzip_job base;
  const struct rd_point *joints;      /* of each task, and of the end; output 0:
                                         none */
};

static enum radio_status
inflate_runs (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  const struct points_job *points_job = (struct points_job *) base;
  const struct rd_point *joints = points_job->joints;
  struct rd_gunzip_job *job = (struct rd_gunzip_job *) base;
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
                         joints[task].output > 0 ? RD_POINTS_CHECKED
                                                 : RD_POINTS_ALL,
                         gunzip->offset + needed, &session));
  uint64_t begin = session->output;
  session->joint = (struct rd_point) { 0 };
  session->last_joint = joints[task + 1];
  RD_TRY (rd_gunzip_read_runs (job, session, first, end));
  RD_TRY (rd_session_meet_last_joint (session));
  RD_COUNT (inflated, session->output - begin);
  if (session->output < gunzip->offset + gunzip->nbytes)
    put_idle (RD_STEAL (session));
  else
    return rd_session_finish (session);
  return RADIO_OK;
}

uint64_t
rd_gunzip_task_nbytes (const struct rd_gunzip *gunzip, uint64_t left_nbytes,
                       uint64_t min_nbytes)
{
  uint64_t nthreads = gunzip->store->context->nthreads;
  if (nthreads == 1)
    return UINT64_MAX;
  return rd_max_u64 (left_nbytes / (2 * nthreads), min_nbytes);
}

/* The same of tasks that have requests of their own, which are all alike. */
static uint64_t
remote_task_nbytes (const struct rd_gunzip *gunzip, uint64_t all_nbytes)
{
  uint64_t nthreads = gunzip->store->context->nthreads;
  return rd_min_u64 (all_nbytes / (TASKS_PER_THREAD * nthreads),
                     REMOTE_TASK_MAX_NBYTES);
}

/* Finds the point of a kind that a task for an output begins at.  A check uses
 * none. */
static bool
find_begin (const struct rd_tile_read *read, struct rd_gunzip *gunzip,
            uint64_t output, enum rd_points_kind kind, struct rd_point *point)
{
  struct rd_point from;
  return !read->fresh_indexes
         && ((kind == RD_POINTS_ALL
              && find_hints (gunzip, output, &from, point))
             || rd_points_find (gunzip->points, output, kind, point, NULL));
}

/* Divides the runs into at most `most' tasks, each of which begins with the
 * first run after a point: where that skips something, or the task before has
 * its part, and the point's checksum is known.  What is from the point to the
 * run is inflated by both.  Returns their number. */
static size_t
divide_runs (const struct rd_tile_read *read, struct rd_gunzip *gunzip,
             const struct rd_linear_run *runs, size_t n, size_t most,
             size_t *firsts, struct rd_point *joints)
{
  size_t ntasks = 0;
  uint64_t end = 0, task_end = 0;
  uint64_t all_nbytes = runs[n - 1].offset - runs[0].offset;
  for (size_t i = 0; i < n; i++) {
    struct rd_point point;
    uint64_t output = gunzip->offset + runs[i].offset;
    bool skips = i == 0
                 || (find_begin (read, gunzip, output, RD_POINTS_ALL, &point)
                     && point.output > gunzip->offset + end);
    /* From a point before the last run that would be inflated again. */
    bool follows = !skips && runs[i].offset >= task_end
                   && find_begin (read, gunzip, output, RD_POINTS_CHECKED,
                                  &point)
                   && point.output > gunzip->offset + runs[i - 1].offset;
    if (i == 0 || (ntasks < most && (skips || follows))) {
      uint64_t left_nbytes = runs[n - 1].offset - runs[i].offset;
      joints[ntasks] = follows ? point : (struct rd_point) { 0 };
      firsts[ntasks++] = i;
      task_end = rd_add_sat (
        runs[i].offset,
        gunzip->is_remote ? remote_task_nbytes (gunzip, all_nbytes)
                          : rd_gunzip_task_nbytes (gunzip, left_nbytes,
                                                   TASK_MIN_NBYTES));
    }
    end = runs[i].offset + runs[i].nbytes;
  }
  firsts[ntasks] = n;
  joints[ntasks] = (struct rd_point) { 0 };
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
  /* Each task but the first one begins at another point. */
  size_t most = rd_points_count (gunzip->points, NULL) + 1;
  most += gunzip->hints ? rd_points_count (gunzip->hints, NULL) : 0;
  most = rd_min_u64 (n, most);
  RD_FREE size_t *firsts = rd_malloc ((most + 1) * sizeof *firsts);
  RD_FREE struct rd_point *joints = rd_malloc ((most + 1) * sizeof *joints);
  if (!firsts || !joints)
    return rd_fail_memory ((most + 1) * sizeof *joints);
  uint64_t session_nbytes = sizeof (struct rd_session)
                            + 2 * RD_GUNZIP_BATCH_NBYTES;
  if (gunzip->is_remote)
    session_nbytes += RD_READ_AHEAD_NBYTES;
  struct points_job points_job = {
    .base = {
      .job = {
        .run = inflate_runs, .site = &rd_linear_runs_site,
        .max_active = rd_fetch_share_limit (
          read, RD_TILE_PARTS, session_nbytes,
          gunzip->is_remote ? MAX_REMOTE_SESSIONS : context->nthreads),
      },
      .gunzip = gunzip, .read = read, .runs = runs, .firsts = firsts,
    },
    .joints = joints,
  };
  struct rd_job *job = &points_job.base.job;
  job->n = divide_runs (read, gunzip, runs, n, most, firsts, joints);
  if (!gunzip->is_remote)
    return rd_pool_run (context->pool, job);
  return rd_pool_run_apart ((unsigned) rd_min_u64 (job->max_active, job->n),
                            job);
}

/*------------------------------------------------------------------------
 * All of a read
 *----------------------------------------------------------------------*/

static enum radio_status
read_gunzip (struct rd_linear *linear, struct rd_tile_read *read,
             const struct rd_linear_run *runs, size_t n)
{
  struct rd_gunzip *gunzip = (struct rd_gunzip *) linear;
  size_t first, end;
  RD_TRY (rd_members_read (gunzip, read, runs, n, &first, &end));
  RD_TRY (read_from_points (gunzip, read, runs, first));
  return read_from_points (gunzip, read, runs + end, n - end);
}

/*------------------------------------------------------------------------
 * Opening and closing
 *----------------------------------------------------------------------*/

/* Adds points of a file to a set: in place of copies of states the blocks that
 * follow them. */
static enum radio_status
list_blocks (struct rd_gunzip *gunzip, struct rd_points *blocks)
{
  RD_SCOPE ("find blocks", RD_IN_DECODE);
  struct rd_session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  struct rd_point point;
  uint64_t end = gunzip->offset + gunzip->nbytes;
  RD_TRY (rd_session_open (gunzip, NULL, &session));
  /* The last one first: a search ends at the point after it. */
  for (uint64_t at = UINT64_MAX;
       rd_points_find (gunzip->points, at, RD_POINTS_ALL, &point,
                       session->packed);
       at = point.output - 1) {
    if (point.is_state) {
      RD_TRY (rd_session_enter_at (session, &point));
      RD_TRY (rd_session_find_block (session, blocks, end));
    } else
      rd_points_add_copy (blocks, &point, session->packed);
    end = point.output;
    if (end == 0)
      break;
  }
  return RADIO_OK;
}

/* Writes the file of points, unless it has all of them. */
static enum radio_status
keep_index (struct rd_gunzip *gunzip)
{
  struct rd_points *blocks RD_CLEANUP (rd_cleanup_points) = NULL;
  size_t nunsaved;
  if (rd_points_count (gunzip->points, &nunsaved) == 0 || nunsaved == 0)
    return RADIO_OK;
  RD_TRY (rd_points_open (gunzip->store->context->points, NULL, 1, &blocks));
  RD_TRY (list_blocks (gunzip, blocks));
  RD_TRY (rd_index_keep (&gunzip->place, &gunzip->points_key, blocks));
  rd_points_mark_saved (gunzip->points);
  return RADIO_OK;
}

static void
close_gunzip (struct rd_linear *linear)
{
  struct rd_gunzip *gunzip = (struct rd_gunzip *) linear;
  rd_session_close (gunzip->synced.idle);
  /* An index is of use only later: the read is right without it. */
  if (gunzip->keep_index && gunzip->is_remote)
    rd_gunzip_warn (gunzip, RD_GUNZIP_NOT_KEPT, "points of entry are kept of "
                    "local files only");
  else if (gunzip->keep_index && gunzip->place.file
           && keep_index (gunzip) != RADIO_OK) {
    char line[512];
    snprintf (line, sizeof line, "its points of entry are not kept: %s",
              radio_error_message ());
    rd_gunzip_warn (gunzip, RD_GUNZIP_NOT_KEPT, line);
  }
  rd_points_release (gunzip->points);
  rd_points_release (gunzip->hints);
  rd_io_release (gunzip->store->io, gunzip->base.file);
  pthread_mutex_destroy (&gunzip->mutex);
  rd_free ((char *) gunzip->place.file);
  rd_free ((char *) gunzip->place.folder);
  rd_free (gunzip);
}

enum radio_status
rd_gunzip_read_bytes (struct rd_gunzip *gunzip, uint64_t offset,
                      size_t nbytes, struct rd_buffer *into,
                      uint64_t *file_nbytes)
{
  struct rd_io_get get = {
    .key = gunzip->key, .file = gunzip->base.file, .range = RD_RANGE_SPAN,
    .offset = offset, .nbytes = nbytes, .into = into,
  };
  RD_TRY (rd_io_read (gunzip->store->io, &get));
  *file_nbytes = get.object_nbytes;
  return RADIO_OK;
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
  RD_TRY (rd_gunzip_read_bytes (gunzip, 0, RD_POINTS_END_NBYTES, &bytes,
                                &file_nbytes));
  key->head_crc32c = rd_crc32c (0, bytes.data, bytes.nbytes);
  RD_TRY (rd_gunzip_read_bytes (gunzip, tail, RD_POINTS_END_NBYTES, &bytes,
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
    .is_inflated = true, .warn = warn_repeated,
  };
  gunzip->store = store;
  gunzip->object = *object;
  gunzip->object.key = memcpy (gunzip->key, object->key, key_nbytes);
  gunzip->is_remote = !store->io->ops->is_blocking;
  gunzip->offset = offset;
  gunzip->nbytes = nbytes;
  gunzip->keep_index = options->keep_index;
  gunzip->warning = options->warning;
  gunzip->user_data = options->user_data;
  gunzip->first_member_nbytes = options->first_member_nbytes;
  pthread_mutex_init (&gunzip->mutex, NULL);
  gunzip->base.file = rd_io_hold (store->io, gunzip->key, false);
  if (options->identity)
    RD_TRY (set_key (gunzip, options->identity));
  RD_TRY (rd_points_open (store->context->points,
                          gunzip->has_key ? &gunzip->points_key : NULL,
                          options->point_gap_nbytes > 0
                          ? options->point_gap_nbytes : GAP_NBYTES,
                          &gunzip->points));
  if (gunzip->has_key && options->path) {
    RD_TRY (set_place (gunzip, options));
    struct rd_points_key key = gunzip->points_key;
    key.are_hints = 1;
    RD_TRY (rd_points_open (store->context->points, &key, 1, &gunzip->hints));
    if (rd_points_count (gunzip->points, NULL) == 0
        && rd_points_count (gunzip->hints, NULL) == 0)
      rd_index_find (&gunzip->place, &gunzip->points_key, gunzip->points,
                     gunzip->hints);
    if (rd_points_count (gunzip->hints, NULL) == 0) {
      rd_points_release (gunzip->hints);
      gunzip->hints = NULL;
    }
  }
  *result = &RD_STEAL (gunzip)->base;
  return RADIO_OK;
}

size_t
rd_gunzip_npoints (struct rd_linear *linear)
{
  return rd_points_count (((struct rd_gunzip *) linear)->points, NULL);
}
