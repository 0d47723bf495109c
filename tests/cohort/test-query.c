/* SPDX-License-Identifier: MIT */
/* Queries select what SQL's logic says, of each type, over two tables; what is
 * wrong is reported with its place; and views of them agree. */
#include <config.h>

#include <math.h>

#include <radio/cohort.h>

#include "src/base/alloc.h"
#include "src/cohort/query.h"
#include "src/table/heads.h"
#include "tests/alloc-fail.h"
#include "tests/table/cells.h"

#define CT RADIO_TABLE_VOLUMES "/ct"
#define SEG RADIO_TABLE_VOLUMES "/seg"
#define LENGTH(array) (sizeof (array) / sizeof *(array))

static void
set (struct radio_table_edit *edit, const char *ids,
     const struct radio_cells *cells)
{
  RD_STRINGS_FREE struct radio_strings strings = split (ids);
  assert_ok (radio_table_edit_set (edit, &strings, cells));
}

static void
commit (struct radio_table_edit *edit)
{
  assert_ok (radio_table_edit_commit (edit, NULL));
  radio_table_edit_free (edit);
}

static void
write_subjects (struct radio_store *store)
{
  static const int64_t ages[] = { 40, 0, INT64_MAX, -3, 9007199254740993 };
  static const bool valid[] = { true, false, true, true, true };
  static const double weights[] = { 70.5, NAN, -1e300, 0, 3 };
  static const bool bools[] = { true, false, true, false, true };
  static const uint64_t serials[] = { UINT64_MAX, 1, 2, 3, 4 };
  struct radio_table_edit *edit;
  const char *ids = "s1,s2,s3,s4,s5";
  assert_ok (radio_table_edit_new (store, RADIO_TABLE_SUBJECTS, &edit));
  assert_ok (add_rows (edit, ids));
  set (edit, ids, &(struct radio_cells) {
    .column = "age", .type = RADIO_COLUMN_INTEGER, .values = ages,
    .dtype = RADIO_INT64, .valid = valid });
  set (edit, ids, &(struct radio_cells) {
    .column = "serial", .type = RADIO_COLUMN_INTEGER, .values = serials,
    .dtype = RADIO_UINT64 });
  set (edit, ids, &(struct radio_cells) {
    .column = "weight", .type = RADIO_COLUMN_FLOAT, .values = weights,
    .dtype = RADIO_FLOAT64 });
  set (edit, ids, &(struct radio_cells) {
    .column = "smoker", .type = RADIO_COLUMN_BOOL, .values = bools,
    .dtype = RADIO_BOOL, .valid = valid });
  assert_ok (set_text (edit, ids, "site", "B,-,a,A,B"));
  assert_ok (set_text (edit, ids, "note", "x*y,\303\251,-,,a`b"));
  assert_ok (set_text (edit, ids, "odd name", "1,2,3,4,5"));
  assert_ok (set_text (edit, ids, "quality", "good,bad,good,bad,good"));
  commit (edit);
}

static struct radio_store *
make_store (void)
{
  static const int64_t sizes[] = { 10, 20, 30, 40 };
  static const double small_sizes[] = { 10.5, 0 };
  const struct radio_store_options options = { .create = true };
  struct radio_table_edit *edit;
  struct radio_store *store;
  const char *ids = "ct/s1,ct/s2,ct/s9,ct/none", *segs = "seg/s2,seg/s4";
  assert_ok (radio_store_open ("memory:", &options, &store));
  write_subjects (store);
  assert_ok (radio_table_edit_new (store, CT, &edit));
  assert_ok (add_rows (edit, ids));
  assert_ok (set_text (edit, ids, "subject", "s1,s2,s9,-"));
  assert_ok (set_integers (edit, ids, "nbytes", sizes));
  assert_ok (set_text (edit, ids, "quality", "good,good,bad,-"));
  commit (edit);
  assert_ok (radio_table_edit_new (store, SEG, &edit));
  assert_ok (add_rows (edit, segs));
  assert_ok (set_text (edit, segs, "subject", "s2,s4"));
  set (edit, segs, &(struct radio_cells) {
    .column = "nbytes", .type = RADIO_COLUMN_FLOAT, .values = small_sizes,
    .dtype = RADIO_FLOAT64 });
  assert_ok (set_text (edit, segs, "rater", "me,you"));
  assert_ok (set_text (edit, segs, "kind", "m,n"));
  commit (edit);
  return store;
}

/* The ids of a view, "a,b"; "" of one without rows. */
static void
assert_ids (const struct radio_view *view, const char *ids)
{
  char text[500] = "";
  for (uint64_t i = 0; i < radio_view_count (view); i++) {
    const char *id = radio_view_id (view, i);
    uint64_t found;
    size_t used = strlen (text);
    snprintf (text + used, sizeof text - used, "%s%s", i ? "," : "", id);
    assert_true (radio_view_find (view, id, &found));
    assert_int_equal (found, i);
  }
  assert_null (radio_view_id (view, radio_view_count (view)));
  assert_string_equal (text, ids);
}

