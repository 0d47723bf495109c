/* SPDX-License-Identifier: MIT */
/* What there is one of in a process: the switch, the recorder of all its
 * threads, and what fork does to both.  A child of fork records nothing: the
 * threads that it was recording are not there, and their locks may be held
 * for ever. */
#include <config.h>

#include <pthread.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/syscall.h>
#endif
#if defined __linux__ && defined SYS_membarrier
#include <linux/membarrier.h>
#endif

#include "src/base/cleanup.h"
#include "profiler/record/recorder.h"
#include "profiler/record/writer.h"

unsigned radio_profile_switch;

static struct {
  pthread_mutex_t mutex;
  _Atomic (struct radio_recorder *) recorder;   /* changed under mutex */
  _Atomic uint64_t serial;    /* the recorder's */
  atomic_uint generation;
  _Atomic uint64_t next_serial;
  atomic_uint next_epoch;
} process = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/*------------------------------------------------------------------------
 * fork
 *----------------------------------------------------------------------*/

static void
before_fork (void)
{
  pthread_mutex_lock (&process.mutex);
}

static void
after_fork_in_parent (void)
{
  pthread_mutex_unlock (&process.mutex);
}

static void
after_fork_in_child (void)
{
  __atomic_store_n (&radio_profile_switch, 0, __ATOMIC_RELAXED);
  atomic_store (&process.recorder, NULL);
  atomic_fetch_add (&process.generation, 1);
  rd_thread_forget ();
  pthread_mutex_unlock (&process.mutex);
}

static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static bool is_ready;

static void
init_process (void)
{
  is_ready = rd_thread_init ()
             && pthread_atfork (before_fork, after_fork_in_parent,
                                after_fork_in_child) == 0;
}

bool
rd_process_init (void)
{
  pthread_once (&process_once, init_process);
  return is_ready;
}

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

/*------------------------------------------------------------------------
 * Numbers
 *----------------------------------------------------------------------*/

uint64_t
rd_recorder_next_serial (void)
{
  return atomic_fetch_add (&process.next_serial, 1) + 1;
}

/* The low 15 bits tell writers apart, and are not all zero. */
uint64_t
rd_recorder_first_id (void)
{
  unsigned epoch = atomic_fetch_add (&process.next_epoch, 1);
  return RD_ID_STEP | (epoch % (RD_ID_MARK - 1) + 1);
}

/*------------------------------------------------------------------------
 * The switch and the process's recorder
 *----------------------------------------------------------------------*/

struct radio_recorder *
rd_process_recorder (uint64_t but_not_serial)
{
  if (!atomic_load_explicit (&process.recorder, memory_order_relaxed)
      || atomic_load_explicit (&process.serial, memory_order_relaxed)
         == but_not_serial)
    return NULL;
  RD_LOCK_SCOPE (&process.mutex);
  struct radio_recorder *recorder = atomic_load (&process.recorder);
  if (recorder)
    rd_recorder_ref (recorder);
  return recorder;
}

enum radio_status
rd_process_enter (struct radio_recorder *recorder)
{
  RD_LOCK_SCOPE (&process.mutex);
  if (recorder->whole_process) {
    if (atomic_load (&process.recorder))
      return rd_fail (RADIO_ERROR_EXISTS, "the whole process is recorded "
                      "already; stop that recorder first");
    atomic_store (&process.serial, recorder->serial);
    atomic_store (&process.recorder, recorder);
  }
  __atomic_fetch_add (&radio_profile_switch, 1, __ATOMIC_RELAXED);
  return RADIO_OK;
}

void
rd_process_leave (struct radio_recorder *recorder)
{
  RD_LOCK_SCOPE (&process.mutex);
  if (atomic_load (&process.recorder) == recorder)
    atomic_store (&process.recorder, NULL);
  __atomic_fetch_sub (&radio_profile_switch, 1, __ATOMIC_RELAXED);
}

/*------------------------------------------------------------------------
 * The asymmetric barrier
 *----------------------------------------------------------------------*/

#if defined __linux__ && defined SYS_membarrier

bool
rd_process_has_barrier (void)
{
  return syscall (SYS_membarrier,
                  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void
rd_process_barrier (void)
{
  syscall (SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

#else

bool
rd_process_has_barrier (void)
{
  return false;
}

void
rd_process_barrier (void)
{
}

#endif
