/* SPDX-License-Identifier: MIT */
/* S3's codes in words.  Its own words are not shown: with some errors they
 * repeat what was signed, or the access key. */
#include <config.h>

#include <string.h>

#include "src/base/checked.h"
#include "io/s3/error.h"
#include "io/s3/xml.h"

/* Letters, digits and points: what a code and a region consist of. */
static void
keep_plain (char *to, size_t room, const char *text)
{
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-";
  size_t n = strspn (text, plain);
  if (n >= room || text[n] != '\0')
    n = 0;
  memcpy (to, text, n);
  to[n] = '\0';
}

static enum radio_status
take_element (const char *path, const char *text, void *user_data)
{
  struct rd_s3_problem *problem = user_data;
  if (strcmp (path, "Error/Code") == 0)
    keep_plain (problem->code, sizeof problem->code, text);
  else if (strcmp (path, "Error/Region") == 0 && !problem->region[0])
    keep_plain (problem->region, sizeof problem->region, text);
  else if (strcmp (path, "Error/Message") == 0
           || strcmp (path, "Error/ArgumentName") == 0)
    problem->is_about_checksum |= strstr (text, "checksum")
                                  || strstr (text, "Checksum");
  else if (strcmp (path, "Error/ActualObjectSize") == 0)
    problem->has_object_nbytes = rd_s3_xml_number (text,
                                                   &problem->object_nbytes);
  return RADIO_OK;
}

/* What was understood of a broken body is used all the same. */
void
rd_s3_problem_read (struct rd_s3_problem *problem,
                    const struct rd_http_answer *answer,
                    const struct rd_buffer *body)
{
  *problem = (struct rd_s3_problem) { .status = answer->status };
  keep_plain (problem->region, sizeof problem->region, answer->region);
  if (body->nbytes > 0
      && rd_s3_xml_read (body, "", take_element, problem) != RADIO_OK)
    return;
}

bool
rd_s3_problem_is (const struct rd_s3_problem *problem,
                  const char *const *codes)
{
  for (; *codes; codes++)
    if (strcmp (problem->code, *codes) == 0)
      return true;
  return false;
}

enum rd_http_next
rd_s3_problem_next (const struct rd_s3_problem *problem)
{
  static const char *const too_much[] = {
    "SlowDown", "Throttling", "ThrottlingException", "RequestLimitExceeded",
    "RequestThrottled", "TooManyRequests", "BandwidthLimitExceeded", NULL
  };
  static const char *const passing[] = {
    "InternalError", "ServiceUnavailable", "RequestTimeout",
    "OperationAborted", "ConditionalRequestConflict",
    "PriorRequestNotComplete", NULL
  };
  unsigned status = problem->status;
  if (status == 429 || status == 503 || rd_s3_problem_is (problem, too_much))
    return RD_HTTP_SLOWER;
  if (status == 408 || status == 500 || status == 502 || status == 504
      || rd_s3_problem_is (problem, passing))
    return RD_HTTP_LATER;
  return RD_HTTP_END;
}

struct meaning {
  const char *code;
  enum radio_status status;
  const char *words;
};