static void
close_cohort (struct radio_cohort **cohort)
{
  radio_cohort_close (*cohort);
}

static struct radio_view *
must_select (struct radio_cohort *cohort, const char *where,
             const char *collection, bool subjects)
{
  const struct radio_select_options options = {
    .where = where, .collection = collection, .subjects = subjects,
  };
  struct radio_view *view;
  size_t error_at;
  if (radio_cohort_select (cohort, &options, &view, &error_at) != RADIO_OK)
    fail_msg ("%s: %s", where, radio_error_message ());
  assert_int_equal (error_at, SIZE_MAX);
  return view;
}

static const struct {
  const char *where, *ids;
} subject_queries[] = {
  { NULL, "s1,s2,s3,s4,s5" },
  /* Missing is neither. */
  { "age > 0", "s1,s3,s5" }, { "not age > 0", "s4" },
  { "age > 0 or age <= 0", "s1,s3,s4,s5" },
  { "age is missing", "s2" }, { "age is not missing", "s1,s3,s4,s5" },
  { "not (age is missing)", "s1,s3,s4,s5" },
  { "age == 40 and weight == 1", "" },
  { "not (age == 40 and weight == 1)", "s1,s3,s4,s5" },
  { "age == 1 or smoker", "s1,s3,s5" },
  { "subject == 's2' or age == 40", "s1,s2" },
  { "subject == 's2' and age == 40", "" },
  { "not (subject == 's2' and age == 40)", "s1,s3,s4,s5" },
  { "not (subject != 's2' and age == 40)", "s2,s3,s4,s5" },
  { "smoker", "s1,s3,s5" }, { "not smoker", "s4" },
  { "smoker != true", "s4" }, { "true == smoker", "s1,s3,s5" },
  { "smoker in (false)", "s4" },
  /* Exact: as doubles the first two would be equal. */
  { "age == 9007199254740992", "" }, { "age == 9007199254740993", "s5" },
  { "age > 9007199254740992.0", "s3,s5" },
  { "age == 9223372036854775808.0", "" },
  { "age < 9223372036854775808.0", "s1,s3,s4,s5" },
  { "age >= 9223372036854775807", "s3" },
  { "age < 9223372036854775808", "s1,s3,s4,s5" },
  { "age > -9223372036854775808", "s1,s3,s4,s5" },
  { "age > -9223372036854775809", "s1,s3,s4,s5" },
  { "age <= -2.5", "s4" }, { "age < -3.5", "" }, { "age >= -3.5 and age < 0",
                                                   "s4" },
  { "serial == 18446744073709551615", "s1" },
  { "serial < 18446744073709551616", "s1,s2,s3,s4,s5" },
  { "serial > 1e19 and serial < 1.8446744073709552e19", "s1" },
  { "serial > age", "s1,s4" }, { "weight < age", "s3,s5" },
  { "weight == 3", "s5" }, { "weight == +3.0e0", "s5" },
  { "weight < -1e299", "s3" }, { "70.5 == weight", "s1" },
  { "weight in (0, 70.5, -1)", "s1,s4" },
  { "weight not in (0, 70.5)", "s3,s5" },
  /* By bytes. */
  { "site == \"B\"", "s1,s5" }, { "site > \"B\"", "s3" },
  { "site in ('A', \"a\")", "s3,s4" }, { "site not in (\"B\")", "s3,s4" },
  { "site is missing or site < \"B\"", "s2,s4" },
  { "`odd name` >= \"3\"", "s3,s4,s5" },
  { "site == quality", "" }, { "site < quality", "s1,s3,s4,s5" },
  { "note like 'x*'", "s1" }, { "note like \"x\\*?\"", "s1" },
  { "note like '?'", "s2" }, { "note like \"\"", "s4" },
  { "note not like '*'", "" }, { "note like '*'", "s1,s2,s4,s5" },
  { "note like '*`*'", "s5" },
  { "site\tlike\n'*'and`note`!=''", "s1,s5" },
  /* Precedence: not, and, or. */
  { "smoker or site == 'A' and age == 0", "s1,s3,s5" },
  { "(smoker or site == 'A') and age == -3", "s4" },
  { "not smoker and site == 'A' or age == 40", "s1,s4" },
  { "not not smoker", "s1,s3,s5" }, { "((((smoker))))", "s1,s3,s5" },
  { "has(seg)", "s2,s4" }, { "not has(\"ct\")", "s3,s4,s5" },
  { "has(`seg`) and has(ct)", "s2" },
  { "subject.age == 40", "s1" }, { "subject.subject like 's?'",
                                   "s1,s2,s3,s4,s5" },
};

