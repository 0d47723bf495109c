/* SPDX-License-Identifier: MIT */
/* The cryptography of signing, by libcrypto: digests, signing keys, and
 * signatures. */
#include <config.h>

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <string.h>
#include <time.h>

#include "src/base/error.h"
#include "io/s3/sign.h"

#define TERMINATOR "aws4_request"
#define DAY_NBYTES 8

static enum radio_status
fail_crypto (void)
{
  return rd_fail (RADIO_ERROR_MEMORY, "the SHA-256 of libcrypto failed");
}

/*------------------------------------------------------------------------
 * Digests
 *----------------------------------------------------------------------*/

void
rd_s3_hex (const unsigned char *bytes, size_t n, char *text)
{
  static const char digits[] = "0123456789abcdef";
  for (size_t i = 0; i < n; i++) {
    *text++ = digits[bytes[i] >> 4];
    *text++ = digits[bytes[i] & 15];
  }
  *text = '\0';
}

enum radio_status
rd_s3_digest_begin (struct rd_s3_digest *digest)
{
  digest->context = EVP_MD_CTX_new ();
  digest->has_failed = false;
  if (digest->context
      && EVP_DigestInit_ex (digest->context, EVP_sha256 (), NULL))
    return RADIO_OK;
  return fail_crypto ();
}

void
rd_s3_digest_add (struct rd_s3_digest *digest, const void *data,
                  size_t nbytes)
{
  if (nbytes && !EVP_DigestUpdate (digest->context, data, nbytes))
    digest->has_failed = true;
}

void
rd_s3_digest_add_text (struct rd_s3_digest *digest, const char *text)
{
  rd_s3_digest_add (digest, text, strlen (text));
}

static enum radio_status
end_digest (struct rd_s3_digest *digest, unsigned char bytes[32])
{
  unsigned n = 0;
  if (digest->has_failed || !EVP_DigestFinal_ex (digest->context, bytes, &n)
      || n != 32)
    return fail_crypto ();
  return RADIO_OK;
}

enum radio_status
rd_s3_digest_end (struct rd_s3_digest *digest,
                  char text[RD_S3_SHA256_NBYTES])
{
  unsigned char bytes[32];
  RD_TRY (end_digest (digest, bytes));
  rd_s3_hex (bytes, sizeof bytes, text);
  return RADIO_OK;
}

void
rd_s3_digest_free (struct rd_s3_digest *digest)
{
  EVP_MD_CTX_free (digest->context);
  digest->context = NULL;
}

enum radio_status
rd_s3_sha256 (const struct rd_part *parts, size_t n,
              char text[RD_S3_SHA256_NBYTES])
{
  RD_S3_DIGEST_SCOPE struct rd_s3_digest digest = { 0 };
  RD_TRY (rd_s3_digest_begin (&digest));
  for (size_t i = 0; i < n; i++)
    rd_s3_digest_add (&digest, parts[i].data, parts[i].nbytes);
  return rd_s3_digest_end (&digest, text);
}

/*------------------------------------------------------------------------
 * The time
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_time (int64_t unix_s, char text[RD_S3_TIME_NBYTES])
{
  time_t time = (time_t) unix_s;
  struct tm tm;
  if (time != unix_s || gmtime_r (&time, &tm) == NULL
      || tm.tm_year < -900 || tm.tm_year > 9999 - 1900
      || strftime (text, RD_S3_TIME_NBYTES, "%Y%m%dT%H%M%SZ", &tm)
         != RD_S3_TIME_NBYTES - 1)
    return rd_fail (RADIO_ERROR_ARGUMENT, "a request cannot be signed at "
                    "%lld s of Unix time", (long long) unix_s);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Signing keys
 *----------------------------------------------------------------------*/

static bool
hmac (const void *key, size_t key_nbytes, const char *text, size_t nbytes,
      unsigned char out[RD_S3_KEY_NBYTES])
{
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned n = 0;
  bool is_done = key_nbytes <= INT32_MAX
                 && HMAC (EVP_sha256 (), key, (int) key_nbytes,
                          (const unsigned char *) text, nbytes, digest, &n)
                 && n == RD_S3_KEY_NBYTES;
  if (is_done)
    memcpy (out, digest, RD_S3_KEY_NBYTES);
  OPENSSL_cleanse (digest, sizeof digest);
  return is_done;
}

