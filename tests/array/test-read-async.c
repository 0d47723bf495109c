/* SPDX-License-Identifier: MIT */
/* Reads that no thread waits for: one thread keeps many in flight, each
 * completes once, with the right elements or the right error, whatever the
 * store and the number of threads; they can be waited for and cancelled. */
#include <config.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/array/context.h"
#include "tests/array/model.h"
#include "tests/io/http-peer.h"
#include "tests/io/wrap.h"

enum { NREADS = 64 };

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
enum { MAX_NBYTES = 24 * 30 * 28 * 4 };

/* One read, and what its callback saw. */
struct job {
  struct radio_read *read;
  struct radio_box box;
  unsigned char *buffer;
  atomic_int ndone;
  enum radio_status status;
  char message[256];
};

static void
on_done (enum radio_status status, void *user_data)
{
  struct job *job = user_data;
  job->status = status;
  snprintf (job->message, sizeof job->message, "%s",
            status == RADIO_OK ? "" : radio_error_message ());
  job->ndone++;
}

static struct job *
make_jobs (struct model *model)
{
  struct job *jobs = calloc (NREADS, sizeof *jobs);
  assert_non_null (jobs);
  for (int i = 0; i < NREADS; i++) {
    jobs[i].box = model_box (model);
    jobs[i].buffer = malloc (MAX_NBYTES);
    assert_non_null (jobs[i].buffer);
  }
  return jobs;
}

static void
free_jobs (struct job *jobs)
{
  for (int i = 0; i < NREADS; i++)
    free (jobs[i].buffer);
  free (jobs);
}

static enum radio_status
start (struct radio_array *array, struct job *job,
       const struct radio_read_options *read_options)
{
  const struct radio_request request = {
    .box = job->box, .buffer = job->buffer, .nbytes = MAX_NBYTES,
  };
  return radio_array_read_async (array, &request, 1, RADIO_STORED,
                                 read_options, on_done, job, &job->read);
}

/* Every job was done once; those that are not cancelled have the elements. */
static unsigned
finish (struct model *model, struct job *jobs)
{
  unsigned ncancelled = 0;
  for (int i = 0; i < NREADS; i++) {
    struct job *job = &jobs[i];
    enum radio_status status = radio_read_wait (job->read);
    assert_int_equal (job->ndone, 1);
    assert_int_equal (job->status, status);
    if (status == RADIO_ERROR_CANCELLED) {
      assert_non_null (strstr (job->message, "the read was cancelled"));
      ncancelled++;
    } else {
      assert_ok (status);
      model_compare_c_order (model, &job->box, job->buffer);
    }
    radio_read_close (job->read);
  }
  return ncancelled;
}

static void
many_reads_complete (bool deferred, unsigned nthreads)
{
  struct model model;
  model_open_as (&model, 5 + nthreads, nthreads, deferred, &options);
  model_write (&model);
  for (int round = 0; round < 3; round++) {
    struct job *jobs = make_jobs (&model);
    for (int i = 0; i < NREADS; i++)
      assert_ok (start (model.array, &jobs[i], NULL));
    assert_int_equal (finish (&model, jobs), 0);
    free_jobs (jobs);
  }
  model_close (&model);
}

static void
reads_of_a_store_that_blocks_complete (void **state)
{
  (void) state;
  many_reads_complete (false, 4);
  many_reads_complete (false, 1);
}

static void
reads_of_a_store_that_does_not_block_complete (void **state)
{
  (void) state;
  many_reads_complete (true, 4);
  many_reads_complete (true, 1);
}

/* A store that keeps reads until as many have arrived as are wanted. */
struct gate {
  struct rd_wrap wrap;
  pthread_mutex_t mutex;
  unsigned wanted, n;
  struct rd_io_get *waiting[NREADS];
};

