/* SPDX-License-Identifier: MIT */
/* Services that issue credentials: the container (ECS, EKS), the instance
 * (EC2, by IMDSv2 alone) and STS.  Containers and instances are queried over
 * plain HTTP at addresses of the machine itself; other addresses must use TLS.
 */
#include <config.h>

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>

#include "src/base/error.h"
#include "io/percent.h"
#include "io/s3/sign.h"
#include "io/s3/sources.h"
#include "io/s3/xml.h"

/*------------------------------------------------------------------------
 * Requests to a service: each has an engine of its own, for a moment, since
 * they are sent once an hour, and never through a proxy
 *----------------------------------------------------------------------*/

#define MAX_RESPONSE_NBYTES 65536

struct service_request {
  struct rd_http_task task;   /* first */
  const char *what;           /* messages show this, not the URL, which may be
                                 secret */
  const char *url;
  enum rd_http_method method;
  const struct rd_s3_header *headers;
  size_t nheaders;
  const char *body;           /* NULL: none */
  struct rd_part part;        /* the body */
  const struct rd_s3_signing *signing;        /* NULL: not signed */
  unsigned nattempts;
  uint64_t timeout_ms;        /* to connect, and to answer */
  const char *ca_file;        /* NULL: the system's */
};

/* True for a line without control characters, a valid header value. */
static bool
is_line (const char *text)
{
  for (const unsigned char *p = (const unsigned char *) text; *p; p++)
    if (*p < 0x20 || *p == 0x7f)
      return false;
  return true;
}

/* The host and path as libcurl will send them. */
struct address {
  CURLU *url;
  char *scheme, *host, *port, *path;
};

static void
cleanup_address (struct address *address)
{
  curl_free (address->scheme);
  curl_free (address->host);
  curl_free (address->port);
  curl_free (address->path);
  curl_url_cleanup (address->url);
}

