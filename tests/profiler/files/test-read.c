/* SPDX-License-Identifier: MIT */
/* Files that the reader refuses, and its messages: damaged files, foreign
 * files, files of later versions, files with wrong sizes. */
#include <config.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/alloc-fail.h"
#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

#include "profiler/model/format.h"

static struct sink
specimen (void)
{
  struct radio_profile *profile = build_specimen ();
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  radio_profile_close (profile);
  return sink;
}

static void
check_refused (const char *text, size_t nbytes, enum radio_status status,
               const char *part)
{
  struct radio_profile *profile = NULL;
  assert_fails (sink_parse (text, nbytes, &profile), status, part);
  assert_null (profile);
  const char *message = radio_error_message ();
  assert_memory_equal (message, "file: ", 6);
  assert_null (strchr (message, '\n'));
}

/*------------------------------------------------------------------------
 * Damage
 *----------------------------------------------------------------------*/

static void
a_file_that_is_cut_anywhere_is_refused (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  /* The last byte is a newline, which is not needed. */
  for (size_t n = 0; n + 1 < sink.nbytes; n += n < 200 ? 1 : 37)
    check_refused (sink.text, n, RADIO_ERROR_FORMAT, "");
  free (sink.text);
}

static void
a_byte_that_changed_gives_an_error_or_a_whole_profile (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  uint64_t random = 1;
  size_t nread = 0;
  for (int i = 0; i < 1500; i++) {
    struct radio_profile *profile = NULL;
    random = random * 6364136223846793005u + 1442695040888963407u;
    size_t at = (random >> 20) % sink.nbytes;
    char before = sink.text[at];
    sink.text[at] ^= (char) (1 << (random >> 60 & 7));
    if (sink_parse (sink.text, sink.nbytes, &profile) == RADIO_OK) {
      struct sink again = sink_write (profile, RADIO_PROFILE_JSON, NULL);
      free (again.text);
      nread++;
    }
    radio_profile_close (profile);
    sink.text[at] = before;
  }
  assert_true (nread < 1500);
  free (sink.text);
}

/* Each replaces one text of a good file.  Reading it returns FORMAT, with a
 * message that names the place. */
static const struct {
  const char *from, *to, *part;
} wrong[] = {
  { "\"version\": 1", "\"version\": 0", "version is 0" },
  { "\"version\": 1", "\"version\": \"1\"", "version is \"1\"" },
  { "\"info\": {", "\"inf\": {", "info is missing" },
  { "\"title\": ", "\"titel\": ", "title is missing" },
  { "\"clock\": ", "\"clock\": 1, \"c\": ", "clock is 1" },
  { "\"wall_ns\": ", "\"wall_ns\": -", "wall_ns is -10000000" },
  { "\"scope_cost_ns\": 17.5", "\"scope_cost_ns\": \"x\"",
    "scope_cost_ns is \"x\"" },
  { "\"scope_cost_ns\": 17.5", "\"scope_cost_ns\": -1", "scope_cost_ns" },
  { "\"scope_cost_ns\": 17.5", "\"scope_cost_ns\": NaN", "scope_cost_ns" },
  { "\"parts\": \"none\"", "\"parts\": \"some\"", "parts is \"some\"" },
  { "\"strings\": [", "\"strings\": [7,", "a string is 7" },
  { "\"strings\": [", "\"strings\": [\"\\u0000\",", "NUL" },
  { "\"strings\": [", "\"things\": [", "strings is missing" },
  { "\"nodes\": {", "\"nods\": {", "nodes is missing" },
  { "\"nodes\": {", "\"nodes\": 5, \"n\": {", "nodes is 5" },
  { "\"parent\": [-1,0", "\"parent\": [-1,7", "node 1" },
  { "\"parent\": [-1,0", "\"parent\": [-1,1", "node 1" },
  { "\"parent\": [-1,0", "\"parent\": [-1,-2", "nodes.parent[1] is -2" },
  { "\"parent\": [-1,0", "\"parent\": [-1,0,0", "parent has" },
  { "\"edge\": [0,", "\"edge\": [5,", "nodes.edge[0] is 5" },
  { "\"line\": [1,", "\"line\": [4294967296,", "nodes.line[0] is 429" },
  { "\"category\": [15,", "\"category\": [99,", "nodes.category[0] is 99" },
  { "\"calls\": [1,", "\"calls\": [1.5,", "nodes.calls[0] is 1.5" },
  { "\"calls\": [1,", "\"calls\": [null,", "nodes.calls[0] is null" },
  { "\"calls\": [1,", "\"calls\": [18446744073709551616,", "nodes.calls[0]" },
  { "\"self_ns\": [", "\"selves\": [", "self_ns is missing" },
  { "\"counter\": [0,", "\"counter\": [99,", "counter 99, there are 7" },
  { "\"bucket\": [23,", "\"bucket\": [48,",
    "histograms.bucket[0] is 48" },
  { "\"is_name\": [0,", "\"is_name\": [2,", "facts.is_name[0] is 2" },
  { "\"span_count\": [", "\"span_count\": [1,", "entries" },
  { "\"samples\": {\n\"count\": 4", "\"samples\": {\n\"count\": 5",
    "samples" },
  { "\"samples\": {\n\"count\": 4", "\"samples\": {\n\"count\": 3",
    "samples" },
  { "\"tiles\": {\n\"count\": 4", "\"tiles\": {\n\"count\": 3", "tiles" },
  { "\"tiles\": {\n\"count\": 4", "\"tiles\": {\n\"count\": 5", "tiles" },
  { "\"tiles\": {", "\"tiles\": 7, \"t\": {", "tiles is 7" },
  { "\"spans\": {\n\"count\": ", "\"spans\": {\n\"count\": 1", "spans" },
  { "\"spans\": {", "\"spans\": [], \"s\": {", "spans is a list" },
  { "\"encoding\": \"deflate\"", "\"encoding\": \"zip\"",
    "encoding is \"zip\"" },
  { "\"encoding\": \"deflate\"", "\"encoding\": \"none\"", "nbytes is" },
  { "\"data\": \"", "\"data\": \"!!!!", "alphabet" },
  { "\"data\": \"", "\"data\": \"AAA", "cut short" },
  { "\"data\": \"", "\"data\": \"AAAA", "does not inflate" },
};

