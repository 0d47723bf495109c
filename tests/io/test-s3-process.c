/* SPDX-License-Identifier: MIT */
/* Credentials in JSON, the times in it, and the programs that print it. */
#include <config.h>

#include <dirent.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

#include "src/base/error.h"
#include "io/s3/sources.h"
#include "io/s3/xml.h"
#include "tests/alloc-fail.h"
#include "tests/io/place.h"

#define CREDENTIALS \
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials
#define SECRET "SHOWN/secret+key"

static enum radio_status
from_json (const char *text, bool is_process,
           struct rd_s3_credentials **credentials)
{
  struct rd_buffer document = { (unsigned char *) text, strlen (text), 0 };
  return rd_s3_credentials_from_json (&document, "here", is_process,
                                      credentials);
}

/*------------------------------------------------------------------------
 * Documents
 *----------------------------------------------------------------------*/

static void
the_output_of_a_process_is_used (void **state)
{
  (void) state;
  CREDENTIALS *full = NULL, *least = NULL;
  assert_ok (from_json (
    "{\"Version\":1,\"AccessKeyId\":\"id\",\"SecretAccessKey\":\"s\\/+\","
    "\"SessionToken\":\"t\",\"Token\":\"no\",\"Expiration\":"
    "\"2026-01-31T12:34:56Z\",\"Other\":[1]}", true, &full));
  assert_string_equal (full->access_key, "id");
  assert_string_equal (full->secret_key, "s/+");
  assert_string_equal (full->session_token, "t");
  assert_int_equal (full->expires_s, 1769862896);
  assert_ok (from_json ("{\"Version\":1,\"AccessKeyId\":\"id\","
                        "\"SecretAccessKey\":\"s\"}", true, &least));
  assert_null (least->session_token);
  assert_int_equal (least->expires_s, 0);
}

static void
the_answer_of_a_service_is_used (void **state)
{
  (void) state;
  CREDENTIALS *credentials = NULL;
  assert_ok (from_json (
    "{\"Code\":\"Success\",\"AccessKeyId\":\"id\",\"SecretAccessKey\":\"s\","
    "\"Token\":\"t\",\"SessionToken\":\"no\",\"Expiration\":"
    "\"2026-01-31T13:34:56.789+01:00\"}", false, &credentials));
  assert_string_equal (credentials->session_token, "t");
  assert_int_equal (credentials->expires_s, 1769862896);
}

static void
documents_that_are_wrong_are_refused_and_not_shown (void **state)
{
  (void) state;
#define ID "\"Version\":1,\"AccessKeyId\":\"SHOWN\""
#define KEYS ID ",\"SecretAccessKey\":\"" SECRET "\""
  static const struct { const char *text, *why; bool is_process; } wrong[] = {
    { "", "here", true },
    { "SHOWN", "here", true },
    { "{" KEYS, "here", true },
    { "{" KEYS "} SHOWN", "here", true },
    { "[\"SHOWN\"]", "not a JSON object", true },
    { "null", "not a JSON object", true },
    { "{\"AccessKeyId\":\"SHOWN\"}", "'Version' is not 1", true },
    { "{\"Version\":\"SHOWN\"}", "'Version' is not 1", true },
    { "{\"Version\":2}", "'Version' is not 1", true },
    { "{" ID "}", "'SecretAccessKey' is missing", true },
    { "{" ID ",\"SecretAccessKey\":\"\"}", "is missing", true },
    { "{" ID ",\"SecretAccessKey\":null}", "is missing", true },
    { "{" ID ",\"SecretAccessKey\":[\"SHOWN\"]}", "not a string", true },
    { "{" ID ",\"SecretAccessKey\":\"SHOWN\\u0000x\"}", "not a string", true },
    { "{" KEYS ",\"SessionToken\":7}", "'SessionToken' is not a string", true },
    { "{" KEYS ",\"Expiration\":\"SHOWN\"}", "not a time", true },
    { "{" KEYS ",\"Expiration\":12}", "not a string", true },
    { "{\"Code\":\"SHOWN\"," KEYS "}", "'Code' is not Success", false },
    { "{\"Code\":\"Success\"}", "'AccessKeyId' is missing", false },
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    CREDENTIALS *none = NULL;
    assert_int_not_equal (from_json (wrong[i].text, wrong[i].is_process,
                                     &none), RADIO_OK);
    assert_non_null (strstr (radio_error_message (), wrong[i].why));
    assert_null (strstr (radio_error_message (), "SHOWN"));
    assert_null (none);
  }
}

