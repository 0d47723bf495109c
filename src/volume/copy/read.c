/* SPDX-License-Identifier: MIT */
/* Reading ahead by one piece. */
#include <config.h>

#include "profiler/counters.h"
#include "src/volume/copy/read.h"

void
rd_reader_open (struct rd_reader *reader, struct rd_cuts *cuts)
{
  *reader = (struct rd_reader) { .cuts = cuts };
  pthread_mutex_init (&reader->mutex, NULL);
  pthread_cond_init (&reader->came, NULL);
}

static void
note_arrival (struct rd_io_get *get)
{
  struct rd_reading *reading = get->user_data;
  struct rd_reader *reader = reading->reader;
  RD_LOCK_SCOPE (&reader->mutex);
  reading->has_come = true;
  /* Under the mutex, since the reader may be gone once this is seen. */
  pthread_cond_signal (&reader->came);
}

static void
wait_for (struct rd_reading *reading)
{
  struct rd_reader *reader = reading->reader;
  RD_SCOPE_WAIT ("wait for requests", RD_IN_NETWORK);
  RD_LOCK_SCOPE (&reader->mutex);
  while (!reading->has_come)
    pthread_cond_wait (&reader->came, &reader->mutex);
}

/* Ask for the next piece, if there is one.  A store that blocks is asked
 * when the piece is wanted. */
static enum radio_status
ask (struct rd_reader *reader, struct rd_reading *reading)
{
  struct rd_io *io = reader->cuts->io;
  if (!rd_cuts_next (reader->cuts, &reading->piece))
    return RADIO_OK;
  reading->reader = reader;
  reading->get.into = &reading->buffer;
  RD_TRY (rd_cuts_ask (reader->cuts, &reading->piece, &reading->get));
  reading->is_asked = true;
  reading->has_come = io->ops->is_blocking;
  if (io->ops->is_blocking)
    return RADIO_OK;
  reading->get.done = note_arrival;
  reading->get.user_data = reading;
  io->ops->get (io, &reading->get, 1);
  return RADIO_OK;
}

static enum radio_status
receive (struct rd_reader *reader, struct rd_reading *reading)
{
  struct rd_io *io = reader->cuts->io;
  reading->is_asked = false;
  if (io->ops->is_blocking)
    RD_TRY (rd_io_read (io, &reading->get));
  else
    wait_for (reading);
  return rd_cuts_look (reader->cuts, &reading->piece, &reading->get);
}

static enum radio_status
next (struct rd_reader *reader, const struct rd_reading **result)
{
  struct rd_reading *reading = &reader->readings[reader->turn];
  struct rd_reading *other = &reader->readings[!reader->turn];
  *result = NULL;
  if (!reading->is_asked)
    RD_TRY (ask (reader, reading));
  if (!reading->is_asked)
    return RADIO_OK;
  if (!reader->cuts->io->ops->is_blocking)
    RD_TRY (ask (reader, other));
  RD_TRY (receive (reader, reading));
  *result = reading;
  if (other->is_asked)
    reader->turn = !reader->turn;
  return RADIO_OK;
}

enum radio_status
rd_reader_next (struct rd_reader *reader, const struct rd_reading **reading)
{
  RD_SCOPE ("read", RD_IN_OPERATION);
  return rd_scope_end_with (next (reader, reading));
}

/* What is on its way comes first: it goes into memory of ours. */
void
rd_reader_close (struct rd_reader *reader)
{
  for (size_t i = 0; i < 2; i++) {
    struct rd_reading *reading = &reader->readings[i];
    if (reading->is_asked && !reader->cuts->io->ops->is_blocking)
      wait_for (reading);
    rd_buffer_free (&reading->buffer);
  }
  pthread_cond_destroy (&reader->came);
  pthread_mutex_destroy (&reader->mutex);
}
