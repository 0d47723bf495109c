/* SPDX-License-Identifier: MIT */
/* The arguments of the operations that compute values between voxels: resample,
 * to, smooth, affine and like. */
#include <config.h>

#include <math.h>

#include "src/base/error.h"
#include "src/operation/matrix.h"
#include "src/operation/parse.h"

/* The largest spacing in mm; the smallest is its inverse. */
#define MAX_SPACING 1e9

/* The largest number of a matrix. */
#define MAX_ENTRY 1e9

const char *const rd_interpolation_names[RD_NINTERPOLATIONS] = {
  [RD_INTERPOLATE_LINEAR] = "linear",
  [RD_INTERPOLATE_NEAREST] = "nearest",
  [RD_INTERPOLATE_CUBIC] = "cubic",
  [RD_INTERPOLATE_MAJORITY] = "majority",
};

/* The words that a step can have once each. */
enum once { ONCE_INTERPOLATION, ONCE_GRID, ONCE_SMOOTH, ONCE_BY, ONCE_ABOUT };

/* Fails if a word's place is taken; it is taken from now on. */
static enum radio_status
take_place (const struct rd_parser *parser, struct rd_word word,
            enum once place, unsigned *taken)
{
  static const char *const names[] = {
    [ONCE_INTERPOLATION] = "the interpolation",
    [ONCE_GRID] = "centre or corner", [ONCE_SMOOTH] = "smooth",
    [ONCE_BY] = "by", [ONCE_ABOUT] = "about",
  };
  if (*taken & 1u << place)
    return rd_fail_word (parser, word, "%s is given a second time; keep one",
                         names[place]);
  *taken |= 1u << place;
  return RADIO_OK;
}

/* Takes the next word if it is an interpolation; *found says so. */
static enum radio_status
take_interpolation (struct rd_parser *parser, struct rd_step *step,
                    unsigned *taken, bool *found)
{
  struct rd_word word = rd_peek_word (parser);
  *found = false;
  for (int i = RD_INTERPOLATE_LINEAR; i < RD_NINTERPOLATIONS && !*found; i++)
    if (rd_take_word_if (parser, rd_interpolation_names[i])) {
      step->interpolation = (enum rd_interpolation) i;
      *found = true;
    }
  return *found ? take_place (parser, word, ONCE_INTERPOLATION, taken)
                : RADIO_OK;
}

/* Parses the words that say how a grid is sampled, in any order. */
static enum radio_status
take_sampling (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word smooth = { parser->at, 0 };
  unsigned taken = 0;
  for (;;) {
    struct rd_word word = rd_peek_word (parser);
    bool found;
    RD_TRY (take_interpolation (parser, step, &taken, &found));
    if (found)
      continue;
    if (rd_take_word_if (parser, "centre")) {
      step->is_centred = true;
      RD_TRY (take_place (parser, word, ONCE_GRID, &taken));
    } else if (rd_take_word_if (parser, "corner"))
      RD_TRY (take_place (parser, word, ONCE_GRID, &taken));
    else if (rd_take_word_if (parser, "smooth")) {
      RD_TRY (take_place (parser, word, ONCE_SMOOTH, &taken));
      step->smooths = true;
      smooth = word;
    } else
      break;
  }
  if (!step->smooths || !rd_interpolation_picks (step->interpolation))
    return RADIO_OK;
  return rd_fail_word (parser, smooth, "%s takes voxels as they are; smooth "
                       "with linear or cubic",
                       rd_interpolation_names[step->interpolation]);
}

static bool
parse_spacing (struct rd_parser *parser, struct rd_word part,
               struct rd_step *step, int axis)
{
  if (rd_word_is (part, ":"))
    return true;
  return rd_word_number (parser, part, &step->spacing[axis])
         && step->spacing[axis] >= 1 / MAX_SPACING
         && step->spacing[axis] <= MAX_SPACING;
}

enum radio_status
rd_parse_resample (struct rd_parser *parser, struct rd_step *step)
{
  RD_TRY (rd_take_triple (parser, step, "a spacing S or X,Y,Z in mm, from 1e-9 "
                          "to 1e9, or : for an axis as it is", true,
                          parse_spacing));
  return take_sampling (parser, step);
}

static bool
parse_length (struct rd_parser *parser, struct rd_word part,
              struct rd_step *step, int axis)
{
  return rd_word_is (part, ":")
         || rd_parse_axis_size (parser, part, step, axis);
}

enum radio_status
rd_parse_to (struct rd_parser *parser, struct rd_step *step)
{
  RD_TRY (rd_take_triple (parser, step, "a shape N or X,Y,Z, from 1, or : for "
                          "an axis as it is", true, parse_length));
  return take_sampling (parser, step);
}

enum radio_status
rd_parse_smooth (struct rd_parser *parser, struct rd_step *step)
{
  return rd_take_triple (parser, step, "a standard deviation S or X,Y,Z in mm, "
                         "from 1e-9 to 1e9, or : for an axis as it is", true,
                         parse_spacing);
}

enum radio_status
rd_take_placing (struct rd_parser *parser, struct rd_step *step, bool may_turn,
                 unsigned *taken)
{
  for (;;) {
    struct rd_word word = rd_peek_word (parser);
    bool found;
    RD_TRY (take_interpolation (parser, step, taken, &found));
    if (found && step->interpolation == RD_INTERPOLATE_MAJORITY)
      return rd_fail_word (parser, word, "expected nearest, linear or cubic");
    if (found)
      continue;
    if (rd_take_word_if (parser, "by")) {
      RD_TRY (take_place (parser, word, ONCE_BY, taken));
      word = rd_take_word (parser);
      if (!rd_word_number (parser, word, &step->value))
        return rd_fail_word (parser, word, "expected the value outside of the "
                             "image");
    } else if (may_turn && rd_take_word_if (parser, "about")) {
      RD_TRY (take_place (parser, word, ONCE_ABOUT, taken));
      word = rd_take_word (parser);
      if (!rd_word_is (word, "centre"))
        return rd_fail_word (parser, word, "expected centre");
      step->is_about_centre = true;
    } else
      return RADIO_OK;
  }
}

enum radio_status
rd_parse_affine (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word rest = rd_take_word (parser), whole = rest;
  if (whole.nbytes == 0 || rd_word_count (whole, ',') != 11)
    return rd_fail_word (parser, whole, "expected 12 numbers, the rows of a "
                         "matrix of 3 x 4");
  for (int i = 0; i < 12; i++) {
    struct rd_word part = rd_split_word (&rest, ',');
    double *entry = &step->matrix[i / 4][i % 4];
    if (!rd_word_number (parser, part, entry) || fabs (*entry) > MAX_ENTRY)
      return rd_fail_word (parser, part.nbytes ? part : whole, "expected a "
                           "number from -1e9 to 1e9");
  }
  if (!rd_matrix_invert (step->matrix, NULL))
    return rd_fail_word (parser, whole, "the matrix is singular");
  return rd_take_placing (parser, step, true, &(unsigned) { 0 });
}

enum radio_status
rd_parse_like (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word word = rd_take_word (parser);
  if (word.nbytes == 0)
    return rd_fail_word (parser, word, "expected the name of a volume");
  RD_TRY (rd_take_placing (parser, step, false, &(unsigned) { 0 }));
  return rd_word_name (parser, word, &step->name);
}
