/* SPDX-License-Identifier: MIT */
/* Headers, which may hold secrets. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "io/s3/file.h"
#include "io/s3/headers.h"

static enum radio_status
add_header (struct rd_http_headers *headers, const struct rd_s3_header *header)
{
  RD_S3_SECRET_SCOPE struct rd_buffer line = { 0 };
  RD_TRY (rd_buffer_reserve (&line, strlen (header->name)
                                    + strlen (header->value) + 3));
  RD_TRY (rd_s3_append (&line, header->name));
  RD_TRY (rd_s3_append (&line, ": "));
  RD_TRY (rd_s3_append (&line, header->value));
  RD_TRY (rd_s3_append_end (&line));
  return rd_http_add_header (headers, (const char *) line.data);
}

enum radio_status
rd_s3_add_headers (struct rd_http_headers *headers,
                   const struct rd_s3_header *added, size_t n)
{
  for (size_t i = 0; i < n; i++)
    RD_TRY (add_header (headers, &added[i]));
  return RADIO_OK;
}

enum radio_status
rd_s3_add_signature (struct rd_http_headers *headers,
                     const struct rd_s3_signing *signing,
                     const struct rd_s3_request *request)
{
  RD_S3_SIGNED_SCOPE struct rd_s3_signed made = { 0 };
  RD_TRY (rd_s3_sign (signing, request, &made));
  for (size_t i = 0; i < made.nlines; i++)
    RD_TRY (rd_http_add_header (headers, made.lines[i]));
  return RADIO_OK;
}