static void
gate_get (struct rd_io *io, struct rd_io_get *gets, size_t n)
{
  struct gate *gate = (struct gate *) io;
  struct rd_io *inner = gate->wrap.inner;
  for (size_t i = 0; i < n; i++) {
    struct rd_io_get *ready[NREADS + 1] = { &gets[i] };
    unsigned nready = 1;
    pthread_mutex_lock (&gate->mutex);
    if (gate->n < gate->wanted) {
      gate->waiting[gate->n++] = &gets[i];
      nready = gate->n < gate->wanted ? 0 : gate->n;
      memcpy (ready, gate->waiting, nready * sizeof *ready);
    }
    pthread_mutex_unlock (&gate->mutex);
    for (unsigned j = 0; j < nready; j++)
      inner->ops->get (inner, ready[j], 1);
  }
}

static void
gate_close (struct rd_io *io)
{
  struct gate *gate = (struct gate *) io;
  pthread_mutex_destroy (&gate->mutex);
  rd_wrap_finish (&gate->wrap);
  rd_free (gate);
}

static struct gate *
open_gate (struct rd_io *inner)
{
  struct gate *gate = rd_calloc (1, sizeof *gate);
  assert_non_null (gate);
  assert_ok (rd_wrap_init (&gate->wrap, "gate", inner));
  gate->wrap.ops.is_blocking = false;
  gate->wrap.ops.get = gate_get;
  gate->wrap.ops.close = gate_close;
  pthread_mutex_init (&gate->mutex, NULL);
  return gate;
}

/* A read that held its thread would never let the others arrive. */
static void
one_thread_keeps_64_reads_in_flight (void **state)
{
  (void) state;
  struct rd_io *memory;
  struct radio_store *store;
  struct radio_array *array;
  struct radio_context *context;
  const struct radio_context_options how = { .nthreads = 2 };
  uint8_t elements[100], got[NREADS][100];
  struct radio_read *reads[NREADS];
  const struct radio_box whole = { 1, { 0 }, { 100 } };
  const struct radio_array_options plain = {
    .rank = 1, .shape = { 100 }, .chunk_shape = { 100 },
    .data_type = "uint8",
  };
  for (int i = 0; i < 100; i++)
    elements[i] = (uint8_t) (i * 7 + 1);
  assert_ok (radio_context_open (&how, &context));
  const struct radio_store_options create = { .context = context,
                                              .create = true };
  assert_ok (rd_io_open ("memory:", true, &memory));
  struct gate *gate = open_gate (memory);
  assert_ok (rd_store_open_io (&gate->wrap.base, &create, &store));
  assert_ok (radio_array_create (store, "a", &plain, &array));
  assert_ok (radio_array_write (array, &whole, elements, sizeof elements));
  gate->wanted = NREADS;
  for (int i = 0; i < NREADS; i++) {
    const struct radio_request request = { whole, got[i], 100, NULL };
    assert_ok (radio_array_read_async (array, &request, 1, RADIO_STORED,
                                       NULL, NULL, NULL, &reads[i]));
  }
  for (int i = 0; i < NREADS; i++) {
    assert_ok (radio_read_wait (reads[i]));
    assert_memory_equal (got[i], elements, 100);
    radio_read_close (reads[i]);
  }
  assert_int_equal (gate->n, NREADS);
  radio_array_close (array);
  radio_store_close (store);
  radio_context_close (context);
}

/* Returns the number of reads that wait at the gate, and lets these pass. */
static unsigned
let_pass (struct gate *gate)
{
  struct rd_io_get *ready[NREADS];
  pthread_mutex_lock (&gate->mutex);
  unsigned n = gate->n;
  memcpy (ready, gate->waiting, n * sizeof *ready);
  gate->n = 0;
  pthread_mutex_unlock (&gate->mutex);
  for (unsigned i = 0; i < n; i++)
    gate->wrap.inner->ops->get (gate->wrap.inner, ready[i], 1);
  return n;
}

/* Reads that wait end by their deadlines, the earliest first, while no other
 * one moves; of those without one, or a late one, none ends. */
