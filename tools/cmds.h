/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sub-commands of `gputrace`, one function each in tools/cmd_<name>.c.
 *
 * Limits: tools only. A command prints results on stdout, everything else on stderr, and returns
 * the exit status: 0 fine, 1 the thing looked at is bad, 2 wrong usage.
 */
#ifndef GT_TOOLS_CMDS_H
#define GT_TOOLS_CMDS_H

#include <stddef.h>

#define GT_RC_OK    0
#define GT_RC_BAD   1
#define GT_RC_USAGE 2

/* argv[0] is the command's name. */
int gt_cmd_run(int argc, char **argv);
int gt_cmd_info(int argc, char **argv);
/*
 * What is wrong with the metrics of the GPU that a run asks for, as sentences on stderr. Returns how many
 * there are; 0 also where that cannot be found out. It loads CUPTI and starts CUDA: for a process of its own.
 */
unsigned gt_info_wrong_gpu_metrics(void);
int gt_cmd_check(int argc, char **argv);
int gt_cmd_report(int argc, char **argv);
int gt_cmd_export(int argc, char **argv);
/* The formats that this build can write: "chrome speedscope ...". */
void gt_export_list(char *list, size_t size);
int gt_cmd_timeline(int argc, char **argv);
int gt_cmd_html(int argc, char **argv);
int gt_cmd_view(int argc, char **argv);
int gt_cmd_whatif(int argc, char **argv);
int gt_cmd_diff(int argc, char **argv);
int gt_cmd_slice(int argc, char **argv);
int gt_cmd_source(int argc, char **argv);
int gt_cmd_flow(int argc, char **argv);
int gt_cmd_recover(int argc, char **argv);
int gt_cmd_filter(int argc, char **argv);
int gt_cmd_suggest(int argc, char **argv); /* gputrace filter suggest */
int gt_cmd_top(int argc, char **argv);
int gt_cmd_libwrapgen(int argc, char **argv);
int gt_cmd_assemble(int argc, char **argv); /* started by libgputrace.so at the end of a run */

/* The archive in `dir`, or what one host has recorded; `fd` holds the lock of the run in `home`. */
int gt_assemble_here(const char *dir, const char *home, int fd);
/*
 * gt_assemble_options.summarise: in a child, since reading may crash or find no memory, and the archive is
 * there all the same. Then the summary says so, and what the assembly knows.
 */
struct gt_summary;
struct gt_summary_out;
int gt_summarise_guarded(const struct gt_summary *facts, const struct gt_summary_out *out);
/*
 * Removes what is left of a spool whose archive is there: on NFS and FUSE files that are open keep a name
 * until they are closed, and their folders stay. Tries for `ms`. 0, or -ENOTEMPTY.
 */
int gt_tidy(int archive, unsigned ms);
int gt_assemble_here_partial(const char *dir, const char *home, int fd);

#endif
