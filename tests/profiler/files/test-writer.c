/* SPDX-License-Identifier: MIT */
/* The writer that the exporters use: its output, and sinks that fail. */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "tests/profiler/build.h"

#include <json-c/json.h>

#include "profiler/export/export.h"

struct collected {
  char text[65536];
  size_t nbytes;
  size_t calls;
  size_t refuse_call;         /* counted from 1; 0: none */
};

static enum radio_status
collect (const void *data, size_t nbytes, void *user_data)
{
  struct collected *all = user_data;
  if (++all->calls == all->refuse_call)
    return rd_fail (RADIO_ERROR_NO_SPACE, "the sink is full");
  assert_true (nbytes < sizeof all->text - all->nbytes);
  memcpy (all->text + all->nbytes, data, nbytes);
  all->nbytes += nbytes;
  all->text[all->nbytes] = '\0';
  return RADIO_OK;
}

static void
begin (struct rd_writer *writer, struct collected *all)
{
  memset (all, 0, sizeof *all);
  rd_writer_init (writer, collect, all);
}

static void
check_text (struct rd_writer *writer, struct collected *all,
            const char *expected)
{
  assert_ok (rd_writer_end (writer));
  assert_string_equal (all->text, expected);
  begin (writer, all);
}

static void
integers_are_written_in_decimal (void **state)
{
  (void) state;
  static const uint64_t values[] = { 0, 9, 10, 1234567890, UINT64_MAX,
                                     (uint64_t) INT64_MAX + 1 };
  static struct collected all;
  struct rd_writer writer;
  begin (&writer, &all);
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char expected[32];
    snprintf (expected, sizeof expected, "%" PRIu64, values[i]);
    rd_write_u64 (&writer, values[i]);
    check_text (&writer, &all, expected);
    snprintf (expected, sizeof expected, "%" PRId64, (int64_t) values[i]);
    rd_write_i64 (&writer, (int64_t) values[i]);
    check_text (&writer, &all, expected);
  }
}

static void
nanoseconds_become_microseconds_exactly (void **state)
{
  (void) state;
  static struct collected all;
  struct rd_writer writer;
  begin (&writer, &all);
  rd_write_us (&writer, 1234567);
  check_text (&writer, &all, "1234.567");
  rd_write_us (&writer, 5);
  check_text (&writer, &all, "0.005");
  rd_write_us (&writer, UINT64_MAX);
  check_text (&writer, &all, "18446744073709551.615");
}

static void
long_texts_are_formatted_whole (void **state)
{
  (void) state;
  static struct collected all;
  static char name[20001];
  struct rd_writer writer;
  memset (name, 'x', sizeof name - 1);
  begin (&writer, &all);
  rd_write_format (&writer, "<%s|%d>", name, 7);
  assert_ok (rd_writer_end (&writer));
  assert_int_equal (all.nbytes, sizeof name - 1 + 4);
  assert_string_equal (all.text + all.nbytes - 3, "|7>");
}

static void
output_arrives_in_order_and_in_large_pieces (void **state)
{
  (void) state;
  static struct collected all;
  static char expected[65536];
  struct rd_writer writer;
  size_t n = 0;
  begin (&writer, &all);
  for (unsigned i = 0; i < 6000; i++) {
    rd_write_u64 (&writer, i);
    rd_write_text (&writer, "\n");
    n += (size_t) snprintf (expected + n, sizeof expected - n, "%u\n", i);
  }
  assert_ok (rd_writer_end (&writer));
  assert_string_equal (all.text, expected);
  assert_true (all.calls < 8);
}

static void
a_sink_is_not_called_again_after_its_first_failure (void **state)
{
  (void) state;
  static struct collected all;
  struct rd_writer writer;
  begin (&writer, &all);
  all.refuse_call = 2;
  for (unsigned i = 0; i < 10000; i++)
    rd_write_text (&writer, "some text");
  assert_fails (rd_writer_end (&writer), RADIO_ERROR_NO_SPACE,
                "the sink is full");
  assert_int_equal (all.calls, 2);
}

static void
check_json (const char *text, const char *expected)
{
  static struct collected all;
  struct rd_writer writer;
  begin (&writer, &all);
  rd_write_json_string (&writer, text);
  check_text (&writer, &all, expected);
}

static void
json_strings_are_fit_for_a_page (void **state)
{
  (void) state;
  check_json ("", "\"\"");
  check_json ("plain", "\"plain\"");
  check_json ("a\"b\\c", "\"a\\\"b\\\\c\"");
  check_json ("</script>", "\"\\u003c/script>\"");
  check_json ("a\nb\tc\x01\x7f", "\"a\\nb\\u0009c\\u0001\\u007f\"");
  check_json ("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa7",
              "\"\\u2028\\u2029\xe2\x80\xa7\"");
  check_json ("h\xc3\xa9 \xf0\x9f\xa7\xa0", "\"h\xc3\xa9 \xf0\x9f\xa7\xa0\"");
}

