/* SPDX-License-Identifier: MIT */
/* Nodes by parent and site.  The child wanted is mostly the last one, or the
 * one that followed it before (see scope.c); all others are looked up here,
 * in a hash table over all nodes of the writer.  Nodes never move, and are
 * not freed while the recorder runs. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/record/notes.h"
#include "profiler/record/slow.h"
#include "profiler/record/tree.h"

/* Limit of the paths of one writer; spans have 16 bits for it.  Scopes beyond
 * it count into their parent. */
#define MAX_NODES 65536

#define BLOCK_NODES 16
#define FIRST_TABLE_SIZE 64

struct rd_node_block {
  struct rd_node nodes[BLOCK_NODES];
  struct rd_node_block *next;
  unsigned nused;
};

/*------------------------------------------------------------------------
 * Finding and making nodes
 *----------------------------------------------------------------------*/

struct node_key {
  const struct rd_node *parent, *foreign;
  const struct radio_site *site;
  enum radio_edge edge;
  /* Copied from the site, if there is one: another library may be loaded where
   * the one with a node's site was. */
  const char *name;
  unsigned line;
};

static bool
has_key (const struct rd_node *node, const struct node_key *key)
{
  return node->parent == key->parent && node->site == key->site
         && node->foreign == key->foreign && node->edge == key->edge
         && (!key->site || (node->kept.line == key->line
                            && strcmp (node->kept.name, key->name) == 0));
}

/* The slot of a key, or the empty one where it would go.  Slots hold numbers
 * of nodes; 0, the root's, marks empty ones. */
static uint32_t *
find_node_slot (const struct rd_writer_state *writer,
                const struct node_key *key)
{
  uint64_t h = (uint64_t) (uintptr_t) key->parent;
  h = (h ^ (uint64_t) (uintptr_t) key->site) * UINT64_C (0x9e3779b97f4a7c15);
  h = (h ^ h >> 29 ^ (uint64_t) (uintptr_t) key->foreign ^ key->edge)
      * UINT64_C (0xbf58476d1ce4e5b9);
  size_t mask = writer->node_table_size - 1;
  for (size_t i = (uint32_t) (h >> 32) & mask;; i = (i + 1) & mask) {
    const struct rd_node *node = writer->nodes[writer->node_table[i]];
    if (writer->node_table[i] == 0 || has_key (node, key))
      return &writer->node_table[i];
  }
}

static void
insert_into_table (struct rd_writer_state *writer, struct rd_node *node)
{
  struct node_key key = {
    node->parent, node->foreign, node->site, node->edge, node->kept.name,
    node->kept.line
  };
  *find_node_slot (writer, &key) = node->number;
}

/* False without memory for its names. */
static bool
init_node (struct rd_writer_state *writer, struct rd_node *node,
           const struct node_key *key)
{
  node->site = key->site;
  node->recorder = writer->recorder;
  node->writer = writer->number;
  if (key->site) {
    node->kept = *key->site;
    if (!rd_names_keep_site (node->recorder->names, &node->kept))
      return false;
  }
  node->kind = (uint8_t) (key->site ? key->site->kind : RADIO_SCOPE_WORK);
  node->is_in_ring = writer->recorder->ring_nbytes > 0;
  node->number = (uint32_t) writer->nnodes;
  node->tag = node->number - (writer->next_id & (RD_ID_STEP - 1));
  node->parent = (struct rd_node *) key->parent;
  node->foreign = (struct rd_node *) key->foreign;
  node->edge = key->edge;
  if (key->site && key->edge != RADIO_EDGE_INSTANT)
    node->trigger = rd_slow_find (writer->recorder->slow, node->kept.name);
  node->min = UINT64_MAX;
  node->threshold = writer->recorder->tree_only ? UINT64_MAX : 0;
  /* The root means "none": no scope has its site. */
  node->latest_child = &writer->root;
  node->successor = &writer->root;
  return true;
}

/* NULL: no memory or too many. */
static struct rd_node *
add_node (struct rd_writer_state *writer, const struct node_key *key)
{
  struct rd_node_block *block = writer->node_blocks;
  struct rd_arena *arena = writer->recorder->arena;
  if (!rd_array_grow (arena, &writer->nodes, &writer->nodes_capacity,
                      writer->nnodes, MAX_NODES, sizeof *writer->nodes))
    return NULL;

  /* At least half of the table stays empty. */
  if (writer->nnodes * 2 >= writer->node_table_size) {
    size_t size = writer->node_table_size * 2;
    uint32_t *table = calloc (size, sizeof *table);
    if (!table)
      return NULL;
    free (writer->node_table);
    writer->node_table = table;
    writer->node_table_size = size;
    for (size_t i = 1; i < writer->nnodes; i++)
      insert_into_table (writer, writer->nodes[i]);
  }

  if (!block || block->nused == BLOCK_NODES) {
    block = rd_arena_alloc (arena, _Alignof (struct rd_node_block),
                            sizeof *block);
    if (!block)
      return NULL;
    memset (block, 0, sizeof *block);
    block->next = writer->node_blocks;
    writer->node_blocks = block;
  }
  struct rd_node *node = &block->nodes[block->nused];
  if (!init_node (writer, node, key))
    return NULL;
  block->nused++;
  writer->nodes[writer->nnodes] = node;
  rd_commit ();
  writer->nnodes++;
  insert_into_table (writer, node);
  return node;
}

