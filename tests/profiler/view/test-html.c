/* SPDX-License-Identifier: MIT */
/* The page as a file: its contents and its size.  Its behaviour in a browser
 * is tested in tests/interop/test_page.py. */
#include <config.h>

#include <libdeflate.h>
#include <openssl/evp.h>

#include "tests/profiler/build.h"
#include "tests/profiler/files/sink.h"

#include "src/base/base92.h"
#include "profiler/export/export.h"
#include "profiler/view/page.h"

#define DATA_BEGIN "<script type=\"application/json\" id=\"radio-profile\">"
#define BEFORE_BEGIN \
  "<script type=\"application/json\" id=\"radio-before\">"

/* Returns the text between two others. */
static char *
between (const char *text, const char *begin, const char *end)
{
  const char *from = strstr (text, begin);
  if (from == NULL)
    fail_msg ("'%s' is not in the page", begin);
  from += strlen (begin);
  const char *to = strstr (from, end);
  if (to == NULL)
    fail_msg ("'%s' does not follow in the page", end);
  char *found = strndup (from, (size_t) (to - from));
  assert_non_null (found);
  return found;
}

static size_t
count_of (const char *text, const char *part)
{
  size_t n = 0;
  while ((text = strstr (text, part)) != NULL) {
    n++;
    text += strlen (part);
  }
  return n;
}

static char *
page_of (const struct radio_profile *profile)
{
  return sink_write (profile, RADIO_PROFILE_HTML, NULL).text;
}

/* Returns the page of a profile with this name for its scope, finding, title,
 * fact and note. */
static char *
page_named (const char *name)
{
  struct radio_profile *profile = build_new (name);
  uint32_t node = build_node (profile, RD_NO_INDEX, name, name);
  uint32_t lane = build_lane (profile, name);
  uint32_t span = build_span (profile, lane, node, 0, 0, 100);
  build_note (profile, span, node, "key", name, false);
  build_fact (profile, name, name, false);
  build_count (profile, node, name, "bytes", 5);
  build_finish (profile);
  char *page = page_of (profile);
  radio_profile_close (profile);
  return page;
}

static void
the_data_are_exactly_radio_s_json (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  struct sink json = sink_write (profile, RADIO_PROFILE_JSON, NULL);
  char *page = page_of (profile);
  char *data = between (page, DATA_BEGIN, "</script>");
  assert_string_equal (data, json.text);
  free (data);
  free (page);
  free (json.text);
  radio_profile_close (profile);
}

static void
a_profile_is_read_back_from_its_page (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen (), *again;
  char *page = page_of (profile);
  assert_ok (sink_parse (page, strlen (page), &again));
  assert_same_profile (profile, again);
  radio_profile_close (again);
  free (page);
  radio_profile_close (profile);
}

static char *
page_of_both (const struct radio_profile *before, bool redact)
{
  const struct radio_profile_write_options options = {
    .before = before, .redact = redact
  };
  struct radio_profile *profile = build_random (3, 50, 2);
  char *page = sink_write (profile, RADIO_PROFILE_HTML, &options).text;
  radio_profile_close (profile);
  return page;
}

static void
a_page_that_compares_holds_both (void **state)
{
  (void) state;
  struct radio_profile *before = build_specimen (), *again;
  struct sink json = sink_write (before, RADIO_PROFILE_JSON, NULL);
  char *page = page_of_both (before, false);
  char *data = between (page, BEFORE_BEGIN, "</script>");
  assert_string_equal (data, json.text);
  assert_ok (sink_parse (page, strlen (page), &again));
  struct radio_profile *profile = build_random (3, 50, 2);
  assert_same_profile (profile, again);
  char *alone = page_of (profile);
  assert_null (strstr (alone, "radio-before\">"));
  radio_profile_close (profile);
  radio_profile_close (again);
  free (alone);
  free (data);
  free (page);
  free (json.text);
  radio_profile_close (before);
}

static void
the_other_profile_of_a_comparison_is_redacted_too (void **state)
{
  (void) state;
  struct radio_profile *before = build_specimen ();
  char *open = page_of_both (before, false);
  char *redacted = page_of_both (before, true);
  assert_non_null (strstr (open, "Doe^Jane"));
  assert_null (strstr (redacted, "Jane"));
  assert_non_null (strstr (redacted, BEFORE_BEGIN));
  free (open);
  free (redacted);
  radio_profile_close (before);
}

