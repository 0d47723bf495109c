/* SPDX-License-Identifier: MIT */
/* Parsing the text of a pipeline.  Each operation is a name and words, whose
 * forms are in one table; an error names the byte, the word and what is allowed
 * there. */
#include <config.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/base/reserve.h"
#include "src/operation/matrix.h"
#include "src/operation/pipeline.h"

/* Positions and widths are less than this, so that sums of some fit. */
#define MAX_POSITION (INT64_C (1) << 62)

/* A word, or a part of one. */
struct word {
  const char *at;
  size_t nbytes;
};

struct parser {
  const char *text;
  const char *at;
  struct rd_step *steps;
  size_t n, capacity;
  bool lacks_memory;          /* a number could not be parsed for that */
};

/* Messages show so much of a word. */
#define SHOWN_NBYTES 40

static enum radio_status fail_word (const struct parser *parser,
                                    struct word word, const char *format, ...)
  RADIO_PRINTF (3, 4);

static enum radio_status
fail_word (const struct parser *parser, struct word word, const char *format,
           ...)
{
  char reason[512];
  va_list list;
  if (parser->lacks_memory)
    return rd_fail_memory (0);
  va_start (list, format);
  vsnprintf (reason, sizeof reason, format, list);
  va_end (list);
  size_t offset = (size_t) (word.at - parser->text);
  if (word.nbytes == 0)
    return rd_fail (RADIO_ERROR_ARGUMENT, "pipeline, byte %zu: %s", offset,
                    reason);
  int shown = word.nbytes < SHOWN_NBYTES ? (int) word.nbytes : SHOWN_NBYTES;
  return rd_fail (RADIO_ERROR_ARGUMENT, "pipeline, byte %zu, '%.*s': %s",
                  offset, shown, word.at, reason);
}

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Returns the next word of a step, which is empty at its end. */
static struct word
peek_word (const struct parser *parser)
{
  struct word word = { parser->at, 0 };
  while (is_blank (*word.at))
    word.at++;
  while (word.at[word.nbytes] && word.at[word.nbytes] != '|'
         && !is_blank (word.at[word.nbytes]))
    word.nbytes++;
  return word;
}

static struct word
take_word (struct parser *parser)
{
  struct word word = peek_word (parser);
  parser->at = word.at + word.nbytes;
  return word;
}

static bool
is_word (struct word word, const char *text)
{
  return word.nbytes == strlen (text)
         && memcmp (word.at, text, word.nbytes) == 0;
}

/* Takes the next word if it is this one. */
static bool
take_if (struct parser *parser, const char *text)
{
  if (!is_word (peek_word (parser), text))
    return false;
  take_word (parser);
  return true;
}

/* Splits off what is before the first separator, or all. */
static struct word
split (struct word *rest, char separator)
{
  const char *end = rest->nbytes ? memchr (rest->at, separator, rest->nbytes)
                                 : NULL;
  struct word part = { rest->at, end ? (size_t) (end - rest->at)
                                     : rest->nbytes };
  size_t skipped = part.nbytes + (end != NULL);
  rest->at += skipped;
  rest->nbytes -= skipped;
  return part;
}

static size_t
count_char (struct word word, char c)
{
  size_t n = 0;
  for (size_t i = 0; i < word.nbytes; i++)
    n += word.at[i] == c;
  return n;
}

static size_t
count_digits (const char *at, const char *end)
{
  size_t n = 0;
  while (at + n < end && at[n] >= '0' && at[n] <= '9')
    n++;
  return n;
}

/* Parses a decimal number.  The syntax is checked here; JSON's parser, which
 * the locale does not change, makes the number. */
