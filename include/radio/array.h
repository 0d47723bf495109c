/* SPDX-License-Identifier: MIT */
/* Arrays: one Zarr v3 array of any rank, type and origin. */
#ifndef RADIO_ARRAY_H
#define RADIO_ARRAY_H

#include <radio/base.h>
#include <radio/box.h>
#include <radio/dtype.h>
#include <radio/store.h>
#include <radio/strings.h>

#ifdef __cplusplus
extern "C" {
#endif

struct radio_array;

/* Opens the array at a path below the store's root; "" is the root itself.
 * Errors: RADIO_ERROR_NOT_FOUND, RADIO_ERROR_FORMAT (the document breaks
 * the Zarr v3 rules; the message names the member),
 * RADIO_ERROR_UNSUPPORTED (the message names the codec, data type, grid or
 * member), those of reading. */
RADIO_API enum radio_status
radio_array_open (struct radio_store *store, const char *path,
                  struct radio_array **array) RADIO_USE_RESULT;

/* The same by the text of the array's zarr.json, of nbytes: for callers that
 * have it, or want another one than is stored, as if an array grows.
 * Reads nothing; but a chunk that is missing is of the fill value only if the
 * array is stored when it is read.
 * Errors: RADIO_ERROR_FORMAT and RADIO_ERROR_UNSUPPORTED as above,
 * RADIO_ERROR_ARGUMENT, RADIO_ERROR_MEMORY, RADIO_ERROR_FORKED. */
RADIO_API enum radio_status
radio_array_open_document (struct radio_store *store, const char *path,
                           const char *text, size_t nbytes,
                           struct radio_array **array) RADIO_USE_RESULT;

/* Releases an array.  Must not be called while it is in use, also by
 * asynchronous reads.  NULL is legal. */
RADIO_API void radio_array_close (struct radio_array *array);

/* Properties of an array.  The pointers are valid as long as the handle.
 * Frozen: it stands in other structs. */
struct radio_array_info {
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];
  uint64_t chunk_shape[RADIO_MAX_RANK];   /* of one key: a shard if sharded */
  uint64_t tile_shape[RADIO_MAX_RANK];    /* of the unit of compression */
  enum radio_dtype dtype;
  size_t item_nbytes;                     /* of one element; also for RAW; 0
                                             for STRING */
  bool sharded;
  const char *codecs;                     /* a summary: "blosc lz4 5 ..." */
  const char *codecs_json;                /* as in zarr.json */
  const char *attributes_json;            /* "{}" when there are none */
  const char *const *dimension_names;     /* rank strings, each may be NULL;
                                             NULL when there are none */
};

/* Fills info.  Never fails. */
RADIO_API void radio_array_get_info (const struct radio_array *array,
                                     struct radio_array_info *info);

/* Layout and conversion of the elements read, and the read's end. */
struct radio_read_options {
  /* Distance in bytes from one element to the next along each axis of the
   * box, in array order; may be negative, then buffer points to the element
   * at the box's start.  NULL: C order without gaps.  With strides nbytes is
   * not checked: the caller is responsible for the buffer's bounds. */
  const int64_t *strides;

  /* For volumes: return stored * scl_slope + scl_inter (NIfTI-1 §
   * "DATA SCALING"; a slope of 0 means none).  Only with RADIO_FLOAT32 or
   * RADIO_FLOAT64. */
  bool scaled;

  /* For planes: the index on each leading axis, slowest first: for a
   * (t, c, z, y, x) volume lead[0] is t and lead[1] is c. */
  uint64_t lead[2];

  /* Called from time to time by the calling thread, at least every 20 ms while
   * it waits for a server; if it returns true, the read ends soon with
   * RADIO_ERROR_CANCELLED.  May be NULL. */
  radio_cancel_fn *cancel;
  void *user_data;

  /* The read ends with RADIO_ERROR_TIMEOUT if it takes longer, also while a
   * server is silent.  0: none but that of each request. */
  uint64_t deadline_ms;

  /* Called once, with user_data, at the end of a read of a volume with a
   * pipeline if some of the values that it computed are NaN.  Not called by
   * asynchronous reads.  May be NULL. */
  radio_warning_fn *warning;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[7];
};

/* Reads a box into the caller's memory.
 *
 * dtype is the type returned: RADIO_STORED, or any that every stored value
 * can be converted to: integers and bool are range-checked, floats convert
 * to floats (nearest) and integers to floats (nearest); a float goes into
 * an integer only when it is whole and fits; complex converts to complex
 * only; RAW to itself only.  nbytes is the size of the buffer, at least that
 * of the elements returned.
 *
 * Errors: RADIO_ERROR_ARGUMENT (rank or box outside the array, buffer too
 * small, conversion that is never possible), RADIO_ERROR_RANGE (a value
 * does not fit), RADIO_ERROR_FORMAT, RADIO_ERROR_CHECKSUM (a tile is
 * damaged: the message names the key, the tile and the cause),
 * RADIO_ERROR_LIMIT, RADIO_ERROR_IO, RADIO_ERROR_MEMORY,
 * RADIO_ERROR_CANCELLED, RADIO_ERROR_TIMEOUT, RADIO_ERROR_FORKED.
 * After an error the buffer's content is undefined. */
