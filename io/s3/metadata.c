/* SPDX-License-Identifier: MIT */
/* Credentials of a container (ECS, EKS) and of an instance (EC2, by IMDSv2
 * alone).  Both are asked over plain HTTP at addresses that never leave the
 * machine; what else is named must be asked over TLS. */
#include <config.h>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>

#include "src/base/error.h"
#include "io/percent.h"
#include "io/s3/ask.h"
#include "io/s3/file.h"
#include "io/s3/sources.h"

#define CONTAINER_URL "http://169.254.170.2"
#define CONTAINER_TIMEOUT_MS 2000
#define CONTAINER_NATTEMPTS 3
#define INSTANCE_URL "http://169.254.169.254"
#define INSTANCE_PATH "/latest/meta-data/iam/security-credentials/"
#define MAX_TOKEN_NBYTES 4096
#define MAX_SECONDS 60
#define MAX_ATTEMPTS 10

static const char *
setting (const struct rd_s3_search *search, enum rd_s3_setting which)
{
  return rd_s3_setting (search->settings, which);
}

static enum radio_status
join (struct rd_buffer *url, const char *base, const char *path)
{
  size_t n = strlen (base);
  while (n > 0 && base[n - 1] == '/')
    n--;
  url->nbytes = 0;
  RD_TRY (rd_buffer_append (url, base, n));
  RD_TRY (rd_s3_append (url, path));
  return rd_s3_append_end (url);
}

static enum radio_status
fail_status (const char *what, unsigned status)
{
  return rd_fail (status == 404 ? RADIO_ERROR_NOT_FOUND
                                : RADIO_ERROR_PERMISSION,
                  "%s: answered with status %u", what, status);
}

/*------------------------------------------------------------------------
 * The container
 *----------------------------------------------------------------------*/

#define CONTAINER "the container's credentials"

struct parts {
  CURLU *url;
  char *scheme, *host;
};

static void
cleanup_parts (struct parts *parts)
{
  curl_free (parts->scheme);
  curl_free (parts->host);
  curl_url_cleanup (parts->url);
}

static bool
is_local (const char *host)
{
  static const char *const hosts[] = {
    "localhost", "[::1]", "169.254.170.2", "169.254.170.23",
    "[fd00:ec2::23]",
  };
  struct in_addr address;
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
    if (strcmp (host, hosts[i]) == 0)
      return true;
  return inet_pton (AF_INET, host, &address) == 1
         && ntohl (address.s_addr) >> 24 == 127;
}

static enum radio_status
check_full_uri (const char *uri)
{
  RD_CLEANUP (cleanup_parts) struct parts parts = { curl_url (), NULL, NULL };
  if (parts.url == NULL)
    return rd_fail_memory (0);
  if (!rd_s3_is_line (uri)
      || curl_url_set (parts.url, CURLUPART_URL, uri, 0)
      || curl_url_get (parts.url, CURLUPART_SCHEME, &parts.scheme, 0)
      || curl_url_get (parts.url, CURLUPART_HOST, &parts.host, 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_FULL_"
                    "URI is not an address");
  if (strcmp (parts.scheme, "https") == 0
      || (strcmp (parts.scheme, "http") == 0 && is_local (parts.host)))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_FULL_URI "
                  "must be of https, or of this machine: '%s' is neither",
                  parts.host);
}

static enum radio_status
container_url (const struct rd_s3_search *search, struct rd_buffer *url)
{
  const char *path = setting (search, RD_S3_CONTAINER_RELATIVE_URI);
  const char *uri = setting (search, RD_S3_CONTAINER_FULL_URI);
  const char *base = setting (search, RD_S3_OWN_CONTAINER_URL);
  if (path == NULL) {
    RD_TRY (check_full_uri (uri));
    return join (url, uri, "");
  }
  if (path[0] != '/' || !rd_s3_is_line (path))
    return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_"
                    "RELATIVE_URI is not a path");
  return join (url, base ? base : CONTAINER_URL, path);
}

/* The file is read each time: what writes it renews it. */
static enum radio_status
container_token (const struct rd_s3_search *search, struct rd_buffer *token)
{
  const char *file = setting (search, RD_S3_CONTAINER_TOKEN_FILE);
  const char *text = setting (search, RD_S3_CONTAINER_TOKEN);
  if (file)
    RD_TRY (rd_s3_file_read_token (file, token));
  else if (text)
    RD_TRY (rd_s3_append (token, text));
  else
    return RADIO_OK;
  RD_TRY (rd_s3_append_end (token));
  if (!rd_s3_is_line ((const char *) token->data))
    return rd_fail (RADIO_ERROR_ARGUMENT, "the container's authorization "
                    "token is not one line");
  return RADIO_OK;
}

