/* SPDX-License-Identifier: MIT */
/* From the header of a pair of files to that of a single one. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"

/* NIfTI wants the voxels to begin at a multiple of this. */
#define VOX_OFFSET_ALIGNMENT 16

static struct rd_field_layout
layout_of (const struct rd_nifti *nifti)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (struct rd_field_layout) { nifti->version, !nifti->swapped };
#else
  return (struct rd_field_layout) { nifti->version, nifti->swapped };
#endif
}

enum radio_status
rd_nifti_make_single (const struct rd_nifti *nifti, struct rd_buffer *prefix)
{
  static const unsigned char zeros[VOX_OFFSET_ALIGNMENT];
  struct rd_field_layout layout = layout_of (nifti);
  size_t least = rd_field_single_nbytes (&layout);
  while (prefix->nbytes < least)
    RD_TRY (rd_buffer_append (prefix, zeros, 1));
  size_t over = prefix->nbytes % VOX_OFFSET_ALIGNMENT;
  if (over > 0)
    RD_TRY (rd_buffer_append (prefix, zeros, VOX_OFFSET_ALIGNMENT - over));
  rd_field_set_int (&layout, prefix->data, RD_FIELD_VOX_OFFSET, 0,
                    (int64_t) prefix->nbytes);
  size_t nbytes, magic = rd_field_text (&layout, RD_FIELD_MAGIC, &nbytes);
  memcpy (prefix->data + magic, layout.version == 2 ? "n+2" : "n+1", 4);
  return RADIO_OK;
}