static void
a_deadline_ends_the_wait_for_memory (struct radio_array *array,
                                     unsigned char *got, uint64_t nbytes)
{
  const uint64_t deadlines_ms[] = { 60000, 60, 20, 0 };
  const struct radio_request request = {
    { 1, { 0 }, { nbytes } }, got, nbytes, NULL,
  };
  struct job jobs[4] = { 0 };
  for (int i = 0; i < 4; i++) {
    const struct radio_read_options late = { .deadline_ms = deadlines_ms[i] };
    assert_ok (radio_array_read_async (array, &request, 1, RADIO_STORED,
                                       &late, on_done, &jobs[i],
                                       &jobs[i].read));
  }
  assert_fails (radio_read_wait (jobs[2].read), RADIO_ERROR_TIMEOUT,
                "a: the read is not done after 20 ms");
  assert_fails (radio_read_wait (jobs[1].read), RADIO_ERROR_TIMEOUT,
                "a: the read is not done after 60 ms");
  for (int i = 0; i < 4; i += 3) {
    assert_false (radio_read_is_done (jobs[i].read));
    radio_read_cancel (jobs[i].read);
    assert_fails (radio_read_wait (jobs[i].read), RADIO_ERROR_CANCELLED,
                  "the read was cancelled");
  }
  for (int i = 0; i < 4; i++) {
    assert_int_equal (jobs[i].ndone, 1);
    radio_read_close (jobs[i].read);
  }
}

/* The limit bounds how many of 64 reads are in flight. */
static void
reads_in_flight_stay_within_the_memory_limit (void **state)
{
  (void) state;
  enum { NBYTES = 256 << 10, LIMIT = 4 << 20 };
  struct rd_io *memory;
  struct radio_store *store;
  struct radio_array *array;
  struct radio_context *context;
  const struct radio_context_options how = {
    .nthreads = 2, .memory_limit_nbytes = LIMIT,
  };
  struct radio_read *reads[NREADS];
  const struct radio_box whole = { 1, { 0 }, { NBYTES } };
  const struct radio_array_options plain = {
    .rank = 1, .shape = { NBYTES }, .chunk_shape = { NBYTES },
    .data_type = "uint8", .codecs_json = "[{\"name\": \"bytes\"}]",
  };
  unsigned char *elements = malloc (NBYTES);
  unsigned char *got = malloc ((size_t) NREADS * NBYTES);
  assert_non_null (elements);
  assert_non_null (got);
  memset (elements, 5, NBYTES);
  assert_ok (radio_context_open (&how, &context));
  const struct radio_store_options create = { .context = context,
                                              .create = true };
  assert_ok (rd_io_open ("memory:", true, &memory));
  struct gate *gate = open_gate (memory);
  assert_ok (rd_store_open_io (&gate->wrap.base, &create, &store));
  assert_ok (radio_array_create (store, "a", &plain, &array));
  assert_ok (radio_array_write (array, &whole, elements, NBYTES));
  gate->wanted = NREADS + 1;          /* it never opens by itself */
  for (int i = 0; i < NREADS; i++) {
    const struct radio_request request = {
      whole, got + (size_t) i * NBYTES, NBYTES, NULL,
    };
    assert_ok (radio_array_read_async (array, &request, 1, RADIO_STORED,
                                       NULL, NULL, NULL, &reads[i]));
  }
  /* The last one waits for memory, and ends before any other does. */
  radio_read_cancel (reads[NREADS - 1]);
  assert_fails (radio_read_wait (reads[NREADS - 1]), RADIO_ERROR_CANCELLED,
                "the read was cancelled");
  radio_read_close (reads[NREADS - 1]);
  a_deadline_ends_the_wait_for_memory (array, got, NBYTES);
  /* Time for as many as there may be; more would be seen then. */
  usleep (20000);
  for (int i = 0; i < NREADS - 1; i++) {
    while (!radio_read_is_done (reads[i])) {
      assert_true ((uint64_t) let_pass (gate) * NBYTES <= LIMIT / 2);
      usleep (100);
    }
    assert_ok (radio_read_wait (reads[i]));
    radio_read_close (reads[i]);
  }
  for (size_t i = 0; i < NREADS - 1; i++)
    assert_memory_equal (got + i * NBYTES, elements, NBYTES);
  radio_array_close (array);
  radio_store_close (store);
  radio_context_close (context);
  free (elements);
  free (got);
}

