/* SPDX-License-Identifier: MIT */
/* Redacted copies: no name is left, in memory or in any format, and everything
 * else is kept. */
#include <config.h>

#include <libdeflate.h>

#include "tests/profiler/build.h"

#include "src/base/buffer.h"

/* Texts that must not be found anywhere. */
static const char *const secrets[] = {
  "Doe", "Jane", "scanner", "/data", "/home", "hospital",
};
#define NSECRETS (sizeof secrets / sizeof secrets[0])

static struct radio_profile *
new_with_names (void)
{
  struct radio_profile *profile = build_new ("slice Doe^Jane.nii.gz at 5");
  uint32_t lane = build_lane (profile, "loader of /data/Doe^Jane.nii.gz");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t id = build_span (profile, lane, read, 0, 0, 1000);
  profile->info.program =
    rd_profile_string (profile, "/home/hospital/bin/radio");
  build_fact (profile, "command", "radio slice /data/Doe^Jane.nii.gz -o "
              "/home/hospital/Jane.png --axis axial", false);
  build_fact (profile, "host", "scanner-7", false);
  build_fact (profile, "volume", "ct/Doe^Jane", true);
  build_fact (profile, "result", "wrote /home/hospital/Jane.png", false);
  build_fact (profile, "operation", "slice", false);
  build_note (profile, 0, read, "file", "/data/Doe^Jane.nii.gz", true);
  build_note (profile, id, read, "file", "/data/Doe^Jane.nii.gz", true);
  build_note (profile, id, read, "store", "s3://hospital/Doe.zarr", true);
  build_note (profile, id, read, "shape", "64,64,64", false);
  build_count (profile, read, "bytes asked", "bytes", 77);
  build_finish (profile);
  return profile;
}

static struct radio_profile *
redact (const struct radio_profile *profile, const char *key)
{
  struct radio_profile *redacted = NULL;
  assert_ok (rd_profile_redact (profile, key, key ? strlen (key) : 0,
                                &redacted));
  return redacted;
}

static void
assert_no_secret (const char *text)
{
  for (size_t i = 0; i < NSECRETS; i++)
    if (strstr (text, secrets[i]))
      fail_msg ("'%s' is in '%s'", secrets[i], text);
}

static void
no_name_is_left_in_the_copy (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_names ();
  struct radio_profile *copy = redact (profile, "key");
  assert_no_secret (copy->info.title);
  assert_no_secret (copy->info.program);
  for (size_t i = 0; i < copy->facts.n; i++)
    assert_no_secret (copy->facts.at[i].value);
  for (size_t i = 0; i < copy->notes.n; i++)
    assert_no_secret (copy->notes.at[i].value);
  for (size_t i = 0; i < copy->lanes.n; i++)
    assert_no_secret (copy->lanes.at[i].name);
  radio_profile_close (profile);
  radio_profile_close (copy);
}

static enum radio_status
append (const void *data, size_t nbytes, void *user_data)
{
  return rd_buffer_append (user_data, data, nbytes);
}

/* Decompresses the bytes of pprof. */
static void
gunzip (struct rd_buffer *buffer)
{
  struct libdeflate_decompressor *inflater =
    libdeflate_alloc_decompressor ();
  size_t n, capacity = 1 << 20;
  struct rd_buffer clear = { 0 };
  assert_ok (rd_buffer_reserve (&clear, capacity));
  assert_int_equal (libdeflate_gzip_decompress (inflater, buffer->data,
                                                buffer->nbytes, clear.data,
                                                capacity, &n),
                    LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor (inflater);
  clear.nbytes = n;
  rd_buffer_free (buffer);
  *buffer = clear;
}

/* A page has its own script and style deflated and encoded in letters, in
 * which any three letters may occur by chance. */
static void
drop_packed_parts (struct rd_buffer *page)
{
  assert_ok (rd_buffer_append (page, "", 1));
  char *text = (char *) page->data;
  for (char *part; (part = strstr (text, " data-packed=")) != NULL;) {
    char *end = strstr (part, "</script>");
    assert_non_null (end);
    memmove (part, end, strlen (end) + 1);
  }
  page->nbytes = strlen (text);
}

/* Returns true if the text is within the buffer. */
static bool
holds (const struct rd_buffer *buffer, const char *text)
{
  size_t n = strlen (text);
  for (size_t i = 0; i + n <= buffer->nbytes; i++)
    if (memcmp (buffer->data + i, text, n) == 0)
      return true;
  return false;
}

static void
write_all (const struct radio_profile *profile,
           enum radio_profile_format format, bool is_redacted,
           struct rd_buffer *buffer)
{
  struct radio_profile_write_options options = {
    .format = format,
    .redact = is_redacted,
    .redact_key = "key",
    .redact_key_nbytes = 3,
    .arguments = true,
  };
  assert_ok (radio_profile_write_to (profile, &options, append, buffer));
  if (format == RADIO_PROFILE_PPROF)
    gunzip (buffer);
  if (format == RADIO_PROFILE_HTML)
    drop_packed_parts (buffer);
}

static void
no_name_is_left_in_any_format (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_names ();
  for (int format = RADIO_PROFILE_JSON; format <= RADIO_PROFILE_SVG;
       format++) {
    RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
    write_all (profile, (enum radio_profile_format) format, true, &buffer);
    for (size_t i = 0; i < NSECRETS; i++)
      if (holds (&buffer, secrets[i]))
        fail_msg ("format %d: '%s'", format, secrets[i]);
    assert_true (holds (&buffer, "read"));
  }
  radio_profile_close (profile);
}

/* Otherwise the test above would prove nothing. */
static void
without_redacting_names_are_there (void **state)
{
  (void) state;
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_JSON, RADIO_PROFILE_HTML, RADIO_PROFILE_CHROME,
  };
  struct radio_profile *profile = new_with_names ();
  for (size_t i = 0; i < 3; i++) {
    RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
    write_all (profile, formats[i], false, &buffer);
    assert_true (holds (&buffer, "Doe^Jane"));
  }
  radio_profile_close (profile);
}

