/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The basis of the adapter; see base.h.
 *
 * Limits: knows nothing of messages and communicators.
 */
#include <link.h>
#include <sched.h>
#include <string.h>
#include <unwind.h>

#include "gputrace/syscall.h"
#include "mpi/base.h"


GT_TLS struct gt_mpi_self gt_mpi_self;
bool gt_mpi_merge;
gt_ref gt_mpi_calls, gt_mpi_error;

static uint32_t define_lock;
static struct gt_mpi_segment variables; /* Open MPI: the library's own data */

/* ---- help ----------------------------------------------------------------------------------- */

void gt_mpi_lock(uint32_t *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		if (!gt_is_confined())
			gt_raw(SYS_sched_yield);
}

void gt_mpi_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE); /* pairs with gt_mpi_lock() */
}

void gt_mpi_lost(uint64_t events)
{
	gt_lost(gt_is_confined() ? GT_LOSS_SANDBOX : GT_LOSS_DEFINITION, events);
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gt_mpi_segment *segment = data;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		struct gt_mpi_segment found = { info->dlpi_addr + p->p_vaddr,
						info->dlpi_addr + p->p_vaddr + p->p_memsz };

		if (p->p_type != PT_LOAD || segment->first < found.first || segment->first >= found.end)
			continue;
		*segment = found;
		return 1;
	}
	return 0;
}

struct gt_mpi_segment gt_mpi_segment_of(const void *address)
{
	struct gt_mpi_segment segment = { (uintptr_t)address, 0 };

	dl_iterate_phdr(look_at_object, &segment);
	return segment;
}

/* ---- calls inside of calls ------------------------------------------------------------------- */

#define INSIDERS 16u

/* Code of the MPI library and of tools behind us, which call MPI inside of our calls only; and ours. */
static struct gt_mpi_segment insiders[INSIDERS], wrappers;

static bool is_insider(const void *code)
{
	for (unsigned i = 0; i < INSIDERS && insiders[i].end; i++)
		if (gt_mpi_within(&insiders[i], code))
			return true;
	return false;
}

static void find_insiders(void)
{
	unsigned n = 0;

	wrappers = gt_mpi_segment_of((const void *)find_insiders);
	for (unsigned i = 0; i < 2 * gt_mpi_functions && n < INSIDERS; i++)
		if (gt_mpi_real[i] && !is_insider(gt_mpi_real[i]))
			insiders[n++] = gt_mpi_segment_of(gt_mpi_real[i]);
}

struct walk {
	uintptr_t frame; /* of the wrapper */
	bool ours;       /* the frame below is a wrapper's */
	bool over, found;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
	uintptr_t bottom = _Unwind_GetCFA(context);
	struct walk *walk = data;

	/* A wrapper's frame pointer lies two words below where its caller's frame ends. */
	walk->found = walk->ours && bottom == walk->frame + 2 * sizeof(void *);
	walk->over = walk->found || bottom > walk->frame + 2 * sizeof(void *);
	walk->ours = gt_mpi_within(&wrappers, (const void *)_Unwind_GetIP(context));
	return walk->over ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/*
 * A frame that is not on the stack any more was left without a return. The compiler's unwinder knows;
 * it need not be asked for calls of the MPI library itself. Where it comes to code that it knows nothing
 * of, the frame is taken to be there.
 */
bool gt_mpi_inside(const void *from)
{
	struct walk walk = { .frame = (uintptr_t)gt_mpi_self.frame };

	if (is_insider(from))
		return true;
	gt_guard();
	_Unwind_Backtrace(step, &walk);
	gt_unguard();
	return walk.found || !walk.over;
}

/*
 * Is this thread inside a recorded call? Asked where a thread waits, so that walking the stack is too dear
 * to be done each time: a frame that was found once is there as long as its return address is.
 */
bool gt_mpi_is_inside(void)
{
	struct gt_mpi_self *self = &gt_mpi_self;
	uintptr_t frame = (uintptr_t)self->frame, leads_to;
	struct gt_mpi_return *known;

	if ((uintptr_t)__builtin_frame_address(0) >= frame)
		return false;
	leads_to = ((const uintptr_t *)frame)[1];
	known = &self->known[(leads_to ^ leads_to >> 5) % GT_MPI_RETURNS];
	if (known->frame == frame && known->leads_to == leads_to)
		return true;
	if (!gt_mpi_inside(NULL))
		return false;
	*known = (struct gt_mpi_return){ frame, leads_to };
	return true;
}

/* ---- regions -------------------------------------------------------------------------------- */

gt_ref gt_mpi_define(unsigned function)
{
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.name = gt_mpi_function[function].name,
		.group = "MPI",
		.role = gt_mpi_function[function].role,
		.paradigm = GT_PARADIGM_MPI,
	};
	gt_ref ref;

