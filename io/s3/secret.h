/* SPDX-License-Identifier: MIT */
/* Secrets in memory, which are zeroized when they are released; small files
 * that hold some; and texts in buffers. */
#ifndef RD_S3_SECRET_H
#define RD_S3_SECRET_H

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/cleanup.h"

/* Zeroizes a string and frees it.  NULL is legal. */
void rd_s3_secret_free (char *text);

/* Zeroizes and releases. */
void rd_s3_secret_buffer_free (struct rd_buffer *buffer);

#define RD_S3_SECRET_SCOPE RD_CLEANUP (rd_s3_secret_buffer_free)

/* Appends a text without its NUL. */
enum radio_status rd_s3_append (struct rd_buffer *buffer, const char *text)
  RADIO_USE_RESULT;

/* Appends the NUL byte that ends the text; it is counted. */
enum radio_status rd_s3_append_end (struct rd_buffer *buffer)
  RADIO_USE_RESULT;

/* Reads a file, or pipe, of at most max_nbytes; a NUL byte follows (not
 * counted).  RADIO_ERROR_NOT_FOUND, RADIO_ERROR_LIMIT, ... */
enum radio_status rd_s3_file_read (const char *path, size_t max_nbytes,
                                   struct rd_buffer *into)
  RADIO_USE_RESULT;

/* The same for a token: blanks and line ends at the end are removed. */
enum radio_status rd_s3_file_read_token (const char *path,
                                         struct rd_buffer *into)
  RADIO_USE_RESULT;

#endif /* RD_S3_SECRET_H */