static void
subjects_are_selected_as_in_sql (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort;
  assert_ok (radio_cohort_open (store, &cohort));
  for (size_t i = 0; i < LENGTH (subject_queries); i++) {
    struct radio_view *view = must_select (cohort, subject_queries[i].where,
                                           NULL, true);
    assert_ids (view, subject_queries[i].ids);
    radio_view_free (view);
  }
  radio_cohort_close (cohort);
  radio_store_close (store);
}

static const struct {
  const char *collection, *where, *ids;
} volume_queries[] = {
  { NULL, NULL, "ct/s1,ct/s2,ct/s9,ct/none,seg/s2,seg/s4" },
  { "seg", NULL, "seg/s2,seg/s4" },
  { "ct", "age == 40", "ct/s1" },
  /* A volume whose subject has no row, and one without a subject. */
  { NULL, "not age == 40", "seg/s4" },
  { NULL, "age is missing", "ct/s2,ct/s9,ct/none,seg/s2" },
  { NULL, "subject is missing", "ct/none" },
  { NULL, "subject == 's2'", "ct/s2,seg/s2" },
  { NULL, "subject.subject == 's2'", "ct/s2,seg/s2" },
  { NULL, "volume like 'ct/*' and nbytes < 40", "ct/s1,ct/s2,ct/s9" },
  /* Both have the column, of two types of numbers. */
  { NULL, "nbytes <= 10.5", "ct/s1,seg/s2,seg/s4" },
  /* One has it. */
  { NULL, "rater == 'me'", "seg/s2" }, { NULL, "rater != 'me'", "seg/s4" },
  { "ct", "rater is missing", "ct/s1,ct/s2,ct/s9,ct/none" },
  { "ct", "not (rater == 'me')", "" },
  { NULL, "volume.quality == 'good'", "ct/s1,ct/s2" },
  { "ct", "subject.quality == 'good'", "ct/s1" },
  { "ct", "volume.quality == subject.quality", "ct/s1" },
  { "ct", "volume.quality != subject.quality", "ct/s2" },
  { NULL, "has(seg)", "ct/s2,seg/s2,seg/s4" },
  { "ct", "not has(seg)", "ct/s1,ct/s9" },
  { NULL, "nbytes < age", "ct/s1" },
};

static void
assert_volumes_are_selected (struct radio_cohort *cohort)
{
  for (size_t i = 0; i < LENGTH (volume_queries); i++) {
    struct radio_view *view = must_select (cohort, volume_queries[i].where,
                                           volume_queries[i].collection,
                                           false);
    assert_ids (view, volume_queries[i].ids);
    radio_view_free (view);
  }
}

static void
volumes_are_selected_by_columns_of_both_tables (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort;
  assert_ok (radio_cohort_open (store, &cohort));
  assert_volumes_are_selected (cohort);
  radio_cohort_close (cohort);
  radio_store_close (store);
}

/* As a writer that was killed leaves it, or before it is done. */
static void
a_table_that_was_never_written_to_has_no_rows (void **state)
{
  (void) state;
  const struct radio_select_options of_image = { .collection = "im" };
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort RD_CLEANUP (close_cohort);
  struct radio_view *view;
  size_t error_at;
  assert_ok (rd_heads_make_above (store, RADIO_TABLE_VOLUMES "/im"));
  assert_ok (rd_heads_make (store, RADIO_TABLE_VOLUMES "/im"));
  assert_ok (radio_cohort_open (store, &cohort));
  assert_volumes_are_selected (cohort);
  assert_fails (radio_cohort_select (cohort, &of_image, &view, NULL),
                RADIO_ERROR_NOT_FOUND, "no table of volumes");
  const struct radio_select_options faulty = { .where = "aeg > 3" };
  assert_fails (radio_cohort_select (cohort, &faulty, &view, &error_at),
                RADIO_ERROR_ARGUMENT, "did you mean age?");
  radio_store_close (store);
}

/* Rows that were lost are not rows that never were. */
static void
a_table_whose_generations_are_gone_is_an_error (void **state)
{
  (void) state;
  static const char folder[] = "{\"zarr_format\": 3, \"node_type\": \"group\", "
    "\"attributes\": {\"radio\": {\"version\": \"1.1\", "
    "\"kind\": \"table\"}}}";
  const struct radio_select_options all = { .where = "nbytes > 0" };
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort RD_CLEANUP (close_cohort);
  struct radio_table *table;
  struct radio_table_info info;
  struct radio_view *view;
  char path[100];
  assert_ok (radio_table_open (store, SEG, &table));
  radio_table_get_info (table, &info);
  snprintf (path, sizeof path, SEG "/%s/zarr.json", info.generation);
  radio_table_close (table);
  assert_ok (store->io->ops->remove (store->io, path));
  /* The hint repeats it. */
  assert_ok (rd_io_put (store->io, SEG "/zarr.json", folder,
                        sizeof folder - 1, RD_PUT_REPLACE));
  assert_ok (radio_cohort_open (store, &cohort));
  assert_fails (radio_cohort_select (cohort, &all, &view, NULL),
                RADIO_ERROR_FORMAT, "its last heads, or the generations");
  radio_store_close (store);
}