static enum radio_status
prepare (struct rd_http_task *task, struct rd_http_headers *headers)
{
  const struct service_request *request
    = (const struct service_request *) task;
  RD_CLEANUP (cleanup_address) struct address address = { 0 };
  char sha256[RD_S3_SHA256_NBYTES];
  RD_TRY (rd_s3_add_headers (headers, request->headers, request->nheaders));
  if (request->signing == NULL)
    return RADIO_OK;
  address.url = curl_url ();
  if (address.url == NULL
      || curl_url_set (address.url, CURLUPART_URL, request->url,
                       CURLU_PATH_AS_IS)
      || curl_url_get (address.url, CURLUPART_HOST, &address.host, 0)
      || curl_url_get (address.url, CURLUPART_PATH, &address.path, 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "not a URL");
  (void) curl_url_get (address.url, CURLUPART_PORT, &address.port,
                       CURLU_NO_DEFAULT_PORT);
  RD_FREE char *host = RD_S3_JOIN (address.host, address.port ? ":" : "",
                                   address.port ? address.port : "");
  if (host == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_sha256 (&request->part, 1, sha256));
  const struct rd_s3_request signed_request = {
    .method = rd_http_method_name (request->method),
    .host = host, .path = address.path,
    .headers = request->headers, .nheaders = request->nheaders,
    .payload_sha256 = sha256,
  };
  return rd_s3_add_signature (headers, request->signing, &signed_request);
}

static enum radio_status
conclude (struct rd_http_task *task, const struct rd_buffer *error_body,
          enum rd_http_next *next)
{
  unsigned status = task->response.status;
  if (rd_http_is_good (status))
    return RADIO_OK;
  if (status == 429 || status >= 500) {
    *next = RD_HTTP_RETRY_LATER;
    return rd_fail (RADIO_ERROR_IO, "%s: answered with status %u",
                    rd_http_name (task), status);
  }
  task->into->nbytes = 0;
  return rd_buffer_append (task->into, error_body->data, error_body->nbytes);
}

RD_DEFINE_CLEANUP (http, struct rd_http, rd_http_close);

/* Sends a request and waits for the response.  RADIO_OK for any status, but a
 * transient one at the last attempt.  The response replaces the buffer's
 * content; it is allocated at its full size, so that no copy of a secret
 * stays in freed memory. */
static enum radio_status
run_request (struct service_request *request, struct rd_buffer *response,
             unsigned *status)
{
  const char *body = request->body;
  const struct rd_http_options options = {
    .nconnections = 1, .nattempts = request->nattempts,
    .connect_timeout_ms = request->timeout_ms,
    .first_byte_timeout_ms = request->timeout_ms,
    .stall_timeout_ms = request->timeout_ms,
    .deadline_ms = 2 * request->timeout_ms * request->nattempts,
    .ca_file = request->ca_file,
  };
  RD_CLEANUP (rd_cleanup_http) struct rd_http *http = NULL;
  request->part = (struct rd_part) { body, body ? strlen (body) : 0 };
  request->task = (struct rd_http_task) {
    .url = request->url, .name = request->what, .method = request->method,
    .into = response, .is_repeatable = true, .leaves_nothing = true,
    .prepare = prepare, .conclude = conclude, .max_nbytes = MAX_RESPONSE_NBYTES,
    .parts = &request->part, .nparts = body ? 1 : 0,
  };
  RD_TRY (rd_buffer_reserve (response, MAX_RESPONSE_NBYTES));
  RD_TRY (rd_http_open (&options, &http));
  RD_TRY (rd_http_run (http, &request->task));
  *status = request->task.response.status;
  return RADIO_OK;
}

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
join_url (struct rd_buffer *url, const char *base, const char *path)
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

static enum radio_status
check_full_uri (const char *uri)
{
  static const char *const hosts[] = {
    "localhost", "[::1]", "169.254.170.2", "169.254.170.23",
    "[fd00:ec2::23]",
  };
  RD_CLEANUP (cleanup_address) struct address address = { .url = curl_url () };
  if (address.url == NULL)
    return rd_fail_memory (0);
  if (!is_line (uri)
      || curl_url_set (address.url, CURLUPART_URL, uri, 0)
      || curl_url_get (address.url, CURLUPART_SCHEME, &address.scheme, 0)
      || curl_url_get (address.url, CURLUPART_HOST, &address.host, 0))
    return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_FULL_"
                    "URI is not a URL");
  struct in_addr ip;
  bool is_local = inet_pton (AF_INET, address.host, &ip) == 1
                  && ntohl (ip.s_addr) >> 24 == 127;
  for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++)
    is_local |= strcmp (address.host, hosts[i]) == 0;
  if (strcmp (address.scheme, "https") == 0
      || (strcmp (address.scheme, "http") == 0 && is_local))
    return RADIO_OK;
  return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_FULL_URI "
                  "must use https, or a local address: '%s' is neither",
                  address.host);
}

