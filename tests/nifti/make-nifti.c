/* SPDX-License-Identifier: MIT */
/* The generator of NIfTI files for tests. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdeflate.h>

#include "tests/nifti/make-nifti.h"

const struct spec_type spec_types[SPEC_TYPE_COUNT] = {
  { 2, 1, 1, false, "uint8" },     { 4, 2, 2, false, "int16" },
  { 8, 4, 4, false, "int32" },     { 16, 4, 4, true, "float32" },
  { 32, 8, 4, true, "complex64" }, { 64, 8, 8, true, "float64" },
  { 128, 3, 1, false, "rgb24" },   { 256, 1, 1, false, "int8" },
  { 512, 2, 2, false, "uint16" },  { 768, 4, 4, false, "uint32" },
  { 1024, 8, 8, false, "int64" },  { 1280, 8, 8, false, "uint64" },
  { 1792, 16, 8, true, "complex128" }, { 2304, 4, 1, false, "rgba32" },
};

const struct spec_type *
spec_find_type (int code)
{
  for (size_t i = 0; i < SPEC_TYPE_COUNT; i++)
    if (spec_types[i].code == (code ? code : 4))
      return &spec_types[i];
  return NULL;
}

static void
must (bool condition, const char *what)
{
  if (condition)
    return;
  fprintf (stderr, "make-nifti: %s\n", what);
  abort ();
}

void
must_append (struct rd_buffer *buffer, const void *data, size_t nbytes)
{
  must (rd_buffer_append (buffer, data, nbytes) == RADIO_OK, "memory");
}

static void
append_zeros (struct rd_buffer *buffer, size_t nbytes)
{
  must (rd_buffer_reserve (buffer, buffer->nbytes + nbytes) == RADIO_OK,
        "memory");
  memset (buffer->data + buffer->nbytes, 0, nbytes);
  buffer->nbytes += nbytes;
}

static void
put (unsigned char *at, size_t nbytes, bool big_endian, uint64_t value)
{
  for (size_t i = 0; i < nbytes; i++, value >>= 8)
    at[big_endian ? nbytes - 1 - i : i] = value & 0xff;
}

void
spec_put (const struct nifti_spec *spec, struct rd_buffer *bytes,
          size_t offset, size_t nbytes, uint64_t value)
{
  must (offset + nbytes <= bytes->nbytes, "put beyond the end");
  put (bytes->data + offset, nbytes, spec->big_endian, value);
}

void
spec_put_float (const struct nifti_spec *spec, struct rd_buffer *bytes,
                size_t offset, float value)
{
  uint32_t bits;
  memcpy (&bits, &value, 4);
  spec_put (spec, bytes, offset, 4, bits);
}

static void
put_double (const struct nifti_spec *spec, struct rd_buffer *bytes,
            size_t offset, double value)
{
  uint64_t bits;
  memcpy (&bits, &value, 8);
  spec_put (spec, bytes, offset, 8, bits);
}

/* A real: float in NIfTI-1 at offset1, double in NIfTI-2 at offset2. */
static void
put_reals (const struct nifti_spec *spec, struct rd_buffer *bytes,
           size_t offset1, size_t offset2, size_t n, const double *values)
{
  for (size_t i = 0; i < n; i++)
    if (spec->version == 2)
      put_double (spec, bytes, offset2 + 8 * i, values[i]);
    else
      spec_put_float (spec, bytes, offset1 + 4 * i, (float) values[i]);
}

static void
put_text (struct rd_buffer *bytes, size_t offset, size_t room,
          const char *text)
{
  if (text)
    memcpy (bytes->data + offset, text, strnlen (text, room));
}

static const int64_t default_dim[8] = { 3, 5, 4, 3, 1, 1, 1, 1 };

static const int64_t *
dim_of (const struct nifti_spec *spec)
{
  return spec->dim[0] ? spec->dim : default_dim;
}

static size_t
voxel_count (const struct nifti_spec *spec)
{
  const int64_t *dim = dim_of (spec);
  size_t n = 1;
  for (int64_t i = 1; i <= dim[0]; i++)
    n *= (size_t) dim[i];
  return n;
}

size_t
spec_data_nbytes (const struct nifti_spec *spec)
{
  return voxel_count (spec) * spec_find_type (spec->datatype)->nbytes;
}

