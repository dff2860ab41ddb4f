/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings about GPUs.
 *
 * Limits: as in findings_host.c. Kinds of memory are known of archives by gputrace only.
 */
#include "config.h"

#include "report/model/calls.h"
#include "lib/assemble/util/interpreter.h"
#include "lib/assemble/util/memory.h"
#include "report/findings/findings.h"
#include "report/sections/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t region_count(const struct gt_report *report)
{
	return (uint32_t)report->read->tables[GT_OTF2_REGION].count;
}

/* Advice, in the runtime's terms. */
struct words {
	const char *copy, *pinned, *first, *tiny, *memory;
};

/* The advice for the runtime of the first kernel. */
static const struct words *words_of(const struct gt_report *report)
{
	static const struct words cuda = {
		.copy = "cudaMemcpyAsync with pinned memory, and work meanwhile",
		.pinned = "pinned memory (cudaMallocHost, cudaHostRegister, pin_memory=True)",
		.first = "the first launch of a kernel loads its module: do that before the loop, or set "
			 "CUDA_MODULE_LOADING=EAGER",
		.tiny = "CUDA graphs, or kernels that do more (fusion, torch.compile)",
		.memory = "allocate once before the loop, or cudaMallocAsync and a memory pool",
	}, hip = {
		.copy = "hipMemcpyAsync with pinned memory, and work meanwhile",
		.pinned = "pinned memory (hipHostMalloc, hipHostRegister, pin_memory=True)",
		.first = "the first launch of a kernel loads its code: do that before the loop",
		.tiny = "HIP graphs, or kernels that do more (fusion, torch.compile)",
		.memory = "allocate once before the loop, or hipMallocAsync and a memory pool",
	}, other = {
		.copy = "asynchronous copies with pinned memory, and work meanwhile",
		.pinned = "pinned memory",
		.first = "the first launch of a kernel loads or builds its code: do that before the loop",
		.tiny = "kernels that do more, or several in one submission",
		.memory = "allocate once before the loop, or from a pool",
	};

	for (uint32_t i = 0; i < region_count(report); i++)
		if (report->classes.regions[i] == GT_CLASS_KERNEL)
			switch (gt_otf2_region_at(report->read, i)->paradigm) {
			case OTF2_PARADIGM_CUDA:
				return &cuda;
			case OTF2_PARADIGM_HIP:
				return &hip;
			default:
				return &other;
			}
	return &other;
}

/* ---- copies -------------------------------------------------------------------------------------- */

static void blocking_copies(struct gt_report *report)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint64_t time = 0, calls = 0;
	uint32_t top = region_count(report);

	for (uint32_t i = 0; i < region_count(report); i++) {
		const struct gt_profile_region *region = &profile->regions[i];

		if (report->classes.regions[i] != GT_CLASS_GPU_COPY || !region->calls ||
		    gt_call_async(gt_report_region_name(report, i)))
			continue;
		time += region->inclusive / region->locations;
		calls += region->calls;
		if (top == region_count(report) || region->inclusive > profile->regions[top].inclusive)
			top = i;
	}
	if (calls < GT_SOME_COPIES ||
	    !gt_at_least(time, gt_threshold(GT_FINDING_BLOCKING_COPY), report->duration))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){ .id = GT_FINDING_BLOCKING_COPY, .gain = time,
					 .region = 1 + top, .time = GT_NO_COUNT,
					 .advice = words_of(report)->copy },
		   "The host stands still for %s in copies and sets: %s calls, of which the longest takes %s",
		   gt_said(report, time, GT_SECONDS), gt_said(report, calls, GT_COUNT),
		   gt_said(report, profile->regions[top].most, GT_SECONDS));
}

