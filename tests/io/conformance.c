/* SPDX-License-Identifier: MIT */
/* Running the suite: every case gets a store of its own. */
#include <config.h>

#include "tests/io/conformance.h"
#include "tests/io/conformance-cases.h"

/* One case's store. */
struct subject {
  const struct conformance_store *store;
  struct rd_io *io;
  void *place;
};

struct rd_io *
io_of (void **state)
{
  return ((struct subject *) *state)->io;
}

static int
set_up (void **state)
{
  const struct conformance_store *store = *state;
  struct subject *subject = calloc (1, sizeof *subject);
  if (subject == NULL)
    return -1;
  subject->store = store;
  if (store->make (&subject->place, &subject->io) != RADIO_OK) {
    print_error ("%s: %s\n", store->name, radio_error_message ());
    free (subject);
    return -1;
  }
  *state = subject;
  return 0;
}

static int
tear_down (void **state)
{
  struct subject *subject = *state;
  rd_io_close (subject->io);
  if (subject->store->unmake)
    subject->store->unmake (subject->place);
  free (subject);
  return 0;
}

typedef const struct CMUnitTest *cases_fn (size_t *n);

static cases_fn *const all_cases[] = {
  conformance_objects,
  conformance_trees,
  conformance_writers,
  conformance_locks,
};

#define MAX_CASES 100

int
run_conformance (const struct conformance_store *store)
{
  struct CMUnitTest tests[MAX_CASES];
  size_t n_tests = 0;
  for (size_t i = 0; i < sizeof all_cases / sizeof all_cases[0]; i++) {
    size_t n;
    const struct CMUnitTest *cases = all_cases[i] (&n);
    if (n > MAX_CASES - n_tests)
      return -1;
    for (size_t j = 0; j < n; j++, n_tests++) {
      tests[n_tests] = cases[j];
      tests[n_tests].setup_func = set_up;
      tests[n_tests].teardown_func = tear_down;
      tests[n_tests].initial_state = (void *) store;
    }
  }
  return _cmocka_run_group_tests (store->name, tests, n_tests, NULL, NULL);
}
