/* SPDX-License-Identifier: MIT */
/* NumPy's files (.npy) as volumes: their header, and their elements given to
 * the library slab by slab. */
#ifndef RD_TOOLS_NPY_H
#define RD_TOOLS_NPY_H

#include "tools/tool.h"

/* The axes x, y, z, t, c. */
#define RD_NPY_MAX_RANK 5

struct rd_npy {
  enum radio_dtype dtype;
  size_t item_nbytes;
  bool swapped;                       /* not in the machine's byte order */
  bool fortran_order;
  size_t rank;
  uint64_t shape[RD_NPY_MAX_RANK];    /* as numpy has it */
  size_t start_nbytes;                /* of the header */
  char error[160];                    /* why it is not read */
};

/* Parses a whole file of nbytes.  False, with an error, unless all of its
 * elements are there. */
bool rd_npy_parse (const unsigned char *bytes, size_t nbytes,
                   struct rd_npy *npy);

/* The geometry, which a .npy lacks: one of the three. */
struct rd_npy_geometry {
  bool is_given;
  double spacing[3];                  /* x, y, z */
  double affine[3][4];
  struct radio_volume *like;
};

/* Reads 12 or 16 numbers, as numpy.savetxt writes an affine.  Returns an exit
 * status; prints errors. */
int rd_affine_read (const char *file, double affine[3][4]);

/* "X,Y,Z": positive numbers. */
bool rd_parse_spacing (const char *text, double spacing[3]);

/* Ingests a .npy, whose axes are x, y, z, t, c, as radio_ingest does a NIfTI
 * file.  After a failure *message is allocated, or NULL without memory, and
 * *errnum is that of the system call that failed, 0 if none did. */
enum radio_status
rd_npy_ingest (struct radio_store *store, const char *file, const char *path,
               const struct rd_npy_geometry *geometry,
               const struct radio_ingest_options *options,
               struct radio_ingest_result *result, char **message,
               int *errnum);

#endif /* RD_TOOLS_NPY_H */
