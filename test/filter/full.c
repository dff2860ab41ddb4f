/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Has used all of its descriptors before gputrace's constructor runs.
 *
 * Limits: both limits are lowered, so that none can be had above.
 */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function))

__attribute__((noinline)) void leaf(void)
{
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void top(void)
{
	leaf();
}

UNSEEN static void use_all(void)
{
	const struct rlimit limit = { 64, 64 };

	setrlimit(RLIMIT_NOFILE, &limit);
	while (open("/dev/null", O_RDONLY) >= 0)
		;
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = use_all;

UNSEEN int main(void)
{
	int i;

	for (i = 0; i < 5; i++)
		top();
	return 0;
}