/* Asserts that "sha256-..." of a text is in the policy. */
static void
assert_digest_is_in_policy (const char *page, const char *text)
{
  char *policy = between (page, "Content-Security-Policy\" content=\"", "\"");
  unsigned char sha256[32];
  char expected[8 + 45] = "'sha256-";
  assert_int_equal (EVP_Digest (text, strlen (text), sha256, NULL,
                                EVP_sha256 (), NULL), 1);
  EVP_EncodeBlock ((unsigned char *) expected + 8, sha256, sizeof sha256);
  if (strstr (policy, expected) == NULL)
    fail_msg ("%s is not in %s", expected, policy);
  free (policy);
}

static void
the_policy_forbids_all_but_its_own_scripts_and_styles (void **state)
{
  (void) state;
  char *page = page_named ("scope");
  char *policy = between (page, "Content-Security-Policy\" content=\"", "\"");
  char *style = between (page, "<style>", "</style>");
  char *loader = between (page, "<script>", "</script>");
  assert_int_equal (strncmp (policy, "default-src 'none'; ", 20), 0);
  assert_null (strstr (policy, "unsafe"));
  assert_null (strstr (policy, "http"));
  assert_null (strchr (policy, '*'));
  assert_int_equal (count_of (policy, "sha256-"), 4);
  assert_digest_is_in_policy (page, style);
  assert_digest_is_in_policy (page, loader);
  assert_digest_is_in_policy (page, rd_page_view_style);
  assert_digest_is_in_policy (page, rd_page_script);
  free (loader);
  free (style);
  free (policy);
  free (page);
}

static unsigned
digit_of (char letter)
{
  return letter == '}' ? '&' - '!' : letter == '~' ? '<' - '!'
                                                   : (unsigned) letter - '!';
}

/* Returns the bytes of a text in base 92; allocated. */
static unsigned char *
from_base92 (const char *text, size_t *nbytes)
{
  size_t n = strlen (text);
  unsigned char *bytes = malloc (n + 1);
  assert_non_null (bytes);
  unsigned held = 0, nheld = 0;
  *nbytes = 0;
  for (size_t i = 0; i < n; i += 2) {
    bool is_pair = i + 1 < n;
    unsigned value = digit_of (text[i]);
    if (is_pair)
      value = value * 92 + digit_of (text[i + 1]);
    held |= value << nheld;
    for (nheld += is_pair ? 13 : 6; nheld >= 8; nheld -= 8, held >>= 8)
      bytes[(*nbytes)++] = (unsigned char) held;
  }
  return bytes;
}

static void
packed_parts_are_in_base_92 (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer text = { 0 };
  assert_ok (rd_base92_encode ("Man sure.", 9, &text));
  assert_int_equal (text.nbytes, 12);
  assert_memory_equal (text.data, "$Z*Xq)._2\\!8", 12);
  unsigned char bytes[600];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char) (i * 37 + i / 256);
  for (size_t n = 0; n <= sizeof bytes; n++) {
    size_t nbytes;
    assert_ok (rd_base92_encode (bytes, n, &text));
    assert_ok (rd_buffer_append (&text, "", 1));
    assert_null (strpbrk ((char *) text.data, "<&"));
    unsigned char *back = from_base92 ((char *) text.data, &nbytes);
    assert_int_equal (nbytes, n);
    assert_memory_equal (back, bytes, n);
    free (back);
  }
}

/* Asserts that an element holds a text, deflated. */
static void
assert_unpacks (const char *page, const char *begin, const char *expected)
{
  char *base92 = between (page, begin, "</script>");
  size_t packed_nbytes, nbytes = strlen (expected);
  unsigned char *packed = from_base92 (base92, &packed_nbytes);
  char *text = malloc (nbytes);
  assert_non_null (text);
  struct libdeflate_decompressor *inflate =
    libdeflate_alloc_decompressor ();
  assert_non_null (inflate);
  assert_int_equal (libdeflate_deflate_decompress (inflate, packed,
                                                   packed_nbytes, text,
                                                   nbytes, NULL),
                    LIBDEFLATE_SUCCESS);
  assert_memory_equal (text, expected, nbytes);
  libdeflate_free_decompressor (inflate);
  free (text);
  free (packed);
  free (base92);
}

