/* SPDX-License-Identifier: MIT */
/* radio split: writes which part of a split each subject is in. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tools/names.h"
#include "tools/options.h"
#include "tools/parse.h"
#include "tools/tables/import.h"
#include "tools/text.h"

struct split {
  struct radio_split_options options;
  double fractions[RADIO_SPLIT_MAX_PARTS];
  const char *column;         /* NULL: "split", or "fold" of folds */
  bool is_folds, force;
};

static const char *const names_of_two[] = { "train", "test" };
static const char *const names_of_three[] = { "train", "val", "test" };

/* The name of a part. */
static const char *
part_name (const struct split *split, uint64_t part, char text[32])
{
  size_t n = split->options.part_count;
  if (!split->is_folds && n == 2)
    return names_of_two[part];
  if (!split->is_folds && n == 3)
    return names_of_three[part];
  snprintf (text, 32, "%" PRIu64, part);
  return text;
}

/* Prints how many subjects each part has now. */
static int
print_counts (const struct split *split, struct radio_store *store,
              uint64_t nwritten)
{
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  RD_FREE_STRINGS struct radio_strings text = { 0 };
  enum radio_status status
    = radio_table_open (store, RADIO_TABLE_SUBJECTS, &table);
  if (status == RADIO_OK)
    status = rd_table_read_text (table, split->column, &text);
  if (status != RADIO_OK)
    return rd_error_library (RADIO_TABLE_SUBJECTS);
  uint64_t nothers = 0;
  for (uint64_t i = 0; i < text.n; i++)
    nothers += text.offsets[i] < text.offsets[i + 1];
  for (size_t part = 0; part < split->options.part_count; part++) {
    char digits[32];
    const char *name = part_name (split, part, digits);
    uint64_t count = 0;
    for (uint64_t i = 0; i < text.n; i++) {
      size_t n = (size_t) (text.offsets[i + 1] - text.offsets[i]);
      count += n == strlen (name) && n > 0
               && memcmp (text.bytes + text.offsets[i], name, n) == 0;
    }
    printf ("%-8s %8" PRIu64 "\n", name, count);
    nothers -= count;
  }
  if (nothers > 0)
    printf ("%" PRIu64 " keep another value; --force gives them a part\n",
            nothers);
  printf ("%" PRIu64 " of %" PRIu64 " subjects written to the column %s\n",
          nwritten, text.n, split->column);
  return RD_EXIT_OK;
}

/* Checks that a column with values has a part of this split among them, beside
 * which others may have been set by hand: else it is one of something else, as
 * ages are.  Returns an exit status. */
static int
check_values (const struct split *split, const struct radio_strings *text,
              const bool *valid)
{
  bool has_values = false;
  for (uint64_t i = 0; i < text->n; i++) {
    char digits[32];
    size_t n = (size_t) (text->offsets[i + 1] - text->offsets[i]);
    has_values |= valid[i];
    for (size_t k = 0; k < split->options.part_count && valid[i]; k++) {
      const char *name = part_name (split, k, digits);
      if (strlen (name) == n
          && memcmp (name, text->bytes + text->offsets[i], n) == 0)
        return RD_EXIT_OK;
    }
  }
  return has_values ? rd_error ("--column: no value of '%s' is a part of this "
                                "split; choose another column, or replace its "
                                "values by --force", split->column)
                    : RD_EXIT_OK;
}

/* Counts the rows whose value of the column is missing, or all.  Returns an
 * exit status. */
static int
count_missing (const struct split *split, struct radio_table *table,
               uint64_t n, uint64_t *count)
{
  size_t number;
  RD_FREE_STRINGS struct radio_strings text = { 0 };
  *count = n;
  enum radio_status status
    = radio_table_find_column (table, split->column, &number);
  if (status == RADIO_ERROR_NOT_FOUND || split->force)
    return RD_EXIT_OK;
  RD_FREE bool *valid = calloc (n + 1, sizeof *valid);
  if (valid == NULL)
    return rd_error_memory ();
  if (status == RADIO_OK)
    status = radio_table_read_text (table, number, &text, valid);
  for (uint64_t i = 0; status == RADIO_OK && i < n; i++)
    *count -= valid[i];
  return status == RADIO_OK ? check_values (split, &text, valid)
                            : rd_error_library (RADIO_TABLE_SUBJECTS);
}

