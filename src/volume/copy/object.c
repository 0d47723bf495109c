/* SPDX-License-Identifier: MIT */
/* Bringing one object over: what is there whole is left, all else is read,
 * checked, written, and read again. */
#include <config.h>

#include <string.h>

#include "profiler/counters.h"
#include "src/base/crc32c.h"
#include "src/volume/copy/copy.h"
#include "src/volume/copy/read.h"

/* The callback is called on the thread that it came from. */
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
static struct rd_cuts
pieces_of (const struct rd_copy *copy, const struct rd_copy_object *object,
           bool is_source)
{
  return (struct rd_cuts) {
    .context = copy->to->context,
    .layout = &object->level->array->layout,
    .io = is_source ? copy->from->io : copy->to->io,
    .key = is_source ? object->from_key : object->to_key,
    .object_nbytes = object->nbytes,
    .target_nbytes = copy->piece_nbytes,
  };
}

static enum radio_status
check_there (struct rd_copy *copy, struct rd_cuts *cuts,
             struct rd_scratch *scratch)
{
  struct rd_reader reader RD_READER_SCOPE;
  const struct rd_reading *reading;
  rd_reader_open (&reader, cuts);
  for (;;) {
    RD_TRY (rd_reader_next (&reader, &reading));
    if (reading == NULL)
      return RADIO_OK;
    RD_TRY (rd_cuts_check (cuts, &reading->piece, reading->buffer.data,
                           scratch));
    RD_TRY (rd_copy_progress (copy, 0));
  }
}

static bool
is_damage (enum radio_status status)
{
  return status == RADIO_ERROR_FORMAT || status == RADIO_ERROR_CHECKSUM
         || status == RADIO_ERROR_NOT_FOUND;
}

static bool
is_equal (const struct rd_buffer *a, const struct rd_buffer *b)
{
  return a->nbytes == b->nbytes
         && (a->nbytes == 0 || memcmp (a->data, b->data, a->nbytes) == 0);
}

/* Whether the object is there: of its size, with the same index, and whole
 * by its own checksums, so that nothing more than the index is read of the
 * source. */
static enum radio_status
is_there (struct rd_copy *copy, const struct rd_copy_object *object,
          const struct rd_cuts *source, struct rd_scratch *scratch,
          bool *there)
{
  struct rd_cuts cuts RD_CUTS_SCOPE = pieces_of (copy, object, false);
  struct rd_io *io = copy->to->io;
  uint64_t nbytes;
  *there = false;
  if (copy->has_listed && !copy->listed[object->i])
    return RADIO_OK;
  enum radio_status status = io->ops->size (io, object->to_key, &nbytes);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  if (nbytes != object->nbytes || !rd_layout_has_checksums (cuts.layout))
    return RADIO_OK;
  RD_SCOPE ("check what is there", RD_IN_OPERATION);
  status = rd_cuts_open (&cuts, scratch);
  bool is_same = status == RADIO_OK
                 && is_equal (&cuts.index, &source->index);
  if (is_same)
    status = check_there (copy, &cuts, scratch);
  *there = is_same && status == RADIO_OK;
  return is_damage (status) ? RADIO_OK : status;
}

static enum radio_status
append (struct rd_io_writer *writer, const struct rd_reading *reading)
{
  RD_SCOPE ("write", RD_IN_OPERATION);
  const struct rd_part part = { reading->buffer.data,
                                reading->buffer.nbytes };
  return rd_scope_end_with (writer->ops->append (writer, &part, 1));
}

static enum radio_status
end_writing (struct rd_io_writer *writer)
{
  RD_SCOPE ("write", RD_IN_OPERATION);
  return rd_scope_end_with (writer->ops->commit (writer));
}

