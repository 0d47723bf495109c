/* SPDX-License-Identifier: MIT */
/* Hostile text tables.  The first byte of an input chooses the separator and
 * whether the text is in two parts, the second one a sidecar.  Every column is
 * read; the cells, written again, read back as the same. */
#include <config.h>

#include <string.h>

#include "tests/fuzz/fuzz.h"

#include "src/table/csv.h"

static enum radio_status
append (const char *text, size_t nbytes, void *user_data)
{
  return rd_buffer_append (user_data, text, nbytes);
}

static void
check_column (struct radio_csv *csv, size_t number)
{
  struct radio_cells cells;
  FUZZ_CHECK (radio_csv_read (csv, number, &cells) == RADIO_OK);
  FUZZ_CHECK (cells.text ? cells.text->n == csv->nrows
                         : cells.values != NULL);
}

/* Writes the first column and reads it. */
static void
check_again (struct radio_csv *csv)
{
  struct rd_buffer out = { 0 };
  struct radio_strings text, second;
  struct radio_csv *again;
  const struct radio_csv_options options = { .separator = '\t' };
  FUZZ_CHECK (radio_csv_read_text (csv, 0, &text) == RADIO_OK);
  const struct rd_csv_output column = { csv->columns[0].name, &text, NULL };
  FUZZ_CHECK (rd_csv_write (&column, 1, NULL, csv->nrows, '\t', append, &out)
              == RADIO_OK);
  FUZZ_CHECK (radio_csv_parse ((const char *) out.data, out.nbytes, "again",
                               &options, &again) == RADIO_OK);
  FUZZ_CHECK (strcmp (again->columns[0].name, csv->columns[0].name) == 0);
  FUZZ_CHECK (radio_csv_read_text (again, 0, &second) == RADIO_OK);
  FUZZ_CHECK (text.n == second.n
              && memcmp (text.offsets, second.offsets,
                         (text.n + 1) * sizeof *text.offsets) == 0
              && strcmp (text.bytes, second.bytes) == 0);
  radio_strings_free (&text);
  radio_strings_free (&second);
  rd_buffer_free (&out);
  radio_csv_close (again);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  static const char separators[] = { '\0', ',', '\t', ';' };
  struct rd_buffer sidecar = { 0 };
  struct radio_csv *csv;
  if (nbytes == 0)
    return 0;
  struct radio_csv_options options = {
    .separator = separators[data[0] % 4],
    .memory_limit_nbytes = (uint64_t) 64 << 20,
  };
  const char *text = (const char *) data + 1;
  size_t text_nbytes = nbytes - 1;
  const char *cut = data[0] & 4 && text_nbytes > 0
    ? memchr (text, '{', text_nbytes) : NULL;
  if (cut) {
    FUZZ_CHECK (rd_buffer_append (&sidecar, cut, (size_t) (text + text_nbytes
                                                           - cut))
                == RADIO_OK);
    FUZZ_CHECK (rd_buffer_append (&sidecar, "", 1) == RADIO_OK);
    options.sidecar_json = (const char *) sidecar.data;
    text_nbytes = (size_t) (cut - text);
  }
  if (radio_csv_parse (text, text_nbytes, "fuzz", &options, &csv)
      == RADIO_OK) {
    for (size_t i = 0; i < csv->ncolumns; i++)
      check_column (csv, i);
    check_again (csv);
    radio_csv_close (csv);
  }
  rd_buffer_free (&sidecar);
  return 0;
}

size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const char *const seeds[] = {
    "\1" "participant_id,age,sex\nsub-01,34,M\nsub-02,n/a,\"F, \"\"x\"\"\"\n",
    "\2" "\xef\xbb\xbfid\tflag\tvalue\r\na\ttrue\t1.5e3\r\nb\tFALSE\t-inf\r\n",
    "\3" "a;b\n007;1\n9223372036854775808;.5\n\"\";n/a\n",
    "\4" "id,sex,age\ns1,1,2\n{\"sex\": {\"Levels\": {\"1\": \"f\"}}, \"age\": "
      "{\"Format\": \"number\", \"Units\": \"year\"}}",
    "\0" "a\n\"x\ny\"\n\n \n+1\n",
  };
  if (i >= sizeof seeds / sizeof seeds[0])
    return 0;
  /* The last one begins with a NUL. */
  size_t nbytes = i == 4 ? 15 : strlen (seeds[i]);
  FUZZ_CHECK (nbytes <= room);
  memcpy (out, seeds[i], nbytes);
  return nbytes;
}
