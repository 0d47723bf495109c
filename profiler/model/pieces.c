/* SPDX-License-Identifier: MIT */
/* The pieces of names that redacting looks for.  They are sorted, and each
 * knows the longest piece that it begins with: whatever a text begins with
 * is then found by one binary search, however many names there are. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "profiler/model/pieces.h"
#include "profiler/model/vector.h"

/* Shorter ones are not looked for within other texts: "a" is everywhere. */
#define MIN_NAME_NBYTES 3
#define MIN_COMPONENT_NBYTES 4

void
rd_pieces_free (struct rd_pieces *pieces)
{
  free (pieces->list.at);
  rd_intern_free (pieces->texts);
}

const char *
rd_harmless_suffix (const char *name)
{
  static const char *const suffixes[] = {
    ".nii.gz", ".nii", ".ome.zarr", ".zarr", ".npy", ".png", ".json",
    ".dcm", ".html", ".zip", ".gz",
  };
  size_t nbytes = strlen (name);
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
    size_t n = strlen (suffixes[i]);
    if (nbytes > n && strcmp (name + nbytes - n, suffixes[i]) == 0)
      return suffixes[i];
  }
  return "";
}

/*------------------------------------------------------------------------
 * Adding
 *----------------------------------------------------------------------*/

/* What so many folders are called that it names nobody; without it, half the
 * words of a profile would go. */
static bool
is_common (const char *name)
{
  static const char *const common[] = {
    "anat", "build", "data", "dataset", "datasets", "derivatives", "fmap",
    "func", "home", "http:", "https:", "image", "images", "input", "local",
    "mask", "masks", "media", "output", "perf", "private", "project",
    "projects", "root", "scan", "scans", "scratch", "share", "shared",
    "store", "stores", "temp", "test", "tests", "tools", "user", "users",
    "Users", "volume", "volumes", "Volumes", "work",
  };
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (strcmp (name, common[i]) == 0)
      return true;
  return false;
}

static enum radio_status
add_piece (struct rd_pieces *pieces, const char *name)
{
  if (pieces->texts == NULL)
    pieces->texts = rd_intern_new ();
  struct rd_piece piece = { 0 };
  if (pieces->texts)
    piece.name = rd_intern_add (pieces->texts, name);
  if (piece.name == NULL)
    return rd_fail_memory (strlen (name) + 1);
  piece.nbytes = strlen (piece.name);
  pieces->begins[(unsigned char) *piece.name] = true;
  return rd_vector_append (&pieces->list, piece);
}

/* nbytes of text, if they may tell who somebody is. */
static enum radio_status
add_component (struct rd_pieces *pieces, const char *text, size_t nbytes)
{
  if (nbytes < MIN_COMPONENT_NBYTES)
    return RADIO_OK;
  RD_FREE_PLAIN char *name = strndup (text, nbytes);
  if (name == NULL)
    return rd_fail_memory (nbytes + 1);
  return is_common (name) ? RADIO_OK : add_piece (pieces, name);
}

/* The last component: as it is, and without what says its kind, or else
 * without what is behind its last dot. */
static enum radio_status
add_last (struct rd_pieces *pieces, const char *name)
{
  const char *suffix = rd_harmless_suffix (name);
  const char *dot = strrchr (name, '.');
  if (strlen (name) >= MIN_NAME_NBYTES)
    RD_TRY (add_piece (pieces, name));
  if (*suffix)
    return add_component (pieces, name, strlen (name) - strlen (suffix));
  return dot ? add_component (pieces, name, (size_t) (dot - name))
             : RADIO_OK;
}

/* A path as a whole, and each of its folders; *last is what is behind
 * them. */
static enum radio_status
add_folders (struct rd_pieces *pieces, const char *name, const char **last)
{
  const char *at = name;
  for (const char *slash; (slash = strchr (at, '/')); at = slash + 1)
    RD_TRY (add_component (pieces, at, (size_t) (slash - at)));
  *last = at;
  return at > name && strlen (name) >= MIN_NAME_NBYTES
         ? add_piece (pieces, name) : RADIO_OK;
}

enum radio_status
rd_pieces_add_name (struct rd_pieces *pieces, const char *name)
{
  const char *last;
  RD_TRY (add_folders (pieces, name, &last));
  return add_last (pieces, last);
}

/* The program of a command: the folders may be somebody's, this tool's own
 * name is nobody's. */
static enum radio_status
add_program (struct rd_pieces *pieces, const char *name)
{
  const char *last;
  RD_TRY (add_folders (pieces, name, &last));
  return strcmp (last, "radio") == 0 ? RADIO_OK : add_last (pieces, last);
}

enum radio_status
rd_pieces_add_command (struct rd_pieces *pieces, const char *command)
{
  for (bool is_first = true; *command; is_first = false) {
    size_t nbytes = strcspn (command, " ");
    RD_FREE_PLAIN char *word = strndup (command, nbytes);
    if (word == NULL)
      return rd_fail_memory (nbytes + 1);
    if (strpbrk (word, "/."))
      RD_TRY (is_first ? add_program (pieces, word)
                       : rd_pieces_add_name (pieces, word));
    command += nbytes;
    command += strspn (command, " ");
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Finding
 *----------------------------------------------------------------------*/

static int
compare_names (const void *a, const void *b)
{
  const struct rd_piece *x = a, *y = b;
  return strcmp (x->name, y->name);
}

static bool
begins_with (const char *text, const struct rd_piece *piece)
{
  return strncmp (text, piece->name, piece->nbytes) == 0;
}

/* What a piece begins with is what the one before it is or begins with. */
static void
link_prefixes (struct rd_pieces *pieces)
{
  struct rd_piece *at = pieces->list.at;
  for (size_t i = 1; i < pieces->list.n; i++) {
    size_t prefix = i;
    while (prefix > 0 && !begins_with (at[i].name, &at[prefix - 1]))
      prefix = at[prefix - 1].prefix;
    at[i].prefix = prefix;
  }
}

void
rd_pieces_close (struct rd_pieces *pieces)
{
  struct rd_piece *at = pieces->list.at;
  size_t n = 0;
  if (pieces->list.n == 0)
    return;
  qsort (at, pieces->list.n, sizeof *at, compare_names);
  for (size_t i = 0; i < pieces->list.n; i++)
    if (n == 0 || at[n - 1].name != at[i].name)
      at[n++] = at[i];
  pieces->list.n = n;
  link_prefixes (pieces);
}

/* All that is between a piece that text begins with and text itself begins
 * with that piece: it is the last one not behind text, or linked from it. */
const struct rd_piece *
rd_pieces_at (const struct rd_pieces *pieces, const char *text,
              uint64_t *ncomparisons)
{
  const struct rd_piece *at = pieces->list.at;
  size_t low = 0, high = pieces->list.n;
  if (!pieces->begins[(unsigned char) *text])
    return NULL;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    *ncomparisons += 1;
    if (strcmp (at[middle].name, text) <= 0)
      low = middle + 1;
    else
      high = middle;
  }
  for (; low > 0; low = at[low - 1].prefix) {
    *ncomparisons += 1;
    if (begins_with (text, &at[low - 1]))
      return &at[low - 1];
  }
  return NULL;
}
