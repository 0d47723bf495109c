/* SPDX-License-Identifier: MIT */
/* Which store a URI means.  What has no scheme is a local path, also with a
 * colon in it. */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/percent.h"
#include "io/stores.h"

/* The length of SCHEME in "SCHEME://", or 0; by RFC 3986. */
static size_t
scheme_nbytes (const char *uri)
{
  static const char letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static const char more[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
  if (strspn (uri, letters) == 0)
    return 0;
  size_t n = strspn (uri, more);
  return strncmp (uri + n, "://", 3) == 0 ? n : 0;
}

static enum radio_status
open_file_uri (const char *uri, bool create, struct rd_io **io)
{
  const char *path = uri + strlen ("file://");
  if (strncmp (path, "localhost/", strlen ("localhost/")) == 0)
    path += strlen ("localhost");
  if (*path != '/')
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: the path after 'file://' must begin with '/'", uri);
  RD_FREE char *decoded = rd_strdup (path);
  if (decoded == NULL)
    return rd_fail_memory (strlen (path) + 1);
  if (!rd_percent_decode (decoded, false))
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "%s: '%%' without two hexadecimal digits", uri);
  return rd_io_posix_open (decoded, create, io);
}

static bool
is_scheme (const char *uri, size_t nbytes, const char *scheme)
{
  return nbytes == strlen (scheme) && strncasecmp (uri, scheme, nbytes) == 0;
}

/* The folder is not looked for: whoever reads of it hears what is there. */
static enum radio_status
open_http (const char *uri, bool create, struct rd_io **io)
{
  const struct rd_http_options options = { 0 };
  RD_TRY (rd_http_check_url (uri));
  if (create)
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: a store behind http is "
                    "only read", uri);
  return rd_io_http_open (uri, &options, io);
}

/* A bucket and a prefix are not made: objects are. */
static enum radio_status
open_s3 (const char *uri, const struct rd_s3_options *options,
         struct rd_io **io)
{
  const struct rd_s3_options none = { 0 };
  return rd_io_s3_open (uri, options ? options : &none, io);
}

enum radio_status
rd_io_open (const char *uri, bool create, struct rd_io **io)
{
  return rd_io_open_with (uri, create, NULL, io);
}

enum radio_status
rd_io_open_with (const char *uri, bool create,
                 const struct rd_s3_options *s3, struct rd_io **io)
{
  *io = NULL;
  if (*uri == '\0')
    return rd_fail (RADIO_ERROR_ARGUMENT, "the name of the store is empty");
  if (strcmp (uri, "memory:") == 0)
    return rd_io_memory_open (io);
  size_t nbytes = scheme_nbytes (uri);
  if (nbytes == 0)
    return rd_io_posix_open (uri, create, io);
  if (is_scheme (uri, nbytes, "file"))
    return open_file_uri (uri, create, io);
  if (is_scheme (uri, nbytes, "http") || is_scheme (uri, nbytes, "https"))
    return open_http (uri, create, io);
  if (is_scheme (uri, nbytes, "s3"))
    return open_s3 (uri, s3, io);
  return rd_fail (RADIO_ERROR_UNSUPPORTED,
                  "%s: stores of the kind '%.*s://' are not supported; "
                  "a local path, 'memory:', 's3://' and 'http(s)://' are", uri,
                  (int) nbytes, uri);
}
