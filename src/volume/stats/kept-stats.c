/* SPDX-License-Identifier: MIT */
/* Statistics kept beside a level: computed, written as JSON with a checksum,
 * and believed only if they are of this level and of the shards that it has. */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/array/linear.h"
#include "src/array/stop.h"
#include "src/base/crc32c.h"
#include "src/base/json-make.h"
#include "src/base/little.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "src/element/box.h"
#include "src/volume/file-slabs.h"
#include "src/volume/node.h"
#include "src/volume/publish.h"
#include "src/volume/stats/kept-stats.h"
#include "src/volume/stats/percentiles.h"

#define OBJECT_NAME "statistics.json"

/* The object is below 4 KiB; a reader takes no more memory than this. */
#define MAX_NBYTES ((size_t) 64 << 10)

/* The last bytes of a shard: the checksum of its index. */
#define TAIL_NBYTES 4

/* As many as a store has connections, unless it is given others. */
#define MAX_REQUESTS 64

const double rd_kept_percents[RD_KEPT_NPERCENTS] = {
  0.5, 1, 2, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5,
};

/* Those that are not in radio_stats. */
static const double more_percents[RD_KEPT_NMORE] = {
  0.5, 2, 10, 90, 98, 99.5,
};

/*------------------------------------------------------------------------
 * Computing
 *----------------------------------------------------------------------*/

static double
find_percentile (double percent, const struct radio_stats *stats,
                 const struct rd_stats_more *more)
{
  for (size_t i = 0; i < more->npercents; i++)
    if (more->percents[i] == percent)
      return more->percentiles[i];
  size_t i = 0;
  while (rd_stats_percents[i] != percent)
    i++;
  return stats->percentile[i];
}

static enum radio_status
compute_figures (struct radio_volume *volume, bool nonzero,
                 struct rd_kept_figures *figures, struct radio_stats *stats)
{
  const struct radio_volume_info *info = &volume->info;
  struct rd_stats_more more = {
    .nonzero = nonzero, .npercents = RD_KEPT_NMORE,
  };
  memcpy (more.percents, more_percents, sizeof more_percents);
  RD_TRY (rd_stats_array (volume->array, info->scl_slope, info->scl_inter,
                          NULL, &more, stats));
  *figures = (struct rd_kept_figures) {
    .count = stats->count, .nan_count = stats->nan_count,
    .inf_count = stats->inf_count, .low = more.low, .high = more.high,
    .mean = stats->mean, .std = stats->std,
  };
  for (size_t i = 0; i < RD_KEPT_NPERCENTS; i++)
    figures->percentiles[i] = find_percentile (rd_kept_percents[i], stats,
                                               &more);
  return RADIO_OK;
}

/* Returns why statistics of a volume cannot be kept; NULL if they can: values
 * of a level that radio wrote, whose name is never used again. */
static const char *
why_not (const struct radio_volume *volume)
{
  if (volume->pipeline)
    return "it has a pipeline; keep the statistics of the volume itself";
  if (volume->array->linear && volume->array->linear->memory)
    return "it is in memory; ingest it";
  if (volume->array->linear)
    return "it is a file, which may change; ingest it";
  if (!volume->meta.has_nifti || !rd_is_level_name (volume->meta.level_path))
    return "it is not a volume of radio's, and others' data is not changed";
  if (rd_volume_is_colour (volume))
    return "it is an image of colours, which no pipeline normalises";
  return NULL;
}

static enum radio_status
check_may_keep (const struct radio_volume *volume)
{
  const char *reason = why_not (volume);
  if (!reason)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: statistics cannot be kept: %s",
                  volume->path, reason);
}

enum radio_status
rd_kept_stats_compute (struct radio_volume *volume, struct rd_kept_stats *kept,
                       struct radio_stats *full)
{
  struct radio_stats nonzero = { 0 };
  RD_TRY (check_may_keep (volume));
  RD_TRY (compute_figures (volume, false, &kept->all, full));
  return compute_figures (volume, true, &kept->nonzero, &nonzero);
}

