/* SPDX-License-Identifier: MIT */
/* The synthetic head: ellipsoids painted one over the other, row by row.
 *
 * Lengths are whole micrometres.  For each ellipsoid and axis the distance
 * from its centre is measured in 1/4096 of its radius, so that a point lies
 * inside when the three squares add up to less than 2^24.  Edges are blended
 * over about a voxel of a real scanner, as its optics would do. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/counters.h"
#include "src/array/context.h"
#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/structs.h"
#include "src/volume/ingest/phantom.h"
#include "src/volume/ingest/ingest.h"

/* The field that the voxels divide, micrometres: z, y, x. */
static const int64_t field_um[3] = { 192000, 256000, 256000 };

/* Voxels along one axis that are possible. */
#define MAX_SIZE 65535

#define UNIT ((int64_t) 4096)         /* a radius, in fixed point */
#define EDGE_UM 700                   /* half the width of a blended edge */
#define AIR (-1000)

struct ellipsoid {
  int16_t centre[3];                  /* x, y, z from the middle, 0.1 mm */
  int16_t radius[3];                  /* 0.1 mm */
  int16_t value;                      /* Hounsfield units */
  int8_t mirrored;                    /* also at -x */
};

/* x rises to the right, y to the front, z to the top.  Later ones cover
 * earlier ones. */
static const struct ellipsoid head[] = {
  /* The head-rest: a shell filled with foam. */
  { { 0, -1160, 0 }, { 1200, 90, 3000 }, -150, 0 },
  { { 0, -1160, 0 }, { 1170, 70, 2980 }, -900, 0 },
  /* Neck, scalp, nose, ears. */
  { { 0, -250, -960 }, { 560, 620, 600 }, 45, 0 },
  { { 0, 0, 0 }, { 780, 980, 900 }, 30, 0 },
  { { 0, 980, -420 }, { 110, 160, 180 }, 25, 0 },
  { { 790, -80, -300 }, { 60, 120, 180 }, 10, 1 },
  /* Skull: outer table, diploe, inner table. */
  { { 0, 0, 40 }, { 720, 920, 830 }, 1500, 0 },
  { { 0, 0, 40 }, { 695, 895, 805 }, 800, 0 },
  { { 0, 0, 40 }, { 675, 875, 785 }, 1350, 0 },
  /* Fluid, in it the brain: cortex, the fissure, white matter. */
  { { 0, 0, 40 }, { 660, 860, 770 }, 8, 0 },
  { { 0, 0, 50 }, { 630, 825, 735 }, 38, 0 },
  { { 0, 0, 420 }, { 25, 700, 350 }, 10, 0 },
  { { 300, 0, 90 }, { 240, 680, 560 }, 28, 1 },
  /* Cerebellum, brain stem. */
  { { 0, -480, -380 }, { 480, 320, 260 }, 36, 0 },
  { { 0, -200, -520 }, { 140, 140, 420 }, 31, 0 },
  /* Basal ganglia, thalami. */
  { { 220, 120, 60 }, { 90, 200, 130 }, 41, 1 },
  { { 110, -110, 40 }, { 80, 130, 90 }, 40, 1 },
  /* Ventricles: front and back of the lateral ones, third, fourth. */
  { { 90, 170, 150 }, { 60, 190, 100 }, 7, 1 },
  { { 150, -160, 140 }, { 80, 200, 110 }, 7, 1 },
  { { 0, -20, 20 }, { 30, 150, 90 }, 7, 0 },
  { { 0, -330, -360 }, { 80, 50, 90 }, 7, 0 },
  /* Calcified plexus and pineal gland; falx. */
  { { 150, -240, 110 }, { 25, 35, 30 }, 190, 1 },
  { { 0, -180, 30 }, { 25, 25, 25 }, 160, 0 },
  { { 0, 0, 420 }, { 12, 640, 330 }, 60, 0 },
  /* Orbits: bone, fat, muscle, eye, lens. */
  { { 320, 590, -280 }, { 200, 245, 190 }, 700, 1 },
  { { 320, 600, -280 }, { 175, 235, 165 }, -90, 1 },
  { { 300, 450, -280 }, { 50, 120, 50 }, 50, 1 },
  { { 320, 710, -280 }, { 122, 122, 122 }, 14, 1 },
  { { 320, 805, -280 }, { 45, 20, 45 }, 85, 1 },
  /* Sinuses with their walls: frontal, maxillary, sphenoid. */
  { { 100, 850, -20 }, { 85, 45, 85 }, -980, 1 },
  { { 270, 490, -540 }, { 155, 175, 165 }, 550, 1 },
  { { 270, 490, -540 }, { 135, 155, 145 }, -980, 1 },
  { { 0, 300, -360 }, { 140, 140, 105 }, 600, 0 },
  { { 0, 300, -360 }, { 120, 120, 88 }, -980, 0 },
  /* Nose: cavity, septum. */
  { { 0, 680, -440 }, { 90, 210, 170 }, -950, 0 },
  { { 0, 680, -440 }, { 13, 200, 165 }, 200, 0 },
  /* Temporal bone: mastoid cells, ear canal. */
  { { 570, -270, -420 }, { 135, 190, 180 }, 1000, 1 },
  { { 580, -310, -430 }, { 85, 120, 120 }, -350, 1 },
  { { 680, -50, -320 }, { 130, 36, 36 }, -950, 1 },
  /* Jaw, mouth, throat; a vertebra and its canal. */
  { { 0, 520, -860 }, { 450, 400, 130 }, 1150, 0 },
  { { 0, 470, -860 }, { 370, 370, 150 }, 50, 0 },
  { { 0, 560, -800 }, { 200, 220, 70 }, -970, 0 },
  { { 0, 130, -800 }, { 110, 80, 300 }, -980, 0 },
  { { 0, -220, -880 }, { 170, 140, 150 }, 750, 0 },
  { { 0, -390, -880 }, { 85, 70, 300 }, 22, 0 },
};

