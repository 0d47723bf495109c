/* SPDX-License-Identifier: MIT */
/* Texts of spans and of nodes, and samples of gauges, thinned out as they
 * become many. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/text.h"
#include "profiler/record/notes.h"

/* Limits of a writer: texts of its spans, bytes of their values, and samples
 * (768 KiB). */
#define MAX_TEXTS 65536
#define MAX_NBYTES ((size_t) 8 << 20)
#define MAX_SAMPLES 32768

/* Keys of one node, and bytes of one value. */
#define MAX_NOTES 16
#define MAX_VALUE 1024

/* Places to search for the last value of a key. */
#define NPROBES 4

_Static_assert (RD_NRECENT == 1 << 5, "find_recent hashes to 5 bits");

/*------------------------------------------------------------------------
 * Notes of nodes
 *----------------------------------------------------------------------*/

/* The length of a value, cut at a whole character of UTF-8. */
static size_t
cut_length (const char *value)
{
  size_t n = strnlen (value, MAX_VALUE + 1);
  return n > MAX_VALUE ? rd_utf8_cut (value, MAX_VALUE) : n;
}

/* True if a copy of n bytes is of this value, which may have been cut. */
static bool
is_copy (const char *copy, size_t n, const char *value)
{
  return strncmp (copy, value, n) == 0
         && (value[n] == '\0' || n > MAX_VALUE - 4);
}

/* Notes the node's first text of each key, which is of rd_names_keep.  False
 * if it was not kept. */
static bool
add_note (struct rd_node *node, const char *key, enum radio_text_kind kind,
          const char *value)
{
  struct rd_text_note *old = NULL;
  for (size_t i = 0; i < node->nnotes && !old; i++)
    if (node->notes[i].key == key)
      old = &node->notes[i];
  if (old) {
    old->varies = old->varies || !is_copy (old->value, old->nbytes, value);
    return true;
  }
  struct rd_arena *arena = node->recorder->arena;
  if (!rd_array_grow (arena, &node->notes, &node->notes_capacity,
                      node->nnotes, MAX_NOTES, sizeof *node->notes))
    return false;
  size_t n = cut_length (value);
  char *copy = rd_arena_strndup (arena, value, n);
  if (!copy)
    return false;
  node->notes[node->nnotes]
    = (struct rd_text_note) { key, copy, n, kind, false };
  rd_commit ();
  node->nnotes++;
  return true;
}

void
rd_node_free_notes (struct rd_node *node)
{
  struct rd_arena *arena = node->recorder->arena;
  for (size_t i = 0; i < node->nnotes; i++)
    rd_arena_release (arena, node->notes[i].value, node->notes[i].nbytes + 1);
  rd_arena_release (arena, node->notes,
                    node->notes_capacity * sizeof *node->notes);
  node->notes = NULL;
  node->nnotes = node->notes_capacity = 0;
}

/*------------------------------------------------------------------------
 * Shared values
 *----------------------------------------------------------------------*/

static struct rd_text_value *
new_value (struct rd_texts *texts, const char *value)
{
  size_t n = cut_length (value);
  struct rd_text_value *new
    = rd_arena_alloc (texts->recorder->arena,
                      _Alignof (struct rd_text_value), sizeof *new + n + 1);
  if (!new)
    return NULL;
  new->nrefs = 1;
  new->own_key = NULL;
  new->nbytes = n + 1;
  memcpy (new->at, value, n);
  new->at[n] = '\0';
  texts->nbytes += new->nbytes;
  return new;
}

static void
unref_value (struct rd_texts *texts, struct rd_text_value *value)
{
  if (!value || --value->nrefs > 0)
    return;
  texts->nbytes -= value->nbytes;
  rd_arena_release (texts->recorder->arena, value,
                    sizeof *value + value->nbytes);
}

/* True if a place is this key's: at this address there may have been the key
 * of a library that was unloaded. */
static bool
is_place_of (const struct rd_text_recent *recent, const char *key)
{
  return recent->key == key && strcmp (recent->name, key) == 0;
}

/* The place of a key's last value, by the address of the key; with several
 * probes, for two keys that alternated in one place would have each text
 * copied.  If all places are taken, the first one, which is another key's. */
