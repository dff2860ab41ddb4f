/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of signals.h.
 */
#include "lib/assemble/util/signals.h"

#include <signal.h>
#include <stddef.h>

static const struct words {
	const char *name, *text;
} signals[] = {
	[SIGHUP] = { "HUP", "Hangup" },
	[SIGINT] = { "INT", "Interrupt" },
	[SIGQUIT] = { "QUIT", "Quit" },
	[SIGILL] = { "ILL", "Illegal instruction" },
	[SIGTRAP] = { "TRAP", "Trace/breakpoint trap" },
	[SIGABRT] = { "ABRT", "Aborted" },
	[SIGBUS] = { "BUS", "Bus error" },
	[SIGFPE] = { "FPE", "Floating point exception" },
	[SIGKILL] = { "KILL", "Killed" },
	[SIGUSR1] = { "USR1", "User defined signal 1" },
	[SIGSEGV] = { "SEGV", "Segmentation fault" },
	[SIGUSR2] = { "USR2", "User defined signal 2" },
	[SIGPIPE] = { "PIPE", "Broken pipe" },
	[SIGALRM] = { "ALRM", "Alarm clock" },
	[SIGTERM] = { "TERM", "Terminated" },
	[SIGSTKFLT] = { "STKFLT", "Stack fault" },
	[SIGCHLD] = { "CHLD", "Child exited" },
	[SIGCONT] = { "CONT", "Continued" },
	[SIGSTOP] = { "STOP", "Stopped (signal)" },
	[SIGTSTP] = { "TSTP", "Stopped" },
	[SIGTTIN] = { "TTIN", "Stopped (tty input)" },
	[SIGTTOU] = { "TTOU", "Stopped (tty output)" },
	[SIGURG] = { "URG", "Urgent I/O condition" },
	[SIGXCPU] = { "XCPU", "CPU time limit exceeded" },
	[SIGXFSZ] = { "XFSZ", "File size limit exceeded" },
	[SIGVTALRM] = { "VTALRM", "Virtual timer expired" },
	[SIGPROF] = { "PROF", "Profiling timer expired" },
	[SIGWINCH] = { "WINCH", "Window changed" },
	[SIGPOLL] = { "POLL", "I/O possible" },
	[SIGPWR] = { "PWR", "Power failure" },
	[SIGSYS] = { "SYS", "Bad system call" },
};

static const struct words *words_of(int number)
{
	static const struct words none;

	if (number < 0 || (size_t)number >= sizeof(signals) / sizeof(signals[0]))
		return &none;
	return &signals[number];
}

const char *gt_signal_name(int number)
{
	return words_of(number)->name;
}

const char *gt_signal_text(int number)
{
	return words_of(number)->text;
}
