/* SPDX-License-Identifier: MIT */
/* Writing to S3, and removing: parts of the store's table. */
#ifndef RD_S3_WRITE_H
#define RD_S3_WRITE_H

#include "io/s3/call.h"

enum radio_status rd_s3_put (struct rd_io *io, const char *key,
                             const struct rd_part *parts, size_t n,
                             enum rd_put how) RADIO_USE_RESULT;
enum radio_status rd_s3_create (struct rd_io *io, const char *key,
                                struct rd_io_writer **writer)
  RADIO_USE_RESULT;
enum radio_status rd_s3_remove (struct rd_io *io, const char *key)
  RADIO_USE_RESULT;
enum radio_status rd_s3_remove_tree (struct rd_io *io, const char *prefix)
  RADIO_USE_RESULT;
enum radio_status rd_s3_sweep (struct rd_io *io, const char *prefix,
                               bool dry_run, struct rd_io_swept *swept)
  RADIO_USE_RESULT;

/* What goes by one request. */
#define RD_S3_PART_NBYTES ((size_t) 8 << 20)

/* An upload of many parts, while its writer lives. */
struct rd_s3_upload {
  struct rd_s3_upload *next;
  const char *id;
};

/* End an upload without an object; NOT_FOUND: it has ended. */
enum radio_status rd_s3_upload_abort (struct rd_s3 *s3, const char *key,
                                      const char *id) RADIO_USE_RESULT;

/* Who writes, as what it writes tells: 32 hexadecimal digits at random. */
#define RD_S3_WRITER_NBYTES 33
#define RD_S3_WRITER_HEADER "x-amz-meta-radio-writer"
enum radio_status rd_s3_writer_name (char name[RD_S3_WRITER_NBYTES])
  RADIO_USE_RESULT;

/* Whether the object that is there is of this writer, and so long. */
enum radio_status rd_s3_is_written_by (struct rd_s3 *s3, const char *key,
                                       const char *name, uint64_t nbytes,
                                       bool *is_so) RADIO_USE_RESULT;

#endif /* RD_S3_WRITE_H */
