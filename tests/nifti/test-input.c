/* SPDX-License-Identifier: MIT */
/* Streams of bytes: ISA-L inflates data that libdeflate compressed, with any
 * sizes of members, buffers and reads. */
#include <config.h>

#include <sys/stat.h>

#include "tests/unit.h"

#include "src/nifti/input.h"
#include "tests/nifti/folder.h"
#include "tests/nifti/make-nifti.h"

/* Half noise, half runs: deflate uses every kind of block. */
static void
fill (struct rd_buffer *buffer, size_t nbytes)
{
  uint64_t random = 1;
  assert_ok (rd_buffer_reserve (buffer, nbytes));
  for (size_t i = 0; i < nbytes; i++) {
    random = random * 6364136223846793005 + 1442695040888963407;
    buffer->data[i] = (i >> 12) % 2 ? (unsigned char) (random >> 56)
                                    : (unsigned char) (i >> 8);
  }
  buffer->nbytes = nbytes;
}

/* Read all of a file by reads of step bytes, and compare. */
static void
assert_reads_as (const char *file, const struct rd_buffer *plain,
                 size_t step)
{
  RD_CLEANUP (rd_cleanup_input) struct rd_input *input = NULL;
  RD_FREE_PLAIN unsigned char *data = malloc (step);
  assert_non_null (data);
  assert_ok (rd_input_open (file, &input));
  assert_true (rd_input_max_nbytes (input) >= plain->nbytes);
  size_t at = 0, got;
  do {
    assert_ok (rd_input_read (input, data, step, &got));
    assert_true (at + got <= plain->nbytes);
    if (got > 0)
      assert_memory_equal (data, plain->data + at, got);
    at += got;
  } while (got == step);
  assert_int_equal (at, plain->nbytes);
  assert_int_equal (rd_input_position (input),
                    rd_input_file_nbytes (input));
}

static enum radio_status
drain (const char *file)
{
  RD_CLEANUP (rd_cleanup_input) struct rd_input *input = NULL;
  static unsigned char data[4096];
  size_t got;
  RD_TRY (rd_input_open (file, &input));
  do
    RD_TRY (rd_input_read (input, data, sizeof data, &got));
  while (got > 0);
  return RADIO_OK;
}

static void
plain_files_are_read_in_steps_of_any_size (void **state)
{
  (void) state;
  static const size_t steps[] = { 1000, 262144, 262145, 1 << 20 };
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 700001);
  write_file (".", "plain", &plain);
  for (size_t i = 0; i < 4; i++)
    assert_reads_as ("plain", &plain, steps[i]);
}

static void
gzip_is_inflated_in_steps_of_any_size (void **state)
{
  (void) state;
  static const size_t steps[] = { 1000, 65536, 262145, 2 << 20 };
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 1500000);
  make_gzip (plain.data, plain.nbytes, 0, &gz);
  write_file (".", "gz", &gz);
  for (size_t i = 0; i < 4; i++)
    assert_reads_as ("gz", &plain, steps[i]);
}

static void
single_bytes_are_read (void **state)
{
  (void) state;
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 20000);
  make_gzip (plain.data, plain.nbytes, 777, &gz);
  write_file (".", "plain", &plain);
  write_file (".", "gz", &gz);
  assert_reads_as ("plain", &plain, 1);
  assert_reads_as ("gz", &plain, 1);
}

static void
members_of_any_size_follow_each_other (void **state)
{
  (void) state;
  static const size_t members[] = { 1, 17, 4096, 65280, 100000 };
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 30000);
  for (size_t i = 0; i < 5; i++) {
    make_gzip (plain.data, plain.nbytes, members[i], &gz);
    write_file (".", "gz", &gz);
    assert_reads_as ("gz", &plain, 5000);
  }
}

/* The file is taken in by 256 KiB: a member's header, trailer and blocks
 * meet that border at each of their bytes. */
static void
members_may_end_anywhere_about_the_buffer (void **state)
{
  (void) state;
  struct rd_buffer noise RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer gz RD_BUFFER_SCOPE = { 0 }, tail RD_BUFFER_SCOPE = { 0 };
  assert_ok (rd_buffer_reserve (&noise, 300000));
  uint64_t random = 7;
  for (noise.nbytes = 0; noise.nbytes < 300000; noise.nbytes++) {
    random = random * 6364136223846793005 + 1442695040888963407;
    noise.data[noise.nbytes] = (unsigned char) (random >> 56);
  }
  make_gzip (noise.data, 1000, 0, &tail);
  for (size_t shift = 0; shift < 48; shift++) {
    size_t nbytes = 262144 - 60 + shift;
    make_gzip (noise.data, nbytes, 0, &gz);
    assert_in_range (gz.nbytes, 262144 - 60, 262144 + 60 + 48);
    must_append (&gz, tail.data, tail.nbytes);
    write_file (".", "gz", &gz);
    struct rd_buffer both RD_BUFFER_SCOPE = { 0 };
    must_append (&both, noise.data, nbytes);
    must_append (&both, noise.data, 1000);
    assert_reads_as ("gz", &both, 300000);
  }
}

static void
zeros_after_the_members_are_padding (void **state)
{
  (void) state;
  static const unsigned char zeros[300000];
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 100);
  static const size_t counts[] = { 1, 2, 3, 511, 300000 };
  for (size_t i = 0; i < 5; i++) {
    make_gzip (plain.data, plain.nbytes, 0, &gz);
    must_append (&gz, zeros, counts[i]);
    write_file (".", "gz", &gz);
    assert_reads_as ("gz", &plain, 100);
    assert_reads_as ("gz", &plain, 1000);
  }
}

