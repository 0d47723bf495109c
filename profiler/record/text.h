/* SPDX-License-Identifier: MIT */
/* The texts of a writer's spans, and those of its nodes: copied, bounded,
 * and what did not fit counted. */
#ifndef RD_TEXT_H
#define RD_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <radio/profile.h>

struct rd_node;

/* A text of a span. */
struct rd_log_text {
  uint64_t sequence;
  enum radio_text_kind kind;
  const char *key;            /* static */
  char *value;
};

/* The texts of one writer, in the order of sequence. */
struct rd_texts {
  struct rd_log_text *at;
  size_t n, capacity;
  size_t nbytes;              /* of the values */
  uint64_t dropped_count;
};

/* Keep a text of a span, and of its node if it is the node's first of this
 * key.  text has all but the value, which is copied.  logs: false keeps the
 * node's alone. */
void rd_texts_add (struct rd_texts *texts, struct rd_node *node, bool logs,
                   const struct rd_log_text *text, const char *value);

void rd_texts_free (struct rd_texts *texts);

/* Release the notes of a node. */
void rd_node_free_notes (struct rd_node *node);

#endif /* RD_TEXT_H */