static bool
is_same (double a, double b)
{
  return a == b || (isnan (a) && isnan (b));
}

static bool
is_same_figures (const struct rd_kept_figures *a,
                 const struct rd_kept_figures *b)
{
  bool same = a->count == b->count && a->nan_count == b->nan_count
              && a->inf_count == b->inf_count && is_same (a->low, b->low)
              && is_same (a->high, b->high) && is_same (a->mean, b->mean)
              && is_same (a->std, b->std);
  for (size_t i = 0; i < RD_KEPT_NPERCENTS; i++)
    same = same && is_same (a->percentiles[i], b->percentiles[i]);
  return same;
}

bool
rd_kept_stats_equal (const struct rd_kept_stats *a,
                     const struct rd_kept_stats *b)
{
  return is_same_figures (&a->all, &b->all)
         && is_same_figures (&a->nonzero, &b->nonzero);
}

/*------------------------------------------------------------------------
 * The data that they are of
 *----------------------------------------------------------------------*/

/* The ends of some shards, that are read at once. */
struct tails {
  size_t n;
  struct rd_io_get gets[MAX_REQUESTS];
  struct rd_buffer bytes[MAX_REQUESTS];
  char keys[MAX_REQUESTS][RD_KEY_NBYTES];
};

static void
free_tails (struct tails *tails)
{
  for (size_t i = 0; tails && i < MAX_REQUESTS; i++)
    rd_buffer_free (&tails->bytes[i]);
  rd_free (tails);
}
RD_DEFINE_CLEANUP (tails, struct tails, free_tails);

static void
add_tail (struct tails *tails, const struct radio_array *array,
          const uint64_t *chunk)
{
  size_t i = tails->n++;
  rd_array_chunk_key (array, chunk, tails->keys[i]);
  tails->gets[i] = (struct rd_io_get) {
    .key = tails->keys[i], .range = RD_RANGE_SUFFIX, .nbytes = TAIL_NBYTES,
    .into = &tails->bytes[i],
  };
}

/* Reads the ends, adds them to the digest, and begins again with none. */
static enum radio_status
digest_tails (struct tails *tails, struct rd_io *io, struct rd_read_stop *stop,
              EVP_MD_CTX *sha)
{
  RD_TRY (rd_read_stop_io_read_all (stop, io, tails->gets, tails->n));
  for (size_t i = 0; i < tails->n; i++) {
    unsigned char nbytes[8];
    rd_put_little (nbytes, tails->gets[i].object_nbytes, sizeof nbytes);
    RD_TRY (rd_sha256_add (sha, nbytes, sizeof nbytes));
    RD_TRY (rd_sha256_add (sha, tails->bytes[i].data, tails->bytes[i].nbytes));
  }
  tails->n = 0;
  return RADIO_OK;
}

/* Makes the digest of the sizes and index checksums of all shards, in C order:
 * one short read of each, many at once. */
static enum radio_status
digest_shards (struct radio_array *array, struct rd_read_stop *stop,
               char text[RD_SHA256_TEXT_NBYTES])
{
  EVP_MD_CTX *sha RD_CLEANUP (rd_cleanup_sha256) = NULL;
  struct tails *tails RD_CLEANUP (rd_cleanup_tails)
    = rd_calloc (1, sizeof *tails);
  const struct rd_layout *layout = &array->layout;
  struct rd_io *io = array->store->io;
  uint64_t chunk[RADIO_MAX_RANK] = { 0 };
  bool is_empty = false;
  if (!tails)
    return rd_fail_memory (sizeof *tails);
  RD_TRY (rd_sha256_begin (&sha));
  for (size_t i = 0; i < layout->rank; i++)
    is_empty = is_empty || layout->chunks[i] == 0;
  for (bool is_done = is_empty; !is_done;) {
    add_tail (tails, array, chunk);
    if (tails->n == MAX_REQUESTS)
      RD_TRY (digest_tails (tails, io, stop, sha));
    size_t i = layout->rank;
    while (i > 0 && ++chunk[i - 1] == layout->chunks[i - 1])
      chunk[--i] = 0;
    is_done = i == 0;
  }
  RD_TRY (digest_tails (tails, io, stop, sha));
  return rd_sha256_end (sha, text);
}

