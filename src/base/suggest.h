/* SPDX-License-Identifier: MIT */
/* Names that are similar to an unknown one: "did you mean ...?" */
#ifndef RD_SUGGEST_H
#define RD_SUGGEST_H

#include "src/base/cleanup.h"
#include "src/base/error.h"

#define RD_SUGGEST_MAX 3

/* The most similar ones seen so far, best first. */
struct rd_suggestions {
  const char *wanted;         /* the caller's */
  char *names[RD_SUGGEST_MAX];
  unsigned distances[RD_SUGGEST_MAX];
  size_t n;
};

/* Keeps a copy of a name, once, if what is compared with the wanted one, the
 * name itself or a part of it, is among the most similar.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_suggest (struct rd_suggestions *near, const char *name,
                              const char *compared) RADIO_USE_RESULT;

/* Writes "; did you mean A, B or C?" to the end of a message, or nothing if no
 * name is similar.  Returns text. */
const char *rd_suggestions_text (const struct rd_suggestions *near,
                                 char text[RD_ERROR_NBYTES]);

void rd_suggestions_free (struct rd_suggestions *near);
#define RD_SUGGESTIONS_SCOPE RD_CLEANUP (rd_suggestions_free)

#endif /* RD_SUGGEST_H */
