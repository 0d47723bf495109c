/* SPDX-License-Identifier: MIT */
/* Headers of requests are zeroized before they are freed: they hold signatures
 * and tokens. */
#include <config.h>

#include <curl/curl.h>

#include "tests/io/s3-site.h"

static unsigned nlists, nshown;

void __real_curl_slist_free_all (struct curl_slist *list);
void __wrap_curl_slist_free_all (struct curl_slist *list);

void
__wrap_curl_slist_free_all (struct curl_slist *list)
{
  __atomic_fetch_add (&nlists, list != NULL, __ATOMIC_RELAXED);
  for (const struct curl_slist *line = list; line; line = line->next)
    __atomic_fetch_add (&nshown, line->data[0] != '\0', __ATOMIC_RELAXED);
  __real_curl_slist_free_all (list);
}

static void
no_header_of_a_request_stays_in_freed_memory (void **state)
{
  struct s3_site *site = *state;
  s3_say (site, "200 OK", "", "x");
  s3_say_error (site, "403 Forbidden", "", "AccessDenied");
  assert_text (site->io, "k", "x");
  assert_fails (read_key (site->io, "k"), RADIO_ERROR_PERMISSION, "denied");
  s3_assert_heard (site, 0, "\r\nauthorization: AWS4-HMAC-SHA256 ");
  s3_assert_heard (site, 0, "\r\nx-amz-security-token: ");
  assert_int_equal (__atomic_load_n (&nlists, __ATOMIC_RELAXED), 2);
  assert_int_equal (__atomic_load_n (&nshown, __ATOMIC_RELAXED), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown (
      no_header_of_a_request_stays_in_freed_memory, s3_site_set_up,
      s3_site_tear_down),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
