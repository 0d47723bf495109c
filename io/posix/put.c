/* SPDX-License-Identifier: MIT */
/* Writes of the posix store, whole and piece by piece. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "io/key.h"
#include "io/posix/posix.h"

enum radio_status
rd_posix_put (struct rd_io *io, const char *key,
              const struct rd_part *parts, size_t n, enum rd_put how)
{
  const struct rd_posix *posix = (const struct rd_posix *) io;
  RD_TRY (rd_key_check (io, key));
  struct rd_temp temp;
  RD_TRY (rd_temp_create (posix, key, &temp));
  enum radio_status status = rd_temp_append (posix, &temp, parts, n);
  if (status != RADIO_OK) {
    rd_temp_discard (posix, &temp);
    return rd_fail_in (status, "%s/%s", io->uri, key);
  }
  return rd_temp_publish (posix, &temp, key, how);
}

struct posix_writer {
  struct rd_io_writer base;
  const struct rd_posix *posix;
  struct rd_temp temp;
  enum radio_status status;   /* of the first append that failed */
  char key[];
};

static enum radio_status
writer_append (struct rd_io_writer *writer, const struct rd_part *parts,
               size_t n)
{
  struct posix_writer *w = (struct posix_writer *) writer;
  if (w->status == RADIO_OK)
    w->status = rd_temp_append (w->posix, &w->temp, parts, n);
  else
    return rd_fail (w->status, "%s/%s: an earlier write failed",
                    w->posix->base.uri, w->key);
  if (w->status != RADIO_OK)
    return rd_fail_in (w->status, "%s/%s", w->posix->base.uri, w->key);
  return RADIO_OK;
}

static void
writer_abort (struct rd_io_writer *writer)
{
  struct posix_writer *w = (struct posix_writer *) writer;
  rd_temp_discard (w->posix, &w->temp);
  rd_free (w);
}

/* What is incomplete is not published. */
static enum radio_status
writer_commit (struct rd_io_writer *writer)
{
  struct posix_writer *w = (struct posix_writer *) writer;
  enum radio_status status = w->status;
  if (status == RADIO_OK)
    status = rd_temp_publish (w->posix, &w->temp, w->key, RD_PUT_REPLACE);
  else
    rd_fail (status, "%s/%s: not committed, since an earlier write failed",
             w->posix->base.uri, w->key);
  writer_abort (writer);
  return status;
}

static const struct rd_io_writer_ops writer_ops = {
  .append = writer_append,
  .commit = writer_commit,
  .abort = writer_abort,
};

enum radio_status
rd_posix_create (struct rd_io *io, const char *key,
                 struct rd_io_writer **writer)
{
  *writer = NULL;
  RD_TRY (rd_key_check (io, key));
  size_t nbytes = strlen (key) + 1;
  RD_FREE struct posix_writer *w = rd_calloc (1, sizeof *w + nbytes);
  if (w == NULL)
    return rd_fail_memory (sizeof *w + nbytes);
  w->base.ops = &writer_ops;
  w->posix = (const struct rd_posix *) io;
  memcpy (w->key, key, nbytes);
  RD_TRY (rd_temp_create (w->posix, key, &w->temp));
  *writer = &RD_STEAL (w)->base;
  return RADIO_OK;
}
