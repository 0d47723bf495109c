/* SPDX-License-Identifier: MIT */
/* The stores that rd_io_open chooses from. */
#ifndef RD_STORES_H
#define RD_STORES_H

#include "io/http/http.h"
#include "io/io.h"
#include "io/s3/s3.h"

/* A new empty store in this process's memory. */
enum radio_status rd_io_memory_open (struct rd_io **io) RADIO_USE_RESULT;

/* The folder `path'; with create it is made when missing. */
enum radio_status rd_io_posix_open (const char *path, bool create,
                                    struct rd_io **io) RADIO_USE_RESULT;

/* What a web server has below a URL, read-only; of options the zero value
 * is the default. */
enum radio_status rd_io_http_open (const char *url,
                                   const struct rd_http_options *options,
                                   struct rd_io **io) RADIO_USE_RESULT;

#endif /* RD_STORES_H */