/*------------------------------------------------------------------------
 * Writing
 *----------------------------------------------------------------------*/

/* A figure that is not finite is missing. */
static void
add_figure (struct rd_json_make *make, struct json_object *object,
            const char *member, double figure)
{
  if (isfinite (figure))
    rd_json_add_double (make, object, member, figure);
}

static void
add_figures (struct rd_json_make *make, struct json_object *document,
             const char *member, const struct rd_kept_figures *figures)
{
  struct json_object *object = rd_json_add_object (make, document, member);
  rd_json_add_u64 (make, object, "count", figures->count);
  rd_json_add_u64 (make, object, "nan_count", figures->nan_count);
  rd_json_add_u64 (make, object, "inf_count", figures->inf_count);
  add_figure (make, object, "min", figures->low);
  add_figure (make, object, "max", figures->high);
  add_figure (make, object, "mean", figures->mean);
  add_figure (make, object, "std", figures->std);
  struct json_object *list = rd_json_add_object (make, object, "percentiles");
  for (size_t i = 0; i < RD_KEPT_NPERCENTS; i++) {
    char name[RD_NUMBER_NBYTES];
    add_figure (make, list, rd_number_exact (rd_kept_percents[i], name),
                figures->percentiles[i]);
  }
}

/* Makes the text: the document with its checksum as the last member. */
static enum radio_status
make_text (const struct radio_volume *volume, const struct rd_kept_stats *kept,
           const char *shards_sha256, struct rd_buffer *text)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  struct json_object *object = json_object_new_object ();
  struct rd_json_make make = { false };
  rd_json_add_string (&make, object, "version", RD_FORMAT_VERSION);
  rd_json_add_string (&make, object, "level", volume->meta.level_path);
  rd_json_add_string (&make, object, "shards_sha256", shards_sha256);
  add_figures (&make, object, "all", &kept->all);
  add_figures (&make, object, "nonzero", &kept->nonzero);
  RD_TRY (rd_json_make_end (&make, object, &document));
  size_t nbytes;
  const char *body = rd_document_text (document, &nbytes);
  if (!body)
    return RADIO_ERROR_MEMORY;
  nbytes -= strlen ("\n}\n");
  char end[48];
  int n = snprintf (end, sizeof end, ",\n  \"crc32c\": %" PRIu32 "\n}\n",
                    rd_crc32c (0, body, nbytes));
  RD_TRY (rd_buffer_append (text, body, nbytes));
  return rd_buffer_append (text, end, (size_t) n);
}

/* The lock is that of writers of the volume: none of them removes the level
 * before the object is there. */
enum radio_status
rd_kept_stats_put (struct radio_volume *volume,
                   const struct rd_kept_stats *kept)
{
  struct rd_io_lock *lock RD_CLEANUP (rd_cleanup_io_lock) = NULL;
  struct rd_existing existing RD_EXISTING_SCOPE = { 0 };
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct radio_array *array = volume->array;
  struct rd_io *io = array->store->io;
  char sha256[RD_SHA256_TEXT_NBYTES];
  char *collection RD_FREE = NULL;
  const char *name;
  RD_SCOPE ("keep statistics", RD_IN_OPERATION);
  RD_TRY (check_may_keep (volume));
  RD_TRY (rd_publish_check_path (array->store, volume->path, &collection,
                                 &name));
  char *key RD_FREE = rd_key_join (array->path, OBJECT_NAME);
  if (!key)
    return RADIO_ERROR_MEMORY;
  RD_TRY (io->ops->lock (io, volume->path, true, &lock));
  RD_TRY (rd_existing_read (array->store, volume->path, &existing));
  if (!existing.exists || !existing.is_ours || !existing.meta.level_path
      || strcmp (existing.meta.level_path, volume->meta.level_path) != 0)
    return rd_fail (RADIO_ERROR_NOT_FOUND, "%s: the volume was %s while its "
                    "statistics were computed; do it again", volume->path,
                    existing.exists ? "replaced" : "removed");
  RD_TRY (digest_shards (array, NULL, sha256));
  RD_TRY (make_text (volume, kept, sha256, &text));
  return rd_io_put (io, key, text.data, text.nbytes, RD_PUT_REPLACE);
}

