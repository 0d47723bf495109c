/* SPDX-License-Identifier: MIT */
/* A process that forks while it starts recording by its environment. */
#include <config.h>

#include <sys/wait.h>
#include <unistd.h>

#include <radio/profile.h>

#include "tests/unit.h"

int __real_atexit (void (*fn) (void));
int __wrap_atexit (void (*fn) (void));

static pid_t child;
static unsigned nforks;

/* The library calls atexit with its mutex held, which no thread of the child
 * would release; if the child waits for it, its alarm ends it. */
int
__wrap_atexit (void (*fn) (void))
{
  if (nforks == 0)
    return __real_atexit (fn);
  nforks--;
  child = fork ();
  if (child != 0)
    return -1;
  alarm (20);
  bool works = radio_profile_from_env () == RADIO_OK
               && radio_profile_is_on ();
  _exit (works ? 0 : 1);
}

static void
a_child_records_if_the_parent_held_the_mutex (void **state)
{
  (void) state;
  int status;
  nforks = 1;
  assert_int_equal (setenv ("RADIO_PROFILE", "never-written.json", 1), 0);
  assert_fails (radio_profile_from_env (), RADIO_ERROR_MEMORY, "");
  assert_true (child > 0);
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
  assert_false (radio_profile_is_on ());
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_child_records_if_the_parent_held_the_mutex),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