/* *crc is of all that was sent. */
static enum radio_status
send_pieces (struct rd_copy *copy, struct rd_cuts *source,
             struct rd_scratch *scratch, struct rd_io_writer *writer,
             uint32_t *crc)
{
  struct rd_reader reader RD_READER_SCOPE;
  const struct rd_reading *reading;
  rd_reader_open (&reader, source);
  *crc = 0;
  for (;;) {
    RD_TRY (rd_reader_next (&reader, &reading));
    if (reading == NULL)
      return RADIO_OK;
    const struct rd_buffer *bytes = &reading->buffer;
    RD_TRY (rd_cuts_check (source, &reading->piece, bytes->data, scratch));
    *crc = rd_crc32c (*crc, bytes->data, bytes->nbytes);
    RD_TRY (append (writer, reading));
    RD_TRY (rd_copy_progress (copy, bytes->nbytes));
  }
}

static enum radio_status
fail_differs (const struct rd_copy *copy, const char *key, const char *what)
{
  return rd_fail (RADIO_ERROR_IO, "%s/%s: %s after it was written",
                  copy->to->io->uri, key, what);
}

/* The store's table has no digest, so reading is what proves in any store
 * that what is there is what was sent. */
static enum radio_status
read_back (struct rd_copy *copy, const struct rd_copy_object *object,
           uint32_t crc)
{
  struct rd_cuts cuts = pieces_of (copy, object, false);
  struct rd_reader reader RD_READER_SCOPE;
  const struct rd_reading *reading;
  uint32_t now = 0;
  rd_reader_open (&reader, &cuts);
  RD_TRY (rd_reader_next (&reader, &reading));
  while (reading) {
    now = rd_crc32c (now, reading->buffer.data, reading->buffer.nbytes);
    RD_TRY (rd_copy_progress (copy, 0));
    RD_TRY (rd_reader_next (&reader, &reading));
  }
  return now == crc ? RADIO_OK
                    : fail_differs (copy, object->to_key, "reads otherwise");
}

static enum radio_status
verify (struct rd_copy *copy, const struct rd_copy_object *object,
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
    return fail_differs (copy, object->to_key, "is of another size");
  return copy->options->no_read_back ? RADIO_OK
                                     : read_back (copy, object, crc);
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
send (struct rd_copy *copy, const struct rd_copy_object *object,
      struct rd_cuts *source, struct rd_scratch *scratch)
{
  struct rd_io_writer *writer RD_CLEANUP (rd_cleanup_io_writer) = NULL;
  struct rd_io *io = copy->to->io;
  uint32_t crc;
  RD_TRY (rd_copy_check_may_write (copy, object->to_key));
  RD_TRY (io->ops->create (io, object->to_key, &writer));
  RD_TRY (send_pieces (copy, source, scratch, writer, &crc));
  RD_TRY (end_writing (RD_STEAL (writer)));
  atomic_fetch_add (&copy->sent_count, 1);
  atomic_fetch_add (&copy->sent_nbytes, object->nbytes);
  return verify (copy, object, crc);
}

static enum radio_status
bring (struct rd_copy *copy, const struct rd_copy_object *object,
       struct rd_cuts *source, struct rd_scratch *scratch)
{
  bool there;
  RD_TRY (rd_cuts_open (source, scratch));
  RD_TRY (is_there (copy, object, source, scratch, &there));
  if (!there)
    return send (copy, object, source, scratch);
  copy->was_there[object->i] = true;
  atomic_fetch_add (&copy->there_count, 1);
  atomic_fetch_add (&copy->there_nbytes, object->nbytes);
  return rd_copy_progress (copy, object->nbytes);
}

enum radio_status
rd_copy_object (struct rd_copy *copy, const struct rd_copy_object *object,
                struct rd_scratch *scratch)
{
  RD_SCOPE ("copy shard", RD_IN_OPERATION);
  RD_NOTE_NAME ("key", object->from_key);
  struct rd_cuts source RD_CUTS_SCOPE = pieces_of (copy, object, true);
  RD_TRY (rd_copy_progress (copy, 0));
  source.file = rd_io_hold (source.io, source.key, false);
  enum radio_status status = bring (copy, object, &source, scratch);
  rd_io_release (source.io, source.file);
  if (status == RADIO_ERROR_NOT_FOUND)
    status = rd_copy_fail_missing (copy, object->from_key);
  return rd_scope_end_with (status);
}
