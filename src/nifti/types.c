/* SPDX-License-Identifier: MIT */
/* The table of NIfTI's data types.  Those that no array of ours can hold
 * are in it too, so that they are refused by their names. */
#include <config.h>

#include <inttypes.h>

#include "src/base/error.h"
#include "src/nifti/types.h"

struct nifti_type {
  int code;
  int bitpix;
  const char *name;
  enum radio_dtype dtype;       /* RADIO_STORED: not supported */
  enum rd_nifti_colour colour;
};

static const struct nifti_type nifti_types[] = {
  { 1, 1, "binary", RADIO_STORED, RD_COLOUR_NONE },
  { 2, 8, "uint8", RADIO_UINT8, RD_COLOUR_NONE },
  { 4, 16, "int16", RADIO_INT16, RD_COLOUR_NONE },
  { 8, 32, "int32", RADIO_INT32, RD_COLOUR_NONE },
  { 16, 32, "float32", RADIO_FLOAT32, RD_COLOUR_NONE },
  { 32, 64, "complex64", RADIO_COMPLEX64, RD_COLOUR_NONE },
  { 64, 64, "float64", RADIO_FLOAT64, RD_COLOUR_NONE },
  { 128, 24, "rgb24", RADIO_UINT8, RD_COLOUR_RGB },
  { 256, 8, "int8", RADIO_INT8, RD_COLOUR_NONE },
  { 512, 16, "uint16", RADIO_UINT16, RD_COLOUR_NONE },
  { 768, 32, "uint32", RADIO_UINT32, RD_COLOUR_NONE },
  { 1024, 64, "int64", RADIO_INT64, RD_COLOUR_NONE },
  { 1280, 64, "uint64", RADIO_UINT64, RD_COLOUR_NONE },
  { 1536, 128, "float128", RADIO_STORED, RD_COLOUR_NONE },
  { 1792, 128, "complex128", RADIO_COMPLEX128, RD_COLOUR_NONE },
  { 2048, 256, "complex256", RADIO_STORED, RD_COLOUR_NONE },
  { 2304, 32, "rgba32", RADIO_UINT8, RD_COLOUR_RGBA },
};

#define NIFTI_TYPE_COUNT (sizeof nifti_types / sizeof nifti_types[0])

static const struct nifti_type *
find_type (int64_t code)
{
  for (size_t i = 0; i < NIFTI_TYPE_COUNT; i++)
    if (nifti_types[i].code == code)
      return &nifti_types[i];
  return NULL;
}

enum radio_status
rd_nifti_set_type (struct rd_nifti *nifti, int64_t datatype, int64_t bitpix,
                   const char *file)
{
  const struct nifti_type *type = find_type (datatype);
  if (!type)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: datatype %" PRId64 " is none of NIfTI's", file,
                    datatype);
  if (type->dtype == RADIO_STORED)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: datatype %s (%" PRId64 ") is not supported", file,
                    type->name, datatype);
  if (bitpix != type->bitpix)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: bitpix is %" PRId64 ", but datatype %s (%" PRId64
                    ") has %d bits", file, bitpix, type->name, datatype,
                    type->bitpix);
  nifti->datatype = type->code;
  nifti->type_name = type->name;
  nifti->type = rd_type_of (type->dtype);
  nifti->colour = type->colour;
  nifti->voxel_nbytes = (size_t) type->bitpix / 8;
  return RADIO_OK;
}

int
rd_nifti_datatype_of (enum radio_dtype dtype)
{
  if (dtype == RADIO_BOOL)
    return 2;
  for (size_t i = 0; i < NIFTI_TYPE_COUNT; i++)
    if (nifti_types[i].dtype == dtype && dtype != RADIO_STORED
        && nifti_types[i].colour == RD_COLOUR_NONE)
      return nifti_types[i].code;
  return 0;
}
