/* SPDX-License-Identifier: MIT */
/* Opening images: which file holds the header and which the voxels, and
 * whether they can hold what the header claims. */
#include <config.h>

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "src/base/checked.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "profiler/counters.h"
#include "src/nifti/image.h"

/* The prefix of a hostile file is not allocated by its claim but grows as
 * its bytes come. */
#define PREFIX_STEP_NBYTES ((size_t) 64 << 10)

/* Where ".hdr" or ".img" begins in a name that ends in it, maybe
 * followed by .gz; 0 when the name is of no pair. */
static size_t
pair_suffix (const char *file, const char *suffix)
{
  size_t n = strlen (file);
  if (rd_ends_with (file, suffix))
    return n - 4;
  if (rd_ends_with (file, ".gz") && n > 7
      && strncasecmp (file + n - 7, suffix, 4) == 0)
    return n - 7;
  return 0;
}

/* The other half's name: suffix swapped in the case of the given one, with
 * or without .gz.  NULL without memory. */
static char *
partner_name (const char *file, size_t at, const char *suffix, bool gz)
{
  char *name = rd_malloc (at + sizeof ".hdr.gz");
  if (!name)
    return NULL;
  memcpy (name, file, at);
  memcpy (name + at, suffix, 5);
  if (gz)
    memcpy (name + at + 4, ".gz", 4);
  if (file[at + 1] >= 'A' && file[at + 1] <= 'Z')
    for (char *p = name + at; *p; p++)
      if (*p >= 'a' && *p <= 'z')
        *p = (char) (*p - 'a' + 'A');
  return name;
}

/* True if there is no such file.  Some servers deny access then. */
static bool
is_missing (const struct rd_image *image, enum radio_status status)
{
  return status == RADIO_ERROR_NOT_FOUND
         || (image->source && status == RADIO_ERROR_PERMISSION);
}

/* Open the half of a pair that was not named. */
static enum radio_status
open_partner (const struct rd_image *image, size_t at, const char *suffix,
              struct rd_input **input)
{
  const char *file = image->file;
  bool gz = rd_ends_with (file, ".gz");
  RD_FREE char *first = partner_name (file, at, suffix, gz);
  RD_FREE char *second = partner_name (file, at, suffix, !gz);
  if (!first || !second)
    return rd_fail_memory (at + sizeof ".hdr.gz");
  enum radio_status status = rd_input_open_from (image->source, first, input);
  if (is_missing (image, status))
    status = rd_input_open_from (image->source, second, input);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (RADIO_ERROR_NOT_FOUND,
                    "%s: its other half is missing: neither %s nor %s "
                    "exists", file, first, second);
  return status;
}

/* Append up to nbytes of the input to the prefix. */
static enum radio_status
append_input (struct rd_buffer *prefix, struct rd_input *input,
              uint64_t nbytes)
{
  while (nbytes > 0) {
    size_t step = rd_min_u64 (nbytes, PREFIX_STEP_NBYTES), got;
    RD_TRY (rd_buffer_reserve (prefix, prefix->nbytes + step));
    RD_TRY (rd_input_read (input, prefix->data + prefix->nbytes, step,
                           &got));
    prefix->nbytes += got;
    nbytes -= got;
    if (got < step)
      break;
  }
  return RADIO_OK;
}

/* Says that a file is too short for what its header claims. */
static enum radio_status
fail_cut (const struct rd_image *image)
{
  const struct rd_nifti *nifti = &image->nifti;
  uint64_t present = nifti->data_nbytes - image->missing_nbytes;
  if (rd_input_is_gzip (image->voxels))
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: the header claims %" PRIu64 " bytes of voxels, but "
                    "the file can hold at most %" PRIu64, image->file,
                    nifti->data_nbytes, present);
  return rd_fail (RADIO_ERROR_FORMAT,
                  "%s: cut short, or its header is wrong: %" PRIu64 " of "
                  "%" PRIu64 " bytes of voxels", image->file, present,
                  nifti->data_nbytes);
}

/* Compares what a header claims with what its file can hold, before anything is
 * made of its claims.  A gzip file gives only a bound. */
static enum radio_status
check_claim (struct rd_image *image)
{
  const struct rd_nifti *nifti = &image->nifti;
  const struct rd_input *voxels = image->voxels;
  uint64_t max = rd_input_max_nbytes (voxels);
  uint64_t plane_nbytes = nifti->voxel_nbytes;
  if (nifti->vox_offset > max)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: vox_offset is %" PRIu64 ", past the end of the file"
                    " at %s%" PRIu64, image->file, nifti->vox_offset,
                    rd_input_is_gzip (voxels) ? "most " : "", max);
  uint64_t present = max - nifti->vox_offset;
  if (present >= nifti->data_nbytes)
    return RADIO_OK;
  image->missing_nbytes = nifti->data_nbytes - present;
  for (size_t i = 1; i <= nifti->ndim && i <= 2; i++)
    plane_nbytes *= (uint64_t) nifti->dim[i];
  return present < plane_nbytes ? fail_cut (image) : RADIO_OK;
}

/* Reads all of a pair's .hdr, of which the header was read, and on to the first
 * voxel of its .img. */
