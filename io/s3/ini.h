/* SPDX-License-Identifier: MIT */
/* The files that AWS's clients keep profiles in (~/.aws/config and
 * ~/.aws/credentials): INI in a dialect of its own.
 *
 *   [profile NAME]           a section; its words may be quoted
 *   key = value # comment    behind a blank, '#' or ';' begins a comment
 *   s3 =                     a property without value may have others
 *     key = value            below it, which are indented
 *   other = value
 *     more                   any other indented line goes on with the value
 *
 * Sections of one name are one, and of properties of one name the last one
 * counts.  Names of properties are the same in any case.  Files may hold
 * secrets: no message shows what stands in one. */
#ifndef RD_S3_INI_H
#define RD_S3_INI_H

#include <radio/base.h>

#include "src/base/buffer.h"

#define RD_S3_INI_MAX_NBYTES 1048576

/* The texts are within the file's. */
struct rd_s3_property {
  const char *section;        /* "profile NAME", with one blank */
  const char *parent;         /* "s3"; NULL: none */
  const char *name;
  char *value;
  size_t value_nbytes;
};

struct rd_s3_ini {
  struct rd_buffer text;      /* as it was read, taken apart in place */
  struct rd_s3_property *properties;
  size_t n, room;
};

/* Read a file; one that is missing is empty.  RADIO_ERROR_FORMAT names the
 * file and the line. */
enum radio_status rd_s3_ini_read (const char *path, struct rd_s3_ini *ini)
  RADIO_USE_RESULT;

/* The same of bytes; where names them in messages. */
enum radio_status rd_s3_ini_parse (const void *bytes, size_t nbytes,
                                   const char *where, struct rd_s3_ini *ini)
  RADIO_USE_RESULT;

/* A value; NULL: there is none. */
const char *rd_s3_ini_get (const struct rd_s3_ini *ini, const char *section,
                           const char *parent, const char *name);

bool rd_s3_ini_has_section (const struct rd_s3_ini *ini,
                            const char *section);

/* Overwrites what stood there; it is empty and usable again. */
void rd_s3_ini_free (struct rd_s3_ini *ini);

#define RD_S3_INI_SCOPE RD_CLEANUP (rd_s3_ini_free)

#endif /* RD_S3_INI_H */