static void
invalid_utf8_becomes_replacement_characters (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "\xff", "\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80",
    "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xf8\x88\x80\x80",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char expected[64] = "\"";
    for (size_t k = 0; k < strlen (bad[i]); k++)
      strncat (expected, "\\ufffd", 7);
    strncat (expected, "\"", 2);
    check_json (bad[i], expected);
  }
}

/* json-c, an independent reader, reads back what was written. */
static void
json_c_reads_every_character_back (void **state)
{
  (void) state;
  static struct collected all;
  struct rd_writer writer;
  char text[256];
  for (unsigned i = 1; i < 0x80; i++)
    text[i - 1] = (char) i;
  memcpy (text + 0x7f, "\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80"
          "\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", 25);
  begin (&writer, &all);
  rd_write_json_string (&writer, text);
  assert_ok (rd_writer_end (&writer));
  struct json_object *value = json_tokener_parse (all.text);
  assert_non_null (value);
  assert_string_equal (json_object_get_string (value), text);
  json_object_put (value);
}

static void
suffixes_select_formats (void **state)
{
  (void) state;
  static const struct {
    const char *path;
    enum radio_profile_format format;
  } cases[] = {
    { "a.html", RADIO_PROFILE_HTML },
    { "a.json", RADIO_PROFILE_JSON },
    { "a.trace.json", RADIO_PROFILE_CHROME },
    { "a.pt.trace.json", RADIO_PROFILE_KINETO },
    { "a.svg", RADIO_PROFILE_SVG },
    { "a.tensorboard", RADIO_PROFILE_TENSORBOARD },
    { "a.speedscope.json", RADIO_PROFILE_SPEEDSCOPE },
    { "d.html/a.folded", RADIO_PROFILE_FOLDED },
    { "a.pb.gz", RADIO_PROFILE_PPROF },
    { "a.pprof", RADIO_PROFILE_PPROF },
    { "A.TXT", RADIO_PROFILE_TEXT },
  };
  enum radio_profile_format format;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_ok (radio_profile_format_of (cases[i].path, &format));
    assert_int_equal (format, cases[i].format);
  }
  assert_fails (radio_profile_format_of ("a.htm", &format),
                RADIO_ERROR_ARGUMENT, "a.htm: ");
  assert_fails (radio_profile_format_of ("", &format), RADIO_ERROR_ARGUMENT,
                ".speedscope.json");
}

/* A folder that is there is added to only where that was asked for. */
static void
a_folder_is_made_for_tensorboard (void **state)
{
  (void) state;
  char folder[] = "/tmp/radio-writer-XXXXXX", path[64], name[128];
  assert_non_null (mkdtemp (folder));
  snprintf (path, sizeof path, "%s/a.tensorboard", folder);
  struct radio_profile *profile = build_specimen ();
  const struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_TENSORBOARD
  };
  assert_ok (rd_profile_write_file (profile, path, &options, false, 0666));
  assert_fails (rd_profile_write_file (profile, path, &options, false, 0666),
                RADIO_ERROR_EXISTS, "a.tensorboard: exists already");
  assert_ok (radio_profile_write (profile, path, NULL));
  static const char *const files[] = {
    "events.out.tfevents.1700000000.radio.0",
    "radio_0.1700000000000000000.pt.trace.json",
  };
  for (size_t i = 0; i < 2; i++) {
    snprintf (name, sizeof name, "%s/%s", path, files[i]);
    assert_int_equal (unlink (name), 0);
  }
  assert_int_equal (rmdir (path), 0);
  snprintf (path, sizeof path, "%s/b.tensorboard", folder);
  close (open (path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  assert_fails (radio_profile_write (profile, path, NULL),
                RADIO_ERROR_EXISTS, "is not a folder");
  unlink (path);
  assert_int_equal (rmdir (folder), 0);
  radio_profile_close (profile);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (integers_are_written_in_decimal),
    cmocka_unit_test (nanoseconds_become_microseconds_exactly),
    cmocka_unit_test (long_texts_are_formatted_whole),
    cmocka_unit_test (output_arrives_in_order_and_in_large_pieces),
    cmocka_unit_test (
      a_sink_is_not_called_again_after_its_first_failure),
    cmocka_unit_test (json_strings_are_fit_for_a_page),
    cmocka_unit_test (invalid_utf8_becomes_replacement_characters),
    cmocka_unit_test (json_c_reads_every_character_back),
    cmocka_unit_test (suffixes_select_formats),
    cmocka_unit_test (a_folder_is_made_for_tensorboard),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
