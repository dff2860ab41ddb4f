/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of settings, and which names that begin with VT_ are ours, VampirTrace's, or slips of the
 * keyboard.
 *
 * Limits: a new setting leaves VampirTrace's list by itself: settings.def
 * is looked at first.
 */
#include "lib/common/settings_names.h"

#include "lib/common/settings.h"

#include <stddef.h>
#include <string.h>

#define ROW(name, type, field, def, min, max, words, help) \
	{ name, type, def, min, max, words, help, offsetof(struct gt_settings, field) },
#define GT_BOOL(name, field, def, help) ROW(name, GT_SET_BOOL, field, def, 0, 1, "yes|no", help)
#define GT_NUMBER(name, field, def, min, max, help) \
	ROW(name, GT_SET_NUMBER, field, def, min, max, "", help)
#define GT_SIZE(name, field, def, min, max, help) \
	ROW(name, GT_SET_SIZE, field, def, min, max, "", help)
#define GT_ENUM(name, field, def, words, help) \
	ROW(name, GT_SET_ENUM, field, def, 0, 0, words, help)
#define GT_PATH(name, field, def, help) ROW(name, GT_SET_PATH, field, def, 0, 0, "", help)
#define GT_TEXT(name, field, def, help) ROW(name, GT_SET_TEXT, field, def, 0, 0, "", help)
const struct gt_setting_row gt_setting_rows[] = {
#include "registry/settings.def"
};
#undef ROW
#undef GT_BOOL
#undef GT_NUMBER
#undef GT_SIZE
#undef GT_ENUM
#undef GT_PATH
#undef GT_TEXT

const size_t gt_setting_count = sizeof(gt_setting_rows) / sizeof(gt_setting_rows[0]);

/* Variables of the compiler wrappers, and those that parts of gputrace pass to each other. */
static const char internal_names[] = "VT_RUN_DIR VT_RUN_FILTERS VT_LD_PRELOAD VT_INST VT_CC VT_CXX VT_FC "
				     "VT_CFLAGS VT_CXXFLAGS VT_FCFLAGS VT_LDFLAGS VT_LIBS "
				     "VT_CPP VT_CPPFLAGS VT_MPICC VT_MPICXX VT_MPIFC VT_NVCC VT_WRAPPER "
				     "VT_WRAPPER_STARTED ";

static const char vampirtrace_names[] =
	"VT_APPPATH VT_BUFFER_SIZE VT_THREAD_BUFFER_SIZE VT_CLEAN VT_COMPRESSION "
	"VT_COMPRESSION_BSIZE VT_COMPRESSION_BUFFER_SIZE VT_FILE_PREFIX VT_FILE_UNIQUE "
	"VT_MAX_FLUSHES VT_MAX_SNAPSHOTS VT_SNAPSHOTS VT_MAX_THREADS VT_OTF_BUFFER_SIZE "
	"VT_PFORM_GDIR VT_PFORM_LDIR VT_UNIFY VT_VERBOSE VT_CPUIDTRACE VT_ETIMESYNC "
	"VT_ETIMESYNC_INTV VT_GPUTRACE VT_GPUTRACE_KERNEL VT_GPUTRACE_MEMUSAGE VT_GPUTRACE_SYNC "
	"VT_CUDATRACE_BUFFER_SIZE VT_IOLIB_PATHNAME VT_EXECTRACE "
	"VT_MODE VT_STAT_INTV VT_STAT_PROPS VT_STAT_MSG_DTLS "
	"VT_STAT_COLLOP_DTLS VT_MPICHECK VT_MPICHECK_ERREXIT VT_MPITRACE VT_MPI_IGNORE_FILTER "
	"VT_PTHREAD_REUSE VT_SYNC_FLUSH VT_SYNC_FLUSH_LEVEL VT_SYNC_FLUSH_SKIP "
	"VT_STACKTRACE VT_METRICS VT_METRICS_SEP VT_METRICS_SPEC VT_RUSAGE VT_RUSAGE_INTV "
	"VT_PLUGIN_CNTR_METRICS VT_CUPTI_METRICS VT_CUPTI_EVENTS_SAMPLING VT_FILTER_SPEC "
	"VT_GROUPS_SPEC VT_JAVA_FILTER_SPEC VT_JAVA_GROUP_CLASSES VT_JAVA_NATIVE "
	"VT_JAVA_SYNTHETIC VT_MAX_STACK_DEPTH VT_ONOFF_CHECK_STACK_BALANCE VT_GNU_NM "
	"VT_GNU_NMFILE VT_DYN_DETACH VT_DYN_IGNORE_NODBG VT_DYN_INNER_LOOPS VT_DYN_OUTER_LOOPS "
	"VT_DYN_LOOP_ITERS VT_DYN_SHLIBS VT_IOFSL_SERVERS VT_IOFSL_MODE VT_IOFSL_ASYNC_IO "
	"VT_PFORM_GDIR_CHECK VT_PFORM_LDIR_CHECK ";

