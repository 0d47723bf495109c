/* SPDX-License-Identifier: MIT */
/* Digests of libcrypto.  Each is fetched once: where memory is short in the
 * midst of a fetch, libcrypto may crash. */
#ifndef RD_DIGEST_H
#define RD_DIGEST_H

#include <openssl/evp.h>
#include <stdbool.h>

/* NULL: there is no memory, or this libcrypto has no such digest. */
const EVP_MD *rd_digest_sha256 (void);
const EVP_MD *rd_digest_md5 (void);

#define RD_SHA256_NBYTES 32

/* HMAC-SHA256 (RFC 2104).  False when libcrypto fails. */
bool rd_hmac_sha256 (const void *key, size_t key_nbytes, const void *text,
                     size_t nbytes, unsigned char out[RD_SHA256_NBYTES]);

#endif /* RD_DIGEST_H */
