/* SPDX-License-Identifier: MIT */
/* Limits of the machine, which the benchmark's figures are compared with:
 * copying and first touching memory, decoding tiles, inflating a file. */
#include <config.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>
#include <libdeflate.h>

#include "tools/bench/limits.h"
#include "tools/profile/samples.h"
#include "tools/progress.h"

/*------------------------------------------------------------------------
 * Threads that start together
 *----------------------------------------------------------------------*/

struct team {
  pthread_barrier_t barrier;
  rd_part_fn *fn;
  void *data;
};

struct member {
  struct team *team;
  pthread_t thread;
  unsigned i;
  int failed;
  double begin_s, end_s;
};

static void *
run_member (void *data)
{
  struct member *member = data;
  pthread_barrier_wait (&member->team->barrier);
  member->begin_s = rd_clock_s ();
  member->failed = member->team->fn (member->team->data, member->i);
  member->end_s = rd_clock_s ();
  return NULL;
}

/* A member without a thread would leave the others at the barrier forever. */
int
rd_run_together (unsigned n, rd_part_fn *fn, void *data, double *seconds)
{
  struct team team = { .fn = fn, .data = data };
  RD_FREE struct member *members = calloc (n, sizeof *members);
  if (members == NULL || pthread_barrier_init (&team.barrier, NULL, n) != 0)
    return rd_error_memory ();
  for (unsigned i = 0; i < n; i++) {
    members[i].team = &team;
    members[i].i = i;
    int number = i + 1 < n ? pthread_create (&members[i].thread, NULL,
                                             run_member, &members[i]) : 0;
    if (number != 0) {
      rd_error ("cannot start thread %u of %u: %s", i + 1, n,
                strerror (number));
      exit (RD_EXIT_FAILED);
    }
  }
  run_member (&members[n - 1]);
  for (unsigned i = 0; i + 1 < n; i++)
    pthread_join (members[i].thread, NULL);
  pthread_barrier_destroy (&team.barrier);
  double begin = members[0].begin_s, end = members[0].end_s;
  int failed = RD_EXIT_OK;
  for (unsigned i = 0; i < n; i++) {
    if (members[i].begin_s < begin)
      begin = members[i].begin_s;
    if (members[i].end_s > end)
      end = members[i].end_s;
    if (!failed)
      failed = members[i].failed;
  }
  *seconds = end - begin;
  return failed;
}

/*------------------------------------------------------------------------
 * Memory
 *----------------------------------------------------------------------*/

/* Copied by one thread: more than a processor's own caches hold. */
#define COPY_NBYTES ((size_t) 24 << 20)

/* At least and at most so much memory is touched. */
#define TOUCH_LEAST ((uint64_t) 16 << 20)
#define TOUCH_MOST ((uint64_t) 512 << 20)

#define PAGE_NBYTES 4096

/* The best of this number is kept. */
#define NTOUCHES 2

static void
keep_most (double *most, double value)
{
  if (value > *most)
    *most = value;
}

void
rd_copy_past_caches (void *to, const void *from, size_t nbytes)
{
  size_t done = 0;
#ifdef __SSE2__
  unsigned char *target = to;
  const unsigned char *source = from;
  if ((uintptr_t) to % 16 == 0) {
    for (; done + 64 <= nbytes; done += 64)
      for (size_t k = done; k < done + 64; k += 16) {
        __m128i v;
        memcpy (&v, source + k, sizeof v);
        _mm_stream_si128 ((__m128i *) (void *) (target + k), v);
      }
    _mm_sfence ();
  }
#endif
  memcpy ((char *) to + done, (const char *) from + done, nbytes - done);
}

struct copies {
  char *from, *to;            /* COPY_NBYTES for each thread */
};

static int
copy_part (void *data, unsigned i)
{
  const struct copies *copies = data;
  memcpy (copies->to + i * COPY_NBYTES, copies->from + i * COPY_NBYTES,
          COPY_NBYTES);
  return RD_EXIT_OK;
}

