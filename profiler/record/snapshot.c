/* SPDX-License-Identifier: MIT */
/* Copies of a recorder that goes on, and profiles of these. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/thread.h"
#include "profiler/record/collect.h"
#include "profiler/record/image.h"
#include "profiler/record/log.h"
#include "profiler/record/process.h"
#include "profiler/record/snapshot.h"
#include "profiler/record/writer.h"

void
rd_copy_free (struct rd_copy *copy)
{
  if (copy->at)
    munmap (copy->at, copy->nbytes);
  *copy = (struct rd_copy) { NULL, 0 };
}

enum radio_status
rd_copy_new (size_t nbytes, struct rd_copy *copy)
{
  void *at = mmap (NULL, nbytes ? nbytes : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return rd_fail_memory (nbytes);
  *copy = (struct rd_copy) { at, nbytes ? nbytes : 1 };
  return RADIO_OK;
}

struct snapshot {
  struct rd_copy *copy;
  struct rd_log_chunk **chunks;         /* copied while the threads go on */
  size_t nchunks;
  size_t limit;               /* of chunks */
};

/* Called with the recorder's mutex held.  Afterwards no thread changes its
 * writer until it is resumed. */
static void
pause_writers (struct radio_recorder *recorder)
{
  size_t n = recorder->synced.writers.n;
  for (size_t i = 0; i < n; i++)
    rd_writer_pause (recorder->synced.writers.at[i]);
  if (!recorder->fences)
    rd_process_barrier ();
  for (size_t i = 0; i < n; i++)
    rd_writer_await (recorder->synced.writers.at[i]);
}

/* The words by which threads enter change meanwhile: each is read at once.
 * Memory of the image is aligned. */
static void
copy_words (unsigned char *to, const unsigned char *from, size_t nbytes)
{
  typedef uint64_t __attribute__ ((__may_alias__)) word;
  for (size_t i = 0; i + sizeof (word) <= nbytes; i += sizeof (word))
    *(word *) (void *) (to + i)
      = __atomic_load_n ((const word *) (const void *) (from + i),
                         __ATOMIC_RELAXED);
}

/* The bytes of the image that are in use; other threads may add some. */
static size_t
used_nbytes (const struct rd_image_header *header)
{
  return (size_t) __atomic_load_n (&header->nbytes, __ATOMIC_RELAXED);
}

/* Where the ring ends, and all else begins. */
static size_t
ring_end (const struct rd_image_header *header)
{
  return RD_ARENA_HEADER_NBYTES
         + (((size_t) header->ring_nbytes + 4095) & ~(size_t) 4095);
}

/* Faults in what is written while the threads are paused: a page takes longer
 * than its copy.  Since the copy was made, the image may have outgrown it. */
static void
fault_in (struct rd_copy *copy, const struct rd_image_header *header)
{
  volatile unsigned char *at = copy->at;
  const size_t end = rd_min_u64 (used_nbytes (header), copy->nbytes);
  for (size_t i = 0; i < RD_ARENA_HEADER_NBYTES; i += 4096)
    at[i] = 0;
  for (size_t i = ring_end (header); i < end; i += 4096)
    at[i] = 0;
}

/* Copies all but the spans, whose chunks it lists.  False: there is more than
 * there is room for. */
static bool
copy_paused (struct snapshot *snapshot, struct radio_recorder *recorder)
{
  const struct rd_image_header *header = recorder->header;
  const unsigned char *from = (const unsigned char *) header;
  size_t after = ring_end (header), nbytes = used_nbytes (header);
  if (nbytes > snapshot->copy->nbytes)
    return false;
  copy_words (snapshot->copy->at, from, RD_ARENA_HEADER_NBYTES);
  copy_words (snapshot->copy->at + after, from + after, nbytes - after);
  snapshot->nchunks = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    struct rd_log_chunk *chunk = writer->log.first;
    for (; chunk; chunk = chunk->next) {
      if (snapshot->nchunks == snapshot->limit)
        return false;
      snapshot->chunks[snapshot->nchunks++] = chunk;
      chunk->nwanted = chunk->next
        ? chunk->nslots : (size_t) (writer->log_next - chunk->slots);
    }
  }
  recorder->snapshot = snapshot->copy->at;
  for (size_t i = 0; i < snapshot->nchunks; i++)
    atomic_store (&snapshot->chunks[i]->copying, RD_COPY_WANTED);
  return true;
}

