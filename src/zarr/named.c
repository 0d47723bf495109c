/* SPDX-License-Identifier: MIT */
/* Extension points and unknown members: those that must be understood are
 * refused by name. */
#include <config.h>

#include <string.h>

#include "src/base/error.h"
#include "src/zarr/named.h"

static bool
is_among (const char *name, const char *const *known)
{
  for (; *known; known++)
    if (strcmp (name, *known) == 0)
      return true;
  return false;
}

/* The members of an extension point's object. */
static enum radio_status
parse_object (struct json_object *value, const char *what,
              const char *where, struct rd_named *named)
{
  static const char *const known[] = { "name", "configuration",
                                       "must_understand", NULL };
  bool must_understand = true;

  json_object_object_foreach (value, member, unused) {
    (void) unused;
    if (!is_among (member, known))
      return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has an unknown member %s",
                      where, what, member);
  }
  if (rd_json_member (value, "name") == NULL)
    return rd_fail (RADIO_ERROR_FORMAT, "%s: %s has no name", where, what);
  RD_TRY (rd_json_string (value, "name", where, &named->name));
  if (json_object_object_get_ex (value, "configuration", NULL))
    RD_TRY (rd_json_object (value, "configuration", where,
                            &named->configuration));
  if (json_object_object_get_ex (value, "must_understand", NULL))
    RD_TRY (rd_json_bool (value, "must_understand", where,
                          &must_understand));
  named->may_be_ignored = !must_understand;
  return RADIO_OK;
}

enum radio_status
rd_named_parse (struct json_object *value, const char *what,
                const char *where, struct rd_named *named)
{
  struct rd_named found = { 0 };

  if (json_object_is_type (value, json_type_string))
    RD_TRY (rd_json_text (value, what, where, &found.name));
  else if (json_object_is_type (value, json_type_object))
    RD_TRY (parse_object (value, what, where, &found));
  else
    return rd_json_not (value, what, "a name or an object with one", where);
  *named = found;
  return RADIO_OK;
}

enum radio_status
rd_named_parse_strict (struct json_object *value, const char *what,
                       const char *where, struct rd_named *named)
{
  RD_TRY (rd_named_parse (value, what, where, named));
  if (named->may_be_ignored)
    return rd_fail (RADIO_ERROR_FORMAT,
                    "%s: %s has must_understand false, which is not allowed"
                    " there", where, what);
  return RADIO_OK;
}

enum radio_status
rd_named_check (const struct rd_named *named, const char *const *known,
                const char *where)
{
  if (named->configuration == NULL)
    return RADIO_OK;
  json_object_object_foreach (named->configuration, member, unused) {
    (void) unused;
    if (!is_among (member, known))
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: the configuration of %s has an unknown member %s",
                      where, named->name, member);
  }
  return RADIO_OK;
}

enum radio_status
rd_members_check (struct json_object *document, const char *const *known,
                  const char *where)
{
  json_object_object_foreach (document, member, value) {
    struct json_object *must = json_object_is_type (value, json_type_object)
      ? rd_json_member (value, "must_understand") : NULL;
    bool may_be_ignored = json_object_is_type (must, json_type_boolean)
                          && !json_object_get_boolean (must);
    if (!is_among (member, known) && !may_be_ignored)
      return rd_fail (RADIO_ERROR_UNSUPPORTED,
                      "%s: unknown member %s, which must be understood",
                      where, member);
  }
  return RADIO_OK;
}