static int
measure_copy (struct rd_limits *limits)
{
  size_t nbytes = limits->nthreads * COPY_NBYTES;
  RD_FREE char *from = malloc (nbytes);
  RD_FREE char *to = malloc (nbytes);
  double seconds;
  if (from == NULL || to == NULL)
    return rd_error_memory ();
  memset (from, 1, nbytes);
  memset (to, 2, nbytes);
  struct copies copies = { from, to };
  int failed = rd_run_together (1, copy_part, &copies, &seconds);
  if (!failed)
    keep_most (&limits->copy_one, (double) COPY_NBYTES / seconds);
  if (!failed)
    failed = rd_run_together (limits->nthreads, copy_part, &copies, &seconds);
  if (!failed)
    keep_most (&limits->copy_all, (double) nbytes / seconds);
  return failed;
}

struct touch {
  char *memory;
  size_t nbytes;              /* of one thread's part */
};

static int
touch_part (void *data, unsigned i)
{
  const struct touch *touch = data;
  volatile char *part = touch->memory + i * touch->nbytes;
  for (size_t k = 0; k < touch->nbytes; k += PAGE_NBYTES)
    part[k] = 1;
  return RD_EXIT_OK;
}

/* The time of mapping memory, touching it on n threads and unmapping it. */
static int
measure_touch (uint64_t nbytes, unsigned n, bool huge, double *most)
{
  size_t all = (size_t) nbytes;
  int failed = RD_EXIT_OK;
  for (int i = 0; i < NTOUCHES && !failed; i++) {
    double touching = 0;
    double start = rd_clock_s ();
    char *memory = mmap (NULL, all, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return rd_error_memory ();
#ifdef MADV_HUGEPAGE
    if (huge)
      (void) madvise (memory, all, MADV_HUGEPAGE);
#endif
    double mapped = rd_clock_s ();
    struct touch touch = { memory, all / n };
    failed = rd_run_together (n, touch_part, &touch, &touching);
    double touched = rd_clock_s ();
    munmap (memory, all);
    double seconds = mapped - start + touching + rd_clock_s () - touched;
    if (!failed)
      keep_most (most, (double) nbytes / seconds);
  }
  return failed;
}

int
rd_limits_memory (struct rd_limits *limits, uint64_t nbytes)
{
  unsigned n = limits->nthreads;
  if (nbytes < TOUCH_LEAST)
    nbytes = TOUCH_LEAST;
  if (nbytes > TOUCH_MOST)
    nbytes = TOUCH_MOST;
  int failed = measure_copy (limits);
  if (!failed)
    failed = measure_touch (nbytes, 1, false, &limits->touch_one);
  if (!failed)
    failed = measure_touch (nbytes, n, false, &limits->touch_all);
  if (!failed)
    failed = measure_touch (nbytes, 1, true, &limits->huge_one);
  if (!failed)
    failed = measure_touch (nbytes, n, true, &limits->huge_all);
  return failed;
}

/*------------------------------------------------------------------------
 * Arithmetic
 *----------------------------------------------------------------------*/

/* So many vectors are in work, since a product takes several cycles. */
#define NVECTORS 8
#define NSTEPS 200000

/* Multiplies and adds in registers; the loop is the same at each level. */
#define DEFINE_COMPUTE(name, width, target)                             \
  target static float                                                   \
  name (void)                                                           \
  {                                                                     \
    typedef float vector __attribute__ ((vector_size (4 * (width))));   \
    vector v[NVECTORS], sum = { 0 };                                    \
    for (int k = 0; k < NVECTORS; k++)                                  \
      v[k] = sum + (float) k;                                           \
    for (int i = 0; i < NSTEPS; i++)                                    \
      for (int k = 0; k < NVECTORS; k++) {                              \
        v[k] = v[k] * 0.5f + 1.0f;                                      \
        __asm__ volatile ("" : "+" VECTOR_REGISTER (v[k]));             \
      }                                                                 \
    for (int k = 0; k < NVECTORS; k++)                                  \
      sum += v[k];                                                      \
    return sum[0];                                                      \
  }

#if defined __x86_64__
#define VECTOR_REGISTER "x"
DEFINE_COMPUTE (compute_16, 16, __attribute__ ((target ("avx512f"))))
DEFINE_COMPUTE (compute_8, 8, __attribute__ ((target ("avx2"))))
#elif defined __aarch64__
#define VECTOR_REGISTER "w"
#endif
#ifdef VECTOR_REGISTER
DEFINE_COMPUTE (compute_4, 4, )

struct compute {
  float (*fn) (void);
};

static int
compute_part (void *data, unsigned i)
{
  const struct compute *compute = data;
  (void) i;
  volatile float result = compute->fn ();
  (void) result;
  return RD_EXIT_OK;
}
#endif

int
rd_limits_compute (struct rd_limits *limits)
{
#ifdef VECTOR_REGISTER
  struct compute compute = { .fn = compute_4 };
  double width = 4, seconds;
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx512f")) {
    compute.fn = compute_16;
    width = 16;
  } else if (__builtin_cpu_supports ("avx2")) {
    compute.fn = compute_8;
    width = 8;
  }
#endif
  double flop = 2.0 * NVECTORS * NSTEPS * width;
  int failed = rd_run_together (1, compute_part, &compute, &seconds);
  if (!failed)
    keep_most (&limits->compute_one, flop / seconds);
  if (!failed)
    failed = rd_run_together (limits->nthreads, compute_part, &compute,
                              &seconds);
  if (!failed)
    keep_most (&limits->compute_all, flop * limits->nthreads / seconds);
  return failed;
#else
  (void) limits;
  return RD_EXIT_OK;
#endif
}

