/* SPDX-License-Identifier: MIT */
/* A stub of NVIDIA's header of the same name, with the declarations that tap.c
 * uses.  The test defines the functions. */
#ifndef RD_TESTS_NVTOOLSEXT_H
#define RD_TESTS_NVTOOLSEXT_H

int nvtxRangePushA (const char *message);
int nvtxRangePop (void);
void nvtxMarkA (const char *message);

#endif /* RD_TESTS_NVTOOLSEXT_H */
