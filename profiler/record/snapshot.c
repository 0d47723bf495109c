/* SPDX-License-Identifier: MIT */
/* Profiles of recorders that did not stop: of files that killed processes
 * left, and of copies. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "profiler/record/collect.h"
#include "profiler/record/image.h"
#include "profiler/record/log.h"
#include "profiler/record/process.h"
#include "profiler/record/recorder.h"
#include "profiler/record/writer.h"

/* Copies of a ring that is written meanwhile are damaged now and then. */
#define TRIES 8

/* Memory for an image, at a page's boundary. */
struct copy {
  unsigned char *at;
  size_t nbytes;
};

static void
cleanup_copy (struct copy *copy)
{
  if (copy->at)
    munmap (copy->at, copy->nbytes);
}

static enum radio_status
make_copy (size_t nbytes, struct copy *copy)
{
  void *at = mmap (NULL, nbytes ? nbytes : 1, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return rd_fail_memory (nbytes);
  *copy = (struct copy) { at, nbytes ? nbytes : 1 };
  return RADIO_OK;
}

static enum radio_status
read_copy (int fd, const char *path, struct copy *copy)
{
  struct stat st;
  if (fstat (fd, &st) != 0)
    return rd_fail_errno (errno, "%s", path);
  if (!S_ISREG (st.st_mode) || (uint64_t) st.st_size > SIZE_MAX / 16)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: is not a ring of a recorder",
                    path);
  RD_TRY (make_copy ((size_t) st.st_size, copy));
  size_t nread = 0;
  while (nread < (size_t) st.st_size) {
    ssize_t n = pread (fd, copy->at + nread, (size_t) st.st_size - nread,
                       (off_t) nread);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_fail_errno (errno, "%s: cannot read", path);
    if (n == 0)
      break;
    nread += (size_t) n;
  }
  return RADIO_OK;
}

/* The process as the profile names it. */
static enum radio_status
collect_recovered (struct radio_recorder *recorder, bool runs,
                   struct radio_profile **profile)
{
  RD_TRY (radio_recorder_fact (recorder, RD_FACT_RECOVERED, runs
                               ? "a process that runs" : "a process that ended",
                               RADIO_TEXT_PLAIN));
  return rd_collect (recorder, profile);
}

enum radio_status
radio_profile_recover (const char *path, struct radio_profile **profile)
{
  RD_NOT_NULL (path);
  RD_NOT_NULL (profile);
  *profile = NULL;
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return rd_fail_errno (errno, "%s", path);
  for (int i = 1;; i++) {
    RD_CLEANUP (cleanup_copy) struct copy copy = { NULL, 0 };
    struct radio_recorder *recorder;
    RD_TRY (read_copy (fd, path, &copy));
    bool runs = copy.nbytes >= sizeof (struct rd_image_header)
                && rd_origin_runs (&((struct rd_image_header *)
                                     copy.at)->origin);
    enum radio_status status = rd_recover (copy.at, copy.nbytes, path,
                                           &recorder);
    if (status == RADIO_OK) {
      status = collect_recovered (recorder, runs, profile);
      rd_recorder_unref (recorder);
      return status;
    }
    if (!runs || status != RADIO_ERROR_FORMAT || i == TRIES)
      return status;
  }
}

/*------------------------------------------------------------------------
 * Snapshots
 *----------------------------------------------------------------------*/

/* Slots of the ring that are copied while the threads go on. */
struct part {
  const union rd_log_slot *slots;
  size_t nslots;
};

