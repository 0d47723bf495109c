/* SPDX-License-Identifier: MIT */
/* read-files FOLDER NROUNDS NAME=IMAGE.nii.gz...: for tools/bench/files.
 * Measures reads of images in their files beside what bounds them: ISA-L, which
 * inflates the same file in memory at once, and memcpy.  All of a round is
 * measured in turn, and ratios are of the same round.  What one thread does is
 * timed by its CPU clock, as if nothing else ran; openings and two threads by
 * the wall's.
 * Prints the table, with a column for each image.  IMAGE.nii is made of each in
 * the folder, in which there are files of points meanwhile. */
#include <config.h>

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <isa-l/igzip_lib.h>

#include "tools/profile/samples.h"
#include "tools/text.h"
#include "tools/tool.h"

#define NTHREADS 2
#define MIB ((uint64_t) 1 << 20)
#define NO_POINTS ((uint64_t) 1 << 60)
#define MAPPED UINT64_MAX             /* in place of a gap: a .nii, mapped */
#define BOX 64

/* Reads of a row in one round, at other places. */
#define NPLACES 5

enum row {
  OPEN_NII, OPEN_IN, BOX_NII, BOX_PREAD, BOX_TWO, BOX_MAPPED, PLANE_NII,
  BARE, FIRST_BARE, FIRST, FIRST_1_MIB, COST, COST_1_MIB, AGAIN_ONE, AGAIN,
  PLANE_GZ, BOX_GZ, BOX_GZ_TIME, INDEX_4_MIB, INDEX_1_MIB, NROWS
};

static const struct {
  const char *name, *aim;
  int ndigits;
} rows[NROWS] = {
  [OPEN_NII] = { ".nii: open, ms", "0.1", 3 },
  [OPEN_IN] = { "the same, in an open context, ms", "0.1", 3 },
  [BOX_NII] = { ".nii: box of 64^3, ms", "0.25", 2 },
  [BOX_PREAD] = { "pread alone of each of its planes, ms", "", 2 },
  [BOX_TWO] = { "the box by 2 threads, ms", "0.25", 2 },
  [BOX_MAPPED] = { "the box, mapped, ms", "0.25", 2 },
  [PLANE_NII] = { ".nii: axial plane, time / memcpy's", "1.3", 2 },
  [BARE] = { "ISA-L alone, MB/s of voxels", "", 0 },
  [FIRST_BARE] = { "first whole read, no points, rate / ISA-L's", "",
                   2 },
  [FIRST] = { "first whole read, rate / ISA-L's", "0.95", 2 },
  [FIRST_1_MIB] = { "the same, points each MiB", "", 2 },
  [COST] = { "what points cost it, %", "3", 1 },
  [COST_1_MIB] = { "the same, points each MiB, %", "", 1 },
  [AGAIN_ONE] = { "further whole read, 1 thread, rate / ISA-L's", "",
                  2 },
  [AGAIN] = { "further whole read, 2 threads, rate / ISA-L's", "1.8",
              2 },
  [PLANE_GZ] = { "axial plane, points each MiB, ms", "4", 2 },
  [BOX_GZ] = { "box of 64^3, share of the whole's time / of its planes",
               "1.06", 2 },
  [BOX_GZ_TIME] = { "the same, / ISA-L's time for these planes",
                    "1.06", 2 },
  [INDEX_4_MIB] = { "file of points each 4 MiB, % of the file", "1",
                    2 },
  [INDEX_1_MIB] = { "file of points each MiB, %", "4", 2 },
};

struct image {
  const char *name, *gz;
  char *plain;                /* the same as .nii; allocated */
  unsigned char *file;        /* the gzip file */
  size_t file_nbytes;
  unsigned char *inflated;    /* by ISA-L */
  size_t inflated_nbytes;
  unsigned char *voxels;      /* read, in memory that was written before */
  size_t voxels_nbytes;
  uint64_t shape[3];          /* z, y, x */
  int fd;                     /* of the .nii */
  double *plane_s;            /* to inflate each plane by ISA-L; allocated */
  double *values[NROWS];      /* of each round */
};

