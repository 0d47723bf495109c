/* SPDX-License-Identifier: MIT */
/* Texts of spans and of nodes. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/record/log.h"
#include "profiler/record/record.h"
#include "profiler/record/text.h"
#include "profiler/record/writer.h"

/* What a writer keeps at most of its spans' texts. */
#define MAX_TEXTS 65536
#define MAX_NBYTES ((size_t) 8 << 20)

_Static_assert (RD_NRECENT == 1 << 5, "slot_of gives 5 bits");

/* Places where the last value of a key may be. */
#define NPROBES 4

/* Keys of one node, and bytes of one value. */
#define MAX_NOTES 16
#define MAX_VALUE 1024

/* The length of a value, cut at a whole character of UTF-8. */
static size_t
cut_length (const char *value)
{
  size_t n = strnlen (value, MAX_VALUE + 1);
  if (n > MAX_VALUE) {
    n = MAX_VALUE;
    while (n > 0 && ((unsigned char) value[n] & 0xc0) == 0x80)
      n--;
  }
  return n;
}

/* Whether a copy of n bytes is of this value, which may have been cut. */
static bool
is_copy (const char *copy, size_t n, const char *value)
{
  return strncmp (copy, value, n) == 0
         && (value[n] == '\0' || n > MAX_VALUE - 4);
}

/* Keys are literals: mostly the one that was noted before is at the same
 * address, and no text is to be looked at. */
static struct rd_text_note *
find_note (struct rd_node *node, const char *key)
{
  for (unsigned i = 0; i < node->nnotes; i++)
    if (node->notes[i].key == key)
      return &node->notes[i];
  for (unsigned i = 0; i < node->nnotes; i++)
    if (strcmp (node->notes[i].key, key) == 0)
      return &node->notes[i];
  return NULL;
}

/* Room for one more note of a node; NULL without. */
static struct rd_text_note *
new_note (struct rd_node *node)
{
  if (node->nnotes == node->notes_capacity) {
    unsigned capacity = node->notes_capacity ? 2 * node->notes_capacity : 2;
    void *notes = capacity > MAX_NOTES
      ? NULL
      : realloc (node->notes, capacity * sizeof *node->notes);
    if (!notes)
      return NULL;
    node->notes = notes;
    node->notes_capacity = capacity;
  }
  return &node->notes[node->nnotes];
}

/* The node keeps its first text of each key.  False if it was not kept. */
static bool
note (struct rd_node *node, const struct rd_log_text *text,
      const char *value)
{
  struct rd_text_note *old = find_note (node, text->key);
  if (old) {
    old->varies = old->varies || !is_copy (old->value, old->nbytes, value);
    return true;
  }
  struct rd_text_note *new = new_note (node);
  size_t n = cut_length (value);
  char *own = new ? strndup (value, n) : NULL;
  if (!own)
    return false;
  *new = (struct rd_text_note) { text->key, own, n, text->kind, false };
  node->nnotes++;
  return true;
}

static struct rd_text_value *
new_value (struct rd_texts *texts, const char *value)
{
  size_t n = cut_length (value);
  struct rd_text_value *new = malloc (sizeof *new + n + 1);
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
  free (value);
}

/* Keys are literals, which lie side by side at any address. */
static size_t
slot_of (const char *key)
{
  return ((uint64_t) (uintptr_t) key * UINT64_C (0x9e3779b97f4a7c15))
         >> (64 - 5);
}

/* Where the last value of a key is kept: two keys that took turns in one
 * place would have each text copied.  If all places are taken, that of some
 * other key. */
static struct rd_text_recent *
recent_of (struct rd_texts *texts, const char *key)
{
  size_t first = slot_of (key);
  for (size_t i = 0; i < NPROBES; i++) {
    struct rd_text_recent *recent
      = &texts->recent[(first + i) % RD_NRECENT];
    if (recent->key == key || !recent->key)
      return recent;
  }
  return &texts->recent[first];
}

/* Have the value as the key's last one, be it another key's till now.  False
 * without memory. */
static bool
renew (struct rd_texts *texts, struct rd_text_recent *recent,
       const char *key, const char *value)
{
  struct rd_text_value *last = recent->value;
  if (last && is_copy (last->at, last->nbytes - 1, value)) {
    if (recent->key != key)
      *recent = (struct rd_text_recent) { .key = key, .value = last };
    return true;
  }
  struct rd_text_value *new = new_value (texts, value);
  if (!new)
    return false;
  unref_value (texts, last);
  *recent = (struct rd_text_recent) { .key = key, .value = new };
  return true;
}

/* Whether there are as many as may be. */
static bool
is_at_limit (const struct rd_texts *texts)
{
  return texts->nbytes >= MAX_NBYTES
         || texts->n + texts->nown >= MAX_TEXTS;
}

static bool
is_full (const struct rd_texts *texts)
{
  return texts->n == texts->capacity || is_at_limit (texts);
}

/* Room for one more text of a span; false without. */
static bool
make_room (struct rd_texts *texts)
{
  return !is_at_limit (texts)
         && rd_array_grow (&texts->at, &texts->capacity, texts->n, MAX_TEXTS,
                           sizeof *texts->at);
}

/* There is room. */
static inline void
append (struct rd_texts *texts, const struct rd_log_text *text,
        struct rd_text_value *value)
{
  struct rd_log_text *own = &texts->at[texts->n++];
  own->sequence = text->sequence;
  own->kind = text->kind;
  own->key = text->key;
  own->value = value;
  value->nrefs++;
}

static bool
keep (struct rd_texts *texts, struct rd_text_recent *recent,
      const struct rd_log_text *text, const char *value)
{
  if (!make_room (texts) || !renew (texts, recent, text->key, value))
    return false;
  append (texts, text, recent->value);
  return true;
}

