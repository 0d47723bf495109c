/* SPDX-License-Identifier: MIT */
/* Resolves names on the command line to stores, volumes and arrays.  A path
 * or URL of a node is split into the root of its store and the path below
 * it. */
#include <config.h>

#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/names.h"
#include "tools/select.h"

static bool
is_node (const char *path, size_t n)
{
  return rd_has_file (path, n, "zarr.json");
}

bool
rd_split_path (const char *operand, char **root, char **path)
{
  size_t n = strlen (operand), top, below;
  if (rd_is_url (operand))
    top = below = n;
  else {
    n = rd_unslashed_nbytes (operand);
    if (n == 0 || n > 4096 || !is_node (operand, n))
      return false;
    top = n;
    for (size_t up = rd_parent_length (operand, n, 0);
         up > 0 && is_node (operand, up);
         up = rd_parent_length (operand, up, 0))
      top = up;
    below = top;
    while (below < n && operand[below] == '/')
      below++;
  }
  *root = strndup (operand, top);
  *path = strndup (operand + below, n - below);
  if (*root != NULL && *path != NULL)
    return true;
  free (*root);
  free (*path);
  *root = *path = NULL;
  return false;
}

bool
rd_may_be_path (const struct rd_args *args, const char *operand)
{
  return args->store == NULL || *operand == '/' || rd_is_url (operand)
         || strncmp (operand, "./", 2) == 0
         || strncmp (operand, "../", 3) == 0;
}

/* True if an operand can be no name in a store, since none begins so. */
static bool
is_path_alone (const char *operand)
{
  size_t ndots = strspn (operand, ".");
  return *operand == '/'
         || ((ndots == 1 || ndots == 2)
             && (operand[ndots] == '/' || operand[ndots] == '\0'));
}

/*------------------------------------------------------------------------
 * Finding the volumes and arrays that operands name
 *----------------------------------------------------------------------*/

struct finding {
  const struct rd_args *args;
  struct rd_nodes *nodes;
  unsigned how;
  const char *operand;                /* the one in hand */
  struct rd_url *url;                 /* it, if it was split before */
  struct radio_store *store;          /* of the operand */
  const char *root;                   /* NULL: that of --store */
  rd_node_fn *take;
  void *user_data;
  size_t ntaken;                      /* of this operand */
  bool names_one;                     /* an operand named the node itself */

  bool is_stopped;                    /* take failed */

  /* Set by --where and --subject. */
  struct rd_filter filter;
  bool lists_all;                     /* the whole store is listed */
  bool is_chosen;                     /* those that are taken are selected */
  uint64_t nchosen;

  /* The nodes of a listing that were kept, and are not yet known to be in the
   * way of a group. */
  size_t nseen, nlisted;

  /* For patterns. */
  const char *pattern;                /* NULL: none */
  char **paths;                       /* that match; owned */
  size_t npaths, capacity;
  bool has_literal;                   /* only paths[0] counts */
};

/* Finds whether a node is selected by its row.  Only a store's volumes have
 * one. */
static int
check_selected (struct finding *finding, const char *path,
                struct rd_target *open, bool *is_selected)
{
  const struct rd_args *args = finding->args;
  *is_selected = true;
  if (finding->is_chosen || (!args->select.where && !args->select.subject))
    return RD_EXIT_OK;
  if (*path == '\0' || open->files || (open->array && !open->volume))
    return rd_error ("%s: has no row in a table, and --where and --subject "
                     "select by these; name a store, its collections or "
                     "volumes", finding->operand);
  int failed = rd_filter_check (&finding->filter, args, finding->store, path,
                                finding->lists_all, is_selected);
  if (failed || !*is_selected || !(finding->how & RD_NODES_LEVELS))
    return failed;
  return rd_filter_level (&finding->filter, finding->store, path,
                          finding->lists_all, &open->level);
}

/* Gives a node to the caller, open as it is (NULL: not).  is_named: the
 * operand names the node itself. */
