/* SPDX-License-Identifier: MIT */
/* Sources of credentials are not trusted either: their JSON, the times in
 * it, and the command of a profile. */
#include <config.h>

#include <string.h>

#include "io/s3/sources.h"
#include "io/s3/xml.h"
#include "tests/fuzz/fuzz.h"

#define CREDENTIALS \
  RD_CLEANUP (rd_cleanup_s3_credentials) struct rd_s3_credentials

static void
try_document (const struct rd_buffer *document, bool is_process)
{
  CREDENTIALS *credentials = NULL;
  enum radio_status status =
    rd_s3_credentials_from_json (document, "input", is_process, &credentials);
  if (status != RADIO_OK) {
    FUZZ_CHECK (credentials == NULL);
    return;
  }
  FUZZ_CHECK (credentials->access_key[0] && credentials->secret_key[0]);
  FUZZ_CHECK (!credentials->session_token || credentials->session_token[0]);
}

static void
try_time (const char *text)
{
  int64_t unix_s;
  if (rd_s3_parse_time (text, &unix_s))
    FUZZ_CHECK (unix_s > -62300000000 && unix_s < 253500000000);
}

/* The words are within the command's room. */
static void
try_command (const char *text)
{
  size_t n, nbytes = strlen (text);
  RD_FREE char *words = rd_malloc (nbytes + 1);
  FUZZ_CHECK (words != NULL);
  if (rd_s3_split_command (text, words, &n) != RADIO_OK)
    return;
  const char *word = words;
  for (size_t i = 0; i < n; i++)
    word += strlen (word) + 1;
  FUZZ_CHECK (word <= words + nbytes + 1);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  const struct rd_buffer document = { (unsigned char *) data, nbytes, 0 };
  RD_FREE char *text = fuzz_text (data, nbytes);
  try_document (&document, true);
  try_document (&document, false);
  try_time (text);
  try_command (text);
  return 0;
}

static const char *const seeds[] = {
  "{\"Version\":1,\"AccessKeyId\":\"id\",\"SecretAccessKey\":\"a\\/b+\","
  "\"SessionToken\":\"t\",\"Expiration\":\"2026-01-31T12:34:56Z\"}",
  "{\"Code\":\"Success\",\"AccessKeyId\":\"id\",\"SecretAccessKey\":\"s\","
  "\"Token\":\"\",\"Expiration\":\"2026-01-31T12:34:56.7+01:00\"}",
  "2024-02-29 23:59:60.123-0130",
  "\"/my own/program\" --a='b c' d\\ e '' \"f\\\"g\"",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
