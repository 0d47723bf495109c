/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: three digits that matter and a unit.  All in
 * integers, so that no locale has a say. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/base/checked.h"
#include "profiler/export/text.h"

struct unit {
  uint64_t size;
  const char *name;
};

/* part / whole rounded, without overflow. */
static uint64_t
divide (uint64_t part, uint64_t whole)
{
  return part / whole + (part % whole >= whole - whole / 2);
}

/* Compares rounded values, as they would be printed. */
void
rd_text_multiple (uint64_t value, uint64_t size, char text[RD_NUMBER_NBYTES])
{
  uint64_t hundredths, tenths;
  if (!rd_mul_overflows (value, 100, &hundredths)
      && (hundredths = divide (hundredths, size)) < 1000)
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64 ".%02" PRIu64,
              hundredths / 100, hundredths % 100);
  else if (!rd_mul_overflows (value, 10, &tenths)
           && (tenths = divide (tenths, size)) < 1000)
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64 ".%" PRIu64, tenths / 10,
              tenths % 10);
  else
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64, divide (value, size));
}

/* The smallest unit in which a value has three digits before the point;
 * the first unit is 1 and has no fractions. */
static void
print_in_units (uint64_t value, const struct unit *units, size_t n,
                char text[RD_NUMBER_NBYTES])
{
  size_t i = 0;
  if (value < 1000) {
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64 "%s", value, units[0].name);
    return;
  }
  do
    i++;
  while (i + 1 < n && divide (value, units[i].size) >= 1000);
  rd_text_multiple (value, units[i].size, text);
  strncat (text, units[i].name, RD_NUMBER_NBYTES - strlen (text) - 1);
}

void
rd_text_ns (uint64_t ns, char text[RD_NUMBER_NBYTES])
{
  static const struct unit units[] = {
    { 1, " ns" }, { 1000, " us" }, { 1000000, " ms" }, { 1000000000, " s" },
  };
  print_in_units (ns, units, sizeof units / sizeof units[0], text);
}

void
rd_text_bytes (uint64_t nbytes, char text[RD_NUMBER_NBYTES])
{
  static const struct unit units[] = {
    { 1, " B" }, { 1000, " kB" }, { 1000000, " MB" }, { 1000000000, " GB" },
    { 1000000000000, " TB" },
  };
  print_in_units (nbytes, units, sizeof units / sizeof units[0], text);
}

void
rd_text_short_count (uint64_t count, char text[RD_NUMBER_NBYTES])
{
  static const struct unit units[] = {
    { 1, "" }, { 1000, "k" }, { 1000000, "M" }, { 1000000000, "G" },
    { 1000000000000, "T" },
  };
  if (count < 10000000)
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64, count);
  else
    print_in_units (count, units, sizeof units / sizeof units[0], text);
}

void
rd_text_mb_per_s (uint64_t nbytes, uint64_t ns, char text[RD_NUMBER_NBYTES])
{
  uint64_t scaled;
  *text = '\0';
  if (nbytes == 0 || ns == 0)
    return;
  /* Bytes a nanosecond are GB/s. */
  if (rd_mul_overflows (nbytes, 1000, &scaled))
    rd_text_multiple (nbytes, ns / 1000 ? ns / 1000 : 1, text);
  else
    rd_text_multiple (scaled, ns, text);
}

void
rd_text_share (uint64_t part, uint64_t whole, char text[RD_NUMBER_NBYTES])
{
  if (whole == 0) {
    snprintf (text, RD_NUMBER_NBYTES, "0");
    return;
  }
  /* Beyond 2^53 ns = 104 days a rounded share is as good. */
  double tenths = 1000.0 * (double) part / (double) whole;
  uint64_t n = tenths < 1e15 ? (uint64_t) (tenths + 0.5) : UINT64_MAX - 5;
  if (n == 0 && part > 0)
    snprintf (text, RD_NUMBER_NBYTES, "<0.1");
  else if (n == 0 || n >= 100)
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64, (n + 5) / 10);
  else
    snprintf (text, RD_NUMBER_NBYTES, "%" PRIu64 ".%" PRIu64, n / 10,
              n % 10);
}
