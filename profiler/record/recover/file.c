/* SPDX-License-Identifier: MIT */
/* Profiles of the files of rings: of a process that was killed, or that still
 * runs and then copies the image for its reader (beat.h). */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "src/base/checked.h"
#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "profiler/model/profile.h"
#include "profiler/record/collect.h"
#include "profiler/record/image.h"
#include "profiler/record/snapshot.h"
#include "profiler/record/writer.h"

/* How often a file is read whose process writes it meanwhile. */
#define TRIES 8

/* A process without a sign of life for so long does not answer. */
#define POLL_NS 10000000
#define PATIENCE 1000         /* polls */

struct reader {
  const char *path;
  int fd;
  uint64_t nbytes;            /* of the file */
  struct rd_image_header header;        /* as it was read last */
  bool is_mapped;             /* by its process, when the file was opened */
  bool runs;                  /* its process, which has mapped it */
};

/* Reads up to the file's end; the rest of `to' is left unchanged. */
static enum radio_status
read_at (const struct reader *reader, void *to, size_t nbytes,
         uint64_t offset)
{
  for (size_t i = 0; i < nbytes;) {
    ssize_t n = pread (reader->fd, (unsigned char *) to + i, nbytes - i,
                       (off_t) (offset + i));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_fail_errno (errno, "%s: cannot read", reader->path);
    if (n == 0)
      break;
    i += (size_t) n;
  }
  return RADIO_OK;
}

/* Reads the header, and then the file's size, which is not less than the header
 * says, as they are now. */
static enum radio_status
read_header (struct reader *reader)
{
  struct stat st;
  memset (&reader->header, 0, sizeof reader->header);
  RD_TRY (read_at (reader, &reader->header, sizeof reader->header, 0));
  if (fstat (reader->fd, &st) != 0)
    return rd_fail_errno (errno, "%s", reader->path);
  reader->nbytes = (uint64_t) st.st_size;
  reader->runs = rd_image_is_locked (reader->fd)
                 || (reader->is_mapped
                     && rd_origin_runs (&reader->header.origin));
  return RADIO_OK;
}

static enum radio_status
open_reader (const char *path, struct reader *reader)
{
  struct stat st;
  *reader = (struct reader) { .path = path };
  /* To write, so that its process can be asked. */
  reader->fd = open (path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (reader->fd < 0)
    reader->fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (reader->fd < 0 || fstat (reader->fd, &st) != 0)
    return rd_fail_errno (errno, "%s", path);
  if (!S_ISREG (st.st_mode) || (uint64_t) st.st_size > SIZE_MAX / 16)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: this is not a ring; use a file "
                    "that RADIO_PROFILE_RING_FILE named", path);
  RD_TRY (read_header (reader));
  reader->is_mapped = rd_origin_maps (&reader->header.origin, &st);
  return read_header (reader);
}

static void
close_reader (struct reader *reader)
{
  if (reader->fd >= 0)
    close (reader->fd);
}

/*------------------------------------------------------------------------
 * A process that runs
 *----------------------------------------------------------------------*/

static bool
write_wanted (const struct reader *reader, uint64_t wanted)
{
  return pwrite (reader->fd, &wanted, sizeof wanted,
                 offsetof (struct rd_image_header, wanted))
         == (ssize_t) sizeof wanted;
}

/* True if the process may answer: not a foreign file, which is not written. */
static bool
is_answering (const struct reader *reader)
{
  const struct rd_image_header *header = &reader->header;
  return reader->runs && header->nbeats > 0
         && memcmp (header->magic, RD_IMAGE_MAGIC, sizeof RD_IMAGE_MAGIC) == 0
         && rd_image_is_known (header)
         && !rd_origin_is_stopped (&header->origin);
}

/* Asks the process for a copy, one reader at a time, and waits for as long as
 * it gives signs of life.  False: it made none. */
static enum radio_status
ask_process (struct reader *reader, bool *is_answered)
{
  const struct timespec pause = { 0, POLL_NS };
  uint64_t wanted = 0, nbeats = 0;
  *is_answered = false;
  for (int left = PATIENCE; left > 0 && is_answering (reader); left--) {
    if (wanted == 0 && flock (reader->fd, LOCK_EX | LOCK_NB) == 0) {
      RD_TRY (read_header (reader));
      wanted = reader->header.answered + 1;
      if (!write_wanted (reader, wanted))
        return RADIO_OK;
    }
    nanosleep (&pause, NULL);
    RD_TRY (read_header (reader));
    *is_answered = wanted != 0 && reader->header.answered == wanted;
    if (*is_answered)
      return RADIO_OK;
    if (wanted != 0 && reader->header.nbeats != nbeats)
      left = PATIENCE;
    nbeats = reader->header.nbeats;
  }
  return RADIO_OK;
}

/* Reads the copy that the process made of itself.  No bytes: it made none. */
static enum radio_status
read_answer (struct reader *reader, struct rd_copy *copy)
{
  const struct rd_image_header *header = &reader->header;
  bool is_answered;
  RD_TRY (ask_process (reader, &is_answered));
  if (!is_answered || header->copy_nbytes == 0
      || header->copy_nbytes > reader->nbytes
      || header->copy_offset > reader->nbytes - header->copy_nbytes)
    return RADIO_OK;
  RD_TRY (rd_copy_new ((size_t) header->copy_nbytes, copy));
  enum radio_status status = read_at (reader, copy->at, copy->nbytes,
                                      header->copy_offset);
  (void) !write_wanted (reader, 0);
  return status;
}

