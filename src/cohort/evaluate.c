/* SPDX-License-Identifier: MIT */
/* Evaluating queries.  A condition on one column is evaluated once for each
 * stored value, which of a column with categories is each category, and then
 * placed in the rows by their codes, and by the join if it is of subjects. */
#include <config.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/base/checked.h"
#include "src/base/suggest.h"
#include "src/cohort/evaluate.h"
#include "src/element/convert.h"

#define LIST_NBYTES 300

/*------------------------------------------------------------------------
 * Names
 *----------------------------------------------------------------------*/

/* The names that are most similar to one, and some of all. */
struct names {
  struct rd_suggestions near;
  char list[LIST_NBYTES];
};

static void
free_names (struct names *names)
{
  rd_suggestions_free (&names->near);
}

static bool
is_listed (const char *list, const char *name)
{
  size_t n = strlen (name);
  for (const char *at = list; *at && (at = strstr (at, name)) != NULL; at++)
    if ((at == list || at[-1] == ' ') && (at[n] == ',' || at[n] == '\0'))
      return true;
  return false;
}

static enum radio_status
suggest (struct names *names, const char *name)
{
  size_t used = strlen (names->list);
  if (used + strlen (name) + 3 < sizeof names->list
      && !is_listed (names->list, name))
    snprintf (names->list + used, sizeof names->list - used, "%s%s",
              used ? ", " : "", name);
  return rd_suggest (&names->near, name, name);
}

/* Fails: there is no such thing at a place. */
static enum radio_status
fail_unknown (size_t at, size_t *error_at, const char *thing,
              const struct names *names)
{
  char text[RD_ERROR_NBYTES];
  const char *wanted = names->near.wanted;
  if (names->near.n > 0)
    return rd_query_fail (at, error_at, "no %s '%s'%s", thing, wanted,
                          rd_suggestions_text (&names->near, text));
  return rd_query_fail (at, error_at, "no %s '%s'%s%s", thing, wanted,
                        names->list[0] ? "; there are: " : "", names->list);
}

static enum radio_status
suggest_columns (struct names *names, const struct rd_member *member)
{
  const struct rd_dataframe *frame = member->table->frame;
  for (size_t i = 0; i < frame->n; i++)
    RD_TRY (suggest (names, frame->fields[i].name));
  return suggest (names, frame->index.name);
}

static enum radio_status
fail_column (const struct rd_selection *selection, const struct rd_value *value)
{
  struct names names RD_CLEANUP (free_names) = { .near.wanted = value->text };
  const struct rd_member *subjects = selection->cohort->subjects;
  for (size_t i = 0; i < selection->n && value->scope != RD_NAME_SUBJECT; i++)
    RD_TRY (suggest_columns (&names, selection->members[i]));
  if (subjects && subjects->table && value->scope != RD_NAME_VOLUME)
    RD_TRY (suggest_columns (&names, subjects));
  return fail_unknown (value->at, selection->error_at,
                       value->scope == RD_NAME_SUBJECT ? "column of subjects"
                       : value->scope == RD_NAME_VOLUME ? "column of volumes"
                       : "column", &names);
}

/* The class of values that a type compares with. */
enum class { OF_BOOL, OF_NUMBER, OF_TEXT };

static enum class
class_of (enum radio_column_type type)
{
  return type == RADIO_COLUMN_BOOL ? OF_BOOL
         : type == RADIO_COLUMN_TEXT ? OF_TEXT : OF_NUMBER;
}

static bool
is_index (const struct rd_member *member, const struct rd_field *field)
{
  return field == &member->table->frame->index;
}

/* Finds a column in the tables that are selected from, which must agree about
 * what it compares with. */
static enum radio_status
find_column (const struct rd_selection *selection,
             const struct rd_value *value, const struct rd_field **result)
{
  const struct rd_member *first = NULL;
  for (size_t i = 0; i < selection->n; i++) {
    const struct rd_member *member = selection->members[i];
    const struct rd_field *field = rd_member_find (member, value->text);
    if (!field)
      continue;
    if (*result && class_of (field->type) != class_of ((*result)->type))
      return rd_query_fail (value->at, selection->error_at, "the column '%s' "
                            "is %s in %s and %s in %s; select from one "
                            "collection, or change its type", value->text,
                            radio_column_type_name ((*result)->type),
                            first->collection,
                            radio_column_type_name (field->type),
                            member->collection);
    if (!*result) {
      *result = field;
      first = member;
    }
  }
  return RADIO_OK;
}

