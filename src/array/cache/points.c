/* SPDX-License-Identifier: MIT */
/* Points of entry.  Histories are deflated by ISA-L's level 1, which makes them
 * about as small as the file itself is, but takes much longer than copying
 * them: only where memory is short.  A set has a mutex, which is taken before
 * the cache's. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <isa-l/igzip_lib.h>

#include "src/base/checked.h"
#include "src/base/reserve.h"
#include "src/array/cache/points.h"

struct rd_points {
  struct rd_points_cache *cache;
  struct rd_points_key key;
  bool has_key;
  pthread_mutex_t mutex;
  struct {
    struct rd_point *list;            /* by output */
    size_t n, capacity, nunsaved;
    uint64_t nbytes, gap_nbytes;
  } synced;

  /* Under the cache's mutex. */
  unsigned nusers;
  struct rd_points *newer, *older;    /* closed sets */
};

struct rd_points_cache {
  uint64_t max_nbytes;
  pthread_mutex_t mutex;
  struct {
    uint64_t nbytes;                  /* of all sets */
    size_t nactive, capacity;         /* in use */
    struct rd_points **active;
    struct rd_points *newest, *oldest;      /* that are not */
  } synced;
};

/*------------------------------------------------------------------------
 * Histories
 *----------------------------------------------------------------------*/

bool
rd_point_copy (struct rd_point *point, const unsigned char *history,
               size_t nbytes)
{
  point->packed = rd_malloc (nbytes);
  if (!point->packed)
    return false;
  memcpy (point->packed, history, nbytes);
  point->packed_nbytes = point->history_nbytes = (uint32_t) nbytes;
  point->is_raw = true;
  return true;
}

struct packer {
  struct isal_zstream stream;
  unsigned char room[ISAL_DEF_LVL1_DEFAULT];
  unsigned char packed[RD_POINT_PACKED_NBYTES];
};

bool
rd_point_pack (struct rd_point *point, const unsigned char *history,
               size_t nbytes)
{
  RD_FREE struct packer *packer = rd_malloc (sizeof *packer);
  if (!packer)
    return false;
  struct isal_zstream *stream = &packer->stream;
  isal_deflate_stateless_init (stream);
  stream->level = 1;
  stream->level_buf = packer->room;
  stream->level_buf_size = sizeof packer->room;
  stream->end_of_stream = 1;
  /* ISA-L only reads it. */
  stream->next_in = (unsigned char *) (uintptr_t) history;
  stream->avail_in = (uint32_t) nbytes;
  stream->next_out = packer->packed;
  stream->avail_out = (uint32_t) sizeof packer->packed;
  if (isal_deflate_stateless (stream) != COMP_OK)
    return false;
  size_t packed_nbytes = sizeof packer->packed - stream->avail_out;
  point->packed = rd_malloc (packed_nbytes);
  if (!point->packed)
    return false;
  memcpy (point->packed, packer->packed, packed_nbytes);
  point->packed_nbytes = (uint32_t) packed_nbytes;
  point->history_nbytes = (uint32_t) nbytes;
  point->is_raw = false;
  return true;
}

enum radio_status
rd_point_unpack (const struct rd_point *point, const unsigned char *packed,
                 unsigned char *history)
{
  if (point->history_nbytes == 0)
    return RADIO_OK;
  if (point->is_raw) {
    memcpy (history, packed, point->history_nbytes);
    return RADIO_OK;
  }
  RD_FREE struct inflate_state *state = rd_malloc (sizeof *state);
  if (!state)
    return rd_fail_memory (sizeof *state);
  isal_inflate_init (state);
  state->next_in = (unsigned char *) (uintptr_t) packed;
  state->avail_in = point->packed_nbytes;
  state->next_out = history;
  state->avail_out = point->history_nbytes;
  if (isal_inflate_stateless (state) == ISAL_DECOMP_OK
      && state->avail_out == 0)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "a point of entry is damaged; remove its "
                  "file of points (.points or .gzidx), if it has one");
}

/*------------------------------------------------------------------------
 * The cache
 *----------------------------------------------------------------------*/

