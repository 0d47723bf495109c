/* SPDX-License-Identifier: MIT */
/* Decoding profile.proto. */
#include <config.h>

#include <libdeflate.h>

#include "tests/profiler/trace/decode-pprof.h"
#include "tests/unit.h"

/* Bytes of a message that are still to be read. */
struct input {
  const unsigned char *at, *end;
};

struct field {
  unsigned number, type;
  uint64_t value;             /* of type 0 */
  struct input bytes;         /* of type 2 */
};

static uint64_t
read_varint (struct input *input)
{
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    assert_true (input->at < input->end);
    unsigned char byte = *input->at++;
    value |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  fail_msg ("a number of more than ten bytes");
  return 0;
}

static bool
next_field (struct input *input, struct field *field)
{
  if (input->at == input->end)
    return false;
  uint64_t key = read_varint (input);
  *field = (struct field) { .number = (unsigned) (key >> 3),
                            .type = (unsigned) (key & 7) };
  uint64_t n = read_varint (input);
  if (field->type == 0) {
    field->value = n;
    return true;
  }
  assert_int_equal (field->type, 2);
  assert_true (n <= (uint64_t) (input->end - input->at));
  field->bytes = (struct input) { input->at, input->at + n };
  input->at += n;
  return true;
}

static const char *
string_at (const struct pprof *pprof, uint64_t index)
{
  assert_true (index < pprof->nstrings);
  return pprof->strings[index];
}

/*------------------------------------------------------------------------
 * Messages
 *----------------------------------------------------------------------*/

static void
take_type (struct pprof *pprof, struct input input)
{
  struct field field;
  size_t i = pprof->ntypes++;
  assert_true (i < MAX_VALUES);
  while (next_field (&input, &field))
    if (field.number == 1)
      pprof->types[i] = string_at (pprof, field.value);
    else if (field.number == 2)
      pprof->units[i] = string_at (pprof, field.value);
  assert_non_null (pprof->types[i]);
  assert_non_null (pprof->units[i]);
}

static void
take_label (struct pprof *pprof, struct pprof_sample *sample,
            struct input input)
{
  struct field field;
  while (next_field (&input, &field))
    if (field.number == 1)
      sample->label_key = string_at (pprof, field.value);
    else if (field.number == 2)
      sample->label = string_at (pprof, field.value);
}

static void
take_locations (struct pprof_sample *sample, struct input input)
{
  /* The last byte of each number is below 0x80. */
  size_t n = 0;
  for (const unsigned char *at = input.at; at < input.end; at++)
    n += *at < 0x80;
  assert_null (sample->locations);
  sample->locations = calloc (n + 1, sizeof *sample->locations);
  assert_non_null (sample->locations);
  while (input.at < input.end)
    sample->locations[sample->depth++] = read_varint (&input);
}

static void
take_sample (struct pprof *pprof, struct input input)
{
  struct pprof_sample *sample = &pprof->samples[pprof->nsamples++];
  struct field field;
  while (next_field (&input, &field)) {
    if (field.number == 1)
      take_locations (sample, field.bytes);
    while (field.number == 2 && field.bytes.at < field.bytes.end) {
      assert_true (sample->nvalues < MAX_VALUES);
      sample->values[sample->nvalues++] =
        (int64_t) read_varint (&field.bytes);
    }
    if (field.number == 3)
      take_label (pprof, sample, field.bytes);
  }
  assert_int_equal (sample->nvalues, pprof->ntypes);
  assert_true (sample->depth > 0);
}

static void
take_mapping (struct pprof *pprof, struct input input)
{
  struct field field;
  while (next_field (&input, &field))
    if (field.number == 1)
      assert_int_equal (field.value, ++pprof->nmappings);
    else if (field.number == 5)
      pprof->mapping_file = string_at (pprof, field.value);
}

static void
take_line (struct pprof_location *location, struct input input)
{
  struct field field;
  while (next_field (&input, &field))
    if (field.number == 1)
      location->function = field.value;
    else if (field.number == 2)
      location->line = (int64_t) field.value;
}

static void
take_location (struct pprof *pprof, struct input input)
{
  struct pprof_location *location = &pprof->locations[pprof->nlocations++];
  struct field field;
  while (next_field (&input, &field))
    if (field.number == 1)
      location->id = field.value;
    else if (field.number == 2)
      location->mapping = field.value;
    else if (field.number == 4)
      take_line (location, field.bytes);
}

static void
take_function (struct pprof *pprof, struct input input)
{
  struct pprof_function *function = &pprof->functions[pprof->nfunctions++];
  *function = (struct pprof_function) { 0, "", "", "" };
  struct field field;
  while (next_field (&input, &field))
    if (field.number == 1)
      function->id = field.value;
    else if (field.number == 2)
      function->name = string_at (pprof, field.value);
    else if (field.number == 3)
      function->system_name = string_at (pprof, field.value);
    else if (field.number == 4)
      function->file = string_at (pprof, field.value);
}