static enum radio_status
derive_key (const struct rd_s3_signing *signing, const char *day,
            unsigned char key[RD_S3_KEY_NBYTES])
{
  RD_S3_SECRET_SCOPE struct rd_buffer secret = { 0 };
  const char *text = signing->credentials->secret_key;
  RD_TRY (rd_buffer_reserve (&secret, strlen (text) + strlen ("AWS4")));
  RD_TRY (rd_s3_append (&secret, "AWS4"));
  RD_TRY (rd_s3_append (&secret, text));
  if (hmac (secret.data, secret.nbytes, day, DAY_NBYTES, key)
      && hmac (key, RD_S3_KEY_NBYTES, signing->region,
               strlen (signing->region), key)
      && hmac (key, RD_S3_KEY_NBYTES, signing->service,
               strlen (signing->service), key)
      && hmac (key, RD_S3_KEY_NBYTES, TERMINATOR, strlen (TERMINATOR), key))
    return RADIO_OK;
  OPENSSL_cleanse (key, RD_S3_KEY_NBYTES);
  return fail_crypto ();
}

enum radio_status
rd_s3_signing_key (const struct rd_s3_signing *signing, const char *time,
                   unsigned char key[RD_S3_KEY_NBYTES])
{
  struct rd_s3_key_cache *cache = signing->cache;
  RD_S3_DIGEST_SCOPE struct rd_s3_digest digest = { 0 };
  unsigned char id[32];
  if (cache == NULL)
    return derive_key (signing, time, key);
  /* A digest of the inputs, each of which ends in a NUL. */
  const char *const texts[] = { signing->credentials->secret_key,
                                signing->region, signing->service };
  RD_TRY (rd_s3_digest_begin (&digest));
  rd_s3_digest_add (&digest, time, DAY_NBYTES);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    rd_s3_digest_add (&digest, texts[i], strlen (texts[i]) + 1);
  RD_TRY (end_digest (&digest, id));
  {
    RD_LOCK_SCOPE (&cache->mutex);
    if (cache->synced.is_set && memcmp (cache->synced.id, id, sizeof id) == 0) {
      memcpy (key, cache->synced.key, RD_S3_KEY_NBYTES);
      return RADIO_OK;
    }
  }
  RD_TRY (derive_key (signing, time, key));
  RD_LOCK_SCOPE (&cache->mutex);
  memcpy (cache->synced.id, id, sizeof id);
  memcpy (cache->synced.key, key, RD_S3_KEY_NBYTES);
  cache->synced.is_set = true;
  return RADIO_OK;
}

void
rd_s3_key_cache_init (struct rd_s3_key_cache *cache)
{
  memset (&cache->synced, 0, sizeof cache->synced);
  pthread_mutex_init (&cache->mutex, NULL);
}

void
rd_s3_key_cache_free (struct rd_s3_key_cache *cache)
{
  pthread_mutex_destroy (&cache->mutex);
  OPENSSL_cleanse (&cache->synced, sizeof cache->synced);
}

/*------------------------------------------------------------------------
 * The signature
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_append_scope (struct rd_buffer *text,
                    const struct rd_s3_signing *signing, const char *time)
{
  RD_TRY (rd_buffer_append (text, time, DAY_NBYTES));
  RD_TRY (rd_s3_append (text, "/"));
  RD_TRY (rd_s3_append (text, signing->region));
  RD_TRY (rd_s3_append (text, "/"));
  RD_TRY (rd_s3_append (text, signing->service));
  return rd_s3_append (text, "/" TERMINATOR);
}

enum radio_status
rd_s3_signature (const struct rd_s3_signing *signing, const char *time,
                 const char *canonical_sha256,
                 char text[RD_S3_SHA256_NBYTES])
{
  RD_BUFFER_SCOPE struct rd_buffer to_sign = { 0 };
  unsigned char key[RD_S3_KEY_NBYTES], signature[RD_S3_KEY_NBYTES];
  RD_TRY (rd_s3_append (&to_sign, "AWS4-HMAC-SHA256\n"));
  RD_TRY (rd_s3_append (&to_sign, time));
  RD_TRY (rd_s3_append (&to_sign, "\n"));
  RD_TRY (rd_s3_append_scope (&to_sign, signing, time));
  RD_TRY (rd_s3_append (&to_sign, "\n"));
  RD_TRY (rd_s3_append (&to_sign, canonical_sha256));
  RD_TRY (rd_s3_signing_key (signing, time, key));
  bool is_done = hmac (key, sizeof key, (const char *) to_sign.data,
                       to_sign.nbytes, signature);
  OPENSSL_cleanse (key, sizeof key);
  if (!is_done)
    return fail_crypto ();
  rd_s3_hex (signature, sizeof signature, text);
  return RADIO_OK;
}
