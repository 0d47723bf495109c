/* SPDX-License-Identifier: MIT */
/* Extension points (core spec, "Extension definition"): a name, or an
 * object of a name, a configuration and must_understand.  Shared by the
 * parsers of documents. */
#ifndef RD_NAMED_H
#define RD_NAMED_H

#include "src/base/json.h"

struct rd_named {
  const char *name;                     /* belongs to the value */
  struct json_object *configuration;    /* NULL: none */
  bool may_be_ignored;                  /* must_understand is false */
};

/* Read an extension point; `what' names it in messages. */
enum radio_status rd_named_parse (struct json_object *value,
                                  const char *what, const char *where,
                                  struct rd_named *named) RADIO_USE_RESULT;

/* As rd_named_parse, where ignoring is not allowed (data types, grids and
 * chunk keys): must_understand false is refused. */
enum radio_status rd_named_parse_strict (struct json_object *value,
                                         const char *what, const char *where,
                                         struct rd_named *named)
  RADIO_USE_RESULT;

/* Refuse a configuration that has members besides those of a list that ends
 * in NULL.  RADIO_ERROR_UNSUPPORTED names the member. */
enum radio_status rd_named_check (const struct rd_named *named,
                                  const char *const *known,
                                  const char *where) RADIO_USE_RESULT;

/* Refuse unknown members of a document, but objects that have
 * must_understand false. */
enum radio_status rd_members_check (struct json_object *document,
                                    const char *const *known,
                                    const char *where) RADIO_USE_RESULT;

#endif /* RD_NAMED_H */
