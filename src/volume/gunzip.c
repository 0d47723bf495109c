/* SPDX-License-Identifier: MIT */
/* Inflating from points of entry.
 *
 * ISA-L does not stop at the bounds of blocks.  Where a point is wanted it is
 * given few bytes at a time, until they end within a block's header: its state
 * then says at which bit the header began, and has the last bytes of output. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>
#include <lz4.h>

#include "src/base/checked.h"
#include "profiler/counters.h"
#include "src/nifti/input.h"
#include "src/volume/gunzip.h"

#define HISTORY_NBYTES ((size_t) ISAL_DEF_HIST_SIZE)

/* Output between two points, at first.  The gap doubles when the points take
 * more than their part of the memory limit. */
#define GAP_NBYTES ((uint64_t) 2 << 20)
#define POINTS_SHARE 16

/* Input that is read at once, and that is given near a wanted point. */
#define INPUT_NBYTES ((size_t) 128 << 10)
#define SMALL_INPUT_NBYTES 64

/* Output that is not wanted is inflated this much at a time; of wanted output
 * at most what a run may have. */
#define SKIP_NBYTES ((size_t) 256 << 10)
#define CAP_NBYTES ((uint64_t) 512 << 10)

/* What lies between is inflated in any case. */
#define RUN_GAP_NBYTES ((uint64_t) 64 << 10)

struct point {
  uint64_t output;            /* bytes before it */
  uint64_t input;             /* of the block or member */
  unsigned bit;               /* 0-7, of the first byte */
  bool is_member;             /* a member begins; there is no history */
  uint32_t packed_nbytes, history_nbytes;
  unsigned char *packed;      /* the history, by lz4 */
};

struct session;

struct gunzip {
  struct rd_linear base;
  struct radio_store *store;
  struct rd_io_file *file;
  uint64_t offset, nbytes;            /* of the elements */
  uint64_t max_points_nbytes;
  pthread_mutex_t mutex;
  struct {
    struct point *points;             /* by output */
    size_t n, capacity;
    uint64_t nbytes, gap_nbytes;
    struct session *idle;             /* ended last, for a read that follows;
                                         or NULL */
  } synced;
  char key[];
};

/* One way through the file. */
struct session {
  struct gunzip *gunzip;
  struct rd_read_stop *stop;          /* of the read */
  struct inflate_state inflate;
  unsigned char *input_end;           /* of the bytes read */
  uint64_t input;                     /* offset of input_end in the file */
  uint64_t output;                    /* offset of the next byte */
  bool at_end;                        /* nothing follows input_end */
  bool in_member;
  bool is_at_start;                   /* of a member */
  bool is_resumed;                    /* began within this member, so that its
                                         checksum is unknown */
  bool is_whole;                      /* began with the file */
  struct rd_buffer window;            /* output from window_start on */
  uint64_t window_start;
  unsigned char history[ISAL_DEF_HIST_SIZE];
  unsigned char buffer[INPUT_NBYTES];
};

static void
free_session (struct session *session)
{
  if (!session)
    return;
  rd_buffer_free (&session->window);
  rd_free (session);
}
RD_DEFINE_CLEANUP (session, struct session, free_session);

static enum radio_status
fail_in_file (const struct session *session, const char *why)
{
  const struct gunzip *gunzip = session->gunzip;
  return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: the gzip data is damaged near "
                  "byte %" PRIu64 ": %s", gunzip->store->io->uri, gunzip->key,
                  session->input - (uint64_t) (session->input_end
                                               - session->inflate.next_in),
                  why);
}

/*------------------------------------------------------------------------
 * Input
 *----------------------------------------------------------------------*/

/* Adds to the bytes that are left in the buffer. */
static enum radio_status
refill (struct session *session)
{
  struct gunzip *gunzip = session->gunzip;
  size_t left = (size_t) (session->input_end - session->inflate.next_in);
  RD_BUFFER_SCOPE struct rd_buffer read = { 0 };
  struct rd_io_get get = {
    .key = gunzip->key, .file = gunzip->file, .range = RD_RANGE_SPAN,
    .offset = session->input, .nbytes = INPUT_NBYTES - left, .into = &read,
  };
  RD_TRY (rd_read_stop_check (session->stop));
  memmove (session->buffer, session->inflate.next_in, left);
  RD_TRY (rd_io_read (gunzip->store->io, &get));
  if (read.nbytes > 0)
    memcpy (session->buffer + left, read.data, read.nbytes);
  session->at_end = read.nbytes < get.nbytes;
  session->inflate.next_in = session->buffer;
  session->input_end = session->buffer + left + read.nbytes;
  session->input += read.nbytes;
  return RADIO_OK;
}