/* The clock of the process, now.  False: it is not to be had here. */
static bool
read_clock (const struct rd_image_header *header, struct rd_anchor *now)
{
  struct rd_clock clock;
  bool tsc = strncmp (header->origin.clock, "tsc", 4) == 0;
  rd_clock_choose (&clock, !tsc);
  rd_clock_anchor (&clock, now);
  return clock.tsc == tsc;
}

/* Reads the image as it is in the file. */
static enum radio_status
read_image (const struct reader *reader, struct rd_copy *copy)
{
  uint64_t nbytes = rd_max_u64 (reader->header.nbytes,
                                sizeof reader->header);
  RD_TRY (rd_copy_new ((size_t) rd_min_u64 (nbytes, reader->nbytes), copy));
  return read_at (reader, copy->at, copy->nbytes, 0);
}

/* Tests if the file is unchanged since it was read, except for signs of life
 * and readers' requests: then the copy is of one moment. */
static enum radio_status
check_same (const struct reader *reader, const struct rd_copy *copy,
            bool *is_same)
{
  unsigned char block[8192];
  const size_t skipped = offsetof (struct rd_image_header, beats);
  const struct rd_image_header *header
    = (const struct rd_image_header *) copy->at;
  /* It was not longer when the copy began. */
  *is_same = copy->nbytes < sizeof *header
             || header->nbytes == reader->header.nbytes;
  for (size_t at = 0; at < copy->nbytes && *is_same;) {
    size_t end = at < skipped ? skipped : copy->nbytes;
    size_t n = rd_min_u64 (rd_min_u64 (end, copy->nbytes) - at, sizeof block);
    memset (block, 0, n);
    RD_TRY (read_at (reader, block, n, at));
    *is_same = memcmp (block, copy->at + at, n) == 0;
    at += n;
    at = at == skipped ? sizeof (struct rd_image_header) : at;
  }
  return RADIO_OK;
}

/* Makes now the last sign of life in an image of a process that runs. */
static void
set_now (const struct reader *reader, struct rd_copy *copy)
{
  struct rd_image_header *header = (struct rd_image_header *) copy->at;
  struct rd_anchor now;
  if (copy->nbytes < sizeof *header
      || !read_clock (&reader->header, &now))
    return;
  const struct rd_anchor *beat = rd_image_last_beat (header);
  now.cpu_ns = beat ? beat->cpu_ns : header->start.cpu_ns;
  header->beats[0] = now;
  header->nbeats = 1;
}

/*------------------------------------------------------------------------
 * The profile
 *----------------------------------------------------------------------*/

/* The process as the profile names it, and when it ran for sure. */
static enum radio_status
collect_recovered (struct radio_recorder *recorder, bool runs,
                   struct radio_profile **profile)
{
  RD_TRY (radio_recorder_fact (recorder, RD_FACT_RECOVERED, runs
                               ? "a process that runs" : "a process that ended",
                               RADIO_TEXT_PLAIN));
  recorder->seen = runs ? 0 : rd_clock_now (&recorder->clock);
  return rd_collect (recorder, profile);
}

static enum radio_status
recover (const struct reader *reader, const struct rd_copy *copy,
         struct radio_profile **profile)
{
  struct radio_recorder *recorder;
  RD_TRY (rd_recover (copy->at, copy->nbytes, reader->path, &recorder));
  enum radio_status status = collect_recovered (recorder, reader->runs,
                                                profile);
  rd_recorder_unref (recorder);
  return status == RADIO_OK ? status : rd_fail_in (status, "%s", reader->path);
}

enum radio_status
radio_profile_recover (const char *path, struct radio_profile **profile)
{
  RD_NOT_NULL (path);
  RD_NOT_NULL (profile);
  *profile = NULL;
  RD_CLEANUP (close_reader) struct reader reader;
  RD_TRY (open_reader (path, &reader));
  RD_CLEANUP (rd_copy_free) struct rd_copy answer = { NULL, 0 };
  RD_TRY (read_answer (&reader, &answer));
  if (answer.at)
    return recover (&reader, &answer, profile);
  for (int i = 0; i < TRIES; i++) {
    RD_CLEANUP (rd_copy_free) struct rd_copy copy = { NULL, 0 };
    bool is_same = true;
    RD_TRY (read_header (&reader));
    RD_TRY (read_image (&reader, &copy));
    if (reader.runs) {
      RD_TRY (check_same (&reader, &copy, &is_same));
      set_now (&reader, &copy);
    }
    if (is_same)
      return recover (&reader, &copy, profile);
  }
  return rd_fail (RADIO_ERROR_TIMEOUT, "%s: process %" PRIu64 " writes this "
                  "ring and gave no copy of it; make the file writable, with "
                  "room for a copy, or stop that process meanwhile (kill "
                  "-STOP)", path, reader.header.origin.pid);
}