static void pageable_copies(struct gt_report *report, struct gt_gpu *gpu)
{
	uint64_t time = 0, calls = 0, bytes = 0;
	const struct gt_sum *longest = NULL;

	for (uint32_t i = 0; i < gpu->async_calls.count; i++) {
		const struct gt_sum *call = &gpu->async_calls.items[i];
		uint32_t process = report->classes.locations[call->key[0]].process;
		const struct gt_sum *copy = gt_sums_at(&gpu->pageable, process, call->key[1], 0, 0);

		if (!copy->count)
			continue;
		calls++;
		time += call->ns;
		bytes += copy->bytes;
		if (!longest || call->most > longest->most)
			longest = call;
	}
	if (!longest || !gt_at_least(time, gt_threshold(GT_FINDING_PAGEABLE_COPY), report->duration))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_PAGEABLE_COPY,
			   .gain = time,
			   .location = gt_report_location(report, longest->key[0]),
			   .where = gt_source_of(report, (uint32_t)longest->key[2]),
			   .time = longest->key[3],
			   .length = longest->most,
			   .advice = words_of(report)->pinned },
		   "%s asynchronous copies (%s) block the host for %s, because their memory is pageable",
		   gt_said(report, calls, GT_COUNT), gt_said(report, bytes, GT_BYTES),
		   gt_said(report, time, GT_SECONDS));
}

/* "but never at the same time", or for how long they do, which is little. */
static const char *how_common(struct gt_report *report, uint64_t common)
{
	return common ? gt_figures_text(&report->figures, "of which only %s are at the same time",
					gt_said(report, common, GT_SECONDS))
		      : "but never at the same time";
}

static void no_overlap(struct gt_report *report, const struct gt_device *device, const char *name)
{
	uint64_t common = gt_spans_common(&device->kernels, &device->copies);
	uint64_t less = device->kernels.total < device->copies.total ? device->kernels.total
								      : device->copies.total;
	struct gt_span_at longest;

	if (device->kernel_count < GT_SOME_COPIES || device->copies.count < GT_SOME_COPIES ||
	    gt_at_least(common, gt_threshold(GT_FINDING_NO_OVERLAP), less) ||
	    !gt_spans_longest(device->copies.total == less ? &device->copies : &device->kernels, &longest))
		return;
	gt_finding_add(
		report,
		&(struct gt_finding){
			.id = GT_FINDING_NO_OVERLAP,
			.gain = less,
			.location = name,
			.time = longest.begin,
			.length = longest.end - longest.begin,
			.advice =
				"copy the next part on a second stream while the kernel works on this one" },
		"On %s kernels run for %s and copies for %s, %s", name,
		gt_said(report, device->kernels.total, GT_SECONDS),
		gt_said(report, device->copies.total, GT_SECONDS), how_common(report, common));
}

/* ---- kernels ------------------------------------------------------------------------------------- */

/* Gaps from this length on are long: the host does something else meanwhile. */
static uint64_t long_gap(struct gt_report *report)
{
	return gt_long_gap(report->duration, gt_threshold(GT_FINDING_GPU_GAPS),
			   gt_class_calls(report, GT_CLASS_GPU_LAUNCH),
			   gt_class_time(report, GT_CLASS_GPU_LAUNCH));
}

static bool on_device(struct gt_report *report, uint32_t device, const char *location)
{
	for (size_t i = 0; i < report->read->tables[GT_OTF2_LOCATION].count; i++)
		if (report->classes.locations[i].device == device &&
		    !strcmp(gt_report_location(report, i), location))
			return true;
	return false;
}

static bool is_idle_wait(const char *class)
{
	return !strcmp(class, "device starves") || !strcmp(class, "launch-bound");
}

#define UNSEEN "(no region)"

/*
 * What the host did for most of the longest gap of a device, as the waits say: that is the wait which is as
 * long. UNSEEN: nothing recorded. NULL: it is not known who ended the gap, or others had a part in it.
 */
