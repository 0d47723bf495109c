/* SPDX-License-Identifier: MIT */
/* Signals that end a command in good order, and temporary folders. */
#include <config.h>

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/interrupt.h"

/* Set by handlers, which have no other way to report. */
static volatile sig_atomic_t noted, ncaught;
static bool cancels_requests;
static atomic_int nfinished;          /* of ncaught, that cancel no more */

const char *
rd_temp_folder (void)
{
  const char *folder = getenv ("TMPDIR");
  return folder != NULL && *folder != '\0' ? folder : "/tmp";
}

int
rd_temp_make (const char *beside, char **path)
{
  static const char pattern[] = "/radio-profile-XXXXXX";
  /* The length of the folder of `beside', without slashes at its end. */
  size_t n = beside ? strlen (beside) : 0;
  while (n > 1 && beside[n - 1] == '/')
    n--;
  while (n > 0 && beside[n - 1] != '/')
    n--;
  while (n > 1 && beside[n - 1] == '/')
    n--;
  char *name = beside == NULL
    ? rd_format ("%s%s", rd_temp_folder (), pattern)
    : rd_format ("%.*s%s", n ? (int) n : 1, n ? beside : ".", pattern);
  if (name == NULL)
    return RD_EXIT_FAILED;
  rd_interrupt_catch ();
  if (mkdtemp (name) != NULL) {
    *path = name;
    return RD_EXIT_OK;
  }
  int number = errno;
  name[strlen (name) - strlen (pattern)] = '\0';
  rd_error ("%s: cannot make a temporary folder in it: %s",
            *name ? name : "/", strerror (number));
  free (name);
  return RD_EXIT_FAILED;
}

static int
remove_entry (const char *path, const struct stat *st, int type,
              struct FTW *place)
{
  (void) st;
  (void) type;
  (void) place;
  /* A failure shows when the folder itself is removed. */
  (void) remove (path);
  return 0;
}

void
rd_temp_remove (char *path)
{
  if (path == NULL)
    return;
  nftw (path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
  struct stat st;
  if (lstat (path, &st) == 0) {
    RD_FREE char *text = rd_format ("%s: this temporary folder could not be "
                                    "removed", path);
    rd_warn (text ? text : path);
  }
  free (path);
}

/* A process group may get a signal twice at once, as from timeout(1): only the
 * third one kills. */
static void
note_signal (int number)
{
  noted = number;
  ncaught = ncaught + 1;
  if (ncaught < 3)
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
  int n = atomic_load (&nfinished);
  return cancels_requests && rd_interrupted () != 0 && (n == 0 || ncaught > n);
}

void
rd_interrupt_finish (void)
{
  atomic_store (&nfinished, ncaught);
}

void
rd_interrupt_catch (void)
{
  static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
  static bool caught;
  struct sigaction action = { .sa_handler = note_signal };
  if (caught)
    return;
  caught = cancels_requests = true;
  sigemptyset (&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    struct sigaction before;
    /* A signal that nohup ignores stays ignored. */
    if (sigaction (signals[i], NULL, &before) == 0
        && before.sa_handler != SIG_IGN)
      sigaction (signals[i], &action, NULL);
  }
}

static void
note_once (int number)
{
  noted = number;
}

void
rd_interrupt_catch_once (void)
{
  struct sigaction action = { .sa_handler = note_once,
                              .sa_flags = (int) SA_RESETHAND };
  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
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
