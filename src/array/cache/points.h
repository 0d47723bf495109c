/* SPDX-License-Identifier: MIT */
/* Points of entry into gzip files: where a member begins; where a block of
 * deflate begins, with the history before it that the block may refer to; or
 * any place, with a copy of the state that inflated up to there.  Histories and
 * copies are deflated once the memory for points is used up.  All handles of a
 * file share one set of points, and a context keeps the sets of files that were
 * closed, evicting the least recently used ones first. */
#ifndef RD_POINTS_H
#define RD_POINTS_H

#include <pthread.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"

/* A block refers to at most this much before it. */
#define RD_POINT_HISTORY_NBYTES ((size_t) 32 << 10)

/* A copy of an inflater has at most this much, with its history. */
#define RD_POINT_STATE_NBYTES ((size_t) 60 << 10)

/* Enough for a history or a copy that cannot be made smaller. */
#define RD_POINT_PACKED_NBYTES (RD_POINT_STATE_NBYTES + 512)

struct rd_point {
  uint64_t output;            /* inflated bytes before it */
  uint64_t input;             /* of the file's bytes, where it begins */
  unsigned bit;               /* 0-7, of the first byte */
  bool is_member;             /* a member's header, not a block */
  bool is_state;              /* the history is a copy of an inflater, which is
                                 of use to this process only */
  bool has_crc32;             /* of a block: the next two are known */
  uint32_t crc32;             /* of the member's output before it */
  uint32_t member_nbytes;     /* of that output, modulo 2^32 */
  uint32_t history_nbytes;    /* 0 where a member or its data begin */
  uint32_t packed_nbytes;
  bool is_raw;                /* the history is not deflated */
  unsigned char *packed;      /* the history, as a deflate stream or as it is */
};

/* Identifies the content of a file.  A file that was changed or replaced has
 * another key. */
struct rd_points_key {
  uint64_t device, inode;
  uint64_t nbytes;
  uint64_t mtime_ns;          /* since 1970, modulo 2^64 */
  uint32_t head_crc32c, tail_crc32c;  /* of RD_POINTS_END_NBYTES each, or of the
                                         whole file */
  uint64_t are_hints;         /* 1: points that nothing vouches for, which are
                                 another set than the file's own */
};
#define RD_POINTS_END_NBYTES ((size_t) 4 << 10)

/*------------------------------------------------------------------------
 * Histories
 *----------------------------------------------------------------------*/

/* Copies history, of nbytes, for a point.  False without memory. */
bool rd_point_copy (struct rd_point *point, const unsigned char *history,
                    size_t nbytes);

/* Deflates history, of nbytes, for a point.  False without memory. */
bool rd_point_pack (struct rd_point *point, const unsigned char *history,
                    size_t nbytes);

/* Gets the history of a point, of history_nbytes, from `packed'.
 * Errors: RADIO_ERROR_FORMAT (it is damaged), RADIO_ERROR_MEMORY. */
enum radio_status rd_point_unpack (const struct rd_point *point,
                                   const unsigned char *packed,
                                   unsigned char *history) RADIO_USE_RESULT;

/*------------------------------------------------------------------------
 * Sets, which may be used by any thread
 *----------------------------------------------------------------------*/

struct rd_points_cache;
struct rd_points;

/* The points of all sets take max_nbytes at most, those of n sets in use the
 * n-th part each. */
enum radio_status rd_points_cache_open (uint64_t max_nbytes,
                                        struct rd_points_cache **cache)
  RADIO_USE_RESULT;

/* No set may be in use. */
void rd_points_cache_close (struct rd_points_cache *cache);

/* Returns the set of a file, in use by the caller; a new one if the file has
 * none, or if key is NULL: that one is private, and is not kept.  gap_nbytes is
 * the output between two points; an existing set takes it if it is smaller than
 * its own. */
enum radio_status rd_points_open (struct rd_points_cache *cache,
                                  const struct rd_points_key *key,
                                  uint64_t gap_nbytes,
                                  struct rd_points **points)
  RADIO_USE_RESULT;
void rd_points_release (struct rd_points *points);
RD_DEFINE_CLEANUP (points, struct rd_points, rd_points_release);

/* Drops all points of a set. */
void rd_points_clear (struct rd_points *points);

/* True if a point at an output would be a gap away from the others. */
bool rd_points_want (struct rd_points *points, uint64_t output);

/* Returns the first output, from this one on, at which a point would be wanted;
 * UINT64_MAX if none is wanted before the next point. */
uint64_t rd_points_next_wanted (struct rd_points *points, uint64_t output);

/* Adds a point, whose packed history is taken, unless others are too close or
 * there is no memory.  While the points take more than their part of the limit,
 * their histories are deflated; then every other point is dropped, and the gap
 * doubles. */
void rd_points_add (struct rd_points *points, struct rd_point *point);

/* Adds a copy of a point, and of its packed history. */
void rd_points_add_copy (struct rd_points *points,
                         const struct rd_point *point,
                         const unsigned char *packed);

/* Kinds of points.  For RD_POINTS_CHECKED the checksum of the output before
 * them is known, or not needed, since a member begins. */
enum rd_points_kind {
  RD_POINTS_ALL,
  RD_POINTS_CHECKED,
  RD_POINTS_MEMBERS,
};

/* Gets the last point of a kind at or before an output; false if there is no
 * such point.  Its history is copied to packed, which has
 * RD_POINT_PACKED_NBYTES, unless that is NULL. */
bool rd_points_find (struct rd_points *points, uint64_t output,
                     enum rd_points_kind kind, struct rd_point *point,
                     unsigned char *packed);

/* Gets the first point at or after an output, without its history; false if
 * there is no such point. */
bool rd_points_find_next (struct rd_points *points, uint64_t output,
                          struct rd_point *point);

/* Sets the checksum and size of the output before a point, if they are unknown:
 * for the point at the output of `checked', if there is one. */
void rd_points_check (struct rd_points *points,
                      const struct rd_point *checked);

/* Returns the number of points, and of those that were added since the set was
 * last marked as saved. */
size_t rd_points_count (struct rd_points *points, size_t *nunsaved);
void rd_points_mark_saved (struct rd_points *points);

/* Calls fn for each point, in order, with the set locked.  Ends at a failure.
 */
typedef enum radio_status rd_point_fn (const struct rd_point *point,
                                       void *user_data);
enum radio_status rd_points_each (struct rd_points *points, rd_point_fn *fn,
                                  void *user_data) RADIO_USE_RESULT;

#endif /* RD_POINTS_H */