/* 0.1 of 4 bytes is not 0.1 of 8; as in pandas, it is what is meant. */
static void
short_floats_compare_at_their_precision (void **state)
{
  (void) state;
  static const float doses[] = { 0.1f, 0.5f, -3.25f };
  const struct radio_store_options options = { .create = true };
  static const struct { const char *where, *ids; } queries[] = {
    { "dose == 0.1", "s1" }, { "0.1 == dose", "s1" }, { "dose > 0.1", "s2" },
    { "dose in (0.1, 0.5)", "s1,s2" }, { "dose < 1e300", "s1,s2,s3" },
    { "dose <= -3.25", "s3" },
  };
  struct radio_table_edit *edit;
  struct radio_cohort *cohort;
  struct radio_store *store;
  assert_ok (radio_store_open ("memory:", &options, &store));
  assert_ok (radio_table_edit_new (store, RADIO_TABLE_SUBJECTS, &edit));
  assert_ok (add_rows (edit, "s1,s2,s3"));
  set (edit, "s1,s2,s3", &(struct radio_cells) {
    .column = "dose", .type = RADIO_COLUMN_FLOAT, .values = doses,
    .dtype = RADIO_FLOAT32 });
  commit (edit);
  assert_ok (radio_cohort_open (store, &cohort));
  for (size_t i = 0; i < LENGTH (queries); i++) {
    struct radio_view *view = must_select (cohort, queries[i].where, NULL,
                                           true);
    assert_ids (view, queries[i].ids);
    radio_view_free (view);
  }
  radio_cohort_close (cohort);
  radio_store_close (store);
}

static const struct {
  const char *where;
  size_t at;
  const char *message;
} faults[] = {
  { "", 0, "expected a column or a value at the end" },
  { "age >", 5, "expected a column or a value at the end" },
  { "age > 3 and", 11, "at the end" },
  { "age = 3", 4, "expected '==' instead of '='" },
  { "age > 3 && age < 4", 8, "expected 'and' instead of '&'" },
  { "age > 3 | age < 4", 8, "expected 'or'" },
  { "!(age > 3)", 0, "expected 'not' or '!='" },
  { "age # 3", 4, "instead of '#'" },
  { "age > 3 AND age < 4", 8, "expected 'and', 'or' or the end instead" },
  { "1 < age < 3", 8, "expected 'and', 'or' or the end instead of '<'" },
  { "(age > 3", 8, "expected 'and', 'or' or ')' at the end" },
  { "age > 3)", 7, "expected 'and', 'or' or the end instead of ')'" },
  { "()", 1, "expected a column or a value instead of ')'" },
  { "site == 'A", 8, "the quote ' is not closed" },
  { "`site == 'A'", 0, "the quote ` is not closed" },
  { "site == A", 8, "no column 'A'" },
  { "aeg > 3", 0, "no column 'aeg'; did you mean age?" },
  { "age > 3 and wieght < 3", 12, "did you mean weight?" },
  { "zzzzzzzz == 1", 0, "there are: subject, nbytes, quality, volume" },
  { "age > 3 and quality == 'good'", 12, "write volume.quality or "
    "subject.quality" },
  { "volume.age > 3", 0, "no column of volumes 'age'" },
  { "subject.nbytes > 3", 0, "no column of subjects 'nbytes'" },
  { "ct.nbytes > 3", 0, "'ct.' is neither 'volume.' nor 'subject.'" },
  { "subject.3 > 3", 8, "expected a column's name instead of '3'" },
  { "age > '3'", 6, "'age' is integer, which compares with numbers only" },
  { "site > 3", 7, "'site' is text, which compares with text in quotes" },
  { "age == true", 7, "compares with numbers only" },
  { "smoker == 1", 10, "compares with true and false only" },
  { "smoker > false", 7, "true and false have no order" },
  { "age == site", 7, "compares with numbers only" },
  { "age", 0, "the column 'age' is integer; compare it" },
  { "age and smoker", 0, "compare it" },
  { "age like '4*'", 4, "like compares text, and the column 'age' is" },
  { "site like 4", 10, "expected a pattern in quotes instead of '4'" },
  { "site like site", 10, "expected a pattern in quotes" },
  { "site in ()", 9, "expected a value instead of ')'" },
  { "site in ('A', 3)", 14, "compares with text in quotes" },
  { "site in (A)", 9, "expected a value (text needs quotes) instead of 'A'" },
  { "site in ('A' 'B')", 13, "expected ',' or ')' instead of ''B''" },
  { "site in 'A'", 8, "expected '(' and values" },
  { "site is 'A'", 8, "expected 'missing' or 'not missing'" },
  { "site is not null", 12, "expected 'missing' instead of 'null'" },
  { "site not 'A'", 9, "expected 'in' or 'like'" },
  { "1 == 1", 0, "expected a column; a condition needs one" },
  { "true", 0, "expected a column" },
  { "'a' in ('a')", 0, "expected a column" },
  { "has(sge)", 4, "no collection with a table 'sge'; did you mean seg?" },
  { "has seg", 4, "expected '(' and a collection instead of 'seg'" },
  { "has()", 4, "expected a collection" },
  { "age > 1e999", 6, "expected a number that a double can hold" },
  { "3d > 1", 0, "a name that begins with a digit needs backquotes" },
  { "and", 0, "expected a column or a value instead of 'and'" },
  { "age > 3 \303\251", 8, "the end instead of '\303\251'" },
  { "age > 3 \377", 8, "not UTF-8" },
  { "missing > 3", 0, "expected a column or a value" },
  { "volume . quality == 'a'", 7, "'and', 'or' or the end instead of '.'" },
};