static enum radio_status
keep (struct radio_volume *volume, struct radio_stats *stats,
      size_t stats_nbytes)
{
  struct rd_kept_stats kept;
  struct radio_stats full = { 0 };
  RD_TRY (rd_kept_stats_compute (volume, &kept, &full));
  RD_TRY (rd_kept_stats_put (volume, &kept));
  rd_fill_result (stats, stats_nbytes, &full, sizeof full);
  return RADIO_OK;
}

enum radio_status
(radio_volume_keep_stats) (struct radio_volume *volume,
                           struct radio_stats *stats, size_t stats_nbytes)
{
  RD_NOT_NULL (volume);
  RD_SCOPE ("stats", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", volume->path);
  return rd_scope_end_with (keep (volume, stats, stats_nbytes));
}

/*------------------------------------------------------------------------
 * Reading
 *----------------------------------------------------------------------*/

/* Fails unless the bytes before the last member have the checksum that it
 * says. */
static enum radio_status
check_crc (const struct rd_buffer *text, struct json_object *document,
           const char *where)
{
  static const char member[] = ",\n  \"crc32c\": ";
  const size_t n = sizeof member - 1;
  const char *data = (const char *) text->data;
  uint64_t crc;
  RD_TRY (rd_json_u64 (rd_json_member (document, "crc32c"), "crc32c", where,
                       &crc));
  size_t at = text->nbytes;
  while (at > 0 && (text->nbytes - at < n || memcmp (data + at, member, n)))
    at--;
  if (at > 0 && rd_crc32c (0, data, at) == crc)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_FORMAT, "%s: its crc32c differs", where);
}

static enum radio_status
get_figure (struct json_object *in, const char *member, const char *where,
            double *figure)
{
  struct json_object *value = rd_json_member (in, member);
  *figure = NAN;
  if (!value)
    return RADIO_OK;
  if (!json_object_is_type (value, json_type_double)
      || !isfinite (json_object_get_double (value)))
    return rd_json_not (value, member, "a finite number", where);
  *figure = json_object_get_double (value);
  return RADIO_OK;
}

static enum radio_status
get_figures (struct json_object *document, const char *member,
             const char *where, struct rd_kept_figures *figures)
{
  struct json_object *object, *list;
  RD_TRY (rd_json_object (document, member, where, &object));
  RD_TRY (rd_json_u64 (rd_json_member (object, "count"), "count", where,
                       &figures->count));
  RD_TRY (rd_json_u64 (rd_json_member (object, "nan_count"), "nan_count",
                       where, &figures->nan_count));
  RD_TRY (rd_json_u64 (rd_json_member (object, "inf_count"), "inf_count",
                       where, &figures->inf_count));
  RD_TRY (get_figure (object, "min", where, &figures->low));
  RD_TRY (get_figure (object, "max", where, &figures->high));
  RD_TRY (get_figure (object, "mean", where, &figures->mean));
  RD_TRY (get_figure (object, "std", where, &figures->std));
  if (figures->low > figures->high || figures->std < 0)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s.min is greater than max, or "
                    "std negative", where, member);
  RD_TRY (rd_json_object (object, "percentiles", where, &list));
  for (size_t i = 0; i < RD_KEPT_NPERCENTS; i++) {
    char name[RD_NUMBER_NBYTES];
    RD_TRY (get_figure (list, rd_number_exact (rd_kept_percents[i], name),
                        where, &figures->percentiles[i]));
  }
  return RADIO_OK;
}

