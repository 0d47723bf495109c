/* SPDX-License-Identifier: MIT */
/* Images in their files at URLs: reads equal the file, by few requests, or
 * fail, whatever the server does. */
#include <config.h>

#include <limits.h>
#include <pthread.h>

#include "src/volume/files/gunzip.h"
#include "src/volume/volume.h"
#include "tests/alloc-fail.h"
#include "tests/io/http-peer.h"
#include "tests/volume/fixture.h"

static struct rd_io *objects;
static struct http_peer *peer;

static int
set_up (void **state)
{
  (void) state;
  assert_ok (rd_io_memory_open (&objects));
  peer = http_peer_start (objects);
  return 0;
}

static int
tear_down (void **state)
{
  (void) state;
  http_peer_stop (peer);
  rd_io_close (objects);
  return 0;
}

static void
put (const char *name, const struct rd_buffer *bytes)
{
  assert_ok (rd_io_put (objects, name, bytes->data, bytes->nbytes,
                        RD_PUT_REPLACE));
}

static void
put_gzip (const char *name, const struct rd_buffer *plain,
          size_t member_nbytes)
{
  RD_BUFFER_SCOPE struct rd_buffer zipped = { 0 };
  make_gzip (plain->data, plain->nbytes, member_nbytes, &zipped);
  put (name, &zipped);
}

static enum radio_status
open_with (struct radio_context *context, const char *name,
           struct radio_volume **volume)
{
  const struct radio_file_options options = { .point_gap_nbytes = 20000 };
  char url[256];
  snprintf (url, sizeof url, "%s/%s", http_peer_url (peer), name);
  return radio_volume_open_file (context, url, &options, volume);
}

static struct radio_volume *
must_open (const char *name)
{
  struct radio_volume *volume;
  assert_ok (open_with (NULL, name, &volume));
  return volume;
}

static void
assert_url_is (const char *name, const struct nifti_spec *spec)
{
  struct radio_volume *volume = must_open (name);
  assert_open_volume_is (volume, spec);
  radio_volume_close (volume);
}

/* Puts a small image in every form. */
static const char *const forms[] = {
  "a.nii", "b.nii.gz", "members.nii.gz", "c.hdr", "c.img", "d.hdr.gz",
  "d.img.gz", "e.hdr", "e.img.gz",
};
#define NFORMS (sizeof forms / sizeof forms[0])

static struct nifti_spec
put_forms (bool pairs)
{
  struct nifti_spec spec = small_spec ();
  RD_BUFFER_SCOPE struct rd_buffer file = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer header = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  spec_image (&spec, &file);
  put ("a.nii", &file);
  put_gzip ("b.nii.gz", &file, 0);
  put_gzip ("members.nii.gz", &file, 60);
  spec.is_pair = true;
  spec_header (&spec, &header);
  spec_voxels (&spec, &voxels);
  put ("c.hdr", &header);
  put ("c.img", &voxels);
  put_gzip ("d.hdr.gz", &header, 0);
  put_gzip ("d.img.gz", &voxels, 0);
  put ("e.hdr", &header);
  put_gzip ("e.img.gz", &voxels, 0);
  spec.is_pair = pairs;
  return spec;
}

static bool
is_pair (const char *name)
{
  return strstr (name, ".hdr") || strstr (name, ".img");
}

static void
every_form_is_read (void **state)
{
  (void) state;
  for (size_t i = 0; i < NFORMS; i++) {
    const struct nifti_spec spec = put_forms (is_pair (forms[i]));
    assert_url_is (forms[i], &spec);
  }
}

/* A larger image, that compresses to about a half. */
static const struct nifti_spec large = {
  .dim = { 3, 150, 110, 40 }, .datatype = 4,
};
#define PLANE_NBYTES (150 * 110 * 2)
#define NPLANES 40

