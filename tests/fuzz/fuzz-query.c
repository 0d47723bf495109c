/* SPDX-License-Identifier: MIT */
/* Queries: accepted ones have steps in postfix order that leave one result, and
 * values within the text; others have an error with its place. */
#include <config.h>

#include "src/cohort/query.h"
#include "tests/fuzz/fuzz.h"

/* Goes through the steps as they are evaluated. */
static void
check_steps (const struct rd_query *query, size_t nbytes)
{
  size_t nresults = 0;
  for (size_t i = 0; i < query->nsteps; i++) {
    const struct rd_query_step *step = &query->steps[i];
    bool is_binary = step->op == RD_QUERY_OR || step->op == RD_QUERY_AND;
    FUZZ_CHECK (step->at <= nbytes);
    FUZZ_CHECK (step->first + step->n <= query->nvalues);
    if (is_binary || step->op == RD_QUERY_NOT) {
      FUZZ_CHECK (nresults >= 1 + (size_t) is_binary);
      nresults -= is_binary;
    } else {
      FUZZ_CHECK (step->n >= 1);
      nresults++;
    }
    FUZZ_CHECK (nresults <= query->max_results);
  }
  FUZZ_CHECK (nresults == 1);
}

/* A number compares as its opposite does with the other one, and a text is
 * like itself if it has no marks. */
static void
check_values (const struct rd_query *query, size_t nbytes)
{
  const struct rd_value *last = NULL;
  for (size_t i = 0; i < query->nvalues; i++) {
    const struct rd_value *value = &query->values[i];
    FUZZ_CHECK (value->at < nbytes);
    if (value->kind == RD_VALUE_NUMBER) {
      if (last)
        FUZZ_CHECK (rd_number_compare (last->number, value->number)
                    == -rd_number_compare (value->number, last->number));
      FUZZ_CHECK (rd_number_compare (value->number, value->number) == 0);
      last = value;
      continue;
    }
    FUZZ_CHECK ((value->kind == RD_VALUE_BOOL) == (value->text == NULL));
    const struct rd_slice text = { value->text, value->nbytes };
    if (text.at && !strpbrk (text.at, "*?\\"))
      FUZZ_CHECK (rd_query_like (text, text));
    if (text.at)
      FUZZ_CHECK (rd_query_like (text, (struct rd_slice) { "*", 1 }));
    if (text.at && i > 0 && query->values[i - 1].text)
      (void) rd_query_like ((struct rd_slice) { query->values[i - 1].text,
                                                query->values[i - 1].nbytes },
                            text);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  char *text = fuzz_text (data, nbytes);
  struct rd_query *query;
  size_t error_at;
  enum radio_status status = rd_query_parse (text, &query, &error_at);
  if (status == RADIO_OK) {
    check_steps (query, strlen (text));
    check_values (query, strlen (text));
    rd_query_free (query);
  } else {
    FUZZ_CHECK (status == RADIO_ERROR_ARGUMENT
                || status == RADIO_ERROR_LIMIT);
    FUZZ_CHECK (error_at <= strlen (text));
    FUZZ_CHECK (strncmp (radio_error_message (), "query, byte ", 12) == 0);
  }
  rd_free (text);
  return 0;
}

static const char *const seeds[] = {
  "age >= 18 and site in (\"A\", 'B') and not has(seg)",
  "volume.quality == subject.quality or `odd name` is not missing",
  "not not (smoker or (true == smoker)) and weight < -1.5e-3",
  "note like \"x\\*?*\" or note not like 'sub-\\'1*'",
  "id not in (18446744073709551615, -9223372036854775808, 1e300, 007.50)",
  "x != +9223372036854775808 and x is missing", "`a``b` == has", "has(`seg`)",
  "((((((a))))))", "a = 3", "1 < a < 2", "a in ()", "a like", "3d == 1",
  "'", "a == \"\\", "volume.", "\303\251t\303\251 > 9007199254740993.5",
};

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  return fuzz_text_seed (seeds, sizeof seeds / sizeof seeds[0], i, out, room);
}
