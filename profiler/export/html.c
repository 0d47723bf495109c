/* SPDX-License-Identifier: MIT */
/* Profiles as one HTML file that opens anywhere: the page of profiler/view
 * with radio's JSON as inert data inside.  The views' style and script are
 * deflated, and a small plain script unpacks them.  The page forbids itself,
 * by its Content-Security-Policy, every access to a network and every script
 * and style but its own, which it knows by the SHA-256 of their text. */
#include <config.h>

#include <string.h>

#include <openssl/evp.h>

#include "src/base/base85.h"
#include "src/base/deflate.h"
#include "profiler/view/page.h"

/* The first one that looks for the best way to cut the script into matches:
 * 4 % smaller than level 9. */
#define LEVEL 12

/* A SHA-256 in base64, and its NUL. */
#define DIGEST_NBYTES (4 * 11 + 1)

/* What stands between two '@' of the template. */
struct slot {
  const char *name;
  bool is_of_before;          /* filled from options->before */
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
write_source (struct rd_writer *writer, const char *text)
{
  char sha256[DIGEST_NBYTES];
  RD_TRY (digest (text, sha256));
  rd_write_format (writer, " 'sha256-%s'", sha256);
  return RADIO_OK;
}

static enum radio_status
fill_policy (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  rd_write_text (writer, "default-src 'none'; img-src data:; style-src");
  RD_TRY (write_source (writer, rd_page_style));
  RD_TRY (write_source (writer, rd_page_view_style));
  rd_write_text (writer, "; script-src");
  RD_TRY (write_source (writer, rd_page_loader));
  RD_TRY (write_source (writer, rd_page_script));
  rd_write_text (writer, "; base-uri 'none'; form-action 'none'");
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

/* What loader.js unpacks. */
static enum radio_status
write_packed (struct rd_writer *writer, const char *text)
{
  RD_BUFFER_SCOPE struct rd_buffer packed = { 0 }, base85 = { 0 };
  RD_TRY (rd_deflate (text, strlen (text), LEVEL, &packed));
  RD_TRY (rd_base85_encode (packed.data, packed.nbytes, &base85));
  rd_write_bytes (writer, base85.data, base85.nbytes);
  return RADIO_OK;
}

static enum radio_status
fill_view_style (const struct radio_profile *profile,
                 struct rd_writer *writer)
{
  (void) profile;
  return write_packed (writer, rd_page_view_style);
}

static enum radio_status
fill_script (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  return write_packed (writer, rd_page_script);
}

static enum radio_status
fill_loader (const struct radio_profile *profile, struct rd_writer *writer)
{
  (void) profile;
  rd_write_text (writer, rd_page_loader);
  return RADIO_OK;
}

static enum radio_status
fill_static (const struct radio_profile *profile, struct rd_writer *writer)
{
  rd_page_write_static (writer, profile);
  return RADIO_OK;
}

/* Outside of what a script hides. */
static enum radio_status
fill_curve (const struct radio_profile *profile, struct rd_writer *writer)
{
  return rd_page_write_curve (writer, profile);
}

static enum radio_status
fill_data (const struct radio_profile *profile, struct rd_writer *writer)
{
  const struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_JSON,
  };
  return rd_export_json (profile, &options, writer);
}

/* Under another id than the profile's, so that readers find that one. */
static enum radio_status
fill_before (const struct radio_profile *before, struct rd_writer *writer)
{
  if (before == NULL)
    return RADIO_OK;
  rd_write_text (writer, "<script type=\"application/json\" "
                 "id=\"radio-before\">");
  RD_TRY (fill_data (before, writer));
  rd_write_text (writer, "</script>\n");
  return RADIO_OK;
}

static const struct slot slots[] = {
  { "@POLICY@", false, fill_policy }, { "@VERSION@", false, fill_version },
  { "@TITLE@", false, fill_title },   { "@STYLE@", false, fill_style },
  { "@VIEW_STYLE@", false, fill_view_style },
  { "@SCRIPT@", false, fill_script }, { "@LOADER@", false, fill_loader },
  { "@STATIC@", false, fill_static }, { "@CURVE@", false, fill_curve },
  { "@DATA@", false, fill_data },
  { "@BEFORE@", true, fill_before },
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
  const char *text = rd_page_template;
  while (*text != '\0') {
    size_t nplain = strcspn (text, "@");
    rd_write_bytes (writer, text, nplain);
    text += nplain;
    const struct slot *slot = slot_at (text);
    if (slot != NULL) {
      RD_TRY (slot->fill (slot->is_of_before ? options->before : profile,
                          writer));
      text += strlen (slot->name);
    }
    else if (*text != '\0') {
      rd_write_bytes (writer, text++, 1);
    }
  }
  return writer->status;
}
