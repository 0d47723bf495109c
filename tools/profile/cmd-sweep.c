/* SPDX-License-Identifier: MIT */
/* radio profile sweep: how the time of a read grows with the box.  Each run
 * reads one box of every size, so that a machine that is slow for a while does
 * not bend the curve; in the page each size is a branch of the tree. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tools/facts.h"
#include "tools/json.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/parse.h"
#include "tools/profile/against.h"
#include "tools/progress.h"
#include "tools/report.h"
#include "tools/text.h"

#define MAX_SIZES 32

/* One point of the curve. */
struct point {
  uint64_t size, nbytes;
  struct radio_box box;       /* of the next run */
  struct radio_site site;
  char name[32];              /* "box 64" */
  double *seconds;            /* of each run; allocated */
  struct rd_summary summary;
  bool has_interval;
  double low, high;           /* of the median, 95 % */
};

struct sweep {
  struct rd_measure measure;
  struct rd_subject_options subject_options;
  struct rd_subjects subjects;
  struct rd_subject *subject; /* of the next run */
  struct point points[MAX_SIZES];
  size_t npoints;
  const char *csv;
  void *buffer;
};

/* "16,32,64": sizes from 1, at most MAX_SIZES. */
static bool
parse_sizes (struct sweep *sweep, const char *text)
{
  sweep->npoints = 0;
  while (sweep->npoints < MAX_SIZES) {
    uint64_t *size = &sweep->points[sweep->npoints++].size;
    if (!rd_read_digits (&text, size) || *size == 0)
      return false;
    if (*text == '\0')
      return true;
    if (*text++ != ',')
      return false;
  }
  return false;
}

static bool
parse_sweep (struct sweep *sweep, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0) {
    int taken = rd_measure_take (args, id, &sweep->measure);
    if (taken == 0)
      taken = rd_subject_take (args, id, &sweep->subject_options);
    if (taken < 0)
      return false;
    if (id == RD_OPTION_CSV)
      sweep->csv = args->value;
    if (id == RD_OPTION_SIZES && !parse_sizes (sweep, args->value)) {
      rd_usage_error (args, "--sizes: '%s' is not a list of at most %d "
                      "sizes, as 16,32,64", args->value, MAX_SIZES);
      return false;
    }
  }
  return id == 0 && rd_args_want (args, 0, SIZE_MAX, "VOLUME")
         && rd_against_check (&sweep->measure, args)
         && rd_subject_check (args, &sweep->subject_options);
}

/* Drops cached data, if --cold, and chooses the next place of each box. */
static int
prepare_boxes (void *data, size_t run)
{
  struct sweep *sweep = data;
  int failed = RD_EXIT_OK;
  sweep->subject = &sweep->subjects.list[run % sweep->subjects.n];
  if (sweep->measure.cold) {
    rd_measure_cool (&sweep->measure, sweep->subject->folder);
    failed = rd_subject_reopen (sweep->subject);
  }
  for (size_t i = 0; i < sweep->npoints && !failed; i++) {
    struct point *point = &sweep->points[i];
    const uint64_t size[3] = { point->size, point->size, point->size };
    failed = rd_subject_box (sweep->subject, size, NULL,
                             &sweep->measure.random, &point->box);
  }
  return failed;
}

static int
read_boxes (void *data, size_t run)
{
  struct sweep *sweep = data;
  const struct rd_target *target = &sweep->subject->target;
  size_t nwarm = sweep->measure.nwarm;
  for (size_t i = 0; i < sweep->npoints; i++) {
    struct point *point = &sweep->points[i];
    uint64_t token = radio_scope_begin_if_on (&point->site);
    double start = rd_clock_s ();
    enum radio_status status = radio_volume_read (
      target->volume, &point->box, RADIO_STORED, sweep->buffer,
      (size_t) point->nbytes, NULL);
    double seconds = rd_clock_s () - start;
    if (token)
      radio_scope_end (token);
    if (status != RADIO_OK)
      return rd_error_library (target->name);
    if (run >= nwarm)
      point->seconds[run - nwarm] = seconds;
  }
  return RD_EXIT_OK;
}