/* Binds a name that only collections have which are not selected from: it is
 * missing in all rows. */
static enum radio_status
find_elsewhere (const struct rd_selection *selection,
                const struct rd_value *value, const struct rd_field **result)
{
  struct radio_cohort *cohort = selection->cohort;
  RD_TRY (rd_members_open_all (cohort, cohort->members.at, cohort->members.n));
  for (size_t i = 0; i < cohort->members.n && !*result; i++) {
    struct rd_member *member = cohort->members.at[i];
    if (member != cohort->subjects && member->table)
      *result = rd_member_find (member, value->text);
  }
  return RADIO_OK;
}

enum radio_status
rd_selection_bind_column (const struct rd_selection *selection,
                          const struct rd_value *value,
                          struct rd_binding *binding)
{
  const struct rd_field *field = NULL, *of_subject = NULL;
  struct rd_member *subjects = selection->cohort->subjects;
  if (selection->of_subjects && value->scope == RD_NAME_VOLUME)
    return rd_query_fail (value->at, selection->error_at, "subjects are "
                          "selected, which have no columns of volumes; "
                          "has(COLLECTION) is true of those with a volume "
                          "there");
  if (value->scope != RD_NAME_SUBJECT || selection->of_subjects)
    RD_TRY (find_column (selection, value, &field));
  if (!selection->of_subjects && subjects && value->scope != RD_NAME_VOLUME) {
    RD_TRY (rd_members_open_all (selection->cohort, &subjects, 1));
    if (subjects->table)
      of_subject = rd_member_find (subjects, value->text);
  }
  /* Ids are the last choice: the subject of a volume is a column of it. */
  if (field && of_subject && is_index (subjects, of_subject))
    of_subject = NULL;
  if (field && of_subject
      && strcmp (selection->members[0]->table->frame->index.name,
                 value->text) == 0)
    field = NULL;
  if (field && of_subject)
    return rd_query_fail (value->at, selection->error_at, "both volumes and "
                          "subjects have a column '%s'; write volume.%s or "
                          "subject.%s", value->text, value->text, value->text);
  if (!field && !of_subject && !selection->of_subjects
      && value->scope != RD_NAME_SUBJECT)
    RD_TRY (find_elsewhere (selection, value, &field));
  if (!field && !of_subject)
    return fail_column (selection, value);
  binding->of_subject = of_subject != NULL;
  binding->type = (of_subject ? of_subject : field)->type;
  return RADIO_OK;
}

static enum radio_status
bind_collection (const struct rd_selection *selection,
                 const struct rd_value *value, struct rd_binding *binding)
{
  const struct radio_cohort *cohort = selection->cohort;
  struct names names RD_CLEANUP (free_names) = { .near.wanted = value->text };
  for (size_t i = 0; i < cohort->members.n; i++) {
    struct rd_member *member = cohort->members.at[i];
    if (!member->collection)
      continue;
    if (strcmp (member->collection, value->text) == 0 && member->table) {
      binding->other = member;
      return RADIO_OK;
    }
    /* If the store cannot be listed, it was named before. */
    if (!member->is_open || member->table)
      RD_TRY (suggest (&names, member->collection));
  }
  return fail_unknown (value->at, selection->error_at,
                       "collection with a table", &names);
}

static const char *
type_name (const struct rd_selection *selection, size_t i)
{
  return radio_column_type_name (selection->bindings[i].type);
}

/* Two values must be both booleans, both numbers or both text. */
static enum radio_status
check_classes (const struct rd_selection *selection, size_t a, size_t b)
{
  const struct rd_value *values = selection->query->values;
  const struct rd_binding *bindings = selection->bindings;
  enum class first = class_of (bindings[a].type);
  if (first == class_of (bindings[b].type))
    return RADIO_OK;
  size_t column = values[a].kind == RD_VALUE_COLUMN ? a : b;
  size_t other = column == a ? b : a;
  enum class wanted = class_of (bindings[column].type);
  return rd_query_fail (values[other].at, selection->error_at, "the column "
                        "'%s' is %s, which compares with %s only",
                        values[column].text, type_name (selection, column),
                        wanted == OF_TEXT ? "text in quotes"
                        : wanted == OF_NUMBER ? "numbers"
                        : "true and false");
}