struct snapshot {
  struct copy copy;
  struct part *parts;
  size_t nparts;
  size_t limit;               /* of parts */
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
    while (atomic_load (&recorder->synced.writers.at[i]->busy))
      sched_yield ();
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

/* Copies slots to their places in the copy. */
static void
copy_slots (const struct snapshot *snapshot,
            const struct rd_image_header *header, const struct part *part)
{
  memcpy (snapshot->copy.at + ((uintptr_t) part->slots - header->base),
          part->slots, part->nslots * sizeof *part->slots);
}

/* Copies all but the full chunks of logs, which it lists.  False: there is more
 * than the copy has room for. */
static bool
copy_paused (struct snapshot *snapshot, struct radio_recorder *recorder)
{
  const struct rd_image_header *header = recorder->header;
  const unsigned char *from = (const unsigned char *) header;
  size_t behind = RD_ARENA_HEADER_NBYTES
                  + (((size_t) header->ring_nbytes + 4095) & ~(size_t) 4095);
  size_t nbytes = used_nbytes (header);
  if (nbytes > snapshot->copy.nbytes)
    return false;
  copy_words (snapshot->copy.at, from, RD_ARENA_HEADER_NBYTES);
  copy_words (snapshot->copy.at + behind, from + behind, nbytes - behind);
  snapshot->nparts = 0;
  for (size_t i = 0; i < recorder->synced.writers.n; i++) {
    const struct rd_writer_state *writer = recorder->synced.writers.at[i];
    const struct rd_log_chunk *chunk = writer->log.first;
    for (; chunk && chunk->next; chunk = chunk->next) {
      if (snapshot->nparts == snapshot->limit)
        return false;
      snapshot->parts[snapshot->nparts++]
        = (struct part) { chunk->slots, chunk->nslots };
    }
    if (chunk) {
      const struct part last = {
        chunk->slots, (size_t) (writer->log_next - chunk->slots)
      };
      copy_slots (snapshot, header, &last);
    }
  }
  return true;
}

static enum radio_status
take_snapshot (struct radio_recorder *recorder, struct snapshot *snapshot)
{
  struct rd_anchor now;
  rd_thread_lock (&recorder->mutex);
  bool is_stopped = recorder->synced.stopped;
  pause_writers (recorder);
  rd_clock_anchor (&recorder->clock, &now);
  bool is_copied = copy_paused (snapshot, recorder);
  /* No writer is about to use a chunk again. */
  pthread_mutex_lock (&recorder->ring_mutex);
  for (size_t i = 0; i < recorder->synced.writers.n; i++)
    rd_writer_resume (recorder->synced.writers.at[i]);
  rd_thread_unlock (&recorder->mutex);
  for (size_t i = 0; i < snapshot->nparts && is_copied; i++)
    copy_slots (snapshot, recorder->header, &snapshot->parts[i]);
  pthread_mutex_unlock (&recorder->ring_mutex);
  if (is_stopped)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_recorder_snapshot: the "
                    "recorder was stopped before");
  if (!is_copied)
    return rd_fail_memory (snapshot->copy.nbytes);

  /* What is open ends now. */
  struct rd_image_header *header = (struct rd_image_header *)
                                   snapshot->copy.at;
  struct rd_writer_state *newest = header->writers
    ? (struct rd_writer_state *)
      (snapshot->copy.at + ((uintptr_t) header->writers - header->base))
    : NULL;
  if (newest)
    newest->anchor = now;
  return RADIO_OK;
}

static void
cleanup_snapshot (struct snapshot *snapshot)
{
  cleanup_copy (&snapshot->copy);
  free (snapshot->parts);
}

/* Blocks that may come while the copy is made. */
#define MORE_NBYTES ((size_t) 4 << 20)

enum radio_status
radio_recorder_snapshot (struct radio_recorder *recorder,
                         struct radio_profile **profile)
{
  RD_NOT_NULL (recorder);
  RD_NOT_NULL (profile);
  *profile = NULL;
  if (rd_recorder_is_forked (recorder))
    return rd_fail (RADIO_ERROR_FORKED, "the recorder was started before "
                    "fork, by the parent");
  const struct rd_image_header *header = recorder->header;
  if (!header)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "radio_recorder_snapshot: the "
                    "recorder has no ring; set ring_nbytes");
  RD_CLEANUP (cleanup_snapshot) struct snapshot snapshot = { .parts = NULL };
  size_t nbytes = used_nbytes (header) + MORE_NBYTES;
  RD_TRY (make_copy (nbytes, &snapshot.copy));
  snapshot.limit = (size_t) (header->ring_nbytes / sizeof (union rd_log_slot)
                             / header->chunk_slots);
  snapshot.parts = calloc (snapshot.limit, sizeof *snapshot.parts);
  if (!snapshot.parts)
    return rd_fail_memory (snapshot.limit * sizeof *snapshot.parts);
  RD_TRY (take_snapshot (recorder, &snapshot));
  struct radio_recorder *copy;
  RD_TRY (rd_recover (snapshot.copy.at, snapshot.copy.nbytes, "snapshot",
                      &copy));
  enum radio_status status = rd_collect (copy, profile);
  rd_recorder_unref (copy);
  return status;
}
