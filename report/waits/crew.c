/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that wait for the next round of work.
 *
 * Limits: see crew.h.
 */
#include "config.h"

#include "report/waits/crew.h"

#include "lib/assemble/util/memory.h"
#include "report/model/sums.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 16 };

struct gt_crew {
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	uint64_t round;   /* 1 is the first */
	unsigned working; /* members of this round that have not done their part */
	bool over;
	gt_crew_work work;
	void *user;
	unsigned size;
	struct member {
		struct gt_crew *crew;
		unsigned number;
		pthread_t thread;
	} members[MOST];
};

/* False: there will be no other round. */
static bool next_round(struct gt_crew *crew, uint64_t round)
{
	bool over;

	pthread_mutex_lock(&crew->lock);
	while (crew->round == round && !crew->over)
		pthread_cond_wait(&crew->begun, &crew->lock);
	over = crew->over;
	pthread_mutex_unlock(&crew->lock);
	return !over;
}

static void *serve(void *argument)
{
	struct member *member = argument;
	struct gt_crew *crew = member->crew;

	for (uint64_t round = 0; next_round(crew, round); round++) {
		crew->work(crew->user, member->number);
		pthread_mutex_lock(&crew->lock);
		if (!--crew->working)
			pthread_cond_signal(&crew->done);
		pthread_mutex_unlock(&crew->lock);
	}
	return NULL;
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

unsigned gt_crew_threads(unsigned threads)
{
	unsigned count = threads ? threads : processors();

	return count < MOST ? count : MOST;
}

struct gt_crew *gt_crew_new(unsigned threads)
{
	struct gt_crew *crew = gt_zeroed(1, sizeof(*crew));

	threads = gt_crew_threads(threads);
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->begun, NULL);
	pthread_cond_init(&crew->done, NULL);
	for (crew->size = 1; crew->size < threads; crew->size++) {
		struct member *member = &crew->members[crew->size];

		member->crew = crew;
		member->number = crew->size;
		if (pthread_create(&member->thread, NULL, serve, member))
			break;
	}
	return crew;
}

void gt_crew_free(struct gt_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
	crew->over = true;
	pthread_cond_broadcast(&crew->begun);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned i = 1; i < crew->size; i++)
		pthread_join(crew->members[i].thread, NULL);
	pthread_mutex_destroy(&crew->lock);
	pthread_cond_destroy(&crew->begun);
	pthread_cond_destroy(&crew->done);
	free(crew);
}

unsigned gt_crew_size(const struct gt_crew *crew)
{
	return crew->size;
}

void gt_crew_run(struct gt_crew *crew, gt_crew_work work, void *user)
{
	pthread_mutex_lock(&crew->lock);
	crew->work = work;
	crew->user = user;
	crew->working = crew->size - 1;
	crew->round++;
	pthread_cond_broadcast(&crew->begun);
	pthread_mutex_unlock(&crew->lock);
	work(user, 0);
	pthread_mutex_lock(&crew->lock);
	while (crew->working)
		pthread_cond_wait(&crew->done, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}
