/* SPDX-License-Identifier: MIT */
/* The logs of all writers as the profile's one, with the texts of spans and
 * nodes, and the samples of gauges. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/model/vector.h"
#include "profiler/record/collect.h"

/*------------------------------------------------------------------------
 * Ids of spans.
 *
 * Each writer has a hash table of its own, in which BLOCK consecutive sequences
 * are adjacent, in two lines of the cache: a log is read in its order.  More
 * may not be: a thinned part of a log would fall on a dense one, and each of
 * its spans would walk to the end of that.
 *----------------------------------------------------------------------*/

#define BLOCK 8

enum radio_status
rd_ids_init (struct rd_ids *ids, size_t nwriters)
{
  *ids = (struct rd_ids) { .nwriters = nwriters };
  ids->tables = calloc (nwriters ? nwriters : 1, sizeof *ids->tables);
  return ids->tables ? RADIO_OK
                     : rd_fail_memory (nwriters * sizeof *ids->tables);
}

void
rd_ids_free (struct rd_ids *ids)
{
  for (size_t i = 0; ids->tables && i < ids->nwriters; i++)
    free (ids->tables[i].slots);
  free (ids->tables);
  ids->tables = NULL;
}

/* The end of MurmurHash3: each bit of the result depends on each of i. */
static uint64_t
mix (uint64_t i)
{
  i = (i ^ i >> 33) * UINT64_C (0xff51afd7ed558ccd);
  i = (i ^ i >> 33) * UINT64_C (0xc4ceb9fe1a85ec53);
  return i ^ i >> 33;
}

/* The slot of a sequence, or the free one where it would go; there is always
 * one. */
static struct rd_id_slot *
find_id_slot (const struct rd_id_table *table, uint64_t sequence)
{
  size_t mask = table->nslots - 1;
  size_t i = (mix (sequence / BLOCK) * BLOCK + sequence % BLOCK) & mask;
  while (table->slots[i].id != 0 && table->slots[i].sequence != sequence)
    i = (i + 1) & mask;
  return &table->slots[i];
}

enum radio_status
rd_ids_give (struct rd_ids *ids, uint32_t writer, uint64_t sequence,
             uint32_t *id)
{
  struct rd_id_table *table = &ids->tables[writer];
  if (2 * (table->n + 1) > table->nslots) {
    struct rd_id_table larger = {
      .nslots = table->nslots ? 4 * table->nslots : 256, .n = table->n
    };
    larger.slots = calloc (larger.nslots, sizeof *larger.slots);
    if (!larger.slots)
      return rd_fail_memory (larger.nslots * sizeof *larger.slots);
    for (size_t i = 0; i < table->nslots; i++) {
      const struct rd_id_slot *old = &table->slots[i];
      if (old->id != 0)
        *find_id_slot (&larger, old->sequence) = *old;
    }
    free (table->slots);
    *table = larger;
  }
  struct rd_id_slot *slot = find_id_slot (table, sequence);
  if (slot->id == 0) {
    *slot = (struct rd_id_slot) { sequence, ++ids->n };
    table->n++;
  }
  *id = slot->id;
  return RADIO_OK;
}

uint32_t
rd_ids_find (const struct rd_ids *ids, uint32_t writer, uint64_t sequence)
{
  const struct rd_id_table *table = &ids->tables[writer];
  return table->nslots ? find_id_slot (table, sequence)->id : 0;
}

/*------------------------------------------------------------------------
 * Spans, with parents on any thread
 *----------------------------------------------------------------------*/

/* One writer's log. */
struct log_walk {
  struct rd_collection *collection;
  const struct rd_writer_state *writer;
  const uint32_t *lanes;      /* of the writer's sessions; NULL: requests */
};