/* HMAC-SHA256 of "/data/Doe^Jane.nii.gz" with the keys "key" and "", as
 * Python's hmac module computes them. */
static void
pseudonyms_are_hmacs_with_the_suffix_kept (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_names ();
  struct radio_profile *keyed = redact (profile, "key");
  struct radio_profile *plain = redact (profile, NULL);
  assert_string_equal (keyed->notes.at[0].value, "name-2deaed7b481e.nii.gz");
  assert_string_equal (plain->notes.at[0].value, "name-181911ec9f77.nii.gz");
  radio_profile_close (profile);
  radio_profile_close (keyed);
  radio_profile_close (plain);
}

static void
equal_names_stay_equal_and_different_ones_different (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_names ();
  struct radio_profile *copy = redact (profile, "key");
  assert_ptr_equal (copy->notes.at[0].value, copy->notes.at[1].value);
  assert_string_not_equal (copy->notes.at[0].value,
                           copy->notes.at[3].value);
  assert_string_equal (copy->notes.at[3].key, "store");
  const char *end = strrchr (copy->notes.at[3].value, '.');
  assert_non_null (end);
  assert_string_equal (end, ".zarr");
  radio_profile_close (profile);
  radio_profile_close (copy);
}

static void
text_that_is_not_a_name_stays (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_names ();
  struct radio_profile *copy = redact (profile, "key");
  assert_string_equal (rd_profile_find_fact (copy, "operation"), "slice");
  assert_string_equal (copy->notes.at[2].value, "64,64,64");
  assert_string_equal (copy->info.program, "radio");
  assert_string_equal (copy->nodes.at[0].file, "src/file.c");
  assert_int_equal (strncmp (copy->info.title, "slice name-", 11), 0);
  assert_int_equal (strncmp (rd_profile_find_fact (copy, "result"),
                             "wrote name-", 11), 0);
  radio_profile_close (profile);
  radio_profile_close (copy);
}