/* Another thread cancels every second read while they run. */
struct canceller {
  pthread_t thread;
  struct job *jobs;
};

static void *
cancel_every_second (void *argument)
{
  struct canceller *canceller = argument;
  for (int i = 0; i < NREADS; i += 2)
    radio_read_cancel (canceller->jobs[i].read);
  return NULL;
}

static void
reads_are_cancelled_while_they_run (void **state)
{
  (void) state;
  for (int deferred = 0; deferred < 2; deferred++) {
    struct model model;
    model_open_as (&model, 9, 3, deferred, &options);
    model_write (&model);
    for (int round = 0; round < 3; round++) {
      struct canceller canceller = { .jobs = make_jobs (&model) };
      for (int i = 0; i < NREADS; i++)
        assert_ok (start (model.array, &canceller.jobs[i], NULL));
      assert_int_equal (pthread_create (&canceller.thread, NULL,
                                        cancel_every_second, &canceller), 0);
      pthread_join (canceller.thread, NULL);
      assert_true (finish (&model, canceller.jobs) <= NREADS / 2);
      free_jobs (canceller.jobs);
    }
    model_close (&model);
  }
}

/* Over HTTP: all requests are silent, so that all reads are in flight when
 * they are cancelled. */
static void
sixty_four_reads_of_a_silent_server_are_cancelled (void **state)
{
  (void) state;
  struct model model;
  struct radio_store *store;
  struct radio_array *array;
  model_open_as (&model, 3, 3, false, &options);
  model_write (&model);
  struct http_peer *peer = http_peer_start (model.store->io);
  assert_ok (radio_store_open (http_peer_url (peer), NULL, &store));
  assert_ok (radio_array_open (store, "some/array", &array));
  struct job *jobs = make_jobs (&model);
  http_peer_script (peer, HTTP_SILENT, 0, NREADS);
  for (int i = 0; i < NREADS; i++) {
    memcpy (jobs[i].box.size, model.info.shape, sizeof jobs[i].box.size);
    memset (jobs[i].box.start, 0, sizeof jobs[i].box.start);
    assert_ok (start (array, &jobs[i], NULL));
  }
  for (int i = 0; i < NREADS; i++)
    radio_read_cancel (jobs[i].read);
  assert_int_equal (finish (&model, jobs), NREADS);
  free_jobs (jobs);

  http_peer_script (peer, HTTP_OK, 0, 1000);
  jobs = make_jobs (&model);
  for (int i = 0; i < NREADS; i++)
    assert_ok (start (array, &jobs[i], NULL));
  assert_int_equal (finish (&model, jobs), 0);
  free_jobs (jobs);
  radio_array_close (array);
  radio_store_close (store);
  http_peer_stop (peer);
  model_close (&model);
}

static void
a_deadline_ends_a_read_of_a_silent_server (void **state)
{
  (void) state;
  struct model model;
  struct radio_store *store;
  struct radio_array *array;
  struct job job = { .buffer = malloc (MAX_NBYTES) };
  const struct radio_read_options hurried = { .deadline_ms = 30 };
  assert_non_null (job.buffer);
  model_open_as (&model, 4, 2, false, &options);
  model_write (&model);
  struct http_peer *peer = http_peer_start (model.store->io);
  assert_ok (radio_store_open (http_peer_url (peer), NULL, &store));
  assert_ok (radio_array_open (store, "some/array", &array));
  job.box = radio_box3 (0, 24, 0, 30, 0, 28);
  http_peer_script (peer, HTTP_SILENT, 0, 1000);
  assert_ok (start (array, &job, &hurried));
  assert_fails (radio_read_wait (job.read), RADIO_ERROR_TIMEOUT,
                "some/array: the read is not done after 30 ms");
  assert_int_equal (job.status, RADIO_ERROR_TIMEOUT);
  radio_read_close (job.read);
  radio_array_close (array);
  radio_store_close (store);
  http_peer_stop (peer);
  model_close (&model);
  free (job.buffer);
}