static enum radio_status
check_step (const struct rd_selection *selection,
            const struct rd_query_step *step)
{
  const struct rd_value *value = &selection->query->values[step->first];
  const struct rd_binding *binding = &selection->bindings[step->first];
  enum class class = class_of (binding->type);
  switch (step->op) {
  case RD_QUERY_COMPARE:
    RD_TRY (check_classes (selection, step->first, step->first + 1));
    if (class != OF_BOOL || step->compare <= RD_NOT_EQUAL)
      return RADIO_OK;
    return rd_query_fail (step->at, selection->error_at, "true and false have "
                          "no order; use == or !=");
  case RD_QUERY_IN:
    for (size_t i = 1; i < step->n; i++)
      RD_TRY (check_classes (selection, step->first, step->first + i));
    return RADIO_OK;
  case RD_QUERY_LIKE:
    if (class == OF_TEXT)
      return RADIO_OK;
    return rd_query_fail (step->at, selection->error_at, "like compares text, "
                          "and the column '%s' is %s", value->text,
                          type_name (selection, step->first));
  case RD_QUERY_TRUTH:
    if (class == OF_BOOL)
      return RADIO_OK;
    return rd_query_fail (value->at, selection->error_at, "the column '%s' is "
                          "%s; compare it with a value", value->text,
                          type_name (selection, step->first));
  default:
    return RADIO_OK;
  }
}