#define NSHAPES (sizeof head / sizeof head[0])
#define NPAINTED_MAX (2 * NSHAPES)

/* An ellipsoid as it is painted, mirror images on their own. */
struct painted {
  int64_t centre_um[3];               /* x, y, z */
  int64_t radius_um[3];
  int64_t edge;                       /* of the sum of squares: blended */
  int value;
  const int64_t *x_squares;           /* of each voxel's distance in x */
};

struct rd_phantom {
  uint64_t shape[3];                  /* z, y, x */
  uint64_t seed;
  size_t npainted;
  struct painted painted[NPAINTED_MAX];
  int64_t *squares;                   /* npainted rows of shape[2] */
};

/* The middle of voxel i of n, from the middle of the field. */
static int64_t
place_um (uint64_t i, uint64_t n, int64_t size_um)
{
  return ((int64_t) (2 * i + 1) * size_um / (int64_t) n - size_um) / 2;
}

/* The square of a distance along an axis, 1 << 24 at the radius. */
static int64_t
distance_square (const struct painted *painted, int axis, int64_t at_um)
{
  int64_t d = (at_um - painted->centre_um[axis]) * UNIT
              / painted->radius_um[axis];
  return d * d;
}

static void
add_painted (struct rd_phantom *phantom, const struct ellipsoid *shape,
             int side)
{
  struct painted *p = &phantom->painted[phantom->npainted++];
  int64_t smallest = INT64_MAX;
  for (int i = 0; i < 3; i++) {
    p->centre_um[i] = shape->centre[i] * (i == 0 ? side : 1) * 100;
    p->radius_um[i] = shape->radius[i] * 100;
    if (p->radius_um[i] < smallest)
      smallest = p->radius_um[i];
  }
  /* At the surface a step of d across changes the sum by 2 d / radius.  A
   * thin sheet's rim would be blurred away by its thickness. */
  if (smallest < 8 * EDGE_UM)
    smallest = 8 * EDGE_UM;
  p->edge = 2 * UNIT * UNIT * EDGE_UM / smallest;
  p->value = shape->value;
}

enum radio_status
rd_phantom_open (const uint64_t shape[3], uint64_t seed,
                 struct rd_phantom **result)
{
  for (int i = 0; i < 3; i++)
    if (shape[i] < 1 || shape[i] > MAX_SIZE)
      return rd_fail (RADIO_ERROR_ARGUMENT,
                      "a phantom has 1 to %d voxels along %c, not %llu",
                      MAX_SIZE, "zyx"[i],
                      (unsigned long long) shape[i]);
  RD_CLEANUP (rd_cleanup_phantom) struct rd_phantom *phantom
    = rd_calloc (1, sizeof *phantom);
  if (phantom == NULL)
    return rd_fail_memory (sizeof *phantom);
  memcpy (phantom->shape, shape, sizeof phantom->shape);
  phantom->seed = seed;
  for (size_t i = 0; i < NSHAPES; i++) {
    add_painted (phantom, &head[i], 1);
    if (head[i].mirrored)
      add_painted (phantom, &head[i], -1);
  }
  size_t nbytes = phantom->npainted * shape[2] * sizeof (int64_t);
  phantom->squares = rd_malloc (nbytes);
  if (phantom->squares == NULL)
    return rd_fail_memory (nbytes);
  for (size_t i = 0; i < phantom->npainted; i++) {
    int64_t *row = phantom->squares + i * shape[2];
    struct painted *p = &phantom->painted[i];
    for (uint64_t x = 0; x < shape[2]; x++)
      row[x] = distance_square (p, 0, place_um (x, shape[2], field_um[2]));
    p->x_squares = row;
  }
  *result = RD_STEAL (phantom);
  return RADIO_OK;
}

