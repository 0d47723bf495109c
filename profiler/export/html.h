/* SPDX-License-Identifier: MIT */
/* Parts of the HTML page that are written without JavaScript. */
#ifndef RD_HTML_H
#define RD_HTML_H

#include "profiler/export/export.h"

/* Text as HTML, also in attributes. */
void rd_write_html (struct rd_writer *writer, const char *text);

/* A time and an amount, with their units. */
void rd_page_write_time (struct rd_writer *writer, uint64_t ns);
void rd_page_write_nbytes (struct rd_writer *writer, uint64_t nbytes);

/* The curve of a sweep, as a picture and a table, with and without the
 * script; nothing for any other profile.  RADIO_ERROR_MEMORY. */
enum radio_status
rd_page_write_curve (struct rd_writer *writer,
                     const struct radio_profile *profile) RADIO_USE_RESULT;

#endif /* RD_HTML_H */
