/* SPDX-License-Identifier: MIT */
/* Names that are similar to an unknown one. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/base/suggest.h"
#include "src/base/text.h"

enum radio_status
rd_suggest (struct rd_suggestions *near, const char *name,
            const char *compared)
{
  unsigned distance = rd_edit_distance (near->wanted, compared);
  size_t length = strlen (near->wanted), at = near->n;
  for (size_t i = 0; i < near->n; i++)
    if (strcmp (near->names[i], name) == 0)
      return RADIO_OK;
  while (at > 0 && near->distances[at - 1] > distance)
    at--;
  /* Names with a third of their letters wrong are no help. */
  if (distance > (length < 6 ? 4 : 2 * (length / 3)) || at == RD_SUGGEST_MAX)
    return RADIO_OK;
  char *copy = rd_strdup (name);
  if (copy == NULL)
    return rd_fail_memory (strlen (name) + 1);
  if (near->n == RD_SUGGEST_MAX)
    rd_free (near->names[--near->n]);
  for (size_t i = near->n++; i > at; i--) {
    near->names[i] = near->names[i - 1];
    near->distances[i] = near->distances[i - 1];
  }
  near->names[at] = copy;
  near->distances[at] = distance;
  return RADIO_OK;
}

const char *
rd_suggestions_text (const struct rd_suggestions *near,
                     char text[RD_ERROR_NBYTES])
{
  size_t used = 0;
  text[0] = '\0';
  for (size_t i = 0; i < near->n && used < RD_ERROR_NBYTES; i++)
    used += (size_t) snprintf (text + used, RD_ERROR_NBYTES - used,
                               "%s%s%s", i == 0 ? "; did you mean "
                               : i + 1 == near->n ? " or " : ", ",
                               near->names[i], i + 1 == near->n ? "?" : "");
  return text;
}

void
rd_suggestions_free (struct rd_suggestions *near)
{
  for (size_t i = 0; i < near->n; i++)
    rd_free (near->names[i]);
}
