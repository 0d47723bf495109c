/* SPDX-License-Identifier: MIT */
/* Huge pages: large destinations are advised to have them, and nothing else
 * is, as the kernel reports it for the process. */
#include <config.h>

#include <sys/mman.h>

#include <radio/radio.h>

#include "src/element/pages.h"
#include "tests/unit.h"

#define MIB ((size_t) 1 << 20)
#define ROOM_NBYTES (40 * MIB)

/* The flags of the mapping that holds an address, or "" where the kernel
 * does not report it. */
static void
find_flags (const void *address, char flags[256])
{
  FILE *f = fopen ("/proc/self/smaps", "r");
  char line[512];
  bool inside = false;
  flags[0] = '\0';
  while (f && fgets (line, sizeof line, f)) {
    char *end;
    unsigned long first = strtoul (line, &end, 16), last = 0;
    if (*end == '-' && end > line) {
      last = strtoul (end + 1, NULL, 16);
      inside = (uintptr_t) address >= first && (uintptr_t) address < last;
    }
    if (inside && strncmp (line, "VmFlags:", 8) == 0)
      snprintf (flags, 256, "%.255s", line);
  }
  if (f)
    fclose (f);
}

static bool
is_advised (const void *address)
{
  char flags[256];
  find_flags (address, flags);
  return strstr (flags, " hg") != NULL;
}

/* True when the kernel supports such advice; an emulator may ignore it. */
static bool
knows_advice (void)
{
  bool knows = false;
#ifdef MADV_HUGEPAGE
  void *room = mmap (NULL, 4 * MIB, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true (room != MAP_FAILED);
  knows = madvise (room, 4 * MIB, MADV_HUGEPAGE) == 0 && is_advised (room);
  munmap (room, 4 * MIB);
#endif
  return knows;
}

struct bench {
  struct radio_store *store;
  struct radio_array *array;          /* 64 x 512 x 512 bytes, all 7 */
  unsigned char *room;                /* aligned to 2 MiB, and so much more */
  void *mapping;
};

static void
bench_open (struct bench *bench, bool no_huge_pages)
{
  const struct radio_context_options how = {
    .nthreads = 2, .no_huge_pages = no_huge_pages,
  };
  struct radio_context *context;
  assert_ok (radio_context_open (&how, &context));
  struct radio_store_options store_how = { .context = context };
  assert_ok (radio_store_open ("memory:", &store_how, &bench->store));
  radio_context_close (context);
  const struct radio_array_options array_how = {
    .rank = 3, .shape = { 64, 512, 512 }, .chunk_shape = { 8, 64, 512 },
    .data_type = "uint8", .fill_value_json = "7",
  };
  assert_ok (radio_array_create (bench->store, "a", &array_how,
                                 &bench->array));
  bench->mapping = mmap (NULL, ROOM_NBYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true (bench->mapping != MAP_FAILED);
  uintptr_t start = (uintptr_t) bench->mapping;
  bench->room = (unsigned char *) ((start + 2 * MIB - 1) / (2 * MIB)
                                   * (2 * MIB));
}

static void
bench_close (struct bench *bench)
{
  munmap (bench->mapping, ROOM_NBYTES);
  radio_array_close (bench->array);
  radio_store_close (bench->store);
}

/* Read nz planes to an offset in the room. */
static void
read_planes (struct bench *bench, size_t offset, uint64_t nz,
             const int64_t *strides)
{
  struct radio_box box = radio_box3 (0, nz, 0, 512, 0, 512);
  struct radio_read_options how = { .strides = strides };
  assert_ok (radio_array_read (bench->array, &box, RADIO_STORED,
                               bench->room + offset, 32 * MIB, &how));
}

static void
a_large_destination_is_advised_where_it_is_whole_huge_pages (void **state)
{
  (void) state;
  struct bench bench;
  bench_open (&bench, false);
  /* From 1 MiB to 17 MiB: the pages at 0 and 16 MiB are not all ours. */
  read_planes (&bench, MIB, 64, NULL);
  assert_int_equal (is_advised (bench.room), false);
  assert_int_equal (is_advised (bench.room + 17 * MIB), false);
  assert_int_equal (is_advised (bench.room + 2 * MIB), knows_advice ());
  assert_int_equal (is_advised (bench.room + 16 * MIB - 1),
                    knows_advice ());
  assert_int_equal (bench.room[MIB - 1], 0);
  for (size_t i = MIB; i < 17 * MIB; i++)
    assert_true (bench.room[i] == 7);
  assert_int_equal (bench.room[17 * MIB], 0);
  bench_close (&bench);
}

static void
a_small_destination_is_left_alone (void **state)
{
  (void) state;
  struct bench bench;
  bench_open (&bench, false);
  read_planes (&bench, 0, RD_PAGES_MIN_NBYTES / MIB * 4 - 1, NULL);
  assert_false (is_advised (bench.room));
  read_planes (&bench, 0, RD_PAGES_MIN_NBYTES / MIB * 4, NULL);
  assert_int_equal (is_advised (bench.room), knows_advice ());
  bench_close (&bench);
}

static void
a_context_may_refuse_huge_pages (void **state)
{
  (void) state;
  struct bench bench;
  bench_open (&bench, true);
  read_planes (&bench, 0, 64, NULL);
  assert_false (is_advised (bench.room + 4 * MIB));
  bench_close (&bench);
}

/* As nibabel has it: x runs slowest in memory. */
static void
the_order_of_a_dense_destination_does_not_matter (void **state)
{
  (void) state;
  struct bench bench;
  bench_open (&bench, false);
  const int64_t strides[3] = { 1, 64, 64 * 512 };
  read_planes (&bench, 0, 64, strides);
  assert_int_equal (is_advised (bench.room), knows_advice ());
  bench_close (&bench);
}

static void
a_destination_may_be_filled_backwards (void **state)
{
  (void) state;
  struct bench bench;
  bench_open (&bench, false);
  const int64_t strides[3] = { -512 * 512, 512, 1 };
  read_planes (&bench, 63 * 512 * 512, 64, strides);
  assert_int_equal (is_advised (bench.room), knows_advice ());
  assert_int_equal (is_advised (bench.room + 16 * MIB - 1),
                    knows_advice ());
  assert_false (is_advised (bench.room + 16 * MIB));
  bench_close (&bench);
}

static void
memory_between_rows_is_not_written (void **state)
{
  (void) state;
  struct bench bench;
  bench_open (&bench, false);
  const int64_t strides[3] = { 512 * 1024, 1024, 1 };
  read_planes (&bench, 0, 64, strides);
  assert_false (is_advised (bench.room + 4 * MIB));
  bench_close (&bench);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (
      a_large_destination_is_advised_where_it_is_whole_huge_pages),
    cmocka_unit_test (a_small_destination_is_left_alone),
    cmocka_unit_test (a_context_may_refuse_huge_pages),
    cmocka_unit_test (the_order_of_a_dense_destination_does_not_matter),
    cmocka_unit_test (a_destination_may_be_filled_backwards),
    cmocka_unit_test (memory_between_rows_is_not_written),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