static enum radio_status
seek (struct session *session, uint64_t input)
{
  session->inflate.next_in = session->input_end = session->buffer;
  session->input = input;
  return refill (session);
}

static size_t
input_left (const struct session *session)
{
  return (size_t) (session->input_end - session->inflate.next_in);
}

static uint64_t
position (const struct session *session)
{
  return session->input - input_left (session);
}

/*------------------------------------------------------------------------
 * Points
 *----------------------------------------------------------------------*/

/* Drops every other point. */
static void
thin_synced (struct gunzip *gunzip)
{
  size_t n = 0;
  for (size_t i = 0; i < gunzip->synced.n; i++) {
    struct point *point = &gunzip->synced.points[i];
    if (i % 2 == 0) {
      gunzip->synced.points[n++] = *point;
      continue;
    }
    gunzip->synced.nbytes -= point->packed_nbytes + sizeof *point;
    rd_free (point->packed);
  }
  gunzip->synced.n = n;
  gunzip->synced.gap_nbytes *= 2;
}

/* Adds a point behind all others, unless another session was faster, or there
 * is no memory. */
static void
add_point (struct gunzip *gunzip, struct point *point)
{
  RD_LOCK_SCOPE (&gunzip->mutex);
  size_t n = gunzip->synced.n;
  uint64_t last = n > 0 ? gunzip->synced.points[n - 1].output : 0;
  if (point->output < last + gunzip->synced.gap_nbytes)
    return;
  if (n == gunzip->synced.capacity) {
    size_t capacity = n ? 2 * n : 16;
    struct point *grown = rd_realloc (gunzip->synced.points,
                                      capacity * sizeof *grown);
    if (!grown)
      return;
    gunzip->synced.points = grown;
    gunzip->synced.capacity = capacity;
  }
  gunzip->synced.points[n] = *point;
  gunzip->synced.points[n].packed = RD_STEAL (point->packed);
  gunzip->synced.n++;
  gunzip->synced.nbytes += point->packed_nbytes + sizeof *point;
  while (gunzip->synced.nbytes > gunzip->max_points_nbytes
         && gunzip->synced.n > 1)
    thin_synced (gunzip);
}

/* The output from which on a new point is wanted. */
static uint64_t
next_point (struct gunzip *gunzip)
{
  RD_LOCK_SCOPE (&gunzip->mutex);
  size_t n = gunzip->synced.n;
  return (n > 0 ? gunzip->synced.points[n - 1].output : 0)
         + gunzip->synced.gap_nbytes;
}

/* Keeps the place of the session, which is at the header of a block. */
static void
keep_block (struct session *session)
{
  const struct inflate_state *state = &session->inflate;
  uint64_t bits = (position (session) - (uint64_t) state->tmp_in_size) * 8
                  - (uint64_t) state->read_in_length;
  size_t n = rd_min_u64 ((uint64_t) state->tmp_out_valid, HISTORY_NBYTES);
  int bound = LZ4_compressBound ((int) n);
  RD_FREE unsigned char *packed = rd_malloc ((size_t) bound);
  if (!packed)
    return;
  int packed_nbytes = LZ4_compress_default (
    (const char *) state->tmp_out_buffer + state->tmp_out_valid - n,
    (char *) packed, (int) n, bound);
  if (packed_nbytes <= 0)
    return;
  unsigned char *fitted = rd_realloc (packed, (size_t) packed_nbytes);
  if (fitted)
    packed = fitted;
  struct point point = {
    .output = session->output, .input = bits / 8, .bit = bits % 8,
    .packed_nbytes = (uint32_t) packed_nbytes, .history_nbytes = (uint32_t) n,
    .packed = RD_STEAL (packed),
  };
  add_point (session->gunzip, &point);
  rd_free (point.packed);
}

static void
keep_member (struct session *session)
{
  struct point point = {
    .output = session->output, .input = position (session),
    .is_member = true,
  };
  add_point (session->gunzip, &point);
}

/* Returns the last point that is not after an output, or NULL. */
static const struct point *
find_point_synced (const struct gunzip *gunzip, uint64_t output)
{
  size_t low = 0, high = gunzip->synced.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (gunzip->synced.points[middle].output <= output)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 ? &gunzip->synced.points[low - 1] : NULL;
}

/* Returns the idle session if no point is closer to an output, or NULL. */
static struct session *
take_idle (struct gunzip *gunzip, uint64_t output)
{
  RD_LOCK_SCOPE (&gunzip->mutex);
  const struct session *idle = gunzip->synced.idle;
  const struct point *point = find_point_synced (gunzip, output);
  if (!idle || idle->output > output
      || (point && point->output > idle->output))
    return NULL;
  return RD_STEAL (gunzip->synced.idle);
}