static void
messages_name_the_cause (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char *text = sink_replace (sink.text, wrong[i].from, wrong[i].to);
    check_refused (text, strlen (text), RADIO_ERROR_FORMAT, wrong[i].part);
    free (text);
  }
  free (sink.text);
}

static void
unknown_members_are_ignored (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  struct radio_profile *plain = NULL, *more = NULL;
  char *text = sink_replace (sink.text, "\"nodes\": {",
                             "\"future\": [1, {}],\n\"nodes\": {\n"
                             "\"colour\": [\"red\"],");
  assert_ok (sink_parse (sink.text, sink.nbytes, &plain));
  assert_ok (sink_parse (text, strlen (text), &more));
  assert_same_profile (plain, more);
  radio_profile_close (plain);
  radio_profile_close (more);
  free (text);
  free (sink.text);
}

static void
a_newer_version_is_refused_with_a_message (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  char *text = sink_replace (sink.text, "\"version\": 1", "\"version\": 2");
  check_refused (text, strlen (text), RADIO_ERROR_UNSUPPORTED,
                 "version 2, made by a newer radio; this one reads");
  free (text);
  free (sink.text);
}

/* Two spans and two samples at 5 and 8 ns; then the second is moved to
 * 2^64 - 3 after the first, which must not wrap around to 2 ns. */
static const struct {
  const char *from, *to, *part;
} late[] = {
  { "\"nbytes\": 18,\n\"data\": \"BQMAAAAAAAACAgAAAAAAAAAA\"",
    "\"nbytes\": 27,\n\"data\": "
    "\"Bf3//////////wEAAAAAAAACAgAAAAAAAAAA\"",
    "the begin of span 1 is 18446744073709551613" },
  { "\"nbytes\": 6,\n\"data\": \"BQMAAAAA\"",
    "\"nbytes\": 15,\n\"data\": "
    "\"Bf3//////////wEAAAAA\"",
    "a sample is 18446744073709551613 ns after the one before" },
};

static void
times_beyond_64_bits_are_refused (void **state)
{
  (void) state;
  struct radio_profile_write_options options = { .plain_blocks = true };
  struct radio_profile *profile = build_new ("late");
  uint32_t lane = build_lane (profile, "main");
  uint32_t node = build_node (profile, RD_NO_INDEX, "read", "operation");
  for (uint64_t time_ns = 5; time_ns <= 8; time_ns += 3) {
    build_span (profile, lane, node, 0, time_ns, 0);
    build_sample (profile, "queued", time_ns, 0);
  }
  build_finish (profile);
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, &options);
  for (size_t i = 0; i < sizeof late / sizeof late[0]; i++) {
    char *text = sink_replace (sink.text, late[i].from, late[i].to);
    check_refused (text, strlen (text), RADIO_ERROR_FORMAT, late[i].part);
    free (text);
  }
  free (sink.text);
  radio_profile_close (profile);
}

