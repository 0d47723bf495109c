/* SPDX-License-Identifier: MIT */
/* Damage of a volume.  It is no damage that it is replaced while it is checked,
 * that its store cannot be listed, or that its header array is that of the
 * volume before. */
#include <config.h>

#include <unistd.h>

#include "src/volume/gc/collect.h"
#include "src/volume/volume.h"
#include "tests/volume/copying.h"

static void
count_damage (const char *message, void *user_data)
{
  assert_non_null (message);
  ++*(unsigned *) user_data;
}

static const char *expected_message;

static void
expect_message (const char *message, void *user_data)
{
  assert_non_null (strstr (message, expected_message));
  ++*(unsigned *) user_data;
}

static struct radio_volume *
must_open (struct radio_store *store)
{
  struct radio_volume *volume;
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  return volume;
}

/* The volume is replaced right after its shards were listed, and they are
 * removed. */
static struct radio_store *replaced;
static const struct rd_io_ops *own_ops;

static enum radio_status
list_and_replace (struct rd_io *io, const char *prefix, bool recursive,
                  rd_io_list_fn *fn, void *user_data)
{
  struct nifti_spec spec = other_spec ();
  io->ops = own_ops;
  assert_ok (io->ops->list (io, prefix, recursive, fn, user_data));
  must_ingest (replaced, "ct/a", &spec, &many_shards);
  return radio_store_gc (replaced, false, NULL);
}

static void
a_volume_that_is_replaced_while_it_is_read_is_not_damaged (void **state)
{
  (void) state;
  struct radio_store *store = replaced = make_source ();
  struct radio_volume *volume = must_open (store);
  struct rd_io_ops ops = *store->io->ops;
  struct radio_check check;
  unsigned ndamages = 0;
  own_ops = store->io->ops;
  ops.list = list_and_replace;
  store->io->ops = &ops;
  assert_fails (radio_volume_validate (volume, &check, count_damage,
                                       &ndamages),
                RADIO_ERROR_NOT_FOUND, "ct/a: the volume was replaced");
  assert_int_equal (ndamages, 0);
  radio_volume_close (volume);
  volume = must_open (store);
  assert_ok (radio_volume_validate (volume, &check, count_damage, &ndamages));
  radio_volume_close (volume);
  radio_store_close (store);
}

static enum radio_status
list_nothing (struct rd_io *io, const char *prefix, bool recursive,
              rd_io_list_fn *fn, void *user_data)
{
  (void) prefix;
  (void) recursive;
  (void) fn;
  (void) user_data;
  return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: cannot be listed", io->uri);
}

/* As over HTTP. */
static void
a_store_that_cannot_be_listed_is_checked_by_its_documents (void **state)
{
  (void) state;
  struct radio_store *store = make_source ();
  struct radio_volume *volume = must_open (store);
  const struct rd_io_ops *own = store->io->ops;
  struct rd_io_ops ops = *own;
  struct radio_check listed, check;
  unsigned ndamages = 0;
  char *key = shard_key (store, 1);
  assert_ok (radio_volume_validate (volume, &listed, count_damage,
                                    &ndamages));
  ops.list = list_nothing;
  store->io->ops = &ops;
  assert_ok (radio_volume_validate (volume, &check, count_damage, &ndamages));
  assert_int_equal (check.tile_count, listed.tile_count);
  assert_int_equal (check.missing_count, listed.missing_count);
  assert_int_equal (ndamages, 0);
  flip_bit (store, key, 5);
  assert_fails (radio_volume_validate (volume, &check, count_damage,
                                       &ndamages),
                RADIO_ERROR_CHECKSUM, "1 damaged");
  assert_int_equal (ndamages, 1);
  assert_ok (own->remove (store->io, key));
  assert_fails (radio_volume_validate (volume, &check, count_damage,
                                       &ndamages),
                RADIO_ERROR_CHECKSUM, "damaged");
  assert_int_equal (ndamages, 2);
  radio_volume_close (volume);
  store->io->ops = own;
  radio_store_close (store);
  rd_free (key);
}

static void
expect_lost_level (const char *message, void *user_data)
{
  assert_non_null (strstr (message, "ct/a: its level "));
  assert_non_null (strstr (message, " is missing"));
  ++*(unsigned *) user_data;
}

