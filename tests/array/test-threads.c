/* SPDX-License-Identifier: MIT */
/* One handle in many threads, and in a forked child. */
#include <config.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/array/model.h"
#include "tests/element/random.h"

#define NTHREADS 5

static const struct radio_array_options options = {
  .rank = 3, .shape = { 24, 30, 28 }, .chunk_shape = { 8, 32, 32 },
  .data_type = "int32",
  .codecs_json = "[{\"name\":\"sharding_indexed\",\"configuration\":{"
    "\"chunk_shape\":[4,8,8],\"codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}},{\"name\":\"zstd\","
    "\"configuration\":{\"level\":1,\"checksum\":false}},"
    "{\"name\":\"crc32c\"}],\"index_codecs\":[{\"name\":\"bytes\","
    "\"configuration\":{\"endian\":\"little\"}}]}}]",
};

/* A thread has a model of its own: the seed differs, the rest is shared. */
struct reader {
  struct model model;
  pthread_t thread;
  unsigned nwrong;
};

static void *
read_often (void *argument)
{
  struct reader *reader = argument;
  struct model *model = &reader->model;
  int32_t *buffer = malloc (24 * 30 * 28 * 4);
  for (unsigned i = 0; i < 25 && buffer; i++) {
    struct radio_box box = model_box (model);
    reader->nwrong += radio_array_read (model->array, &box, RADIO_STORED,
                                        buffer, 24 * 30 * 28 * 4,
                                        NULL) != RADIO_OK;
    uint64_t n = radio_box_count (&box), at[RADIO_MAX_RANK];
    for (uint64_t j = 0; j < n; j++) {
      at[2] = box.start[2] + j % box.size[2];
      at[1] = box.start[1] + j / box.size[2] % box.size[1];
      at[0] = box.start[0] + j / box.size[2] / box.size[1];
      reader->nwrong += memcmp (&buffer[j], model_element (model, at), 4)
        != 0;
    }
  }
  reader->nwrong += buffer == NULL;
  free (buffer);
  return NULL;
}

static void
many_threads_read (bool deferred)
{
  struct model model;
  struct reader *readers = calloc (NTHREADS, sizeof *readers);
  assert_non_null (readers);
  model_open_as (&model, 11, 3, deferred, &options);
  model_write (&model);
  for (size_t i = 0; i < NTHREADS; i++) {
    readers[i].model = model;
    readers[i].model.seed += i;
    assert_int_equal (pthread_create (&readers[i].thread, NULL, read_often,
                                      &readers[i]), 0);
  }
  for (size_t i = 0; i < NTHREADS; i++) {
    pthread_join (readers[i].thread, NULL);
    assert_int_equal (readers[i].nwrong, 0);
  }
  free (readers);
  model_close (&model);
}

static void
many_threads_read_by_one_handle (void **state)
{
  (void) state;
  many_threads_read (false);
}

static void
many_threads_read_a_store_that_does_not_block (void **state)
{
  (void) state;
  many_threads_read (true);
}

struct writer {
  struct model *model;
  pthread_t thread;
  uint64_t slab;
  unsigned nwrong;
};

/* Write one slab again and again, and read it back each time. */
static void *
write_often (void *argument)
{
  struct writer *writer = argument;
  const size_t n = 8 * 30 * 28;
  const struct radio_box box = { 3, { 8 * writer->slab, 0, 0 },
                                 { 8, 30, 28 } };
  int32_t *out = malloc (n * 4), *in = malloc (n * 4);
  for (int32_t i = 0; i < 10 && out && in; i++) {
    for (size_t j = 0; j < n; j++)
      out[j] = (int32_t) j * (i + 1) + (int32_t) writer->slab;
    writer->nwrong += radio_array_write (writer->model->array, &box, out,
                                         n * 4) != RADIO_OK;
    writer->nwrong += radio_array_read (writer->model->array, &box,
                                        RADIO_STORED, in, n * 4,
                                        NULL) != RADIO_OK;
    writer->nwrong += memcmp (in, out, n * 4) != 0;
  }
  writer->nwrong += !in || !out;
  free (in);
  free (out);
  return NULL;
}

static void
different_chunks_are_written_at_once (void **state)
{
  struct model model;
  struct writer writers[3];
  (void) state;
  model_open_as (&model, 12, 2, false, &options);
  for (uint64_t i = 0; i < 3; i++) {
    writers[i] = (struct writer) { .model = &model, .slab = i };
    assert_int_equal (pthread_create (&writers[i].thread, NULL, write_often,
                                      &writers[i]), 0);
  }
  for (size_t i = 0; i < 3; i++) {
    pthread_join (writers[i].thread, NULL);
    assert_int_equal (writers[i].nwrong, 0);
  }
  model_close (&model);
}

/* ThreadSanitizer lets a forked child start no threads. */
#ifdef __SANITIZE_THREAD__
#define CHILD_NTHREADS 1
#else
#define CHILD_NTHREADS 3
#endif

/* Returns the exit status of a forked child. */
static int
use_in_child (struct model *model)
{
  const struct radio_box box = { 3, { 0, 0, 0 }, { 8, 30, 28 } };
  static int32_t room[8 * 30 * 28];
  struct radio_array *array;
  struct radio_check check;
  if (radio_array_read (model->array, &box, RADIO_STORED, room, sizeof room,
                        NULL) != RADIO_ERROR_FORKED)
    return 1;
  if (radio_array_write (model->array, &box, room, sizeof room)
      != RADIO_ERROR_FORKED)
    return 2;
  if (radio_array_check (model->array, &check, NULL, NULL)
      != RADIO_ERROR_FORKED)
    return 3;
  if (radio_array_open (model->store, "some/array", &array)
      != RADIO_ERROR_FORKED)
    return 4;
  if (radio_array_create (model->store, "x", &options, &array)
      != RADIO_ERROR_FORKED)
    return 5;
  radio_array_close (model->array);
  radio_store_close (model->store);
  radio_context_close (model->context);
  /* Handles that the child opens work. */
  const struct radio_context_options threads = { .nthreads = CHILD_NTHREADS };
  struct radio_store_options own = { .create = true };
  struct radio_store *store;
  if (radio_context_open (&threads, &own.context) != RADIO_OK
      || radio_store_open ("memory:", &own, &store) != RADIO_OK)
    return 6;
  if (radio_array_create (store, "x", &options, &array) != RADIO_OK)
    return 7;
  if (radio_array_write (array, &box, room, sizeof room) != RADIO_OK)
    return 8;
  radio_array_close (array);
  radio_store_close (store);
  radio_context_close (own.context);
  return 0;
}

static void
a_forked_child_gets_an_error_and_may_open_its_own (void **state)
{
  struct model model;
  (void) state;
  model_open_as (&model, 13, 3, false, &options);
  model_write (&model);
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0) {
    alarm (30);
    _exit (use_in_child (&model));
  }
  int status;
  assert_int_equal (waitpid (child, &status, 0), child);
  assert_true (WIFEXITED (status));
  assert_int_equal (WEXITSTATUS (status), 0);
  const struct radio_box whole = { 3, { 0, 0, 0 }, { 24, 30, 28 } };
  model_compare (&model, &whole);
  model_close (&model);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (many_threads_read_by_one_handle),
    cmocka_unit_test (many_threads_read_a_store_that_does_not_block),
    cmocka_unit_test (different_chunks_are_written_at_once),
    cmocka_unit_test (a_forked_child_gets_an_error_and_may_open_its_own),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
