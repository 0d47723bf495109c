/* SPDX-License-Identifier: MIT */
/* A profile as text: its title, sums, tree and findings; and texts in
 * columns. */
#include <config.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "src/base/checked.h"
#include "profiler/export/text.h"
#include "profiler/model/findings.h"
#include "profiler/model/sum.h"

/*------------------------------------------------------------------------
 * Columns
 *----------------------------------------------------------------------*/

/* The bytes of the first n characters. */
static size_t
first_nbytes (const char *text, size_t n)
{
  const char *at = text;
  uint32_t character;
  for (; n > 0 && *at != '\0'; n--)
    at += rd_utf8_decode (at, &character);
  return (size_t) (at - text);
}

size_t
rd_write_cut (struct rd_writer *writer, const char *text, size_t width)
{
  static const char dots[] = "..";
  size_t all = rd_utf8_count (text);
  if (all <= width || width < 5) {
    size_t n = all < width ? all : width;
    rd_write_bytes (writer, text, first_nbytes (text, n));
    return n;
  }
  size_t tail = (width - strlen (dots)) / 2;
  size_t head = width - strlen (dots) - tail;
  rd_write_bytes (writer, text, first_nbytes (text, head));
  rd_write_text (writer, dots);
  rd_write_text (writer, text + first_nbytes (text, all - tail));
  return width;
}

void
rd_write_blanks (struct rd_writer *writer, size_t n)
{
  static const char blanks[] = "                                ";
  for (; n >= sizeof blanks; n -= sizeof blanks - 1)
    rd_write_text (writer, blanks);
  rd_write_bytes (writer, blanks, n);
}

void
rd_write_right (struct rd_writer *writer, const char *text, size_t width)
{
  size_t n = rd_utf8_count (text);
  rd_write_blanks (writer, n < width ? width - n : 0);
  rd_write_text (writer, text);
}

/* Writes a text in lines of at most `width' characters, broken at blanks;
 * lines but the first are indented. */
static void
write_wrapped (struct rd_writer *writer, const char *text, size_t indent,
               size_t width)
{
  size_t column = 0;
  while (*text != '\0') {
    size_t nbytes = strcspn (text, " ");
    size_t n = 0;
    uint32_t character;
    for (size_t i = 0; i < nbytes; n++)
      i += rd_utf8_decode (text + i, &character);
    if (column > 0 && indent + column + 1 + n > width) {
      rd_write_text (writer, "\n");
      rd_write_blanks (writer, indent);
      column = 0;
    } else if (column > 0) {
      rd_write_text (writer, " ");
      column++;
    }
    rd_write_bytes (writer, text, nbytes);
    column += n;
    text += nbytes + strspn (text + nbytes, " ");
  }
}

#define DEFAULT_COLUMNS 80
#define LEAST_COLUMNS 50

/* The widths of the keys of sums and facts; a longer key that a program
 * gave pushes its value to the right. */
#define KEY_WIDTH 12
#define KEY_MAX_WIDTH 32
#define FACT_NBYTES 320      /* of the numbers of a fact */

void
rd_text_colour (const struct rd_text *text, enum rd_colour colour)
{
  if (text->colour)
    rd_write_format (text->writer, "\033[%dm", (int) colour);
}

/*------------------------------------------------------------------------
 * The head
 *----------------------------------------------------------------------*/

/* A line "KEY         item, item", which continues on the next line when it
 * becomes too long. */
struct line {
  const struct rd_text *text;
  size_t column;              /* 0: no item was written */
};

/* Returns the column after the key. */
static size_t
begin_line (const struct rd_text *text, const char *key)
{
  size_t n = rd_write_cut (text->writer, key, KEY_MAX_WIDTH);
  size_t column = n < KEY_WIDTH ? KEY_WIDTH : n + 1;
  rd_write_blanks (text->writer, column - n);
  return column;
}

RADIO_PRINTF (3, 4) static void
add_item (struct line *line, const char *key, const char *format, ...)
{
  struct rd_writer *writer = line->text->writer;
  char item[96];
  va_list args;
  va_start (args, format);
  vsnprintf (item, sizeof item, format, args);
  va_end (args);
  size_t n = rd_utf8_count (item);
  if (line->column == 0) {
    line->column = begin_line (line->text, key);
  } else if (line->column + 3 + n > line->text->columns) {
    rd_write_text (writer, ",\n");
    rd_write_blanks (writer, KEY_WIDTH);
    line->column = KEY_WIDTH;
  } else {
    rd_write_text (writer, ", ");
    line->column += 2;
  }
  rd_write_text (writer, item);
  line->column += n;
}

