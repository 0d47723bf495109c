/* SPDX-License-Identifier: MIT */
/* Parsing JSON while allocations fail, also within json-c: each failure is
 * reported as such, and is neither a crash nor another document.  Skipped where
 * the program cannot stand in for the allocator of all libraries. */
#include <config.h>

#include <errno.h>

#include "tests/unit.h"

#include "src/base/json.h"
#include "src/base/sanitizers.h"

#if defined __GLIBC__ && !RD_HAS_ASAN && !RD_HAS_TSAN && !RD_HAS_MSAN
#define CAN_FAIL 1
#else
#define CAN_FAIL 0
#endif

/* The one after this many fails; 0: none. */
static size_t countdown;

#if CAN_FAIL
#define EXPORTED __attribute__ ((__visibility__ ("default")))
EXPORTED void *malloc (size_t nbytes);
EXPORTED void *calloc (size_t n, size_t nbytes);
EXPORTED void *realloc (void *old, size_t nbytes);
void *__libc_malloc (size_t nbytes);
void *__libc_calloc (size_t n, size_t nbytes);
void *__libc_realloc (void *old, size_t nbytes);

static bool
fails (void)
{
  if (countdown == 0 || --countdown > 0)
    return false;
  errno = ENOMEM;
  return true;
}

void *
malloc (size_t nbytes)
{
  return fails () ? NULL : __libc_malloc (nbytes);
}

void *
calloc (size_t n, size_t nbytes)
{
  return fails () ? NULL : __libc_calloc (n, nbytes);
}

void *
realloc (void *old, size_t nbytes)
{
  return fails () ? NULL : __libc_realloc (old, nbytes);
}
#endif

static void
failing_allocations_are_reported (void **state)
{
  /* More members than a new object of json-c has room for, and a list. */
  char text[4096] = "{\"zarr_format\": 3, \"node_type\": \"group\", \"list\": "
    "[1, 2.5, -3, true, null, \"text\", 99999999999999999999",
    all[4096] = "";
  (void) state;
  for (unsigned i = 0; i < 40; i++)
    sprintf (text + strlen (text), ", %u", i);
  strcat (text, "]");
  for (unsigned i = 0; i < 40; i++)
    sprintf (text + strlen (text), ", \"member %u\": {\"a\": [{}]}", i);
  strcat (text, ", \"attributes\": {\"scale\": 1e-3}}");
  if (!CAN_FAIL)
    skip ();
  struct json_object *value = NULL;
  assert_ok (rd_json_parse (text, strlen (text), "x", &value));
  snprintf (all, sizeof all, "%s", json_object_to_json_string (value));
  json_object_put (value);
  size_t nth = 1;
  for (;; nth++) {
    value = NULL;
    countdown = nth;
    enum radio_status status = rd_json_parse (text, strlen (text), "x",
                                              &value);
    bool has_failed = countdown == 0;
    countdown = 0;
    if (status == RADIO_OK) {
      assert_string_equal (json_object_to_json_string (value), all);
      json_object_put (value);
    } else {
      assert_int_equal (status, RADIO_ERROR_MEMORY);
      assert_null (value);
    }
    if (!has_failed)
      break;
  }
  assert_true (nth > 200);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (failing_allocations_are_reported),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