static bool
parse_number (struct parser *parser, struct word word, double *value)
{
  char text[80];
  const char *at = word.at, *end = word.at + word.nbytes;
  if (word.nbytes + 3 > sizeof text)
    return false;
  bool is_negative = at < end && *at == '-';
  at += is_negative;
  size_t nwhole = count_digits (at, end), nzeros = 0;
  while (nzeros + 1 < nwhole && at[nzeros] == '0')
    nzeros++;
  const char *first = at + nzeros;
  at += nwhole;
  bool has_mark = false;
  if (nwhole == 0)
    return false;
  if (at < end && *at == '.') {
    size_t nfraction = count_digits (at + 1, end);
    has_mark = true;
    at += 1 + nfraction;
    if (nfraction == 0)
      return false;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at += 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+'));
    size_t nexponent = count_digits (at, end);
    has_mark = true;
    at += nexponent;
    if (nexponent == 0)
      return false;
  }
  if (at != end)
    return false;
  int n = snprintf (text, sizeof text, "%s%.*s%s", is_negative ? "-" : "",
                    (int) (end - first), first, has_mark ? "" : ".0");
  struct json_object *json RD_CLEANUP (rd_cleanup_json) = NULL;
  enum radio_status status = rd_json_parse (text, (size_t) n, "number", &json);
  parser->lacks_memory = status == RADIO_ERROR_MEMORY;
  if (status != RADIO_OK)
    return false;
  *value = json_object_get_double (json);
  /* -0 reads back as 0. */
  if (*value == 0)
    *value = 0;
  return isfinite (*value);
}

/* Parses a whole number, of which only the first may be negative. */
static bool
parse_position (struct word word, bool may_be_negative, int64_t *value)
{
  const char *at = word.at, *end = word.at + word.nbytes;
  bool is_negative = may_be_negative && at < end && *at == '-';
  at += is_negative;
  int64_t result = 0;
  if (at == end || count_digits (at, end) != (size_t) (end - at))
    return false;
  for (; at < end; at++) {
    result = result * 10 + (*at - '0');
    if (result >= MAX_POSITION / 10)
      return false;
  }
  *value = is_negative ? -result : result;
  return true;
}

/* Parses "A,B". */
static enum radio_status
take_pair (struct parser *parser, const char *what, double *a, double *b)
{
  struct word rest = take_word (parser), whole = rest;
  if (whole.nbytes == 0 || count_char (whole, ',') != 1)
    return fail_word (parser, whole, "expected %s, as 0,1", what);
  for (int i = 0; i < 2; i++) {
    struct word part = split (&rest, ',');
    if (!parse_number (parser, part, i == 0 ? a : b))
      return fail_word (parser, part.nbytes ? part : whole, "not a number such "
                        "as -1, 0.5 or 1e3; expected %s", what);
  }
  return RADIO_OK;
}

/* Calls parse with each of "N" (three times) or "X,Y,Z". */
static enum radio_status
take_triple (struct parser *parser, struct rd_step *step, const char *what,
             bool one_for_all,
             bool (*parse) (struct parser *parser, struct word part,
                            struct rd_step *step, int axis))
{
  struct word rest = take_word (parser), whole = rest;
  bool is_one = one_for_all && count_char (whole, ',') == 0;
  if (whole.nbytes == 0 || (!is_one && count_char (whole, ',') != 2))
    return fail_word (parser, whole, "expected %s", what);
  for (int i = 0; i < 3; i++) {
    struct word part = is_one ? whole : split (&rest, ',');
    if (!parse (parser, part, step, i))
      return fail_word (parser, part.nbytes ? part : whole, "expected %s",
                        what);
  }
  return RADIO_OK;
}

static enum radio_status
parse_linear (struct parser *parser, struct rd_step *step)
{
  return take_pair (parser, "a factor and a summand A,B", &step->a, &step->b);
}

static enum radio_status
parse_clamp (struct parser *parser, struct rd_step *step)
{
  struct word word = peek_word (parser);
  RD_TRY (take_pair (parser, "a range LO,HI", &step->a, &step->b));
  if (step->a <= step->b)
    return RADIO_OK;
  return fail_word (parser, word, "LO is greater than HI");
}

/* Parses "pP,pQ". */
static enum radio_status
take_percentages (struct parser *parser, struct rd_step *step)
{
  struct word rest = take_word (parser), whole = rest;
  bool ok = count_char (whole, ',') == 1;
  for (int i = 0; i < 2 && ok; i++) {
    struct word part = split (&rest, ',');
    double *percent = i == 0 ? &step->from_low : &step->from_high;
    ok = part.nbytes > 1 && part.at[0] == 'p';
    part.at++;
    part.nbytes--;
    ok = ok && parse_number (parser, part, percent) && *percent >= 0
         && *percent <= 100;
  }
  if (!ok || !(step->from_low < step->from_high))
    return fail_word (parser, whole, "expected percentiles pP,pQ from p0 to "
                      "p100, the lower one first, as p1,p99");
  step->from = RD_FROM_PERCENTILES;
  return RADIO_OK;
}