static void
end_line (struct line *line)
{
  if (line->column > 0)
    rd_write_text (line->text->writer, "\n");
}

/* "1.50 threads busy", as in the page's head; "" without a wall time. */
static void
print_parallelism (const struct rd_text *text, char words[64])
{
  uint64_t span_ns = rd_profile_span_ns (text->profile);
  uint64_t ran_ns = rd_profile_ran_ns (text->profile);
  double busy = span_ns ? (double) ran_ns / (double) span_ns : 0;
  *words = '\0';
  if (busy >= 0.005 && busy < 1e6)
    snprintf (words, 64, " (%.*f threads busy)",
              busy >= 99.95 ? 0 : busy >= 9.995 ? 1 : 2, busy);
}

/* The work, and where threads had no CPU in a part of it, that part. */
static void
add_work (struct line *line)
{
  const struct rd_text *text = line->text;
  const struct radio_profile_info *info = &text->profile->info;
  uint64_t ran_ns = rd_profile_ran_ns (text->profile);
  char number[RD_NUMBER_NBYTES], busy[64];
  print_parallelism (text, busy);
  rd_text_ns (info->work_ns, number);
  add_item (line, "time", "%s work%s", number,
            ran_ns == info->work_ns ? busy : "");
  if (ran_ns < info->work_ns) {
    rd_text_ns (ran_ns, number);
    add_item (line, "time", "%s of it on CPUs%s", number, busy);
  }
  rd_text_ns (info->starved_ns, number);
  if (info->starved_ns > 0)
    add_item (line, "time", "%s runnable without one", number);
}

/* Prints the numbers of "1, 2, ...", as joined profiles have them, each with
 * its unit; false if these are other words. */
static bool
print_numbers (const char *list, bool are_times, char text[FACT_NBYTES])
{
  size_t n = 0;
  for (;;) {
    char digits[24], number[RD_NUMBER_NBYTES];
    size_t ndigits = strspn (list, "0123456789");
    if (ndigits == 0 || ndigits >= sizeof digits)
      return false;
    memcpy (digits, list, ndigits);
    digits[ndigits] = '\0';
    list += ndigits;
    (are_times ? rd_text_ns : rd_text_bytes) (rd_parse_digits (digits),
                                              number);
    bool is_last = *list == '\0' || strcmp (list, ", ...") == 0;
    n += (size_t) snprintf (text + n, FACT_NBYTES - n, "%s%s", number,
                            is_last ? list : ", ");
    if (n >= FACT_NBYTES || (!is_last && strncmp (list, ", ", 2) != 0))
      return false;
    if (is_last)
      return true;
    list += 2;
  }
}

/* Facts whose keys say that they are a time or bytes have these units. */
static void
print_fact (const struct rd_fact *fact, char key[KEY_MAX_WIDTH + 1],
            char value[FACT_NBYTES])
{
  size_t n = strlen (fact->key);
  bool are_times = n > 3 && strcmp (fact->key + n - 3, " ns") == 0;
  bool are_nbytes = strncmp (fact->key, "bytes ", 6) == 0;
  bool are_printed = (are_times || are_nbytes)
                     && print_numbers (fact->value, are_times, value);
  if (!are_printed)
    *value = '\0';
  snprintf (key, KEY_MAX_WIDTH + 1, "%.*s",
            (int) (are_printed && are_times ? n - 3 : n), fact->key);
}

/* A count, unless it is 0. */
static void
add_count (struct line *line, uint64_t count, const char *word)
{
  char number[RD_NUMBER_NBYTES];
  rd_number_grouped (count, number);
  if (count > 0)
    add_item (line, "scopes", "%s %s", number, word);
}

