/* SPDX-License-Identifier: MIT */
/* Files of rings that are cut, foreign or damaged: what is sound of them is
 * recovered, and they do no harm. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "src/base/buffer.h"
#include "profiler/export/read.h"
#include "profiler/model/profile.h"
#include "profiler/record/image.h"
#include "profiler/record/record.h"
#include "tests/profiler/record/dying.h"
#include "tests/unit.h"

struct bytes {
  unsigned char *at;
  size_t n;
};

static struct bytes
read_ring (void)
{
  /* As its structures are where they are mapped. */
  static _Alignas (64) unsigned char room[8 << 20];
  FILE *file = fopen (dying_path, "rb");
  assert_non_null (file);
  struct bytes all = { room, fread (room, 1, sizeof room, file) };
  assert_in_range (all.n, DYING_RING_NBYTES, sizeof room - 1);
  fclose (file);
  return all;
}

static enum radio_status
append (const void *data, size_t nbytes, void *user_data)
{
  struct rd_buffer *buffer = user_data;
  return rd_buffer_append (buffer, data, nbytes);
}

/* Whatever is recovered can be written, and read again. */
static void
check_written (const struct radio_profile *profile)
{
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_TEXT, RADIO_PROFILE_CHROME, RADIO_PROFILE_PPROF,
    RADIO_PROFILE_JSON,
  };
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
    struct radio_profile *back;
    struct radio_profile_write_options options = { .format = formats[i] };
    assert_ok (radio_profile_write_to (profile, &options, append, &buffer));
    if (formats[i] != RADIO_PROFILE_JSON)
      continue;
    assert_ok (rd_profile_parse ((const char *) buffer.data, buffer.nbytes,
                                 "back", &back));
    radio_profile_close (back);
  }
}

static void
write_ring (const unsigned char *at, size_t n)
{
  FILE *file = fopen (dying_path, "wb");
  assert_non_null (file);
  assert_int_equal (fwrite (at, 1, n, file), n);
  assert_int_equal (fclose (file), 0);
}

static enum radio_status
recover_bytes (const unsigned char *at, size_t n)
{
  struct radio_profile *profile;
  write_ring (at, n);
  enum radio_status status = radio_profile_recover (dying_path, &profile);
  if (status == RADIO_OK) {
    check_written (profile);
    radio_profile_close (profile);
  } else
    assert_null (profile);
  return status;
}

static void
a_cut_or_foreign_file_is_refused (void **state)
{
  (void) state;
  dying_die (DYING_KILLED, 3000);
  struct bytes ring = read_ring ();
  struct rd_image_header *header = (struct rd_image_header *) ring.at;
  for (size_t i = 0; i < 40; i++) {
    size_t n = (size_t) header->nbytes * i / 40;
    assert_int_equal (recover_bytes (ring.at, n), RADIO_ERROR_FORMAT);
  }
  assert_int_equal (recover_bytes (ring.at, (size_t) header->nbytes),
                    RADIO_OK);
  assert_fails (recover_bytes (ring.at, (size_t) header->nbytes - 1),
                RADIO_ERROR_FORMAT, "this ring is cut");
  header->version[0] ^= 1;
  assert_fails (recover_bytes (ring.at, ring.n), RADIO_ERROR_UNSUPPORTED,
                "is of another version of radio");
  header->version[0] ^= 1;
  header->sizes[0] = 0x01000000;
  assert_fails (recover_bytes (ring.at, ring.n), RADIO_ERROR_UNSUPPORTED,
                "another kind of machine");
  header->magic[1] = 'R';
  assert_fails (recover_bytes (ring.at, ring.n), RADIO_ERROR_FORMAT,
                "this is not a ring, or its recorder had not begun");
  assert_int_equal (unlink (dying_path), 0);
  struct radio_profile *profile;
  assert_fails (radio_profile_recover (dying_path, &profile),
                RADIO_ERROR_NOT_FOUND, dying_path);
  assert_fails (radio_profile_recover ("/", &profile), RADIO_ERROR_FORMAT,
                "this is not a ring; use a file");
}

