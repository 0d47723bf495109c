/* SPDX-License-Identifier: MIT */
/* Pairs: volumes of one subject, session and run in several collections, as an
 * image and its mask, which should have one grid. */
#ifndef RADIO_PAIRS_H
#define RADIO_PAIRS_H

#include <radio/base.h>
#include <radio/store.h>

#ifdef __cplusplus
extern "C" {
#endif

enum radio_pair_fault_kind {
  RADIO_PAIR_SHAPE = 0,       /* the shapes along x, y, z differ, or the lengths
                                 of time, if both have more than one */
  RADIO_PAIR_UNIT,            /* the units of space differ */
  RADIO_PAIR_AFFINE,          /* voxels lie elsewhere: spacing, directions or
                                 origin differ */
  RADIO_PAIR_NOT_INTEGERS,    /* values of a mask that are no integers */
  RADIO_PAIR_MISSING,         /* a collection lacks a subject, a session or a
                                 run */
  RADIO_PAIR_DAMAGED,         /* a volume that cannot be read */
};

/* Returns the kind as a word: "shape", "unit", "affine", "integers", "missing",
 * "damaged".  Static storage; never NULL. */
RADIO_API const char *
radio_pair_fault_name (enum radio_pair_fault_kind kind);

/* A fault.  Valid during the callback.  Later versions may add members at the
 * end. */
struct radio_pair_fault {
  enum radio_pair_fault_kind kind;
  const char *path;           /* of the volume; of the collection that lacks
                                 one */
  const char *other;          /* the volume that it was compared with; NULL:
                                 none was */
  const char *message;        /* a line with both values, which begins with
                                 path */
};

/* Called for each fault, in the order of subjects and sessions; anything but
 * RADIO_OK ends the check and is returned. */
typedef enum radio_status
radio_pair_fault_fn (const struct radio_pair_fault *fault, void *user_data);

/* Zero-filled members are defaults. */
struct radio_pairs_options {
  /* The collections that are compared: of each subject, session and run the
   * volumes of later ones with that of the first one that has any.  NULL: all
   * of the store, in byte order. */
  const char *const *collections;
  size_t ncollections;

  /* Only these volumes, by their paths, COLLECTION/NAME; collections is NULL
   * then: they are those of the paths, in the order in which these name them
   * first.  Those that do not exist are passed over.  NULL: all. */
  const char *const *volumes;
  size_t nvolumes;

  /* The collections of masks, besides those with is_labels (radio/volume.h):
   * all their values must be integers.  Masks of another type, or scaled by
   * fractions, are read to check that. */
  const char *const *masks;
  size_t nmasks;

  /* Those that must have volumes of the same subjects, sessions and runs. */
  const char *const *complete;
  size_t ncomplete;

  /* How far apart voxels of one index may lie, in voxels of the first volume
   * along any of its axes; 0: 0.001.  A difference of spacing or direction adds
   * up over the image: the farthest voxel counts. */
  double tolerance;

  radio_pair_fault_fn *report;        /* may be NULL */
  void *user_data;

  /* Must be zero: later versions may have members here. */
  uint64_t reserved[3];
};

/* A result: later versions may add members at its end. */
struct radio_pairs_result {
  uint64_t collection_count;
  uint64_t volume_count;
  uint64_t pair_count;        /* comparisons of two volumes */
  uint64_t read_count;        /* masks whose voxels were read */
  uint64_t fault_count;
};

/* Returns whether the names of two volumes, without their collections, are of
 * the same subject, session and run. */
RADIO_API bool radio_is_pair (const char *a, const char *b);

/* Checks the pairs of volumes of a store, by their documents.  Subject and
 * session are those of a volume's name (radio/index.h), the run is the value of
 * its "_run-".  Where a collection has several volumes of one run, that of the
 * same name is compared, else the first.  Takes some 300 bytes for each volume.
 * result is also filled after a failure.  options and result may be NULL.
 *
 * Errors: RADIO_ERROR_NOT_FOUND (no such collection), RADIO_ERROR_ARGUMENT (a
 * collection of masks or complete is not among those that are compared; both
 * collections and volumes; a path without a collection; a tolerance that is
 * negative or NaN), those of listing and reading.  Faults are
 * no errors. */
RADIO_API enum radio_status
radio_store_check_pairs (struct radio_store *store,
                         const struct radio_pairs_options *options,
                         struct radio_pairs_result *result,
                         size_t result_nbytes) RADIO_USE_RESULT;
#define radio_store_check_pairs(store, options, result) \
  radio_store_check_pairs (store, options, result, \
                           sizeof (struct radio_pairs_result))

#ifdef __cplusplus
}
#endif

#endif /* RADIO_PAIRS_H */
