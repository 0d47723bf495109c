/* SPDX-License-Identifier: MIT */
/* Texts of spans and nodes, and the samples of gauges. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/model/vector.h"
#include "profiler/record/collect.h"

/*------------------------------------------------------------------------
 * Of spans
 *----------------------------------------------------------------------*/

/* By span and key, and of these the one that was set last first. */
static int
compare_texts (const void *a, const void *b)
{
  const struct rd_log_text *x = *(const struct rd_log_text *const *) a;
  const struct rd_log_text *y = *(const struct rd_log_text *const *) b;
  int by = rd_compare_u64 (x->sequence, y->sequence);
  by = by ? by : strcmp (x->key, y->key);
  return by ? by : (y > x) - (y < x);
}

static bool
is_repeated (const struct rd_log_text *const *texts, size_t i)
{
  return i > 0 && texts[i - 1]->sequence == texts[i]->sequence
         && strcmp (texts[i - 1]->key, texts[i]->key) == 0;
}

/* Ids up to the number of spans are of spans that the log has, in order. */
static enum radio_status
add_text (struct rd_collection *collection, uint32_t writer,
          const struct rd_log_text *text)
{
  struct radio_profile *profile = collection->profile;
  uint32_t id = rd_ids_find (&collection->ids, writer, text->sequence);
  if (id == 0 || id > profile->spans.n)
    return RADIO_OK;
  struct rd_note note = {
    .span = id,
    .node = profile->spans.at[id - 1].node,
    .key = (char *) text->key,
    .value = text->value->at,
    .is_name = text->kind == RADIO_TEXT_NAME,
  };
  return rd_profile_add_note (profile, &note);
}

/* Texts that spans have themselves, which they got at their ends. */
static size_t
copy_own (const struct rd_writer_state *writer, struct rd_log_text *to)
{
  size_t n = 0;
  for (const struct rd_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      const struct rd_log_extra *extra = rd_span_extra (span);
      if (extra->flags & RD_LOG_TEXT && n < writer->texts.nown)
        to[n++] = (struct rd_log_text) {
          .sequence = rd_span_sequence (span),
          .kind = RADIO_TEXT_NAME,
          .key = extra->text->own_key,
          .value = (struct rd_text_value *) extra->text,
        };
      i += rd_span_nslots (span);
    }
  return n;
}

/* All texts of spans, in the order in which spans got them. */
static size_t
copy_texts (const struct rd_writer_state *writer, struct rd_log_text *to)
{
  size_t n = writer->texts.n;
  if (n > 0)
    memcpy (to, writer->texts.at, n * sizeof *to);
  return n + copy_own (writer, to + n);
}

static enum radio_status
collect_texts (struct rd_collection *collection,
               const struct rd_writer_state *writer)
{
  size_t n = writer->texts.n + writer->texts.nown;
  if (n == 0)
    return RADIO_OK;
  RD_FREE_PLAIN struct rd_log_text *copies = calloc (n, sizeof *copies);
  RD_FREE_PLAIN const struct rd_log_text **texts = calloc (n, sizeof *texts);
  if (!copies || !texts)
    return rd_fail_memory (n * sizeof *copies);
  n = copy_texts (writer, copies);
  for (size_t i = 0; i < n; i++)
    texts[i] = &copies[i];
  qsort (texts, n, sizeof *texts, compare_texts);
  for (size_t i = 0; i < n; i++) {
    if (!is_repeated (texts, i))
      RD_TRY (add_text (collection, writer->number, texts[i]));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Of nodes
 *----------------------------------------------------------------------*/

/* A note of a writer's node, with its place among all. */
struct mark {
  uint32_t node;
  size_t place;
  const struct rd_text_note *note;
};

struct marks {
  struct mark *at;
  size_t n, capacity;
};

static enum radio_status
push_mark (struct marks *marks, uint32_t node,
           const struct rd_text_note *note)
{
  struct mark mark = { node, marks->n, note };
  return rd_vector_append (marks, mark);
}

/* Whether the profile has it; stand-ins and folded ones it has not. */
static bool
is_listed (const struct rd_node *node)
{
  return node->site && !node->folded;
}

static enum radio_status
push_marks (struct marks *marks, const struct rd_writer_state *writer)
{
  for (size_t i = 0; i < writer->nnodes; i++) {
    const struct rd_node *node = writer->nodes[i];
    for (unsigned j = 0; is_listed (node) && j < node->nnotes; j++)
      RD_TRY (push_mark (marks, node->index, &node->notes[j]));
  }
  return RADIO_OK;
}

static int
compare_marks (const void *a, const void *b)
{
  const struct mark *x = a, *y = b;
  int by = rd_compare_u64 (x->node, y->node);
  by = by ? by : strcmp (x->note->key, y->note->key);
  return by ? by : rd_compare_u64 (x->place, y->place);
}

static bool
is_same_note (const struct mark *a, const struct mark *b)
{
  return a->node == b->node && strcmp (a->note->key, b->note->key) == 0;
}

/* Join the notes of one node and key, as the threads had them; returns how
 * many there are. */
static size_t
join (const struct mark *marks, size_t n, struct rd_note *joined)
{
  *joined = (struct rd_note) {
    .node = marks->node,
    .key = (char *) marks->note->key,
    .value = marks->note->value,
  };
  size_t i = 0;
  for (; i < n && is_same_note (marks, &marks[i]); i++) {
    const struct rd_text_note *note = marks[i].note;
    joined->is_name |= note->kind == RADIO_TEXT_NAME;
    joined->varies |= note->varies
                      || strcmp (note->value, joined->value) != 0;
  }
  return i;
}

static enum radio_status
add_marks (struct radio_profile *profile, struct marks *marks)
{
  if (marks->n > 1)
    qsort (marks->at, marks->n, sizeof *marks->at, compare_marks);
  for (size_t i = 0; i < marks->n;) {
    struct rd_note note;
    i += join (&marks->at[i], marks->n - i, &note);
    RD_TRY (rd_profile_add_note (profile, &note));
  }
  return RADIO_OK;
}

static enum radio_status
push_all_marks (const struct radio_recorder *recorder, struct marks *marks)
{
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    RD_TRY (push_marks (marks, recorder->synced.writers.at[i]));
  return RADIO_OK;
}

enum radio_status
rd_collect_notes (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    RD_TRY (collect_texts (collection, recorder->synced.writers.at[i]));
  struct marks marks = { .at = NULL };
  enum radio_status status = push_all_marks (recorder, &marks);
  if (status == RADIO_OK)
    status = add_marks (collection->profile, &marks);
  free (marks.at);
  return status;
}

/*------------------------------------------------------------------------
 * Gauges
 *----------------------------------------------------------------------*/

static enum radio_status
add_sample (struct rd_collection *collection,
            const struct rd_log_sample *sample)
{
  struct rd_sample new = {
    .time_ns = rd_collect_time (collection, sample->time),
    .value = sample->value,
  };
  if (!rd_profile_has_room (collection->profile,
                            &collection->profile->gauges,
                            sample->gauge->name)) {
    collection->nsamples_lost++;
    return RADIO_OK;
  }
  RD_TRY (rd_profile_add_gauge (collection->profile, sample->gauge->name,
                                sample->gauge->unit, &new.gauge));
  return rd_profile_add_sample (collection->profile, &new);
}

enum radio_status
rd_collect_samples (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_samples *samples
      = &recorder->synced.writers.at[i]->samples;
    for (size_t j = 0; j < samples->n; j++)
      RD_TRY (add_sample (collection, &samples->at[j]));
  }
  return RADIO_OK;
}