static void
a_volume_that_has_lost_its_level_is_damaged (void **state)
{
  (void) state;
  struct radio_store *store = make_source ();
  struct radio_volume *volume = must_open (store);
  struct radio_check check;
  unsigned ndamages = 0;
  assert_ok (rd_level_remove (store, volume->array->path));
  assert_fails (radio_volume_validate (volume, &check, expect_lost_level,
                                       &ndamages),
                RADIO_ERROR_CHECKSUM, "ct/a: 1 damaged");
  assert_int_equal (check.damaged_count, 1);
  assert_int_equal (ndamages, 1);
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
put_back (struct radio_store *store, const struct rd_buffer *text)
{
  assert_ok (rd_io_put (store->io, "ct/a/nifti/zarr.json", text->data,
                        text->nbytes, RD_PUT_REPLACE));
}

/* As a writer leaves it that dies before its last step. */
static void
the_header_of_the_volume_before_is_stale_and_any_other_is_bad (void **state)
{
  (void) state;
  struct rd_buffer before RD_BUFFER_SCOPE = { 0 };
  struct nifti_spec other = other_spec ();
  struct radio_store *store = make_source ();
  struct radio_check check;
  unsigned ndamages = 0;
  assert_ok (rd_io_read_all (store->io, "ct/a/nifti/zarr.json", 1 << 20,
                             &before));
  must_ingest (store, "ct/a", &other, &many_shards);
  struct radio_volume *volume = must_open (store);
  put_back (store, &before);
  assert_ok (radio_volume_validate (volume, &check, count_damage, &ndamages));
  assert_int_equal (check.stale_count, 1);
  assert_int_equal (check.damaged_count, 0);
  assert_int_equal (ndamages, 0);

  assert_ok (radio_store_gc (store, false, NULL));
  assert_int_equal (header_state (store, "ct/a"), RD_HEADER_CURRENT);
  assert_ok (radio_volume_validate (volume, &check, count_damage, &ndamages));
  assert_int_equal (check.stale_count, 0);

  /* gc has removed the chunk of the volume before. */
  put_back (store, &before);
  assert_fails (radio_volume_validate (volume, &check, count_damage,
                                       &ndamages),
                RADIO_ERROR_CHECKSUM, "1 damaged");
  assert_int_equal (check.stale_count, 0);
  assert_int_equal (ndamages, 1);

  /* Nothing is stale if the document names no right header either. */
  assert_ok (radio_store_gc (store, false, NULL));
  must_ingest (store, "ct/a", &(struct nifti_spec) { .datatype = 2 },
               &many_shards);
  put_back (store, &before);
  radio_volume_close (volume);
  volume = must_open (store);
  assert_ok (store->io->ops->remove (store->io, "ct/a/nifti/0"));
  assert_fails (radio_volume_validate (volume, &check, count_damage,
                                       &ndamages),
                RADIO_ERROR_CHECKSUM, "1 damaged");
  radio_volume_close (volume);
  radio_store_close (store);
}

static char level_key[256];
static unsigned nrequests;

static void
count_gets (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  for (size_t i = 0; i < n; i++)
    nrequests += strcmp (gets[i].key, level_key) == 0;
  own_ops->get (io, gets, n);
}

/* Other programs open the level by its own document, radio by the copy in the
 * volume's. */
static void
a_level_has_the_document_of_which_its_volume_has_a_copy (void **state)
{
  (void) state;
  static const struct {
    const char *from, *to, *message;
  } changes[] = {
    { "\"shape\": [", "\"shape\"  :  [", NULL },
    { "\"node_type\": \"array\"", "\"node_type\": \"groop\"",
      "node_type is \"groop\"" },
    { "\"data_type\": \"int16\"", "\"data_type\": \"uint8\"",
      ": data_type differs from the copy in the consolidated_metadata of " },
    { "\"regular\"", "\"unknown\"", "chunk_grid \"unknown\"" },
    { "{", "}", "invalid JSON" },
  };
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct radio_store *store = make_source ();
  struct radio_volume *volume = must_open (store);
  struct radio_check check;
  struct rd_io_ops ops = *store->io->ops;
  unsigned ndamages = 0;
  snprintf (level_key, sizeof level_key, "%s/zarr.json", volume->array->path);
  own_ops = store->io->ops;
  ops.get = count_gets;
  nrequests = 0;
  store->io->ops = &ops;
  assert_ok (radio_volume_validate (volume, &check, count_damage,
                                    &ndamages));
  assert_int_equal (nrequests, 1);
  store->io->ops = own_ops;
  assert_ok (rd_io_read_all (store->io, level_key, 1 << 20, &text));
  assert_ok (rd_buffer_append (&text, "", 1));
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    char *at = strstr ((char *) text.data, changes[i].from);
    char changed[4096];
    assert_non_null (at);
    int n = snprintf (changed, sizeof changed, "%.*s%s%s",
                      (int) (at - (char *) text.data), text.data,
                      changes[i].to, at + strlen (changes[i].from));
    assert_in_range (n, 1, sizeof changed - 1);
    assert_ok (rd_io_put (store->io, level_key, changed, (size_t) n,
                          RD_PUT_REPLACE));
    if (changes[i].message == NULL) {
      assert_ok (radio_volume_validate (volume, &check, count_damage,
                                        &ndamages));
      assert_int_equal (ndamages, 0);
      continue;
    }
    expected_message = changes[i].message;
    ndamages = 0;
    assert_fails (radio_volume_validate (volume, &check, expect_message,
                                         &ndamages),
                  RADIO_ERROR_CHECKSUM, "ct/a: 1 damaged");
    assert_int_equal (ndamages, 1);
  }
  assert_ok (store->io->ops->remove (store->io, level_key));
  expected_message = "zarr.json: missing, while ct/a/zarr.json has a copy";
  assert_fails (radio_volume_validate (volume, &check, expect_message,
                                       &ndamages),
                RADIO_ERROR_CHECKSUM, "ct/a: 1 damaged");
  radio_volume_close (volume);
  radio_store_close (store);
}