static const char *host_meanwhile(struct gt_report *report, uint32_t device, uint64_t gap)
{
	const struct gt_section *waits = gt_section_find(&report->figures, "waits");
	const union gt_cell *found = NULL;

	for (size_t i = 0; waits && i < waits->rows; i++) {
		const union gt_cell *row = waits->cells + i * waits->kind->column_count;

		if (is_idle_wait(row[0].text) && row[3].count > gap / 2 &&
		    (!found || row[3].count > found[3].count) && on_device(report, device, row[4].text))
			found = row;
	}
	if (!found || !found[7].text)
		return NULL;
	return found[8].text ? found[8].text : UNSEEN;
}

/* How to see what no region covers, in an archive by gputrace. */
static const char *see_more(struct gt_report *report)
{
	const char *setting = NULL;

	for (uint32_t i = 0; i < report->classes.process_count && !setting; i++)
		setting = gt_interpreter_setting(report->classes.processes[i].group->name);
	if (isnan(gt_report_property(report, "GPUTRACE::PROCESSORS")))
		setting = "more of the program, which the archive does not have";
	return gt_figures_text(&report->figures, "%s: nothing that was recorded says what the host does then",
			       setting ? setting : "recording the program's functions (gputrace-cc)");
}

/* A launch that takes most of the longest gap: the first one of a kernel loads its module. */
static const char *slow_launch(struct gt_report *report, const struct gt_gaps *gaps)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);

	for (uint32_t i = 0; i < region_count(report); i++) {
		const struct gt_profile_region *of = &profile->regions[i];

		if (report->classes.regions[i] == GT_CLASS_GPU_LAUNCH && of->calls &&
		    2 * of->most > gaps->longest && of->most_begin < gaps->when + gaps->longest &&
		    of->most_begin + of->most > gaps->when)
			return gt_source_of(report, i);
	}
	return NULL;
}

/* Threads that launch of processes with streams on a device, by location. */
static bool *launching(const struct gt_report *report, uint32_t device)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	const struct gt_location_class *locations = report->classes.locations;
	size_t count = report->read->tables[GT_OTF2_LOCATION].count;
	bool *uses = gt_zeroed((size_t)report->classes.process_count + 1, sizeof(*uses));
	bool *launch = gt_zeroed(count + 1, sizeof(*launch));

	for (size_t i = 0; i < count; i++)
		if (locations[i].device == device && locations[i].process < report->classes.process_count)
			uses[locations[i].process] = true;
	for (size_t i = 0; i < count; i++)
		launch[i] = profile->locations[i].class_calls[GT_CLASS_GPU_LAUNCH] &&
			    locations[i].process < report->classes.process_count &&
			    uses[locations[i].process];
	free(uses);
	return launch;
}

/* The functions of launching threads in the gaps of a device; "" if there are too few samples. */
static const char *sampled_meanwhile(struct gt_report *report, uint32_t device, const struct gt_spans *gaps,
				     struct gt_meanwhile *found)
{
	bool *launch, some;

	*found = (struct gt_meanwhile){ .samples = 0 };
	if (!gt_samples_of(report))
		return "";
	launch = launching(report, device);
	some = gt_samples_meanwhile(report, launch, gaps, found);
	free(launch);
	return some ? gt_figures_text(&report->figures, "; in them the host has %s",
				      gt_meanwhile_said(report, found)) : "";
}

