/* SPDX-License-Identifier: MIT */
/* Profiles: the parser of the INI files of the AWS clients, and the entries
 * of a profile in both files. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "src/base/error.h"
#include "src/base/reserve.h"
#include "io/s3/sources.h"

/*------------------------------------------------------------------------
 * INI files: parsed line by line, in place
 *----------------------------------------------------------------------*/

struct parser {
  struct rd_s3_ini *ini;
  const char *where;
  size_t line;
  const char *section;        /* NULL: none yet */
  size_t last;                /* the property that indented lines belong to,
                                 plus 1; 0: none */
};

static enum radio_status
fail_line (const struct parser *parser, const char *why)
{
  return rd_fail (RADIO_ERROR_FORMAT, "%s: line %zu: %s", parser->where,
                  parser->line, why);
}

static bool
is_blank (char c)
{
  return c == ' ' || c == '\t';
}

static char *
skip_blanks (char *text)
{
  while (is_blank (*text))
    text++;
  return text;
}

static void
trim_end (char *text)
{
  size_t n = strlen (text);
  while (n > 0 && (is_blank (text[n - 1]) || text[n - 1] == '\r'))
    n--;
  text[n] = '\0';
}

static bool
begins_comment (char c)
{
  return c == '#' || c == ';';
}

static enum radio_status
add_property (struct rd_s3_ini *ini, const struct rd_s3_property *property)
{
  RD_TRY (rd_reserve (&ini->properties, &ini->capacity, ini->n,
                      sizeof *ini->properties));
  ini->properties[ini->n++] = *property;
  return RADIO_OK;
}

static enum radio_status
parse_section (struct parser *parser, char *line)
{
  char *name = skip_blanks (line + 1);
  char *end = strchr (name, ']');
  if (end == NULL)
    return fail_line (parser, "a section without ']'");
  *end = '\0';
  trim_end (name);
  /* "profile  "NAME"" becomes "profile NAME". */
  char *to = name + strcspn (name, " \t");
  if (*to) {
    char *from = skip_blanks (to);
    size_t n = strlen (from);
    if (n >= 2 && (*from == '"' || *from == '\'') && from[n - 1] == *from) {
      from++;
      n -= 2;
    }
    *to++ = ' ';
    memmove (to, from, n);
    to[n] = '\0';
  }
  if (*name == '\0')
    return fail_line (parser, "a section without a name");
  parser->section = name;
  parser->last = 0;
  struct rd_s3_property property = { .section = name };
  return add_property (parser->ini, &property);
}

/* Splits "NAME = VALUE # comment" and returns the value, or NULL. */
static char *
split_property (char *line)
{
  char *value = strchr (line, '=');
  if (value == NULL || value == line)
    return NULL;
  *value++ = '\0';
  trim_end (line);
  /* A comment is preceded by a blank. */
  for (char *p = value; *p; p++)
    if (is_blank (p[0]) && begins_comment (p[1])) {
      *p = '\0';
      break;
    }
  value = skip_blanks (value);
  trim_end (value);
  return *line ? value : NULL;
}

static enum radio_status
parse_indented (struct parser *parser, char *line)
{
  if (parser->last == 0)
    return fail_line (parser, "indented, but below no property");
  struct rd_s3_property *above = &parser->ini->properties[parser->last - 1];
  if (above->value_nbytes > 0) {
    /* One more line of the value, which is moved to its end: there is room,
     * since a stored value is never longer than its lines. */
    trim_end (line);
    size_t n = strlen (line);
    above->value[above->value_nbytes] = '\n';
    memmove (above->value + above->value_nbytes + 1, line, n);
    above->value_nbytes += n + 1;
    above->value[above->value_nbytes] = '\0';
    return RADIO_OK;
  }
  char *value = split_property (line);
  if (value == NULL)
    return fail_line (parser, "not a property");
  struct rd_s3_property property = {
    above->section, above->name, line, value, strlen (value),
  };
  return add_property (parser->ini, &property);
}

