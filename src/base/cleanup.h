/* SPDX-License-Identifier: MIT */
/* Cleanup on every way out of a scope, by the compiler's attribute, so that
 * functions return where they notice instead of climbing goto ladders.
 * Types declare their own with RD_DEFINE_CLEANUP beside their free function;
 * a pointer that is handed on is set to NULL by RD_STEAL. */
#ifndef RD_CLEANUP_H
#define RD_CLEANUP_H

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/base/alloc.h"

#define RD_CLEANUP(fn) __attribute__ ((__cleanup__ (fn)))

/* Defines rd_cleanup_NAME for a variable of type "TYPE *". */
#define RD_DEFINE_CLEANUP(name, type, free_fn)          \
  static inline void                                    \
  rd_cleanup_##name (type **p)                          \
  {                                                     \
    free_fn (*p);                                       \
  }                                                     \
  struct rd_cleanup_##name##_needs_semicolon

static inline void
rd_cleanup_free (void *p)
{
  rd_free (*(void **) p);
}

static inline void
rd_cleanup_plain_free (void *p)
{
  free (*(void **) p);
}

static inline void
rd_cleanup_fd (int *fd)
{
  if (*fd >= 0)
    close (*fd);
}

static inline void
rd_cleanup_unlock (pthread_mutex_t **mutex)
{
  if (*mutex)
    pthread_mutex_unlock (*mutex);
}

/* Memory of rd_malloc and its kin; PLAIN: of malloc, realpath, ... */
#define RD_FREE RD_CLEANUP (rd_cleanup_free)
#define RD_FREE_PLAIN RD_CLEANUP (rd_cleanup_plain_free)
#define RD_CLOSE_FD RD_CLEANUP (rd_cleanup_fd)

#define RD_CONCAT_(a, b) a##b
#define RD_CONCAT(a, b) RD_CONCAT_ (a, b)

static inline pthread_mutex_t *
rd_lock_mutex (pthread_mutex_t *mutex)
{
  pthread_mutex_lock (mutex);
  return mutex;
}

/* Hold a mutex until the end of the scope. */
#define RD_LOCK_SCOPE(mutex)                                      \
  RD_CLEANUP (rd_cleanup_unlock) __attribute__ ((__unused__))     \
  pthread_mutex_t *RD_CONCAT (rd_held_, __LINE__) = rd_lock_mutex (mutex)

/* The value of a pointer variable, which is NULL afterwards. */
#define RD_STEAL(p)                             \
  __extension__ ({                              \
    __typeof__ (p) rd_stolen_ = (p);            \
    (p) = NULL;                                 \
    rd_stolen_;                                 \
  })

#endif /* RD_CLEANUP_H */