/* Returns its voxels, which stay the caller's. */
static void
put_large (uint32_t seed, struct rd_buffer *voxels)
{
  RD_BUFFER_SCOPE struct rd_buffer file = { 0 };
  spec_image (&large, &file);
  unsigned char *p = file.data + file.nbytes - spec_data_nbytes (&large);
  for (size_t i = 0; i < spec_data_nbytes (&large); i++) {
    seed = seed * 1664525 + 1013904223;
    p[i] = (unsigned char) (seed >> 24 & (i % 4096 < 1024 ? 0xff : 3));
  }
  put ("large.nii", &file);
  put_gzip ("large.nii.gz", &file, 0);
  put_gzip ("members.nii.gz", &file, 50000);
  voxels->nbytes = 0;
  expected_elements (&large, &file, voxels);
}

static const char *const large_forms[] = {
  "large.nii", "large.nii.gz", "members.nii.gz",
};
#define NLARGE (sizeof large_forms / sizeof large_forms[0])

static enum radio_status
read_plane (struct radio_volume *volume, uint64_t z, void *to,
            const struct radio_read_options *options)
{
  const struct radio_box box = {
    .rank = 3, .start = { z }, .size = { 1, 110, 150 },
  };
  return radio_volume_read (volume, &box, RADIO_STORED, to, PLANE_NBYTES,
                            options);
}

static void
assert_plane (struct radio_volume *volume, uint64_t z,
              const struct rd_buffer *voxels)
{
  static _Thread_local unsigned char plane[PLANE_NBYTES];
  assert_ok (read_plane (volume, z, plane, NULL));
  assert_memory_equal (plane, voxels->data + z * PLANE_NBYTES, PLANE_NBYTES);
}

static void
a_header_is_one_request_and_so_is_a_plane (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  put_large (1, &voxels);
  for (size_t i = 0; i < NLARGE; i++) {
    unsigned before = http_peer_requests (peer);
    struct radio_volume *volume = must_open (large_forms[i]);
    assert_int_equal (http_peer_requests (peer) - before, 1);
    assert_plane (volume, NPLANES - 1, &voxels);
    assert_int_equal (http_peer_requests (peer) - before, 2);
    /* From points of entry. */
    for (uint64_t z = 2; z < 30; z += 9)
      assert_plane (volume, z, &voxels);
    assert_in_range (http_peer_requests (peer) - before, 6, i ? 10 : 6);
    radio_volume_close (volume);
  }
  const struct nifti_spec spec = put_forms (true);
  unsigned before = http_peer_requests (peer);
  struct radio_volume *volume = must_open ("c.hdr");
  assert_int_equal (http_peer_requests (peer) - before, 2);
  radio_volume_close (volume);
  assert_url_is ("c.hdr", &spec);
}

static void
planes_in_any_order_are_right_and_a_check_reads_all (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  put_large (1, &voxels);
  for (size_t i = 0; i < NLARGE; i++) {
    struct radio_volume *volume = must_open (large_forms[i]);
    for (uint64_t z = 0; z < 3 * NPLANES; z++)
      assert_plane (volume, z * 7 % NPLANES, &voxels);
    assert_ok (radio_volume_validate (volume, NULL, NULL, NULL));
    for (uint64_t z = 0; z < NPLANES; z++)
      assert_plane (volume, z, &voxels);
    radio_volume_close (volume);
  }
}

static void
a_context_keeps_the_points_of_a_url (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  struct radio_context *context;
  struct radio_volume *volume;
  unsigned npoints[2];
  assert_ok (radio_context_open (NULL, &context));
  for (uint32_t seed = 1; seed <= 2; seed++) {
    /* Another object by the same name has points of its own. */
    put_large (seed, &voxels);
    for (unsigned again = 0; again < 2; again++) {
      assert_ok (open_with (context, "large.nii.gz", &volume));
      npoints[again] = (unsigned) rd_gunzip_npoints (volume->array->linear);
      assert_plane (volume, NPLANES - 1, &voxels);
      assert_plane (volume, 20, &voxels);
      radio_volume_close (volume);
    }
    assert_int_equal (npoints[0], 0);
    assert_in_range (npoints[1], 2, 100);
  }
  radio_context_close (context);
}

