/* SPDX-License-Identifier: MIT */
/* The S3 store, also of compatible servers: a prefix of a bucket. */
#ifndef RD_S3_H
#define RD_S3_H

#include "io/http/http.h"
#include "io/io.h"
#include "io/s3/credentials.h"

enum rd_s3_addressing {
  RD_S3_ADDRESSING_AUTO,      /* the bucket in the path, but in the host at
                                 AWS where its name allows it */
  RD_S3_ADDRESSING_PATH,
  RD_S3_ADDRESSING_VIRTUAL,
};

/* Zero-filled is the default: AWS, anonymously. */
struct rd_s3_options {
  const char *endpoint;       /* "https://HOST[:PORT][/PATH]"; NULL: AWS */
  const char *region;         /* NULL: "us-east-1", until corrected */
  enum rd_s3_addressing addressing;
  struct rd_s3_provider_options provider;     /* of credentials; without
                                 settings: anonymous */
  bool single_writer;         /* there is no other: an endpoint without
                                 conditional writes is accepted */
  bool no_sums;               /* send no checksums of writes over TLS */
  uint64_t grace_s;           /* age after which unfinished writes count as
                                 abandoned; 0: a day */
  uint64_t writers_nbytes;    /* most that all writers may buffer, but for a
                                 part of each; 0: 256 MiB */
  uint64_t gap_nbytes;        /* most to read over between two ranges; 0: 1
                                 MiB */
  uint64_t cap_nbytes;        /* most of joined ranges; 0: 4 MiB */
  struct rd_http_options http;
};

/* Opens "s3://BUCKET[/PREFIX]", without a request; the prefix is not
 * percent-encoded.  All of options is copied.  RADIO_ERROR_ARGUMENT for an
 * invalid URI, endpoint or region. */
enum radio_status rd_io_s3_open (const char *uri,
                                 const struct rd_s3_options *options,
                                 struct rd_io **io) RADIO_USE_RESULT;

#endif /* RD_S3_H */
