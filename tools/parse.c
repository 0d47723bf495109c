/* SPDX-License-Identifier: MIT */
/* Values of options and variables: parsed as a whole or rejected, and never
 * wrapped around, so that a typo is an error. */
#include <config.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include <json-c/json_util.h>

#include "tools/parse.h"
#include "tools/tool.h"

/* Reads digits and steps past them; false when there are none or too many. */
static bool
read_digits (const char **text, uint64_t *value)
{
  const char *p = *text;
  uint64_t sum = 0;
  for (; *p >= '0' && *p <= '9'; p++)
    if (__builtin_mul_overflow (sum, 10, &sum)
        || __builtin_add_overflow (sum, (uint64_t) (*p - '0'), &sum))
      return false;
  if (p == *text)
    return false;
  *text = p;
  *value = sum;
  return true;
}

bool
rd_parse_u64 (const char *text, uint64_t *value)
{
  uint64_t result;
  if (!read_digits (&text, &result) || *text != '\0')
    return false;
  *value = result;
  return true;
}

static const char *
skip_sign (const char *p)
{
  return p + (*p == '-' || *p == '+');
}

/* Reads a number and steps past it.  The C library's own function accepts
 * more than decimal numbers as "-1.5e3", so the syntax is checked first. */
static bool
read_double (const char **text, double *value)
{
  static const char digits[] = "0123456789";
  const char *p = skip_sign (*text);
  size_t ndigits = strspn (p, digits);
  p += ndigits;
  if (*p == '.') {
    size_t nfraction = strspn (p + 1, digits);
    ndigits += nfraction;
    p += 1 + nfraction;
  }
  if (ndigits == 0)
    return false;
  if ((*p | 0x20) == 'e') {
    const char *exponent = skip_sign (p + 1);
    size_t nexponent = strspn (exponent, digits);
    if (nexponent == 0)
      return false;
    p = exponent + nexponent;
  }
  char number[64];
  double result;
  size_t length = (size_t) (p - *text);
  if (length >= sizeof number)
    return false;
  memcpy (number, *text, length);
  number[length] = '\0';
  if (json_parse_double (number, &result) != 0 || !isfinite (result))
    return false;
  *text = p;
  *value = result;
  return true;
}

bool
rd_parse_double (const char *text, double *value)
{
  double result;
  if (!read_double (&text, &result) || *text != '\0')
    return false;
  *value = result;
  return true;
}

bool
rd_parse_range (const char *text, double *low, double *high)
{
  double a, b;
  if (!read_double (&text, &a) || *text++ != ',')
    return false;
  if (!read_double (&text, &b) || *text != '\0' || !(a < b))
    return false;
  *low = a;
  *high = b;
  return true;
}

bool
rd_parse_size (const char *text, uint64_t *nbytes)
{
  static const char letters[] = "KMGT";
  uint64_t value;
  if (!read_digits (&text, &value))
    return false;
  if (*text != '\0') {
    const char *letter = strchr (letters, *text & ~0x20);
    if (letter == NULL || *letter == '\0')
      return false;
    uint64_t base = strcmp (text + 1, "B") == 0 ? 1000 : 1024;
    if (base == 1024 && text[1] != '\0' && strcmp (text + 1, "iB") != 0)
      return false;
    for (ptrdiff_t i = letter - letters; i >= 0; i--)
      if (__builtin_mul_overflow (value, base, &value))
        return false;
  }
  *nbytes = value;
  return true;
}

bool
rd_parse_ms (const char *text, uint64_t *ms)
{
  static const struct {
    const char *suffix;
    uint64_t ms;
  } units[] = { { "ms", 1 }, { "s", 1000 }, { "min", 60000 } };
  uint64_t value;
  if (!read_digits (&text, &value))
    return false;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (strcmp (text, units[i].suffix) == 0)
      return !__builtin_mul_overflow (value, units[i].ms, ms);
  return false;
}

bool
rd_parse_triple (const char *text, bool one_for_all, uint64_t value[3])
{
  uint64_t result[3];
  if (one_for_all && rd_parse_u64 (text, &result[0]))
    result[1] = result[2] = result[0];
  else
    for (size_t i = 0; i < 3; i++) {
      char end = i < 2 ? ',' : '\0';
      if (!read_digits (&text, &result[i]) || *text++ != end)
        return false;
    }
  memcpy (value, result, sizeof result);
  return true;
}