static enum radio_status
parse_rescale (struct parser *parser, struct rd_step *step)
{
  RD_TRY (take_pair (parser, "the range of the result A,B", &step->a,
                     &step->b));
  if (!take_if (parser, "from"))
    return RADIO_OK;
  struct word word = peek_word (parser);
  if (word.nbytes > 0 && word.at[0] == 'p')
    return take_percentages (parser, step);
  step->from = RD_FROM_VALUES;
  RD_TRY (take_pair (parser, "a range LO,HI or percentiles pP,pQ",
                     &step->from_low, &step->from_high));
  if (step->from_low <= step->from_high)
    return RADIO_OK;
  return fail_word (parser, word, "LO is greater than HI");
}

static enum radio_status
parse_window (struct parser *parser, struct rd_step *step)
{
  struct word word = peek_word (parser);
  for (int i = 0; i < RD_NWINDOW_PRESETS; i++)
    if (is_word (word, rd_window_presets[i].name)) {
      take_word (parser);
      step->preset = i;
      step->a = rd_window_presets[i].low;
      step->b = rd_window_presets[i].high;
      return RADIO_OK;
    }
  if (word.nbytes == 0 || count_char (word, ',') != 1)
    return fail_word (parser, word, "expected a window: brain, bone, lung, "
                      "soft, or CENTRE,WIDTH");
  RD_TRY (take_pair (parser, "a window CENTRE,WIDTH", &step->centre,
                     &step->width));
  step->preset = -1;
  step->a = step->centre - step->width / 2;
  step->b = step->centre + step->width / 2;
  if (step->width > 0 && isfinite (step->a) && isfinite (step->b))
    return RADIO_OK;
  return fail_word (parser, word, "the width is not greater than 0");
}

static enum radio_status
parse_gamma (struct parser *parser, struct rd_step *step)
{
  struct word word = take_word (parser);
  if (parse_number (parser, word, &step->a) && step->a > 0)
    return RADIO_OK;
  return fail_word (parser, word, "expected an exponent greater than 0");
}

static enum radio_status
parse_znorm (struct parser *parser, struct rd_step *step)
{
  if (!take_if (parser, "of"))
    return RADIO_OK;
  struct word word = take_word (parser);
  step->nonzero = is_word (word, "nonzero");
  if (step->nonzero || is_word (word, "all"))
    return RADIO_OK;
  return fail_word (parser, word, "expected all or nonzero");
}

static enum radio_status
parse_nothing (struct parser *parser, struct rd_step *step)
{
  (void) parser;
  (void) step;
  return RADIO_OK;
}

static bool
parse_range (struct parser *parser, struct word part, struct rd_step *step,
             int axis)
{
  (void) parser;
  struct word rest = part;
  bool is_one = count_char (part, ':') == 0;
  if (count_char (part, ':') > 1)
    return false;
  struct word start = split (&rest, ':');
  if (start.nbytes > 0
      && !parse_position (start, false, &step->first[axis]))
    return false;
  if (is_one) {
    step->has_end[axis] = true;
    step->second[axis] = step->first[axis] + 1;
    return start.nbytes > 0;
  }
  step->has_end[axis] = rest.nbytes > 0;
  return rest.nbytes == 0
         || (parse_position (rest, false, &step->second[axis])
             && step->second[axis] > step->first[axis]);
}

static enum radio_status
parse_crop (struct parser *parser, struct rd_step *step)
{
  return take_triple (parser, step, "three ranges X,Y,Z, each START:END (END "
                      "not included), START:, :END, one position, or : for "
                      "all", false, parse_range);
}

static bool
parse_widths (struct parser *parser, struct word part, struct rd_step *step,
              int axis)
{
  (void) parser;
  struct word rest = part;
  if (count_char (part, ':') == 0) {
    bool ok = parse_position (part, false, &step->first[axis]);
    step->second[axis] = step->first[axis];
    return ok;
  }
  return count_char (part, ':') == 1
         && parse_position (split (&rest, ':'), false, &step->first[axis])
         && parse_position (rest, false, &step->second[axis]);
}

/* Parses the words that say what padding is made of, if there are any. */
static enum radio_status
take_mode (struct parser *parser, struct rd_step *step)
{
  static const char *const names[] = {
    [RD_PAD_EDGE] = "edge", [RD_PAD_REFLECT] = "reflect",
    [RD_PAD_WRAP] = "wrap",
  };
  for (int i = RD_PAD_EDGE; i <= RD_PAD_WRAP; i++)
    if (take_if (parser, names[i])) {
      step->mode = (enum rd_pad_mode) i;
      return RADIO_OK;
    }
  if (!take_if (parser, "by"))
    return RADIO_OK;
  struct word word = take_word (parser);
  if (parse_number (parser, word, &step->value))
    return RADIO_OK;
  return fail_word (parser, word, "expected a number to pad by");
}

