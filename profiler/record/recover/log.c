/* SPDX-License-Identifier: MIT */
/* The logs of an image, with texts, samples and sessions.  The figures of the
 * last runs are completed here. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "profiler/record/recover/recover.h"
#include "profiler/record/tree.h"

/*------------------------------------------------------------------------
 * The log
 *----------------------------------------------------------------------*/

/* The copy of a text; NULL: none. */
static struct rd_text_value *
copy_value (struct image *image, const struct rd_text_value *address)
{
  const struct rd_text_value *from = RESOLVE (image, address, 1);
  size_t offset = from ? (size_t) ((const unsigned char *) from - image->at)
                       : 1;
  if (offset % GRANULE != 0)
    return NULL;
  struct rd_text_value **slot = &image->values[offset / GRANULE];
  if (*slot)
    return *slot;
  const char *text = rd_image_text (image, address->at, MAX_NAME);
  size_t n = text ? strlen (text) : 0;
  struct rd_text_value *to = text
    ? rd_image_copy (image, 1, sizeof *to + n + 1) : NULL;
  if (!to)
    return NULL;
  to->nrefs = SIZE_MAX / 2;   /* it is never freed alone */
  to->nbytes = n + 1;
  to->own_key = from->own_key
    ? rd_image_text (image, from->own_key, MAX_NAME) : NULL;
  memcpy (to->at, text, n + 1);
  return *slot = to;
}

/* Checks the slots of a chunk, and replaces addresses in them.  *last is the
 * last span that has been retired, with its number among these. */
static enum radio_status
check_slots (struct image *image, const struct pair *pair,
             union rd_log_slot *slots, size_t nslots, size_t nretired,
             const struct rd_log_span **last, size_t *last_number)
{
  size_t nspans = 0, nspan_slots;
  for (size_t i = 0; i < nslots; i += nspan_slots, nspans++) {
    struct rd_log_span *span = &slots[i].span;
    nspan_slots = rd_span_nslots (span);
    uint32_t number = rd_span_node (span);
    if (nspan_slots > nslots - i || number >= pair->to->nnodes
        || !pair->to->nodes[number]->site
        || !rd_image_is_time (image, span->begin)
        || rd_span_duration (span) >= MAX_TICKS)
      return rd_image_damaged (image, "a span");
    if (i < nretired) {
      *last = span;
      *last_number = nspans;
      continue;
    }
    rd_image_note_time (image, span->begin + rd_span_duration (span));
    if (nspan_slots == 1)
      continue;
    struct rd_log_extra *extra = &slots[i + 1].extra;
    if ((extra->flags & RD_LOG_REMOTE_PARENT)
        && extra->parent_writer >= image->npairs)
      return rd_image_damaged (image, "a span's parent");
    extra->wait = rd_min_u64 (extra->wait, rd_span_duration (span));
    extra->nbytes = rd_min_u64 (extra->nbytes, RD_MAX_VALUE);
    if (extra->flags & RD_LOG_TILE) {
      extra->flags &= ~(uint32_t) RD_LOG_TEXT;
      extra->tile = rd_min_u64 (extra->tile, RD_MAX_VALUE - 1);
    }
    if (!(extra->flags & RD_LOG_TEXT))
      continue;
    struct rd_text_value *value = copy_value (image, extra->text);
    extra->text = value;
    if (value && value->own_key)
      pair->to->texts.nown++;
    else
      extra->flags &= ~(uint32_t) RD_LOG_TEXT;
  }
  return RADIO_OK;
}

/* Runs in the octaves of a node, and the pending one. */
static uint64_t
count_dropped (const struct rd_writer_state *writer,
               const struct rd_node *node)
{
  uint64_t n = writer->pending_node == node;
  for (size_t i = 0; i < RD_NOCTAVES; i++)
    n += node->octaves[i];
  return n;
}

static void
add_extremes (struct rd_node *node, uint64_t duration)
{
  node->min = rd_min_u64 (node->min, duration);
  node->max = rd_max_u64 (node->max, duration);
}

/* Sets the figures that the last run to be retired changes (see log.c). */
static void
complete_retired (const struct pair *pair, const struct rd_log_span *span,
                  size_t number)
{
  struct rd_writer_state *to = pair->to;
  struct rd_node *node = to->nodes[rd_span_node (span)];
  const uint64_t duration = rd_span_duration (span);
  node->octaves[rd_octave_of (to, duration)]
    = pair->from->log.redo[number % 2].noctave % MAX_COUNT;
  node->unlogged = pair->from->log.redo[number % 2].unlogged % MAX_TICKS;
  node->drops = count_dropped (to, node);
  add_extremes (node, duration);
}

