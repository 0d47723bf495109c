/* SPDX-License-Identifier: MIT */
/* The fixture of most tests of a POSIX store: a store in a folder of its
 * own. */
#ifndef RD_TESTS_SITE_H
#define RD_TESTS_SITE_H

#include "tests/unit.h"

#include "tests/io/place.h"

struct site {
  char *place;
  struct rd_io *io;
};

static inline struct rd_io *
io_of (void **state)
{
  return ((struct site *) *state)->io;
}

static inline const char *
place_of (void **state)
{
  return ((struct site *) *state)->place;
}

/* Before and after each test. */
int site_set_up (void **state);
int site_tear_down (void **state);

#define SITE_CASE(fn) \
  cmocka_unit_test_setup_teardown (fn, site_set_up, site_tear_down)

#endif /* RD_TESTS_SITE_H */
