/* SPDX-License-Identifier: MIT */
/* The rows of the benchmark. */
#include <config.h>

#include <string.h>

#include "tools/bench/rows.h"

const struct rd_row rd_rows[RD_NROWS] = {
  { "full", RD_ROW_FULL, 0 },
  { "axial", RD_ROW_PLANE, RADIO_AXIAL },
  { "coronal", RD_ROW_PLANE, RADIO_CORONAL },
  { "sagittal", RD_ROW_PLANE, RADIO_SAGITTAL },
  { "box32", RD_ROW_BOX, 32 },
  { "box64", RD_ROW_BOX, 64 },
  { "box128", RD_ROW_BOX, 128 },
  { "scroll", RD_ROW_SCROLL, RADIO_AXIAL },
  { "loader", RD_ROW_LOADER, 0 },
  { "open-store", RD_ROW_OPEN_STORE, 0 },
  { "open", RD_ROW_OPEN, 0 },
  { "first-plane", RD_ROW_FIRST, RADIO_AXIAL },
  { "cold-plane", RD_ROW_COLD, RADIO_AXIAL },
  { "export", RD_ROW_EXPORT, 0 },
  { "ingest-nii", RD_ROW_INGEST, false },
  { "ingest-gz", RD_ROW_INGEST, true },
};

bool
rd_rows_parse (struct rd_args *args, bool chosen[RD_NROWS])
{
  const char *text = args->value;
  memset (chosen, 0, RD_NROWS * sizeof *chosen);
  for (;;) {
    size_t length = strcspn (text, ",");
    size_t row = 0;
    while (row < RD_NROWS
           && (strlen (rd_rows[row].name) != length
               || memcmp (rd_rows[row].name, text, length) != 0))
      row++;
    if (row == RD_NROWS) {
      char list[256] = "";
      for (size_t i = 0, used = 0; i < RD_NROWS; i++, used = strlen (list))
        snprintf (list + used, sizeof list - used, "%s%s", i ? ", " : "",
                  rd_rows[i].name);
      rd_usage_error (args, "--rows: unknown row '%.*s'; use some of %s",
                      (int) length, text, list);
      return false;
    }
    chosen[row] = true;
    if (text[length] == '\0')
      return true;
    text += length + 1;
  }
}

bool
rd_row_reads (const struct rd_row *row)
{
  switch (row->kind) {
  case RD_ROW_OPEN_STORE:
  case RD_ROW_OPEN:
  case RD_ROW_EXPORT:
  case RD_ROW_INGEST:
    return false;
  default:
    return true;
  }
}

uint64_t
rd_row_state (size_t row, uint64_t seed, uint64_t i)
{
  return seed * 1000000007u + row * 1000003u + i;
}
