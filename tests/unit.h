/* SPDX-License-Identifier: MIT */
/* Included by every unit test: cmocka, with the headers that it needs before
 * it, and assertions in this project's terms. */
#ifndef RD_TESTS_UNIT_H
#define RD_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <radio/base.h>

/* Runs the tests whose names match $CMOCKA_TEST_FILTER alone ('*' and '?'). */
static __attribute__ ((__constructor__)) void
rd_unit_filter (void)
{
  const char *pattern = getenv ("CMOCKA_TEST_FILTER");
  if (pattern)
    cmocka_set_test_filter (pattern);
}

/* A loop over each damage or each failing allocation takes every so-manieth
 * under ThreadSanitizer, which makes it ten times slower and looks for races
 * only.  A prime, so that a loop whose cases alternate meets all kinds. */
#ifdef __SANITIZE_THREAD__
#define EXHAUSTIVE_STEP 7
#else
#define EXHAUSTIVE_STEP 1
#endif

/* The machine's byte order, by Zarr's name for it and by numpy's. */
#define MACHINE_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
#if MACHINE_IS_BIG_ENDIAN
#define MACHINE_ENDIAN "big"
#define MACHINE_ORDER ">"
#else
#define MACHINE_ENDIAN "little"
#define MACHINE_ORDER "<"
#endif
#define NPY_NATIVE(type) "'" MACHINE_ORDER type "'"

/* The call succeeds; else its message is shown. */
#define assert_ok(call)                                                 \
  do {                                                                  \
    enum radio_status status_ = (call);                                 \
    if (status_ != RADIO_OK)                                            \
      fail_msg ("%s: %s: %s", #call, radio_status_name (status_),       \
                radio_error_message ());                                \
  } while (0)

/* The call fails with this status, and its message holds `part'. */
#define assert_fails(call, status, part)                                \
  do {                                                                  \
    enum radio_status status_ = (call);                                 \
    if (status_ != (status))                                            \
      fail_msg ("%s: %s instead of %s: %s", #call,                      \
                radio_status_name (status_),                            \
                radio_status_name (status), radio_error_message ());    \
    if (strstr (radio_error_message (), part) == NULL)                  \
      fail_msg ("%s: '%s' not in: %s", #call, part,                     \
                radio_error_message ());                                \
  } while (0)

/* The result of main of tests that record. */
#ifndef RADIO_NO_PROFILE
#define run_recording_tests(tests) \
  cmocka_run_group_tests (tests, NULL, NULL)
#else
#define run_recording_tests(tests) \
  ((void) tests, puts ("1..0 # SKIP built with --disable-profiler"), 0)
#endif

#endif /* RD_TESTS_UNIT_H */
