/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before every source of the ThreadSanitizer build: the core closes a thread's location one
 * round of destructors earlier, because in the last round ThreadSanitizer has already forgotten it.
 *
 * Limits: glibc's <limits.h>; only test/sanitize/thread.test uses it.
 */
#include <limits.h>
#undef PTHREAD_DESTRUCTOR_ITERATIONS
#define PTHREAD_DESTRUCTOR_ITERATIONS 3