static double
clock_s (clockid_t id)
{
  struct timespec t;
  clock_gettime (id, &t);
  return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Inflates the file at once, as its only member or as all of them. */
static bool
inflate_bare (const struct image *image)
{
  static struct inflate_state state;
  unsigned char *in = image->file, *end = in + image->file_nbytes;
  unsigned char *out = image->inflated, *out_end = out
    + image->inflated_nbytes;
  while (in < end) {
    isal_inflate_init (&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = in;
    state.avail_in = (uint32_t) (end - in);
    state.next_out = out;
    state.avail_out = (uint32_t) (out_end - out);
    if (isal_inflate (&state) != ISAL_DECOMP_OK
        || state.block_state != ISAL_BLOCK_FINISH)
      return false;
    in = state.next_in;
    out = state.next_out;
  }
  return out == out_end;
}

/* Measures how long ISA-L takes for each plane, with what is before the first
 * one; the least of some runs.  Planes of some images differ much. */
static bool
time_planes (const struct image *image)
{
  enum { NRUNS = 3 };
  static struct inflate_state state;
  size_t plane_nbytes = image->voxels_nbytes / image->shape[0];
  for (size_t run = 0; run < NRUNS; run++) {
    const unsigned char *in_end = image->file + image->file_nbytes;
    isal_inflate_init (&state);
    state.crc_flag = ISAL_GZIP;
    state.next_in = image->file;
    state.next_out = image->inflated;
    for (size_t z = 0; z < image->shape[0]; z++) {
      double start = clock_s (CLOCK_THREAD_CPUTIME_ID);
      size_t left = image->voxels_nbytes - (z + 1) * plane_nbytes;
      unsigned char *end = image->inflated + image->inflated_nbytes - left;
      while (state.next_out < end) {
        if (state.block_state == ISAL_BLOCK_FINISH) {
          isal_inflate_reset (&state);
          state.crc_flag = ISAL_GZIP;
        }
        state.avail_in = (uint32_t) (in_end - state.next_in);
        state.avail_out = (uint32_t) (end - state.next_out);
        const unsigned char *before = state.next_out;
        if (isal_inflate (&state) != ISAL_DECOMP_OK
            || (state.next_out == before
                && state.block_state != ISAL_BLOCK_FINISH))
          return false;
      }
      double s = clock_s (CLOCK_THREAD_CPUTIME_ID) - start;
      if (run == 0 || s < image->plane_s[z])
        image->plane_s[z] = s;
    }
  }
  return true;
}

/* Returns the share of all time that a box's planes take by ISA-L. */
static double
share_of_time (const struct image *image, const struct radio_box *box)
{
  double some = 0, all = 0;
  for (uint64_t z = 0; z < image->shape[0]; z++) {
    bool is_in = z >= box->start[0] && z - box->start[0] < box->size[0];
    some += is_in ? image->plane_s[z] : 0;
    all += image->plane_s[z];
  }
  return some / all;
}

/*------------------------------------------------------------------------
 * Reads
 *----------------------------------------------------------------------*/

static int
open_context (unsigned nthreads, struct radio_context **context)
{
  const struct radio_context_options options = { .nthreads = nthreads };
  return radio_context_open (&options, context) == RADIO_OK
         ? RD_EXIT_OK : rd_error_library (NULL);
}

static int
open_file (struct radio_context *context, const char *file,
           uint64_t gap_nbytes, bool keep_index, struct radio_volume **volume)
{
  const struct radio_file_options options = {
    .point_gap_nbytes = gap_nbytes, .keep_index = keep_index,
    .map = gap_nbytes == MAPPED,
  };
  return radio_volume_open_file (context, file, &options, volume) == RADIO_OK
         ? RD_EXIT_OK : rd_error_library (file);
}

/* Sets *s to the seconds of a read. */
static int
read_box (const struct image *image, struct radio_volume *volume,
          const struct radio_box *box, clockid_t clock, double *s)
{
  double start = clock_s (clock);
  enum radio_status status = radio_volume_read (
    volume, box, RADIO_STORED, image->voxels, image->voxels_nbytes, NULL);
  *s = clock_s (clock) - start;
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (image->gz);
}

static struct radio_box
whole_box (const struct image *image)
{
  return radio_box3 (0, image->shape[0], 0, image->shape[1], 0,
                     image->shape[2]);
}

/* The axial plane or, if size is more than 1, the box at a random place. */
static struct radio_box
random_box (const struct image *image, uint64_t size, uint64_t *random)
{
  struct radio_box box = whole_box (image);
  for (size_t i = 0; i < (size > 1 ? 3 : 1); i++) {
    box.size[i] = size < image->shape[i] ? size : image->shape[i];
    box.start[i] = rd_random_below (random,
                                    image->shape[i] - box.size[i] + 1);
  }
  return box;
}

/* Reads the whole file for the first time, by a context of its own. */
static int
read_first (const struct image *image, uint64_t gap_nbytes, bool keep_index,
            double *s)
{
  struct radio_context *context = NULL;
  struct radio_volume *volume = NULL;
  const struct radio_box box = whole_box (image);
  int failed = open_context (1, &context);
  if (!failed)
    failed = open_file (context, image->gz, gap_nbytes, keep_index, &volume);
  if (!failed)
    failed = read_box (image, volume, &box, CLOCK_THREAD_CPUTIME_ID, s);
  radio_volume_close (volume);
  radio_context_close (context);
  return failed;
}

/* Measures the size of the file of points, as a share of the image's. */
static int
measure_index (const struct image *image, uint64_t gap_nbytes, double *percent)
{
  RD_FREE char *name = rd_format ("%s.points", image->gz);
  struct stat st;
  double s;
  int failed = name ? read_first (image, gap_nbytes, true, &s)
                    : RD_EXIT_FAILED;
  if (failed)
    return failed;
  if (stat (name, &st) != 0)
    return rd_error ("%s: there are no points", name);
  *percent = 100. * (double) st.st_size / (double) image->file_nbytes;
  unlink (name);
  return RD_EXIT_OK;
}

/*------------------------------------------------------------------------
 * A round
 *----------------------------------------------------------------------*/

/* Volumes whose points are known. */
struct opened {
  struct radio_context *one, *two;
  struct radio_volume *gz_one, *gz_two, *nii, *mapped, *nii_two;
};

/* Reads what a box spans in each of its planes, by a call each, to the same
 * memory, which stays in a cache; sets *s to the seconds.  No read by pread can
 * be faster. */
static int
pread_box (const struct image *image, const struct radio_box *box,
           unsigned char *to, double *s)
{
  const uint64_t *shape = image->shape;
  size_t item_nbytes = image->voxels_nbytes
                       / (size_t) (shape[0] * shape[1] * shape[2]);
  size_t row_nbytes = (size_t) shape[2] * item_nbytes;
  size_t nbytes = (size_t) (box->size[1] - 1) * row_nbytes
                  + (size_t) box->size[2] * item_nbytes;
  uint64_t at = image->inflated_nbytes - image->voxels_nbytes
                + (box->start[0] * shape[1] + box->start[1]) * row_nbytes
                + box->start[2] * item_nbytes;
  double start = clock_s (CLOCK_THREAD_CPUTIME_ID);
  for (uint64_t z = 0; z < box->size[0]; z++, at += shape[1] * row_nbytes)
    if (pread (image->fd, to, nbytes, (off_t) at) != (ssize_t) nbytes)
      return rd_error ("%s: cannot be read", image->plain);
  *s = clock_s (CLOCK_THREAD_CPUTIME_ID) - start;
  return RD_EXIT_OK;
}

static int
measure_nii (const struct image *image, const struct opened *opened,
             unsigned char *scratch, uint64_t *random, size_t round)
{
  enum { OPEN, IN, BOX_ONE, PREAD, TWO, MAP, PLANE, N };
  static const enum row row_of[N] = {
    OPEN_NII, OPEN_IN, BOX_NII, BOX_PREAD, BOX_TWO, BOX_MAPPED, PLANE_NII
  };
  double s[N][NPLACES];
  for (size_t i = 0; i < NPLACES; i++) {
    double start = 0;
    int failed = RD_EXIT_OK;
    for (size_t k = OPEN; k <= IN && !failed; k++) {
      struct radio_volume *other = NULL;
      start = clock_s (CLOCK_MONOTONIC);
      failed = open_file (k == IN ? opened->two : NULL, image->plain, 0,
                          false, &other);
      s[k][i] = 1e3 * (clock_s (CLOCK_MONOTONIC) - start);
      radio_volume_close (other);
    }
    /* Each at a place of its own, none of which is in a cache. */
    struct radio_box at = random_box (image, BOX, random);
    if (!failed)
      failed = read_box (image, opened->nii, &at, CLOCK_THREAD_CPUTIME_ID,
                         &s[BOX_ONE][i]);
    at = random_box (image, BOX, random);
    if (!failed)
      failed = pread_box (image, &at, scratch, &s[PREAD][i]);
    at = random_box (image, BOX, random);
    if (!failed)
      failed = read_box (image, opened->nii_two, &at, CLOCK_MONOTONIC,
                         &s[TWO][i]);
    at = random_box (image, BOX, random);
    if (!failed)
      failed = read_box (image, opened->mapped, &at, CLOCK_THREAD_CPUTIME_ID,
                         &s[MAP][i]);
    for (size_t k = BOX_ONE; k <= MAP && !failed; k++)
      s[k][i] *= 1e3;
    at = random_box (image, 1, random);
    if (!failed)
      failed = read_box (image, opened->nii, &at, CLOCK_THREAD_CPUTIME_ID,
                         &s[PLANE][i]);
    if (failed)
      return failed;
    size_t nbytes = image->voxels_nbytes / image->shape[0];
    start = clock_s (CLOCK_THREAD_CPUTIME_ID);
    memcpy (image->voxels, image->inflated + at.start[0] * nbytes, nbytes);
    s[PLANE][i] /= clock_s (CLOCK_THREAD_CPUTIME_ID) - start;
  }
  for (size_t k = 0; k < N; k++) {
    struct rd_summary summary;
    rd_summarize (s[k], NPLACES, &summary);
    image->values[row_of[k]][round] = summary.median;
  }
  return RD_EXIT_OK;
}

/* Planes and boxes by two threads, beside the whole. */
static int
measure_parts (const struct image *image, struct radio_volume *volume,
               double whole_s, uint64_t *random, size_t round)
{
  double planes[NPLACES], boxes[NPLACES], times[NPLACES];
  struct rd_summary plane, box, time;
  for (size_t i = 0; i < NPLACES; i++) {
    const struct radio_box at = random_box (image, 1, random);
    const struct radio_box part = random_box (image, BOX, random);
    int failed = read_box (image, volume, &at, CLOCK_MONOTONIC, &planes[i]);
    if (!failed)
      failed = read_box (image, volume, &part, CLOCK_MONOTONIC, &boxes[i]);
    if (failed)
      return failed;
    planes[i] *= 1e3;
    boxes[i] /= whole_s;
    times[i] = boxes[i] / share_of_time (image, &part);
    boxes[i] *= (double) image->shape[0] / (double) part.size[0];
  }
  rd_summarize (planes, NPLACES, &plane);
  rd_summarize (boxes, NPLACES, &box);
  rd_summarize (times, NPLACES, &time);
  image->values[PLANE_GZ][round] = plane.median;
  image->values[BOX_GZ][round] = box.median;
  image->values[BOX_GZ_TIME][round] = time.median;
  return RD_EXIT_OK;
}

static int
measure_round (const struct image *image, const struct opened *opened,
               unsigned char *scratch, uint64_t *random, size_t round)
{
  double *const *values = image->values;
  const struct radio_box box = whole_box (image);
  double none = 0, some = 0, many = 0, one = 0, two = 0;
  double start = clock_s (CLOCK_THREAD_CPUTIME_ID);
  double start_wall = clock_s (CLOCK_MONOTONIC);
  if (!inflate_bare (image))
    return rd_error ("%s: cannot be inflated at once", image->gz);
  double bare = clock_s (CLOCK_THREAD_CPUTIME_ID) - start;
  double bare_wall = clock_s (CLOCK_MONOTONIC) - start_wall;
  int failed = read_first (image, NO_POINTS, false, &none);
  if (!failed)
    failed = read_first (image, 0, false, &some);
  if (!failed)
    failed = read_first (image, MIB, false, &many);
  if (!failed)
    failed = read_box (image, opened->gz_one, &box, CLOCK_THREAD_CPUTIME_ID,
                       &one);
  if (!failed)
    failed = read_box (image, opened->gz_two, &box, CLOCK_MONOTONIC, &two);
  if (failed)
    return failed;
  values[BARE][round] = (double) image->inflated_nbytes / bare / 1e6;
  values[FIRST_BARE][round] = bare / none;
  values[FIRST][round] = bare / some;
  values[FIRST_1_MIB][round] = bare / many;
  values[COST][round] = 100 * (some / none - 1);
  values[COST_1_MIB][round] = 100 * (many / none - 1);
  values[AGAIN_ONE][round] = bare / one;
  values[AGAIN][round] = bare_wall / two;
  failed = measure_parts (image, opened->gz_two, two, random, round);
  if (!failed)
    failed = measure_index (image, 4 * MIB, &values[INDEX_4_MIB][round]);
  if (!failed)
    failed = measure_index (image, MIB, &values[INDEX_1_MIB][round]);
  return failed ? failed
                : measure_nii (image, opened, scratch, random, round);
}

/* Opens the volumes, and reads all once; the voxels must be ISA-L's. */
static int
open_volumes (const struct image *image, struct opened *opened)
{
  const struct radio_box box = whole_box (image);
  const struct {
    struct radio_volume **volume;
    struct radio_context **context;
    const char *file;
    uint64_t gap_nbytes;
  } all[] = {
    { &opened->gz_one, &opened->one, image->gz, MIB },
    { &opened->gz_two, &opened->two, image->gz, MIB },
    { &opened->nii, &opened->one, image->plain, MIB },
    { &opened->mapped, &opened->one, image->plain, MAPPED },
    { &opened->nii_two, &opened->two, image->plain, MIB },
  };
  double s;
  int failed = open_context (1, &opened->one);
  if (!failed)
    failed = open_context (NTHREADS, &opened->two);
  for (size_t i = 0; i < sizeof all / sizeof *all && !failed; i++) {
    failed = open_file (*all[i].context, all[i].file, all[i].gap_nbytes, false,
                        all[i].volume);
    if (!failed)
      failed = read_box (image, *all[i].volume, &box, CLOCK_MONOTONIC, &s);
    if (!failed
        && memcmp (image->voxels, image->inflated + image->inflated_nbytes
                                  - image->voxels_nbytes,
                   image->voxels_nbytes) != 0)
      failed = rd_error ("%s: the voxels are wrong", image->gz);
  }
  return failed;
}

static void
close_volumes (struct opened *opened)
{
  radio_volume_close (opened->gz_one);
  radio_volume_close (opened->gz_two);
  radio_volume_close (opened->nii);
  radio_volume_close (opened->mapped);
  radio_volume_close (opened->nii_two);
  radio_context_close (opened->one);
  radio_context_close (opened->two);
}

static int
measure_image (const struct image *image, size_t nrounds)
{
  struct opened opened = { 0 };
  uint64_t random = 1;
  size_t most_nbytes = image->voxels_nbytes / image->shape[0];
  RD_FREE unsigned char *scratch = malloc (most_nbytes);
  if (!scratch)
    return rd_error_memory ();
  memset (scratch, 1, most_nbytes);
  if (!time_planes (image))
    return rd_error ("%s: cannot be inflated at once", image->gz);
  int failed = open_volumes (image, &opened);
  for (size_t i = 0; i < nrounds && !failed; i++)
    failed = measure_round (image, &opened, scratch, &random, i);
  close_volumes (&opened);
  return failed;
}

/*------------------------------------------------------------------------
 * Images
 *----------------------------------------------------------------------*/

static int
read_file (struct image *image)
{
  struct stat st;
  FILE *file = fopen (image->gz, "rb");
  if (!file || fstat (fileno (file), &st) != 0)
    return rd_error ("%s: cannot be read", image->gz);
  image->file_nbytes = (size_t) st.st_size;
  image->file = malloc (image->file_nbytes);
  bool ok = image->file && image->file_nbytes <= UINT32_MAX
            && fread (image->file, 1, image->file_nbytes, file)
               == image->file_nbytes;
  fclose (file);
  return ok ? RD_EXIT_OK : rd_error ("%s: cannot be read", image->gz);
}

/* Reads and inflates a file, and writes IMAGE.nii into the folder. */
static int
prepare_image (struct image *image, const char *folder, size_t nrounds)
{
  struct radio_volume *volume = NULL;
  struct radio_volume_info info;
  int failed = open_file (NULL, image->gz, 0, false, &volume);
  if (failed)
    return failed;
  radio_volume_get_info (volume, &info);
  radio_volume_close (volume);
  if (info.array.rank != 3 || info.source_nbytes > UINT32_MAX)
    return rd_error ("%s: not three axes, or too large", image->gz);
  memcpy (image->shape, info.array.shape, sizeof image->shape);
  image->inflated_nbytes = (size_t) info.source_nbytes;
  image->voxels_nbytes = (size_t) (image->shape[0] * image->shape[1]
                                   * image->shape[2])
                         * radio_dtype_nbytes (info.array.dtype);
  image->inflated = malloc (image->inflated_nbytes);
  image->voxels = malloc (image->voxels_nbytes);
  image->plane_s = calloc (image->shape[0], sizeof *image->plane_s);
  image->plain = rd_format ("%s/%s.nii", folder, image->name);
  for (size_t i = 0; i < NROWS; i++) {
    image->values[i] = calloc (nrounds, sizeof (double));
    if (!image->values[i])
      return rd_error_memory ();
  }
  if (!image->inflated || !image->voxels || !image->plain || !image->plane_s)
    return rd_error_memory ();
  memset (image->voxels, 1, image->voxels_nbytes);
  failed = read_file (image);
  if (failed)
    return failed;
  if (!inflate_bare (image))
    return rd_error ("%s: cannot be inflated at once", image->gz);
  FILE *file = fopen (image->plain, "wb");
  bool ok = file && fwrite (image->inflated, 1, image->inflated_nbytes, file)
                    == image->inflated_nbytes;
  if (file)
    ok = fclose (file) == 0 && ok;
  image->fd = ok ? open (image->plain, O_RDONLY | O_CLOEXEC) : -1;
  return image->fd >= 0 ? RD_EXIT_OK
                        : rd_error ("%s: cannot be written", image->plain);
}

static void
clear_image (struct image *image)
{
  for (size_t i = 0; i < NROWS; i++)
    free (image->values[i]);
  if (image->plain)
    unlink (image->plain);
  if (image->fd > 0)
    close (image->fd);
  free (image->plane_s);
  free (image->plain);
  free (image->file);
  free (image->inflated);
  free (image->voxels);
}

static void
print_table (const struct image *images, size_t n, size_t nrounds)
{
  printf ("| | aim |");
  for (size_t i = 0; i < n; i++)
    printf (" %s, %" PRIu64 " x %" PRIu64 " x %" PRIu64 ", %.0f MB in %.1f |",
            images[i].name, images[i].shape[2], images[i].shape[1],
            images[i].shape[0], (double) images[i].voxels_nbytes / 1e6,
            (double) images[i].file_nbytes / 1e6);
  printf ("\n|---|---:|");
  for (size_t i = 0; i < n; i++)
    printf ("---:|");
  printf ("\n");
  for (size_t row = 0; row < NROWS; row++) {
    printf ("| %s | %s |", rows[row].name, rows[row].aim);
    for (size_t i = 0; i < n; i++) {
      struct rd_summary summary;
      rd_summarize (images[i].values[row], nrounds, &summary);
      printf (" %.*f (%.*f-%.*f) |", rows[row].ndigits, summary.median,
              rows[row].ndigits, summary.low, rows[row].ndigits,
              summary.high);
    }
    printf ("\n");
  }
}

int
main (int argc, char **argv)
{
  rd_set_program ("read-files");
  size_t nrounds = argc < 4 ? 0 : strtoul (argv[2], NULL, 10);
  if (nrounds < 1) {
    rd_error ("usage: read-files FOLDER NROUNDS NAME=IMAGE.nii.gz...");
    return RD_EXIT_USAGE;
  }
  size_t n = (size_t) argc - 3;
  RD_FREE struct image *images = calloc (n, sizeof *images);
  int failed = images ? RD_EXIT_OK : rd_error_memory ();
  for (size_t i = 0; i < n && !failed; i++) {
    char *equals = strchr (argv[i + 3], '=');
    if (!equals)
      return rd_error ("%s: write NAME=IMAGE.nii.gz", argv[i + 3]);
    *equals = '\0';
    images[i].name = argv[i + 3];
    images[i].gz = equals + 1;
    failed = prepare_image (&images[i], argv[1], nrounds);
    if (!failed)
      failed = measure_image (&images[i], nrounds);
  }
  if (!failed)
    print_table (images, n, nrounds);
  for (size_t i = 0; images && i < n; i++)
    clear_image (&images[i]);
  return rd_close_stdout (failed);
}
