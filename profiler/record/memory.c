/* SPDX-License-Identifier: MIT */
/* Accounts of memory: counts of bytes held, with references. */
#include <config.h>

#include <stdlib.h>

#include "profiler/record/memory.h"

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
