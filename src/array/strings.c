/* SPDX-License-Identifier: MIT */
/* Reading and writing strings.  Tiles are fetched and decoded as any others;
 * the bytes of each one's strings are copied to a block of its own, and, once
 * all are there and their sum is known, to one run of bytes in order. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "src/base/checked.h"
#include "src/base/structs.h"
#include "src/base/text.h"
#include "profiler/counters.h"
#include "src/array/fetch.h"
#include "src/element/box.h"

/* The strings of one tile. */
struct block {
  struct block *next;
  char data[];
};

struct string_read {
  struct rd_tile_read tiles;          /* first: callbacks cast it */
  struct radio_request request;
  struct rd_read_stop stop;           /* if the caller may end it */
  struct rd_string *refs;             /* of the box, into blocks */
  _Atomic uint64_t nbytes;            /* in blocks */
  pthread_mutex_t mutex;
  struct {
    struct block *blocks;
  } synced;
};

static void
free_read (struct string_read *read)
{
  while (read->synced.blocks) {
    struct block *block = read->synced.blocks;
    read->synced.blocks = block->next;
    rd_free (block);
  }
  rd_free (read->refs);
  pthread_mutex_destroy (&read->mutex);
}

/* The result, and the tiles it is made of, are within the memory limit. */
static enum radio_status
check_nbytes (const struct string_read *read, uint64_t nbytes)
{
  return rd_context_allows (read->tiles.array->store->context,
                            rd_mul_sat (nbytes, 2), "the text of the box");
}

/* Finds the string of a tile (or whole chunk) at a place of the array. */
static struct rd_string
find_string (const struct radio_box *tile, const struct rd_view *view,
             const uint64_t *at)
{
  struct rd_string string;
  const unsigned char *from = view->data;
  for (size_t i = 0; i < tile->rank; i++)
    from += (int64_t) (at[i] - tile->start[i]) * view->strides[i];
  memcpy (&string, from, sizeof string);
  return string;
}

/* Returns the number of a place in a box, in C order. */
static uint64_t
number_in (const struct radio_box *box, const uint64_t *at)
{
  uint64_t number = 0;
  for (size_t i = 0; i < box->rank; i++)
    number = number * box->size[i] + (at[i] - box->start[i]);
  return number;
}

static void
start_at (const struct radio_box *box, uint64_t at[RADIO_MAX_RANK])
{
  memcpy (at, box->start, RADIO_MAX_RANK * sizeof *at);
}

static enum radio_status
place (struct rd_tile_read *tiles, size_t number, const struct radio_box *box,
       const struct rd_view *view, uint64_t *nbytes)
{
  struct string_read *read = (struct string_read *) tiles;
  const struct radio_box *wanted = &read->request.box;
  const struct rd_view fill = { .data = tiles->array->doc->fill };
  struct radio_box part;
  uint64_t at[RADIO_MAX_RANK], sum = 0;
  (void) number;
  (void) nbytes;
  if (!rd_box_intersect (box, wanted, &part))
    return RADIO_OK;
  RD_SCOPE ("place", RD_IN_PLACE);
  start_at (&part, at);
  do
    sum += find_string (box, view ? view : &fill, at).nbytes;
  while (view && rd_box_next (&part, at));
  struct block *block = NULL;
  if (view) {
    RD_COUNT (delivered, sum);
    RD_TRY (check_nbytes (read, rd_add_sat (
      sum, atomic_fetch_add (&read->nbytes, sum))));
    block = rd_malloc (sizeof *block + sum);
    if (!block)
      return rd_fail_memory (sizeof *block + sum);
    RD_LOCK_SCOPE (&read->mutex);
    block->next = read->synced.blocks;
    read->synced.blocks = block;
  }
  char *to = block ? block->data : NULL;
  start_at (&part, at);
  do {
    struct rd_string string = find_string (box, view ? view : &fill, at);
    if (to && string.nbytes > 0) {
      memcpy (to, string.data, string.nbytes);
      string.data = to;
      to += string.nbytes;
    }
    read->refs[number_in (wanted, at)] = string;
  } while (rd_box_next (&part, at));
  return RADIO_OK;
}

/* Joins the strings of all tiles. */
static enum radio_status
join_strings (const struct string_read *read, size_t n,
              struct radio_strings *strings)
{
  uint64_t sum = 0;
  for (size_t i = 0; i < n; i++)
    sum = rd_add_sat (sum, read->refs[i].nbytes);
  RD_TRY (check_nbytes (read, sum));
  RD_FREE int64_t *offsets = rd_malloc ((n + 1) * sizeof *offsets);
  RD_FREE char *bytes = rd_malloc (sum + 1);
  if (!offsets || !bytes)
    return rd_fail_memory ((n + 1) * sizeof *offsets + sum);
  char *to = bytes;
  for (size_t i = 0; i < n; i++) {
    const struct rd_string *string = &read->refs[i];
    offsets[i] = to - bytes;
    if (string->nbytes > 0)
      memcpy (to, string->data, string->nbytes);
    to += string->nbytes;
  }
  offsets[n] = to - bytes;
  *to = '\0';
  *strings = (struct radio_strings) { n, RD_STEAL (offsets),
                                      RD_STEAL (bytes) };
  return RADIO_OK;
}

static enum radio_status
check_strings_array (const struct radio_array *array)
{
  if (array->doc->type.dtype == RADIO_STRING)
    return RADIO_OK;
  char name[24];
  return rd_array_fail_in (array, rd_fail (
    RADIO_ERROR_ARGUMENT, "an array of %s, not of strings",
    rd_type_name (&array->doc->type, name)));
}

