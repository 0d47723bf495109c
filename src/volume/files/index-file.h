/* SPDX-License-Identifier: MIT */
/* Points of entry in files: radio's own, FILE.points (docs/format.md), and
 * those of indexed_gzip, .gzidx.  A file of points is ignored if it is of
 * another file, older than its own, damaged, or has impossible values. */
#ifndef RD_INDEX_FILE_H
#define RD_INDEX_FILE_H

#include "src/array/cache/points.h"
#include "src/base/buffer.h"

/* Where the points of a gzip file are kept. */
struct rd_index_place {
  const char *file;           /* the gzip file */
  const char *folder;         /* for files whose own folder cannot be written,
                                 or NULL */
  uint64_t most_nbytes;       /* larger files of points are ignored */
};

/* Adds the points kept for the file with this key, if any: from a file of
 * points to points; from indexed_gzip, which has neither a checksum nor the
 * name of the file, to hints. */
void rd_index_find (const struct rd_index_place *place,
                    const struct rd_points_key *key,
                    struct rd_points *points, struct rd_points *hints);

/* Writes the points beside the file or, if that fails, into the folder, in
 * place of those that are there.
 * Errors: RADIO_ERROR_EXISTS (there is something else by that name), those of
 * writing. */
enum radio_status rd_index_keep (const struct rd_index_place *place,
                                 const struct rd_points_key *key,
                                 struct rd_points *points) RADIO_USE_RESULT;

/* Makes the content of a file of points, of those that are no states. */
enum radio_status rd_index_pack (const struct rd_points_key *key,
                                 struct rd_points *points,
                                 struct rd_buffer *out) RADIO_USE_RESULT;

/* Add the points of a file of points that is in memory.  gzip_nbytes is the
 * size of the gzip file.
 * Errors: RADIO_ERROR_FORMAT (none is added). */
enum radio_status rd_index_parse (const unsigned char *bytes, size_t nbytes,
                                  const struct rd_points_key *key,
                                  struct rd_points *points) RADIO_USE_RESULT;
enum radio_status rd_gzidx_parse (const unsigned char *bytes, size_t nbytes,
                                  uint64_t gzip_nbytes,
                                  struct rd_points *points) RADIO_USE_RESULT;

#endif /* RD_INDEX_FILE_H */