static __attribute__ ((__noinline__)) void
add_new (struct rd_texts *texts, struct rd_node *node, bool logs,
         const struct rd_log_text *text, const char *value)
{
  struct rd_text_recent *recent = recent_of (texts, text->key);
  bool noted = note (node, text, value);
  bool kept = !logs || keep (texts, recent, text, value);
  if (!noted || !kept)
    texts->dropped_count++;
  else if (logs)
    recent->node = node;
}

/* What a node's spans are about is mostly what the one before was about:
 * then the value is looked at once, and its node's note not at all.  Where
 * the value is says nothing: it may be in a caller's frame. */
void
rd_texts_add (struct rd_texts *texts,
              struct rd_node *node,
              bool logs,
              const struct rd_log_text *text,
              const char *value)
{
  const struct rd_text_recent *recent = recent_of (texts, text->key);
  if (recent->node != node || recent->key != text->key || is_full (texts)
      || !is_copy (recent->value->at, recent->value->nbytes - 1, value))
    add_new (texts, node, logs, text, value);
  else
    append (texts, text, recent->value);
}

/*------------------------------------------------------------------------
 * Those that spans have themselves
 *----------------------------------------------------------------------*/

/* Have the key's last value as one that spans of this key have; one that is
 * those of another key already is copied.  False without memory. */
static bool
renew_own (struct rd_texts *texts, struct rd_text_recent *recent,
           const char *key, const char *value)
{
  if (!rd_array_grow (&texts->kept, &texts->kept_capacity, texts->nkept,
                      MAX_TEXTS, sizeof *texts->kept)
      || !renew (texts, recent, key, value))
    return false;
  if (recent->value->own_key == key)
    return true;
  if (recent->value->own_key) {
    struct rd_text_value *copy = new_value (texts, recent->value->at);
    if (!copy)
      return false;
    unref_value (texts, recent->value);
    recent->value = copy;
  }
  recent->value->own_key = key;
  recent->value->nrefs++;
  texts->kept[texts->nkept++] = recent->value;
  return true;
}

static __attribute__ ((__noinline__)) const struct rd_text_value *
own_new (struct rd_texts *texts, struct rd_node *node, const char *key,
         const char *value)
{
  struct rd_text_recent *recent = recent_of (texts, key);
  const struct rd_log_text text = { .kind = RADIO_TEXT_NAME, .key = key };
  bool noted = note (node, &text, value);
  bool kept = !is_at_limit (texts) && renew_own (texts, recent, key, value);
  if (!noted || !kept)
    texts->dropped_count++;
  else
    recent->node = node;
  texts->nown += kept;
  return kept ? recent->value : NULL;
}

const struct rd_text_value *
rd_texts_own (struct rd_texts *texts, struct rd_node *node, const char *key,
              const char *value)
{
  const struct rd_text_recent *recent = recent_of (texts, key);
  if (recent->node != node || recent->key != key || is_at_limit (texts)
      || recent->value->own_key != key
      || !is_copy (recent->value->at, recent->value->nbytes - 1, value))
    return own_new (texts, node, key, value);
  texts->nown++;
  return recent->value;
}

/*------------------------------------------------------------------------
 * Those of spans that the log does not keep
 *----------------------------------------------------------------------*/

static void
drop (struct rd_texts *texts, struct rd_log_text *text)
{
  unref_value (texts, text->value);
  text->value = NULL;
}

void
rd_texts_drop_last (struct rd_texts *texts, uint64_t sequence)
{
  while (texts->n > 0 && texts->at[texts->n - 1].sequence == sequence)
    drop (texts, &texts->at[--texts->n]);
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

/* From where the span before was found it is mostly a step; back over a
 * text only for each scope around it. */
void
rd_text_sweep_drop (struct rd_text_sweep *sweep, uint64_t sequence)
{
  size_t i = sweep->next;
  while (i > 0 && sweep->at[i - 1]->sequence >= sequence)
    i--;
  while (i < sweep->n && sweep->at[i]->sequence < sequence)
    i++;
  for (; i < sweep->n && sweep->at[i]->sequence == sequence; i++)
    drop (sweep->texts, sweep->at[i]);
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

void
rd_texts_free (struct rd_texts *texts)
{
  for (size_t i = 0; i < texts->n; i++)
    unref_value (texts, texts->at[i].value);
  for (size_t i = 0; i < RD_NRECENT; i++)
    unref_value (texts, texts->recent[i].value);
  for (size_t i = 0; i < texts->nkept; i++)
    unref_value (texts, texts->kept[i]);
  free (texts->kept);
  free (texts->at);
  *texts = (struct rd_texts) { .at = NULL };
}

void
rd_node_free_notes (struct rd_node *node)
{
  for (unsigned i = 0; i < node->nnotes; i++)
    free (node->notes[i].value);
  free (node->notes);
  node->notes = NULL;
  node->nnotes = node->notes_capacity = 0;
}

void
radio_scope_text (const char *key,
                  const char *value,
                  enum radio_text_kind kind)
{
  if (!radio_profile_is_on ())
    return;
  struct rd_writer_state *writer = rd_this_thread.current;
  if (!writer || !rd_writer_enter (writer)) {
    writer = rd_writer_current ();
    if (!writer || !rd_writer_enter (writer))
      return;
  }
  struct rd_frame *frame = writer->top;
  struct rd_log_text text = {
    .sequence = rd_frame_sequence (frame), .kind = kind, .key = key
  };
  if (frame > writer->frames) {
    /* Its end may have to drop the text. */
    rd_frame_mark (frame, RD_FRAME_NOTED);
    rd_texts_add (&writer->texts, frame->node, !writer->recorder->tree_only,
                  &text, value);
  }
  rd_writer_leave (writer);
}
