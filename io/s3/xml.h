/* SPDX-License-Identifier: MIT */
/* What S3 answers in XML, by expat, which may call for no more than small
 * bounds: of depth, of names, of texts.  Document types, and with them
 * entities of one's own, are refused. */
#ifndef RD_S3_XML_H
#define RD_S3_XML_H

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

/* An element ends: path names it with those around it, as
 * "ListBucketResult/Contents/Key"; text is what stands directly in it, with
 * a NUL behind it.  Elements within it ended before. */
typedef enum radio_status rd_s3_xml_fn (const char *path, const char *text,
                                        void *user_data);

/* Read a document; where names it in messages.  RADIO_ERROR_FORMAT for what
 * is no XML, ends too early or is out of bounds; what fn fails with. */
enum radio_status rd_s3_xml_read (const struct rd_buffer *document,
                                  const char *where, rd_s3_xml_fn *fn,
                                  void *user_data) RADIO_USE_RESULT;

/* Keep a copy of an element's text in place of the one before, which may be
 * NULL.  RADIO_ERROR_MEMORY. */
enum radio_status rd_s3_xml_keep (const char *text, char **kept)
  RADIO_USE_RESULT;

/* Append text with what XML gives a meaning to as references.
 * RADIO_ERROR_ARGUMENT for what no document can hold: most control
 * characters.  RADIO_ERROR_MEMORY. */
enum radio_status rd_s3_xml_append (struct rd_buffer *document,
                                    const char *text) RADIO_USE_RESULT;

/* A number that is all of a text; false for another. */
bool rd_s3_xml_number (const char *text, uint64_t *number);

/* The seconds since 1970 of "2026-01-31T12:34:56.000Z"; -1 for another
 * text. */
int64_t rd_s3_xml_time (const char *text);

#endif /* RD_S3_XML_H */
