/* SPDX-License-Identifier: MIT */
/* One gzip member, deflated as a stream into whatever takes its bytes. */
#ifndef RD_GZIP_H
#define RD_GZIP_H

#include <radio/base.h>

struct rd_gzip;

/* Takes compressed bytes. */
typedef enum radio_status rd_gzip_sink_fn (void *user_data,
                                           const void *data, size_t nbytes);

enum radio_status rd_gzip_open (rd_gzip_sink_fn *sink, void *user_data,
                                struct rd_gzip **gzip) RADIO_USE_RESULT;

enum radio_status rd_gzip_write (struct rd_gzip *gzip, const void *data,
                                 size_t nbytes) RADIO_USE_RESULT;

/* The last bytes: the end of the stream, its CRC and length. */
enum radio_status rd_gzip_finish (struct rd_gzip *gzip) RADIO_USE_RESULT;

/* Release it; NULL is legal. */
void rd_gzip_close (struct rd_gzip *gzip);

#endif /* RD_GZIP_H */
