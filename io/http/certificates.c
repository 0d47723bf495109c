/* SPDX-License-Identifier: MIT */
/* Which certificates are trusted where the caller names none.  libcurl's file
 * is where the system has them that it was built for; in a wheel of Python's it
 * runs on others. */
#include <config.h>

#include <curl/curl.h>

#include "src/base/environment.h"
#include "io/http/http.h"

static const char *const places[] = {
  "/etc/ssl/certs/ca-certificates.crt",       /* Debian, Arch, Gentoo */
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",        /* Fedora */
  "/etc/pki/tls/certs/ca-bundle.crt",         /* CentOS, Amazon Linux */
  "/etc/ssl/ca-bundle.pem",                   /* openSUSE */
  "/etc/ssl/certs/ca-bundle.crt",             /* NixOS */
  "/etc/ssl/cert.pem",                        /* Alpine, BSD */
};

/* Returns true if libcurl finds its own, or has none that can be missing. */
static bool
has_own (void)
{
  const char *file = curl_version_info (CURLVERSION_NOW)->cainfo;
  return file == NULL || access (file, R_OK) == 0;
}

const char *
rd_http_find_certificates (void)
{
  const char *named = rd_get_variable ("SSL_CERT_FILE");
  if (named && named[0])
    return named;
  if (has_own ())
    return NULL;
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (access (places[i], R_OK) == 0)
      return places[i];
  return NULL;
}