static enum radio_status
copy_log (struct image *image, const struct pair *pair)
{
  const struct rd_image_header *header = image->header;
  const struct rd_log *from = &pair->from->log;
  struct rd_log *log = &pair->to->log;
  const size_t chunk_nbytes = header->chunk_slots * sizeof (union rd_log_slot);
  log->retired_until = from->retired_until;
  for (const struct rd_log_chunk *address = from->first, *chunk; address;
       address = chunk->next) {
    chunk = RESOLVE (image, address, 1);
    uint64_t offset = chunk ? (uintptr_t) chunk->slots - header->ring : 1;
    if (offset % chunk_nbytes != 0 || offset / chunk_nbytes >= image->nchunks
        || image->taken[offset / chunk_nbytes])
      return rd_image_damaged (image, "the list of spans");
    image->taken[offset / chunk_nbytes] = true;
    union rd_log_slot *slots
      = (union rd_log_slot *) (image->at + (header->ring - image->base)
                               + offset);
    size_t nslots = chunk->nslots;
    uint64_t used = (uintptr_t) pair->from->log_next
                    - (uintptr_t) chunk->slots;
    if (address == from->last && used <= chunk_nbytes)
      nslots = (size_t) used / sizeof *slots;
    if (nslots > header->chunk_slots || chunk->nretired > nslots)
      return rd_image_damaged (image, "a list of spans");
    const struct rd_log_span *last = NULL;
    size_t last_number = 0;
    RD_TRY (check_slots (image, pair, slots, nslots, chunk->nretired, &last,
                         &last_number));
    if (last)
      complete_retired (pair, last, last_number);
    struct rd_log_chunk *copy = rd_image_copy (image, 1, sizeof *copy);
    if (!copy)
      return rd_image_damaged (image, "the list of spans");
    *copy = (struct rd_log_chunk) {
      .slots = slots + chunk->nretired, .nslots = nslots - chunk->nretired
    };
    if (log->last)
      log->last->next = copy;
    else
      log->first = copy;
    log->last = copy;
    log->nchunks++;
    pair->to->log_next = pair->to->log_end = copy->slots + copy->nslots;
  }
  return RADIO_OK;
}

/* The last run that is not in the log counts if the node's drops do. */
static void
complete_pending (const struct image *image, const struct pair *pair)
{
  struct rd_writer_state *to = pair->to;
  struct rd_node *node = rd_image_own_node (image, pair,
                                        pair->from->pending_node);
  uint64_t duration = pair->from->pending_duration;
  if (!node || duration >= MAX_TICKS
      || count_dropped (to, node) + 1 > node->drops)
    return;
  to->pending_node = node;
  to->pending_duration = duration;
  node->unlogged = pair->from->pending_unlogged % MAX_TICKS;
  add_extremes (node, duration);
}

/*------------------------------------------------------------------------
 * Texts, samples and threads
 *----------------------------------------------------------------------*/

static enum radio_status
copy_notes (struct image *image, const struct pair *pair)
{
  const struct rd_texts *from = &pair->from->texts;
  struct rd_texts *texts = &pair->to->texts;
  const struct rd_log_text *at = RESOLVE (image, from->at, from->n);
  size_t n = at && from->n <= MAX_ITEMS ? from->n : 0;
  texts->at = rd_image_copy (image, n, sizeof *at);
  if (!texts->at)
    return rd_image_damaged (image, "texts");
  texts->capacity = n;
  texts->dropped_count = from->dropped_count % MAX_COUNT;
  for (size_t i = 0; i < n; i++) {
    struct rd_log_text text = at[i];
    text.key = rd_image_text (image, text.key, MAX_NAME);
    text.value = text.key ? copy_value (image, text.value) : NULL;
    if (text.value)
      texts->at[texts->n++] = text;
  }

  const struct rd_samples *of = &pair->from->samples;
  struct rd_samples *samples = &pair->to->samples;
  const struct rd_gauge *gauges = RESOLVE (image, of->gauges.at, of->gauges.n);
  const struct rd_log_sample *values = RESOLVE (image, of->at, of->n);
  size_t ngauges = gauges && of->gauges.n <= MAX_ITEMS ? of->gauges.n : 0;
  n = values && of->n <= MAX_ITEMS ? of->n : 0;
  samples->gauges.at = rd_image_copy (image, ngauges, sizeof *gauges);
  samples->at = rd_image_copy (image, n, sizeof *values);
  if (!samples->gauges.at || !samples->at)
    return rd_image_damaged (image, "samples");
  samples->capacity = n;
  samples->dropped_count = of->dropped_count % MAX_COUNT;
  samples->gauges.n = samples->gauges.capacity = ngauges;
  for (size_t i = 0; i < ngauges; i++) {
    samples->gauges.at[i] = gauges[i];
    if (!rd_image_counter (image, &samples->gauges.at[i].kept))
      return rd_image_damaged (image, "a gauge's name");
  }
  for (size_t i = 0; i < n; i++)
    if (values[i].gauge < ngauges && rd_image_is_time (image, values[i].time))
      samples->at[samples->n++] = values[i];

  const struct rd_session *sessions
    = RESOLVE (image, pair->from->sessions.at, pair->from->sessions.n);
  n = sessions && pair->from->sessions.n <= MAX_ITEMS
      ? pair->from->sessions.n : 0;
  pair->to->sessions.at = rd_image_copy (image, n, sizeof *sessions);
  if (!pair->to->sessions.at)
    return rd_image_damaged (image, "threads");
  pair->to->sessions.n = pair->to->sessions.capacity = n;
  for (size_t i = 0; i < n; i++) {
    struct rd_session *session = &pair->to->sessions.at[i];
    *session = sessions[i];
    session->is_named = rd_image_bool (&sessions[i].is_named);
    session->name[sizeof session->name - 1] = '\0';
  }
  return RADIO_OK;
}

enum radio_status
rd_image_copy_log (struct image *image, const struct pair *pair)
{
  RD_TRY (copy_log (image, pair));
  complete_pending (image, pair);
  return copy_notes (image, pair);
}