/* A profile of one span with tile 4, of 5 stored bytes. */
static const struct {
  const char *to, *part;
} wrong_tiles[] = {
  { "\"nbytes\": 3,\n\"data\": \"AQgF\"",       /* 1, 8, 5 */
    "row 0 of tiles: span is 1" },
  { "\"nbytes\": 3,\n\"data\": \"AAEF\"",       /* 0, 1, 5 */
    "row 0 of tiles: tile is 18446744073709551615" },
  { "\"nbytes\": 7,\n\"data\": \"AAiAgICAEA==\"", /* 0, 8, 2^32 */
    "row 0 of tiles: stored is 4294967296" },
};

static void
tiles_of_no_span_are_refused (void **state)
{
  (void) state;
  struct radio_profile_write_options options = { .plain_blocks = true };
  struct radio_profile *profile = build_new ("tile");
  uint32_t lane = build_lane (profile, "main");
  uint32_t node = build_node (profile, RD_NO_INDEX, "decode", "decode");
  build_span (profile, lane, node, 0, 5, 8);
  build_last (profile)->tile = 5;
  build_last (profile)->stored_nbytes = 5;
  build_finish (profile);
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, &options);
  for (size_t i = 0; i < sizeof wrong_tiles / sizeof wrong_tiles[0]; i++) {
    char *text = sink_replace (sink.text,
                               "\"nbytes\": 3,\n\"data\": \"AAgF\"",
                               wrong_tiles[i].to);
    check_refused (text, strlen (text), RADIO_ERROR_FORMAT,
                   wrong_tiles[i].part);
    free (text);
  }
  free (sink.text);
  radio_profile_close (profile);
}

/* As for tiles; without the block, no span had no CPU. */
static void
times_without_a_cpu_are_of_spans (void **state)
{
  (void) state;
  struct radio_profile_write_options options = { .plain_blocks = true };
  struct radio_profile *profile = build_new ("starved"), *back = NULL;
  uint32_t lane = build_lane (profile, "main");
  uint32_t node = build_node (profile, RD_NO_INDEX, "decode", "decode");
  build_span (profile, lane, node, 0, 5, 80);
  build_span (profile, lane, node, 0, 100, 80);
  build_last (profile)->starved_ns = 30;
  build_finish (profile);
  struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, &options);
  const char *block = "\"nbytes\": 2,\n\"data\": \"AR4=\"";   /* 1, 30 */
  char *text = sink_replace (sink.text, block,
                             "\"nbytes\": 2,\n\"data\": \"Ah4=\"");
  check_refused (text, strlen (text), RADIO_ERROR_FORMAT,
                 "row 0 of starved: span is 2");
  free (text);
  text = sink_replace (sink.text, block,          /* 1, 127: of 80 */
                       "\"nbytes\": 2,\n\"data\": \"AX8=\"");
  assert_ok (sink_parse (text, strlen (text), &back));
  assert_int_equal (back->spans.at[1].starved_ns, 80);
  radio_profile_close (back);
  free (text);
  text = sink_replace (sink.text, "\"starved\": {", "\"other\": {");
  assert_ok (sink_parse (text, strlen (text), &back));
  assert_int_equal (back->spans.at[1].starved_ns, 0);
  radio_profile_close (back);
  free (text);
  free (sink.text);
  radio_profile_close (profile);
}

/* A profile that knows it of the tree alone has no block. */
static void
what_is_not_known_of_spans_is_not_written (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("starved");
  uint32_t lane = build_lane (profile, "main");
  uint32_t node = build_node (profile, RD_NO_INDEX, "decode", "decode");
  build_span (profile, lane, node, 0, 5, 80);
  build_finish (profile);
  for (int i = 0; i < 2; i++) {
    profile->info.starved_ns = 30 * (uint64_t) i;
    struct sink sink = sink_write (profile, RADIO_PROFILE_JSON, NULL);
    assert_int_equal (strstr (sink.text, "\"starved\": {") == NULL, i);
    free (sink.text);
  }
  radio_profile_close (profile);
}

