/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VampirTrace's user API: macros by which a C or C++ program names its regions, counters, markers,
 * messages and comments in the trace, and controls the recording.
 *
 *	cc -DVTRACE ... -lgputrace     the macros are active
 *	cc ...                         they vanish: no call, no symbol, no evaluation of an argument
 *	-DVTRACE_NO_REGION, _CONTROL, _COUNT, _MARKER, _MSG, _COMMENT    that part vanishes
 *
 * Limits: self-contained C99 and C++98 and later. Use the macros; the vt_user_* functions behind
 * them are no interface. A wrong call (unknown id, NULL, wrong type) is ignored and counted; one
 * message tells about the first of its kind. Names and texts are cut at 4,095 bytes. Ids are
 * `unsigned int`, never 0, valid in this process and in the children it forks. The same
 * definition made twice gives the same id. Every macro may be used in a signal handler.
 * Fortran programs include vt_user.inc. Manual page: vt_user(3).
 */
#ifndef VT_USER_H
#define VT_USER_H

/* ---- machinery ---------------------------------------------------------------------------------- */

/* A place's handle of its region: looked up once, then used without a search. */
struct vt_user_site {
	const char *name;
	unsigned int id;
};

#ifdef __GNUC__
#define VT_USER_CALL_ __attribute__((__nothrow__))
#define VT_USER_NOINST_ __attribute__((__no_instrument_function__))
/* 64 bits; C++98 has no name for them. */
typedef int vt_user_signed __attribute__((__mode__(__DI__)));
typedef unsigned int vt_user_unsigned __attribute__((__mode__(__DI__)));
#else
#define VT_USER_CALL_
#define VT_USER_NOINST_
typedef long long vt_user_signed;
typedef unsigned long long vt_user_unsigned;
#endif

/*
 * The address of the site's static memory if the name is a literal, else NULL: the text of a
 * buffer may change from call to call. Define VT_USER_NO_SITES where a function may not have
 * static variables (a C99 `inline` function that is not `static`, an initialiser outside of a
 * function); the region is then looked up by its name, which costs a few nanoseconds.
 */
#if defined(__GNUC__) && !defined(VT_USER_NO_SITES)
#define VT_USER_SITE_(n)                                                                           \
	(__extension__({                                                                           \
		static struct vt_user_site vt_user_site_;                                          \
		__builtin_constant_p(n) ? &vt_user_site_ : (struct vt_user_site *)0;               \
	}))
#else
#define VT_USER_SITE_(n) ((struct vt_user_site *)0)
#endif

/* Arguments vanish unseen, as in VampirTrace: what exists only with VTRACE may be named in them. */
#define VT_USER_VOID_(a) ((void)0)
#define VT_USER_VOID2_(a, b) ((void)0)
#define VT_USER_VOID3_(a, b, c) ((void)0)
#define VT_USER_ZERO_(a) 0u
#define VT_USER_ZERO2_(a, b) 0u
#define VT_USER_ZERO4_(a, b, c, d) 0u

#define VT_USER_JOIN2_(a, b) a##b
#define VT_USER_JOIN_(a, b) VT_USER_JOIN2_(a, b)

