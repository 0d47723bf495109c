/* SPDX-License-Identifier: MIT */
/* Levels of instruction sets: what the processor has, and RADIO_SIMD. */
#include <config.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/simd.h"

static const char *const names[RD_SIMD_NLEVELS] = {
  "scalar", "neon", "sse2", "avx2",
};

const char *
rd_simd_name (enum rd_simd level)
{
  return names[level];
}

bool
rd_simd_is_supported (enum rd_simd level)
{
  switch (level) {
  case RD_SIMD_SCALAR:
    return true;
#ifdef __aarch64__
  case RD_SIMD_NEON:
    return true;
#endif
#ifdef __x86_64__
  case RD_SIMD_SSE2:
    return true;
  case RD_SIMD_AVX2:
    return __builtin_cpu_supports ("avx2");
#endif
  default:
    return false;
  }
}

/* Finds the level of a name; false if this machine has none of it. */
static bool
find_level (const char *name, enum rd_simd *level)
{
  for (int i = 0; i < RD_SIMD_NLEVELS; i++)
    if (strcmp (names[i], name) == 0) {
      *level = (enum rd_simd) i;
      return rd_simd_is_supported (*level);
    }
  return false;
}

/* Returns the highest level that may be used; without a valid variable there is
 * no limit. */
static enum rd_simd
read_limit (void)
{
  const char *name = getenv ("RADIO_SIMD");
  enum rd_simd level = RD_SIMD_NLEVELS;
  if (!name || !*name || !find_level (name, &level))
    return RD_SIMD_NLEVELS;
  return level;
}

bool
rd_simd_is_allowed (enum rd_simd level)
{
  /* The limit + 1, once it is known; threads that race find the same. */
  static atomic_int known;
  int limit = atomic_load_explicit (&known, memory_order_relaxed);
  if (limit == 0) {
    limit = (int) read_limit () + 1;
    atomic_store_explicit (&known, limit, memory_order_relaxed);
  }
  return (int) level < limit && rd_simd_is_supported (level);
}

enum radio_status
rd_simd_check (void)
{
  const char *name = getenv ("RADIO_SIMD");
  enum rd_simd level;
  char list[64] = "";
  if (!name || !*name || find_level (name, &level))
    return RADIO_OK;
  for (int i = 0; i < RD_SIMD_NLEVELS; i++)
    if (rd_simd_is_supported ((enum rd_simd) i)) {
      size_t length = strlen (list);
      snprintf (list + length, sizeof list - length, "%s%s",
                length > 0 ? ", " : "", names[i]);
    }
  return rd_fail (RADIO_ERROR_ARGUMENT, "RADIO_SIMD: '%.64s' is not a level "
                  "of this machine; it has %s", name, list);
}
