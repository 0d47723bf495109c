/* SPDX-License-Identifier: MIT */
/* The curve of a sweep in the page: two small pictures, of time and of rate
 * by size, and their numbers as a table; and those of operations: a picture of
 * the rate of each, with the sizes at which it leaves the caches.  Drawn here
 * once, so that it needs no script; the views below it have everything else.
 * The page's policy allows no style in attributes, so the pictures take the
 * colour of text. */
#include <config.h>

#include <math.h>

#include "src/base/checked.h"
#include "profiler/model/curve.h"
#include "profiler/model/findings.h"
#include "profiler/export/html.h"

/* A picture and, within it, where points lie: text is around. */
#define WIDTH 340
#define HEIGHT 170
#define LEFT 42
#define RIGHT 298
#define TOP 42
#define BOTTOM 128

/* More labels would not fit beside each other. */
#define MAX_LABELS 5

/* A range of values, and where it lies.  Logarithmic, unless it begins with
 * 0. */
struct scale {
  double low, high;
  int from, to;
};

static double
bytes_per_s (const struct rd_curve_point *point)
{
  return (double) point->nbytes * 1e9
         / (double) rd_max_u64 (point->median_ns, 1);
}

static int
place (const struct scale *scale, double value)
{
  double part = 0.5;
  if (scale->high > scale->low)
    part = scale->low > 0 ? log (fmax (value, scale->low) / scale->low)
                              / log (scale->high / scale->low)
                          : value / scale->high;
  return scale->from
         + (int) lround (part * (double) (scale->to - scale->from));
}

/*------------------------------------------------------------------------
 * A picture
 *----------------------------------------------------------------------*/

/* A picture of the curve, with times or rates as y. */
struct picture {
  const char *title;
  const struct rd_curve *curve;
  struct scale x, y;
  bool is_rate;
  const struct radio_profile *profile;  /* whose caches are marked; or NULL */
};

static int
x_of (const struct picture *picture, const struct rd_curve_point *point)
{
  return place (&picture->x, (double) point->nbytes);
}

static int
y_of (const struct picture *picture, const struct rd_curve_point *point)
{
  return place (&picture->y, picture->is_rate ? bytes_per_s (point)
                                              : (double) point->median_ns);
}

static void
write_rate (struct rd_writer *writer, const struct rd_curve_point *point)
{
  rd_page_write_nbytes (writer, (uint64_t) (bytes_per_s (point) + 0.5));
  rd_write_text (writer, "/s");
}

static void
begin_label (struct rd_writer *writer, int x, int y)
{
  rd_write_format (writer, "<text x=\"%d\" y=\"%d\" "
                   "text-anchor=\"middle\">", x, y);
}

static void
write_point (struct rd_writer *writer, const struct picture *picture,
             size_t i)
{
  const struct rd_curve *curve = picture->curve;
  const struct rd_curve_point *point = &curve->at[i];
  int x = x_of (picture, point), y = y_of (picture, point);
  if (!picture->is_rate) {
    /* The quartiles of a time. */
    rd_write_format (writer,
                     "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\" "
                     "stroke=\"currentColor\" stroke-opacity=\".4\" "
                     "stroke-width=\"5\"/>\n",
                     x, x, place (&picture->y, (double) point->low_ns),
                     place (&picture->y, (double) point->high_ns));
  }
  rd_write_format (writer, "<circle cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", x, y);
  size_t step = (curve->n + MAX_LABELS - 1) / MAX_LABELS;
  if ((curve->n - 1 - i) % step == 0) {
    /* Label the point with its value, and the axis with its size. */
    begin_label (writer, x, y - 9);
    if (picture->is_rate)
      write_rate (writer, point);
    else
      rd_page_write_time (writer, point->median_ns);
    rd_write_text (writer, "</text>\n");
    begin_label (writer, x, HEIGHT - 16);
    rd_page_write_nbytes (writer, point->nbytes);
    rd_write_text (writer, "</text>\n");
  }
}

