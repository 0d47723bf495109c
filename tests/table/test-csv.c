/* SPDX-License-Identifier: MIT */
/* Text tables: how text is split into cells, the types of columns, each way in
 * which a text is wrong, in bounded memory; and writing, which reads back. */
#include <config.h>

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "tests/alloc-fail.h"
#include "tests/unit.h"

#include "src/table/csv.h"

static struct radio_csv *
parse_with (const char *text, const struct radio_csv_options *options)
{
  struct radio_csv *csv;
  assert_ok (radio_csv_parse (text, strlen (text), "t.csv", options, &csv));
  return csv;
}

/* Cells separated by '|', rows by '/'. */
static void
assert_cells (const char *text, const char *wanted)
{
  struct radio_csv *csv = parse_with (text, NULL);
  char got[256];
  size_t used = 0;
  for (uint64_t row = 0; row <= csv->nrows; row++)
    for (size_t i = 0; i < csv->ncolumns; i++)
      used += (size_t) snprintf (got + used, sizeof got - used, "%s%s",
                                 i > 0 ? "|" : row > 0 ? "/" : "",
                                 rd_csv_cell (csv, row, i));
  assert_string_equal (got, wanted);
  radio_csv_close (csv);
}

static void
text_is_split_into_cells (void **state)
{
  (void) state;
  assert_cells ("a,b\n1,2\n", "a|b/1|2");
  assert_cells ("a,b\r\n1,2", "a|b/1|2");
  assert_cells ("a,b\r1,2\r", "a|b/1|2");
  assert_cells ("\xef\xbb\xbf" "a,b\n", "a|b");
  assert_cells ("a\tb,c\n1\t2\n", "a|b,c/1|2");
  assert_cells ("a;b\n1;2,5\n", "a|b/1|2,5");
  assert_cells ("\"a\tx\",b\n1,2\n", "a\tx|b/1|2");
  assert_cells ("\n\na,b\n\r\n1,2\n\n\n", "a|b/1|2");
  assert_cells ("a,b\n,\n", "a|b/|");
  assert_cells ("a\n\"\"\n", "a/");
  assert_cells ("a,b\n\"x, \"\"y\"\"\",\"1\n2\r\n3\"\n",
                "a|b/x, \"y\"|1\n2\r\n3");
  assert_cells ("a,b\n5\" tall,x\"\"y\n", "a|b/5\" tall|x\"\"y");
  assert_cells ("a,b\n 1 , 2\n", "a|b/ 1 | 2");
  assert_cells ("a\n=cmd|' /C calc'!A0\n", "a/=cmd|' /C calc'!A0");
}

static void
assert_type (const char *cells, enum radio_column_type type,
             uint64_t missing_count)
{
  char text[512];
  struct radio_csv_column column;
  struct radio_csv *csv;
  snprintf (text, sizeof text, "x\n%s", cells);
  for (char *p = text; *p; p++)
    if (*p == ' ')
      *p = '\n';
  csv = parse_with (text, NULL);
  assert_ok (radio_csv_get_column (csv, 0, &column));
  assert_int_equal (column.type, type);
  assert_int_equal (column.missing_count, missing_count);
  assert_string_equal (column.attributes_json, "{}");
  radio_csv_close (csv);
}

static void
types_are_those_that_all_rows_have (void **state)
{
  (void) state;
  assert_type ("true False TRUE n/a", RADIO_COLUMN_BOOL, 1);
  assert_type ("true 1", RADIO_COLUMN_TEXT, 0);
  assert_type ("1 -2 +3 0 \"\" n/a", RADIO_COLUMN_INTEGER, 2);
  assert_type ("9223372036854775807 -9223372036854775808",
               RADIO_COLUMN_INTEGER, 0);
  assert_type ("9223372036854775808", RADIO_COLUMN_TEXT, 0);
  assert_type ("9223372036854775808 0.5", RADIO_COLUMN_FLOAT, 0);
  assert_type ("007 1", RADIO_COLUMN_TEXT, 0);
  assert_type ("00.5 1", RADIO_COLUMN_FLOAT, 0);
  assert_type ("1 2.5 -1e-3 .5 5. 1E+2", RADIO_COLUMN_FLOAT, 0);
  assert_type ("1 NaN inf -Infinity", RADIO_COLUMN_FLOAT, 0);
  assert_type ("1 e5", RADIO_COLUMN_TEXT, 0);
  assert_type ("1 1e", RADIO_COLUMN_TEXT, 0);
  assert_type ("1 .", RADIO_COLUMN_TEXT, 0);
  assert_type ("1 0x10", RADIO_COLUMN_TEXT, 0);
  assert_type ("1 1_000", RADIO_COLUMN_TEXT, 0);
  assert_type ("1 --1", RADIO_COLUMN_TEXT, 0);
  assert_type ("n/a n/a", RADIO_COLUMN_TEXT, 2);
  assert_type ("N/A NA", RADIO_COLUMN_TEXT, 0);
  assert_type ("", RADIO_COLUMN_TEXT, 0);
}