static int
take_node (struct finding *finding, const char *path, bool is_named,
           const struct rd_target *open)
{
  struct rd_target target = open ? *open : (struct rd_target) { 0 };
  bool is_selected;
  int failed = check_selected (finding, path, &target, &is_selected);
  finding->ntaken++;
  if (failed || !is_selected) {
    finding->is_stopped = failed != RD_EXIT_OK;
    rd_node_clear (&target);
    return failed;
  }
  const char *root = finding->root;
  size_t nroot = root ? strlen (root) : 0;
  while (nroot > 1 && root[nroot - 1] == '/')
    nroot--;
  char *name = root == NULL
    ? rd_format ("%s", *path ? path : rd_store_name (finding->args))
    : is_named ? rd_format ("%s", finding->operand)
    : rd_format ("%.*s%s%s", (int) nroot, root, *path ? "/" : "", path);
  target.store = finding->store;
  target.path = strdup (path);
  target.name = name;
  if (target.volume)
    target.array = radio_volume_array (target.volume);
  finding->names_one = is_named;
  failed = target.path == NULL || name == NULL
    ? rd_error_memory () : finding->take (&target, finding->user_data);
  finding->is_stopped = failed != RD_EXIT_OK;
  rd_node_clear (&target);
  return failed;
}

static enum radio_status
on_entry (const struct radio_entry *entry, void *user_data)
{
  struct finding *finding = user_data;
  return take_node (finding, entry->path, false, NULL) == RD_EXIT_OK
         ? RADIO_OK : RADIO_ERROR_CANCELLED;
}

