/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: three digits that count and a unit, whatever
 * the locale. */
#ifndef RD_FORMAT_H
#define RD_FORMAT_H

#include <stdint.h>

/* A number with its text, made in place:
 *   rd_format_ns (812345678).text is "812 ms". */
struct rd_formatted {
  char text[40];
};

struct rd_formatted rd_format_ns (uint64_t ns);
struct rd_formatted rd_format_nbytes (uint64_t nbytes); /* 1 kB is 1000 B */

/* "0.25", "2.5", "134", "20400": at least 0. */
struct rd_formatted rd_format_number (double value);

/* Share of a whole, "2.5 %", and from twice the whole on "2.5 x"; 0 of 0 is
 * "0 %". */
struct rd_formatted rd_format_percent (double part, double whole);

/* "1 thread", "2 threads", "0 threads": a count of things. */
struct rd_formatted rd_format_count (uint64_t n, const char *one,
                                     const char *many);

/* nbytes in ns as "1.2 GB/s". */
struct rd_formatted rd_format_rate (uint64_t nbytes, uint64_t ns);

#endif /* RD_FORMAT_H */