static void gpu_gaps(struct gt_report *report, const struct gt_gpu *gpu, uint32_t index, const char *name)
{
	struct gt_spans when = { 0 };
	struct gt_meanwhile sampled;
	struct gt_gaps gaps = gt_device_gaps(&gpu->devices[index], long_gap(report), &when);
	const char *launch = slow_launch(report, &gaps);
	const char *meanwhile = host_meanwhile(report, index, gaps.longest);
	const char *said = sampled_meanwhile(report, index, &when, &sampled);
	bool unseen = meanwhile && !strcmp(meanwhile, UNSEEN) && !sampled.path;

	gt_spans_free(&when);
	if (!gaps.count)
		return;
	if (sampled.path && (!meanwhile || !strcmp(meanwhile, UNSEEN)))
		meanwhile = sampled.path;
	gt_finding_add(
		report,
		&(struct gt_finding){
			.id = GT_FINDING_GPU_GAPS,
			.gain = gaps.sum,
			.location = name,
			.where = launch ? launch : meanwhile,
			.time = gaps.when,
			.length = gaps.longest,
			.advice = launch   ? words_of(report)->first
				  : unseen ? see_more(report)
					   : "look what the host does then (waits: device starves), and "
					   "launch before it does that" },
		"%s is idle in %s long %s, together %s; the longest takes %s%s", name,
		gt_said(report, gaps.count, GT_COUNT), gaps.count == 1 ? "gap" : "gaps",
		gt_said(report, gaps.sum, GT_SECONDS), gt_said(report, gaps.longest, GT_SECONDS), said);
}

static void tiny_kernels(struct gt_report *report, const struct gt_gpu *gpu)
{
	struct gt_sum all = {0};
	uint64_t idle = 0, most = 0;
	uint32_t top = region_count(report);

	for (uint32_t i = 0; i < gpu->kernels.count; i++) {
		const struct gt_sum *kernel = &gpu->kernels.items[i];

		if ((double)kernel->ns >=
		    1000 * gt_threshold(GT_FINDING_TINY_KERNELS) * (double)kernel->count)
			continue;
		all.count += kernel->count;
		all.ns += kernel->ns;
		if (kernel->count > most) {
			most = kernel->count;
			top = (uint32_t)kernel->key[0];
		}
	}
	for (uint32_t i = 0; i < gpu->device_count; i++)
		idle += gt_device_idle(&gpu->devices[i]) -
			gt_device_gaps(&gpu->devices[i], long_gap(report), NULL).sum;
	if (all.count < GT_MANY_KERNELS || !gt_at_least(idle, GT_MUCH_GAP, all.ns + idle))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_TINY_KERNELS,
			   .gain = idle / gpu->device_count,
			   .region = 1 + top,
			   .time = GT_NO_COUNT,
			   .advice = words_of(report)->tiny },
		   "%s kernels take %s on average, and %s idle for %s in short gaps",
		   gt_said(report, all.count, GT_COUNT), gt_said(report, all.ns / all.count, GT_SECONDS),
		   gpu->device_count > 1 ? "GPUs are" : "the GPU is", gt_said(report, idle, GT_SECONDS));
}

static void sync_each(struct gt_report *report, const struct gt_gpu *gpu)
{
	uint64_t launches = gt_class_calls(report, GT_CLASS_GPU_LAUNCH);
	uint64_t waits = gt_class_calls(report, GT_CLASS_GPU_WAIT);
	uint64_t time = gt_class_time(report, GT_CLASS_GPU_WAIT), idle = 0;

	for (uint32_t i = 0; i < gpu->device_count; i++)
		idle += gt_device_idle(&gpu->devices[i]);
	if (launches < GT_MANY_LAUNCHES || !gt_at_least(waits, gt_threshold(GT_FINDING_SYNC_EACH), launches))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_SYNC_EACH,
			   .gain = idle < time ? idle : time,
			   .region = 1 + gt_class_top(report, GT_CLASS_GPU_WAIT),
			   .time = GT_NO_COUNT,
			   .advice = "launch ahead, and wait once where the host needs the result" },
		   "The host waits %s times for %s launches: %s in waits, while GPUs are idle for %s between "
		   "kernels",
		   gt_said(report, waits, GT_COUNT), gt_said(report, launches, GT_COUNT),
		   gt_said(report, time, GT_SECONDS), gt_said(report, idle, GT_SECONDS));
}

