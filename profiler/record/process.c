/* SPDX-License-Identifier: MIT */
/* The process and its threads.
 *
 * A child of fork records nothing: the threads that it recorded do not exist
 * there, and their locks may be held for ever.
 *
 * A thread keeps each writer that it ever got until the writer's recorder
 * stops or the thread ends; each one holds a reference to its recorder.  The
 * current one is the top of a stack: a thread that is recorded by itself, or
 * by the process's recorder, can be received into another recorder for the
 * time of a scope.  A thread notices that a recorder stopped when it next
 * uses the recorder, and drops its writer then. */
#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif
#ifdef HAVE_LINUX_MEMBARRIER_H
#include <linux/membarrier.h>
#endif

#include "src/base/error.h"
#include "src/base/proc.h"
#include "src/base/text.h"
#include "profiler/record/frame.h"
#include "profiler/record/image.h"
#include "profiler/record/log.h"
#include "profiler/record/process.h"
#include "profiler/record/writer.h"

/* Limit of the threads of one writer that are distinguished; all later ones
 * share the last session. */
#define MAX_SESSIONS 65536

unsigned radio_profile_switch;

static struct {
  pthread_mutex_t mutex;
  _Atomic (struct radio_recorder *) recorder;   /* changed under mutex */
  _Atomic uint64_t serial;    /* the recorder's */
  struct radio_recorder *running;     /* all that were not stopped; under
                                         mutex */
  atomic_uint generation;
} process = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static pthread_key_t thread_key;

/*------------------------------------------------------------------------
 * The switch and the process's recorder
 *----------------------------------------------------------------------*/

unsigned
rd_process_generation (void)
{
  return atomic_load (&process.generation);
}

bool
rd_recorder_is_forked (const struct radio_recorder *recorder)
{
  return recorder->generation != rd_process_generation ();
}

enum radio_status
rd_fail_recorder_forked (void)
{
  return rd_fail (RADIO_ERROR_FORKED, "the recorder was started by the parent, "
                  "before fork: this child records nothing; start another one");
}

enum radio_status
rd_process_enter (struct radio_recorder *recorder)
{
  RD_THREAD_LOCK_SCOPE (&process.mutex);
  if (recorder->whole_process) {
    if (atomic_load (&process.recorder))
      return rd_fail (RADIO_ERROR_EXISTS, "the whole process is recorded "
                      "already; stop that recorder first");
    atomic_store (&process.serial, recorder->serial);
    atomic_store (&process.recorder, recorder);
  }
  recorder->next_running = process.running;
  process.running = recorder;
  __atomic_fetch_add (&radio_profile_switch, 1, __ATOMIC_RELAXED);
  return RADIO_OK;
}

/* Called with the mutex held. */
static bool
end_running (const struct radio_recorder *recorder)
{
  struct radio_recorder **at = &process.running;
  while (*at && *at != recorder)
    at = &(*at)->next_running;
  if (*at == NULL)
    return false;
  *at = (*at)->next_running;
  return true;
}

bool
rd_process_claim (const struct radio_recorder *recorder)
{
  RD_THREAD_LOCK_SCOPE (&process.mutex);
  return end_running (recorder);
}

void
rd_process_leave (struct radio_recorder *recorder)
{
  RD_THREAD_LOCK_SCOPE (&process.mutex);
  (void) end_running (recorder);
  if (atomic_load (&process.recorder) == recorder)
    atomic_store (&process.recorder, NULL);
  __atomic_fetch_sub (&radio_profile_switch, 1, __ATOMIC_RELAXED);
}

/*------------------------------------------------------------------------
 * The asymmetric barrier
 *----------------------------------------------------------------------*/

