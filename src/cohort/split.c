/* SPDX-License-Identifier: MIT */
/* Splitting the rows of a table by keys that are hashes of their ids. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <radio/cohort.h>
#include <radio/split.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/table/texts.h"

/* A row: its place in the table, its key, and its stratum. */
struct row {
  size_t at;
  uint64_t key;
  bool has_stratum;
  struct rd_slice stratum;
};

static enum radio_status
check_options (const struct radio_split_options *options)
{
  double sum = 0;
  RD_TRY (RD_CHECK_RESERVED (radio_split_options, options));
  if (options->part_count == 0 || options->part_count > RADIO_SPLIT_MAX_PARTS)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%zu parts, not 1 to %d",
                    options->part_count, RADIO_SPLIT_MAX_PARTS);
  for (size_t i = 0; i < options->part_count; i++) {
    if (!(options->fractions[i] > 0))
      return rd_fail (RADIO_ERROR_ARGUMENT, "fraction %zu is not above 0",
                      i + 1);
    sum += options->fractions[i];
  }
  if (!(fabs (sum - 1) <= 1e-6))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the fractions have a sum other than "
                    "1");
  return RADIO_OK;
}

/* Sets the keys of rows.  They differ from those of a sample by the same
 * seed, which else would be a part of the first part. */
static enum radio_status
set_keys (const struct radio_strings *ids, uint64_t seed, struct row *rows)
{
  static const char prefix[] = "split/";
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  for (uint64_t i = 0; i < ids->n; i++) {
    const struct rd_slice id = rd_string (ids, i);
    text.nbytes = 0;
    RD_TRY (rd_buffer_append (&text, prefix, sizeof prefix - 1));
    RD_TRY (rd_buffer_append (&text, id.at, id.n));
    RD_TRY (rd_buffer_append (&text, "", 1));
    RD_TRY (radio_sample_key (seed, (const char *) text.data, &rows[i].key));
    rows[i].at = i;
  }
  return RADIO_OK;
}

/* Sets the strata of rows: slices of text, which is filled. */
static enum radio_status
set_strata (struct radio_table *table, const char *column, uint64_t n,
            struct radio_strings *text, struct row *rows)
{
  size_t number;
  bool *valid RD_FREE = rd_calloc (n + 1, sizeof *valid);
  if (valid == NULL)
    return rd_fail_memory (n + 1);
  RD_TRY (radio_table_find_column (table, column, &number));
  RD_TRY (radio_table_read_text (table, number, text, valid));
  for (uint64_t i = 0; i < n; i++) {
    rows[i].has_stratum = valid[i];
    if (valid[i])
      rows[i].stratum = rd_string (text, i);
  }
  return RADIO_OK;
}

static int
compare_strata (const struct row *a, const struct row *b)
{
  if (a->has_stratum != b->has_stratum)
    return a->has_stratum - b->has_stratum;
  return a->has_stratum ? rd_slice_compare (a->stratum, b->stratum) : 0;
}

