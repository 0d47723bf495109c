/* SPDX-License-Identifier: MIT */
/* Addresses of an image, and the trees in it. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "profiler/record/recover/recover.h"

/*------------------------------------------------------------------------
 * Addresses
 *----------------------------------------------------------------------*/

enum radio_status
rd_image_damaged (const struct image *image, const char *what)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: this ring is damaged (%s); nothing "
                  "can be recovered from it", image->where, what);
}

const void *
rd_image_resolve (const struct image *image, const void *address, size_t n,
         size_t element_nbytes, size_t alignment)
{
  uint64_t offset = (uint64_t) (uintptr_t) address - image->base;
  uint64_t nbytes;
  if (rd_mul_overflows (n, element_nbytes, &nbytes)
      || offset > image->nbytes || nbytes > image->nbytes - offset
      || offset % alignment != 0)
    return NULL;
  return image->at + offset;
}

const char *
rd_image_text (const struct image *image, const char *address, size_t limit)
{
  const char *text = rd_image_resolve (image, address, 1, 1, 1);
  uint64_t offset = (uint64_t) (uintptr_t) address - image->base;
  uint64_t ring = image->header->ring - image->base;
  if (!text)
    return NULL;
  size_t n = rd_min_u64 (image->nbytes - offset, limit + 1);
  size_t length = strnlen (text, n);
  bool is_in_ring = offset < ring + image->header->ring_nbytes
                    && offset + length >= ring;
  return length < n && !is_in_ring ? text : NULL;
}

void *
rd_image_copy (struct image *image, size_t n, size_t element_nbytes)
{
  uint64_t nbytes;
  if (rd_mul_overflows (n, element_nbytes, &nbytes)
      || nbytes > image->budget)
    return NULL;
  image->budget -= nbytes;
  return rd_arena_alloc (image->recorder->arena, GRANULE, (size_t) nbytes);
}

bool
rd_image_is_time (const struct image *image, uint64_t ticks)
{
  int64_t since = (int64_t) (ticks - image->header->start.ticks);
  return since < (int64_t) MAX_TICKS && since > -(int64_t) MAX_TICKS;
}

void
rd_image_note_time (struct image *image, uint64_t ticks)
{
  if ((int64_t) (ticks - image->now) > 0)
    image->now = ticks;
}

/* The copy of a node of one writer, by its address in the image; or NULL. */
static struct rd_node *
find_node (const struct image *image, const struct rd_node *address)
{
  const struct rd_node *node = RESOLVE (image, address, 1);
  if (!node || node->writer >= image->npairs)
    return NULL;
  const struct pair *pair = &image->pairs[node->writer];
  if (node->number >= pair->to->nnodes)
    return NULL;
  const struct rd_node *const *nodes
    = rd_image_resolve (image, pair->from->nodes, pair->to->nnodes,
                        sizeof *nodes, _Alignof (struct rd_node *));
  return nodes && nodes[node->number] == address
         ? pair->to->nodes[node->number] : NULL;
}

struct rd_node *
rd_image_own_node (const struct image *image, const struct pair *pair,
               const struct rd_node *address)
{
  struct rd_node *node = find_node (image, address);
  return node && node->writer == pair->to->number && node->site ? node : NULL;
}

/*------------------------------------------------------------------------
 * Nodes
 *----------------------------------------------------------------------*/

static bool
is_utf8 (const char *text)
{
  while (text && *text) {
    size_t n = rd_utf8_nbytes (text);
    if (n == 0)
      return false;
    text += n;
  }
  return text != NULL;
}

/* Formats that repair names would have two counters of one name. */
bool
rd_image_counter (const struct image *image, struct radio_counter *counter)
{
  counter->name = rd_image_text (image, counter->name, MAX_NAME);
  counter->unit = rd_image_text (image, counter->unit, MAX_NAME);
  return is_utf8 (counter->name) && is_utf8 (counter->unit);
}

/* The amounts of the node's set that are not in its tallies, and the one that
 * was on its way. */