struct reader {
  struct radio_volume *volume;
  const struct rd_buffer *voxels;
  uint64_t first;
};

static void *
read_planes (void *data)
{
  const struct reader *reader = data;
  for (uint64_t i = 0; i < 60; i++)
    assert_plane (reader->volume, (reader->first + 11 * i) % NPLANES,
                  reader->voxels);
  return NULL;
}

static void
threads_read_one_url_at_once (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  put_large (1, &voxels);
  for (size_t i = 0; i < NLARGE; i++) {
    struct radio_volume *volume = must_open (large_forms[i]);
    pthread_t threads[4];
    struct reader readers[4];
    for (size_t k = 0; k < 4; k++) {
      readers[k] = (struct reader) { volume, &voxels, 9 * k };
      assert_int_equal (pthread_create (&threads[k], NULL, read_planes,
                                        &readers[k]), 0);
    }
    for (size_t k = 0; k < 4; k++)
      pthread_join (threads[k], NULL);
    radio_volume_close (volume);
  }
}

static void
wrong_responses_are_requested_again (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  put_large (1, &voxels);
  for (size_t i = 0; i < NLARGE; i++) {
    struct radio_volume *volume = must_open (large_forms[i]);
    http_peer_set_odds (peer, 30, 0);
    for (uint64_t z = 0; z < 2 * NPLANES; z++)
      assert_plane (volume, z * 7 % NPLANES, &voxels);
    radio_volume_close (volume);
    http_peer_set_odds (peer, 0, 0);
  }
  static const enum http_fault faults[] = {
    HTTP_BUSY, HTTP_DROP_EARLY, HTTP_DROP_MIDWAY, HTTP_SHIFTED, HTTP_LONGER,
    HTTP_SHORTER, HTTP_WHOLE,
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
    for (size_t k = 0; k < NLARGE; k++) {
      http_peer_script (peer, faults[i], 0, 1);
      struct radio_volume *volume = must_open (large_forms[k]);
      http_peer_script (peer, faults[i], 0, 2);
      assert_plane (volume, 20, &voxels);
      http_peer_script (peer, HTTP_OK, 0, 0);
      radio_volume_close (volume);
    }
}

static void
an_object_that_is_replaced_is_an_error (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  static unsigned char plane[PLANE_NBYTES];
  for (size_t i = 0; i < NLARGE; i++)
    for (uint64_t nread = 0; nread < 2; nread++) {
      put_large (1, &voxels);
      struct radio_volume *volume = must_open (large_forms[i]);
      if (nread > 0)
        assert_plane (volume, 0, &voxels);
      /* A .nii of the same size, so that only the ETag differs. */
      put_large (2, &voxels);
      for (int again = 0; again < 2; again++)
        assert_fails (read_plane (volume, 39, plane, NULL), RADIO_ERROR_IO,
                      "the object was replaced while it was read");
      radio_volume_close (volume);
      volume = must_open (large_forms[i]);
      assert_plane (volume, 39, &voxels);
      radio_volume_close (volume);
    }
  /* A single response of another size is wrong; all of them are right. */
  struct radio_volume *volume = must_open ("large.nii");
  http_peer_script (peer, HTTP_OTHER_TOTAL, 0, 1);
  assert_plane (volume, 39, &voxels);
  http_peer_script (peer, HTTP_OTHER_TOTAL, 0, UINT_MAX);
  assert_fails (read_plane (volume, 39, plane, NULL), RADIO_ERROR_IO,
                "the object was replaced");
  http_peer_script (peer, HTTP_OK, 0, 0);
  radio_volume_close (volume);
}

static void
without_ranges_a_file_is_read_as_a_whole (void **state)
{
  (void) state;
  static const enum http_fault faults[] = { HTTP_WHOLE, HTTP_WHOLE_UNTOLD };
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  put_large (1, &voxels);
  for (size_t k = 0; k < 2; k++) {
    http_peer_script (peer, faults[k], 0, UINT_MAX);
    for (size_t i = 0; i < NFORMS; i++) {
      const struct nifti_spec spec = put_forms (is_pair (forms[i]));
      assert_url_is (forms[i], &spec);
    }
    put_large (1, &voxels);             /* members.nii.gz again */
    for (size_t i = 0; i < NLARGE; i++) {
      unsigned before = http_peer_requests (peer);
      struct radio_volume *volume = must_open (large_forms[i]);
      /* Two of a range, and the whole. */
      assert_int_equal (http_peer_requests (peer), before + 3);
      for (uint64_t z = 0; z < NPLANES; z++)
        assert_plane (volume, z, &voxels);
      assert_int_equal (http_peer_requests (peer), before + 3);
      radio_volume_close (volume);
    }
  }
  /* Damage is reported under the URL. */
  RD_BUFFER_SCOPE struct rd_buffer zipped = { 0 };
  assert_ok (rd_io_read_all (objects, "large.nii.gz", SIZE_MAX / 2, &zipped));
  zipped.nbytes /= 2;
  put ("cut.nii.gz", &zipped);
  struct radio_volume *volume = must_open ("cut.nii.gz");
  static unsigned char plane[PLANE_NBYTES];
  assert_ok (read_plane (volume, 3, plane, NULL));
  assert_fails (read_plane (volume, 39, plane, NULL), RADIO_ERROR_FORMAT,
                "/data/cut.nii.gz: the gzip data is damaged");
  radio_volume_close (volume);
  /* A file takes half of the memory limit at most. */
  const struct radio_context_options how = { .memory_limit_nbytes = 1 << 20 };
  struct radio_context *context;
  assert_ok (radio_context_open (&how, &context));
  assert_fails (open_with (context, "large.nii", &volume), RADIO_ERROR_LIMIT,
                "large.nii: the server does not support range requests, and "
                "the file has more than 524288 bytes");
  http_peer_script (peer, HTTP_OK, 0, 0);
  assert_ok (open_with (context, "large.nii", &volume));
  radio_context_close (context);
  assert_plane (volume, 3, &voxels);
  radio_volume_close (volume);
}

static void
a_cut_file_gives_the_planes_that_are_whole (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer zipped = { 0 };
  static unsigned char plane[PLANE_NBYTES];
  struct radio_volume *volume;
  put_large (1, &voxels);
  assert_ok (rd_io_read_all (objects, "large.nii.gz", SIZE_MAX / 2, &zipped));
  zipped.nbytes /= 2;
  put ("large.nii.gz", &zipped);
  volume = must_open ("large.nii.gz");
  for (int again = 0; again < 2; again++) {
    assert_plane (volume, 10, &voxels);
    assert_fails (read_plane (volume, 39, plane, NULL), RADIO_ERROR_FORMAT,
                  "it is cut short");
  }
  radio_volume_close (volume);
  zipped.nbytes = 0;
  assert_ok (rd_io_read_all (objects, "large.nii", SIZE_MAX / 2, &zipped));
  zipped.nbytes -= 7;
  put ("large.nii", &zipped);
  volume = must_open ("large.nii");
  assert_plane (volume, 38, &voxels);
  assert_fails (read_plane (volume, 39, plane, NULL), RADIO_ERROR_FORMAT,
                "large.nii: cut short: it has");
  radio_volume_close (volume);
  zipped.nbytes = 0;
  put ("empty.nii", &zipped);
  assert_fails (open_with (NULL, "empty.nii", &volume), RADIO_ERROR_FORMAT,
                "empty.nii: ");
}

static void
servers_that_deny_redirect_or_encode (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  struct radio_volume *volume;
  put_large (1, &voxels);
  assert_fails (open_with (NULL, "none.nii", &volume), RADIO_ERROR_NOT_FOUND,
                "/data/none.nii: no such object");
  http_peer_script (peer, HTTP_FORBIDDEN, 0, UINT_MAX);
  assert_fails (open_with (NULL, "large.nii", &volume),
                RADIO_ERROR_PERMISSION, "denies access (status 403)");
  http_peer_script (peer, HTTP_REDIRECT_LOOP, 0, UINT_MAX);
  assert_fails (open_with (NULL, "large.nii", &volume), RADIO_ERROR_IO,
                "large.nii: ");
  http_peer_script (peer, HTTP_REDIRECT, 0, 1);
  volume = must_open ("large.nii.gz");
  http_peer_script (peer, HTTP_REDIRECT, 0, 1);
  assert_plane (volume, 20, &voxels);
  radio_volume_close (volume);
  http_peer_script (peer, HTTP_GZIP_FILE, 0, UINT_MAX);
  volume = must_open ("large.nii.gz");
  assert_plane (volume, 20, &voxels);
  radio_volume_close (volume);
  assert_fails (open_with (NULL, "large.nii", &volume), RADIO_ERROR_IO,
                "the response is compressed");
  http_peer_script (peer, HTTP_CLAIM, 0, UINT_MAX);
  assert_true (open_with (NULL, "large.nii", &volume) != RADIO_OK);
  http_peer_script (peer, HTTP_OK, 0, 0);
  const struct nifti_spec spec = put_forms (true);
  assert_url_is ("c.hdr", &spec);
  assert_ok (rd_io_remove (objects, "c.img"));
  assert_fails (open_with (NULL, "c.hdr", &volume), RADIO_ERROR_NOT_FOUND,
                "its other half is missing");
}

static void
a_query_is_sent_and_in_no_message (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  struct radio_volume *volume;
  struct radio_volume_info info;
  put_large (1, &voxels);
  volume = must_open ("large.nii.gz?sig=s%2Fecret/?x");
  assert_plane (volume, 1, &voxels);
  assert_string_equal (http_peer_path (peer),
                       "/data/large.nii.gz?sig=s%2Fecret/?x");
  radio_volume_get_info (volume, &info);
  assert_null (strchr (info.path, '?'));
  assert_string_equal (info.source_name, "large.nii.gz");
  radio_volume_close (volume);
  static const enum http_fault faults[] = {
    HTTP_FORBIDDEN, HTTP_TEAPOT, HTTP_REDIRECT_LOOP, HTTP_ENCODED,
    HTTP_UNTOLD_RANGE, HTTP_NONSENSE,
  };
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    http_peer_script (peer, faults[i], 0, UINT_MAX);
    assert_true (open_with (NULL, "large.nii?sig=secret", &volume)
                 != RADIO_OK);
    assert_non_null (strstr (radio_error_message (), "/data/large.nii"));
    assert_null (strstr (radio_error_message (), "secret"));
  }
  http_peer_script (peer, HTTP_OK, 0, 0);
  assert_fails (open_with (NULL, "none.nii?sig=secret", &volume),
                RADIO_ERROR_NOT_FOUND, "/none.nii: no such object");
}

