/* SPDX-License-Identifier: MIT */
/* Deflating in pieces: the member depends neither on the threads, nor on the
 * order of the pieces, nor on the sizes of writes, and libdeflate, another
 * library than the one that deflated it, inflates it to the data.  Failures
 * on the way are returned. */
#include <config.h>

#include <pthread.h>

#include <libdeflate.h>

#include "tests/alloc-fail.h"
#include "tests/unit.h"

#include "src/base/buffer.h"
#include "src/base/error.h"
#include "src/nifti/gzip.h"

#define PIECE RD_GZIP_PIECE_NBYTES
#define WINDOW ((size_t) 32 << 10)
#define MIB ((size_t) 1 << 20)

/* Each task on a thread of its own. */
struct errand {
  pthread_t thread;
  rd_executor_task_fn *task;
  void *data;
  uint64_t number;
  enum radio_status status;
};

static void *
run_errand (void *argument)
{
  struct errand *errand = argument;
  errand->status = errand->task (errand->data, errand->number);
  return NULL;
}

static enum radio_status
run_threads (const struct rd_executor *executor, uint64_t n,
             rd_executor_task_fn *task, void *data)
{
  struct errand errands[64];
  enum radio_status status = RADIO_OK;
  (void) executor;
  assert_true (n <= 64);
  for (uint64_t i = 0; i < n; i++) {
    errands[i] = (struct errand) { .task = task, .data = data, .number = i };
    assert_int_equal (pthread_create (&errands[i].thread, NULL, run_errand,
                                      &errands[i]), 0);
  }
  for (uint64_t i = 0; i < n; i++) {
    pthread_join (errands[i].thread, NULL);
    if (status == RADIO_OK)
      status = errands[i].status;
  }
  return status;
}

/* The last one first. */
static enum radio_status
run_backwards (const struct rd_executor *executor, uint64_t n,
               rd_executor_task_fn *task, void *data)
{
  (void) executor;
  while (n-- > 0)
    RD_TRY (task (data, n));
  return RADIO_OK;
}

static enum radio_status
run_and_fail (const struct rd_executor *executor, uint64_t n,
              rd_executor_task_fn *task, void *data)
{
  (void) executor;
  (void) n;
  RD_TRY (task (data, 0));
  return rd_fail (RADIO_ERROR_PERMISSION, "the executor went home");
}

static const struct rd_executor threads = { 3, 64 * MIB, run_threads };
static const struct rd_executor backwards = { 2, 64 * MIB, run_backwards };
static const struct rd_executor poor = { 8, 1, run_and_fail };
static const struct rd_executor failing = { 2, 64 * MIB, run_and_fail };

static enum radio_status
append (void *user_data, const void *data, size_t nbytes)
{
  return rd_buffer_append (user_data, data, nbytes);
}

/* The members of some data that come `step' bytes at a time. */
static enum radio_status
deflate_members (const struct rd_executor *executor, size_t member_nbytes,
                 const unsigned char *data, size_t nbytes, size_t step,
                 struct rd_buffer *out)
{
  struct rd_gzip *gzip;
  RD_TRY (rd_gzip_open (executor, member_nbytes, append, out, &gzip));
  enum radio_status status = RADIO_OK;
  for (size_t at = 0; at < nbytes && status == RADIO_OK; at += step)
    status = rd_gzip_write (gzip, data + at,
                            nbytes - at < step ? nbytes - at : step);
  if (status == RADIO_OK)
    status = rd_gzip_finish (gzip);
  rd_gzip_close (gzip);
  return status;
}

static enum radio_status
deflate (const struct rd_executor *executor, const unsigned char *data,
         size_t nbytes, size_t step, struct rd_buffer *out)
{
  return deflate_members (executor, 0, data, nbytes, step, out);
}

static void
assert_inflates_to (const struct rd_buffer *member,
                    const unsigned char *data, size_t nbytes)
{
  unsigned char *back = malloc (nbytes + 1);
  size_t taken, given;
  struct libdeflate_decompressor *inflate = libdeflate_alloc_decompressor ();
  assert_true (back && inflate);
  assert_int_equal (libdeflate_gzip_decompress_ex (inflate, member->data,
                                                   member->nbytes, back,
                                                   nbytes + 1, &taken,
                                                   &given),
                    LIBDEFLATE_SUCCESS);
  assert_int_equal (taken, member->nbytes);
  assert_int_equal (given, nbytes);
  assert_memory_equal (back, data, nbytes);
  libdeflate_free_decompressor (inflate);
  free (back);
}