static void
numbers_are_all_copied (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  struct radio_profile *copy = redact (profile, "key");
  assert_int_equal (copy->nodes.n, profile->nodes.n);
  for (size_t i = 0; i < copy->nodes.n; i++) {
    struct radio_profile_node x = copy->nodes.at[i];
    const struct radio_profile_node *y = &profile->nodes.at[i];
    assert_string_equal (x.name, y->name);
    x.name = y->name;
    x.category = y->category;
    x.function = y->function;
    x.file = y->file;
    assert_memory_equal (&x, y, sizeof x);
  }
  assert_int_equal (copy->values.n, profile->values.n);
  assert_memory_equal (copy->values.at, profile->values.at,
                       copy->values.n * sizeof *copy->values.at);
  assert_int_equal (copy->shares.n, profile->shares.n);
  assert_memory_equal (copy->shares.at, profile->shares.at,
                       copy->shares.n * sizeof *copy->shares.at);
  assert_memory_equal (copy->spans.at, profile->spans.at,
                       copy->spans.n * sizeof *copy->spans.at);
  assert_int_equal (copy->spans.n, profile->spans.n);
  assert_int_equal (copy->samples.n, profile->samples.n);
  assert_int_equal (copy->info.wall_ns, profile->info.wall_ns);
  assert_int_equal (copy->info.alloc_peak_nbytes,
                    profile->info.alloc_peak_nbytes);
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* Returns a profile with a file in a patient's folder, and with texts that
 * contain parts of its name. */
static struct radio_profile *
new_with_parts_of_names (void)
{
  struct radio_profile *profile = build_new ("ingest of janedoe");
  uint32_t lane = build_lane (profile, "loader of johnroe");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t id = build_span (profile, lane, read, 0, 0, 1000);
  build_note (profile, id, read, "file",
              "/data/johnroe/anat/janedoe.nii.gz", true);
  build_note (profile, id, read, "second", "ct/li/annroe.img", true);
  build_note (profile, id, read, "state",
              "while reading /data/johnroe/anat/janedoe.nii.gz", false);
  build_note (profile, 0, read, "state", "annroe before janedoe", false);
  build_note (profile, id, read, "tile", "anat data in ct, line 3", false);
  build_fact (profile, "log", "made johnroe/new, then janedoe.png", false);
  build_finish (profile);
  return profile;
}

static void
assert_no_person (const char *text)
{
  static const char *const people[] = { "johnroe", "janedoe", "annroe" };
  for (size_t i = 0; i < sizeof people / sizeof people[0]; i++)
    if (strstr (text, people[i]))
      fail_msg ("'%s' is in '%s'", people[i], text);
}

/* Returns a note's value by key, among the notes that are not names. */
static const char *
plain_note (const struct radio_profile *profile, const char *key, size_t skip)
{
  for (size_t i = 0; i < profile->notes.n; i++)
    if (!profile->notes.at[i].is_name
        && strcmp (profile->notes.at[i].key, key) == 0 && skip-- == 0)
      return profile->notes.at[i].value;
  fail_msg ("no note '%s'", key);
  return NULL;
}

static void
names_are_removed_from_plain_notes (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_parts_of_names ();
  struct radio_profile *copy = redact (profile, "key");
  for (size_t i = 0; i < copy->notes.n; i++)
    assert_no_person (copy->notes.at[i].value);
  bool first = strncmp (plain_note (copy, "state", 0), "while", 5) != 0;
  assert_string_equal (plain_note (copy, "state", first),
                       "while reading name-648f0136f845.nii.gz");
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* HMAC-SHA256 of "janedoe" and of "johnroe", as Python's hmac computes
 * them. */
static void
components_and_stems_are_names_too (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_parts_of_names ();
  struct radio_profile *copy = redact (profile, "key");
  assert_string_equal (copy->info.title, "ingest of name-5766b5d80d52");
  assert_string_equal (copy->lanes.at[0].name, "loader of name-14578835b1bc");
  assert_string_equal (rd_profile_find_fact (copy, "log"),
                       "made name-14578835b1bc/new, then "
                       "name-5766b5d80d52.png");
  radio_profile_close (profile);
  radio_profile_close (copy);
}

static void
common_and_short_folders_are_not_names (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_parts_of_names ();
  struct radio_profile *copy = redact (profile, "key");
  assert_string_equal (plain_note (copy, "tile", 0),
                       "anat data in ct, line 3");
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* The longest of several names with a common prefix, in any order. */
static void
the_longest_name_is_replaced (void **state)
{
  (void) state;
  static const char *const names[] = {
    "roes", "roes-a", "roes-a-b", "roes-a-b-c", "roes-ab", "roes-b",
  };
  enum { NNAMES = sizeof names / sizeof names[0] };
  struct radio_profile *profile = build_new ("x");
  uint32_t node = build_node (profile, RD_NO_INDEX, "read", "operation");
  for (size_t i = 0; i < NNAMES; i++) {
    build_note (profile, 0, node, names[i], names[i], true);
    char text[40];
    snprintf (text, sizeof text, "%s|%s-a-b-x", names[i], names[i]);
    build_fact (profile, names[i], text, false);
  }
  build_finish (profile);
  struct radio_profile *copy = redact (profile, "key");
  for (size_t i = 0; i < NNAMES; i++) {
    const char *name = copy->notes.at[i].value;
    const char *text = rd_profile_find_fact (copy, copy->notes.at[i].key);
    assert_memory_equal (text, name, strlen (name));
    assert_int_equal (text[strlen (name)], '|');
  }
  const char *text = rd_profile_find_fact (copy, "roes");
  assert_string_equal (strrchr (text, '-'), "-x");
  assert_null (strstr (text, "-a-b"));
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* Returns many names, and nfacts long texts in which a name could begin at
 * each letter. */
static struct radio_profile *
new_with_many_names (unsigned nfacts)
{
  struct radio_profile *profile = build_new ("Doe^Jane's scan");
  uint32_t node = build_node (profile, RD_NO_INDEX, "read", "operation");
  char text[4000];
  memset (text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  for (unsigned i = 0; i < 20000; i++) {
    char name[40];
    snprintf (name, sizeof name, "/data/xDoe-%u.nii", i);
    build_note (profile, 1, node, "file", name, true);
  }
  for (unsigned i = 0; i < nfacts; i++) {
    char key[20];
    snprintf (key, sizeof key, "log %u", i);
    snprintf (text, sizeof key, "%s", key);
    text[strlen (key)] = 'x';
    build_fact (profile, key, text, false);
  }
  build_finish (profile);
  return profile;
}

static void
many_names_are_searched_for_in_long_texts (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_many_names (1);
  struct radio_profile *copy = redact (profile, "key");
  assert_string_equal (rd_profile_find_fact (copy, "log 0"),
                       rd_profile_find_fact (profile, "log 0"));
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* Otherwise a crafted file could make redacting take minutes. */
static void
texts_beyond_the_limit_are_removed_entirely (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_many_names (1000);
  struct radio_profile *copy = redact (profile, "key");
  assert_string_equal (rd_profile_find_fact (copy, "log 999"), "[redacted]");
  assert_string_equal (copy->info.title, profile->info.title);
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* A command with its path, and files named like the command's own words. */
static struct radio_profile *
new_with_own_words (void)
{
  struct radio_profile *profile = build_new ("radio slice");
  build_node (profile, RD_NO_INDEX, "read", "operation");
  profile->info.program = rd_profile_string (profile, "radio");
  build_fact (profile, "command", "/home/hospital/bin/radio profile slice "
              "/data/Doe^Jane.nii.gz -o slice.html -o balanced.json", false);
  build_fact (profile, "tool", "ran /home/hospital/bin/radio", false);
  build_fact (profile, "operation", "slice", false);
  build_fact (profile, "tiling", "balanced", false);
  build_fact (profile, "note", "not balanced", false);
  build_fact (profile, "codec", "fast", true);
  build_finish (profile);
  return profile;
}

static void
the_tool_s_own_name_and_words_stay (void **state)
{
  (void) state;
  struct radio_profile *profile = new_with_own_words ();
  struct radio_profile *copy = redact (profile, "key");
  assert_string_equal (copy->info.program, "radio");
  assert_string_equal (rd_profile_find_fact (copy, "operation"), "slice");
  assert_string_equal (rd_profile_find_fact (copy, "tiling"), "balanced");
  assert_int_equal (strncmp (copy->info.title, "radio name-", 11), 0);
  assert_int_equal (strncmp (rd_profile_find_fact (copy, "note"),
                             "not name-", 9), 0);
  assert_int_equal (strncmp (rd_profile_find_fact (copy, "codec"), "name-",
                             5), 0);
  for (size_t i = 0; i < copy->facts.n; i++)
    assert_no_secret (copy->facts.at[i].value);
  radio_profile_close (profile);
  radio_profile_close (copy);
}

/* A file named "radio" is a file. */
static void
only_the_program_of_the_command_is_the_tool (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("radio and scanner-7");
  build_node (profile, RD_NO_INDEX, "read", "operation");
  build_fact (profile, "command", "/data/scanner-7 /data/radio", false);
  build_finish (profile);
  struct radio_profile *copy = redact (profile, "key");
  assert_no_secret (copy->info.title);
  assert_null (strstr (copy->info.title, "radio"));
  radio_profile_close (profile);
  radio_profile_close (copy);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (no_name_is_left_in_the_copy),
    cmocka_unit_test (no_name_is_left_in_any_format),
    cmocka_unit_test (without_redacting_names_are_there),
    cmocka_unit_test (pseudonyms_are_hmacs_with_the_suffix_kept),
    cmocka_unit_test (equal_names_stay_equal_and_different_ones_different),
    cmocka_unit_test (text_that_is_not_a_name_stays),
    cmocka_unit_test (the_tool_s_own_name_and_words_stay),
    cmocka_unit_test (only_the_program_of_the_command_is_the_tool),
    cmocka_unit_test (numbers_are_all_copied),
    cmocka_unit_test (names_are_removed_from_plain_notes),
    cmocka_unit_test (components_and_stems_are_names_too),
    cmocka_unit_test (common_and_short_folders_are_not_names),
    cmocka_unit_test (the_longest_name_is_replaced),
    cmocka_unit_test (many_names_are_searched_for_in_long_texts),
    cmocka_unit_test (texts_beyond_the_limit_are_removed_entirely),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