static enum radio_status
parse_pad (struct parser *parser, struct rd_step *step)
{
  RD_TRY (take_triple (parser, step, "widths N or X,Y,Z, each N or "
                       "BEFORE:AFTER, in voxels", true, parse_widths));
  return take_mode (parser, step);
}

static bool
parse_size (struct parser *parser, struct word part, struct rd_step *step,
            int axis)
{
  (void) parser;
  return parse_position (part, false, &step->second[axis])
         && step->second[axis] > 0;
}

static bool
parse_at (struct parser *parser, struct word part, struct rd_step *step,
          int axis)
{
  (void) parser;
  return parse_position (part, true, &step->first[axis]);
}

static bool
parse_share (struct parser *parser, struct word part, struct rd_step *step,
             int axis)
{
  double *share = &step->within[axis];
  return parse_number (parser, part, share) && *share >= 0 && *share <= 1;
}

static enum radio_status
parse_crop_or_pad (struct parser *parser, struct rd_step *step)
{
  RD_TRY (take_triple (parser, step, "a size N or X,Y,Z, from 1", true,
                       parse_size));
  if (take_if (parser, "at")) {
    step->has_at = true;
    RD_TRY (take_triple (parser, step, "the position X,Y,Z of the first "
                         "voxel", false, parse_at));
  } else if (take_if (parser, "within")) {
    step->has_within = true;
    RD_TRY (take_triple (parser, step, "shares X,Y,Z of the room that the box "
                         "has, from 0 to 1", true, parse_share));
  }
  return take_mode (parser, step);
}

/* Returns 0 to 2 for x to z, or -1. */
static int
axis_of (char letter)
{
  return letter >= 'x' && letter <= 'z' ? letter - 'x' : -1;
}

static enum radio_status
parse_flip (struct parser *parser, struct rd_step *step)
{
  struct word rest = take_word (parser), whole = rest;
  bool ok = whole.nbytes > 0 && whole.at[whole.nbytes - 1] != ',';
  while (ok && rest.nbytes > 0) {
    struct word part = split (&rest, ',');
    int axis = part.nbytes == 1 ? axis_of (part.at[0]) : -1;
    ok = axis >= 0 && !step->axes[axis];
    if (ok)
      step->axes[axis] = true;
  }
  if (ok)
    return RADIO_OK;
  return fail_word (parser, whole, "expected axes, each once, as x or x,y");
}

/* Parses two axes. */
static enum radio_status
take_plane (struct parser *parser, struct rd_step *step)
{
  struct word word = take_word (parser);
  for (int i = 0; i < 2; i++)
    step->plane[i] = word.nbytes == 2 ? axis_of (word.at[i]) : -1;
  if (step->plane[0] < 0 || step->plane[1] < 0
      || step->plane[0] == step->plane[1])
    return fail_word (parser, word, "expected two axes, from the first "
                      "towards the second, as xy");
  return RADIO_OK;
}

static enum radio_status
parse_rot90 (struct parser *parser, struct rd_step *step)
{
  RD_TRY (take_plane (parser, step));
  step->turns = 1;
  struct word word = peek_word (parser);
  if (word.nbytes == 0)
    return RADIO_OK;
  take_word (parser);
  step->turns = word.nbytes == 1 ? word.at[0] - '0' : 0;
  if (step->turns >= 1 && step->turns <= 3)
    return RADIO_OK;
  return fail_word (parser, word, "expected 1, 2 or 3 quarters of a turn");
}

static enum radio_status
parse_reorient (struct parser *parser, struct rd_step *step)
{
  static const char pairs[3][3] = { "RL", "AP", "SI" };
  struct word word = take_word (parser);
  unsigned seen = 0;
  for (size_t i = 0; i < word.nbytes && word.nbytes == 3; i++)
    for (unsigned k = 0; k < 3; k++)
      if (word.at[i] == pairs[k][0] || word.at[i] == pairs[k][1])
        seen |= 1u << k;
  if (seen != 7)
    return fail_word (parser, word, "expected where x, y and z shall rise to, "
                      "one letter of each of RL, AP and SI, as RAS or LPS");
  memcpy (step->letters, word.at, 3);
  return RADIO_OK;
}

