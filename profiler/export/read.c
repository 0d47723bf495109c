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

#include "src/base/checked.h"
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
                  "%s: %s, which radio only writes; give radio's .json or"
                  " .html", where, what);
}

static enum radio_status
fail_other (const char *where, const char *what)
{
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: %s, not a profile of radio's; give its .json or"
                  " .html", where, what);
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

enum radio_status
rd_read_foreign (const char *text, size_t nbytes,
                 struct json_object *document, const char *where)
{
  if (document != NULL && !json_object_is_type (document, json_type_int)
      && !json_object_is_type (document, json_type_double)) {
    /* Chrome's other form is a bare array of events. */
    bool is_array = json_object_is_type (document, json_type_array)
                    && json_object_array_length (document) > 0;
    if (has (document, "traceEvents")
        || (is_array && has (json_object_array_get_idx (document, 0), "ph")))
      return fail_written (where, "a Chrome trace");
    if (has (document, "$schema") && has (document, "profiles"))
      return fail_written (where, "a speedscope file");
    if (has (document, "zarr_format"))
      return fail_other (where, "a document of a Zarr store");
    return fail_other (where, "a JSON document");
  }

  nbytes = (size_t) rd_min_u64 (nbytes, LOOKED_AT_NBYTES);
  if (nbytes == 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: empty, not a profile", where);
  if (begins_with (text, nbytes, "\x1f\x8b"))
    return fail_written (where, "compressed by gzip, as pprof's profiles"
                         " are");
  if (begins_with (text, nbytes, RD_TEXT_OPENING))
    return fail_written (where, "a profile as text");
  if (begins_with (text, nbytes, "radio\nring"))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a recorder's ring, of which "
                    "'radio profile recover' makes a profile", where);
  size_t nblanks = 0;
  while (nblanks < nbytes && isspace ((unsigned char) text[nblanks]))
    nblanks++;
  if (begins_with (text, nbytes, "<svg "))
    return fail_written (where, "a picture");
  static const char generator[] = "name=\"generator\" content=\"radio ";
  if (memmem (text, nbytes, generator, strlen (generator)))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: a page of radio's that was cut "
                    "short before its data; copy or write it again", where);
  if (nblanks < nbytes && text[nblanks] == '<')
    return fail_other (where, "a page without radio's data in it");
  if (memchr (text, '\0', nbytes))
    return fail_other (where, "binary data");
  if (is_folded (text, nbytes))
    return fail_written (where, "folded stacks");
  if (memmem (text, nbytes, "\"traceEvents\"", strlen ("\"traceEvents\"")))
    return fail_written (where, "a damaged Chrome trace");
  return fail_other (where, "unknown data");
}

/*------------------------------------------------------------------------
 * Reading files
 *----------------------------------------------------------------------*/

/* Bytes read at once of a file of unknown size. */
#define STEP_NBYTES ((size_t) 1 << 16)

/* How long a pipe may take to get its first bytes. */
#define WRITER_TIMEOUT_MS 5000

static enum radio_status
read_file (const char *path, struct rd_buffer *bytes)
{
  struct stat st;
  /* Without O_NONBLOCK, open would block on a pipe without a writer. */
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK
                             | O_NOCTTY);
  if (fd < 0 || fstat (fd, &st) != 0)
    return rd_fail_errno (errno, "%s", path);
  /* A terminal or another device may have no end. */
  if (!S_ISREG (st.st_mode) && !S_ISFIFO (st.st_mode))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s, not a profile", path,
                    S_ISDIR (st.st_mode)    ? "a folder"
                    : S_ISSOCK (st.st_mode) ? "a socket"
                                            : "a device");
  if (S_ISFIFO (st.st_mode)) {
    /* Wait for the first bytes of a pipe; from then on it is read as usual. */
    struct pollfd pipe = { .fd = fd, .events = POLLIN };
    int n;
    do
      n = poll (&pipe, 1, WRITER_TIMEOUT_MS);
    while (n < 0 && errno == EINTR);
    if (n == 0)
      return rd_fail (RADIO_ERROR_IO, "%s: no data arrived on this pipe in "
                      "%d s",
                      path, WRITER_TIMEOUT_MS / 1000);
    if (n < 0 || fcntl (fd, F_SETFL, 0) != 0)
      return rd_fail_errno (errno, "%s", path);
  }
  if (S_ISREG (st.st_mode) && st.st_size > 0 && st.st_size <= INT_MAX)
    RD_TRY (rd_buffer_reserve (bytes, (size_t) st.st_size + STEP_NBYTES));

  /* Room doubles, so that a pipe is no quadratic work. */
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
                      "%s: larger than 2 GiB, too large for a profile",
                      path);
  }
}

enum radio_status
radio_profile_read (const char *path, struct radio_profile **profile)
{
  RD_BUFFER_SCOPE struct rd_buffer bytes = { 0 };
  RD_NOT_NULL (path);
  RD_NOT_NULL (profile);
  RD_TRY (read_file (path, &bytes));
  return rd_profile_parse ((const char *) bytes.data, bytes.nbytes, path,
                           profile);
}
