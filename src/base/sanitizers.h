/* SPDX-License-Identifier: MIT */
/* Which sanitizers this is compiled with, by gcc and by clang: 1, or 0. */
#ifndef RD_SANITIZERS_H
#define RD_SANITIZERS_H

#ifdef __has_feature
#define RD_HAS_FEATURE(name) __has_feature (name)
#else
#define RD_HAS_FEATURE(name) 0
#endif

#if defined __SANITIZE_ADDRESS__ || RD_HAS_FEATURE (address_sanitizer)
#define RD_HAS_ASAN 1
#else
#define RD_HAS_ASAN 0
#endif

#if defined __SANITIZE_THREAD__ || RD_HAS_FEATURE (thread_sanitizer)
#define RD_HAS_TSAN 1
#else
#define RD_HAS_TSAN 0
#endif

#define RD_HAS_MSAN RD_HAS_FEATURE (memory_sanitizer)

#endif /* RD_SANITIZERS_H */