static struct rd_text_recent *
find_recent (struct rd_texts *texts, const char *key)
{
  size_t first = ((uint64_t) (uintptr_t) key * UINT64_C (0x9e3779b97f4a7c15))
                 >> (64 - 5);
  for (size_t i = 0; i < NPROBES; i++) {
    struct rd_text_recent *recent
      = &texts->recent[(first + i) % RD_NRECENT];
    if (!recent->key || is_place_of (recent, key))
      return recent;
  }
  return &texts->recent[first];
}

/* The key's name, of rd_names_keep; NULL without memory. */
static const char *
name_of_key (const struct rd_texts *texts,
             const struct rd_text_recent *recent, const char *key)
{
  return recent->key && is_place_of (recent, key)
         ? recent->name
         : rd_names_keep (texts->recorder->names, key);
}

/* Makes the value the last one of the key, in a place that may be another
 * key's.  False without memory. */
static bool
set_recent (struct rd_texts *texts, struct rd_text_recent *recent,
            const char *key, const char *name, const char *value)
{
  struct rd_text_value *last = recent->value;
  if (last && is_copy (last->at, last->nbytes - 1, value)) {
    if (recent->key != key || recent->name != name)
      *recent = (struct rd_text_recent) {
        .key = key, .name = name, .value = last
      };
    return true;
  }
  struct rd_text_value *new = new_value (texts, value);
  if (!new)
    return false;
  unref_value (texts, last);
  *recent = (struct rd_text_recent) {
    .key = key, .name = name, .value = new
  };
  return true;
}

/*------------------------------------------------------------------------
 * Texts of spans
 *----------------------------------------------------------------------*/

static bool
is_at_limit (const struct rd_texts *texts)
{
  return texts->nbytes >= MAX_NBYTES
         || texts->n + texts->nown >= MAX_TEXTS;
}

/* True if the scope of a text has not ended. */
static bool
is_of_open (const struct rd_writer_state *writer,
            const struct rd_log_text *text)
{
  const struct rd_frame *frame = writer->top;
  while (frame > writer->frames && rd_frame_sequence (frame) > text->sequence)
    frame--;
  return frame > writer->frames && rd_frame_sequence (frame) == text->sequence;
}

/* Drops the older half of a ring's texts, except those of open scopes: most of
 * their spans are not in the ring any more. */
static void
drop_oldest (struct rd_texts *texts)
{
  size_t n = 0, nold = texts->n / 2;
  for (size_t i = 0; i < texts->n; i++)
    if (i >= nold || is_of_open (texts->ring, &texts->at[i]))
      texts->at[n++] = texts->at[i];
    else
      unref_value (texts, texts->at[i].value);
  texts->n = n;
}

/* The same, where there was no room. */
static bool
is_full (struct rd_texts *texts)
{
  if (is_at_limit (texts) && texts->ring)
    drop_oldest (texts);
  return is_at_limit (texts);
}

/* Appends a text; there is room. */
static inline void
append_text (struct rd_texts *texts, const struct rd_log_text *text,
             const char *name, struct rd_text_value *value)
{
  struct rd_log_text *own = &texts->at[texts->n];
  own->sequence = text->sequence;
  own->kind = text->kind;
  own->key = name;
  own->value = value;
  value->nrefs++;
  rd_commit ();
  texts->n++;
}

static __attribute__ ((__noinline__)) void
add_new_text (struct rd_texts *texts, struct rd_node *node, bool logs,
              const struct rd_log_text *text, const char *value)
{
  struct rd_text_recent *recent = find_recent (texts, text->key);
  const char *name = name_of_key (texts, recent, text->key);
  if (!name) {
    texts->dropped_count++;
    return;
  }
  bool noted = add_note (node, name, text->kind, value);
  bool kept = !logs
              || (!is_full (texts)
                  && rd_array_grow (texts->recorder->arena, &texts->at,
                                    &texts->capacity, texts->n, MAX_TEXTS,
                                    sizeof *texts->at)
                  && set_recent (texts, recent, text->key, name, value));
  if (logs && kept)
    append_text (texts, text, name, recent->value);
  if (!noted || !kept)
    texts->dropped_count++;
  else if (logs)
    recent->node = node;
}

/* The value is mostly that of the node's span before: then it is compared
 * once, and the node's note not at all.  The value's address proves nothing:
 * it may be a buffer on the caller's stack. */
