/* SPDX-License-Identifier: MIT */
/* The query language: a text is parsed into steps in postfix order, which
 * src/cohort/evaluate.c does on whole columns.  Nothing is known of tables
 * here: names stay names. */
#ifndef RD_COHORT_QUERY_H
#define RD_COHORT_QUERY_H

#include <stdbool.h>

#include "src/base/cleanup.h"
#include "src/base/error.h"
#include "src/table/texts.h"

/* The most bytes of a query, and parentheses open at one place. */
#define RD_QUERY_MAX_NBYTES ((size_t) 1 << 20)
#define RD_QUERY_MAX_DEPTH 200

/* A number of a query or of a column, which compares exactly with any other. */
enum rd_number_kind {
  RD_NUMBER_INT = 0,
  RD_NUMBER_UINT,             /* above INT64_MAX */
  RD_NUMBER_FLOAT,            /* not NaN */
};

struct rd_number {
  enum rd_number_kind kind;
  union {
    int64_t i;
    uint64_t u;
    double f;
  };
};

/* Returns less than, equal to or greater than 0, as a is than b. */
int rd_number_compare (struct rd_number a, struct rd_number b);

enum rd_value_kind {
  RD_VALUE_COLUMN = 0,        /* text is its name */
  RD_VALUE_TEXT,
  RD_VALUE_NUMBER,
  RD_VALUE_BOOL,
};

/* The table that a name was qualified by. */
enum rd_name_scope { RD_NAME_ANY = 0, RD_NAME_VOLUME, RD_NAME_SUBJECT };

struct rd_value {
  enum rd_value_kind kind;
  enum rd_name_scope scope;
  size_t at;                  /* its first byte in the query */
  char *text;                 /* NUL-terminated; NULL: a number or a bool */
  size_t nbytes;              /* of text; that of a column has no NUL within */
  struct rd_number number;
  bool truth;
};

enum rd_query_op {
  RD_QUERY_OR = 0,            /* of the two results before it */
  RD_QUERY_AND,
  RD_QUERY_NOT,               /* of the one before it */
  RD_QUERY_COMPARE,           /* all others have values, and one result */
  RD_QUERY_IN,                /* the first value among the others */
  RD_QUERY_LIKE,
  RD_QUERY_MISSING,
  RD_QUERY_HAS,               /* the text of its value names a collection */
  RD_QUERY_TRUTH,             /* a column of booleans */
};

enum rd_compare {
  RD_EQUAL = 0,
  RD_NOT_EQUAL,
  RD_LESS,
  RD_LESS_EQUAL,
  RD_GREATER,
  RD_GREATER_EQUAL,
};

struct rd_query_step {
  enum rd_query_op op;
  enum rd_compare compare;
  size_t at;                  /* of COMPARE, LIKE: the operator's place */
  size_t first, n;            /* its values */
};

struct rd_query {
  struct rd_query_step *steps;
  size_t nsteps, steps_capacity;
  struct rd_value *values;
  size_t nvalues, values_capacity;
  size_t max_results;         /* that are waiting at the same time */
};

/* Parses a query.  After a failure *error_at is the byte that the message is
 * about.
 * RADIO_ERROR_ARGUMENT, RADIO_ERROR_LIMIT, RADIO_ERROR_MEMORY. */
enum radio_status rd_query_parse (const char *text, struct rd_query **query,
                                  size_t *error_at) RADIO_USE_RESULT;

void rd_query_free (struct rd_query *query);
RD_DEFINE_CLEANUP (query, struct rd_query, rd_query_free);

/* Fails with RADIO_ERROR_ARGUMENT, "query, byte N: FORMAT", and sets
 * *error_at.  SIZE_MAX: "FORMAT", of a name that is in no query. */
enum radio_status rd_query_fail (size_t at, size_t *error_at,
                                 const char *format, ...)
  RADIO_PRINTF (3, 4);

/* Returns whether text matches a pattern: '*' is any bytes, '?' one character,
 * and '\' takes the next character as it is. */
bool rd_query_like (struct rd_slice text, struct rd_slice pattern);

#endif /* RD_COHORT_QUERY_H */
