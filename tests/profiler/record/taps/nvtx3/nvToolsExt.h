/* SPDX-License-Identifier: MIT */
/* Stands in for NVIDIA's header of the same name: what tap.c uses of it, as
 * it is declared there.  The test has the functions. */
#ifndef RD_TESTS_NVTOOLSEXT_H
#define RD_TESTS_NVTOOLSEXT_H

int nvtxRangePushA (const char *message);
int nvtxRangePop (void);
void nvtxMarkA (const char *message);

#endif /* RD_TESTS_NVTOOLSEXT_H */
