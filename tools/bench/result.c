/* SPDX-License-Identifier: MIT */
/* Reading the benchmark's JSON.  Whatever is wrong with a file is told with
 * the file's name and the member's. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/bench/report.h"
#include "tools/bench/result.h"

/* More than any benchmark prints. */
#define MOST_NBYTES ((off_t) 64 << 20)

/* Fewer rounds than this have no interval. */
#define LEAST_ROUNDS 4

static void
close_file (const int *file)
{
  if (*file >= 0)
    close (*file);
}

static int
parse_file (const char *name, struct json_object **object)
{
  RD_CLEANUP (close_file) int file = open (name, O_RDONLY | O_CLOEXEC
                                           | O_NONBLOCK);
  struct stat st;
  if (file < 0 || fstat (file, &st) != 0)
    return rd_error ("%s: %s", name, strerror (errno));
  if (!S_ISREG (st.st_mode) || st.st_size > MOST_NBYTES)
    return rd_error ("%s: it is no file that 'radio bench --json' wrote",
                     name);
  *object = json_object_from_fd (file);
  struct json_object *format;
  if (*object == NULL || !json_object_is_type (*object, json_type_object)
      || !json_object_object_get_ex (*object, "radio_bench", &format))
    return rd_error ("%s: it is not what 'radio bench --json' prints",
                     name);
  if (json_object_get_int (format) != RD_BENCH_FORMAT)
    return rd_error ("%s: radio_bench is %s, this version reads %d", name,
                     json_object_get_string (format), RD_BENCH_FORMAT);
  return RD_EXIT_OK;
}

/* A member of a type; NULL after complaining. */
static struct json_object *
want (const char *file, struct json_object *object, const char *key,
      enum json_type type)
{
  struct json_object *value = NULL;
  if (json_object_is_type (object, json_type_object)
      && json_object_object_get_ex (object, key, &value)
      && json_object_is_type (value, type))
    return value;
  rd_error ("%s: '%s' is missing, or it is not %s", file, key,
            json_type_to_name (type));
  return NULL;
}

/* Members that older results do not have. */
static const char *
optional_text (struct json_object *object, const char *key)
{
  struct json_object *value = NULL;
  json_object_object_get_ex (object, key, &value);
  return json_object_is_type (value, json_type_string)
         ? json_object_get_string (value) : "";
}

static uint64_t
optional_u64 (struct json_object *object, const char *key)
{
  struct json_object *value = NULL;
  json_object_object_get_ex (object, key, &value);
  return json_object_get_uint64 (value);
}

static double
time_of (struct json_object *times, size_t i)
{
  return json_object_get_double (json_object_array_get_idx (times, i));
}

static double
median_of (struct json_object *times, size_t first, size_t n, double *room)
{
  struct rd_summary summary;
  for (size_t i = 0; i < n; i++)
    room[i] = time_of (times, first + i);
  rd_summarize (room, n, &summary);
  return summary.median;
}

static bool
all_above_zero (struct json_object *times, size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (!(time_of (times, i) > 0) || isinf (time_of (times, i)))
      return false;
  return true;
}

/* Times of one round have the places and the state of the machine in common;
 * the medians of rounds are what is as good as drawn anew. */
static int
take_values (const char *file, struct json_object *times, size_t nperround,
             struct rd_result_row *row)
{
  size_t n = json_object_array_length (times);
  RD_FREE double *room = calloc (n + 1, sizeof *room);
  row->values = calloc (n + 1, sizeof *row->values);
  if (room == NULL || row->values == NULL)
    return rd_error_memory ();
  if (!all_above_zero (times, n))
    return rd_error ("%s: a time of row '%s' is not above 0", file,
                     row->row);
  row->median_s = median_of (times, 0, n, room);
  if (nperround == 0 || n / nperround < LEAST_ROUNDS)
    nperround = 1;
  row->nvalues = n / nperround;
  for (size_t i = 0; i < row->nvalues; i++)
    row->values[i] = median_of (times, i * nperround, nperround, room);
  return RD_EXIT_OK;
}

