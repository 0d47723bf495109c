/* SPDX-License-Identifier: MIT */
/* Processes whose memory is measured: the number and the peak that they
 * return, and the messages if they fail. */
#include <config.h>

#include <signal.h>
#include <unistd.h>

#include "tests/unit.h"

#include "tools/bench/apart.h"

#define MIB ((uint64_t) 1 << 20)
#define SLACK_NBYTES (4 * MIB)

static uint64_t calls;

/* Touches that much memory, and frees it. */
static int
take (void *data, uint64_t *number)
{
  uint64_t nbytes = *(const uint64_t *) data;
  volatile char *memory = malloc ((size_t) nbytes + 1);
  calls++;
  if (memory == NULL)
    return RD_EXIT_FAILED;
  for (uint64_t i = 0; i < nbytes; i += 1024)
    memory[i] = 1;
  free ((void *) memory);
  *number = nbytes + 1;
  return RD_EXIT_OK;
}

static struct rd_apart
run_taking (uint64_t nbytes)
{
  struct rd_apart result = { 0 };
  assert_int_equal (rd_apart_run (take, &nbytes, &result), RD_EXIT_OK);
  assert_int_equal (result.number, nbytes + 1);
  return result;
}

static void
a_peak_grows_by_the_memory_taken (void **state)
{
  (void) state;
  uint64_t bare = run_taking (0).peak_nbytes;
  assert_true (bare > 0);
  for (uint64_t n = 16; n <= 64; n *= 2) {
    uint64_t peak = run_taking (n * MIB).peak_nbytes;
    /* The sanitizers' own memory grows with it. */
#ifndef RD_SANITIZED
    assert_in_range (peak - bare, n * MIB - SLACK_NBYTES,
                     n * MIB + SLACK_NBYTES);
#else
    assert_true (peak - bare > n * MIB - SLACK_NBYTES);
#endif
  }
}

/* Memory held by one process, or by this one, is not counted in the next. */
static void
no_peak_is_inherited (void **state)
{
  (void) state;
  uint64_t nbytes = 64 * MIB, ignored;
  assert_int_equal (take (&nbytes, &ignored), RD_EXIT_OK);
  run_taking (nbytes);
  uint64_t before = run_taking (0).peak_nbytes;
  assert_true (before < run_taking (nbytes).peak_nbytes - 32 * MIB);
}

static void
it_is_another_process (void **state)
{
  (void) state;
  uint64_t before = calls;
  run_taking (1);
  assert_int_equal (calls, before);
}

static int
refuse (void *data, uint64_t *number)
{
  (void) data;
  (void) number;
  return RD_EXIT_FAILED;
}

static int
die (void *data, uint64_t *number)
{
  (void) number;
  raise (*(const int *) data);
  return RD_EXIT_OK;
}

static void
a_failure_is_returned (void **state)
{
  (void) state;
  struct rd_apart result;
  int number = SIGKILL;
  assert_int_equal (rd_apart_run (refuse, NULL, &result), RD_EXIT_FAILED);
  assert_int_equal (rd_apart_run (die, &number, &result), RD_EXIT_FAILED);
  assert_string_equal (rd_first_error (),
                       "a process that was measured died of signal 9");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_peak_grows_by_the_memory_taken),
    cmocka_unit_test (no_peak_is_inherited),
    cmocka_unit_test (it_is_another_process),
    cmocka_unit_test (a_failure_is_returned),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
