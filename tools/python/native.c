/* SPDX-License-Identifier: MIT */
/* libradio._native's additions to the library: its callbacks in C, so that they
 * enter Python only to look for signals, on the main thread alone.  Included by
 * the module that cffi generates. */
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The user_data of a call's callbacks. */
struct python_call {
  uint64_t next_ns;           /* when signals are looked for again */
  atomic_bool stop;           /* set from outside: python_progress ends it */
  _Atomic uint64_t done_nbytes, total_nbytes;   /* from python_progress */
  atomic_bool is_locked;      /* text and nbytes, by a thread, for a moment */
  char *text;                 /* lines, each with its NUL, or bytes; from
                                 malloc */
  size_t nbytes;              /* of text */
  bool lacks_memory;          /* some bytes are missing */
  struct radio_volume *volume;            /* for python_open_volume */
  struct radio_pipeline *pipeline;
  uint64_t *bins;                         /* for python_copy_bins */
  size_t nbins;
};

/* Implemented in Python: returns whether a handler of a signal raised. */
static bool python_check_signals (void);

enum { SIGNALS_NS = 50000000 };

/* A radio_cancel_fn.  The library calls it often, and entering Python may have
 * to wait for the lock of the interpreter: so it is done each 50 ms. */
static bool
python_cancel (void *user_data)
{
  struct python_call *call = user_data;
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  uint64_t now_ns = (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
  if (call->next_ns == 0)
    call->next_ns = now_ns + SIGNALS_NS;
  if (now_ns < call->next_ns)
    return false;
  call->next_ns = now_ns + SIGNALS_NS;
  return python_check_signals ();
}

static void
lock (struct python_call *call)
{
  while (atomic_exchange (&call->is_locked, true))
    sched_yield ();
}

static void
unlock (struct python_call *call)
{
  atomic_store (&call->is_locked, false);
}

/* A radio_profile_sink_fn: keeps the bytes. */
static enum radio_status
python_bytes (const void *data, size_t nbytes, void *user_data)
{
  struct python_call *call = user_data;

  lock (call);
  char *text = realloc (call->text, call->nbytes + nbytes);
  if (text) {
    memcpy (text + call->nbytes, data, nbytes);
    call->text = text;
    call->nbytes += nbytes;
  } else
    call->lacks_memory = true;
  unlock (call);
  return call->lacks_memory ? RADIO_ERROR_MEMORY : RADIO_OK;
}

/* A radio_warning_fn, and a radio_damage_fn: keeps the line.  Those of a file
 * may come from several threads. */
static void
python_line (const char *message, void *user_data)
{
  python_bytes (message, strlen (message) + 1, user_data);
}

/* A radio_entry_fn: keeps the path. */
static enum radio_status
python_entry (const struct radio_entry *entry, void *user_data)
{
  struct python_call *call = user_data;

  python_line (entry->path, call);
  return call->lacks_memory ? RADIO_ERROR_MEMORY : RADIO_OK;
}

/* A radio_progress_fn: keeps the figures, for another thread. */
static enum radio_status
python_progress (const struct radio_progress *progress, void *user_data)
{
  struct python_call *call = user_data;

  atomic_store (&call->done_nbytes, progress->done_nbytes);
  atomic_store (&call->total_nbytes, progress->total_nbytes);
  return atomic_load (&call->stop) ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

static void
python_get_progress (struct python_call *call, uint64_t *done_nbytes,
                     uint64_t *total_nbytes)
{
  *done_nbytes = atomic_load (&call->done_nbytes);
  *total_nbytes = atomic_load (&call->total_nbytes);
}

static void
python_stop (struct python_call *call)
{
  atomic_store (&call->stop, true);
}

/* A radio_cancel_fn, for threads other than the main one. */
static bool
python_is_stopped (void *user_data)
{
  struct python_call *call = user_data;

  return atomic_load (&call->stop);
}

/* A radio_group_open_fn: another handle of the call's volume. */
static enum radio_status
python_open_volume (size_t i, struct radio_volume **volume,
                    struct radio_volume **mask, void *user_data)
{
  struct python_call *call = user_data;

  (void) i;
  (void) mask;
  return radio_volume_apply (call->volume, call->pipeline, volume);
}

/* A radio_group_fn. */
static enum radio_status
python_copy_bins (const struct radio_group_figures *figures, void *user_data)
{
  struct python_call *call = user_data;

  memcpy (call->bins, figures->bins, call->nbins * sizeof *call->bins);
  return RADIO_OK;
}

/* Returns the lines, which the caller frees, or NULL; there are none then. */
static char *
python_take (struct python_call *call, size_t *nbytes)
{
  lock (call);
  char *text = call->text;
  *nbytes = call->nbytes;
  call->text = NULL;
  call->nbytes = 0;
  unlock (call);
  return text;
}

/* Frees the lines. */
static void
python_clear (struct python_call *call)
{
  size_t nbytes;

  free (python_take (call, &nbytes));
}

/* Stop a recorder and commit a volume, and set the pointer to NULL, so that
 * what owns it does not end it once more: an exception of a signal may come as
 * the call returns.  NULL is success. */
static enum radio_status
python_stop_recorder (struct radio_recorder **recorder,
                      struct radio_profile **profile)
{
  struct radio_recorder *taken = *recorder;

  *recorder = NULL;
  return taken ? radio_recorder_stop (taken, profile) : RADIO_OK;
}

static enum radio_status
python_commit_volume (struct radio_writer **writer)
{
  struct radio_writer *taken = *writer;

  *writer = NULL;
  return taken ? radio_volume_commit (taken, NULL,
                                      sizeof (struct radio_ingest_result))
               : RADIO_OK;
}

/* Frees what the library allocated by malloc. */
static void
python_free (void *block)
{
  free (block);
}