static void
times_are_read_at_every_offset (void **state)
{
  (void) state;
  static const struct { const char *text; int64_t unix_s; } times[] = {
    { "1970-01-01T00:00:00Z", 0 },
    { "2013-05-24t00:00:00z", 1369353600 },
    { "2024-02-29T23:59:59Z", 1709251199 },
    { "2024-03-01T00:00:00+00:00", 1709251200 },
    { "2024-12-31T23:59:60Z", 1735689600 },
    { "2026-01-31 12:34:56.123456789Z", 1769862896 },
    { "2026-01-31T12:34:56-0130", 1769868296 },
    { "2026-02-01T00:34:56+12:00", 1769862896 },
    { "1969-12-31T23:59:59Z", -1 },
    { "2100-03-01T00:00:00Z", 4107542400 },
    { "9999-12-31T23:59:59Z", 253402300799 },
  };
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    int64_t unix_s = 7;
    assert_true (rd_s3_parse_time (times[i].text, &unix_s));
    assert_int_equal (unix_s, times[i].unix_s);
  }
}

static void
an_invalid_time_is_rejected (void **state)
{
  (void) state;
  static const char *const texts[] = {
    "", "2026", "2026-01-31", "2026-01-31T12:34:56", "26-01-31T12:34:56Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
    "2026-01-32T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:60:00Z",
    "2026-01-31T12:34:56ZZ", "2026-01-31T12:34:56+1", "2026-1-31T12:34:56Z",
    "2026-01-31T12:34:56+24:00", "-026-01-31T12:34:56Z", "1769862896",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    int64_t unix_s;
    assert_false (rd_s3_parse_time (texts[i], &unix_s));
  }
}

/*------------------------------------------------------------------------
 * Commands
 *----------------------------------------------------------------------*/

static void
assert_split (const char *command, size_t n, const char *joined)
{
  char words[128], *word = words;
  size_t nwords;
  memset (words, '!', sizeof words);
  assert_ok (rd_s3_split_command (command, words, &nwords));
  assert_int_equal (nwords, n);
  for (size_t i = 0; i < n; i++, word += strlen (word) + 1)
    if (i > 0)
      word[-1] = '|';
  assert_true ((size_t) (word - words) <= strlen (command) + 1);
  if (n > 0)
    assert_string_equal (words, joined);
}

static void
a_command_is_split_as_by_a_shell (void **state)
{
  (void) state;
  assert_split ("", 0, "");
  assert_split (" \t ", 0, "");
  assert_split ("a", 1, "a");
  assert_split ("  /bin/a  -b\tc ", 3, "/bin/a|-b|c");
  assert_split ("\"/my own/a\" 'b c' d\\ e", 3, "/my own/a|b c|d e");
  assert_split ("a\"b c\"'d e'", 1, "ab cd e");
  assert_split ("'a\\b' \"c\\\"d\\e\\\\\" \\\"", 3, "a\\b|c\"d\\e\\|\"");
  assert_split ("'' \"\" x", 3, "||x");
  assert_split ("$HOME *.c `x` ; | & >", 7, "$HOME|*.c|`x`|;|||&|>");
}

static void
a_quote_that_does_not_end_is_rejected (void **state)
{
  (void) state;
  static const char *const commands[] = { "a 'b", "\"", "a \\", "\"a\\\"" };
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    char words[32];
    size_t n;
    assert_fails (rd_s3_split_command (commands[i], words, &n),
                  RADIO_ERROR_ARGUMENT, "quote");
  }
}