/* Words that are other words of the file, small numbers, or anything. */
static void
damaged_files_do_no_harm (void **state)
{
  const char *number = getenv ("RADIO_TEST_DAMAGES");
  int n = number ? atoi (number) : 100;
  uint32_t random = (uint32_t) time (NULL);
  int nok = 0;
  (void) state;
  print_message ("seed %u\n", random);
  dying_die (DYING_KILLED, 5000);
  struct bytes ring = read_ring ();
  unsigned char *copy = malloc (ring.n);
  assert_non_null (copy);
  size_t end = (size_t) ((struct rd_image_header *) ring.at)->nbytes;
  for (int i = 0; i < n; i++) {
    memcpy (copy, ring.at, ring.n);
    for (int j = 0; j < 1 + i % 20; j++) {
      uint64_t words[3];
      for (int k = 0; k < 3; k++) {
        random = random * 1664525 + 1013904223;
        words[k] = random >> 4;
        random = random * 1664525 + 1013904223;
        words[k] = words[k] << 24 ^ random >> 8;
      }
      /* Mostly after the ring, where the structure is. */
      size_t from = j % 4 == 0 ? 0 : j % 4 == 1 ? 16384
                                                : DYING_RING_NBYTES + 16384;
      size_t at = (from + words[0] % (end - from - 8)) & ~(size_t) 7;
      uint64_t value = words[1] % 3 == 0 ? words[2] : words[2] % 300;
      if (words[1] % 3 == 1)
        memcpy (&value, ring.at + (words[2] % (end - 8) & ~(size_t) 7), 8);
      memcpy (copy + at, &value, sizeof value);
    }
    enum radio_status status = recover_bytes (copy, ring.n);
    assert_true (status == RADIO_OK || status == RADIO_ERROR_FORMAT
                 || status == RADIO_ERROR_UNSUPPORTED);
    nok += status == RADIO_OK;
  }
  print_message ("%d of %d were not noticed\n", nok, n);
  free (copy);
  assert_int_equal (unlink (dying_path), 0);
}

/* The number of spans that a profile says were damaged; 0: it says nothing. */
static uint64_t
damaged_of (const struct radio_profile *profile)
{
  const char *number = rd_profile_find_fact (profile, RD_FACT_DAMAGED);
  assert_int_equal (number != NULL,
                    rd_profile_find_fact (profile, RD_FACT_DAMAGE) != NULL);
  return number ? strtoull (number, NULL, 10) : 0;
}

static struct radio_profile *
profile_of (const unsigned char *at, size_t n)
{
  struct radio_profile *profile;
  write_ring (at, n);
  assert_ok (radio_profile_recover (dying_path, &profile));
  return profile;
}

/* The tree of a damaged log is that of the whole one, except the number of
 * spans that are not in it; and these, too, without a word about damage. */
static void
check_same_tree (const struct radio_profile *profile,
                 const struct radio_profile *whole)
{
  uint64_t ndropped = 0;
  assert_int_equal (profile->nodes.n, whole->nodes.n);
  assert_int_equal (profile->info.wall_ns, whole->info.wall_ns);
  for (size_t i = 0; i < whole->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    const struct radio_profile_node *was = &whole->nodes.at[i];
    uint64_t histogram = 0;
    assert_string_equal (node->name, was->name);
    assert_int_equal (node->calls, was->calls);
    assert_int_equal (node->total_ns, was->total_ns);
    assert_int_equal (node->self_ns, was->self_ns);
    assert_int_equal (node->wait_ns, was->wait_ns);
    assert_int_equal (node->open_count, was->open_count);
    for (size_t j = 0; j < RADIO_HISTOGRAM_BUCKETS; j++) {
      histogram += node->histogram[j];
      assert_int_equal (node->histogram[j], was->histogram[j]);
    }
    assert_int_equal (histogram, node->calls);
    assert_int_equal (node->max_ns, was->max_ns);
    assert_int_equal (node->min_ns, was->min_ns);
    ndropped += node->dropped_count - was->dropped_count;
  }
  assert_int_equal (ndropped, damaged_of (profile));
  assert_int_equal (profile->spans.n + damaged_of (profile), whole->spans.n);
}

/* Bytes of the log, each alone: every 489th, so all of a span's words, or each
 * one (RADIO_TEST_DAMAGES). */
