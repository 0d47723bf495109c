/* SPDX-License-Identifier: MIT */
/* A table of texts, each once, that are referred to by their numbers.  The
 * empty text sorts first, so it is number 0, as pprof demands. */
#ifndef RD_PPROF_TEXTS_H
#define RD_PPROF_TEXTS_H

#include "src/base/buffer.h"

struct rd_pprof_texts {
  const char **at;            /* not owned */
  size_t n, capacity;
};

/* Add a text, which must stay; more than once is fine.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_pprof_texts_add (struct rd_pprof_texts *texts,
                                      const char *text)
  RADIO_USE_RESULT;

/* Bring them into order, each once; then rd_pprof_texts_index works. */
void rd_pprof_texts_sort (struct rd_pprof_texts *texts);

/* The number of a text that was added. */
size_t rd_pprof_texts_index (const struct rd_pprof_texts *texts,
                             const char *text);

void rd_pprof_texts_free (struct rd_pprof_texts *texts);

#define RD_PPROF_TEXTS_SCOPE RD_CLEANUP (rd_pprof_texts_free)

#endif /* RD_PPROF_TEXTS_H */
