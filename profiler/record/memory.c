/* SPDX-License-Identifier: MIT */
/* The allocator's hooks: memory on the nodes of the tree.  A block belongs
 * to the innermost scope of the thread that asked for it, and goes back to
 * its account wherever and whenever it is released. */
#include <config.h>

#include <stdlib.h>

#include "src/base/alloc.h"
#include "profiler/record/memory.h"
#include "profiler/record/writer.h"

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

void
rd_account_add (struct rd_account *account, size_t nbytes)
{
  atomic_fetch_add_explicit (&account->nrefs, 1, memory_order_relaxed);
  for (; account; account = account->whole) {
    int64_t live = atomic_fetch_add_explicit (&account->live,
                                              (int64_t) nbytes,
                                              memory_order_relaxed)
                   + (int64_t) nbytes;
    int64_t peak = atomic_load_explicit (&account->peak,
                                         memory_order_relaxed);
    while (live > peak
           && !atomic_compare_exchange_weak_explicit (
             &account->peak, &peak, live, memory_order_relaxed,
             memory_order_relaxed)) { }
  }
}

void
rd_account_remove (struct rd_account *account, size_t nbytes)
{
  for (struct rd_account *a = account; a; a = a->whole)
    atomic_fetch_sub_explicit (&a->live, (int64_t) nbytes,
                               memory_order_relaxed);
  rd_account_unref (account);
}

/* The account that a block of the node goes to; NULL without memory: then
 * it is counted, but not whether it is held. */
static struct rd_account *
account_of (const struct rd_writer_state *writer, struct rd_node *node)
{
  if (!node->account)
    node->account = rd_account_new (writer->recorder->account);
  return node->account;
}

uint64_t
rd_record_allocated (size_t nbytes)
{
  struct rd_writer_state *writer = rd_writer_current ();
  if (!writer || !rd_writer_enter (writer))
    return 0;
  struct rd_node *node = writer->top->node;
  node->alloc_count++;
  node->alloc_nbytes += nbytes;
  struct rd_account *account = account_of (writer, node);
  if (account)
    rd_account_add (account, nbytes);
  rd_writer_leave (writer);
  return (uintptr_t) account;
}

void
rd_record_released (uint64_t owner, size_t nbytes)
{
  rd_account_remove ((struct rd_account *) (uintptr_t) owner, nbytes);
}
