/* SPDX-License-Identifier: MIT */
/* Small local files that hold secrets, whole; and buffers that held some. */
#ifndef RD_S3_FILE_H
#define RD_S3_FILE_H

#include <radio/base.h>

#include "src/base/buffer.h"

/* Read a file, or pipe, of at most max_nbytes; a NUL byte follows (not
 * counted).  RADIO_ERROR_NOT_FOUND, RADIO_ERROR_LIMIT, ... */
enum radio_status rd_s3_file_read (const char *path, size_t max_nbytes,
                                   struct rd_buffer *into)
  RADIO_USE_RESULT;

/* The same without blanks and line ends at the end: a token. */
enum radio_status rd_s3_file_read_token (const char *path,
                                         struct rd_buffer *into)
  RADIO_USE_RESULT;

/* Overwrite and release. */
void rd_s3_buffer_wipe (struct rd_buffer *buffer);

#define RD_S3_SECRET_SCOPE RD_CLEANUP (rd_s3_buffer_wipe)

/* Append a text. */
enum radio_status rd_s3_append (struct rd_buffer *buffer, const char *text)
  RADIO_USE_RESULT;

/* Append the NUL byte that ends the text; it is counted. */
enum radio_status rd_s3_append_end (struct rd_buffer *buffer)
  RADIO_USE_RESULT;

#endif /* RD_S3_FILE_H */
