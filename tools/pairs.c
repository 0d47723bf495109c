/* SPDX-License-Identifier: MIT */
/* Options of comparing pairs. */
#include <config.h>

#include "tools/pairs.h"
#include "tools/parse.h"

/* Takes a list of names in place of one that was given before. */
static bool
take_names (struct rd_args *args, const char ***owned,
            const char *const **names, size_t *n)
{
  free (*owned);
  *owned = rd_args_names (args, n);
  *names = *owned;
  return *owned != NULL;
}

int
rd_pairs_take (struct rd_args *args, int id, struct rd_pairs *pairs)
{
  struct radio_pairs_options *options = &pairs->options;
  bool ok = true;
  switch (id) {
  case RD_OPTION_COMPLETE:
    ok = take_names (args, &pairs->complete, &options->complete,
                     &options->ncomplete);
    break;
  case RD_OPTION_MASKS:
    ok = take_names (args, &pairs->masks, &options->masks, &options->nmasks);
    break;
  case RD_OPTION_TOLERANCE:
    ok = rd_parse_double (args->value, &options->tolerance)
         && options->tolerance > 0;
    if (!ok)
      rd_usage_error (args, "--tolerance: '%s' is not a number above 0",
                      args->value);
    break;
  default:
    return 0;
  }
  return ok ? 1 : -1;
}

void
rd_pairs_clear (struct rd_pairs *pairs)
{
  free (pairs->masks);
  free (pairs->complete);
  *pairs = (struct rd_pairs) { 0 };
}
