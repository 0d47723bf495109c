/* SPDX-License-Identifier: MIT */
/* Nodes by parent and site.  Which child is wanted is mostly the one that
 * was wanted last, or the one that followed it then (see scope.c); what is
 * left comes here, to a hash table over all nodes of the writer.  Nodes
 * never move and never go while the recorder runs. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/record/log.h"
#include "profiler/record/tree.h"

#define BLOCK_NODES 16
#define FIRST_TABLE_SIZE 64

struct rd_node_block {
  struct rd_node nodes[BLOCK_NODES];
  struct rd_node_block *next;
  unsigned nused;
};

struct key {
  const struct rd_node *parent, *foreign;
  const struct radio_site *site;
  enum radio_edge edge;
};

static uint32_t
hash_of (const struct key *key)
{
  uint64_t h = (uint64_t) (uintptr_t) key->parent;
  h = (h ^ (uint64_t) (uintptr_t) key->site) * UINT64_C (0x9e3779b97f4a7c15);
  h = (h ^ h >> 29 ^ (uint64_t) (uintptr_t) key->foreign ^ key->edge)
      * UINT64_C (0xbf58476d1ce4e5b9);
  return (uint32_t) (h >> 32);
}

static bool
has_key (const struct rd_node *node, const struct key *key)
{
  return node->parent == key->parent && node->site == key->site
         && node->foreign == key->foreign && node->edge == key->edge;
}

/* The slot of a key, or the empty one where it would go; the root, which no
 * slot holds, makes 0 the mark of empty ones. */
static uint32_t *
find_slot (const struct rd_writer_state *writer, const struct key *key)
{
  size_t mask = writer->node_table_size - 1;
  size_t i = hash_of (key) & mask;
  while (writer->node_table[i] != 0
         && !has_key (writer->nodes[writer->node_table[i]], key))
    i = (i + 1) & mask;
  return &writer->node_table[i];
}

static void
enter_into_table (struct rd_writer_state *writer, struct rd_node *node)
{
  struct key key = { node->parent, node->foreign, node->site, node->edge };
  *find_slot (writer, &key) = node->number;
}

/* Keep at least half of the table empty. */
static bool
grow_table (struct rd_writer_state *writer)
{
  if (writer->nnodes * 2 < writer->node_table_size)
    return true;
  size_t size = writer->node_table_size * 2;
  uint32_t *table = calloc (size, sizeof *table);
  if (!table)
    return false;
  free (writer->node_table);
  writer->node_table = table;
  writer->node_table_size = size;
  for (size_t i = 1; i < writer->nnodes; i++)
    enter_into_table (writer, writer->nodes[i]);
  return true;
}

static struct rd_node *
take_memory (struct rd_writer_state *writer)
{
  struct rd_node_block *block = writer->node_blocks;
  if (!block || block->nused == BLOCK_NODES) {
    block = aligned_alloc (_Alignof (struct rd_node_block), sizeof *block);
    if (!block)
      return NULL;
    memset (block, 0, sizeof *block);
    block->next = writer->node_blocks;
    writer->node_blocks = block;
  }
  return &block->nodes[block->nused++];
}

static void
init_node (struct rd_writer_state *writer, struct rd_node *node,
           const struct key *key)
{
  node->site = key->site;
  node->kind = key->site ? key->site->kind : RADIO_SCOPE_WORK;
  node->number = (uint32_t) writer->nnodes;
  node->tag = node->number - (writer->next_id & (RD_ID_STEP - 1));
  node->parent = (struct rd_node *) key->parent;
  node->foreign = (struct rd_node *) key->foreign;
  node->edge = key->edge;
  node->min = UINT64_MAX;
  node->threshold = writer->recorder->tree_only ? UINT64_MAX : 0;
  /* The root stands for "none": it has no site that could be wanted. */
  node->latest_child = &writer->root;
  node->successor = &writer->root;
}

static struct rd_node *
add_node (struct rd_writer_state *writer, const struct key *key)
{
  if (!rd_array_grow (&writer->nodes, &writer->nodes_capacity,
                      writer->nnodes, RD_MAX_NODES, sizeof *writer->nodes)
      || !grow_table (writer))
    return NULL;
  struct rd_node *node = take_memory (writer);
  if (!node)
    return NULL;
  init_node (writer, node, key);
  writer->nodes[writer->nnodes++] = node;
  enter_into_table (writer, node);
  return node;
}

static struct rd_node *
find_or_add (struct rd_writer_state *writer, const struct key *key)
{
  uint32_t number = *find_slot (writer, key);
  if (number != 0)
    return writer->nodes[number];
  struct rd_node *node = add_node (writer, key);
  if (!node)
    ((struct rd_node *) key->parent)->nskipped++;
  return node;
}

struct rd_node *
rd_tree_child (struct rd_writer_state *writer, struct rd_node *parent,
               const struct radio_site *site, enum radio_edge edge)
{
  struct key key = { .parent = parent, .site = site, .edge = edge };
  return find_or_add (writer, &key);
}

struct rd_node *
rd_tree_stand_in (struct rd_writer_state *writer, struct rd_node *foreign)
{
  struct key key = { .parent = &writer->root, .foreign = foreign };
  return find_or_add (writer, &key);
}

/* The slot of a new counter: those of bytes have one, as long as there are
 * any. */
static unsigned
find_free_slot (const struct rd_node *node,
                const struct radio_counter *counter)
{
  unsigned n = 0;
  if (strcmp (counter->unit, "bytes") != 0)
    return RD_NSLOTS;
  for (unsigned i = 0; i < node->ntallies; i++)
    n += node->tallies[i].slot < RD_NSLOTS;
  return n;
}

