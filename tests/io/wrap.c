/* SPDX-License-Identifier: MIT */
/* Handing on to the inner store. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "tests/io/wrap.h"

static struct rd_io *
inner_of (struct rd_io *io)
{
  return ((struct rd_wrap *) io)->inner;
}

static void
wrap_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct rd_io *inner = inner_of (io);
  inner->ops->get (inner, gets, n);
}

static struct rd_io_file *
wrap_hold (struct rd_io *io, const char *key, bool keep)
{
  return rd_io_hold (inner_of (io), key, keep);
}

static void
wrap_release (struct rd_io *io, struct rd_io_file *file)
{
  rd_io_release (inner_of (io), file);
}

static void
wrap_forget (struct rd_io *io, const char *prefix)
{
  rd_io_forget (inner_of (io), prefix);
}

static enum radio_status
wrap_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->size (inner, key, nbytes);
}

static enum radio_status
wrap_list (struct rd_io *io, const char *prefix, bool recursive,
           rd_io_list_fn *fn, void *user_data)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->list (inner, prefix, recursive, fn, user_data);
}

static enum radio_status
wrap_put (struct rd_io *io, const char *key, const struct rd_part *parts,
          size_t n, enum rd_put how)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->put (inner, key, parts, n, how);
}

static enum radio_status
wrap_create (struct rd_io *io, const char *key, struct rd_io_writer **writer)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->create (inner, key, writer);
}

static enum radio_status
wrap_duplicate (struct rd_io *io, const char *from, uint64_t nbytes,
                const char *key)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->duplicate (inner, from, nbytes, key);
}

static enum radio_status
wrap_remove (struct rd_io *io, const char *key)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->remove (inner, key);
}

static enum radio_status
wrap_remove_tree (struct rd_io *io, const char *prefix)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->remove_tree (inner, prefix);
}

static enum radio_status
wrap_lock (struct rd_io *io, const char *prefix, bool wait,
           struct rd_io_lock **lock)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->lock (inner, prefix, wait, lock);
}

static enum radio_status
wrap_sweep (struct rd_io *io, const char *prefix, bool dry_run,
            struct rd_io_swept *swept)
{
  struct rd_io *inner = inner_of (io);
  return inner->ops->sweep (inner, prefix, dry_run, swept);
}

enum radio_status
rd_wrap_init (struct rd_wrap *wrap, const char *name, struct rd_io *inner)
{
  char *uri = rd_strdup (inner->uri);
  if (uri == NULL)
    return rd_fail_memory (strlen (inner->uri) + 1);
  wrap->ops = (struct rd_io_ops) {
    .name = name,
    .is_blocking = inner->ops->is_blocking,
    .lists_nothing = inner->ops->lists_nothing,
    .get = wrap_get,
    .hold = wrap_hold,
    .release = wrap_release,
    .forget = wrap_forget,
    .size = wrap_size,
    .list = wrap_list,
    .put = wrap_put,
    .create = wrap_create,
    .duplicate = inner->ops->duplicate ? wrap_duplicate : NULL,
    .remove = wrap_remove,
    .remove_tree = wrap_remove_tree,
    .lock = wrap_lock,
    .sweep = wrap_sweep,
  };
  wrap->base.ops = &wrap->ops;
  wrap->base.uri = uri;
  wrap->base.grace_s = inner->grace_s;
  wrap->base.writer_nbytes = inner->writer_nbytes;
  wrap->base.coalesce_gap_nbytes = inner->coalesce_gap_nbytes;
  wrap->base.coalesce_cap_nbytes = inner->coalesce_cap_nbytes;
  wrap->base.piece_nbytes = inner->piece_nbytes;
  wrap->inner = inner;
  return RADIO_OK;
}

void
rd_wrap_finish (struct rd_wrap *wrap)
{
  rd_io_close (wrap->inner);
  rd_free (wrap->base.uri);
}