static void
put_text (struct radio_store *store, const char *key, const char *text)
{
  assert_ok (rd_io_put (store->io, key, text, strlen (text),
                        RD_PUT_REPLACE));
}

static enum radio_status
join_paths (const struct radio_entry *entry, void *user_data)
{
  char *text = user_data;
  snprintf (text + strlen (text), 64 - strlen (text), "[%s]", entry->path);
  return RADIO_OK;
}

static void
a_broken_document_of_a_collection_is_found_and_hides_no_volume (void **state)
{
  (void) state;
  struct radio_store *store = make_source ();
  struct radio_check check;
  unsigned ndamages = 0;
  char text[64] = "";
  put_text (store, "other/file", "no node");
  assert_ok (radio_store_list_groups (store, join_paths, text));
  assert_string_equal (text, "[][ct][other]");
  assert_ok (radio_store_validate_group (store, "", &check, NULL, NULL));
  assert_ok (radio_store_validate_group (store, "ct", NULL, NULL, NULL));
  assert_ok (radio_store_validate_group (store, "ct/a", &check, NULL, NULL));
  assert_ok (radio_store_validate_group (store, "other", &check, NULL, NULL));
  assert_int_equal (check.damaged_count + check.stale_count, 0);

  put_text (store, "ct/zarr.json", "garbage");
  expected_message = "ct/zarr.json: invalid JSON";
  assert_fails (radio_store_validate_group (store, "ct", &check,
                                            expect_message, &ndamages),
                RADIO_ERROR_CHECKSUM, "ct/zarr.json: damaged");
  assert_int_equal (check.damaged_count, 1);
  list_paths (store, text, sizeof text);
  assert_string_equal (text, "ct/a");
  text[0] = '\0';
  assert_ok (radio_store_list (store, "ct", join_paths, text));
  assert_string_equal (text, "[ct/a]");

  assert_ok (store->io->ops->remove (store->io, "ct/zarr.json"));
  expected_message = "ct/zarr.json: missing, while there are volumes below";
  assert_fails (radio_store_validate_group (store, "ct", &check,
                                            expect_message, &ndamages),
                RADIO_ERROR_CHECKSUM, "ct/zarr.json: damaged");
  assert_int_equal (ndamages, 2);
  radio_store_close (store);
}

static void
open_any_root (const char *uri, struct radio_store **store)
{
  assert_ok (radio_store_open (uri, &(struct radio_store_options) {
    .any_root = true }, store));
}

