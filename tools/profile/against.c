/* SPDX-License-Identifier: MIT */
/* Measuring two commands in turn.  Each round runs both, every other one in
 * the reverse order; a run of a command is a process of its own, with a few
 * measured runs.  So all that the machine does meanwhile meets both, and the
 * processes show how much they differ by themselves. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/interrupt.h"
#include "tools/json.h"
#include "tools/profile/against.h"
#include "tools/profile/report.h"
#include "tools/progress.h"

/* Rounds: enough that each side has a spread of processes, unless fewer runs
 * are wanted. */
#define MIN_ROUNDS 5
#define MAX_ROUNDS 10
#define RUNS_OF_ROUND 4

/* A round whose two sides met different conditions is run again, until there
 * are twice as many.  With fewer fair ones than these all count. */
#define MAX_TRIES (2 * MAX_ROUNDS)
#define MIN_FAIR_ROUNDS 4

/*------------------------------------------------------------------------
 * How a recording was made
 *----------------------------------------------------------------------*/

/* A file that the program consists of, by its size and time: one that changed
 * is another program. */
static void
add_file (struct json_object *files, const char *path)
{
  struct stat st;
  if (stat (path, &st) != 0)
    return;
  struct json_object *file = json_object_new_object ();
  rd_json_set_text (file, "path", path);
  rd_json_set_u64 (file, "nbytes", (uint64_t) st.st_size);
  rd_json_set_u64 (file, "changed_ns",
                   (uint64_t) st.st_mtim.tv_sec * 1000000000
                     + (uint64_t) st.st_mtim.tv_nsec);
  json_object_array_add (files, file);
}

/* The program and the library, if that is a file of its own. */
static struct json_object *
list_files (const char *program)
{
  struct json_object *files = json_object_new_array ();
  char line[4096 + 128], last[4096] = "";
  FILE *maps = fopen ("/proc/self/maps", "re");
  add_file (files, program);
  while (maps && fgets (line, sizeof line, maps)) {
    char *path = strchr (line, '/');
    line[strcspn (line, "\n")] = '\0';
    if (!path || !strstr (path, "/libradio.") || strcmp (path, last) == 0)
      continue;
    snprintf (last, sizeof last, "%.4095s", path);
    add_file (files, path);
  }
  if (maps)
    fclose (maps);
  return files;
}

/* Adds an option and its value. */
static void
add_option (struct json_object *list, const char *name, const char *value)
{
  RD_FREE char *option = rd_format ("--%s=%s", name, value);
  if (option)
    json_object_array_add (list, json_object_new_string (option));
}

static void
add_select (struct json_object *list, const struct rd_select *select)
{
  char number[32];
  if (select->where)
    add_option (list, "where", select->where);
  if (select->subject)
    add_option (list, "subject", select->subject);
  snprintf (number, sizeof number, "%" PRIu64, select->sample);
  if (select->sample > 0)
    add_option (list, "sample", number);
  snprintf (number, sizeof number, "%" PRIu64, select->head);
  if (select->head > 0)
    add_option (list, "head", number);
}

/* The store to name: `op' has none, and `ingest' makes one of its own, beside
 * that of an option only. */
static const char *
store_of (const struct rd_args *args)
{
  bool reads_one = args->command != &rd_profile_op
                   && args->command != &rd_profile_ingest;
  return args->store ? args->store : reads_one ? getenv ("RADIO_STORE") : NULL;
}

/* Everything that is needed to run this command again; NULL after an
 * error. */
