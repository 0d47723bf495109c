/* SPDX-License-Identifier: MIT */
/* Base64: RFC 4648's vectors, every length, and what is refused. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/base64.h"

static void
the_vectors_of_rfc_4648_come_out (void **state)
{
  (void) state;
  static const char *const vectors[][2] = {
    { "", "" }, { "f", "Zg==" }, { "fo", "Zm8=" }, { "foo", "Zm9v" },
    { "foob", "Zm9vYg==" }, { "fooba", "Zm9vYmE=" },
    { "foobar", "Zm9vYmFy" },
  };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    const char *plain = vectors[i][0], *text = vectors[i][1];
    assert_ok (rd_base64_encode (plain, strlen (plain), &out));
    assert_int_equal (out.nbytes, strlen (text));
    assert_memory_equal (out.data, text, out.nbytes);
    assert_ok (rd_base64_decode (text, strlen (text), &out));
    assert_int_equal (out.nbytes, strlen (plain));
    assert_memory_equal (out.data, plain, out.nbytes);
  }
}

static void
bytes_of_every_length_and_value_come_back (void **state)
{
  (void) state;
  unsigned char bytes[600];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (unsigned char) (i * 37 + i / 256);
  struct rd_buffer text RD_BUFFER_SCOPE = { 0 };
  struct rd_buffer back RD_BUFFER_SCOPE = { 0 };
  for (size_t n = 0; n <= sizeof bytes; n++) {
    assert_ok (rd_base64_encode (bytes, n, &text));
    assert_ok (rd_base64_decode ((char *) text.data, text.nbytes, &back));
    assert_int_equal (back.nbytes, n);
    assert_memory_equal (back.data, bytes, n);
  }
}

static void
invalid_base64_is_refused (void **state)
{
  (void) state;
  static const char *const bad[] = {
    "Zg", "Zg=", "Zg===", "====", "Z===", "=Zg=", "Zm=v", "Zm9v\n", " Zm9v",
    "Zm9v Zg==", "Zm9*", "Zg==Zg==", "Zm9vY",
  };
  struct rd_buffer out RD_BUFFER_SCOPE = { 0 };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    assert_fails (rd_base64_decode (bad[i], strlen (bad[i]), &out),
                  RADIO_ERROR_FORMAT, "base64");
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_vectors_of_rfc_4648_come_out),
    cmocka_unit_test (bytes_of_every_length_and_value_come_back),
    cmocka_unit_test (invalid_base64_is_refused),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