static enum radio_status
add_span (struct log_walk *walk, const struct rd_log_span *span)
{
  struct rd_collection *collection = walk->collection;
  const struct rd_rate *rate = &collection->recorder->rate;
  const struct rd_log_extra *extra = rd_span_extra (span);
  const struct rd_node *node = walk->writer->nodes[rd_span_node (span)];
  if (node->folded)
    return RADIO_OK;

  /* The lane of the last session that began before the span. */
  const struct rd_session *sessions = walk->writer->sessions.at;
  size_t low = 0, high = walk->writer->sessions.n;
  uint32_t lane = RD_NO_INDEX;
  if (walk->lanes && high > 0) {
    while (high - low > 1) {
      size_t middle = low + (high - low) / 2;
      if (sessions[middle].first <= rd_span_sequence (span))
        low = middle;
      else
        high = middle;
    }
    lane = walk->lanes[low];
  }

  uint64_t begin = rd_collect_time (collection, span->begin);
  uint64_t end = rd_collect_time (collection, span->begin
                                              + rd_span_duration (span));
  bool has_tile = (extra->flags & RD_LOG_TILE) != 0;
  bool has_text = (extra->flags & RD_LOG_TEXT) != 0;
  bool is_remote = (extra->flags & RD_LOG_REMOTE_PARENT) != 0;
  struct rd_span new = {
    .begin_ns = begin,
    .duration_ns = end - begin,
    .submitted_ns = !has_tile && !has_text && extra->submitted
      ? rd_min_u64 (rd_collect_time (collection, extra->submitted), begin)
      : begin,
    .wait_ns = rd_rate_ns (rate, extra->wait),
    .starved_ns = rd_rate_ns (rate, rd_log_starved (extra)),
    .id = (uint32_t) (collection->profile->spans.n + 1),
    .node = node->index,
    .lane = lane,
    .flags = (extra->flags & RD_LOG_OPEN ? RD_SPAN_OPEN : 0)
             | (extra->flags & RD_LOG_LATE ? RD_SPAN_LATE : 0),
    .nbytes = extra->nbytes,
    .tile = has_tile ? extra->tile + 1 : 0,
    .stored_nbytes = has_tile ? extra->stored_nbytes : 0,
  };
  if (rd_span_parent (span) != 0)
    RD_TRY (rd_ids_give (&collection->ids,
                         is_remote ? extra->parent_writer
                                   : walk->writer->number,
                         rd_span_parent (span), &new.parent));
  return rd_profile_add_span (collection->profile, &new);
}

/* A span gets the id that is 1 + its index in the profile, where spans of
 * folded nodes have none. */
static enum radio_status
give_id (struct log_walk *walk, const struct rd_log_span *span)
{
  uint32_t id, next = walk->collection->ids.n + 1;
  if (walk->writer->nodes[rd_span_node (span)]->folded)
    return RADIO_OK;
  RD_TRY (rd_ids_give (&walk->collection->ids, walk->writer->number,
                       rd_span_sequence (span), &id));
  return id == next ? RADIO_OK
                    : rd_fail (RADIO_ERROR_FORMAT, "two spans have one number");
}

