/* SPDX-License-Identifier: MIT */
/* The instruction sets that vector code is compiled for.  One is chosen when
 * the code runs: the best that this machine has and the variable RADIO_SIMD
 * allows.  Results have the same bits at every level. */
#ifndef RD_SIMD_H
#define RD_SIMD_H

#include <radio/base.h>

/* Those of one architecture are in ascending order. */
enum rd_simd {
  RD_SIMD_SCALAR,             /* plain C: every machine has it */
  RD_SIMD_NEON,
  RD_SIMD_SSE2,
  RD_SIMD_AVX2,
  RD_SIMD_NLEVELS
};

/* Returns a level's name, as RADIO_SIMD has it: "avx2". */
const char *rd_simd_name (enum rd_simd level);

/* True if this machine has a level. */
bool rd_simd_is_supported (enum rd_simd level);

/* True if this machine has a level, and RADIO_SIMD, which is read once, does
 * not exclude it.  Cheap enough for each tile. */
bool rd_simd_is_allowed (enum rd_simd level);

/* RADIO_ERROR_ARGUMENT if RADIO_SIMD names no level that this machine has. */
enum radio_status rd_simd_check (void) RADIO_USE_RESULT;

#endif /* RD_SIMD_H */
