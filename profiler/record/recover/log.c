/* SPDX-License-Identifier: MIT */
/* The logs of an image, with texts, samples and sessions.  The figures of the
 * last run are completed here. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "profiler/record/collect.h"
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

/* Replaces the addresses in the slots of a sound span. */
static void
complete_extra (struct image *image, const struct pair *pair,
                struct rd_log_extra *extra)
{
  extra->nbytes = rd_min_u64 (extra->nbytes, RD_MAX_VALUE);
  if (extra->flags & RD_LOG_TILE) {
    extra->flags &= ~(uint32_t) RD_LOG_TEXT;
    extra->tile = rd_min_u64 (extra->tile, RD_MAX_VALUE - 1);
  }
  if (!(extra->flags & RD_LOG_TEXT))
    return;
  struct rd_text_value *value = copy_value (image, extra->text);
  extra->text = value;
  if (value && value->own_key)
    pair->to->texts.nown++;
  else
    extra->flags &= ~(uint32_t) RD_LOG_TEXT;
}

/* Moves the sound spans among the first nslots slots of a chunk to its front,
 * and counts these as its slots.  After a damaged one the next may begin with
 * any slot. */
static enum radio_status
keep_sound_spans (struct image *image, const struct pair *pair,
                  struct rd_ids *known, struct rd_log_chunk *chunk,
                  size_t nslots)
{
  chunk->nslots = 0;
  for (size_t i = 0, n; i < nslots; i += n) {
    union rd_log_slot *slot = &chunk->slots[i];
    uint32_t id;
    n = rd_span_nslots (&slot->span);
    if (!rd_image_is_span (image, pair, slot, nslots - i)
        || rd_ids_find (known, 0, rd_span_sequence (&slot->span)) != 0) {
      image->faults |= RD_FAULT_SPAN;
      n = 1;
      continue;
    }
    RD_TRY (rd_ids_give (known, 0, rd_span_sequence (&slot->span), &id));
    if (n > 1)
      complete_extra (image, pair, &slot[1].extra);
    memmove (&chunk->slots[chunk->nslots], slot, n * sizeof *slot);
    chunk->nslots += n;
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

/* The sequences that no span has, since their scopes are open. */
static enum radio_status
give_open (const struct image *image, const struct pair *pair,
           struct rd_ids *known)
{
  size_t depth;
  uint32_t id;
  if (!rd_image_depth (image, pair, &depth))
    return RADIO_OK;
  for (size_t i = 1; i <= depth; i++)
    RD_TRY (rd_ids_give (known, 0, rd_frame_sequence (&pair->from->frames[i]),
                         &id));
  return RADIO_OK;
}

/* The slots of a chunk, which no log had before, and their number.  NULL: the
 * chunk is not one of the ring. */
static union rd_log_slot *
take_chunk (struct image *image, const struct pair *pair,
            const struct rd_log_chunk *chunk, bool is_last, size_t *nslots)
{
  const struct rd_image_header *header = image->header;
  const size_t chunk_nbytes = header->chunk_slots * sizeof (union rd_log_slot);
  uint64_t offset = (uintptr_t) chunk->slots - header->ring;
  if (offset % chunk_nbytes != 0 || offset / chunk_nbytes >= image->nchunks
      || image->taken[offset / chunk_nbytes])
    return NULL;
  image->taken[offset / chunk_nbytes] = true;
  *nslots = chunk->nslots;
  uint64_t used = (uintptr_t) pair->from->log_next
                  - (uintptr_t) chunk->slots;
  if (is_last && used <= chunk_nbytes)
    *nslots = (size_t) used / sizeof *chunk->slots;
  if (*nslots > header->chunk_slots)
    return NULL;
  return (union rd_log_slot *) (image->at + (header->ring - image->base)
                                + offset);
}

/* A list of chunks that is damaged ends there. */
static enum radio_status
copy_chunks (struct image *image, const struct pair *pair,
             struct rd_ids *known)
{
  const struct rd_log *from = &pair->from->log;
  struct rd_log *log = &pair->to->log;
  RD_TRY (give_open (image, pair, known));
  for (const struct rd_log_chunk *address = from->first, *chunk; address;
       address = chunk->next) {
    size_t nslots = 0;
    chunk = RESOLVE (image, address, 1);
    union rd_log_slot *slots = chunk
      ? take_chunk (image, pair, chunk, address == from->last, &nslots)
      : NULL;
    if (!slots) {
      image->faults |= RD_FAULT_LIST;
      return RADIO_OK;
    }
    struct rd_log_chunk *copy = rd_image_copy (image, 1, sizeof *copy);
    if (!copy)
      return rd_image_damaged (image, "the list of spans");
    *copy = (struct rd_log_chunk) { .slots = slots };
    RD_TRY (keep_sound_spans (image, pair, known, copy, nslots));
    if (log->last)
      log->last->next = copy;
    else
      log->first = copy;
    log->last = copy;
    log->nchunks++;
  }
  return RADIO_OK;
}

static enum radio_status
copy_log (struct image *image, const struct pair *pair)
{
  RD_IDS_SCOPE struct rd_ids known;
  pair->to->log.retired_until = pair->from->log.retired_until;
  RD_TRY (rd_ids_init (&known, 1));
  return copy_chunks (image, pair, &known);
}

/* The last run counts if the node's drops do. */
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
  const unsigned before = image->faults;
  image->faults = 0;
  RD_TRY (copy_log (image, pair));
  complete_pending (image, pair);
  RD_TRY (rd_image_check_spans (image, pair));
  image->faults |= before;
  return copy_notes (image, pair);
}