/* Writes the parts of the rows with these ids into the column. */
static enum radio_status
write_parts (const struct split *split, struct radio_store *store,
             const struct radio_strings *ids, const uint32_t *parts)
{
  RD_FREE_EDIT struct radio_table_edit *edit = NULL;
  size_t n = (size_t) ids->n, at = 0;
  RD_FREE char *bytes = malloc (32 * (n + 1));
  RD_FREE int64_t *offsets = calloc (n + 1, sizeof *offsets);
  if (bytes == NULL || offsets == NULL)
    return RADIO_ERROR_MEMORY;
  for (size_t i = 0; i < n; i++) {
    char digits[32];
    const char *name = part_name (split, parts[i], digits);
    size_t length = strlen (name);
    memcpy (bytes + at, name, length);
    at += length;
    offsets[i + 1] = (int64_t) at;
  }
  const struct radio_strings text = { n, offsets, bytes };
  bool is_text = !split->is_folds;
  const struct radio_cells cells = {
    .column = split->column,
    .type = is_text ? RADIO_COLUMN_TEXT : RADIO_COLUMN_INTEGER,
    .values = is_text ? NULL : parts, .dtype = RADIO_UINT32,
    .text = is_text ? &text : NULL,
    .change_type = split->force, .keep_existing = !split->force,
  };
  enum radio_status status
    = radio_table_edit_new (store, RADIO_TABLE_SUBJECTS, &edit);
  if (status == RADIO_OK)
    status = radio_table_edit_set (edit, ids, &cells);
  if (status == RADIO_OK)
    status = radio_table_edit_commit (edit, NULL);
  return status;
}

/* Checks the columns that the options name; returns an exit status. */
static int
check_columns (struct rd_args *args, const struct split *split,
               struct radio_table *table)
{
  const char *stratify = split->options.stratify;
  size_t number;
  if (stratify
      && radio_table_find_column (table, stratify, &number) != RADIO_OK)
    return rd_usage_error (args, "--stratify: %s", radio_error_message ());
  return radio_column_name_check (split->column) == RADIO_OK
         ? RD_EXIT_OK
         : rd_usage_error (args, "--column: %s", radio_error_message ());
}

static int
split_subjects (struct rd_args *args, const struct split *split)
{
  RD_CLOSE_STORE struct radio_store *store = NULL;
  RD_CLOSE_TABLE struct radio_table *table = NULL;
  RD_FREE_STRINGS struct radio_strings ids = { 0 };
  struct radio_table_info info;
  int failed = rd_store_open (args, false, &store);
  if (failed)
    return failed;
  if (radio_table_open (store, RADIO_TABLE_SUBJECTS, &table) != RADIO_OK)
    return rd_error_library (rd_store_name (args));
  failed = check_columns (args, split, table);
  if (failed)
    return failed;
  radio_table_get_info (table, &info);
  size_t nbytes = ((size_t) info.row_count + 1) * sizeof (uint32_t);
  RD_FREE uint32_t *parts = malloc (nbytes);
  uint64_t nmissing;
  if (parts == NULL)
    return rd_error_memory ();
  enum radio_status status
    = radio_table_split (table, &split->options, parts, nbytes);
  if (status == RADIO_OK) {
    failed = count_missing (split, table, info.row_count, &nmissing);
    if (failed)
      return failed;
  }
  if (status == RADIO_OK)
    status = radio_table_read_ids (table, &ids);
  if (status == RADIO_OK)
    status = write_parts (split, store, &ids, parts);
  if (status != RADIO_OK)
    return rd_error_library (RADIO_TABLE_SUBJECTS);
  return args->quiet ? RD_EXIT_OK : print_counts (split, store, nmissing);
}

