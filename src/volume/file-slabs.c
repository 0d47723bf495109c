/* SPDX-License-Identifier: MIT */
/* Iterating over an image in the order of its file. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "src/base/digest.h"
#include "src/base/error.h"
#include "src/base/text.h"
#include "profiler/counters.h"
#include "src/volume/file-slabs.h"
#include "src/volume/tiling.h"

/* Axes that no slab cuts: a plane's, and its colours. */
static size_t
count_plane_axes (const struct rd_nifti *nifti)
{
  return nifti->colour != RD_COLOUR_NONE ? 3 : 2;
}

void
rd_file_slabs_layer (const struct rd_nifti *nifti,
                     const uint64_t *chunk_shape, const uint64_t *tile_shape,
                     uint64_t target_nbytes, uint64_t *layer_shape)
{
  size_t order[RADIO_MAX_RANK], nplane = count_plane_axes (nifti);
  uint64_t nbytes = nifti->type.item_nbytes;
  rd_file_order (nifti, order);
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = order[i];
    layer_shape[axis] = i < nplane ? chunk_shape[axis] : tile_shape[axis];
    nbytes *= rd_min_u64 (layer_shape[axis], nifti->shape[axis]);
  }
  for (size_t i = nplane; i < nifti->rank; i++) {
    size_t axis = order[i];
    uint64_t n = chunk_shape[axis] / tile_shape[axis];
    /* The largest divisor of n within the target, at least 1. */
    uint64_t k = rd_min_u64 (n, rd_max_u64 (target_nbytes / nbytes, 1));
    while (n % k != 0)
      k--;
    layer_shape[axis] *= k;
    nbytes *= k;
    if (k < n)
      return;
  }
}

void
rd_file_slabs_begin (struct rd_file_slabs *slabs,
                     const struct rd_nifti *nifti,
                     const uint64_t *chunk_shape)
{
  *slabs = (struct rd_file_slabs) { .nifti = nifti };
  rd_file_order (nifti, slabs->order);
  for (size_t i = 0; i < nifti->rank; i++)
    slabs->shape[i] = rd_min_u64 (chunk_shape[i], nifti->shape[i]);

  /* Chunks are consecutive when, from the fastest axis on, they are whole,
   * then one axis is cut, then all others are 1. */
  bool is_cut = false, is_consecutive = true;
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = slabs->order[i];
    if (is_cut && slabs->shape[axis] > 1)
      is_consecutive = false;
    is_cut = is_cut || slabs->shape[axis] < nifti->shape[axis];
  }
  if (is_consecutive)
    return;
  size_t nplane = count_plane_axes (nifti);
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = slabs->order[i];
    slabs->shape[axis] = i < nplane ? nifti->shape[axis] : 1;
  }
}

bool
rd_file_slabs_next (struct rd_file_slabs *slabs, struct radio_box *box)
{
  const struct rd_nifti *nifti = slabs->nifti;
  if (slabs->at_end)
    return false;
  box->rank = nifti->rank;
  for (size_t i = 0; i < nifti->rank; i++) {
    box->start[i] = slabs->start[i];
    box->size[i] = rd_min_u64 (slabs->shape[i],
                               nifti->shape[i] - slabs->start[i]);
  }
  for (size_t i = 0; i < nifti->rank; i++) {
    size_t axis = slabs->order[i];
    slabs->start[axis] += box->size[axis];
    if (slabs->start[axis] < nifti->shape[axis])
      return true;
    slabs->start[axis] = 0;
  }
  slabs->at_end = true;
  return true;
}

/* memcpy, since the elements need not be aligned; compilers make plain loads
 * and vector shuffles of these. */
#define SWAP_LOOP(type, swap)                           \
  do {                                                  \
    for (size_t i = 0; i < nbytes; i += sizeof (type)) {        \
      type value;                                       \
      memcpy (&value, p + i, sizeof value);             \
      value = swap (value);                             \
      memcpy (p + i, &value, sizeof value);             \
    }                                                   \
  } while (0)

void
rd_swap_units (void *data, size_t nbytes, size_t unit_nbytes)
{
  RD_SCOPE ("swap bytes", RD_IN_PLACE);
  unsigned char *p = data;
  switch (unit_nbytes) {
  case 2: SWAP_LOOP (uint16_t, __builtin_bswap16); break;
  case 4: SWAP_LOOP (uint32_t, __builtin_bswap32); break;
  case 8: SWAP_LOOP (uint64_t, __builtin_bswap64); break;
  default: break;
  }
}

static enum radio_status
fail_sha256 (void)
{
  return rd_fail (RADIO_ERROR_MEMORY, "the SHA-256 of libcrypto failed");
}

enum radio_status
rd_sha256_begin (EVP_MD_CTX **sha)
{
  /* The first one of a process takes milliseconds. */
  RD_SCOPE ("sha256", RD_IN_DECODE);
  EVP_MD_CTX *made = rd_digest_sha256 () ? EVP_MD_CTX_new () : NULL;
  if (made == NULL || !EVP_DigestInit_ex (made, rd_digest_sha256 (), NULL)) {
    EVP_MD_CTX_free (made);
    return fail_sha256 ();
  }
  *sha = made;
  return RADIO_OK;
}

enum radio_status
rd_sha256_add (EVP_MD_CTX *sha, const void *data, size_t nbytes)
{
  RD_SCOPE ("sha256", RD_IN_DECODE);
  return EVP_DigestUpdate (sha, data, nbytes) ? RADIO_OK : fail_sha256 ();
}

enum radio_status
rd_sha256_end (EVP_MD_CTX *sha, char text[RD_SHA256_TEXT_NBYTES])
{
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  if (!EVP_DigestFinal_ex (sha, digest, &n) || n != 32)
    return fail_sha256 ();
  rd_hex_text (digest, n, text);
  return RADIO_OK;
}