/* The first call of a process also makes the GPU's context, which would be made by another one without it. */
static uint64_t repeated(const struct gt_report *report, enum gt_class class)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint64_t time = 0;

	for (uint32_t i = 0; i < region_count(report); i++) {
		const struct gt_profile_region *region = &profile->regions[i];
		uint64_t first = region->most * region->locations;

		if (report->classes.regions[i] == class && region->exclusive > first)
			time += (region->exclusive - first) / region->locations;
	}
	return time;
}

static void gpu_memory(struct gt_report *report)
{
	uint64_t calls = gt_class_calls(report, GT_CLASS_GPU_MEMORY);
	uint64_t time = repeated(report, GT_CLASS_GPU_MEMORY);

	if ((double)calls < gt_threshold(GT_FINDING_GPU_MEMORY))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){
			   .id = GT_FINDING_GPU_MEMORY,
			   .gain = time,
			   .region = 1 + gt_class_top(report, GT_CLASS_GPU_MEMORY),
			   .time = GT_NO_COUNT,
			   .advice = words_of(report)->memory },
		   "%s calls allocate or free memory of GPUs and take %s, the longest ones left out",
		   gt_said(report, calls, GT_COUNT), gt_said(report, time, GT_SECONDS));
}

/* Time of kernels of few blocks. */
static uint64_t small_time(const struct gt_gpu *gpu, uint64_t *all)
{
	uint64_t small = 0;

	*all = 0;
	for (uint32_t i = 0; i < gpu->kernels.count; i++) {
		const struct gt_sum *kernel = &gpu->kernels.items[i];

		*all += kernel->ns;
		if (kernel->key[1] && (double)kernel->key[1] < gt_threshold(GT_FINDING_ONE_STREAM))
			small += kernel->ns;
	}
	return small;
}

static void one_stream(struct gt_report *report, const struct gt_gpu *gpu)
{
	uint64_t all, small = small_time(gpu, &all);
	const struct gt_device *most = gpu->devices;
	bool several = false;

	for (uint32_t i = 0; i < gpu->device_count; i++) {
		several |= gt_device_several(&gpu->devices[i]);
		if (gpu->devices[i].busiest > most->busiest)
			most = &gpu->devices[i];
	}
	if (several || gt_class_calls(report, GT_CLASS_KERNEL) < GT_MANY_LAUNCHES ||
	    !gt_at_least(small, GT_MOST_SMALL, all))
		return;
	gt_finding_add(report,
		   &(struct gt_finding){ .id = GT_FINDING_ONE_STREAM,
					 .gain = small / gpu->device_count / 2,
					 .location = gt_report_location(report, most->busiest_location),
					 .time = most->busiest_begin,
					 .length = most->busiest_end - most->busiest_begin,
					 .advice = "independent kernels on several streams, or in a graph" },
		   "Kernels of less than %.0f blocks run one after another on one stream for %s; two at a "
		   "time would fit",
		   gt_threshold(GT_FINDING_ONE_STREAM), gt_said(report, small, GT_SECONDS));
}

/* The longest time in which only this device ran kernels. */
static struct gt_span_at longest_alone(const struct gt_gpu *gpu, uint32_t device)
{
	struct gt_spans others = {0}, alone;
	struct gt_span_at longest;

	for (uint32_t i = 0; i < gpu->device_count; i++)
		if (i != device)
			gt_spans_merge(&others, &gpu->devices[i].kernels);
	alone = gt_spans_without(&gpu->devices[device].kernels, &others);
	if (!gt_spans_longest(&alone, &longest))
		longest.begin = GT_NO_COUNT;
	gt_spans_free(&others);
	gt_spans_free(&alone);
	return longest;
}

/* When GPUs run kernels. */
struct gpu_turns {
	uint64_t devices, sum, any, most; /* ns of all, ns in which any does, ns of the one with most */
	uint32_t last;                    /* that one */
	bool failed;
};

static struct gpu_turns find_gpu_turns(const struct gt_gpu *gpu)
{
	struct gpu_turns found = { .devices = 0 };
	struct gt_spans all = {0};