/* Chooses the volumes of a listing that are opened. */
static enum radio_status
on_choice (const struct radio_entry *entry, bool *is_chosen, void *user_data)
{
  struct finding *finding = user_data;
  struct rd_target closed = { 0 };
  uint64_t head = finding->args->select.head;
  finding->is_chosen = false;
  int failed = check_selected (finding, entry->path, &closed, is_chosen);
  finding->is_chosen = true;
  finding->is_stopped |= failed != RD_EXIT_OK;
  finding->ntaken += !*is_chosen;
  *is_chosen = *is_chosen && (head == 0 || finding->nchosen < head);
  finding->nchosen += *is_chosen;
  return failed ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

static enum radio_status
on_opened (const struct radio_entry *entry, struct radio_volume *volume,
           uint64_t stored_nbytes, void *user_data)
{
  struct finding *finding = user_data;
  const struct rd_target open = {
    .volume = volume, .stored_nbytes = stored_nbytes, .is_listed = true,
  };
  return take_node (finding, entry->path, false, &open) == RD_EXIT_OK
         ? RADIO_OK : RADIO_ERROR_CANCELLED;
}

/* Keeps the path of a volume that matches the pattern.  A name that is the
 * pattern, as "a[1]" may be, is the only one. */
static enum radio_status
on_candidate (const struct radio_entry *entry, void *user_data)
{
  struct finding *finding = user_data;
  const char *pattern = finding->pattern;
  bool has_slash = strchr (pattern, '/') != NULL;
  const char *text = has_slash ? entry->path : entry->name;
  bool is_literal = strcmp (text, pattern) == 0;
  if (!is_literal && fnmatch (pattern, text, FNM_PATHNAME) != 0)
    return RADIO_OK;
  if (finding->npaths == finding->capacity) {
    size_t capacity = finding->capacity ? 2 * finding->capacity : 64;
    char **paths = reallocarray (finding->paths, capacity, sizeof *paths);
    if (paths == NULL)
      return RADIO_ERROR_MEMORY;
    finding->paths = paths;
    finding->capacity = capacity;
  }
  char *path = strdup (entry->path);
  if (path == NULL)
    return RADIO_ERROR_MEMORY;
  finding->paths[finding->npaths++] = path;
  if (is_literal) {
    finding->paths[finding->npaths - 1] = finding->paths[0];
    finding->paths[0] = path;
    finding->has_literal = true;
  }
  return RADIO_OK;
}

static int
take_group (struct finding *finding, const char *path)
{
  const struct rd_target group = { .is_group = true };
  size_t ntaken = finding->ntaken;
  int failed = take_node (finding, path, false, &group);
  finding->ntaken = ntaken;
  return failed;
}

/* Takes what may be a group: folders that are volumes were taken already, in
 * the same order. */
static enum radio_status
on_group (const struct radio_entry *entry, void *user_data)
{
  struct finding *finding = user_data;
  const struct rd_nodes *nodes = finding->nodes;
  while (finding->nseen < finding->nlisted
         && strchr (nodes->list[finding->nseen].path, '/') != NULL)
    finding->nseen++;
  if (finding->nseen < finding->nlisted
      && strcmp (nodes->list[finding->nseen].path, entry->path) == 0) {
    finding->nseen++;
    return RADIO_OK;
  }
  return take_group (finding, entry->path) == RD_EXIT_OK
         ? RADIO_OK : RADIO_ERROR_CANCELLED;
}

static enum radio_status
stop_at_array (const struct radio_entry *entry, void *user_data)
{
  struct finding *finding = user_data;
  enum radio_node node;
  if (radio_store_node (finding->store, entry->path, &node) != RADIO_OK)
    return RADIO_OK;
  return node == RADIO_NODE_ARRAY ? RADIO_ERROR_CANCELLED : RADIO_OK;
}

/* True if a store or collection that has no volumes is nothing to work on.
 * Where groups are wanted, too, a store without arrays is something: a new one,
 * or one whose volumes were removed. */
static bool
wants_volumes (struct finding *finding, const char *path)
{
  if (finding->how & RD_NODES_SOME)
    return true;
  return (finding->how & RD_NODES_GROUPS)
         && (*path || radio_store_list_groups (finding->store, stop_at_array,
                                               finding) != RADIO_OK);
}

/* Begins to read what --where and --subject need, where that takes round
 * trips. */
static enum radio_status
begin_filter (struct finding *finding, const char *collection)
{
  const char *name = finding->root ? finding->root
                                   : rd_store_name (finding->args);
  return rd_is_url (name)
         ? rd_filter_begin (&finding->filter, finding->args, finding->store,
                            collection, finding->how & RD_NODES_LEVELS)
         : RADIO_OK;
}

static enum radio_status
list_volumes (struct finding *finding, const char *collection)
{
  enum radio_status status = begin_filter (finding, collection);
  if (status != RADIO_OK)
    return status;
  if (collection == NULL && finding->root && rd_is_url (finding->root)
      && rd_filter_lacks_tables (&finding->filter, finding->args,
                                 finding->store)
      && rd_report_no_tables (finding->args, finding->operand)) {
    finding->is_stopped = true;
    return RADIO_ERROR_CANCELLED;
  }
  if (!(finding->how & RD_NODES_OPENED))
    return radio_store_list (finding->store, collection, on_entry, finding);
  return rd_args_selects (finding->args)
         ? radio_store_list_chosen (finding->store, collection, on_choice,
                                    on_opened, finding)
         : radio_store_list_opened (finding->store, collection, on_opened,
                                    finding);
}

/* Takes all volumes of a collection or of the store (path "").  *is_group is
 * false, with the library's message, if the path is neither. */
static int
take_listed (struct finding *finding, const char *path, bool *is_group)
{
  const char *collection = *path ? path : NULL;
  const char *name = finding->root ? finding->root
                                   : rd_store_name (finding->args);
  finding->nseen = finding->nodes->n;
  finding->lists_all = collection == NULL;
  enum radio_status status = list_volumes (finding, collection);
  finding->is_chosen = false;
  finding->nlisted = finding->nodes->n;
  finding->lists_all = false;
  if (status == RADIO_OK
      && rd_filter_count (&finding->filter, finding->args, finding->store,
                          path) != RD_EXIT_OK)
    finding->is_stopped = true;
  if (status == RADIO_OK && collection == NULL
      && (finding->how & RD_NODES_GROUPS))
    status = radio_store_list_groups (finding->store, on_group, finding);
  *is_group = true;
  if (finding->is_stopped)
    return RD_EXIT_FAILED;
  if (status == RADIO_ERROR_UNSUPPORTED && collection == NULL
      && (finding->how & RD_NODES_GROUPS) && rd_is_url (name)) {
    /* The root can be checked where it cannot be listed. */
    rd_error_library (NULL);
    int failed = take_group (finding, path);
    return failed ? failed : RD_EXIT_FAILED;
  }
  if (*path && (status == RADIO_ERROR_NOT_FOUND
                || status == RADIO_ERROR_ARGUMENT
                || status == RADIO_ERROR_FORMAT)) {
    *is_group = false;
    return RD_EXIT_OK;
  }
  /* A store on a network is opened without a request. */
  if (*path == '\0' && finding->root == NULL
      && status == RADIO_ERROR_NOT_FOUND
      && strstr (radio_error_message (), "there is no zarr.json"))
    return rd_report_no_store (finding->args, rd_store_name (finding->args));
  if (status != RADIO_OK)
    return rd_error_library (finding->root ? finding->operand
                             : rd_store_name (finding->args));
  int failed = collection && (finding->how & RD_NODES_GROUPS)
    ? take_group (finding, path) : RD_EXIT_OK;
  if (!failed && finding->ntaken == 0 && wants_volumes (finding, path))
    return rd_error ("%s: no volumes in it", finding->operand);
  return failed;
}

static int
take_pattern (struct finding *finding, const char *pattern)
{
  /* A collection without wildcards is the only one to be listed. */
  size_t nfixed = strcspn (pattern, "*?[");
  const char *slash = strchr (pattern, '/');
  RD_FREE char *collection = slash && (size_t) (slash - pattern) < nfixed
    ? strndup (pattern, (size_t) (slash - pattern)) : NULL;
  finding->pattern = pattern;
  enum radio_status status = begin_filter (finding, collection);
  if (status == RADIO_OK)
    status = radio_store_list (finding->store, collection, on_candidate,
                               finding);
  int failed = RD_EXIT_OK;
  if (status != RADIO_OK && status != RADIO_ERROR_NOT_FOUND)
    failed = rd_error_library (finding->operand);
  else if (finding->npaths == 0)
    failed = rd_error ("no volume matches '%s'%s%s", finding->operand,
                       finding->root ? "" : " in ",
                       finding->root ? "" : rd_store_name (finding->args));
  size_t n = finding->has_literal ? 1 : finding->npaths;
  for (size_t i = 0; i < n && !failed; i++)
    failed = take_node (finding, finding->paths[i], false, NULL);
  for (size_t i = 0; i < finding->npaths; i++)
    free (finding->paths[i]);
  free (finding->paths);
  finding->paths = NULL;
  return failed;
}

static bool
is_array (struct radio_store *store, const char *path)
{
  enum radio_node node;
  return radio_store_node (store, path, &node) == RADIO_OK
         && node == RADIO_NODE_ARRAY;
}

/* Takes the array at a path; *done is false if no array is there. */
static int
take_array (struct finding *finding, const char *path, bool *done)
{
  struct rd_target open = { 0 };
  *done = (finding->how & RD_NODES_ARRAYS)
          && is_array (finding->store, path);
  if (!*done)
    return RD_EXIT_OK;
  if (radio_array_open (finding->store, path, &open.array) != RADIO_OK)
    return rd_error_library (finding->operand);
  return take_node (finding, path, true, &open);
}

/* Takes the volume at a path if it can be opened: its kind is not requested
 * first, which over a network is another round trip. */
static int
take_volume (struct finding *finding, const char *path,
             enum radio_status *status)
{
  struct rd_target open = { 0 };
  *status = radio_volume_open (finding->store, path, &open.volume);
  if (*status != RADIO_OK)
    return RD_EXIT_OK;
  return take_node (finding, path, true, &open);
}

/* True if a volume may exist that could not be opened, and is wanted all the
 * same. */
static bool
is_unread (const struct finding *finding, enum radio_status status)
{
  return (finding->how & RD_NODES_UNREAD) && status != RADIO_ERROR_NOT_FOUND
         && status != RADIO_ERROR_ARGUMENT && status != RADIO_ERROR_FORMAT
         && status != RADIO_ERROR_UNSUPPORTED;
}

/* Takes the node at a path, or those below it. */
static int
take_path (struct finding *finding, const char *path)
{
  enum radio_status status = RADIO_OK;
  bool is_group = false, is_done = false, is_alone = *path == '\0';
  /* A local store is open although it has no document. */
  bool is_lost = is_alone && (finding->how & RD_NODES_GROUPS)
                 && !rd_is_url (finding->operand);
  RD_FREE char *message = NULL;
  if (is_alone && (finding->how & RD_NODES_STRICT))
    return take_node (finding, path, true, NULL);
  if (is_alone || !(finding->how & RD_NODES_CLOSED)) {
    int failed = take_volume (finding, path, &status);
    if (failed || status == RADIO_OK)
      return failed;
    message = rd_format ("%s", radio_error_message ());
    if (message == NULL)
      return RD_EXIT_FAILED;
    if (status == RADIO_ERROR_FORMAT) {
      failed = take_array (finding, path, &is_done);
      if (failed || is_done)
        return failed;
    } else if (status == RADIO_ERROR_NOT_FOUND
               && rd_is_url (finding->operand)
               && rd_report_foreign (finding->operand)) {
      return RD_EXIT_FAILED;
    } else if (status != RADIO_ERROR_UNSUPPORTED
               && !(is_lost && status == RADIO_ERROR_NOT_FOUND)) {
      return is_unread (finding, status)
             ? take_node (finding, path, true, NULL)
             : rd_error_message (finding->operand, message);
    }
  }
  if (!(finding->how & RD_NODES_ONE)) {
    int failed = take_listed (finding, path, &is_group);
    if (failed || is_group)
      return failed;
  }
  if (rd_report_tables (finding->store, path, finding->operand))
    return RD_EXIT_FAILED;
  /* A volume that is broken is wanted where one is that cannot be read. */
  if (message && !(finding->how & RD_NODES_UNREAD))
    return rd_error_message (finding->operand, message);
  return take_node (finding, path, true, NULL);
}

/* Reports a name that the store does not have, as the library's message
 * says. */
static int
report_no_name (struct finding *finding, const char *name,
                const char *message)
{
  const struct rd_args *args = finding->args;
  const char *operand = finding->operand;
  enum radio_node node;
  size_t n = strlen (name);
  bool has_name = strncmp (message, name, n) == 0
                  && strncmp (message + n, ": ", 2) == 0;
  bool may_be_path = rd_may_be_path (args, operand);
  if (rd_report_foreign (operand)
      || (may_be_path
          && rd_report_no_path (operand, has_name ? message + n + 2 : NULL)))
    return RD_EXIT_FAILED;
  if (radio_store_node (finding->store, "", &node) == RADIO_ERROR_NOT_FOUND)
    return rd_report_no_store (args, rd_store_name (args));
  if (rd_report_tables (finding->store, name, operand))
    return RD_EXIT_FAILED;
  if (radio_store_node (finding->store, name, &node) == RADIO_OK
      && node == RADIO_NODE_GROUP)
    return rd_error ("%s: a collection, not a volume; name one of its volumes",
                     name);
  RD_FREE char *root = NULL, *path = NULL;
  if (!may_be_path && rd_split_path (operand, &root, &path))
    return rd_error ("%s; give the path as ./%s, since --store makes it a "
                     "name", message, operand);
  return rd_error ("%s", message);
}

/* Takes what a name in the store names: a collection, a volume, or by its
 * path an array. */
static int
take_name (struct finding *finding, const char *name)
{
  struct radio_store *store = finding->store;
  enum radio_status status;
  bool is_done = false, is_pattern = strpbrk (name, "*?[") != NULL;
  int failed;
  if (strcmp (name, rd_store_name (finding->args)) == 0) {
    failed = take_volume (finding, "", &status);
    if (failed || status == RADIO_OK)
      return failed;
  }
  if ((finding->how & RD_NODES_UNCHECKED) && strchr (name, '/') != NULL
      && !is_pattern && rd_is_url (rd_store_name (finding->args)))
    return take_node (finding, name, true, NULL);
  /* The path of a volume is opened without looking for it. */
  if (strchr (name, '/') != NULL && !(finding->how & RD_NODES_CLOSED)) {
    failed = take_volume (finding, name, &status);
    if (failed || status == RADIO_OK)
      return failed;
    if (is_unread (finding, status))
      return take_node (finding, name, true, NULL);
    if (status == RADIO_ERROR_IO)
      return rd_error_library (name);
    failed = status == RADIO_ERROR_FORMAT
      ? take_array (finding, name, &is_done) : RD_EXIT_OK;
    if (failed || is_done)
      return failed;
  }
  if (!(finding->how & RD_NODES_ONE)) {
    RD_FREE char *path = NULL;
    enum radio_node node;
    if ((finding->how & RD_NODES_STRICT) && strchr (name, '/') == NULL
        && radio_store_node (store, name, &node) == RADIO_OK
        && node == RADIO_NODE_GROUP
        && radio_store_find (store, name, &path) == RADIO_OK
        && strcmp (path, name) != 0)
      return rd_error ("'%s' is a collection, and the volume %s; name the "
                       "latter so, or '%s/*'", name, path, name);
    failed = take_listed (finding, name, &is_done);
    if (failed || is_done)
      return failed;
    if (is_pattern)
      return take_pattern (finding, name);
  }
  RD_FREE char *path = NULL;
  status = radio_store_find (store, name, &path);
  /* Looking for an array overwrites the message, which suggests names. */
  RD_FREE char *message = rd_format ("%s", radio_error_message ());
  if (message == NULL)
    return RD_EXIT_FAILED;
  if (status == RADIO_OK)
    return take_node (finding, path, true, NULL);
  if (status != RADIO_ERROR_NOT_FOUND && status != RADIO_ERROR_ARGUMENT)
    return rd_error ("%s", message);
  failed = take_array (finding, name, &is_done);
  if (failed || is_done)
    return failed;
  return report_no_name (finding, name, message);
}

/* True if an operand is a file, which is then not looked for in the store.  Of
 * a URL its suffix says so. */
static bool
is_file (const struct finding *finding)
{
  struct stat st;
  if ((finding->how & RD_NODES_CLOSED)
      || !rd_may_be_path (finding->args, finding->operand))
    return false;
  return rd_is_url (finding->operand)
         ? rd_is_image_url (finding->operand)
         : stat (finding->operand, &st) == 0 && S_ISREG (st.st_mode);
}

static int
open_files (const struct rd_args *args, struct rd_files **files)
{
  *files = calloc (1, sizeof **files);
  if (*files == NULL)
    return rd_error_memory ();
  (*files)->s3 = args->s3;
  return rd_context_open (args, &(*files)->context) == RADIO_OK
         ? RD_EXIT_OK : rd_error_library (NULL);
}

/* Takes an image in its file, unopened.  A query may be a signature. */
static int
take_file (struct finding *finding)
{
  struct rd_nodes *nodes = finding->nodes;
  const char *operand = finding->operand;
  size_t n = rd_shown_nbytes (operand);
  RD_FREE char *shown = NULL;
  int failed = nodes->files ? RD_EXIT_OK
                            : open_files (finding->args, &nodes->files);
  if (failed)
    return failed;
  struct rd_target file = {
    .files = nodes->files, .keep_index = finding->args->keep_index,
    .map = finding->args->map,
  };
  if (operand[n] != '\0') {
    shown = strndup (operand, n);
    file.url = strdup (operand);
    if (shown == NULL || file.url == NULL) {
      free (file.url);
      return rd_error_memory ();
    }
    finding->operand = shown;
  }
  finding->store = NULL;
  finding->root = finding->operand;
  failed = take_node (finding, "", true, &file);
  finding->root = NULL;
  finding->operand = operand;
  return failed;
}

/* Opens a store once for any number of operands that name it. */
static int
find_store (struct finding *finding, const char *root)
{
  const struct rd_args *args = finding->args;
  struct rd_nodes *nodes = finding->nodes;
  finding->store = NULL;
  for (size_t i = 0; i < nodes->nroots; i++) {
    const char *other = nodes->roots[i].name;
    if (root == other || (root && other && strcmp (root, other) == 0))
      finding->store = nodes->roots[i].store;
  }
  if (finding->store)
    return RD_EXIT_OK;
  struct rd_root made = { root ? strdup (root) : NULL, NULL };
  if (root && made.name == NULL)
    return rd_error_memory ();
  const char *name = root ? root : rd_store_name (args);
  enum rd_uri_how how = finding->how & RD_NODES_GROUPS ? RD_URI_ANY_ROOT
                                                       : RD_URI_EXISTING;
  enum radio_status status = rd_uri_open (args, name, how, &made.store);
  if (status != RADIO_OK) {
    free (made.name);
    /* Without the store no other name can be found either. */
    finding->is_stopped = root == NULL;
    if (root && status == RADIO_ERROR_NOT_FOUND && !rd_is_url (root))
      return rd_report_no_node (finding->operand);
    if (root || status != RADIO_ERROR_NOT_FOUND)
      return rd_store_error (name);
    bool may_be_path = args->noperands > 0
                       && rd_may_be_path (args, finding->operand);
    return rd_report_foreign (finding->operand) || rd_report_foreign (name)
           || (may_be_path && rd_report_no_path (finding->operand, NULL))
           ? RD_EXIT_FAILED : rd_report_no_store (args, name);
  }
  nodes->roots[nodes->nroots++] = made;
  finding->store = made.store;
  return RD_EXIT_OK;
}

/* Splits an operand that is the path or URL of a node, or of nodes by a
 * pattern; *root stays NULL for a name in the store.  *pattern is what follows
 * the path below the root. */
static int
split_operand (const struct finding *finding, char **root, char **path,
               const char **pattern)
{
  const char *operand = finding->operand;
  const struct rd_args *args = finding->args;
  bool wants_root = finding->how & RD_NODES_CLOSED;
  *pattern = NULL;
  if (!rd_may_be_path (args, operand))
    return RD_EXIT_OK;
  if (!rd_is_url (operand) && rd_split_path (operand, root, path))
    return RD_EXIT_OK;
  /* A store that has lost its document still has its name. */
  struct stat st;
  size_t n = rd_unslashed_nbytes (operand);
  if ((finding->how & RD_NODES_GROUPS) && rd_is_store_name (operand, n)
      && stat (operand, &st) == 0 && S_ISDIR (st.st_mode)) {
    *root = strndup (operand, n);
    *path = strdup ("");
    return *root && *path ? RD_EXIT_OK : rd_error_memory ();
  }
  size_t nfixed = strcspn (operand, "*?[");
  bool is_pattern = operand[nfixed] != '\0';
  while (is_pattern && nfixed > 0 && operand[nfixed] != '/')
    nfixed--;
  RD_FREE char *fixed = strndup (operand, nfixed);
  if (fixed == NULL)
    return rd_error_memory ();
  if (is_pattern && nfixed > rd_scheme_nbytes (operand))
    *pattern = operand + nfixed + 1;
  const char *above = *pattern ? fixed : operand;
  if (rd_is_url (operand) && wants_root) {
    if (finding->url && finding->url->text)
      return rd_url_take (finding->url, root, path);
    RD_CLEANUP (rd_url_clear) struct rd_url url = { .text = above };
    int failed = rd_urls_split (args, &url, 1);
    return failed ? failed : rd_url_take (&url, root, path);
  }
  if ((*pattern || rd_is_url (operand))
      && rd_split_path (above, root, path))
    return RD_EXIT_OK;
  *pattern = NULL;
  return RD_EXIT_OK;
}

static int
take_operand (struct finding *finding)
{
  RD_FREE char *root = NULL, *path = NULL;
  const char *operand = finding->operand, *pattern;
  /* Below a store's root it would be everything: "$unset" is no reason to
   * remove that. */
  if (*operand == '\0')
    return rd_error ("an operand is empty; name a volume or a collection");
  finding->ntaken = 0;
  if (is_file (finding))
    return take_file (finding);
  int failed = split_operand (finding, &root, &path, &pattern);
  if (!failed && root == NULL && is_path_alone (operand))
    failed = rd_report_no_node (operand);
  if (!failed)
    failed = find_store (finding, root);
  if (failed)
    return failed;
  finding->root = root;
  if (root == NULL) {
    size_t n = strlen (operand);
    while (operand[n - 1] == '/')
      n--;
    RD_FREE char *name = rd_format ("%.*s", (int) n, operand);
    failed = name ? take_name (finding, name) : RD_EXIT_FAILED;
  } else if (pattern == NULL)
    failed = take_path (finding, path);
  else {
    RD_FREE char *below = rd_format ("%s%s%s", path, *path ? "/" : "",
                                     pattern);
    failed = below ? take_pattern (finding, below) : RD_EXIT_FAILED;
  }
  finding->root = NULL;
  return failed;
}

/* Splits the operands that are URLs without a pattern, together; text stays
 * NULL of the others.  Returns an exit status. */
static int
split_urls (const struct rd_args *args, struct rd_url **result)
{
  struct rd_url *urls = calloc (args->noperands, sizeof *urls);
  RD_FREE struct rd_url *together = calloc (args->noperands, sizeof *together);
  size_t n = 0;
  *result = urls;
  if (urls == NULL || together == NULL)
    return rd_error_memory ();
  for (size_t i = 0; i < args->noperands; i++)
    if (rd_is_url (args->operands[i]) && !strpbrk (args->operands[i], "*?["))
      together[n++].text = args->operands[i];
  int status = n > 0 ? rd_urls_split (args, together, n) : RD_EXIT_OK;
  for (size_t i = args->noperands; n > 0; i--)
    if (args->operands[i - 1] == together[n - 1].text)
      urls[i - 1] = together[--n];
  return status;
}

/* Ends the search. */
static void
end_finding (struct finding *finding)
{
  if (!finding->is_stopped)
    rd_filter_report (&finding->filter);
  rd_filter_clear (&finding->filter);
}

int
rd_operands_each (const struct rd_args *args, unsigned how,
                  struct rd_nodes *nodes, rd_node_fn *take, void *user_data)
{
  struct finding finding RD_CLEANUP (end_finding) = {
    .args = args, .nodes = nodes, .how = how, .take = take,
    .user_data = user_data, .filter.cohorts = &nodes->cohorts,
  };
  bool is_group;
  int status = rd_select_check (args);
  if (status != RD_EXIT_OK)
    return status;
  nodes->roots = calloc (args->noperands + 1, sizeof *nodes->roots);
  if (nodes->roots == NULL)
    return rd_error_memory ();
  if (args->noperands == 0) {
    finding.operand = rd_store_name (args);
    status = find_store (&finding, NULL);
    if (status == RD_EXIT_OK)
      status = take_listed (&finding, "", &is_group);
    return finding.filter.has_bad_query ? RD_EXIT_USAGE : status;
  }
  struct rd_url *urls = NULL;
  if (how & RD_NODES_CLOSED)
    status = split_urls (args, &urls);
  for (size_t i = 0; i < args->noperands && !finding.is_stopped; i++) {
    finding.operand = args->operands[i];
    finding.url = urls ? &urls[i] : NULL;
    if (take_operand (&finding) != RD_EXIT_OK)
      status = RD_EXIT_FAILED;
  }
  for (size_t i = 0; urls && i < args->noperands; i++)
    rd_url_clear (&urls[i]);
  free (urls);
  nodes->names_one = finding.names_one && args->noperands == 1;
  return finding.filter.has_bad_query ? RD_EXIT_USAGE : status;
}