/* Completes the points: default sizes, and memory for one read. */
static int
prepare_points (struct sweep *sweep)
{
  static const uint64_t sizes[] = { 16, 32, 64, 128 };
  const struct rd_subjects *subjects = &sweep->subjects;
  const struct rd_subject *first = subjects->list;
  uint64_t shortest = UINT64_MAX, most = 0;
  for (size_t k = 0; k < subjects->n; k++) {
    const struct rd_subject *subject = &subjects->list[k];
    const struct radio_array_info *array = &subject->info.array;
    if (rd_voxel_nbytes (&subject->info) != rd_voxel_nbytes (&first->info))
      return rd_error ("%s and %s: voxels of different sizes do not go into "
                       "one sweep", first->target.name, subject->target.name);
    for (size_t i = 0; i < 3; i++) {
      size_t axis = subject->axis_of[i];
      uint64_t length = axis < array->rank ? array->shape[axis] : 1;
      shortest = length < shortest ? length : shortest;
    }
  }
  /* The default sizes that fit, or one that just fits. */
  size_t nsizes = sweep->npoints > 0 ? 0 : sizeof sizes / sizeof sizes[0];
  for (size_t i = 0; i < nsizes; i++)
    if (sizes[i] <= shortest)
      sweep->points[sweep->npoints++].size = sizes[i];
  if (sweep->npoints == 0)
    sweep->points[sweep->npoints++].size = shortest;
  int failed = prepare_boxes (sweep, 0);
  if (failed)
    return failed;
  for (size_t i = 0; i < sweep->npoints; i++) {
    struct point *point = &sweep->points[i];
    snprintf (point->name, sizeof point->name, "box %" PRIu64, point->size);
    point->site = (struct radio_site) {
      .name = point->name, .category = "operation", .function = __func__,
      .file = __FILE__, .line = __LINE__,
    };
    point->nbytes = rd_subject_nbytes (first, &point->box);
    point->seconds = calloc (sweep->measure.nruns, sizeof *point->seconds);
    if (point->seconds == NULL)
      return rd_error_memory ();
    if (point->nbytes > most)
      most = point->nbytes;
  }
  sweep->buffer = malloc ((size_t) most + 1);
  if (sweep->buffer == NULL)
    return rd_error_memory ();
  memset (sweep->buffer, 1, (size_t) most + 1);
  sweep->measure.random = sweep->measure.seed;
  return RD_EXIT_OK;
}

static int
print_table (const struct sweep *sweep)
{
  static const char *const titles[] = {
    "", "size", "n", "median ms", "95 %", "quartiles", "min", "max", "MB/s"
  };
  struct rd_table table = { .ncolumns = 9, .alignment = "lrrrrrrrr" };
  bool ok = rd_table_add_row (&table, titles);
  for (size_t i = 0; i < sweep->npoints && ok; i++) {
    const struct point *point = &sweep->points[i];
    const struct rd_summary *s = &point->summary;
    char bytes[RD_TEXT_NBYTES], text[5][32], range[80] = "-", quartiles[80];
    if (point->has_interval)
      snprintf (range, sizeof range, "%s-%s",
                rd_text_ms (point->low, text[0]),
                rd_text_ms (point->high, text[1]));
    snprintf (quartiles, sizeof quartiles, "%s-%s",
              rd_text_ms (s->low, text[0]), rd_text_ms (s->high, text[1]));
    const char *cells[] = {
      point->name, rd_text_size (point->nbytes, bytes),
      rd_number_grouped (s->n, text[0]), rd_text_ms (s->median, text[1]),
      range, quartiles, rd_text_ms (s->min, text[2]),
      rd_text_ms (s->max, text[3]),
      rd_text_rate (point->nbytes, s->median, text[4])
    };
    ok = rd_table_add_row (&table, cells);
  }
  if (ok) {
    rd_table_print (&table, stdout);
    putchar ('\n');
  }
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static int
write_csv (const struct sweep *sweep)
{
  struct rd_new_file file = {
    .name = sweep->csv, .overwrite = sweep->measure.output.overwrite
  };
  int failed = rd_new_file_open (&file);
  if (failed)
    return failed;
  fputs ("size,nbytes,n,median_s,low_s,high_s,quartile_low_s,"
         "quartile_high_s,min_s,max_s,mean_s,std_s,mb_per_s\n", file.stream);
  for (size_t i = 0; i < sweep->npoints; i++) {
    const struct point *p = &sweep->points[i];
    const struct rd_summary *s = &p->summary;
    const double fields[] = {
      s->median, p->has_interval ? p->low : (double) NAN,
      p->has_interval ? p->high : (double) NAN, s->low, s->high, s->min,
      s->max, s->mean, s->std,
      s->median > 0 ? (double) p->nbytes / 1e6 / s->median : 0
    };
    fprintf (file.stream, "%" PRIu64 ",%" PRIu64 ",%zu", p->size, p->nbytes,
             s->n);
    /* Numbers have the same form in any locale; a missing one is empty. */
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
      char text[RD_TEXT_NBYTES];
      fprintf (file.stream, ",%s", isnan (fields[k]) ? ""
               : rd_number_exact (fields[k], text));
    }
    fputc ('\n', file.stream);
  }
  failed = rd_new_file_end (&file, 0);
  if (!failed && !sweep->measure.json)
    rd_output_print (sweep->csv, "the curve");
  return failed;
}