static struct json_object *
describe_self (const struct rd_measure *measure, const struct rd_args *args)
{
  char program[4096], number[64];
  RD_FREE char *folder = getcwd (NULL, 0);
  ssize_t n = readlink ("/proc/self/exe", program, sizeof program - 1);
  const char *store = store_of (args);
  if (n <= 0 || !folder) {
    rd_error ("cannot find this program or its folder: %s",
              strerror (errno));
    return NULL;
  }
  program[n] = '\0';

  /* "profile", "slice" */
  struct json_object *list = json_object_new_array ();
  const char *command = args->command->name;
  const char *blank = strrchr (command, ' ');
  RD_FREE char *option = store && *store ? rd_format ("--store=%s", store)
                                         : NULL;
  RD_FREE char *apply = args->pipeline
    ? rd_format ("--apply=%s", radio_pipeline_text (args->pipeline)) : NULL;
  json_object_array_add (list, json_object_new_string ("profile"));
  json_object_array_add (list, json_object_new_string (
    blank ? blank + 1 : command));
  for (size_t i = 0; measure->arguments
       && i < json_object_array_length (measure->arguments); i++)
    json_object_array_add (list, json_object_get (
      json_object_array_get_idx (measure->arguments, i)));
  if (option)
    json_object_array_add (list, json_object_new_string (option));
  if (apply)                          /* as it was drawn, if it was */
    json_object_array_add (list, json_object_new_string (apply));
  if (args->keep_index)
    json_object_array_add (list, json_object_new_string ("--keep-index"));
  if (args->nthreads > 0) {
    snprintf (number, sizeof number, "--threads=%u", args->nthreads);
    json_object_array_add (list, json_object_new_string (number));
  }
  if (args->memory_nbytes > 0) {
    snprintf (number, sizeof number, "--memory=%" PRIu64,
              args->memory_nbytes);
    json_object_array_add (list, json_object_new_string (number));
  }
  add_select (list, &args->select);
  for (size_t i = 0; i < args->noperands; i++)
    json_object_array_add (list, json_object_new_string_len (
      args->operands[i], (int) rd_shown_nbytes (args->operands[i])));

  struct json_object *object = json_object_new_object ();
  rd_json_set_text (object, "program", program);
  rd_json_set_text (object, "folder", folder);
  rd_json_set (object, "arguments", list);
  rd_json_set (object, "files", list_files (program));
  return object;
}

bool
rd_against_check (const struct rd_measure *measure, struct rd_args *args)
{
  if (measure->fail_percent < 0 || measure->against)
    return true;
  rd_usage_error (args, "--fail-if-slower needs --against");
  return false;
}

int
rd_against_describe (struct rd_measure *measure, const struct rd_args *args)
{
  struct json_object *object = describe_self (measure, args);
  if (!object)
    return RD_EXIT_FAILED;
  int failed = rd_conditions_add (
    &measure->conditions, RD_MADE_BY,
    json_object_to_json_string_ext (object, JSON_C_TO_STRING_PLAIN
                                    | JSON_C_TO_STRING_NOSLASHESCAPE),
    RADIO_TEXT_NAME);
  json_object_put (object);
  return failed;
}

/*------------------------------------------------------------------------
 * The earlier command
 *----------------------------------------------------------------------*/

static const char *
text_member (struct json_object *object, const char *key)
{
  struct json_object *value = NULL;
  json_object_object_get_ex (object, key, &value);
  return json_object_is_type (value, json_type_string)
         ? json_object_get_string (value) : NULL;
}

/* Fails unless the program's files are those that made the recording. */
static int
check_files (const char *name, struct json_object *object)
{
  struct json_object *files = NULL;
  json_object_object_get_ex (object, "files", &files);
  size_t n = json_object_is_type (files, json_type_array)
             ? json_object_array_length (files) : 0;
  for (size_t i = 0; i < n; i++) {
    struct json_object *file = json_object_array_get_idx (files, i);
    struct json_object *nbytes = NULL, *changed = NULL;
    const char *path = text_member (file, "path");
    struct stat st;
    json_object_object_get_ex (file, "nbytes", &nbytes);
    json_object_object_get_ex (file, "changed_ns", &changed);
    if (!path || stat (path, &st) != 0)
      return rd_error ("%s: the program that made it is gone (%s); build it "
                       "again in a folder of its own, and record with that",
                       name, path ? path : "");
    uint64_t ns = (uint64_t) st.st_mtim.tv_sec * 1000000000
                  + (uint64_t) st.st_mtim.tv_nsec;
    if (json_object_get_uint64 (nbytes) != (uint64_t) st.st_size
        || json_object_get_uint64 (changed) != ns)
      return rd_error ("%s: the program that made it has changed (%s); build "
                       "the old one in a folder of its own, and record with "
                       "that", name, path);
  }
  return RD_EXIT_OK;
}

