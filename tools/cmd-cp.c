/* SPDX-License-Identifier: MIT */
/* radio cp: volumes from store to store.  What is copied, and the name of
 * each, is settled before anything is written. */
#include <config.h>

#include <string.h>

#include "tools/commands.h"
#include "tools/copy-volumes.h"
#include "tools/names.h"
#include "tools/text.h"
#include "tools/url.h"

/* The first Ctrl-C ends the copy in good order, the second one kills. */
static volatile sig_atomic_t interrupted_by;

static void
on_signal (int number)
{
  interrupted_by = number;
}

static void
catch_signals (void)
{
  struct sigaction action = { .sa_handler = on_signal,
                              .sa_flags = (int) SA_RESETHAND };
  sigemptyset (&action.sa_mask);
  sigaction (SIGINT, &action, NULL);
  sigaction (SIGTERM, &action, NULL);
}

/* A store that is copied from. */
struct source {
  char *root;                     /* NULL: that of --store */
  struct radio_store *store;
};

struct cp {
  const struct rd_args *args;
  bool overwrite, skip_existing;
  const char *to, *name;
  struct source *sources;         /* room for one an operand, and one */
  size_t nsources;
  struct rd_copy_volumes work;
};

static void
take_option (struct cp *cp, int id, struct rd_args *args)
{
  switch (id) {
  case 'q':
    cp->work.quiet = true;
    break;
  case RD_OPTION_TO:
    cp->to = args->value;
    break;
  case RD_OPTION_NAME:
    cp->name = args->value;
    break;
  case RD_OPTION_OVERWRITE:
    cp->overwrite = true;
    break;
  case RD_OPTION_SKIP_EXISTING:
    cp->skip_existing = true;
    break;
  case RD_OPTION_DRY_RUN:
    cp->work.options.dry_run = true;
    break;
  case RD_OPTION_NO_READ_BACK:
    cp->work.options.no_read_back = true;
    break;
  case RD_OPTION_SINGLE_WRITER:
    args->s3.single_writer = true;
    break;
  }
}

/* The last operand is the destination, unless --to names it. */
static bool
parse (struct cp *cp, struct rd_args *args)
{
  int id;
  while ((id = rd_args_next (args)) > 0)
    take_option (cp, id, args);
  if (id < 0)
    return false;
  if (!rd_args_want (args, cp->to ? 0 : 2, SIZE_MAX,
                     args->noperands == 0 ? "SOURCE" : "DESTINATION"))
    return false;
  if (cp->to == NULL)
    cp->to = args->operands[--args->noperands];
  if (cp->overwrite && cp->skip_existing) {
    rd_usage_error (args, "--overwrite and --skip-existing exclude each "
                    "other");
    return false;
  }
  if (cp->overwrite)
    cp->work.options.existing = RADIO_EXISTING_REPLACE;
  if (cp->skip_existing)
    cp->work.options.existing = RADIO_EXISTING_SKIP;
  return true;
}

/*------------------------------------------------------------------------
 * What to copy
 *----------------------------------------------------------------------*/

/* A store is opened once, whatever number of operands name it. */
static struct radio_store *
open_source (struct cp *cp, const char *root)
{
  for (size_t i = 0; i < cp->nsources; i++) {
    const char *other = cp->sources[i].root;
    if (root == other || (root && other && strcmp (root, other) == 0))
      return cp->sources[i].store;
  }
  struct source source = { root ? strdup (root) : NULL, NULL };
  if (root && source.root == NULL)
    rd_error_memory ();
  else if (root == NULL)
    rd_store_open (cp->args, false, &source.store);
  else if (rd_uri_open (cp->args, root, false, &source.store) != RADIO_OK)
    rd_error_library (NULL);
  if (source.store == NULL) {
    free (source.root);
    return NULL;
  }
  cp->sources[cp->nsources++] = source;
  return source.store;
}

struct listing {
  struct cp *cp;
  struct radio_store *store;
};

static enum radio_status
on_entry (const struct radio_entry *entry, void *user_data)
{
  const struct listing *listing = user_data;
  bool added = rd_copy_add (&listing->cp->work, listing->store, entry->path,
                            listing->cp->name);
  return added ? RADIO_OK : RADIO_ERROR_MEMORY;
}

/* All volumes of a store or, by its name, of one of its collections. */
static enum radio_status
add_listed (struct cp *cp, struct radio_store *store, const char *collection)
{
  struct listing listing = { cp, store };
  return radio_store_list (store, collection, on_entry, &listing);
}

/* The volume that a store's root is: of which no path tells a name. */
static bool
is_volume (struct radio_store *store)
{
  struct radio_volume *volume;
  bool found = radio_volume_open (store, "", &volume) == RADIO_OK;
  if (found)
    radio_volume_close (volume);
  return found;
}

