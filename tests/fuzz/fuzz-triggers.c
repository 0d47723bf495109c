/* SPDX-License-Identifier: MIT */
/* Texts of triggers: what is parsed, written plainly, is the same again. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/triggers.h"
#include "tests/fuzz/fuzz.h"

static void
append (char *text, size_t room, const char *name, uint64_t ns,
        const char *kind)
{
  size_t n = strlen (text);
  if (ns > 0)
    snprintf (text + n, room - n, "%s%s>%" PRIu64 ".%09" PRIu64 "s %s",
              n > 0 ? "," : "", name, ns / 1000000000, ns % 1000000000,
              kind);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct rd_triggers triggers, again;
  char *text = malloc (nbytes + 1);
  FUZZ_CHECK (text != NULL);
  memcpy (text, data, nbytes);
  text[nbytes] = '\0';
  enum radio_status status = rd_triggers_parse (text, &triggers);
  free (text);
  if (status != RADIO_OK) {
    FUZZ_CHECK (status == RADIO_ERROR_ARGUMENT && *radio_error_message ());
    rd_triggers_free (&triggers);
    return 0;
  }
  size_t room = 2 * (nbytes + 64 * RD_MAX_TRIGGERS);
  char *plain = calloc (1, room);
  FUZZ_CHECK (plain && triggers.n > 0 && triggers.n <= RD_MAX_TRIGGERS);
  for (size_t i = 0; i < triggers.n; i++) {
    const struct rd_trigger *trigger = &triggers.at[i];
    FUZZ_CHECK (*trigger->name && !strchr (trigger->name, ','));
    FUZZ_CHECK (trigger->wall_ns > 0 || trigger->cpu_ns > 0);
    FUZZ_CHECK (rd_triggers_find (&triggers, trigger->name) == i);
    append (plain, room, trigger->name, trigger->wall_ns, "wall");
    append (plain, room, trigger->name, trigger->cpu_ns, "cpu");
  }
  FUZZ_CHECK (rd_triggers_parse (plain, &again) == RADIO_OK);
  FUZZ_CHECK (again.n == triggers.n);
  for (size_t i = 0; i < again.n; i++) {
    FUZZ_CHECK (strcmp (again.at[i].name, triggers.at[i].name) == 0);
    FUZZ_CHECK (again.at[i].wall_ns == triggers.at[i].wall_ns);
    FUZZ_CHECK (again.at[i].cpu_ns == triggers.at[i].cpu_ns);
  }
  free (plain);
  rd_triggers_free (&triggers);
  rd_triggers_free (&again);
  return 0;
}

static const char *const seeds[] = {
  "read>50ms, decode>5ms cpu",
  " wait for requests > 1.25 s wall,read>1ns,read > 2 us cpu\t",
  "a>b>999999999.123456789s,x>0.000000001s",
  "read>1000000000s",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
