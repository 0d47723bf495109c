/* SPDX-License-Identifier: MIT */
/* A pipeline as a value: its steps are copied and freed. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/operation/pipeline.h"

enum radio_status
rd_steps_copy (const struct rd_step *steps, size_t n, struct rd_step *copy)
{
  for (size_t i = 0; i < n; i++) {
    copy[i] = steps[i];
    copy[i].name = NULL;
    if (steps[i].name && !(copy[i].name = rd_strdup (steps[i].name)))
      return rd_fail_memory (strlen (steps[i].name) + 1);
  }
  return RADIO_OK;
}

void
rd_steps_free (struct rd_step *steps, size_t n)
{
  for (size_t i = 0; steps && i < n; i++)
    rd_free (steps[i].name);
  rd_free (steps);
}

const char *
radio_pipeline_text (const struct radio_pipeline *pipeline)
{
  return pipeline ? pipeline->text : "";
}

void
radio_pipeline_free (struct radio_pipeline *pipeline)
{
  if (!pipeline)
    return;
  rd_steps_free (pipeline->steps, pipeline->n);
  rd_free (pipeline->text);
  rd_free (pipeline);
}
