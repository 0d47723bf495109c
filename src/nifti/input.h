/* SPDX-License-Identifier: MIT */
/* A file read as a stream of bytes: plain, or gzip of any number of members
 * (recognized by its first bytes, not its name), inflated in bounded memory. */
#ifndef RD_INPUT_H
#define RD_INPUT_H

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/base/file-identity.h"

/* A member's header is given to ISA-L whole, up to this size, that of the
 * largest extra field and names: between two calls it forgets which fields
 * follow. */
#define RD_GZIP_HEADER_NBYTES ((size_t) 68 << 10)

/* True if the bytes contain all of the header of a member that they begin with
 * (RFC 1952, 2.3). */
bool rd_gzip_header_is_whole (const unsigned char *bytes, size_t nbytes);

struct rd_input;

/* Where the bytes of files come from that are not on a local disk. */
struct rd_input_source {
  /* Reads up to nbytes of a file from an offset on; *got is less at its end
   * only.  *file_nbytes is the size of all of it. */
  enum radio_status (*read) (struct rd_input_source *source,
                             const char *file, uint64_t offset, void *data,
                             size_t nbytes, size_t *got,
                             uint64_t *file_nbytes);
};

/* Says what a result of isal_inflate that is not OK means. */
const char *rd_inflate_error (int result);

enum radio_status rd_input_open (const char *file, struct rd_input **input)
  RADIO_USE_RESULT;

/* The same of a source, which lives longer; NULL: the local disk.  Little is
 * read at first, and more each time. */
enum radio_status rd_input_open_from (struct rd_input_source *source,
                                      const char *file,
                                      struct rd_input **input)
  RADIO_USE_RESULT;
void rd_input_close (struct rd_input *input);
RD_DEFINE_CLEANUP (input, struct rd_input, rd_input_close);

/* Read up to nbytes; *got < nbytes only at the end.  A gzip stream that is
 * cut short, damaged (CRC, length) or followed by something that is no
 * member is RADIO_ERROR_FORMAT and names the byte of the file. */
enum radio_status rd_input_read (struct rd_input *input, void *data,
                                 size_t nbytes, size_t *got)
  RADIO_USE_RESULT;

/* Reads and discards the rest of the file; *nbytes is its size, inflated.  If a
 * gzip file ends within its last trailer, or is followed by other data,
 * *problem says so, and all before is whole; else it is NULL. */
enum radio_status rd_input_finish (struct rd_input *input, uint64_t *nbytes,
                                   const char **problem) RADIO_USE_RESULT;

/* The warning for such a file. */
#define RD_GZIP_CUT_WARNING \
  "cut short after the last voxel: whether the voxels are right cannot be " \
  "checked"
#define RD_GZIP_GARBAGE_WARNING "what follows the gzip data is ignored"

/* The file's name, valid as long as the input. */
const char *rd_input_file (const struct rd_input *input);

/* The file when it was opened. */
const struct rd_file_identity *
rd_input_identity (const struct rd_input *input);

/* Bytes of the file taken in, and its size; equal sizes and positions also
 * of plain files. */
uint64_t rd_input_position (const struct rd_input *input);
uint64_t rd_input_file_nbytes (const struct rd_input *input);
bool rd_input_is_gzip (const struct rd_input *input);

/* The length that the first member claims in its header; 0: none. */
uint64_t rd_input_member_nbytes (const struct rd_input *input);

/* The most bytes that the file can hold decompressed: its size, or 1032
 * times that for gzip (deflate's limit).  A header that claims more is
 * wrong. */
uint64_t rd_input_max_nbytes (const struct rd_input *input);

#endif /* RD_INPUT_H */
