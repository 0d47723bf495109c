/* SPDX-License-Identifier: MIT */
/* Inflating from points of entry.
 *
 * Where a point is wanted ISA-L's state is copied, with the codes of the block
 * and the last 32 KiB of output.  That is fast, but of use in this process
 * only.  The points of a file are where blocks begin.  ISA-L does not stop
 * there, so near a wanted point it is given few bytes at a time, until they end
 * within a block's header: its state then says at which bit the header began.
 * Since each call moves 32 KiB of history, it is first given some more, until
 * the codes change: a block has begun, and these bytes are inflated again.
 *
 * A point has the checksum of its member's output before it.  A session that
 * passes a point compares: so all that is read from several points is checked
 * by the file's own checksum, after the last of them. */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/nifti/input.h"
#include "src/volume/files/inflate.h"
#include "src/volume/read-ahead.h"

#define HISTORY_NBYTES RD_POINT_HISTORY_NBYTES
#define INPUT_NBYTES RD_INFLATE_INPUT_NBYTES

/* Input that is given near a wanted point, to find the next block and then its
 * header; and how much without other codes is too much: those of blocks that
 * have fixed ones do not change. */
#define MEDIUM_INPUT_NBYTES ((size_t) 2 << 10)
#define SMALL_INPUT_NBYTES 64
#define SAME_CODES_NBYTES ((size_t) 256 << 10)

/* For a remote file: bytes beyond what a point says, since the last byte of a
 * block may be the first of the next one; and beyond an estimate. */
#define POINT_MORE_NBYTES 64
#define ESTIMATE_MORE_NBYTES ((uint64_t) 64 << 10)

/* Output that is not wanted is inflated this much at a time. */
#define SKIP_NBYTES ((size_t) 256 << 10)

/* A copy of a state is all before its buffer of output, then what is in use of
 * that: mostly history, and little that is still to be returned. */
#define STATE_NBYTES offsetof (struct inflate_state, tmp_out_buffer)
#define STATE_OUTPUT_NBYTES (HISTORY_NBYTES + 1024)
_Static_assert (STATE_NBYTES + STATE_OUTPUT_NBYTES <= RD_POINT_STATE_NBYTES,
                "a copy of a state is larger than a point's");

void
rd_session_close (struct rd_session *session)
{
  if (!session)
    return;
  rd_read_ahead_close (session->ahead);
  rd_buffer_free (&session->window);
  rd_free (session->saved);
  rd_free (session);
}

enum radio_status
rd_session_open (struct rd_gunzip *gunzip, struct rd_read_stop *stop,
                 struct rd_session **result)
{
  struct rd_session *session = rd_malloc (sizeof *session);
  if (!session)
    return rd_fail_memory (sizeof *session);
  memset (session, 0, offsetof (struct rd_session, inflate));
  size_t after = offsetof (struct rd_session, input_end);
  memset ((unsigned char *) session + after, 0,
          offsetof (struct rd_session, history) - after);
  session->gunzip = gunzip;
  session->points = gunzip->points;
  session->keeps_blocks = gunzip->keep_index;
  session->stop = stop;
  *result = session;
  return RADIO_OK;
}

static enum radio_status
fail_in_file (const struct rd_session *session, const char *why)
{
  const struct rd_gunzip *gunzip = session->gunzip;
  return rd_fail (RADIO_ERROR_FORMAT, "%s/%s: the gzip data is damaged near "
                  "byte %" PRIu64 ": %s", gunzip->store->io->uri, gunzip->key,
                  session->input - (uint64_t) (session->input_end
                                               - session->inflate.next_in),
                  why);
}

/*------------------------------------------------------------------------
 * Input
 *----------------------------------------------------------------------*/

static enum radio_status
refill_ahead (struct rd_session *session)
{
  struct rd_gunzip *gunzip = session->gunzip;
  size_t got, left = (size_t) (session->input_end - session->inflate.next_in);
  if (!session->ahead)
    RD_TRY (rd_read_ahead_open (&gunzip->object, gunzip->base.file,
                                &session->ahead));
  memmove (session->buffer, session->inflate.next_in, left);
  session->inflate.next_in = session->buffer;
  session->input_end = session->buffer + left;
  RD_TRY (rd_read_ahead_read (session->ahead, session->stop, session->input,
                              session->needed_input, session->input_end,
                              INPUT_NBYTES - left, &got));
  session->input_end += got;
  session->input += got;
  session->at_end = session->input >= gunzip->object.object_nbytes;
  return RADIO_OK;
}

