/* SPDX-License-Identifier: MIT */
/* Hostile .npy files: all elements that a header claims are in the file, and
 * the reason is given where it is refused. */
#include <config.h>

#include "tests/fuzz/fuzz.h"
#include "tools/npy.h"

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t nbytes)
{
  struct rd_npy npy;
  if (!rd_npy_parse (data, nbytes, &npy)) {
    FUZZ_CHECK (npy.error[0] != '\0');
    return 0;
  }
  FUZZ_CHECK (npy.rank >= 2 && npy.rank <= RD_NPY_MAX_RANK);
  FUZZ_CHECK (npy.item_nbytes == radio_dtype_nbytes (npy.dtype));
  FUZZ_CHECK (npy.start_nbytes <= nbytes);
  uint64_t left = (nbytes - npy.start_nbytes) / npy.item_nbytes;
  for (size_t i = 0; i < npy.rank; i++) {
    FUZZ_CHECK (npy.shape[i] > 0 && npy.shape[i] <= left);
    left /= npy.shape[i];
  }
  return 0;
}

/* Headers that are right or not, in version 1 and in version 2. */
size_t
rd_fuzz_seed (unsigned i, unsigned char *out, size_t room)
{
  static const char *const headers[] = {
    "{'descr': '<i2', 'fortran_order': False, 'shape': (3, 4), }",
    "{'shape': (2L, 3, 4,), \"descr\": '>c16', 'fortran_order': True}",
    "{'descr': '|O', 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': [('R', '|u1')], 'fortran_order': False, 'shape': (3, 4), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4), }",
    "{'descr':'<f8','fortran_order':False,'shape':(9999999999999999999,9)}",
    "{'descr': '|u1', 'fortran_order': False, 'shape': (5, 4, 3, 2, 1), }\n",
  };
  const size_t n = sizeof headers / sizeof headers[0];
  if (i >= 2 * n)
    return 0;
  const char *header = headers[i % n];
  size_t length = strlen (header), start = i < n ? 10 : 12;
  FUZZ_CHECK (start + length + 400 <= room);
  memset (out, 0, start + length + 400);
  memcpy (out, "\x93NUMPY\1", 7);
  out[6] = i < n ? 1 : 2;
  out[8] = (unsigned char) length;
  memcpy (out + start, header, length);
  return start + length + 400;
}