/* Sets *is_copied to false if there was no room in the copy. */
static enum radio_status
copy_running (struct radio_recorder *recorder, struct snapshot *snapshot,
              bool *is_copied)
{
  struct rd_anchor now;
  struct rd_usage used = { .is_known = false };
  rd_thread_lock (&recorder->mutex);
  bool is_stopped = recorder->synced.stopped;
  if (!is_stopped)
    used = recorder->usage;
  (void) rd_recorder_observe (recorder);
  pause_writers (recorder);
  rd_clock_anchor (&recorder->clock, &now);
  *is_copied = copy_paused (snapshot, recorder);
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    rd_writer_resume (recorder->synced.writers.at[i]);
  rd_thread_unlock (&recorder->mutex);
  for (size_t i = 0; i < snapshot->nchunks && *is_copied; i++)
    rd_log_copy_chunk (recorder, snapshot->chunks[i]);
  if (is_stopped)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_recorder_snapshot: the "
                    "recorder was stopped before");
  if (!*is_copied)
    return RADIO_OK;
  if (!recorder->clock.read)
    rd_usage_since (&used);

  struct rd_image_header *header = (struct rd_image_header *)
                                   snapshot->copy->at;
  header->beats[0] = now;
  header->nbeats = 1;
  header->used = used;
  return RADIO_OK;
}

/* Blocks that may come before the threads are paused; then twice as many. */
#define MORE_NBYTES ((size_t) 4 << 20)
#define MOST_NBYTES ((size_t) 1 << 30)

enum radio_status
rd_snapshot_take (struct radio_recorder *recorder, struct rd_copy *copy)
{
  const struct rd_image_header *header = recorder->header;
  struct snapshot snapshot = { .copy = copy };
  snapshot.limit = (size_t) (header->ring_nbytes / sizeof (union rd_log_slot)
                             / header->chunk_slots);
  snapshot.chunks = calloc (snapshot.limit, sizeof (struct rd_log_chunk *));
  if (!snapshot.chunks)
    return rd_fail_memory (snapshot.limit * sizeof (struct rd_log_chunk *));
  pthread_mutex_lock (&recorder->snapshot_mutex);
  enum radio_status status = RADIO_OK;
  bool is_copied = false;
  for (size_t more = MORE_NBYTES;
       more <= MOST_NBYTES && status == RADIO_OK && !is_copied; more *= 2) {
    rd_copy_free (copy);
    status = rd_copy_new (used_nbytes (header) + more, copy);
    if (status != RADIO_OK)
      break;
    fault_in (copy, header);
    status = copy_running (recorder, &snapshot, &is_copied);
  }
  pthread_mutex_unlock (&recorder->snapshot_mutex);
  free (snapshot.chunks);
  return status == RADIO_OK && !is_copied ? rd_fail_memory (copy->nbytes)
                                          : status;
}

enum radio_status
rd_snapshot_recover (struct radio_recorder *recorder, struct rd_copy *copy,
                     struct radio_recorder **copied)
{
  RD_TRY (rd_snapshot_take (recorder, copy));
  return rd_recover (copy->at, copy->nbytes, "snapshot", copied);
}

enum radio_status
radio_recorder_snapshot (struct radio_recorder *recorder,
                         struct radio_profile **profile)
{
  RD_NOT_NULL (recorder);
  RD_NOT_NULL (profile);
  RD_NO_CANCEL_SCOPE ();
  *profile = NULL;
  if (rd_recorder_is_forked (recorder))
    return rd_fail_recorder_forked ();
  if (!recorder->header)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "radio_recorder_snapshot: the "
                    "recorder has no ring; set ring_nbytes");
  RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
  struct radio_recorder *copied;
  RD_TRY (rd_snapshot_recover (recorder, &copy, &copied));
  copied->slow = recorder->slow;        /* for its counts */
  enum radio_status status = rd_collect (copied, profile);
  copied->slow = NULL;
  rd_recorder_unref (copied);
  return status;
}