static void
the_views_script_and_style_are_in_the_page_deflated (void **state)
{
  (void) state;
  char *page = page_named ("scope");
  assert_unpacks (page, "data-packed=\"style\">", rd_page_view_style);
  assert_unpacks (page, "data-packed=\"script\">", rd_page_script);
  free (page);
}

/* Packed data may spell anything by chance, so it is checked before it is
 * packed.  Only the loader, which has no type, is not packed. */
static void
blank_packed_parts (char *page)
{
  for (char *p = page; (p = strstr (p, "<script type="));) {
    char *begin = strchr (p, '>');
    p = strstr (p, "</script>");
    assert_true (begin && p);
    memset (begin + 1, ' ', (size_t) (p - begin - 1));
  }
}

static void
the_page_names_no_address_of_a_network (void **state)
{
  (void) state;
  char *page = page_named ("scope");
  blank_packed_parts (page);
  const char *const texts[] = { page, rd_page_view_style, rd_page_script };
  static const char *const addresses[] = {
    "https:", "@import", " src=", "src=\"", "fetch(",
    "XMLHttpRequest", "WebSocket", "sendBeacon", "importScripts", "eval(",
  };
  for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++)
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++)
      if (strstr (texts[k], addresses[i]))
        fail_msg ("the page holds '%s'", addresses[i]);
  /* The name of SVG's namespace is an address that is never fetched; "url(#"
   * refers to a place in the same picture. */
  assert_null (strstr (page, "http:"));
  assert_null (strstr (page, "url("));
  assert_null (strstr (rd_page_view_style, "url("));
  assert_int_equal (count_of (rd_page_script, "url("),
                    count_of (rd_page_script, "url(#"));
  assert_int_equal (count_of (rd_page_script, "http:"),
                    count_of (rd_page_script, "http://www.w3.org/2000/svg"));
  free (page);
}

static void
no_slot_of_the_template_is_left_and_none_is_unknown (void **state)
{
  (void) state;
  static const char *const names[] = {
    "@POLICY@", "@VERSION@", "@TITLE@", "@STYLE@", "@VIEW_STYLE@",
    "@SCRIPT@", "@LOADER@", "@STATIC@", "@CURVE@", "@NBYTES@", "@DATA@",
    "@BEFORE@",
  };
  char *page = page_named ("scope");
  size_t n = 0;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal (count_of (rd_page_template, names[i]), 1);
    assert_null (strstr (page, names[i]));
    n++;
  }
  assert_int_equal (count_of (rd_page_template, "@"), 2 * n);
  free (page);
}

static void
a_name_like_a_slot_is_a_name (void **state)
{
  (void) state;
  char *page = page_named ("@DATA@");
  assert_int_equal (count_of (page, "</html>"), 1);
  assert_non_null (strstr (page, "<h1><bdi>@DATA@</bdi></h1>"));
  free (page);
}

static void
a_name_that_is_markup_stays_text (void **state)
{
  (void) state;
  char *plain = page_named ("x");
  char *page = page_named ("</script></title><img src=x onerror='a()'>&\"");
  assert_null (strstr (page, "<img"));
  assert_int_equal (count_of (page, "<"), count_of (plain, "<"));
  assert_non_null (strstr (page, "&lt;img src=x onerror=&#39;a()&#39;&gt;"
                                 "&amp;&quot;"));
  free (page);
  free (plain);
}

static void
names_of_either_direction_do_not_turn_the_rest (void **state)
{
  (void) state;
  char *page = page_named ("\327\251\327\234\327\225\327\235 \342\200\256x");
  char *fixed = between (page, "<main id=\"static\">", "</main>");
  const char *at = fixed;
  size_t n = 0;
  while ((at = strstr (at, "\327\251")) != NULL) {
    assert_int_equal (strncmp (at - 5, "<bdi>", 5), 0);
    at++;
    n++;
  }
  assert_true (n >= 4);
  free (fixed);
  free (page);
}

/* Returns the part of the page that C wrote. */
static char *
static_of_finished (struct radio_profile *profile)
{
  char *page = page_of (profile);
  char *fixed = between (page, "<main id=\"static\">", "</main>");
  free (page);
  radio_profile_close (profile);
  return fixed;
}

static char *
static_of (struct radio_profile *profile)
{
  build_finish (profile);
  return static_of_finished (profile);
}