static const struct meaning meanings[] = {
  { "NoSuchKey", RADIO_ERROR_NOT_FOUND, "no such object" },
  { "NoSuchUpload", RADIO_ERROR_NOT_FOUND, "its upload is gone: somebody "
    "else ended it" },
  { "NoSuchBucket", RADIO_ERROR_IO, "there is no such bucket: look at its "
    "name and at the endpoint" },
  { "InvalidBucketName", RADIO_ERROR_ARGUMENT, "no bucket can have this "
    "name" },
  { "AccessDenied", RADIO_ERROR_PERMISSION, "access is denied: the "
    "credentials do not allow it (or there is no such object, and they do "
    "not allow to list the bucket)" },
  { "AllAccessDisabled", RADIO_ERROR_PERMISSION, "the bucket is closed to "
    "everybody" },
  { "InvalidAccessKeyId", RADIO_ERROR_PERMISSION, "the server does not know "
    "the access key: look at the credentials and at the endpoint" },
  { "SignatureDoesNotMatch", RADIO_ERROR_PERMISSION, "the signature does not "
    "match: the secret key is wrong, or what is on the way changes "
    "requests" },
  { "ExpiredToken", RADIO_ERROR_PERMISSION, "the session token has expired: "
    "get new credentials" },
  { "InvalidToken", RADIO_ERROR_PERMISSION, "the session token is not "
    "valid: get new credentials" },
  { "RequestTimeTooSkewed", RADIO_ERROR_PERMISSION, "the clock here and the "
    "server's are too far apart: set the clock" },
  { "AuthorizationHeaderMalformed", RADIO_ERROR_PERMISSION, "the server "
    "expects another region: name it" },
  { "PermanentRedirect", RADIO_ERROR_IO, "the bucket is in another region: "
    "name it" },
  { "InvalidObjectState", RADIO_ERROR_IO, "the object is in an archive: "
    "have it restored first" },
  { "EntityTooLarge", RADIO_ERROR_LIMIT, "the server takes no objects of "
    "this size" },
  { "KeyTooLongError", RADIO_ERROR_LIMIT, "the key is too long for the "
    "server" },
  { "QuotaExceeded", RADIO_ERROR_NO_SPACE, "the quota is used up" },
  { "InsufficientStorage", RADIO_ERROR_NO_SPACE, "the server has no room "
    "left" },
  { "BadDigest", RADIO_ERROR_IO, "what arrived is not what was sent" },
  { "XAmzContentSHA256Mismatch", RADIO_ERROR_IO, "what arrived is not what "
    "was sent" },
  { "PreconditionFailed", RADIO_ERROR_EXISTS, "exists already" },
  { "NotImplemented", RADIO_ERROR_UNSUPPORTED, "the server cannot do this" },
  { "MethodNotAllowed", RADIO_ERROR_UNSUPPORTED, "the server does not allow "
    "this here" },
};

/* Of what says no code that is known: answers to HEAD have no body. */
static struct meaning
meaning_of_status (unsigned status)
{
  switch (status) {
  case 404: return meanings[0];
  case 400:
    return (struct meaning) { "", RADIO_ERROR_IO, "the server does not take "
                              "the request (one reason is credentials that "
                              "have expired)" };
  case 401: case 403:
    return (struct meaning) { "", RADIO_ERROR_PERMISSION,
                              "the server refuses" };
  case 412:
    return (struct meaning) { "", RADIO_ERROR_EXISTS, "exists already" };
  case 405: case 501:
    return (struct meaning) { "", RADIO_ERROR_UNSUPPORTED,
                              "the server cannot do this" };
  case 301: case 307:
    return (struct meaning) { "", RADIO_ERROR_IO,
                              "the bucket is in another region" };
  case 507:
    return (struct meaning) { "", RADIO_ERROR_NO_SPACE,
                              "the server has no room left" };
  default:
    return (struct meaning) { "", RADIO_ERROR_IO, "the server fails" };
  }
}

static struct meaning
meaning_of (const struct rd_s3_problem *problem)
{
  for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
    if (strcmp (problem->code, meanings[i].code) == 0)
      return meanings[i];
  return meaning_of_status (problem->status);
}

enum radio_status
rd_s3_problem_fail (const struct rd_s3_problem *problem, const char *where,
                    bool asks_as_none)
{
  struct meaning meaning = meaning_of (problem);
  if (meaning.status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (meaning.status, "%s: %s", where, meaning.words);
  const char *none = asks_as_none && (problem->status == 403
                                      || problem->status == 401)
                     ? "; it was asked for without credentials" : "";
  const char *in = problem->region[0] ? ", region " : "";
  const char *comma = problem->code[0] ? ", " : "";
  return rd_fail (meaning.status, "%s: %s%s (status %u%s%s%s%s)", where,
                  meaning.words, none, problem->status, comma, problem->code,
                  in, problem->region);
}
