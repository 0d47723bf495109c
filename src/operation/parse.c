/* SPDX-License-Identifier: MIT */
/* Parsing the text of a pipeline: each operation is a name of one table, and
 * words that it parses itself (parse-*.c). */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/reserve.h"
#include "src/operation/parse.h"

static enum radio_status
parse_nothing (struct rd_parser *parser, struct rd_step *step)
{
  (void) parser;
  (void) step;
  return RADIO_OK;
}

static const struct {
  const char *name;
  rd_parse_fn *parse;
} operations[RD_NOPERATIONS] = {
  [RD_OP_LINEAR] = { "linear", rd_parse_linear },
  [RD_OP_CLAMP] = { "clamp", rd_parse_clamp },
  [RD_OP_RESCALE] = { "rescale", rd_parse_rescale },
  [RD_OP_WINDOW] = { "window", rd_parse_window },
  [RD_OP_GAMMA] = { "gamma", rd_parse_gamma },
  [RD_OP_ZNORM] = { "znorm", rd_parse_znorm },
  [RD_OP_NOISE] = { "noise", rd_parse_noise },
  [RD_OP_SATURATE] = { "saturate", parse_nothing },
  [RD_OP_CROP] = { "crop", rd_parse_crop },
  [RD_OP_PAD] = { "pad", rd_parse_pad },
  [RD_OP_CROP_OR_PAD] = { "crop-or-pad", rd_parse_crop_or_pad },
  [RD_OP_FLIP] = { "flip", rd_parse_flip },
  [RD_OP_ROT90] = { "rot90", rd_parse_rot90 },
  [RD_OP_REORIENT] = { "reorient", rd_parse_reorient },
  [RD_OP_RESAMPLE] = { "resample", rd_parse_resample },
  [RD_OP_TO] = { "to", rd_parse_to },
  [RD_OP_SMOOTH] = { "smooth", rd_parse_smooth },
  [RD_OP_AFFINE] = { "affine", rd_parse_affine },
  [RD_OP_LIKE] = { "like", rd_parse_like },
  [RD_OP_RANDOM_FLIP] = { "random-flip", rd_parse_random_flip },
  [RD_OP_RANDOM_ROT90] = { "random-rot90", rd_parse_random_rot90 },
  [RD_OP_RANDOM_CROP] = { "random-crop", rd_parse_random_crop },
  [RD_OP_RANDOM_AFFINE] = { "random-affine", rd_parse_random_affine },
  [RD_OP_RANDOM_SCALE] = { "random-scale", rd_parse_random_amount },
  [RD_OP_RANDOM_SHIFT] = { "random-shift", rd_parse_random_amount },
  [RD_OP_RANDOM_GAMMA] = { "random-gamma", rd_parse_random_gamma },
  [RD_OP_RANDOM_NOISE] = { "random-noise", rd_parse_random_noise },
};

const char *
rd_operation_name (enum rd_operation operation)
{
  return operations[operation].name;
}

static enum radio_status
fail_operation (const struct rd_parser *parser, struct rd_word word)
{
  char list[400] = "";
  for (size_t i = 0; i < RD_NOPERATIONS; i++) {
    size_t used = strlen (list);
    snprintf (list + used, sizeof list - used, "%s%s", i ? ", " : "",
              operations[i].name);
  }
  return rd_fail_word (parser, word, "%s; use one of %s", word.nbytes
                       ? "unknown operation" : "an operation is missing", list);
}

static enum radio_status
parse_step (struct rd_parser *parser)
{
  struct rd_word word = rd_take_word (parser);
  size_t i = 0;
  while (i < RD_NOPERATIONS && !rd_word_is (word, operations[i].name))
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
  word = rd_peek_word (parser);
  if (word.nbytes == 0)
    return RADIO_OK;
  return rd_fail_word (parser, word, "%s has all of its arguments; expected "
                       "'|' or the end", operations[i].name);
}

static void
free_steps (struct rd_parser *parser)
{
  rd_steps_free (parser->steps, parser->n);
}

enum radio_status
radio_pipeline_parse (const char *text, struct radio_pipeline **result)
{
  RD_NOT_NULL (text);
  RD_NOT_NULL (result);
  struct rd_parser parser RD_CLEANUP (free_steps)
    = { .text = text, .at = text };
  for (;;) {
    RD_TRY (parse_step (&parser));
    struct rd_word end = rd_peek_word (&parser);
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