/* Files of earlier versions have no block of tiles. */
static void
a_file_without_tiles_is_read (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  struct radio_profile *profile = NULL;
  char *text = sink_replace (sink.text, "\"tiles\": {", "\"other\": {");
  assert_ok (sink_parse (text, strlen (text), &profile));
  for (size_t i = 0; i < profile->spans.n; i++)
    assert_int_equal (profile->spans.at[i].tile, 0);
  radio_profile_close (profile);
  free (text);
  free (sink.text);
}

/*------------------------------------------------------------------------
 * Wrong sizes
 *----------------------------------------------------------------------*/

static const struct {
  const char *from, *to;
} lies[] = {
  { "\"spans\": {\n\"count\": ", "\"spans\": {\n\"count\": 9999999999999" },
  { "\"samples\": {\n\"count\": ", "\"samples\": {\n\"count\": 999999999999" },
  { "\"tiles\": {\n\"count\": ", "\"tiles\": {\n\"count\": 999999999999" },
  { "\"nbytes\": ", "\"nbytes\": 99999999999999" },
  { "\"nbytes\": ", "\"nbytes\": 999999" },
  { "\"span_count\": [", "\"span_count\": [4294967295,4294967295,4" },
};

/* No count makes the reader allocate more than the file's size justifies. */
static void
counts_without_their_bytes_take_no_memory (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
    char *text = sink_replace (sink.text, lies[i].from, lies[i].to);
    struct radio_profile *profile = NULL;
    size_t n = strlen (text);
    alloc_fail_above (8 << 20);
    enum radio_status status = sink_parse (text, n, &profile);
    bool failed = alloc_fail_end ();
    assert_false (failed);
    assert_int_equal (status, RADIO_ERROR_FORMAT);
    free (text);
  }
  free (sink.text);
}

static void
every_allocation_may_fail (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  for (size_t nth = 1;; nth++) {
    struct radio_profile *profile = NULL;
    alloc_fail_nth (nth);
    enum radio_status status = sink_parse (sink.text, sink.nbytes, &profile);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      radio_profile_close (profile);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
    assert_null (profile);
  }
  free (sink.text);
}

static enum radio_status
count_bytes (const void *data, size_t nbytes, void *user_data)
{
  (void) data;
  *(size_t *) user_data += nbytes;
  return RADIO_OK;
}

static void
every_allocation_of_writing_may_fail (void **state)
{
  (void) state;
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_JSON, RADIO_PROFILE_TEXT, RADIO_PROFILE_FOLDED,
  };
  struct radio_profile *profile = build_specimen ();
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
    for (size_t nth = 1;; nth++) {
      struct radio_profile_write_options options = { .format = formats[i] };
      size_t nbytes = 0;
      alloc_fail_nth (nth);
      enum radio_status status
        = radio_profile_write_to (profile, &options, count_bytes, &nbytes);
      if (!alloc_fail_end ()) {
        assert_ok (status);
        break;
      }
      assert_int_equal (status, RADIO_ERROR_MEMORY);
    }
  radio_profile_close (profile);
}

/*------------------------------------------------------------------------
 * Foreign files
 *----------------------------------------------------------------------*/

static void
other_formats_of_radio_are_named (void **state)
{
  (void) state;
  static const struct {
    enum radio_profile_format format;
    const char *part;
  } cases[] = {
    { RADIO_PROFILE_CHROME, ": a Chrome trace, which radio only writes; give"
                            " radio's .json or .html" },
    { RADIO_PROFILE_SPEEDSCOPE, ": a speedscope file, which radio only" },
    { RADIO_PROFILE_FOLDED, ": folded stacks, which radio only writes" },
    { RADIO_PROFILE_PPROF, ": compressed by gzip" },
    { RADIO_PROFILE_TEXT, ": a profile as text, which radio only writes" },
    { RADIO_PROFILE_SVG, ": a picture, which radio only writes" },
  };
  struct radio_profile *profile = build_specimen ();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct sink sink = sink_write (profile, cases[i].format, NULL);
    check_refused (sink.text, sink.nbytes, RADIO_ERROR_UNSUPPORTED,
                   cases[i].part);
    free (sink.text);
  }
  radio_profile_close (profile);
}