/* Waits at most as long as the test may take. */
static void
wait_for_requests (struct http_peer *peer, unsigned n)
{
  while (http_peer_requests (peer) < n)
    usleep (500);
}

/* A peer that has objects of NREADS chunks, and a store of it that is opened
 * again, with one thread. */
struct remote {
  struct radio_store *local, *store;
  struct radio_array *array;
  struct http_peer *peer;
};

static void
open_remote (struct remote *remote)
{
  static const struct radio_array_options chunks = {
    .rank = 1, .shape = { NREADS * 100 }, .chunk_shape = { 100 },
    .data_type = "uint8", .codecs_json = "[{\"name\": \"bytes\"}]",
  };
  const struct radio_box whole = { 1, { 0 }, { NREADS * 100 } };
  const struct radio_context_options how = { .nthreads = 1 };
  const struct radio_store_options create = { .create = true };
  unsigned char elements[NREADS * 100];
  struct rd_io *memory;
  struct radio_array *written;
  for (size_t i = 0; i < sizeof elements; i++)
    elements[i] = (unsigned char) (i % 251 + 1);
  assert_ok (rd_io_open ("memory:", true, &memory));
  assert_ok (rd_store_open_io (memory, &create, &remote->local));
  assert_ok (radio_array_create (remote->local, "a", &chunks, &written));
  assert_ok (radio_array_write (written, &whole, elements, sizeof elements));
  radio_array_close (written);
  remote->peer = http_peer_start (memory);
  struct radio_context *context;
  assert_ok (radio_context_open (&how, &context));
  const struct radio_store_options in = { .context = context };
  assert_ok (radio_store_open (http_peer_url (remote->peer), &in,
                               &remote->store));
  radio_context_close (context);
  assert_ok (radio_array_open (remote->store, "a", &remote->array));
}

static void
close_remote (struct remote *remote)
{
  radio_array_close (remote->array);
  radio_store_close (remote->store);
  http_peer_stop (remote->peer);
  radio_store_close (remote->local);
}

/* Starts to read chunk i. */
static void
start_chunk (struct remote *remote, struct job *job, int i,
             const struct radio_read_options *read_options)
{
  job->box = (struct radio_box) { 1, { 100 * (uint64_t) i }, { 100 } };
  assert_ok (start (remote->array, job, read_options));
}

static void
assert_chunk (const struct job *job)
{
  for (size_t i = 0; i < 100; i++)
    assert_int_equal (job->buffer[i], (job->box.start[0] + i) % 251 + 1);
}

static struct job *
make_chunk_jobs (size_t n)
{
  struct job *jobs = calloc (n, sizeof *jobs);
  assert_non_null (jobs);
  for (size_t i = 0; i < n; i++) {
    jobs[i].buffer = calloc (1, MAX_NBYTES);
    assert_non_null (jobs[i].buffer);
  }
  return jobs;
}

static void
end_chunk (struct job *job, enum radio_status expected, const char *message)
{
  if (expected == RADIO_OK) {
    assert_ok (radio_read_wait (job->read));
    assert_chunk (job);
  } else {
    assert_fails (radio_read_wait (job->read), expected, message);
  }
  assert_int_equal (job->ndone, 1);
  assert_int_equal (job->status, expected);
  radio_read_close (job->read);
  free (job->buffer);
}

/* The server responds to none of them before it has all. */
static void
sixty_four_requests_are_in_flight_over_http (void **state)
{
  (void) state;
  struct remote remote;
  open_remote (&remote);
  unsigned before = http_peer_requests (remote.peer);
  struct job *jobs = make_chunk_jobs (NREADS);
  http_peer_script (remote.peer, HTTP_HELD, 0, NREADS);
  for (int i = 0; i < NREADS; i++)
    start_chunk (&remote, &jobs[i], i, NULL);
  wait_for_requests (remote.peer, before + NREADS);
  for (int i = 0; i < NREADS; i++)
    assert_int_equal (jobs[i].ndone, 0);
  assert_true (http_peer_open_connections (remote.peer) >= NREADS);
  http_peer_release (remote.peer, 1);
  for (int i = 0; i < NREADS; i++)
    end_chunk (&jobs[i], RADIO_OK, NULL);
  assert_int_equal (http_peer_requests (remote.peer), before + NREADS);
  free (jobs);
  close_remote (&remote);
}

