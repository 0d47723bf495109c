/* SPDX-License-Identifier: MIT */
/* XML in responses of servers: paths and texts stay within their bounds,
 * elements end inside out, and text that is written is read back unchanged. */
#include <config.h>

#include <string.h>

#include "io/s3/store.h"
#include "io/s3/xml.h"
#include "tests/fuzz/fuzz.h"

struct seen {
  size_t n;
  char last[257];             /* the path of the element that ended last */
};

static void
check_child_first (const struct seen *seen, const char *path)
{
  size_t n = strlen (path);
  bool is_parent = strncmp (seen->last, path, n) == 0 && seen->last[n] == '/';
  /* Another element ended, which is a sibling or a parent of it. */
  if (seen->n > 0 && !is_parent)
    FUZZ_CHECK (strchr (path, '/') || strcmp (seen->last, path) != 0);
}

static enum radio_status
take_element (const char *path, const char *text, void *user_data)
{
  struct seen *seen = user_data;
  uint64_t number;
  FUZZ_CHECK (path[0] && strlen (path) < sizeof seen->last);
  FUZZ_CHECK (strlen (text) <= 16384);
  check_child_first (seen, path);
  seen->n++;
  memcpy (seen->last, path, strlen (path) + 1);
  if (rd_s3_xml_number (text, &number))
    FUZZ_CHECK (text[strspn (text, "0123456789")] == '\0');
  FUZZ_CHECK (rd_s3_xml_time (text) >= -62200000000);
  return RADIO_OK;
}

static void
try_document (const struct rd_buffer *document)
{
  struct seen seen = { 0 };
  enum radio_status status = rd_s3_xml_read (document, "input", take_element,
                                             &seen);
  FUZZ_CHECK (status == RADIO_OK || status == RADIO_ERROR_FORMAT);
  if (status == RADIO_OK)
    FUZZ_CHECK (seen.n > 0 && strchr (seen.last, '/') == NULL);
}

static void
try_problem (const struct rd_buffer *document)
{
  struct rd_http_response answer = { .status = 503 };
  char name[] = "input";
  struct rd_s3_call call = { .name = name };
  struct rd_s3_error *problem = &call.error;
  rd_s3_error_parse (problem, &answer, document);
  FUZZ_CHECK (memchr (problem->code, '\0', sizeof problem->code));
  FUZZ_CHECK (memchr (problem->region, '\0', sizeof problem->region));
  FUZZ_CHECK (rd_s3_error_next (problem) == RD_HTTP_RETRY_SLOWER);
  FUZZ_CHECK (rd_s3_call_fail (&call) != RADIO_OK);
}

static enum radio_status
expect_text (const char *path, const char *text, void *user_data)
{
  FUZZ_CHECK (strcmp (path, "a") == 0);
  FUZZ_CHECK (strcmp (text, user_data) == 0);
  return RADIO_OK;
}

/* Beyond ASCII a text may be no UTF-8, which the reader refuses. */
static void
try_text (char *text)
{
  RD_BUFFER_SCOPE struct rd_buffer document = { 0 };
  FUZZ_CHECK (rd_buffer_append (&document, "<a>", 3) == RADIO_OK);
  if (rd_s3_xml_append (&document, text) != RADIO_OK)
    return;
  FUZZ_CHECK (rd_buffer_append (&document, "</a>", 4) == RADIO_OK);
  bool is_ascii = true;
  for (const char *p = text; *p; p++)
    is_ascii &= (unsigned char) *p < 0x7f;
  enum radio_status status = rd_s3_xml_read (&document, "input", expect_text,
                                             text);
  FUZZ_CHECK (status == RADIO_OK || !is_ascii || strlen (text) > 16384);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  const struct rd_buffer document = { (unsigned char *) data, nbytes, 0 };
  RD_FREE char *text = fuzz_text (data, nbytes);
  try_document (&document);
  try_problem (&document);
  try_text (text);
  return 0;
}

static const char *const seeds[] = {
  "<?xml version=\"1.0\" encoding=\"UTF-8\"?><ListBucketResult xmlns=\"h\">"
  "<IsTruncated>true</IsTruncated><EncodingType>url</EncodingType><Contents>"
  "<Key>a%2Bb</Key><LastModified>2026-01-31T12:34:56.000Z</LastModified>"
  "<Size>18446744073709551615</Size></Contents><CommonPrefixes><Prefix>c/"
  "</Prefix></CommonPrefixes></ListBucketResult>",
  "<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-central-1"
  "</Region><ActualObjectSize>18446744073709551616</ActualObjectSize>"
  "</Error>",
  "<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;\">]><a>&c;</a>",
  "<a><b><c><d><e><f><g><h><i/></h></g></f></e></d></c></b></a>",
  "<a>&#0;&lt;<![CDATA[]]&gt;]]>\xc3\x28</a>",
  "2024-02-29T23:59:60.123Z & \"<'>\r\n\t",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
