/* SPDX-License-Identifier: MIT */
/* Signs of life, and answers to readers; see image.h for the header's part. */
#include <config.h>

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/thread.h"
#include "profiler/record/beat.h"
#include "profiler/record/image.h"
#include "profiler/record/process.h"
#include "profiler/record/snapshot.h"
#include "profiler/record/writer.h"

/* The time between two signs: a part of the time since the start, so that what
 * is not known of a process that ends early is a small part, too. */
#define BEAT_PARTS 12
#define LEAST_BEAT_NS 2000000
#define BEAT_NS 100000000

/* A copy that its reader does not return is removed after this many beats. */
#define KEEP_BEATS 300

struct rd_beat {
  struct radio_recorder *recorder;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t end;
  bool ends;                  /* guarded by mutex */
  unsigned nleft;             /* beats for which a copy stays; 0: none */
};

/* Snapshots read the header meanwhile, word by word. */
static void
store (uint64_t *to, uint64_t value)
{
  __atomic_store_n (to, value, __ATOMIC_RELEASE);
}

static void
note_life (struct radio_recorder *recorder)
{
  struct rd_image_header *header = recorder->header;
  struct rd_anchor now, *beat = &header->beats[header->nbeats % 2];
  rd_thread_lock (&recorder->mutex);
  (void) rd_recorder_observe (recorder);
  rd_thread_unlock (&recorder->mutex);
  store (&header->used.throttled_ns, rd_usage_throttled_ns (&recorder->usage));
  rd_clock_anchor (&recorder->clock, &now);
  store (&beat->ticks, now.ticks);
  store (&beat->ns, now.ns);
  store (&beat->cpu_ns, now.cpu_ns);
  store (&header->nbeats, header->nbeats + 1);
}

/* Puts the image of this moment into the file. */
static void
publish_copy (struct rd_beat *beat)
{
  struct rd_image_header *header = beat->recorder->header;
  RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
  uint64_t offset = 0, nbytes = 0;
  if (rd_snapshot_take (beat->recorder, &copy) == RADIO_OK) {
    nbytes = ((const struct rd_image_header *) copy.at)->nbytes;
    offset = rd_arena_put_copy (beat->recorder->arena, copy.at,
                                (size_t) nbytes);
  }
  beat->nleft = offset ? KEEP_BEATS : 0;
  store (&header->copy_offset, offset);
  store (&header->copy_nbytes, offset ? nbytes : 0);
}

static void
answer_reader (struct rd_beat *beat)
{
  struct rd_image_header *header = beat->recorder->header;
  uint64_t wanted = __atomic_load_n (&header->wanted, __ATOMIC_ACQUIRE);
  bool is_new = wanted != header->answered;
  if (is_new && wanted != 0)
    publish_copy (beat);
  else if (beat->nleft > 0 && (is_new || --beat->nleft == 0)) {
    beat->nleft = 0;
    rd_arena_drop_copy (beat->recorder->arena);
  }
  store (&header->answered, wanted);
}

/* When the next sign is due, by CLOCK_MONOTONIC. */
static struct timespec
next_beat (const struct radio_recorder *recorder)
{
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  uint64_t now_ns = (uint64_t) now.tv_sec * 1000000000
                    + (uint64_t) now.tv_nsec;
  uint64_t part = rd_subtract (now_ns, recorder->header->start.ns)
                  / BEAT_PARTS;
  uint64_t ns = (uint64_t) now.tv_nsec
                + rd_min_u64 (rd_max_u64 (part, LEAST_BEAT_NS), BEAT_NS);
  return (struct timespec) {
    now.tv_sec + (time_t) (ns / 1000000000), (long) (ns % 1000000000)
  };
}

static void *
run_beat (void *arg)
{
  struct rd_beat *beat = arg;
  struct timespec next;
  pthread_mutex_lock (&beat->mutex);
  while (!beat->ends) {
    pthread_mutex_unlock (&beat->mutex);
    note_life (beat->recorder);
    rd_arena_hold (beat->recorder->arena);
    answer_reader (beat);
    rd_thread_charge (beat->recorder);
    next = next_beat (beat->recorder);
    pthread_mutex_lock (&beat->mutex);
    while (!beat->ends
           && pthread_cond_timedwait (&beat->end, &beat->mutex, &next) == 0)
      ;
  }
  pthread_mutex_unlock (&beat->mutex);
  return NULL;
}

static void
free_beat (struct rd_beat *beat)
{
  pthread_cond_destroy (&beat->end);
  pthread_mutex_destroy (&beat->mutex);
  free (beat);
}

enum radio_status
rd_beat_start (struct radio_recorder *recorder)
{
  struct rd_beat *beat = calloc (1, sizeof *beat);
  pthread_condattr_t monotonic;
  if (!beat)
    return rd_fail_memory (sizeof *beat);
  beat->recorder = recorder;
  pthread_mutex_init (&beat->mutex, NULL);
  pthread_condattr_init (&monotonic);
  pthread_condattr_setclock (&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init (&beat->end, &monotonic);
  pthread_condattr_destroy (&monotonic);
  /* Readers ask only a process that lives, also before the thread runs. */
  note_life (recorder);
  int number = rd_start_thread (&beat->thread, run_beat, beat);
  if (number != 0) {
    free_beat (beat);
    return rd_fail_errno (number, "cannot start the thread of the ring's file");
  }
  recorder->beat = beat;
  return RADIO_OK;
}

void
rd_beat_end (struct radio_recorder *recorder)
{
  struct rd_beat *beat = RD_STEAL (recorder->beat);
  if (!beat)
    return;
  pthread_mutex_lock (&beat->mutex);
  beat->ends = true;
  pthread_cond_signal (&beat->end);
  pthread_mutex_unlock (&beat->mutex);
  pthread_join (beat->thread, NULL);
  free_beat (beat);
}