	for (uint32_t i = 0; i < gpu->device_count; i++) {
		const struct gt_spans *kernels = &gpu->devices[i].kernels;

		gt_spans_merge(&all, kernels);
		found.sum += kernels->total;
		found.devices += kernels->total != 0;
		if (kernels->total <= found.most)
			continue;
		found.most = kernels->total;
		found.last = i;
	}
	found.any = all.total;
	found.failed = all.failed;
	gt_spans_free(&all);
	return found;
}

/* GPUs that run kernels one after another. To balance these would gain nothing. */
static bool gpus_in_turn(struct gt_report *report, const struct gt_gpu *gpu)
{
	struct gpu_turns found = find_gpu_turns(gpu);
	uint64_t gain = found.any - found.most, common = found.sum - found.any;
	struct gt_span_at longest;

	if (found.devices < 2 || found.failed ||
	    gt_at_least(common, gt_threshold(GT_FINDING_GPUS_IN_TURN), found.sum - found.most) ||
	    !gt_at_least(gain, gt_threshold(GT_FINDING_MINIMUM), report->duration) ||
	    !gt_spans_longest(&gpu->devices[found.last].kernels, &longest))
		return false;
	gt_finding_add(report,
		   &(struct gt_finding){ .id = GT_FINDING_GPUS_IN_TURN, .gain = gain,
					 .location = report->classes.devices[found.last].name,
					 .time = longest.begin, .length = longest.end - longest.begin,
					 .advice = "launch on the next GPU before the host waits for this "
						   "one, or let a thread or rank for each GPU do so" },
		   "%s GPUs run kernels for %s in all, %s", gt_said(report, found.devices, GT_COUNT),
		   gt_said(report, found.sum, GT_SECONDS), how_common(report, common));
	return true;
}

static void unbalanced(struct gt_report *report, const struct gt_gpu *gpu)
{
	struct gt_span_at alone;
	uint64_t sum = 0, most = 0, mean;
	uint32_t last = 0;

	for (uint32_t i = 0; i < gpu->device_count; i++) {
		sum += gpu->devices[i].kernels.total;
		if (gpu->devices[i].kernels.total <= most)
			continue;
		most = gpu->devices[i].kernels.total;
		last = i;
	}
	mean = sum / gpu->device_count;
	if (gpu->device_count < 2 || !most ||
	    gt_at_least(mean, gt_threshold(GT_FINDING_UNBALANCED_GPUS), most))
		return;
	alone = longest_alone(gpu, last);
	gt_finding_add(report,
		   &(struct gt_finding){ .id = GT_FINDING_UNBALANCED_GPUS, .gain = most - mean,
					 .location = report->classes.devices[last].name, .time = alone.begin,
					 .length = alone.begin == GT_NO_COUNT ? 0 : alone.end - alone.begin,
					 .advice = "divide the work so that all GPUs have the same" },
		   "%s runs kernels for %s, the GPUs on average for %s", report->classes.devices[last].name,
		   gt_said(report, most, GT_SECONDS), gt_said(report, mean, GT_SECONDS));
}

void gt_findings_gpu(struct gt_report *report)
{
	struct gt_gpu *gpu = gt_report_result(report, &gt_gpu_analysis);

	if (!gpu || !gpu->device_count)
		return;
	for (uint32_t i = 0; i < gpu->device_count; i++) {
		const char *name = report->classes.devices[i].name;

		no_overlap(report, &gpu->devices[i], name);
		gpu_gaps(report, gpu, i, name);
	}
	tiny_kernels(report, gpu);
	blocking_copies(report);
	pageable_copies(report, gpu);
	sync_each(report, gpu);
	gpu_memory(report);
	one_stream(report, gpu);
	if (!gpus_in_turn(report, gpu))
		unbalanced(report, gpu);
}
