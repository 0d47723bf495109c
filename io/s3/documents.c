/* SPDX-License-Identifier: MIT */
/* Credentials in JSON, and the time that they are good until. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/base/json.h"
#include "io/s3/sources.h"

/*------------------------------------------------------------------------
 * Times
 *----------------------------------------------------------------------*/

/* So many digits, and what stands behind them. */
static bool
take_number (const char **text, size_t n, int64_t most, int64_t *number)
{
  *number = 0;
  for (; n > 0; n--, (*text)++) {
    if (**text < '0' || **text > '9')
      return false;
    *number = 10 * *number + (**text - '0');
  }
  return *number <= most;
}

static bool
take_char (const char **text, const char *chars)
{
  if (**text == '\0' || strchr (chars, **text) == NULL)
    return false;
  (*text)++;
  return true;
}

/* Days since 1970 of a day of the Gregorian calendar; its years begin in
 * March here, so that the leap day is their last. */
static int64_t
days_of (int64_t year, int64_t month, int64_t day)
{
  if (month <= 2) {
    month += 12;
    year--;
  }
  int64_t before = (153 * (month - 3) + 2) / 5;
  return 365 * year + year / 4 - year / 100 + year / 400 + before + day
         - 719469;
}

/* "Z", "+01:00" or "-0100". */
static bool
take_offset (const char **text, int64_t *offset_s)
{
  int64_t hours, minutes;
  bool is_negative = **text == '-';
  *offset_s = 0;
  if (take_char (text, "Zz"))
    return true;
  if (!take_char (text, "+-") || !take_number (text, 2, 23, &hours))
    return false;
  (void) take_char (text, ":");
  if (!take_number (text, 2, 59, &minutes))
    return false;
  *offset_s = (is_negative ? -60 : 60) * (60 * hours + minutes);
  return true;
}

bool
rd_s3_parse_time (const char *text, int64_t *unix_s)
{
  int64_t year, month, day, hour, minute, second, offset_s;
  if (!take_number (&text, 4, 9999, &year) || !take_char (&text, "-")
      || !take_number (&text, 2, 12, &month) || !take_char (&text, "-")
      || !take_number (&text, 2, 31, &day) || !take_char (&text, "Tt ")
      || !take_number (&text, 2, 23, &hour) || !take_char (&text, ":")
      || !take_number (&text, 2, 59, &minute) || !take_char (&text, ":")
      || !take_number (&text, 2, 60, &second) || month == 0 || day == 0)
    return false;
  if (take_char (&text, "."))
    text += strspn (text, "0123456789");
  if (!take_offset (&text, &offset_s) || *text)
    return false;
  *unix_s = 86400 * days_of (year, month, day) + 3600 * hour + 60 * minute
            + second - offset_s;
  return true;
}

/*------------------------------------------------------------------------
 * Documents
 *----------------------------------------------------------------------*/

/* A member that is a text, or NULL where it is missing.  The getters of
 * rd_json would show what it is instead. */
static enum radio_status
get_text (struct json_object *document, const char *name, const char *where,
          const char **text)
{
  struct json_object *value = rd_json_member (document, name);
  *text = NULL;
  if (value == NULL)
    return RADIO_OK;
  if (!json_object_is_type (value, json_type_string)
      || strlen (json_object_get_string (value))
         != (size_t) json_object_get_string_len (value))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: '%s' is not a text", where,
                    name);
  *text = json_object_get_string (value);
  return RADIO_OK;
}

static enum radio_status
need_text (struct json_object *document, const char *name, const char *where,
           const char **text)
{
  RD_TRY (get_text (document, name, where, text));
  if (*text == NULL || **text == '\0')
    return rd_fail (RADIO_ERROR_FORMAT, "%s: '%s' is missing", where, name);
  return RADIO_OK;
}

static enum radio_status
get_expiration (struct json_object *document, const char *where,
                int64_t *expires_s)
{
  const char *text;
  RD_TRY (get_text (document, "Expiration", where, &text));
  *expires_s = 0;
  if (text && !rd_s3_parse_time (text, expires_s))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: 'Expiration' is not a time",
                    where);
  return RADIO_OK;
}

/* That of a metadata service is "Success", where there is one. */
static enum radio_status
check_kind (struct json_object *document, const char *where, bool is_process)
{
  const char *code = NULL;
  struct json_object *version = rd_json_member (document, "Version");
  if (is_process
      && !(json_object_is_type (version, json_type_int)
           && json_object_get_int64 (version) == 1))
    return rd_fail (RADIO_ERROR_UNSUPPORTED, "%s: 'Version' is not 1", where);
  if (!is_process)
    RD_TRY (get_text (document, "Code", where, &code));
  if (code && strcmp (code, "Success") != 0)
    return rd_fail (RADIO_ERROR_PERMISSION, "%s: the answer's 'Code' is not "
                    "Success", where);
  return RADIO_OK;
}

enum radio_status
rd_s3_credentials_from_json (const struct rd_buffer *text, const char *where,
                             bool is_process,
                             struct rd_s3_credentials **credentials)
{
  RD_CLEANUP (rd_cleanup_json) struct json_object *document = NULL;
  const char *access_key, *secret_key, *token;
  int64_t expires_s;
  RD_TRY (rd_json_parse ((const char *) text->data, text->nbytes, where,
                         &document));
  if (!json_object_is_type (document, json_type_object))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not an object of JSON", where);
  RD_TRY (check_kind (document, where, is_process));
  RD_TRY (need_text (document, "AccessKeyId", where, &access_key));
  RD_TRY (need_text (document, "SecretAccessKey", where, &secret_key));
  RD_TRY (get_text (document, is_process ? "SessionToken" : "Token", where,
                    &token));
  RD_TRY (get_expiration (document, where, &expires_s));
  return rd_s3_credentials_new (access_key, secret_key,
                                token && *token ? token : NULL, expires_s,
                                credentials);
}
