/* SPDX-License-Identifier: MIT */
/* Grouping volumes by a column: it is read once for each collection, and each
 * volume found in it by its path. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/parse.h"
#include "tools/select.h"
#include "tools/stats/by.h"
#include "tools/text.h"

/* The rows of a collection, with their values. */
struct part {
  const struct radio_store *store;
  char *collection;
  struct radio_view *view;
  struct radio_strings text;
  bool *valid;
};

struct grouping {
  struct rd_args *args;
  struct rd_by *by;
  struct part *parts;
  size_t nparts;
  struct rd_nodes *nodes;
  uint64_t nunindexed;
};

/* A volume, and its value. */
struct member {
  struct rd_target target;
  char *value;                        /* owned; NULL: missing */
  double number;
  size_t at;                          /* its place in the list */
};

static void
clear_grouping (struct grouping *grouping)
{
  for (size_t i = 0; i < grouping->nparts; i++) {
    struct part *part = &grouping->parts[i];
    free (part->collection);
    radio_view_free (part->view);
    radio_strings_free (&part->text);
    free (part->valid);
  }
  free (grouping->parts);
}

static bool
is_number (enum radio_column_type type)
{
  return type == RADIO_COLUMN_INTEGER || type == RADIO_COLUMN_FLOAT;
}

/* Reads the ids and the column of all volumes that are to be grouped: over a
 * network not one collection after the other.  The cohort keeps them; what
 * fails is found when a part needs it. */
static void
read_together (const struct grouping *grouping, struct radio_cohort *cohort)
{
  const struct rd_nodes *nodes = grouping->nodes;
  const char *first = nodes->list[0].path;
  const char *last = nodes->list[nodes->n - 1].path;
  size_t n = strcspn (first, "/") + 1;
  RD_FREE char *collection = strncmp (first, last, n) == 0
                             ? strndup (first, n - 1) : NULL;
  RD_FREE_VIEW struct radio_view *view = NULL;
  const struct radio_select_options options = { .collection = collection };
  struct radio_view_column info;
  if (radio_cohort_select (cohort, &options, &view, NULL) == RADIO_OK)
    (void) !radio_view_get_column (view, grouping->by->column, &info);
}

/* Reads the column.  If its types differ between collections, numbers are
 * compared as numbers, and all others as text. */
static int
read_part (struct grouping *grouping, struct radio_store *store,
           struct part *part)
{
  struct rd_by *by = grouping->by;
  const struct radio_select_options options = {
    .collection = part->collection,
  };
  struct radio_view_column info;
  struct radio_cohort *cohort;
  bool is_first = grouping->nparts == 1;
  enum radio_status status = rd_cohorts_find (&grouping->nodes->cohorts, store,
                                              &cohort);
  if (status == RADIO_OK
      && (is_first || grouping->parts[grouping->nparts - 2].store != store))
    read_together (grouping, cohort);
  if (status == RADIO_OK)
    status = radio_cohort_select (cohort, &options, &part->view, NULL);
  if (status != RADIO_OK)
    return status == RADIO_ERROR_MEMORY ? rd_error_memory ()
                                        : rd_error_library (NULL);
  status = radio_view_get_column (part->view, by->column, &info);
  if (status == RADIO_ERROR_ARGUMENT)
    return rd_usage_error (grouping->args, "--by: %s", radio_error_message ());
  part->valid = calloc ((size_t) radio_view_count (part->view) + 1,
                        sizeof *part->valid);
  if (part->valid == NULL)
    return rd_error_memory ();
  if (status == RADIO_OK)
    status = radio_view_read_text (part->view, by->column, &part->text,
                                   part->valid);
  if (status != RADIO_OK)
    return rd_error_library (NULL);
  if (is_first)
    by->type = info.type;
  else if (info.type != by->type)
    by->type = is_number (info.type) && is_number (by->type)
               ? RADIO_COLUMN_FLOAT : RADIO_COLUMN_TEXT;
  return RD_EXIT_OK;
}

static int
find_part (struct grouping *grouping, const struct rd_target *target,
           const struct part **result)
{
  const char *slash = strrchr (target->path, '/');
  size_t n = slash ? (size_t) (slash - target->path) : 0;
  for (size_t i = 0; i < grouping->nparts; i++) {
    *result = &grouping->parts[i];
    if ((*result)->store == target->store
        && strlen ((*result)->collection) == n
        && memcmp ((*result)->collection, target->path, n) == 0)
      return RD_EXIT_OK;
  }
  struct part *parts = reallocarray (grouping->parts, grouping->nparts + 1,
                                     sizeof *parts);
  if (parts == NULL)
    return rd_error_memory ();
  grouping->parts = parts;
  struct part *part = &parts[grouping->nparts++];
  *result = part;
  *part = (struct part) { .store = target->store,
                          .collection = strndup (target->path, n) };
  return part->collection ? read_part (grouping, target->store, part)
                          : rd_error_memory ();
}

