/* SPDX-License-Identifier: MIT */
/* Settings in words: what there is to say of a store in S3, and how any such
 * table is read. */
#include <config.h>

#include <limits.h>
#include <string.h>

#include "tools/text.h"
#include "tools/tool.h"
#include "tools/words.h"

#define S3(field) offsetof (struct radio_s3_options, field)

const struct rd_word rd_s3_words[] = {
  { "anonymous", RD_WORD_FLAG, S3 (anonymous) },
  { "addressing", RD_WORD_ADDRESSING, S3 (addressing) },
  { "hedge", RD_WORD_NUMBER, S3 (hedge_percent) },
  { "gap", RD_WORD_SIZE, S3 (gap_nbytes) },
  { "cap", RD_WORD_SIZE, S3 (cap_nbytes) },
  { "connect-timeout", RD_WORD_TIME, S3 (connect_timeout_ms) },
  { "first-byte-timeout", RD_WORD_TIME, S3 (first_byte_timeout_ms) },
  { "stall-timeout", RD_WORD_TIME, S3 (stall_timeout_ms) },
  { "deadline", RD_WORD_TIME, S3 (deadline_ms) },
  { "no-connect-ahead", RD_WORD_FLAG, S3 (no_connect_ahead) },
  { NULL, RD_WORD_FLAG, 0 }
};

/* What a value of each kind is, for who gave another. */
static const char *const shapes[] = {
  [RD_WORD_NUMBER] = "a number above 0",
  [RD_WORD_SIZE] = "a size above 0, such as 512K or 16M",
  [RD_WORD_TIME] = "a time above 0, such as 500ms, 5s or 2min",
  [RD_WORD_ADDRESSING] = "'path' or 'virtual'",
};

static bool
complain_unknown (const char *subject, const struct rd_word *words,
                  const char *name)
{
  char list[512] = "";
  for (size_t used = 0; words->name; words++, used = strlen (list))
    snprintf (list + used, sizeof list - used, "%s%s", used ? ", " : "",
              words->name);
  rd_error ("%s: '%s' is none of %s", subject, name, list);
  return false;
}

static bool
take_number (const char *value, unsigned *number)
{
  uint64_t n;
  if (!rd_parse_u64 (value, &n) || n == 0 || n > UINT_MAX)
    return false;
  *number = (unsigned) n;
  return true;
}

static bool
take_amount (bool (*parse) (const char *text, uint64_t *amount),
             const char *value, uint64_t *field)
{
  return parse (value, field) && *field > 0;
}

static bool
take_addressing (const char *value, enum radio_s3_addressing *addressing)
{
  bool is_path = strcmp (value, "path") == 0;
  *addressing = is_path ? RADIO_S3_ADDRESSING_PATH
                        : RADIO_S3_ADDRESSING_VIRTUAL;
  return is_path || strcmp (value, "virtual") == 0;
}

static bool
take_value (const struct rd_word *word, const char *value, void *field)
{
  switch (word->kind) {
  case RD_WORD_NUMBER: return take_number (value, field);
  case RD_WORD_SIZE: return take_amount (rd_parse_size, value, field);
  case RD_WORD_TIME: return take_amount (rd_parse_ms, value, field);
  case RD_WORD_ADDRESSING: return take_addressing (value, field);
  default: return false;
  }
}

/* One of them; value is NULL where there is no '='. */
static bool
take_word (const char *subject, const struct rd_word *words,
           const char *name, const char *value, void *fields)
{
  const struct rd_word *word = words;
  while (word->name && strcmp (word->name, name) != 0)
    word++;
  if (word->name == NULL)
    return complain_unknown (subject, words, name);
  void *field = (char *) fields + word->offset;
  if (word->kind == RD_WORD_FLAG && value == NULL)
    return *(bool *) field = true;
  if (word->kind == RD_WORD_FLAG)
    rd_error ("%s: '%s' takes no value", subject, name);
  else if (value == NULL)
    rd_error ("%s: '%s' needs a value: %s", subject, name,
              shapes[word->kind]);
  else if (!take_value (word, value, field))
    rd_error ("%s: %s: '%s' is not %s", subject, name, value,
              shapes[word->kind]);
  else
    return true;
  return false;
}

bool
rd_words_take (const char *text, const char *subject,
               const struct rd_word *words, void *fields)
{
  if (text == NULL || *text == '\0')
    return true;
  RD_FREE char *copy = strdup (text);
  if (copy == NULL)
    return rd_error_memory (), false;
  for (char *name = copy, *next; name; name = next) {
    next = strchr (name, ',');
    if (next)
      *next++ = '\0';
    char *value = strchr (name, '=');
    if (value)
      *value++ = '\0';
    if (!take_word (subject, words, name, value, fields))
      return false;
  }
  return true;
}