static uint32_t
random_u32 (uint32_t *state)
{
  *state = *state * 1664525 + 1013904223;
  return *state >> 8;
}

/* Stretches of noise, of few values, and of one. */
static unsigned char *
make_data (size_t nbytes)
{
  unsigned char *data = malloc (nbytes + 1);
  uint32_t state = 7;
  assert_non_null (data);
  for (size_t i = 0; i < nbytes; i++) {
    uint32_t value = random_u32 (&state);
    size_t kind = i / 50000 % 3;
    data[i] = (unsigned char) (kind == 0 ? value : kind == 1 ? value % 5 : 9);
  }
  return data;
}

static void
assert_member (const struct rd_executor *executor, const unsigned char *data,
               size_t nbytes, size_t step)
{
  struct rd_buffer one RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer usual RD_BUFFER_SCOPE = { 0 };
  assert_ok (deflate (executor, data, nbytes, step, &one));
  assert_ok (deflate (NULL, data, nbytes, nbytes + 1, &usual));
  assert_inflates_to (&one, data, nbytes);
  assert_int_equal (one.nbytes, usual.nbytes);
  assert_memory_equal (one.data, usual.data, one.nbytes);
}

static void
a_member_does_not_depend_on_the_executor (void **state)
{
  static const size_t sizes[] = {
    0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 9 * PIECE + 12345,
    20 * PIECE,
  };
  unsigned char *data = make_data (20 * PIECE);
  (void) state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    assert_member (NULL, data, sizes[i], sizes[i] + 1);
    assert_member (&threads, data, sizes[i], sizes[i] + 1);
    assert_member (&backwards, data, sizes[i], sizes[i] + 1);
    assert_member (&poor, data, sizes[i], sizes[i] + 1);
  }
  free (data);
}

static void
a_member_does_not_depend_on_how_the_data_come (void **state)
{
  static const size_t steps[] = {
    997, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE - 352, 7 * PIECE + 11,
  };
  const size_t nbytes = 11 * PIECE + 5;
  unsigned char *data = make_data (nbytes);
  (void) state;
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    assert_member (&backwards, data, nbytes, steps[i]);
    assert_member (&threads, data, nbytes, steps[i]);
  }
  free (data);
}

/* As a header and its voxels are written. */
static void
a_short_write_may_come_before_long_ones (void **state)
{
  const size_t nbytes = 6 * PIECE;
  unsigned char *data = make_data (nbytes);
  struct rd_buffer member RD_BUFFER_SCOPE = { 0 };
  struct rd_gzip *gzip;
  (void) state;
  assert_ok (rd_gzip_open (&threads, 0, append, &member, &gzip));
  assert_ok (rd_gzip_write (gzip, data, 352));
  assert_ok (rd_gzip_write (gzip, data + 352, 0));
  assert_ok (rd_gzip_write (gzip, data + 352, 5 * PIECE));
  assert_ok (rd_gzip_write (gzip, data + 352 + 5 * PIECE, PIECE - 352));
  assert_ok (rd_gzip_finish (gzip));
  rd_gzip_close (gzip);
  assert_inflates_to (&member, data, nbytes);
  free (data);
}

/* Walks from one member to the next by what they say. */
static void
assert_members (const struct rd_buffer *out, size_t member_nbytes,
                const unsigned char *data, size_t nbytes)
{
  size_t at = 0, done = 0;
  do {
    uint64_t n = rd_gzip_member_nbytes (out->data + at, out->nbytes - at);
    const struct rd_buffer member = { out->data + at, (size_t) n, 0 };
    size_t length = nbytes - done < member_nbytes ? nbytes - done
                                                  : member_nbytes;
    assert_in_range (n, 28, out->nbytes - at);
    assert_inflates_to (&member, data + done, length);
    at += n;
    done += length;
  } while (at < out->nbytes);
  assert_int_equal (done, nbytes);
}