#ifdef __cplusplus
extern "C" {
#endif

/* ---- regions ------------------------------------------------------------------------------------ */
/*
 * VT_USER_START(name)            enters the region `name` of group "Application"
 * VT_USER_END(name)              leaves it
 * id = VT_USER_DEF(name, group, file, line)
 *                                defines a region with a group and a place in the source; group
 *                                and file may be NULL, line 0 or -1
 * VT_USER_START2(id)             enters and leaves a region by its id
 * VT_USER_END2(id)
 * VT_TRACER(name or id)          C++: enters here, leaves at the end of the scope, however that
 *                                is left (end, return, break, exception)
 *
 * Names may be literals or made at run time. Regions must nest within a thread; a leave that does
 * not fit closes the regions above it.
 */
#if defined(VTRACE) && !defined(VTRACE_NO_REGION)
unsigned int vt_user_enter(struct vt_user_site *site, const char *name, const char *file,
			   unsigned int line) VT_USER_CALL_;
void vt_user_leave(struct vt_user_site *site, const char *name) VT_USER_CALL_;
unsigned int vt_user_define(const char *name, const char *group, const char *file,
			    int line) VT_USER_CALL_;
void vt_user_enter_id(unsigned int id) VT_USER_CALL_;
void vt_user_leave_id(unsigned int id) VT_USER_CALL_;

#define VT_USER_START(n) ((void)vt_user_enter(VT_USER_SITE_(n), (n), __FILE__, __LINE__))
#define VT_USER_END(n) vt_user_leave(VT_USER_SITE_(n), (n))
#define VT_USER_DEF(n, g, f, l) vt_user_define((n), (g), (f), (l))
#define VT_USER_START2(i) vt_user_enter_id((i))
#define VT_USER_END2(i) vt_user_leave_id((i))
#else
#define VT_USER_START(n) VT_USER_VOID_(n)
#define VT_USER_END(n) VT_USER_VOID_(n)
#define VT_USER_DEF(n, g, f, l) VT_USER_ZERO4_(n, g, f, l)
#define VT_USER_START2(i) VT_USER_VOID_(i)
#define VT_USER_END2(i) VT_USER_VOID_(i)
#endif

/* ---- control ------------------------------------------------------------------------------------ */
/*
 * VT_ON(), VT_OFF()       switch the recording of the calling thread on and off. They do not nest. Call
 *                         them at the same depth of regions (VT_ONOFF_CHECK_STACK_BALANCE warns).
 * VT_IS_ON()              1 if events are recorded, else 0; 1 where this part has vanished
 * VT_BUFFER_FLUSH()       writes what the calling thread has recorded to its file
 * VT_TIMESYNC()           MPI programs on several hosts: compares their clocks now. All processes of
 *                         MPI_COMM_WORLD must call it, each on a thread that may call MPI
 * VT_UPDATE_COUNTER()     reads now what the thread reads at each enter and leave (VT_METRICS, VT_RUSAGE)
 * VT_SET_REWIND_MARK()    remembers this place in the calling thread's events; one mark only
 * VT_REWIND()             removes what the thread has recorded since the mark
 */
#if defined(VTRACE) && !defined(VTRACE_NO_CONTROL)
void vt_user_on(void) VT_USER_CALL_;
void vt_user_off(void) VT_USER_CALL_;
int vt_user_is_on(void) VT_USER_CALL_;
void vt_user_buffer_flush(void) VT_USER_CALL_;
void vt_user_timesync(void) VT_USER_CALL_;
void vt_user_update_counter(void) VT_USER_CALL_;
void vt_user_set_rewind_mark(void) VT_USER_CALL_;
void vt_user_rewind(void) VT_USER_CALL_;

#define VT_ON() vt_user_on()
#define VT_OFF() vt_user_off()
#define VT_IS_ON() vt_user_is_on()
#define VT_BUFFER_FLUSH() vt_user_buffer_flush()
#define VT_TIMESYNC() vt_user_timesync()
#define VT_UPDATE_COUNTER() vt_user_update_counter()
#define VT_SET_REWIND_MARK() vt_user_set_rewind_mark()
#define VT_REWIND() vt_user_rewind()
#else
#define VT_ON() ((void)0)
#define VT_OFF() ((void)0)
#define VT_IS_ON() 1
#define VT_BUFFER_FLUSH() ((void)0)
#define VT_TIMESYNC() ((void)0)
#define VT_UPDATE_COUNTER() ((void)0)
#define VT_SET_REWIND_MARK() ((void)0)
#define VT_REWIND() ((void)0)
#endif

/* ---- counters ----------------------------------------------------------------------------------- */
/*
 * gid = VT_COUNT_GROUP_DEF(name)          a group of counters; VT_COUNT_DEFGROUP needs no definition
 * id = VT_COUNT_DEF(name, unit, type, gid)
 * VT_COUNT_SIGNED_VAL(id, value)          records a value, now and on this thread. The macro must
 *      ..._UNSIGNED_VAL, ..._FLOAT_VAL,   fit the type; FLOAT and DOUBLE go for each other.
 *      ..._DOUBLE_VAL                     Integers have 64 bits.
 */
#define VT_COUNT_TYPE_SIGNED 1
#define VT_COUNT_TYPE_UNSIGNED 2
#define VT_COUNT_TYPE_FLOAT 3
#define VT_COUNT_TYPE_DOUBLE 4
#define VT_COUNT_TYPE_INTEGER 11 /* Fortran's: signed, signed, double */
#define VT_COUNT_TYPE_INTEGER8 12
#define VT_COUNT_TYPE_REAL 13
#define VT_COUNT_DEFGROUP (-1)

#if defined(VTRACE) && !defined(VTRACE_NO_COUNT)
unsigned int vt_user_count_group_def(const char *name) VT_USER_CALL_;
unsigned int vt_user_count_def(const char *name, const char *unit, int type,
			       unsigned int group) VT_USER_CALL_;
void vt_user_count_signed(unsigned int id, vt_user_signed value) VT_USER_CALL_;
void vt_user_count_unsigned(unsigned int id, vt_user_unsigned value) VT_USER_CALL_;
void vt_user_count_double(unsigned int id, double value) VT_USER_CALL_;

#define VT_COUNT_GROUP_DEF(n) vt_user_count_group_def((n))
#define VT_COUNT_DEF(n, u, t, g) vt_user_count_def((n), (u), (t), (g))
#define VT_COUNT_SIGNED_VAL(i, v) vt_user_count_signed((i), (v))
#define VT_COUNT_UNSIGNED_VAL(i, v) vt_user_count_unsigned((i), (v))
#define VT_COUNT_FLOAT_VAL(i, v) vt_user_count_double((i), (v))
#define VT_COUNT_DOUBLE_VAL(i, v) vt_user_count_double((i), (v))
#else
#define VT_COUNT_GROUP_DEF(n) VT_USER_ZERO_(n)
#define VT_COUNT_DEF(n, u, t, g) VT_USER_ZERO4_(n, u, t, g)
#define VT_COUNT_SIGNED_VAL(i, v) VT_USER_VOID2_(i, v)
#define VT_COUNT_UNSIGNED_VAL(i, v) VT_USER_VOID2_(i, v)
#define VT_COUNT_FLOAT_VAL(i, v) VT_USER_VOID2_(i, v)
#define VT_COUNT_DOUBLE_VAL(i, v) VT_USER_VOID2_(i, v)
#endif

/* ---- markers ------------------------------------------------------------------------------------ */
/*
 * id = VT_MARKER_DEF(name, type)    a kind of marker: VT_MARKER_TYPE_ERROR, _WARNING or _HINT
 * VT_MARKER(id, text)               marks this moment on this thread
 */
#define VT_MARKER_TYPE_ERROR 1
#define VT_MARKER_TYPE_WARNING 2
#define VT_MARKER_TYPE_HINT 3

#if defined(VTRACE) && !defined(VTRACE_NO_MARKER)
unsigned int vt_user_marker_def(const char *name, int type) VT_USER_CALL_;
void vt_user_marker(unsigned int id, const char *text) VT_USER_CALL_;

#define VT_MARKER_DEF(n, t) vt_user_marker_def((n), (t))
#define VT_MARKER(i, t) vt_user_marker((i), (t))
#else
#define VT_MARKER_DEF(n, t) VT_USER_ZERO2_(n, t)
#define VT_MARKER(i, t) VT_USER_VOID2_(i, t)
#endif

/* ---- messages ----------------------------------------------------------------------------------- */
/*
 * id = VT_MSG_COMM_DEF(name)            a communicator, the same in all processes that use the
 *                                       name; VT_MSG_DEFCOMM needs no definition
 * VT_MSG_SEND(comm, tag, bytes)         this thread sends a message now
 * VT_MSG_RECV(comm, tag, bytes)         this thread has received it
 *
 * Nothing says who the partner is: a send and a receive with the same communicator and tag belong
 * together, so a tag must be unique within the communicator, over all processes.
 */
#define VT_MSG_DEFCOMM (-1)

#if defined(VTRACE) && !defined(VTRACE_NO_MSG)
unsigned int vt_user_comm_def(const char *name) VT_USER_CALL_;
void vt_user_send(unsigned int comm, unsigned int tag, vt_user_unsigned bytes) VT_USER_CALL_;
void vt_user_recv(unsigned int comm, unsigned int tag, vt_user_unsigned bytes) VT_USER_CALL_;

#define VT_MSG_COMM_DEF(n) vt_user_comm_def((n))
#define VT_MSG_SEND(c, t, s) vt_user_send((c), (t), (s))
#define VT_MSG_RECV(c, t, r) vt_user_recv((c), (t), (r))
#else
#define VT_MSG_COMM_DEF(n) VT_USER_ZERO_(n)
#define VT_MSG_SEND(c, t, s) VT_USER_VOID3_(c, t, s)
#define VT_MSG_RECV(c, t, r) VT_USER_VOID3_(c, t, r)
#endif

#define VT_COMM_WORLD VT_MSG_DEFCOMM
#define VT_COMM_DEF VT_MSG_COMM_DEF
#define VT_SEND VT_MSG_SEND
#define VT_RECV VT_MSG_RECV

/* ---- comments ----------------------------------------------------------------------------------- */
/*
 * VT_COMMENT_DEF(text)    a remark about the whole trace: a property of the process
 * VT_COMMENT(text)        a remark about this moment on this thread
 */
#if defined(VTRACE) && !defined(VTRACE_NO_COMMENT)
void vt_user_comment_def(const char *text) VT_USER_CALL_;
void vt_user_comment(const char *text) VT_USER_CALL_;

#define VT_COMMENT_DEF(c) vt_user_comment_def((c))
#define VT_COMMENT(c) vt_user_comment((c))
#else
#define VT_COMMENT_DEF(c) VT_USER_VOID_(c)
#define VT_COMMENT(c) VT_USER_VOID_(c)
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- C++: a region as long as a scope ------------------------------------------------------------- */

#if defined(__cplusplus) && defined(VTRACE) && !defined(VTRACE_NO_REGION)
class vt_user_tracer
{
      public:
	VT_USER_NOINST_ vt_user_tracer(struct vt_user_site *site, const char *name,
				       const char *file, unsigned int line)
		: id(vt_user_enter(site, name, file, line))
	{
	}
	VT_USER_NOINST_ vt_user_tracer(struct vt_user_site *, unsigned int region, const char *,
				       unsigned int)
		: id(region)
	{
		vt_user_enter_id(id);
	}
	VT_USER_NOINST_ vt_user_tracer(struct vt_user_site *, int region, const char *,
				       unsigned int)
		: id(static_cast<unsigned int>(region))
	{
		vt_user_enter_id(id);
	}
	VT_USER_NOINST_ ~vt_user_tracer() { vt_user_leave_id(id); }

      private:
	const unsigned int id;
	vt_user_tracer(const vt_user_tracer &);
	vt_user_tracer &operator=(const vt_user_tracer &);
};
#define VT_TRACER(n)                                                                               \
	vt_user_tracer VT_USER_JOIN_(vt_user_tracer_, __LINE__)(VT_USER_SITE_(n), (n), __FILE__,   \
								__LINE__);
#elif defined(__cplusplus)
#define VT_TRACER(n) VT_USER_VOID_(n);
#endif

#endif