/* Marks the sizes from which input and output together exceed a cache. */
static void
write_caches (struct rd_writer *writer, const struct picture *picture)
{
  static const char *const caches[][2] = {
    { "L1", "L1d cache bytes" }, { "L2", "L2 cache bytes" },
    { "L3", "L3 cache bytes" },
  };
  const struct rd_curve_point *last = &picture->curve->at[picture->curve->n
                                                          - 1];
  for (size_t i = 0; picture->profile && i < 3; i++) {
    double nbytes = (double) rd_profile_number (picture->profile,
                                                caches[i][1]);
    if (last->touched_nbytes > 0)
      nbytes *= (double) last->nbytes / (double) last->touched_nbytes;
    if (!(nbytes > picture->x.low && nbytes < picture->x.high))
      continue;
    int x = place (&picture->x, nbytes);
    rd_write_format (writer, "<line x1=\"%d\" x2=\"%d\" y1=\"%d\" "
                     "y2=\"%d\" stroke=\"currentColor\" "
                     "stroke-opacity=\".5\" stroke-dasharray=\"3 3\"/>\n",
                     x, x, TOP - 10, BOTTOM + 8);
    begin_label (writer, x, TOP - 13);
    rd_write_format (writer, "%s</text>\n", caches[i][0]);
  }
}

static void
write_picture (struct rd_writer *writer, const struct picture *picture)
{
  rd_write_format (writer,
                   "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                   "role=\"img\" aria-label=\"", WIDTH, HEIGHT, WIDTH,
                   HEIGHT);
  rd_write_html (writer, picture->title);
  rd_write_text (writer, "\" font-size=\"11\" fill=\"currentColor\">\n"
                         "<text x=\"4\" y=\"14\">");
  rd_write_html (writer, picture->title);
  rd_write_text (writer, "</text>\n");

  const struct rd_curve *curve = picture->curve;
  rd_write_text (writer, "<polyline fill=\"none\" stroke=\"currentColor\" "
                         "stroke-width=\"1.5\" points=\"");
  for (size_t i = 0; i < curve->n; i++)
    rd_write_format (writer, "%s%d,%d", i > 0 ? " " : "",
                     x_of (picture, &curve->at[i]),
                     y_of (picture, &curve->at[i]));
  rd_write_text (writer, "\"/>\n");

  write_caches (writer, picture);
  for (size_t i = 0; i < picture->curve->n; i++)
    write_point (writer, picture, i);
  rd_write_text (writer, "</svg>\n");
}

/* The range of sizes; times and rates have their own. */
static struct scale
scale_of_sizes (const struct rd_curve *curve)
{
  return (struct scale) {
    .low = (double) curve->at[0].nbytes,
    .high = (double) curve->at[curve->n - 1].nbytes,
    .from = LEFT, .to = RIGHT,
  };
}

static struct scale
scale_of_rates (const struct rd_curve *curve)
{
  struct scale scale = { .from = BOTTOM, .to = TOP };
  for (size_t i = 0; i < curve->n; i++)
    scale.high = fmax (scale.high, bytes_per_s (&curve->at[i]));
  return scale;
}

static struct scale
scale_of_times (const struct rd_curve *curve)
{
  struct scale scale = { .low = HUGE_VAL, .from = BOTTOM, .to = TOP };
  for (size_t i = 0; i < curve->n; i++) {
    scale.low = fmin (scale.low, (double) curve->at[i].low_ns);
    scale.high = fmax (scale.high, (double) curve->at[i].high_ns);
  }
  scale.low = fmax (scale.low, 1);
  return scale;
}

static void
begin_table (struct rd_writer *writer)
{
  rd_write_text (writer,
                 "<table class=\"scopes\">\n<thead><tr><td></td>"
                 "<th scope=\"col\">size</th><th scope=\"col\">runs</th>"
                 "<th scope=\"col\">median</th>"
                 "<th scope=\"col\">quartiles</th>"
                 "<th scope=\"col\">rate</th></tr></thead>\n<tbody>\n");
}