static enum radio_status
parse_text (const char *where, struct rd_s3_ini *ini)
{
  struct parser parser = { .ini = ini, .where = where };
  if (memchr (ini->text.data, '\0', ini->text.nbytes))
    return rd_fail (RADIO_ERROR_FORMAT, "%s: not a text file", where);
  char *line = (char *) ini->text.data;
  /* A byte order mark. */
  if (strncmp (line, "\xef\xbb\xbf", 3) == 0)
    line += 3;
  while (line) {
    char *end = strchr (line, '\n');
    if (end)
      *end++ = '\0';
    parser.line++;
    char *trimmed = skip_blanks (line);
    bool is_indented = trimmed > line;
    line = end;
    if (*trimmed == '\0' || *trimmed == '\r' || begins_comment (*trimmed))
      continue;
    if (is_indented) {
      RD_TRY (parse_indented (&parser, trimmed));
      continue;
    }
    if (*trimmed == '[') {
      RD_TRY (parse_section (&parser, trimmed));
      continue;
    }
    char *value = split_property (trimmed);
    if (parser.section == NULL)
      return fail_line (&parser, "a property outside of any section");
    if (value == NULL)
      return fail_line (&parser, "neither a section nor a property");
    const struct rd_s3_property property = {
      parser.section, NULL, trimmed, value, strlen (value),
    };
    parser.last = ini->n + 1;
    RD_TRY (add_property (ini, &property));
  }
  return RADIO_OK;
}

enum radio_status
rd_s3_ini_read (const char *path, struct rd_s3_ini *ini)
{
  enum radio_status status =
    rd_s3_file_read (path, RD_S3_INI_MAX_NBYTES, &ini->text);
  if (status != RADIO_ERROR_NOT_FOUND) {
    RD_TRY (status);
  } else {
    RD_TRY (rd_buffer_reserve (&ini->text, 1));
    ini->text.data[0] = '\0';
  }
  return parse_text (path, ini);
}

enum radio_status
rd_s3_ini_parse (const void *bytes, size_t nbytes, const char *where,
                 struct rd_s3_ini *ini)
{
  if (nbytes > RD_S3_INI_MAX_NBYTES)
    return rd_fail (RADIO_ERROR_LIMIT, "%s: more than %d bytes", where,
                    RD_S3_INI_MAX_NBYTES);
  RD_TRY (rd_buffer_reserve (&ini->text, nbytes + 1));
  RD_TRY (rd_buffer_append (&ini->text, bytes, nbytes));
  ini->text.data[nbytes] = '\0';
  return parse_text (where, ini);
}

/* Compares names case-insensitively, in ASCII. */
static bool
is_same_name (const char *a, const char *b)
{
  if (a == NULL || b == NULL)
    return a == b;
  for (; *a && *b; a++, b++) {
    char c = *a >= 'A' && *a <= 'Z' ? *a - 'A' + 'a' : *a;
    if (c != *b)
      return false;
  }
  return *a == *b;
}

const char *
rd_s3_ini_get (const struct rd_s3_ini *ini, const char *section,
               const char *parent, const char *name)
{
  for (size_t i = ini->n; i-- > 0;) {
    const struct rd_s3_property *property = &ini->properties[i];
    if (property->name && strcmp (property->section, section) == 0
        && is_same_name (property->parent, parent)
        && is_same_name (property->name, name))
      return property->value;
  }
  return NULL;
}

bool
rd_s3_ini_has_section (const struct rd_s3_ini *ini, const char *section)
{
  for (size_t i = 0; i < ini->n; i++)
    if (strcmp (ini->properties[i].section, section) == 0)
      return true;
  return false;
}

void
rd_s3_ini_free (struct rd_s3_ini *ini)
{
  rd_s3_secret_buffer_free (&ini->text);
  rd_free (ini->properties);
  *ini = (struct rd_s3_ini) { 0 };
}

/*------------------------------------------------------------------------
 * Profiles
 *----------------------------------------------------------------------*/

