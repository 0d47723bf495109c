/* SPDX-License-Identifier: MIT */
/* Huge pages: large destinations are advised to have them, and nothing else
 * is, as the kernel reports it for the process; and they are populated before
 * they are written. */
#include <config.h>

#include <sys/mman.h>
#include <unistd.h>

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

/* True when the kernel has given memory to the page of an address. */
static bool
is_resident (unsigned char *address)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  unsigned char state = 0;
  assert_int_equal (mincore (address - (uintptr_t) address % page, page,
                             &state), 0);
  return state & 1;
}

/* True when the kernel populates pages; an emulator does not. */
static bool
populates (unsigned char *page)
{
#ifdef MADV_POPULATE_WRITE
  return madvise (page, (size_t) sysconf (_SC_PAGESIZE),
                  MADV_POPULATE_WRITE) == 0;
#else
  (void) page;
  return false;
#endif
}

static void
pages_are_populated_once_where_they_are_written_next (void **state)
{
  (void) state;
  struct bench bench;
  static struct rd_pages pages;
  bench_open (&bench, false);
  unsigned char *room = bench.room;
  /* From 1 to 9 MiB there are three huge pages. */
  const struct radio_request request = {
    .box = { .rank = 1, .size = { 8 * MIB } }, .buffer = room + MIB,
  };
  rd_pages_advise (&request, 1, &pages);
  if (pages.n == 0 || !populates (room + 20 * MIB)) {
    bench_close (&bench);
    skip ();
  }
  assert_int_equal (pages.n, 3);
  rd_pages_populate (&pages, room, 2 * MIB);
  rd_pages_populate (&pages, room + 8 * MIB, 2 * MIB);
  for (size_t i = 0; i < 10; i++)
    assert_false (is_resident (room + i * MIB));
  rd_pages_populate (&pages, room + 5 * MIB, 1);
  assert_true (is_resident (room + 6 * MIB - 1));
  assert_false (is_resident (room + 4 * MIB - 1));
  assert_false (is_resident (room + 8 * MIB - 1));
  room[6 * MIB - 1] = 9;
  rd_pages_populate (&pages, room, 20 * MIB);
  assert_true (is_resident (room + 4 * MIB - 1));
  assert_true (is_resident (room + 8 * MIB - 1));
  assert_false (is_resident (room + 2 * MIB - 1));
  assert_false (is_resident (room + 9 * MIB));
  assert_int_equal (room[6 * MIB - 1], 9);
  bench_close (&bench);
}

/* Then a bit is for several: the last may have fewer. */
static void
many_pages_are_populated_in_groups (void **state)
{
  (void) state;
  static struct rd_pages pages;
  uint64_t n = 2 * RD_PAGES_MAX_GROUPS + 3;
  size_t nbytes = (size_t) (n + 1) * 2 * MIB;
  unsigned char *mapping = mmap (NULL, nbytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                                 -1, 0);
  if (mapping == MAP_FAILED)
    skip ();
  unsigned char *room = rd_pages_align (mapping);
  const struct radio_request request = {
    .box = { .rank = 1, .size = { n * 2 * MIB } }, .buffer = room,
  };
  rd_pages_advise (&request, 1, &pages);
  if (pages.n == 0 || !populates (room)) {
    munmap (mapping, nbytes);
    skip ();
  }
  assert_int_equal (pages.n, n);
  assert_int_equal (pages.group, 3);
  rd_pages_populate (&pages, room + (n - 1) * 2 * MIB, 2 * MIB);
  for (uint64_t i = n - 8; i < n; i++)
    assert_int_equal (is_resident (room + (i + 1) * 2 * MIB - 1),
                      i / 3 == (n - 1) / 3);
  munmap (mapping, nbytes);
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
    cmocka_unit_test (pages_are_populated_once_where_they_are_written_next),
    cmocka_unit_test (many_pages_are_populated_in_groups),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
