/* SPDX-License-Identifier: MIT */
/* Writes profiles to files and sinks: chooses the format, redacts if asked,
 * and calls the exporter. */
#include <config.h>

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "src/base/structs.h"
#include "src/base/whole-file.h"
#include "profiler/export/export.h"
#include "profiler/export/tensorboard.h"

/*------------------------------------------------------------------------
 * Formats
 *----------------------------------------------------------------------*/

/* A suffix stands before those that it ends in. */
static const struct {
  const char *suffix;
  enum radio_profile_format format;
} suffixes[] = {
  { ".pt.trace.json", RADIO_PROFILE_KINETO },
  { ".trace.json", RADIO_PROFILE_CHROME },
  { ".speedscope.json", RADIO_PROFILE_SPEEDSCOPE },
  { ".json", RADIO_PROFILE_JSON },
  { ".html", RADIO_PROFILE_HTML },
  { ".folded", RADIO_PROFILE_FOLDED },
  { ".pb.gz", RADIO_PROFILE_PPROF },
  { ".pprof", RADIO_PROFILE_PPROF },
  { ".txt", RADIO_PROFILE_TEXT },
  { ".svg", RADIO_PROFILE_SVG },
  { ".tensorboard", RADIO_PROFILE_TENSORBOARD },
};

enum radio_status
radio_profile_format_of (const char *path, enum radio_profile_format *format)
{
  RD_NOT_NULL (path);
  RD_NOT_NULL (format);
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    size_t n = strlen (path), nsuffix = strlen (suffixes[i].suffix);
    if (n >= nsuffix
        && strcasecmp (path + n - nsuffix, suffixes[i].suffix) == 0) {
      *format = suffixes[i].format;
      return RADIO_OK;
    }
  }
  return rd_fail (RADIO_ERROR_ARGUMENT,
                  "%s: unknown suffix of a profile; use"
                  " .html, .json, .trace.json, .pt.trace.json,"
                  " .speedscope.json, .folded, .pb.gz, .pprof, .svg, .txt or"
                  " .tensorboard", path);
}

const char *
rd_profile_suffix (enum radio_profile_format format)
{
  size_t i = 0, n = sizeof suffixes / sizeof suffixes[0];
  while (i + 1 < n && suffixes[i].format != format)
    i++;
  return suffixes[i].suffix;
}

/*------------------------------------------------------------------------
 * Export
 *----------------------------------------------------------------------*/

static rd_export_fn *const exporters[] = {
  [RADIO_PROFILE_JSON] = rd_export_json,
  [RADIO_PROFILE_HTML] = rd_export_html,
  [RADIO_PROFILE_CHROME] = rd_export_chrome,
  [RADIO_PROFILE_SPEEDSCOPE] = rd_export_speedscope,
  [RADIO_PROFILE_FOLDED] = rd_export_folded,
  [RADIO_PROFILE_PPROF] = rd_export_pprof,
  [RADIO_PROFILE_TEXT] = rd_export_text,
  [RADIO_PROFILE_KINETO] = rd_export_kineto,
  [RADIO_PROFILE_SVG] = rd_export_svg,
  [RADIO_PROFILE_TENSORBOARD] = rd_export_events,
};

static enum radio_status
export_as_it_is (const struct radio_profile *profile,
                 const struct radio_profile_write_options *options,
                 radio_profile_sink_fn *sink, void *user_data)
{
  struct rd_writer writer;
  rd_writer_init (&writer, sink, user_data);
  enum radio_status status
    = exporters[options->format] (profile, options, &writer);
  if (status != RADIO_OK)
    return status;
  return rd_writer_end (&writer);
}

/* Both without their names: equal ones have equal pseudonyms in both. */
static enum radio_status
export_redacted (const struct radio_profile *profile,
                 const struct radio_profile_write_options *asked,
                 radio_profile_sink_fn *sink, void *user_data)
{
  struct radio_profile_write_options options = *asked;
  RD_PROFILE_SCOPE struct radio_profile *redacted = NULL;
  RD_PROFILE_SCOPE struct radio_profile *before = NULL;
  RD_TRY (rd_profile_redact (profile, options.redact_key,
                             options.redact_key_nbytes, &redacted));
  if (options.before)
    RD_TRY (rd_profile_redact (options.before, options.redact_key,
                               options.redact_key_nbytes, &before));
  options.before = before;
  return export_as_it_is (redacted, &options, sink, user_data);
}

enum radio_status
radio_profile_write_to (const struct radio_profile *profile,
                        const struct radio_profile_write_options *options,
                        radio_profile_sink_fn *sink, void *user_data)
{
  RD_NOT_NULL (profile);
  RD_NOT_NULL (options);
  RD_NOT_NULL (sink);
  RD_TRY (RD_CHECK_RESERVED (radio_profile_write_options, options));

  enum radio_profile_format format = options->format;
  size_t n = sizeof exporters / sizeof exporters[0];
  if ((size_t) format >= n || exporters[format] == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "format %d is not a profile format", (int) format);

  return (options->redact ? export_redacted : export_as_it_is) (
    profile, options, sink, user_data);
}

static enum radio_status
write_to_whole (const void *data, size_t nbytes, void *user_data)
{
  return rd_whole_file_write (user_data, data, nbytes);
}

static enum radio_status
write_file (const struct radio_profile *profile, const char *path,
            const struct radio_profile_write_options *options,
            bool overwrite, mode_t mode)
{
  RD_CLEANUP (rd_cleanup_whole_file) struct rd_whole_file *whole = NULL;
  RD_TRY (rd_whole_file_open (path, overwrite, mode, &whole));
  RD_TRY (radio_profile_write_to (profile, options, write_to_whole, whole));
  return rd_whole_file_commit (RD_STEAL (whole), NULL, NULL);
}

/* The files of a folder replace those of the same profile. */
static enum radio_status
write_folder (const struct radio_profile *profile, const char *path,
              const struct radio_profile_write_options *options,
              bool overwrite, mode_t mode)
{
  static const enum radio_profile_format formats[] = {
    RADIO_PROFILE_KINETO, RADIO_PROFILE_TENSORBOARD
  };
  RD_TRY (rd_tensorboard_make_folder (path, overwrite, mode));
  for (size_t i = 0; i < 2; i++) {
    struct radio_profile_write_options chosen = *options;
    char name[PATH_MAX];
    chosen.format = formats[i];
    RD_TRY (rd_tensorboard_name (profile, path, chosen.format, name,
                                 sizeof name));
    RD_TRY (write_file (profile, name, &chosen, true, mode));
  }
  return RADIO_OK;
}

enum radio_status
rd_profile_write_file (const struct radio_profile *profile, const char *path,
                       const struct radio_profile_write_options *options,
                       bool overwrite, mode_t mode)
{
  return (options->format == RADIO_PROFILE_TENSORBOARD ? write_folder
                                                       : write_file) (
    profile, path, options, overwrite, mode);
}

enum radio_status
radio_profile_write (const struct radio_profile *profile, const char *path,
                     const struct radio_profile_write_options *options)
{
  struct radio_profile_write_options chosen = { 0 };
  RD_NOT_NULL (profile);
  RD_NOT_NULL (path);
  if (options)
    chosen = *options;
  if (chosen.format == 0)
    RD_TRY (radio_profile_format_of (path, &chosen.format));
  return rd_profile_write_file (profile, path, &chosen, true, 0666);
}
