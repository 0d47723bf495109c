/* SPDX-License-Identifier: MIT */
/* Strings by offsets, as the API hands them out. */
#include <config.h>

#include <radio/strings.h>

#include "src/base/alloc.h"

void
radio_strings_free (struct radio_strings *strings)
{
  if (!strings)
    return;
  rd_free (strings->offsets);
  rd_free (strings->bytes);
  *strings = (struct radio_strings) { 0 };
}