static enum radio_status
open_pair (struct rd_image *image, struct rd_input *header)
{
  struct rd_buffer skipped RD_BUFFER_SCOPE = { 0 };
  const char *file = image->file;
  size_t img = pair_suffix (file, ".img"), hdr = pair_suffix (file, ".hdr");
  if (img == 0 && hdr == 0)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: its voxels are in an .img beside it, but its name "
                    "does not end in .hdr", file);
  size_t most = RD_NIFTI_PREFIX_MAX_NBYTES;
  RD_TRY (append_input (&image->prefix, header,
                        most + 1 - image->prefix.nbytes));
  if (image->prefix.nbytes > most)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: its header file is larger than %zu MiB, which is "
                    "not supported", file, most >> 20);

  if (img > 0)
    RD_TRY (rd_input_open_from (image->source, file, &image->voxels));
  else
    RD_TRY (open_partner (image, hdr, ".img", &image->voxels));
  RD_TRY (check_claim (image));
  for (uint64_t left = image->nifti.vox_offset; left > 0;) {
    uint64_t step = rd_min_u64 (left, PREFIX_STEP_NBYTES);
    skipped.nbytes = 0;
    RD_TRY (append_input (&skipped, image->voxels, step));
    if (skipped.nbytes < step)
      return rd_fail (RADIO_ERROR_FORMAT,
                      "%s: vox_offset is %" PRIu64 ", past the end of the "
                      "voxels' file", file, image->nifti.vox_offset);
    left -= step;
  }
  return RADIO_OK;
}

/* Reads the header, however many bytes it has, and everything else before the
 * voxels. */
static enum radio_status
open_image (struct rd_image *image)
{
  RD_CLEANUP (rd_cleanup_input) struct rd_input *input = NULL;
  struct rd_buffer *prefix = &image->prefix;
  struct rd_nifti *nifti = &image->nifti;
  const char *file = image->file;
  size_t img = pair_suffix (file, ".img");
  if (img > 0)
    RD_TRY (open_partner (image, img, ".hdr", &input));
  else
    RD_TRY (rd_input_open_from (image->source, file, &input));

  RD_TRY (append_input (prefix, input, RD_NIFTI1_NBYTES));
  bool is_2 = prefix->nbytes >= 4
              && (memcmp (prefix->data, "\x1c\x02\0\0", 4) == 0
                  || memcmp (prefix->data, "\0\0\x02\x1c", 4) == 0);
  if (is_2)
    RD_TRY (append_input (prefix, input,
                          RD_NIFTI2_NBYTES - RD_NIFTI1_NBYTES));
  RD_TRY (rd_nifti_parse (prefix->data, prefix->nbytes, file, nifti));
  if (nifti->is_pair)
    return open_pair (image, input);

  image->voxels = RD_STEAL (input);
  RD_TRY (check_claim (image));
  if (nifti->vox_offset > RD_NIFTI_PREFIX_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_UNSUPPORTED,
                    "%s: vox_offset is %" PRIu64 ": more than %zu MiB before "
                    "the voxels are not supported", file, nifti->vox_offset,
                    RD_NIFTI_PREFIX_MAX_NBYTES >> 20);
  RD_TRY (append_input (prefix, image->voxels,
                        nifti->vox_offset - prefix->nbytes));
  if (prefix->nbytes < nifti->vox_offset)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: vox_offset is %" PRIu64 ", past the end of the data "
                    "at %zu", file, nifti->vox_offset, prefix->nbytes);
  return RADIO_OK;
}

enum radio_status
rd_image_open (const char *file, struct rd_image **image)
{
  return rd_image_open_from (NULL, file, image);
}

enum radio_status
rd_image_open_from (struct rd_input_source *source, const char *file,
                    struct rd_image **result)
{
  RD_SCOPE ("open image", RD_IN_METADATA);
  RD_CLEANUP (rd_cleanup_image) struct rd_image *image
    = rd_calloc (1, sizeof *image);
  if (!image)
    return rd_fail_memory (sizeof *image);
  image->source = source;
  image->file = rd_strdup (file);
  if (!image->file)
    return rd_fail_memory (strlen (file) + 1);
  RD_TRY (open_image (image));
  *result = RD_STEAL (image);
  return RADIO_OK;
}

enum radio_status
rd_image_check_whole (const struct rd_image *image)
{
  return image->missing_nbytes > 0 ? fail_cut (image) : RADIO_OK;
}

void
rd_image_close (struct rd_image *image)
{
  if (!image)
    return;
  rd_input_close (image->voxels);
  rd_buffer_free (&image->prefix);
  rd_free (image->file);
  rd_free (image);
}

enum radio_status
rd_image_read (struct rd_image *image, void *data, size_t nbytes)
{
  size_t got;
  RD_TRY (rd_input_read (image->voxels, data, nbytes, &got));
  image->nread += got;
  if (got < nbytes)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: cut short: %" PRIu64 " of %" PRIu64 " bytes of "
                    "voxels", image->file, image->nread,
                    image->nifti.data_nbytes);
  return RADIO_OK;
}

enum radio_status
rd_image_finish (struct rd_image *image, uint64_t *trailing_nbytes)
{
  return rd_input_finish (image->voxels, trailing_nbytes, &image->problem);
}
