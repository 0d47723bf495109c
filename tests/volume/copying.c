/* SPDX-License-Identifier: MIT */
/* Stores and comparisons for the tests of copying. */
#include <config.h>

#include "src/volume/publish.h"
#include "tests/volume/copying.h"

#define MAX_NBYTES ((size_t) 64 << 20)

const struct radio_ingest_options many_shards = {
  .existing = RADIO_EXISTING_REPLACE, .shard_nbytes = 1, .tiling = "4,4,2",
};

struct radio_store *
open_planned (const char *uri, unsigned nthreads,
              const struct rd_fault_plan *plan)
{
  const struct radio_context_options context = { .nthreads = nthreads };
  struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (radio_context_open (&context, &options.context));
  assert_ok (rd_io_open (uri, true, &io));
  if (plan)
    assert_ok (rd_io_fault_open (io, plan, &io));
  assert_ok (rd_store_open_io (io, &options, &store));
  radio_context_close (options.context);
  return store;
}

struct radio_store *
open_faulty (const char *uri, const struct rd_fault *fault)
{
  const struct rd_fault_plan plan = { fault, 1, 0 };
  return open_planned (uri, 1, &plan);
}

struct radio_store *
make_source (void)
{
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = open_planned ("memory:", 1, NULL);
  must_ingest (store, "ct/a", &spec, &many_shards);
  return store;
}

/* The state of a comparison during a listing. */
struct comparison {
  struct radio_store *from, *to;
  const char *path, *to_path;
  size_t n;
};

static void
read_object (struct radio_store *store, const char *path, const char *name,
             struct rd_buffer *bytes)
{
  char *key = rd_key_join (path, name);
  assert_non_null (key);
  assert_ok (rd_io_read_all (store->io, key, MAX_NBYTES, bytes));
  rd_free (key);
}

/* The header array's chunk may have another key. */
static bool
is_of_header (const char *name)
{
  return strncmp (name, "nifti/", 6) == 0;
}

static enum radio_status
compare (const struct rd_io_entry *entry, void *user_data)
{
  struct comparison *c = user_data;
  struct rd_buffer a RD_BUFFER_SCOPE = { 0 }, b RD_BUFFER_SCOPE = { 0 };
  if (is_of_header (entry->name))
    return RADIO_OK;
  c->n++;
  if (strcmp (entry->name, "zarr.json") == 0) {
    struct json_object *one, *other;
    assert_ok (rd_store_read_document (c->from, c->path, &one));
    assert_ok (rd_store_read_document (c->to, c->to_path, &other));
    assert_true (rd_publish_is_same_document (one, other));
    json_object_put (one);
    json_object_put (other);
    return RADIO_OK;
  }
  read_object (c->from, c->path, entry->name, &a);
  read_object (c->to, c->to_path, entry->name, &b);
  assert_int_equal (a.nbytes, b.nbytes);
  assert_memory_equal (a.data, b.data, a.nbytes);
  return RADIO_OK;
}

static enum radio_status
count (const struct rd_io_entry *entry, void *user_data)
{
  size_t *n = user_data;
  *n += !is_of_header (entry->name);
  return RADIO_OK;
}

void
assert_same_objects (struct radio_store *from, const char *path,
                     struct radio_store *to, const char *to_path)
{
  struct comparison c = { from, to, path, to_path, 0 };
  size_t n = 0;
  assert_ok (from->io->ops->list (from->io, path, true, compare, &c));
  assert_ok (to->io->ops->list (to->io, to_path, true, count, &n));
  assert_int_equal (n, c.n);
  assert_int_equal (header_state (to, to_path), RD_HEADER_CURRENT);
}

void
assert_no_volume (struct radio_store *store)
{
  char paths[100];
  list_paths (store, paths, sizeof paths);
  assert_string_equal (paths, "");
}

void
assert_clean_after_gc (struct radio_store *store, size_t nfolders)
{
  struct radio_gc_result result;
  assert_ok (radio_store_gc (store, false, NULL));
  assert_ok (radio_store_gc (store, true, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (result.busy_count, 0);
  assert_int_equal (result.repaired_count, 0);
  assert_int_equal (count_folders (store, "ct/a"), nfolders);
}

/* The n-th of the shards, or their number. */
struct search {
  size_t n, wanted;
  char *key;
};

static enum radio_status
find_shard (const struct rd_io_entry *entry, void *user_data)
{
  struct search *search = user_data;
  if (strncmp (entry->name, "0-", 2) != 0 || !strstr (entry->name, "/c/"))
    return RADIO_OK;
  if (search->n++ == search->wanted)
    search->key = rd_key_join ("ct/a", entry->name);
  return RADIO_OK;
}

uint64_t
count_shards (struct radio_store *store)
{
  struct search search = { .wanted = SIZE_MAX };
  assert_ok (store->io->ops->list (store->io, "ct/a", true, find_shard,
                                   &search));
  return search.n;
}

char *
shard_key (struct radio_store *store, size_t n)
{
  struct search search = { .wanted = n };
  assert_ok (store->io->ops->list (store->io, "ct/a", true, find_shard,
                                   &search));
  assert_non_null (search.key);
  return search.key;
}

void
flip_bit (struct radio_store *store, const char *key, size_t bit)
{
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  assert_ok (rd_io_read_all (store->io, key, MAX_NBYTES, &bytes));
  assert_true (bit / 8 < bytes.nbytes);
  bytes.data[bit / 8] ^= (unsigned char) (1 << bit % 8);
  assert_ok (rd_io_put (store->io, key, bytes.data, bytes.nbytes,
                        RD_PUT_REPLACE));
}
