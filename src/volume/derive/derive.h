/* SPDX-License-Identifier: MIT */
/* The parts of applying a pipeline: steps that are applied to a volume, and the
 * statistics that some of them need. */
#ifndef RD_DERIVE_H
#define RD_DERIVE_H

#include "src/array/derived.h"
#include "src/array/sampled.h"
#include "src/volume/stats/stats.h"
#include "src/volume/volume.h"

/* Applies the first n steps of a pipeline to a volume without one. */
enum radio_status rd_derive_volume (struct radio_volume *root,
                                    const struct rd_step *steps, size_t n,
                                    struct radio_volume **derived)
  RADIO_USE_RESULT;

/* Opens the volume whose grid `like' names, for an image without a pipeline: by
 * the path of a file or of a volume's folder (of an image in its file, or with
 * "/", "./", "../" or "://"), by COLLECTION/NAME, or by the name of one in the
 * image's own collection. */
enum radio_status rd_open_grid (const struct radio_volume *root,
                                const char *name,
                                struct radio_volume **volume)
  RADIO_USE_RESULT;

/* Appends the numbers of the grid that such a step has found. */
enum radio_status rd_grid_text (const struct rd_step *step,
                                struct rd_buffer *text) RADIO_USE_RESULT;

/* Opens the mask that a pipeline for `root' names: the volume of the same name
 * in the collection `name', or by a path as above.
 * RADIO_ERROR_ARGUMENT: it has another shape or orientation, or no numbers. */
enum radio_status rd_open_mask (const struct radio_volume *root,
                                const char *name,
                                struct radio_volume **mask) RADIO_USE_RESULT;

/* Moves a mask as n steps move its image: picked by nearest, and padded as that
 * is, by 0 for any value. */
enum radio_status rd_derive_mask (struct radio_volume *mask,
                                  const struct rd_step *steps, size_t n,
                                  struct radio_volume **derived)
  RADIO_USE_RESULT;

/* The statistics of a volume's scaled values where a mask of its shape is not
 * 0.  RADIO_ERROR_ARGUMENT if it is 0 everywhere. */
enum radio_status rd_masked_stats (const struct radio_volume *volume,
                                   const struct radio_volume *mask,
                                   struct rd_read_stop *stop,
                                   struct rd_stats_more *more,
                                   struct radio_stats *stats)
  RADIO_USE_RESULT;

/* Steps of a pipeline whose kernels wait for a statistic. */
struct rd_statistics {
  struct radio_volume *root;          /* lives longer, as the steps do */
  const struct rd_step *steps;
  size_t n;
  struct rd_statistic {
    size_t step, kernel;
  } list[];
};

/* Computes the statistics of a derived array, or finds them in the context, and
 * makes the kernels: its rd_derived.complete. */
enum radio_status rd_statistics_complete (struct rd_derived *derived,
                                          struct rd_read_stop *stop)
  RADIO_USE_RESULT;

/* The most interpolations, one after another. */
#define RD_MAX_SAMPLINGS 16

/* Where the outputs of an interpolation are in its source, along x, y, z. */
struct rd_placement {
  enum rd_interpolation interpolation;
  uint64_t size[3];                   /* outputs */
  uint64_t source_size[3];
  double matrix[3][4];                /* of an output: its place in voxels of
                                         the source */
  double sigma[3];                    /* of smoothing, in the source's
                                         elements; 0: none */
  size_t nfields;                     /* what is outside of one gets value; */
  struct rd_gather_field fields[RD_GATHER_MAX_FIELDS];
  double value;                       /* elsewhere edges of the source
                                         continue */
  bool has_coefficients;              /* the source is those of a spline */
};

/* The result of a pipeline's operations so far.  Operations that move voxels or
 * compute values change the grid and kernels of one array, a stage; one that
 * interpolates begins a new stage, whose source is sampled from the array of
 * the previous stage, or from the one that it was itself sampled from. */
struct derivation {
  struct radio_volume *root;          /* without a pipeline */
  struct rd_step *steps;
  size_t n;
  enum rd_operation operation;        /* that is being added */
  size_t axes[3];                     /* of the array: x, y, z */
  double affine[3][4];
  double spacing[RADIO_MAX_RANK];
  bool is_spatial;                    /* some operation moved voxels */
  bool is_turned;                     /* flipped or permuted */
  bool has_grid;                      /* that of another volume */
  bool is_mixed;                      /* values are no labels any more: some are
                                         of several voxels, or have noise */
  bool has_computed, saturates;
  size_t nsamplings, nstatistics;

  /* The stage. */
  struct radio_array *source;
  bool owns_source;
  double slope, inter;                /* of the source's elements */
  struct rd_grid grid;
  bool computes;
  size_t nkernels, nfills;
  struct rd_kernel *kernels;          /* room for two of each operation */
  struct rd_fill *fills;              /* room for one of each */
  struct rd_statistics *statistics;   /* room for one of each */
  bool is_placed;                     /* the source is sampled from its own as
                                         placed has it */
  struct rd_placement placed;
  size_t outside;                     /* the fill outside; 0: none */
};

