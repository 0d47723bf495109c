/* SPDX-License-Identifier: MIT */
/* JSON by json-c, and rules for the cases that it leaves open.  Infinities
 * become Zarr's strings "Infinity" and "-Infinity", NaN, which here stands for
 * no number, null, doubles their shortest exact form, and broken UTF-8 (of
 * file names) U+FFFD, so that the output is always valid JSON. */
#ifndef RD_TOOLS_JSON_H
#define RD_TOOLS_JSON_H

#include <json-c/json.h>
#include <radio/table.h>

#include "tools/tool.h"

void rd_json_set (struct json_object *object, const char *key,
                  struct json_object *value);
void rd_json_set_text (struct json_object *object, const char *key,
                       const char *text);
void rd_json_set_u64 (struct json_object *object, const char *key,
                      uint64_t number);
void rd_json_set_double (struct json_object *object, const char *key,
                         double number);
void rd_json_set_bool (struct json_object *object, const char *key,
                       bool value);

struct json_object *rd_json_new_text (const char *text);

/* A cell of a table, from its text; NULL: the value is missing. */
struct json_object *rd_json_new_cell (enum radio_column_type type,
                                      const char *text);

struct json_object *rd_json_double_or_null (double number);

/* Numbers in reverse: array order as NIfTI's x, y, z. */
struct json_object *rd_json_u64_reversed (const uint64_t *numbers, size_t n);
struct json_object *rd_json_u64_list (const uint64_t *numbers, size_t n);
struct json_object *rd_json_double_list (const double *numbers, size_t n);

/* Print it, a line for each of its own members, and release it. */
void rd_json_print (struct json_object *object);

/* Print objects one by one, as a list or, of a single one, like rd_json_print;
 * and end the list. */
struct rd_json_items {
  bool is_list;
  size_t n;                   /* printed */
};

void rd_json_items_print (struct rd_json_items *items,
                          struct json_object *object);
void rd_json_items_end (const struct rd_json_items *items);

#endif /* RD_TOOLS_JSON_H */