/*------------------------------------------------------------------------
 * Processes
 *----------------------------------------------------------------------*/

#define PRINT "printf '%s' '{\"Version\":1,\"AccessKeyId\":\"id\"," \
              "\"SecretAccessKey\":\"" SECRET "\"}'"

/* Ask a shell script of that text. */
static enum radio_status
ask (const char *script, uint64_t timeout_ms,
     struct rd_s3_credentials **credentials)
{
  char *place = place_new (), *path = place_path (place, "a script");
  char command[256];
  place_write (path, script);
  snprintf (command, sizeof command, "sh \"%s\" one 'two three'", path);
  enum radio_status status = rd_s3_process_credentials (command, "mine",
                                                        timeout_ms,
                                                        credentials);
  free (path);
  place_remove (place);
  return status;
}

/* Descriptors of this process. */
static size_t
count_files (void)
{
  return place_count ("/proc/self/fd");
}

static void
assert_refused (const char *script, uint64_t timeout_ms,
                enum radio_status status, const char *why)
{
  CREDENTIALS *none = NULL;
  size_t nfiles = count_files ();
  assert_fails (ask (script, timeout_ms, &none), status, why);
  assert_non_null (strstr (radio_error_message (), "'mine'"));
  assert_null (strstr (radio_error_message (), "SHOWN"));
  assert_null (none);
  assert_int_equal (count_files (), nfiles);
  /* No child is left. */
  assert_int_equal (waitpid (-1, NULL, WNOHANG), -1);
}

static void
the_output_of_a_program_is_its_credentials (void **state)
{
  (void) state;
  CREDENTIALS *credentials = NULL;
  size_t nfiles = count_files ();
  assert_ok (ask ("[ \"$2\" = 'two three' ] || exit 1\necho SHOWN >&2\n"
                  "cat\n" PRINT, 60000, &credentials));
  assert_string_equal (credentials->access_key, "id");
  assert_string_equal (credentials->secret_key, SECRET);
  assert_int_equal (count_files (), nfiles);
}

static void
a_program_gets_the_signals_of_a_shell (void **state)
{
  (void) state;
  CREDENTIALS *credentials = NULL;
  sigset_t all, before;
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  signal (SIGTERM, SIG_IGN);
  enum radio_status status = ask (PRINT "\nkill -TERM $$\nsleep 60\n", 50000,
                                  &credentials);
  signal (SIGTERM, SIG_DFL);
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  assert_int_equal (status, RADIO_ERROR_PERMISSION);
  assert_non_null (strstr (radio_error_message (), "signal 15"));
}

static void
a_program_that_fails_gives_none (void **state)
{
  (void) state;
  assert_refused (PRINT "\nexit 3\n", 60000, RADIO_ERROR_PERMISSION,
                  "failed, with exit status 3");
  assert_refused ("kill -KILL $$\n", 60000, RADIO_ERROR_PERMISSION,
                  "failed, with signal 9");
  assert_refused ("exit 0\n", 60000, RADIO_ERROR_FORMAT, "JSON");
  assert_refused ("echo '{\"SHOWN\": SHOWN'\n", 60000, RADIO_ERROR_FORMAT,
                  "JSON");
}

static void
a_program_that_does_not_end_is_ended (void **state)
{
  (void) state;
  assert_refused ("sleep 600\n", 50, RADIO_ERROR_IO, "timed out");
  assert_refused (PRINT "\nexec >&-\nsleep 600\n", 500, RADIO_ERROR_IO,
                  "timed out");
}

static bool
cancel_at_third (void *user_data)
{
  unsigned *ncalls = user_data;
  return ++*ncalls >= 3;
}

