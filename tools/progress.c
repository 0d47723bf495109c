/* SPDX-License-Identifier: MIT */
/* The progress bar: how far, how fast, how long yet. */
#include <config.h>

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/progress.h"
#include "tools/text.h"

/* The least and greatest width of the bar. */
#define BAR_MIN 10
#define BAR_MAX 40

double
rd_clock_s (void)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

void
rd_progress_start (struct rd_progress *progress, const char *did)
{
  memset (progress, 0, sizeof *progress);
  progress->enabled = isatty (STDERR_FILENO) != 0;
  progress->did = did;
  progress->start_s = rd_clock_s ();
}

const char *
rd_progress_line (const char *label, uint64_t done, uint64_t total,
                  double elapsed_s, const char *did, size_t ncolumns,
                  char text[RD_PROGRESS_NBYTES])
{
  /* "  42 %  61.9 MB/s read  3.20 s left" */
  char figures[3 * RD_TEXT_NBYTES], rate[RD_TEXT_NBYTES];
  char left[RD_TEXT_NBYTES];
  text[0] = '\0';
  if (done > total)
    done = total;
  double fraction = total ? (double) done / (double) total : 0;
  double per_s = elapsed_s > 0 ? (double) done / elapsed_s : 0;
  size_t wanted = (size_t) snprintf (figures, sizeof figures, " %3.0f %%",
                                     100 * fraction);
  bool has_rate = done > 0 && elapsed_s >= 0.5;
  if (has_rate && did)
    wanted += (size_t) snprintf (figures + wanted, sizeof figures - wanted,
                                 "  %s/s %s",
                                 rd_text_size ((uint64_t) per_s, rate), did);
  if (has_rate)
    wanted += (size_t) snprintf (figures + wanted, sizeof figures - wanted,
                                 "  %s left",
                                 rd_text_time ((double) (total - done)
                                               / per_s, left));
  if (wanted > ncolumns)
    return text;
  size_t room = ncolumns - wanted;
  size_t used = 0;
  if (room >= BAR_MIN + 2) {
    size_t bar = room - 2 < 3 * BAR_MAX ? (room - 2) / 3 : BAR_MAX;
    bar = bar < BAR_MIN ? BAR_MIN : bar;
    size_t filled = (size_t) (fraction * (double) bar);
    text[0] = '[';
    memset (text + 1, '#', filled);
    memset (text + 1 + filled, '.', bar - filled);
    text[bar + 1] = ']';
    used = bar + 2;
    room -= used;
  }
  memcpy (text + used, figures, wanted + 1);
  used += wanted;
  if (room <= 4)
    return text;
  /* As much of the label as fits into the columns left. */
  memcpy (text + used, "  ", 2);
  used += 2;
  room = room - 2 < 80 ? room - 2 : 80;
  for (size_t end = used + 300;;) {
    uint32_t character;
    char one[8] = "";
    size_t length = *label ? rd_utf8_decode (label, &character) : 0;
    memcpy (one, label, length);
    size_t width = rd_text_columns (one);
    if (length == 0 || width > room || used + length > end)
      break;
    memcpy (text + used, label, length);
    used += length;
    label += length;
    room -= width;
  }
  text[used] = '\0';
  return text;
}

void
rd_progress_update (struct rd_progress *progress, const char *label,
                    uint64_t done, uint64_t total)
{
  if (!progress->enabled)
    return;
  double now_s = rd_clock_s ();
  if (progress->shown && now_s - progress->drawn_s < 0.1)
    return;
  char text[RD_PROGRESS_NBYTES];
  struct winsize size;
  size_t ncolumns = 80;
  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    ncolumns = size.ws_col;
  /* A terminal that shows Ctrl-C as ^C must not break the line, or the bar
   * could not be cleared. */
  ncolumns = ncolumns > 3 ? ncolumns - 3 : 0;
  rd_progress_line (label, done, total, now_s - progress->start_s,
                    progress->did, ncolumns, text);
  fputc ('\r', stderr);
  rd_text_print (stderr, text);
  fputs ("\033[K", stderr);
  fflush (stderr);
  progress->shown = true;
  progress->drawn_s = now_s;
}

void
rd_progress_update_part (struct rd_progress *progress,
                         struct rd_progress_sum *sum,
                         struct rd_progress_part *part, const char *label,
                         uint64_t done, uint64_t total)
{
  sum->nmeasured += !part->is_measured;
  sum->total += total - part->total;
  sum->done += done - part->done;
  *part = (struct rd_progress_part) { true, done, total };
  double expected = (double) sum->total / (double) sum->nmeasured
                    * (double) sum->n;
  rd_progress_update (progress, label, sum->done, (uint64_t) expected);
}

void
rd_progress_clear (struct rd_progress *progress)
{
  if (!progress->shown)
    return;
  fputs ("\r\033[K", stderr);
  fflush (stderr);
  progress->shown = false;
}
