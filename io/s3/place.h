/* SPDX-License-Identifier: MIT */
/* Where a store in S3 is: its endpoint, its bucket, its prefix; and how the
 * two of them are put into a request. */
#ifndef RD_S3_PLACE_H
#define RD_S3_PLACE_H

#include "io/s3/s3.h"

struct rd_s3_place {
  bool is_https;
  bool is_virtual;            /* the bucket is part of the host's name */
  char *host;                 /* with the port unless it is the scheme's;
                                 NULL: AWS's of a region */
  char *base;                 /* a path before the bucket, as sent; "" */
  char *bucket, *prefix;      /* "" or as "a/b" */
};

/* RADIO_ERROR_ARGUMENT; no message shows more of what it refuses than it may.
 */
enum radio_status rd_s3_place_parse (struct rd_s3_place *place,
                                     const char *uri,
                                     const struct rd_s3_options *options)
  RADIO_USE_RESULT;
void rd_s3_place_free (struct rd_s3_place *place);

/* Whether it can be the name of a region. */
bool rd_s3_is_region (const char *region);

/* The host, and the encoded path of a key below the prefix or, with NULL, of
 * the bucket.  Allocated; NULL without memory (the message is set). */
char *rd_s3_place_host (const struct rd_s3_place *place, const char *region);
char *rd_s3_place_path (const struct rd_s3_place *place, const char *key);

/* "PREFIX/KEY", or the one of them that is not "". */
char *rd_s3_place_key (const struct rd_s3_place *place, const char *key);

/* Join texts up to a NULL.  Allocated; the same. */
char *rd_s3_join (const char *const *texts);
#define RD_S3_JOIN(...) \
  rd_s3_join ((const char *const []) { __VA_ARGS__, NULL })

#endif /* RD_S3_PLACE_H */
