/* SPDX-License-Identifier: MIT */
/* The store in S3 keeps the contract of every store, at a real endpoint, which
 * the environment names: RADIO_TESTS_S3_ENDPOINT, _BUCKET (which exists, and
 * in which each case has a prefix of its own), _REGION, _ACCESS_KEY,
 * _SECRET_KEY and _CA_FILE, _ADDRESSING ("path" or "virtual"), and
 * _SINGLE_WRITER where there are no conditional writes.  Without an endpoint it
 * is skipped. */
#include <config.h>

#include <unistd.h>

#include "io/s3/s3.h"
#include "tests/io/conformance.h"
#include "tests/io/store-asserts.h"

#define VARIABLE(name) getenv ("RADIO_TESTS_S3_" name)

static unsigned nplaces;

static enum rd_s3_addressing
addressing (void)
{
  const char *text = VARIABLE ("ADDRESSING");
  if (text && strcmp (text, "virtual") == 0)
    return RD_S3_ADDRESSING_VIRTUAL;
  return RD_S3_ADDRESSING_AUTO;
}

static enum radio_status
open_at (const char *uri, struct rd_io **io)
{
  RD_S3_SETTINGS_SCOPE struct rd_s3_settings settings = { 0 };
  RD_TRY (rd_s3_settings_set (&settings, RD_S3_OWN_ACCESS_KEY,
                              VARIABLE ("ACCESS_KEY")));
  RD_TRY (rd_s3_settings_set (&settings, RD_S3_OWN_SECRET_KEY,
                              VARIABLE ("SECRET_KEY")));
  const struct rd_s3_options options = {
    .endpoint = VARIABLE ("ENDPOINT"), .region = VARIABLE ("REGION"),
    .addressing = addressing (), .provider.settings = &settings,
    .http.ca_file = VARIABLE ("CA_FILE"),
    .single_writer = VARIABLE ("SINGLE_WRITER") != NULL,
  };
  return rd_io_open_with (uri, true, &options, io);
}

static enum radio_status
make (void **place, struct rd_io **io)
{
  char uri[256];
  snprintf (uri, sizeof uri, "s3://%s/radio-tests-%ld/case %u+%%",
            VARIABLE ("BUCKET"), (long) getpid (), nplaces++);
  *place = strdup (uri);
  return *place ? open_at (uri, io) : RADIO_ERROR_MEMORY;
}

/* Removes leftovers. */
static void
unmake (void *place)
{
  struct rd_io *io;
  if (open_at (place, &io) == RADIO_OK) {
    if (io->ops->remove_tree (io, "") != RADIO_OK)
      print_error ("%s\n", radio_error_message ());
    rd_io_close (io);
  }
  free (place);
}

int
main (void)
{
  const struct conformance_store store = { "s3", make, unmake };
  if (!VARIABLE ("ENDPOINT") || !VARIABLE ("BUCKET")) {
    puts ("1..0 # SKIP no endpoint of S3 is named");
    return 0;
  }
  return run_conformance (&store);
}