/* Keeps a session without its window for a read that follows: what is read
 * plane by plane is inflated once, and its checksum is verified. */
static void
put_idle (struct session *session)
{
  struct gunzip *gunzip = session->gunzip;
  rd_buffer_free (&session->window);
  session->window_start = session->output;
  session->stop = NULL;
  struct session *other = session;
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    const struct session *idle = gunzip->synced.idle;
    if (!idle || idle->output < session->output) {
      other = gunzip->synced.idle;
      gunzip->synced.idle = session;
    }
  }
  free_session (other);
}

/* Sets the session to the last point that is not after an output; its history
 * is unpacked, since others may drop the point. */
static enum radio_status
enter (struct session *session, uint64_t output)
{
  struct gunzip *gunzip = session->gunzip;
  struct inflate_state *state = &session->inflate;
  struct point point = { .is_member = true };
  {
    RD_LOCK_SCOPE (&gunzip->mutex);
    const struct point *found = find_point_synced (gunzip, output);
    if (found)
      point = *found;
    if (point.packed
        && LZ4_decompress_safe ((const char *) point.packed,
                                (char *) session->history,
                                (int) point.packed_nbytes,
                                (int) sizeof session->history)
           != (int) point.history_nbytes)
      return rd_fail (RADIO_ERROR_FORMAT, "a point of entry is damaged");
  }
  isal_inflate_init (state);
  session->output = session->window_start = point.output;
  session->window.nbytes = 0;
  session->in_member = session->is_resumed = !point.is_member;
  session->is_whole = point.output == 0;
  RD_TRY (seek (session, point.input));
  if (point.is_member)
    return RADIO_OK;
  state->crc_flag = ISAL_DEFLATE;
  if (isal_inflate_set_dict (state, session->history, point.history_nbytes)
      != ISAL_DECOMP_OK)
    return rd_fail (RADIO_ERROR_FORMAT, "a point of entry is damaged");
  if (point.bit > 0 && input_left (session) > 0) {
    state->read_in = (uint64_t) (*state->next_in++ >> point.bit);
    state->read_in_length = (int32_t) (8 - point.bit);
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Inflating
 *----------------------------------------------------------------------*/

/* Begins the next member; in_member stays false at the end of the file.  Zeros
 * at the end are padding. */
static enum radio_status
begin_member (struct session *session)
{
  struct inflate_state *state = &session->inflate;
  bool is_padded = false;
  for (;;) {
    if (input_left (session) < RD_GZIP_HEADER_NBYTES && !session->at_end)
      RD_TRY (refill (session));
    if (input_left (session) == 0)
      return RADIO_OK;
    if (*state->next_in != 0)
      break;
    is_padded = true;
    state->next_in++;
  }
  if (is_padded || input_left (session) < 2 || state->next_in[0] != 0x1f
      || state->next_in[1] != 0x8b)
    return fail_in_file (session, "what follows is no gzip data");
  if (session->output >= next_point (session->gunzip))
    keep_member (session);
  isal_inflate_reset (state);
  state->crc_flag = ISAL_GZIP;
  session->in_member = session->is_at_start = true;
  session->is_resumed = false;
  return RADIO_OK;
}

/* Skips the trailer of a member whose checksum is unknown. */
static enum radio_status
end_member (struct session *session)
{
  session->in_member = false;
  if (!session->is_resumed)
    return RADIO_OK;
  /* Whole bytes that were taken in after the last block. */
  uint64_t back = (uint64_t) session->inflate.read_in_length / 8;
  RD_TRY (seek (session, position (session) - back + 8));
  isal_inflate_init (&session->inflate);
  session->inflate.next_in = session->buffer;
  return RADIO_OK;
}

static bool
is_at_header (const struct inflate_state *state)
{
  return (state->block_state == ISAL_BLOCK_HDR
          || state->block_state == ISAL_BLOCK_NEW_HDR)
         && state->tmp_out_processed == state->tmp_out_valid
         && state->tmp_out_valid > 0 && state->read_in_length >= 0;
}

/* Inflates up to nbytes; *got may be less.  It is 0 at the end of the file
 * only. */
static enum radio_status
inflate_some (struct session *session, unsigned char *to, size_t nbytes,
              size_t *got)
{
  struct inflate_state *state = &session->inflate;
  *got = 0;
  while (*got == 0) {
    if (!session->in_member) {
      RD_TRY (begin_member (session));
      if (!session->in_member)
        return RADIO_OK;
    }
    if (input_left (session) == 0 && !session->at_end)
      RD_TRY (refill (session));
    size_t left = input_left (session);
    bool wants_point = !session->is_at_start
                       && session->output >= next_point (session->gunzip);
    size_t given = wants_point ? rd_min_u64 (left, SMALL_INPUT_NBYTES) : left;
    state->avail_in = (uint32_t) given;
    state->next_out = to;
    state->avail_out = (uint32_t) nbytes;
    enum isal_block_state before = state->block_state;
    session->is_at_start = false;
    int result = isal_inflate (state);
    if (result != ISAL_DECOMP_OK)
      return fail_in_file (session, rd_inflate_error (result));
    *got = nbytes - state->avail_out;
    session->output += *got;
    if (state->block_state == ISAL_BLOCK_FINISH)
      RD_TRY (end_member (session));
    else if (wants_point && is_at_header (state))
      keep_block (session);
    else if (*got == 0 && left == 0 && before == state->block_state)
      return fail_in_file (session, "it is cut short");
  }
  return RADIO_OK;
}

/* Goes on to an output, of which nothing is wanted. */
static enum radio_status
skip_to (struct session *session, uint64_t output)
{
  RD_TRY (rd_buffer_reserve (&session->window, SKIP_NBYTES));
  session->window.nbytes = 0;
  while (session->output < output) {
    size_t got, step = rd_min_u64 (output - session->output, SKIP_NBYTES);
    RD_TRY (rd_read_stop_check (session->stop));
    RD_TRY (inflate_some (session, session->window.data, step, &got));
    if (got == 0)
      return fail_in_file (session, "it ends before the last voxel");
  }
  session->window_start = output;
  return RADIO_OK;
}

/* Makes the window begin at an output, and have nbytes.  The outputs of
 * successive calls do not decrease. */
static enum radio_status
fill_window (struct session *session, uint64_t output, size_t nbytes)
{
  struct rd_buffer *window = &session->window;
  if (output > session->output) {
    RD_TRY (skip_to (session, output));
  } else {
    size_t passed = (size_t) (output - session->window_start);
    window->nbytes -= passed;
    if (passed > 0)
      memmove (window->data, window->data + passed, window->nbytes);
    session->window_start = output;
  }
  RD_TRY (rd_buffer_reserve (window, nbytes));
  while (window->nbytes < nbytes) {
    size_t got;
    RD_TRY (inflate_some (session, window->data + window->nbytes,
                          nbytes - window->nbytes, &got));
    if (got == 0)
      return fail_in_file (session, "it ends before the last voxel");
    window->nbytes += got;
  }
  return RADIO_OK;
}

/* Inflates what follows the voxels, mostly nothing but the trailer. */
static enum radio_status
finish_file (struct session *session)
{
  size_t got;
  session->window.nbytes = 0;
  RD_TRY (rd_buffer_reserve (&session->window, SKIP_NBYTES));
  do
    RD_TRY (inflate_some (session, session->window.data, SKIP_NBYTES, &got));
  while (got > 0);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

struct gunzip_job {
  struct rd_job job;
  struct gunzip *gunzip;
  struct rd_tile_read *read;
  const struct rd_linear_run *runs;
  size_t *firsts;             /* run of each task, and the end */
};

/* Returns a session that goes on to an output; that of a check begins with the
 * file. */
static enum radio_status
begin_session (struct gunzip *gunzip, const struct rd_tile_read *read,
               uint64_t output, struct session **result)
{
  bool is_fresh = read->fresh_indexes;
  struct session *session RD_CLEANUP (rd_cleanup_session)
    = is_fresh ? NULL : take_idle (gunzip, output);
  if (!session) {
    session = rd_calloc (1, sizeof *session);
    if (!session)
      return rd_fail_memory (sizeof *session);
    session->gunzip = gunzip;
    RD_TRY (enter (session, is_fresh ? 0 : output));
  }
  session->stop = read->stop;
  *result = RD_STEAL (session);
  return RADIO_OK;
}

static enum radio_status
inflate_runs (struct rd_job *base, uint64_t task, struct rd_scratch *scratch)
{
  struct gunzip_job *job = (struct gunzip_job *) base;
  struct gunzip *gunzip = job->gunzip;
  const struct rd_linear_run *runs = job->runs;
  size_t first = job->firsts[task], end = job->firsts[task + 1];
  (void) scratch;
  RD_SCOPE ("inflate", RD_IN_DECODE);
  struct session *session RD_CLEANUP (rd_cleanup_session) = NULL;
  RD_TRY (begin_session (gunzip, job->read,
                         gunzip->offset + runs[first].offset, &session));
  uint64_t begin = session->output;
  for (size_t i = first; i < end; i++) {
    const struct rd_linear_run *run = &runs[i];
    RD_TRY (rd_read_stop_check (job->read->stop));
    RD_TRY (fill_window (session, gunzip->offset + run->offset,
                         (size_t) run->nbytes));
    RD_TRY (rd_linear_place (job->read, run, session->window.data));
  }
  RD_COUNT (inflated, session->output - begin);
  if (session->output < gunzip->offset + gunzip->nbytes)
    put_idle (RD_STEAL (session));
  else if (session->is_whole)
    return finish_file (session);
  return RADIO_OK;
}

/* Divides the runs into tasks, each of which begins at another point.  Returns
 * their number. */
static size_t
divide_runs (const struct rd_tile_read *read, struct gunzip *gunzip,
             const struct rd_linear_run *runs, size_t n, size_t *firsts)
{
  RD_LOCK_SCOPE (&gunzip->mutex);
  size_t ntasks = 0, at = 0;
  if (read->fresh_indexes)
    at = gunzip->synced.n;
  for (size_t i = 0; i < n; i++) {
    size_t before = at;
    while (at < gunzip->synced.n && gunzip->synced.points[at].output
                                    <= gunzip->offset + runs[i].offset)
      at++;
    if (i == 0 || at > before)
      firsts[ntasks++] = i;
  }
  firsts[ntasks] = n;
  return ntasks;
}

static enum radio_status
read_gunzip (struct rd_linear *linear, struct rd_tile_read *read,
             const struct rd_linear_run *runs, size_t n)
{
  struct gunzip *gunzip = (struct gunzip *) linear;
  struct radio_context *context = gunzip->store->context;
  RD_FREE size_t *firsts = rd_malloc ((n + 1) * sizeof *firsts);
  if (!firsts)
    return rd_fail_memory ((n + 1) * sizeof *firsts);
  struct gunzip_job job = {
    .job = {
      .run = inflate_runs, .site = &rd_linear_runs_site,
      .max_active = rd_fetch_share_limit (
        read, RD_TILE_PARTS, sizeof (struct session) + 2 * CAP_NBYTES,
        context->nthreads),
    },
    .gunzip = gunzip, .read = read, .runs = runs, .firsts = firsts,
  };
  job.job.n = divide_runs (read, gunzip, runs, n, firsts);
  return rd_pool_run (context->pool, &job.job);
}

static void
close_gunzip (struct rd_linear *linear)
{
  struct gunzip *gunzip = (struct gunzip *) linear;
  rd_io_release (gunzip->store->io, gunzip->file);
  for (size_t i = 0; i < gunzip->synced.n; i++)
    rd_free (gunzip->synced.points[i].packed);
  rd_free (gunzip->synced.points);
  free_session (gunzip->synced.idle);
  pthread_mutex_destroy (&gunzip->mutex);
  rd_free (gunzip);
}

enum radio_status
rd_gunzip_open (struct radio_store *store, const char *key, uint64_t offset,
                uint64_t nbytes, uint64_t point_gap_nbytes,
                struct rd_linear **result)
{
  size_t key_nbytes = strlen (key) + 1;
  struct gunzip *gunzip = rd_calloc (1, sizeof *gunzip + key_nbytes);
  if (!gunzip)
    return rd_fail_memory (sizeof *gunzip + key_nbytes);
  gunzip->base = (struct rd_linear) {
    .read = read_gunzip, .close = close_gunzip,
    .gap_nbytes = RUN_GAP_NBYTES, .cap_nbytes = CAP_NBYTES,
  };
  gunzip->store = store;
  gunzip->offset = offset;
  gunzip->nbytes = nbytes;
  gunzip->max_points_nbytes = store->context->memory_limit_nbytes
                              / POINTS_SHARE;
  gunzip->synced.gap_nbytes = point_gap_nbytes > 0 ? point_gap_nbytes
                                                   : GAP_NBYTES;
  pthread_mutex_init (&gunzip->mutex, NULL);
  memcpy (gunzip->key, key, key_nbytes);
  gunzip->file = rd_io_hold (store->io, key, false);
  *result = &gunzip->base;
  return RADIO_OK;
}

size_t
rd_gunzip_npoints (struct rd_linear *linear)
{
  struct gunzip *gunzip = (struct gunzip *) linear;
  RD_LOCK_SCOPE (&gunzip->mutex);
  return gunzip->synced.n;
}