/* Writes a row for each point; before: the operation's name, or NULL. */
static void
write_rows (struct rd_writer *writer, const struct radio_profile *profile,
            const struct rd_curve *curve, const char *before)
{
  for (size_t i = 0; i < curve->n; i++) {
    const struct rd_curve_point *point = &curve->at[i];
    rd_write_text (writer, "<tr><th scope=\"row\" dir=\"auto\">");
    if (before) {
      rd_write_html (writer, before);
      rd_write_text (writer, " ");
    }
    rd_write_html (writer, profile->nodes.at[point->node].name);
    rd_write_text (writer, "</th>");
    rd_write_text (writer, "<td>");
    rd_page_write_nbytes (writer, point->nbytes);
    rd_write_format (writer, "</td><td>%zu</td><td>", point->nruns);
    rd_page_write_time (writer, point->median_ns);
    rd_write_text (writer, "</td><td>");
    rd_page_write_time (writer, point->low_ns);
    rd_write_text (writer, " to ");
    rd_page_write_time (writer, point->high_ns);
    rd_write_text (writer, "</td><td>");
    write_rate (writer, point);
    rd_write_text (writer, "</td>");
    rd_write_text (writer, "</tr>\n");
  }
}

/* Finds the next root that has a curve of several sizes, from i on; without one
 * curve->n is 0. */
static enum radio_status
find_operation (const struct radio_profile *profile, size_t *i,
                struct rd_curve *curve)
{
  for (; *i < profile->nodes.n; ++*i) {
    if (profile->nodes.at[*i].parent != RADIO_NO_PARENT)
      continue;
    RD_TRY (rd_profile_curve_of (profile, *i, curve));
    if (curve->n > 1)
      return RADIO_OK;
  }
  curve->n = 0;
  return RADIO_OK;
}

/* Writes the rate of each operation by its size. */
static enum radio_status
write_operations (struct rd_writer *writer,
                  const struct radio_profile *profile)
{
  struct rd_curve curve;
  size_t first = 0;
  RD_TRY (find_operation (profile, &first, &curve));
  if (curve.n == 0)
    return RADIO_OK;
  rd_write_text (writer, "<section id=\"curve\" "
                         "aria-label=\"Rate by size\"><details open>"
                         "<summary><b>Rate of input by size</b></summary>\n");
  size_t i = first;
  while (curve.n > 0) {
    struct picture rates = {
      profile->nodes.at[i].name, &curve, scale_of_sizes (&curve),
      scale_of_rates (&curve), true, profile
    };
    write_picture (writer, &rates);
    i++;
    RD_TRY (find_operation (profile, &i, &curve));
  }
  rd_write_text (writer, "<p>L1, L2, L3: from here on input and output "
                         "together exceed this cache of all threads.</p>\n"
                         "<details><summary>As a table</summary>\n");
  begin_table (writer);
  i = first;
  RD_TRY (find_operation (profile, &i, &curve));
  while (curve.n > 0) {
    write_rows (writer, profile, &curve, profile->nodes.at[i].name);
    i++;
    RD_TRY (find_operation (profile, &i, &curve));
  }
  rd_write_text (writer, "</tbody>\n</table></details>\n"
                         "</details></section>\n");
  return RADIO_OK;
}

enum radio_status
rd_page_write_curve (struct rd_writer *writer,
                     const struct radio_profile *profile)
{
  struct rd_curve curve;
  RD_TRY (rd_profile_curve (profile, &curve));
  if (curve.n == 0)
    return write_operations (writer, profile);

  struct scale sizes = scale_of_sizes (&curve);
  struct picture times = {
    "Median time of a read by its size", &curve, sizes,
    scale_of_times (&curve), false, NULL
  };
  struct picture rates = {
    "Rate by size", &curve, sizes, scale_of_rates (&curve), true, NULL
  };

  rd_write_text (writer, "<section id=\"curve\" "
                         "aria-label=\"Time by size\"><details open>"
                         "<summary><b>Time by size</b></summary>\n");
  write_picture (writer, &times);
  write_picture (writer, &rates);
  begin_table (writer);
  write_rows (writer, profile, &curve, NULL);
  rd_write_text (writer, "</tbody>\n</table>\n<p>Of the runs, half lie "
                         "between the quartiles: the bars.</p>\n");
  rd_write_text (writer, "</details></section>\n");
  return RADIO_OK;
}