static enum radio_status
run_read (struct string_read *read, const struct radio_read_options *options,
          struct radio_strings *strings)
{
  struct radio_array *array = read->tiles.array;
  const struct radio_context *context = array->store->context;
  const struct radio_box *box = &read->request.box;
  if (options)
    RD_TRY (RD_CHECK_RESERVED (radio_read_options, options));
  if (options && options->strides)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_read_options: strides of "
                    "strings, which are in C order");
  RD_TRY (check_strings_array (array));
  RD_TRY (rd_array_check_box (array, box));
  if (options && (options->cancel || options->deadline_ms > 0)) {
    rd_read_stop_init (&read->stop, array->store->io, options);
    read->tiles.stop = &read->stop;
  } else
    read->tiles.stop = rd_read_stop_of_thread (&read->stop, array->store->io);
  /* An offset and a string inside the engine for each. */
  uint64_t n = radio_box_count (box);
  const uint64_t each = sizeof (struct rd_string) + sizeof (int64_t);
  enum radio_status status = rd_context_allows (
    context, rd_mul_sat (rd_add_sat (n, 1), each), "the strings of the box");
  if (status != RADIO_OK)
    return rd_array_fail_in (array, status);
  read->refs = rd_calloc ((size_t) n + 1, sizeof *read->refs);
  if (!read->refs)
    return rd_fail_memory ((size_t) n * sizeof *read->refs);
  RD_TRY (rd_pool_check (context->pool));
  rd_annotate_boxes (&array->layout, &read->request, 1);
  status = rd_read_result (&read->tiles, array, rd_fetch_tiles (&read->tiles));
  return status == RADIO_OK ? join_strings (read, (size_t) n, strings)
                            : status;
}

enum radio_status
radio_array_read_strings (struct radio_array *array,
                          const struct radio_box *box,
                          struct radio_strings *strings,
                          const struct radio_read_options *options)
{
  RD_NOT_NULL (array);
  RD_NOT_NULL (box);
  RD_NOT_NULL (strings);
  RD_SCOPE ("read", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  RD_CLEANUP (free_read) struct string_read read = {
    .tiles = { .array = array, .n = 1, .place = place },
    .request = { .box = *box },
    .mutex = PTHREAD_MUTEX_INITIALIZER,
  };
  read.tiles.requests = &read.request;
  return rd_scope_end_with (run_read (&read, options, strings));
}

/* Checks the strings that a caller gives, and makes the engine's elements. */
static enum radio_status
make_refs (const struct radio_strings *strings, struct rd_string *refs)
{
  for (size_t i = 0; i < strings->n; i++) {
    int64_t start = strings->offsets[i], end = strings->offsets[i + 1];
    if (start < 0 || end < start)
      return rd_fail (RADIO_ERROR_ARGUMENT, "string %zu is from offset %"
                      PRId64 " to %" PRId64, i, start, end);
    size_t nbytes = (size_t) (end - start);
    if (nbytes > 0 && !strings->bytes)
      return rd_fail (RADIO_ERROR_ARGUMENT, "string %zu has %zu bytes, and "
                      "bytes is NULL", i, nbytes);
    if (nbytes > UINT32_MAX)
      return rd_fail (RADIO_ERROR_ARGUMENT, "string %zu has %zu bytes; at "
                      "most 2^32 - 1 can be stored", i, nbytes);
    refs[i] = (struct rd_string) { nbytes > 0 ? strings->bytes + start : "",
                                   nbytes };
    size_t nvalid = rd_utf8_valid_nbytes (refs[i].data, nbytes);
    if (nvalid < nbytes)
      return rd_fail (RADIO_ERROR_ARGUMENT, "byte %zu of string %zu (0x%02x) "
                      "is not UTF-8", nvalid, i,
                      (unsigned) (unsigned char) refs[i].data[nvalid]);
  }
  return RADIO_OK;
}

static enum radio_status
write_strings (struct radio_array *array, const struct radio_box *box,
               const struct radio_strings *strings)
{
  uint64_t n = strings->n;
  RD_TRY (check_strings_array (array));
  RD_TRY (rd_array_check_box (array, box));
  if (radio_box_count (box) != n)
    return rd_array_fail_in (array, rd_fail (
      RADIO_ERROR_ARGUMENT, "%" PRIu64 " strings for a box of %" PRIu64, n,
      radio_box_count (box)));
  if (n == 0)
    return rd_array_write_refs (array, box, NULL, 0);
  RD_NOT_NULL (strings->offsets);
  if (n >= SIZE_MAX / sizeof (struct rd_string))
    return rd_fail_memory (SIZE_MAX);
  RD_FREE struct rd_string *refs = rd_malloc (n * sizeof *refs);
  if (!refs)
    return rd_fail_memory (n * sizeof *refs);
  enum radio_status status = make_refs (strings, refs);
  if (status != RADIO_OK)
    return rd_array_fail_in (array, status);
  return rd_array_write_refs (
    array, box, refs, (uint64_t) (strings->offsets[n] - strings->offsets[0]));
}

enum radio_status
radio_array_write_strings (struct radio_array *array,
                           const struct radio_box *box,
                           const struct radio_strings *strings)
{
  RD_NOT_NULL (array);
  RD_NOT_NULL (box);
  RD_NOT_NULL (strings);
  RD_SCOPE ("write", RD_IN_OPERATION);
  RD_NOTE_NAME ("array", rd_array_name (array));
  RD_TRY (rd_array_check_stored (array, "written"));
  return rd_scope_end_with (write_strings (array, box, strings));
}