static int
find_value (struct grouping *grouping, struct member *member)
{
  const struct part *part = NULL;
  uint64_t row;
  if (member->target.store == NULL)
    return rd_error ("%s: an image in its file, which has no row; ingest it",
                     member->target.name);
  if (strchr (member->target.path, '/') == NULL)
    return rd_error ("%s: a volume in no collection, which has no row; give "
                     "it one by 'radio cp --name COLLECTION/NAME'",
                     member->target.name);
  int failed = find_part (grouping, &member->target, &part);
  if (failed)
    return failed;
  if (!radio_view_find (part->view, member->target.path, &row)) {
    grouping->nunindexed++;
    return RD_EXIT_OK;
  }
  if (!part->valid[row])
    return RD_EXIT_OK;
  member->value = rd_string_copy (&part->text, row);
  return member->value ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* Zero is one number, as numbers compare. */
static void
set_numbers (struct member *members, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    struct member *member = &members[i];
    if (member->value == NULL)
      continue;
    if (!rd_parse_double (member->value, &member->number))
      member->number = *member->value == '-' ? -INFINITY : INFINITY;
    if (member->number == 0 && *member->value == '-')
      memmove (member->value, member->value + 1, strlen (member->value));
  }
}

/* The order of two values: missing ones are the last. */
static int
order_values (const struct member *a, const struct member *b)
{
  if (a->value == NULL || b->value == NULL)
    return (a->value == NULL) - (b->value == NULL);
  if (a->number != b->number)
    return a->number < b->number ? -1 : 1;
  return strcmp (a->value, b->value);
}

static int
compare_members (const void *x, const void *y)
{
  const struct member *a = x, *b = y;
  int order = order_values (a, b);
  return order ? order : (a->at > b->at) - (a->at < b->at);
}

static int
make_groups (struct rd_by *by, struct rd_nodes *nodes, struct member *members)
{
  size_t n = nodes->n;
  by->groups = calloc (n + 1, sizeof *by->groups);
  if (by->groups == NULL)
    return rd_error_memory ();
  if (is_number (by->type))
    set_numbers (members, n);
  if (n > 0)
    qsort (members, n, sizeof *members, compare_members);
  struct member first = { .number = 0 };        /* of the last group */
  for (size_t i = 0; i < n; i++) {
    nodes->list[i] = members[i].target;
    if (i == 0 || order_values (&first, &members[i]) != 0) {
      first = members[i];
      members[i].value = NULL;        /* the group's */
      by->groups[by->n++] = (struct rd_by_group) {
        .value = first.value, .first = &nodes->list[i],
      };
    }
    by->groups[by->n - 1].n++;
  }
  return RD_EXIT_OK;
}

int
rd_by_group (struct rd_args *args, const char *column, struct rd_nodes *nodes,
             struct rd_by *by)
{
  struct grouping grouping RD_CLEANUP (clear_grouping)
    = { .args = args, .by = by, .nodes = nodes };
  int failed = RD_EXIT_OK;
  *by = (struct rd_by) { .column = column };
  RD_FREE struct member *members = calloc (nodes->n + 1, sizeof *members);
  if (members == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < nodes->n && !failed; i++) {
    members[i] = (struct member) { .target = nodes->list[i], .at = i };
    failed = find_value (&grouping, &members[i]);
  }
  if (!failed)
    failed = make_groups (by, nodes, members);
  for (size_t i = 0; i < nodes->n; i++)
    free (members[i].value);
  RD_FREE char *line = rd_format (
    "%" PRIu64 " volume%s without a row %s counted where %s is missing; "
    "'radio index' adds the row%s", grouping.nunindexed,
    rd_plural (grouping.nunindexed), grouping.nunindexed == 1 ? "is" : "are",
    column, rd_plural (grouping.nunindexed));
  if (!failed && line && grouping.nunindexed > 0)
    rd_warn (line);
  return failed;
}

void
rd_by_clear (struct rd_by *by)
{
  for (size_t i = 0; i < by->n; i++)
    free (by->groups[i].value);
  free (by->groups);
  *by = (struct rd_by) { 0 };
}

void
rd_by_print (const struct rd_by *by, const struct rd_by_group *group)
{
  bool is_text = by->type == RADIO_COLUMN_TEXT;
  RD_FREE char *quoted = group->value && is_text
                         ? rd_select_quote (group->value) : NULL;
  rd_text_print (stdout, by->column);
  fputs (group->value ? " == " : " is missing", stdout);
  if (group->value)
    rd_text_print (stdout, quoted ? quoted : group->value);
}

struct json_object *
rd_by_json (const struct rd_by *by, const struct rd_by_group *group)
{
  struct json_object *object = json_object_new_object ();
  rd_json_set (object, by->column,
               rd_json_new_cell (by->type, group->value));
  return object;
}
