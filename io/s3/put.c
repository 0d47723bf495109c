/* SPDX-License-Identifier: MIT */
/* Objects by one PUT.  That an object is written only where there is none is
 * decided by the server, if it can: some take the condition for a header
 * that they do not know, and replace what is there.  So each store finds out
 * once, with an object of its own, before it relies on it. */
#include <config.h>

#include <openssl/rand.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "io/key.h"
#include "io/s3/canonical.h"
#include "io/s3/list.h"
#include "io/s3/write.h"

RD_S3_SITE (put_site, "put");
RD_S3_SITE (look_site, "look");
RD_S3_SITE (probe_site, "probe");

/*------------------------------------------------------------------------
 * Whose an object is
 *----------------------------------------------------------------------*/

enum radio_status
rd_s3_writer_name (char name[RD_S3_WRITER_NBYTES])
{
  unsigned char bytes[RD_S3_WRITER_NBYTES / 2];
  if (RAND_bytes (bytes, sizeof bytes) != 1)
    return rd_fail (RADIO_ERROR_IO, "there are no random numbers");
  rd_s3_hex (bytes, sizeof bytes, name);
  return RADIO_OK;
}

enum radio_status
rd_s3_is_written_by (struct rd_s3 *s3, const char *key, const char *name,
                     uint64_t nbytes, bool *is_so)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  *is_so = false;
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_HEAD, key, NULL));
  enum radio_status status = rd_s3_call_run (&call, &look_site);
  if (status == RADIO_ERROR_NOT_FOUND)
    return RADIO_OK;
  RD_TRY (status);
  const struct rd_http_answer *answer = &call.read.task.answer;
  *is_so = answer->has_nbytes && answer->nbytes == nbytes
           && strcmp (answer->writer, name) == 0;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * What is there stays
 *----------------------------------------------------------------------*/

/* Whether it is ours that is in the way: an answer to an attempt was lost. */
static enum radio_status
settle (struct rd_s3_call *call, const char *key, const char *name,
        uint64_t nbytes)
{
  struct rd_error error;
  bool is_ours = false;
  rd_error_save (&error, RADIO_ERROR_EXISTS);
  if (call->read.task.is_ambiguous)
    RD_TRY (rd_s3_is_written_by (call->s3, key, name, nbytes, &is_ours));
  return is_ours ? RADIO_OK : rd_error_raise (&error);
}

static uint64_t
sum (const struct rd_part *parts, size_t n)
{
  uint64_t nbytes = 0;
  for (size_t i = 0; i < n; i++)
    nbytes += parts[i].nbytes;
  return nbytes;
}

static enum radio_status
put_if_absent (struct rd_s3 *s3, const char *key,
               const struct rd_part *parts, size_t n,
               const struct radio_site *site)
{
  char name[RD_S3_WRITER_NBYTES];
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_writer_name (name));
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_PUT, key, NULL));
  RD_TRY (rd_s3_call_body (&call, parts, n));
  rd_s3_call_header (&call, "if-none-match", "*");
  rd_s3_call_header (&call, RD_S3_WRITER_HEADER, name);
  enum radio_status status = rd_s3_call_run (&call, site);
  if (status == RADIO_ERROR_EXISTS)
    return settle (&call, key, name, sum (parts, n));
  return status;
}

/* Twice the same: a server that can refuses the second. */
static enum radio_status
try_if_absent (struct rd_s3 *s3, const char *key, enum rd_s3_skill *skill)
{
  enum radio_status status = put_if_absent (s3, key, NULL, 0, &probe_site);
  if (status == RADIO_OK)
    status = put_if_absent (s3, key, NULL, 0, &probe_site);
  *skill = status == RADIO_ERROR_EXISTS ? RD_S3_ABLE : RD_S3_UNABLE;
  if (status == RADIO_ERROR_EXISTS || status == RADIO_ERROR_UNSUPPORTED)
    return RADIO_OK;
  return status;
}

static enum radio_status
probe (struct rd_s3 *s3, enum rd_s3_skill *skill)
{
  char key[sizeof RD_S3_PROBE_NAME + RD_S3_WRITER_NBYTES];
  char random[RD_S3_WRITER_NBYTES];
  RD_TRY (rd_s3_writer_name (random));
  snprintf (key, sizeof key, RD_S3_PROBE_NAME "%s", random);
  enum radio_status status = try_if_absent (s3, key, skill);
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  struct rd_error error;
  rd_error_save (&error, status);
  /* What is not removed now is removed by sweep. */
  if (rd_s3_call_init (&call, s3, RD_HTTP_DELETE, key, NULL) == RADIO_OK)
    (void) !rd_s3_call_run (&call, &probe_site);
  return rd_error_raise (&error);
}

static enum radio_status
learn (struct rd_s3 *s3, enum rd_s3_skill *skill)
{
  RD_LOCK_SCOPE (&s3->probe_mutex);
  pthread_mutex_lock (&s3->mutex);
  *skill = s3->synced.if_absent;
  pthread_mutex_unlock (&s3->mutex);
  if (*skill != RD_S3_UNKNOWN)
    return RADIO_OK;
  RD_TRY (probe (s3, skill));
  pthread_mutex_lock (&s3->mutex);
  s3->synced.if_absent = *skill;
  pthread_mutex_unlock (&s3->mutex);
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Put
 *----------------------------------------------------------------------*/

static enum radio_status
put_over (struct rd_s3 *s3, const char *key, const struct rd_part *parts,
          size_t n)
{
  RD_S3_CALL_SCOPE struct rd_s3_call call = { 0 };
  RD_TRY (rd_s3_call_init (&call, s3, RD_HTTP_PUT, key, NULL));
  RD_TRY (rd_s3_call_body (&call, parts, n));
  return rd_s3_call_run (&call, &put_site);
}

/* Where nobody else writes, looking first does. */
static enum radio_status
look_and_put (struct rd_s3 *s3, const char *key, const struct rd_part *parts,
              size_t n)
{
  uint64_t nbytes;
  if (!s3->single_writer)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s/%s: the server ignores "
                    "conditions of writes (If-None-Match), so that two "
                    "writers could replace each other's data: say that there "
                    "is a single writer", s3->base.uri, key);
  RD_LOCK_SCOPE (&s3->probe_mutex);
  enum radio_status status = s3->base.ops->size (&s3->base, key, &nbytes);
  if (status == RADIO_OK)
    return rd_fail (RADIO_ERROR_EXISTS, "%s/%s: exists already",
                    s3->base.uri, key);
  if (status != RADIO_ERROR_NOT_FOUND)
    return status;
  return put_over (s3, key, parts, n);
}

enum radio_status
rd_s3_put (struct rd_io *io, const char *key, const struct rd_part *parts,
           size_t n, enum rd_put how)
{
  struct rd_s3 *s3 = (struct rd_s3 *) io;
  enum rd_s3_skill skill;
  RD_TRY (rd_key_check (io, key));
  RD_SCOPE ("write", RD_IN_NETWORK);
  RD_COUNT (written, sum (parts, n));
  if (how == RD_PUT_REPLACE)
    return put_over (s3, key, parts, n);
  RD_TRY (learn (s3, &skill));
  return skill == RD_S3_ABLE ? put_if_absent (s3, key, parts, n, &put_site)
                             : look_and_put (s3, key, parts, n);
}
