/* SPDX-License-Identifier: MIT */
/* The benchmark as JSON: the figures, and every time that was measured. */
#include <config.h>

#include <string.h>

#include "tools/bench/ratio.h"
#include "tools/bench/report.h"
#include "tools/facts.h"
#include "tools/json.h"

static void
put_times (struct json_object *object, const struct rd_sample *sample)
{
  struct rd_figures f = { 0 };
  /* Without memory there are zeros; the times themselves are there. */
  (void) rd_bench_figures (sample, &f);
  rd_report_put_double (object, "median_s", f.seconds.median);
  rd_report_put_double (object, "p95_s", f.p95_s);
  rd_report_put_double (object, "quartile_low_s", f.seconds.low);
  rd_report_put_double (object, "quartile_high_s", f.seconds.high);
  rd_report_put_double (object, "min_s", f.seconds.min);
  rd_report_put_double (object, "max_s", f.seconds.max);
  rd_report_put (object, "times_s",
                 rd_report_double_list (sample->seconds, sample->n));
}

/* With few rounds there is no interval. */
static void
put_ratio (struct json_object *object, const struct rd_bench *bench,
           const struct rd_layout *layout, size_t row)
{
  struct rd_ratio ratio;
  if (rd_bench_ratio (bench, layout, row, &ratio) != RD_EXIT_OK
      || !(ratio.median > 0))
    return;
  struct json_object *speed_up = json_object_new_object ();
  rd_report_put_double (speed_up, "ratio", ratio.median);
  if (ratio.low > 0) {
    rd_report_put_double (speed_up, "low", ratio.low);
    rd_report_put_double (speed_up, "high", ratio.high);
  }
  rd_report_put (object, "speed_up", speed_up);
}

static struct json_object *
row_json (const struct rd_bench *bench, const struct rd_limits *limits,
          const struct rd_layout *layout, size_t row)
{
  const struct rd_sample *sample = &layout->samples[row];
  struct json_object *object = json_object_new_object ();
  rd_report_put_text (object, "row", rd_rows[row].name);
  if (sample->skipped) {
    rd_report_put_text (object, "skipped", sample->skipped);
    return object;
  }
  rd_report_put_u64 (object, "n", sample->n);
  rd_report_put_u64 (object, "runs_of_a_round", sample->nperround);
  rd_report_put_u64 (object, "nbytes", sample->n ? sample->sum_nbytes
                                                   / sample->n : 0);
  put_times (object, sample);
  if (sample->counted_nbytes) {
    rd_report_put_u64 (object, "counted_nbytes", sample->counted_nbytes);
    rd_report_put_u64 (object, "decoded_nbytes", sample->decoded_nbytes);
    rd_report_put_u64 (object, "fetched_nbytes", sample->fetched_nbytes);
    rd_report_put_u64 (object, "tiles", sample->ntiles);
  }
  double limit_s = rd_bench_limit_s (bench, limits, layout, row);
  if (limit_s > 0)
    rd_report_put_double (object, "limit_s", limit_s);
  put_ratio (object, bench, layout, row);
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
  rd_report_put_text (object, "volume", bench->nvolumes > 1
                      ? layout->subject.target.name : "");
  rd_report_put_text (object, "tiling", layout->tiling ? layout->tiling
                      : *info->tiling ? rd_volume_tiling (info, tiling) : "");
  rd_report_put_text (object, "codec", layout->codec ? layout->codec
                                                     : info->codec);
  rd_report_put_text (object, "codecs", info->array.codecs);
  rd_report_put (object, "tile",
                 rd_report_u64_reversed (info->array.tile_shape,
                                         info->array.rank));
  rd_report_put_u64 (object, "threads", layout->nthreads);
  rd_report_put_u64 (object, "raw_nbytes", layout->raw_nbytes);
  rd_report_put_u64 (object, "stored_nbytes", layout->stored_nbytes);
  rd_report_put_double (object, "decode_one_bytes_per_s",
                        layout->decode_one.whole);
  rd_report_put_double (object, "decode_all_bytes_per_s",
                        layout->decode_all.whole);
  rd_report_put_double (object, "decode_thin_one_bytes_per_s",
                        layout->decode_one.thin);
  rd_report_put_double (object, "decode_thin_all_bytes_per_s",
                        layout->decode_all.thin);
  for (size_t i = 0; i < RD_NROWS; i++)
    if (bench->chosen[i])
      json_object_array_add (rows, row_json (bench, limits, layout, i));
  rd_report_put (object, "rows", rows);
  return object;
}

static struct json_object *
limits_json (const struct rd_limits *limits)
{
  struct json_object *object = json_object_new_object ();
  rd_report_put_double (object, "copy_one", limits->copy_one);
  rd_report_put_double (object, "copy_all", limits->copy_all);
  rd_report_put_double (object, "touch_one", limits->touch_one);
  rd_report_put_double (object, "touch_all", limits->touch_all);
  rd_report_put_double (object, "huge_one", limits->huge_one);
  rd_report_put_double (object, "huge_all", limits->huge_all);
  if (limits->inflate > 0) {
    rd_report_put_double (object, "inflate", limits->inflate);
    rd_report_put_text (object, "inflated_by", limits->inflated_by);
  }
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
  rd_report_put_u64 (object, "radio_bench", RD_BENCH_FORMAT);
  rd_report_put_text (object, "version", radio_version ());
  rd_report_put_text (object, "subject", rd_bench_name (bench));
  rd_report_put (object, "shape",
                 rd_report_u64_reversed (info->array.shape,
                                         info->array.rank));
  rd_report_put_text (object, "dtype", rd_volume_type (info, type));
  rd_report_put_u64 (object, "raw_nbytes", bench->layouts[0].raw_nbytes);
  rd_report_put_u64 (object, "threads", limits->nthreads);
  rd_report_put_text (object, "destination",
                      rd_destination_names[bench->destination.kind]);
  rd_report_put_u64 (object, "rounds", bench->nrounds);
  rd_report_put_u64 (object, "warmup", bench->nwarm);
  rd_report_put_u64 (object, "seed", bench->seed);
  rd_report_put (object, "limits_bytes_per_s", limits_json (limits));
  for (size_t i = 0; i < bench->nlayouts; i++)
    json_object_array_add (layouts,
                           layout_json (bench, limits, &bench->layouts[i]));
  rd_report_put (object, "layouts", layouts);
  rd_report_print (object);
}
