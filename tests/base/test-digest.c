/* SPDX-License-Identifier: MIT */
/* HMAC-SHA256 by the vectors of RFC 4231. */
#include <config.h>

#include "tests/unit.h"

#include "src/base/digest.h"
#include "src/base/text.h"

static void
vectors_of_the_rfc_are_reproduced (void **state)
{
  (void) state;
  static const struct {
    const char *key;
    size_t repeat;            /* of its byte; 0: the text */
    const char *text, *expected;
  } rows[] = {
    { "\x0b", 20, "Hi There", "b0344c61d8db38535ca8afceaf0bf12b"
      "881dc200c9833da726e9376c2e32cff7" },
    { "Jefe", 0, "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" },
    { "\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54" },
    { "", 0, "", "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c71214"
      "4292c5ad" },
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    unsigned char key[200], out[RD_SHA256_NBYTES];
    char text[2 * sizeof out + 1];
    size_t n = rows[i].repeat ? rows[i].repeat : strlen (rows[i].key);
    for (size_t k = 0; k < n; k++)
      key[k] = (unsigned char) rows[i].key[rows[i].repeat ? 0 : k];
    assert_true (rd_hmac_sha256 (key, n, rows[i].text, strlen (rows[i].text),
                                 out));
    rd_hex_text (out, sizeof out, text);
    assert_string_equal (text, rows[i].expected);
  }
}

static void
digests_are_fetched_once (void **state)
{
  (void) state;
  const EVP_MD *sha256 = rd_digest_sha256 ();
  assert_non_null (sha256);
  assert_ptr_equal (rd_digest_sha256 (), sha256);
  assert_ptr_not_equal (rd_digest_md5 (), sha256);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (vectors_of_the_rfc_are_reproduced),
    cmocka_unit_test (digests_are_fetched_once),
  };
  return cmocka_run_group_tests (tests, NULL, NULL);
}
