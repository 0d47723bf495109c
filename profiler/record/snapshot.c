/* SPDX-License-Identifier: MIT */
/* Profiles of recorders that did not stop: of files that killed processes
 * left. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "profiler/record/collect.h"
#include "profiler/record/image.h"
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