/* All connections are taken: the 65th read waits for one, and the 66th. */
static void
a_read_that_waits_for_a_connection_ends_early (void **state)
{
  (void) state;
  const struct radio_read_options hurried = { .deadline_ms = 30 };
  struct remote remote;
  open_remote (&remote);
  unsigned before = http_peer_requests (remote.peer);
  struct job *jobs = make_chunk_jobs (NREADS + 2);
  http_peer_script (remote.peer, HTTP_HELD, 0, NREADS);
  for (int i = 0; i < NREADS; i++)
    start_chunk (&remote, &jobs[i], i, NULL);
  wait_for_requests (remote.peer, before + NREADS);
  start_chunk (&remote, &jobs[NREADS], 0, &hurried);
  start_chunk (&remote, &jobs[NREADS + 1], 1, NULL);
  end_chunk (&jobs[NREADS], RADIO_ERROR_TIMEOUT,
             "/a: the read is not done after 30 ms");
  radio_read_cancel (jobs[NREADS + 1].read);
  end_chunk (&jobs[NREADS + 1], RADIO_ERROR_CANCELLED,
             "/a: the read was cancelled");
  for (int i = 0; i < NREADS; i++)
    assert_false (radio_read_is_done (jobs[i].read));
  assert_int_equal (http_peer_requests (remote.peer), before + NREADS);
  http_peer_release (remote.peer, 1);
  for (int i = 0; i < NREADS; i++)
    end_chunk (&jobs[i], RADIO_OK, NULL);
  free (jobs);
  close_remote (&remote);
}

/* Each ends by its own: cancelled, at its deadline, or with its elements. */
static void
reads_in_flight_end_in_three_ways (void **state)
{
  (void) state;
  const struct radio_read_options hurried = { .deadline_ms = 30 };
  struct remote remote;
  open_remote (&remote);
  unsigned before = http_peer_requests (remote.peer);
  struct job *jobs = make_chunk_jobs (NREADS);
  http_peer_script (remote.peer, HTTP_HELD, 0, NREADS);
  for (int i = 0; i < NREADS; i++)
    start_chunk (&remote, &jobs[i], i, i % 3 == 1 ? &hurried : NULL);
  wait_for_requests (remote.peer, before + NREADS / 2);
  for (int i = 0; i < NREADS; i += 3)
    radio_read_cancel (jobs[i].read);
  for (int i = 0; i < NREADS; i++)
    if (i % 3 == 0)
      end_chunk (&jobs[i], RADIO_ERROR_CANCELLED, "the read was cancelled");
    else if (i % 3 == 1)
      end_chunk (&jobs[i], RADIO_ERROR_TIMEOUT, "is not done after 30 ms");
  http_peer_release (remote.peer, 1);
  for (int i = 2; i < NREADS; i += 3)
    end_chunk (&jobs[i], RADIO_OK, NULL);
  free (jobs);
  close_remote (&remote);
}

/* Once done was called everything may go but the handle of the read. */
static void
all_is_closed_when_done_was_called (void **state)
{
  (void) state;
  for (int round = 0; round < 20; round++) {
    struct remote remote;
    open_remote (&remote);
    struct job *jobs = make_chunk_jobs (NREADS);
    for (int i = 0; i < NREADS; i++)
      start_chunk (&remote, &jobs[i], i, NULL);
    for (int i = 0; i < NREADS; i++)
      while (jobs[i].ndone == 0)
        sched_yield ();
    close_remote (&remote);
    for (int i = 0; i < NREADS; i++)
      end_chunk (&jobs[i], RADIO_OK, NULL);
    free (jobs);
  }
}