static void
foreign_files_are_named (void **state)
{
  (void) state;
  static const struct {
    const char *text, *part;
  } cases[] = {
    { "", ": empty" },
    { "<!DOCTYPE html><p>hello", ": a page without radio's data" },
    { " \n<svg/>", ": a page without radio's data" },
    { "{\"zarr_format\": 3}", ": a document of a Zarr store" },
    { "{\"format\": \"other\"}", ": a JSON document" },
    { "[1, 2, 3]", ": a JSON document" },
    { "\"text\"", ": a JSON document" },
    { "null", "not a profile of radio's" },
    { "hello world", ": unknown data" },
    { "17", ": unknown data" },
    { "a;b;c\n", ": unknown data" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    check_refused (cases[i].text, strlen (cases[i].text), RADIO_ERROR_FORMAT,
                   cases[i].part);
  check_refused ("\x00\x01\x02\x03", 4, RADIO_ERROR_FORMAT,
                 ": binary data");
  check_refused ("radio\nring\0\0", 12, RADIO_ERROR_UNSUPPORTED,
                 "radio profile recover");
  check_refused ("[{\"ph\": \"X\"}]", 13, RADIO_ERROR_UNSUPPORTED,
                 "a Chrome trace");
  check_refused ("{\"traceEvents\": [{", 18, RADIO_ERROR_UNSUPPORTED,
                 "a damaged Chrome trace");
}

/* A page says how much of its data there was, a document does not. */
static void
files_that_were_cut_are_called_that (void **state)
{
  (void) state;
  static const char opening[]
    = "<script type=\"application/json\" id=\"radio-profile\">";
  struct radio_profile *profile = build_specimen ();
  struct sink json = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  struct sink page = sink_write (profile, RADIO_PROFILE_HTML, NULL);
  const char *data = strstr (page.text, opening) + strlen (opening);
  size_t before = (size_t) (data - page.text);
  char part[200];
  for (size_t left = json.nbytes - 2; left > 30; left /= 2) {
    snprintf (part, sizeof part, ": cut short after %zu bytes of data; copy "
              "or write it again", left);
    check_refused (json.text, left, RADIO_ERROR_FORMAT, part);
    snprintf (part, sizeof part, ": cut short, %s of the %s of its data are "
              "missing; copy or write it again",
              rd_format_nbytes (json.nbytes - left).text,
              rd_format_nbytes (json.nbytes).text);
    check_refused (page.text, before + left, RADIO_ERROR_FORMAT, part);
  }
  check_refused (page.text, before - 1, RADIO_ERROR_FORMAT,
                 ": a page of radio's that was cut short before its data");
  check_refused (page.text, 1000, RADIO_ERROR_FORMAT, ": a page ");
  free (page.text);
  free (json.text);
  radio_profile_close (profile);
}

/* json-c would recurse as deep as the brackets nest. */
static void
deep_nesting_is_refused (void **state)
{
  (void) state;
  static char text[100000];
  const char *begin = "{\n\"format\": \"radio-profile\", \"x\": ";
  size_t n = strlen (begin);
  memcpy (text, begin, n);
  memset (text + n, '[', sizeof text - n);
  check_refused (text, sizeof text, RADIO_ERROR_FORMAT, "nesting");
}

/*------------------------------------------------------------------------
 * Files
 *----------------------------------------------------------------------*/

static void
write_bytes (const char *path, const struct sink *sink)
{
  FILE *file = fopen (path, "wb");
  assert_non_null (file);
  assert_int_equal (fwrite (sink->text, 1, sink->nbytes, file),
                    sink->nbytes);
  assert_int_equal (fclose (file), 0);
}

static void
files_and_pipes_are_read (void **state)
{
  (void) state;
  struct sink sink = specimen ();
  struct radio_profile *profile = NULL, *piped = NULL;
  write_bytes ("a.json", &sink);
  assert_ok (radio_profile_read ("a.json", &profile));
  assert_int_equal (mkfifo ("fifo", 0600), 0);
  pid_t pid = fork ();
  if (pid == 0) {
    write_bytes ("fifo", &sink);
    _exit (0);
  }
  assert_ok (radio_profile_read ("fifo", &piped));
  assert_same_profile (profile, piped);
  radio_profile_close (profile);
  radio_profile_close (piped);
  unlink ("fifo");
  unlink ("a.json");
  free (sink.text);
}

/* The library waits 5 s for a first byte, and then gives up. */
static void
reading_a_pipe_without_a_writer_times_out (void **state)
{
  (void) state;
  struct radio_profile *profile = NULL;
  assert_int_equal (mkfifo ("silent", 0600), 0);
  assert_fails (radio_profile_read ("silent", &profile), RADIO_ERROR_IO,
                "silent: no data arrived on this pipe");
  unlink ("silent");
}

static void
devices_are_not_profiles (void **state)
{
  (void) state;
  struct radio_profile *profile = NULL;
  assert_fails (radio_profile_read ("/dev/zero", &profile),
                RADIO_ERROR_FORMAT, "/dev/zero: a device");
}

static void
files_that_cannot_be_read_are_reported (void **state)
{
  (void) state;
  struct radio_profile *profile = NULL;
  assert_fails (radio_profile_read ("missing.json", &profile),
                RADIO_ERROR_NOT_FOUND, "missing.json: ");
  assert_fails (radio_profile_read (".", &profile), RADIO_ERROR_FORMAT,
                ".: a folder");
  assert_fails (radio_profile_read (NULL, &profile), RADIO_ERROR_ARGUMENT,
                "NULL");
  assert_fails (radio_profile_read ("/dev/null", &profile),
                RADIO_ERROR_FORMAT, "/dev/null: a device");
}

static void
a_written_file_is_complete_or_absent (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen (), *back = NULL;
  struct radio_profile_write_options odd = { .format = 99 };
  assert_ok (radio_profile_write (profile, "w.json", NULL));
  assert_ok (radio_profile_read ("w.json", &back));
  assert_same_profile (profile, back);
  assert_fails (radio_profile_write (profile, "w.doc", NULL),
                RADIO_ERROR_ARGUMENT, "w.doc");
  assert_fails (radio_profile_write (profile, "w.json", &odd),
                RADIO_ERROR_ARGUMENT, "99");
  assert_fails (radio_profile_write (profile, "no/w.json", NULL),
                RADIO_ERROR_NOT_FOUND, "no/w.json");
  assert_fails (radio_profile_write (profile, "/dev/full",
                                     &(struct radio_profile_write_options) {
                                       .format = RADIO_PROFILE_JSON }),
                RADIO_ERROR_ARGUMENT, "/dev/full");
  radio_profile_close (back);
  assert_ok (radio_profile_read ("w.json", &back));
  radio_profile_close (back);
  radio_profile_close (profile);
  unlink ("w.json");
}

static enum radio_status
refuse (const void *data, size_t nbytes, void *user_data)
{
  (void) data;
  (void) nbytes;
  (void) user_data;
  return RADIO_ERROR_CANCELLED;
}

static void
the_status_of_a_sink_becomes_the_result (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  for (int format = RADIO_PROFILE_JSON; format <= RADIO_PROFILE_SVG;
       format++) {
    struct radio_profile_write_options options = {
      .format = (enum radio_profile_format) format
    };
    assert_int_equal (radio_profile_write_to (profile, &options, refuse,
                                              NULL),
                      RADIO_ERROR_CANCELLED);
  }
  radio_profile_close (profile);
}

static int
enter_folder (void **state)
{
  char *folder = strdup ("test-read.XXXXXX");
  *state = folder;
  return folder == NULL || mkdtemp (folder) == NULL || chdir (folder) != 0;
}

static int
leave_folder (void **state)
{
  int failed = chdir ("..") != 0 || rmdir (*state) != 0;
  free (*state);
  return failed;
}

#define in_folder(f) \
  cmocka_unit_test_setup_teardown (f, enter_folder, leave_folder)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_file_that_is_cut_anywhere_is_refused),
    cmocka_unit_test (a_byte_that_changed_gives_an_error_or_a_whole_profile),
    cmocka_unit_test (messages_name_the_cause),
    cmocka_unit_test (unknown_members_are_ignored),
    cmocka_unit_test (a_newer_version_is_refused_with_a_message),
    cmocka_unit_test (times_beyond_64_bits_are_refused),
    cmocka_unit_test (tiles_of_no_span_are_refused),
    cmocka_unit_test (times_without_a_cpu_are_of_spans),
    cmocka_unit_test (what_is_not_known_of_spans_is_not_written),
    cmocka_unit_test (a_file_without_tiles_is_read),
    cmocka_unit_test (counts_without_their_bytes_take_no_memory),
    cmocka_unit_test (every_allocation_may_fail),
    cmocka_unit_test (every_allocation_of_writing_may_fail),
    cmocka_unit_test (other_formats_of_radio_are_named),
    cmocka_unit_test (foreign_files_are_named),
    cmocka_unit_test (files_that_were_cut_are_called_that),
    cmocka_unit_test (deep_nesting_is_refused),
    in_folder (files_and_pipes_are_read),
    in_folder (reading_a_pipe_without_a_writer_times_out),
    in_folder (devices_are_not_profiles),
    in_folder (files_that_cannot_be_read_are_reported),
    in_folder (a_written_file_is_complete_or_absent),
    cmocka_unit_test (the_status_of_a_sink_becomes_the_result),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