static void
put_numbers (const struct nifti_spec *spec, struct rd_buffer *out, bool two,
             uint64_t vox_offset)
{
  const struct spec_type *type = spec_find_type (spec->datatype);
  spec_put (spec, out, two ? 12 : 70, 2, (uint64_t) type->code);
  spec_put (spec, out, two ? 14 : 72, 2, type->nbytes * 8);
  for (size_t i = 0; i < 8; i++) {
    double pixdim = spec->pixdim[i] == 0 ? 1 : spec->pixdim[i];
    put_reals (spec, out, 76 + 4 * i, 104 + 8 * i, 1, &pixdim);
    spec_put (spec, out, two ? 16 + 8 * i : 40 + 2 * i, two ? 8 : 2,
              (uint64_t) dim_of (spec)[i]);
  }
  if (two)
    spec_put (spec, out, 168, 8, vox_offset);
  else
    spec_put_float (spec, out, 108, (float) vox_offset);
  spec_put (spec, out, two ? 344 : 252, two ? 4 : 2,
            (uint64_t) spec->qform_code);
  spec_put (spec, out, two ? 348 : 254, two ? 4 : 2,
            (uint64_t) spec->sform_code);
  spec_put (spec, out, two ? 500 : 123, two ? 4 : 1,
            (uint64_t) spec->xyzt_units);
  spec_put (spec, out, two ? 504 : 68, two ? 4 : 2,
            (uint64_t) spec->intent_code);
  put_reals (spec, out, 112, 176, 1, &spec->scl_slope);
  put_reals (spec, out, 116, 184, 1, &spec->scl_inter);
  put_reals (spec, out, 124, 192, 1, &spec->cal_max);
  put_reals (spec, out, 128, 200, 1, &spec->cal_min);
  put_reals (spec, out, 256, 352, 3, spec->quatern);
  put_reals (spec, out, 268, 376, 3, spec->qoffset);
  put_reals (spec, out, 280, 400, 12, spec->srow[0]);
}

static void
put_texts (const struct nifti_spec *spec, struct rd_buffer *out, bool two)
{
  put_text (out, two ? 240 : 148, 80, spec->descrip);
  put_text (out, two ? 320 : 228, 24, spec->aux_file);
  put_text (out, two ? 508 : 328, 16, spec->intent_name);
  if (!two)
    put_text (out, 14, 18, spec->db_name);
  memcpy (out->data + (two ? 4 : 344), spec->is_pair ? "ni" : "n+", 2);
  out->data[two ? 6 : 346] = two ? '2' : '1';
  if (two)
    memcpy (out->data + 8, "\r\n\x1a\n", 4);
}

void
spec_header (const struct nifti_spec *spec, struct rd_buffer *out)
{
  bool two = spec->version == 2;
  size_t header = two ? 540 : 348;
  size_t end = header + 4 + spec->extension_nbytes;
  uint64_t vox_offset = spec->vox_offset ? spec->vox_offset
                        : spec->is_pair ? 0 : end;
  out->nbytes = 0;
  append_zeros (out, header + 4);
  spec_put (spec, out, 0, 4, header);
  put_numbers (spec, out, two, vox_offset);
  put_texts (spec, out, two);
  out->data[header] = spec->extension_nbytes > 0;
  if (spec->extension_nbytes > 0)
    must_append (out, spec->extension, spec->extension_nbytes);
  if (!spec->is_pair && vox_offset > out->nbytes)
    append_zeros (out, vox_offset - out->nbytes);
}

/* The i-th number of the voxels, as bits.  A float gets a multiple of 1/64
 * within +-8192, which is exact. */
static uint64_t
unit_bits (const struct spec_type *type, size_t i)
{
  uint64_t hash = (i + 1) * 0x9e3779b97f4a7c15, bits;
  if (!type->is_float)
    return hash >> (64 - 8 * type->unit_nbytes);
  double value = (double) (hash >> 44) / 64 - 8192;
  if (type->unit_nbytes == 8) {
    memcpy (&bits, &value, 8);
    return bits;
  }
  float value32 = (float) value;
  uint32_t bits32;
  memcpy (&bits32, &value32, 4);
  return bits32;
}

void
spec_voxels (const struct nifti_spec *spec, struct rd_buffer *out)
{
  const struct spec_type *type = spec_find_type (spec->datatype);
  size_t n = spec_data_nbytes (spec) / type->unit_nbytes;
  size_t at = out->nbytes;
  append_zeros (out, spec_data_nbytes (spec));
  for (size_t i = 0; i < n; i++)
    put (out->data + at + i * type->unit_nbytes, type->unit_nbytes,
         spec->big_endian, unit_bits (type, i));
}

void
spec_image (const struct nifti_spec *spec, struct rd_buffer *out)
{
  spec_header (spec, out);
  spec_voxels (spec, out);
}

void
make_gzip (const void *plain, size_t nbytes, size_t member_nbytes,
           struct rd_buffer *out)
{
  struct libdeflate_compressor *c = libdeflate_alloc_compressor (6);
  must (c != NULL, "memory");
  size_t step = member_nbytes ? member_nbytes : nbytes ? nbytes : 1;
  out->nbytes = 0;
  size_t at = 0;
  do {
    size_t n = nbytes - at < step ? nbytes - at : step;
    size_t bound = libdeflate_gzip_compress_bound (c, n);
    must (rd_buffer_reserve (out, out->nbytes + bound) == RADIO_OK,
          "memory");
    size_t got = libdeflate_gzip_compress (c, (const char *) plain + at, n,
                                           out->data + out->nbytes, bound);
    must (got > 0, "gzip");
    out->nbytes += got;
    at += n;
  } while (at < nbytes);
  libdeflate_free_compressor (c);
}

void
write_file (const char *folder, const char *name,
            const struct rd_buffer *content)
{
  char path[4096];
  int n = snprintf (path, sizeof path, "%s/%s", folder, name);
  must (n > 0 && (size_t) n < sizeof path, "path");
  FILE *file = fopen (path, "wb");
  must (file != NULL, path);
  must (fwrite (content->data ? content->data : (const void *) "", 1,
                content->nbytes, file) == content->nbytes, path);
  must (fclose (file) == 0, path);
}
