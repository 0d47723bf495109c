/* SPDX-License-Identifier: MIT */
/* The recorder's part of the base's hooks: memory and failures on the nodes
 * of the tree. */
#include <config.h>

#include "src/base/hooks.h"
#include "profiler/counters.h"
#include "profiler/record/notes.h"
#include "profiler/record/process.h"
#include "profiler/record/tree.h"
#include "profiler/record/writer.h"

/* Charges a block to the innermost scope of the thread that asked for it.
 * Without memory for the node's account the block is counted, but not
 * whether it is held. */
static uint64_t
count_allocated (size_t nbytes)
{
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return 0;
  struct rd_node *node = writer->top->node;
  node->alloc_count++;
  node->alloc_nbytes += nbytes;
  if (!node->account)
    node->account = rd_account_new (writer->recorder->account);
  struct rd_account *account = node->account;
  if (account)
    atomic_fetch_add_explicit (&account->nrefs, 1, memory_order_relaxed);
  for (struct rd_account *a = account; a; a = a->whole) {
    int64_t live = atomic_fetch_add_explicit (&a->live, (int64_t) nbytes,
                                              memory_order_relaxed)
                   + (int64_t) nbytes;
    int64_t peak = atomic_load_explicit (&a->peak, memory_order_relaxed);
    while (live > peak
           && !atomic_compare_exchange_weak_explicit (
             &a->peak, &peak, live, memory_order_relaxed,
             memory_order_relaxed)) { }
  }
  rd_writer_leave (writer);
  return (uintptr_t) account;
}

static void
count_released (uint64_t owner, size_t nbytes)
{
  struct rd_account *account = (struct rd_account *) (uintptr_t) owner;
  for (struct rd_account *a = account; a; a = a->whole)
    atomic_fetch_sub_explicit (&a->live, (int64_t) nbytes,
                               memory_order_relaxed);
  rd_account_unref (account);
}

/* When a message is written it is not known yet whether the operation fails
 * with it: the innermost scope is remembered, and marked if the operation
 * around it fails with the same status. */

static struct rd_writer_state *
enter_current (void)
{
  struct rd_writer_state *writer = rd_this_thread.current;
  return writer && rd_writer_enter (writer) ? writer : NULL;
}

/* True if the remembered scope failed with the status within the innermost
 * one, which began before it. */
static bool
is_within (const struct rd_writer_state *writer, enum radio_status status)
{
  return writer->failure.status == status
         && writer->failure.sequence > rd_frame_sequence (writer->top);
}

static void
remember_failure (enum radio_status status, bool is_again)
{
  struct rd_writer_state *writer = enter_current ();
  if (!writer)
    return;
  if (!is_again || !is_within (writer, status)) {
    writer->failure.status = status;
    writer->failure.sequence = rd_frame_sequence (writer->top);
    writer->failure.node = writer->top->node;
  }
  rd_writer_leave (writer);
}

const struct rd_base_hooks rd_base_hooks = {
  .allocated = count_allocated,
  .released = count_released,
  .failed = remember_failure,
};

void
rd_record_failed_within (enum radio_status status)
{
  struct rd_writer_state *writer = enter_current ();
  if (!writer)
    return;
  struct rd_node *node = writer->failure.node;
  if (node && is_within (writer, status)) {
    const struct rd_log_text text = {
      .sequence = writer->failure.sequence,
      .kind = RADIO_TEXT_PLAIN,
      .key = RD_NOTE_FAILED,
    };
    rd_node_count (node, &rd_count_failures, 1, 0);
    /* The span has the text only if the log has the span. */
    rd_texts_add (&writer->texts, node, !writer->recorder->tree_only, &text,
                  radio_status_name (status));
  }
  writer->failure.node = NULL;
  writer->failure.status = RADIO_OK;
  rd_writer_leave (writer);
}