static void
complete_amounts (struct rd_node *node)
{
  unsigned moving = node->moving;
  for (size_t i = 0; i < node->ntallies; i++)
    for (unsigned j = 0; j < RD_NAMOUNTS && node->set; j++) {
      struct rd_tally *tally = &node->tallies[i];
      if (!node->counters[j] || tally->counter != node->counters[j])
        continue;
      if (moving == j + 1)
        tally->value = node->moved_value;
      else
        tally->value = rd_sum (tally->value, node->sums[j]);
    }
  memset (node->sums, 0, sizeof node->sums);
  node->set = NULL;
  node->moving = 0;
}

static enum radio_status
copy_lists (struct image *image, struct rd_node *node)
{
  const struct rd_tally *tallies = RESOLVE (image, node->tallies,
                                            node->ntallies);
  const struct rd_text_note *notes = RESOLVE (image, node->notes,
                                              node->nnotes);
  if (node->ntallies > 0 && (!tallies || node->ntallies > MAX_ITEMS))
    return rd_image_damaged (image, "counters");
  if (node->nnotes > 0 && (!notes || node->nnotes > MAX_ITEMS))
    return rd_image_damaged (image, "texts of a path");
  node->tallies_capacity = node->ntallies;
  node->notes_capacity = node->nnotes;
  node->tallies = rd_image_copy (image, node->ntallies, sizeof *tallies);
  node->notes = rd_image_copy (image, node->nnotes, sizeof *notes);
  if (!node->tallies || !node->notes)
    return rd_image_damaged (image, "lists");
  for (size_t i = 0; i < node->ntallies; i++) {
    node->tallies[i] = tallies[i];
    node->tallies[i].is_of_set = rd_image_bool (&tallies[i].is_of_set);
    if (!rd_image_counter (image, &node->tallies[i].kept))
      return rd_image_damaged (image, "a counter's name");
  }
  size_t n = 0;
  for (size_t i = 0; i < node->nnotes; i++) {
    struct rd_text_note *note = &node->notes[n];
    *note = notes[i];
    note->varies = rd_image_bool (&notes[i].varies);
    note->key = rd_image_text (image, notes[i].key, MAX_NAME);
    note->value = (char *) rd_image_text (image, notes[i].value, MAX_NAME);
    if (!note->key || !note->value)
      continue;
    note->nbytes = strlen (note->value);
    n++;
  }
  node->nnotes = n;
  return RADIO_OK;
}

/* Its parent is copied. */
static enum radio_status
copy_node (struct image *image, const struct pair *pair, uint32_t number,
           const struct rd_node *address)
{
  struct rd_node *node = pair->to->nodes[number];
  const struct rd_node *from = RESOLVE (image, address, 1);
  if (!from || from->number != number || from->writer != pair->to->number)
    return rd_image_damaged (image, "a path");
  *node = *from;
  node->parent = find_node (image, from->parent);
  if (!node->parent || node->parent->writer != node->writer
      || node->parent->number >= number)
    return rd_image_damaged (image, "a path's parent");
  if (node->site) {
    struct radio_site *site = &node->kept;
    site->name = rd_image_text (image, site->name, MAX_NAME);
    site->category = rd_image_text (image, site->category, MAX_NAME);
    site->function = rd_image_text (image, site->function, MAX_NAME);
    site->file = rd_image_text (image, site->file, MAX_NAME);
    if (!site->name || !site->category || !site->function || !site->file)
      return rd_image_damaged (image, "a scope's name");
    node->site = site;
    node->foreign = NULL;
  } else if (!node->foreign)
    return rd_image_damaged (image, "a path");
  if ((unsigned) node->edge > RADIO_EDGE_INSTANT
      || (unsigned) node->kind > RADIO_SCOPE_BLOCKING)
    return rd_image_damaged (image, "a path's kind");
  node->latest_child = node->successor = &pair->to->root;
  node->recorder = image->recorder;
  node->account = NULL;
  node->throttled = rd_image_bool (&from->throttled);
  node->folded = false;
  node->is_in_ring = true;
  node->calls = node->self = node->work = 0;

  const uint64_t times[] = {
    node->unlogged, node->max, node->wait, node->starved, node->queue
  };
  const uint64_t counts[] = {
    node->drops, node->opens, node->lates, node->nskipped, node->alloc_count,
    node->alloc_nbytes
  };
  const uint64_t differences[] = {
    node->self_adjust, node->own_above_self
  };
  bool is_valid = true;
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
    is_valid &= times[i] < MAX_TICKS;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
    is_valid &= counts[i] < MAX_COUNT;
  for (size_t i = 0; i < RD_NOCTAVES; i++)
    is_valid &= node->octaves[i] < MAX_COUNT;
  for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++)
    is_valid &= differences[i] + MAX_TICKS < 2 * MAX_TICKS;
  if (!is_valid)
    return rd_image_damaged (image, "a path's figures");
  RD_TRY (copy_lists (image, node));
  complete_amounts (node);
  return RADIO_OK;
}

