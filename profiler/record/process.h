/* SPDX-License-Identifier: MIT */
/* The process and its threads: the switch, the recorder of all threads, fork,
 * the memory barrier, and how threads get writers. */
#ifndef RD_PROCESS_H
#define RD_PROCESS_H

#include "profiler/record/record.h"

/* Once, before anything else.  False: the system has no more room for fork
 * handlers, or for keys of threads' ends. */
bool rd_process_init (void);

/* Changes in every child of fork. */
unsigned rd_process_generation (void);

/* True in a child of the process that started the recorder: nothing of it,
 * least of all its mutex, may be touched then. */
bool rd_recorder_is_forked (const struct radio_recorder *recorder);
enum radio_status rd_fail_recorder_forked (void);

/* Turns the switch on for a recorder, which may become the process's.
 * RADIO_ERROR_EXISTS: that has one. */
enum radio_status rd_process_enter (struct radio_recorder *recorder)
  RADIO_USE_RESULT;
void rd_process_leave (struct radio_recorder *recorder);

/* Called before a recorder is stopped, once: false if it was before, or never
 * was one.  Nothing of it is touched then. */
bool rd_process_claim (const struct radio_recorder *recorder);

/* True if rd_process_barrier works here. */
bool rd_process_has_barrier (void);

/* Every thread of the process runs a full memory barrier. */
void rd_process_barrier (void);

/*------------------------------------------------------------------------
 * Threads
 *----------------------------------------------------------------------*/

/* The calling thread's writer; the process's recorder takes the thread on if
 * it has none.  NULL: it is not recorded. */
struct rd_writer_state *rd_writer_current (void);

/* The calling thread's own writer of this recorder, made current on top of
 * the writer that was, until rd_writer_pop.  NULL: the recorder was stopped,
 * or there is no memory.  A thread keeps the writer, so that doing this again
 * takes no lock.  A writer may be on the stack only once. */
struct rd_writer_state *rd_writer_push (struct radio_recorder *recorder);

/* The same below all others, of a recorder that has none here yet: current when
 * they are popped, or their recorders stop.  There is one at least. */
struct rd_writer_state *rd_writer_push_below (struct radio_recorder *recorder);

/* The calling thread is the profiler's own: no recorder has its scopes, nor the
 * memory that it allocates. */
void rd_thread_hide (void);

/* Charges a recorder with the CPU time that the calling thread, which is one of
 * the profiler's own, had since the last call, or since it began.  The recorder
 * may be NULL, or without an image: then no one is charged. */
void rd_thread_charge (struct radio_recorder *recorder);

/* Drops writers of stopped recorders from the calling thread's list. */
void rd_thread_purge (void);

/* Sets the last session's name to that of its thread, which is of this
 * process and may be another one than the caller. */
void rd_session_read_name (struct rd_session *session);

#endif /* RD_PROCESS_H */
