/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two fibres that run the same functions, called by brief() and lengthy(), with Boost.Context (FIBERS: with
 * Boost.Fiber). It prints for how long each fibre ran, in ns. PLUGIN: a library, for a program that has no
 * Boost. An argument: a fibre that goes on in another thread.
 *
 * Limits: times are those of its own clock, which is read outside of the functions.
 */
#ifdef FIBERS
#include <boost/fiber/all.hpp>
#else
#include <boost/context/fiber.hpp>
#endif
#include <stdio.h>
#include <time.h>
#include <thread>
#include <unistd.h>

#define CALLED extern "C" __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
#define ROUNDS 5

#ifdef FIBERS
struct place {
};
UNSEEN static void yield(place &)
{
	boost::this_fiber::yield();
}
#else
typedef boost::context::fiber place;
UNSEEN static void yield(place &back)
{
	back = std::move(back).resume();
}
#endif

CALLED void inner(place &back, unsigned us)
{
	usleep(us);
	yield(back);
	usleep(us);
	__asm__ volatile("");
}

CALLED void outer(place &back, unsigned us)
{
	for (int i = 0; i < ROUNDS; i++)
		inner(back, us);
}

CALLED void brief(place &back)
{
	outer(back, 1000);
	__asm__ volatile("");
}

CALLED void lengthy(place &back)
{
	outer(back, 10000);
	__asm__ volatile("");
}

CALLED void never(place &back)
{
	yield(back);
	__asm__ volatile("");
}

#ifdef FIBERS
CALLED void play(void)
{
	place none;
	boost::fibers::fiber one([&none] { brief(none); }), two([&none] { lengthy(none); });

	one.join();
	two.join();
}

CALLED void move(void)
{
}
#else
UNSEEN static place make(void (*function)(place &))
{
	return place([function](place &&back) {
		function(back);
		return std::move(back);
	});
}

UNSEEN static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* How long it ran; 0: it has ended. */
UNSEEN static long go_on(place &fibre)
{
	long begin = now();

	if (!fibre)
		return 0;
	fibre = std::move(fibre).resume();
	return now() - begin;
}

CALLED void play(void)
{
	place one = make(brief), two = make(lengthy);
	long times[2] = { 0, 0 };

	while (one || two) {
		times[0] += go_on(one);
		times[1] += go_on(two);
	}
	for (int i = 0; i < 1000; i++) { /* one that is destroyed where it waits */
		place left = make(never);

		go_on(left);
	}
	printf("%ld %ld\n", times[0], times[1]);
	fflush(stdout);
}

CALLED void move(void)
{
	place fibre = make(brief);

	go_on(fibre);
	std::thread([&fibre] { while (fibre) go_on(fibre); }).join();
}
#endif

#ifndef PLUGIN
int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1)
		play();
	else
		move();
	return 0;
}
#endif
