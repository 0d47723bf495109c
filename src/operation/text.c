/* SPDX-License-Identifier: MIT */
/* The canonical text of operations: one blank between words, numbers as short
 * as they read back exactly, and no argument that is the default. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/operation/pipeline.h"

/* A text that grows; a failure is remembered. */
struct writer {
  struct rd_buffer out;
  bool failed;
};

static void
put (struct writer *writer, const char *text)
{
  if (rd_buffer_append (&writer->out, text, strlen (text)) != RADIO_OK)
    writer->failed = true;
}

static void
put_number (struct writer *writer, const char *before, double number)
{
  char text[RD_NUMBER_NBYTES];
  put (writer, before);
  put (writer, rd_number_exact (number, text));
}

static void
put_position (struct writer *writer, const char *before, int64_t number)
{
  char text[RD_NUMBER_NBYTES];
  snprintf (text, sizeof text, "%" PRId64, number);
  put (writer, before);
  put (writer, text);
}

static void
put_pair (struct writer *writer, const char *before, double a, double b)
{
  put_number (writer, before, a);
  put_number (writer, ",", b);
}

static void
put_mode (struct writer *writer, const struct rd_step *step)
{
  switch (step->mode) {
  case RD_PAD_EDGE: put (writer, " edge"); break;
  case RD_PAD_REFLECT: put (writer, " reflect"); break;
  case RD_PAD_WRAP: put (writer, " wrap"); break;
  default:
    if (step->value != 0)
      put_number (writer, " by ", step->value);
  }
}

static void
put_ranges (struct writer *writer, const struct rd_step *step)
{
  for (int i = 0; i < 3; i++) {
    put (writer, i ? "," : " ");
    if (step->first[i] > 0)
      put_position (writer, "", step->first[i]);
    put (writer, ":");
    if (step->has_end[i])
      put_position (writer, "", step->second[i]);
  }
}

static void
put_widths (struct writer *writer, const struct rd_step *step)
{
  bool is_one = true;
  for (int i = 0; i < 3; i++)
    is_one = is_one && step->first[i] == step->first[0]
             && step->second[i] == step->second[0];
  for (int i = 0; i < (is_one ? 1 : 3); i++) {
    put_position (writer, i ? "," : " ", step->first[i]);
    if (step->second[i] != step->first[i])
      put_position (writer, ":", step->second[i]);
  }
}

static void
put_plane (struct writer *writer, const int plane[2])
{
  put (writer, (const char[]) { ' ', (char) ('x' + plane[0]),
                                (char) ('x' + plane[1]), '\0' });
}

static void
put_sizes (struct writer *writer, const struct rd_step *step)
{
  const int64_t *size = step->second;
  bool is_one = size[0] == size[1] && size[0] == size[2];
  for (int i = 0; i < (is_one ? 1 : 3); i++)
    put_position (writer, i ? "," : " ", size[i]);
  for (int i = 0; i < 3 && step->has_at; i++)
    put_position (writer, i ? "," : " at ", step->first[i]);
  for (int i = 0; i < 3 && step->has_within; i++)
    put_number (writer, i ? "," : " within ", step->within[i]);
}

/* Writes the values of resample, smooth and to; an axis that is left as it is
 * has a colon. */
static void
put_lengths (struct writer *writer, const struct rd_step *step)
{
  const double *spacing = step->spacing;
  const int64_t *size = step->second;
  bool is_one = true;
  for (int i = 1; i < 3; i++)
    is_one = is_one && spacing[i] == spacing[0] && size[i] == size[0];
  for (int i = 0; i < (is_one ? 1 : 3); i++) {
    const char *before = i ? "," : " ";
    if (spacing[i] > 0)
      put_number (writer, before, spacing[i]);
    else if (size[i] > 0)
      put_position (writer, before, size[i]);
    else {
      put (writer, before);
      put (writer, ":");
    }
  }
}

static void
put_sampling (struct writer *writer, const struct rd_step *step)
{
  if (step->interpolation != RD_INTERPOLATE_DEFAULT) {
    put (writer, " ");
    put (writer, rd_interpolation_names[step->interpolation]);
  }
  if (step->is_centred)
    put (writer, " centre");
  if (step->smooths)
    put (writer, " smooth");
  if (step->is_about_centre)
    put (writer, " about centre");
  if (step->value != 0)
    put_number (writer, " by ", step->value);
}

static void
put_axes (struct writer *writer, const struct rd_step *step)
{
  const char *before = " ";
  for (int i = 0; i < 3; i++)
    if (step->axes[i]) {
      put (writer, before);
      put (writer, (const char[]) { (char) ('x' + i), '\0' });
      before = ",";
    }
}

/* A part of random-affine, unless it is the default. */
static void
put_motion (struct writer *writer, enum rd_motion motion, const double most[3])
{
  bool is_one = most[1] == most[0] && most[2] == most[0];
  if (is_one && most[0] == rd_motion_defaults[motion])
    return;
  put (writer, " ");
  put (writer, rd_motion_names[motion]);
  for (int i = 0; i < (is_one ? 1 : 3); i++)
    put_number (writer, i ? "," : " ", most[i]);
}

