/* SPDX-License-Identifier: MIT */
/* The arguments of the operations on values: linear, clamp, rescale, window,
 * gamma, znorm and noise. */
#include <config.h>

#include <math.h>

#include "src/base/error.h"
#include "src/operation/parse.h"

const struct rd_window_preset rd_window_presets[RD_NWINDOW_PRESETS] = {
  { "brain", 0, 80 },
  { "bone", -500, 1300 },
  { "lung", -1350, 150 },
  { "soft", -160, 240 },
};

enum radio_status
rd_parse_linear (struct rd_parser *parser, struct rd_step *step)
{
  return rd_take_pair (parser, "a factor and a summand A,B", &step->a,
                       &step->b);
}

enum radio_status
rd_parse_clamp (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word word = rd_peek_word (parser);
  RD_TRY (rd_take_pair (parser, "a range LO,HI", &step->a, &step->b));
  if (step->a <= step->b)
    return RADIO_OK;
  return rd_fail_word (parser, word, "LO is greater than HI");
}

/* Parses "pP,pQ". */
static enum radio_status
take_percentages (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word rest = rd_take_word (parser), whole = rest;
  bool ok = rd_word_count (whole, ',') == 1;
  for (int i = 0; i < 2 && ok; i++) {
    struct rd_word part = rd_split_word (&rest, ',');
    double *percent = i == 0 ? &step->from_low : &step->from_high;
    ok = part.nbytes > 1 && part.at[0] == 'p';
    part.at++;
    part.nbytes--;
    ok = ok && rd_word_number (parser, part, percent) && *percent >= 0
         && *percent <= 100;
  }
  if (!ok || !(step->from_low < step->from_high))
    return rd_fail_word (parser, whole, "expected percentiles pP,pQ from p0 to "
                         "p100, the lower one first, as p1,p99");
  step->from = RD_FROM_PERCENTILES;
  return RADIO_OK;
}

enum radio_status
rd_parse_rescale (struct rd_parser *parser, struct rd_step *step)
{
  RD_TRY (rd_take_pair (parser, "the range of the result A,B", &step->a,
                        &step->b));
  if (!rd_take_word_if (parser, "from"))
    return RADIO_OK;
  struct rd_word word = rd_peek_word (parser);
  if (word.nbytes > 0 && word.at[0] == 'p')
    return take_percentages (parser, step);
  step->from = RD_FROM_VALUES;
  RD_TRY (rd_take_pair (parser, "a range LO,HI or percentiles pP,pQ",
                        &step->from_low, &step->from_high));
  if (step->from_low <= step->from_high)
    return RADIO_OK;
  return rd_fail_word (parser, word, "LO is greater than HI");
}

enum radio_status
rd_parse_window (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word word = rd_peek_word (parser);
  for (int i = 0; i < RD_NWINDOW_PRESETS; i++)
    if (rd_word_is (word, rd_window_presets[i].name)) {
      rd_take_word (parser);
      step->preset = i;
      step->a = rd_window_presets[i].low;
      step->b = rd_window_presets[i].high;
      return RADIO_OK;
    }
  if (word.nbytes == 0 || rd_word_count (word, ',') != 1)
    return rd_fail_word (parser, word, "expected a window: brain, bone, lung, "
                         "soft, or CENTRE,WIDTH");
  RD_TRY (rd_take_pair (parser, "a window CENTRE,WIDTH", &step->centre,
                        &step->width));
  step->preset = -1;
  step->a = step->centre - step->width / 2;
  step->b = step->centre + step->width / 2;
  if (step->width > 0 && isfinite (step->a) && isfinite (step->b))
    return RADIO_OK;
  return rd_fail_word (parser, word, "the width is not greater than 0");
}

enum radio_status
rd_parse_gamma (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word word = rd_take_word (parser);
  if (rd_word_number (parser, word, &step->a) && step->a > 0)
    return RADIO_OK;
  return rd_fail_word (parser, word, "expected an exponent greater than 0");
}

enum radio_status
rd_parse_znorm (struct rd_parser *parser, struct rd_step *step)
{
  if (!rd_take_word_if (parser, "of"))
    return RADIO_OK;
  struct rd_word word = rd_take_word (parser);
  step->nonzero = rd_word_is (word, "nonzero");
  if (step->nonzero || rd_word_is (word, "all"))
    return RADIO_OK;
  if (!rd_word_is (word, "mask"))
    return rd_fail_word (parser, word, "expected all, nonzero or mask");
  word = rd_take_word (parser);
  if (word.nbytes == 0)
    return rd_fail_word (parser, word, "expected the collection of the mask");
  return rd_word_name (parser, word, &step->name);
}

enum radio_status
rd_parse_noise (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word word = rd_take_word (parser);
  int64_t seed;
  if (!rd_word_number (parser, word, &step->a) || step->a < 0)
    return rd_fail_word (parser, word, "expected a standard deviation, from 0");
  if (!rd_take_word_if (parser, "seed"))
    return RADIO_OK;
  word = rd_take_word (parser);
  if (!rd_word_position (word, false, &seed))
    return rd_fail_word (parser, word, "expected a whole number");
  step->seed = (uint64_t) seed;
  return RADIO_OK;
}
