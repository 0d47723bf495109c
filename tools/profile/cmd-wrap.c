/* SPDX-License-Identifier: MIT */
/* radio profile -- COMMAND: runs a program with RADIO_PROFILE in its
 * environment, and joins what it and its children wrote. */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/output.h"
#include "tools/profile/child.h"
#include "tools/profile/commands.h"
#include "tools/profile/output.h"
#include "tools/profile/ranks.h"
#include "tools/profile/temp.h"

extern char **environ;

struct wrap {
  struct rd_profile_output output;
  struct rd_child child;
  char **argv;                /* the program's */
  char *temp;
  bool is_marked;             /* the folder: see mark_untouched */
  bool keep;                  /* it: it has what is nowhere else */
  struct radio_profile **profiles;
  size_t n;
  size_t nunreadable;
};

/*------------------------------------------------------------------------
 * Whether a profile was lost
 *----------------------------------------------------------------------*/

/* Whatever is made in a folder, even if it is removed again, gives it a new
 * time.  One that nothing has shows later that nobody tried to write. */
static bool
mark_untouched (const char *folder)
{
  static const struct timespec never[2] = { { 0, 0 }, { 0, 0 } };
  return utimensat (AT_FDCWD, folder, never, 0) == 0;
}

static bool
was_touched (const struct wrap *wrap)
{
  struct stat st;
  return wrap->is_marked && stat (wrap->temp, &st) == 0 && st.st_mtime != 0;
}

