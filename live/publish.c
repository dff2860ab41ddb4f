/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Publishing a run (doc/adr/0016): a process of its own follows the traced ones and writes their segments.
 *
 * Limits: one publisher for each host of a run; where `gputrace run` does not run, nobody starts it. If it is
 * killed the view ends, and the next one, or `gputrace top`, removes what it has left.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/run.h"
#include "live/segment.h"

#define NAP_NS    UINT64_C(50000000)  /* so soon `stop` is noticed */
#define ALONE     40                  /* naps without any process until it looks at the interval only */
#define WAIT_MS   200

struct publisher {
	struct gt_live_segment *segments;
	size_t count;
};

static bool is_of(const struct gt_live_segment *segment, const struct gt_image *image)
{
	return segment->name[0] && segment->header->pid == image->header->pid &&
	       segment->header->start_time == image->header->start_time;
}

static struct gt_live_segment *segment_of(struct publisher *publisher, const struct gt_image *image)
{
	struct gt_live_segment *segments, *free_one = NULL;

	for (size_t i = 0; i < publisher->count; i++) {
		if (is_of(&publisher->segments[i], image))
			return &publisher->segments[i];
		if (!publisher->segments[i].name[0])
			free_one = &publisher->segments[i];
	}
	if (!free_one) {
		segments = realloc(publisher->segments, (publisher->count + 1) * sizeof(*segments));
		if (!segments)
			return NULL;
		publisher->segments = segments;
		free_one = &segments[publisher->count++];
	}
	gt_segment_create(free_one, image); /* if that fails it has no name: the next time */
	return free_one->name[0] ? free_one : NULL;
}

static void write_segments(struct publisher *publisher, const struct gt_live_run *run)
{
	const struct gt_image *image;

	for (size_t i = 0; i < publisher->count; i++)
		publisher->segments[i].seen = false;
	for (size_t i = 0; (image = gt_live_run_image(run, i)); i++) {
		struct gt_live_segment *segment = segment_of(publisher, image);

		if (segment)
			segment->seen = !gt_segment_write(segment, image);
	}
	for (size_t i = 0; i < publisher->count; i++)
		if (!publisher->segments[i].seen)
			gt_segment_remove(&publisher->segments[i]);
}

static void nap(uint64_t ns)
{
	const struct timespec ts = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};

	nanosleep(&ts, NULL);
}

/* Sleeps until the next look; less if `stop` becomes true, which is asked again only the first time. */
static void sleep_until_next(uint64_t interval_ns, const volatile int *stop, bool *stopping)
{
	for (uint64_t slept = 0; slept < interval_ns; slept += NAP_NS) {
		if (*stop && !*stopping) {
			*stopping = true;
			return;
		}
		nap(interval_ns - slept < NAP_NS ? interval_ns - slept : NAP_NS);
	}
}

int gt_live_publish(const char *dir, const char *host, uint64_t interval_ns, const volatile int *stop,
		    char *why, size_t size)
{
	struct gt_live_run *run = gt_live_run_open(dir, host, why, size);
	struct publisher publisher = {0};
	bool stopping = false;
	unsigned alone = 0;
	int parent = getppid();
	size_t alive;

	if (!run)
		return 1;
	for (;;) {
		alive = gt_live_run_look(run, interval_ns);
		alone = alive ? 0 : alone + 1;
		write_segments(&publisher, run);
		if (!alive && (stopping || gt_live_run_over(run) || (alone >= ALONE && getppid() != parent)))
			break;
		sleep_until_next(!alive && alone < ALONE ? NAP_NS : interval_ns, stop, &stopping);
	}
	gt_live_run_close(run);
	for (size_t i = 0; i < publisher.count; i++)
		gt_segment_remove(&publisher.segments[i]);
	free(publisher.segments);
	return 0;
}

/* ---- beside `gputrace run` ------------------------------------------------------------------- */

static volatile int stopped;

static void note_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

int gt_live_beside(const char *dir, const char *host, uint64_t interval_ns)
{
	const struct sigaction stop = {.sa_handler = note_stop};
	sigset_t none;
	char why[512];
	int null;

	setsid();
	prctl(PR_SET_NAME, "gputrace-live");
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	sigaction(SIGTERM, &stop, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (chdir("/"))
		return 1;
	setpriority(PRIO_PROCESS, 0, 5); /* the program comes first */
	return gt_live_publish(dir, host, interval_ns, &stopped, why, sizeof(why));
}

void gt_live_dismiss(int pid)
{
	if (pid <= 0 || kill(pid, SIGTERM))
		return;
	for (int ms = 0; ms < WAIT_MS && !waitpid(pid, NULL, WNOHANG); ms += 5)
		nap(UINT64_C(5000000));
}