/* A row that was not measured is left out. */
static int
take_row (const char *file, struct json_object *layout,
          struct json_object *object, struct rd_result *result)
{
  struct rd_result_row *row = &result->rows[result->nrows];
  struct json_object *name = want (file, object, "row", json_type_string);
  if (name == NULL)
    return RD_EXIT_FAILED;
  if (json_object_object_get_ex (object, "skipped", NULL))
    return RD_EXIT_OK;
  struct json_object *times = want (file, object, "times_s",
                                    json_type_array);
  struct json_object *n = want (file, object, "runs_of_a_round",
                                json_type_int);
  struct json_object *tiling = want (file, layout, "tiling",
                                     json_type_string);
  struct json_object *codec = want (file, layout, "codec", json_type_string);
  struct json_object *stored = want (file, layout, "stored_nbytes",
                                     json_type_int);
  if (!times || !n || !tiling || !codec || !stored)
    return RD_EXIT_FAILED;
  row->volume = optional_text (layout, "volume");
  row->nthreads = optional_u64 (layout, "threads");
  row->row = json_object_get_string (name);
  row->tiling = json_object_get_string (tiling);
  row->codec = json_object_get_string (codec);
  row->stored_nbytes = json_object_get_uint64 (stored);
  result->nrows++;
  return take_values (file, times, (size_t) json_object_get_uint64 (n), row);
}

static int
take_layout (const char *file, struct json_object *layout,
             struct rd_result *result)
{
  struct json_object *rows = want (file, layout, "rows", json_type_array);
  if (rows == NULL)
    return RD_EXIT_FAILED;
  size_t n = json_object_array_length (rows);
  struct rd_result_row *more = reallocarray (result->rows,
                                             result->nrows + n + 1,
                                             sizeof *more);
  if (more == NULL)
    return rd_error_memory ();
  result->rows = more;
  memset (more + result->nrows, 0, (n + 1) * sizeof *more);
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < n && !failed; i++)
    failed = take_row (file, layout, json_object_array_get_idx (rows, i),
                       result);
  return failed;
}

int
rd_result_read (const char *file, struct rd_result *result)
{
  memset (result, 0, sizeof *result);
  int failed = parse_file (file, &result->object);
  if (failed)
    return failed;
  struct json_object *layouts = want (file, result->object, "layouts",
                                      json_type_array);
  if (layouts == NULL)
    return RD_EXIT_FAILED;
  size_t n = json_object_array_length (layouts);
  for (size_t i = 0; i < n && !failed; i++)
    failed = take_layout (file, json_object_array_get_idx (layouts, i),
                          result);
  return failed;
}

/* Threads are told of the whole as well, where there is one number of
 * them: another one there is warned of, and compared all the same. */
static bool
is_alike (const struct rd_result_row *a, const struct rd_result_row *b,
          bool by_threads)
{
  return strcmp (a->tiling, b->tiling) == 0
         && strcmp (a->codec, b->codec) == 0 && strcmp (a->row, b->row) == 0
         && strcmp (a->volume, b->volume) == 0
         && (!by_threads || a->nthreads == b->nthreads);
}

/* Whether a result has rows of layouts that differ in their threads. */
static bool
has_threads (const struct rd_result *result)
{
  for (size_t i = 1; i < result->nrows; i++)
    if (result->rows[i].nthreads != result->rows[0].nthreads)
      return true;
  return false;
}

const struct rd_result_row *
rd_result_find (const struct rd_result *result,
                const struct rd_result_row *like)
{
  bool by_threads = has_threads (result);
  for (size_t i = 0; i < result->nrows; i++)
    if (is_alike (&result->rows[i], like, by_threads))
      return &result->rows[i];
  return NULL;
}

char *
rd_result_layout (const struct rd_result *result,
                  const struct rd_result_row *row)
{
  char threads[48] = "";
  if (has_threads (result))
    snprintf (threads, sizeof threads, ", %" PRIu64 " thread%s",
              row->nthreads, row->nthreads == 1 ? "" : "s");
  return rd_format ("%s%s%s %s%s", row->volume, *row->volume ? ", " : "",
                    row->tiling, row->codec, threads);
}

char *
rd_result_text (const struct rd_result *result, const char *key)
{
  struct json_object *value = NULL;
  json_object_object_get_ex (result->object, key, &value);
  return rd_format ("%s", value ? json_object_get_string (value) : "");
}

void
rd_result_clear (struct rd_result *result)
{
  for (size_t i = 0; i < result->nrows; i++)
    free (result->rows[i].values);
  free (result->rows);
  json_object_put (result->object);
}