static void
values_are_read_in_their_type (void **state)
{
  (void) state;
  static const char text[] =
    "id,b,i,f,t\n"
    "s1,true,1,0.1,x\n"
    "s2,n/a, -2 ,1e23,\n"
    "s3,FALSE,,-0.0,n/a\n"
    "s4,true,9223372036854775807,123456789012345678901234567890,\"y, z\"\n"
    "s5,true,+4,nan,=1+1\n";
  static const double floats[] = {
    0.1, 1e23, -0.0, 123456789012345678901234567890.0, NAN,
  };
  static const int64_t integers[] = { 1, -2, 0, INT64_MAX, 4 };
  struct radio_csv *csv = parse_with (text, NULL);
  struct radio_csv_info info;
  struct radio_cells cells;
  struct radio_strings ids;
  size_t number;
  radio_csv_get_info (csv, &info);
  assert_int_equal (info.row_count, 5);
  assert_int_equal (info.column_count, 5);
  assert_int_equal (info.separator, ',');

  assert_ok (radio_csv_read (csv, 1, &cells));
  assert_string_equal (cells.column, "b");
  assert_int_equal (cells.type, RADIO_COLUMN_BOOL);
  assert_int_equal (cells.dtype, RADIO_BOOL);
  assert_memory_equal (cells.values, ((const bool[]) { 1, 0, 0, 1, 1 }), 5);
  assert_memory_equal (cells.valid, ((const bool[]) { 1, 0, 1, 1, 1 }), 5);

  assert_ok (radio_csv_find_column (csv, "i", &number));
  assert_ok (radio_csv_read (csv, number, &cells));
  assert_int_equal (cells.dtype, RADIO_INT64);
  assert_memory_equal (cells.values, integers, sizeof integers);
  assert_memory_equal (cells.valid, ((const bool[]) { 1, 1, 0, 1, 1 }), 5);

  assert_ok (radio_csv_read (csv, 3, &cells));
  assert_int_equal (cells.dtype, RADIO_FLOAT64);
  assert_memory_equal (cells.values, floats, 4 * sizeof *floats);
  assert_true (isnan (((const double *) cells.values)[4]));
  assert_null (cells.attributes_json);

  assert_ok (radio_csv_read (csv, 4, &cells));
  assert_null (cells.values);
  assert_memory_equal (cells.valid, ((const bool[]) { 1, 0, 0, 1, 1 }), 5);
  assert_string_equal (cells.text->bytes, "xy, z=1+1");
  assert_memory_equal (cells.text->offsets,
                       ((const int64_t[]) { 0, 1, 1, 1, 5, 9 }), 48);

  assert_ok (radio_csv_read_text (csv, 0, &ids));
  assert_int_equal (ids.n, 5);
  assert_string_equal (ids.bytes, "s1s2s3s4s5");
  radio_strings_free (&ids);
  assert_fails (radio_csv_read (csv, 5, &cells), RADIO_ERROR_ARGUMENT,
                "column 5 of 5");
  assert_fails (radio_csv_find_column (csv, "age", &number),
                RADIO_ERROR_NOT_FOUND,
                "t.csv: no column 'age'; there are id, b, i, f, t");
  radio_csv_close (csv);
}

