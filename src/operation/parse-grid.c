/* SPDX-License-Identifier: MIT */
/* The arguments of the operations that move voxels as they are: crop, pad,
 * crop-or-pad, flip, rot90 and reorient. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/operation/parse.h"

static bool
parse_range (struct rd_parser *parser, struct rd_word part,
             struct rd_step *step, int axis)
{
  (void) parser;
  struct rd_word rest = part;
  bool is_one = rd_word_count (part, ':') == 0;
  if (rd_word_count (part, ':') > 1)
    return false;
  struct rd_word start = rd_split_word (&rest, ':');
  if (start.nbytes > 0
      && !rd_word_position (start, false, &step->first[axis]))
    return false;
  if (is_one) {
    step->has_end[axis] = true;
    step->second[axis] = step->first[axis] + 1;
    return start.nbytes > 0;
  }
  step->has_end[axis] = rest.nbytes > 0;
  return rest.nbytes == 0
         || (rd_word_position (rest, false, &step->second[axis])
             && step->second[axis] > step->first[axis]);
}

enum radio_status
rd_parse_crop (struct rd_parser *parser, struct rd_step *step)
{
  return rd_take_triple (parser, step, "three ranges X,Y,Z, each START:END "
                         "(END not included), START:, :END, one position, or "
                         ": for all", false, parse_range);
}

static bool
parse_widths (struct rd_parser *parser, struct rd_word part,
              struct rd_step *step, int axis)
{
  (void) parser;
  struct rd_word rest = part;
  if (rd_word_count (part, ':') == 0) {
    bool ok = rd_word_position (part, false, &step->first[axis]);
    step->second[axis] = step->first[axis];
    return ok;
  }
  return rd_word_count (part, ':') == 1
         && rd_word_position (rd_split_word (&rest, ':'), false,
                              &step->first[axis])
         && rd_word_position (rest, false, &step->second[axis]);
}

/* Parses the words that say what padding is made of, if there are any. */
static enum radio_status
take_mode (struct rd_parser *parser, struct rd_step *step)
{
  static const char *const names[] = {
    [RD_PAD_EDGE] = "edge", [RD_PAD_REFLECT] = "reflect",
    [RD_PAD_WRAP] = "wrap",
  };
  for (int i = RD_PAD_EDGE; i <= RD_PAD_WRAP; i++)
    if (rd_take_word_if (parser, names[i])) {
      step->mode = (enum rd_pad_mode) i;
      return RADIO_OK;
    }
  if (!rd_take_word_if (parser, "by"))
    return RADIO_OK;
  struct rd_word word = rd_take_word (parser);
  if (rd_word_number (parser, word, &step->value))
    return RADIO_OK;
  return rd_fail_word (parser, word, "expected a number to pad by");
}

enum radio_status
rd_parse_pad (struct rd_parser *parser, struct rd_step *step)
{
  RD_TRY (rd_take_triple (parser, step, "widths N or X,Y,Z, each N or "
                          "BEFORE:AFTER, in voxels", true, parse_widths));
  return take_mode (parser, step);
}

bool
rd_parse_axis_size (struct rd_parser *parser, struct rd_word part,
                    struct rd_step *step, int axis)
{
  (void) parser;
  return rd_word_position (part, false, &step->second[axis])
         && step->second[axis] > 0;
}

static bool
parse_at (struct rd_parser *parser, struct rd_word part, struct rd_step *step,
          int axis)
{
  (void) parser;
  return rd_word_position (part, true, &step->first[axis]);
}

static bool
parse_fraction (struct rd_parser *parser, struct rd_word part,
             struct rd_step *step, int axis)
{
  double *share = &step->within[axis];
  return rd_word_number (parser, part, share) && *share >= 0 && *share <= 1;
}

enum radio_status
rd_parse_crop_or_pad (struct rd_parser *parser, struct rd_step *step)
{
  RD_TRY (rd_take_triple (parser, step, "a size N or X,Y,Z, from 1", true,
                          rd_parse_axis_size));
  if (rd_take_word_if (parser, "at")) {
    step->has_at = true;
    RD_TRY (rd_take_triple (parser, step, "the position X,Y,Z of the first "
                            "voxel", false, parse_at));
  } else if (rd_take_word_if (parser, "within")) {
    step->has_within = true;
    RD_TRY (rd_take_triple (parser, step, "fractions X,Y,Z of the room that "
                            "the box has, from 0 to 1", true, parse_fraction));
  }
  return take_mode (parser, step);
}

/* Returns 0 to 2 for x to z, or -1. */
static int
axis_of (char letter)
{
  return letter >= 'x' && letter <= 'z' ? letter - 'x' : -1;
}

enum radio_status
rd_parse_flip (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word rest = rd_take_word (parser), whole = rest;
  bool ok = whole.nbytes > 0 && whole.at[whole.nbytes - 1] != ',';
  while (ok && rest.nbytes > 0) {
    struct rd_word part = rd_split_word (&rest, ',');
    int axis = part.nbytes == 1 ? axis_of (part.at[0]) : -1;
    ok = axis >= 0 && !step->axes[axis];
    if (ok)
      step->axes[axis] = true;
  }
  if (ok)
    return RADIO_OK;
  return rd_fail_word (parser, whole, "expected axes, each once, as x or x,y");
}

enum radio_status
rd_take_plane (struct rd_parser *parser, struct rd_step *step)
{
  struct rd_word word = rd_take_word (parser);
  for (int i = 0; i < 2; i++)
    step->plane[i] = word.nbytes == 2 ? axis_of (word.at[i]) : -1;
  if (step->plane[0] < 0 || step->plane[1] < 0
      || step->plane[0] == step->plane[1])
    return rd_fail_word (parser, word, "expected two axes, from the first "
                         "towards the second, as xy");
  return RADIO_OK;
}

enum radio_status
rd_parse_rot90 (struct rd_parser *parser, struct rd_step *step)
{
  RD_TRY (rd_take_plane (parser, step));
  step->turns = 1;
  struct rd_word word = rd_peek_word (parser);
  if (word.nbytes == 0)
    return RADIO_OK;
  rd_take_word (parser);
  bool is_negative = word.nbytes == 2 && word.at[0] == '-';
  char digit = word.nbytes == 1 || is_negative ? word.at[word.nbytes - 1] : 0;
  if (digit < '1' || digit > '3')
    return rd_fail_word (parser, word, "expected 1, 2 or 3 quarters of a turn, "
                         "or -1, -2 or -3 for the other direction");
  step->turns = is_negative ? 4 - (digit - '0') : digit - '0';
  return RADIO_OK;
}

enum radio_status
rd_parse_reorient (struct rd_parser *parser, struct rd_step *step)
{
  static const char pairs[3][3] = { "RL", "AP", "SI" };
  struct rd_word word = rd_take_word (parser);
  unsigned seen = 0;
  for (size_t i = 0; i < word.nbytes && word.nbytes == 3; i++)
    for (unsigned k = 0; k < 3; k++)
      if (word.at[i] == pairs[k][0] || word.at[i] == pairs[k][1])
        seen |= 1u << k;
  if (seen != 7)
    return rd_fail_word (parser, word, "expected the directions of x, y and z, "
                         "one letter of each of RL, AP and SI, as RAS or LPS");
  memcpy (step->letters, word.at, 3);
  return RADIO_OK;
}
