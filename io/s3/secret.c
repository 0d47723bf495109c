/* SPDX-License-Identifier: MIT */
/* Small files that hold secrets, and memory that is zeroized.  A buffer that
 * grows would leave copies in freed memory, so it is allocated at its full
 * size. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <string.h>
#include <unistd.h>

#include "src/base/error.h"
#include "io/s3/secret.h"

#define MAX_TOKEN_NBYTES 65536

void
rd_s3_secret_free (char *text)
{
  if (text)
    OPENSSL_cleanse (text, strlen (text));
  rd_free (text);
}

void
rd_s3_secret_buffer_free (struct rd_buffer *buffer)
{
  if (buffer->data)
    OPENSSL_cleanse (buffer->data, buffer->capacity);
  rd_buffer_free (buffer);
}

enum radio_status
rd_s3_append (struct rd_buffer *buffer, const char *text)
{
  return rd_buffer_append (buffer, text, strlen (text));
}

enum radio_status
rd_s3_append_end (struct rd_buffer *buffer)
{
  return rd_buffer_append (buffer, "", 1);
}

enum radio_status
rd_s3_file_read (const char *path, size_t max_nbytes, struct rd_buffer *into)
{
  RD_CLOSE_FD int fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return rd_fail_errno (errno, "%s", path);
  into->nbytes = 0;
  RD_TRY (rd_buffer_reserve (into, max_nbytes + 1));
  /* One byte more than is accepted, to detect a larger file. */
  while (into->nbytes <= max_nbytes) {
    ssize_t n = read (fd, into->data + into->nbytes,
                      max_nbytes + 1 - into->nbytes);
    if (n == 0)
      break;
    if (n < 0 && errno != EINTR)
      return rd_fail_errno (errno, "%s", path);
    into->nbytes += n < 0 ? 0 : (size_t) n;
  }
  if (into->nbytes > max_nbytes)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %zu bytes", path,
                    max_nbytes);
  into->data[into->nbytes] = '\0';
  return RADIO_OK;
}

enum radio_status
rd_s3_file_read_token (const char *path, struct rd_buffer *into)
{
  RD_TRY (rd_s3_file_read (path, MAX_TOKEN_NBYTES, into));
  while (into->nbytes > 0
         && strchr (" \t\r\n", into->data[into->nbytes - 1]))
    into->nbytes--;
  into->data[into->nbytes] = '\0';
  if (into->nbytes == 0 || memchr (into->data, '\0', into->nbytes))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: contains no token", path);
  return RADIO_OK;
}
