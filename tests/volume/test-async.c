/* SPDX-License-Identifier: MIT */
/* Asynchronous reads of a volume give the same elements as reads that wait:
 * as stored, converted, scaled and with strides, also over HTTP. */
#include <config.h>

#include "tests/io/http-peer.h"
#include "tests/volume/fixture.h"

/* A box of a volume, read twice. */
struct sample {
  enum radio_dtype dtype;
  bool scaled, has_strides;
};

static void
read_twice (struct radio_volume *volume, const struct sample *sample)
{
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  struct radio_box box = { .rank = info.array.rank };
  int64_t strides[RADIO_MAX_RANK], stride = 8;
  for (size_t i = 0; i < box.rank; i++) {
    box.start[i] = info.array.shape[i] / 3;
    box.size[i] = info.array.shape[i] - box.start[i];
    strides[i] = stride;              /* as Fortran has it */
    stride *= (int64_t) box.size[i];
  }
  size_t nbytes = (size_t) stride;
  unsigned char *waited = calloc (1, nbytes), *got = calloc (1, nbytes);
  assert_non_null (waited);
  assert_non_null (got);
  const struct radio_read_options options = {
    .scaled = sample->scaled,
    .strides = sample->has_strides ? strides : NULL,
  };
  const struct radio_request request = { box, got, nbytes, options.strides };
  struct radio_read *read;
  assert_ok (radio_volume_read (volume, &box, sample->dtype, waited, nbytes,
                                &options));
  assert_ok (radio_volume_read_async (volume, &request, 1, sample->dtype,
                                      &options, NULL, NULL, &read));
  assert_ok (radio_read_wait (read));
  assert_ok (radio_read_wait (read));
  radio_read_close (read);
  assert_memory_equal (got, waited, nbytes);
  free (waited);
  free (got);
}

static const struct sample samples[] = {
  { RADIO_STORED, false, false },
  { RADIO_FLOAT64, false, false },
  { RADIO_FLOAT32, true, false },
  { RADIO_FLOAT64, true, true },
};

static void
reads_of_a_volume_are_those_that_wait (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = must_open_store ("memory:");
  must_ingest (store, "ct/a", &spec, NULL);
  struct http_peer *peer = http_peer_start (store->io);
  struct radio_store *stores[] = { store, NULL };
  assert_ok (radio_store_open (http_peer_url (peer), NULL, &stores[1]));
  for (size_t i = 0; i < 2; i++) {
    struct radio_volume *volume;
    assert_ok (radio_volume_open (stores[i], "ct/a", &volume));
    for (size_t j = 0; j < sizeof samples / sizeof samples[0]; j++)
      read_twice (volume, &samples[j]);
    radio_volume_close (volume);
  }
  radio_store_close (stores[1]);
  http_peer_stop (peer);
  radio_store_close (store);
}

/* A failure is the read's result, with the message of the thread that waits;
 * scaled elements are floats. */
static void
failures_are_those_of_a_read_that_waits (void **state)
{
  (void) state;
  struct nifti_spec spec = small_spec ();
  struct radio_store *store = must_open_store ("memory:");
  struct radio_volume *volume;
  struct radio_read *read = NULL;
  unsigned char got[64];
  must_ingest (store, "ct/a", &spec, NULL);
  assert_ok (radio_volume_open (store, "ct/a", &volume));
  struct radio_volume_info info;
  radio_volume_get_info (volume, &info);
  struct radio_request request = { .buffer = got, .nbytes = sizeof got };
  request.box.rank = info.array.rank;
  for (size_t i = 0; i < request.box.rank; i++)
    request.box.size[i] = 1;
  const struct radio_read_options scaled = { .scaled = true };
  assert_fails (radio_volume_read_async (volume, &request, 1, RADIO_INT16,
                                         &scaled, NULL, NULL, &read),
                RADIO_ERROR_ARGUMENT, "scaled");
  request.box.start[0] = info.array.shape[0];
  assert_fails (radio_volume_read_async (volume, &request, 1, RADIO_STORED,
                                         NULL, NULL, NULL, &read),
                RADIO_ERROR_ARGUMENT, "on axis 0");
  assert_null (read);
  radio_volume_close (volume);
  radio_store_close (store);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (reads_of_a_volume_are_those_that_wait),
    cmocka_unit_test (failures_are_those_of_a_read_that_waits),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