void
rd_phantom_close (struct rd_phantom *phantom)
{
  if (phantom == NULL)
    return;
  rd_free (phantom->squares);
  rd_free (phantom);
}

/* splitmix64's finisher. */
static inline uint64_t
mix (uint64_t h)
{
  h = (h ^ h >> 30) * UINT64_C (0xbf58476d1ce4e5b9);
  h = (h ^ h >> 27) * UINT64_C (0x94d049bb133111eb);
  return h ^ h >> 31;
}

void
rd_phantom_row (const struct rd_phantom *phantom, uint64_t z, uint64_t y,
                int16_t *row)
{
  uint64_t nx = phantom->shape[2];
  int64_t z_um = place_um (z, phantom->shape[0], field_um[0]);
  int64_t y_um = place_um (y, phantom->shape[1], field_um[1]);
  for (uint64_t x = 0; x < nx; x++)
    row[x] = AIR;
  for (size_t i = 0; i < phantom->npainted; i++) {
    const struct painted *p = &phantom->painted[i];
    /* The sum up to the surface less the squares of y and z. */
    int64_t left = UNIT * UNIT - distance_square (p, 1, y_um)
                   - distance_square (p, 2, z_um);
    for (uint64_t x = 0; x < nx && left > -p->edge; x++) {
      int64_t depth = left - p->x_squares[x];
      if (depth >= p->edge)
        row[x] = (int16_t) p->value;
      else if (depth > -p->edge) {
        int64_t share = 128 + depth * 128 / p->edge;
        row[x] = (int16_t) (row[x] + (p->value - row[x]) * share / 256);
      }
    }
  }

  /* Noise: the sum of a hash's eight bytes is close to a normal distribution
   * around 1020 with a deviation of 209.  Deviations: 5 HU in air, 11 in soft
   * tissue, 44 in bone, which is not smooth either. */
  const uint64_t even = UINT64_C (0x00ff00ff00ff00ff);
  uint64_t row_hash
    = mix (phantom->seed + mix (z * phantom->shape[1] + y + 1));
  for (uint64_t x = 0; x < nx; x++) {
    uint64_t h = mix (row_hash + x * UINT64_C (0x9e3779b97f4a7c15));
    uint64_t pairs = (h & even) + (h >> 8 & even);
    int noise = (int) (pairs * UINT64_C (0x0001000100010001) >> 48) - 1020;
    int value = row[x];
    int scale = value > 300 ? 4 : 1;
    value += value < -900 ? noise / 40 : noise * scale / 19;
    row[x] = (int16_t) (value < -1024 ? -1024 : value > 3071 ? 3071 : value);
  }
}

/* Rows per task: enough to be worth scheduling it. */
#define ROWS_PER_TASK 32

struct phantom_source {
  struct rd_source source;            /* first: what ingest sees */
  struct rd_phantom *phantom;
  struct rd_pool *pool;
  uint64_t ny;
  uint64_t row_nbytes;
  uint64_t done_nbytes, total_nbytes;
};

/* One read: rows that overlap a run of bytes. */
struct making {
  struct rd_job job;                  /* first: what tasks get */
  const struct phantom_source *from;
  unsigned char *data;
  uint64_t start, end;                /* of the bytes, in the whole */
};

/* Make some rows, and copy the requested parts of them. */
static enum radio_status
make_rows (struct rd_job *job, uint64_t task, struct rd_scratch *scratch)
{
  const struct making *making = (const struct making *) job;
  const struct phantom_source *from = making->from;
  uint64_t nbytes = from->row_nbytes;
  uint64_t row = making->start / nbytes + task * ROWS_PER_TASK;
  uint64_t last = (making->end - 1) / nbytes;
  RD_TRY (rd_buffer_reserve (&scratch->tile, nbytes));
  for (int i = 0; i < ROWS_PER_TASK && row <= last; i++, row++) {
    int16_t *voxels = (int16_t *) scratch->tile.data;
    rd_phantom_row (from->phantom, row / from->ny, row % from->ny, voxels);
    if (from->source.image.nifti.swapped)
      for (uint64_t x = 0; x < nbytes / sizeof *voxels; x++)
        voxels[x] = (int16_t) __builtin_bswap16 ((uint16_t) voxels[x]);
    uint64_t row_start = row * nbytes;
    uint64_t start = rd_max_u64 (row_start, making->start);
    uint64_t end = rd_min_u64 (row_start + nbytes, making->end);
    memcpy (making->data + (start - making->start),
            scratch->tile.data + (start - row_start), end - start);
  }
  return RADIO_OK;
}