static enum radio_status
parse (const struct rd_buffer *text, const struct radio_volume *volume,
       const char *where, const char *shards_sha256,
       struct rd_kept_stats *kept, enum rd_kept_state *state)
{
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  const char *level, *sha256;
  RD_TRY (rd_json_parse ((const char *) text->data, text->nbytes, where,
                         &document));
  RD_TRY (rd_json_string (document, "level", where, &level));
  RD_TRY (rd_json_string (document, "shards_sha256", where, &sha256));
  RD_TRY (check_crc (text, document, where));
  RD_TRY (get_figures (document, "all", where, &kept->all));
  RD_TRY (get_figures (document, "nonzero", where, &kept->nonzero));
  *state = strcmp (level, volume->meta.level_path) == 0
           && strcmp (sha256, shards_sha256) == 0 ? RD_KEPT_CURRENT
                                                  : RD_KEPT_STALE;
  return RADIO_OK;
}

/* True of failures that end the caller's operation.  Others mean that nothing
 * is kept: a bucket that may not be listed denies an object that is missing,
 * and a pass over the voxels reports what cannot be read. */
static bool
is_final (enum radio_status status)
{
  return status == RADIO_ERROR_MEMORY || status == RADIO_ERROR_CANCELLED
         || status == RADIO_ERROR_TIMEOUT || status == RADIO_ERROR_FORKED;
}

enum radio_status
rd_kept_stats_get (struct radio_volume *volume, struct rd_read_stop *stop,
                   struct rd_kept_stats *kept, enum rd_kept_state *state)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct radio_array *array = volume->array;
  char sha256[RD_SHA256_TEXT_NBYTES];
  *state = RD_KEPT_NONE;
  if (why_not (volume))
    return RADIO_OK;
  RD_SCOPE ("kept statistics", RD_IN_METADATA);
  char *key RD_FREE = rd_key_join (array->path, OBJECT_NAME);
  if (!key)
    return RADIO_ERROR_MEMORY;
  struct rd_io_get get = {
    .key = key, .range = RD_RANGE_ALL, .nbytes = MAX_NBYTES, .into = &text,
  };
  enum radio_status status = rd_read_stop_io_read (stop, array->store->io,
                                                   &get);
  if (status != RADIO_OK)
    return is_final (status) ? status : RADIO_OK;
  status = digest_shards (array, stop, sha256);
  if (status != RADIO_OK) {
    *state = RD_KEPT_STALE;
    return is_final (status) ? status : RADIO_OK;
  }
  status = parse (&text, volume, key, sha256, kept, state);
  if (status != RADIO_ERROR_FORMAT)
    return status;
  *state = RD_KEPT_BAD;
  return RADIO_OK;
}

enum radio_status
rd_kept_stats_copy (struct radio_store *from, const char *level_path,
                    struct radio_store *to, const char *to_level_path)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct json_object *document RD_CLEANUP (rd_cleanup_json) = NULL;
  char *key RD_FREE = rd_key_join (level_path, OBJECT_NAME);
  char *to_key RD_FREE = rd_key_join (to_level_path, OBJECT_NAME);
  if (!key || !to_key)
    return RADIO_ERROR_MEMORY;
  RD_SCOPE ("kept statistics", RD_IN_METADATA);
  enum radio_status status = rd_io_read_all (from->io, key, MAX_NBYTES, &text);
  if (status == RADIO_OK)
    status = rd_json_parse ((const char *) text.data, text.nbytes, key,
                            &document);
  if (status == RADIO_OK)
    status = check_crc (&text, document, key);
  if (status != RADIO_OK)
    return is_final (status) ? status : RADIO_OK;
  return rd_io_put (to->io, to_key, text.data, text.nbytes, RD_PUT_REPLACE);
}