static enum radio_status
copy_nodes (struct image *image, const struct pair *pair)
{
  struct rd_writer_state *to = pair->to;
  size_t n = pair->from->nnodes;
  struct rd_node *const *addresses = RESOLVE (image, pair->from->nodes, n);
  const unsigned char *root
    = rd_image_resolve (image, addresses ? addresses[0] : NULL, 1,
                        sizeof to->root, 64);
  if (n == 0 || n > MAX_ITEMS || !addresses
      || root != (const unsigned char *) &pair->from->root)
    return rd_image_damaged (image, "paths");
  struct rd_node **nodes = rd_image_copy (image, n, sizeof *nodes);
  struct rd_node *copies = rd_image_copy (image, n, sizeof *copies);
  if (!nodes || !copies)
    return rd_image_damaged (image, "paths");
  to->root.nskipped = pair->from->root.nskipped;
  to->root.alloc_count = pair->from->root.alloc_count % MAX_COUNT;
  to->root.alloc_nbytes = pair->from->root.alloc_nbytes % MAX_COUNT;
  for (size_t i = 0; i < n; i++)
    nodes[i] = i == 0 ? &to->root : &copies[i];
  to->nodes = nodes;
  to->nodes_capacity = n;
  for (to->nnodes = 1; to->nnodes < n; to->nnodes++)
    RD_TRY (copy_node (image, pair, (uint32_t) to->nnodes,
                       addresses[to->nnodes]));
  return RADIO_OK;
}

/* Parents on other threads: no chain of them has an end that is its begin.
 * Nodes on the way of this walk have `index' 1, checked ones 2. */
static enum radio_status
link_nodes (struct image *image)
{
  for (size_t i = 0; i < image->npairs; i++)
    for (size_t j = 1; j < image->pairs[i].to->nnodes; j++) {
      struct rd_node *node = image->pairs[i].to->nodes[j];
      node->index = 0;
      if (!node->foreign)
        continue;
      node->foreign = find_node (image, node->foreign);
      if (!node->foreign)
        return rd_image_damaged (image, "a parent on another thread");
    }
  for (size_t i = 0; i < image->npairs; i++)
    for (size_t j = 1; j < image->pairs[i].to->nnodes; j++)
      for (uint32_t mark = 1; mark <= 2; mark++) {
        struct rd_node *node = image->pairs[i].to->nodes[j];
        while (node && node->number > 0 && node->index < mark) {
          node->index = mark;
          node = node->site ? node->parent : node->foreign;
        }
        if (mark == 1 && node && node->number > 0 && node->index == 1)
          return rd_image_damaged (image, "paths in a circle");
      }
  return RADIO_OK;
}

enum radio_status
rd_image_copy_trees (struct image *image)
{
  for (size_t i = 0; i < image->npairs; i++)
    RD_TRY (copy_nodes (image, &image->pairs[i]));
  return link_nodes (image);
}
