/* SPDX-License-Identifier: MIT */
/* Numbers as people read them, by integers only: printf's would follow the
 * locale. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "profiler/model/format.h"

/* "0.5" of "0.50", "2" of "2.00". */
static void
trim_zeros (char *text)
{
  size_t n = strlen (text);
  while (n > 0 && text[n - 1] == '0')
    n--;
  if (n > 0 && text[n - 1] == '.')
    n--;
  text[n] = '\0';
}

struct rd_formatted
rd_format_number (double value)
{
  struct rd_formatted human;
  if (!(value < 9e15)) {
    snprintf (human.text, sizeof human.text, "over 9e15");
    return human;
  }
  unsigned ndecimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  uint64_t scale = ndecimals == 2 ? 100 : ndecimals == 1 ? 10 : 1;
  uint64_t rounded = (uint64_t) (value * (double) scale + 0.5);
  if (ndecimals == 0) {
    snprintf (human.text, sizeof human.text, "%" PRIu64, rounded);
    return human;
  }
  snprintf (human.text, sizeof human.text, "%" PRIu64 ".%0*" PRIu64,
            rounded / scale, (int) ndecimals, rounded % scale);
  trim_zeros (human.text);
  return human;
}

/* The number in the largest unit of which there is one; each is 1000 of the
 * one before. */
static struct rd_formatted
with_unit (double value, const char *const *units, size_t n)
{
  size_t i = 0;
  for (; i + 1 < n && value >= 999.5; i++)
    value /= 1000;
  struct rd_formatted number = rd_format_number (value), human;
  snprintf (human.text, sizeof human.text, "%.20s %s", number.text, units[i]);
  return human;
}

struct rd_formatted
rd_format_ns (uint64_t ns)
{
  static const char *const units[] = { "ns", "us", "ms", "s" };
  return with_unit ((double) ns, units, 4);
}

struct rd_formatted
rd_format_nbytes (uint64_t nbytes)
{
  static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB" };
  return with_unit ((double) nbytes, units, 6);
}

struct rd_formatted
rd_format_percent (double part, double whole)
{
  static const char *const units[] = { "%" }, *const times[] = { "x" };
  double share = whole > 0 ? part / whole : 0;
  return share < 2 ? with_unit (100 * share, units, 1)
                   : with_unit (share, times, 1);
}

struct rd_formatted
rd_format_count (uint64_t n, const char *one, const char *many)
{
  struct rd_formatted human;
  snprintf (human.text, sizeof human.text, "%" PRIu64 " %.15s", n,
            n == 1 ? one : many);
  return human;
}

struct rd_formatted
rd_format_rate (uint64_t nbytes, uint64_t ns)
{
  static const char *const units[] = {
    "B/s", "kB/s", "MB/s", "GB/s", "TB/s"
  };
  return with_unit (ns ? (double) nbytes * 1e9 / (double) ns : 0, units, 5);
}
