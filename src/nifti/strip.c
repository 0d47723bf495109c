/* SPDX-License-Identifier: MIT */
/* Stripping: blanks the texts of a header, where personal data may stand, and
 * drops its extensions. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/nifti/fields.h"
#include "src/nifti/nifti.h"

static bool
all_zero (const unsigned char *bytes, size_t nbytes)
{
  for (size_t i = 0; i < nbytes; i++)
    if (bytes[i] != 0)
      return false;
  return true;
}

void
rd_nifti_strip (const struct rd_nifti *nifti, struct rd_buffer *prefix,
                void (*report) (const char *message, void *user_data),
                void *user_data)
{
  static const struct {
    enum rd_field field;
    const char *name;
  } texts[] = {
    { RD_FIELD_DESCRIP, "descrip" }, { RD_FIELD_AUX_FILE, "aux_file" },
    { RD_FIELD_INTENT_NAME, "intent_name" },
    { RD_FIELD_DATA_TYPE, "data_type" }, { RD_FIELD_DB_NAME, "db_name" },
    { RD_FIELD_UNUSED, "unused_str" },
  };
  struct rd_field_layout layout = rd_field_layout_of (nifti);
  char message[96];
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    size_t nbytes, at = rd_field_text (&layout, texts[i].field, &nbytes);
    /* Text may also follow a NUL: all of the field counts. */
    if (all_zero (prefix->data + at, nbytes))
      continue;
    memset (prefix->data + at, 0, nbytes);
    snprintf (message, sizeof message, "blanked the header's %s",
              texts[i].name);
    if (report)
      report (message, user_data);
  }

  /* After the header come its extension flag, extensions and padding. */
  size_t header = rd_field_header_nbytes (&layout);
  size_t end = rd_field_single_nbytes (&layout);
  if (!all_zero (prefix->data + header, prefix->nbytes - header) && report) {
    snprintf (message, sizeof message,
              "dropped %zu bytes of extensions after the header",
              prefix->nbytes > end ? prefix->nbytes - end : 0);
    report (message, user_data);
  }
  if (prefix->nbytes > end)
    prefix->nbytes = end;
  memset (prefix->data + header, 0, prefix->nbytes - header);
  if (!nifti->is_pair)
    rd_field_set_int (&layout, prefix->data, RD_FIELD_VOX_OFFSET, 0,
                      (int64_t) end);
}
