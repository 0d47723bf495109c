/* SPDX-License-Identifier: MIT */
/* Which format a file's name asks for. */
#include <config.h>

#include <string.h>
#include <strings.h>

#include "profiler/export/export.h"

/* A suffix stands before those that it ends in. */
static const struct {
  const char *suffix;
  enum radio_profile_format format;
} suffixes[] = {
  { ".trace.json", RADIO_PROFILE_CHROME },
  { ".speedscope.json", RADIO_PROFILE_SPEEDSCOPE },
  { ".json", RADIO_PROFILE_JSON },
  { ".html", RADIO_PROFILE_HTML },
  { ".folded", RADIO_PROFILE_FOLDED },
  { ".pb.gz", RADIO_PROFILE_PPROF },
  { ".pprof", RADIO_PROFILE_PPROF },
  { ".txt", RADIO_PROFILE_TEXT },
};

static bool
ends_in (const char *path, const char *suffix)
{
  size_t n = strlen (path), nsuffix = strlen (suffix);
  return n >= nsuffix && strcasecmp (path + n - nsuffix, suffix) == 0;
}

enum radio_status
radio_profile_format_of (const char *path, enum radio_profile_format *format)
{
  if (path == NULL || format == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "radio_profile_format_of: NULL");
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    if (ends_in (path, suffixes[i].suffix)) {
      *format = suffixes[i].format;
      return RADIO_OK;
    }
  return rd_fail (RADIO_ERROR_ARGUMENT,
                  "%s: its suffix stands for no format of profiles: give"
                  " .html, .json, .trace.json, .speedscope.json, .folded,"
                  " .pb.gz, .pprof or .txt", path);
}