static void
a_type_can_be_changed (void **state)
{
  (void) state;
  struct radio_csv *csv = parse_with ("i,t\n7,x\nn/a,2\n", NULL);
  struct radio_cells cells;
  assert_fails (radio_csv_set_type (csv, 1, RADIO_COLUMN_FLOAT),
                RADIO_ERROR_FORMAT,
                "t.csv: line 2, column 't': 'x' is not a number");
  assert_ok (radio_csv_read (csv, 1, &cells));
  assert_int_equal (cells.type, RADIO_COLUMN_TEXT);
  assert_ok (radio_csv_set_type (csv, 0, RADIO_COLUMN_FLOAT));
  assert_ok (radio_csv_read (csv, 0, &cells));
  assert_int_equal (cells.type, RADIO_COLUMN_FLOAT);
  assert_true (((const double *) cells.values)[0] == 7);
  assert_true (cells.valid[0] && !cells.valid[1]);
  assert_fails (radio_csv_set_type (csv, 2, RADIO_COLUMN_TEXT),
                RADIO_ERROR_ARGUMENT, "column 2 of 2");
  assert_fails (radio_csv_set_type (csv, 0, (enum radio_column_type) 4),
                RADIO_ERROR_ARGUMENT, "type 4 of column 'i' is not known");
  radio_csv_close (csv);
}

static void
types_can_be_given (void **state)
{
  (void) state;
  static const char text[] = "zip,sex,score,flag,n,site\n"
                             "01234,1,5,1,n/a,3\n";
  static const struct radio_csv_type types[] = {
    { "zip", RADIO_COLUMN_TEXT }, { "flag", RADIO_COLUMN_BOOL },
    { "n", RADIO_COLUMN_INTEGER },
  };
  static const enum radio_column_type wanted[] = {
    RADIO_COLUMN_TEXT, RADIO_COLUMN_TEXT, RADIO_COLUMN_FLOAT,
    RADIO_COLUMN_BOOL, RADIO_COLUMN_INTEGER, RADIO_COLUMN_TEXT,
  };
  const struct radio_csv_options options = {
    .types = types, .type_count = 3,
    .sidecar_json = "{\"sex\": {\"Levels\": {\"1\": \"f/m\"}}, \"score\": "
      "{\"Format\": \"number\", \"Units\": \"1\"}, \"zip\": 5, \"site\": "
      "{\"Format\": \"label\"}, \"other\": {}}",
  };
  struct radio_csv *csv = parse_with (text, &options);
  struct radio_csv_column column;
  struct radio_cells cells;
  for (size_t i = 0; i < 6; i++) {
    assert_ok (radio_csv_get_column (csv, i, &column));
    assert_int_equal (column.type, wanted[i]);
  }
  assert_ok (radio_csv_get_column (csv, 1, &column));
  assert_string_equal (column.attributes_json,
                       "{\"Levels\":{\"1\":\"f/m\"}}");
  assert_ok (radio_csv_read (csv, 3, &cells));
  assert_true (*(const bool *) cells.values);
  radio_csv_close (csv);

  static const struct radio_csv_type bad = { "zip", RADIO_COLUMN_INTEGER };
  static const struct radio_csv_type other = { "zap", RADIO_COLUMN_INTEGER };
  struct radio_csv_options forced = { .types = &bad, .type_count = 1 };
  static const char odd[] = "zip,x\n1,\"a\nb\"\n12 b,n/a\n";
  assert_fails (radio_csv_parse (odd, sizeof odd - 1, "t.csv", &forced, &csv),
                RADIO_ERROR_FORMAT,
                "t.csv: line 4, column 'zip': '12 b' is not an integer");
  forced.types = &other;
  assert_fails (radio_csv_parse (odd, sizeof odd - 1, "t.csv", &forced, &csv),
                RADIO_ERROR_ARGUMENT, "no column 'zap'");
  forced = (struct radio_csv_options) { .sidecar_json = "[1]" };
  assert_fails (radio_csv_parse (odd, sizeof odd - 1, "t.csv", &forced, &csv),
                RADIO_ERROR_FORMAT, "t.csv: sidecar: the document");
  forced = (struct radio_csv_options) { .separator = '"' };
  assert_fails (radio_csv_parse (odd, sizeof odd - 1, "t.csv", &forced, &csv),
                RADIO_ERROR_ARGUMENT, "separator is 0x22");
}