/*------------------------------------------------------------------------
 * Decoding: whole tiles, and tiles of which hardly any element is read, so
 * that the cost of an element is known beside the cost of a tile
 *----------------------------------------------------------------------*/

/* A box touches tiles of about this size: large enough that the call
 * costs nothing beside them, small enough for a processor's cache. */
#define BOX_NBYTES ((uint64_t) 256 << 10)
#define NPLACES 64

/* The best of this number is kept, as the limit. */
#define NREPEATS 8

/* One thread that decodes. */
struct reader {
  struct rd_target target;
  void *buffer;
  struct radio_box places[NPLACES];   /* of whole tiles */
  size_t thin;                /* the axis along which one element is asked
                                 for where little is wanted */
  bool whole;                 /* else little is */
  uint64_t decoded_nbytes;    /* of all places: tiles, whole */
  uint64_t buffer_nbytes;
};

/* The number of whole tiles along an axis; 1 for one that exceeds it. */
static uint64_t
tiles_along (const struct radio_array_info *info, size_t axis)
{
  uint64_t n = info->shape[axis] / info->tile_shape[axis];
  return n ? n : 1;
}

/* The slowest axis along which tiles are thick: when one element is read along
 * it, all of a tile is decoded, and little of it is moved. */
static size_t
thin_axis (const struct radio_array_info *info)
{
  size_t axis = 0;
  while (axis + 1 < info->rank && info->tile_shape[axis] == 1)
    axis++;
  return axis;
}

static void
choose_places (const struct radio_array_info *info, uint64_t state,
               struct reader *reader)
{
  uint64_t counts[RADIO_MAX_RANK];
  uint64_t nbytes = info->item_nbytes;
  bool grown = true;
  reader->thin = thin_axis (info);
  for (size_t i = 0; i < info->rank; i++) {
    nbytes *= info->tile_shape[i];
    counts[i] = 1;
  }
  /* The number of tiles along each axis, except the thin one, is doubled in
   * turn, beginning with the fastest axis. */
  while (grown) {
    grown = false;
    for (size_t i = info->rank; i-- > 0 && nbytes < BOX_NBYTES;)
      if (i != reader->thin && 2 * counts[i] <= tiles_along (info, i)) {
        counts[i] *= 2;
        nbytes *= 2;
        grown = true;
      }
  }
  reader->buffer_nbytes = nbytes;
  reader->decoded_nbytes = NPLACES * reader->buffer_nbytes;
  for (size_t k = 0; k < NPLACES; k++) {
    struct radio_box *box = &reader->places[k];
    box->rank = info->rank;
    for (size_t i = 0; i < info->rank; i++) {
      uint64_t tile = info->tile_shape[i];
      uint64_t n = tiles_along (info, i) - counts[i] + 1;
      box->start[i] = tile * rd_random_below (&state, n);
      box->size[i] = tile * counts[i];
      if (box->size[i] > info->shape[i])
        box->size[i] = info->shape[i];
    }
  }
}

