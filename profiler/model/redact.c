/* SPDX-License-Identifier: MIT */
/* A copy of a profile without names: of files, volumes, subjects, the
 * command line and the host.  Each becomes a pseudonym, "name-" and 12
 * digits of its HMAC-SHA256, so that equal names stay equal in every profile
 * with the same key, and no one without the key can test a guess.  A suffix
 * that gives the kind of a file stays readable.
 *
 * Names may also occur within other texts: in the title, in a fact or a
 * note, in the name of a thread.  There they are replaced as well, as a whole
 * and by each component of their paths.  Nodes, counters and categories are
 * constants of the program, and stay. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>

#include "src/base/buffer.h"
#include "src/base/digest.h"
#include "src/base/text.h"
#include "profiler/model/builder.h"
#include "profiler/model/string-table.h"
#include "profiler/model/vector.h"

struct pattern {
  const char *name;           /* the set's own */
  const char *pseudonym;      /* the user's of the set */
  size_t nbytes;              /* of name */
  size_t prefix;              /* 1 + the longest other pattern that this one
                                 begins with, or 0 */
};

struct patterns {
  RD_VECTOR (struct pattern) list;     /* once closed: by name, unique */
  struct rd_string_table *texts;
  bool begins[256];           /* whether a pattern has this first byte */
};

/*------------------------------------------------------------------------
 * The patterns of names that redacting looks for.  They are sorted, and each
 * knows the longest pattern that it begins with: whatever a text begins with
 * is then found by one binary search, however many names there are.
 *----------------------------------------------------------------------*/

/* Shorter ones are not looked for within other texts: "a" is everywhere. */
#define MIN_NAME_NBYTES 3
#define MIN_COMPONENT_NBYTES 4

/* The suffix of a name that shows its kind of file, or "". */
static const char *
harmless_suffix (const char *name)
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

static enum radio_status
add_pattern (struct patterns *patterns, const char *name)
{
  if (patterns->texts == NULL)
    patterns->texts = rd_string_table_new ();
  struct pattern pattern = { 0 };
  if (patterns->texts)
    pattern.name = rd_string_table_add (patterns->texts, name);
  if (pattern.name == NULL)
    return rd_fail_memory (strlen (name) + 1);
  pattern.nbytes = strlen (pattern.name);
  patterns->begins[(unsigned char) *pattern.name] = true;
  return rd_vector_append (&patterns->list, pattern);
}

/* Adds nbytes of text, if they may identify someone: names too common in
 * paths do not, and redacting them would remove half the words of a
 * profile. */
static enum radio_status
add_component (struct patterns *patterns, const char *text, size_t nbytes)
{
  static const char *const common[] = {
    "anat", "build", "data", "dataset", "datasets", "derivatives", "fmap",
    "func", "home", "http:", "https:", "image", "images", "input", "local",
    "mask", "masks", "media", "output", "perf", "private", "project",
    "projects", "root", "scan", "scans", "scratch", "share", "shared",
    "store", "stores", "temp", "test", "tests", "tools", "user", "users",
    "Users", "volume", "volumes", "Volumes", "work",
  };
  if (nbytes < MIN_COMPONENT_NBYTES)
    return RADIO_OK;
  RD_FREE_PLAIN char *name = strndup (text, nbytes);
  if (name == NULL)
    return rd_fail_memory (nbytes + 1);
  for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
    if (strcmp (name, common[i]) == 0)
      return RADIO_OK;
  return add_pattern (patterns, name);
}

/* The last component: as it is, and without the suffix of its kind, or else
 * without the text after its last dot. */
static enum radio_status
add_last (struct patterns *patterns, const char *name)
{
  const char *suffix = harmless_suffix (name);
  const char *dot = strrchr (name, '.');
  if (strlen (name) >= MIN_NAME_NBYTES)
    RD_TRY (add_pattern (patterns, name));
  if (*suffix)
    return add_component (patterns, name, strlen (name) - strlen (suffix));
  return dot ? add_component (patterns, name, (size_t) (dot - name))
             : RADIO_OK;
}

/* A path as a whole, and each of its folders; *last is the component after
 * them. */