static void
every_fault_is_named_with_its_place (void **state)
{
  (void) state;
  static const struct {
    const char *text;
    size_t nbytes;
    const char *message;
  } bad[] = {
    { "", 0, "t.csv: no line with the names" },
    { "\xef\xbb\xbf\n\n", 5, "no line with the names" },
    { "a,b\n1,2\n1\n", 10, "line 3 has 1 cell, but there are 2 columns" },
    { "a,b\n\n1,2,3\n", 11, "line 3 has 3 cells, but there are 2 columns" },
    { "a,b\n\"1\n2\",3\n1\n", 14, "line 4 has 1 cell" },
    { "a,b\n1,\"2\n3\n", 11,
      "line 2, column 2: the quote that begins here is not closed" },
    { "a,b\n\"1\"x,2\n", 11,
      "line 2, column 1: text after the closing quote" },
    { "a,b,\n", 5, "column 3 has no name; write one into "
      "the first line, as 'column_3'" },
    { "a,b,a\n", 6, "two columns are called 'a'" },
    { "a,b\n1,\0\n", 8, "line 2: a NUL character (byte 6)" },
    { "a,b\r\n1,\xfc\n", 9, "line 2: byte 7 (0xfc) is not UTF-8" },
    { "\xff\xfe" "a\0", 4, "the text is UTF-16" },
  };
  struct radio_csv *csv;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_fails (radio_csv_parse (bad[i].text, bad[i].nbytes, "t.csv", NULL,
                                   &csv), RADIO_ERROR_FORMAT, bad[i].message);
}

/* A million columns; and a hundred million cells. */
static void
memory_is_bounded (void **state)
{
  (void) state;
  enum { NBYTES = 8 << 20 };
  char *text = rd_malloc (NBYTES);
  struct radio_csv *csv;
  assert_non_null (text);
  memset (text, ',', NBYTES);
  alloc_fail_above ((size_t) NBYTES + 4096);
  enum radio_status status = radio_csv_parse (text, NBYTES, "t.csv", NULL,
                                              &csv);
  assert_false (alloc_fail_end ());
  assert_int_equal (status, RADIO_ERROR_LIMIT);
  assert_non_null (strstr (radio_error_message (),
                           "t.csv: more than 10000 columns"));

  const struct radio_csv_options options = {
    .memory_limit_nbytes = NBYTES + (4 << 20), .separator = ',',
  };
  for (size_t i = 0; i < NBYTES; i++)
    text[i] = i % 2 ? '\n' : 'x';
  alloc_fail_above ((size_t) NBYTES + 4096);
  status = radio_csv_parse (text, NBYTES, "t.csv", &options, &csv);
  assert_false (alloc_fail_end ());
  assert_int_equal (status, RADIO_ERROR_LIMIT);
  assert_non_null (strstr (radio_error_message (), "more than the limit"));

  /* One cell of all of it. */
  memset (text, 'x', NBYTES);
  memcpy (text, "a\n", 2);
  assert_ok (radio_csv_parse (text, NBYTES, "t.csv", NULL, &csv));
  radio_csv_close (csv);
  rd_free (text);

  struct radio_csv_options small = { .memory_limit_nbytes = 1 << 20 };
  assert_fails (radio_csv_open ("/dev/zero", &small, &csv),
                RADIO_ERROR_LIMIT, "/dev/zero: more than 1048576 bytes");
}

static enum radio_status
append (const char *text, size_t nbytes, void *user_data)
{
  return rd_buffer_append (user_data, text, nbytes);
}