static int
compare_rows (const void *p, const void *q)
{
  const struct row *a = p, *b = q;
  int order = compare_strata (a, b);
  if (order == 0)
    order = (a->key > b->key) - (a->key < b->key);
  return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* The part of a number in [0, 1). */
static uint32_t
part_of (const struct radio_split_options *options, double number)
{
  double end = 0;
  size_t part = 0;
  for (; part + 1 < options->part_count; part++) {
    end += options->fractions[part];
    if (number < end)
      break;
  }
  return (uint32_t) part;
}

/* The rows of a stratum that each part gets, and how many it has too few. */
struct quotas {
  size_t *counts;
  double *remainders;         /* of this stratum, 0 of those rounded up */
  double *lacks;              /* rows too few by all strata until now */
};

/* The part that lacks most, the first of equal ones, among those that are to be
 * rounded up: all, if the sum of fractions is below 1 by a rounding error. */
static size_t
most_lacking (const struct quotas *quotas, size_t n)
{
  size_t most = n, any = 0;
  for (size_t i = 0; i < n; i++) {
    if (quotas->lacks[i] > quotas->lacks[any] + 1e-6)
      any = i;
    if (quotas->remainders[i] > 1e-6
        && (most == n || quotas->lacks[i] > quotas->lacks[most] + 1e-6))
      most = i;
  }
  return most < n ? most : any;
}

/* Sets the number of rows of each part among n. */
static void
apportion (const struct radio_split_options *options, size_t n,
           struct quotas *quotas)
{
  size_t given = 0;
  for (size_t i = 0; i < options->part_count; i++) {
    double quota = options->fractions[i] * (double) n;
    /* 0.7 * 10 is below 7 by a rounding error. */
    double nearest = round (quota);
    quotas->counts[i] = (size_t) (fabs (quota - nearest) < 1e-6
                                  ? nearest : floor (quota));
    quotas->remainders[i] = quota - (double) quotas->counts[i];
    quotas->lacks[i] += quotas->remainders[i];
    given += quotas->counts[i];
  }
  for (; given < n; given++) {
    size_t part = most_lacking (quotas, options->part_count);
    quotas->counts[part]++;
    quotas->remainders[part] = 0;
    quotas->lacks[part] -= 1;
  }
}

/* Gives the n sorted rows of a stratum to the parts. */
static void
split_stratum (const struct radio_split_options *options,
               const struct row *rows, size_t n, struct quotas *quotas,
               uint32_t *parts)
{
  apportion (options, n, quotas);
  for (size_t i = 0, part = 0, given = 0; i < n; i++) {
    while (given == quotas->counts[part]) {
      part++;
      given = 0;
    }
    parts[rows[i].at] = (uint32_t) part;
    given++;
  }
}

static enum radio_status
split_exactly (const struct radio_split_options *options, struct row *rows,
               size_t n, uint32_t *parts)
{
  size_t *counts RD_FREE = rd_calloc (options->part_count, sizeof *counts);
  double *numbers RD_FREE = rd_calloc (2 * options->part_count,
                                       sizeof *numbers);
  if (counts == NULL || numbers == NULL)
    return rd_fail_memory (2 * options->part_count * sizeof *numbers);
  struct quotas quotas = { counts, numbers, numbers + options->part_count };
  if (n > 0)
    qsort (rows, n, sizeof *rows, compare_rows);
  for (size_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n; j++)
      if (compare_strata (&rows[i], &rows[j]) != 0)
        break;
    split_stratum (options, rows + i, j - i, &quotas, parts);
  }
  return RADIO_OK;
}

enum radio_status
radio_table_split (struct radio_table *table,
                   const struct radio_split_options *options,
                   uint32_t *parts, size_t nbytes)
{
  struct radio_strings ids RD_STRINGS_FREE = { 0 };
  struct radio_strings text RD_STRINGS_FREE = { 0 };
  RD_NOT_NULL (table);
  RD_NOT_NULL (options);
  RD_NOT_NULL (options->fractions);
  RD_NOT_NULL (parts);
  RD_TRY (check_options (options));
  RD_TRY (radio_table_read_ids (table, &ids));
  if (nbytes / sizeof *parts < ids.n)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: memory for fewer parts than "
                    "rows", __func__);
  struct row *rows RD_FREE = rd_calloc (ids.n + 1, sizeof *rows);
  if (rows == NULL)
    return rd_fail_memory ((ids.n + 1) * sizeof *rows);
  RD_TRY (set_keys (&ids, options->seed, rows));
  if (options->stratify)
    RD_TRY (set_strata (table, options->stratify, ids.n, &text, rows));
  if (options->stratify || options->is_exact)
    return split_exactly (options, rows, ids.n, parts);
  for (uint64_t i = 0; i < ids.n; i++)
    parts[i] = part_of (options, ldexp ((double) rows[i].key, -64));
  return RADIO_OK;
}
