/* SPDX-License-Identifier: MIT */
/* The texts of a writer's spans, and those of its nodes: copied, bounded,
 * and what did not fit counted. */
#ifndef RD_TEXT_H
#define RD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <radio/profile.h>

struct rd_node;

/* What spans are about is mostly what those before were about: so texts
 * share their values. */
struct rd_text_value {
  size_t nrefs;
  size_t nbytes;              /* with the NUL */
  const char *own_key;        /* of spans that have it themselves; or NULL */
  char at[];
};

/* A text of a span. */
struct rd_log_text {
  uint64_t sequence;
  enum radio_text_kind kind;
  const char *key;            /* static */
  struct rd_text_value *value;
};

/* The last value of a key; holds a reference. */
struct rd_text_recent {
  const char *key;            /* NULL: there is none yet */
  struct rd_text_value *value;
  const struct rd_node *node; /* one whose note of the key is this value, or
                                 varies; or NULL */
};

#define RD_NRECENT 32

/* The texts of one writer, in the order in which they were set. */
struct rd_texts {
  struct rd_log_text *at;
  size_t n, capacity;
  struct rd_text_value **kept;          /* those with own_key: a reference
                                           each */
  size_t nkept, kept_capacity;
  size_t nown;                /* spans in the log that have their text
                                 themselves */
  size_t nbytes;              /* of the values */
  struct rd_text_recent recent[RD_NRECENT];     /* by key */
  uint64_t dropped_count;
};

/* Keep a text of a span, and of its node if it is the node's first of this
 * key.  text has all but the value, which is copied.  logs: false keeps the
 * node's alone. */
void rd_texts_add (struct rd_texts *texts, struct rd_node *node, bool logs,
                   const struct rd_log_text *text, const char *value);

/* The same for a name that a span of the log keeps itself, in its extra: what
 * it is to keep there, which is as it is until all texts are freed.  NULL:
 * dropped, and counted so. */
const struct rd_text_value *rd_texts_own (struct rd_texts *texts,
                                          struct rd_node *node,
                                          const char *key,
                                          const char *value);

/* Drop the texts of a span that just ended, and which the log does not have,
 * but for those that were set before others that stay. */
void rd_texts_drop_last (struct rd_texts *texts, uint64_t sequence);

/* Dropping texts of many spans, which come more or less in the order of
 * their sequences: texts that were not told of stay.  Where there is no
 * memory to do it with, all do. */
struct rd_text_sweep {
  struct rd_texts *texts;
  struct rd_log_text **at;    /* by sequence */
  size_t n, next;
};

void rd_text_sweep_begin (struct rd_text_sweep *sweep,
                          struct rd_texts *texts);
void rd_text_sweep_drop (struct rd_text_sweep *sweep, uint64_t sequence);
void rd_text_sweep_end (struct rd_text_sweep *sweep);

void rd_texts_free (struct rd_texts *texts);

/* Release the notes of a node. */
void rd_node_free_notes (struct rd_node *node);

#endif /* RD_TEXT_H */