/* Imports text into a store in memory, and exports the table. */
static void
assert_exported (const char *text, char separator, const size_t *columns,
                 size_t n, const char *wanted)
{
  const struct radio_store_options in = { .create = true };
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  struct radio_csv *csv = parse_with (text, NULL);
  struct radio_store *store;
  struct radio_table_edit *edit;
  struct radio_table *table;
  struct radio_strings ids;
  struct radio_cells cells;
  assert_ok (radio_store_open ("memory:", &in, &store));
  assert_ok (radio_table_edit_new (store, RADIO_TABLE_SUBJECTS, &edit));
  assert_ok (radio_csv_read_text (csv, 0, &ids));
  assert_ok (radio_table_edit_add_rows (edit, &ids));
  for (size_t i = 1; i < csv->ncolumns; i++) {
    assert_ok (radio_csv_read (csv, i, &cells));
    assert_ok (radio_table_edit_set (edit, &ids, &cells));
  }
  assert_ok (radio_table_edit_commit (edit, NULL));
  assert_ok (radio_table_open (store, RADIO_TABLE_SUBJECTS, &table));
  assert_ok (radio_table_write_csv (table, separator, columns, n, NULL, 0,
                                    append, &out));
  assert_ok (rd_buffer_append (&out, "", 1));
  const char *after_name = strpbrk ((const char *) out.data, ",\t\n");
  assert_non_null (after_name);
  assert_string_equal (after_name, wanted);
  assert_fails (radio_table_write_csv (table, '"', columns, n, NULL, 0, append,
                                       &out),
                RADIO_ERROR_ARGUMENT, "separator is 0x22");
  const uint64_t missing[] = { 1000 };
  assert_fails (radio_table_write_csv (table, ',', columns, n, missing, 1,
                                       append, &out),
                RADIO_ERROR_ARGUMENT, "row 1000; the table has");
  const size_t none[] = { 99 };
  assert_int_equal (radio_table_write_csv (table, ',', none, 1, NULL, 0, append,
                                           &out), RADIO_ERROR_ARGUMENT);
  radio_table_close (table);
  radio_table_edit_free (edit);
  radio_strings_free (&ids);
  radio_store_close (store);
  radio_csv_close (csv);
}

/* The columns after the ids, whose name is the table's, are the same. */
static void
a_table_is_exported_as_it_was_imported (void **state)
{
  (void) state;
  static const char text[] =
    "id,flag,age,score,note\n"
    "s1,true,9223372036854775807,0.1,\"a, \"\"b\"\"\"\n"
    "s2,n/a,n/a,1e+23,n/a\n"
    "s3,false,-3,-0.5,\xc3\xbc\n";
  const size_t two[] = { 3, 1 };
  assert_exported (text, ',', NULL, 0, text + 2);
  assert_exported (text, '\t', two, 2,
                   "\tnote\tage\ns1\t\"a, \"\"b\"\"\"\t9223372036854775807\n"
                   "s2\tn/a\tn/a\ns3\t\xc3\xbc\t-3\n");
  assert_exported ("id\ns1\n", ',', NULL, 0, "\ns1\n");
  assert_exported ("id,x\n", ',', NULL, 0, ",x\n");
}

/* Every cell of odd text, by each separator. */
static void
what_is_written_reads_back (void **state)
{
  (void) state;
  static const char bytes[] = "a,b" "c\"d" "\"" "\n" "x\r\ny" "\t;" " " "plain"
                              "\xc3\xbc" "1" "=1+1" "\xef\xbb\xbf";
  static const int64_t offsets[] = {
    0, 3, 6, 7, 8, 12, 14, 15, 20, 22, 23, 27, 30,
  };
  enum { N = sizeof offsets / sizeof *offsets - 1 };
  const struct radio_strings text = {
    N, (int64_t *) (uintptr_t) offsets, (char *) (uintptr_t) bytes,
  };
  bool valid[N];
  for (size_t i = 0; i < N; i++)
    valid[i] = i % 5 != 4;
  const struct rd_csv_output columns[] = {
    { "\xef\xbb\xbfid", &text, NULL }, { "a \"b\"", &text, valid },
    { ",;\t", &text, NULL },
  };
  static const char separators[] = ",\t;| ";
  for (const char *separator = separators; *separator; separator++) {
    RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
    const struct radio_csv_options options = { .separator = *separator };
    struct radio_csv *csv;
    struct radio_strings got;
    struct radio_cells cells;
    assert_ok (rd_csv_write (columns, 3, NULL, N, *separator, append, &out));
    assert_ok (radio_csv_parse ((const char *) out.data, out.nbytes, "t",
                                &options, &csv));
    assert_int_equal (csv->nrows, N);
    for (size_t i = 0; i < 3; i++) {
      assert_string_equal (csv->columns[i].name, columns[i].name);
      if (i == 1)
        continue;
      assert_ok (radio_csv_read_text (csv, i, &got));
      /* Blanks alone are missing. */
      assert_int_equal (got.offsets[6], offsets[6]);
      assert_memory_equal (got.bytes, bytes, (size_t) offsets[6]);
      assert_string_equal (got.bytes + got.offsets[7], bytes + offsets[7]);
      radio_strings_free (&got);
    }
    assert_ok (radio_csv_read (csv, 1, &cells));
    for (size_t i = 0; i < N; i++)
      assert_int_equal (cells.valid[i], valid[i] && i != 6);
    radio_csv_close (csv);
  }
}

