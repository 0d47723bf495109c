/* SPDX-License-Identifier: MIT */
/* Writing the profiles of slow runs into files of their own. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "profiler/export/export.h"
#include "profiler/slow-files.h"

#define MAX_NAME 64           /* bytes of a scope's name in that of a file */

struct rd_slow_files {
  char *folder;
  const char *suffix;
  struct radio_profile_write_options options;
  void *key;
  void (*on_error) (void);
  unsigned long long number;  /* of the last file */
};

enum radio_status
rd_slow_files_new (const char *folder, const char *suffix,
                   const struct radio_profile_write_options *options,
                   void (*on_error) (void), struct rd_slow_files **result)
{
  struct rd_slow_files *files = calloc (1, sizeof *files);
  size_t nkey = options->redact_key ? options->redact_key_nbytes : 0;
  *result = NULL;
  if (!files)
    return rd_fail_memory (sizeof *files);
  *files = (struct rd_slow_files) {
    .folder = strdup (folder), .suffix = suffix, .options = *options,
    .key = nkey ? malloc (nkey) : NULL, .on_error = on_error,
  };
  if (!files->folder || (nkey && !files->key)) {
    rd_slow_files_free (files);
    return rd_fail_memory (strlen (folder) + 1 + nkey);
  }
  if (nkey)
    memcpy (files->key, options->redact_key, nkey);
  files->options.redact_key = files->key;
  *result = files;
  return RADIO_OK;
}

void
rd_slow_files_free (struct rd_slow_files *files)
{
  if (!files)
    return;
  free (files->folder);
  free (files->key);
  free (files);
}

/* Replaces characters that may be odd in a file's name, or special to a shell,
 * with '-'. */
static void
name_file (const char *scope, char name[MAX_NAME + 1])
{
  size_t n = 0;
  for (; scope[n] && n < MAX_NAME; n++) {
    char c = scope[n];
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
                    || (c >= '0' && c <= '9') || c == '_'
                    || (c == '.' && n > 0);
    name[n] = is_plain ? c : '-';
  }
  name[n] = '\0';
}

void
rd_slow_files_write (const struct radio_profile *profile, void *user_data)
{
  struct rd_slow_files *files = user_data;
  const struct radio_profile_node *top = radio_profile_get_node (profile, 0);
  char name[MAX_NAME + 1];
  enum radio_status status = RADIO_ERROR_EXISTS;
  name_file (top ? top->name : "", name);
  size_t room = strlen (files->folder) + strlen (files->suffix)
                + sizeof name + 64;
  RD_FREE_PLAIN char *path = malloc (room);
  if (!path)
    status = rd_fail_memory (room);
  while (status == RADIO_ERROR_EXISTS) {
    snprintf (path, room, "%s%s-%lld-%llu%s", files->folder, name,
              (long long) getpid (), ++files->number, files->suffix);
    status = rd_profile_write_file (profile, path, &files->options, false,
                                    0666);
  }
  if (status == RADIO_OK)
    return;
  (void) !rd_fail_in (status, "RADIO_PROFILE_SLOW");
  files->on_error ();
}
