/* SPDX-License-Identifier: MIT */
/* The curve of a sweep in the page: two small pictures, of time and of rate
 * by size, and their numbers as a table.  Drawn here once, so that it needs
 * no script; the views below it have everything else.  The page's policy
 * allows no style in attributes, so the pictures take the colour of text. */
#include <config.h>

#include <math.h>

#include "src/base/checked.h"
#include "profiler/model/curve.h"
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

/* A range of values, and where it lies.  Logarithmic, but for a range that
 * begins with 0. */
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

static void
write_picture (struct rd_writer *writer, const struct picture *picture)
{
  rd_write_format (writer,
                   "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                   "role=\"img\" aria-label=\"%s\" font-size=\"11\" "
                   "fill=\"currentColor\">\n<text x=\"4\" y=\"14\">%s"
                   "</text>\n", WIDTH, HEIGHT, WIDTH, HEIGHT,
                   picture->title, picture->title);

  const struct rd_curve *curve = picture->curve;
  rd_write_text (writer, "<polyline fill=\"none\" stroke=\"currentColor\" "
                         "stroke-width=\"1.5\" points=\"");
  for (size_t i = 0; i < curve->n; i++)
    rd_write_format (writer, "%s%d,%d", i > 0 ? " " : "",
                     x_of (picture, &curve->at[i]),
                     y_of (picture, &curve->at[i]));
  rd_write_text (writer, "\"/>\n");

  for (size_t i = 0; i < picture->curve->n; i++)
    write_point (writer, picture, i);
  rd_write_text (writer, "</svg>\n");
}

enum radio_status
rd_page_write_curve (struct rd_writer *writer,
                     const struct radio_profile *profile)
{
  struct rd_curve curve;
  RD_TRY (rd_profile_curve (profile, &curve));
  if (curve.n == 0)
    return RADIO_OK;

  struct scale sizes = {
    .low = (double) curve.at[0].nbytes,
    .high = (double) curve.at[curve.n - 1].nbytes,
    .from = LEFT, .to = RIGHT,
  };
  struct scale y_times = { .low = HUGE_VAL, .from = BOTTOM, .to = TOP };
  struct scale y_rates = { .from = BOTTOM, .to = TOP };
  for (size_t i = 0; i < curve.n; i++) {
    y_times.low = fmin (y_times.low, (double) curve.at[i].low_ns);
    y_times.high = fmax (y_times.high, (double) curve.at[i].high_ns);
    y_rates.high = fmax (y_rates.high, bytes_per_s (&curve.at[i]));
  }
  y_times.low = fmax (y_times.low, 1);
  struct picture times = {
    "Median time of a read by its size", &curve, sizes, y_times, false
  };
  struct picture rates = { "Rate by size", &curve, sizes, y_rates, true };

  rd_write_text (writer, "<section id=\"curve\" aria-label=\"Time by size\">"
                         "<details open><summary><b>Time by size</b>"
                         "</summary>\n");
  write_picture (writer, &times);
  write_picture (writer, &rates);

  rd_write_text (writer,
                 "<table class=\"scopes\">\n<thead><tr><td></td>"
                 "<th scope=\"col\">size</th><th scope=\"col\">runs</th>"
                 "<th scope=\"col\">median</th>"
                 "<th scope=\"col\">quartiles</th>"
                 "<th scope=\"col\">rate</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < curve.n; i++) {
    const struct rd_curve_point *point = &curve.at[i];
    rd_write_text (writer, "<tr><th scope=\"row\" dir=\"auto\">");
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
  rd_write_text (writer, "</tbody>\n</table>\n<p>Of the runs, half lie "
                         "between the quartiles: the bars.</p>\n");

  rd_write_text (writer, "</details></section>\n");
  return RADIO_OK;
}