	ref = __atomic_load_n(&gt_mpi_region[function], __ATOMIC_RELAXED);
	if (ref == GT_MPI_FILTERED)
		return GT_NONE;
	gt_mpi_lock(&define_lock);
	ref = gt_mpi_region[function];
	if (!ref) {
		ref = gt_def_region(&info);
		if (!ref)
			ref = GT_MPI_FILTERED;
		__atomic_store_n(&gt_mpi_region[function], ref, __ATOMIC_RELAXED);
	}
	gt_mpi_unlock(&define_lock);
	return ref == GT_MPI_FILTERED ? GT_NONE : ref;
}

/* ---- calls that fail ------------------------------------------------------------------------ */

/*
 * May MPI be asked for the class of this code? Open MPI checks that call like any other, and what it
 * does not like is an error on MPI_COMM_WORLD, whose handler may end the program: before MPI_Init and
 * after MPI_Finalize, and of codes that it has not given out (callbacks return what they like).
 */
#if defined(OPEN_MPI)
static bool may_ask(int rc)
{
	int begun = 0, over = 1, known = 0;
	int *last = NULL;

	if (gt_mpi_Initialized()(&begun) != MPI_SUCCESS || !begun ||
	    gt_mpi_Finalized()(&over) != MPI_SUCCESS || over)
		return false;
	if (gt_mpi_Comm_get_attr()(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &known) != MPI_SUCCESS)
		return false;
	return known && rc >= 0 && rc <= *last;
}
#else
static bool may_ask(int rc)
{
	(void)rc;
	return true;
}
#endif

int gt_mpi_class(int rc)
{
	int class = rc;

	return may_ask(rc) && gt_mpi_Error_class()(rc, &class) == MPI_SUCCESS ? class : rc;
}

void gt_mpi_failed(int rc)
{
	gt_attribute(gt_mpi_error, (uint64_t)(uint32_t)gt_mpi_class(rc));
}

/* MPI_T_* return no error codes of MPI, but classes. */
void gt_mpi_failed_in(unsigned function, int rc)
{
	if (strncmp(gt_mpi_function[function].name, "MPI_T_", 6))
		gt_mpi_failed(rc);
	else
		gt_attribute(gt_mpi_error, (uint64_t)(uint32_t)rc);
}

bool gt_mpi_truncated(int rc)
{
	return rc != MPI_SUCCESS && gt_mpi_class(rc) == MPI_ERR_TRUNCATE;
}

/* ---- sizes ---------------------------------------------------------------------------------- */

#if defined(OPEN_MPI)
/* The handles that MPI defines are variables of the library itself. */
static bool never_goes(MPI_Datatype type)
{
	return gt_mpi_within(&variables, type);
}
#else
static bool never_goes(MPI_Datatype type)
{
	return (unsigned)type >> 30 == 1; /* built in */
}
#endif

uint64_t gt_mpi_bytes_of(MPI_Count count, MPI_Datatype type)
{
	MPI_Count size = 0;

	if (!GT_MPI_IS_TYPE(type) || gt_mpi_Type_size_x()(type, &size) != MPI_SUCCESS || size < 0 ||
	    count < 0)
		return 0;
	if (size && never_goes(type)) {
		gt_mpi_self.type_size = 0;
		gt_mpi_self.type_bits = GT_MPI_BITS(type);
		gt_mpi_self.type_size = (uint64_t)size;
	}
	return (uint64_t)count * (uint64_t)size;
}

/* ---- set-up --------------------------------------------------------------------------------- */

void gt_mpi_base_setup(void *(*find)(const char *symbol))
{
	const char *merge = gt_setting("VT_MPI_MERGE_POLLS");

	find_insiders();
	variables = gt_mpi_segment_of(find("ompi_mpi_int"));
	gt_mpi_merge = merge && !strcmp(merge, "yes");
	gt_mpi_calls = gt_def_parameter("calls", GT_VALUE_UINT);
	gt_mpi_error = gt_def_attribute("MPI_ERROR", "Class of the error that the call returned",
					GT_VALUE_UINT);
}
