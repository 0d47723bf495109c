/* SPDX-License-Identifier: MIT */
/* Rings of recorders: what can be recovered can be written. */
#include <config.h>

#include <string.h>

#include <radio/profile.h>

#include "profiler/record/collect.h"
#include "profiler/record/image.h"
#include "profiler/record/writer.h"
#include "tests/fuzz/fuzz.h"

static enum radio_status
discard (const void *data, size_t nbytes, void *user_data)
{
  size_t *sum = user_data;
  (void) data;
  *sum += nbytes;
  return RADIO_OK;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct radio_recorder *recorder = NULL;
  struct radio_profile *profile = NULL;
  size_t room = (nbytes + 63) & ~(size_t) 63, sum = 0;
  unsigned char *image = aligned_alloc (64, room ? room : 64);
  FUZZ_CHECK (image != NULL);
  memcpy (image, data, nbytes);
  if (rd_recover (image, nbytes, "input", &recorder) != RADIO_OK) {
    FUZZ_CHECK (recorder == NULL && *radio_error_message ());
    free (image);
    return 0;
  }
  struct radio_profile_write_options options = {
    .format = RADIO_PROFILE_JSON
  };
  if (rd_collect (recorder, &profile) == RADIO_OK) {
    FUZZ_CHECK (radio_profile_write_to (profile, &options, discard, &sum)
                == RADIO_OK);
    radio_profile_close (profile);
  }
  rd_recorder_unref (recorder);
  free (image);
  return 0;
}

/*------------------------------------------------------------------------
 * Seeds
 *----------------------------------------------------------------------*/

static void
record_some (void)
{
  static const struct radio_counter held = { "held", "bytes" };
  struct radio_handoff handoff;
  RADIO_SCOPE ("outer");
  radio_handoff_give (&handoff);
  for (int i = 0; i < 100; i++) {
    RADIO_SCOPE_FULL ("waits", "user", RADIO_SCOPE_WAIT);
    radio_scope_text ("key", i % 2 ? "one" : "two", RADIO_TEXT_NAME);
    RADIO_COUNT ("bytes", "bytes", 7);
    radio_gauge_set (&held, i);
  }
  {
    RADIO_SCOPE_RECEIVED (&handoff, "received");
  }
  radio_handoff_release (&handoff);
}

/* After its end, and with a scope that is open; of one turn of the ring, or of
 * several. */
size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  struct radio_recorder_options options = { .ring_nbytes = 65536 };
  struct radio_recorder *recorder;
  if (i > 1)
    return 0;
  if (radio_recorder_start (&options, &recorder) != RADIO_OK) {
    memcpy (out, RD_IMAGE_MAGIC, sizeof RD_IMAGE_MAGIC);
    return i == 0 ? sizeof RD_IMAGE_MAGIC : 0;  /* --disable-profiler */
  }
  RADIO_SCOPE ("open");
  for (unsigned j = 0; j < (i == 1 ? 25 : 1); j++)
    record_some ();
  FUZZ_CHECK (radio_recorder_fact (recorder, "k", "v", RADIO_TEXT_PLAIN)
              == RADIO_OK);
  size_t nbytes = (size_t) recorder->header->nbytes;
  FUZZ_CHECK (nbytes <= room);
  memcpy (out, recorder->header, nbytes);
  FUZZ_CHECK (radio_recorder_stop (recorder, NULL) == RADIO_OK);
  return nbytes;
}
