/* SPDX-License-Identifier: MIT */
/* Headers of .npy files, against those of numpy 2.4
 * (numpy.lib.format.write_array_header_1_0). */
#include <config.h>

#include "tests/unit.h"

#include "src/nifti/npy.h"

/* The header is magic, a length, the dictionary, spaces, a newline. */
static void
assert_header (const struct rd_buffer *out, const char *dictionary,
               size_t nbytes)
{
  assert_int_equal (out->nbytes, nbytes);
  assert_memory_equal (out->data, "\x93NUMPY\x01\x00", 8);
  assert_int_equal (out->data[8] | out->data[9] << 8, nbytes - 10);
  size_t n = strlen (dictionary);
  assert_memory_equal (out->data + 10, dictionary, n);
  for (size_t i = 10 + n; i + 1 < nbytes; i++)
    assert_int_equal (out->data[i], ' ');
  assert_int_equal (out->data[nbytes - 1], '\n');
}

struct header_case {
  const char *descr;
  bool fortran_order;
  size_t rank;
  uint64_t shape[RADIO_MAX_RANK];
  const char *dictionary;
  size_t nbytes;
};

static const struct header_case header_cases[] = {
  { "<i2", true, 3, { 3, 4, 5 },
    "{'descr': '<i2', 'fortran_order': True, 'shape': (3, 4, 5), }", 128 },
  { "|u1", false, 1, { 7 },
    "{'descr': '|u1', 'fortran_order': False, 'shape': (7,), }", 128 },
  { "<f8", false, 0, { 0 },
    "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", 128 },
  { "<c16", false, 8, { 1, 1, 1, 1, 1, 1, 1, 1 },
    "{'descr': '<c16', 'fortran_order': False, "
    "'shape': (1, 1, 1, 1, 1, 1, 1, 1), }", 128 },
  { "<u8", false, 2, { UINT64_C (1) << 63, 2 },
    "{'descr': '<u8', 'fortran_order': False, "
    "'shape': (9223372036854775808, 2), }", 128 },
  { "[('R', '|u1'), ('G', '|u1'), ('B', '|u1')]", true, 3,
    { 181, 217, 181 },
    "{'descr': [('R', '|u1'), ('G', '|u1'), ('B', '|u1')], "
    "'fortran_order': True, 'shape': (181, 217, 181), }", 192 },
  /* Padded by a whole unit, though it would fit exactly. */
  { "|V10", false, 6, { 1, 100000, 100000, 100000, 100000, 100000 },
    "{'descr': '|V10', 'fortran_order': False, "
    "'shape': (1, 100000, 100000, 100000, 100000, 100000), }", 192 },
};

static void
headers_are_numpys_own (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  for (size_t i = 0; i < sizeof header_cases / sizeof header_cases[0]; i++) {
    const struct header_case *c = &header_cases[i];
    assert_ok (rd_npy_header (c->descr, c->fortran_order, c->rank, c->shape,
                              &out));
    assert_header (&out, c->dictionary, c->nbytes);
  }
}

static void
elements_start_at_a_multiple_of_64_for_any_shape (void **state)
{
  (void) state;
  RD_BUFFER_SCOPE struct rd_buffer out = { 0 };
  uint64_t shape[RADIO_MAX_RANK];
  for (size_t rank = 0; rank <= RADIO_MAX_RANK; rank++)
    for (uint64_t size = 1; size < UINT64_MAX / 10; size *= 10) {
      for (size_t i = 0; i < rank; i++)
        shape[i] = size;
      assert_ok (rd_npy_header ("<f4", true, rank, shape, &out));
      assert_int_equal (out.nbytes % 64, 0);
    }
}

static void
every_type_has_numpys_word (void **state)
{
  (void) state;
  static const char *const words[] = {
    [RADIO_BOOL] = "|b1",
    [RADIO_INT8] = "|i1",
    [RADIO_INT16] = MACHINE_ORDER "i2",
    [RADIO_INT32] = MACHINE_ORDER "i4",
    [RADIO_INT64] = MACHINE_ORDER "i8",
    [RADIO_UINT8] = "|u1",
    [RADIO_UINT16] = MACHINE_ORDER "u2",
    [RADIO_UINT32] = MACHINE_ORDER "u4",
    [RADIO_UINT64] = MACHINE_ORDER "u8",
    [RADIO_FLOAT16] = MACHINE_ORDER "f2",
    [RADIO_FLOAT32] = MACHINE_ORDER "f4",
    [RADIO_FLOAT64] = MACHINE_ORDER "f8",
    [RADIO_COMPLEX64] = MACHINE_ORDER "c8",
    [RADIO_COMPLEX128] = MACHINE_ORDER "c16",
  };
  char buffer[RD_NPY_DESCR_NBYTES];
  for (int dtype = RADIO_BOOL; dtype <= RADIO_COMPLEX128; dtype++) {
    struct rd_type type = rd_type_of ((enum radio_dtype) dtype);
    assert_string_equal (rd_npy_descr (&type, buffer), words[dtype]);
  }
}

static void
raw_bits_are_void_of_their_size (void **state)
{
  (void) state;
  struct rd_type type = { RADIO_RAW, 24, 1 };
  char buffer[RD_NPY_DESCR_NBYTES];
  assert_string_equal (rd_npy_descr (&type, buffer), "|V24");
}

static void
colours_are_structures_of_letters (void **state)
{
  (void) state;
  assert_string_equal (rd_npy_colour_descr (3),
                       "[('R', '|u1'), ('G', '|u1'), ('B', '|u1')]");
  assert_string_equal (
    rd_npy_colour_descr (4),
    "[('R', '|u1'), ('G', '|u1'), ('B', '|u1'), ('A', '|u1')]");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (headers_are_numpys_own),
    cmocka_unit_test (elements_start_at_a_multiple_of_64_for_any_shape),
    cmocka_unit_test (every_type_has_numpys_word),
    cmocka_unit_test (raw_bits_are_void_of_their_size),
    cmocka_unit_test (colours_are_structures_of_letters),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