static void
a_fault_is_reported_with_its_place (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort;
  assert_ok (radio_cohort_open (store, &cohort));
  for (size_t i = 0; i < LENGTH (faults); i++) {
    const struct radio_select_options options = {
      .where = faults[i].where, .collection = "ct",
    };
    char place[40];
    struct radio_view *view;
    size_t error_at = 0;
    if (radio_cohort_select (cohort, &options, &view, &error_at)
        != RADIO_ERROR_ARGUMENT)
      fail_msg ("%s: taken", options.where);
    snprintf (place, sizeof place, "query, byte %zu: ", faults[i].at);
    if (strncmp (radio_error_message (), place, strlen (place)) != 0
        || !strstr (radio_error_message (), faults[i].message)
        || error_at != faults[i].at)
      fail_msg ("%s: at %zu: %s", options.where, error_at,
                radio_error_message ());
  }
  radio_cohort_close (cohort);
  radio_store_close (store);
}

static void
names_that_several_tables_have_are_listed_once (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort;
  struct radio_view *view;
  const struct radio_select_options options = { .where = "zzzzzzzz == 1" };
  assert_ok (radio_cohort_open (store, &cohort));
  assert_int_equal (radio_cohort_select (cohort, &options, &view, NULL),
                    RADIO_ERROR_ARGUMENT);
  assert_string_equal (radio_error_message (),
                       "query, byte 0: no column 'zzzzzzzz'; there are: "
                       "subject, nbytes, quality, volume, rater, kind, age, "
                       "serial, weight, smoker, site, note, odd name");
  radio_cohort_close (cohort);
  radio_store_close (store);
}

static void
types_that_differ_between_collections_are_refused (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort;
  struct radio_table_edit *edit;
  struct radio_view *view;
  static const int64_t kinds[] = { 1 };
  struct radio_select_options options = { .where = "kind == 1" };
  assert_ok (radio_table_edit_new (store, CT, &edit));
  assert_ok (set_integers (edit, "ct/s1", "kind", kinds));
  commit (edit);
  assert_ok (radio_cohort_open (store, &cohort));
  assert_fails (radio_cohort_select (cohort, &options, &view, NULL),
                RADIO_ERROR_ARGUMENT,
                "'kind' is integer in ct and text in seg");
  options.collection = "ct";
  assert_ok (radio_cohort_select (cohort, &options, &view, NULL));
  assert_ids (view, "ct/s1");
  radio_view_free (view);
  options = (struct radio_select_options) { .where = "volume.age > 1",
                                            .subjects = true };
  assert_fails (radio_cohort_select (cohort, &options, &view, NULL),
                RADIO_ERROR_ARGUMENT, "subjects are selected");
  options = (struct radio_select_options) { .collection = "mr" };
  assert_fails (radio_cohort_select (cohort, &options, &view, NULL),
                RADIO_ERROR_NOT_FOUND, "collection mr: no table of volumes");
  options = (struct radio_select_options) { .collection = "ct",
                                            .subjects = true };
  assert_fails (radio_cohort_select (cohort, &options, &view, NULL),
                RADIO_ERROR_ARGUMENT, "subjects are in no collection");
  radio_cohort_close (cohort);
  radio_store_close (store);
}

/* Text of n times a part. */
static char *
repeat (const char *part, size_t n, const char *end)
{
  size_t nbytes = strlen (part);
  char *text = rd_malloc (n * nbytes + strlen (end) + 1);
  assert_non_null (text);
  for (size_t i = 0; i < n; i++)
    memcpy (text + i * nbytes, part, nbytes);
  strcpy (text + n * nbytes, end);
  return text;
}