/* Is the name one of the words of a list? Each word ends with a blank. */
static int listed(const char *list, const char *name, size_t length)
{
	while (*list) {
		size_t word = strcspn(list, " ");

		if (word == length && !memcmp(list, name, length))
			return 1;
		list += word + 1;
	}
	return 0;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * Insertions, deletions, replacements and swaps of neighbours that turn a into b (optimal string
 * alignment). Both are at most GT_SETTING_NAME_MAX long.
 */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned rows[3][GT_SETTING_NAME_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned *free_row = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = last[j - 1] + (a[i - 1] != b[j - 1]);
			row[j] = least(row[j], least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		before = last;
		last = row;
		row = free_row;
	}
	return last[b_length];
}

/* The setting that resembles the name most, or NULL: about one slip in five characters. */
static const char *nearest(const char *name, size_t length)
{
	unsigned best = length <= 8 ? 2 : length <= 16 ? 3 : 4;
	const char *found = NULL;

	for (size_t i = 0; i < gt_setting_count; i++) {
		const char *known = gt_setting_rows[i].name;
		size_t known_length = strlen(known);
		unsigned d;

		if (known_length > GT_SETTING_NAME_MAX)
			continue;
		d = distance(name, length, known, known_length);
		if (d < best) {
			best = d;
			found = known;
		}
	}
	/* Half a name, as in VT_FILTER for VT_FILTER_SPEC. */
	for (size_t i = 0; i < gt_setting_count && !found && length >= 9; i++) {
		const char *known = gt_setting_rows[i].name;

		if (!strncmp(known, name, length) && known[length] == '_')
			found = known;
	}
	/* Half a name with a slip, as in VT_BUFER. */
	for (size_t i = 0; i < gt_setting_count && !found && length >= 8; i++) {
		const char *known = gt_setting_rows[i].name, *half = strchr(known + 3, '_');

		if (half && half - known >= 8 && half - known <= GT_SETTING_NAME_MAX &&
		    distance(name, length, known, (size_t)(half - known)) == 1)
			found = known;
	}
	return found;
}

const char *gt_setting_older_name(const char *name)
{
	static const struct {
		const char *name, *older;
	} rows[] = {
		{ "VT_OPENMP", "VT_OMPTRACE" },
		{ "VT_EXECTRACE", "VT_LIBCTRACE" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(name, rows[i].name))
			return rows[i].older;
	return NULL;
}

enum gt_name_kind gt_setting_name_kind(const char *name, size_t length, const char **meant)
{
	if (length > GT_SETTING_NAME_MAX)
		return GT_NAME_FOREIGN;
	for (size_t i = 0; i < gt_setting_count; i++)
		if (strlen(gt_setting_rows[i].name) == length &&
		    !memcmp(gt_setting_rows[i].name, name, length))
			return GT_NAME_SETTING;
	for (size_t i = 0; i < gt_setting_count; i++) {
		const char *older = gt_setting_older_name(gt_setting_rows[i].name);

		if (older && strlen(older) == length && !memcmp(older, name, length))
			return GT_NAME_SETTING;
	}
	if (listed(internal_names, name, length))
		return GT_NAME_INTERNAL;
	if (listed(vampirtrace_names, name, length))
		return GT_NAME_VAMPIRTRACE;
	*meant = nearest(name, length);
	return *meant ? GT_NAME_NEAR : GT_NAME_FOREIGN;
}

const char *gt_setting_name_lacks(const char *name, size_t length)
{
	static const struct {
		const char *begin, *what;
	} rows[] = {
		{ "VT_MPICHECK", "checking of MPI calls" },
		{ "VT_STACKTRACE", "stack traces" },
		{ "VT_CPUIDTRACE", "recording of processor numbers" },
		{ "VT_JAVA", "recording of Java" },
		{ "VT_DYN", "instrumentation of binaries" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (length >= strlen(rows[i].begin) &&
		    !strncmp(name, rows[i].begin, strlen(rows[i].begin)))
			return rows[i].what;
	return NULL;
}