bool
rd_process_has_barrier (void)
{
#ifdef HAVE_LINUX_MEMBARRIER_H
  return syscall (SYS_membarrier,
                  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

void
rd_process_barrier (void)
{
#ifdef HAVE_LINUX_MEMBARRIER_H
  syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
#endif
}

/*------------------------------------------------------------------------
 * Sessions: the threads that had a writer, one after the other, and their
 * names, which are the operating system's unless the program set one.
 *----------------------------------------------------------------------*/

/* Sets a session's name to the calling thread's. */
static void
set_session_name (struct rd_session *session)
{
  const struct rd_thread *thread = &rd_this_thread;
  session->is_named = thread->is_named;
  if (thread->is_named)
    memcpy (session->name, thread->name, sizeof session->name);
  else if (pthread_getname_np (pthread_self (), session->name,
                               sizeof session->name) != 0)
    session->name[0] = '\0';
}

/* The same of the last session of the entered writer. */
static void
update_session_name (struct rd_writer_state *writer)
{
  if (writer->sessions.n > 0)
    set_session_name (&writer->sessions.at[writer->sessions.n - 1]);
}

/* Not by the thread's handle, which is invalid once the thread has ended. */
void
rd_session_read_name (struct rd_session *session)
{
  char path[64], name[sizeof session->name];
  if (session->is_named || session->os_tid == 0)
    return;
  snprintf (path, sizeof path, "/proc/self/task/%llu/comm",
            (unsigned long long) session->os_tid);
  size_t n = rd_proc_read (path, name, sizeof name);
  if (n <= 1)
    return;
  name[n - 1] = '\0';
  memcpy (session->name, name, n);
}

/* A name is cut at a whole character. */
void
radio_thread_name (const char *name)
{
  struct rd_thread *thread = &rd_this_thread;
  size_t n = name ? strlen (name) : 0, room = sizeof thread->name - 1;
  if (n > room)
    n = rd_utf8_cut (name, room);
  memset (thread->name, 0, sizeof thread->name);
  if (n > 0)
    memcpy (thread->name, name, n);
  thread->is_named = name != NULL;
  for (struct rd_writer_state *w = thread->mine; w; w = w->next_mine)
    if (rd_writer_enter (w)) {
      update_session_name (w);
      rd_writer_leave (w);
    }
}

/*------------------------------------------------------------------------
 * The calling thread's writers
 *----------------------------------------------------------------------*/

void
rd_thread_purge (void)
{
  struct rd_thread *thread = &rd_this_thread;
  struct rd_writer_state **w = &thread->current;
  rd_thread_enter ();
  while (*w)
    if (rd_writer_is_stopped (*w))
      rd_thread_link (w, (*w)->below);
    else
      w = &(*w)->below;
  w = &thread->mine;
  while (*w) {
    struct rd_writer_state *writer = *w;
    if (!rd_writer_is_stopped (writer)) {
      w = &writer->next_mine;
      continue;
    }
    rd_thread_link (w, writer->next_mine);
    rd_recorder_unref (writer->recorder);
  }
  rd_writer_come_back ();
  rd_thread_leave ();
}

/* How many of the first sessions have no span in the ring any more. */
static size_t
count_gone (const struct rd_writer_state *writer)
{
  const struct rd_log_chunk *first = writer->log.first;
  uint64_t oldest = writer->next_id >> 16;
  size_t n = 0;
  if (first && (first != writer->log.last || writer->log_next > first->slots))
    oldest = rd_span_sequence (&first->slots->span);
  while (n + 1 < writer->sessions.n
         && writer->sessions.at[n + 1].first <= oldest)
    n++;
  return n;
}

/* Makes room in the sessions of a ring that would have to grow: else a service
 * whose threads come and go would need more and more memory.  A reader of a
 * killed process's memory sees the old array, or the new one, which has the
 * last session several times for a moment. */
static void
forget_sessions (struct rd_writer_state *writer)
{
  struct rd_arena *arena = writer->recorder->arena;
  const size_t n = writer->sessions.n, capacity = writer->sessions.capacity;
  struct rd_session *old = writer->sessions.at, *kept;
  if (writer->recorder->ring_nbytes == 0 || n < capacity || n == 0)
    return;
  size_t ngone = count_gone (writer);
  if (ngone == 0 || ngone < (n < MAX_SESSIONS ? n / 2 : n / 16))
    return;
  kept = rd_arena_alloc (arena, 1, capacity * sizeof *kept);
  if (!kept)
    return;
  memcpy (kept, old + ngone, (n - ngone) * sizeof *kept);
  for (size_t i = n - ngone; i < n; i++)
    kept[i] = old[n - 1];
  rd_commit ();
  writer->sessions.at = kept;
  rd_commit ();
  writer->sessions.n = n - ngone;
  rd_arena_release (arena, old, capacity * sizeof *old);
}

/* Returns NULL if there is no session yet. */
static struct rd_session *
last_session (const struct rd_writer_state *writer)
{
  size_t n = writer->sessions.n;
  return n > 0 ? &writer->sessions.at[n - 1] : NULL;
}

/* Room for one after the last, which is not counted yet; NULL: none. */
static struct rd_session *
new_session (struct rd_writer_state *writer)
{
  forget_sessions (writer);
  return rd_array_grow (writer->recorder->arena, &writer->sessions.at,
                        &writer->sessions.capacity, writer->sessions.n,
                        MAX_SESSIONS, sizeof *writer->sessions.at)
         ? &writer->sessions.at[writer->sessions.n] : NULL;
}

/* A new writer for this thread, with a reference to the recorder. */
static struct rd_writer_state *
attach_thread (struct radio_recorder *recorder)
{
  struct rd_thread *thread = &rd_this_thread;
  if (pthread_setspecific (thread_key, thread) != 0)
    return NULL;
  struct rd_writer_state *writer = rd_recorder_take_writer (recorder);
  if (!writer)
    return NULL;
  rd_thread_link (&writer->next_mine, thread->mine);
  thread->mine = writer;
  if (!rd_writer_enter (writer))
    return writer;

  /* The thread continues the last session if that was its own, and takes it
   * over if that left nothing in the log. */
#ifdef __linux__
  uint64_t os_tid = (uint64_t) syscall (SYS_gettid);
#else
  uint64_t os_tid = (uint64_t) (uintptr_t) &rd_this_thread;
#endif
  struct rd_session *last = last_session (writer), *session = last;
  bool is_same = last && last->os_tid == os_tid;
  bool is_unused = rd_log_mark (writer) == writer->session_mark
                   && writer->texts.n == 0;
  bool is_new = !is_same && (!last || !is_unused);
  if (is_new) {
    session = new_session (writer);
    last = last_session (writer);
  }
  if (session) {
    if (!is_same)
      session->first = writer->next_id >> 16;
    session->os_tid = os_tid;
    set_session_name (session);
    rd_commit ();
    writer->sessions.n += is_new;
  } else if (last) {
    last->os_tid = 0;
    last->is_named = true;
    snprintf (last->name, sizeof last->name, "further threads");
  }
  writer->session_mark = rd_log_mark (writer);
  rd_frame_begin_thread (writer);
  rd_writer_leave (writer);
  return writer;
}

struct rd_writer_state *
rd_writer_push (struct radio_recorder *recorder)
{
  struct rd_thread *thread = &rd_this_thread;
  if (thread->ninside > 0)    /* the caller then counts a scope as dropped */
    return NULL;
  rd_thread_enter ();
  rd_thread_purge ();
  struct rd_writer_state *writer = thread->mine;
  while (writer && writer->recorder != recorder)
    writer = writer->next_mine;
  if (!writer)
    writer = attach_thread (recorder);
  if (writer && rd_writer_is_stopped (writer))
    writer = NULL;
  if (writer) {
    if (thread->current)
      rd_writer_go_away (thread->current);
    rd_thread_link (&writer->below, thread->current);
    thread->current = writer;
  }
  rd_thread_leave ();
  return writer;
}

struct rd_writer_state *
rd_writer_push_below (struct radio_recorder *recorder)
{
  struct rd_writer_state **bottom = &rd_this_thread.current;
  rd_thread_enter ();
  while (*bottom)
    bottom = &(*bottom)->below;
  struct rd_writer_state *writer = attach_thread (recorder);
  if (writer) {
    rd_thread_link (&writer->below, NULL);
    rd_thread_link (bottom, writer);
    rd_writer_go_away (writer);
  }
  rd_thread_leave ();
  return writer;
}

/* The thread's writer of the process's recorder; NULL without one, or if it
 * could not add this thread before. */
static struct rd_writer_state *
attach_to_process (void)
{
  if (!atomic_load_explicit (&process.recorder, memory_order_relaxed)
      || atomic_load_explicit (&process.serial, memory_order_relaxed)
         == rd_this_thread.refused_serial)
    return NULL;
  rd_thread_lock (&process.mutex);
  struct radio_recorder *recorder = atomic_load (&process.recorder);
  if (recorder)
    rd_recorder_ref (recorder);
  rd_thread_unlock (&process.mutex);
  if (!recorder)
    return NULL;

  struct rd_writer_state *writer = rd_writer_push (recorder);
  if (!writer) {
    RD_THREAD_LOCK_SCOPE (&recorder->mutex);
    if (!recorder->synced.stopped) {
      recorder->synced.nrefused++;
      rd_image_update (recorder);
      rd_this_thread.refused_serial = recorder->serial;
    }
  }
  rd_recorder_unref (recorder);
  return writer;
}

void
rd_thread_hide (void)
{
  rd_this_thread.is_hidden = true;
}

/* Tests' clocks have no such threads. */
void
rd_thread_charge (struct radio_recorder *recorder)
{
  struct rd_thread *thread = &rd_this_thread;
  struct rd_image_header *header = recorder ? recorder->header : NULL;
  if (!header || recorder->clock.read)
    return;
  uint64_t cpu_ns = rd_clock_cpu_ns (&recorder->clock);
  __atomic_fetch_add (&header->own_cpu_ns,
                      rd_subtract (cpu_ns, thread->charged_ns),
                      __ATOMIC_RELAXED);
  thread->charged_ns = cpu_ns;
}

struct rd_writer_state *
rd_writer_current (void)
{
  struct rd_thread *thread = &rd_this_thread;
  if (thread->is_hidden || rd_thread_interrupts ())
    return NULL;
  if (thread->current && rd_writer_is_stopped (thread->current))
    rd_thread_purge ();
  return thread->current ? thread->current : attach_to_process ();
}

/*------------------------------------------------------------------------
 * The end of a thread, and fork
 *----------------------------------------------------------------------*/

static void
end_thread (void *arg)
{
  struct rd_thread *thread = arg;
  while (thread->mine) {
    struct rd_writer_state *writer = thread->mine;
    struct radio_recorder *recorder = writer->recorder;
    struct rd_tap_ends ends;
    ends.n = 0;
    /* Asynchronous cancellation may have ended the thread within a change,
     * which no one would end: what was stored of it stays. */
    thread->ninside = 0;
    atomic_store (&writer->busy, 0);
    rd_thread_enter ();
    thread->current = NULL;
    if (rd_writer_enter (writer)) {
      /* While the writer is still the thread's own: its CPU clock is read. */
      while (writer->top > writer->frames)
        rd_frame_abandon (writer, true, &ends);
      update_session_name (writer);
      rd_writer_leave (writer);
    }
    thread->mine = writer->next_mine;
    rd_recorder_give_writer (recorder, writer);
    rd_recorder_unref (recorder);
    rd_thread_leave ();

    /* Taps are called last: one that records attaches the thread once more. */
    rd_tap_end (&ends);
  }
}

static void
before_fork (void)
{
  rd_thread_lock (&process.mutex);
}

static void
after_fork_in_parent (void)
{
  rd_thread_unlock (&process.mutex);
}

static void
after_fork_in_child (void)
{
  __atomic_store_n (&radio_profile_switch, 0, __ATOMIC_RELAXED);
  atomic_store (&process.recorder, NULL);
  atomic_fetch_add (&process.generation, 1);
  rd_this_thread.current = NULL;
  rd_this_thread.hidden = NULL;
  rd_this_thread.mine = NULL;
  rd_thread_unlock (&process.mutex);
}

static bool is_ready;

static void
init_process (void)
{
  is_ready = pthread_key_create (&thread_key, end_thread) == 0
             && pthread_atfork (before_fork, after_fork_in_parent,
                                after_fork_in_child) == 0;
}

bool
rd_process_init (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once (&once, init_process);
  return is_ready;
}
