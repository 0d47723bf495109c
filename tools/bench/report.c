/* SPDX-License-Identifier: MIT */
/* The benchmark's tables. */
#include <config.h>

#include <string.h>

#include "tools/bench/ratio.h"
#include "tools/bench/report.h"
#include "tools/facts.h"
#include "tools/profile/report.h"
#include "tools/table.h"
#include "tools/text.h"

int
rd_bench_figures (const struct rd_sample *sample, struct rd_figures *figures)
{
  RD_FREE double *copy = calloc (sample->n + 1, sizeof *copy);
  if (copy == NULL)
    return rd_error_memory ();
  if (sample->n > 0)
    memcpy (copy, sample->seconds, sample->n * sizeof *copy);
  rd_summarize (copy, sample->n, &figures->seconds);
  figures->p95_s = rd_quantile (copy, sample->n, 0.95);
  return RD_EXIT_OK;
}

const char *
rd_bench_name (const struct rd_bench *bench)
{
  if (bench->file)
    return bench->file;
  return bench->phantom ? "a phantom"
                        : bench->layouts[0].subject.target.name;
}

/* "98 %"; "-" where there is nothing to hold it against. */
static const char *
share_text (double part, double whole, char text[32])
{
  if (!(part > 0) || !(whole > 0))
    return "-";
  snprintf (text, 32, "%.0f %%", 100 * part / whole);
  return text;
}

static bool
add_row (struct rd_table *table, const struct rd_bench *bench,
         const struct rd_limits *limits, const struct rd_layout *layout,
         size_t row)
{
  const struct rd_sample *sample = &layout->samples[row];
  struct rd_figures f;
  struct rd_ratio ratio;
  char text[8][32];
  if (rd_bench_figures (sample, &f) != RD_EXIT_OK
      || rd_bench_ratio (bench, layout, row, &ratio) != RD_EXIT_OK)
    return false;
  const struct rd_summary *s = &f.seconds;
  double limit_s = rd_bench_limit_s (bench, limits, layout, row);
  snprintf (text[3], 32, "%.1f %%", s->median > 0
            ? 100 * (s->high - s->low) / s->median : 0);
  snprintf (text[5], 32, sample->decoded_nbytes ? "%.2fx" : "-",
            sample->counted_nbytes ? (double) sample->decoded_nbytes
                                     / (double) sample->counted_nbytes : 0);
  const char *cells[] = {
    rd_rows[row].name, rd_number_grouped (s->n, text[0]),
    rd_text_ms (s->median, text[1]), rd_text_ms (f.p95_s, text[2]), text[3],
    rd_text_rate (s->n ? sample->sum_nbytes / s->n : 0, s->median, text[4]),
    text[5], share_text (limit_s, s->median, text[6]),
    rd_bench_ratio_text (&ratio, text[7])
  };
  bool ok = true;
  for (size_t i = 0; i < table->ncolumns && ok; i++)
    ok = rd_table_add (table, cells[i]);
  return ok;
}

static void
print_layout_title (const struct rd_bench *bench,
                    const struct rd_layout *layout)
{
  const struct radio_volume_info *info = &layout->subject.info;
  char stored[RD_TEXT_NBYTES], ratio[RD_TEXT_NBYTES];
  RD_FREE char *title = rd_layout_title (bench, layout);
  RD_FREE char *tile = rd_subject_shape_text (&layout->subject,
                                              info->array.tile_shape);
  printf ("\n%s: tiles of %s, %s, %s\n", title ? title : "?",
          tile ? tile : "?", rd_text_size (layout->stored_nbytes, stored),
          rd_text_ratio (layout->raw_nbytes, layout->stored_nbytes, ratio));
}

static void
print_skipped (const struct rd_bench *bench, const struct rd_layout *layout)
{
  for (size_t i = 0; i < RD_NROWS; i++)
    if (bench->chosen[i] && layout->samples[i].skipped)
      printf ("%s: not measured: %s\n", rd_rows[i].name,
              layout->samples[i].skipped);
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
  bool ok = true;
  table.ncolumns = layout == &bench->layouts[0] ? 8 : 9;
  print_layout_title (bench, layout);
  for (size_t i = 0; i < table.ncolumns && ok; i++)
    ok = rd_table_add (&table, titles[i]);
  for (size_t i = 0; i < RD_NROWS && ok; i++)
    if (bench->chosen[i] && layout->samples[i].n > 0)
      ok = add_row (&table, bench, limits, layout, i);
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  print_skipped (bench, layout);
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

static bool
add_decode (struct rd_table *table, const struct rd_bench *bench,
            const struct rd_layout *layout)
{
  RD_FREE char *title = rd_layout_title (bench, layout);
  RD_FREE char *name = title ? rd_format ("decode, %s", title) : NULL;
  return name && add_limit (table, name, layout->decode_one.whole,
                            layout->decode_all.whole);
}

static bool
add_inflate (struct rd_table *table, const struct rd_limits *limits)
{
  if (!(limits->inflate > 0))
    return true;
  RD_FREE char *name = rd_format ("inflate by %s", limits->inflated_by);
  return name && add_limit (table, name, limits->inflate, 0);
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
  for (size_t i = 0; i < bench->nlayouts && ok; i++)
    ok = add_decode (&table, bench, &bench->layouts[i]);
  ok = ok && add_inflate (&table, limits);
  putchar ('\n');
  if (ok)
    rd_table_print (&table, stdout);
  rd_table_clear (&table);
  return ok ? RD_EXIT_OK : RD_EXIT_FAILED;
}

/* "scan.nii: 70 x 60 x 50 int16, 420 KB" */
static void
print_subject (const struct rd_bench *bench)
{
  const struct rd_subject *subject = &bench->layouts[0].subject;
  char size[RD_TEXT_NBYTES], type[32];
  RD_FREE char *shape = rd_subject_shape_text (subject,
                                               subject->info.array.shape);
  rd_text_print (stdout, rd_bench_name (bench));
  printf (": %s %s, %s", shape ? shape : "?",
          rd_volume_type (&subject->info, type),
          rd_text_size (bench->layouts[0].raw_nbytes, size));
}

int
rd_bench_print (const struct rd_bench *bench, const struct rd_limits *limits)
{
  if (bench->nvolumes > 1)
    printf ("%zu volumes", bench->nvolumes);
  else
    print_subject (bench);
  printf ("; %s%u thread%s, destination %s\n",
          bench->threads.n > 1 ? "up to " : "", limits->nthreads,
          limits->nthreads == 1 ? "" : "s",
          rd_destination_names[bench->destination.kind]);
  int failed = RD_EXIT_OK;
  for (size_t i = 0; i < bench->nlayouts && !failed; i++)
    failed = print_layout (bench, limits, &bench->layouts[i]);
  return failed ? failed : print_limits (bench, limits);
}