enum radio_status
rd_s3_container_credentials (const struct rd_s3_search *search,
                             struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer url = { 0 }, token = { 0 };
  RD_S3_SECRET_SCOPE struct rd_buffer response = { 0 };
  const char *path = setting (search, RD_S3_CONTAINER_RELATIVE_URI);
  const char *uri = setting (search, RD_S3_CONTAINER_FULL_URI);
  const char *base = setting (search, RD_S3_OWN_CONTAINER_URL);
  const char *file = setting (search, RD_S3_CONTAINER_TOKEN_FILE);
  const char *text = setting (search, RD_S3_CONTAINER_TOKEN);
  unsigned status;
  if (!path && !uri)
    return RADIO_OK;
  if (path && (path[0] != '/' || !is_line (path)))
    return rd_fail (RADIO_ERROR_ARGUMENT, "AWS_CONTAINER_CREDENTIALS_"
                    "RELATIVE_URI is not a path");
  if (!path)
    RD_TRY (check_full_uri (uri));
  RD_TRY (join_url (&url, !path ? uri : base ? base : CONTAINER_URL,
                    path ? path : ""));
  /* The file is read each time, since it is refreshed. */
  if (file)
    RD_TRY (rd_s3_file_read_token (file, &token));
  else if (text)
    RD_TRY (rd_s3_append (&token, text));
  if (file || text) {
    RD_TRY (rd_s3_append_end (&token));
    if (!is_line ((const char *) token.data))
      return rd_fail (RADIO_ERROR_ARGUMENT, "the container's authorization "
                      "token is not one line");
  }
  const struct rd_s3_header header = { "Authorization",
                                       (const char *) token.data };
  struct service_request request = {
    .what = CONTAINER, .url = (const char *) url.data,
    .headers = &header, .nheaders = token.nbytes > 0,
    .nattempts = CONTAINER_NATTEMPTS, .timeout_ms = CONTAINER_TIMEOUT_MS,
    .ca_file = rd_s3_ca_file (search->settings),
  };
  RD_TRY (run_request (&request, &response, &status));
  if (status != 200)
    return fail_status (CONTAINER, status);
  return rd_s3_credentials_from_json (&response, CONTAINER, false,
                                      credentials);
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

/* Parses a variable that is a number from 1 to most; 1 if it is not set. */
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
query_instance (const struct instance *instance, enum rd_http_method method,
                const char *path, struct rd_buffer *response)
{
  RD_BUFFER_SCOPE struct rd_buffer url = { 0 };
  unsigned status;
  RD_TRY (join_url (&url, instance->base, path));
  struct service_request request = {
    .what = INSTANCE, .url = (const char *) url.data, .method = method,
    .headers = &instance->token, .nheaders = 1,
    .nattempts = instance->nattempts, .timeout_ms = instance->timeout_ms,
  };
  RD_TRY (run_request (&request, response, &status));
  return status == 200 ? RADIO_OK : fail_status (INSTANCE, status);
}

/* Trims the line end of a response, which must be one line. */
static enum radio_status
end_line (struct rd_buffer *response)
{
  while (response->nbytes > 0
         && strchr ("\r\n", response->data[response->nbytes - 1]))
    response->nbytes--;
  if (response->nbytes > 0 && response->nbytes <= MAX_TOKEN_NBYTES
      && !memchr (response->data, '\0', response->nbytes)) {
    RD_TRY (rd_s3_append_end (response));
    if (is_line ((const char *) response->data))
      return RADIO_OK;
  }
  return rd_fail (RADIO_ERROR_FORMAT, INSTANCE ": the response is not one "
                  "line");
}

enum radio_status
rd_s3_instance_credentials (const struct rd_s3_search *search,
                            struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer token = { 0 }, response = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer name = { 0 }, path = { 0 };
  const char *base = setting (search, RD_S3_METADATA_ENDPOINT);
  struct instance instance = {
    .base = base ? base : INSTANCE_URL,
    .token = { "x-aws-ec2-metadata-token-ttl-seconds", "21600" },
  };
  unsigned seconds;
  RD_TRY (get_number (search, RD_S3_METADATA_TIMEOUT, MAX_SECONDS, &seconds));
  RD_TRY (get_number (search, RD_S3_METADATA_ATTEMPTS, MAX_ATTEMPTS,
                      &instance.nattempts));
  RD_TRY (rd_http_check_url ("the instance's metadata service",
                             instance.base));
  instance.timeout_ms = 1000 * (uint64_t) seconds;
  RD_TRY (query_instance (&instance, RD_HTTP_PUT, "/latest/api/token",
                          &token));
  RD_TRY (end_line (&token));
  instance.token = (struct rd_s3_header) {
    "x-aws-ec2-metadata-token", (const char *) token.data
  };
  enum radio_status status = query_instance (&instance, RD_HTTP_GET,
                                             INSTANCE_PATH, &name);
  if (status == RADIO_ERROR_NOT_FOUND)
    return rd_fail (RADIO_ERROR_PERMISSION, "the instance has no role");
  RD_TRY (status);
  RD_TRY (end_line (&name));
  RD_FREE char *role = rd_percent_encode ((const char *) name.data,
                                          name.nbytes - 1, false);
  if (role == NULL)
    return RADIO_ERROR_MEMORY;
  RD_TRY (rd_s3_append (&path, INSTANCE_PATH));
  RD_TRY (rd_s3_append (&path, role));
  RD_TRY (rd_s3_append_end (&path));
  RD_TRY (query_instance (&instance, RD_HTTP_GET, (const char *) path.data,
                          &response));
  return rd_s3_credentials_from_json (&response, INSTANCE, false,
                                      credentials);
}

/*------------------------------------------------------------------------
 * STS, which assumes roles: by a request that is signed with other
 * credentials, or that contains the token of a file
 *----------------------------------------------------------------------*/

#define STS "assuming the role by STS"
#define NATTEMPTS 3
#define TIMEOUT_MS 10000
#define GLOBAL_REGION "us-east-1"

static enum radio_status
make_url (const struct rd_s3_search *search, const char *region,
          struct rd_buffer *url)
{
  const char *endpoint = rd_s3_endpoint (search->settings, search->profiles,
                                         "sts");
  size_t n = endpoint ? strlen (endpoint) : 0;
  if (endpoint) {
    RD_TRY (rd_http_check_url ("the endpoint of STS", endpoint));
    RD_TRY (rd_s3_append (url, endpoint));
    if (endpoint[n - 1] != '/')
      RD_TRY (rd_s3_append (url, "/"));
    return rd_s3_append_end (url);
  }
  RD_TRY (rd_s3_append (url, "https://sts."));
  /* A region becomes part of a host name. */
  if (region
      && region[strspn (region, "abcdefghijklmnopqrstuvwxyz0123456789-")])
    return rd_fail (RADIO_ERROR_ARGUMENT, "'%s' is not a region", region);
  if (region) {
    RD_TRY (rd_s3_append (url, region));
    RD_TRY (rd_s3_append (url, "."));
  }
  RD_TRY (rd_s3_append (url, region && strncmp (region, "cn-", 3) == 0
                             ? "amazonaws.com.cn/" : "amazonaws.com/"));
  return rd_s3_append_end (url);
}

static enum radio_status
add_field (struct rd_buffer *body, const char *name, const char *value)
{
  if (value == NULL)
    return RADIO_OK;
  char *encoded = rd_percent_encode (value, strlen (value), false);
  if (encoded == NULL)
    return RADIO_ERROR_MEMORY;
  enum radio_status status = rd_s3_append (body, "&");
  if (status == RADIO_OK)
    status = rd_s3_append (body, name);
  if (status == RADIO_OK)
    status = rd_s3_append (body, "=");
  if (status == RADIO_OK)
    status = rd_s3_append (body, encoded);
  rd_s3_secret_free (encoded);
  return status;
}

/* Allocates body at its full size, so that no copy of the token stays in
 * freed memory. */
static enum radio_status
make_body (const struct rd_s3_role *role, const char *token,
           struct rd_buffer *body)
{
  const char *name = role->session_name ? role->session_name : "radio";
  size_t nbytes = strlen (role->arn) + strlen (name)
                  + (role->external_id ? strlen (role->external_id) : 0)
                  + (role->duration_s ? strlen (role->duration_s) : 0)
                  + (token ? strlen (token) : 0);
  RD_TRY (rd_buffer_reserve (body, 3 * nbytes + 512));
  RD_TRY (rd_s3_append (body, token ? "Action=AssumeRoleWithWebIdentity"
                                    : "Action=AssumeRole"));
  RD_TRY (add_field (body, "Version", "2011-06-15"));
  RD_TRY (add_field (body, "RoleArn", role->arn));
  RD_TRY (add_field (body, "RoleSessionName", name));
  RD_TRY (add_field (body, "ExternalId", role->external_id));
  RD_TRY (add_field (body, "DurationSeconds", role->duration_s));
  RD_TRY (add_field (body, "WebIdentityToken", token));
  return rd_s3_append_end (body);
}

struct sts_response {
  struct rd_buffer access_key, secret_key, token;
  char code[64];
  int64_t expires_s;
};

static void
cleanup_sts_response (struct sts_response *response)
{
  rd_s3_secret_buffer_free (&response->access_key);
  rd_s3_secret_buffer_free (&response->secret_key);
  rd_s3_secret_buffer_free (&response->token);
}

static enum radio_status
keep_text (struct rd_buffer *buffer, const char *text)
{
  buffer->nbytes = 0;
  return rd_buffer_append (buffer, text, strlen (text) + 1);
}

static enum radio_status
read_sts_element (const char *path, const char *text, void *data)
{
  static const char *const parents[] = {
    "AssumeRoleResponse/AssumeRoleResult/Credentials/",
    "AssumeRoleWithWebIdentityResponse/AssumeRoleWithWebIdentityResult/"
    "Credentials/",
  };
  struct sts_response *response = data;
  const char *name = "";
  for (size_t i = 0; i < sizeof parents / sizeof parents[0]; i++)
    if (strncmp (path, parents[i], strlen (parents[i])) == 0)
      name = path + strlen (parents[i]);
  if (strcmp (path, "ErrorResponse/Error/Code") == 0
      || strcmp (path, "Error/Code") == 0) {
    /* Codes are letters; others are not shown. */
    size_t n = strspn (text, "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (text[n] == '\0' && n < sizeof response->code)
      memcpy (response->code, text, n + 1);
  }
  if (strcmp (name, "AccessKeyId") == 0)
    return keep_text (&response->access_key, text);
  if (strcmp (name, "SecretAccessKey") == 0)
    return keep_text (&response->secret_key, text);
  if (strcmp (name, "SessionToken") == 0)
    return keep_text (&response->token, text);
  if (strcmp (name, "Expiration") == 0
      && !rd_s3_parse_time (text, &response->expires_s))
    return rd_fail (RADIO_ERROR_FORMAT, STS ": 'Expiration' is not a time");
  return RADIO_OK;
}

/* The token's file is read each time, since it is refreshed. */
enum radio_status
rd_s3_assume_role (const struct rd_s3_search *search,
                   const struct rd_s3_role *role,
                   struct rd_s3_credentials **credentials)
{
  RD_S3_SECRET_SCOPE struct rd_buffer token = { 0 }, body = { 0 };
  RD_S3_SECRET_SCOPE struct rd_buffer document = { 0 };
  RD_CLEANUP (cleanup_sts_response) struct sts_response response = { 0 };
  RD_BUFFER_SCOPE struct rd_buffer url = { 0 };
  const char *region = rd_s3_region (search->settings, search->profiles);
  const struct rd_s3_header type = {
    "content-type", "application/x-www-form-urlencoded; charset=utf-8"
  };
  unsigned status;
  if (role->token_file)
    RD_TRY (rd_s3_file_read_token (role->token_file, &token));
  RD_TRY (make_body (role, role->token_file ? (const char *) token.data
                                            : NULL, &body));
  RD_TRY (make_url (search, region, &url));
  const struct rd_s3_signing signing = {
    .credentials = role->source, .region = region ? region : GLOBAL_REGION,
    .service = "sts", .now_s = search->now_s,
  };
  struct service_request request = {
    .what = STS, .url = (const char *) url.data, .method = RD_HTTP_POST,
    .headers = &type, .nheaders = 1, .body = (const char *) body.data,
    .signing = role->token_file ? NULL : &signing, .nattempts = NATTEMPTS,
    .timeout_ms = TIMEOUT_MS, .ca_file = rd_s3_ca_file (search->settings),
  };
  RD_TRY (run_request (&request, &document, &status));

  enum radio_status parsed = rd_s3_xml_read (&document, STS,
                                             read_sts_element, &response);
  if (status != 200)
    return rd_fail (RADIO_ERROR_PERMISSION, STS ": answered with status %u%s"
                    "%s", status, response.code[0] ? ", " : "",
                    response.code);
  RD_TRY (parsed);
  if (response.access_key.nbytes <= 1 || response.secret_key.nbytes <= 1
      || response.token.nbytes <= 1)
    return rd_fail (RADIO_ERROR_FORMAT, STS ": the response contains no "
                    "credentials");
  return rd_s3_credentials_new ((const char *) response.access_key.data,
                                (const char *) response.secret_key.data,
                                (const char *) response.token.data,
                                response.expires_s, credentials);
}