static void
names_are_sent_as_they_are_in_the_url (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_volume_info info;
  RD_BUFFER_SCOPE struct rd_buffer file = { 0 };
  spec_image (&spec, &file);
  put ("a b+c.nii", &file);
  struct radio_volume *volume = must_open ("a%20b+c.nii");
  assert_string_equal (http_peer_path (peer), "/data/a%20b+c.nii");
  radio_volume_get_info (volume, &info);
  assert_string_equal (info.source_name, "a b+c.nii");
  radio_volume_close (volume);
}

static void
urls_that_cannot_be_are_errors (void **state)
{
  (void) state;
  static const struct {
    const char *url, *message;
  } bad[] = {
    { "http://", "names no file" },
    { "http://host", "names no file" },
    { "http://host/", "names no file" },
    { "https://host/a/?x", "names no file" },
    { "http://me:secret@host", "names no file" },
    { "http://me:secret@host/a.nii", "must not contain a user" },
    { "http://host/a.nii#x", "must not contain a '#'" },
    { "http://host/a.nii?x y", "percent-encoded" },
    { "http://host/a.nii?x\ny", "percent-encoded" },
    { "s3://bucket", "names no file" },
    { "s3://bucket/", "names no file" },
    { "s3://me:secret@bucket/a.nii", "must not contain a user" },
    { "s3://bu cket/a.nii", "invalid bucket name" },
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    struct radio_volume *volume;
    assert_fails (radio_volume_open_file (NULL, bad[i].url, NULL, &volume),
                  RADIO_ERROR_ARGUMENT, bad[i].message);
    assert_null (strstr (radio_error_message (), "secret"));
  }
}