static const struct radio_site rows_site = {
  "make phantom", RD_IN_OPERATION, "read_phantom", __FILE__, __LINE__,
  RADIO_SCOPE_WORK
};

static enum radio_status
read_phantom (struct rd_source *source, void *data, size_t nbytes)
{
  struct phantom_source *from = (struct phantom_source *) source;
  if (nbytes > from->total_nbytes - from->done_nbytes)
    return rd_fail (RADIO_ERROR_FORMAT, "the phantom has fewer voxels");
  if (nbytes == 0)
    return RADIO_OK;
  struct making making = {
    .from = from, .data = data, .start = from->done_nbytes,
    .end = from->done_nbytes + nbytes,
  };
  uint64_t nrows = (making.end - 1) / from->row_nbytes
                   - making.start / from->row_nbytes + 1;
  making.job.run = make_rows;
  making.job.site = &rows_site;
  making.job.n = rd_div_up (nrows, ROWS_PER_TASK);
  RD_TRY (rd_pool_run (from->pool, &making.job));
  from->done_nbytes = making.end;
  return RADIO_OK;
}

static enum radio_status
finish_phantom (struct rd_source *source, uint64_t *trailing_nbytes)
{
  (void) source;
  *trailing_nbytes = 0;
  return RADIO_OK;
}

static void
report_progress (const struct rd_source *source,
                 struct radio_progress *progress)
{
  const struct phantom_source *from = (const struct phantom_source *) source;
  progress->done_nbytes = from->done_nbytes;
  progress->total_nbytes = from->total_nbytes;
}

static void
free_source (struct phantom_source *from)
{
  rd_phantom_close (from->phantom);
  rd_buffer_free (&from->source.image.prefix);
}

static enum radio_status
ingest_phantom (struct radio_store *store, const char *path,
                const struct radio_phantom_options *options)
{
  static const uint64_t default_shape[3] = { 128, 256, 256 };
  /* A header as a scanner's converter writes it: axes to the right, front
   * and top, the middle of the field at the origin. */
  struct rd_nifti_make make = {
    .dtype = RADIO_INT16, .rank = 3, .descrip = "radio phantom: head CT",
    .xyzt_units = RD_NIFTI_MM | RD_NIFTI_SECONDS, .sform_code = 1,
  };
  for (int i = 0; i < 3; i++) {
    double field = (double) field_um[i] / 1000;
    make.shape[i] = options->shape[i] ? options->shape[i] : default_shape[i];
    make.spacing[i] = field / (double) make.shape[i];
    make.affine[2 - i][2 - i] = make.spacing[i];
    make.affine[2 - i][3] = (make.spacing[i] - field) / 2;
  }
  struct phantom_source from RD_CLEANUP (free_source) = {
    .source = {
      .image = { .name = "phantom" },
      .read = read_phantom,
      .finish = finish_phantom,
      .progress = report_progress,
    },
    .pool = store->context->pool,
    .ny = make.shape[1],
    .row_nbytes = make.shape[2] * sizeof (int16_t),
  };
  struct rd_ingest_image *image = &from.source.image;
  RD_TRY (rd_phantom_open (make.shape, options->seed, &from.phantom));
  RD_TRY (rd_nifti_make (&make, &image->prefix));
  RD_TRY (rd_nifti_parse (image->prefix.data, image->prefix.nbytes,
                          image->name, &image->nifti));
  from.total_nbytes = image->nifti.data_nbytes;
  return rd_ingest_source (store, &from.source, path, &options->ingest, NULL);
}

enum radio_status
radio_phantom (struct radio_store *store, const char *path,
               const struct radio_phantom_options *options)
{
  static const struct radio_phantom_options defaults;
  RD_NOT_NULL (store);
  RD_NOT_NULL (path);
  if (options) {
    RD_TRY (RD_CHECK_RESERVED (radio_phantom_options, options));
    RD_TRY (RD_CHECK_RESERVED (radio_ingest_options, &options->ingest));
  }
  RD_SCOPE ("phantom", RD_IN_OPERATION);
  RD_NOTE_NAME ("volume", path);
  return rd_scope_end_with (
    ingest_phantom (store, path, options ? options : &defaults));
}