void
rd_texts_add (struct rd_texts *texts,
              struct rd_node *node,
              bool logs,
              const struct rd_log_text *text,
              const char *value)
{
  const struct rd_text_recent *recent = find_recent (texts, text->key);
  if (recent->node != node || !is_place_of (recent, text->key)
      || texts->n == texts->capacity || is_at_limit (texts)
      || !is_copy (recent->value->at, recent->value->nbytes - 1, value))
    add_new_text (texts, node, logs, text, value);
  else
    append_text (texts, text, recent->name, recent->value);
}

/* Makes the key's last value one that spans of this key hold; one that spans
 * of another key hold already is copied.  False without memory. */
static bool
set_recent_own (struct rd_texts *texts, struct rd_text_recent *recent,
                const char *key, const char *name, const char *value)
{
  if (!set_recent (texts, recent, key, name, value))
    return false;
  if (recent->value->own_key == name)
    return true;
  if (recent->value->own_key) {
    struct rd_text_value *copy = new_value (texts, recent->value->at);
    if (!copy)
      return false;
    unref_value (texts, recent->value);
    recent->value = copy;
  }
  recent->value->own_key = name;
  return true;
}

static __attribute__ ((__noinline__)) const struct rd_text_value *
own_new_text (struct rd_texts *texts, struct rd_node *node, const char *key,
              const char *value)
{
  struct rd_text_recent *recent = find_recent (texts, key);
  const char *name = name_of_key (texts, recent, key);
  bool noted = name && add_note (node, name, RADIO_TEXT_NAME, value);
  bool kept = name && !is_full (texts)
              && set_recent_own (texts, recent, key, name, value);
  if (!noted || !kept)
    texts->dropped_count++;
  else
    recent->node = node;
  if (!kept)
    return NULL;
  texts->nown++;
  recent->value->nrefs++;
  return recent->value;
}

const struct rd_text_value *
rd_texts_own (struct rd_texts *texts, struct rd_node *node, const char *key,
              const char *value)
{
  const struct rd_text_recent *recent = find_recent (texts, key);
  if (recent->node != node || !is_place_of (recent, key)
      || is_at_limit (texts) || recent->value->own_key != recent->name
      || !is_copy (recent->value->at, recent->value->nbytes - 1, value))
    return own_new_text (texts, node, key, value);
  texts->nown++;
  recent->value->nrefs++;
  return recent->value;
}

void
rd_texts_disown (struct rd_texts *texts, const struct rd_text_value *value)
{
  texts->nown--;
  unref_value (texts, (struct rd_text_value *) value);
}

void
rd_texts_free (struct rd_texts *texts)
{
  for (size_t i = 0; i < texts->n; i++)
    unref_value (texts, texts->at[i].value);
  for (size_t i = 0; i < RD_NRECENT; i++)
    unref_value (texts, texts->recent[i].value);
  rd_arena_release (texts->recorder->arena, texts->at,
                    texts->capacity * sizeof *texts->at);
  *texts = (struct rd_texts) { .recorder = texts->recorder };
}

/*------------------------------------------------------------------------
 * Texts of spans that the log does not keep
 *----------------------------------------------------------------------*/

static void
drop_text (struct rd_texts *texts, struct rd_log_text *text)
{
  unref_value (texts, text->value);
  text->value = NULL;
}

void
rd_texts_drop_last (struct rd_texts *texts, uint64_t sequence)
{
  while (texts->n > 0 && texts->at[texts->n - 1].sequence == sequence)
    drop_text (texts, &texts->at[--texts->n]);
}