static void
rubbish_after_the_members_is_named_by_its_byte (void **state)
{
  (void) state;
  struct rd_buffer gz RD_BUFFER_SCOPE = { 0 };
  make_gzip ("hello", 5, 0, &gz);
  size_t end = gz.nbytes;
  must_append (&gz, "\0\0\0\x1f\x8b", 5);
  write_file (".", "gz", &gz);
  char part[64];
  snprintf (part, sizeof part, "from byte %zu of %zu", end + 3, end + 5);
  assert_fails (drain ("gz"), RADIO_ERROR_FORMAT, part);
  gz.nbytes = end;
  must_append (&gz, "\x1f", 1);
  write_file (".", "gz", &gz);
  assert_fails (drain ("gz"), RADIO_ERROR_FORMAT, "garbage");
}

static void
a_stream_cut_anywhere_is_an_error (void **state)
{
  (void) state;
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 9000);
  make_gzip (plain.data, plain.nbytes, 0, &gz);
  for (size_t cut = gz.nbytes - 1; cut > 1; cut -= cut > 40 ? 13 : 1) {
    gz.nbytes = cut;
    write_file (".", "gz", &gz);
    assert_fails (drain ("gz"), RADIO_ERROR_FORMAT, "cut short");
  }
}

/* CRC-32 and length find errors that deflate itself does not.  Some bits of a
 * deflate header mean nothing for the data: then it comes out right. */
static void
a_flipped_bit_never_gives_other_data (void **state)
{
  (void) state;
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 }, gz RD_BUFFER_SCOPE = { 0 };
  fill (&plain, 600);
  make_gzip (plain.data, plain.nbytes, 0, &gz);
  unsigned found = 0, tried = 0;
  for (size_t bit = 8 * 10; bit < 8 * gz.nbytes; bit += 3, tried++) {
    gz.data[bit / 8] ^= (unsigned char) (1u << bit % 8);
    write_file (".", "gz", &gz);
    enum radio_status status = drain ("gz");
    if (status == RADIO_OK)
      assert_reads_as ("gz", &plain, 100);
    else
      assert_int_equal (status, RADIO_ERROR_FORMAT);
    found += status != RADIO_OK;
    gz.data[bit / 8] ^= (unsigned char) (1u << bit % 8);
  }
  assert_true (found > tried * 9 / 10);
}

static void
names_and_comments_of_gzip_are_skipped (void **state)
{
  (void) state;
  struct rd_buffer gz RD_BUFFER_SCOPE = { 0 }, with RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer plain RD_BUFFER_SCOPE = { 0 };
  must_append (&plain, "hello", 5);
  make_gzip ("hello", 5, 0, &gz);
  /* FEXTRA of 3 bytes, FNAME, FCOMMENT. */
  must_append (&with, "\x1f\x8b\x08\x1c\0\0\0\0\0\x03", 10);
  must_append (&with, "\3\0abcname.nii\0comment", 22);
  must_append (&with, gz.data + 10, gz.nbytes - 10);
  write_file (".", "gz", &with);
  assert_reads_as ("gz", &plain, 100);
}

static void
an_empty_file_has_no_bytes (void **state)
{
  (void) state;
  struct rd_buffer none = { 0 };
  write_file (".", "empty", &none);
  assert_reads_as ("empty", &none, 10);
}

static void
a_file_that_is_not_regular_is_refused_at_once (void **state)
{
  (void) state;
  struct rd_input *input = NULL;
  assert_int_equal (mkfifo ("pipe", 0600), 0);
  assert_fails (rd_input_open (".", &input), RADIO_ERROR_ARGUMENT,
                ": a folder");
  assert_fails (rd_input_open ("pipe", &input), RADIO_ERROR_ARGUMENT,
                "not a regular file");
  assert_fails (rd_input_open ("/dev/null", &input), RADIO_ERROR_ARGUMENT,
                "not a regular file");
  assert_fails (rd_input_open ("absent", &input), RADIO_ERROR_NOT_FOUND,
                "absent: ");
  assert_null (input);
}

static void
gzip_may_hold_1032_times_its_size (void **state)
{
  (void) state;
  RD_CLEANUP (rd_cleanup_input) struct rd_input *input = NULL;
  struct rd_buffer gz RD_BUFFER_SCOPE = { 0 };
  make_gzip ("hello", 5, 0, &gz);
  write_file (".", "gz", &gz);
  assert_ok (rd_input_open ("gz", &input));
  assert_true (rd_input_is_gzip (input));
  assert_int_equal (rd_input_max_nbytes (input), 1032 * gz.nbytes);
}

static void
closing_nothing_is_legal (void **state)
{
  (void) state;
  rd_input_close (NULL);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (plain_files_are_read_in_steps_of_any_size),
    cmocka_unit_test (gzip_is_inflated_in_steps_of_any_size),
    cmocka_unit_test (single_bytes_are_read),
    cmocka_unit_test (members_of_any_size_follow_each_other),
    cmocka_unit_test (members_may_end_anywhere_about_the_buffer),
    cmocka_unit_test (zeros_after_the_members_are_padding),
    cmocka_unit_test (rubbish_after_the_members_is_named_by_its_byte),
    cmocka_unit_test (a_stream_cut_anywhere_is_an_error),
    cmocka_unit_test (a_flipped_bit_never_gives_other_data),
    cmocka_unit_test (names_and_comments_of_gzip_are_skipped),
    cmocka_unit_test (an_empty_file_has_no_bytes),
    cmocka_unit_test (a_file_that_is_not_regular_is_refused_at_once),
    cmocka_unit_test (gzip_may_hold_1032_times_its_size),
    cmocka_unit_test (closing_nothing_is_legal),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