static int
read_places (struct reader *reader)
{
  for (size_t i = 0; i < NPLACES; i++) {
    struct radio_box box = reader->places[i];
    if (!reader->whole)
      box.size[reader->thin] = 1;
    if (radio_array_read (reader->target.array, &box, RADIO_STORED,
                          reader->buffer, (size_t) reader->buffer_nbytes,
                          NULL) != RADIO_OK)
      return rd_error_library (reader->target.name);
  }
  return RD_EXIT_OK;
}

/* Opens a reader with a context of one thread, and reads every place once, so
 * that it is in the page cache. */
static int
open_reader (const struct rd_layout *layout, uint64_t state,
             struct reader *reader)
{
  const struct rd_subject *subject = &layout->subject;
  struct rd_args args = subject->args;
  struct radio_volume_info info;
  args.nthreads = 1;
  args.pipeline = NULL;
  int failed = rd_target_open (&args, rd_target_operand (&subject->target),
                               false, &reader->target);
  if (failed)
    return failed;
  radio_volume_get_info (reader->target.volume, &info);
  choose_places (&info.array, state, reader);
  reader->buffer = malloc ((size_t) reader->buffer_nbytes);
  if (reader->buffer == NULL)
    return rd_error_memory ();
  return read_places (reader);
}

static int
read_part (void *data, unsigned i)
{
  struct reader *readers = data;
  return read_places (&readers[i]);
}

/* Keeps the most bytes a second of n threads, of whole tiles and of thin
 * boxes. */
static int
measure_both (struct reader *readers, unsigned n,
              struct rd_decode_rates *rates)
{
  int failed = RD_EXIT_OK;
  for (int i = 0; i < 2 * NREPEATS && !failed; i++) {
    bool whole = i < NREPEATS;
    double seconds = 0;
    for (unsigned k = 0; k < n; k++)
      readers[k].whole = whole;
    failed = rd_run_together (n, read_part, readers, &seconds);
    if (!failed)
      keep_most (whole ? &rates->whole : &rates->thin,
                 n * (double) readers[0].decoded_nbytes / seconds);
  }
  return failed;
}

struct json_object *
rd_limits_json (const struct rd_limits *limits)
{
  struct json_object *rates = json_object_new_object ();
  rd_json_set_double (rates, "copy_one", limits->copy_one);
  rd_json_set_double (rates, "copy_all", limits->copy_all);
  rd_json_set_double (rates, "touch_one", limits->touch_one);
  rd_json_set_double (rates, "touch_all", limits->touch_all);
  rd_json_set_double (rates, "huge_one", limits->huge_one);
  rd_json_set_double (rates, "huge_all", limits->huge_all);
  return rates;
}

double
rd_limits_touch_s (const struct rd_limits *limits, unsigned nthreads,
                   const struct rd_destination *destination, double nbytes)
{
  const double touches[] = {
    limits->touch_one, limits->huge_one, limits->touch_all, limits->huge_all
  };
  double touch = 0;
  for (size_t i = 0; i < (nthreads == 1 ? 2 : 4); i++)
    touch = touches[i] > touch ? touches[i] : touch;
  return touch > 0 && rd_destination_faults (destination, (uint64_t) nbytes)
         ? nbytes / touch : 0;
}

double
rd_limits_decode_s (const struct rd_layout *layout,
                    const struct rd_decode_rates *rates,
                    double decoded_nbytes, double delivered_nbytes)
{
  const struct radio_array_info *info = &layout->subject.info.array;
  uint64_t thick = info->tile_shape[thin_axis (info)];
  double share = thick > 1 ? 1.0 / (double) thick : 0;
  double whole = 1 / rates->whole, thin = 1 / rates->thin;
  double order = whole > thin ? (whole - thin) / (1 - share) : 0;
  return decoded_nbytes * (whole - order) + delivered_nbytes * order;
}

int
rd_limits_decode (uint64_t seed, struct rd_layout *layout)
{
  unsigned n = layout->nthreads;
  RD_FREE struct reader *readers = calloc (n, sizeof *readers);
  int failed = RD_EXIT_OK;
  if (readers == NULL)
    return rd_error_memory ();
  for (unsigned i = 0; i < n && !failed; i++)
    failed = open_reader (layout, seed + i, &readers[i]);
  if (!failed)
    failed = measure_both (readers, 1, &layout->decode_one);
  if (!failed)
    failed = measure_both (readers, n, &layout->decode_all);
  for (unsigned i = 0; i < n; i++) {
    rd_target_close (&readers[i].target);
    free (readers[i].buffer);
  }
  return failed;
}