static void
a_program_is_ended_when_the_thread_cancels (void **state)
{
  (void) state;
  static const char *const scripts[] = {
    "sleep 600\n", PRINT "\nexec >&-\nsleep 600\n"
  };
  for (size_t i = 0; i < 2; i++) {
    unsigned ncalls = 0;
    radio_thread_set_cancel (cancel_at_third, &ncalls);
    assert_refused (scripts[i], 600000, RADIO_ERROR_CANCELLED,
                    "the profile 'mine': cancelled");
    radio_thread_set_cancel (NULL, NULL);
    assert_int_equal (ncalls, 3);
  }
}

static void
a_program_that_prints_without_end_is_ended (void **state)
{
  (void) state;
  assert_refused ("while :; do echo SHOWNSHOWNSHOWNSHOWNSHOWN; done\n",
                  60000, RADIO_ERROR_FORMAT, "65536 bytes or more");
}

/* qemu-user makes vfork a fork, in which exec's error is lost. */
static bool
knows_missing_programs (void)
{
  char name[] = "program", *const arguments[] = { name, NULL };
  pid_t child;
  if (posix_spawn (&child, "/nowhere/program", NULL, NULL, arguments, NULL))
    return true;
  assert_int_equal (waitpid (child, NULL, 0), child);
  return false;
}

static void
a_missing_program_is_an_error (void **state)
{
  (void) state;
  if (!knows_missing_programs ())
    skip ();
  CREDENTIALS *none = NULL;
  assert_fails (rd_s3_process_credentials ("/nowhere/SHOWN -x", "mine", 1000,
                                           &none),
                RADIO_ERROR_NOT_FOUND, "'mine': cannot be run");
  assert_null (strstr (radio_error_message (), "SHOWN"));
  assert_fails (rd_s3_process_credentials ("  ", "mine", 1000, &none),
                RADIO_ERROR_ARGUMENT, "no command");
}

/* With SIGCHLD ignored, no one can wait for a child. */
static void
it_works_where_children_are_ignored (void **state)
{
  (void) state;
  CREDENTIALS *credentials = NULL;
  signal (SIGCHLD, SIG_IGN);
  enum radio_status status = ask (PRINT, 60000, &credentials);
  signal (SIGCHLD, SIG_DFL);
  assert_ok (status);
  assert_string_equal (credentials->secret_key, SECRET);
}

static void
without_memory_nothing_leaks (void **state)
{
  (void) state;
  uint64_t live = rd_alloc_live_count ();
  size_t nfiles = count_files ();
  for (size_t nth = 1;; nth++) {
    struct rd_s3_credentials *credentials = NULL;
    alloc_fail_nth (nth);
    enum radio_status status = rd_s3_process_credentials (
      "echo '{\"Version\":1,\"AccessKeyId\":\"id\",\"SecretAccessKey\":"
      "\"s\",\"SessionToken\":\"t\"}'", "mine", 60000, &credentials);
    bool failed = alloc_fail_end ();
    rd_s3_credentials_free (credentials);
    assert_int_equal (rd_alloc_live_count (), live);
    assert_int_equal (count_files (), nfiles);
    if (!failed) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_output_of_a_process_is_used),
    cmocka_unit_test (the_answer_of_a_service_is_used),
    cmocka_unit_test (documents_that_are_wrong_are_refused_and_not_shown),
    cmocka_unit_test (times_are_read_at_every_offset),
    cmocka_unit_test (an_invalid_time_is_rejected),
    cmocka_unit_test (a_command_is_split_as_by_a_shell),
    cmocka_unit_test (a_quote_that_does_not_end_is_rejected),
    cmocka_unit_test (the_output_of_a_program_is_its_credentials),
    cmocka_unit_test (a_program_gets_the_signals_of_a_shell),
    cmocka_unit_test (a_program_that_fails_gives_none),
    cmocka_unit_test (a_program_that_does_not_end_is_ended),
    cmocka_unit_test (a_program_is_ended_when_the_thread_cancels),
    cmocka_unit_test (a_program_that_prints_without_end_is_ended),
    cmocka_unit_test (a_missing_program_is_an_error),
    cmocka_unit_test (it_works_where_children_are_ignored),
    cmocka_unit_test (without_memory_nothing_leaks),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