/* "~/x" is in the home folder.  Without a home folder and a configured path
 * there is no file. */
static enum radio_status
read_file (const struct rd_s3_settings *settings, enum rd_s3_setting which,
           const char *otherwise, struct rd_s3_ini *ini)
{
  RD_BUFFER_SCOPE struct rd_buffer buffer = { 0 };
  const char *home = rd_s3_setting (settings, RD_S3_HOME);
  const char *path = rd_s3_setting (settings, which);
  if (path == NULL && home == NULL)
    return RADIO_OK;
  if (path == NULL)
    path = otherwise;
  if (path[0] == '~' && path[1] == '/' && home) {
    RD_TRY (rd_s3_append (&buffer, home));
    path++;
  }
  RD_TRY (rd_s3_append (&buffer, path));
  RD_TRY (rd_s3_append_end (&buffer));
  return rd_s3_ini_read ((const char *) buffer.data, ini);
}

enum radio_status
rd_s3_profiles_read (const struct rd_s3_settings *settings,
                     struct rd_s3_profiles *profiles)
{
  RD_TRY (read_file (settings, RD_S3_CONFIG_FILE, "~/.aws/config",
                     &profiles->config));
  return read_file (settings, RD_S3_CREDENTIALS_FILE, "~/.aws/credentials",
                    &profiles->credentials);
}

void
rd_s3_profiles_free (struct rd_s3_profiles *profiles)
{
  rd_s3_ini_free (&profiles->config);
  rd_s3_ini_free (&profiles->credentials);
}

const char *
rd_s3_profile_name (const struct rd_s3_settings *settings)
{
  const char *name = rd_s3_setting (settings, RD_S3_OWN_PROFILE);
  if (name == NULL)
    name = rd_s3_setting (settings, RD_S3_PROFILE);
  return name ? name : "default";
}

bool
rd_s3_profile_is_chosen (const struct rd_s3_settings *settings)
{
  return rd_s3_setting (settings, RD_S3_OWN_PROFILE)
         || rd_s3_setting (settings, RD_S3_PROFILE);
}

/* Returns a property of a section "KIND NAME", or without a property the name
 * if there is such a section. */
static const char *
get_config (const struct rd_s3_ini *config, const char *kind,
            const char *name, const char *parent, const char *property)
{
  char section[512];
  size_t n = strlen (kind), nbytes = strlen (name);
  if (n + nbytes + 2 > sizeof section)
    return NULL;
  memcpy (section, kind, n);
  section[n] = ' ';
  memcpy (section + n + 1, name, nbytes + 1);
  if (property == NULL)
    return rd_s3_ini_has_section (config, section) ? name : NULL;
  return rd_s3_ini_get (config, section, parent, property);
}

static bool
is_default (const char *profile)
{
  return strcmp (profile, "default") == 0;
}

/* Returns a property of config, or one within another.  The section of the
 * default profile may be called "default", too, with lower precedence. */
static const char *
get_profile_config (const struct rd_s3_profiles *profiles,
                    const char *profile, const char *parent,
                    const char *name)
{
  const char *value = get_config (&profiles->config, "profile", profile,
                                  parent, name);
  if (value == NULL && is_default (profile))
    value = rd_s3_ini_get (&profiles->config, profile, parent, name);
  return value;
}

bool
rd_s3_profile_exists (const struct rd_s3_profiles *profiles,
                      const char *profile)
{
  return rd_s3_ini_has_section (&profiles->credentials, profile)
         || get_config (&profiles->config, "profile", profile, NULL, NULL)
         || (is_default (profile)
             && rd_s3_ini_has_section (&profiles->config, profile));
}

/* An empty property counts as missing. */
static const char *
or_none (const char *value)
{
  return value && value[0] ? value : NULL;
}