enum radio_status
rd_selection_bind (struct rd_selection *selection)
{
  static const enum radio_column_type types[] = {
    [RD_VALUE_TEXT] = RADIO_COLUMN_TEXT, [RD_VALUE_NUMBER] = RADIO_COLUMN_FLOAT,
    [RD_VALUE_BOOL] = RADIO_COLUMN_BOOL,
  };
  const struct rd_query *query = selection->query;
  for (size_t i = 0; i < query->nsteps; i++) {
    const struct rd_query_step *step = &query->steps[i];
    for (size_t k = step->first; k < step->first + step->n; k++) {
      const struct rd_value *value = &query->values[k];
      struct rd_binding *binding = &selection->bindings[k];
      binding->type = types[value->kind];
      if (step->op == RD_QUERY_HAS)
        RD_TRY (bind_collection (selection, value, binding));
      else if (value->kind == RD_VALUE_COLUMN)
        RD_TRY (rd_selection_bind_column (selection, value, binding));
    }
    RD_TRY (check_step (selection, step));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Values
 *----------------------------------------------------------------------*/

/* A column's values as they are compared. */
struct operand {
  const struct rd_column *column;     /* NULL: a value of the query */
  const struct rd_value *value;
  enum rd_number_kind kind;
  unsigned char *numbers;             /* of that kind, 8 bytes each; owned */
  bool is_float32;                    /* a value of the query, which is compared
                                         with a column of that type */
};

static void
clear_operand (struct operand *operand)
{
  rd_free (operand->numbers);
}

#define OPERAND_SCOPE RD_CLEANUP (clear_operand)

/* Converts the numbers of a column to the widest of their kind. */
static enum radio_status
set_column (struct operand *operand, const struct rd_column *column)
{
  operand->column = column;
  if (column->type == RADIO_COLUMN_TEXT || column->type == RADIO_COLUMN_BOOL)
    return RADIO_OK;
  bool is_wide = column->dtype == RADIO_UINT64;
  enum radio_dtype dtype = column->type == RADIO_COLUMN_FLOAT ? RADIO_FLOAT64
                           : is_wide ? RADIO_UINT64 : RADIO_INT64;
  operand->kind = column->type == RADIO_COLUMN_FLOAT ? RD_NUMBER_FLOAT
                  : is_wide ? RD_NUMBER_UINT : RD_NUMBER_INT;
  operand->numbers = rd_calloc (column->n + 1, 8);
  if (!operand->numbers)
    return rd_fail_memory (rd_mul_sat (column->n + 1, 8));
  rd_convert_fn *convert = rd_convert_find (column->dtype, dtype);
  if (!convert || convert (column->values, operand->numbers, column->n))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a column of %s",
                    column->name, radio_dtype_name (column->dtype));
  return RADIO_OK;
}

static struct rd_number
number_at (const struct operand *operand, size_t i)
{
  struct rd_number number = { .kind = operand->kind };
  if (!operand->column) {
    number = operand->value->number;
    /* 0.1 is what the column has for it. */
    if (operand->is_float32 && number.kind == RD_NUMBER_FLOAT
        && fabs (number.f) <= (double) FLT_MAX)
      number.f = (double) (float) number.f;
    return number;
  }
  memcpy (&number.u, operand->numbers + 8 * i, 8);
  /* Small ones compare as those of the other kind. */
  if (number.kind == RD_NUMBER_UINT && number.u <= INT64_MAX)
    number = (struct rd_number) { .kind = RD_NUMBER_INT,
                                  .i = (int64_t) number.u };
  return number;
}

static struct rd_slice
text_at (const struct operand *operand, size_t i)
{
  if (!operand->column)
    return (struct rd_slice) { operand->value->text, operand->value->nbytes };
  return rd_string (&operand->column->text, i);
}

static bool
truth_at (const struct operand *operand, size_t i)
{
  return operand->column ? operand->column->values[i] != 0
                         : operand->value->truth;
}

static int
compare_at (const struct operand *a, const struct operand *b, enum class class,
            size_t i)
{
  if (class == OF_NUMBER)
    return rd_number_compare (number_at (a, i), number_at (b, i));
  if (class == OF_TEXT)
    return rd_slice_compare (text_at (a, i), text_at (b, i));
  return truth_at (a, i) - truth_at (b, i);
}

static bool
holds (enum rd_compare compare, int order)
{
  switch (compare) {
  case RD_EQUAL: return order == 0;
  case RD_NOT_EQUAL: return order != 0;
  case RD_LESS: return order < 0;
  case RD_LESS_EQUAL: return order <= 0;
  case RD_GREATER: return order > 0;
  default: return order >= 0;
  }
}

/* Evaluates a condition on n values; those that are missing are unknown. */
static enum radio_status
evaluate_values (const struct rd_selection *selection,
                 const struct rd_query_step *step,
                 const struct rd_column *columns[2], size_t n,
                 unsigned char *truths)
{
  struct operand a OPERAND_SCOPE = { 0 }, b OPERAND_SCOPE = { 0 };
  const struct rd_value *values = &selection->query->values[step->first];
  enum class class = class_of (selection->bindings[step->first].type);
  a.value = &values[0];
  b.value = &values[step->n > 1];
  if (columns[0])
    RD_TRY (set_column (&a, columns[0]));
  if (columns[1])
    RD_TRY (set_column (&b, columns[1]));
  for (size_t i = 0; i < 2; i++)
    if (columns[i] && columns[i]->dtype == RADIO_FLOAT32)
      a.is_float32 = b.is_float32 = true;
  for (size_t i = 0; i < n; i++) {
    bool is = false;
    if ((columns[0] && !rd_column_is_valid (columns[0], i))
        || (columns[1] && !rd_column_is_valid (columns[1], i))) {
      truths[i] = step->op == RD_QUERY_MISSING ? RD_TRUE : RD_UNKNOWN;
      continue;
    }
    if (step->op == RD_QUERY_COMPARE)
      is = holds (step->compare, compare_at (&a, &b, class, i));
    else if (step->op == RD_QUERY_LIKE)
      is = rd_query_like (text_at (&a, i), text_at (&b, i));
    else if (step->op == RD_QUERY_TRUTH)
      is = truth_at (&a, i);
    for (size_t k = 1; step->op == RD_QUERY_IN && k < step->n && !is; k++) {
      b.value = &values[k];
      is = compare_at (&a, &b, class, i) == 0;
    }
    truths[i] = is ? RD_TRUE : RD_FALSE;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Rows
 *----------------------------------------------------------------------*/

enum radio_status
rd_placed_find (struct radio_cohort *cohort, struct rd_member *member,
                const char *name, const struct rd_binding *binding,
                struct rd_placed *placed)
{
  struct rd_member *from = member;
  *placed = (struct rd_placed) { NULL, NULL };
  if (binding->of_subject) {
    from = cohort->subjects;
    RD_TRY (rd_member_join (cohort, member));
    placed->join = member->join;
  }
  const struct rd_field *field = rd_member_find (from, name);
  return field ? rd_member_read (cohort, from, field, &placed->stored)
               : RADIO_OK;
}

/* Expands a column to the rows. */
static enum radio_status
expand (const struct rd_placed *placed, size_t n, struct rd_column **column)
{
  RD_FREE size_t *rows = rd_calloc (n + 1, sizeof *rows);
  if (!rows)
    return rd_fail_memory (rd_mul_sat (n + 1, sizeof *rows));
  for (size_t i = 0; i < n; i++)
    rows[i] = rd_placed_value (placed, i);
  return rd_column_take (placed->stored->values, rows, n, column);
}

/* Sets the truth of each row that has a value to that of its value. */
static void
place_truths (const struct rd_placed *placed, const unsigned char *of_values,
              size_t n, unsigned char *truths)
{
  for (size_t row = 0; row < n; row++) {
    size_t value = rd_placed_value (placed, row);
    if (value != RD_NOT_THERE)
      truths[row] = of_values[value];
  }
}

/* A condition on two columns. */
static enum radio_status
evaluate_pair (const struct rd_selection *selection, size_t n,
               const struct rd_query_step *step,
               const struct rd_placed placed[2], unsigned char *truths)
{
  RD_CLEANUP (rd_cleanup_column) struct rd_column *a = NULL, *b = NULL;
  memset (truths, RD_UNKNOWN, n);
  if (!placed[0].stored || !placed[1].stored)
    return RADIO_OK;
  RD_TRY (expand (&placed[0], n, &a));
  RD_TRY (expand (&placed[1], n, &b));
  const struct rd_column *columns[2] = { a, b };
  return evaluate_values (selection, step, columns, n, truths);
}

/* A condition on one column, the i-th value of the step. */
static enum radio_status
evaluate_one (const struct rd_selection *selection, size_t n,
              const struct rd_query_step *step, size_t i,
              const struct rd_placed *placed, unsigned char *truths)
{
  unsigned char missing = step->op == RD_QUERY_MISSING ? RD_TRUE : RD_UNKNOWN;
  memset (truths, missing, n);
  if (!placed->stored)
    return RADIO_OK;
  const struct rd_column *values = placed->stored->values;
  const struct rd_column *columns[2] = { i == 0 ? values : NULL,
                                         i == 0 ? NULL : values };
  RD_FREE unsigned char *of_values = rd_malloc (values->n + 1);
  if (!of_values)
    return rd_fail_memory (values->n + 1);
  RD_TRY (evaluate_values (selection, step, columns, values->n, of_values));
  place_truths (placed, of_values, n, truths);
  return RADIO_OK;
}

/* The column of the subjects of a member's rows: of volumes one of its columns,
 * of subjects the ids.  NULL: it has none. */
static const struct rd_field *
subject_field (const struct radio_cohort *cohort,
               const struct rd_member *member)
{
  const struct rd_field *field = member == cohort->subjects
    ? &member->table->frame->index : rd_member_find (member, "subject");
  return field && field->type == RADIO_COLUMN_TEXT ? field : NULL;
}

static enum radio_status
find_subjects (struct radio_cohort *cohort, struct rd_member *member,
               struct rd_placed *placed)
{
  *placed = (struct rd_placed) { NULL, NULL };
  const struct rd_field *field = subject_field (cohort, member);
  return field ? rd_member_read (cohort, member, field, &placed->stored)
               : RADIO_OK;
}

/* Has the subjects of a member's rows read. */
static void
want_subjects (const struct radio_cohort *cohort, struct rd_member *member)
{
  const struct rd_field *field = subject_field (cohort, member);
  if (field)
    rd_member_want (member, field);
}

void
rd_placed_want (struct radio_cohort *cohort, struct rd_member *member,
                const char *name, const struct rd_binding *binding)
{
  struct rd_member *subjects = cohort->subjects;
  struct rd_member *from = binding->of_subject ? subjects : member;
  const struct rd_field *field = rd_member_find (from, name);
  if (field)
    rd_member_want (from, field);
  if (!binding->of_subject)
    return;
  want_subjects (cohort, member);
  rd_member_want (subjects, &subjects->table->frame->index);
}

enum radio_status
rd_selection_read (const struct rd_selection *selection)
{
  const struct rd_query *query = selection->query;
  for (size_t k = 0; k < selection->n; k++) {
    struct rd_member *member = selection->members[k];
    if (!member->ids)
      rd_member_want (member, &member->table->frame->index);
    for (size_t i = 0; query && i < query->nsteps; i++) {
      const struct rd_query_step *step = &query->steps[i];
      for (size_t j = step->first; j < step->first + step->n; j++) {
        const struct rd_value *value = &query->values[j];
        const struct rd_binding *binding = &selection->bindings[j];
        if (step->op == RD_QUERY_HAS) {
          want_subjects (selection->cohort, binding->other);
          want_subjects (selection->cohort, member);
        } else if (value->kind == RD_VALUE_COLUMN)
          rd_placed_want (selection->cohort, member, value->text, binding);
      }
    }
  }
  return rd_members_read_wanted (selection->cohort);
}

/* True where the subject has a volume in the collection; unknown where the row
 * has no subject. */
static enum radio_status
evaluate_has (const struct rd_selection *selection, struct rd_member *member,
              const struct rd_query_step *step, unsigned char *truths)
{
  struct rd_placed there, here;
  RD_LOOKUP_SCOPE struct rd_lookup lookup = { 0 };
  struct rd_member *other = selection->bindings[step->first].other;
  RD_TRY (find_subjects (selection->cohort, other, &there));
  RD_TRY (find_subjects (selection->cohort, member, &here));
  memset (truths, RD_UNKNOWN, member->nrows);
  if (!here.stored)
    return RADIO_OK;
  RD_FREE struct rd_slice *keys = rd_calloc (other->nrows + 1, sizeof *keys);
  const struct rd_column *values = here.stored->values;
  RD_FREE unsigned char *of_values = rd_malloc (values->n + 1);
  if (!keys || !of_values)
    return rd_fail_memory (rd_mul_sat (other->nrows + 1, sizeof *keys));
  size_t n = 0;
  for (size_t i = 0; i < other->nrows; i++) {
    size_t value = rd_placed_value (&there, i);
    if (value != RD_NOT_THERE)
      keys[n++] = rd_string (&there.stored->values->text, value);
  }
  RD_TRY (rd_lookup_make (keys, n, &lookup));
  for (size_t i = 0; i < values->n; i++)
    of_values[i] = rd_lookup_find (&lookup, rd_string (&values->text, i))
                   == RD_NOT_THERE ? RD_FALSE : RD_TRUE;
  place_truths (&here, of_values, member->nrows, truths);
  return RADIO_OK;
}

static enum radio_status
evaluate_condition (const struct rd_selection *selection,
                    struct rd_member *member, const struct rd_query_step *step,
                    unsigned char *truths)
{
  struct rd_placed placed[2];
  const struct rd_value *values = &selection->query->values[step->first];
  bool is_column[2] = {
    values[0].kind == RD_VALUE_COLUMN,
    step->op == RD_QUERY_COMPARE && values[1].kind == RD_VALUE_COLUMN,
  };
  if (step->op == RD_QUERY_HAS)
    return evaluate_has (selection, member, step, truths);
  for (size_t i = 0; i < 2; i++)
    if (is_column[i])
      RD_TRY (rd_placed_find (selection->cohort, member, values[i].text,
                              &selection->bindings[step->first + i],
                              &placed[i]));
  if (is_column[0] && is_column[1])
    return evaluate_pair (selection, member->nrows, step, placed, truths);
  size_t i = is_column[0] ? 0 : 1;
  return evaluate_one (selection, member->nrows, step, i, &placed[i], truths);
}

/* Does a step that combines results. */
static void
combine (enum rd_query_op op, unsigned char *a, const unsigned char *b,
         size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (op == RD_QUERY_NOT)
      a[i] = (unsigned char) (RD_TRUE - a[i]);
    else if (op == RD_QUERY_AND ? b[i] < a[i] : b[i] > a[i])
      a[i] = b[i];
}

enum radio_status
rd_selection_evaluate (const struct rd_selection *selection,
                       struct rd_member *member, unsigned char **result)
{
  const struct rd_query *query = selection->query;
  size_t n = member->nrows, waiting = 0;
  RD_SCOPE ("evaluate", RD_IN_METADATA);
  RD_NOTE_NAME ("table", member->path);
  size_t nbytes = rd_mul_sat (n + 1, query->max_results);
  RD_TRY (rd_context_allows (selection->cohort->store->context, nbytes,
                             "the query"));
  RD_FREE unsigned char *truths = rd_malloc (nbytes);
  if (!truths)
    return rd_fail_memory (nbytes);
  for (size_t i = 0; i < query->nsteps; i++) {
    const struct rd_query_step *step = &query->steps[i];
    bool is_binary = step->op == RD_QUERY_OR || step->op == RD_QUERY_AND;
    if (is_binary || step->op == RD_QUERY_NOT) {
      waiting -= is_binary;
      combine (step->op, truths + (waiting - 1) * n,
               is_binary ? truths + waiting * n : NULL, n);
    } else
      RD_TRY (evaluate_condition (selection, member, step,
                                  truths + waiting++ * n));
  }
  *result = RD_STEAL (truths);
  return RADIO_OK;
}
