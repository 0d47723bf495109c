/* SPDX-License-Identifier: MIT */
/* Failing as planned. */
#include <config.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/checked.h"
#include "tests/io/fault.h"
#include "io/store.h"
#include "tests/io/wrap.h"

#define N_OPS (RD_FAULT_SWEEP + 1)

static const char *const op_names[N_OPS] = {
  [RD_FAULT_GET] = "get",
  [RD_FAULT_SIZE] = "size",
  [RD_FAULT_LIST] = "list",
  [RD_FAULT_PUT] = "put",
  [RD_FAULT_CREATE] = "create",
  [RD_FAULT_DUPLICATE] = "duplicate",
  [RD_FAULT_APPEND] = "append",
  [RD_FAULT_COMMIT] = "commit",
  [RD_FAULT_REMOVE] = "remove",
  [RD_FAULT_REMOVE_TREE] = "remove_tree",
  [RD_FAULT_LOCK] = "lock",
  [RD_FAULT_SWEEP] = "sweep",
};

struct planned {
  struct rd_fault fault;
  uint64_t n_seen;            /* operations it could have been */
};

struct fault {
  struct rd_wrap wrap;
  uint64_t capacity_nbytes;
  pthread_mutex_t mutex;      /* guards all below */
  uint64_t n_written;
  uint64_t counts[N_OPS];
  uint64_t n_hits;
  size_t n;
  struct planned planned[];
};

static bool
is_due (struct planned *planned, enum rd_fault_op op, const char *key)
{
  const struct rd_fault *fault = &planned->fault;
  if (fault->op != RD_FAULT_ANY && fault->op != op)
    return false;
  if (fault->key && strstr (key, fault->key) == NULL)
    return false;
  planned->n_seen++;
  return fault->nth == 0 || fault->nth == planned->n_seen;
}

/* The damage to a read; without one, offset and length are too large to have
 * an effect.  late_status is the result of a put that was done. */
struct damage {
  enum radio_status late_status;
  uint64_t max_nbytes;
  uint64_t flip_offset;
  unsigned char flip_mask;
};

static void
note_damage (const struct rd_fault *fault, struct damage *damage)
{
  if (damage == NULL)
    return;
  if (fault->kind == RD_FAULT_LATE)
    damage->late_status = (enum radio_status) fault->status;
  if (fault->kind == RD_FAULT_SHORT)
    damage->max_nbytes = fault->offset;
  if (fault->kind == RD_FAULT_FLIP) {
    damage->flip_offset = fault->offset;
    damage->flip_mask = (unsigned char) (1u << (fault->bit & 7));
  }
}

/* Counts an operation, and applies the planned fault. */
static enum radio_status
meet_fate (struct fault *store, enum rd_fault_op op, const char *key,
           struct damage *damage)
{
  RD_LOCK_SCOPE (&store->mutex);
  store->counts[op]++;
  store->counts[RD_FAULT_ANY]++;
  enum radio_status status = RADIO_OK;
  for (size_t i = 0; i < store->n; i++) {
    const struct rd_fault *fault = &store->planned[i].fault;
    if (!is_due (&store->planned[i], op, key))
      continue;
    store->n_hits++;
    note_damage (fault, damage);
    if (fault->kind == RD_FAULT_EXIT)
      _exit (fault->status);
    if (fault->kind == RD_FAULT_FAIL && status == RADIO_OK)
      status = rd_fail ((enum radio_status) fault->status,
                        "%s/%s: planned failure of %s",
                        store->wrap.base.uri, key, op_names[op]);
  }
  return status;
}

/* Counts the bytes written against the capacity. */
static enum radio_status
use_space (struct fault *store, const char *key,
           const struct rd_part *parts, size_t n)
{
  if (store->capacity_nbytes == 0)
    return RADIO_OK;
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += parts[i].nbytes;
  RD_LOCK_SCOPE (&store->mutex);
  if (nbytes > store->capacity_nbytes - store->n_written)
    return rd_fail (RADIO_ERROR_NO_SPACE,
                    "%s/%s: planned full disk at %" PRIu64 " bytes",
                    store->wrap.base.uri, key, store->capacity_nbytes);
  store->n_written += nbytes;
  return RADIO_OK;
}

/* A read under way, and its callback. */
struct fault_get {
  void (*done) (struct rd_io_get *get);
  void *user_data;
  struct damage damage;
};

static void
apply_damage (const struct damage *damage, struct rd_io_get *get)
{
  struct rd_buffer *into = get->into;
  uint64_t offset = 0;
  if (get->range == RD_RANGE_SPAN)
    offset = get->offset;
  else if (get->range == RD_RANGE_SUFFIX)
    offset = get->object_nbytes - into->nbytes;
  uint64_t place = damage->flip_offset - offset;
  if (damage->flip_offset >= offset && place < into->nbytes)
    into->data[place] ^= damage->flip_mask;
  into->nbytes = rd_min_u64 (into->nbytes, damage->max_nbytes);
}