static struct rd_node *
find_or_add_node (struct rd_writer_state *writer, const struct node_key *key)
{
  uint32_t number = *find_node_slot (writer, key);
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
  struct node_key key = {
    .parent = parent, .site = site, .edge = edge, .name = site->name,
    .line = site->line
  };
  return find_or_add_node (writer, &key);
}

struct rd_node *
rd_tree_stand_in (struct rd_writer_state *writer, struct rd_node *foreign)
{
  struct node_key key = { .parent = &writer->root, .foreign = foreign };
  return find_or_add_node (writer, &key);
}

bool
rd_tree_init (struct rd_writer_state *writer)
{
  struct node_key none = { .site = NULL };
  writer->node_table = calloc (FIRST_TABLE_SIZE, sizeof (uint32_t));
  if (!writer->node_table
      || !rd_array_grow (writer->recorder->arena, &writer->nodes,
                         &writer->nodes_capacity, 0, MAX_NODES,
                         sizeof *writer->nodes))
    return false;
  writer->node_table_size = FIRST_TABLE_SIZE;
  (void) init_node (writer, &writer->root, &none);
  writer->pending_node = &writer->root;
  writer->nodes[0] = &writer->root;
  writer->nnodes = 1;
  return true;
}

void
rd_tree_free (struct rd_writer_state *writer)
{
  struct rd_arena *arena = writer->recorder->arena;
  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    rd_arena_release (arena, node->tallies,
                      node->tallies_capacity * sizeof *node->tallies);
    rd_node_free_notes (node);
    rd_account_unref (node->account);
    node->account = NULL;
  }
  while (writer->node_blocks) {
    struct rd_node_block *block = writer->node_blocks;
    writer->node_blocks = block->next;
    rd_arena_release (arena, block, sizeof *block);
  }
  rd_arena_release (arena, writer->nodes,
                    writer->nodes_capacity * sizeof *writer->nodes);
  free (writer->node_table);
  writer->nodes = NULL;
  writer->nodes_capacity = 0;
  writer->node_table = NULL;
  writer->nnodes = 0;
}

/*------------------------------------------------------------------------
 * Counters
 *----------------------------------------------------------------------*/

struct rd_tally *
rd_node_tally (struct rd_node *node, const struct radio_counter *counter)
{
  unsigned nslots = 0;        /* that counters of bytes have */
  for (size_t i = 0; i < node->ntallies; i++) {
    if (node->tallies[i].counter == counter)
      return &node->tallies[i];
    nslots += node->tallies[i].slot < RD_NSLOTS;
  }
  if (!rd_array_grow (node->recorder->arena, &node->tallies,
                      &node->tallies_capacity, node->ntallies, SIZE_MAX,
                      sizeof *node->tallies))
    return NULL;
  struct rd_tally *tally = &node->tallies[node->ntallies];
  *tally = (struct rd_tally) {
    .counter = counter,
    .slot = strcmp (counter->unit, "bytes") == 0 ? nslots : RD_NSLOTS,
    .kept = *counter,
  };
  if (!rd_names_keep_counter (node->recorder->names, &tally->kept))
    return NULL;
  rd_commit ();
  node->ntallies++;
  return tally;
}

static void
add_amounts (struct rd_node *node, const struct rd_counter_set *set,
             const uint64_t *amounts)
{
  for (size_t i = 0; i < RD_NAMOUNTS; i++)
    if (amounts[i] > 0)
      rd_node_count (node, set->counters[i], amounts[i], i);
}

/* Moves the sums of the last set into the tallies.  A reader that finds one on
 * its way completes that. */
static void
flush_set (struct rd_node *node)
{
  for (size_t i = 0; i < RD_NAMOUNTS && node->set; i++) {
    struct rd_tally *tally = node->sums[i] > 0
      ? rd_node_tally (node, node->set->counters[i]) : NULL;
    if (tally) {
      node->moved_value = rd_sum (tally->value, node->sums[i]);
      rd_commit ();
      node->moving = (unsigned) i + 1;
      rd_commit ();
      tally->value = node->moved_value;
    }
    node->sums[i] = 0;
    rd_commit ();
    node->moving = 0;
  }
}