size_t
rd_text_distance (const char *a, const char *b)
{
  size_t na = strlen (a), nb = strlen (b);
  size_t row[64];
  if (na > 63 || nb > 63)
    return 64;
  for (size_t j = 0; j <= nb; j++)
    row[j] = j;
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t above = row[j];
      size_t least = diagonal + (a[i - 1] != b[j - 1]);
      least = above + 1 < least ? above + 1 : least;
      row[j] = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
      diagonal = above;
    }
  }
  return row[nb];
}

/*------------------------------------------------------------------------
 * Settings
 *----------------------------------------------------------------------*/

#define S3(field) offsetof (struct radio_s3_options, field)

const struct rd_setting rd_s3_settings[] = {
  { "anonymous", RD_SETTING_FLAG, S3 (anonymous) },
  { "addressing", RD_SETTING_ADDRESSING, S3 (addressing) },
  { "hedge", RD_SETTING_NUMBER, S3 (hedge_percent) },
  { "gap", RD_SETTING_SIZE, S3 (gap_nbytes) },
  { "cap", RD_SETTING_SIZE, S3 (cap_nbytes) },
  { "connect-timeout", RD_SETTING_TIME, S3 (connect_timeout_ms) },
  { "first-byte-timeout", RD_SETTING_TIME, S3 (first_byte_timeout_ms) },
  { "stall-timeout", RD_SETTING_TIME, S3 (stall_timeout_ms) },
  { "deadline", RD_SETTING_TIME, S3 (deadline_ms) },
  { "no-connect-ahead", RD_SETTING_FLAG, S3 (no_connect_ahead) },
  { NULL, RD_SETTING_FLAG, 0 }
};

/* Descriptions of the values of each kind, for errors. */
static const char *const value_syntax[] = {
  [RD_SETTING_NUMBER] = "a number above 0",
  [RD_SETTING_SIZE] = "a size above 0, such as 512K or 16M",
  [RD_SETTING_TIME] = "a time above 0, such as 500ms, 5s or 2min",
  [RD_SETTING_ADDRESSING] = "'path' or 'virtual'",
};

/* One setting; value is NULL where there is no '='. */
static bool
parse_setting (const char *subject, const struct rd_setting *settings,
               const char *name, const char *value, void *fields)
{
  const struct rd_setting *setting = settings;
  while (setting->name && strcmp (setting->name, name) != 0)
    setting++;
  void *field = (char *) fields + setting->offset;
  uint64_t n = 0;
  bool is_path, is_valid = false;
  if (setting->name == NULL) {
    char list[512] = "";
    for (size_t used = 0; settings->name; settings++, used = strlen (list))
      snprintf (list + used, sizeof list - used, "%s%s", used ? ", " : "",
                settings->name);
    rd_error ("%s: '%s' is none of %s", subject, name, list);
    return false;
  }
  if (setting->kind == RD_SETTING_FLAG) {
    if (value)
      rd_error ("%s: '%s' takes no value", subject, name);
    return *(bool *) field = value == NULL;
  }
  if (value == NULL) {
    rd_error ("%s: '%s' needs a value: %s", subject, name,
              value_syntax[setting->kind]);
    return false;
  }
  switch (setting->kind) {
  case RD_SETTING_NUMBER:
    is_valid = rd_parse_u64 (value, &n) && n > 0 && n <= UINT_MAX;
    *(unsigned *) field = is_valid ? (unsigned) n : 0;
    break;
  case RD_SETTING_SIZE:
    is_valid = rd_parse_size (value, field) && *(uint64_t *) field > 0;
    break;
  case RD_SETTING_TIME:
    is_valid = rd_parse_ms (value, field) && *(uint64_t *) field > 0;
    break;
  default:
    is_path = strcmp (value, "path") == 0;
    is_valid = is_path || strcmp (value, "virtual") == 0;
    *(enum radio_s3_addressing *) field
      = is_path ? RADIO_S3_ADDRESSING_PATH : RADIO_S3_ADDRESSING_VIRTUAL;
  }
  if (!is_valid)
    rd_error ("%s: %s: '%s' is not %s", subject, name, value,
              value_syntax[setting->kind]);
  return is_valid;
}

bool
rd_settings_parse (const char *text, const char *subject,
                   const struct rd_setting *settings, void *fields)
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
    if (!parse_setting (subject, settings, name, value, fields))
      return false;
  }
  return true;
}