/* Options that say what is measured; none writes a file that it names. */
static bool
is_measuring_option (const char *argument)
{
  static const char *const names[] = {
    "apply", "at", "axis", "codec", "cold", "destination", "draw", "index",
    "keep-index", "head", "map", "memory", "phantom", "roi", "sample", "seed",
    "size", "sizes", "store", "subject", "threads", "tiling", "types",
    "warmup", "where",
  };
  size_t i = 0, n = sizeof names / sizeof names[0];
  if (strncmp (argument, "--", 2) != 0)
    return false;
  size_t nbytes = strcspn (argument + 2, "=");
  while (i < n && (strlen (names[i]) != nbytes
                   || strncmp (names[i], argument + 2, nbytes) != 0))
    i++;
  return i < n;
}

/* Commands that measure, and leave nothing but their profile. */
static bool
is_measurement (const char *command)
{
  static const char *const names[] = {
    "full", "slice", "roi", "sweep", "op", "ingest",
  };
  size_t i = 0, n = sizeof names / sizeof names[0];
  while (i < n && strcmp (names[i], command) != 0)
    i++;
  return i < n;
}

/* Fails unless the arguments are those of a measurement.  A profile may come
 * from anyone: it must not run another command. */
static int
check_arguments (const char *name, struct json_object *list)
{
  size_t n = json_object_array_length (list);
  for (size_t i = 0; i < n; i++) {
    struct json_object *one = json_object_array_get_idx (list, i);
    const char *text = json_object_is_type (one, json_type_string)
                       ? json_object_get_string (one) : "";
    bool is_known = i == 0 ? strcmp (text, "profile") == 0
                           : *text != '-' || is_measuring_option (text);
    if (i == 1)
      is_known = is_measurement (text);
    if (!is_known)
      return rd_error ("%s: was not made by 'radio profile full', slice, roi, "
                       "sweep, op or ingest ('%.100s'); record it by one of "
                       "these", name, text);
  }
  return n >= 2 ? RD_EXIT_OK
                : rd_error ("%s: does not have the command that made it; "
                            "record it by 'radio profile slice' or the like",
                            name);
}

/* How the earlier recording was made, which the caller releases; NULL after an
 * error. */
static struct json_object *
read_earlier (const char *name)
{
  RD_CLOSE_PROFILE struct radio_profile *profile = NULL;
  const char *text;
  if (radio_profile_read (name, &profile) != RADIO_OK) {
    rd_error_library (name);
    return NULL;
  }
  text = rd_find_fact (profile, RD_MADE_BY);
  struct json_object *object = text ? json_tokener_parse (text) : NULL;
  struct json_object *list = NULL;
  json_object_object_get_ex (object, "arguments", &list);
  if (!text_member (object, "program") || !text_member (object, "folder")
      || !json_object_is_type (list, json_type_array)) {
    rd_error ("%s: cannot be run again, since it does not have how it was "
              "made (%s); record it by 'radio profile slice' or the like, "
              "without --redact", name,
              text ? "it is redacted, or joined" : "another program or an "
              "earlier radio did");
    json_object_put (object);
    return NULL;
  }
  if (check_arguments (name, list) != RD_EXIT_OK
      || check_files (name, object) != RD_EXIT_OK) {
    json_object_put (object);
    return NULL;
  }
  return object;
}

/*------------------------------------------------------------------------
 * Rounds
 *----------------------------------------------------------------------*/

