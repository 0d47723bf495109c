/* SPDX-License-Identifier: MIT */
/* Reports of the benchmark: tables and JSON. */
#include <config.h>

#include <string.h>

#include "tools/bench/paired.h"
#include "tools/bench/report.h"
#include "tools/bench/run.h"
#include "tools/facts.h"
#include "tools/json.h"
#include "tools/profile/report.h"
#include "tools/profile/samples.h"
#include "tools/report.h"
#include "tools/text.h"

/*------------------------------------------------------------------------
 * Layouts compared with the first one
 *----------------------------------------------------------------------*/

/* Takes the median of each complete round. */
static int
take_rounds (const struct rd_sample *sample, struct rd_series *series)
{
  size_t per = sample->nperround ? sample->nperround : 1;
  RD_FREE double *room = calloc (per, sizeof *room);
  if (room == NULL)
    return rd_error_memory ();
  if (!rd_series_open (series, NULL, sample->n / per))
    return RD_EXIT_FAILED;
  for (size_t i = 0; i < series->n; i++) {
    struct rd_summary summary;
    memcpy (room, sample->seconds + i * per, per * sizeof *room);
    rd_summarize (room, per, &summary);
    series->values[i] = summary.median;
  }
  return RD_EXIT_OK;
}

/* The median of the times of the first layout relative to those of this one in
 * the same round, and its interval.  Median 0: there is nothing to compare.
 * Returns an exit status; prints errors. */
static int
compute_ratio (const struct rd_bench *bench, const struct rd_layout *layout,
               size_t row, struct rd_ratio *ratio)
{
  struct rd_series first = { 0 }, second = { 0 };
  memset (ratio, 0, sizeof *ratio);
  if (layout == &bench->layouts[0])
    return RD_EXIT_OK;
  int failed = take_rounds (&bench->layouts[0].samples[row], &first);
  if (!failed)
    failed = take_rounds (&layout->samples[row], &second);
  if (!failed)
    failed = rd_ratio_of (&first, &second, ratio);
  rd_series_clear (&first);
  rd_series_clear (&second);
  return failed;
}

/* "1.87x"; "same" when the interval contains 1; "-" for no ratio. */
static const char *
ratio_text (const struct rd_ratio *ratio, char text[32])
{
  if (!(ratio->median > 0))
    return "-";
  if (ratio->low > 0 && ratio->low <= 1 && ratio->high >= 1)
    return "same";
  snprintf (text, 32, "%.2fx", ratio->median);
  return text;
}

/*------------------------------------------------------------------------
 * Tables
 *----------------------------------------------------------------------*/

struct figures {
  struct rd_summary seconds;
  double p95_s;
};

/* The name of the subject: the file, the volume or "a phantom". */
static const char *
subject_name (const struct rd_bench *bench)
{
  if (bench->file)
    return bench->file;
  return bench->phantom ? "a phantom"
                        : bench->layouts[0].subject.target.name;
}

static bool
add_bench_row (struct rd_table *table, const struct rd_bench *bench,
               const struct rd_limits *limits, const struct rd_layout *layout,
               size_t row)
{
  const struct rd_sample *sample = &layout->samples[row];
  struct figures f;
  struct rd_ratio ratio;
  char text[8][32];
  if (rd_sample_summarize (sample, &f.seconds, &f.p95_s) != RD_EXIT_OK
      || compute_ratio (bench, layout, row, &ratio) != RD_EXIT_OK)
    return false;
  const struct rd_summary *s = &f.seconds;
  double limit_s = rd_bench_limit_s (bench, limits, layout, row);
  snprintf (text[3], 32, "%.1f %%", s->median > 0
            ? 100 * (s->high - s->low) / s->median : 0);
  snprintf (text[5], 32, sample->decoded_nbytes ? "%.2fx" : "-",
            sample->counted_nbytes ? (double) sample->decoded_nbytes
                                     / (double) sample->counted_nbytes : 0);
  bool has_limit = limit_s > 0 && s->median > 0;
  snprintf (text[6], 32, has_limit ? "%.0f %%" : "-",
            has_limit ? 100 * limit_s / s->median : 0);
  const char *cells[] = {
    rd_rows[row].name, rd_number_grouped (s->n, text[0]),
    rd_text_ms (s->median, text[1]), rd_text_ms (f.p95_s, text[2]), text[3],
    rd_text_rate (s->n ? sample->sum_nbytes / s->n : 0, s->median, text[4]),
    text[5], text[6],
    ratio_text (&ratio, text[7])
  };
  return rd_table_add_row (table, cells);
}