/* Nothing ends the read in a child: it can only be left. */
static void
a_forked_child_does_not_wait_for_its_parents_read (void **state)
{
  (void) state;
  struct remote remote;
  open_remote (&remote);
  struct job *job = make_chunk_jobs (1);
  http_peer_script (remote.peer, HTTP_HELD, 0, 1);
  start_chunk (&remote, job, 0, NULL);
  pid_t child = fork ();
  assert_true (child >= 0);
  if (child == 0) {
    alarm (20);
    bool is_left = radio_read_is_done (job->read);
    radio_read_cancel (job->read);
    is_left &= radio_read_wait (job->read) == RADIO_ERROR_FORKED
      && strstr (radio_error_message (), "before fork");
    radio_read_close (job->read);
    _exit (!is_left);
  }
  int how;
  assert_int_equal (waitpid (child, &how, 0), child);
  assert_int_equal (how, 0);
  http_peer_release (remote.peer, 1);
  end_chunk (job, RADIO_OK, NULL);
  free (job);
  close_remote (&remote);
}

static bool
never (void *user_data)
{
  (void) user_data;
  return false;
}

static void
what_can_never_be_read_is_refused_at_once (void **state)
{
  (void) state;
  struct model model;
  struct job job = { .buffer = malloc (MAX_NBYTES) };
  const struct radio_read_options asking = { .cancel = never };
  assert_non_null (job.buffer);
  model_open_as (&model, 6, 2, true, &options);
  job.box = radio_box3 (0, 25, 0, 1, 0, 1);
  assert_fails (start (model.array, &job, NULL), RADIO_ERROR_ARGUMENT,
                "on axis 0");
  job.box = radio_box3 (0, 1, 0, 1, 0, 1);
  assert_fails (start (model.array, &job, &asking), RADIO_ERROR_ARGUMENT,
                "radio_read_cancel");
  assert_null (job.read);
  assert_int_equal (job.ndone, 0);
  radio_read_close (NULL);
  radio_read_cancel (NULL);
  assert_true (radio_read_is_done (NULL));
  assert_fails (radio_read_wait (NULL), RADIO_ERROR_ARGUMENT,
                "radio_read_wait: read is NULL");
  model_close (&model);
  free (job.buffer);
}

/* The handle is not needed. */
static void
a_read_goes_on_when_its_handle_is_closed (void **state)
{
  (void) state;
  struct model model;
  model_open_as (&model, 7, 2, true, &options);
  model_write (&model);
  struct job *jobs = make_jobs (&model);
  for (int i = 0; i < NREADS; i++) {
    assert_ok (start (model.array, &jobs[i], NULL));
    radio_read_close (jobs[i].read);
  }
  for (int i = 0; i < NREADS; i++) {
    while (jobs[i].ndone == 0)
      sched_yield ();
    assert_int_equal (jobs[i].status, RADIO_OK);
    model_compare_c_order (&model, &jobs[i].box, jobs[i].buffer);
  }
  free_jobs (jobs);
  model_close (&model);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (reads_of_a_store_that_blocks_complete),
    cmocka_unit_test (reads_of_a_store_that_does_not_block_complete),
    cmocka_unit_test (one_thread_keeps_64_reads_in_flight),
    cmocka_unit_test (reads_in_flight_stay_within_the_memory_limit),
    cmocka_unit_test (reads_are_cancelled_while_they_run),
    cmocka_unit_test (sixty_four_reads_of_a_silent_server_are_cancelled),
    cmocka_unit_test (a_deadline_ends_a_read_of_a_silent_server),
    cmocka_unit_test (sixty_four_requests_are_in_flight_over_http),
    cmocka_unit_test (a_read_that_waits_for_a_connection_ends_early),
    cmocka_unit_test (reads_in_flight_end_in_three_ways),
    cmocka_unit_test (all_is_closed_when_done_was_called),
    cmocka_unit_test (a_forked_child_does_not_wait_for_its_parents_read),
    cmocka_unit_test (what_can_never_be_read_is_refused_at_once),
    cmocka_unit_test (a_read_goes_on_when_its_handle_is_closed),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