static void
assert_row (const char *text, const char *name, const char *value)
{
  char row[256];
  snprintf (row, sizeof row, "<bdi>%s</bdi></th><td>%s</td>", name, value);
  if (strstr (text, row) == NULL)
    fail_msg ("no row %s in %s", row, text);
}

/* As units.test.mjs has them: rounding may need the next unit, or fewer
 * decimals. */
static void
numbers_are_rounded_as_the_script_does (void **state)
{
  (void) state;
  static const struct {
    uint64_t value;
    const char *time, *nbytes;
  } cases[] = {
    { 0, "0\302\240ns", "0\302\240B" },
    { 999, "999\302\240ns", "999\302\240B" },
    { 1000, "1.00\302\240\302\265s", "1.00\302\240kB" },
    { 1005, "1.01\302\240\302\265s", "1.01\302\240kB" },
    { 9994, "9.99\302\240\302\265s", "9.99\302\240kB" },
    { 9995, "10.0\302\240\302\265s", "10.0\302\240kB" },
    { 99950, "100\302\240\302\265s", "100\302\240kB" },
    { 999499, "999\302\240\302\265s", "999\302\240kB" },
    { 999600, "1.00\302\240ms", "1.00\302\240MB" },
    { 999950000, "1.00\302\240s", "1.00\302\240GB" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_profile *profile = build_new ("numbers");
    uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
    uint32_t lane = build_lane (profile, "main");
    build_span (profile, lane, read, 0, 0, cases[i].value);
    build_count (profile, read, "bytes fetched", "bytes", cases[i].value);
    char *text = static_of (profile);
    assert_row (text, "wall", cases[i].time);
    if (cases[i].value > 0)
      assert_row (text, "bytes fetched", cases[i].nbytes);
    free (text);
  }
}

/* 9.9955 threads are 10.0. */
static void
threads_busy_are_rounded_as_the_script_does (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("busy");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  for (uint64_t i = 0; i < 10; i++)
    build_span (profile, build_lane (profile, "main"), read, 0, 0,
                i == 0 ? 10000 : 9995);
  char *text = static_of (profile);
  assert_row (text, "threads busy", "10.0");
  free (text);
}

static void
the_summary_needs_no_script (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("two reads");
  uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
  uint32_t lane = build_lane (profile, "main");
  build_span (profile, lane, read, 0, 0, 12345678);
  build_count (profile, read, "bytes fetched", "bytes", 999);
  build_count (profile, read, "requests", "count", 12);
  build_fact (profile, "host", "a-host", true);
  profile->info.title = rd_profile_string (profile, "two reads");
  profile->info.started_unix_ns = 1000000000000000000;
  char *text = static_of (profile);
  assert_row (text, "wall", "12.3\302\240ms");
  assert_row (text, "work", "12.3\302\240ms");
  assert_row (text, "bytes fetched", "999\302\240B");
  assert_row (text, "requests", "12");
  assert_row (text, "host", "<bdi>a-host</bdi>");
  assert_row (text, "threads busy", "1.00");
  assert_true (strstr (text, "class=\"scopes\"")
               < strstr (text, "<h2>Recording</h2>"));
  assert_non_null (strstr (text, "2001-09-09 01:46:40 UTC"));
  free (text);
}

static void
times_have_three_digits_and_a_unit (void **state)
{
  (void) state;
  static const struct {
    uint64_t ns;
    const char *text;
  } cases[] = {
    { 0, "0\302\240ns" },           { 1, "1\302\240ns" },
    { 999, "999\302\240ns" },       { 1000, "1.00\302\240\302\265s" },
    { 1005, "1.01\302\240\302\265s" },  { 9994, "9.99\302\240\302\265s" },
    { 123456, "123\302\240\302\265s" }, { 1500000, "1.50\302\240ms" },
    { 59999999999, "60.0\302\240s" },   { 7200000000000, "7200\302\240s" },
    { UINT64_MAX / 2, "9223372037\302\240s" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct radio_profile *profile = build_new ("t");
    uint32_t read = build_node (profile, RD_NO_INDEX, "read", "operation");
    build_times (profile, read, 1, cases[i].ns, cases[i].ns, 0, 0);
    char *text = static_of (profile);
    char cell[64];
    snprintf (cell, sizeof cell, "</th><td>%s</td>", cases[i].text);
    if (strstr (text, cell) == NULL)
      fail_msg ("%llu ns: no %s in %s", (unsigned long long) cases[i].ns,
                cell, text);
    free (text);
  }
}

static void
findings_spell_microseconds_as_tables_do (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  assert_true (profile->findings.n > 0);
  profile->findings.at[0].evidence = "12 us & 7 us, then us; 3 users; 9 us";
  char *text = static_of_finished (profile);
  assert_non_null (strstr (text, "12\302\240\302\265s &amp; "
                                 "7\302\240\302\265s, then us; 3 users; "
                                 "9\302\240\302\265s</bdi>"));
  free (text);
}

static void
the_table_has_the_most_self_time_first (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("many");
  uint32_t root = build_node (profile, RD_NO_INDEX, "root", "operation");
  build_times (profile, root, 1, 1000000, 0, 0, 0);
  for (uint64_t i = 0; i < 100; i++) {
    char name[16];
    snprintf (name, sizeof name, "s%03u", (unsigned) (i * 37 % 100));
    uint32_t node = build_node (profile, root, name, "decode");
    build_times (profile, node, 1, 10, 1 + i * 37 % 100, 0, 0);
  }
  char *text = static_of (profile);
  const char *at = strstr (text, "class=\"scopes\"");
  assert_non_null (at);
  for (unsigned i = 0; i < 30; i++) {
    char path[80];
    snprintf (path, sizeof path,
              "<bdi>root</bdi> \342\200\272 <bdi>s%03u</bdi></th>", 99 - i);
    at = strstr (at, path);
    if (at == NULL)
      fail_msg ("%s is not where it belongs", path);
  }
  assert_null (strstr (text, "<bdi>s069</bdi>"));
  assert_non_null (strstr (text, "30 of 101 scopes."));
  free (text);
}

static void
a_path_that_is_deep_shows_its_end (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("deep");
  uint32_t node = RD_NO_INDEX;
  for (unsigned i = 0; i < 200; i++) {
    char name[16];
    snprintf (name, sizeof name, "d%u", i);
    node = build_node (profile, node, name, "user");
    build_times (profile, node, 1, 1000 - i, i, 0, 0);
  }
  char *text = static_of (profile);
  assert_non_null (strstr (text, "<th scope=\"row\">\342\200\246 \342\200\272 "
                                 "<bdi>d192</bdi>"));
  assert_null (strstr (text, "<bdi>d0</bdi>"));
  free (text);
}

static void
an_empty_profile_has_a_page (void **state)
{
  (void) state;
  struct radio_profile *profile = build_new ("nothing");
  char *text = static_of (profile);
  assert_row (text, "wall", "0\302\240ns");
  assert_null (strstr (text, "threads busy"));
  free (text);
}

static enum radio_status
refuse_after (const void *data, size_t nbytes, void *user_data)
{
  size_t *left = user_data;
  (void) data;
  if (nbytes > *left)
    return rd_fail (RADIO_ERROR_NO_SPACE, "no space");
  *left -= nbytes;
  return RADIO_OK;
}

static void
a_full_sink_stops_the_page_at_any_point (void **state)
{
  (void) state;
  struct radio_profile *profile = build_specimen ();
  const struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_HTML,
  };
  char *page = page_of (profile);
  size_t nbytes = strlen (page);
  free (page);
  for (size_t room = 0; room < nbytes; room += 9973) {
    size_t left = room;
    assert_fails (radio_profile_write_to (profile, &options, refuse_after,
                                          &left),
                  RADIO_ERROR_NO_SPACE, "no space");
  }
  size_t left = nbytes;
  assert_ok (radio_profile_write_to (profile, &options, refuse_after,
                                     &left));
  assert_int_equal (left, 0);
  radio_profile_close (profile);
}

static void
the_page_without_data_is_small (void **state)
{
  (void) state;
  char *page = page_named ("scope");
  char *fixed = between (page, "<main id=\"static\">", "</main>");
  char *data = between (page, DATA_BEGIN, "</script>");
  size_t nbytes = strlen (page) - strlen (fixed) - strlen (data);
  print_message ("template, style and script: %zu bytes\n", nbytes);
  assert_true (nbytes <= 99300);
  free (data);
  free (fixed);
  free (page);
}

#define MANY_NLANES 4
#define MANY_NTILES 50000
#define MANY_NSTEPS 4

static uint64_t
next_random (uint64_t *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* Adds a tile that a thread reads in several steps, each of a different
 * length; returns where it ends. */
static uint64_t
add_tile (struct radio_profile *profile, uint32_t lane, const uint32_t *nodes,
          uint64_t begin, uint64_t *random)
{
  uint64_t at = begin;
  uint32_t id = build_span (profile, lane, nodes[0], 0, begin, 0);
  size_t tile = profile->spans.n - 1;
  for (size_t i = 1; i <= MANY_NSTEPS; i++) {
    uint64_t duration = next_random (random) % (uint64_t) (20000 << i);
    at += 100 + next_random (random) % 1000;
    build_span (profile, lane, nodes[i], id, at, duration);
    build_last (profile)->nbytes = 4096 + next_random (random) % 16384;
    at += duration;
  }
  profile->spans.at[tile].duration_ns = at - begin;
  return at + next_random (random) % 2000;
}

static struct radio_profile *
build_million (void)
{
  static const char *const names[] = { "fetch", "checksum", "decode",
                                       "place" };
  struct radio_profile *profile = build_new ("a million spans");
  uint32_t nodes[1 + MANY_NSTEPS];
  nodes[0] = build_node (profile, RD_NO_INDEX, "tile", "operation");
  for (size_t i = 0; i < MANY_NSTEPS; i++)
    nodes[1 + i] = build_node (profile, nodes[0], names[i], "decode");
  uint64_t random = 1;
  for (uint64_t lane = 0; lane < MANY_NLANES; lane++) {
    char name[16];
    snprintf (name, sizeof name, "worker %u", (unsigned) lane);
    uint32_t index = build_lane (profile, name);
    uint64_t at = 0;
    for (size_t i = 0; i < MANY_NTILES; i++)
      at = add_tile (profile, index, nodes, at, &random);
  }
  assert_ok (rd_profile_finalize (profile));
  return profile;
}

static void
a_page_of_a_million_spans_is_below_10_mb (void **state)
{
  (void) state;
  const struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_HTML,
  };
  struct radio_profile *profile = build_million ();
  assert_int_equal (profile->spans.n, 1000000);
  size_t room = 10000000, left = room;
  assert_ok (radio_profile_write_to (profile, &options, refuse_after, &left));
  print_message ("a million spans: %zu bytes\n", room - left);
  assert_true (room - left > 1000000);
  radio_profile_close (profile);
}

static void
the_loader_and_style_end_no_element_by_themselves (void **state)
{
  (void) state;
  assert_null (strstr (rd_page_loader, "</"));
  assert_null (strstr (rd_page_loader, "<!--"));
  assert_null (strstr (rd_page_style, "</"));
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_data_are_exactly_radio_s_json),
    cmocka_unit_test (a_profile_is_read_back_from_its_page),
    cmocka_unit_test (the_policy_forbids_all_but_its_own_scripts_and_styles),
    cmocka_unit_test (the_views_script_and_style_are_in_the_page_deflated),
    cmocka_unit_test (a_page_that_compares_holds_both),
    cmocka_unit_test (the_other_profile_of_a_comparison_is_redacted_too),
    cmocka_unit_test (packed_parts_are_in_base_92),
    cmocka_unit_test (the_page_names_no_address_of_a_network),
    cmocka_unit_test (no_slot_of_the_template_is_left_and_none_is_unknown),
    cmocka_unit_test (a_name_like_a_slot_is_a_name),
    cmocka_unit_test (a_name_that_is_markup_stays_text),
    cmocka_unit_test (names_of_either_direction_do_not_turn_the_rest),
    cmocka_unit_test (numbers_are_rounded_as_the_script_does),
    cmocka_unit_test (threads_busy_are_rounded_as_the_script_does),
    cmocka_unit_test (the_summary_needs_no_script),
    cmocka_unit_test (times_have_three_digits_and_a_unit),
    cmocka_unit_test (findings_spell_microseconds_as_tables_do),
    cmocka_unit_test (the_table_has_the_most_self_time_first),
    cmocka_unit_test (a_path_that_is_deep_shows_its_end),
    cmocka_unit_test (an_empty_profile_has_a_page),
    cmocka_unit_test (a_full_sink_stops_the_page_at_any_point),
    cmocka_unit_test (the_page_without_data_is_small),
    cmocka_unit_test (a_page_of_a_million_spans_is_below_10_mb),
    cmocka_unit_test (the_loader_and_style_end_no_element_by_themselves),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
