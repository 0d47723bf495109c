/* SPDX-License-Identifier: MIT */
/* A page of what S3 lists of a bucket: objects, or uploads. */
#ifndef RD_S3_PAGE_H
#define RD_S3_PAGE_H

#include "io/s3/call.h"

struct rd_s3_page {
  /* Set by the caller. */
  const char *root;           /* the root element of its document */
  const char *what;           /* it is, in messages */

  /* What it says of itself; is_encoded: of its keys. */
  bool has_root, is_truncated, is_encoded;
  int64_t now_s;              /* when it was answered */
};

/* Ask for a page, by a query that is taken over, and read what it says of
 * itself, which may stand behind what it lists: that is then read from the
 * text by rd_s3_xml_read.  RADIO_ERROR_FORMAT for what is no such page, and
 * those of asking. */
enum radio_status rd_s3_page_read (struct rd_s3 *s3, char *query,
                                   const struct radio_site *site,
                                   struct rd_s3_page *page,
                                   struct rd_buffer *text) RADIO_USE_RESULT;

#endif /* RD_S3_PAGE_H */
