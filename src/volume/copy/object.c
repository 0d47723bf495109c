/* SPDX-License-Identifier: MIT */
/* Copying one object: if it exists complete it is kept, else it is read
 * piece by piece, checked, written, and read back.  From a store that does
 * not block, the next piece is requested while one is processed. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/array/object-pieces.h"
#include "src/array/refetch.h"
#include "src/base/crc32c.h"
#include "src/volume/copy/copy.h"

struct reader;

/* A piece and its request. */
struct piece_read {
  struct rd_object_piece piece;
  struct rd_io_get get;
  struct rd_buffer buffer;
  struct reader *reader;
  bool is_requested;
  bool is_done;               /* under the reader's mutex */
};

struct reader {
  struct rd_object_pieces *cuts;
  struct piece_read reads[2];
  unsigned turn;              /* the next one to return */
  pthread_mutex_t mutex;      /* guards is_done of the reads */
  pthread_cond_t done;
};

static void
on_read_done (struct rd_io_get *get)
{
  struct piece_read *read = get->user_data;
  struct reader *reader = read->reader;
  RD_LOCK_SCOPE (&reader->mutex);
  read->is_done = true;
  /* Under the mutex, since the reader may be freed once this is seen. */
  pthread_cond_signal (&reader->done);
}

static void
wait_for_read (struct piece_read *read)
{
  struct reader *reader = read->reader;
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  RD_LOCK_SCOPE (&reader->mutex);
  while (!read->is_done)
    pthread_cond_wait (&reader->done, &reader->mutex);
}

/* Request the next piece, if there is one.  A store that blocks is read when
 * the piece is needed. */
static enum radio_status
request_piece (struct reader *reader, struct piece_read *read)
{
  struct rd_io *io = reader->cuts->io;
  if (!rd_object_pieces_next (reader->cuts, &read->piece))
    return RADIO_OK;
  read->reader = reader;
  read->get.into = &read->buffer;
  RD_TRY (rd_object_pieces_prepare_read (reader->cuts, &read->piece,
                                         &read->get));
  read->is_requested = true;
  read->is_done = io->ops->is_blocking;
  if (io->ops->is_blocking)
    return RADIO_OK;
  read->get.done = on_read_done;
  read->get.user_data = read;
  io->ops->get (io, &read->get, 1);
  return RADIO_OK;
}

/* Reads the next piece, which stays until the next call; *result is NULL
 * after the last one. */
static enum radio_status
next_piece (struct reader *reader, struct piece_read **result)
{
  struct rd_io *io = reader->cuts->io;
  struct piece_read *read = &reader->reads[reader->turn];
  struct piece_read *other = &reader->reads[!reader->turn];
  *result = NULL;
  if (!read->is_requested)
    RD_TRY (request_piece (reader, read));
  if (!read->is_requested)
    return RADIO_OK;
  if (!io->ops->is_blocking)
    RD_TRY (request_piece (reader, other));
  read->is_requested = false;
  if (io->ops->is_blocking) {
    enum radio_status status = rd_io_read (io, &read->get);
    (void) status;                    /* it is in get.error as well */
  } else {
    wait_for_read (read);
  }
  RD_TRY (rd_object_pieces_check_read (reader->cuts, &read->piece,
                                       &read->get));
  *result = read;
  if (other->is_requested)
    reader->turn = !reader->turn;
  return RADIO_OK;
}

/* Verifies the tiles of a piece, which is requested again if they came damaged
 * over a network. */
static enum radio_status
verify_piece (struct rd_object_pieces *cuts, struct piece_read *read,
              struct rd_scratch *scratch)
{
  struct rd_refetch refetch = { 0 };
  for (;;) {
    enum radio_status status = rd_object_pieces_verify (
      cuts, &read->piece, read->buffer.data, scratch);
    if (!rd_refetch_is_due (&refetch, cuts->io, status, read->buffer.data,
                            read->buffer.nbytes))
      return status;
    status = rd_io_read (cuts->io, &read->get);
    (void) status;                    /* it is in get.error as well */
    RD_TRY (rd_object_pieces_check_read (cuts, &read->piece, &read->get));
  }
}

/* Pending requests write into the buffers, so they are waited for. */
static void
reader_close (struct reader *reader)
{
  for (size_t i = 0; i < 2; i++) {
    struct piece_read *read = &reader->reads[i];
    if (read->is_requested && !reader->cuts->io->ops->is_blocking)
      wait_for_read (read);
    rd_buffer_free (&read->buffer);
  }
  pthread_cond_destroy (&reader->done);
  pthread_mutex_destroy (&reader->mutex);
}

/* The callback is called on the thread that started the copy. */
enum radio_status
rd_copy_progress (struct rd_copy *copy, uint64_t nbytes)
{
  uint64_t done = atomic_fetch_add (&copy->done_nbytes, nbytes) + nbytes;
  const struct radio_copy_options *options = copy->options;
  const struct radio_progress now = { done, copy->total_nbytes };
  if (options->progress && pthread_equal (copy->caller, pthread_self ())
      && options->progress (&now, options->user_data) != RADIO_OK)
    atomic_store (&copy->cancelled, true);
  if (!atomic_load (&copy->cancelled))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_CANCELLED, "%s: cancelled", copy->path);
}

