/* SPDX-License-Identifier: MIT */
/* Names of nodes and keys of chunks. */
#include <config.h>

#include "tests/unit.h"

#include "src/zarr/document.h"

static void
ordinary_names_are_taken (void **state)
{
  (void) state;
  static const char *const names[] = {
    "a", "sub-01_ses-2", "0-5f3a91c7", ".x", "x.", "a..b", "_x", "x__",
    "Zarr.json", "zarr.json2", "mit Blank",
    ("\xc3\xa9\xe2\x82\xac" "\xf0\x9f\x98\x80"), "c",
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_ok (rd_node_name_check (names[i]));
}

static void
illegal_names_are_refused_with_the_reason (void **state)
{
  (void) state;
  static const struct { const char *name, *words; } cases[] = {
    { "", "empty" }, { ".", "dots" }, { "..", "dots" }, { "...", "dots" },
    { "a/b", "'/'" }, { "__x", "reserved" }, { "zarr.json", "documents" },
    { "a\nb", "control character" }, { "a\177", "control character" },
    { "\xff", "UTF-8" }, { "a\xc3", "UTF-8" }, { "\xc0\x80", "UTF-8" },
    { "\xed\xa0\x80", "UTF-8" }, { "\xf5\x80\x80\x80", "UTF-8" },
    { "\xe0\x80\x80", "UTF-8" }, { "\xf4\x90\x80\x80", "UTF-8" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_fails (rd_node_name_check (cases[i].name), RADIO_ERROR_ARGUMENT,
                  cases[i].words);
}

static void
names_have_at_most_200_bytes (void **state)
{
  (void) state;
  char name[202];
  memset (name, 'x', sizeof name);
  name[201] = '\0';
  assert_fails (rd_node_name_check (name), RADIO_ERROR_ARGUMENT, "200");
  name[200] = '\0';
  assert_ok (rd_node_name_check (name));
}

static void
keys_are_those_of_their_encoding (void **state)
{
  (void) state;
  static const struct { bool v2; char separator; const char *key; }
  cases[] = {
    { false, '/', "c/0/10/18446744073709551615" },
    { false, '.', "c.0.10.18446744073709551615" },
    { true, '.', "0.10.18446744073709551615" },
    { true, '/', "0/10/18446744073709551615" },
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct rd_array_doc doc = { .rank = 3, .keys_v2 = cases[i].v2,
                                .separator = cases[i].separator };
    char key[RD_CHUNK_KEY_NBYTES];
    rd_chunk_key (&doc, (uint64_t[]) { 0, 10, UINT64_MAX }, key);
    assert_string_equal (key, cases[i].key);
  }
}

static void
the_longest_key_has_room (void **state)
{
  (void) state;
  struct rd_array_doc doc = { .rank = RADIO_MAX_RANK, .separator = '/' };
  uint64_t index[RADIO_MAX_RANK];
  char key[RD_CHUNK_KEY_NBYTES];
  memset (index, 0xff, sizeof index);
  rd_chunk_key (&doc, index, key);
  assert_int_equal (strlen (key), 1 + RADIO_MAX_RANK * 21);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (ordinary_names_are_taken),
    cmocka_unit_test (illegal_names_are_refused_with_the_reason),
    cmocka_unit_test (names_have_at_most_200_bytes),
    cmocka_unit_test (keys_are_those_of_their_encoding),
    cmocka_unit_test (the_longest_key_has_room),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
