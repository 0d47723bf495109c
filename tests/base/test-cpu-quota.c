/* SPDX-License-Identifier: MIT */
/* The CPU time that control groups leave a process, by made-up files of the
 * system in a folder; and its processors. */
#include <config.h>

#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

#include "src/base/cpu-quota.h"

#define CGROUP "proc/self/cgroup"
#define MOUNTS "proc/self/mountinfo"
#define SYS "sys/fs/cgroup/"

/* Mounts as a container has them that sees nothing above itself, and as those
 * of others. */
#define MOUNT_2 \
  "23 1 0:5 / /proc rw - proc proc rw\n" \
  "31 23 0:28 / /sys/fs/cgroup ro,nosuid shared:4 master:1 - cgroup2 cgroup " \
  "rw,nsdelegate\n"
#define MOUNT_1(root) \
  "32 31 0:29 " root " /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n" \
  "33 31 0:30 " root " /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup " \
  "rw,cpu,cpuacct\n" \
  "34 31 0:31 " root " /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n"

struct file {
  const char *path, *text;
};

/* Expected; 0 CPUs: there is no quota. */
struct answer {
  double cpus;
  uint64_t throttled_ns;
};

static int
remove_entry (const char *path, const struct stat *status, int kind,
              struct FTW *walk)
{
  (void) status;
  (void) kind;
  (void) walk;
  return remove (path);
}

static void
write_file (const char *root, const struct file *file)
{
  char path[512];
  snprintf (path, sizeof path, "%s/%s", root, file->path);
  for (char *at = strchr (path, '/'); at; at = strchr (at + 1, '/')) {
    *at = '\0';
    (void) mkdir (path, 0700);
    *at = '/';
  }
  FILE *stream = fopen (path, "w");
  assert_non_null (stream);
  assert_true (fputs (file->text, stream) >= 0);
  assert_int_equal (fclose (stream), 0);
}

