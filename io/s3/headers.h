/* SPDX-License-Identifier: MIT */
/* The headers of a request to S3, or to what hands out credentials. */
#ifndef RD_S3_HEADERS_H
#define RD_S3_HEADERS_H

#include "io/http/http.h"
#include "io/s3/sign.h"

/* Add headers to an attempt; no copy of what they hold is left behind. */
enum radio_status rd_s3_add_headers (struct rd_http_headers *headers,
                                     const struct rd_s3_header *added,
                                     size_t n) RADIO_USE_RESULT;

/* Sign a request, and add what that makes. */
enum radio_status rd_s3_add_signature (struct rd_http_headers *headers,
                                       const struct rd_s3_signing *signing,
                                       const struct rd_s3_request *request)
  RADIO_USE_RESULT;

#endif /* RD_S3_HEADERS_H */
