/* SPDX-License-Identifier: MIT */
/* Shuffling by vectors, for any instruction set that can take the even and
 * the odd bytes out of two of them, and the highest bits out of one.  Who
 * includes this has defined:
 *
 *   vector               a vector of bytes
 *   TARGET               the attribute of functions that use them
 *   HELPER               static inline functions, those always inlined
 *   even, odd            the even, odd bytes of two vectors
 *   high_bits            of each byte, as an integer's bits, lowest first
 *   shift_bits           each byte by one bit to the left
 *   mask                 the type of what high_bits returns
 *
 * and ends with SHUFFLER (set, supported): the instruction set's name, and
 * whether this machine has it. */

#define WIDTH sizeof (vector)

HELPER vector
load (const unsigned char *from)
{
  vector value;
  memcpy (&value, from, sizeof value);
  return value;
}

HELPER void
store (unsigned char *to, vector value)
{
  memcpy (to, &value, sizeof value);
}

/* Vectors of elements to as many vectors, each of the bytes of one plane. */
HELPER void
take_apart_2 (vector *p)
{
  vector a = even (p[0], p[1]), b = odd (p[0], p[1]);
  p[0] = a;
  p[1] = b;
}

HELPER void
take_apart_4 (vector *p)
{
  take_apart_2 (p);
  take_apart_2 (p + 2);
  vector a = even (p[0], p[2]), b = odd (p[0], p[2]);
  vector c = even (p[1], p[3]), d = odd (p[1], p[3]);
  p[0] = a;
  p[1] = c;
  p[2] = b;
  p[3] = d;
}

HELPER void
take_apart_8 (vector *p)
{
  vector q[8];
  take_apart_4 (p);
  take_apart_4 (p + 4);
  for (size_t k = 0; k < 4; k++) {
    q[k] = even (p[k], p[k + 4]);
    q[k + 4] = odd (p[k], p[k + 4]);
  }
  for (size_t k = 0; k < 8; k++)
    p[k] = q[k];
}

#define DEFINE_BYTES(typesize)                                          \
  static TARGET size_t                                                  \
  shuffle_bytes_##typesize (const unsigned char *from,                  \
                            unsigned char *to, size_t n)                \
  {                                                                     \
    size_t i = 0;                                                       \
    for (; i + WIDTH <= n; i += WIDTH) {                                \
      vector p[typesize];                                               \
      for (size_t k = 0; k < typesize; k++)                             \
        p[k] = load (from + typesize * i + k * WIDTH);                  \
      take_apart_##typesize (p);                                        \
      for (size_t k = 0; k < typesize; k++)                             \
        store (to + k * n + i, p[k]);                                   \
    }                                                                   \
    return i;                                                           \
  }

DEFINE_BYTES (2)
DEFINE_BYTES (4)
DEFINE_BYTES (8)

static TARGET size_t
shuffle_bits (const unsigned char *from, unsigned char *to, size_t n)
{
  size_t i = 0;
  for (; i + WIDTH <= n; i += WIDTH) {
    vector bytes = load (from + i);
    for (size_t k = 8; k-- > 0;) {
      mask bits = high_bits (bytes);
      memcpy (to + k * (n / 8) + i / 8, &bits, sizeof bits);
      bytes = shift_bits (bytes);
    }
  }
  return i;
}

#define SHUFFLER(set, supported)                                        \
  static bool                                                           \
  runs (void)                                                           \
  {                                                                     \
    return supported;                                                   \
  }                                                                     \
                                                                        \
  const struct rd_shuffler rd_shuffle_##set = {                         \
    .name = #set,                                                       \
    .runs = runs,                                                       \
    .bytes = { shuffle_bytes_2, shuffle_bytes_4, shuffle_bytes_8 },     \
    .bits = shuffle_bits,                                               \
  };