static void
long_queries_take_no_stack (void **state)
{
  (void) state;
  struct rd_query *query;
  size_t at;
  RD_FREE char *deep = repeat ("(", 100000, "");
  RD_FREE char *nots = repeat ("not ", 100001, "a");
  RD_FREE char *wide = repeat ("(a or b) and ", 50000, "a");
  RD_FREE char *huge = repeat ("(a or b) and ", 100000, "a");
  assert_fails (rd_query_parse (deep, &query, &at), RADIO_ERROR_LIMIT,
                "more than 200 parentheses are open");
  assert_int_equal (at, 200);
  assert_fails (rd_query_parse (huge, &query, &at), RADIO_ERROR_LIMIT,
                "at most 1048576");
  assert_ok (rd_query_parse (nots, &query, &at));
  assert_int_equal (query->nsteps, 2);
  rd_query_free (query);
  assert_ok (rd_query_parse (wide, &query, &at));
  assert_int_equal (query->max_results, 3);
  rd_query_free (query);
}

static void
views_are_joined_and_subtracted_in_their_order (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort, *other;
  struct radio_view *view;
  assert_ok (radio_cohort_open (store, &cohort));
  assert_ok (radio_cohort_open (store, &other));
  struct radio_view *has = must_select (cohort, "has(seg)", NULL, false);
  struct radio_view *ct = must_select (cohort, NULL, "ct", false);
  struct radio_view *none = must_select (cohort, "nbytes < 0", NULL, false);
  struct radio_view *subjects = must_select (cohort, NULL, NULL, true);
  struct radio_view *foreign = must_select (other, NULL, NULL, false);
  assert_false (radio_view_find (has, "ct/s1", NULL));
  assert_false (radio_view_find (has, "mr/s1", NULL));
  assert_false (radio_view_find (ct, "seg/s2", NULL));
  assert_false (radio_view_find (none, "ct/s1", NULL));
  assert_fails (radio_view_union (ct, foreign, &view), RADIO_ERROR_ARGUMENT,
                "views of two cohorts");
  assert_fails (radio_view_difference (ct, subjects, &view),
                RADIO_ERROR_ARGUMENT, "of subjects");
  assert_ok (radio_view_union (has, ct, &view));
  assert_ids (view, "ct/s1,ct/s2,ct/s9,ct/none,seg/s2,seg/s4");
  radio_view_free (view);
  assert_ok (radio_view_union (none, has, &view));
  assert_ids (view, "ct/s2,seg/s2,seg/s4");
  radio_view_free (view);
  assert_ok (radio_view_difference (has, ct, &view));
  assert_ids (view, "seg/s2,seg/s4");
  radio_view_free (view);
  assert_ok (radio_view_difference (ct, has, &view));
  radio_view_free (has);
  radio_view_free (ct);
  radio_view_free (none);
  radio_view_free (subjects);
  radio_view_free (foreign);
  radio_cohort_close (cohort);
  radio_cohort_close (other);
  radio_store_close (store);
  /* It holds what it needs. */
  assert_ids (view, "ct/s1,ct/s9,ct/none");
  radio_view_free (view);
  assert_int_equal (rd_alloc_live_count (), 0);
}

/* The ids that a table has in a view's rows are those of the view. */
static void
assert_table_agrees (struct radio_cohort *cohort,
                     const struct radio_view *view, const char *collection)
{
  RD_STRINGS_FREE struct radio_strings ids = { 0 };
  struct radio_table *table;
  assert_ok (radio_cohort_table (cohort, collection, &table));
  assert_ok (radio_table_read_ids (table, &ids));
  radio_table_close (table);
  for (size_t i = 0; i < radio_view_count (view); i++) {
    struct rd_slice id = rd_string (&ids, radio_view_row (view, i));
    assert_int_equal (id.n, strlen (radio_view_id (view, i)));
    assert_memory_equal (id.at, radio_view_id (view, i), id.n);
  }
  assert_true (radio_view_row (view, radio_view_count (view)) == UINT64_MAX);
}

static void
a_cohorts_tables_have_the_rows_of_its_views (void **state)
{
  (void) state;
  RD_STRINGS_FREE struct radio_strings gone = split ("ct/s1");
  struct radio_store *store = make_store ();
  struct radio_table_edit *edit;
  struct radio_table *table;
  struct radio_table_info info;
  struct radio_cohort *cohort;
  assert_ok (radio_cohort_open (store, &cohort));
  struct radio_view *ct = must_select (cohort, "nbytes > 10", "ct", false);
  struct radio_view *subjects = must_select (cohort, "has(seg)", NULL, true);
  assert_ids (ct, "ct/s2,ct/s9,ct/none");
  assert_ok (radio_table_edit_new (store, CT, &edit));
  assert_ok (radio_table_edit_remove_rows (edit, &gone));
  assert_ok (radio_table_edit_commit (edit, NULL));
  radio_table_edit_free (edit);
  /* There is a newer generation. */
  assert_table_agrees (cohort, ct, "ct");
  assert_table_agrees (cohort, subjects, NULL);
  assert_fails (radio_cohort_table (cohort, "mr", &table),
                RADIO_ERROR_NOT_FOUND, "mr: no such table in memory:");
  assert_ok (radio_cohort_table (cohort, "seg", &table));
  radio_view_free (ct);
  radio_view_free (subjects);
  radio_cohort_close (cohort);
  radio_table_get_info (table, &info);
  assert_string_equal (info.path, SEG);
  assert_int_equal (info.row_count, 2);
  radio_table_close (table);
  radio_store_close (store);
}