static void
take_number (struct pprof *pprof, const struct field *field)
{
  switch (field->number) {
  case 9: pprof->time_ns = (int64_t) field->value; break;
  case 10: pprof->duration_ns = (int64_t) field->value; break;
  case 13: pprof->comment = string_at (pprof, field->value); break;
  case 14: pprof->default_type = string_at (pprof, field->value); break;
  default: fail_msg ("a field %u", field->number);
  }
}

static void
take_part (struct pprof *pprof, const struct field *field)
{
  switch (field->number) {
  case 1: take_type (pprof, field->bytes); break;
  case 2: take_sample (pprof, field->bytes); break;
  case 3: take_mapping (pprof, field->bytes); break;
  case 4: take_location (pprof, field->bytes); break;
  case 5: take_function (pprof, field->bytes); break;
  case 6: break;
  default: take_number (pprof, field);
  }
}

/*------------------------------------------------------------------------
 * The whole
 *----------------------------------------------------------------------*/

/* The strings come first, since everything refers to them. */
static void
take_strings (struct pprof *pprof, struct input input)
{
  struct field field;
  while (next_field (&input, &field))
    if (field.number == 6) {
      size_t n = (size_t) (field.bytes.end - field.bytes.at);
      char *copy = malloc (n + 1);
      assert_non_null (copy);
      memcpy (copy, field.bytes.at, n);
      copy[n] = '\0';
      pprof->strings[pprof->nstrings++] = copy;
    }
  assert_true (pprof->nstrings > 0);
  assert_string_equal (pprof->strings[0], "");
}

static void
check_tables (const struct pprof *pprof)
{
  for (size_t i = 0; i < pprof->nfunctions; i++)
    assert_int_equal (pprof->functions[i].id, i + 1);
  for (size_t i = 0; i < pprof->nlocations; i++) {
    assert_int_equal (pprof->locations[i].id, i + 1);
    assert_in_range (pprof->locations[i].function, 1, pprof->nfunctions);
    assert_in_range (pprof->locations[i].mapping, 1, pprof->nmappings);
  }
  for (size_t i = 0; i < pprof->nsamples; i++)
    for (size_t j = 0; j < pprof->samples[i].depth; j++)
      assert_in_range (pprof->samples[i].locations[j], 1,
                       pprof->nlocations);
}

static struct input
inflate (const struct rd_buffer *gzip, unsigned char **raw)
{
  assert_true (gzip->nbytes >= 18);
  const unsigned char *tail = gzip->data + gzip->nbytes - 4;
  size_t n = (size_t) tail[0] | (size_t) tail[1] << 8
             | (size_t) tail[2] << 16 | (size_t) tail[3] << 24;
  *raw = malloc (n + 1);
  struct libdeflate_decompressor *inflater =
    libdeflate_alloc_decompressor ();
  assert_int_equal (libdeflate_gzip_decompress (
                      inflater, gzip->data, gzip->nbytes, *raw, n, NULL),
                    LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor (inflater);
  return (struct input) { *raw, *raw + n };
}

struct pprof *
pprof_decode (const struct rd_buffer *gzip)
{
  struct pprof *pprof = calloc (1, sizeof *pprof);
  unsigned char *raw;
  struct input input = inflate (gzip, &raw);
  struct input counted = input;
  struct field field;
  size_t n = 1;
  while (next_field (&counted, &field))
    n++;
  pprof->strings = calloc (n, sizeof *pprof->strings);
  pprof->samples = calloc (n, sizeof *pprof->samples);
  pprof->functions = calloc (n, sizeof *pprof->functions);
  pprof->locations = calloc (n, sizeof *pprof->locations);
  take_strings (pprof, input);
  while (next_field (&input, &field))
    take_part (pprof, &field);
  check_tables (pprof);
  free (raw);
  return pprof;
}

void
pprof_free (struct pprof *pprof)
{
  for (size_t i = 0; i < pprof->nstrings; i++)
    free ((char *) pprof->strings[i]);
  for (size_t i = 0; i < pprof->nsamples; i++)
    free (pprof->samples[i].locations);
  free (pprof->strings);
  free (pprof->samples);
  free (pprof->functions);
  free (pprof->locations);
  free (pprof);
}

const struct pprof_function *
pprof_function_of (const struct pprof *pprof, uint64_t location)
{
  return &pprof->functions[pprof->locations[location - 1].function - 1];
}

void
pprof_path (const struct pprof *pprof, const struct pprof_sample *sample,
            char *path, size_t nbytes)
{
  size_t n = 0;
  for (size_t i = sample->depth; i-- > 0;) {
    n += (size_t) snprintf (
      path + n, nbytes - n, "%s%s", n ? ";" : "",
      pprof_function_of (pprof, sample->locations[i])->name);
    assert_true (n < nbytes);
  }
}

size_t
pprof_type (const struct pprof *pprof, const char *type)
{
  for (size_t i = 0; i < pprof->ntypes; i++)
    if (strcmp (pprof->types[i], type) == 0)
      return i;
  fail_msg ("no sample type '%s'", type);
  return 0;
}
