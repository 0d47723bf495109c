/* SPDX-License-Identifier: MIT */
/* Copying volumes: byte for byte, between stores of any kind, by the rules for
 * existing volumes; an unfinished copy resumes, and damage is not copied. */
#include <config.h>

#include <unistd.h>

#include "tests/io/deferred.h"
#include "src/volume/volume.h"
#include "tests/volume/copying.h"

#define STORE "copy.zarr"

static enum radio_status
copy (struct radio_store *from, struct radio_store *to)
{
  return radio_volume_copy (from, "ct/a", to, NULL, NULL, NULL);
}

/* A copy that must succeed, with its result. */
static struct radio_copy_result
must_copy (struct radio_store *from, struct radio_store *to,
           enum radio_existing existing)
{
  const struct radio_copy_options options = { .existing = existing };
  struct radio_copy_result result;
  memset (&result, 0xff, sizeof result);
  assert_ok (radio_volume_copy (from, "ct/a", to, NULL, &options, &result));
  return result;
}

/* A store whose reads complete later, as those of a network do. */
static struct radio_store *
open_deferred (const char *uri)
{
  const struct radio_store_options options = { .create = true };
  struct radio_store *store;
  struct rd_io *io;
  assert_ok (rd_io_open (uri, true, &io));
  assert_ok (rd_io_deferred_open (io, 1, &io));
  assert_ok (rd_store_open_io (io, &options, &store));
  return store;
}

static struct radio_store *
open_kind (int kind, const char *uri)
{
  switch (kind) {
  case 0:
    return must_open_store ("memory:");
  case 1:
    return must_open_store (uri);
  default:
    return open_deferred (kind == 2 ? "memory:" : uri);
  }
}

static void
a_copy_is_byte_for_byte_between_any_two_stores (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  for (int kinds = 0; kinds < 16; kinds++) {
    struct radio_store *from = open_kind (kinds % 4, "from.zarr");
    struct radio_store *to = open_kind (kinds / 4, STORE);
    must_ingest (from, "ct/a", &spec, &many_shards);
    struct radio_copy_result result = must_copy (from, to, 0);
    assert_same_objects (from, "ct/a", to, "ct/a");
    assert_volume_is (to, "ct/a", &spec);
    assert_int_equal (result.sent_count, count_shards (from));
    assert_int_equal (result.there_count, 0);
    assert_false (result.skipped);
    assert_clean_after_gc (to, 2);
    radio_store_close (from);
    radio_store_close (to);
    remove_all ("from.zarr");
    remove_all (STORE);
  }
}

static void
a_copy_may_have_another_name_in_the_same_store (void **state)
{
  (void) state;
  struct radio_store *store = make_source ();
  struct nifti_spec spec = small_spec ();
  assert_ok (radio_volume_copy (store, "ct/a", store, "mr/b", NULL, NULL));
  assert_same_objects (store, "ct/a", store, "mr/b");
  assert_volume_is (store, "mr/b", &spec);
  assert_fails (radio_volume_copy (store, "ct/a", store, "b", NULL, NULL),
                RADIO_ERROR_ARGUMENT, "'b': not COLLECTION/NAME");
  assert_fails (radio_volume_copy (store, "ct/a", store, "ct/__b", NULL,
                                   NULL), RADIO_ERROR_ARGUMENT, "'ct/__b'");
  radio_store_close (store);
}

/* Shards larger than a piece, of which memory holds few. */
static void
large_shards_are_copied_in_little_memory (void **state)
{
  (void) state;
  const struct radio_context_options context = {
    .nthreads = 3, .memory_limit_nbytes = 2 << 20,
  };
  const struct radio_phantom_options phantom = {
    .shape = { 96, 96, 96 }, .ingest = { .codec = "none" },
  };
  for (int kind = 0; kind < 4; kind++) {
    struct radio_store_options options = { .create = true };
    struct radio_store *from = open_kind (kind, "from.zarr"), *to;
    assert_ok (radio_phantom (from, "ct/a", &phantom));
    assert_ok (radio_context_open (&context, &options.context));
    assert_ok (radio_store_open (STORE, &options, &to));
    radio_context_close (options.context);
    must_copy (from, to, 0);
    assert_same_objects (from, "ct/a", to, "ct/a");
    radio_store_close (from);
    radio_store_close (to);
    remove_all ("from.zarr");
    remove_all (STORE);
  }
}