static bool
cancel (void *user_data)
{
  unsigned *calls = user_data;
  return ++*calls > 3;
}

static void
a_read_ends_while_the_server_is_silent (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  static unsigned char plane[PLANE_NBYTES];
  put_large (1, &voxels);
  for (size_t i = 0; i < NLARGE; i++) {
    struct radio_volume *volume = must_open (large_forms[i]);
    unsigned calls = 0;
    const struct radio_read_options options[] = {
      { .deadline_ms = 50 }, { .cancel = cancel, .user_data = &calls },
    };
    http_peer_script (peer, HTTP_SILENT, 0, UINT_MAX);
    assert_fails (read_plane (volume, 20, plane, &options[0]),
                  RADIO_ERROR_TIMEOUT, "50 ms");
    assert_fails (read_plane (volume, 20, plane, &options[1]),
                  RADIO_ERROR_CANCELLED, "");
    http_peer_script (peer, HTTP_OK, 0, 0);
    assert_plane (volume, 20, &voxels);
    radio_volume_close (volume);
  }
}

static enum radio_status
open_and_read (const char *name, void *to)
{
  struct radio_volume *volume;
  RD_TRY (open_with (NULL, name, &volume));
  enum radio_status status = read_plane (volume, 3, to, NULL);
  radio_volume_close (volume);
  return status;
}

