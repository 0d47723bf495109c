/* SPDX-License-Identifier: MIT */
/* What pages of listings have in common. */
#include <config.h>

#include <string.h>

#include "io/s3/page.h"
#include "io/s3/xml.h"

/* A thousand keys of 1,024 bytes, percent-encoded, with what is around. */
#define MAX_PAGE_NBYTES (UINT32_C (8) << 20)

static enum radio_status
take_head (const char *path, const char *text, void *user_data)
{
  struct rd_s3_page *page = user_data;
  size_t n = strlen (page->root);
  if (strncmp (path, page->root, n) != 0)
    return RADIO_OK;
  if (strcmp (path + n, "/IsTruncated") == 0)
    page->is_truncated = strcmp (text, "true") == 0;
  else if (strcmp (path + n, "/EncodingType") == 0)
    page->is_encoded = strcmp (text, "url") == 0;
  else if (path[n] == '\0')
    page->has_root = true;
  return RADIO_OK;
}

static enum radio_status
fetch (struct rd_s3 *s3, char *query, const struct radio_site *site,
       struct rd_s3_page *page, struct rd_buffer *text)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_GET, NULL, query));
  call.read.task.into = text;
  call.read.task.max_nbytes = MAX_PAGE_NBYTES;
  RD_TRY (rd_s3_call_run (&call, site));
  page->now_s = rd_s3_answered_s (&call);
  return RADIO_OK;
}

enum radio_status
rd_s3_page_read (struct rd_s3 *s3, char *query,
                 const struct radio_site *site, struct rd_s3_page *page,
                 struct rd_buffer *text)
{
  RD_TRY (fetch (s3, query, site, page, text));
  page->has_root = page->is_truncated = page->is_encoded = false;
  RD_TRY (rd_s3_xml_read (text, s3->base.uri, take_head, page));
  return page->has_root ? RADIO_OK
                        : rd_fail (RADIO_ERROR_FORMAT, "%s: the %s is none",
                                   s3->base.uri, page->what);
}
