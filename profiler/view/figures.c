/* SPDX-License-Identifier: MIT */
/* Numbers in the page as people read them: as units.mjs spells them. */
#include <config.h>

#include "profiler/view/page.h"

struct unit {
  uint64_t size;
  const char *name;
};

static const struct unit time_units[] = {
  { 1, "ns" }, { 1000, "\302\265s" }, { 1000000, "ms" }, { 1000000000, "s" },
};

static const struct unit byte_units[] = {
  { 1, "B" }, { 1000, "kB" }, { 1000000, "MB" }, { 1000000000, "GB" },
  { 1000000000000, "TB" },
};

void
rd_page_write_quotient (struct rd_writer *writer, uint64_t value, uint64_t size)
{
  unsigned ndecimals = 2, factor = 100;
  if (size == 1 || value / size >= 100)
    ndecimals = 0, factor = 1;
  else if (value / size >= 10)
    ndecimals = 1, factor = 10;
  uint64_t rest = (value % size * factor + size / 2) / size;
  uint64_t whole = value / size + rest / factor;
  rd_write_u64 (writer, whole);
  if (ndecimals > 0)
    rd_write_format (writer, ".%0*u", (int) ndecimals,
                     (unsigned) (rest % factor));
}

static void
write_scaled (struct rd_writer *writer, uint64_t value,
              const struct unit *units, size_t nunits)
{
  size_t i = 0;
  while (i + 1 < nunits && value >= units[i + 1].size)
    i++;
  rd_page_write_quotient (writer, value, units[i].size);
  rd_write_text (writer, "\302\240");
  rd_write_text (writer, units[i].name);
}

void
rd_page_write_time (struct rd_writer *writer, uint64_t ns)
{
  write_scaled (writer, ns, time_units,
                sizeof time_units / sizeof time_units[0]);
}

void
rd_page_write_nbytes (struct rd_writer *writer, uint64_t nbytes)
{
  write_scaled (writer, nbytes, byte_units,
                sizeof byte_units / sizeof byte_units[0]);
}
