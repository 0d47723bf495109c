/* SPDX-License-Identifier: MIT */
/* A recorder out of an image: of a process that was killed, or of a copy.
 *
 * The image is foreign data.  Each address in it becomes an offset, which is
 * checked, and all but the slots of the log and names is copied, so that no
 * structure can change after it was checked.  In slots, and there alone,
 * addresses of texts are replaced in place; no name may be within the ring.
 *
 * The thread of a writer ended between two stores.  The writer's order of
 * stores makes all before them complete (rd_commit); what is incomplete is
 * known from the writer: a run that is not committed is not counted, a change
 * that is noted is completed. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "profiler/model/profile.h"
#include "profiler/record/frame.h"
#include "profiler/record/log.h"
#include "profiler/record/recorder.h"
#include "profiler/record/recover/recover.h"
#include "profiler/record/shared.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/* The clocks of CPUs may differ by as much. */
#define MARGIN_NS 100000

/*------------------------------------------------------------------------
 * Open scopes
 *----------------------------------------------------------------------*/

/* The shared of a cover; NULL: none, or no memory. */
static struct rd_shared *
share (struct image *image, const struct rd_cover *address, bool is_child)
{
  const struct rd_cover *from = RESOLVE (image, address, 1);
  struct made_shared *made = NULL;
  if (!address || !from || from->writer >= image->npairs)
    return NULL;
  for (size_t i = 0; i < image->shareds.n && !made; i++)
    if (image->shareds.at[i].from == from)
      made = &image->shareds.at[i];
  if (!made) {
    struct rd_shared *shared = calloc (1, sizeof *shared);
    made = shared ? rd_vector_add (NULL, &image->shareds, SIZE_MAX) : NULL;
    if (!made) {
      free (shared);
      return NULL;
    }
    *made = (struct made_shared) { from, shared, 0 };
    rd_recorder_ref (image->recorder);
    shared->recorder = image->recorder;
    shared->cover = &shared->own;
    shared->own = *from;
    shared->own.ended = rd_image_bool (&from->ended);
    if (!rd_image_is_time (image, from->latest))
      shared->own.latest = 0;
    else
      rd_image_note_time (image, from->latest);
    atomic_init (&shared->nrefs, 1);    /* of the list */
    pthread_mutex_init (&shared->mutex, NULL);
  }
  made->nchildren += is_child;
  if (made->shared->own.nactive < made->nchildren)
    made->shared->own.nactive = made->nchildren;
  return rd_shared_ref (made->shared);
}

/* True if the innermost frame of a writer that was changing is on the stack,
 * but did not get its begin: it has that of the run before. */
static bool
is_unbegun (const struct rd_frame *frame, const struct pair *pair)
{
  return atomic_load_explicit (&pair->from->busy, memory_order_relaxed) != 0
         && (frame->begin < (frame - 1)->begin
             || (frame->covered == 0
                 && frame->begin < pair->from->last_end));
}

bool
rd_image_depth (const struct image *image, const struct pair *pair,
                size_t *depth)
{
  uint64_t frames = (uint64_t) ((const unsigned char *) pair->from->frames
                                - image->at) + image->base;
  uint64_t nbytes = (uintptr_t) pair->from->top - frames;
  *depth = (size_t) (nbytes / sizeof *pair->from->frames);
  return nbytes % sizeof *pair->from->frames == 0
         && nbytes / sizeof *pair->from->frames <= RD_MAX_DEPTH;
}