/* Sums over the whole tree: bytes, memory, and the recorder's own. */
static void
write_sums (const struct rd_text *text)
{
  const struct radio_profile *profile = text->profile;
  const struct radio_profile_info *info = &profile->info;
  char number[RD_NUMBER_NBYTES], rate[RD_NUMBER_NBYTES];

  struct line moves = { .text = text };
  for (size_t i = 0; i < RD_NMOVES; i++) {
    uint64_t nbytes = 0;
    for (size_t node = 0; node < profile->nodes.n; node++)
      if (profile->nodes.at[node].parent == RADIO_NO_PARENT
          && rd_add_overflows (nbytes,
                               radio_profile_counter (profile, node,
                                                      rd_moves[i].counter,
                                                      true), &nbytes)) {
        nbytes = UINT64_MAX;
        break;
      }
    if (nbytes == 0)
      continue;
    rd_text_bytes (nbytes, number);
    rd_text_mb_per_s (nbytes, text->wall_ns, rate);
    if (moves.column == 0 && *rate)
      add_item (&moves, "bytes", "%s %s (%s MB/s)", number, rd_moves[i].word,
                rate);
    else
      add_item (&moves, "bytes", "%s %s", number, rd_moves[i].word);
  }
  end_line (&moves);

  uint64_t flop = 0, nmoved = 0;
  for (size_t node = 0; node < profile->nodes.n; node++)
    if (profile->nodes.at[node].parent == RADIO_NO_PARENT) {
      flop = rd_sum (flop, rd_flop (profile, node));
      nmoved = rd_sum (nmoved, rd_moved (profile, node, true));
    }
  if (flop > 0) {
    struct line operations = { .text = text };
    uint64_t ran_ns = rd_profile_ran_ns (profile);
    rd_text_short_count (flop, number);
    rd_text_multiple (flop, ran_ns, rate);
    if (ran_ns > 0)
      add_item (&operations, "operations", "%s flop (%s GFLOP/s a thread)",
                number, rate);
    else
      add_item (&operations, "operations", "%s flop", number);
    if (nmoved > 0) {
      rd_text_multiple (flop, nmoved, rate);
      add_item (&operations, "operations", "%s a byte", rate);
    }
    end_line (&operations);
  }

  if (info->alloc_count > 0) {
    struct line memory = { .text = text };
    rd_text_bytes (info->alloc_peak_nbytes, number);
    if (info->alloc_peak_nbytes > 0)
      add_item (&memory, "memory", "%s allocated at most", number);
    uint64_t resident = rd_profile_number (profile, RD_FACT_RESIDENT);
    rd_text_bytes (resident, number);
    if (resident > 0)
      add_item (&memory, "memory", "%s resident in the process", number);
    rd_number_grouped (info->alloc_count, number);
    add_item (&memory, "memory", "%s allocations", number);
    rd_text_bytes (info->alloc_live_nbytes, number);
    if (info->alloc_live_nbytes > 0)
      add_item (&memory, "memory", "%s not released", number);
    end_line (&memory);
  }

  /* The recorder's overhead, and data that it lost. */
  struct line scopes = { .text = text };
  rd_number_grouped (info->scope_count, number);
  add_item (&scopes, "scopes", "%s", number);
  uint64_t cpu_ns, recording_ns = rd_profile_recording_ns (profile, &cpu_ns);
  if (recording_ns > 0 && cpu_ns == 0) {
    rd_text_ns (recording_ns, number);
    add_item (&scopes, "scopes", "recording took %s", number);
  }
  rd_text_share (recording_ns, cpu_ns, number);
  if (recording_ns > 0 && cpu_ns > 0)
    add_item (&scopes, "scopes", "recording took %s %% of %s", number,
              cpu_ns == info->work_ns ? "work" : "CPU time");
  add_count (&scopes, info->dropped_count, "not in the log");
  add_count (&scopes, info->open_count, "open at the end");
  add_count (&scopes, info->late_count, "late");
  end_line (&scopes);
}

