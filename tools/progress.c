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

/* What stands between the bar's ends at least and at most. */
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

/* "  42 %  61.9 MB/s read  3.20 s left" */
static void
put_figures (uint64_t done, uint64_t total, double elapsed_s, const char *did,
             char *text, size_t nbytes)
{
  char rate[RD_TEXT_NBYTES], left[RD_TEXT_NBYTES];
  double fraction = total ? (double) done / (double) total : 0;
  double per_s = elapsed_s > 0 ? (double) done / elapsed_s : 0;
  int n = snprintf (text, nbytes, " %3.0f %%", 100 * fraction);
  if (done == 0 || elapsed_s < 0.5)
    return;
  if (did)
    n += snprintf (text + n, nbytes - (size_t) n, "  %s/s %s",
                   rd_text_size ((uint64_t) per_s, rate), did);
  snprintf (text + n, nbytes - (size_t) n, "  %s left",
            rd_text_time ((double) (total - done) / per_s, left));
}

static size_t
put_bar (char *text, size_t width, uint64_t done, uint64_t total)
{
  double fraction = total ? (double) done / (double) total : 0;
  size_t filled = (size_t) (fraction * (double) width);
  text[0] = '[';
  memset (text + 1, '#', filled);
  memset (text + 1 + filled, '.', width - filled);
  text[width + 1] = ']';
  text[width + 2] = '\0';
  return width + 2;
}

/* Copy as much of a label as fits into so many columns. */
static size_t
put_label (char *text, const char *label, size_t ncolumns)
{
  size_t used = 0;
  if (ncolumns > 80)
    ncolumns = 80;
  while (label[used]) {
    uint32_t character;
    char one[8] = "";
    size_t length = rd_utf8_decode (label + used, &character);
    memcpy (one, label + used, length);
    size_t width = rd_text_columns (one);
    if (width > ncolumns || used + length > 300)
      break;
    ncolumns -= width;
    used += length;
  }
  memcpy (text, label, used);
  text[used] = '\0';
  return used;
}

const char *
rd_progress_line (const char *label, uint64_t done, uint64_t total,
                  double elapsed_s, const char *did, size_t ncolumns,
                  char text[RD_PROGRESS_NBYTES])
{
  char figures[3 * RD_TEXT_NBYTES];
  text[0] = '\0';
  if (done > total)
    done = total;
  put_figures (done, total, elapsed_s, did, figures, sizeof figures);
  size_t wanted = strlen (figures);
  if (wanted > ncolumns)
    return text;
  size_t room = ncolumns - wanted;
  size_t used = 0;
  if (room >= BAR_MIN + 2) {
    size_t bar = room - 2 < 3 * BAR_MAX ? (room - 2) / 3 : BAR_MAX;
    bar = bar < BAR_MIN ? BAR_MIN : bar;
    used = put_bar (text, bar, done, total);
    room -= used;
  }
  memcpy (text + used, figures, wanted + 1);
  used += wanted;
  if (room > 4) {
    memcpy (text + used, "  ", 2);
    put_label (text + used + 2, label, room - 2);
  }
  return text;
}

/* The columns that may be used: a terminal that shows Ctrl-C as ^C must not
 * break the line for it, or the bar could not be taken away. */
static size_t
terminal_columns (void)
{
  struct winsize size;
  size_t ncolumns = 80;
  if (ioctl (STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    ncolumns = size.ws_col;
  return ncolumns > 3 ? ncolumns - 3 : 0;
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
  rd_progress_line (label, done, total, now_s - progress->start_s,
                    progress->did, terminal_columns (), text);
  fputc ('\r', stderr);
  rd_text_print (stderr, text);
  fputs ("\033[K", stderr);
  fflush (stderr);
  progress->shown = true;
  progress->drawn_s = now_s;
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