static void
a_store_with_a_bad_root_is_opened_to_validate_it (void **state)
{
  (void) state;
  const struct radio_store_options any = { .any_root = true };
  struct nifti_spec spec = small_spec ();
  struct radio_store *store;
  struct radio_check check;
  unsigned ndamages = 0;
  char text[64] = "";
  assert_ok (radio_store_open ("root.zarr", &(struct radio_store_options) {
    .create = true }, &store));
  must_ingest (store, "ct/a", &spec, NULL);
  put_text (store, "ct/b/zarr.json", "garbage");
  put_text (store, "zarr.json", "garbage");
  radio_store_close (store);
  assert_fails (radio_store_open ("root.zarr", NULL, &store),
                RADIO_ERROR_FORMAT, "root.zarr: zarr.json: invalid JSON");
  open_any_root ("root.zarr", &store);
  list_paths (store, text, sizeof text);
  assert_string_equal (text, "ct/a ct/b");
  expected_message = "zarr.json: invalid JSON";
  assert_fails (radio_store_validate_group (store, "", &check,
                                            expect_message, &ndamages),
                RADIO_ERROR_CHECKSUM, "zarr.json: damaged");
  assert_ok (radio_store_validate_group (store, "ct", &check, NULL, NULL));

  /* An invalid version; a newer one is not broken. */
  put_text (store, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\","
            "\"attributes\":{\"radio\":{\"version\":\"x\"}}}");
  radio_store_close (store);
  open_any_root ("root.zarr", &store);
  expected_message = "version is 'x'";
  assert_fails (radio_store_validate_group (store, "", &check,
                                            expect_message, &ndamages),
                RADIO_ERROR_CHECKSUM, "zarr.json: damaged");
  put_text (store, "zarr.json", "{\"zarr_format\":3,\"node_type\":\"group\","
            "\"attributes\":{\"radio\":{\"version\":\"2.0\"}}}");
  radio_store_close (store);
  assert_fails (radio_store_open ("root.zarr", &any, &store),
                RADIO_ERROR_UNSUPPORTED, "made by a newer radio");

  assert_int_equal (unlink ("root.zarr/zarr.json"), 0);
  open_any_root ("root.zarr", &store);
  expected_message = "zarr.json: missing, while there are volumes below";
  assert_fails (radio_store_validate_group (store, "", &check,
                                            expect_message, &ndamages),
                RADIO_ERROR_CHECKSUM, "zarr.json: damaged");
  assert_int_equal (ndamages, 3);

  /* Without a volume that is radio's there is no store. */
  put_text (store, "ct/a/zarr.json", "garbage");
  radio_store_close (store);
  assert_fails (radio_store_open ("root.zarr", &any, &store),
                RADIO_ERROR_NOT_FOUND, "there is no zarr.json");
}

/* As zarr-python's consolidate_metadata does. */
static void
copies_in_a_group_are_stale_when_a_volume_was_written_since (void **state)
{
  (void) state;
  static const char *const keys[] = { "ct", "ct/a", "ct/a/nifti" };
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = make_source ();
  struct radio_check check;
  char *text = NULL;
  size_t nbytes;
  FILE *stream = open_memstream (&text, &nbytes);
  assert_non_null (stream);
  fprintf (stream, "{\"zarr_format\":3,\"node_type\":\"group\","
           "\"attributes\":{\"radio\":{\"version\":\"1.0\"}},"
           "\"consolidated_metadata\":{\"kind\":\"inline\",\"metadata\":{");
  for (size_t i = 0; i < 3; i++) {
    struct rd_buffer document RD_BUFFER_SCOPE = { 0 };
    char key[64];
    snprintf (key, sizeof key, "%s/zarr.json", keys[i]);
    assert_ok (rd_io_read_all (store->io, key, 1 << 20, &document));
    fprintf (stream, "%s\"%s\":%.*s", i ? "," : "", keys[i],
             (int) document.nbytes, (const char *) document.data);
  }
  fprintf (stream, "}}}");
  assert_int_equal (fclose (stream), 0);
  put_text (store, "zarr.json", text);
  assert_ok (radio_store_validate_group (store, "", &check, NULL, NULL));
  assert_int_equal (check.stale_count, 0);

  /* One that has no copy, one with another document, and one that is lost. */
  must_ingest (store, "ct/b", &spec, NULL);
  assert_ok (radio_store_validate_group (store, "", &check, NULL, NULL));
  assert_int_equal (check.stale_count, 1);
  must_ingest (store, "ct/a", &spec, &many_shards);
  assert_ok (radio_store_validate_group (store, "", &check, NULL, NULL));
  assert_int_equal (check.stale_count, 2);
  assert_ok (radio_store_remove (store, "ct/a"));
  assert_ok (radio_store_validate_group (store, "", &check, NULL, NULL));
  assert_int_equal (check.stale_count, 3);
  assert_int_equal (check.damaged_count, 0);
  free (text);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (
      a_volume_that_is_replaced_while_it_is_read_is_not_damaged),
    cmocka_unit_test (
      a_store_that_cannot_be_listed_is_checked_by_its_documents),
    cmocka_unit_test (a_volume_that_has_lost_its_level_is_damaged),
    cmocka_unit_test (a_level_has_the_document_of_which_its_volume_has_a_copy),
    cmocka_unit_test (
      a_broken_document_of_a_collection_is_found_and_hides_no_volume),
    cmocka_unit_test (a_store_with_a_bad_root_is_opened_to_validate_it),
    cmocka_unit_test (
      copies_in_a_group_are_stale_when_a_volume_was_written_since),
    cmocka_unit_test (
      the_header_of_the_volume_before_is_stale_and_any_other_is_bad),
  };
  return cmocka_run_group_tests (tests, enter_folder, leave_folder);
}