static void
refill_from_memory (struct rd_session *session)
{
  size_t left = (size_t) (session->input_end - session->inflate.next_in);
  uint64_t there = session->memory_end - rd_min_u64 (session->input,
                                                     session->memory_end);
  size_t got = rd_min_u64 (there, INPUT_NBYTES - left);
  memmove (session->buffer, session->inflate.next_in, left);
  if (got > 0)
    memcpy (session->buffer + left,
            session->memory + (session->input - session->memory_start), got);
  session->inflate.next_in = session->buffer;
  session->input_end = session->buffer + left + got;
  session->input += got;
  session->at_end = session->input >= session->memory_end;
}

/* Adds to the bytes that are left in the buffer. */
static enum radio_status
refill (struct rd_session *session)
{
  struct rd_gunzip *gunzip = session->gunzip;
  size_t left = (size_t) (session->input_end - session->inflate.next_in);
  RD_BUFFER_SCOPE struct rd_buffer read = { 0 };
  struct rd_io_get get = {
    .key = gunzip->key, .file = gunzip->base.file, .range = RD_RANGE_SPAN,
    .offset = session->input, .nbytes = INPUT_NBYTES - left, .into = &read,
  };
  RD_TRY (rd_read_stop_check (session->stop));
  if (session->memory) {
    refill_from_memory (session);
    return RADIO_OK;
  }
  if (gunzip->is_remote)
    return refill_ahead (session);
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
seek (struct rd_session *session, uint64_t input)
{
  session->inflate.next_in = session->input_end = session->buffer;
  session->input = input;
  return refill (session);
}

static size_t
input_left (const struct rd_session *session)
{
  return (size_t) (session->input_end - session->inflate.next_in);
}

static uint64_t
position (const struct rd_session *session)
{
  return session->input - input_left (session);
}

/*------------------------------------------------------------------------
 * Points
 *----------------------------------------------------------------------*/

/* Keeps a copy of the session's state, unless much of its output is still to be
 * returned. */
static void
keep_state (struct rd_session *session)
{
  const struct inflate_state *state = &session->inflate;
  size_t returned = (size_t) state->tmp_out_processed;
  size_t old = returned - rd_min_u64 (returned, HISTORY_NBYTES);
  size_t nbytes = (size_t) state->tmp_out_valid - old;
  if (nbytes > STATE_OUTPUT_NBYTES)
    return;
  struct rd_point point = {
    .output = session->output, .input = position (session), .is_state = true,
    .is_raw = true, .has_crc32 = !session->is_unchecked, .crc32 = state->crc,
    .member_nbytes = (uint32_t) (session->output - session->member_start),
    .history_nbytes = (uint32_t) (STATE_NBYTES + nbytes),
    .packed_nbytes = (uint32_t) (STATE_NBYTES + nbytes),
    .packed = rd_malloc (STATE_NBYTES + nbytes),
  };
  if (!point.packed)
    return;
  memcpy (point.packed, state, STATE_NBYTES);
  memcpy (point.packed + STATE_NBYTES, state->tmp_out_buffer + old, nbytes);
  rd_points_add (session->points, &point);
}

/* Continues from a copy in the session's state. */
static void
restore_state (struct rd_session *session, const struct rd_point *point)
{
  struct inflate_state *state = &session->inflate;
  int32_t left = state->tmp_out_valid - state->tmp_out_processed;
  state->tmp_out_valid = (int32_t) (point->history_nbytes - STATE_NBYTES);
  state->tmp_out_processed = state->tmp_out_valid - left;
  /* The checksum was found later. */
  if (state->crc_flag == ISAL_DEFLATE && point->has_crc32) {
    state->crc_flag = ISAL_GZIP_NO_HDR_VER;
    state->crc = point->crc32;
    state->total_out = point->member_nbytes;
  }
}

/* Keeps the place of the session, which is at the header of a block. */
static void
keep_block (struct rd_session *session)
{
  const struct inflate_state *state = &session->inflate;
  uint64_t bits = (position (session) - (uint64_t) state->tmp_in_size) * 8
                  - (uint64_t) state->read_in_length;
  size_t n = rd_min_u64 ((uint64_t) state->tmp_out_valid, HISTORY_NBYTES);
  struct rd_point point = {
    .output = session->output, .input = bits / 8, .bit = bits % 8,
    .has_crc32 = !session->is_unchecked, .crc32 = state->crc,
    .member_nbytes = (uint32_t) (session->output - session->member_start),
  };
  if (rd_point_copy (&point, state->tmp_out_buffer + state->tmp_out_valid - n,
                     n))
    rd_points_add (session->points, &point);
  session->has_kept = true;
}

/* Keeps the place of a session that is at a member, up to which all was
 * inflated. */
static void
keep_member (struct rd_session *session)
{
  struct rd_gunzip *gunzip = session->gunzip;
  struct rd_point point = {
    .output = session->output, .input = position (session),
    .is_member = true,
  };
  if (session->is_claimed)
    return;
  rd_points_add (session->points, &point);
  session->has_kept = true;
  RD_LOCK_SCOPE (&gunzip->mutex);
  if (point.output > gunzip->synced.frontier.output) {
    gunzip->synced.frontier = (struct rd_claim) { point.output, point.input };
    gunzip->synced.is_frontier_silent = false;
  }
}

/* Up to the first point after the output needed, or estimated by the mean
 * ratio, rather too much. */
uint64_t
rd_gunzip_expect (const struct rd_gunzip *gunzip, const struct rd_claim *from,
                  uint64_t needed)
{
  struct rd_point point;
  uint64_t object_nbytes = gunzip->object.object_nbytes;
  uint64_t end = gunzip->offset + gunzip->nbytes;
  double ratio = (double) object_nbytes / (double) end;
  double more = needed > from->output
    ? 1.125 * ratio * (double) (needed - from->output) : 0;
  if (rd_points_find_next (gunzip->points, needed, &point))
    return point.input + POINT_MORE_NBYTES;
  if (needed >= end || more >= (double) object_nbytes)
    return object_nbytes;
  return from->input + (uint64_t) more + ESTIMATE_MORE_NBYTES;
}

static void
expect_input (struct rd_session *session, uint64_t input, uint64_t output)
{
  const struct rd_claim from = { .output = output, .input = input };
  if (session->gunzip->is_remote)
    session->needed_input = rd_gunzip_expect (session->gunzip, &from,
                                              session->needed_output);
}

void
rd_session_expect (struct rd_session *session)
{
  expect_input (session, position (session), session->output);
}

enum radio_status
rd_session_enter_at (struct rd_session *session, const struct rd_point *point)
{
  struct inflate_state *state = &session->inflate;
  const struct rd_gunzip *gunzip = session->gunzip;
  enum radio_status status = rd_point_unpack (
    point, session->packed,
    point->is_state ? (unsigned char *) state : session->history);
  if (status != RADIO_OK)
    return rd_fail_in (status, "%s/%s", gunzip->store->io->uri, gunzip->key);
  if (point->is_state)
    restore_state (session, point);
  else
    isal_inflate_init (state);
  session->output = session->window_start = point->output;
  session->window.nbytes = 0;
  session->in_member = !point->is_member;
  session->is_at_start = session->awaits_member = false;
  session->joint = (struct rd_point) { 0 };
  session->is_unchecked = !point->is_member && !point->has_crc32;
  session->member_start = point->output - point->member_nbytes;
  expect_input (session, point->input, point->output);
  RD_TRY (seek (session, point->input));
  if (point->is_member || point->is_state)
    return RADIO_OK;
  state->crc_flag = point->has_crc32 ? ISAL_GZIP_NO_HDR_VER : ISAL_DEFLATE;
  state->crc = point->crc32;
  state->total_out = point->member_nbytes;
  if (point->history_nbytes > 0
      && isal_inflate_set_dict (state, session->history,
                                point->history_nbytes) != ISAL_DECOMP_OK)
    return fail_in_file (session, "a point of entry has a wrong history");
  if (point->bit > 0 && input_left (session) > 0) {
    state->read_in = (uint64_t) (*state->next_in++ >> point->bit);
    state->read_in_length = (int32_t) (8 - point->bit);
  }
  return RADIO_OK;
}

enum radio_status
rd_session_enter (struct rd_session *session, uint64_t output,
                  enum rd_points_kind kind)
{
  struct rd_point point;
  if (!rd_points_find (session->gunzip->points, output, kind, &point,
                       session->packed))
    point = (struct rd_point) { .is_member = true };
  return rd_session_enter_at (session, &point);
}

/*------------------------------------------------------------------------
 * Inflating
 *----------------------------------------------------------------------*/

/* Checks the claims that are met, at the begin of a member. */
static enum radio_status
meet_claim (struct rd_session *session)
{
  const struct rd_claim *claim = session->next_claim;
  if (claim == session->end_claim || position (session) < claim->input)
    return RADIO_OK;
  if (position (session) != claim->input || session->output != claim->output)
    return fail_in_file (session, "a member is not as long as it says");
  session->next_claim++;
  return RADIO_OK;
}

/* Returns the output until the next joint. */
static uint64_t
find_joint (struct rd_session *session)
{
  const struct rd_gunzip *gunzip = session->gunzip;
  struct rd_point *joint = &session->joint;
  const struct rd_point *last = &session->last_joint;
  if (session->is_claimed || session->ignores_joints
      || session->points != gunzip->points)
    return UINT64_MAX;
  if (joint->output <= session->output) {
    if (!rd_points_find_next (gunzip->points, session->output + 1, joint))
      *joint = (struct rd_point) { .output = UINT64_MAX };
    if (last->output > session->output && last->output < joint->output)
      *joint = *last;
  }
  return joint->output - session->output;
}

/* Compares with the point that the session is at. */
static enum radio_status
meet_joint (struct rd_session *session)
{
  struct rd_point here = {
    .output = session->output, .has_crc32 = true,
    .crc32 = session->inflate.crc,
    .member_nbytes = (uint32_t) (session->output - session->member_start),
  };
  const struct rd_point *joint = &session->joint;
  /* indexed_gzip's points are after a member's header. */
  session->awaits_member = joint->is_member || joint->history_nbytes == 0;
  if (session->awaits_member || session->is_unchecked)
    return RADIO_OK;
  if (!joint->has_crc32)
    rd_points_check (session->points, &here);
  else if (joint->crc32 != here.crc32
           || joint->member_nbytes != here.member_nbytes)
    return fail_in_file (session, "the checksum is not that of a point of "
                         "entry (if radio validate finds no damage, remove "
                         "FILE.points)");
  return RADIO_OK;
}

/* True if the damage here is after the last voxel, so that all voxels are
 * there: then a warning says so, and the session is at the end of the file. */
static bool
ends_early (struct rd_session *session, enum rd_gunzip_warning which,
            const char *what)
{
  struct rd_gunzip *gunzip = session->gunzip;
  if (session->memory || session->output < gunzip->offset + gunzip->nbytes)
    return false;
  session->in_member = false;
  session->at_end = true;
  session->inflate.next_in = session->input_end;
  rd_gunzip_warn (gunzip, which, what);
  return true;
}

/* Begins the next member; in_member stays false at the end of the file.  Zeros
 * at the end are padding, and all else is ignored, as gzip does. */
static enum radio_status
begin_member (struct rd_session *session)
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
    return ends_early (session, RD_GUNZIP_GARBAGE, RD_GZIP_GARBAGE_WARNING)
           ? RADIO_OK
           : fail_in_file (session, "the data that follows is not gzip");
  keep_member (session);
  RD_TRY (meet_claim (session));
  isal_inflate_reset (state);
  state->crc_flag = ISAL_GZIP;
  session->in_member = session->is_at_start = true;
  session->awaits_member = false;
  session->is_unchecked = false;
  session->member_start = session->output;
  return RADIO_OK;
}

