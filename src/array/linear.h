/* SPDX-License-Identifier: MIT */
/* Reading arrays without tiles: a read takes the runs of bytes that its boxes
 * need. */
#ifndef RD_LINEAR_H
#define RD_LINEAR_H

#include "src/array/fetch.h"
#include "src/array/linear-source.h"

/* Reads all elements that the requests want, as rd_fetch_tiles does of tiles.
 */
enum radio_status rd_linear_read (struct rd_tile_read *read)
  RADIO_USE_RESULT;

/* Sources read runs in tasks of this site. */
extern const struct radio_site rd_linear_runs_site;

/* Places the bytes of a run. */
enum radio_status rd_linear_place (struct rd_tile_read *read,
                                   const struct rd_linear_run *run,
                                   const unsigned char *bytes)
  RADIO_USE_RESULT;

/* Returns where the bytes of a run are to be read, instead of being placed, if
 * they are wanted one after the other as they are; else NULL.  The huge pages
 * there are populated.  The source counts the bytes as delivered.  Unless
 * computes is NULL, also where values are computed of them: sets it, and counts
 * nothing (read->compute). */
unsigned char *rd_linear_destination (const struct rd_tile_read *read,
                                      const struct rd_linear_run *run,
                                      bool *computes);

/* Identifies the content of a local file that is read, when it was opened. */
void rd_linear_identify (struct radio_array *array);

/* True if the content of an array's object is identified, and still what it was
 * when it was opened.  Sets *now to its present identity, as far as known. */
bool rd_linear_is_unchanged (const struct radio_array *array,
                             struct rd_file_identity *now);

/* An object that a source reads. */
struct rd_linear_object {
  struct radio_store *store;          /* that of the array, which lives longer
                                         */
  const char *key;                    /* copied */
  uint64_t object_nbytes, version;    /* that it must have, as its first
                                         response said; or 0 (rd_io_get) */
  bool map;                           /* read it by mapping, if that is possible
                                         */
};

/* Opens an object as a source: its bytes from offset on, as they are. */
enum radio_status
rd_linear_object_open (const struct rd_linear_object *object, uint64_t offset,
                       struct rd_linear **linear) RADIO_USE_RESULT;

/* Opens the elements of an array, which lie in memory that lives longer, as a
 * source (memory.c).  strides: NULL for C order, for which nbytes must suffice.
 * RADIO_ERROR_ARGUMENT: there is not so much memory. */
enum radio_status rd_linear_memory_open (const struct rd_array_doc *doc,
                                         const void *elements, size_t nbytes,
                                         const int64_t *strides,
                                         struct rd_linear **linear)
  RADIO_USE_RESULT;

/* Reads from memory, as rd_linear_read does. */
enum radio_status rd_memory_read (struct rd_tile_read *read)
  RADIO_USE_RESULT;

/* RADIO_ERROR_ARGUMENT if some request's destination, of elements of
 * item_nbytes, overlaps the memory that the array is read from, unless each
 * element is delivered to where it is read, where no other one is, and no other
 * request reads it.  converts: elements are converted, which is not possible in
 * place. */
enum radio_status rd_memory_check (const struct radio_array *array,
                                   const struct radio_request *requests,
                                   size_t n, size_t item_nbytes, bool converts)
  RADIO_USE_RESULT;

#endif /* RD_LINEAR_H */
