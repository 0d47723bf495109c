/* SPDX-License-Identifier: MIT */
/* A temporary folder, and Ctrl-C. */
#include <config.h>

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/profile/temp.h"

/* Handlers have no other way to tell. */
static volatile sig_atomic_t noted;

const char *
rd_temp_folder (void)
{
  const char *folder = getenv ("TMPDIR");
  return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

/* The length of a path's folder, without the slash; 0: it has none. */
static size_t
folder_length (const char *path)
{
  size_t n = strlen (path);
  while (n > 1 && path[n - 1] == '/')
    n--;
  while (n > 0 && path[n - 1] != '/')
    n--;
  while (n > 1 && path[n - 1] == '/')
    n--;
  return n;
}

int
rd_temp_make (const char *beside, char **path)
{
  size_t n = beside ? folder_length (beside) : 0;
  char *name = beside == NULL
    ? rd_format ("%s/radio-profile-XXXXXX", rd_temp_folder ())
    : rd_format ("%.*s/radio-profile-XXXXXX", n ? (int) n : 1,
                 n ? beside : ".");
  if (name == NULL)
    return RD_EXIT_FAILED;
  rd_interrupt_catch ();
  if (mkdtemp (name) != NULL) {
    *path = name;
    return RD_EXIT_OK;
  }
  int number = errno;
  name[strlen (name) - strlen ("/radio-profile-XXXXXX")] = '\0';
  rd_error ("%s: cannot make a temporary folder in it: %s",
            *name ? name : "/", strerror (number));
  free (name);
  return RD_EXIT_FAILED;
}

static int
remove_one (const char *path, const struct stat *st, int type,
            struct FTW *place)
{
  (void) st;
  (void) type;
  (void) place;
  /* What cannot be removed is seen when the folder itself is. */
  (void) remove (path);
  return 0;
}

void
rd_temp_remove (char *path)
{
  if (path == NULL)
    return;
  nftw (path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
  struct stat st;
  if (lstat (path, &st) == 0) {
    RD_FREE char *text = rd_format ("%s: this temporary folder could not be "
                                    "removed", path);
    rd_warn (text ? text : path);
  }
  free (path);
}

/* Whoever ends a group of processes may send a signal twice at once
 * (timeout(1) does): only the third one is impatience. */
static void
note (int number)
{
  static volatile sig_atomic_t count;
  noted = number;
  count = count + 1;
  if (count < 3)
    return;
  signal (number, SIG_DFL);
  raise (number);
}

enum radio_status
rd_interrupt_stop (const struct radio_progress *progress, void *user_data)
{
  (void) progress;
  (void) user_data;
  return rd_interrupted () ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

bool
rd_interrupt_cancel (void *user_data)
{
  (void) user_data;
  return rd_interrupted () != 0;
}

void
rd_interrupt_catch (void)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  static bool caught;
  struct sigaction action = { .sa_handler = note };
  if (caught)
    return;
  caught = true;
  sigemptyset (&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction before;
    /* What nohup made ignored stays so. */
    if (sigaction (signals[i], NULL, &before) == 0
        && before.sa_handler != SIG_IGN)
      sigaction (signals[i], &action, NULL);
  }
}

void
rd_interrupt_note (int number)
{
  if (number != 0)
    noted = number;
}

int
rd_interrupted (void)
{
  return noted;
}

void
rd_interrupt_die (void)
{
  if (noted == 0)
    return;
  fflush (stdout);
  signal (noted, SIG_DFL);
  raise (noted);
}