static enum radio_status
add_folders (struct patterns *patterns, const char *name, const char **last)
{
  const char *at = name;
  for (const char *slash; (slash = strchr (at, '/')); at = slash + 1)
    RD_TRY (add_component (patterns, at, (size_t) (slash - at)));
  *last = at;
  return at > name && strlen (name) >= MIN_NAME_NBYTES
         ? add_pattern (patterns, name) : RADIO_OK;
}

/* Adds the patterns of each word of a command line that looks like the name
 * of a file.  The program's folders may identify someone; this tool's own name
 * does not. */
static enum radio_status
patterns_add_command (struct patterns *patterns, const char *command)
{
  for (bool is_first = true; *command; is_first = false) {
    size_t nbytes = strcspn (command, " ");
    RD_FREE_PLAIN char *word = strndup (command, nbytes);
    if (word == NULL)
      return rd_fail_memory (nbytes + 1);
    if (strpbrk (word, "/.")) {
      const char *last;
      RD_TRY (add_folders (patterns, word, &last));
      if (!is_first || strcmp (last, "radio") != 0)
        RD_TRY (add_last (patterns, last));
    }
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
  const struct pattern *x = a, *y = b;
  return strcmp (x->name, y->name);
}

static bool
begins_with (const char *text, const struct pattern *pattern)
{
  return strncmp (text, pattern->name, pattern->nbytes) == 0;
}

/* Put them in order; nothing is added any more. */
static void
patterns_close (struct patterns *patterns)
{
  struct pattern *at = patterns->list.at;
  size_t n = 0;
  if (patterns->list.n == 0)
    return;
  qsort (at, patterns->list.n, sizeof *at, compare_names);
  for (size_t i = 0; i < patterns->list.n; i++)
    if (n == 0 || at[n - 1].name != at[i].name)
      at[n++] = at[i];
  patterns->list.n = n;
  /* A pattern begins with the one before it, or with a prefix of that one. */
  for (size_t i = 1; i < patterns->list.n; i++) {
    size_t prefix = i;
    while (prefix > 0 && !begins_with (at[i].name, &at[prefix - 1]))
      prefix = at[prefix - 1].prefix;
    at[i].prefix = prefix;
  }
}

/* All that is between a pattern that text begins with and text itself begins
 * with that pattern: it is the last one not after text, or linked from it. */
static const struct pattern *
patterns_at (const struct patterns *patterns, const char *text,
             uint64_t *ncomparisons)
{
  const struct pattern *at = patterns->list.at;
  size_t low = 0, high = patterns->list.n;
  if (!patterns->begins[(unsigned char) *text])
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

/*------------------------------------------------------------------------
 * Redaction
 *----------------------------------------------------------------------*/

#define NDIGITS 12
#define PSEUDONYM_NBYTES (sizeof "name-" + NDIGITS + 16)

/* The most comparisons of patterns with texts; texts beyond this limit are
 * removed whole. */
#define MAX_COMPARISONS ((uint64_t) 1 << 25)

struct name {
  const char *text;           /* the source's */
  const char *pseudonym;      /* the copy's */
};

struct redaction {
  const struct radio_profile *source;
  struct radio_profile *copy;
  const void *key;
  size_t key_nbytes;
  RD_VECTOR (struct name) names;        /* by address */
  struct patterns patterns;
  uint64_t ncomparisons;
};

static void
free_redaction (struct redaction *redaction)
{
  free (redaction->names.at);
  free (redaction->patterns.list.at);
  rd_string_table_free (redaction->patterns.texts);
}

/*------------------------------------------------------------------------
 * Pseudonyms
 *----------------------------------------------------------------------*/

static enum radio_status
give_pseudonym (struct redaction *redaction, const char *name,
                const char **pseudonym)
{
  char text[PSEUDONYM_NBYTES];

  unsigned char digest[RD_SHA256_NBYTES];
  if (redaction->key_nbytes > INT32_MAX)
    return rd_fail (RADIO_ERROR_ARGUMENT,
                    "a key of %zu bytes for the pseudonyms",
                    redaction->key_nbytes);
  if (!rd_hmac_sha256 (redaction->key, redaction->key_nbytes, name,
                       strlen (name), digest))
    return rd_fail (RADIO_ERROR_MEMORY, "no SHA-256 for the pseudonyms");
  char digits[NDIGITS + 1];
  rd_hex_text (digest, NDIGITS / 2, digits);
  snprintf (text, PSEUDONYM_NBYTES, "name-%s%s", digits,
            harmless_suffix (name));

  *pseudonym = rd_profile_string (redaction->copy, text);
  return *pseudonym ? RADIO_OK : rd_fail_memory (sizeof text);
}

/*------------------------------------------------------------------------
 * All names
 *----------------------------------------------------------------------*/

/* Facts whose values are names, even if not marked as such. */
static bool
is_name_fact (const struct rd_fact *fact)
{
  return fact->is_name || strcmp (fact->key, "command") == 0
         || strcmp (fact->key, "host") == 0;
}

static int
compare_addresses (const void *a, const void *b)
{
  uintptr_t x = (uintptr_t) ((const struct name *) a)->text;
  uintptr_t y = (uintptr_t) ((const struct name *) b)->text;
  return (x > y) - (x < y);
}

static enum radio_status
find_names (struct redaction *redaction)
{
  struct patterns *patterns = &redaction->patterns;
  const struct radio_profile *source = redaction->source;
  for (size_t i = 0; i < source->facts.n; i++) {
    struct name name = { .text = source->facts.at[i].value };
    if (is_name_fact (&source->facts.at[i]) && *name.text)
      RD_TRY (rd_vector_append (&redaction->names, name));
  }
  for (size_t i = 0; i < source->notes.n; i++) {
    struct name name = { .text = source->notes.at[i].value };
    if (source->notes.at[i].is_name && *name.text)
      RD_TRY (rd_vector_append (&redaction->names, name));
  }

  /* Equal names have one address, since a profile has each string once. */
  struct name *names = redaction->names.at;
  size_t n = 0;
  if (redaction->names.n > 0)
    qsort (names, redaction->names.n, sizeof *names, compare_addresses);
  for (size_t i = 0; i < redaction->names.n; i++)
    if (n == 0 || names[n - 1].text != names[i].text)
      names[n++] = names[i];
  redaction->names.n = n;
  for (size_t i = 0; i < n; i++) {
    const char *last;
    RD_TRY (give_pseudonym (redaction, names[i].text, &names[i].pseudonym));
    RD_TRY (add_folders (patterns, names[i].text, &last));
    RD_TRY (add_last (patterns, last));
  }

  const char *command = rd_profile_find_fact (redaction->source, "command");
  RD_TRY (patterns_add_command (patterns, command ? command : ""));
  patterns_close (patterns);
  for (size_t i = 0; i < patterns->list.n; i++) {
    struct pattern *pattern = &patterns->list.at[i];
    RD_TRY (give_pseudonym (redaction, pattern->name, &pattern->pseudonym));
  }
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Texts that are no names
 *----------------------------------------------------------------------*/

/* A text without the names in it; the copy's own. */
static enum radio_status
clean (struct redaction *redaction, const char *text, const char **result)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };

  while (*text && redaction->ncomparisons <= MAX_COMPARISONS) {
    const struct pattern *pattern =
      patterns_at (&redaction->patterns, text, &redaction->ncomparisons);
    const char *put = pattern ? pattern->pseudonym : text;
    RD_TRY (rd_buffer_append (&buffer, put, pattern ? strlen (put) : 1));
    text += pattern ? pattern->nbytes : 1;
  }
  RD_TRY (rd_buffer_append (&buffer, "", 1));

  const char *cleaned = redaction->ncomparisons <= MAX_COMPARISONS
                          ? (const char *) buffer.data : "[redacted]";
  *result = rd_profile_string (redaction->copy, cleaned);
  return *result ? RADIO_OK : rd_fail_memory (strlen (cleaned) + 1);
}

/* Returns the value of a note or fact for the copy. */
static enum radio_status
clean_value (struct redaction *redaction, const char *value,
             const char **result)
{
  struct name key = { .text = value };
  const struct name *found = NULL;
  if (redaction->names.n > 0)
    found = bsearch (&key, redaction->names.at, redaction->names.n,
                     sizeof key, compare_addresses);
  if (found == NULL || found->pseudonym == value)
    return clean (redaction, value, result);
  *result = found->pseudonym;
  return RADIO_OK;
}

/*------------------------------------------------------------------------
 * Copying
 *----------------------------------------------------------------------*/

/* Returns whether a value is a word of the command.  A file with such a name
 * ("balanced.html") does not make a secret of it: the word says nothing
 * about the file. */
static bool
is_own_word (const struct rd_fact *fact)
{
  static const struct {
    const char *key, *value;
  } words[] = {
    { "operation", "ingest" }, { "operation", "full" },
    { "operation", "slice" }, { "operation", "roi" },
    { "operation", "sweep" }, { "tiling", "axial" },
    { "tiling", "balanced" }, { "tiling", "isotropic" },
    { "codec", "small" }, { "codec", "medium" }, { "codec", "fast" },
    { "codec", "none" }, { "cache", "cold" }, { "cache", "warm" },
    { "places", "fixed" }, { "places", "random" },
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp (fact->key, words[i].key) == 0
        && strcmp (fact->value, words[i].value) == 0)
      return !is_name_fact (fact);
  return false;
}

enum radio_status
rd_profile_redact (const struct radio_profile *profile, const void *key,
                   size_t key_nbytes, struct radio_profile **redacted)
{
  RD_PROFILE_SCOPE struct radio_profile *copy = NULL;
  RD_TRY (rd_profile_new (&copy));
  RD_CLEANUP (free_redaction) struct redaction redaction = {
    .source = profile,
    .copy = copy,
    .key = key,
    .key_nbytes = key ? key_nbytes : 0,
  };
  RD_TRY (find_names (&redaction));

  copy->info = profile->info;
  RD_TRY (clean (&redaction, copy->info.title, &copy->info.title));
  /* The program's folder may identify someone. */
  const char *slash = strrchr (copy->info.program, '/');
  RD_TRY (clean (&redaction, slash ? slash + 1 : copy->info.program,
                 &copy->info.program));
  copy->info.clock = rd_profile_string (copy, copy->info.clock);
  if (copy->info.clock == NULL)
    return rd_fail_memory (1);
  for (size_t i = 0; i < profile->nodes.n; i++)
    RD_TRY (rd_profile_add_node (copy, &profile->nodes.at[i], NULL));
  for (size_t i = 0; i < profile->counters.n; i++)
    RD_TRY (rd_profile_add_counter (copy, profile->counters.at[i].name,
                                    profile->counters.at[i].unit, NULL));
  for (size_t i = 0; i < profile->gauges.n; i++)
    RD_TRY (rd_profile_add_gauge (copy, profile->gauges.at[i].name,
                                  profile->gauges.at[i].unit, NULL));
  for (size_t i = 0; i < profile->values.n; i++) {
    const struct rd_value *value = &profile->values.at[i];
    RD_TRY (rd_profile_add_value (copy, value->node, value->counter,
                                  value->value));
  }
  for (size_t i = 0; i < profile->parts.n; i++)
    RD_TRY (rd_profile_add_part (copy, &profile->parts.at[i], NULL));
  for (size_t i = 0; i < profile->shares.n; i++) {
    const struct rd_part_share *share = &profile->shares.at[i];
    RD_TRY (rd_profile_add_share (copy, share->node, share->part,
                                  &share->share));
  }

  for (size_t i = 0; i < profile->lanes.n; i++) {
    struct rd_lane lane = profile->lanes.at[i];
    if (!lane.is_async)
      RD_TRY (clean (&redaction, lane.name, &lane.name));
    RD_TRY (rd_profile_add_lane (copy, &lane, NULL));
  }
  for (size_t i = 0; i < profile->spans.n; i++)
    RD_TRY (rd_profile_add_span (copy, &profile->spans.at[i]));
  for (size_t i = 0; i < profile->samples.n; i++)
    RD_TRY (rd_profile_add_sample (copy, &profile->samples.at[i]));

  for (size_t i = 0; i < profile->notes.n; i++) {
    struct rd_note note = profile->notes.at[i];
    RD_TRY (clean_value (&redaction, note.value, &note.value));
    RD_TRY (rd_profile_add_note (copy, &note));
  }
  for (size_t i = 0; i < profile->facts.n; i++) {
    const struct rd_fact *fact = &profile->facts.at[i];
    const char *value = fact->value;
    if (!is_own_word (fact))
      RD_TRY (clean_value (&redaction, value, &value));
    RD_TRY (rd_profile_add_fact (copy, fact->key, value,
                                 is_name_fact (fact)));
  }
  RD_TRY (rd_profile_finalize (copy));
  *redacted = RD_STEAL (copy);
  return RADIO_OK;
}