static void
inner_done (struct rd_io_get *get)
{
  RD_FREE struct fault_get *fault_get = get->user_data;
  get->done = fault_get->done;
  get->user_data = fault_get->user_data;
  if (get->error.status == RADIO_OK)
    apply_damage (&fault_get->damage, get);
  get->done (get);
}

static enum radio_status
start_get (struct fault *store, struct rd_io_get *get)
{
  RD_FREE struct fault_get *fault_get = rd_malloc (sizeof *fault_get);
  if (fault_get == NULL)
    return rd_fail_memory (sizeof *fault_get);
  *fault_get = (struct fault_get) {
    get->done, get->user_data, { RADIO_OK, UINT64_MAX, UINT64_MAX, 0 },
  };
  RD_TRY (meet_fate (store, RD_FAULT_GET, get->key, &fault_get->damage));
  get->done = inner_done;
  get->user_data = RD_STEAL (fault_get);
  store->wrap.inner->ops->get (store->wrap.inner, get, 1);
  return RADIO_OK;
}

static void
fault_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  for (size_t i = 0; i < n; i++) {
    enum radio_status status = start_get ((struct fault *) io, &gets[i]);
    if (status != RADIO_OK)
      rd_get_finish (&gets[i], status);
  }
}

static enum radio_status
fault_size (struct rd_io *io, const char *key, uint64_t *nbytes)
{
  struct fault *store = (struct fault *) io;
  RD_TRY (meet_fate (store, RD_FAULT_SIZE, key, NULL));
  return store->wrap.inner->ops->size (store->wrap.inner, key, nbytes);
}

static enum radio_status
fault_list (struct rd_io *io, const char *prefix, bool recursive,
            rd_io_list_fn *fn, void *user_data)
{
  struct fault *store = (struct fault *) io;
  RD_TRY (meet_fate (store, RD_FAULT_LIST, prefix, NULL));
  return store->wrap.inner->ops->list (store->wrap.inner, prefix, recursive,
                                       fn, user_data);
}

static enum radio_status
fault_put (struct rd_io *io, const char *key, const struct rd_part *parts,
           size_t n, enum rd_put how)
{
  struct fault *store = (struct fault *) io;
  struct damage damage = { 0 };
  RD_TRY (meet_fate (store, RD_FAULT_PUT, key, &damage));
  RD_TRY (use_space (store, key, parts, n));
  RD_TRY (store->wrap.inner->ops->put (store->wrap.inner, key, parts, n,
                                       how));
  if (damage.late_status == RADIO_OK)
    return RADIO_OK;
  return rd_fail (damage.late_status, "%s/%s: planned failure after put",
                  io->uri, key);
}

struct fault_writer {
  struct rd_io_writer base;
  struct fault *store;
  struct rd_io_writer *inner;
  enum radio_status status;   /* of the first append that failed */
  char key[];
};

static enum radio_status
append (struct fault_writer *w, const struct rd_part *parts, size_t n)
{
  RD_TRY (meet_fate (w->store, RD_FAULT_APPEND, w->key, NULL));
  RD_TRY (use_space (w->store, w->key, parts, n));
  return w->inner->ops->append (w->inner, parts, n);
}

static enum radio_status
fail_earlier (const struct fault_writer *w)
{
  return rd_fail (w->status, "%s/%s: an earlier append failed",
                  w->store->wrap.base.uri, w->key);
}

static enum radio_status
writer_append (struct rd_io_writer *writer, const struct rd_part *parts,
               size_t n)
{
  struct fault_writer *w = (struct fault_writer *) writer;
  if (w->status != RADIO_OK)
    return fail_earlier (w);
  w->status = append (w, parts, n);
  return w->status;
}

static void
writer_abort (struct rd_io_writer *writer)
{
  struct fault_writer *w = (struct fault_writer *) writer;
  rd_io_writer_abort (w->inner);
  rd_free (w);
}

/* Like every store: an object with a failed append is not published. */
static enum radio_status
writer_commit (struct rd_io_writer *writer)
{
  struct fault_writer *w = (struct fault_writer *) writer;
  enum radio_status status
    = meet_fate (w->store, RD_FAULT_COMMIT, w->key, NULL);
  if (status == RADIO_OK && w->status != RADIO_OK)
    status = fail_earlier (w);
  if (status == RADIO_OK) {
    struct rd_io_writer *inner = RD_STEAL (w->inner);
    status = inner->ops->commit (inner);
  }
  writer_abort (writer);
  return status;
}

static const struct rd_io_writer_ops writer_ops = {
  .append = writer_append,
  .commit = writer_commit,
  .abort = writer_abort,
};

