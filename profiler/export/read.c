/* SPDX-License-Identifier: MIT */
/* Profiles from files. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/error.h"
#include "profiler/export/read.h"

/* What is read at once of something that does not tell its size. */
#define STEP_NBYTES ((size_t) 1 << 16)

/* How long a pipe may take to get its first bytes: whoever makes a profile
 * for it has begun. */
#define WRITER_TIMEOUT_MS 5000

/* Read on to the end; room doubles, so that a pipe is no quadratic work. */
static enum radio_status
read_whole (int fd, const char *path, struct rd_buffer *bytes)
{
  for (;;) {
    if (bytes->capacity - bytes->nbytes < STEP_NBYTES)
      RD_TRY (rd_buffer_reserve (bytes, 2 * bytes->capacity + STEP_NBYTES));
    ssize_t n = read (fd, bytes->data + bytes->nbytes,
                      bytes->capacity - bytes->nbytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return rd_fail_errno (errno, "%s: cannot read", path);
    if (n == 0)
      return RADIO_OK;
    bytes->nbytes += (size_t) n;
    if (bytes->nbytes > INT_MAX)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: is larger than 2 GiB, too large for a profile",
                      path);
  }
}

/* Refuse what is neither a file nor a pipe: a terminal or another device may
 * have no end.  A pipe is read to its own. */
static enum radio_status
check_kind (const char *path, mode_t mode)
{
  if (S_ISREG (mode) || S_ISFIFO (mode))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: is %s, not a profile", path,
                  S_ISDIR (mode)    ? "a folder"
                  : S_ISSOCK (mode) ? "a socket"
                                    : "a device");
}

/* Wait for the first bytes of a pipe; from then on it is read as usual. */
static enum radio_status
wait_for_writer (int fd, const char *path)
{
  struct pollfd pipe = { .fd = fd, .events = POLLIN };
  int n;
  do
    n = poll (&pipe, 1, WRITER_TIMEOUT_MS);
  while (n < 0 && errno == EINTR);
  if (n == 0)
    return rd_fail (RADIO_ERROR_IO, "%s: nobody wrote to this pipe in %d s",
                    path, WRITER_TIMEOUT_MS / 1000);
  if (n < 0 || fcntl (fd, F_SETFL, 0) != 0)
    return rd_fail_errno (errno, "%s", path);
  return RADIO_OK;
}

static enum radio_status
read_file (const char *path, struct rd_buffer *bytes)
{
  struct stat st;
  /* To open a pipe that nobody writes to would wait for ever. */
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
                             | O_NOCTTY);
  if (fd < 0 || fstat (fd, &st) != 0)
    return rd_fail_errno (errno, "%s", path);
  RD_TRY (check_kind (path, st.st_mode));
  if (S_ISFIFO (st.st_mode))
    RD_TRY (wait_for_writer (fd, path));
  if (S_ISREG (st.st_mode) && st.st_size > 0 && st.st_size <= INT_MAX)
    RD_TRY (rd_buffer_reserve (bytes, (size_t) st.st_size + STEP_NBYTES));
  return read_whole (fd, path, bytes);
}

enum radio_status
radio_profile_read (const char *path, struct radio_profile **profile)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  if (path == NULL || profile == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_profile_read: NULL");
  RD_TRY (read_file (path, &bytes));
  return rd_profile_parse ((const char *) bytes.data, bytes.nbytes, path,
                           profile);
}