const char *const rd_interpolation_names[RD_NINTERPOLATIONS] = {
  [RD_INTERPOLATE_LINEAR] = "linear",
  [RD_INTERPOLATE_NEAREST] = "nearest",
  [RD_INTERPOLATE_CUBIC] = "cubic",
  [RD_INTERPOLATE_MAJORITY] = "majority",
};

static bool
take_interpolation (struct parser *parser, struct rd_step *step)
{
  for (int i = 0; i < RD_NINTERPOLATIONS; i++)
    if (take_if (parser, rd_interpolation_names[i])) {
      step->interpolation = (enum rd_interpolation) i;
      return true;
    }
  return false;
}

/* Parses the words that say how a grid is sampled, in any order. */
static enum radio_status
take_sampling (struct parser *parser, struct rd_step *step)
{
  struct word smooth = { parser->at, 0 };
  for (;;) {
    struct word word = peek_word (parser);
    if (take_interpolation (parser, step))
      continue;
    if (take_if (parser, "centre"))
      step->is_centred = true;
    else if (take_if (parser, "corner"))
      step->is_centred = false;
    else if (take_if (parser, "smooth")) {
      step->smooths = true;
      smooth = word;
    } else
      break;
  }
  if (!step->smooths || step->interpolation == RD_INTERPOLATE_LINEAR
      || step->interpolation == RD_INTERPOLATE_CUBIC)
    return RADIO_OK;
  return fail_word (parser, smooth, "%s takes voxels as they are; smooth with "
                    "linear or cubic",
                    rd_interpolation_names[step->interpolation]);
}

/* The largest spacing in mm; the smallest is its inverse. */
#define MAX_SPACING 1e9

static bool
parse_spacing (struct parser *parser, struct word part, struct rd_step *step,
               int axis)
{
  if (is_word (part, ":"))
    return true;
  return parse_number (parser, part, &step->spacing[axis])
         && step->spacing[axis] >= 1 / MAX_SPACING
         && step->spacing[axis] <= MAX_SPACING;
}

static enum radio_status
parse_resample (struct parser *parser, struct rd_step *step)
{
  RD_TRY (take_triple (parser, step, "a spacing S or X,Y,Z in mm, from 1e-9 "
                       "to 1e9, or : for an axis as it is", true,
                       parse_spacing));
  return take_sampling (parser, step);
}

static bool
parse_length (struct parser *parser, struct word part, struct rd_step *step,
              int axis)
{
  return is_word (part, ":") || parse_size (parser, part, step, axis);
}

static enum radio_status
parse_to (struct parser *parser, struct rd_step *step)
{
  RD_TRY (take_triple (parser, step, "a shape N or X,Y,Z, from 1, or : for an "
                       "axis as it is", true, parse_length));
  return take_sampling (parser, step);
}

static enum radio_status
parse_smooth (struct parser *parser, struct rd_step *step)
{
  return take_triple (parser, step, "a standard deviation S or X,Y,Z in mm, "
                      "from 1e-9 to 1e9, or : for an axis as it is", true,
                      parse_spacing);
}

/* Parses how an image is sampled at any places, and what is outside of it. */
static enum radio_status
take_placing (struct parser *parser, struct rd_step *step, bool may_turn)
{
  for (;;) {
    struct word word = peek_word (parser);
    if (take_interpolation (parser, step)) {
      if (step->interpolation == RD_INTERPOLATE_MAJORITY)
        return fail_word (parser, word, "expected nearest, linear or cubic");
      continue;
    }
    if (take_if (parser, "by")) {
      word = take_word (parser);
      if (!parse_number (parser, word, &step->value))
        return fail_word (parser, word, "expected the value outside of the "
                          "image");
    } else if (may_turn && take_if (parser, "about")) {
      word = take_word (parser);
      if (!is_word (word, "centre"))
        return fail_word (parser, word, "expected centre");
      step->is_about_centre = true;
    } else
      return RADIO_OK;
  }
}

/* The largest number of a matrix. */
#define MAX_ENTRY 1e9

