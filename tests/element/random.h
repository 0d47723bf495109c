/* SPDX-License-Identifier: MIT */
/* Numbers that look random and are the same in every run (splitmix64). */
#ifndef RD_TESTS_CODEC_RANDOM_H
#define RD_TESTS_CODEC_RANDOM_H

#include <stdint.h>

static inline uint64_t
random_next (uint64_t *seed)
{
  uint64_t z = *seed += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

#endif /* RD_TESTS_CODEC_RANDOM_H */
