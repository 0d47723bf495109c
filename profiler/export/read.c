/* SPDX-License-Identifier: MIT */
/* Reads profiles from files and memory, and names the format of files that
 * are not profiles of radio. */
#include <config.h>

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/error.h"
#include "profiler/export/read.h"
#include "profiler/export/text.h"

/*------------------------------------------------------------------------
 * Files of other formats, recognized by their first bytes or members
 *----------------------------------------------------------------------*/

#define LOOKED_AT_NBYTES 4096

static enum radio_status
fail_written (const char *where, const char *what)
{
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s: is %s, which radio only writes: give radio's .json or"
                  " .html", where, what);
}

static enum radio_status
fail_other (const char *where, const char *what)
{
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: is %s, not a profile of radio's: give its .json or"
                  " .html", where, what);
}

static bool
contains (const char *text, size_t nbytes, const char *part)
{
  return memmem (text, nbytes, part, strlen (part)) != NULL;
}

static bool
begins_with (const char *text, size_t nbytes, const char *part)
{
  return nbytes >= strlen (part) && memcmp (text, part, strlen (part)) == 0;
}

static bool
has (struct json_object *document, const char *member)
{
  return json_object_is_type (document, json_type_object)
         && rd_json_member (document, member) != NULL;
}

/* Chrome's other form is a bare array of events. */
static bool
is_array_of_events (struct json_object *document)
{
  if (!json_object_is_type (document, json_type_array)
      || json_object_array_length (document) == 0)
    return false;
  return has (json_object_array_get_idx (document, 0), "ph");
}

static enum radio_status
fail_json (struct json_object *document, const char *where)
{
  if (has (document, "traceEvents") || is_array_of_events (document))
    return fail_written (where, "a Chrome trace");
  if (has (document, "$schema") && has (document, "profiles"))
    return fail_written (where, "a speedscope file");
  if (has (document, "zarr_format"))
    return fail_other (where, "a document of a Zarr store");
  return fail_other (where, "a JSON document");
}

/* Returns whether the first line is frames, a blank and a number. */
static bool
is_folded (const char *text, size_t nbytes)
{
  const char *end = memchr (text, '\n', nbytes);
  size_t n = end ? (size_t) (end - text) : 0;
  size_t digits = 0;
  while (digits < n && isdigit ((unsigned char) text[n - 1 - digits]))
    digits++;
  return digits > 0 && digits < n && text[n - 1 - digits] == ' '
         && text[0] != '{' && text[0] != '[' && text[0] != '<';
}

/* A page of radio's without its data, or another program's. */
static bool
is_page (const char *text, size_t nbytes)
{
  while (nbytes > 0 && isspace ((unsigned char) *text)) {
    text++;
    nbytes--;
  }
  return nbytes > 0 && *text == '<';
}

static enum radio_status
fail_bytes (const char *text, size_t nbytes, const char *where)
{
  if (nbytes == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: is empty, not a profile", where);
  if (begins_with (text, nbytes, "\x1f\x8b"))
    return fail_written (where, "compressed by gzip, as pprof's profiles"
                         " are");
  if (begins_with (text, nbytes, RD_TEXT_OPENING))
    return fail_written (where, "a profile as text");
  if (is_page (text, nbytes))
    return fail_other (where, "a page without radio's data in it");
  if (memchr (text, '\0', nbytes))
    return fail_other (where, "binary data");
  if (is_folded (text, nbytes))
    return fail_written (where, "folded stacks");
  if (contains (text, nbytes, "\"traceEvents\""))
    return fail_written (where, "a damaged Chrome trace");
  return fail_other (where, "something else");
}

enum radio_status
rd_read_foreign (const char *text, size_t nbytes,
                 struct json_object *document, const char *where)
{
  if (document != NULL && !json_object_is_type (document, json_type_int)
      && !json_object_is_type (document, json_type_double))
    return fail_json (document, where);
  return fail_bytes (text, nbytes < LOOKED_AT_NBYTES ? nbytes
                                                     : LOOKED_AT_NBYTES,
                     where);
}

/*------------------------------------------------------------------------
 * Reading files
 *----------------------------------------------------------------------*/

/* Bytes read at once of a file of unknown size. */
#define STEP_NBYTES ((size_t) 1 << 16)

/* How long a pipe may take to get its first bytes. */
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

/* Refuses anything but files and pipes: a terminal or another device may have
 * no end. */
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

static enum radio_status
read_file (const char *path, struct rd_buffer *bytes)
{
  struct stat st;
  /* Without O_NONBLOCK, open would block on a pipe without a writer. */
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
                             | O_NOCTTY);
  if (fd < 0 || fstat (fd, &st) != 0)
    return rd_fail_errno (errno, "%s", path);
  RD_TRY (check_kind (path, st.st_mode));
  if (S_ISFIFO (st.st_mode)) {
    /* Wait for the first bytes of a pipe; from then on it is read as usual. */
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
  }
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