/* Checks a column of a view as text, "-" where a value is missing. */
static void
assert_text (const struct radio_view *view, const char *column,
             const char *expected)
{
  RD_STRINGS_FREE struct radio_strings text = { 0 };
  bool valid[16];
  char found[500] = "";
  size_t used = 0;
  assert_ok (radio_view_read_text (view, column, &text, valid));
  assert_int_equal (text.n, radio_view_count (view));
  for (size_t i = 0; i < text.n; i++) {
    struct rd_slice slice = rd_string (&text, i);
    assert_true (valid[i] || slice.n == 0);
    used += (size_t) snprintf (found + used, sizeof found - used, "%s%.*s",
                               i ? "," : "", valid[i] ? (int) slice.n : 1,
                               valid[i] ? slice.at : "-");
  }
  assert_string_equal (found, expected);
}

static void
assert_type_is (const struct radio_view *view, const char *column,
                enum radio_column_type type, enum radio_dtype dtype,
                bool of_subjects)
{
  struct radio_view_column info;
  assert_ok (radio_view_get_column (view, column, &info));
  assert_int_equal (info.type, type);
  assert_int_equal (info.dtype, dtype);
  assert_int_equal (info.of_subjects, of_subjects);
}

static void
columns_of_a_view_are_in_the_order_of_its_rows (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  struct radio_cohort *cohort;
  int64_t integers[6];
  double doubles[6];
  bool valid[6];
  assert_ok (radio_cohort_open (store, &cohort));
  struct radio_view *all = must_select (cohort, NULL, NULL, false);
  struct radio_view *ct = must_select (cohort, "nbytes >= 20", "ct", false);
  struct radio_view *none = must_select (cohort, "nbytes < 0", NULL, false);
  struct radio_view *subjects = must_select (cohort, "age > -5", NULL, true);
  struct radio_view *empty = must_select (cohort, "age < -5", NULL, true);
  radio_cohort_close (cohort);        /* views hold it */
  assert_ids (all, "ct/s1,ct/s2,ct/s9,ct/none,seg/s2,seg/s4");
  assert_text (all, "site", "B,-,-,-,-,A");
  assert_text (all, "subject", "s1,s2,s9,-,s2,s4");
  assert_text (all, "subject.quality", "good,bad,-,-,bad,bad");
  assert_text (all, "volume.quality", "good,good,bad,-,-,-");
  assert_text (all, "odd name", "1,2,-,-,2,4");
  assert_text (all, "serial", "18446744073709551615,1,-,-,1,3");
  assert_text (all, "nbytes", "10,20,30,40,10.5,0");
  assert_text (all, "smoker", "true,-,-,-,-,false");
  assert_text (ct, "rater", "-,-,-");
  assert_text (none, "rater", "");
  assert_text (subjects, "age", "40,9223372036854775807,-3,9007199254740993");
  assert_text (subjects, "note", "x*y,-,,a`b");
  assert_text (empty, "site", "");
  assert_type_is (all, "site", RADIO_COLUMN_TEXT, RADIO_STORED, true);
  assert_type_is (all, "nbytes", RADIO_COLUMN_FLOAT, RADIO_FLOAT64, false);
  assert_type_is (ct, "nbytes", RADIO_COLUMN_INTEGER, RADIO_INT64, false);
  assert_type_is (subjects, "subject.serial", RADIO_COLUMN_INTEGER,
                  RADIO_UINT64, true);
  assert_type_is (all, "smoker", RADIO_COLUMN_BOOL, RADIO_BOOL, true);

  assert_ok (radio_view_read (all, "nbytes", RADIO_STORED, doubles,
                              sizeof doubles, NULL));
  assert_true (doubles[0] == 10 && doubles[4] == 10.5 && doubles[5] == 0);
  assert_ok (radio_view_read (all, "weight", RADIO_FLOAT64, doubles,
                              sizeof doubles, NULL));
  assert_true (doubles[0] == 70.5 && isnan (doubles[1]) && doubles[5] == 0);
  assert_ok (radio_view_read (all, "age", RADIO_INT64, integers,
                              sizeof integers, valid));
  assert_true (integers[0] == 40 && integers[5] == -3 && integers[1] == 0);
  assert_true (valid[0] && !valid[1] && !valid[3] && valid[5]);
  assert_ok (radio_view_read (none, "nbytes", RADIO_INT64, NULL, 0, NULL));

  assert_fails (radio_view_read (all, "age", RADIO_INT64, integers,
                                 sizeof integers, NULL), RADIO_ERROR_RANGE,
                "'age' has no value for ct/s2; pass valid");
  assert_fails (radio_view_read (all, "serial", RADIO_INT64, integers,
                                 sizeof integers, valid), RADIO_ERROR_RANGE,
                "does not fit into int64");
  assert_fails (radio_view_read (all, "age", RADIO_INT64, integers, 47,
                                 valid), RADIO_ERROR_ARGUMENT,
                "the buffer has 47 bytes, and 6 rows need 8 each");
  assert_fails (radio_view_read (all, "site", RADIO_INT64, integers,
                                 sizeof integers, valid),
                RADIO_ERROR_ARGUMENT, "text; read it by radio_view_read_text");
  assert_fails (radio_view_read (all, "aeg", RADIO_INT64, integers,
                                 sizeof integers, valid),
                RADIO_ERROR_ARGUMENT, "no column 'aeg'; did you mean age?");
  assert_false (strncmp (radio_error_message (), "query", 5) == 0);
  assert_fails (radio_view_read (all, "quality", RADIO_INT64, integers,
                                 sizeof integers, valid),
                RADIO_ERROR_ARGUMENT, "write volume.quality or subject.");
  radio_view_free (all);
  radio_view_free (ct);
  radio_view_free (none);
  radio_view_free (subjects);
  radio_view_free (empty);
  radio_store_close (store);
  assert_int_equal (rd_alloc_live_count (), 0);
}