static void
free_points (struct rd_points *points)
{
  for (size_t i = 0; i < points->synced.n; i++)
    rd_free (points->synced.list[i].packed);
  rd_free (points->synced.list);
  pthread_mutex_destroy (&points->mutex);
  rd_free (points);
}

/* Takes a closed set out of the list. */
static void
unlink_synced (struct rd_points_cache *cache, struct rd_points *points)
{
  *(points->newer ? &points->newer->older : &cache->synced.newest)
    = points->older;
  *(points->older ? &points->older->newer : &cache->synced.oldest)
    = points->newer;
  points->newer = points->older = NULL;
}

enum radio_status
rd_points_cache_open (uint64_t max_nbytes, struct rd_points_cache **result)
{
  struct rd_points_cache *cache = rd_calloc (1, sizeof *cache);
  if (!cache)
    return rd_fail_memory (sizeof *cache);
  cache->max_nbytes = max_nbytes;
  pthread_mutex_init (&cache->mutex, NULL);
  *result = cache;
  return RADIO_OK;
}

void
rd_points_cache_close (struct rd_points_cache *cache)
{
  if (!cache)
    return;
  for (struct rd_points *points = cache->synced.newest, *older; points;
       points = older) {
    older = points->older;
    free_points (points);
  }
  rd_free (cache->synced.active);
  pthread_mutex_destroy (&cache->mutex);
  rd_free (cache);
}

/* Evicts closed sets while all take too much.  Returns what the points of a set
 * in use may take. */
static uint64_t
charge (struct rd_points_cache *cache, uint64_t nbytes)
{
  RD_LOCK_SCOPE (&cache->mutex);
  cache->synced.nbytes += nbytes;
  while (cache->synced.nbytes > cache->max_nbytes && cache->synced.oldest) {
    struct rd_points *oldest = cache->synced.oldest;
    unlink_synced (cache, oldest);
    cache->synced.nbytes -= oldest->synced.nbytes;
    free_points (oldest);
  }
  return cache->max_nbytes / rd_max_u64 (cache->synced.nactive, 1);
}

static void
uncharge (struct rd_points_cache *cache, uint64_t nbytes)
{
  RD_LOCK_SCOPE (&cache->mutex);
  cache->synced.nbytes -= nbytes;
}

static bool
has_key (const struct rd_points *points, const struct rd_points_key *key)
{
  return points->has_key && memcmp (&points->key, key, sizeof *key) == 0;
}

/* Returns the set of a key, or NULL. */
static struct rd_points *
find_set_synced (struct rd_points_cache *cache,
                 const struct rd_points_key *key)
{
  for (size_t i = 0; i < cache->synced.nactive; i++)
    if (has_key (cache->synced.active[i], key))
      return cache->synced.active[i];
  for (struct rd_points *points = cache->synced.newest; points;
       points = points->older)
    if (has_key (points, key))
      return points;
  return NULL;
}

enum radio_status
rd_points_open (struct rd_points_cache *cache,
                const struct rd_points_key *key, uint64_t gap_nbytes,
                struct rd_points **result)
{
  struct rd_points *points = NULL;
  {
    RD_LOCK_SCOPE (&cache->mutex);
    RD_TRY (rd_reserve (&cache->synced.active, &cache->synced.capacity,
                        cache->synced.nactive,
                        sizeof (struct rd_points *)));
    if (key)
      points = find_set_synced (cache, key);
    if (!points) {
      points = rd_calloc (1, sizeof *points);
      if (!points)
        return rd_fail_memory (sizeof *points);
      points->cache = cache;
      points->has_key = key != NULL;
      if (key)
        points->key = *key;
      points->synced.gap_nbytes = gap_nbytes;
      pthread_mutex_init (&points->mutex, NULL);
    } else if (points->nusers == 0)
      unlink_synced (cache, points);
    if (points->nusers++ == 0)
      cache->synced.active[cache->synced.nactive++] = points;
  }
  *result = points;
  RD_LOCK_SCOPE (&points->mutex);
  if (gap_nbytes < points->synced.gap_nbytes)
    points->synced.gap_nbytes = gap_nbytes;
  return RADIO_OK;
}