RADIO_API enum radio_status
radio_array_read (struct radio_array *array, const struct radio_box *box,
                  enum radio_dtype dtype, void *buffer, size_t nbytes,
                  const struct radio_read_options *options) RADIO_USE_RESULT;

/* One of several boxes read by one call.  Frozen: it stands in arrays. */
struct radio_request {
  struct radio_box box;       /* within the array, of its rank */
  void *buffer;               /* for the elements of the box */
  size_t nbytes;              /* of buffer */
  const int64_t *strides;     /* as in radio_read_options; may be NULL */
};

/* Reads several boxes at once; their tiles are shared among all workers.  The
 * strides of each request are used, those of options are ignored.
 * Errors: as radio_array_read; the first one ends the whole call. */
RADIO_API enum radio_status
radio_array_read_many (struct radio_array *array,
                       const struct radio_request *requests, size_t n,
                       enum radio_dtype dtype,
                       const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* A read that goes on without the thread that started it. */
struct radio_read;

/* Called once when a read has ended, on a thread of the context's pool, with
 * its result and message (radio_error_message).  It may start other reads, but
 * must not wait for one, nor close an array, volume, store or context. */
typedef void radio_read_done_fn (enum radio_status status, void *user_data);

/* Starts to read several boxes, as radio_array_read_many, and returns.  Many
 * reads may be started, by one thread: their requests to a server are in flight
 * together, as far as the context's memory limit allows; others wait.
 *
 * The requests are copied.  Their buffers and strides, and the array, stay
 * valid until this has returned and done was called, whichever is later; when
 * done is called, *read is set.  The caller releases *read by radio_read_close;
 * read may be NULL.  done may be NULL if the read is waited for.
 *
 * options->cancel must be NULL: radio_read_cancel ends the read.  A context of
 * one thread starts another one.
 *
 * Errors: those of radio_array_read that need no data (others are the read's
 * result); done is not called then. */
RADIO_API enum radio_status
radio_array_read_async (struct radio_array *array,
                        const struct radio_request *requests, size_t n,
                        enum radio_dtype dtype,
                        const struct radio_read_options *options,
                        radio_read_done_fn *done, void *user_data,
                        struct radio_read **read) RADIO_USE_RESULT;

/* Waits until a read has ended and done has returned.  Returns its result, also
 * if it is called again.
 * Errors: those of radio_array_read; RADIO_ERROR_FORKED (the read was started
 * before fork, and goes on in the parent only). */
RADIO_API enum radio_status radio_read_wait (struct radio_read *read)
  RADIO_USE_RESULT;

/* Returns whether radio_read_wait would return at once; true for NULL. */
RADIO_API bool radio_read_is_done (struct radio_read *read);

/* Ends a read soon, and returns at once; its result is then
 * RADIO_ERROR_CANCELLED, unless it has ended already.  done is called then,
 * too.  NULL is legal. */
RADIO_API void radio_read_cancel (struct radio_read *read);

/* Releases the caller's handle, which must be its last use; a read goes on that
 * has not ended.  NULL is legal. */
RADIO_API void radio_read_close (struct radio_read *read);

/* Properties of a new array. */
struct radio_array_options {
  /* The number of axes, of which the first is the slowest. */
  size_t rank;
  /* The number of elements along each axis. */
  uint64_t shape[RADIO_MAX_RANK];
  /* The shape of a chunk, which one key holds: a shard if codecs_json has the
   * sharding codec.  Chunks may extend past the array's end. */
  uint64_t chunk_shape[RADIO_MAX_RANK];
  /* A Zarr name: "int16", "r24", ... */
  const char *data_type;
  /* The JSON list of codecs, as in zarr.json.  NULL: bytes (little), zstd 3,
   * crc32c. */
  const char *codecs_json;
  /* The JSON value.  NULL: zero. */
  const char *fill_value_json;
  /* "default" (also NULL) or "v2". */
  const char *chunk_key_encoding;
  /* '/' or '.'; 0: the encoding's own default. */
  char separator;
  /* Names of the axes: rank strings, each may be NULL; or NULL. */
  const char *const *dimension_names;
  /* The array's attributes, a JSON object; NULL: none. */
  const char *attributes_json;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[8];
};

/* Creates an array, and the missing group documents above it.  Its document
 * is published last, and only if none exists.
 * Errors: RADIO_ERROR_EXISTS, RADIO_ERROR_ARGUMENT, RADIO_ERROR_FORMAT,
 * RADIO_ERROR_UNSUPPORTED (as for opening), those of writing. */
RADIO_API enum radio_status
radio_array_create (struct radio_store *store, const char *path,
                    const struct radio_array_options *options,
                    struct radio_array **array) RADIO_USE_RESULT;

/* Writes a box, given in the stored type and C order.  On each axis the box
 * must start at a chunk's edge, and end at one or at the array's: a chunk is
 * written whole and appears atomically.  Chunks of nothing but the fill value
 * are not stored.  Calls on different chunks may run concurrently.
 * Errors: RADIO_ERROR_ARGUMENT (box not of whole chunks, buffer too small),
 * RADIO_ERROR_LIMIT (a chunk does not fit into the memory bound), those of
 * writing. */
RADIO_API enum radio_status
radio_array_write (struct radio_array *array, const struct radio_box *box,
                   const void *buffer, size_t nbytes) RADIO_USE_RESULT;

/* Reads a box of an array of RADIO_STRING, in C order.  Fills *strings, which
 * the caller frees by radio_strings_free; a NUL follows the last string.  The
 * array's fill value stands where no chunk is stored.  options may be NULL;
 * only cancel and deadline_ms are used, strides must be NULL.
 *
 * Memory is taken for the bytes that are really there: what a chunk claims is
 * checked first.  A tile decodes to at most a sixteenth of the context's memory
 * limit, and the strings of one call and their offsets to half of it.
 *
 * Errors: as radio_array_read; RADIO_ERROR_ARGUMENT (no array of strings),
 * RADIO_ERROR_FORMAT (also text that is not UTF-8), RADIO_ERROR_LIMIT (more
 * text than that; read smaller boxes, or raise the limit). */
RADIO_API enum radio_status
radio_array_read_strings (struct radio_array *array,
                          const struct radio_box *box,
                          struct radio_strings *strings,
                          const struct radio_read_options *options)
  RADIO_USE_RESULT;

/* Writes a box of an array of RADIO_STRING, as radio_array_write: of whole
 * chunks, n strings in C order.  The first offset may be any: strings can be
 * part of a longer list.
 * Errors: RADIO_ERROR_ARGUMENT (no array of strings, a number of strings that
 * is not the box's, offsets that decrease, text that is not UTF-8, a string of
 * 2^32 bytes or more), those of radio_array_write. */
RADIO_API enum radio_status
radio_array_write_strings (struct radio_array *array,
                           const struct radio_box *box,
                           const struct radio_strings *strings)
  RADIO_USE_RESULT;

/* Called with a part of the array that a tile holds, and the bytes that the
 * tile has decoded (0 of strings: it is not known before).  Anything but
 * RADIO_OK ends the list, which returns it. */
typedef enum radio_status radio_tile_fn (const struct radio_box *tile,
                                         uint64_t nbytes, void *user_data);

/* Lists the tiles that a read of a box (NULL: of the whole array) decodes, each
 * once, in C order, and reads nothing.  For a volume with a pipeline
 * (radio_volume_array) these are exactly the tiles of the stored image that the
 * box depends on; statistics of the whole volume (radio_volume_passes) are not
 * counted.  A tile that is not stored is listed, too.  A read may decode fewer
 * (cached tiles), and an interpolating read may decode some more than once: if
 * it takes more than a fourth of the context's memory, or the interpolated
 * image is padded with its own voxels (reflect, wrap).
 * Errors: RADIO_ERROR_ARGUMENT (a box outside of the array),
 * RADIO_ERROR_UNSUPPORTED (an image in its file, which has no tiles),
 * RADIO_ERROR_LIMIT (the list exceeds the context's memory), what callback
 * returns. */
RADIO_API enum radio_status
radio_array_list_tiles (struct radio_array *array, const struct radio_box *box,
                        radio_tile_fn *callback, void *user_data)
  RADIO_USE_RESULT;

/* A result: later versions may add members at its end. */
struct radio_check {
  uint64_t tile_count;        /* tiles read and decoded */
  uint64_t missing_count;     /* tiles not stored (fill value) */
  uint64_t stored_nbytes;     /* bytes of the chunks' objects; 0 in a store
                                 that cannot be listed */
  uint64_t damaged_count;
  uint64_t stale_count;       /* of a volume: its array nifti, if that has the
                                 header of the volume before, since a writer
                                 was interrupted; radio_store_gc and the next
                                 write of the volume repair it.  Of a group:
                                 see radio_store_validate_group */
};

/* Called for each damaged tile with a message that names it. */
typedef void radio_damage_fn (const char *message, void *user_data);

/* Reads and decodes every tile, continuing after damage.  damage may be NULL.
 * Returns RADIO_OK if all tiles are good, RADIO_ERROR_CHECKSUM if some are
 * damaged (check has their number); other errors end the check. */
RADIO_API enum radio_status
radio_array_check (struct radio_array *array, struct radio_check *check,
                   radio_damage_fn *damage, void *user_data,
                   size_t check_nbytes)
  RADIO_USE_RESULT;
#define radio_array_check(array, check, damage, user_data) \
  radio_array_check (array, check, damage, user_data, \
                     sizeof (struct radio_check))

#ifdef __cplusplus
}
#endif

#endif /* RADIO_ARRAY_H */