static int
add_store (struct cp *cp, struct radio_store *store, const char *operand)
{
  if (is_volume (store)) {
    if (cp->name == NULL)
      return rd_error ("%s: a volume without a store: name the copy by "
                       "--name COLLECTION/NAME, or its store by --store",
                       operand);
    return rd_copy_add (&cp->work, store, "", cp->name) ? RD_EXIT_OK
                                                         : RD_EXIT_FAILED;
  }
  if (add_listed (cp, store, NULL) != RADIO_OK)
    return rd_error_library (operand);
  return RD_EXIT_OK;
}

static int
add_named (struct cp *cp, struct radio_store *store, const char *name,
           const char *operand)
{
  RD_FREE char *path = NULL;
  enum radio_status status = add_listed (cp, store, name);
  if (status == RADIO_OK)
    return RD_EXIT_OK;
  if (status != RADIO_ERROR_NOT_FOUND
      || radio_store_find (store, name, &path) != RADIO_OK)
    return rd_error_library (operand);
  return rd_copy_add (&cp->work, store, path, cp->name) ? RD_EXIT_OK
                                                         : RD_EXIT_FAILED;
}

/* *root stays NULL for a name in the store. */
static int
split_operand (const struct cp *cp, const char *operand, char **root,
               char **path)
{
  if (rd_is_url (operand))
    return rd_url_split (cp->args, operand, root, path);
  if (rd_may_be_path (cp->args, operand))
    rd_split_path (operand, root, path);
  return RD_EXIT_OK;
}

static int
add_operand (struct cp *cp, const char *operand)
{
  RD_FREE char *root = NULL, *path = NULL;
  int failed = split_operand (cp, operand, &root, &path);
  if (failed)
    return failed;
  struct radio_store *store = open_source (cp, root);
  if (store == NULL)
    return RD_EXIT_FAILED;
  const char *name = root ? path : operand;
  return *name == '\0' ? add_store (cp, store, operand)
                       : add_named (cp, store, name, operand);
}

static int
compare_items (const void *a, const void *b)
{
  const struct rd_copy_item *x = a, *y = b;
  return strcmp (x->to_path, y->to_path);
}

/* In the order of their names, each once: "ct ct/head" names one twice. */
static void
sort_items (struct rd_copy_volumes *work)
{
  size_t n = 0;
  if (work->n > 1)
    qsort (work->items, work->n, sizeof *work->items, compare_items);
  for (size_t i = 0; i < work->n; i++) {
    struct rd_copy_item item = work->items[i];
    const struct rd_copy_item *last = n > 0 ? &work->items[n - 1] : NULL;
    if (last && last->from == item.from
        && strcmp (last->path, item.path) == 0) {
      free (item.path);
      free (item.to_path);
    } else
      work->items[n++] = item;
  }
  work->n = n;
}

static int
check_names (struct cp *cp)
{
  struct rd_copy_volumes *work = &cp->work;
  sort_items (work);
  if (cp->name && work->n > 1)
    return rd_error ("--name is for one volume, not for %zu", work->n);
  for (size_t i = 1; i < work->n; i++)
    if (strcmp (work->items[i - 1].to_path, work->items[i].to_path) == 0)
      return rd_error ("two volumes would become %s: copy them one by "
                       "one, with --name", work->items[i].to_path);
  return RD_EXIT_OK;
}

/* Without operands all of the store is copied. */
static int
settle (struct cp *cp)
{
  const struct rd_args *args = cp->args;
  cp->sources = calloc (args->noperands + 1, sizeof *cp->sources);
  if (cp->sources == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < args->noperands; i++) {
    int failed = add_operand (cp, args->operands[i]);
    if (failed)
      return failed;
  }
  if (args->noperands == 0) {
    struct radio_store *store = open_source (cp, NULL);
    int failed = store ? add_store (cp, store, rd_store_name (args))
                       : RD_EXIT_FAILED;
    if (failed)
      return failed;
  }
  return check_names (cp);
}

/*------------------------------------------------------------------------
 * Where to
 *----------------------------------------------------------------------*/

/* A store within another store is never meant: the last part of the path was
 * to be the copy's name. */
static int
check_destination (const struct cp *cp)
{
  if (rd_is_url (cp->to))
    return rd_url_check_apart (cp->args, cp->to);
  RD_FREE char *above = strdup (cp->to);
  if (above == NULL)
    return rd_error_memory ();
  for (;;) {
    RD_FREE char *root = NULL, *path = NULL;
    bool is_node = rd_split_path (above, &root, &path);
    if (is_node && (*path != '\0' || strcmp (above, cp->to) != 0))
      return rd_error ("%s: lies in the store %s: name that, and the copy "
                       "by --name", cp->to, root);
    char *slash = strrchr (above, '/');
    if (is_node || slash == NULL || slash == above || slash[-1] == '/'
        || slash[-1] == ':')
      return RD_EXIT_OK;
    *slash = '\0';
  }
}