void
rd_points_release (struct rd_points *points)
{
  if (!points)
    return;
  struct rd_points_cache *cache = points->cache;
  {
    RD_LOCK_SCOPE (&cache->mutex);
    if (--points->nusers > 0)
      return;
    size_t i = 0;
    while (cache->synced.active[i] != points)
      i++;
    cache->synced.active[i] = cache->synced.active[--cache->synced.nactive];
    if (points->has_key && points->synced.n > 0) {
      points->older = cache->synced.newest;
      *(points->older ? &points->older->newer : &cache->synced.oldest)
        = points;
      cache->synced.newest = points;
      points = NULL;
    } else
      cache->synced.nbytes -= points->synced.nbytes;
  }
  if (points)
    free_points (points);
}

/*------------------------------------------------------------------------
 * Points
 *----------------------------------------------------------------------*/

static uint64_t
point_nbytes (const struct rd_point *point)
{
  return sizeof *point + point->packed_nbytes;
}

/* Returns how many points are not after an output. */
static size_t
count_before_synced (const struct rd_points *points, uint64_t output)
{
  size_t low = 0, high = points->synced.n;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (points->synced.list[middle].output <= output)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* True if an output is a gap after the point before it (or the file's start),
 * and a gap before the next one; *at is the place of a new point. */
static bool
wants_synced (const struct rd_points *points, uint64_t output, size_t *at)
{
  const struct rd_point *list = points->synced.list;
  uint64_t gap = points->synced.gap_nbytes;
  *at = count_before_synced (points, output);
  uint64_t before = *at > 0 ? list[*at - 1].output : 0;
  return output - before >= gap
         && (*at == points->synced.n || list[*at].output - output >= gap);
}

bool
rd_points_want (struct rd_points *points, uint64_t output)
{
  size_t at;
  RD_LOCK_SCOPE (&points->mutex);
  return wants_synced (points, output, &at);
}

uint64_t
rd_points_next_wanted (struct rd_points *points, uint64_t output)
{
  RD_LOCK_SCOPE (&points->mutex);
  size_t at = count_before_synced (points, output);
  uint64_t before = at > 0 ? points->synced.list[at - 1].output : 0;
  uint64_t wanted = rd_max_u64 (output, rd_add_sat (
    before, points->synced.gap_nbytes));
  return wants_synced (points, wanted, &at) ? wanted : UINT64_MAX;
}

/* Deflates the histories that are not; false if no one became smaller. */
static bool
pack_synced (struct rd_points *points)
{
  uint64_t saved_nbytes = 0;
  for (size_t i = 0; i < points->synced.n; i++) {
    struct rd_point *point = &points->synced.list[i], packed = *point;
    if (!point->is_raw
        || !rd_point_pack (&packed, point->packed, point->packed_nbytes))
      continue;
    /* One that cannot be made smaller stays; it is tried again. */
    if (packed.packed_nbytes >= point->packed_nbytes) {
      rd_free (packed.packed);
      continue;
    }
    saved_nbytes += point->packed_nbytes - packed.packed_nbytes;
    rd_free (point->packed);
    *point = packed;
  }
  points->synced.nbytes -= saved_nbytes;
  uncharge (points->cache, saved_nbytes);
  return saved_nbytes > 0;
}

/* Drops every other point. */
static void
thin_synced (struct rd_points *points)
{
  size_t n = 0;
  uint64_t dropped_nbytes = 0;
  for (size_t i = 0; i < points->synced.n; i++) {
    struct rd_point *point = &points->synced.list[i];
    if (i % 2 == 0) {
      points->synced.list[n++] = *point;
      continue;
    }
    dropped_nbytes += point_nbytes (point);
    rd_free (point->packed);
  }
  points->synced.n = n;
  points->synced.gap_nbytes *= 2;
  points->synced.nbytes -= dropped_nbytes;
  uncharge (points->cache, dropped_nbytes);
}

void
rd_points_clear (struct rd_points *points)
{
  RD_LOCK_SCOPE (&points->mutex);
  for (size_t i = 0; i < points->synced.n; i++)
    rd_free (points->synced.list[i].packed);
  uncharge (points->cache, points->synced.nbytes);
  points->synced.n = points->synced.nunsaved = 0;
  points->synced.nbytes = 0;
}

void
rd_points_add (struct rd_points *points, struct rd_point *point)
{
  RD_FREE unsigned char *packed = RD_STEAL (point->packed);
  size_t at, nbytes;
  RD_LOCK_SCOPE (&points->mutex);
  size_t n = points->synced.n;
  if (!wants_synced (points, point->output, &at)
      || !rd_reserve_by (&points->synced.list, &points->synced.capacity, n,
                         SIZE_MAX, sizeof *point, rd_realloc, &nbytes))
    return;
  struct rd_point *list = points->synced.list;
  memmove (list + at + 1, list + at, (n - at) * sizeof *list);
  list[at] = *point;
  list[at].packed = RD_STEAL (packed);
  points->synced.n++;
  points->synced.nunsaved++;
  points->synced.nbytes += point_nbytes (&list[at]);
  uint64_t most_nbytes = charge (points->cache, point_nbytes (&list[at]));
  while (points->synced.nbytes > most_nbytes && points->synced.n > 1)
    if (!pack_synced (points))
      thin_synced (points);
}

void
rd_points_add_copy (struct rd_points *points, const struct rd_point *point,
                    const unsigned char *packed)
{
  struct rd_point copy = *point;
  if (point->packed_nbytes > 0) {
    copy.packed = rd_malloc (point->packed_nbytes);
    if (!copy.packed)
      return;
    memcpy (copy.packed, packed, point->packed_nbytes);
  }
  rd_points_add (points, &copy);
}

static bool
is_of_kind (const struct rd_point *point, enum rd_points_kind kind)
{
  return kind == RD_POINTS_ALL || point->is_member
         || (kind == RD_POINTS_CHECKED && point->has_crc32);
}

bool
rd_points_find (struct rd_points *points, uint64_t output,
                enum rd_points_kind kind, struct rd_point *point,
                unsigned char *packed)
{
  RD_LOCK_SCOPE (&points->mutex);
  size_t n = count_before_synced (points, output);
  while (n > 0 && !is_of_kind (&points->synced.list[n - 1], kind))
    n--;
  if (n == 0)
    return false;
  *point = points->synced.list[n - 1];
  if (packed && point->packed)
    memcpy (packed, point->packed, point->packed_nbytes);
  point->packed = NULL;
  return true;
}

bool
rd_points_find_next (struct rd_points *points, uint64_t output,
                     struct rd_point *point)
{
  RD_LOCK_SCOPE (&points->mutex);
  size_t n = output > 0 ? count_before_synced (points, output - 1) : 0;
  if (n == points->synced.n)
    return false;
  *point = points->synced.list[n];
  point->packed = NULL;
  return true;
}

void
rd_points_check (struct rd_points *points, const struct rd_point *checked)
{
  RD_LOCK_SCOPE (&points->mutex);
  size_t n = count_before_synced (points, checked->output);
  struct rd_point *point = n > 0 ? &points->synced.list[n - 1] : NULL;
  if (!point || point->output != checked->output || point->is_member
      || point->has_crc32)
    return;
  point->has_crc32 = true;
  point->crc32 = checked->crc32;
  point->member_nbytes = checked->member_nbytes;
}

size_t
rd_points_count (struct rd_points *points, size_t *nunsaved)
{
  RD_LOCK_SCOPE (&points->mutex);
  if (nunsaved)
    *nunsaved = points->synced.nunsaved;
  return points->synced.n;
}

void
rd_points_mark_saved (struct rd_points *points)
{
  RD_LOCK_SCOPE (&points->mutex);
  points->synced.nunsaved = 0;
}

enum radio_status
rd_points_each (struct rd_points *points, rd_point_fn *fn, void *user_data)
{
  RD_LOCK_SCOPE (&points->mutex);
  for (size_t i = 0; i < points->synced.n; i++)
    RD_TRY (fn (&points->synced.list[i], user_data));
  return RADIO_OK;
}
