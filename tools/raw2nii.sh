#!/bin/sh
# SPDX-License-Identifier: MIT
# Put a NIfTI-1 header before a matrix of voxels on stdin, little-endian, x
# fastest; the image goes to stdout.
#
#   raw2nii.sh X,Y,Z SPACING_X,SPACING_Y,SPACING_Z LETTERS TEXT \
#     [int16|labels [BORDER]] <RAW >NII
#
# LETTERS says where x, y and z rise to, as LAS; these three lie along the
# axes of space in this order.  Labels are uint8.  The origin is the middle of
# the matrix without its first BORDER (0) planes, rows and columns.
set -eu
LC_ALL=C
export LC_ALL

# The header as octal escapes, since awk cannot print every byte.
header=$(awk -v shape="$1" -v spacing="$2" -v letters="$3" -v text="$4" \
  -v type="${5:-int16}" -v border="${6:-0}" '
  function put (at, n, value,    i) {
    for (i = 0; i < n; i++) {
      byte[at + i] = value % 256
      value = int (value / 256)
    }
  }
  # A float32: sign, exponent + 127, and 23 bits after the leading one.
  function put_float (at, value,    sign, e, bits) {
    if (value == 0)
      return
    sign = value < 0
    if (sign)
      value = -value
    for (e = 127; value >= 2; e++)
      value /= 2
    for (; value < 1; e--)
      value *= 2
    bits = int ((value - 1) * 8388608 + 0.5)
    put(at, 4, sign * 2147483648 + e * 8388608 + bits)
  }
  function put_text (at, most, string,    i) {
    for (i = 1; i <= length (string) && i < most; i++)
      byte[at + i - 1] = index (ascii, substr (string, i, 1)) + 31
  }
  BEGIN {
    for (i = 32; i < 127; i++)
      ascii = ascii sprintf ("%c", i)
    split (shape, n, ",")
    split (spacing, mm, ",")
    put(0, 4, 348)                                # sizeof_hdr
    put(40, 2, 3)                                 # dim
    for (i = 1; i <= 7; i++)
      put(40 + 2 * i, 2, i <= 3 ? n[i] : 1)
    labels = type == "labels"
    put(68, 2, labels ? 1002 : 0)                 # intent_code
    put(70, 2, labels ? 2 : 4)                    # datatype: uint8, int16
    put(72, 2, labels ? 8 : 16)                   # bitpix
    put_float(76, 1)                              # pixdim
    for (i = 1; i <= 3; i++)
      put_float(76 + 4 * i, mm[i])
    put_float(108, 352)                           # vox_offset
    put_float(112, 1)                             # scl_slope
    put(123, 1, 2)                                # xyzt_units: mm
    put_text(148, 80, text)                       # descrip
    put(254, 2, 1)                                # sform_code: scanner
    for (i = 1; i <= 3; i++) {                    # srow_x, srow_y, srow_z
      step = index ("LPI", substr (letters, i, 1)) ? -mm[i] : mm[i]
      put_float(280 + 16 * (i - 1) + 4 * (i - 1), step)
      put_float(280 + 16 * (i - 1) + 12, -step * (n[i] + border - 1) / 2)
    }
    put_text(344, 4, "n+1")                       # magic
    for (i = 0; i < 352; i++)
      printf "\\%03o", byte[i]
  }')
# shellcheck disable=SC2059 # the header is the format
printf "$header"
exec cat
