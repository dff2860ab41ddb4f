// SPDX-License-Identifier: BSD-3-Clause
// C++: std::thread, async, mutexes, condition variables, call_once, exceptions across threads,
// thread_local destructors that lock.
// Limits: uses what C++17 has.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <thread>
#include <vector>

static std::mutex m;
static std::shared_mutex shared;
static std::recursive_mutex recursive;
static std::timed_mutex timed;
static std::condition_variable cv;
static std::atomic<int> destroyed;

struct Guest {
	~Guest()
	{
		std::lock_guard<std::mutex> l(m);
		destroyed++;
	}
};
static thread_local Guest guest;

static void touch(Guest &) {}

int main()
{
	std::vector<int> v(1000);
	std::vector<std::thread> threads;
	std::once_flag once;
	int ones = 0, ready = 0;
	long sum = 0;

	std::iota(v.begin(), v.end(), 0);
	for (int i = 0; i < 8; i++)
		threads.emplace_back([&, i] {
			touch(guest);
			std::call_once(once, [&] { ones++; });
			for (int j = i; j < 1000; j += 8) {
				std::lock_guard<std::mutex> l(m);
				sum += v[(size_t)j];
			}
			std::shared_lock<std::shared_mutex> r(shared);
			std::lock_guard<std::recursive_mutex> a(recursive);
			std::lock_guard<std::recursive_mutex> b(recursive);
			std::unique_lock<std::mutex> l(m);
			ready++;
			cv.notify_all();
		});
	{
		std::unique_lock<std::mutex> l(m);
		cv.wait(l, [&] { return ready == 8; });
		std::printf("waited: %d\n", cv.wait_for(l, std::chrono::milliseconds(5), [] { return false; }));
	}
	for (auto &t : threads)
		t.join();
	std::printf("sum %ld, once %d, destroyed %d\n", sum, ones, destroyed.load());
	std::printf("timed %d\n", timed.try_lock_for(std::chrono::milliseconds(5)));
	auto f = std::async(std::launch::async, []() -> int { throw std::runtime_error("thrown there"); });
	try {
		f.get();
	} catch (const std::exception &e) {
		std::printf("caught: %s\n", e.what());
	}
	auto g = std::async(std::launch::async, [] {
		return timed.try_lock_for(std::chrono::milliseconds(5)) ? 1 : 0;
	});
	std::printf("other %d\n", g.get());
	timed.unlock();
	std::thread([] {}).detach();
	return 0;
}
