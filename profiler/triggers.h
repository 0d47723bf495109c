/* SPDX-License-Identifier: MIT */
/* The text that says which runs of scopes are slow:
 * "read>50ms, decode*>5ms cpu". */
#ifndef RD_TRIGGERS_H
#define RD_TRIGGERS_H

#include <stdbool.h>
#include <stdint.h>

#include <radio/base.h>

/* The limits of the scopes with one name, or with all names that begin as one
 * that ends with '*'. */
struct rd_trigger {
  char *name;
  uint64_t wall_ns, cpu_ns;   /* 0: none, but one of them is set */
};

#define RD_MAX_TRIGGERS 64

/* The most runs a minute that may be requested to be reported. */
#define RD_SLOW_MOST_PER_MINUTE 1000

struct rd_triggers {
  struct rd_trigger at[RD_MAX_TRIGGERS];
  size_t n;
};

/* Parses NAME>TIME entries with commas between them.  A name has no comma, and
 * blanks around it are not part of it; a time is a number, which may have a
 * decimal point, and ns, us, ms or s; after it may follow "cpu", or "wall",
 * which is the default.  On success there is at least one; free them in any
 * case.  Errors: RADIO_ERROR_ARGUMENT (with the position, and what to write),
 * RADIO_ERROR_MEMORY. */
enum radio_status rd_triggers_parse (const char *text,
                                     struct rd_triggers *triggers)
  RADIO_USE_RESULT;

void rd_triggers_free (struct rd_triggers *triggers);

/* True if a trigger is of scopes with this name. */
bool rd_trigger_fits (const struct rd_trigger *trigger, const char *name);

/* The index of the trigger that counts for a scope's name, or n: that with this
 * name, else of those that fit the longest. */
size_t rd_triggers_find (const struct rd_triggers *triggers,
                         const char *name);

#endif /* RD_TRIGGERS_H */
