/* SPDX-License-Identifier: MIT */
/* Pipelines: an accepted text has a canonical form, which reads back as itself,
 * and so has a pipeline drawn from it; others have an error with its place. */
#include <config.h>

#include <radio/pipeline.h>

#include "tests/fuzz/fuzz.h"

static void
check_drawn (const struct radio_pipeline *pipeline, uint64_t seed)
{
  struct radio_pipeline *drawn, *again;
  FUZZ_CHECK (radio_pipeline_draw (pipeline, seed, 1, 2, &drawn) == RADIO_OK);
  const char *text = radio_pipeline_text (drawn);
  FUZZ_CHECK (radio_pipeline_parse (text, &again) == RADIO_OK);
  FUZZ_CHECK (strcmp (radio_pipeline_text (again), text) == 0);
  radio_pipeline_free (again);
  radio_pipeline_free (drawn);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  char *text = fuzz_text (data, nbytes);
  struct radio_pipeline *pipeline, *again;
  enum radio_status status = radio_pipeline_parse (text, &pipeline);
  if (status == RADIO_OK) {
    const char *canonical = radio_pipeline_text (pipeline);
    FUZZ_CHECK (radio_pipeline_parse (canonical, &again) == RADIO_OK);
    FUZZ_CHECK (strcmp (radio_pipeline_text (again), canonical) == 0);
    radio_pipeline_free (again);
    check_drawn (pipeline, nbytes);
    radio_pipeline_free (pipeline);
  } else {
    FUZZ_CHECK (status == RADIO_ERROR_ARGUMENT
                || status == RADIO_ERROR_LIMIT);
    FUZZ_CHECK (strncmp (radio_error_message (), "pipeline, byte ", 15) == 0);
  }
  rd_free (text);
  return 0;
}

static const char *const seeds[] = {
  "linear 2,-1 | clamp -1000,400|rescale 0,1 from p0.5,p99.5 | saturate",
  "rescale 0,1 | rescale -1,1e0 from -10,1000 | gamma 0.7 | window bone",
  "window 40,400 | znorm | znorm of nonzero | znorm of all | znorm of mask seg",
  ("crop 10:74,:,5:20 | crop :3,4:,7 | pad 1 | pad 1,2:3,4 by -1024 "
   "| pad 3 edge"),
  ("pad 0,9,0 reflect | pad 5 wrap | crop-or-pad 64 "
   "| crop-or-pad 3,4,5 at -1,0,2"),
  "flip x,z | rot90 yx 3 | reorient LPS",
  "crop 0:1,:,: |", "rescale 0,1 from p99,p1", "reorient RAL", "resample 0",
  ("resample 1.5,:,2 cubic centre | to 64 nearest | to 1,:,3 majority "
   "| resample 1e-9 corner linear"),
  ("affine 1,0,0,-2,0,0.5,-0.5,1e-3,0,0.5,0.5,0 about centre by 3 nearest "
   "| like ct/b cubic by -1024 | smooth 1,:,2 | to 3 smooth"),
  "noise 3 | noise 0.5 seed 7 | crop-or-pad 9 within 0,0.5,0.999",
  ("random-flip x,y p 0.3 | random-rot90 xy p 1 | random-crop 32,:,3 "
   "| random-crop 9"),
  ("random-affine degrees 10,0,180 scale 0.1 shift 2 p 1 cubic by -5 "
   "| random-affine"),
  ("random-scale 1e308 p 1 | random-shift 1e308 p 1 | random-gamma 0.5,2 p 0.9 "
   "| random-noise 0,1e308 p 1 | random-noise 2"),
  /* Names of files and URLs, of which one has a query. */
  ("like ../b.nii linear | like s3://b/c/v by 1e-3 | like /d/s.zarr/ct/a "
   "| znorm of mask ./m.nii.gz"),
  "like https://h/a.nii.gz?X-Amz-Signature=1",
  /* Words given twice, and after the one that ends a step. */
  "to 3 smooth centre smooth", "random-affine scale 0.1 scale 0.2",
  "like a nearest by 1 linear", "random-flip p 1 x", "noise 1 seed -1",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