/* Makes the tallies of a set, which readers cannot ask for its counters. */
static void
prepare_set (struct rd_node *node, const struct rd_counter_set *set)
{
  for (size_t i = 0; i < RD_NAMOUNTS && node->recorder->arena; i++) {
    size_t n = node->ntallies;
    struct rd_tally *tally = set->counters[i]
      ? rd_node_tally (node, set->counters[i]) : NULL;
    if (tally && node->ntallies > n)
      tally->is_of_set = true;
    node->counters[i] = set->counters[i];
  }
}

/* Huge amounts go straight into the tallies, which saturate. */
void
rd_node_add_set_slow (struct rd_node *node, const struct rd_counter_set *set,
                      const uint64_t *amounts)
{
  flush_set (node);
  if (node->set != set)
    prepare_set (node, set);
  node->set = set;
  add_amounts (node, set, amounts);
}

/*------------------------------------------------------------------------
 * Calls, durations and self times
 *----------------------------------------------------------------------*/

static uint64_t
count_octaves (const struct rd_node *node)
{
  uint64_t n = 0;
  for (size_t i = 0; i < RD_NOCTAVES; i++)
    n += node->octaves[i];
  return n;
}

void
rd_tree_throttle (struct rd_writer_state *writer, size_t n)
{
  size_t *next = &writer->log.next_throttled;
  for (n = n < writer->nnodes ? n : writer->nnodes; n > 0; n--) {
    *next = (*next + 1) % writer->nnodes;
    struct rd_node *node = writer->nodes[*next];
    uint64_t calls = node->nlogged + node->drops;
    if (calls > RD_THROTTLE_CALLS && !node->throttled
        && node->total / calls < writer->recorder->throttle_below) {
      uint64_t mean = rd_max_u64 (node->total / calls, 1);
      node->throttled = true;
      uint64_t threshold = mean * RD_THROTTLE_LONG;
      if (node->trigger != 0)
        threshold = rd_min_u64 (threshold,
                                rd_slow_least (writer->recorder->slow,
                                               node->trigger));
      node->threshold = rd_max_u64 (node->threshold, threshold);
    }
  }
}

/* Durations below a unit, the first octave, count as 0. */
unsigned
rd_octave_bucket (const struct rd_writer_state *writer, size_t octave)
{
  int power = (int) octave - 1 + writer->octave_shift;
  if (octave == 0 || power < 0)
    return 0;
  return power < RADIO_HISTOGRAM_BUCKETS ? (unsigned) power
                                         : RADIO_HISTOGRAM_BUCKETS - 1;
}

void
rd_tree_finish (struct rd_writer_state *writer)
{
  /* The runs in the log are counted here, not when they ended, except those of
   * a ring. */
  for (size_t i = 0; i < writer->nnodes; i++)
    writer->nodes[i]->nlogged = 0;
  for (struct rd_log_chunk *c = writer->log.first; c; c = c->next)
    for (size_t i = 0; i < c->nslots;) {
      const struct rd_log_span *span = &c->slots[i].span;
      struct rd_node *node = writer->nodes[rd_span_node (span)];
      node->nlogged++;
      if (!node->is_in_ring)
        rd_node_add_unlogged (writer, node, rd_span_duration (span), 0);
      i += rd_span_nslots (span);
    }
  rd_octaves_add_pending (writer);

  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    flush_set (node);
    node->total = node->unlogged;
    node->self += node->total + node->self_adjust;
    if (node->edge == RADIO_EDGE_CALL && node->site)
      node->parent->self -= node->total;
    node->calls = count_octaves (node);
    if (node->is_in_ring)
      node->drops = rd_subtract (node->calls, node->nlogged);
  }
  for (size_t i = 0; i < writer->nnodes; i++) {
    struct rd_node *node = writer->nodes[i];
    if (!node->site)          /* the root and stand-ins have no time */
      node->self = node->calls = 0;
    node->work = node->self + node->own_above_self - node->wait;
    if (node->calls == 0)
      node->min = 0;
    if (writer->recorder->tree_only)
      node->drops = 0;
  }
}

/*------------------------------------------------------------------------
 * Accounts of memory
 *----------------------------------------------------------------------*/

struct rd_account *
rd_account_new (struct rd_account *whole)
{
  struct rd_account *account = malloc (sizeof *account);
  if (!account)
    return NULL;
  atomic_init (&account->nrefs, 1);
  atomic_init (&account->live, 0);
  atomic_init (&account->peak, 0);
  account->whole = whole;
  if (whole)
    atomic_fetch_add_explicit (&whole->nrefs, 1, memory_order_relaxed);
  return account;
}

void
rd_account_unref (struct rd_account *account)
{
  while (account
         && atomic_fetch_sub_explicit (&account->nrefs, 1,
                                       memory_order_acq_rel) == 1) {
    struct rd_account *whole = account->whole;
    free (account);
    account = whole;
  }
}