/*------------------------------------------------------------------------
 * Inflating a .gz file: the limit of ingest.  libdeflate takes whole
 * members, ISA-L streams.
 *----------------------------------------------------------------------*/

/* ISA-L's output buffer, which stays in a processor's cache. */
#define WINDOW_NBYTES (256 << 10)

struct bytes {
  unsigned char *at;          /* allocated */
  size_t n;
};

static void
clear_bytes (struct bytes *bytes)
{
  free (bytes->at);
}

#define CLEAR_BYTES RD_CLEANUP (clear_bytes)

static int
read_file (const char *name, struct bytes *bytes)
{
  FILE *file = fopen (name, "rbe");
  if (file == NULL || fseek (file, 0, SEEK_END) != 0) {
    int failed = rd_error ("%s: %s", name, strerror (errno));
    if (file)
      fclose (file);
    return failed;
  }
  long n = ftell (file);
  rewind (file);
  bytes->n = n > 0 ? (size_t) n : 0;
  bytes->at = malloc (bytes->n + 1);
  int failed = RD_EXIT_OK;
  if (n <= 0)
    failed = rd_error ("%s: the file is empty", name);
  else if (bytes->at == NULL)
    failed = rd_error_memory ();
  else if (fread (bytes->at, 1, bytes->n, file) != bytes->n)
    failed = rd_error ("%s: cannot be read", name);
  fclose (file);
  return failed;
}

/* Both return true if all bytes were inflated. */
static bool
inflate_whole (const struct bytes *in, const struct bytes *out)
{
  struct libdeflate_decompressor *d = libdeflate_alloc_decompressor ();
  size_t from = 0, to = 0;
  bool ok = d != NULL;
  while (ok && from < in->n) {
    size_t taken, given;
    ok = libdeflate_gzip_decompress_ex (d, in->at + from, in->n - from,
                                        out->at + to, out->n - to, &taken,
                                        &given) == LIBDEFLATE_SUCCESS;
    from += ok ? taken : 0;
    to += ok ? given : 0;
  }
  libdeflate_free_decompressor (d);
  return ok && to == out->n;
}

static bool
inflate_stream (const struct bytes *in, const struct bytes *out)
{
  RD_FREE struct inflate_state *state = malloc (sizeof *state);
  uint64_t given = 0;
  if (state == NULL)
    return false;
  isal_inflate_init (state);
  state->crc_flag = ISAL_GZIP;
  state->next_in = in->at;
  state->avail_in = (uint32_t) in->n;
  while (state->block_state != ISAL_BLOCK_FINISH) {
    state->next_out = out->at;
    state->avail_out = WINDOW_NBYTES;
    if (isal_inflate (state) != ISAL_DECOMP_OK
        || state->avail_out == WINDOW_NBYTES)
      break;
    given += WINDOW_NBYTES - state->avail_out;
  }
  return given == out->n;
}

static void
measure_inflate (struct rd_limits *limits, const char *name,
                 bool inflate (const struct bytes *, const struct bytes *),
                 const struct bytes *in, const struct bytes *out)
{
  double start = rd_clock_s ();
  bool ok = inflate (in, out);
  double rate = (double) out->n / (rd_clock_s () - start);
  if (ok && rate > limits->inflate) {
    limits->inflate = rate;
    limits->inflated_by = name;
  }
}

int
rd_limits_inflate (struct rd_limits *limits, const char *file,
                   uint64_t nbytes)
{
  CLEAR_BYTES struct bytes in = { 0 };
  CLEAR_BYTES struct bytes out = { .n = (size_t) nbytes };
  int failed = read_file (file, &in);
  if (failed)
    return failed;
  out.at = malloc (out.n + WINDOW_NBYTES);
  if (out.at == NULL)
    return rd_error_memory ();
  memset (out.at, 1, out.n + WINDOW_NBYTES);
  measure_inflate (limits, "libdeflate", inflate_whole, &in, &out);
  if (in.n <= UINT32_MAX)
    measure_inflate (limits, "ISA-L", inflate_stream, &in, &out);
  return RD_EXIT_OK;
}
