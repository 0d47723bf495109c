/* SPDX-License-Identifier: MIT */
/* Slabs: an image cut into boxes that are consecutive in its file; and the
 * conversion and checksum of their bytes. */
#ifndef RD_FILE_SLABS_H
#define RD_FILE_SLABS_H

#include <openssl/evp.h>

#include "src/base/cleanup.h"
#include "src/nifti/nifti.h"

struct rd_file_slabs {
  const struct rd_nifti *nifti;
  size_t order[RADIO_MAX_RANK];       /* axes, the file's fastest first */
  uint64_t shape[RADIO_MAX_RANK];     /* of a slab, array order */
  uint64_t start[RADIO_MAX_RANK];     /* of the next one */
  bool at_end;
};

/* Cut chunks that are consecutive in the file into layers that are so, too:
 * whole tiles, as many as make target_nbytes of the image, at least the
 * fewest that are whole planes. */
void rd_file_slabs_layer (const struct rd_nifti *nifti,
                          const uint64_t *chunk_shape,
                          const uint64_t *tile_shape, uint64_t target_nbytes,
                          uint64_t *layer_shape);

/* Begin at the first slab.  chunk_shape is the preferred shape; if chunks of
 * that shape are not consecutive in the file, slabs are single planes. */
void rd_file_slabs_begin (struct rd_file_slabs *slabs,
                          const struct rd_nifti *nifti,
                          const uint64_t *chunk_shape);

/* The next slab's box, clipped to the image; false at the end. */
bool rd_file_slabs_next (struct rd_file_slabs *slabs, struct radio_box *box);

/* Reverse the bytes of each unit; nbytes is a whole number of units. */
void rd_swap_units (void *data, size_t nbytes, size_t unit_nbytes);

/* SHA-256, with OpenSSL's failures as a status. */
#define RD_SHA256_TEXT_NBYTES 65
static inline void
rd_sha256_free (EVP_MD_CTX *sha)
{
  EVP_MD_CTX_free (sha);
}
RD_DEFINE_CLEANUP (sha256, EVP_MD_CTX, rd_sha256_free);

enum radio_status rd_sha256_begin (EVP_MD_CTX **sha) RADIO_USE_RESULT;
enum radio_status rd_sha256_add (EVP_MD_CTX *sha, const void *data,
                                 size_t nbytes) RADIO_USE_RESULT;
enum radio_status rd_sha256_end (EVP_MD_CTX *sha,
                                 char text[RD_SHA256_TEXT_NBYTES])
  RADIO_USE_RESULT;

#endif /* RD_FILE_SLABS_H */