/* In the process that becomes the command. */
_Noreturn static void
become (struct json_object *made, size_t nruns, const char *file)
{
  struct json_object *list = NULL;
  json_object_object_get_ex (made, "arguments", &list);
  const char *program = text_member (made, "program");
  size_t n = json_object_array_length (list), i = 0;
  char runs[64];
  char **argv = calloc (n + 8, sizeof *argv);
  int nothing = open ("/dev/null", O_WRONLY | O_CLOEXEC);
  snprintf (runs, sizeof runs, "--runs=%zu", nruns);
  if (!argv || nothing < 0 || dup2 (nothing, STDOUT_FILENO) < 0)
    _exit (RD_EXIT_FAILED);
  argv[i++] = (char *) (uintptr_t) program;
  for (size_t k = 0; k < n; k++)
    argv[i++] = (char *) (uintptr_t) json_object_get_string (
      json_object_array_get_idx (list, k));
  argv[i++] = runs;
  argv[i++] = (char *) (uintptr_t) "--json";
  argv[i++] = (char *) (uintptr_t) "-o";
  argv[i++] = (char *) (uintptr_t) file;
  if (chdir (text_member (made, "folder")) != 0)
    rd_error ("%s: %s", text_member (made, "folder"), strerror (errno));
  else {
    execv (program, argv);
    rd_error ("%s: cannot be run: %s", program, strerror (errno));
  }
  _exit (RD_EXIT_FAILED);
}

/* Runs a command for its profile. */
static int
run_command (struct json_object *made, size_t nruns, const char *file,
             struct radio_profile **profile)
{
  int status = 0;
  fflush (NULL);
  pid_t pid = fork ();
  if (pid == 0)
    become (made, nruns, file);
  if (pid < 0)
    return rd_error ("cannot start a process: %s", strerror (errno));
  while (waitpid (pid, &status, 0) < 0)
    if (errno != EINTR)
      return rd_error ("cannot wait for a process: %s", strerror (errno));
  if (rd_interrupted ())
    return RD_EXIT_FAILED;
  if (!WIFEXITED (status))
    return rd_error ("%s: died of signal %d while it was measured",
                     text_member (made, "program"), WTERMSIG (status));
  if (WEXITSTATUS (status) != 0)        /* it said why */
    return RD_EXIT_FAILED;
  if (radio_profile_read (file, profile) != RADIO_OK)
    return rd_error ("%s: wrote no profile that can be read: %s",
                     text_member (made, "program"), radio_error_message ());
  unlink (file);
  return RD_EXIT_OK;
}

struct rounds {
  struct json_object *made[2];          /* the earlier one, and this */
  struct radio_profile *profiles[2][MAX_TRIES];
  bool is_fair[MAX_TRIES];
  struct radio_profile *joined[2];
  size_t nwanted, nrun, nfair;
  size_t n;                             /* rounds that are compared */
  char *temp;
};

static void
clear_rounds (struct rounds *rounds)
{
  for (int side = 0; side < 2; side++) {
    json_object_put (rounds->made[side]);
    for (size_t i = 0; i < MAX_TRIES; i++)
      radio_profile_close (rounds->profiles[side][i]);
    radio_profile_close (rounds->joined[side]);
  }
  rd_temp_remove (rounds->temp);
}

/* Runs both, and compares the conditions that they met. */
static int
run_round (struct rounds *rounds, size_t nruns, const char *file)
{
  size_t round = rounds->nrun;
  struct radio_comparison *comparison = NULL;
  struct radio_comparison_info info;
  for (size_t k = 0; k < 2; k++) {
    size_t side = (k + round) % 2;      /* 0 1, 1 0, 0 1, ... */
    int failed = run_command (rounds->made[side], nruns, file,
                              &rounds->profiles[side][round]);
    if (failed)
      return failed;
  }
  if (radio_profile_compare (rounds->profiles[0][round],
                             rounds->profiles[1][round], &comparison)
      != RADIO_OK)
    return rd_error_library (NULL);
  radio_comparison_get_info (comparison, &info);
  radio_comparison_close (comparison);
  rounds->is_fair[round] = !info.is_unfair;
  rounds->nfair += !info.is_unfair;
  rounds->nrun++;
  return RD_EXIT_OK;
}

/* If no round is fair the conditions differ by the commands themselves, as two
 * machines' stores do: then more rounds do not help. */