static int
compare_sequences (const void *a, const void *b)
{
  const struct rd_log_text *x = *(struct rd_log_text *const *) a;
  const struct rd_log_text *y = *(struct rd_log_text *const *) b;
  return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

void
rd_text_sweep_begin (struct rd_text_sweep *sweep, struct rd_texts *texts)
{
  *sweep = (struct rd_text_sweep) { .texts = texts };
  if (texts->n == 0)
    return;
  sweep->at = malloc (texts->n * sizeof *sweep->at);
  if (!sweep->at)
    return;
  sweep->n = texts->n;
  for (size_t i = 0; i < texts->n; i++)
    sweep->at[i] = &texts->at[i];
  qsort (sweep->at, sweep->n, sizeof *sweep->at, compare_sequences);
}

/* From the place of the span before it is mostly one step; back over a text
 * only for each scope around it. */
void
rd_text_sweep_drop (struct rd_text_sweep *sweep, uint64_t sequence)
{
  size_t i = sweep->next;
  while (i > 0 && sweep->at[i - 1]->sequence >= sequence)
    i--;
  while (i < sweep->n && sweep->at[i]->sequence < sequence)
    i++;
  for (; i < sweep->n && sweep->at[i]->sequence == sequence; i++)
    drop_text (sweep->texts, sweep->at[i]);
  sweep->next = i;
}

void
rd_text_sweep_end (struct rd_text_sweep *sweep)
{
  struct rd_texts *texts = sweep->texts;
  size_t n = 0;
  for (size_t i = 0; i < texts->n; i++)
    if (texts->at[i].value)
      texts->at[n++] = texts->at[i];
  texts->n = n;
  free (sweep->at);
}

/*------------------------------------------------------------------------
 * Samples
 *----------------------------------------------------------------------*/

/* The number of the time slot, as long as the spacing, that has this time. */
static uint64_t
slot_of_time (const struct rd_samples *samples, uint64_t time)
{
  return samples->spacing ? time / samples->spacing : time;
}

/* The sample of the same gauge in the same slot, among the first n, which
 * are in the order of their slots; or NULL. */
static struct rd_log_sample *
find_in_slot (const struct rd_samples *samples, size_t n,
              const struct rd_log_sample *sample)
{
  uint64_t slot = slot_of_time (samples, sample->time);
  for (size_t i = n; i > 0; i--) {
    struct rd_log_sample *other = &samples->at[i - 1];
    if (slot_of_time (samples, other->time) < slot)
      return NULL;
    if (other->gauge == sample->gauge)
      return other;
  }
  return NULL;
}

/* Keeps of each gauge the last sample of each slot. */
static void
thin_out (struct rd_samples *samples)
{
  size_t n = 0;
  for (size_t i = 0; i < samples->n; i++) {
    struct rd_log_sample sample = samples->at[i];
    struct rd_log_sample *near = find_in_slot (samples, n, &sample);
    if (near)
      *near = sample;
    else
      samples->at[n++] = sample;
  }
  samples->dropped_count += samples->n - n;
  samples->n = n;
}

uint32_t
rd_samples_gauge (struct rd_samples *samples,
                  const struct radio_counter *counter)
{
  size_t n = samples->gauges.n;
  for (size_t i = 0; i < n; i++) {
    const struct rd_gauge *gauge = &samples->gauges.at[i];
    if (gauge->counter == counter
        && strcmp (gauge->kept.name, counter->name) == 0)
      return (uint32_t) i;
  }
  struct rd_gauge *gauge = rd_vector_add (samples->recorder->arena,
                                          &samples->gauges, MAX_SAMPLES);
  if (!gauge)
    return UINT32_MAX;
  *gauge = (struct rd_gauge) { counter, *counter };
  if (rd_names_keep_counter (samples->recorder->names, &gauge->kept))
    return (uint32_t) n;
  samples->gauges.n--;
  return UINT32_MAX;
}

void
rd_samples_add (struct rd_samples *samples,
                const struct rd_log_sample *sample)
{
  if (sample->gauge == UINT32_MAX) {
    samples->dropped_count++;
    return;
  }
  struct rd_log_sample *near = samples->spacing
    ? find_in_slot (samples, samples->n, sample)
    : NULL;
  if (near) {
    *near = *sample;
    samples->dropped_count++;
    return;
  }

  /* When full, the slots become longer until half of the room is free, or,
   * with more gauges than that, as long as possible. */
  if (!rd_array_grow (samples->recorder->arena, &samples->at,
                      &samples->capacity, samples->n, MAX_SAMPLES,
                      sizeof *samples->at)
      && samples->n == MAX_SAMPLES) {
    if (samples->spacing == 0)
      samples->spacing =
        (samples->at[samples->n - 1].time - samples->at[0].time)
        / samples->n;
    if (samples->spacing == 0)
      samples->spacing = 1;
    thin_out (samples);
    while (samples->n > MAX_SAMPLES / 2
           && samples->spacing <= UINT64_MAX / 2) {
      samples->spacing *= 2;
      thin_out (samples);
    }
  }
  if (samples->n < samples->capacity)
    samples->at[samples->n++] = *sample;
  else
    samples->dropped_count++;
}

void
rd_samples_free (struct rd_samples *samples)
{
  struct radio_recorder *recorder = samples->recorder;
  rd_vector_free (recorder->arena, &samples->gauges);
  rd_arena_release (recorder->arena, samples->at,
                    samples->capacity * sizeof *samples->at);
  *samples = (struct rd_samples) { .recorder = recorder };
}