static enum radio_status
copy_frames (struct image *image, const struct pair *pair)
{
  const struct rd_writer_state *from = pair->from;
  struct rd_writer_state *to = pair->to;
  size_t depth;
  if (!rd_image_depth (image, pair, &depth))
    return rd_image_damaged (image, "the open scopes");
  for (size_t i = 1; i <= depth; i++) {
    struct rd_frame *frame = &to->frames[i];
    const struct rd_frame *old = &from->frames[i];
    struct rd_node *node = rd_image_own_node (image, pair, old->node);
    if (!node || !rd_image_is_time (image, old->begin)
        || old->covered >= MAX_TICKS || old->elsewhere > old->covered)
      return rd_image_damaged (image, "an open scope");
    *frame = (struct rd_frame) {
      .node = node, .begin = old->begin, .covered = old->covered,
      .id = old->id, .fenced = true,
      .special = RD_FRAME_SPECIAL
                 | (old->special & (RD_FRAME_BLOCKING | RD_FRAME_RUNNING)),
    };
    to->top = frame;
    if (i == depth && is_unbegun (frame, pair)) {
      to->top = frame - 1;
      *frame = (struct rd_frame) { .node = NULL };
      break;
    }
    rd_image_note_time (image, frame->begin);
    if (!(old->special))
      continue;
    frame->received = rd_image_bool (&old->received);
    frame->flags = old->flags & RD_LOG_TILE;
    frame->tile = old->tile;
    frame->stored_nbytes = old->stored_nbytes;
    if (old->bytes.nslots <= RD_NSLOTS)
      frame->bytes = old->bytes;
    frame->elsewhere = old->elsewhere;
    frame->submitted = rd_image_is_time (image, old->submitted)
                       ? old->submitted : 0;
    frame->starved = rd_min_u64 (old->starved, MAX_TICKS);
    frame->slept = rd_min_u64 (old->slept, MAX_TICKS);
    frame->shared = share (image, old->cover, false);
    frame->via = share (image, old->via_cover, true);
    frame->cover = frame->shared ? frame->shared->cover : NULL;
    frame->via_cover = frame->via ? frame->via->cover : NULL;
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Writers and the recorder
 *----------------------------------------------------------------------*/

/* Sets the pairs, by number: each writer is older than the one before. */
static enum radio_status
find_writers (struct image *image)
{
  const struct rd_writer_state *address = image->header->writers;
  const struct rd_writer_state *writer = RESOLVE (image, address, 1);
  if (!address)
    return RADIO_OK;
  size_t n = writer && writer->number < MAX_WRITERS ? writer->number + 1 : 0;
  image->pairs = calloc (n ? n : 1, sizeof *image->pairs);
  if (!image->pairs)
    return rd_fail_memory (n * sizeof *image->pairs);
  for (size_t i = n; i > 0; i--) {
    if (!writer || writer->number != i - 1)
      return rd_image_damaged (image, "the list of threads");
    image->pairs[i - 1].from = writer;
    address = writer->older;
    writer = RESOLVE (image, address, 1);
  }
  if (n == 0 || address)
    return rd_image_damaged (image, "the list of threads");
  image->npairs = n;
  return RADIO_OK;
}

/* Spans are between the start and the last sign of anything, unless the clock
 * went back. */
static void
set_limits (struct image *image)
{
  const struct rd_image_header *header = image->header;
  const struct rd_anchor *beat = rd_image_last_beat (header);
  image->margin = rd_rate_ticks (&header->rate, MARGIN_NS);
  image->has_limits = true;
  if (beat && rd_image_is_time (image, beat->ticks))
    rd_image_note_time (image, beat->ticks);
  for (size_t i = 0; i < image->npairs; i++) {
    const struct rd_writer_state *to = image->pairs[i].to;
    image->has_limits &= (int64_t) (to->last_end - to->first_begin) >= 0
                         && (to->first_begin == 0
                             || (int64_t) (to->first_begin
                                           - header->start.ticks) >= 0);
  }
}

static enum radio_status
make_writers (struct image *image)
{
  struct radio_recorder *recorder = image->recorder;
  const double most_ns = rd_rate_ns_per_tick (&image->header->rate)
                         * (double) MAX_TICKS;
  for (size_t i = 0; i < image->npairs; i++) {
    struct pair *pair = &image->pairs[i];
    pair->to = rd_recorder_take_writer (recorder);
    if (!pair->to)
      return rd_fail_memory (sizeof *pair->to);
    rd_recorder_unref (recorder);       /* the writer's reference */
    struct rd_writer_state *to = pair->to;
    const struct rd_writer_state *from = pair->from;
    /* It may not be written, nor read the clocks of its thread. */
    atomic_store (&to->attention, RD_ATTEND_STOPPED | RD_ATTEND_CLOCK);
    to->long_own = INT64_MAX;
    to->next_id = from->next_id;
    to->frames[0].id = from->frames[0].id;
    to->first = from->first;
    to->last = from->last;
    to->naway = from->naway % MAX_COUNT;
    to->away = from->away % MAX_TICKS;
    to->away_since = rd_image_is_time (image, from->away_since)
                     ? from->away_since : 0;
    to->nleft = from->nleft % MAX_COUNT;
    to->waited = from->waited;
    to->queue.ns = from->queue.ns;
    to->queue.nsleeps = from->queue.nsleeps;
    to->cpu.fresh_until = from->cpu.fresh_until;
    to->cpu.above = from->cpu.above;
    to->cpu.least_wait = from->cpu.least_wait;
    if ((double) from->observed.cpu_ns < most_ns
        && (double) from->observed.starved_ns < most_ns
        && (from->observed.until == 0
            || rd_image_is_time (image, from->observed.until)))
      to->observed = from->observed;
    to->noutside = from->noutside % MAX_COUNT;
    to->ninterrupting = from->ninterrupting % MAX_COUNT;
    if (from->first_begin != 0 && rd_image_is_time (image, from->first_begin))
      to->first_begin = from->first_begin;
    if (to->first_begin != 0 && rd_image_is_time (image, from->last_end)) {
      to->last_end = from->last_end;
      rd_image_note_time (image, to->last_end);
    }
    if (image->header->async_writer
        && RESOLVE (image, image->header->async_writer, 1) == from)
      recorder->synced.async_writer = to;
  }
  set_limits (image);
  RD_TRY (rd_image_copy_trees (image));
  for (size_t i = 0; i < image->npairs; i++)
    RD_TRY (rd_image_copy_log (image, &image->pairs[i]));
  for (size_t i = 0; i < image->npairs; i++)
    RD_TRY (copy_frames (image, &image->pairs[i]));
  return RADIO_OK;
}

static uint64_t
copy_number (uint64_t number)
{
  return rd_min_u64 (number, INT64_MAX);
}

static struct rd_usage
copy_usage (const struct rd_usage *from)
{
  return (struct rd_usage) {
    .is_known = rd_image_bool (&from->is_known),
    .nminor_faults = copy_number (from->nminor_faults),
    .nmajor_faults = copy_number (from->nmajor_faults),
    .block_input_nbytes = copy_number (from->block_input_nbytes),
    .machine_ns = copy_number (from->machine_ns),
    .steal_ns = copy_number (from->steal_ns),
    .throttled_ns = copy_number (from->throttled_ns),
    .disk_wait_ns = copy_number (from->disk_wait_ns),
    .is_pressure_known = rd_image_bool (&from->is_pressure_known),
    .disk_pressure_ns = copy_number (from->disk_pressure_ns),
    .block_output_nbytes = copy_number (from->block_output_nbytes),
    .resident_nbytes = copy_number (from->resident_nbytes),
  };
}

static enum radio_status
copy_facts (struct image *image)
{
  const struct rd_image_header *header = image->header;
  struct radio_recorder *recorder = image->recorder;
  const char *title = header->title
    ? rd_image_text (image, header->title, MAX_FACT) : NULL;
  const struct rd_recorder_fact *facts
    = RESOLVE (image, header->facts, header->nfacts);
  size_t n = facts && header->nfacts <= MAX_ITEMS ? header->nfacts : 0;
  recorder->synced.facts.at = rd_image_copy (image, n, sizeof *facts);
  struct rd_origin *origin = rd_image_copy (image, 1, sizeof *origin);
  if (!recorder->synced.facts.at || !origin)
    return rd_image_damaged (image, "facts");
  recorder->synced.facts.capacity = n;
  for (size_t i = 0; i < n; i++) {
    struct rd_recorder_fact fact = facts[i];
    fact.key = (char *) rd_image_text (image, fact.key, MAX_NAME);
    fact.value = (char *) rd_image_text (image, fact.value, MAX_FACT);
    if (fact.key && fact.value)
      recorder->synced.facts.at[recorder->synced.facts.n++] = fact;
  }
  *origin = header->origin;
  origin->cpu_model[sizeof origin->cpu_model - 1] = '\0';
  origin->host[sizeof origin->host - 1] = '\0';
  origin->program[sizeof origin->program - 1] = '\0';
  origin->clock[sizeof origin->clock - 1] = '\0';
  origin->command[sizeof origin->command - 1] = '\0';
  recorder->origin = origin;
  recorder->title = (char *) title;
  recorder->started_unix_ns = header->started_unix_ns;
  recorder->synced.nrefused = header->nrefused % MAX_COUNT;
  recorder->own_cpu_ns = copy_number (header->own_cpu_ns);
  recorder->usage = copy_usage (&header->used);
  recorder->start = recorder->stop = header->start;
  if (header->scope_cost_ns > 0 && header->scope_cost_ns < 1e9)
    recorder->scope_cost_ns = header->scope_cost_ns;
  return RADIO_OK;
}

/* Runs that were lost as they ended may have left children: their time is
 * their parents' at least.  Nothing is negative. */
static void
repair_sums (struct rd_writer_state *writer)
{
  for (size_t i = writer->nnodes; i-- > 1;) {
    struct rd_node *node = writer->nodes[i];
    if (!node->site)
      continue;
    if ((int64_t) node->self < 0) {
      uint64_t missing = -node->self;
      node->self = 0;
      node->total += missing;
      node->max = rd_max_u64 (node->max, node->calls == 1 ? node->total : 0);
      if (node->edge == RADIO_EDGE_CALL)
        node->parent->self -= missing;
    }
    uint64_t own = node->self + node->own_above_self;
    own = (int64_t) own < 0 ? 0 : own;
    node->own_above_self = own - node->self;
    node->wait = rd_min_u64 (node->wait, own);
    node->work = own - node->wait;
    node->starved = rd_min_u64 (node->starved, node->work);
    node->opens = rd_min_u64 (node->opens, node->calls);
    node->lates = rd_min_u64 (node->lates, node->calls);
  }
}

static uint64_t
read_time (void *user_data)
{
  const uint64_t *now = user_data;
  return *now;
}

/* Scopes that were open.  No thread has run since its process was stopped, by
 * SIGSTOP or a debugger, which is less than one beat after it was observed. */
static void
observe_open (struct image *image)
{
  bool is_stopped = rd_origin_is_stopped (&image->header->origin);
  uint64_t moment = image->header->observed;
  for (size_t i = 0; i < image->npairs; i++) {
    struct rd_writer_state *to = image->pairs[i].to;
    image->pairs[i].last_event = rd_max_u64 (to->top->begin, to->last_end);
    image->pairs[i].known_until
      = rd_image_is_time (image, moment)
        ? rd_frame_observe (to, moment, image->now, is_stopped)
        : image->pairs[i].last_event;
  }
}

/* Ends the innermost scope of a writer, and notes for how long it is taken to
 * have run though that is not known. */
static void
end_open (struct image *image, struct rd_writer_state *writer)
{
  struct pair *pair = &image->pairs[writer->number];
  const struct rd_frame *frame = writer->top;
  struct rd_node *node = frame->node;
  const uint64_t sequence = rd_frame_sequence (frame);
  const uint64_t off = node->wait + node->starved;
  const uint64_t own = rd_subtract (rd_subtract (image->now, frame->begin),
                                    frame->covered);
  rd_frame_abandon (writer, false, NULL);
  if (pair->open_node)
    return;
  pair->open_node = node;
  pair->open_ran
    = rd_min_u64 (rd_subtract (own, node->wait + node->starved - off),
                  rd_subtract (image->now, pair->known_until));
  /* Its span is the last in the log, with an extra slot. */
  const struct rd_log_chunk *chunk = writer->log.last;
  if (chunk && writer->log_next - chunk->slots >= 2
      && rd_span_sequence (&writer->log_next[-2].span) == sequence)
    pair->open_extra = &writer->log_next[-1].extra;
}

/* The ticks that all threads can have run: the process's CPU time up to its
 * last reading, and all CPUs since then. */
static uint64_t
most_ran (const struct image *image)
{
  const struct radio_recorder *recorder = image->recorder;
  const uint64_t ncpus = image->header->origin.ncpus;
  uint64_t most = UINT64_MAX;
  if (ncpus == 0)
    return most;
  const struct rd_cpu_mark last
    = rd_recorder_nearest_mark (recorder, image->now);
  if (last.cpu_ns > recorder->start.cpu_ns)
    most = rd_add_sat (rd_rate_ticks (&recorder->rate, last.cpu_ns
                                      - recorder->start.cpu_ns),
                       rd_mul_sat (ncpus, rd_subtract (image->now,
                                                       last.ticks)));
  return rd_min_u64 (most,
                     rd_mul_sat (ncpus, rd_subtract (image->now,
                                                     recorder->start.ticks)));
}

/* Open scopes that may have run can together exceed the possible CPU time, if
 * more threads than CPUs are active, or most of them wait: the excess was
 * waiting, in each the same part. */
static void
limit_open (struct image *image)
{
  const struct radio_recorder *recorder = image->recorder;
  const uint64_t most = most_ran (image);
  double ran = 0, open = 0;
  for (size_t i = 0; i < image->npairs; i++) {
    const struct pair *pair = &image->pairs[i];
    const struct rd_writer_state *writer = pair->to;
    for (size_t k = 1; k < writer->nnodes; k++)
      if (writer->nodes[k]->site && writer != recorder->synced.async_writer)
        ran += (double) (writer->nodes[k]->work - writer->nodes[k]->starved);
    if (pair->open_node)
      open += (double) pair->open_ran;
  }
  double excess = ran - (double) most;
  if (excess <= 0 || open <= 0)
    return;
  for (size_t i = 0; i < image->npairs; i++) {
    struct pair *pair = &image->pairs[i];
    struct rd_node *node = pair->open_node;
    if (!node || pair->open_ran == 0)
      continue;
    double part = excess < open ? excess / open : 1;
    uint64_t waited = (uint64_t) (part * (double) pair->open_ran);
    waited = rd_min_u64 (rd_min_u64 (waited, pair->open_ran),
                         rd_subtract (node->work, node->starved));
    node->work -= waited;
    node->wait += waited;
    if (pair->open_extra)
      pair->open_extra->wait += waited;
  }
}

/* Threads may have run up to their last event, and afterwards if their open
 * scope is taken to: on the CPUs that there are. */
static uint64_t
unread_cpu (const struct image *image)
{
  const uint64_t ncpus = image->header->origin.ncpus;
  const struct rd_cpu_mark last
    = rd_recorder_nearest_mark (image->recorder, image->now);
  const uint64_t unread = rd_subtract (image->now, last.ticks);
  uint64_t sum = 0;
  for (size_t i = 0; i < image->npairs; i++) {
    const struct pair *pair = &image->pairs[i];
    uint64_t ran = rd_add_sat (rd_subtract (pair->last_event, last.ticks),
                               pair->open_ran);
    sum = rd_add_sat (sum, rd_min_u64 (ran, unread));
  }
  return ncpus > 0 ? rd_min_u64 (sum, rd_mul_sat (ncpus, unread)) : sum;
}

/* Ends open scopes at the latest known time: the last event, or sign of
 * life. */
static enum radio_status
stop (struct image *image)
{
  struct radio_recorder *recorder = image->recorder;
  const struct rd_anchor *latest = rd_image_last_beat (image->header);
  struct rd_writer_state *youngest;
  uint64_t *now = rd_image_copy (image, 1, sizeof *now);
  if (!now)
    return rd_fail_memory (sizeof *now);
  if (!latest || !rd_image_is_time (image, latest->ticks))
    latest = &recorder->start;
  rd_image_note_time (image, latest->ticks);
  *now = image->now;
  recorder->stop = *latest;
  recorder->clock = (struct rd_clock) {
    .read = read_time, .user_data = now
  };
  for (size_t i = 0; i < image->npairs; i++)
    image->pairs[i].to->clock = recorder->clock;
  observe_open (image);
  while ((youngest = rd_recorder_youngest (recorder)) != NULL)
    end_open (image, youngest);
  recorder->unread_cpu = unread_cpu (image);
  if (!rd_clock_rate_recovered (&image->header->rate, &recorder->start,
                                &recorder->stop, &recorder->rate))
    return rd_image_damaged (image, "the clock");
  for (size_t i = 0; i < image->npairs; i++) {
    struct rd_writer_state *writer = image->pairs[i].to;
    rd_writer_end_away (writer, image->now);
    rd_log_finish (writer);
    rd_tree_finish (writer);
    repair_sums (writer);
  }
  limit_open (image);
  recorder->ring_nbytes = image->header->ring_nbytes;
  return RADIO_OK;
}

static enum radio_status
check_header (const struct image *image)
{
  const struct rd_image_header *header = image->header;
  if (image->nbytes < sizeof *header
      || memcmp (header->magic, RD_IMAGE_MAGIC, sizeof RD_IMAGE_MAGIC) != 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: this is not a ring, or its "
                    "recorder had not begun; use a file that "
                    "RADIO_PROFILE_RING_FILE named", image->where);
  bool is_own = strncmp (header->version, PACKAGE_VERSION,
                         sizeof header->version) == 0;
  if (!rd_image_is_known (header) && is_own)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: this ring is of another kind "
                    "of machine, or another build of radio %s; use the one "
                    "that made it", image->where, PACKAGE_VERSION);
  if (!rd_image_is_known (header))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: this ring is of another "
                    "version of radio (%.32s, this is %s); use that version",
                    image->where, header->version, PACKAGE_VERSION);
  if (header->nbytes > image->nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: this ring is cut (it has %zu of "
                    "%llu bytes); use a whole copy", image->where,
                    image->nbytes, (unsigned long long) header->nbytes);
  uint64_t ring = header->ring - header->base;
  if (header->base % 4096 != 0 || ring != RD_ARENA_HEADER_NBYTES
      || header->ring_nbytes > image->nbytes - ring
      || header->chunk_slots == 0
      || header->chunk_slots
         > header->ring_nbytes / sizeof (union rd_log_slot)
      || !rd_clock_rate_recovered (&header->rate, &header->start,
                                   &header->start, NULL))
    return rd_image_damaged (image, "its header");
  return RADIO_OK;
}

/* Adds facts about damage of the log. */
static enum radio_status
add_damage (const struct image *image)
{
  static const struct {
    unsigned fault;
    const char *text;
  } texts[] = {
    { RD_FAULT_LIST, "a list of spans is damaged" },
    { RD_FAULT_SPAN, "a span is not as it was written" },
    { RD_FAULT_ORDER, "a span ends before the one before it" },
  };
  char reasons[256] = "", number[24];
  size_t n = 0;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    if (image->faults & texts[i].fault)
      n += (size_t) snprintf (reasons + n, sizeof reasons - n, "%s%s",
                              n > 0 ? "; " : "", texts[i].text);
  if (n == 0)
    return RADIO_OK;
  snprintf (number, sizeof number, "%" PRIu64, image->nlost);
  RD_TRY (radio_recorder_fact (image->recorder, RD_FACT_DAMAGE, reasons,
                               RADIO_TEXT_PLAIN));
  return radio_recorder_fact (image->recorder, RD_FACT_DAMAGED, number,
                              RADIO_TEXT_PLAIN);
}

static void
cleanup_image (struct image *image)
{
  for (size_t i = 0; i < image->npairs; i++) {
    struct rd_writer_state *writer = image->pairs[i].to;
    for (; writer && writer->top > writer->frames; writer->top--) {
      rd_shared_unref (writer->top->shared);
      rd_shared_unref (writer->top->via);
    }
  }
  for (size_t i = 0; i < image->shareds.n; i++)
    rd_shared_unref (image->shareds.at[i].shared);
  free (image->shareds.at);
  free (image->values);
  free (image->taken);
  free (image->pairs);
  if (image->recorder)
    rd_recorder_unref (image->recorder);
}

enum radio_status
rd_recover (unsigned char *bytes, size_t nbytes, const char *where,
            struct radio_recorder **recorder)
{
  static const struct rd_clock clock = { .read = read_time };
  RD_CLEANUP (cleanup_image) struct image image = {
    .at = bytes, .nbytes = nbytes, .where = where,
    .header = (const struct rd_image_header *) bytes,
    .budget = 64 + 8 * (uint64_t) nbytes,
  };
  *recorder = NULL;
  RD_TRY (check_header (&image));
  image.base = image.header->base;
  image.nchunks = image.header->ring_nbytes / sizeof (union rd_log_slot)
                  / image.header->chunk_slots;
  image.taken = calloc (image.nchunks, sizeof *image.taken);
  image.values = calloc (nbytes / GRANULE + 1, sizeof *image.values);
  if (!image.taken || !image.values)
    return rd_fail_memory (nbytes);
  RD_TRY (find_writers (&image));

  /* Room in the log for scopes that were open. */
  image.recorder = rd_recorder_alone (&clock, 4096 * (image.npairs + 16));
  if (!image.recorder)
    return rd_fail_memory (4096 * (image.npairs + 16));
  image.recorder->rate = image.header->rate;
  image.now = image.header->start.ticks;
  RD_TRY (rd_arena_new (4096, NULL, &image.recorder->arena));
  RD_TRY (copy_facts (&image));
  RD_TRY (make_writers (&image));
  RD_TRY (add_damage (&image));
  RD_TRY (stop (&image));
  *recorder = RD_STEAL (image.recorder);
  return RADIO_OK;
}