/* The title, the sums and the facts. */
static void
write_head (const struct rd_text *text)
{
  const struct radio_profile *profile = text->profile;
  const struct radio_profile_info *info = &profile->info;
  struct rd_writer *writer = text->writer;
  char number[RD_NUMBER_NBYTES];

  const char *title = *info->title ? info->title : info->program;
  rd_write_text (writer, RD_TEXT_OPENING);
  rd_text_colour (text, RD_BOLD);
  rd_write_cut (writer, *title ? title : "(no title)",
                text->columns - strlen (RD_TEXT_OPENING));
  rd_text_colour (text, RD_PLAIN);
  rd_write_text (writer, "\n");

  /* Whatever else it shows is of a failure. */
  const char *failure = rd_profile_find_fact (profile, RD_FACT_FAILED);
  if (failure != NULL) {
    rd_text_colour (text, RD_RED);
    size_t column = begin_line (text, RD_FACT_FAILED);
    write_wrapped (writer, failure, column, text->columns);
    rd_text_colour (text, RD_PLAIN);
    rd_write_text (writer, "\n");
  }

  time_t seconds = (time_t) (info->started_unix_ns / 1000000000);
  struct tm tm;
  if (seconds != 0 && gmtime_r (&seconds, &tm) != NULL) {
    begin_line (text, "recorded");
    rd_write_format (writer, "%04d-%02d-%02d %02d:%02d:%02d UTC%s%s\n",
                     tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                     tm.tm_min, tm.tm_sec, *info->program ? ", " : "",
                     info->program);
  }

  struct line times = { .text = text };
  rd_text_ns (info->wall_ns, number);
  add_item (&times, "time", "%s wall", number);
  add_work (&times);
  rd_text_ns (info->wait_ns, number);
  add_item (&times, "time", "%s wait", number);
  end_line (&times);

  if (profile->parts.n >= 2) {
    uint64_t least = UINT64_MAX, most = 0;
    char low[RD_NUMBER_NBYTES], high[RD_NUMBER_NBYTES];
    for (size_t i = 0; i < profile->parts.n; i++) {
      least = rd_min_u64 (least, profile->parts.at[i].wall_ns);
      most = rd_max_u64 (most, profile->parts.at[i].wall_ns);
    }
    rd_text_ns (least, low);
    rd_text_ns (most, high);
    bool is_ranks = info->parts == RADIO_PARTS_RANKS;
    begin_line (text, is_ranks ? "ranks" : "runs");
    rd_write_format (writer, "%zu, of %s to %s each\n", profile->parts.n,
                     low, high);
  }

  write_sums (text);

  for (size_t i = 0; i < profile->facts.n; i++) {
    const struct rd_fact *fact = &profile->facts.at[i];
    /* It has a line of its own. */
    if (strcmp (fact->key, RD_FACT_FAILED) == 0)
      continue;
    char key[KEY_MAX_WIDTH + 1], value[FACT_NBYTES];
    print_fact (fact, key, value);
    size_t column = begin_line (text, *value ? key : fact->key);
    rd_write_cut (writer, *value ? value : fact->value,
                  text->columns - column);
    rd_write_text (writer, "\n");
  }
}

static const struct {
  const char *mark;
  enum rd_colour colour;
} weights[] = {
  [RADIO_FINDING_NOTE] = { "- ", RD_PLAIN },
  [RADIO_FINDING_HINT] = { "* ", RD_YELLOW },
  [RADIO_FINDING_PROBLEM] = { "! ", RD_RED },
};

/* The time of all roots.  One that did not run itself, such as the parent of a
 * worker's scopes, is as long as its children. */
static uint64_t
sum_roots (const struct radio_profile *profile)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < profile->nodes.n; i++) {
    const struct radio_profile_node *node = &profile->nodes.at[i];
    if (node->total_ns == 0)
      continue;
    size_t above = node->parent;
    while (above != RADIO_NO_PARENT && profile->nodes.at[above].total_ns == 0
           && profile->nodes.at[above].calls == 0)
      above = profile->nodes.at[above].parent;
    if (above == RADIO_NO_PARENT)
      sum = rd_sum (sum, node->total_ns);
  }
  return sum;
}

enum radio_status
rd_export_text (const struct radio_profile *profile,
                const struct radio_profile_write_options *options,
                struct rd_writer *writer)
{
  unsigned columns = options->columns ? options->columns : DEFAULT_COLUMNS;
  struct rd_text text = {
    .writer = writer,
    .profile = profile,
    .colour = options->colour,
    .utf8 = options->utf8,
    .columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns,
    /* Ranks ran at once, and their times add up beyond the whole's. */
    .wall_ns = rd_max_u64 (profile->info.wall_ns,
                           rd_profile_span_ns (profile)),
    .roots_ns = sum_roots (profile),
  };
  write_head (&text);
  RD_TRY (rd_text_tree (&text));

  for (size_t i = 0; i < profile->findings.n; i++) {
    const struct radio_finding *finding = &profile->findings.at[i];
    rd_write_text (writer, i == 0 ? "\nFindings\n" : "");
    rd_text_colour (&text, weights[finding->weight].colour);
    rd_write_text (writer, weights[finding->weight].mark);
    write_wrapped (writer, finding->title, 2, text.columns);
    rd_text_colour (&text, RD_PLAIN);
    rd_write_text (writer, "\n    ");
    write_wrapped (writer, finding->evidence, 4, text.columns);
    rd_write_text (writer, "\n");
  }
  return writer->status;
}