/*------------------------------------------------------------------------
 * Existing volumes
 *----------------------------------------------------------------------*/

static void
an_existing_volume_is_kept_skipped_or_replaced (void **state)
{
  (void) state;
  struct nifti_spec old = other_spec (), new = small_spec ();
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store (STORE);
  must_ingest (to, "ct/a", &old, &many_shards);
  assert_fails (copy (from, to), RADIO_ERROR_EXISTS, "ct/a: exists already");
  assert_true (must_copy (from, to, RADIO_EXISTING_SKIP).skipped);
  assert_volume_is (to, "ct/a", &old);
  assert_false (must_copy (from, to, RADIO_EXISTING_REPLACE).skipped);
  assert_volume_is (to, "ct/a", &new);
  /* It is the same now. */
  assert_true (must_copy (from, to, RADIO_EXISTING_ERROR).skipped);
  assert_clean_after_gc (to, 2);
  assert_volume_is (to, "ct/a", &new);
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

static void
replacing_a_volume_by_itself_repairs_damage (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  uint64_t n = count_shards (from);
  must_copy (from, to, 0);
  char *key = shard_key (to, 1);
  flip_bit (to, key, 100);
  struct radio_copy_result result = must_copy (from, to,
                                               RADIO_EXISTING_REPLACE);
  assert_int_equal (result.sent_count, 1);
  assert_int_equal (result.there_count, n - 1);
  assert_same_objects (from, "ct/a", to, "ct/a");
  rd_free (key);
  radio_store_close (to);
  radio_store_close (from);
}

/* Only a modified document has the same level's name. */
static void
data_that_another_volume_names_is_not_overwritten (void **state)
{
  (void) state;
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  const struct radio_copy_options options = {
    .existing = RADIO_EXISTING_REPLACE,
  };
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  must_copy (from, to, 0);
  assert_ok (rd_io_read_all (to->io, "ct/a/zarr.json", 1 << 20, &text));
  char *codec = strstr ((char *) text.data, "\"medium\"");
  assert_non_null (codec);
  codec[1] = 'M';
  assert_ok (rd_io_put (to->io, "ct/a/zarr.json", text.data, text.nbytes,
                        RD_PUT_REPLACE));
  char *key = shard_key (to, 0);
  flip_bit (to, key, 5);
  assert_fails (radio_volume_copy (from, "ct/a", to, NULL, &options, NULL),
                RADIO_ERROR_EXISTS, key);
  flip_bit (to, key, 5);
  assert_int_equal (must_copy (from, to, options.existing).sent_count, 0);
  assert_same_objects (from, "ct/a", to, "ct/a");
  rd_free (key);
  radio_store_close (to);
  radio_store_close (from);
}

/*------------------------------------------------------------------------
 * Data that is not copied
 *----------------------------------------------------------------------*/

static void
a_source_that_is_no_volume_of_radio_is_refused (void **state)
{
  (void) state;
  static const char others[] =
    "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {}}";
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  struct rd_io *io;
  struct radio_store *foreign;
  assert_fails (radio_volume_copy (from, "ct/b", to, NULL, NULL, NULL),
                RADIO_ERROR_NOT_FOUND, "ct/b: no such volume");
  assert_fails (radio_volume_copy (from, "ct/a/nifti", to, "ct/a", NULL,
                                   NULL), RADIO_ERROR_NOT_FOUND, "an array");
  assert_fails (radio_volume_copy (from, "ct", to, "ct/a", NULL, NULL),
                RADIO_ERROR_FORMAT, "ct/zarr.json");
  assert_fails (radio_volume_copy (NULL, "ct/a", to, NULL, NULL, NULL),
                RADIO_ERROR_ARGUMENT, "NULL");
  assert_ok (rd_io_open ("memory:", true, &io));
  assert_ok (rd_io_put (io, "zarr.json", others, sizeof others - 1,
                        RD_PUT_REPLACE));
  assert_ok (rd_store_open_io (io, NULL, &foreign));
  assert_fails (copy (from, foreign), RADIO_ERROR_UNSUPPORTED,
                "not a store of radio's");
  assert_no_volume (to);
  radio_store_close (foreign);
  radio_store_close (to);
  radio_store_close (from);
}

static void
replace_in_document (struct radio_store *store, const char *old,
                     const char *new)
{
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  assert_int_equal (strlen (old), strlen (new));
  assert_ok (rd_io_read_all (store->io, "ct/a/zarr.json", 1 << 20, &text));
  char *at = strstr ((char *) text.data, old);
  assert_non_null (at);
  for (; at; at = strstr (at, old))
    memcpy (at, new, strlen (new));
  assert_ok (rd_io_put (store->io, "ct/a/zarr.json", text.data, text.nbytes,
                        RD_PUT_REPLACE));
}

static void
another_programs_volume_is_refused (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  replace_in_document (from, "\"radio\"", "\"audio\"");
  assert_fails (copy (from, to), RADIO_ERROR_UNSUPPORTED,
                "another program");
  assert_no_volume (to);
  assert_int_equal (count_objects (to, ""), 1);
  radio_store_close (to);
  radio_store_close (from);
}

static void
a_level_document_that_differs_is_damage (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  replace_in_document (from, "\"bitshuffle\"", "\"noshuffle\" ");
  assert_fails (copy (from, to), RADIO_ERROR_FORMAT, "differs");
  assert_no_volume (to);
  radio_store_close (to);
  radio_store_close (from);
}

static void
a_shard_that_is_missing_is_found_before_anything_is_written (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  char *key = shard_key (from, 2);
  assert_ok (from->io->ops->remove (from->io, key));
  assert_fails (copy (from, to), RADIO_ERROR_FORMAT, key);
  assert_int_equal (count_objects (to, ""), 1);
  rd_free (key);
  radio_store_close (to);
  radio_store_close (from);
}

/* Every byte of every shard is under some checksum. */
static void
damage_is_reported_and_not_copied (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  uint64_t nbytes;
  for (uint64_t n = 0; n < count_shards (from); n++) {
    char *key = shard_key (from, n);
    assert_ok (from->io->ops->size (from->io, key, &nbytes));
    for (size_t byte = 0; byte < nbytes; byte++) {
      flip_bit (from, key, byte * 8 + byte % 8);
      enum radio_status status = copy (from, to);
      assert_true (status == RADIO_ERROR_CHECKSUM
                   || status == RADIO_ERROR_FORMAT);
      assert_non_null (strstr (radio_error_message (), key));
      assert_no_volume (to);
      assert_int_equal (count_folders (to, "ct"), 0);
      flip_bit (from, key, byte * 8 + byte % 8);
    }
    rd_free (key);
  }
  must_copy (from, to, 0);
  radio_store_close (to);
  radio_store_close (from);
}

static void
a_shard_that_is_cut_short_or_grew_is_damage (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = must_open_store ("memory:");
  struct rd_buffer bytes RD_BUFFER_SCOPE = { 0 };
  char *key = shard_key (from, 1);
  assert_ok (rd_io_read_all (from->io, key, 1 << 20, &bytes));
  for (size_t n = 0; n < bytes.nbytes; n++) {
    assert_ok (rd_io_put (from->io, key, bytes.data, n, RD_PUT_REPLACE));
    enum radio_status status = copy (from, to);
    assert_true (status == RADIO_ERROR_CHECKSUM
                 || status == RADIO_ERROR_FORMAT);
  }
  must_append (&bytes, "x", 1);
  assert_ok (rd_io_put (from->io, key, bytes.data, bytes.nbytes,
                        RD_PUT_REPLACE));
  assert_int_equal (copy (from, to), RADIO_ERROR_CHECKSUM);
  assert_no_volume (to);
  rd_free (key);
  radio_store_close (to);
  radio_store_close (from);
}

/*------------------------------------------------------------------------
 * Going on
 *----------------------------------------------------------------------*/

/* Stop a copy after a number of its shards. */
struct stop {
  struct radio_store *to;
  uint64_t at_shards, total_nbytes;
  unsigned ncalls;
};

static enum radio_status
stop_at (const struct radio_progress *p, void *user_data)
{
  struct stop *stop = user_data;
  stop->total_nbytes = p->total_nbytes;
  stop->ncalls++;
  assert_in_range (p->done_nbytes, 0, p->total_nbytes);
  return count_shards (stop->to) < stop->at_shards ? RADIO_OK
                                                   : RADIO_ERROR_IO;
}

static enum radio_status
copy_until (struct radio_store *from, struct radio_store *to,
            struct stop *stop, struct radio_copy_result *result)
{
  const struct radio_copy_options options = {
    .progress = stop_at, .user_data = stop,
  };
  return radio_volume_copy (from, "ct/a", to, NULL, &options, result);
}

static struct radio_copy_result
begin_copy (struct radio_store *from, struct radio_store *to)
{
  struct stop stop = { .to = to, .at_shards = 1 };
  struct radio_copy_result result;
  assert_fails (copy_until (from, to, &stop, &result),
                RADIO_ERROR_CANCELLED, "ct/a: cancelled");
  assert_no_volume (to);
  assert_in_range (result.sent_count, 1, count_shards (from) - 1);
  assert_int_equal (count_shards (to), result.sent_count);
  return result;
}

static void
objects_sent_are_not_sent_again (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = open_planned (STORE, 1, NULL);
  struct radio_copy_result first = begin_copy (from, to);
  struct radio_copy_result second = must_copy (from, to, 0);
  assert_int_equal (second.there_count, first.sent_count);
  assert_int_equal (second.there_nbytes, first.sent_nbytes);
  assert_int_equal (second.sent_count + second.there_count,
                    count_shards (from));
  assert_same_objects (from, "ct/a", to, "ct/a");
  assert_clean_after_gc (to, 2);
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

static void
of_the_source_only_indexes_are_read_again (void **state)
{
  (void) state;
  static const struct rd_fault_plan none;
  struct radio_store *from = open_planned ("memory:", 1, &none);
  struct radio_store *to = open_planned ("memory:", 1, NULL);
  struct nifti_spec spec = small_spec ();
  must_ingest (from, "ct/a", &spec, &many_shards);
  must_copy (from, to, 0);
  assert_ok (to->io->ops->remove (to->io, "ct/a/zarr.json"));
  uint64_t before = rd_io_fault_count (from->io, RD_FAULT_GET);
  assert_int_equal (must_copy (from, to, 0).sent_count, 0);
  /* And the documents of the volume and its level, and kept statistics. */
  assert_int_equal (rd_io_fault_count (from->io, RD_FAULT_GET) - before,
                    count_shards (from) + 3);
  radio_store_close (to);
  radio_store_close (from);
}

static void
an_object_damaged_meanwhile_is_sent_again (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = open_planned ("memory:", 1, NULL);
  struct radio_copy_result first = begin_copy (from, to);
  char *key = shard_key (to, 0);
  flip_bit (to, key, 77);
  struct radio_copy_result second = must_copy (from, to, 0);
  assert_int_equal (second.there_count, first.sent_count - 1);
  assert_same_objects (from, "ct/a", to, "ct/a");
  rd_free (key);
  radio_store_close (to);
  radio_store_close (from);
}

/* There is no proof then that they are complete. */
static void
shards_without_checksums_are_sent_again (void **state)
{
  (void) state;
  struct radio_ingest_options options = many_shards;
  options.codec = "[{\"name\": \"bytes\", \"configuration\": "
                  "{\"endian\": \"little\"}}]";
  struct nifti_spec spec = small_spec ();
  struct radio_store *from = must_open_store ("memory:");
  struct radio_store *to = open_planned ("memory:", 1, NULL);
  must_ingest (from, "ct/a", &spec, &options);
  begin_copy (from, to);
  struct radio_copy_result second = must_copy (from, to, 0);
  assert_int_equal (second.there_count, 0);
  assert_int_equal (second.sent_count, count_shards (from));
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (to);
  radio_store_close (from);
}

static void
gc_removes_the_data_of_an_unfinished_copy (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = open_planned (STORE, 1, NULL);
  begin_copy (from, to);
  assert_clean_after_gc (to, 0);
  assert_int_equal (must_copy (from, to, 0).there_count, 0);
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

static void
an_ingest_removes_the_data_of_an_unfinished_copy (void **state)
{
  (void) state;
  struct nifti_spec spec = other_spec ();
  struct radio_store *from = make_source ();
  struct radio_store *to = open_planned (STORE, 1, NULL);
  begin_copy (from, to);
  must_ingest (to, "ct/a", &spec, NULL);
  assert_volume_is (to, "ct/a", &spec);
  assert_int_equal (count_folders (to, "ct/a"), 2);
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

/* Room for n shards and the documents above them, not for more. */
static uint64_t
shards_nbytes (struct radio_store *store, size_t n)
{
  uint64_t sum = 300, nbytes;
  for (size_t i = 0; i < n; i++) {
    char *key = shard_key (store, i);
    assert_ok (store->io->ops->size (store->io, key, &nbytes));
    sum += nbytes;
    rd_free (key);
  }
  return sum;
}

static void
a_full_disk_is_an_error_and_the_copy_resumes_with_room (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  const struct rd_fault_plan full = { NULL, 0, shards_nbytes (from, 2) };
  struct radio_store *to = open_planned (STORE, 1, &full);
  struct radio_copy_result first, second;
  assert_int_equal (radio_volume_copy (from, "ct/a", to, NULL, NULL, &first),
                    RADIO_ERROR_NO_SPACE);
  assert_no_volume (to);
  assert_in_range (first.sent_count, 1, count_shards (from) - 1);
  radio_store_close (to);
  to = must_open_store (STORE);
  second = must_copy (from, to, 0);
  assert_int_equal (second.there_count, first.sent_count);
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

static void
a_dry_run_writes_nothing_and_counts_the_bytes_to_send (void **state)
{
  (void) state;
  const struct radio_copy_options options = { .dry_run = true };
  struct radio_store *from = make_source ();
  struct radio_store *to = open_planned ("memory:", 1, NULL);
  struct radio_copy_result dry;
  assert_ok (radio_volume_copy (from, "ct/a", to, NULL, &options, &dry));
  assert_int_equal (dry.sent_count, count_shards (from));
  assert_int_equal (count_objects (to, ""), 1);
  struct radio_copy_result first = begin_copy (from, to);
  size_t n = count_objects (to, "");
  assert_ok (radio_volume_copy (from, "ct/a", to, NULL, &options, &dry));
  assert_int_equal (dry.there_count, first.sent_count);
  assert_int_equal (dry.sent_count + dry.there_count, count_shards (from));
  assert_int_equal (count_objects (to, ""), n);
  radio_store_close (to);
  radio_store_close (from);
}

static void
progress_reaches_the_whole (void **state)
{
  (void) state;
    struct radio_store *from = make_source ();
  struct radio_store *to = open_planned ("memory:", 1, NULL);
  struct stop stop = { .to = to, .at_shards = UINT64_MAX };
  struct radio_copy_result result;
  assert_ok (copy_until (from, to, &stop, &result));
  assert_int_equal (stop.total_nbytes, result.sent_nbytes);
  assert_true (stop.ncalls > count_shards (from));
  radio_store_close (to);
  radio_store_close (from);
}

/*------------------------------------------------------------------------
 * Others at the same time
 *----------------------------------------------------------------------*/

struct meanwhile {
  struct radio_store *from, *to;
  enum radio_status (*act) (struct meanwhile *meanwhile);
  bool is_done;
};

static enum radio_status
act_once (const struct radio_progress *p, void *user_data)
{
  struct meanwhile *meanwhile = user_data;
  if (p->done_nbytes == 0 || meanwhile->is_done)
    return RADIO_OK;
  meanwhile->is_done = true;
  return meanwhile->act (meanwhile);
}

/* The status of a copy while something is done to its stores. */
static enum radio_status
copy_while (enum radio_status (*act) (struct meanwhile *),
            struct radio_store *from, struct radio_store *to,
            enum radio_existing existing)
{
  struct meanwhile meanwhile = { from, to, act, false };
  const struct radio_copy_options options = {
    .existing = existing, .progress = act_once, .user_data = &meanwhile,
  };
  enum radio_status status = radio_volume_copy (from, "ct/a", to, NULL,
                                                &options, NULL);
  assert_true (meanwhile.is_done);
  return status;
}

static enum radio_status
replace_source (struct meanwhile *meanwhile)
{
  struct nifti_spec spec = other_spec ();
  must_ingest (meanwhile->from, "ct/a", &spec, &many_shards);
  return radio_store_gc (meanwhile->from, false, NULL);
}

static enum radio_status
remove_source (struct meanwhile *meanwhile)
{
  return radio_store_remove (meanwhile->from, "ct/a");
}

static enum radio_status
write_destination (struct meanwhile *meanwhile)
{
  struct nifti_spec spec = other_spec ();
  must_ingest (meanwhile->to, "ct/a", &spec, &many_shards);
  return RADIO_OK;
}

static enum radio_status
ingest_same (struct meanwhile *meanwhile)
{
  struct nifti_spec spec = small_spec ();
  must_ingest (meanwhile->to, "ct/a", &spec, &many_shards);
  return RADIO_OK;
}

static enum radio_status
clean_destination (struct meanwhile *meanwhile)
{
  struct radio_gc_result result;
  assert_ok (radio_store_gc (meanwhile->to, false, &result));
  assert_int_equal (result.removed_count, 0);
  assert_int_equal (result.busy_count, 1);
  return RADIO_OK;
}

static enum radio_status
copy_as_well (struct meanwhile *meanwhile)
{
  assert_fails (copy (meanwhile->from, meanwhile->to), RADIO_ERROR_IO,
                "another copy to it is in progress");
  return RADIO_OK;
}

static void
a_source_that_is_replaced_meanwhile_is_an_error (void **state)
{
  (void) state;
  struct radio_store *from = make_source ();
  struct radio_store *to = open_planned (STORE, 1, NULL);
  assert_fails (copy_while (replace_source, from, to, 0),
                RADIO_ERROR_NOT_FOUND, "replaced while it was copied");
  assert_no_volume (to);
  assert_clean_after_gc (to, 0);
  must_copy (from, to, 0);
  assert_same_objects (from, "ct/a", to, "ct/a");
  radio_store_close (to);
  to = open_planned ("memory:", 1, NULL);
  assert_fails (copy_while (remove_source, from, to, 0),
                RADIO_ERROR_NOT_FOUND, "removed while it was copied");
  assert_no_volume (to);
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

static void
a_moved_volume_is_removed_only_while_both_are_as_they_were (void **state)
{
  (void) state;
  const struct radio_copy_options options = {
    .existing = RADIO_EXISTING_REPLACE, .by_store = true,
  };
  struct nifti_spec ours = small_spec (), theirs = other_spec ();
  static const char *const uris[] = { "memory:", STORE };
  for (size_t i = 0; i < 2; i++) {
    struct radio_store *store = open_planned (uris[i], 1, NULL), *from;
    from = make_source ();
    must_copy (from, store, 0);
    radio_store_close (from);
    assert_fails (radio_store_remove_copied (store, "ct/a", "mr/b"),
                  RADIO_ERROR_NOT_FOUND, "mr/b: no such volume");
    assert_fails (radio_store_remove_copied (store, "ct/a", "ct/a"),
                  RADIO_ERROR_ARGUMENT, "not the paths");
    assert_ok (radio_volume_copy (store, "ct/a", store, "mr/b", &options,
                                  NULL));
    must_ingest (store, "ct/a", &theirs, &many_shards);
    assert_fails (radio_store_remove_copied (store, "ct/a", "mr/b"),
                  RADIO_ERROR_NOT_FOUND, "was replaced since it was copied");
    assert_fails (radio_store_remove_copied (store, "mr/b", "ct/a"),
                  RADIO_ERROR_NOT_FOUND, "was replaced since it was copied");
    assert_volume_is (store, "ct/a", &theirs);
    assert_volume_is (store, "mr/b", &ours);
    assert_ok (radio_volume_copy (store, "ct/a", store, "mr/b", &options,
                                  NULL));
    assert_ok (radio_store_remove_copied (store, "ct/a", "mr/b"));
    char paths[100];
    list_paths (store, paths, sizeof paths);
    assert_string_equal (paths, "mr/b");
    assert_volume_is (store, "mr/b", &theirs);
    radio_store_close (store);
    remove_all (STORE);
  }
}

/* Returns the name of a volume's level, allocated. */
static char *
level_of (struct radio_store *store, const char *path)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, path, &volume));
  char *level = strdup (volume->meta.level_path);
  radio_volume_close (volume);
  return level;
}

static void
a_volume_that_was_replaced_is_not_removed_by_its_old_level (void **state)
{
  (void) state;
  struct nifti_spec theirs = other_spec ();
  static const char *const uris[] = { "memory:", STORE };
  for (size_t i = 0; i < 2; i++) {
    struct radio_store *store = open_planned (uris[i], 1, NULL);
    struct radio_store *from = make_source ();
    must_copy (from, store, 0);
    radio_store_close (from);
    char *before = level_of (store, "ct/a");
    assert_fails (radio_store_remove_level (store, "ct/b", before),
                  RADIO_ERROR_NOT_FOUND, "ct/b: no such volume");
    assert_fails (radio_store_remove_level (store, "", before),
                  RADIO_ERROR_ARGUMENT, "path is empty");
    must_ingest (store, "ct/a", &theirs, &many_shards);
    assert_fails (radio_store_remove_level (store, "ct/a", before),
                  RADIO_ERROR_NOT_FOUND, "replaced since its row was");
    assert_fails (radio_store_remove_level (store, "ct/a", NULL),
                  RADIO_ERROR_NOT_FOUND, "replaced since its row was");
    assert_volume_is (store, "ct/a", &theirs);
    char *now = level_of (store, "ct/a");
    assert_ok (radio_store_remove_level (store, "ct/a", now));
    assert_no_volume (store);
    must_ingest (store, "ct/a", &theirs, &many_shards);
    assert_ok (rd_io_put (store->io, "ct/a/zarr.json", "{", 1,
                          RD_PUT_REPLACE));
    assert_fails (radio_store_remove_level (store, "ct/a", now),
                  RADIO_ERROR_NOT_FOUND, "document is damaged");
    assert_ok (radio_store_remove (store, "ct/a"));
    free (before);
    free (now);
    radio_store_close (store);
    remove_all (STORE);
  }
}

static void
the_faster_volume_stays_unless_it_is_to_be_replaced (void **state)
{
  (void) state;
  struct nifti_spec theirs = other_spec (), ours = small_spec ();
  struct radio_store *from = make_source ();
  for (int existing = 0; existing < 3; existing++) {
    struct radio_store *to = open_planned (STORE, 1, NULL);
    enum radio_status status = copy_while (write_destination, from, to,
                                           (enum radio_existing) existing);
    bool replaces = existing == RADIO_EXISTING_REPLACE;
    assert_int_equal (status, existing == RADIO_EXISTING_ERROR
                              ? RADIO_ERROR_EXISTS : RADIO_OK);
    assert_volume_is (to, "ct/a", replaces ? &ours : &theirs);
    if (!replaces)
      assert_int_equal (count_folders (to, "ct/a"), 2);
    assert_clean_after_gc (to, 2);
    radio_store_close (to);
    remove_all (STORE);
  }
  struct radio_store *to = open_planned (STORE, 1, NULL);
  assert_ok (copy_while (ingest_same, from, to, 0));
  assert_int_equal (count_folders (to, "ct/a"), 2);
  assert_volume_is (to, "ct/a", &ours);
  radio_store_close (to);
  radio_store_close (from);
  remove_all (STORE);
}

static void
a_copy_under_way_is_left_alone (void **state)
{
  (void) state;
  for (int i = 0; i < 2; i++) {
    struct radio_store *from = make_source ();
    struct radio_store *to = open_planned (STORE, 1, NULL);
    assert_ok (copy_while (i ? copy_as_well : clean_destination, from, to,
                           0));
    assert_same_objects (from, "ct/a", to, "ct/a");
    radio_store_close (to);
    radio_store_close (from);
    remove_all (STORE);
  }
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (a_copy_is_byte_for_byte_between_any_two_stores),
    cmocka_unit_test (a_copy_may_have_another_name_in_the_same_store),
    cmocka_unit_test (large_shards_are_copied_in_little_memory),
    cmocka_unit_test (an_existing_volume_is_kept_skipped_or_replaced),
    cmocka_unit_test (replacing_a_volume_by_itself_repairs_damage),
    cmocka_unit_test (data_that_another_volume_names_is_not_overwritten),
    cmocka_unit_test (a_source_that_is_no_volume_of_radio_is_refused),
    cmocka_unit_test (another_programs_volume_is_refused),
    cmocka_unit_test (a_level_document_that_differs_is_damage),
    cmocka_unit_test (
      a_shard_that_is_missing_is_found_before_anything_is_written),
    cmocka_unit_test (damage_is_reported_and_not_copied),
    cmocka_unit_test (a_shard_that_is_cut_short_or_grew_is_damage),
    cmocka_unit_test (objects_sent_are_not_sent_again),
    cmocka_unit_test (of_the_source_only_indexes_are_read_again),
    cmocka_unit_test (an_object_damaged_meanwhile_is_sent_again),
    cmocka_unit_test (shards_without_checksums_are_sent_again),
    cmocka_unit_test (gc_removes_the_data_of_an_unfinished_copy),
    cmocka_unit_test (an_ingest_removes_the_data_of_an_unfinished_copy),
    cmocka_unit_test (
      a_full_disk_is_an_error_and_the_copy_resumes_with_room),
    cmocka_unit_test (a_dry_run_writes_nothing_and_counts_the_bytes_to_send),
    cmocka_unit_test (progress_reaches_the_whole),
    cmocka_unit_test (a_source_that_is_replaced_meanwhile_is_an_error),
    cmocka_unit_test (the_faster_volume_stays_unless_it_is_to_be_replaced),
    cmocka_unit_test (
      a_moved_volume_is_removed_only_while_both_are_as_they_were),
    cmocka_unit_test (
      a_volume_that_was_replaced_is_not_removed_by_its_old_level),
    cmocka_unit_test (a_copy_under_way_is_left_alone),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