static void
each_failing_allocation_is_an_error (void **state)
{
  (void) state;
  static unsigned char plane[PLANE_NBYTES];
  RD_BUFFER_SCOPE struct rd_buffer voxels = { 0 };
  put_large (1, &voxels);
  /* The last is read as a whole. */
  for (size_t i = 0; i < 3; i++)
    for (size_t nth = 1;; nth += EXHAUSTIVE_STEP) {
      http_peer_script (peer, i == 2 ? HTTP_WHOLE : HTTP_OK, 0, UINT_MAX);
      alloc_fail_nth (nth);
      enum radio_status status = open_and_read (large_forms[i % 2], plane);
      if (!alloc_fail_end ()) {
        assert_ok (status);
        assert_memory_equal (plane, voxels.data + 3 * PLANE_NBYTES,
                             PLANE_NBYTES);
        assert_true (nth > 10);
        break;
      }
      if (status != RADIO_OK)         /* only that a point is not kept */
        assert_int_equal (status, RADIO_ERROR_MEMORY);
    }
  http_peer_script (peer, HTTP_OK, 0, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown (fn, set_up, tear_down)

int
main (void)
{
  const struct CMUnitTest tests[] = {
    CASE (every_form_is_read),
    CASE (a_header_is_one_request_and_so_is_a_plane),
    CASE (planes_in_any_order_are_right_and_a_check_reads_all),
    CASE (a_context_keeps_the_points_of_a_url),
    CASE (threads_read_one_url_at_once),
    CASE (wrong_responses_are_requested_again),
    CASE (an_object_that_is_replaced_is_an_error),
    CASE (without_ranges_a_file_is_read_as_a_whole),
    CASE (a_cut_file_gives_the_planes_that_are_whole),
    CASE (servers_that_deny_redirect_or_encode),
    CASE (a_query_is_sent_and_in_no_message),
    CASE (names_are_sent_as_they_are_in_the_url),
    CASE (urls_that_cannot_be_are_errors),
    CASE (a_read_ends_while_the_server_is_silent),
    CASE (each_failing_allocation_is_an_error),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