/* Parses fractions between commas; false after a usage error. */
static bool
take_fractions (struct rd_args *args, struct split *split)
{
  size_t n;
  double sum = 0;
  bool ok = rd_parse_doubles (args->value, split->fractions,
                              RADIO_SPLIT_MAX_PARTS, &n);
  for (size_t i = 0; i < n; i++) {
    ok &= split->fractions[i] > 0;
    sum += split->fractions[i];
  }
  if (!ok) {
    rd_usage_error (args, "--fractions: '%s' is not a list of up to %d numbers "
                    "above 0", args->value, RADIO_SPLIT_MAX_PARTS);
    return false;
  }
  if (sum < 1 - 1e-6 || sum > 1 + 1e-6) {
    rd_usage_error (args, "--fractions: '%s' has a sum other than 1",
                    args->value);
    return false;
  }
  split->options.part_count = n;
  return true;
}

static bool
take_option (struct rd_args *args, int id, struct split *split)
{
  uint64_t n;
  switch (id) {
  case RD_OPTION_FRACTIONS:
    return take_fractions (args, split);
  case RD_OPTION_FOLDS:
    if (!rd_args_number (args, 2, RADIO_SPLIT_MAX_PARTS, &n))
      return false;
    split->is_folds = true;
    split->options.part_count = (size_t) n;
    for (uint64_t i = 0; i < n; i++)
      split->fractions[i] = 1 / (double) n;
    return true;
  case RD_OPTION_SEED:
    return rd_args_number (args, 0, UINT64_MAX, &split->options.seed);
  case RD_OPTION_STRATIFY:
    split->options.stratify = args->value;
    return true;
  case RD_OPTION_COLUMN:
    split->column = args->value;
    return true;
  case RD_OPTION_EXACT:
    split->options.is_exact = true;
    return true;
  case RD_OPTION_BY:
    if (strcmp (args->value, "subject") == 0)
      return true;
    rd_usage_error (args, "--by: '%s' is not subject: a subject is in one "
                    "part", args->value);
    return false;
  default:
    split->force = true;
    return true;
  }
}

static int
run_split (struct rd_args *args)
{
  struct split split = { 0 };
  int id;
  bool has_fractions = false;
  split.options.fractions = split.fractions;
  while ((id = rd_args_next (args)) > 0) {
    has_fractions |= id == RD_OPTION_FRACTIONS;
    if (!take_option (args, id, &split))
      return args->status;
  }
  if (id < 0 || !rd_args_want (args, 0, 0, "operand"))
    return args->status;
  if (has_fractions == split.is_folds)
    return rd_usage_error (args, "give either --fractions or --folds");
  if (split.column == NULL)
    split.column = split.is_folds ? "fold" : "split";
  args->newest_tables = true;
  return split_subjects (args, &split);
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_FRACTIONS, "fractions", "F,...",
    "the fraction of each part, as 0.7,0.15,0.15" },
  { RD_OPTION_FOLDS, "folds", "K", "K parts of the same size, 0 to K-1" },
  { RD_OPTION_STRATIFY, "stratify", "COLUMN",
    "exact fractions among subjects of each value of this" },
  { RD_OPTION_EXACT, "exact", NULL, "exact fractions" },
  { RD_OPTION_BY, "by", "subject", "the unit to split: subject (default)" },
  { RD_OPTION_SEED, "seed", "N", "of the split (default: 0)" },
  { RD_OPTION_COLUMN, "column", "NAME",
    "the column to write (default: split, or fold)" },
  { RD_OPTION_FORCE, "force", NULL, "also change subjects that have a part" },
  RD_SINGLE_WRITER_OPTION,
  { 'q', "quiet", NULL, "print only errors" },
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_split = {
  .name = "split",
  .operands = "[OPTION]...",
  .summary = "split subjects for training and test",
  .description =
    "Writes a column into the table of subjects that says which part each is "
    "in, so that all its images are in one. A part is a hash of the subject's "
    "id and the seed: adding subjects moves none. With --exact or --stratify "
    "the fractions are exact instead. Subjects that have a part keep it.",
  .options = options,
  .examples =
    "radio split -s study.zarr --fractions 0.7,0.15,0.15\n"
    "radio split -s study.zarr --folds 5 --stratify diagnosis",
  .run = run_split,
};
