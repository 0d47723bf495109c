/* SPDX-License-Identifier: MIT */
/* Files of profiles: the strings kept of one lie within it, and are found
 * again by their names. */
#include <config.h>

#include <string.h>

#include "io/s3/sources.h"
#include "tests/fuzz/fuzz.h"

static void
check_within (const struct rd_s3_ini *ini, const char *text)
{
  const char *begin = (const char *) ini->text.data;
  size_t nbytes = ini->text.nbytes;
  FUZZ_CHECK (text >= begin && text <= begin + nbytes);
  FUZZ_CHECK (text + strlen (text) <= begin + nbytes);
}

static void
check_property (const struct rd_s3_ini *ini,
                const struct rd_s3_property *property)
{
  check_within (ini, property->section);
  FUZZ_CHECK (property->section[0]);
  FUZZ_CHECK (rd_s3_ini_has_section (ini, property->section));
  if (property->name == NULL)
    return;
  check_within (ini, property->name);
  check_within (ini, property->value);
  FUZZ_CHECK (property->name[0]);
  FUZZ_CHECK (strlen (property->value) == property->value_nbytes);
  if (property->parent)
    check_within (ini, property->parent);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  RD_S3_INI_SCOPE struct rd_s3_ini ini = { 0 };
  enum radio_status status = rd_s3_ini_parse (data, nbytes, "input", &ini);
  FUZZ_CHECK (status == RADIO_OK || status == RADIO_ERROR_FORMAT
              || status == RADIO_ERROR_LIMIT);
  for (size_t i = 0; i < ini.n && i < 100; i++)
    check_property (&ini, &ini.properties[i]);
  rd_s3_ini_get (&ini, "default", NULL, "region");
  rd_s3_ini_get (&ini, "default", "s3", "endpoint_url");
  return 0;
}

static const char *const seeds[] = {
  "[default]\naws_access_key_id = AKIA # key\naws_secret_access_key=a/b+c\n",
  ("[profile \"a b\"]\r\nrole_arn = arn:aws:iam::1:role/r\n"
   "source_profile=default\ns3 =\n  endpoint_url = http://127.0.0.1\n"),
  "\xef\xbb\xbf; comment\n\n[a]\nx = 1\n  2\n\t3 ; four\n[ b ]\n",
  "[profile  x]\ncredential_process = \"/a b\" --c 'd'\n=\n",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
