/* SPDX-License-Identifier: MIT */
/* Pipelines: operations that are done on the way of reading, given as one line
 * of text, "crop 10:74,:,5:20 | clamp -1000,400 | rescale 0,1".  radio(1) lists
 * the operations under PIPELINES. */
#ifndef RADIO_PIPELINE_H
#define RADIO_PIPELINE_H

#include <radio/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A parsed pipeline.  It never changes: threads may share it. */
struct radio_pipeline;

/* The most operations that a pipeline may have. */
#define RADIO_PIPELINE_MAX_STEPS 16384

/* Parses the text of a pipeline: operations separated by '|', words by blanks.
 * Numbers have a decimal point in every locale.  The caller releases *pipeline
 * by radio_pipeline_free.
 * Errors: RADIO_ERROR_ARGUMENT (the message names the byte, counted from 0, the
 * word there, and what is allowed), RADIO_ERROR_LIMIT (too many operations),
 * RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_pipeline_parse (const char *text, struct radio_pipeline **pipeline)
  RADIO_USE_RESULT;

/* Returns the pipeline's canonical text: equal pipelines have the same, and it
 * parses to the same pipeline.  It belongs to the pipeline. */
RADIO_API const char *
radio_pipeline_text (const struct radio_pipeline *pipeline);

/* Room for the text of an example, with its end. */
#define RADIO_EXAMPLE_NBYTES 128

/* Writes an example of operation i, counted from 0: a pipeline of that
 * operation alone, which a volume with an affine and `size' voxels along x, y
 * and z, at least 8, can have.  Operations that need a second volume have none,
 * and are left out.  Its first word is the operation's name.
 * Returns text; NULL if there are no more operations, or text is NULL. */
RADIO_API const char *
radio_pipeline_example (size_t i, uint64_t size,
                        char text[RADIO_EXAMPLE_NBYTES]);

/* Makes a pipeline of definite operations from one with random ones
 * (random-flip and others), which cannot be applied as it is.  The same seed,
 * epoch and i (the sample's number in a cohort, for example) give the same
 * pipeline everywhere, with the same text.  Random operations on the grid draw
 * the same in two pipelines that have the same of them in the same order: so an
 * image and its mask are turned and cropped alike, whatever is done with their
 * values.  The numbers are those of Philox4x64-10, with the key (seed, epoch)
 * and the counter (i, the operation's place among the random ones on the grid,
 * or on values, 0 or 1 for these two, block), of which one operation draws
 * blocks 0, 1 and so on of four numbers.  The caller releases *drawn by
 * radio_pipeline_free.
 * Errors: RADIO_ERROR_MEMORY. */
RADIO_API enum radio_status
radio_pipeline_draw (const struct radio_pipeline *pipeline, uint64_t seed,
                     uint64_t epoch, uint64_t i,
                     struct radio_pipeline **drawn) RADIO_USE_RESULT;

/* Releases a pipeline; volumes that it was applied to do not need it.  NULL is
 * legal. */
RADIO_API void radio_pipeline_free (struct radio_pipeline *pipeline);

#ifdef __cplusplus
}
#endif

#endif /* RADIO_PIPELINE_H */
