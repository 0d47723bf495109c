/* SPDX-License-Identifier: MIT */
/* Helpers for implementations of stores (and for those who wrap one): keys,
 * ranges, sorted listings, locks within a process, and waiting. */
#ifndef RD_STORE_H
#define RD_STORE_H

#include <pthread.h>

#include "profiler/counters.h"
#include "io/io.h"

/*------------------------------------------------------------------------
 * Keys: every store checks them before use, so that no key leads out of
 * its folder
 *----------------------------------------------------------------------*/

/* RADIO_ERROR_ARGUMENT, naming the key, unless it is valid for an object. */
enum radio_status rd_key_check (const struct rd_io *io, const char *key)
  RADIO_USE_RESULT;

/* The same for a prefix, which may be "". */
enum radio_status rd_prefix_check (const struct rd_io *io,
                                   const char *prefix) RADIO_USE_RESULT;

/* The part of a key after "PREFIX/", or the key for the prefix ""; NULL when
 * the key is not below the prefix. */
const char *rd_key_below (const char *key, const char *prefix);

/*------------------------------------------------------------------------
 * Reads and writes
 *----------------------------------------------------------------------*/

struct rd_byte_range {
  uint64_t offset;
  uint64_t nbytes;            /* all of them inside the object */
};

/* Resolves the range of a read against the object's size, by the same rule
 * in every store, and sets get->object_nbytes.  RADIO_ERROR_LIMIT when the
 * whole object is requested and larger than accepted. */
enum radio_status rd_range_resolve (const struct rd_io *io,
                                    struct rd_io_get *get,
                                    uint64_t object_nbytes,
                                    struct rd_byte_range *span)
  RADIO_USE_RESULT;

/* Sets the result of a read and calls its done. */
void rd_get_finish (struct rd_io_get *get, enum radio_status status);

/* The failure of a commit after an append that failed with this status. */
enum radio_status rd_fail_uncommitted (const struct rd_io *io,
                                       const char *key,
                                       enum radio_status status);

/* The amounts of a finished read, for its scope or request in a profile. */
extern const struct rd_counter_set rd_get_set;
void rd_get_count (const struct rd_io_get *get, struct rd_counting *counting);

/*------------------------------------------------------------------------
 * Listings: collected first and reported afterwards, in byte order, so that
 * the callback may use the store and no lock or open folder is held
 * meanwhile
 *----------------------------------------------------------------------*/

struct rd_entries {
  struct rd_io_entry *items;  /* their names are owned */
  size_t n;
  size_t capacity;
};

/* Adds an entry, whose name is the first name_nbytes of `name'. */
enum radio_status rd_entries_add (struct rd_entries *entries,
                                  const char *name, size_t name_nbytes,
                                  bool is_prefix, uint64_t nbytes)
  RADIO_USE_RESULT;

/* Sorts by name and calls fn for each; the first failure ends it. */
enum radio_status rd_entries_report (struct rd_entries *entries,
                                     rd_io_list_fn *fn, void *user_data)
  RADIO_USE_RESULT;

/* Removes all entries but the first n. */
void rd_entries_cut (struct rd_entries *entries, size_t n);
void rd_entries_free (struct rd_entries *entries);

#define RD_ENTRIES_SCOPE RD_CLEANUP (rd_entries_free)

/*------------------------------------------------------------------------
 * Locks of prefixes within one process, for stores that have no others
 *----------------------------------------------------------------------*/

struct rd_local_lock;

struct rd_local_locks {
  pthread_mutex_t mutex;
  pthread_cond_t was_unlocked;
  struct rd_local_lock *first;        /* guarded by the mutex */
};

enum radio_status rd_local_locks_init (struct rd_local_locks *locks)
  RADIO_USE_RESULT;

/* Called when none is held any more. */
void rd_local_locks_free (struct rd_local_locks *locks);

/* Like lock of a store's table, for a prefix that was checked. */
enum radio_status rd_local_locks_lock (struct rd_local_locks *locks,
                                       const char *prefix, bool wait,
                                       struct rd_io_lock **lock)
  RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * A thread that waits for one call from another
 *----------------------------------------------------------------------*/

struct rd_waiter {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  bool is_done;               /* under the mutex */
};

#define RD_WAITER_INIT \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false }

/* The waiter is not accessed any more after the waiting thread wakes. */
void rd_waiter_wake (struct rd_waiter *waiter);

/* Waits for that; the waiter cannot be used again. */
void rd_waiter_wait (struct rd_waiter *waiter);

/* The same for a call that looks at stop, which is cancelled, and wake called,
 * when the thread's function asks for it (src/base/cancel.h). */
void rd_waiter_wait_or_cancel (struct rd_waiter *waiter,
                               struct rd_io_stop *stop,
                               void (*wake) (void *engine), void *engine);

#endif /* RD_STORE_H */
