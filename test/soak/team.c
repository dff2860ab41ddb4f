/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP for the player: teams whose threads call instrumented functions.
 *
 * Limits: what OpenMP's own constructs become is test/openmp's matter; here it is who called what.
 */
#include "play.h"

#include <omp.h>

UNSEEN void team(int threads, int rounds)
{
	int sum = 0;

#pragma omp parallel num_threads(threads) reduction(+ : sum)
	{
		self.random = 77 + (uint64_t)omp_get_thread_num();
#pragma omp for schedule(dynamic)
		for (int i = 0; i < rounds; i++) {
			burst(5, 3);
			sum += i;
		}
#pragma omp critical
		burst(3, 2);
#pragma omp single
		for (int i = 0; i < rounds / 4; i++) {
#pragma omp task
			burst(2, 2);
		}
#pragma omp barrier
		burst(1, 0);
	}
	say("team %d\n", sum);
}