static enum radio_status
walk_logs (struct rd_collection *collection,
           enum radio_status (*visit) (struct log_walk *,
                                       const struct rd_log_span *))
{
  const struct radio_recorder *recorder = collection->recorder;
  const uint32_t *lanes = collection->lanes;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    struct log_walk walk = {
      .collection = collection,
      .writer = writer,
      .lanes = writer == recorder->synced.async_writer ? NULL : lanes,
    };
    lanes += writer->sessions.n;
    for (const struct rd_log_chunk *c = writer->log.first; c; c = c->next)
      for (size_t j = 0; j < c->nslots;) {
        const struct rd_log_span *span = &c->slots[j].span;
        if (span->begin >= collection->spans_from)
          RD_TRY (visit (&walk, span));
        j += rd_span_nslots (span);
      }
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Texts of spans
 *----------------------------------------------------------------------*/

/* By span and key; of equal ones the last set is first. */
static int
compare_texts (const void *a, const void *b)
{
  const struct rd_log_text *x = *(const struct rd_log_text *const *) a;
  const struct rd_log_text *y = *(const struct rd_log_text *const *) b;
  int by = rd_compare_u64 (x->sequence, y->sequence);
  by = by ? by : strcmp (x->key, y->key);
  return by ? by : (y > x) - (y < x);
}

/* Adds a writer's texts: all of them in the order in which spans got them,
 * then sorted, and the first of each span and key. */
static enum radio_status
collect_texts (struct rd_collection *collection,
               const struct rd_writer_state *writer)
{
  struct radio_profile *profile = collection->profile;
  size_t n = writer->texts.n, capacity = n + writer->texts.nown;
  if (capacity == 0)
    return RADIO_OK;
  RD_FREE_PLAIN struct rd_log_text *copies
    = calloc (capacity, sizeof *copies);
  RD_FREE_PLAIN const struct rd_log_text **texts
    = calloc (capacity, sizeof *texts);
  if (!copies || !texts)
    return rd_fail_memory (capacity * sizeof *copies);
  if (n > 0)
    memcpy (copies, writer->texts.at, n * sizeof *copies);

  /* The texts in the extras of spans, which got them at their ends. */
  for (const struct rd_log_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      const struct rd_log_extra *extra = rd_span_extra (span);
      if (extra->flags & RD_LOG_TEXT && n < capacity)
        copies[n++] = (struct rd_log_text) {
          .sequence = rd_span_sequence (span),
          .kind = RADIO_TEXT_NAME,
          .key = extra->text->own_key,
          .value = (struct rd_text_value *) extra->text,
        };
      i += rd_span_nslots (span);
    }

  for (size_t i = 0; i < n; i++)
    texts[i] = &copies[i];
  qsort (texts, n, sizeof *texts, compare_texts);
  for (size_t i = 0; i < n; i++) {
    const struct rd_log_text *text = texts[i];
    if (i > 0 && texts[i - 1]->sequence == text->sequence
        && strcmp (texts[i - 1]->key, text->key) == 0)
      continue;
    /* Ids up to the number of spans are of logged spans, in order. */
    uint32_t id = rd_ids_find (&collection->ids, writer->number,
                               text->sequence);
    if (id == 0 || id > profile->spans.n)
      continue;
    struct rd_note note = {
      .span = id,
      .node = profile->spans.at[id - 1].node,
      .key = (char *) text->key,
      .value = text->value->at,
      .is_name = text->kind == RADIO_TEXT_NAME,
    };
    RD_TRY (rd_profile_add_note (profile, &note));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Notes of nodes
 *----------------------------------------------------------------------*/

/* A note of a writer's node, with its position among all. */
struct node_note {
  uint32_t node;
  size_t position;
  const struct rd_text_note *note;
};

static int
compare_notes (const void *a, const void *b)
{
  const struct node_note *x = a, *y = b;
  int by = rd_compare_u64 (x->node, y->node);
  by = by ? by : strcmp (x->note->key, y->note->key);
  return by ? by : rd_compare_u64 (x->position, y->position);
}

/* Joins the notes of one node and key, which the threads had.  Stand-ins and
 * folded nodes are not in the profile. */
static enum radio_status
collect_node_notes (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  size_t n = 0, capacity = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->nnodes; j++)
      capacity += writer->nodes[j]->nnotes;
  }
  RD_FREE_PLAIN void *memory = NULL;
  RD_TRY (rd_new_array (capacity, sizeof (struct node_note), &memory));
  struct node_note *notes = memory;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    for (size_t j = 0; j < writer->nnodes; j++) {
      const struct rd_node *node = writer->nodes[j];
      if (!node->site || node->folded)
        continue;
      for (size_t k = 0; k < node->nnotes; k++, n++)
        notes[n] = (struct node_note) { node->index, n, &node->notes[k] };
    }
  }
  if (n > 1)
    qsort (notes, n, sizeof *notes, compare_notes);

  for (size_t i = 0; i < n;) {
    const struct node_note *first = &notes[i];
    struct rd_note joined = {
      .node = first->node,
      .key = (char *) first->note->key,
      .value = first->note->value,
    };
    for (; i < n && notes[i].node == first->node
           && strcmp (notes[i].note->key, joined.key) == 0; i++) {
      const struct rd_text_note *note = notes[i].note;
      joined.is_name |= note->kind == RADIO_TEXT_NAME;
      joined.varies |= note->varies
                       || strcmp (note->value, joined.value) != 0;
    }
    RD_TRY (rd_profile_add_note (collection->profile, &joined));
  }
  return RADIO_OK;
}

enum radio_status
rd_collect_log (struct rd_collection *collection)
{
  const struct radio_recorder *recorder = collection->recorder;
  struct radio_profile *profile = collection->profile;
  RD_TRY (walk_logs (collection, give_id));
  RD_TRY (walk_logs (collection, add_span));
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    RD_TRY (collect_texts (collection, recorder->synced.writers.at[i]));
  RD_TRY (collect_node_notes (collection));

  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_samples *samples
      = &recorder->synced.writers.at[i]->samples;
    for (size_t j = 0; j < samples->n; j++) {
      const struct rd_log_sample *sample = &samples->at[j];
      const struct radio_counter *gauge
        = &samples->gauges.at[sample->gauge].kept;
      struct rd_sample new = {
        .time_ns = rd_collect_time (collection, sample->time),
        .value = sample->value,
      };
      if (!rd_profile_has_room (&profile->gauges, gauge->name,
                                gauge->unit)) {
        collection->nsamples_lost++;
        continue;
      }
      RD_TRY (rd_profile_add_gauge (profile, gauge->name, gauge->unit,
                                    &new.gauge));
      RD_TRY (rd_profile_add_sample (profile, &new));
    }
  }
  return RADIO_OK;
}