static struct rd_tally *
add_tally (struct rd_node *node, const struct radio_counter *counter)
{
  if (node->ntallies == node->tallies_capacity) {
    unsigned capacity = node->tallies_capacity ? node->tallies_capacity * 2
                                               : 4;
    struct rd_tally *tallies = realloc (node->tallies,
                                        capacity * sizeof *tallies);
    if (!tallies)
      return NULL;
    node->tallies = tallies;
    node->tallies_capacity = capacity;
  }
  struct rd_tally *tally = &node->tallies[node->ntallies];
  *tally = (struct rd_tally) { counter, 0, find_free_slot (node, counter) };
  node->ntallies++;
  return tally;
}

struct rd_tally *
rd_node_tally (struct rd_node *node, const struct radio_counter *counter)
{
  for (unsigned i = 0; i < node->ntallies; i++)
    if (node->tallies[i].counter == counter)
      return &node->tallies[i];
  return add_tally (node, counter);
}

static void
add_amounts (struct rd_node *node, const struct rd_counter_set *set,
             const uint64_t *amounts)
{
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    if (amounts[i] > 0)
      rd_node_count (node, set->counters[i], amounts[i], i);
}

/* From the sums into the tallies. */
static void
settle_set (struct rd_node *node)
{
  if (!node->set)
    return;
  add_amounts (node, node->set, node->sums);
  memset (node->sums, 0, sizeof node->sums);
}

/* Huge amounts go where they are added without wrapping. */
void
rd_node_add_set_rarely (struct rd_node *node,
                        const struct rd_counter_set *set,
                        const uint64_t *amounts)
{
  settle_set (node);
  node->set = set;
  add_amounts (node, set, amounts);
}

bool
rd_tree_init (struct rd_writer_state *writer)
{
  struct key none = { .site = NULL };
  writer->node_table = calloc (FIRST_TABLE_SIZE, sizeof (uint32_t));
  if (!writer->node_table
      || !rd_array_grow (&writer->nodes, &writer->nodes_capacity, 0,
                         RD_MAX_NODES, sizeof *writer->nodes))
    return false;
  writer->node_table_size = FIRST_TABLE_SIZE;
  init_node (writer, &writer->root, &none);
  writer->pending_node = &writer->root;
  writer->nodes[0] = &writer->root;
  writer->nnodes = 1;
  return true;
}

/* Tiny and frequent: from now on in the tree only. */
static void
consider (struct rd_writer_state *writer, struct rd_node *node)
{
  uint64_t calls = rd_node_calls (node);
  if (calls <= RD_THROTTLE_CALLS || node->throttled
      || node->total / calls >= writer->recorder->throttle_below)
    return;
  node->throttled = true;
  node->threshold = UINT64_MAX;
}

void
rd_tree_consider (struct rd_writer_state *writer, size_t n)
{
  size_t *next = &writer->log.next_considered;
  for (n = n < writer->nnodes ? n : writer->nnodes; n > 0; n--) {
    *next = (*next + 1) % writer->nnodes;
    consider (writer, writer->nodes[*next]);
  }
}

/* Durations below a unit, the first octave, are none at all. */
unsigned
rd_octave_bucket (const struct rd_writer_state *writer, size_t octave)
{
  int power = (int) octave - 1 + writer->octave_shift;
  if (octave == 0 || power < 0)
    return 0;
  return power < RADIO_HISTOGRAM_BUCKETS ? (unsigned) power
                                         : RADIO_HISTOGRAM_BUCKETS - 1;
}

uint64_t
rd_node_calls (const struct rd_node *node)
{
  uint64_t n = node->nlogged;
  for (size_t i = 0; i < RD_NOCTAVES; i++)
    n += node->octaves[i];
  return n;
}

/* A stand-in and the root have no time of their own. */
static void
settle_self (struct rd_node *node)
{
  node->self += node->total + node->self_adjust;
  if (node->edge == RADIO_EDGE_CALL && node->site)
    node->parent->self -= node->total;
}

/* What is in the log is now in the nodes, too. */
static void
settle_logged (struct rd_writer_state *writer)
{
  for (size_t i = 0; i < writer->nnodes; i++)
    writer->nodes[i]->nlogged = 0;
  for (struct rd_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      rd_node_add_unlogged (writer, writer->nodes[rd_span_node (span)],
                            rd_span_duration (span));
      i += rd_span_nslots (span);
    }
}

/* No run is pending: a next one would only be added to the root. */
static void
flush_pending (struct rd_writer_state *writer)
{
  rd_octaves_add_pending (writer);
  writer->pending_node = &writer->root;
}

void
rd_tree_settle (struct rd_writer_state *writer)
{
  settle_logged (writer);
  flush_pending (writer);
  for (size_t i = 0; i < writer->nnodes; i++) {
    settle_set (writer->nodes[i]);
    settle_self (writer->nodes[i]);
    writer->nodes[i]->calls = rd_node_calls (writer->nodes[i]);
  }
  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    if (!node->site)
      node->self = node->calls = 0;
    node->work = node->self + node->own_above_self - node->wait;
    if (node->calls == 0)
      node->min = 0;
    if (writer->recorder->tree_only)
      node->drops = 0;
  }
}

static void
free_node_parts (struct rd_node *node)
{
  free (node->tallies);
  rd_node_free_notes (node);
  rd_account_unref (node->account);
}

void
rd_tree_free (struct rd_writer_state *writer)
{
  for (size_t i = 0; i < writer->nnodes; i++)
    free_node_parts (writer->nodes[i]);
  while (writer->node_blocks) {
    struct rd_node_block *block = writer->node_blocks;
    writer->node_blocks = block->next;
    free (block);
  }
  free (writer->nodes);
  free (writer->node_table);
  writer->nodes = NULL;
  writer->node_table = NULL;
  writer->nnodes = 0;
}
