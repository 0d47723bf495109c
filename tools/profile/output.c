/* SPDX-License-Identifier: MIT */
/* The files that a profile is written to. */
#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/interrupt.h"
#include "tools/output.h"
#include "tools/profile/output.h"

/* A key is some bytes; a volume that is given by mistake is an error. */
#define MAX_KEY_NBYTES 65536

int
rd_profile_output_take (struct rd_args *args, int id,
                        struct rd_profile_output *output)
{
  enum radio_profile_format format;
  switch (id) {
  case 'o':
    if (output->nfiles == RD_PROFILE_MAX_FILES)
      rd_usage_error (args, "-o: at most %d files", RD_PROFILE_MAX_FILES);
    else if (radio_profile_format_of (args->value, &format) != RADIO_OK)
      rd_usage_error (args, "-o: %s", radio_error_message ());
    else {
      output->files[output->nfiles++] = args->value;
      return 1;
    }
    return -1;
  case RD_OPTION_REDACT:
    return output->redact = true;
  case RD_OPTION_REDACT_KEY:
    output->key_file = args->value;
    return output->redact = true;
  case RD_OPTION_ARGUMENTS:
    return output->arguments = true;
  default:
    return 0;
  }
}

static int
read_key (struct rd_profile_output *output)
{
  FILE *file = fopen (output->key_file, "rbe");
  if (file == NULL)
    return rd_error ("--redact-key: %s: %s", output->key_file,
                     strerror (errno));
  output->key = malloc (MAX_KEY_NBYTES + 1);
  if (output->key != NULL)
    output->key_nbytes = fread (output->key, 1, MAX_KEY_NBYTES + 1, file);
  bool failed = ferror (file) != 0;
  fclose (file);
  if (output->key == NULL)
    return rd_error_memory ();
  if (failed)
    return rd_error ("--redact-key: %s: cannot be read",
                     output->key_file);
  if (output->key_nbytes == 0)
    return rd_error ("--redact-key: %s: empty", output->key_file);
  if (output->key_nbytes > MAX_KEY_NBYTES)
    return rd_error ("--redact-key: %s: has more than %d bytes, too many "
                     "for a key", output->key_file, MAX_KEY_NBYTES);
  return RD_EXIT_OK;
}

int
rd_profile_output_prepare (struct rd_profile_output *output,
                           const struct rd_args *args, const char *what)
{
  int failed = RD_EXIT_OK;
  output->overwrite = args->overwrite;
  for (size_t i = 0; i < output->nfiles && !failed; i++) {
    /* A folder of TensorBoard's is added to, not replaced. */
    bool adds = output->overwrite
                && rd_has_suffix (output->files[i], ".tensorboard");
    if (!adds)
      failed = rd_new_file_check (output->files[i], output->overwrite);
  }
  bool chooses = !failed && output->nfiles == 0 && what != NULL;
  for (unsigned i = 1; i < 10000 && chooses && output->nfiles == 0; i++) {
    char *name = i == 1 ? rd_format ("radio-profile-%s.html", what)
                        : rd_format ("radio-profile-%s-%u.html", what, i);
    if (name == NULL)
      return RD_EXIT_FAILED;
    if (access (name, F_OK) != 0)
      output->files[output->nfiles++] = output->default_name = name;
    else
      free (name);
  }
  if (chooses && output->nfiles == 0)
    failed = rd_error ("radio-profile-%s.html and 9999 more exist already; "
                       "use -o", what);
  if (!failed && output->key_file)
    failed = read_key (output);
  return failed;
}

static struct radio_profile_write_options
write_options (const struct rd_profile_output *output)
{
  return (struct radio_profile_write_options) {
    .redact = output->redact,
    .redact_key = output->key,
    .redact_key_nbytes = output->key_nbytes,
    .arguments = output->arguments,
    .before = output->before,
  };
}

/* Saves the profile elsewhere, so that the work is not lost.  A comparison
 * needs none of this: it is read from files. */
static void
save_elsewhere (const struct rd_profile_output *output,
                const struct radio_profile *profile)
{
  struct radio_profile_write_options options = write_options (output);
  options.format = RADIO_PROFILE_JSON;
  RD_FREE char *name = rd_format ("%s/radio-profile-XXXXXX.json",
                                  rd_temp_folder ());
  if (name == NULL)
    return;
  int file = mkstemps (name, 5);
  if (file >= 0)
    close (file);
  if (file >= 0
      && radio_profile_write (profile, name, &options) == RADIO_OK) {
    rd_error ("the profile was saved as %s ('radio profile convert' makes "
              "a page of it)", name);
    return;
  }
  if (file >= 0)
    unlink (name);
  rd_error ("%s: the profile could not be saved there either",
            rd_temp_folder ());
}

int
rd_profile_output_write (const struct rd_profile_output *output,
                         const struct radio_profile *profile, bool quiet)
{
  struct radio_profile_write_options options = write_options (output);
  bool saved = false, failed = false;
  for (size_t i = 0; i < output->nfiles; i++) {
    const char *file = output->files[i];
    if (radio_profile_write (profile, file, &options) == RADIO_OK) {
      /* These formats can be read back. */
      enum radio_profile_format format;
      saved |= radio_profile_format_of (file, &format) == RADIO_OK
               && (format == RADIO_PROFILE_JSON
                   || format == RADIO_PROFILE_HTML);
      if (!quiet)
        rd_output_print (file, rd_has_suffix (file, ".html")
                        ? "open it in a browser" : "the profile");
      continue;
    }
    rd_error_library (file);
    failed = true;
  }
  if (failed && !saved && output->before == NULL)
    save_elsewhere (output, profile);
  return failed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static enum radio_status
print_bytes (const void *data, size_t nbytes, void *user_data)
{
  /* A full disk is reported when stdout is closed. */
  (void) fwrite (data, 1, nbytes, user_data);
  return RADIO_OK;
}

int
rd_profile_print (const struct radio_profile *profile,
                  const struct rd_profile_output *output)
{
  struct radio_profile_write_options options = write_options (output);
  options.format = RADIO_PROFILE_TEXT;
  options.colour = *rd_color (stdout, RD_BOLD) != '\0';
  struct winsize size;
  options.columns = ioctl (STDOUT_FILENO, TIOCGWINSZ, &size) == 0
                    && size.ws_col >= 60 ? size.ws_col : 80;
  if (radio_profile_write_to (profile, &options, print_bytes, stdout)
      == RADIO_OK)
    return RD_EXIT_OK;
  return rd_error_library (NULL);
}

void
rd_profile_output_clear (struct rd_profile_output *output)
{
  free (output->key);
  free (output->default_name);
}
