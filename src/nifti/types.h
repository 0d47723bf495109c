/* SPDX-License-Identifier: MIT */
/* NIfTI's data types: codes, names, sizes, and what they become. */
#ifndef RD_NIFTI_TYPES_H
#define RD_NIFTI_TYPES_H

#include "src/nifti/nifti.h"

/* Set datatype, type_name, type, colour and voxel_nbytes from the header's
 * code and bitpix.  file names it in messages. */
enum radio_status rd_nifti_set_type (struct rd_nifti *nifti,
                                     int64_t datatype, int64_t bitpix,
                                     const char *file) RADIO_USE_RESULT;

/* The code for an element type that NIfTI has; 0 when it has none. */
int rd_nifti_datatype_of (enum radio_dtype dtype);

#endif /* RD_NIFTI_TYPES_H */