/* Whether a file of some bytes can be made in a folder. */
static bool
has_room (const char *folder)
{
  static const char bytes[4096];
  RD_FREE char *name = rd_format ("%s/room", folder);
  if (name == NULL)
    return true;
  int fd = open (name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return false;
  bool written = write (fd, bytes, sizeof bytes) == (ssize_t) sizeof bytes;
  close (fd);
  unlink (name);
  return written;
}

/*------------------------------------------------------------------------
 * Running
 *----------------------------------------------------------------------*/

/* Of the environment, what asks for profiles is replaced. */
static char **
make_environment (const char *pattern)
{
  size_t n = 0, used = 0;
  while (environ[n])
    n++;
  char **list = calloc (n + 2, sizeof *list);
  if (list == NULL)
    return NULL;
  for (size_t i = 0; i < n; i++)
    if (strncmp (environ[i], "RADIO_PROFILE=", 14) != 0)
      list[used++] = environ[i];
  list[used] = (char *) pattern;
  return list;
}

/* What RADIO_PROFILE is to be.  Absolute, since children may go to other
 * folders; and none of its own may stand for a number. */
static char *
make_pattern (const struct wrap *wrap)
{
  RD_FREE char *folder = realpath (wrap->temp, NULL);
  if (folder == NULL) {
    rd_error ("%s: %s", wrap->temp, strerror (errno));
    return NULL;
  }
  if (strstr (folder, "%p") != NULL) {
    rd_error ("%s: '%%p' in the folder for temporary files would become "
              "a number: set TMPDIR to another", rd_temp_folder ());
    return NULL;
  }
  return rd_format ("RADIO_PROFILE=%s/%%p.json", folder);
}

/* Run the program to its end; false: it was not run, which is told. */
static bool
run_program (struct wrap *wrap, int *status)
{
  RD_FREE char *pattern = make_pattern (wrap);
  RD_FREE char **environment = pattern ? make_environment (pattern) : NULL;
  *status = RD_EXIT_OURS;
  if (environment == NULL)
    return false;
  /* What is still in our buffer comes before what the program prints. */
  fflush (stdout);
  return rd_child_run (&wrap->child, wrap->argv, environment, status);
}

/* A profile that cannot be read is told, and takes nothing from the
 * others. */
static int
add_profile (struct wrap *wrap, const char *name)
{
  RD_FREE char *path = rd_format ("%s/%s", wrap->temp, name);
  struct radio_profile **longer = reallocarray (
    wrap->profiles, wrap->n + 1, sizeof *longer);
  if (path == NULL || longer == NULL)
    return rd_error_memory ();
  wrap->profiles = longer;
  if (radio_profile_read (path, &wrap->profiles[wrap->n]) == RADIO_OK) {
    wrap->n++;
    return RD_EXIT_OK;
  }
  wrap->nunreadable++;
  RD_FREE char *text = rd_format ("a process's profile is left out: %s",
                                  radio_error_message ());
  rd_warn (text ? text : radio_error_message ());
  return RD_EXIT_OK;
}

/* By number: processes that were started first come first, mostly. */
static int
by_number (const struct dirent **a, const struct dirent **b)
{
  size_t x = strlen ((*a)->d_name), y = strlen ((*b)->d_name);
  if (x != y)
    return x < y ? -1 : 1;
  return strcmp ((*a)->d_name, (*b)->d_name);
}

static int
is_profile (const struct dirent *entry)
{
  return entry->d_name[0] != '.' && rd_has_suffix (entry->d_name, ".json");
}

static int
collect (struct wrap *wrap)
{
  struct dirent **entries = NULL;
  int n = scandir (wrap->temp, &entries, is_profile, by_number);
  int failed = n < 0 ? rd_error ("%s: %s", wrap->temp, strerror (errno))
                     : RD_EXIT_OK;
  for (int i = 0; i < n; i++) {
    if (!failed && !rd_interrupted ())
      failed = add_profile (wrap, entries[i]->d_name);
    free (entries[i]);
  }
  free (entries);
  return failed;
}

static int
report (struct wrap *wrap)
{
  RD_CLOSE_PROFILE struct radio_profile *joined = NULL;
  const struct radio_profile *profile = wrap->profiles[0];
  if (wrap->n > 1) {
    if (radio_profile_join (wrap->profiles, wrap->n, RADIO_PARTS_RANKS,
                            &joined) != RADIO_OK) {
      wrap->keep = true;
      return rd_error_library ("the profiles cannot be joined");
    }
    profile = joined;
  }
  int failed = RD_EXIT_OK;
  if (joined)
    failed = rd_ranks_print (joined);
  if (!failed && joined)
    failed = rd_imbalance_print (joined);
  if (!failed)
    failed = rd_profile_print (profile, &wrap->output);
  int unwritten = rd_profile_output_write (&wrap->output, profile, false);
  return failed ? failed : unwritten;
}

/* Why there is nothing to report. */
static int
complain_empty (struct wrap *wrap, int status)
{
  if (wrap->nunreadable > 0) {
    wrap->keep = true;
    return rd_error ("%s: none of its profiles can be read",
                     wrap->argv[0]);
  }
  bool was_begun = was_touched (wrap);
  if (was_begun || !has_room (wrap->temp))
    return rd_error ("%s: its profile %s be written into %s, the folder "
                     "for temporary files: set TMPDIR to another",
                     wrap->argv[0], was_begun ? "could not" : "cannot",
                     rd_temp_folder ());
  rd_error ("%s recorded nothing: %s", wrap->argv[0], status > 128
            ? "a signal ended it before it could write"
            : "it is not linked with this library, or does not call "
              "radio_profile_from_env");
  return RD_EXIT_OK;
}

/* The program's own status goes before ours. */
static int
collect_and_report (struct wrap *wrap, int status)
{
  int failed = collect (wrap);
  if (rd_interrupted ())
    return RD_EXIT_FAILED;
  if (!failed)
    failed = wrap->n == 0 ? complain_empty (wrap, status) : report (wrap);
  return status ? status : failed;
}

static int
run_and_report (struct wrap *wrap)
{
  int status = RD_EXIT_OURS;
  rd_child_hold (&wrap->child);
  bool was_run = false;
  if (rd_temp_make (NULL, &wrap->temp) == RD_EXIT_OK) {
    wrap->is_marked = mark_untouched (wrap->temp);
    was_run = run_program (wrap, &status);
  }
  rd_child_release (&wrap->child);
  return was_run ? collect_and_report (wrap, status) : status;
}

static void
leave_folder (struct wrap *wrap)
{
  if (!wrap->keep) {
    rd_temp_remove (wrap->temp);
    return;
  }
  rd_error ("the profiles of the single processes%s are in %s",
            wrap->output.redact ? ", not redacted," : "", wrap->temp);
  free (wrap->temp);
}

/* A name for the page, of the program's. */
static char *
page_name (const char *program)
{
  const char *slash = strrchr (program, '/');
  const char *base = slash ? slash + 1 : program;
  return rd_format ("%.100s", *base ? base : "program");
}

static bool
parse (struct wrap *wrap, struct rd_args *args)
{
  int dashes = 1, id;
  while (strcmp (args->argv[dashes], "--") != 0)
    dashes++;
  wrap->argv = args->argv + dashes + 1;
  int argc = args->argc;
  args->argc = dashes;
  while ((id = rd_args_next (args)) > 0)
    if (rd_profile_output_take (args, id, &wrap->output) < 0)
      return false;
  if (id < 0 || !rd_args_want (args, 0, 0, "COMMAND"))
    return false;
  if (dashes + 1 < argc)
    return true;
  rd_usage_error (args, "COMMAND is missing behind --");
  return false;
}

int
rd_profile_wrap (struct rd_args *args)
{
  struct wrap wrap = { 0 };
  if (!parse (&wrap, args)) {
    rd_profile_output_clear (&wrap.output);
    return args->status;
  }
  RD_FREE char *name = page_name (wrap.argv[0]);
  int status = name == NULL
               || rd_profile_output_settle (&wrap.output, name)
    ? RD_EXIT_OURS : run_and_report (&wrap);
  for (size_t i = 0; i < wrap.n; i++)
    radio_profile_close (wrap.profiles[i]);
  free (wrap.profiles);
  leave_folder (&wrap);
  rd_profile_output_clear (&wrap.output);
  rd_interrupt_note (wrap.child.number);
  rd_interrupt_die ();
  return status;
}