static void
each_allocation_may_fail (void **state)
{
  (void) state;
  static const char text[] = "a,b,c\n1,2.5,x\n3,1e300,n/a\n";
  const struct radio_csv_options options = {
    .sidecar_json = "{\"c\": {\"Levels\": {\"x\": \"y\"}}}",
  };
  for (size_t nth = 1;; nth++) {
    struct radio_csv *csv = NULL;
    struct radio_cells cells;
    alloc_fail_nth (nth);
    enum radio_status status = radio_csv_parse (text, sizeof text - 1, "t",
                                                &options, &csv);
    for (size_t i = 0; i < 3 && status == RADIO_OK; i++)
      status = radio_csv_read (csv, i, &cells);
    bool failed = alloc_fail_end ();
    radio_csv_close (csv);
    if (!failed) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
  }
}

static void
write_file (const char *name, const char *text)
{
  RD_CLOSE_FD int fd = open (name, O_CREAT | O_WRONLY | O_TRUNC, 0600);
  assert_true (fd >= 0);
  assert_int_equal (write (fd, text, strlen (text)), strlen (text));
}

/* The sidecar is found by its name, is named, or is not wanted. */
static void
files_are_read_with_their_sidecar (void **state)
{
  (void) state;
  char folder[] = "/tmp/radio-csv-XXXXXX", table[64], sidecar[64], other[64];
  struct radio_csv *csv;
  struct radio_csv_column column;
  assert_non_null (mkdtemp (folder));
  snprintf (table, sizeof table, "%s/p.tsv", folder);
  snprintf (sidecar, sizeof sidecar, "%s/p.json", folder);
  snprintf (other, sizeof other, "%s/o.json", folder);
  write_file (table, "id\tsex\ns1\t1\n");
  write_file (sidecar, "{\"sex\": {\"Levels\": {\"1\": \"f\"}}}");
  write_file (other, "{\"sex\": {\"Units\": \"1\"}}");
  const struct {
    const char *file, *attributes;
    enum radio_column_type type;
  } cases[] = {
    { NULL, "{\"Levels\":{\"1\":\"f\"}}", RADIO_COLUMN_TEXT },
    { other, "{\"Units\":\"1\"}", RADIO_COLUMN_INTEGER },
    { "", "{}", RADIO_COLUMN_INTEGER },
  };
  for (size_t i = 0; i < 3; i++) {
    const struct radio_csv_options options = {
      .sidecar_file = cases[i].file,
    };
    assert_ok (radio_csv_open (table, &options, &csv));
    assert_ok (radio_csv_get_column (csv, 1, &column));
    assert_int_equal (column.type, cases[i].type);
    assert_string_equal (column.attributes_json, cases[i].attributes);
    radio_csv_close (csv);
  }
  write_file (sidecar, "{");
  assert_fails (radio_csv_open (table, NULL, &csv), RADIO_ERROR_FORMAT,
                "p.tsv: sidecar");
  unlink (other);
  unlink (sidecar);
  unlink (table);
  assert_fails (radio_csv_open (table, NULL, &csv), RADIO_ERROR_NOT_FOUND,
                "cannot open");
  rmdir (folder);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (text_is_split_into_cells),
    cmocka_unit_test (types_are_those_that_all_rows_have),
    cmocka_unit_test (values_are_read_in_their_type),
    cmocka_unit_test (a_type_can_be_changed),
    cmocka_unit_test (types_can_be_given),
    cmocka_unit_test (every_fault_is_named_with_its_place),
    cmocka_unit_test (memory_is_bounded),
    cmocka_unit_test (what_is_written_reads_back),
    cmocka_unit_test (a_table_is_exported_as_it_was_imported),
    cmocka_unit_test (each_allocation_may_fail),
    cmocka_unit_test (files_are_read_with_their_sidecar),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