static bool
needs_round (const struct rounds *rounds)
{
  return rounds->nrun < rounds->nwanted
         || (rounds->nfair > 0 && rounds->nfair < rounds->nwanted
             && rounds->nrun < 2 * rounds->nwanted);
}

/* Moves the rounds that are compared to the front. */
static void
choose_rounds (struct rounds *rounds)
{
  rounds->n = rounds->nrun;
  if (rounds->nfair < MIN_FAIR_ROUNDS)
    return;
  rounds->n = 0;
  for (size_t i = 0; i < rounds->nrun; i++) {
    if (!rounds->is_fair[i])
      continue;
    for (int side = 0; side < 2; side++) {
      struct radio_profile **list = rounds->profiles[side];
      struct radio_profile *fair = list[i];
      list[i] = list[rounds->n];
      list[rounds->n] = fair;
    }
    rounds->n++;
  }
}

static int
run_rounds (struct rounds *rounds, size_t nruns, const char *title)
{
  struct rd_progress progress;
  int failed = RD_EXIT_OK;
  RD_FREE char *file = rd_format ("%s/round.json", rounds->temp);
  if (!file)
    return RD_EXIT_FAILED;
  rd_progress_start (&progress, NULL);
  while (needs_round (rounds) && !failed) {
    size_t nleft = rounds->nwanted - rounds->nfair;
    size_t n = rounds->nrun < rounds->nwanted ? rounds->nwanted
                                              : rounds->nrun + nleft;
    rd_progress_update (&progress, title, rounds->nrun, n);
    failed = run_round (rounds, nruns, file);
  }
  rd_progress_clear (&progress);
  choose_rounds (rounds);
  for (int side = 0; side < 2 && !failed; side++)
    if (radio_profile_join (rounds->profiles[side], rounds->n,
                            RADIO_PARTS_RUNS, &rounds->joined[side])
        != RADIO_OK)
      failed = rd_error_library (NULL);
  return failed;
}

static void
print_rounds (const struct rounds *rounds, size_t nruns)
{
  size_t nout = rounds->nrun - rounds->n;
  printf ("%zu rounds of both in turn, %zu %s each\n", rounds->n, nruns,
          nruns == 1 ? "run" : "runs");
  if (nout > 0)
    printf ("%zu more %s left out: the two met different conditions\n", nout,
            nout == 1 ? "is" : "are");
  putchar ('\n');
}

int
rd_against_run (struct rd_measure *measure, const struct rd_args *args)
{
  RD_CLEANUP (clear_rounds) struct rounds rounds = { .nwanted = MIN_ROUNDS };
  rounds.made[0] = read_earlier (measure->against);
  rounds.made[1] = rounds.made[0] ? describe_self (measure, args) : NULL;
  if (!rounds.made[1] || rd_temp_make (NULL, &rounds.temp) != RD_EXIT_OK)
    return RD_EXIT_FAILED;
  if (measure->nruns / RUNS_OF_ROUND > rounds.nwanted)
    rounds.nwanted = measure->nruns / RUNS_OF_ROUND;
  if (rounds.nwanted > MAX_ROUNDS)
    rounds.nwanted = MAX_ROUNDS;
  size_t nruns = (measure->nruns + rounds.nwanted - 1) / rounds.nwanted;
  int failed = run_rounds (&rounds, nruns, measure->operation);
  if (failed)
    return failed;

  struct radio_comparison *comparison = NULL;
  if (radio_profile_compare (rounds.joined[0], rounds.joined[1], &comparison)
      != RADIO_OK)
    return rd_error_library (NULL);
  struct rd_diff diff = {
    .comparison = comparison,
    .before = rounds.joined[0],
    .after = rounds.joined[1],
    .json = measure->json,
    .redact = measure->output.redact,
    .fail_percent = measure->fail_percent,
  };
  if (!measure->json)
    print_rounds (&rounds, nruns);
  int status = rd_diff_report (&diff);
  measure->output.before = rounds.joined[0];
  failed = rd_profile_output_write (&measure->output, rounds.joined[1],
                                    measure->json);
  radio_comparison_close (comparison);
  return failed ? failed : status;
}
