/* SPDX-License-Identifier: MIT */
/* The store in S3, and in what speaks its protocol: a prefix of a bucket. */
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

/* Zero-filled is the default: AWS, and asking without credentials. */
struct rd_s3_options {
  const char *endpoint;       /* "https://HOST[:PORT][/PATH]"; NULL: AWS */
  const char *region;         /* NULL: "us-east-1", until told otherwise */
  enum rd_s3_addressing addressing;
  struct rd_s3_provider_options provider;     /* of credentials; without
                                 settings: nobody's */
  bool single_writer;         /* there is no other: so an endpoint will do
                                 that knows no conditional writes */
  bool no_sums;               /* over TLS, too, what is written goes without
                                 its checksum */
  uint64_t grace_s;           /* after which what nobody finished counts as
                                 left behind; 0: a day */
  uint64_t writers_nbytes;    /* that all writers may hold, but for a part
                                 of each; 0: 256 MiB */
  uint64_t gap_nbytes;        /* read over rather than asked around; 0: 1 MiB */
  uint64_t cap_nbytes;        /* of what is so joined; 0: 4 MiB */
  struct rd_http_options http;
};

/* Open "s3://BUCKET[/PREFIX]"; the prefix is as it is, not percent-encoded.
 * Nothing is asked yet.  All of options is copied.
 * RADIO_ERROR_ARGUMENT for a URI, an endpoint or a region that cannot be. */
enum radio_status rd_io_s3_open (const char *uri,
                                 const struct rd_s3_options *options,
                                 struct rd_io **io) RADIO_USE_RESULT;

#endif /* RD_S3_H */