static enum radio_status
parse_affine (struct parser *parser, struct rd_step *step)
{
  struct word rest = take_word (parser), whole = rest;
  if (whole.nbytes == 0 || count_char (whole, ',') != 11)
    return fail_word (parser, whole, "expected 12 numbers, the rows of a "
                      "matrix of 3 x 4");
  for (int i = 0; i < 12; i++) {
    struct word part = split (&rest, ',');
    double *entry = &step->matrix[i / 4][i % 4];
    if (!parse_number (parser, part, entry) || fabs (*entry) > MAX_ENTRY)
      return fail_word (parser, part.nbytes ? part : whole, "expected a number "
                        "from -1e9 to 1e9");
  }
  if (!rd_matrix_invert (step->matrix, NULL))
    return fail_word (parser, whole, "the matrix is singular");
  return take_placing (parser, step, true);
}

static enum radio_status
parse_like (struct parser *parser, struct rd_step *step)
{
  struct word word = take_word (parser);
  if (word.nbytes == 0)
    return fail_word (parser, word, "expected the name of a volume");
  /* Pipelines are printed and stored, and a query may have a signature. */
  if (memchr (word.at, '?', word.nbytes))
    return fail_word (parser, (struct word) { word.at, 0 }, "a URL with a "
                      "query, which may be secret, cannot be part of a "
                      "pipeline; download the file");
  RD_TRY (take_placing (parser, step, false));
  step->name = rd_malloc (word.nbytes + 1);
  if (!step->name)
    return rd_fail_memory (word.nbytes + 1);
  memcpy (step->name, word.at, word.nbytes);
  step->name[word.nbytes] = '\0';
  return RADIO_OK;
}

/* True if a random operation has an argument before its probability. */
static bool
has_argument (const struct parser *parser)
{
  struct word word = peek_word (parser);
  return word.nbytes > 0 && !is_word (word, "p");
}

static enum radio_status
take_probability (struct parser *parser, struct rd_step *step)
{
  step->probability = RD_PROBABILITY;
  if (!take_if (parser, "p"))
    return RADIO_OK;
  struct word word = take_word (parser);
  if (parse_number (parser, word, &step->probability)
      && step->probability >= 0 && step->probability <= 1)
    return RADIO_OK;
  return fail_word (parser, word, "expected a probability from 0 to 1");
}

static enum radio_status
parse_random_flip (struct parser *parser, struct rd_step *step)
{
  if (has_argument (parser))
    RD_TRY (parse_flip (parser, step));
  else
    step->axes[0] = step->axes[1] = step->axes[2] = true;
  return take_probability (parser, step);
}

static enum radio_status
parse_random_rot90 (struct parser *parser, struct rd_step *step)
{
  step->plane[1] = 1;
  if (has_argument (parser))
    RD_TRY (take_plane (parser, step));
  return take_probability (parser, step);
}

static enum radio_status
parse_random_crop (struct parser *parser, struct rd_step *step)
{
  return take_triple (parser, step, "a size N or X,Y,Z, from 1", true,
                      parse_size);
}

/* Of random-scale and random-shift. */
static enum radio_status
parse_amount (struct parser *parser, struct rd_step *step)
{
  step->a = RD_AMOUNT;
  if (has_argument (parser)) {
    struct word word = take_word (parser);
    if (!parse_number (parser, word, &step->a) || step->a < 0)
      return fail_word (parser, word, "expected the most that is added or "
                        "taken away, from 0, as 0.1");
  }
  return take_probability (parser, step);
}

static enum radio_status
parse_random_gamma (struct parser *parser, struct rd_step *step)
{
  step->a = RD_GAMMA_LOW;
  step->b = RD_GAMMA_HIGH;
  struct word word = peek_word (parser);
  if (has_argument (parser))
    RD_TRY (take_pair (parser, "a range of exponents LO,HI", &step->a,
                       &step->b));
  if (!(step->a > 0) || step->a > step->b)
    return fail_word (parser, word, "expected exponents greater than 0, the "
                      "lower one first");
  return take_probability (parser, step);
}

