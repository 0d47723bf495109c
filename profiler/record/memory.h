/* SPDX-License-Identifier: MIT */
/* Whose memory a block is.  A block outlives the scope that asked for it,
 * and often the recorder: so what it carries is neither a node nor an index
 * into anything that may be gone, but an account with a count of references,
 * one for the node and one for each block that is held. */
#ifndef RD_MEMORY_H
#define RD_MEMORY_H

#include <stdatomic.h>
#include <stdint.h>

/* Of one node; or of a whole recorder, then `whole' is NULL. */
struct rd_account {
  atomic_size_t nrefs;
  _Atomic int64_t live;       /* bytes held */
  _Atomic int64_t peak;       /* of live */
  struct rd_account *whole;   /* a reference */
};

/* A new account with one reference; whole may be NULL.  NULL without
 * memory. */
struct rd_account *rd_account_new (struct rd_account *whole);

/* NULL is legal. */
void rd_account_unref (struct rd_account *account);

/* A block is held, and refers to the account; and no more.  The whole's
 * figures follow.  From any thread, at any time. */
void rd_account_add (struct rd_account *account, size_t nbytes);
void rd_account_remove (struct rd_account *account, size_t nbytes);

#endif /* RD_MEMORY_H */
