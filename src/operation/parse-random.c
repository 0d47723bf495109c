/* SPDX-License-Identifier: MIT */
/* The arguments of random operations, each with a probability. */
#include <config.h>

#include "src/base/error.h"
#include "src/operation/parse.h"

/* True if a random operation has an argument before its probability. */
static bool
has_argument (const struct rd_parser *parser)
{
  struct rd_word word = rd_peek_word (parser);
  return word.nbytes > 0 && !rd_word_is (word, "p");
}

static enum radio_status
take_probability (struct rd_parser *parser, struct rd_step *step)
{
  step->probability = RD_PROBABILITY;
  if (!rd_take_word_if (parser, "p"))
    return RADIO_OK;
  struct rd_word word = rd_take_word (parser);
  if (rd_word_number (parser, word, &step->probability)
      && step->probability >= 0 && step->probability <= 1)
    return RADIO_OK;
  return rd_fail_word (parser, word, "expected a probability from 0 to 1");
}

enum radio_status
rd_parse_random_flip (struct rd_parser *parser, struct rd_step *step)
{
  if (has_argument (parser))
    RD_TRY (rd_parse_flip (parser, step));
  else
    step->axes[0] = step->axes[1] = step->axes[2] = true;
  return take_probability (parser, step);
}

enum radio_status
rd_parse_random_rot90 (struct rd_parser *parser, struct rd_step *step)
{
  step->plane[1] = 1;
  if (has_argument (parser))
    RD_TRY (rd_take_plane (parser, step));
  return take_probability (parser, step);
}

enum radio_status
rd_parse_random_crop (struct rd_parser *parser, struct rd_step *step)
{
  return rd_take_triple (parser, step, "a size N or X,Y,Z, from 1", true,
                         rd_parse_axis_size);
}

const char *const rd_motion_names[RD_NMOTIONS] = {
  [RD_DEGREES] = "degrees", [RD_SCALE] = "scale", [RD_SHIFT] = "shift",
};

const double rd_motion_defaults[RD_NMOTIONS] = {
  [RD_DEGREES] = 10, [RD_SCALE] = 0.1, [RD_SHIFT] = 0,
};

/* The maximum of each part of an affine: a scale of 0.9 leaves at least a tenth
 * of an image. */
static const struct {
  double most;
  const char *what;
} motions[RD_NMOTIONS] = {
  [RD_DEGREES] = { 180, "the most degrees N or X,Y,Z, from 0 to 180" },
  [RD_SCALE] = { 0.9, "the most N or X,Y,Z that is added to or taken from the "
                      "scale 1, from 0 to 0.9" },
  [RD_SHIFT] = { 1e6, "the most N or X,Y,Z in mm, from 0 to 1e6" },
};

static bool
parse_motion (struct rd_parser *parser, struct rd_word part,
              enum rd_motion motion, struct rd_step *step, int axis)
{
  double *most = &step->most[motion][axis];
  return rd_word_number (parser, part, most) && *most >= 0
         && *most <= motions[motion].most;
}

static bool
parse_degrees (struct rd_parser *parser, struct rd_word part,
               struct rd_step *step, int axis)
{
  return parse_motion (parser, part, RD_DEGREES, step, axis);
}

static bool
parse_scale (struct rd_parser *parser, struct rd_word part,
             struct rd_step *step, int axis)
{
  return parse_motion (parser, part, RD_SCALE, step, axis);
}

static bool
parse_shift (struct rd_parser *parser, struct rd_word part,
             struct rd_step *step, int axis)
{
  return parse_motion (parser, part, RD_SHIFT, step, axis);
}

enum radio_status
rd_parse_random_affine (struct rd_parser *parser, struct rd_step *step)
{
  static bool (*const parse[RD_NMOTIONS]) (struct rd_parser *parser,
                                           struct rd_word part,
                                           struct rd_step *step, int axis)
    = { parse_degrees, parse_scale, parse_shift };
  for (int i = 0; i < RD_NMOTIONS; i++)
    for (int k = 0; k < 3; k++)
      step->most[i][k] = rd_motion_defaults[i];
  /* Words in any order. */
  unsigned taken = 0;
  for (const char *at = NULL; at != parser->at;) {
    at = parser->at;
    for (int i = 0; i < RD_NMOTIONS; i++) {
      struct rd_word word = rd_peek_word (parser);
      if (!rd_take_word_if (parser, rd_motion_names[i]))
        continue;
      if (taken & 1u << (RD_TAKEN_BITS + i))
        return rd_fail_word (parser, word, "it is given a second time; keep "
                             "one");
      taken |= 1u << (RD_TAKEN_BITS + i);
      RD_TRY (rd_take_triple (parser, step, motions[i].what, true, parse[i]));
    }
    RD_TRY (rd_take_placing (parser, step, false, &taken));
  }
  return take_probability (parser, step);
}

enum radio_status
rd_parse_random_amount (struct rd_parser *parser, struct rd_step *step)
{
  step->a = RD_AMOUNT;
  if (has_argument (parser)) {
    struct rd_word word = rd_take_word (parser);
    if (!rd_word_number (parser, word, &step->a) || step->a < 0)
      return rd_fail_word (parser, word, "expected the most that is added or "
                           "taken away, from 0, as 0.1");
  }
  return take_probability (parser, step);
}

enum radio_status
rd_parse_random_gamma (struct rd_parser *parser, struct rd_step *step)
{
  step->a = RD_GAMMA_LOW;
  step->b = RD_GAMMA_HIGH;
  struct rd_word word = rd_peek_word (parser);
  if (has_argument (parser))
    RD_TRY (rd_take_pair (parser, "a range of exponents LO,HI", &step->a,
                          &step->b));
  if (!(step->a > 0) || step->a > step->b)
    return rd_fail_word (parser, word, "expected exponents greater than 0, the "
                         "lower one first");
  return take_probability (parser, step);
}

enum radio_status
rd_parse_random_noise (struct rd_parser *parser, struct rd_step *step)
{
  step->a = step->b = RD_NOISE_STD;
  struct rd_word word = rd_peek_word (parser);
  if (has_argument (parser) && rd_word_count (word, ',') > 0)
    RD_TRY (rd_take_pair (parser, "a range of deviations LO,HI", &step->a,
                          &step->b));
  else if (has_argument (parser)) {
    rd_take_word (parser);
    if (!rd_word_number (parser, word, &step->a))
      step->a = -1;
    step->b = step->a;
  }
  if (!(step->a >= 0) || step->a > step->b)
    return rd_fail_word (parser, word, "expected a standard deviation, from 0, "
                         "or a range LO,HI of them");
  return take_probability (parser, step);
}