/* An object of the copy in one of its stores. */
static struct rd_object_pieces
cuts_of (const struct rd_copy *copy, const struct rd_copy_object *object,
         bool is_source)
{
  return (struct rd_object_pieces) {
    .context = copy->to->context,
    .layout = &object->level->array->layout,
    .io = is_source ? copy->from->io : copy->to->io,
    .key = is_source ? object->from_key : object->to_key,
    .object_nbytes = object->nbytes,
    .target_nbytes = copy->piece_nbytes,
  };
}

/* An object is read from its beginning as often as this, if a server says that
 * it was replaced meanwhile: what it said first may have been wrong. */
#define MAX_READS 8

/* Reads an object, piece by piece.  With scratch its tiles are verified, with
 * a writer its bytes are appended to that, and counted as progress, as long
 * as nothing fails.  *crc, unless NULL, is of all bytes.  cuts are open, or
 * have no tiles. */
static enum radio_status
read_pieces (struct rd_copy *copy, struct rd_object_pieces *cuts,
             struct rd_scratch *scratch, struct rd_io_writer *writer,
             uint32_t *crc, uint64_t *done_nbytes)
{
  struct reader reader RD_CLEANUP (reader_close) = { .cuts = cuts };
  struct piece_read *read;
  pthread_mutex_init (&reader.mutex, NULL);
  pthread_cond_init (&reader.done, NULL);
  if (crc)
    *crc = 0;
  for (;;) {
    {
      RD_SCOPE ("read", RD_IN_OPERATION);
      RD_TRY (rd_scope_end_with (next_piece (&reader, &read)));
    }
    if (read == NULL)
      return RADIO_OK;
    if (scratch)
      RD_TRY (verify_piece (cuts, read, scratch));
    const struct rd_part part = { read->buffer.data, read->buffer.nbytes };
    if (crc)
      *crc = rd_crc32c (*crc, part.data, part.nbytes);
    if (writer) {
      RD_SCOPE ("write", RD_IN_OPERATION);
      RD_TRY (rd_scope_end_with (writer->ops->append (writer, &part, 1)));
    }
    if (writer)
      *done_nbytes += part.nbytes;
    RD_TRY (rd_copy_progress (copy, writer ? part.nbytes : 0));
  }
}

static enum radio_status
read_object (struct rd_copy *copy, struct rd_object_pieces *cuts,
             struct rd_scratch *scratch, struct rd_io_writer *writer,
             uint32_t *crc)
{
  uint64_t done_nbytes = 0;
  enum radio_status status = read_pieces (copy, cuts, scratch, writer, crc,
                                          &done_nbytes);
  if (status != RADIO_OK)
    atomic_fetch_sub (&copy->done_nbytes, done_nbytes);
  return status;
}

/* Checks whether the object exists, with its size, the same index, and its
 * own checksums correct, so that only the index is read from the source. */
static enum radio_status
check_exists (struct rd_copy *copy, const struct rd_copy_object *object,
              const struct rd_object_pieces *source, struct rd_scratch *scratch,
              bool *exists)
{
  struct rd_object_pieces cuts RD_OBJECT_PIECES_SCOPE
    = cuts_of (copy, object, false);
  struct rd_io *io = copy->to->io;
  uint64_t nbytes;
  *exists = false;
  if (copy->has_listed && !copy->listed[object->i])
    return RADIO_OK;
  enum radio_status status = io->ops->size (io, object->to_key, &nbytes);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  if (nbytes != object->nbytes || !rd_layout_has_checksums (cuts.layout))
    return RADIO_OK;
  RD_SCOPE ("check existing", RD_IN_OPERATION);
  status = rd_object_pieces_open (&cuts, scratch);
  bool is_same = status == RADIO_OK
                 && cuts.index.nbytes == source->index.nbytes
                 && (cuts.index.nbytes == 0
                     || memcmp (cuts.index.data, source->index.data,
                                cuts.index.nbytes) == 0);
  if (is_same)
    status = read_object (copy, &cuts, scratch, NULL, NULL);
  *exists = is_same && status == RADIO_OK;
  bool is_damaged = status == RADIO_ERROR_FORMAT
                    || status == RADIO_ERROR_CHECKSUM
                    || status == RADIO_ERROR_NOT_FOUND;
  return is_damaged ? RADIO_OK : status;
}

static enum radio_status
fail_differs (const struct rd_copy *copy, const char *key,
              const char *difference)
{
  return rd_fail (RADIO_ERROR_IO, "%s/%s: %s after it was written",
                  copy->to->io->uri, key, difference);
}

/* The interface of stores has no digest, so only reading back proves for any
 * store that it holds the bytes sent. */