/* The arguments of a random operation that are not the defaults. */
static void
put_random (struct writer *writer, const struct rd_step *step)
{
  bool is_all = step->axes[0] && step->axes[1] && step->axes[2];
  switch (step->operation) {
  case RD_OP_RANDOM_FLIP:
    if (!is_all)
      put_axes (writer, step);
    break;
  case RD_OP_RANDOM_ROT90:
    if (step->plane[0] != 0 || step->plane[1] != 1)
      put_plane (writer, step->plane);
    break;
  case RD_OP_RANDOM_CROP:
    put_sizes (writer, step);
    return;
  case RD_OP_RANDOM_AFFINE:
    for (int i = 0; i < RD_NMOTIONS; i++)
      put_motion (writer, (enum rd_motion) i, step->most[i]);
    put_sampling (writer, step);
    break;
  case RD_OP_RANDOM_GAMMA:
    if (step->a != RD_GAMMA_LOW || step->b != RD_GAMMA_HIGH)
      put_pair (writer, " ", step->a, step->b);
    break;
  case RD_OP_RANDOM_NOISE:
    if (step->a != step->b)
      put_pair (writer, " ", step->a, step->b);
    else if (step->a != RD_NOISE_STD)
      put_number (writer, " ", step->a);
    break;
  default:
    if (step->a != RD_AMOUNT)
      put_number (writer, " ", step->a);
  }
  if (step->probability != RD_PROBABILITY)
    put_number (writer, " p ", step->probability);
}

/* The arguments of an operation on values. */
static void
put_values (struct writer *writer, const struct rd_step *step)
{
  switch (step->operation) {
  case RD_OP_LINEAR:
  case RD_OP_CLAMP:
    put_pair (writer, " ", step->a, step->b);
    break;
  case RD_OP_RESCALE:
    put_pair (writer, " ", step->a, step->b);
    if (step->from == RD_FROM_VALUES)
      put_pair (writer, " from ", step->from_low, step->from_high);
    if (step->from == RD_FROM_PERCENTILES) {
      put_number (writer, " from p", step->from_low);
      put_number (writer, ",p", step->from_high);
    }
    break;
  case RD_OP_WINDOW:
    if (step->preset < 0)
      put_pair (writer, " ", step->centre, step->width);
    else {
      put (writer, " ");
      put (writer, rd_window_presets[step->preset].name);
    }
    break;
  case RD_OP_GAMMA:
    put_number (writer, " ", step->a);
    break;
  case RD_OP_ZNORM:
    if (step->nonzero)
      put (writer, " of nonzero");
    if (step->name) {
      put (writer, " of mask ");
      put (writer, step->name);
    }
    break;
  case RD_OP_NOISE:
    put_number (writer, " ", step->a);
    if (step->seed != 0)
      put_position (writer, " seed ", (int64_t) step->seed);
    break;
  default:
    break;
  }
}

/* The arguments of an operation on the grid. */
static void
put_moves (struct writer *writer, const struct rd_step *step)
{
  switch (step->operation) {
  case RD_OP_CROP:
    put_ranges (writer, step);
    break;
  case RD_OP_PAD:
    put_widths (writer, step);
    put_mode (writer, step);
    break;
  case RD_OP_CROP_OR_PAD:
    put_sizes (writer, step);
    put_mode (writer, step);
    break;
  case RD_OP_FLIP:
    put_axes (writer, step);
    break;
  case RD_OP_ROT90:
    put_plane (writer, step->plane);
    if (step->turns > 1)
      put_position (writer, " ", step->turns);
    break;
  case RD_OP_REORIENT:
    put (writer, " ");
    put (writer, step->letters);
    break;
  default:
    break;
  }
}

/* The arguments of an operation that interpolates. */
static void
put_interpolation (struct writer *writer, const struct rd_step *step)
{
  switch (step->operation) {
  case RD_OP_AFFINE:
    for (int i = 0; i < 12; i++)
      put_number (writer, i ? "," : " ", step->matrix[i / 4][i % 4]);
    break;
  case RD_OP_LIKE:
    put (writer, " ");
    put (writer, step->name);
    break;
  default:
    put_lengths (writer, step);
  }
  put_sampling (writer, step);
}

/* Each kind of operation has its own arguments, in the order of the enum. */
static void
put_step (struct writer *writer, const struct rd_step *step)
{
  put (writer, rd_operation_name (step->operation));
  if (rd_step_is_random (step))
    put_random (writer, step);
  else if (!rd_step_is_spatial (step))
    put_values (writer, step);
  else if (step->operation < RD_OP_FIRST_INTERPOLATING)
    put_moves (writer, step);
  else
    put_interpolation (writer, step);
}

char *
rd_steps_text (const struct rd_step *steps, size_t n)
{
  struct writer writer = { .failed = false };
  for (size_t i = 0; i < n; i++) {
    put (&writer, i ? " | " : "");
    put_step (&writer, &steps[i]);
  }
  if (rd_buffer_append (&writer.out, "", 1) != RADIO_OK)
    writer.failed = true;
  char *text = writer.failed ? NULL : rd_strdup ((char *) writer.out.data);
  if (!writer.failed && !text)
    (void) rd_fail_memory (writer.out.nbytes);
  rd_buffer_free (&writer.out);
  return text;
}
