/* SPDX-License-Identifier: MIT */
/* An example of each operation, for programs that list or measure all. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/operation/pipeline.h"

/* A digit after % is that many eighths of the image's size.  NULL: the
 * operation needs a second volume, or is random, so it has no example. */
static const char *const examples[RD_NOPERATIONS] = {
  [RD_OP_LINEAR] = "linear 0.5,10",
  [RD_OP_CLAMP] = "clamp -200,400",
  [RD_OP_RESCALE] = "rescale 0,1",
  [RD_OP_WINDOW] = "window soft",
  [RD_OP_GAMMA] = "gamma 0.7",
  [RD_OP_ZNORM] = "znorm",
  [RD_OP_NOISE] = "noise 10",
  [RD_OP_SATURATE] = "saturate",
  [RD_OP_CROP] = "crop %1:%7,%1:%7,%1:%7",
  [RD_OP_PAD] = "pad %1",
  [RD_OP_CROP_OR_PAD] = "crop-or-pad %6",
  [RD_OP_FLIP] = "flip x",
  [RD_OP_ROT90] = "rot90 xy",
  [RD_OP_REORIENT] = "reorient LPS",
  [RD_OP_RESAMPLE] = "resample 1.3",
  [RD_OP_TO] = "to %4",
  [RD_OP_SMOOTH] = "smooth 1",
  [RD_OP_AFFINE] = "affine 0.9,-0.3,0,2,0.3,0.9,0,0,0,0,1,0 about centre",
};

/* Copies an example; false if it does not fit. */
static bool
expand (const char *example, uint64_t size, char *text, size_t nbytes)
{
  size_t used = 0;
  for (const char *at = example; *at && used < nbytes; at++) {
    if (*at != '%') {
      text[used++] = *at;
      continue;
    }
    uint64_t eighths = (uint64_t) (*++at - '0');
    int n = snprintf (text + used, nbytes - used, "%" PRIu64,
                      size / 8 * eighths);
    used += n > 0 ? (size_t) n : nbytes;
  }
  if (used >= nbytes)
    return false;
  text[used] = '\0';
  return true;
}

const char *
radio_pipeline_example (size_t i, uint64_t size,
                        char text[RADIO_EXAMPLE_NBYTES])
{
  if (!text)
    return NULL;
  for (size_t k = 0; k < RD_NOPERATIONS; k++)
    if (examples[k] && i-- == 0
        && expand (examples[k], size, text, RADIO_EXAMPLE_NBYTES))
      return text;
  text[0] = '\0';
  return NULL;
}