static void
print_json (const struct sweep *sweep, const struct radio_profile *profile)
{
  struct json_object *object = rd_measure_json (&sweep->measure, profile);
  struct json_object *curve = json_object_new_array ();
  for (size_t i = 0; i < sweep->npoints; i++) {
    const struct point *point = &sweep->points[i];
    struct rd_timing timing = { point->name, point->summary, point->nbytes };
    struct json_object *row = rd_timing_json (&timing);
    rd_json_set_u64 (row, "size", point->size);
    if (point->has_interval) {
      rd_json_set_double (row, "low_s", point->low);
      rd_json_set_double (row, "high_s", point->high);
    }
    json_object_array_add (curve, row);
  }
  rd_json_set (object, "curve", curve);
  rd_json_print (object);
}

static int
measure_sweep (struct sweep *sweep, const struct rd_args *args)
{
  RD_CLEAR_RUNS struct rd_runs runs = { 0 };
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  int failed = rd_measure_begin (&sweep->measure, args);
  if (!failed && sweep->measure.against)
    return rd_against_run (&sweep->measure, args);
  if (!failed && sweep->csv)
    failed = rd_new_file_check (sweep->csv, sweep->measure.output.overwrite);
  if (!failed)
    failed = rd_subjects_open (args, &sweep->subject_options,
                               sweep->measure.json, &sweep->subjects);
  if (!failed)
    failed = prepare_points (sweep);
  if (!failed)
    failed = rd_measure_describe (&sweep->measure, &sweep->subjects);
  if (!failed)
    failed = rd_measure_describe_places (&sweep->measure, true);
  if (!failed)
    failed = rd_against_describe (&sweep->measure, args);
  if (failed)
    return failed;
  rd_measure_print (&sweep->measure);
  struct rd_operation operation = {
    .title = "sweep",
    .prepare = prepare_boxes,
    .perform = read_boxes,
    .data = sweep,
  };
  failed = rd_measure_record (&sweep->measure, &runs, &operation, &profile);
  if (failed)
    return failed;
  for (size_t i = 0; i < sweep->npoints; i++) {
    struct point *point = &sweep->points[i];
    rd_summarize (point->seconds, runs.ndone, &point->summary);
    point->has_interval = rd_median_interval (point->seconds, runs.ndone,
                                              &point->low, &point->high);
  }
  if (sweep->measure.json)
    print_json (sweep, profile);
  else
    failed = print_table (sweep);
  if (!failed && !sweep->measure.json)
    failed = rd_profile_print (profile, &sweep->measure.output);
  if (!failed && sweep->csv)
    failed = write_csv (sweep);
  int unwritten = rd_profile_output_write (&sweep->measure.output, profile,
                                           sweep->measure.json);
  return failed ? failed : unwritten;
}

static int
run_sweep (struct rd_args *args)
{
  struct sweep sweep = {
    .measure = { .operation = "sweep", .nruns = 20, .nwarm = SIZE_MAX,
                 .fail_percent = -1 },
    .subject_options.shape = RD_SUBJECT_SHAPE,
  };
  int status = parse_sweep (&sweep, args) ? measure_sweep (&sweep, args)
                                          : args->status;
  rd_subjects_close (&sweep.subjects);
  rd_measure_clear (&sweep.measure);
  for (size_t i = 0; i < MAX_SIZES; i++)
    free (sweep.points[i].seconds);
  free (sweep.buffer);
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  RD_SELECT_VOLUMES_OPTIONS,
  { RD_OPTION_SIZES, "sizes", "N,N,...",
    "sizes of the boxes (default: 16,32,64,128 if they fit)" },
  { RD_OPTION_CSV, "csv", "FILE", "also write the curve as CSV" },
  RD_SEED_OPTION,
  RD_MEASURE_OPTIONS ("20"),
  RD_AGAINST_OPTIONS,
  RD_PROFILE_OUTPUT_OPTIONS,
  RD_JSON_FIGURES_OPTION,
  RD_APPLY_OPTION,
  RD_SUBJECT_OPTIONS,
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_profile_sweep = {
  .name = "profile sweep",
  .operands = "[VOLUME|COLLECTION]... [OPTION]...",
  .summary = "profile reading boxes of growing size",
  .description =
    "Reads boxes of several sizes at random places of a volume, or of several "
    "in turn, and reports how the time grows with them: the median and its "
    "95 % confidence interval, quartiles and MB/s. Default VOLUME: the first "
    "one of the store or, without a store, a phantom.",
  .options = options,
  .examples =
    "radio profile sweep sub-01\n"
    "radio profile sweep --sizes 8,16,32,64,128,256 --runs 100 --csv "
    "curve.csv\n"
    "radio profile sweep sub-01 --cold -o cold.html",
  .run = run_sweep,
};