/* By Python: int.from_bytes(sha256(b'7:ct/s1').digest()[:8], 'big'). */
static void
keys_of_samples_are_as_documented (void **state)
{
  (void) state;
  uint64_t key;
  assert_ok (radio_sample_key (7, "ct/s1", &key));
  assert_true (key == UINT64_C (1825720491686485420));
}

/* The first case of RFC 4231. */
static void
pseudonyms_are_hmac_sha_256 (void **state)
{
  (void) state;
  char pseudonym[RADIO_PSEUDONYM_NBYTES], key[20];
  memset (key, 0x0b, sizeof key);
  assert_ok (radio_pseudonym (key, sizeof key, "Hi There", pseudonym));
  assert_string_equal (pseudonym, "b0344c61d8db3853");
  assert_fails (radio_pseudonym (key, 15, "Hi There", pseudonym),
                RADIO_ERROR_ARGUMENT, "a key of 15 bytes; use one of at least "
                "16");
}

static enum radio_status
select_all (struct radio_store *store)
{
  const struct radio_select_options options = {
    .where = "age >= 4.5 and volume.quality == subject.quality "
             "or has(seg) and site not in ('a', \"b\") or `rater` like '*'",
  };
  RD_CLEANUP (close_cohort) struct radio_cohort *cohort = NULL;
  struct radio_view *view, *both = NULL;
  enum radio_status status = radio_cohort_open (store, &cohort);
  if (status == RADIO_OK)
    status = radio_cohort_select (cohort, &options, &view, NULL);
  if (status != RADIO_OK)
    return status;
  RD_STRINGS_FREE struct radio_strings text = { 0 };
  double weights[6];
  status = radio_view_union (view, view, &both);
  if (status == RADIO_OK)
    status = radio_view_read_text (both, "site", &text, NULL);
  if (status == RADIO_OK)
    status = radio_view_read (both, "weight", RADIO_FLOAT64, weights,
                              sizeof weights, NULL);
  radio_view_free (both);
  radio_view_free (view);
  return status;
}

static void
without_memory_a_selection_fails_and_frees_all (void **state)
{
  (void) state;
  struct radio_store *store = make_store ();
  /* The threads have their memory then. */
  assert_ok (select_all (store));
  uint64_t live = rd_alloc_live_count ();
  for (size_t nth = 1;; nth++) {
    alloc_fail_nth (nth);
    enum radio_status status = select_all (store);
    if (!alloc_fail_end ()) {
      assert_ok (status);
      break;
    }
    assert_int_equal (status, RADIO_ERROR_MEMORY);
    assert_int_equal (rd_alloc_live_count (), live);
  }
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (subjects_are_selected_as_in_sql),
    cmocka_unit_test (volumes_are_selected_by_columns_of_both_tables),
    cmocka_unit_test (a_table_that_was_never_written_to_has_no_rows),
    cmocka_unit_test (a_table_whose_generations_are_gone_is_an_error),
    cmocka_unit_test (short_floats_compare_at_their_precision),
    cmocka_unit_test (a_fault_is_reported_with_its_place),
    cmocka_unit_test (names_that_several_tables_have_are_listed_once),
    cmocka_unit_test (types_that_differ_between_collections_are_refused),
    cmocka_unit_test (long_queries_take_no_stack),
    cmocka_unit_test (views_are_joined_and_subtracted_in_their_order),
    cmocka_unit_test (a_cohorts_tables_have_the_rows_of_its_views),
    cmocka_unit_test (columns_of_a_view_are_in_the_order_of_its_rows),
    cmocka_unit_test (keys_of_samples_are_as_documented),
    cmocka_unit_test (pseudonyms_are_hmac_sha_256),
    cmocka_unit_test (without_memory_a_selection_fails_and_frees_all),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
