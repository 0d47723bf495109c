/* SPDX-License-Identifier: MIT */
/* The calling thread's message, and the texts of statuses and errno. */
#include <config.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <radio/profile.h>

#include "src/base/error.h"
#include "src/base/hooks.h"
#include "src/base/text.h"

static _Thread_local char thread_message[RD_ERROR_NBYTES];
static _Thread_local int thread_errnum;

const char *
radio_error_message (void)
{
  return thread_message;
}

static const char *const status_names[] = {
  [RADIO_OK] = "success",
  [RADIO_ERROR_ARGUMENT] = "invalid argument",
  [RADIO_ERROR_NOT_FOUND] = "not found",
  [RADIO_ERROR_EXISTS] = "exists already",
  [RADIO_ERROR_FORMAT] = "damaged or invalid data",
  [RADIO_ERROR_UNSUPPORTED] = "not supported",
  [RADIO_ERROR_CHECKSUM] = "checksum mismatch",
  [RADIO_ERROR_IO] = "input/output error",
  [RADIO_ERROR_NO_SPACE] = "no space left",
  [RADIO_ERROR_PERMISSION] = "permission denied",
  [RADIO_ERROR_MEMORY] = "out of memory",
  [RADIO_ERROR_LIMIT] = "memory limit exceeded",
  [RADIO_ERROR_RANGE] = "value out of range",
  [RADIO_ERROR_CANCELLED] = "cancelled",
  [RADIO_ERROR_FORKED] = "used in a forked child",
  [RADIO_ERROR_TIMEOUT] = "deadline exceeded",
};

const char *
radio_status_name (enum radio_status status)
{
  size_t n = sizeof status_names / sizeof status_names[0];
  if ((size_t) status >= n)
    return "unknown status";
  return status_names[status];
}

/* Format into the thread's message by way of a copy, since an argument may
 * point to the message itself. */
RADIO_PRINTF (1, 0) static void
set_message (const char *format, va_list args, const char *tail)
{
  char text[RD_ERROR_NBYTES];
  int n = vsnprintf (text, sizeof text, format, args);
  size_t used = n < 0 ? 0 : (size_t) n;
  if (tail && used < sizeof text) {
    n = snprintf (text + used, sizeof text - used, ": %s", tail);
    used += n < 0 ? 0 : (size_t) n;
  }
  if (used >= sizeof text) {
    /* It was cut, maybe within a UTF-8 character. */
    size_t end = rd_utf8_cut (text, sizeof text - sizeof "...");
    memcpy (text + end, "...", sizeof "...");
  }
  /* Names come from files and networks: nothing in them may break the line
   * or control a terminal. */
  char *to = thread_message;
  uint32_t character;
  for (size_t i = 0, nbytes; text[i]; i += nbytes) {
    nbytes = rd_utf8_decode (text + i, &character);
    if (rd_utf8_is_control (character))
      *to++ = '?';
    else
      to = (char *) memcpy (to, text + i, nbytes) + nbytes;
  }
  *to = '\0';
}

/* Reports a failure to the recorder; returns its status. */
static enum radio_status
report (enum radio_status status, bool is_again)
{
  if (radio_profile_is_on ())
    rd_base_hooks.failed (status, is_again);
  return status;
}

enum radio_status
rd_fail (enum radio_status status, const char *format, ...)
{
  va_list args;
  va_start (args, format);
  set_message (format, args, NULL);
  va_end (args);
  thread_errnum = 0;
  return report (status, false);
}

enum radio_status
rd_fail_errno (int errnum, const char *format, ...)
{
  char room[128];
  enum radio_status status;
  switch (errnum) {
  case ENOENT: case ENOTDIR: status = RADIO_ERROR_NOT_FOUND; break;
  case EEXIST: status = RADIO_ERROR_EXISTS; break;
  case ENOSPC: case EDQUOT: case EFBIG: status = RADIO_ERROR_NO_SPACE; break;
  case EACCES: case EPERM: case EROFS: status = RADIO_ERROR_PERMISSION; break;
  case ENOMEM: status = RADIO_ERROR_MEMORY; break;
  case ENAMETOOLONG: case EINVAL: status = RADIO_ERROR_ARGUMENT; break;
  default: status = RADIO_ERROR_IO;
  }
  /* GNU's strerror_r returns the text, POSIX's a number. */
#ifdef STRERROR_R_CHAR_P
  const char *text = strerror_r (errnum, room, sizeof room);
#else
  const char *text
    = strerror_r (errnum, room, sizeof room) == 0 ? room : "unknown error";
#endif
  char advice[sizeof room + 64];
  if (errnum == EMFILE) {
    snprintf (advice, sizeof advice, "%s; raise the process's limit (ulimit "
              "-n)", text);
    text = advice;
  }
  va_list args;
  va_start (args, format);
  set_message (format, args, text);
  va_end (args);
  thread_errnum = errnum;
  return report (status, false);
}

int
radio_error_errno (void)
{
  return thread_errnum;
}

bool
rd_error_lacks_descriptors (void)
{
  return thread_errnum == EMFILE || thread_errnum == ENFILE;
}

enum radio_status
rd_fail_memory (size_t nbytes)
{
  /* A library that asks for memory does not say how much. */
  if (nbytes == 0)
    return rd_fail (RADIO_ERROR_MEMORY, "out of memory");
  return rd_fail (RADIO_ERROR_MEMORY, "out of memory: %zu byte%s wanted",
                  nbytes, nbytes == 1 ? "" : "s");
}

enum radio_status
rd_fail_in (enum radio_status status, const char *format, ...)
{
  char old[RD_ERROR_NBYTES];
  memcpy (old, thread_message, sizeof old);
  va_list args;
  va_start (args, format);
  set_message (format, args, old);
  va_end (args);
  return status;
}

void
rd_error_save (struct rd_error *error, enum radio_status status)
{
  error->status = status;
  error->errnum = thread_errnum;
  memcpy (error->message, thread_message, sizeof thread_message);
}

enum radio_status
rd_error_raise (const struct rd_error *error)
{
  if (error->status == RADIO_OK)
    return RADIO_OK;
  memcpy (thread_message, error->message, sizeof thread_message);
  thread_errnum = error->errnum;
  return report (error->status, true);
}