/* Skips the trailer of a member that is not checked. */
static enum radio_status
end_member (struct rd_session *session)
{
  session->in_member = false;
  if (!session->is_unchecked)
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

/* Copies a state, of its output only what is in use: the rest is most of it. */
static void
copy_state (struct inflate_state *to, const struct inflate_state *from)
{
  memcpy (to, from, offsetof (struct inflate_state, tmp_out_buffer)
                    + (size_t) from->tmp_out_valid);
}

/* Decides what a session near a wanted point inflates next, of the input that
 * is left.  True if its state was saved for has_begun_block. */
static bool
choose_small_input (struct rd_session *session, size_t *given)
{
  const struct inflate_state *state = &session->inflate;
  if (session->close_nbytes == 0
      && session->same_codes_nbytes < SAME_CODES_NBYTES
      && state->block_state != ISAL_BLOCK_TYPE0) {
    if (!session->saved)
      session->saved = rd_malloc (sizeof *session->saved);
    if (session->saved) {
      copy_state (session->saved, state);
      *given = rd_min_u64 (*given, MEDIUM_INPUT_NBYTES);
      session->same_codes_nbytes += *given;
      return true;
    }
  }
  *given = rd_min_u64 (*given, SMALL_INPUT_NBYTES);
  session->close_nbytes -= rd_min_u64 (*given, session->close_nbytes);
  return false;
}

/* True if a block has begun, and its header been read, since the state was
 * saved. */
static bool
has_begun_block (const struct rd_session *session)
{
  const struct inflate_state *state = &session->inflate;
  const struct inflate_state *saved = session->saved;
  return state->block_state == ISAL_BLOCK_TYPE0
         || memcmp (&state->lit_huff_code, &saved->lit_huff_code,
                    sizeof state->lit_huff_code) != 0
         || memcmp (&state->dist_huff_code, &saved->dist_huff_code,
                    sizeof state->dist_huff_code) != 0;
}

/* True if the next block is to be kept. */
static bool
wants_block (const struct rd_session *session)
{
  return session->keeps_blocks && !session->is_claimed && !session->is_at_start
         && rd_points_want (session->points, session->output);
}

/* Returns the output until a copy of the state is to be kept. */
static uint64_t
find_state (const struct rd_session *session)
{
  if (session->keeps_blocks || session->is_claimed)
    return UINT64_MAX;
  uint64_t wanted = rd_points_next_wanted (session->points, session->output);
  return wanted < UINT64_MAX ? wanted - session->output : UINT64_MAX;
}

/* Inflates up to nbytes; *got may be less.  It is 0 at the end of the file
 * only. */
static enum radio_status
inflate_some (struct rd_session *session, unsigned char *to, size_t nbytes,
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
    bool is_near = wants_block (session);
    size_t given = left, wanted = nbytes;
    bool is_saved = is_near && choose_small_input (session, &given);
    uint64_t until_joint = find_joint (session);
    uint64_t until_state = find_state (session);
    wanted = rd_min_u64 (wanted, until_joint);
    if (until_state > 0)
      wanted = rd_min_u64 (wanted, until_state);
    state->avail_in = (uint32_t) given;
    state->next_out = to;
    state->avail_out = (uint32_t) wanted;
    enum isal_block_state before = state->block_state;
    session->is_at_start = false;
    int result = isal_inflate (state);
    if (result != ISAL_DECOMP_OK)
      return fail_in_file (session, rd_inflate_error (result));
    if (is_saved && state->block_state != ISAL_BLOCK_FINISH
        && has_begun_block (session)) {
      copy_state (state, session->saved);
      session->close_nbytes = given;
      continue;
    }
    *got = wanted - state->avail_out;
    if (*got > 0 && session->awaits_member)
      return fail_in_file (session, "no member begins at a point of entry");
    session->output += *got;
    if (*got > 0 && *got == until_joint)
      RD_TRY (meet_joint (session));
    if (state->block_state == ISAL_BLOCK_FINISH)
      RD_TRY (end_member (session));
    else if (*got > 0 && *got >= until_state)
      keep_state (session);
    else if (is_near && is_at_header (state)) {
      keep_block (session);
      session->close_nbytes = session->same_codes_nbytes = 0;
    }
    else if (*got == 0 && left == 0 && before == state->block_state)
      /* The data is complete; a check needs the checksum, too. */
      return !session->ignores_joints
             && state->block_state == ISAL_CHECKSUM_CHECK
             && ends_early (session, RD_GUNZIP_CUT, RD_GZIP_CUT_WARNING)
             ? RADIO_OK : fail_in_file (session, "it is cut short");
  }
  return RADIO_OK;
}