static void
members_say_how_long_they_are (void **state)
{
  static const size_t members[] = { RD_GZIP_MEMBER_MIN_NBYTES, 100001, MIB };
  unsigned char *data = make_data (3 * MIB + 77);
  (void) state;
  for (size_t i = 0; i < 3; i++) {
    const size_t m = members[i];
    const size_t sizes[] = { 0, 1, m, m + 1, 2 * m, 3 * MIB + 77 };
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
      struct rd_buffer one RD_BUFFER_SCOPE = { 0 };
      struct rd_buffer other RD_BUFFER_SCOPE = { 0 };
      assert_ok (deflate_members (&threads, m, data, sizes[k],
                                  sizes[k] + 1, &one));
      assert_ok (deflate_members (NULL, m, data, sizes[k], 9973, &other));
      assert_members (&one, m, data, sizes[k]);
      assert_int_equal (one.nbytes, other.nbytes);
      assert_memory_equal (one.data, other.data, one.nbytes);
    }
  }
  free (data);
}

/* Noise that comes again within the window costs its bytes once, not once a
 * piece; but ISA-L's code for Arm (2.30) does not search a dictionary. */
static void
a_piece_refers_to_the_data_before_it (void **state)
{
#ifdef __aarch64__
  const size_t most_times = 8 + 2;
#else
  const size_t most_times = 2;
#endif
  const size_t period = WINDOW - 1000, nbytes = 8 * PIECE + 100;
  unsigned char *data = malloc (nbytes);
  uint32_t seed = 3;
  (void) state;
  assert_non_null (data);
  for (size_t i = 0; i < nbytes; i++)
    data[i] = i < period ? (unsigned char) random_u32 (&seed)
                         : data[i - period];
  for (size_t step = 1000; step <= nbytes; step *= 41) {
    struct rd_buffer member RD_BUFFER_SCOPE = { 0 };
    assert_ok (deflate (&backwards, data, nbytes, step, &member));
    assert_inflates_to (&member, data, nbytes);
    assert_true (member.nbytes < most_times * period);
  }
  free (data);
}

static void
a_failure_of_the_executor_is_returned (void **state)
{
  unsigned char *data = make_data (3 * PIECE);
  struct rd_buffer member RD_BUFFER_SCOPE = { 0 };
  (void) state;
  assert_fails (deflate (&failing, data, 3 * PIECE, 3 * PIECE, &member),
                RADIO_ERROR_PERMISSION, "went home");
  free (data);
}

/* A sink that is full after `room' bytes. */
struct full {
  size_t room, nbytes;
};

static enum radio_status
fill (void *user_data, const void *data, size_t nbytes)
{
  struct full *full = user_data;
  (void) data;
  full->nbytes += nbytes;
  return full->nbytes <= full->room ? RADIO_OK
    : rd_fail (RADIO_ERROR_NO_SPACE, "no room for %zu", full->nbytes);
}

/* At the header, amid the pieces, at the trailer. */
static void
a_failure_of_the_sink_is_returned (void **state)
{
  unsigned char *data = make_data (3 * PIECE);
  struct rd_buffer member RD_BUFFER_SCOPE = { 0 };
  (void) state;
  assert_ok (deflate (NULL, data, 3 * PIECE, 3 * PIECE, &member));
  const size_t rooms[] = { 9, 10, 5000, member.nbytes - 1 };
  for (size_t i = 0; i < 4; i++) {
    struct full full = { rooms[i], 0 };
    struct rd_gzip *gzip;
    assert_ok (rd_gzip_open (&backwards, 0, fill, &full, &gzip));
    enum radio_status status = rd_gzip_write (gzip, data, 3 * PIECE);
    if (status == RADIO_OK)
      status = rd_gzip_finish (gzip);
    assert_fails (status, RADIO_ERROR_NO_SPACE, "no room");
    rd_gzip_close (gzip);
  }
  free (data);
}

static void
each_allocation_may_fail (void **state)
{
  unsigned char *data = make_data (5 * PIECE);
  (void) state;
  for (size_t nth = 1;; nth++) {
    struct rd_buffer member RD_BUFFER_SCOPE = { 0 };
    alloc_fail_nth (nth);
    enum radio_status status
      = deflate (&backwards, data, 5 * PIECE, PIECE + 1, &member);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      assert_inflates_to (&member, data, 5 * PIECE);
      assert_true (nth > 5);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
  free (data);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_member_does_not_depend_on_the_executor),
    cmocka_unit_test (a_member_does_not_depend_on_how_the_data_come),
    cmocka_unit_test (a_short_write_may_come_before_long_ones),
    cmocka_unit_test (members_say_how_long_they_are),
    cmocka_unit_test (a_piece_refers_to_the_data_before_it),
    cmocka_unit_test (a_failure_of_the_executor_is_returned),
    cmocka_unit_test (a_failure_of_the_sink_is_returned),
    cmocka_unit_test (each_allocation_may_fail),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
