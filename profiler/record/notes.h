/* SPDX-License-Identifier: MIT */
/* Notes of one writer: texts of its spans and nodes, and samples of gauges.
 * All are copied and bounded, and losses are counted. */
#ifndef RD_NOTES_H
#define RD_NOTES_H

#include "profiler/record/record.h"

/* Keeps a text of a span, and of its node if it is the node's first of this
 * key.  text has all but the value, which is copied.  logs: false keeps the
 * node's alone. */
void rd_texts_add (struct rd_texts *texts, struct rd_node *node, bool logs,
                   const struct rd_log_text *text, const char *value);

/* The same for a name that the extra of a logged span refers to.  Returns the
 * value to put there, which is valid until it is given to rd_texts_disown;
 * NULL: dropped, and counted so. */
const struct rd_text_value *rd_texts_own (struct rd_texts *texts,
                                          struct rd_node *node,
                                          const char *key,
                                          const char *value);

/* The span with this text is not in the log any more. */
void rd_texts_disown (struct rd_texts *texts,
                      const struct rd_text_value *value);

/* Drops the texts of a span that just ended and is not logged, except those
 * that were set before others that stay. */
void rd_texts_drop_last (struct rd_texts *texts, uint64_t sequence);

/* Drops texts of many spans, which come nearly in the order of their
 * sequences.  Without memory for it, all texts stay. */
struct rd_text_sweep {
  struct rd_texts *texts;
  struct rd_log_text **at;    /* by sequence */
  size_t n, next;
};

void rd_text_sweep_begin (struct rd_text_sweep *sweep,
                          struct rd_texts *texts);
void rd_text_sweep_drop (struct rd_text_sweep *sweep, uint64_t sequence);
void rd_text_sweep_end (struct rd_text_sweep *sweep);

/* Spans have no texts in their extras any more. */
void rd_texts_free (struct rd_texts *texts);

/* Frees the notes of a node. */
void rd_node_free_notes (struct rd_node *node);

/* The number of a gauge; UINT32_MAX: no memory, and its sample is dropped. */
uint32_t rd_samples_gauge (struct rd_samples *samples,
                           const struct radio_counter *counter);
void rd_samples_add (struct rd_samples *samples,
                     const struct rd_log_sample *sample);
void rd_samples_free (struct rd_samples *samples);

#endif /* RD_NOTES_H */