enum radio_status
rd_session_skip_to (struct rd_session *session, uint64_t output)
{
  if (session->output < output)
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

/* True if the last output is the history of a point, which is in packed; or, of
 * one without, if a member begins. */
static bool
has_history (struct rd_session *session, const struct rd_point *point)
{
  const struct inflate_state *state = &session->inflate;
  unsigned char *history = session->history;
  size_t n = rd_min_u64 ((uint64_t) state->tmp_out_processed,
                         point->history_nbytes);
  if (point->history_nbytes == 0) {
    session->awaits_member = session->in_member;
    return true;
  }
  return session->in_member && n > 0
         && rd_point_unpack (point, session->packed, history) == RADIO_OK
         && memcmp (history + point->history_nbytes - n,
                    state->tmp_out_buffer + state->tmp_out_processed - n,
                    n) == 0;
}

enum radio_status
rd_session_prove (struct rd_session *session, const struct rd_point *from,
                  const struct rd_point *hint)
{
  struct rd_point again;
  struct rd_points *hints = session->gunzip->hints;
  RD_TRY (rd_session_enter_at (session, from));
  /* Points that it kept on the way might be wrong. */
  session->is_claimed = true;
  RD_TRY (rd_session_skip_to (session, hint->output));
  session->is_claimed = false;
  if (!rd_points_find (hints, hint->output, RD_POINTS_ALL, &again,
                       session->packed)
      || again.output != hint->output || !has_history (session, &again))
    return fail_in_file (session, "the data differs from that of an index");
  if (session->in_member && rd_points_want (session->points, session->output))
    keep_state (session);
  return RADIO_OK;
}

/* Inflates nbytes. */
static enum radio_status
inflate_all (struct rd_session *session, unsigned char *to, size_t nbytes)
{
  for (size_t done = 0, got; done < nbytes; done += got) {
    RD_TRY (inflate_some (session, to + done, nbytes - done, &got));
    if (got == 0)
      return fail_in_file (session, "it ends before the last voxel");
  }
  return RADIO_OK;
}

enum radio_status
rd_session_fill_into (struct rd_session *session, uint64_t output,
                      unsigned char *to, size_t nbytes)
{
  RD_TRY (rd_session_skip_to (session, output));
  RD_TRY (inflate_all (session, to, nbytes));
  session->window_start = session->output;
  return RADIO_OK;
}

enum radio_status
rd_session_fill (struct rd_session *session, uint64_t output, size_t nbytes)
{
  struct rd_buffer *window = &session->window;
  if (output > session->output) {
    RD_TRY (rd_session_skip_to (session, output));
  } else {
    size_t passed = (size_t) (output - session->window_start);
    window->nbytes -= passed;
    if (passed > 0)
      memmove (window->data, window->data + passed, window->nbytes);
    session->window_start = output;
  }
  RD_TRY (rd_buffer_reserve (window, nbytes));
  if (window->nbytes >= nbytes)
    return RADIO_OK;
  RD_TRY (inflate_all (session, window->data + window->nbytes,
                       nbytes - window->nbytes));
  window->nbytes = nbytes;
  return RADIO_OK;
}

enum radio_status
rd_session_finish (struct rd_session *session)
{
  size_t got;
  session->window.nbytes = 0;
  RD_TRY (rd_buffer_reserve (&session->window, SKIP_NBYTES));
  do
    RD_TRY (inflate_some (session, session->window.data, SKIP_NBYTES, &got));
  while (got > 0);
  return RADIO_OK;
}

enum radio_status
rd_session_find_block (struct rd_session *session, struct rd_points *blocks,
                       uint64_t end)
{
  size_t got = 1;
  session->points = blocks;
  session->keeps_blocks = true;
  session->has_kept = false;
  session->close_nbytes = session->same_codes_nbytes = 0;
  session->window.nbytes = 0;
  RD_TRY (rd_buffer_reserve (&session->window, SKIP_NBYTES));
  while (!session->has_kept && session->output < end && got > 0)
    RD_TRY (inflate_some (session, session->window.data, SKIP_NBYTES, &got));
  return RADIO_OK;
}

enum radio_status
rd_session_meet_last_joint (struct rd_session *session)
{
  const struct rd_point *joint = &session->last_joint;
  size_t got;
  if (!session->awaits_member || joint->output != session->output
      || !session->in_member)
    return RADIO_OK;
  session->window.nbytes = 0;
  RD_TRY (rd_buffer_reserve (&session->window, SKIP_NBYTES));
  return inflate_some (session, session->window.data, 1, &got);
}

enum radio_status
rd_session_meet_claims (struct rd_session *session)
{
  while (session->next_claim < session->end_claim) {
    size_t got;
    session->window.nbytes = 0;
    RD_TRY (rd_buffer_reserve (&session->window, SKIP_NBYTES));
    RD_TRY (inflate_some (session, session->window.data, 1, &got));
    if (got == 0)
      return fail_in_file (session, "a member is not as long as it says");
  }
  return RADIO_OK;
}