static void
check (const struct file *files, struct answer expected)
{
  char root[] = "test-cpu-quota-XXXXXX";
  struct rd_cpu_quota quota = { 0 };
  assert_non_null (mkdtemp (root));
  for (; files->path; files++)
    write_file (root, files);
  bool is_found = rd_cpu_quota_read (root, &quota);
  assert_int_equal (nftw (root, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
  assert_int_equal (is_found, expected.cpus > 0);
  if (is_found) {
    assert_true (quota.cpus == expected.cpus);
    assert_int_equal (quota.throttled_ns, expected.throttled_ns);
  }
}

/* The end of a list of files. */
#define CHECK(cpus, throttled_ns, ...) \
  check ((const struct file[]) { __VA_ARGS__, { NULL, NULL } }, \
         (struct answer) { cpus, throttled_ns })

static void
a_container_has_the_quota_of_its_group (void **state)
{
  (void) state;
  CHECK (1.5, 1234000, { CGROUP, "0::/\n" }, { MOUNTS, MOUNT_2 },
         { SYS "cpu.max", "150000 100000\n" },
         { SYS "cpu.stat", "usage_usec 9\nnr_throttled 3\n"
                           "throttled_usec 1234\n" });
  CHECK (4, 777, { CGROUP, "6:memory:/docker/ab\n5:cpuacct,cpu:/docker/ab\n" },
         { MOUNTS, MOUNT_1 ("/docker/ab") },
         { SYS "cpu,cpuacct/cpu.cfs_quota_us", "200000\n" },
         { SYS "cpu,cpuacct/cpu.cfs_period_us", "50000\n" },
         { SYS "cpu,cpuacct/cpu.stat", "nr_periods 1\nthrottled_time 777\n" });
  CHECK (0.25, 0, { CGROUP, "0::/\n" }, { MOUNTS, MOUNT_2 },
         { SYS "cpu.max", "25000 100000\n" });
}

static void
the_least_quota_of_the_groups_around_it_counts (void **state)
{
  (void) state;
  CHECK (0.5, 8000, { CGROUP, "0::/a/b.slice/c\n" }, { MOUNTS, MOUNT_2 },
         { SYS "a/b.slice/c/cpu.max", "max 100000\n" },
         { SYS "a/b.slice/cpu.max", "50000 100000\n" },
         { SYS "a/b.slice/cpu.stat", "throttled_usec 8\n" },
         { SYS "a/cpu.max", "100000 100000\n" },
         { SYS "a/cpu.stat", "throttled_usec 9\n" });
  CHECK (2, 0, { CGROUP, "4:cpu,cpuacct:/a/b\n" }, { MOUNTS, MOUNT_1 ("/") },
         { SYS "cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n" },
         { SYS "cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n" },
         { SYS "cpu,cpuacct/a/cpu.cfs_quota_us", "200000\n" },
         { SYS "cpu,cpuacct/a/cpu.cfs_period_us", "100000\n" },
         { SYS "cpu,cpuacct/cpu.cfs_quota_us", "-1\n" });
}

/* Its own group is then the one that is mounted, or above it. */
static void
a_group_outside_of_the_mount_is_not_looked_for (void **state)
{
  static const char *const groups[] = {
    "0::/docker/abc\n", "0::/../x\n", "0::/docker/ab/../x\n", "0::/\n",
  };
  (void) state;
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    CHECK (3, 0, { CGROUP, groups[i] },
           { MOUNTS, "31 23 0:28 /docker/ab /sys/fs/cgroup ro - "
                     "cgroup2 c rw\n" },
           { SYS "cpu.max", "300000 100000\n" },
           { SYS "c/cpu.max", "100000 100000\n" },
           { "sys/fs/x/cpu.max", "100000 100000\n" },
           { SYS "x/cpu.max", "100000 100000\n" });
}

/* The kernel's list of mounts takes long. */
static void
a_group_at_its_usual_place_is_found_without_the_mounts (void **state)
{
  (void) state;
  check ((const struct file[]) {
    { CGROUP, "0::/a/b\n" }, { SYS "a/b/cgroup.procs", "" },
    { SYS "a/b/cpu.max", "250000 100000\n" },
    { SYS "a/cpu.max", "150000 100000\n" },
    { SYS "a/cpu.stat", "throttled_usec 3\n" }, { 0 },
  }, (struct answer) { 1.5, 3000 });
  check ((const struct file[]) {
    { CGROUP, "0::/\n" }, { SYS "cgroup.procs", "" },
    { SYS "cpu.max", "50000 100000\n" }, { 0 },
  }, (struct answer) { 0.5, 0 });
  /* Where both versions exist, the one that controls CPUs is used. */
  check ((const struct file[]) {
    { CGROUP, "4:memory:/m\n3:cpu,cpuacct:/c\n0::/u\n" },
    { SYS "cpu/c/cgroup.procs", "" },
    { SYS "cpu/c/cpu.cfs_quota_us", "300000\n" },
    { SYS "cpu/c/cpu.cfs_period_us", "100000\n" },
    { SYS "cpu/c/cpu.stat", "throttled_time 7\n" }, { 0 },
  }, (struct answer) { 3, 7 });
}

static void
a_mount_may_have_blanks_in_its_name (void **state)
{
  (void) state;
  CHECK (3, 0, { CGROUP, "0::/d d\n" },
         { MOUNTS, "31 23 0:28 / /my\\040cgroup\\134 rw - cgroup2 none rw\n" },
         { "my cgroup\\/d d/cpu.max", "300000 100000\n" });
}

static void
without_a_quota_there_is_none (void **state)
{
  (void) state;
  CHECK (0, 0, { "proc/none", "" });
  CHECK (0, 0, { CGROUP, "0::/\n" }, { MOUNTS, MOUNT_2 });
  CHECK (0, 0, { CGROUP, "0::/\n" }, { MOUNTS, MOUNT_2 },
         { SYS "cpu.max", "max 100000\n" });
  CHECK (0, 0, { CGROUP, "3:cpuset:/\n" }, { MOUNTS, MOUNT_1 ("/") },
         { SYS "cpuset/cpu.cfs_quota_us", "100000\n" },
         { SYS "cpuset/cpu.cfs_period_us", "100000\n" });
}

static void
other_texts_are_no_quota (void **state)
{
  static const char *const texts[] = {
    "", "\n", "0 100000\n", "100000\n", "100000 \n", "100000 0\n",
    "-1 100000\n", "99999999999999999999 100000\n",
    "100000 99999999999999999999\n", " 1 1\n", "1  1\n", "x",
  };
  (void) state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    CHECK (0, 0, { CGROUP, "0::/\n" }, { MOUNTS, MOUNT_2 },
           { SYS "cpu.max", texts[i] });
    CHECK (0, 0, { CGROUP, texts[i] }, { MOUNTS, MOUNT_2 },
           { SYS "cpu.max", "1 1\n" });
    CHECK (0, 0, { CGROUP, "0::/\n" }, { MOUNTS, texts[i] },
           { SYS "cpu.max", "1 1\n" });
  }
  CHECK (1, 0, { CGROUP, "0::/\n" }, { MOUNTS, MOUNT_2 },
         { SYS "cpu.max", "1 1\n" },
         { SYS "cpu.stat", "throttled_usec 18446744073709551615\n" });
}

/* Names that fill the room for paths, and lines that end anywhere. */
static void
long_and_cut_lines_do_no_harm (void **state)
{
  static const char mounts[] = MOUNT_2 MOUNT_1 ("/a");
  static const char end[] = " / /sys/fs/cgroup rw - cgroup2 c rw\n" MOUNT_2;
  char group[6000], text[sizeof mounts];
  static char line[40000];
  (void) state;
  for (size_t n = 8100; n < 33000; n += n < 8300 ? 1 : 4096) {
    memset (line, '3', n);
    memcpy (line + n, end, sizeof end);
    CHECK (2, 0, { CGROUP, "0::/\n" }, { MOUNTS, line },
           { SYS "cpu.max", "2 1\n" });
  }
  for (size_t n = 3000; n < sizeof group - 1; n += 131) {
    memset (group, 'a', n);
    memcpy (group, "0::/", 4);
    for (size_t i = 100; i < n; i += 100)
      group[i] = '/';
    group[n] = '\0';
    CHECK (n < 4070 ? 2 : 0, 0, { CGROUP, group }, { MOUNTS, MOUNT_2 },
           { SYS "cpu.max", "2 1\n" });
  }
  for (size_t n = 0; n < sizeof mounts; n++) {
    memcpy (text, mounts, n);
    text[n] = '\0';
    bool has_type = n >= sizeof MOUNT_2 - sizeof " cgroup rw,nsdelegate\n";
    CHECK (has_type ? 2 : 0, 0,
           { CGROUP, "0::/\n5:cpu:/a\n" }, { MOUNTS, text },
           { SYS "cpu.max", "2 1\n" });
  }
}

/* The last test, since the process stays on one of its processors. */
static void
processors_are_those_that_the_process_may_use (void **state)
{
  (void) state;
  assert_in_range (rd_count_cpus (), 1, 4096);
#ifdef CPU_COUNT
  cpu_set_t set;
  int first = 0;
  if (sched_getaffinity (0, sizeof set, &set) != 0)
    skip ();
  while (!CPU_ISSET (first, &set))
    first++;
  CPU_ZERO (&set);
  CPU_SET (first, &set);
  assert_int_equal (sched_setaffinity (0, sizeof set, &set), 0);
  assert_int_equal (rd_count_cpus (), 1);
#endif
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_container_has_the_quota_of_its_group),
    cmocka_unit_test (the_least_quota_of_the_groups_around_it_counts),
    cmocka_unit_test (a_group_outside_of_the_mount_is_not_looked_for),
    cmocka_unit_test (a_group_at_its_usual_place_is_found_without_the_mounts),
    cmocka_unit_test (a_mount_may_have_blanks_in_its_name),
    cmocka_unit_test (without_a_quota_there_is_none),
    cmocka_unit_test (other_texts_are_no_quota),
    cmocka_unit_test (long_and_cut_lines_do_no_harm),
    cmocka_unit_test (processors_are_those_that_the_process_may_use),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