enum radio_status
rd_s3_look_at_container (const struct rd_s3_search *search,
                         struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer url = { 0 }, token = { 0 };
  RD_S3_SECRET_SCOPE struct rd_buffer answer = { 0 };
  unsigned status;
  if (!setting (search, RD_S3_CONTAINER_RELATIVE_URI)
      && !setting (search, RD_S3_CONTAINER_FULL_URI))
    return RADIO_OK;
  RD_TRY (container_url (search, &url));
  RD_TRY (container_token (search, &token));
  const struct rd_s3_header header = { "Authorization",
                                       (const char *) token.data };
  const struct rd_s3_question question = {
    .what = CONTAINER, .url = (const char *) url.data,
    .headers = &header, .nheaders = token.nbytes > 0,
    .nattempts = CONTAINER_NATTEMPTS, .timeout_ms = CONTAINER_TIMEOUT_MS,
    .ca_file = rd_s3_ca_file (search->settings),
  };
  RD_TRY (rd_s3_ask (&question, &answer, &status));
  if (status != 200)
    return fail_status (CONTAINER, status);
  return rd_s3_credentials_from_json (&answer, CONTAINER, false, credentials);
}

/*------------------------------------------------------------------------
 * The instance
 *----------------------------------------------------------------------*/

#define INSTANCE "the instance's metadata"

struct instance {
  const char *base;
  unsigned nattempts;
  uint64_t timeout_ms;
  struct rd_s3_header token;
};

/* A small number of a variable. */
static enum radio_status
get_number (const struct rd_s3_search *search, enum rd_s3_setting which,
            unsigned most, unsigned *number)
{
  const char *text = setting (search, which);
  unsigned value = 0;
  *number = 1;
  if (text == NULL)
    return RADIO_OK;
  for (const char *p = text; value <= most && *p; p++)
    value = *p >= '0' && *p <= '9' ? 10 * value + (unsigned) (*p - '0')
                                   : most + 1;
  if (value == 0 || value > most)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s is '%s', not a number of 1 to "
                    "%u", rd_s3_setting_name (which), text, most);
  *number = value;
  return RADIO_OK;
}

static enum radio_status
ask_instance (const struct instance *instance, enum rd_http_method method,
              const char *path, struct rd_buffer *answer)
{
  RD_BUFFER_SCOPE struct rd_buffer url = { 0 };
  unsigned status;
  RD_TRY (join (&url, instance->base, path));
  const struct rd_s3_question question = {
    .what = INSTANCE, .url = (const char *) url.data, .method = method,
    .headers = &instance->token, .nheaders = 1,
    .nattempts = instance->nattempts, .timeout_ms = instance->timeout_ms,
  };
  RD_TRY (rd_s3_ask (&question, answer, &status));
  return status == 200 ? RADIO_OK : fail_status (INSTANCE, status);
}

/* End an answer that is one line. */
static enum radio_status
take_line (struct rd_buffer *answer)
{
  while (answer->nbytes > 0
         && strchr ("\r\n", answer->data[answer->nbytes - 1]))
    answer->nbytes--;
  if (answer->nbytes > 0 && answer->nbytes <= MAX_TOKEN_NBYTES
      && !memchr (answer->data, '\0', answer->nbytes)) {
    RD_TRY (rd_s3_append_end (answer));
    if (rd_s3_is_line ((const char *) answer->data))
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_FORMAT, INSTANCE ": the answer is not one "
                  "line");
}

static enum radio_status
ask_for_role (const struct instance *instance,
              struct rd_s3_credentials **credentials)
{
  RD_BUFFER_SCOPE struct rd_buffer name = { 0 }, path = { 0 };
  RD_S3_SECRET_SCOPE struct rd_buffer answer = { 0 };
  enum radio_status status = ask_instance (instance, RD_HTTP_GET,
                                           INSTANCE_PATH, &name);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (RADIO_ERROR_PERMISSION, "the instance has no role");
  RD_TRY (status);
  RD_TRY (take_line (&name));
  RD_FREE char *role = rd_percent_encode ((const char *) name.data,
                                     name.nbytes - 1, false);
  if (role == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_append (&path, INSTANCE_PATH));
  RD_TRY (rd_s3_append (&path, role));
  RD_TRY (rd_s3_append_end (&path));
  RD_TRY (ask_instance (instance, RD_HTTP_GET, (const char *) path.data,
                        &answer));
  return rd_s3_credentials_from_json (&answer, INSTANCE, false, credentials);
}

enum radio_status
rd_s3_ask_instance (const struct rd_s3_search *search,
                    struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer token = { 0 };
  const char *base = setting (search, RD_S3_METADATA_ENDPOINT);
  struct instance instance = {
    .base = base ? base : INSTANCE_URL,
    .token = { "x-aws-ec2-metadata-token-ttl-seconds", "21600" },
  };
  unsigned seconds;
  RD_TRY (get_number (search, RD_S3_METADATA_TIMEOUT, MAX_SECONDS, &seconds));
  RD_TRY (get_number (search, RD_S3_METADATA_ATTEMPTS, MAX_ATTEMPTS,
                      &instance.nattempts));
  RD_TRY (rd_http_check_url (instance.base));
  instance.timeout_ms = 1000 * (uint64_t) seconds;
  RD_TRY (ask_instance (&instance, RD_HTTP_PUT, "/latest/api/token", &token));
  RD_TRY (take_line (&token));
  instance.token = (struct rd_s3_header) {
    "x-aws-ec2-metadata-token", (const char *) token.data
  };
  return ask_for_role (&instance, credentials);
}
