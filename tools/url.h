/* SPDX-License-Identifier: MIT */
/* Full addresses of volumes and collections ("s3://BUCKET/STORE/ct/a"): which
 * part is the store.  What only reads a volume need not know, and asks for
 * nothing more than its document; what changes or names it must. */
#ifndef RD_URL_H
#define RD_URL_H

#include "tools/options.h"

/* Whether an operand begins with a scheme of stores over a network. */
bool rd_is_url (const char *operand);

/* As rd_split_path, for the address of a node: the documents above it are
 * asked for, one after the other, until there is none.  The path is without
 * percent-encoding.  Returns an exit status, after complaining: also when
 * there is no node. */
int rd_url_split (const struct rd_args *args, const char *operand,
                  char **root, char **path);

/* Complain if a store at that address would lie within another one. */
int rd_url_check_apart (const struct rd_args *args, const char *address);

#endif /* RD_URL_H */