static const struct {
  const char *name;
  enum radio_status (*parse) (struct parser *parser, struct rd_step *step);
} operations[RD_NOPERATIONS] = {
  [RD_OP_LINEAR] = { "linear", parse_linear },
  [RD_OP_CLAMP] = { "clamp", parse_clamp },
  [RD_OP_RESCALE] = { "rescale", parse_rescale },
  [RD_OP_WINDOW] = { "window", parse_window },
  [RD_OP_GAMMA] = { "gamma", parse_gamma },
  [RD_OP_ZNORM] = { "znorm", parse_znorm },
  [RD_OP_SATURATE] = { "saturate", parse_nothing },
  [RD_OP_CROP] = { "crop", parse_crop },
  [RD_OP_PAD] = { "pad", parse_pad },
  [RD_OP_CROP_OR_PAD] = { "crop-or-pad", parse_crop_or_pad },
  [RD_OP_FLIP] = { "flip", parse_flip },
  [RD_OP_ROT90] = { "rot90", parse_rot90 },
  [RD_OP_REORIENT] = { "reorient", parse_reorient },
  [RD_OP_RESAMPLE] = { "resample", parse_resample },
  [RD_OP_TO] = { "to", parse_to },
  [RD_OP_SMOOTH] = { "smooth", parse_smooth },
  [RD_OP_AFFINE] = { "affine", parse_affine },
  [RD_OP_LIKE] = { "like", parse_like },
  [RD_OP_RANDOM_FLIP] = { "random-flip", parse_random_flip },
  [RD_OP_RANDOM_ROT90] = { "random-rot90", parse_random_rot90 },
  [RD_OP_RANDOM_CROP] = { "random-crop", parse_random_crop },
  [RD_OP_RANDOM_SCALE] = { "random-scale", parse_amount },
  [RD_OP_RANDOM_SHIFT] = { "random-shift", parse_amount },
  [RD_OP_RANDOM_GAMMA] = { "random-gamma", parse_random_gamma },
};

const char *
rd_operation_name (enum rd_operation operation)
{
  return operations[operation].name;
}

const struct rd_window_preset rd_window_presets[RD_NWINDOW_PRESETS] = {
  { "brain", 0, 80 },
  { "bone", -500, 1300 },
  { "lung", -1350, 150 },
  { "soft", -160, 240 },
};

static enum radio_status
fail_operation (const struct parser *parser, struct word word)
{
  char list[400] = "";
  for (size_t i = 0; i < RD_NOPERATIONS; i++) {
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, "%s%s", i ? ", " : "",
              operations[i].name);
  }
  return fail_word (parser, word, "%s; use one of %s", word.nbytes
                    ? "unknown operation" : "an operation is missing", list);
}

static enum radio_status
parse_step (struct parser *parser)
{
  struct word word = take_word (parser);
  size_t i = 0;
  while (i < RD_NOPERATIONS && !is_word (word, operations[i].name))
    i++;
  if (i == RD_NOPERATIONS)
    return fail_operation (parser, word);
  if (parser->n == RADIO_PIPELINE_MAX_STEPS)
    return rd_fail (RADIO_ERROR_LIMIT, "pipeline, byte %zu: more than %d "
                    "operations; use several pipelines",
                    (size_t) (word.at - parser->text),
                    RADIO_PIPELINE_MAX_STEPS);
  RD_TRY (rd_reserve (&parser->steps, &parser->capacity, parser->n,
                      sizeof *parser->steps));
  struct rd_step *step = &parser->steps[parser->n];
  *step = (struct rd_step) { .operation = (enum rd_operation) i };
  RD_TRY (operations[i].parse (parser, step));
  parser->n++;
  word = peek_word (parser);
  if (word.nbytes == 0)
    return RADIO_OK;
  return fail_word (parser, word, "%s has all of its arguments; expected '|' "
                    "or the end", operations[i].name);
}

static void
free_steps (struct parser *parser)
{
  rd_steps_free (parser->steps, parser->n);
}

enum radio_status
radio_pipeline_parse (const char *text, struct radio_pipeline **result)
{
  RD_NOT_NULL (text);
  RD_NOT_NULL (result);
  struct parser parser RD_CLEANUP (free_steps) = { .text = text, .at = text };
  for (;;) {
    RD_TRY (parse_step (&parser));
    struct word end = peek_word (&parser);
    parser.at = end.at;
    if (*parser.at == '\0')
      break;
    parser.at++;
  }
  struct radio_pipeline *pipeline RD_CLEANUP (rd_cleanup_pipeline)
    = rd_calloc (1, sizeof *pipeline);
  if (!pipeline)
    return rd_fail_memory (sizeof *pipeline);
  pipeline->n = parser.n;
  pipeline->steps = RD_STEAL (parser.steps);
  pipeline->text = rd_steps_text (pipeline->steps, pipeline->n);
  if (!pipeline->text)
    return RADIO_ERROR_MEMORY;
  *result = RD_STEAL (pipeline);
  return RADIO_OK;
}