const char *
rd_s3_profile_get (const struct rd_s3_profiles *profiles,
                   const char *profile, const char *name)
{
  const char *value = or_none (
    rd_s3_ini_get (&profiles->credentials, profile, NULL, name));
  return value ? value
               : or_none (get_profile_config (profiles, profile, NULL, name));
}

enum radio_status
rd_s3_keys (const char *access_key, const char *secret_key,
            const char *session_token, const char *where,
            struct rd_s3_credentials **credentials)
{
  *credentials = NULL;
  if (access_key == NULL && secret_key == NULL)
    return RADIO_OK;
  if (access_key == NULL || secret_key == NULL)
    return rd_fail (RADIO_ERROR_ARGUMENT, "%s: the %s is given, but not the "
                    "%s", where, access_key ? "access key" : "secret key",
                    access_key ? "secret key" : "access key");
  return rd_s3_credentials_new (access_key, secret_key, session_token, 0,
                                credentials);
}

/* Both keys and the token must come from the same file. */
static enum radio_status
keys_of_file (const struct rd_s3_profiles *profiles, const char *profile,
              bool is_config, struct rd_s3_credentials **credentials)
{
  static const char *const names[] = {
    "aws_access_key_id", "aws_secret_access_key", "aws_session_token",
  };
  const char *values[3];
  char where[256];
  for (size_t i = 0; i < 3; i++)
    values[i] = or_none (
      is_config ? get_profile_config (profiles, profile, NULL, names[i])
                : rd_s3_ini_get (&profiles->credentials, profile, NULL,
                                 names[i]));
  snprintf (where, sizeof where, "the profile '%.200s'", profile);
  return rd_s3_keys (values[0], values[1], values[2], where, credentials);
}

enum radio_status
rd_s3_profile_keys (const struct rd_s3_profiles *profiles,
                    const char *profile,
                    struct rd_s3_credentials **credentials)
{
  RD_TRY (keys_of_file (profiles, profile, false, credentials));
  return *credentials ? RADIO_OK
                      : keys_of_file (profiles, profile, true, credentials);
}

const char *
rd_s3_region (const struct rd_s3_settings *settings,
              const struct rd_s3_profiles *profiles)
{
  static const enum rd_s3_setting order[] = {
    RD_S3_OWN_REGION, RD_S3_REGION, RD_S3_DEFAULT_REGION,
  };
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
    if (rd_s3_setting (settings, order[i]))
      return rd_s3_setting (settings, order[i]);
  return rd_s3_profile_get (profiles, rd_s3_profile_name (settings),
                            "region");
}

const char *
rd_s3_endpoint (const struct rd_s3_settings *settings,
                const struct rd_s3_profiles *profiles, const char *service)
{
  enum rd_s3_setting own = strcmp (service, "sts") == 0 ? RD_S3_ENDPOINT_STS
                                                        : RD_S3_ENDPOINT_S3;
  const char *profile = rd_s3_profile_name (settings);
  const char *ignore = rd_s3_profile_get (profiles, profile,
                                          "ignore_configured_endpoint_urls");
  if (rd_s3_setting (settings, RD_S3_IGNORE_ENDPOINTS)
      ? rd_s3_setting_is_true (settings, RD_S3_IGNORE_ENDPOINTS)
      : ignore && strcmp (ignore, "true") == 0)
    return NULL;
  if (rd_s3_setting (settings, own))
    return rd_s3_setting (settings, own);
  if (rd_s3_setting (settings, RD_S3_ENDPOINT))
    return rd_s3_setting (settings, RD_S3_ENDPOINT);
  /* The section of services, the service within the profile, the profile. */
  const char *services = rd_s3_profile_get (profiles, profile, "services");
  const char *endpoint = NULL;
  if (services)
    endpoint = or_none (get_config (&profiles->config, "services", services,
                                    service, "endpoint_url"));
  if (endpoint == NULL)
    endpoint = or_none (get_profile_config (profiles, profile, service,
                                            "endpoint_url"));
  return endpoint ? endpoint
                  : rd_s3_profile_get (profiles, profile, "endpoint_url");
}