/* What is only tried needs no store: an empty one has as much. */
static int
open_destination (struct cp *cp)
{
  struct rd_args args = *cp->args;
  struct radio_store_options options = { .create = true };
  args.store = cp->to;
  int failed = check_destination (cp);
  if (failed)
    return failed;
  if (!cp->work.options.dry_run)
    return rd_store_open (&args, true, &cp->work.to);
  enum radio_status status = rd_uri_open (&args, cp->to, false,
                                          &cp->work.to);
  enum radio_node node;
  if (status == RADIO_OK)
    status = radio_store_node (cp->work.to, "", &node);
  if (status == RADIO_ERROR_NOT_FOUND) {
    radio_store_close (cp->work.to);
    status = radio_store_open ("memory:", &options, &cp->work.to);
  }
  return status == RADIO_OK ? RD_EXIT_OK : rd_error_library (cp->to);
}

static void
tell_summary (const struct rd_copy_volumes *work)
{
  char a[RD_TEXT_NBYTES], b[RD_TEXT_NBYTES], c[RD_TEXT_NBYTES];
  double per_s = (double) work->sent_nbytes / (work->seconds + 1e-9);
  bool is_dry = work->options.dry_run;
  bool was_sent = work->ncopied > 0 || work->sent_nbytes > 0;
  printf ("%zu volume%s%s", work->ncopied, work->ncopied == 1 ? "" : "s",
          is_dry ? " to copy" : "");
  if (was_sent)
    printf (", %s %s", rd_text_size (work->sent_nbytes, a),
            is_dry ? "to send" : "sent");
  if (was_sent && !is_dry)
    printf (" in %s, %s/s", rd_text_time (work->seconds, b),
            rd_text_size ((uint64_t) per_s, c));
  if (work->there_nbytes > 0)
    printf ("; %s there already", rd_text_size (work->there_nbytes, a));
  if (work->nskipped > 0)
    printf ("; %zu skipped", work->nskipped);
  if (work->nfailed > 0)
    printf ("; %zu failed", work->nfailed);
  putchar ('\n');
}

static int
copy_all (struct cp *cp)
{
  struct rd_copy_volumes *work = &cp->work;
  int failed = settle (cp);
  if (failed)
    return failed;
  /* Making a store is to end in good order, too. */
  catch_signals ();
  failed = open_destination (cp);
  if (failed)
    return failed;
  work->nthreads = cp->args->nthreads;
  work->interrupted_by = &interrupted_by;
  rd_copy_volumes (work);
  tell_summary (work);
  return work->nfailed ? RD_EXIT_FAILED : RD_EXIT_OK;
}

static int
run_cp (struct rd_args *args)
{
  struct cp cp = { .args = args };
  if (!parse (&cp, args))
    return args->status;
  int status = copy_all (&cp);
  radio_store_close (cp.work.to);
  rd_copy_clear (&cp.work);
  for (size_t i = 0; i < cp.nsources; i++) {
    radio_store_close (cp.sources[i].store);
    free (cp.sources[i].root);
  }
  free (cp.sources);
  /* Die of the signal after all, so that a shell's loop ends as well. */
  if (interrupted_by) {
    fflush (stdout);
    raise (interrupted_by);
  }
  return status;
}

static const struct rd_option options[] = {
  RD_STORE_OPTION,
  { RD_OPTION_TO, "to", "STORE",
    "the destination; then all operands are sources,\n"
    "and without any the whole store is copied" },
  { RD_OPTION_NAME, "name", "COLLECTION/NAME",
    "call the copy so (of one volume)" },
  { RD_OPTION_OVERWRITE, "overwrite", NULL,
    "replace volumes that are there already" },
  { RD_OPTION_SKIP_EXISTING, "skip-existing", NULL,
    "leave volumes that are there already" },
  { RD_OPTION_DRY_RUN, "dry-run", NULL,
    "write nothing, tell what would be sent" },
  { RD_OPTION_NO_READ_BACK, "no-read-back", NULL,
    "do not read again what was written" },
  { RD_OPTION_SINGLE_WRITER, "single-writer", NULL,
    "nobody else writes into the destination: needed\n"
    "where a server of S3 cannot keep writers apart" },
  { 'q', "quiet", NULL, "print only the closing line" },
  RD_WORK_OPTIONS,
  RD_HELP_OPTION,
  RD_END_OF_OPTIONS
};

const struct rd_command rd_command_cp = {
  .name = "cp",
  .operands = "[OPTION]... SOURCE... DESTINATION",
  .summary = "copy volumes from store to store",
  .description =
    "Copies volumes as they are into another store, which is made when it is "
    "not there. A source is a store, a collection or a volume: the path of "
    "its folder, or a name in the store. Checksums are verified on the way, "
    "and what was written is read again. A copy that was ended goes on where "
    "it was when the same command is given once more.",
  .options = options,
  .examples =
    "radio cp study.zarr /backup/study.zarr\n"
    "radio cp -s study.zarr ct/head mr --to other.zarr\n"
    "radio cp -s https://host/study.zarr ct/head mine.zarr",
  .run = run_cp,
};