static enum radio_status
verify_object (struct rd_copy *copy, const struct rd_copy_object *object,
               uint32_t crc)
{
  RD_SCOPE ("read back", RD_IN_OPERATION);
  struct rd_io *io = copy->to->io;
  uint64_t nbytes;
  enum radio_status status = io->ops->size (io, object->to_key, &nbytes);
  if (status == RADIO_ERROR_NOT_FOUND)
    return fail_differs (copy, object->to_key, "is missing");
  RD_TRY (status);
  if (nbytes != object->nbytes)
    return fail_differs (copy, object->to_key, "has another size");
  if (copy->options->no_read_back)
    return RADIO_OK;

  struct rd_refetch refetch = { 0 };
  uint32_t now;
  do {
    struct rd_object_pieces cuts = cuts_of (copy, object, false);
    RD_TRY (read_object (copy, &cuts, NULL, NULL, &now));
    status = now == crc ? RADIO_OK : RADIO_ERROR_CHECKSUM;
  } while (rd_refetch_is_due (&refetch, io, status, &now, sizeof now));
  return now == crc ? RADIO_OK
                    : fail_differs (copy, object->to_key, "reads otherwise");
}

enum radio_status
rd_copy_check_may_write (const struct rd_copy *copy, const char *key)
{
  if (!copy->names_level || copy->is_same)
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_EXISTS, "%s/%s: the volume there uses the same "
                  "name for other data; remove the volume first",
                  copy->to->io->uri, key);
}

static enum radio_status
copy_object (struct rd_copy *copy, const struct rd_copy_object *object,
             struct rd_object_pieces *source, struct rd_scratch *scratch)
{
  struct rd_io_writer *writer RD_CLEANUP (rd_cleanup_io_writer) = NULL;
  struct rd_io *io = copy->to->io;
  bool exists;
  uint32_t crc;
  RD_TRY (rd_object_pieces_open (source, scratch));
  RD_TRY (check_exists (copy, object, source, scratch, &exists));
  if (exists) {
    copy->was_there[object->i] = true;
    atomic_fetch_add (&copy->there_count, 1);
    atomic_fetch_add (&copy->there_nbytes, object->nbytes);
    return rd_copy_progress (copy, object->nbytes);
  }
  RD_TRY (rd_copy_check_may_write (copy, object->to_key));
  RD_TRY (io->ops->create (io, object->to_key, &writer));
  rd_io_writer_expect (writer, object->nbytes);
  RD_TRY (read_object (copy, source, scratch, writer, &crc));
  {
    RD_SCOPE ("write", RD_IN_OPERATION);
    struct rd_io_writer *complete = RD_STEAL (writer);
    RD_TRY (rd_scope_end_with (complete->ops->commit (complete)));
  }
  atomic_fetch_add (&copy->sent_count, 1);
  atomic_fetch_add (&copy->sent_nbytes, object->nbytes);
  return verify_object (copy, object, crc);
}

/* Makes the object by the store itself; *is_done is not set if it cannot. */
static enum radio_status
duplicate_object (struct rd_copy *copy, const struct rd_copy_object *object,
                  bool *is_done)
{
  struct rd_io *io = copy->to->io;
  uint64_t nbytes;
  *is_done = false;
  if (!copy->options->by_store || copy->from != copy->to
      || !io->ops->duplicate
      || strcmp (object->from_key, object->to_key) == 0)
    return RADIO_OK;
  RD_TRY (rd_copy_progress (copy, 0));
  RD_TRY (rd_copy_check_may_write (copy, object->to_key));
  enum radio_status status = io->ops->duplicate (
    io, object->from_key, object->nbytes, object->to_key);
  if (status == RADIO_ERROR_UNSUPPORTED)
    return RADIO_OK;
  RD_TRY (status);
  RD_TRY (io->ops->size (io, object->to_key, &nbytes));
  if (nbytes != object->nbytes)
    return fail_differs (copy, object->to_key, "has another size");
  *is_done = true;
  atomic_fetch_add (&copy->sent_count, 1);
  atomic_fetch_add (&copy->sent_nbytes, object->nbytes);
  return rd_copy_progress (copy, object->nbytes);
}

enum radio_status
rd_copy_object (struct rd_copy *copy, const struct rd_copy_object *object,
                struct rd_scratch *scratch)
{
  RD_SCOPE ("copy shard", RD_IN_OPERATION);
  RD_NOTE_NAME ("key", object->from_key);
  bool found_other, is_done;
  unsigned n = 0;
  enum radio_status status = duplicate_object (copy, object, &is_done);
  if (is_done || status != RADIO_OK)
    return rd_scope_end_with (status == RADIO_ERROR_NOT_FOUND
      ? rd_copy_fail_missing (copy, object->from_key) : status);
  do {
    struct rd_object_pieces source RD_OBJECT_PIECES_SCOPE
      = cuts_of (copy, object, true);
    RD_TRY (rd_copy_progress (copy, 0));
    source.file = rd_io_hold (source.io, source.key, false);
    status = copy_object (copy, object, &source, scratch);
    rd_io_release (source.io, source.file);
    found_other = source.found_other;
  } while (status != RADIO_OK && found_other && ++n < MAX_READS);
  if (status == RADIO_ERROR_NOT_FOUND)
    status = rd_copy_fail_missing (copy, object->from_key);
  return rd_scope_end_with (status);
}
