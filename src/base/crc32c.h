/* SPDX-License-Identifier: MIT */
/* CRC-32C of bytes that come piece by piece (the polynomial of RFC 3720). */
#ifndef RD_CRC32C_H
#define RD_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Extends a checksum by nbytes of data; crc is the checksum of the bytes
 * before them, 0 of no bytes. */
uint32_t rd_crc32c (uint32_t crc, const void *data, size_t nbytes);

#endif /* RD_CRC32C_H */