static int
print_layout (const struct rd_bench *bench, const struct rd_limits *limits,
              const struct rd_layout *layout)
{
  static const char *const titles[] = {
    "", "n", "median ms", "p95", "spread", "MB/s", "decoded", "of limit",
    "speed-up"
  };
  struct rd_table table = { .alignment = "lrrrrrrrr" };
  char stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  RD_FREE char *title = rd_layout_title (bench, layout);
  RD_FREE char *tile = rd_subject_shape_text (
    &layout->subject, layout->subject.info.array.tile_shape);
  printf ("\n%s: tiles of %s, %s, %s\n", title ? title : "?",
          tile ? tile : "?", rd_text_size (layout->stored_nbytes, stored),
          rd_text_ratio (layout->raw_nbytes, layout->stored_nbytes, ratio));
  table.ncolumns = layout == &bench->layouts[0] ? 8 : 9;
  bool ok = rd_table_add_row (&table, titles);
  for (size_t i = 0; i < RD_NROWS && ok; i++)
    if (bench->chosen[i] && layout->samples[i].n > 0)
      ok = add_bench_row (&table, bench, limits, layout, i);
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  for (size_t i = 0; i < RD_NROWS; i++)
    if (bench->chosen[i] && layout->samples[i].skipped)
      printf ("%s: not measured: %s\n", rd_rows[i].name,
              layout->samples[i].skipped);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

static bool
add_limit (struct rd_table *table, const char *name, double one, double all)
{
  char text[2][32];
  snprintf (text[0], 32, one > 0 ? "%.0f" : "-", one / 1e6);
  snprintf (text[1], 32, all > 0 ? "%.0f" : "-", all / 1e6);
  return rd_table_add (table, name) && rd_table_add (table, text[0])
         && rd_table_add (table, text[1]);
}

static int
print_limits (const struct rd_bench *bench, const struct rd_limits *limits)
{
  struct rd_table table = { .ncolumns = 3, .alignment = "lrr" };
  char all[48];
  snprintf (all, sizeof all, limits->nthreads == 1 ? "%u thread"
                                                   : "%u threads",
            limits->nthreads);
  bool ok = rd_table_add (&table, "limits, MB/s")
            && rd_table_add (&table, "1 thread")
            && rd_table_add (&table, all)
            && add_limit (&table, "memcpy", limits->copy_one,
                          limits->copy_all)
            && add_limit (&table, "first touch of memory",
                          limits->touch_one, limits->touch_all)
            && add_limit (&table, "the same in huge pages",
                          limits->huge_one, limits->huge_all);
  for (size_t i = 0; i < bench->nlayouts && ok; i++) {
    const struct rd_layout *layout = &bench->layouts[i];
    RD_FREE char *title = rd_layout_title (bench, layout);
    RD_FREE char *name = title ? rd_format ("decode, %s", title) : NULL;
    ok = name && add_limit (&table, name, layout->decode_one.whole,
                            layout->decode_all.whole);
  }
  if (ok && limits->inflate > 0) {
    RD_FREE char *name = rd_format ("inflate by %s", limits->inflated_by);
    ok = name && add_limit (&table, name, limits->inflate, 0);
  }
  putchar ('\n');
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

int
rd_bench_print (const struct rd_bench *bench, const struct rd_limits *limits)
{
  if (bench->nvolumes > 1)
    printf ("%zu volumes", bench->nvolumes);
  else {
    /* "scan.nii: 70 x 60 x 50 int16, 420 kB" */
    const struct rd_subject *subject = &bench->layouts[0].subject;
    char size[RD_TEXT_NBYTES], type[32];
    RD_FREE char *shape = rd_subject_shape_text (subject,
                                                 subject->info.array.shape);
    rd_text_print (stdout, subject_name (bench));
    printf (": %s %s, %s", shape ? shape : "?",
            rd_volume_type (&subject->info, type),
            rd_text_size (bench->layouts[0].raw_nbytes, size));
  }
  printf ("; %s%u thread%s, destination %s\n",
          bench->threads.n > 1 ? "up to " : "", limits->nthreads,
          rd_plural (limits->nthreads),
          rd_destination_names[bench->destination.kind]);
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < bench->nlayouts && !failed; i++)
    failed = print_layout (bench, limits, &bench->layouts[i]);
  return failed ? failed : print_limits (bench, limits);
}

/*------------------------------------------------------------------------
 * JSON: the figures, and every time that was measured
 *----------------------------------------------------------------------*/

static struct json_object *
row_json (const struct rd_bench *bench, const struct rd_limits *limits,
          const struct rd_layout *layout, size_t row)
{
  const struct rd_sample *sample = &layout->samples[row];
  struct json_object *object = json_object_new_object ();
  rd_json_set_text (object, "row", rd_rows[row].name);
  if (sample->skipped) {
    rd_json_set_text (object, "skipped", sample->skipped);
    return object;
  }
  rd_json_set_u64 (object, "n", sample->n);
  rd_json_set_u64 (object, "runs_of_a_round", sample->nperround);
  rd_json_set_u64 (object, "nbytes", sample->n ? sample->sum_nbytes
                                                 / sample->n : 0);
  /* Without memory there are zeros; the times themselves are there. */
  struct figures f = { 0 };
  (void) rd_sample_summarize (sample, &f.seconds, &f.p95_s);
  rd_json_set_double (object, "median_s", f.seconds.median);
  rd_json_set_double (object, "p95_s", f.p95_s);
  rd_json_set_double (object, "quartile_low_s", f.seconds.low);
  rd_json_set_double (object, "quartile_high_s", f.seconds.high);
  rd_json_set_double (object, "min_s", f.seconds.min);
  rd_json_set_double (object, "max_s", f.seconds.max);
  rd_json_set (object, "times_s",
               rd_json_double_list (sample->seconds, sample->n));
  if (sample->counted_nbytes) {
    rd_json_set_u64 (object, "counted_nbytes", sample->counted_nbytes);
    rd_json_set_u64 (object, "decoded_nbytes", sample->decoded_nbytes);
    rd_json_set_u64 (object, "fetched_nbytes", sample->fetched_nbytes);
    rd_json_set_u64 (object, "tiles", sample->ntiles);
  }
  double limit_s = rd_bench_limit_s (bench, limits, layout, row);
  if (limit_s > 0)
    rd_json_set_double (object, "limit_s", limit_s);
  struct rd_ratio ratio;
  if (compute_ratio (bench, layout, row, &ratio) == RD_EXIT_OK
      && ratio.median > 0) {
    struct json_object *speed_up = json_object_new_object ();
    rd_json_set_double (speed_up, "ratio", ratio.median);
    /* With few rounds there is no interval. */
    if (ratio.low > 0) {
      rd_json_set_double (speed_up, "low", ratio.low);
      rd_json_set_double (speed_up, "high", ratio.high);
    }
    rd_json_set (object, "speed_up", speed_up);
  }
  return object;
}

static struct json_object *
layout_json (const struct rd_bench *bench, const struct rd_limits *limits,
             const struct rd_layout *layout)
{
  const struct radio_volume_info *info = &layout->subject.info;
  struct json_object *object = json_object_new_object ();
  struct json_object *rows = json_object_new_array ();
  char tiling[RD_TILING_NBYTES];
  rd_json_set_text (object, "volume", bench->nvolumes > 1
                    ? layout->subject.target.name : "");
  rd_json_set_text (object, "tiling", layout->tiling ? layout->tiling
                    : *info->tiling ? rd_volume_tiling (info, tiling) : "");
  rd_json_set_text (object, "codec", layout->codec ? layout->codec
                                                   : info->codec);
  rd_json_set_text (object, "codecs", info->array.codecs);
  rd_json_set (object, "tile",
               rd_json_u64_reversed (info->array.tile_shape,
                                     info->array.rank));
  rd_json_set_u64 (object, "threads", layout->nthreads);
  rd_json_set_u64 (object, "raw_nbytes", layout->raw_nbytes);
  rd_json_set_u64 (object, "stored_nbytes", layout->stored_nbytes);
  rd_json_set_double (object, "decode_one_bytes_per_s",
                      layout->decode_one.whole);
  rd_json_set_double (object, "decode_all_bytes_per_s",
                      layout->decode_all.whole);
  rd_json_set_double (object, "decode_thin_one_bytes_per_s",
                      layout->decode_one.thin);
  rd_json_set_double (object, "decode_thin_all_bytes_per_s",
                      layout->decode_all.thin);
  for (size_t i = 0; i < RD_NROWS; i++)
    if (bench->chosen[i])
      json_object_array_add (rows, row_json (bench, limits, layout, i));
  rd_json_set (object, "rows", rows);
  return object;
}

void
rd_bench_print_json (const struct rd_bench *bench,
                     const struct rd_limits *limits)
{
  const struct radio_volume_info *info = &bench->layouts[0].subject.info;
  char type[32];
  struct json_object *object = json_object_new_object ();
  struct json_object *layouts = json_object_new_array ();
  rd_json_set_u64 (object, "radio_bench", RD_BENCH_FORMAT);
  rd_json_set_text (object, "version", radio_version ());
  rd_json_set_text (object, "subject", subject_name (bench));
  rd_json_set (object, "shape",
               rd_json_u64_reversed (info->array.shape,
                                     info->array.rank));
  rd_json_set_text (object, "dtype", rd_volume_type (info, type));
  rd_json_set_u64 (object, "raw_nbytes", bench->layouts[0].raw_nbytes);
  rd_json_set_u64 (object, "threads", limits->nthreads);
  rd_json_set_text (object, "destination",
                    rd_destination_names[bench->destination.kind]);
  rd_json_set_u64 (object, "rounds", bench->nrounds);
  rd_json_set_u64 (object, "warmup", bench->nwarm);
  rd_json_set_u64 (object, "seed", bench->seed);
  const struct radio_pipeline *pipeline = bench->args->pipeline;
  if (bench->nvolumes > 1 && bench->args->random)
    pipeline = bench->args->random;   /* each volume has its own draw */
  if (pipeline)
    rd_json_set_text (object, "pipeline", radio_pipeline_text (pipeline));
  struct json_object *rates = rd_limits_json (limits);
  if (limits->inflate > 0) {
    rd_json_set_double (rates, "inflate", limits->inflate);
    rd_json_set_text (rates, "inflated_by", limits->inflated_by);
  }
  rd_json_set (object, "limits_bytes_per_s", rates);
  for (size_t i = 0; i < bench->nlayouts; i++)
    json_object_array_add (layouts,
                           layout_json (bench, limits, &bench->layouts[i]));
  rd_json_set (object, "layouts", layouts);
  rd_json_print (object);
}