/* Frees the stage. */
void rd_derivation_clear (struct derivation *d);

/* Begins a stage, with no operation, on an array: the root's own, or one that
 * is taken, also on failure. */
enum radio_status rd_derivation_begin (struct derivation *d,
                                       struct radio_array *source)
  RADIO_USE_RESULT;

/* Opens the array that the stage makes of its source; the source, grid, kernels
 * and fills go to it.  rd_derivation_end also frees the stage. */
enum radio_status rd_derivation_open (struct derivation *d,
                                      struct radio_array **array)
  RADIO_USE_RESULT;

enum radio_status rd_derivation_end (struct derivation *d,
                                     struct radio_array **array)
  RADIO_USE_RESULT;

/* The length of x, y or z; 1 of one that a 2-D image lacks. */
uint64_t rd_derivation_length (const struct derivation *d, size_t j);

/* The first voxel along an axis is now the one that was at `start'. */
void rd_derivation_move_origin (struct derivation *d, size_t j, double start);

/* Exchanges two of x, y, z. */
enum radio_status rd_derivation_swap (struct derivation *d, size_t j,
                                      size_t k) RADIO_USE_RESULT;

/* Makes the element of padding by a value.  As long as nothing is computed it
 * is one of the stored type, which has to hold it. */
enum radio_status rd_derivation_fill (const struct derivation *d,
                                      double value, struct rd_fill *fill)
  RADIO_USE_RESULT;

/* Fails unless values are real numbers. */
enum radio_status rd_derivation_need_real (const struct derivation *d)
  RADIO_USE_RESULT;

/* Makes sure that the stage can be interpolated so: values are computed, unless
 * elements are only picked. */
enum radio_status rd_derivation_need (struct derivation *d,
                                      enum rd_interpolation interpolation)
  RADIO_USE_RESULT;

/* Opens an array that is sampled from a source, which is taken, also on
 * failure: along x, y, z or, if gather is not NULL, by its matrix and fields of
 * these; with noise unless that is NULL. */
enum radio_status rd_derivation_sample (const struct derivation *d,
                                        struct radio_array *source,
                                        enum rd_interpolation interpolation,
                                        const struct rd_sampled_axis along[3],
                                        const struct rd_gather *gather,
                                        const struct rd_noise *noise,
                                        struct radio_array **array)
  RADIO_USE_RESULT;

/* Begins the stage after an interpolation, on the array that it made. */
enum radio_status rd_derivation_continue (struct derivation *d,
                                          struct radio_array *array,
                                          enum rd_interpolation interpolation)
  RADIO_USE_RESULT;

/* Interpolation (compose.c).  rd_derivation_placement sets the placement of the
 * stage's voxels as they are, for the caller to change; fails if there are
 * none. */
enum radio_status rd_derivation_placement (const struct derivation *d,
                                           enum rd_interpolation interpolation,
                                           struct rd_placement *placement)
  RADIO_USE_RESULT;

/* Has outputs get a value where the place that their matrix has is outside of
 * the source's voxels. */
void rd_placement_cut (struct rd_placement *placement, double value);

/* Interpolates the stage at the places wanted, or its source's source at the
 * places that these are at in it, if one interpolation does what both do; and
 * begins the next stage.  The affine is left. */
enum radio_status rd_derivation_place (struct derivation *d,
                                       const struct rd_placement *wanted)
  RADIO_USE_RESULT;

/* The operations that move voxels (moves.c). */
enum radio_status rd_derive_cropped (struct derivation *d,
                                     const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_padded (struct derivation *d,
                                    const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_cropped_or_padded (struct derivation *d,
                                               const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_flipped (struct derivation *d,
                                     const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_rotated (struct derivation *d,
                                     const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_reoriented (struct derivation *d,
                                        const struct rd_step *step)
  RADIO_USE_RESULT;

/* Noise (stage.c). */
enum radio_status rd_derive_noised (struct derivation *d,
                                    const struct rd_step *step)
  RADIO_USE_RESULT;

/* The operations that interpolate (resample.c, place.c). */
enum radio_status rd_derive_resampled (struct derivation *d,
                                       const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_shaped (struct derivation *d,
                                    const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_smoothed (struct derivation *d,
                                      const struct rd_step *step)
  RADIO_USE_RESULT;
enum radio_status rd_derive_moved (struct derivation *d,
                                   const struct rd_step *step)
  RADIO_USE_RESULT;
/* Keeps the grid in the step. */
enum radio_status rd_derive_like (struct derivation *d, struct rd_step *step)
  RADIO_USE_RESULT;

/* Counts the arrays that are sampled between places; the coefficients of a
 * spline are part of its interpolation. */
size_t rd_count_interpolations (const struct radio_array *array);

#endif /* RD_DERIVE_H */
