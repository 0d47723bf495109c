/* SPDX-License-Identifier: MIT */
/* Helpers that the tests of findings share. */
#ifndef RD_TESTS_FOUND_H
#define RD_TESTS_FOUND_H

#include "tests/profiler/build.h"

#define MS ((uint64_t) 1000000)

/* Returns a finding by its id, or NULL. */
static inline const struct radio_finding *
find_finding (const struct radio_profile *profile, const char *id)
{
  for (size_t i = 0; i < profile->info.nfindings; i++) {
    const struct radio_finding *finding = radio_profile_finding (profile, i);
    if (strcmp (finding->id, id) == 0)
      return finding;
  }
  return NULL;
}

/* Finishes the profile, asserts that it has a finding of this weight with this
 * text in its evidence, and closes it. */
static inline void
assert_found (struct radio_profile *profile, const char *id,
              enum radio_finding_weight weight, const char *part)
{
  build_finish (profile);
  const struct radio_finding *finding = find_finding (profile, id);
  if (finding == NULL)
    fail_msg ("no finding '%s'", id);
  if (finding->weight != weight)
    fail_msg ("'%s' has weight %d", id, (int) finding->weight);
  if (strstr (finding->evidence, part) == NULL)
    fail_msg ("'%s' not in '%s'", part, finding->evidence);
  assert_true (strlen (finding->title) > 0);
  assert_true (strpbrk (finding->evidence, "0123456789") != NULL);
  radio_profile_close (profile);
}

/* Finishes the profile, asserts that it has no such finding, and closes it. */
static inline void
assert_not_found (struct radio_profile *profile, const char *id)
{
  build_finish (profile);
  const struct radio_finding *finding = find_finding (profile, id);
  if (finding)
    fail_msg ("'%s': %s", id, finding->evidence);
  radio_profile_close (profile);
}

/* Returns a profile of "read" with a child in each of two categories, with
 * their times of work and wait; 100 ms of wall time. */
struct two {
  const char *category;
  uint64_t work_ms, wait_ms;
  const char *other;
  uint64_t other_work_ms, other_wait_ms;
};

static inline struct radio_profile *
build_two (const struct two *two)
{
  struct radio_profile *profile = build_new ("two categories");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t one = build_node (profile, read, "one", two->category);
  uint32_t other = build_node (profile, read, "other",
                               two->other);
  uint64_t one_ns = (two->work_ms + two->wait_ms) * MS;
  uint64_t other_ns = (two->other_work_ms + two->other_wait_ms) * MS;
  profile->info.wall_ns = 100 * MS;
  build_lane (profile, "main");
  build_times (profile, read, 1, one_ns + other_ns, 0, 0, 0);
  build_times (profile, one, 4, one_ns, one_ns, two->work_ms * MS,
               two->wait_ms * MS);
  build_times (profile, other, 4, other_ns, other_ns,
               two->other_work_ms * MS, two->other_wait_ms * MS);
  return profile;
}

#define BUILD_TWO(...) build_two (&(struct two) { __VA_ARGS__ })

#endif /* RD_TESTS_FOUND_H */
