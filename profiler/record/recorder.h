/* SPDX-License-Identifier: MIT */
/* What threads want of recorders, and what the process has one of. */
#ifndef RD_RECORDER_H
#define RD_RECORDER_H

#include "profiler/record/record.h"

/* A writer that no thread has, or a new one, with a reference to the
 * recorder.  NULL: it was stopped, or there is no memory. */
struct rd_writer_state *
rd_recorder_take_writer (struct radio_recorder *recorder);

/* The thread of a writer ended.  Keeps the reference. */
void rd_recorder_give_writer (struct radio_recorder *recorder,
                              struct rd_writer_state *writer);

/* Count a thread that could not be recorded.  False: it was because the
 * recorder was stopped. */
bool rd_recorder_refuse (struct radio_recorder *recorder);

/* The two halves of radio_recorder_stop, between which the tree and the log
 * are whole and nobody writes any more. */
void rd_recorder_freeze (struct radio_recorder *recorder);
void rd_recorder_release (struct radio_recorder *recorder);

/*------------------------------------------------------------------------
 * process.c
 *----------------------------------------------------------------------*/

/* Once, before anything else.  False: the system has no room for our
 * handlers. */
bool rd_process_init (void);

/* Changes in every child of fork. */
unsigned rd_process_generation (void);

/* A serial number for a recorder, and a first token for a writer. */
uint64_t rd_recorder_next_serial (void);
uint64_t rd_recorder_first_id (void);

/* The recorder of the whole process, with a reference; NULL if there is none
 * or it has this serial number. */
struct radio_recorder *rd_process_recorder (uint64_t but_not_serial);

/* Turn the switch on for a recorder, which may become the process's.
 * RADIO_ERROR_EXISTS: that has one. */
enum radio_status rd_process_enter (struct radio_recorder *recorder)
  RADIO_USE_RESULT;
void rd_process_leave (struct radio_recorder *recorder);

/* Whether rd_process_barrier works here. */
bool rd_process_has_barrier (void);

/* Every thread of the process runs a full memory barrier. */
void rd_process_barrier (void);

/*------------------------------------------------------------------------
 * cost.c
 *----------------------------------------------------------------------*/

/* Nanoseconds of one scope in tree and log, by this kind of clock; measured
 * at the first call, which takes some tenths of a millisecond.  0: there was
 * no memory to measure it. */
double rd_scope_cost_ns (const struct rd_clock *clock);

/* A recorder that nobody but the caller knows, for measuring. */
struct radio_recorder *rd_recorder_alone (const struct rd_clock *clock,
                                          size_t max_spans);

#endif /* RD_RECORDER_H */
