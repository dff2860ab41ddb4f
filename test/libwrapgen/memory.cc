// SPDX-License-Identifier: BSD-3-Clause
// Allocates in every way and prints how many bytes it holds at its most: "held N".
// Limits: what libraries hold besides is less than 300 kB.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>
#include <thread>
#include <vector>

int main()
{
	size_t held;
	void *a = malloc(1 << 20), *b = calloc(1000, 1000), *c = nullptr, *d = aligned_alloc(64, 6400000);

	if (posix_memalign(&c, 4096, 819200) || !a || !b || !d)
		return 1;
	a = realloc(a, 2 << 20);
	char *n = new char[3000000];
	std::vector<std::thread> threads;
	for (int i = 0; i < 4; i++)
		threads.emplace_back([] {
			for (int k = 0; k < 1000; k++) {
				char *volatile p = new char[k + 1];
				delete[] p;
				void *volatile q = malloc(k);
				free(q);
			}
		});
	for (auto &thread : threads)
		thread.join();
	try {
		volatile size_t huge = ~size_t(0) / 2;
		char *p = new char[huge];
		std::printf("%p\n", static_cast<void *>(p));
	} catch (const std::bad_alloc &) {
	}
	held = malloc_usable_size(a) + malloc_usable_size(b) + malloc_usable_size(c) + malloc_usable_size(d) +
	       malloc_usable_size(n);
	std::printf("held %zu\n", held);
	free(a);
	free(b);
	free(c);
	free(d);
	delete[] n;
}
