/* SPDX-License-Identifier: MIT */
/* A test fixture: a clock that only the test advances, and several threads
 * simulated by one, so that all times are exact to the tick.  One tick is one
 * nanosecond, unless a test sets another rate. */
#ifndef RD_TESTS_STAGE_H
#define RD_TESTS_STAGE_H

#include "tests/unit.h"

#include <radio/profile.h>

#include "profiler/model/profile.h"
#include "profiler/record/writer.h"

#define STAGE_THREADS 4

struct stage {
  uint64_t now;
  uint64_t cpu_ns;
  struct radio_recorder *recorder;
  struct rd_thread threads[STAGE_THREADS];
  unsigned current;
};

/* Starts recording on thread 0, at tick 1000. */
void stage_open (struct stage *stage,
                 const struct radio_recorder_options *options,
                 uint64_t ticks_per_us);

/* Advances the clock. */
static inline void
stage_pass (struct stage *stage, uint64_t ticks)
{
  stage->now += ticks;
}

/* Switches to another thread. */
void stage_on (struct stage *stage, unsigned thread);

/* Stops, and releases the threads' writers; or only the latter, after the
 * test has stopped the recorder. */
struct radio_profile *stage_close (struct stage *stage);
void stage_leave (struct stage *stage);

/* The node at a path of names, "a/b/c"; asserts that there is exactly one,
 * with edges of any kind. */
const struct radio_profile_node *
stage_node (const struct radio_profile *profile, const char *path);
size_t stage_index (const struct radio_profile *profile, const char *path);

/* Define a site of kind WORK: in a variable, with a category; or in NAME_site,
 * with the category "test". */
#define STAGE_SITE(variable, name, category) \
  static const struct radio_site variable = { \
    name, category, "f", "f.c", 1, RADIO_SCOPE_WORK \
  }
#define SITE_IN(name, category) STAGE_SITE (name##_site, #name, category)
#define SITE(name) SITE_IN (name, "test")

/* `stage', and the cmocka setup that opens it before each test. */
#define STAGE_FIXTURE \
  static struct stage stage; \
  static int \
  open_stage (void **state) \
  { \
    (void) state; \
    stage_open (&stage, NULL, 0); \
    return 0; \
  }

#endif /* RD_TESTS_STAGE_H */
