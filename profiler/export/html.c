/* SPDX-License-Identifier: MIT */
/* Profiles as one HTML file that opens anywhere: the page of profiler/page
 * with radio's JSON as inert data inside.  The page forbids itself, by its
 * Content-Security-Policy, every access to a network and every script and
 * style but its own two, which it knows by their SHA-256. */
#include <config.h>

#include <string.h>

#include <openssl/evp.h>

#include "profiler/page/page.h"

/* A SHA-256 in base64, and its NUL. */
#define DIGEST_NBYTES (4 * 11 + 1)

/* What stands between two '@' of the template. */
struct slot {
  const char *name;
  enum radio_status (*fill) (const struct radio_profile *profile,
                             struct rd_writer *writer);
};

static enum radio_status
digest (const char *text, char *base64)
{
  unsigned char sha256[32];
  unsigned nbytes = sizeof sha256;
  if (!EVP_Digest (text, strlen (text), sha256, &nbytes, EVP_sha256 (), NULL))
    return rd_fail (RADIO_ERROR_MEMORY, "cannot compute a SHA-256");
  EVP_EncodeBlock ((unsigned char *) base64, sha256, (int) nbytes);
  return RADIO_OK;
}

static enum radio_status
fill_policy (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  char style[DIGEST_NBYTES], script[DIGEST_NBYTES];
  RD_TRY (digest (rd_page_style, style));
  RD_TRY (digest (rd_page_script, script));
  rd_write_format (writer,
                   "default-src 'none'; img-src data:; "
                   "style-src 'sha256-%s'; script-src 'sha256-%s'; "
                   "base-uri 'none'; form-action 'none'",
                   style, script);
  return RADIO_OK;
}

static enum radio_status
fill_version (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  rd_write_text (writer, PACKAGE_VERSION);
  return RADIO_OK;
}

static enum radio_status
fill_title (const struct radio_profile *profile, struct rd_writer *writer)
{
  rd_write_html (writer, profile->info.title);
  rd_write_text (writer, " - radio profile");
  return RADIO_OK;
}

static enum radio_status
fill_style (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  rd_write_text (writer, rd_page_style);
  return RADIO_OK;
}

static enum radio_status
fill_script (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  rd_write_text (writer, rd_page_script);
  return RADIO_OK;
}

static enum radio_status
fill_static (const struct radio_profile *profile, struct rd_writer *writer)
{
  rd_page_write_static (writer, profile);
  return RADIO_OK;
}

static enum radio_status
fill_data (const struct radio_profile *profile, struct rd_writer *writer)
{
  const struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_JSON,
  };
  return rd_export_json (profile, &options, writer);
}

static const struct slot slots[] = {
  { "@POLICY@", fill_policy }, { "@VERSION@", fill_version },
  { "@TITLE@", fill_title },   { "@STYLE@", fill_style },
  { "@SCRIPT@", fill_script }, { "@STATIC@", fill_static },
  { "@DATA@", fill_data },
};

/* The slot whose name a text begins with, or NULL. */
static const struct slot *
slot_at (const char *text)
{
  for (size_t i = 0; i < sizeof slots / sizeof slots[0]; i++)
    if (strncmp (text, slots[i].name, strlen (slots[i].name)) == 0)
      return &slots[i];
  return NULL;
}

enum radio_status
rd_export_html (const struct radio_profile *profile,
                const struct radio_profile_write_options *options,
                struct rd_writer *writer)
{
  (void) options;
  const char *text = rd_page_template;
  while (*text != '\0') {
    size_t nplain = strcspn (text, "@");
    rd_write_bytes (writer, text, nplain);
    text += nplain;
    const struct slot *slot = slot_at (text);
    if (slot != NULL) {
      RD_TRY (slot->fill (profile, writer));
      text += strlen (slot->name);
    }
    else if (*text != '\0') {
      rd_write_bytes (writer, text++, 1);
    }
  }
  return writer->status;
}
