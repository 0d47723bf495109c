/* SPDX-License-Identifier: MIT */
/* Responses of S3 in XML, by expat, within small limits of depth, names and
 * texts.  Document types, and with them custom entities, are rejected; and
 * the times in such responses. */
#ifndef RD_S3_XML_H
#define RD_S3_XML_H

#include <radio/base.h>

#include "src/base/buffer.h"
#include "src/base/error.h"

/* Called when an element ends: path is its name after those of its parents,
 * "ListBucketResult/Contents/Key"; text is its own text, which ends in a NUL.
 * Its child elements have ended before. */
typedef enum radio_status rd_s3_xml_fn (const char *path, const char *text,
                                        void *user_data);

/* Parses a document; where names it in messages.  RADIO_ERROR_FORMAT if it is
 * invalid, truncated or exceeds the limits; and errors of fn. */
enum radio_status rd_s3_xml_read (const struct rd_buffer *document,
                                  const char *where, rd_s3_xml_fn *fn,
                                  void *user_data) RADIO_USE_RESULT;

/* The same for an error's document, which some servers put together from any
 * bytes: '?' takes the place of those that XML cannot have, and if the document
 * ends or becomes invalid within the element `part', the text up to there is
 * still reported. */
enum radio_status rd_s3_xml_read_damaged (const struct rd_buffer *document,
                                          const char *part,
                                          rd_s3_xml_fn *fn, void *user_data)
  RADIO_USE_RESULT;

/* Replaces *kept, which may be NULL, by a copy of an element's text.
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_s3_xml_keep (const char *text, char **kept)
  RADIO_USE_RESULT;

/* Appends text, escaped.  RADIO_ERROR_ARGUMENT for text that XML cannot
 * represent: most control characters.  RADIO_ERROR_MEMORY. */
enum radio_status rd_s3_xml_append (struct rd_buffer *document,
                                    const char *text) RADIO_USE_RESULT;

/* Parses a text that is a number; false for another. */
bool rd_s3_xml_number (const char *text, uint64_t *number);

/* Parses "2026-01-31T12:34:56Z", also with a fraction or another offset from
 * UTC; false for another text. */
bool rd_s3_parse_time (const char *text, int64_t *unix_s);

/* The same, but -1 for another text; a time zone is ignored. */
int64_t rd_s3_xml_time (const char *text);

#endif /* RD_S3_XML_H */