static void
damaged_spans_are_dropped_and_counted_in_the_tree (void **state)
{
  const char *number = getenv ("RADIO_TEST_DAMAGES");
  const size_t stride = number ? 1 : 61 * 8 + 1;
  size_t n = 0, nsilent = 0, most = 0;
  (void) state;
  dying_die (DYING_RESTING, 0);
  struct bytes ring = read_ring ();
  struct radio_profile *whole = profile_of (ring.at, ring.n);
  dying_check (whole);
  for (size_t at = 16384; at < 16384 + DYING_RING_NBYTES; at += stride, n++) {
    const unsigned char was = ring.at[at];
    ring.at[at] ^= (unsigned char) (n % 3 == 0 ? 0xff : 1u << n % 8);
    struct radio_profile *profile = profile_of (ring.at, ring.n);
    check_same_tree (profile, whole);
    uint64_t ndamaged = damaged_of (profile);
    most = ndamaged > most ? (size_t) ndamaged : most;
    nsilent += rd_profile_find_fact (profile, RD_FACT_DAMAGE) == NULL;
    if (n % 100 == 0)
      check_written (profile);
    radio_profile_close (profile);
    ring.at[at] = was;
  }
  print_message ("%zu of %zu bytes changed no figure; %zu spans at most were "
                 "dropped of %zu\n", nsilent, n, most, whole->spans.n);
  radio_profile_close (whole);
  assert_int_equal (unlink (dying_path), 0);
}

/* A page of the log, or its second half, is zeros or anything. */
static void
a_damaged_part_of_the_log_leaves_the_rest (void **state)
{
  uint32_t random = (uint32_t) time (NULL);
  (void) state;
  print_message ("seed %u\n", random);
  dying_die (DYING_RESTING, 0);
  struct bytes ring = read_ring ();
  unsigned char *copy = malloc (ring.n);
  struct radio_profile *whole = profile_of (ring.at, ring.n);
  assert_non_null (copy);
  for (size_t i = 0; i < 16; i++) {
    const size_t nbytes = i < 12 ? 4096 : DYING_RING_NBYTES / 2;
    const size_t from = 16384 + (i < 12 ? i * DYING_RING_NBYTES / 12
                                        : DYING_RING_NBYTES / 2);
    memcpy (copy, ring.at, ring.n);
    for (size_t j = from; j < from + nbytes; j++) {
      random = random * 1664525 + 1013904223;
      copy[j] = i % 2 ? 0 : (unsigned char) (random >> 24);
    }
    struct radio_profile *profile = profile_of (copy, ring.n);
    check_same_tree (profile, whole);
    assert_in_range (damaged_of (profile), 0, nbytes / 32 + 1);
    radio_profile_close (profile);
  }
  radio_profile_close (whole);
  free (copy);
  assert_int_equal (unlink (dying_path), 0);
}

/* Returns what an address in the ring refers to. */
static void *
at_address (struct bytes ring, const void *address)
{
  const struct rd_image_header *header = (struct rd_image_header *) ring.at;
  size_t offset = (size_t) ((uintptr_t) address - header->base);
  assert_in_range (offset, sizeof *header, ring.n - 8);
  return ring.at + offset;
}

/* A list of spans that leads elsewhere, or into a circle, ends there. */
static void
a_damaged_list_of_spans_ends_there (void **state)
{
  (void) state;
  dying_die (DYING_RESTING, 0);
  struct bytes ring = read_ring ();
  struct radio_profile *whole = profile_of (ring.at, ring.n);
  const struct rd_image_header *header = (struct rd_image_header *) ring.at;
  const struct rd_writer_state *writer = at_address (ring, header->writers);
  struct rd_log_chunk *first = at_address (ring, writer->log.first);
  assert_non_null (first->next);
  const struct rd_log_chunk was = *first;
  for (int i = 0; i < 4; i++) {
    if (i == 0)
      first->next = writer->log.first;
    else if (i == 1)
      first->next = (struct rd_log_chunk *) (header->base + 7);
    else if (i == 2)
      first->slots++;
    else
      first->nslots = SIZE_MAX / 2;
    struct radio_profile *profile = profile_of (ring.at, ring.n);
    check_same_tree (profile, whole);
    assert_true (damaged_of (profile) > 0);
    assert_non_null (strstr (rd_profile_find_fact (profile, RD_FACT_DAMAGE),
                             "a list of spans"));
    radio_profile_close (profile);
    *first = was;
  }
  radio_profile_close (whole);
  assert_int_equal (unlink (dying_path), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_cut_or_foreign_file_is_refused),
    cmocka_unit_test (damaged_files_do_no_harm),
    cmocka_unit_test (damaged_spans_are_dropped_and_counted_in_the_tree),
    cmocka_unit_test (a_damaged_part_of_the_log_leaves_the_rest),
    cmocka_unit_test (a_damaged_list_of_spans_ends_there),
  };
  return DYING_RUN_TESTS (tests);
}