static enum radio_status
fault_create (struct rd_io *io, const char *key,
              struct rd_io_writer **writer)
{
  struct fault *store = (struct fault *) io;
  *writer = NULL;
  RD_TRY (meet_fate (store, RD_FAULT_CREATE, key, NULL));
  size_t nbytes = strlen (key) + 1;
  RD_FREE struct fault_writer *w = rd_calloc (1, sizeof *w + nbytes);
  if (w == NULL)
    return rd_fail_memory (sizeof *w + nbytes);
  w->base.ops = &writer_ops;
  w->store = store;
  memcpy (w->key, key, nbytes);
  RD_TRY (store->wrap.inner->ops->create (store->wrap.inner, key,
                                          &w->inner));
  *writer = &RD_STEAL (w)->base;
  return RADIO_OK;
}

static enum radio_status
fault_duplicate (struct rd_io *io, const char *from, uint64_t nbytes,
                 const char *key)
{
  struct fault *store = (struct fault *) io;
  RD_TRY (meet_fate (store, RD_FAULT_DUPLICATE, key, NULL));
  return store->wrap.inner->ops->duplicate (store->wrap.inner, from, nbytes,
                                            key);
}

static enum radio_status
fault_remove (struct rd_io *io, const char *key)
{
  struct fault *store = (struct fault *) io;
  RD_TRY (meet_fate (store, RD_FAULT_REMOVE, key, NULL));
  return store->wrap.inner->ops->remove (store->wrap.inner, key);
}

static enum radio_status
fault_remove_tree (struct rd_io *io, const char *prefix)
{
  struct fault *store = (struct fault *) io;
  RD_TRY (meet_fate (store, RD_FAULT_REMOVE_TREE, prefix, NULL));
  return store->wrap.inner->ops->remove_tree (store->wrap.inner, prefix);
}

static enum radio_status
fault_lock (struct rd_io *io, const char *prefix, bool wait,
            struct rd_io_lock **lock)
{
  struct fault *store = (struct fault *) io;
  *lock = NULL;
  RD_TRY (meet_fate (store, RD_FAULT_LOCK, prefix, NULL));
  return store->wrap.inner->ops->lock (store->wrap.inner, prefix, wait,
                                       lock);
}

static enum radio_status
fault_sweep (struct rd_io *io, const char *prefix, bool dry_run,
             struct rd_io_swept *swept)
{
  struct fault *store = (struct fault *) io;
  *swept = (struct rd_io_swept) { 0 };
  RD_TRY (meet_fate (store, RD_FAULT_SWEEP, prefix, NULL));
  return store->wrap.inner->ops->sweep (store->wrap.inner, prefix, dry_run,
                                        swept);
}

static void
fault_close (struct rd_io *io)
{
  struct fault *store = (struct fault *) io;
  rd_wrap_finish (&store->wrap);
  pthread_mutex_destroy (&store->mutex);
  rd_free (store);
}

static void
take_table (struct rd_io_ops *ops)
{
  ops->close = fault_close;
  ops->get = fault_get;
  ops->size = fault_size;
  ops->list = fault_list;
  ops->put = fault_put;
  ops->create = fault_create;
  if (ops->duplicate)
    ops->duplicate = fault_duplicate;
  ops->remove = fault_remove;
  ops->remove_tree = fault_remove_tree;
  ops->lock = fault_lock;
  ops->sweep = fault_sweep;
}

enum radio_status
rd_io_fault_open (struct rd_io *inner, const struct rd_fault_plan *plan,
                  struct rd_io **io)
{
  *io = NULL;
  RD_CLEANUP (rd_cleanup_io) struct rd_io *owned = inner;
  size_t nbytes = sizeof (struct fault) + plan->n * sizeof (struct planned);
  RD_FREE struct fault *store = rd_calloc (1, nbytes);
  if (store == NULL)
    return rd_fail_memory (nbytes);
  store->capacity_nbytes = plan->capacity_nbytes;
  store->n = plan->n;
  for (size_t i = 0; i < plan->n; i++)
    store->planned[i].fault = plan->faults[i];
  if (pthread_mutex_init (&store->mutex, NULL) != 0)
    return rd_fail_memory (sizeof store->mutex);
  enum radio_status status = rd_wrap_init (&store->wrap, "fault", inner);
  if (status != RADIO_OK) {
    pthread_mutex_destroy (&store->mutex);
    return status;
  }
  take_table (&store->wrap.ops);
  (void) RD_STEAL (owned);
  *io = &RD_STEAL (store)->wrap.base;
  return RADIO_OK;
}

uint64_t
rd_io_fault_count (struct rd_io *io, enum rd_fault_op op)
{
  struct fault *store = (struct fault *) io;
  RD_LOCK_SCOPE (&store->mutex);
  return store->counts[op];
}

uint64_t
rd_io_fault_n_hits (struct rd_io *io)
{
  struct fault *store = (struct fault *) io;
  RD_LOCK_SCOPE (&store->mutex);
  return store->n_hits;
}
