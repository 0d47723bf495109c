/* SPDX-License-Identifier: MIT */
/* Listings of a bucket. */
#ifndef RD_S3_LIST_H
#define RD_S3_LIST_H

#include "io/s3/call.h"

/* As list of a store's table. */
enum radio_status rd_s3_list (struct rd_io *io, const char *prefix,
                              bool recursive, rd_io_list_fn *fn,
                              void *user_data) RADIO_USE_RESULT;

/* How the keys begin of what stores put to learn what an endpoint can do;
 * list does not tell of them, this does: of what follows in their keys. */
#define RD_S3_PROBE_NAME ".radio-probe-"
enum radio_status rd_s3_list_probes (struct rd_s3 *s3, rd_io_list_fn *fn,
                                     void *user_data) RADIO_USE_RESULT;

/* Append "&NAME=VALUE", or without '&' at the begin; the value is encoded.
 */
enum radio_status rd_s3_query_add (struct rd_buffer *query, const char *name,
                                   const char *value) RADIO_USE_RESULT;

/* What the buffer holds as a string; it is empty then.  NULL without memory.
 */
char *rd_s3_query_take (struct rd_buffer *query);

#endif /* RD_S3_LIST_H */
