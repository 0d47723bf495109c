/* SPDX-License-Identifier: MIT */
/* Digests that are fetched once, and HMAC, for which libcrypto's own function
 * fetches at each call. */
#include <config.h>

#include <openssl/crypto.h>
#include <stdatomic.h>
#include <string.h>

#include "src/base/digest.h"

#define BLOCK_NBYTES 64       /* of SHA-256 */

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
static const EVP_MD *
fetch_once (_Atomic (EVP_MD *) *known, const char *name)
{
  EVP_MD *found = atomic_load (known), *none = NULL;
  if (found)
    return found;
  found = EVP_MD_fetch (NULL, name, NULL);
  if (found == NULL || atomic_compare_exchange_strong (known, &none, found))
    return found;
  /* Another thread was faster. */
  EVP_MD_free (found);
  return none;
}
#else
#define fetch_once(known, name) \
  ((void) (known), strcmp (name, "MD5") == 0 ? EVP_md5 () : EVP_sha256 ())
#endif

const EVP_MD *
rd_digest_sha256 (void)
{
  static _Atomic (EVP_MD *) known;
  return fetch_once (&known, "SHA256");
}

const EVP_MD *
rd_digest_md5 (void)
{
  static _Atomic (EVP_MD *) known;
  return fetch_once (&known, "MD5");
}

static bool
digest_two (EVP_MD_CTX *context, const void *block, const void *text,
            size_t nbytes, unsigned char out[RD_SHA256_NBYTES])
{
  return EVP_DigestInit_ex (context, rd_digest_sha256 (), NULL)
         && EVP_DigestUpdate (context, block, BLOCK_NBYTES)
         && EVP_DigestUpdate (context, text, nbytes)
         && EVP_DigestFinal_ex (context, out, NULL);
}

bool
rd_hmac_sha256 (const void *key, size_t key_nbytes, const void *text,
                size_t nbytes, unsigned char out[RD_SHA256_NBYTES])
{
  unsigned char block[BLOCK_NBYTES] = { 0 };
  EVP_MD_CTX *context = rd_digest_sha256 () ? EVP_MD_CTX_new () : NULL;
  bool is_done = context != NULL;
  if (is_done && key_nbytes > sizeof block)
    is_done = EVP_DigestInit_ex (context, rd_digest_sha256 (), NULL)
              && EVP_DigestUpdate (context, key, key_nbytes)
              && EVP_DigestFinal_ex (context, block, NULL);
  else if (key_nbytes > 0 && key_nbytes <= sizeof block)
    memcpy (block, key, key_nbytes);
  for (size_t i = 0; i < sizeof block; i++)
    block[i] ^= 0x36;
  is_done = is_done && digest_two (context, block, text, nbytes, out);
  for (size_t i = 0; i < sizeof block; i++)
    block[i] ^= 0x36 ^ 0x5c;
  is_done = is_done && digest_two (context, block, out, RD_SHA256_NBYTES,
                                   out);
  OPENSSL_cleanse (block, sizeof block);
  EVP_MD_CTX_free (context);
  return is_done;
}
