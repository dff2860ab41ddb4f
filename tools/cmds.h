/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sub-commands of `gputrace`, one function each in tools/cmd_<name>.c.
 *
 * Limits: tools only. A command prints results on stdout, everything else on stderr, and returns
 * the exit status: 0 fine, 1 the thing looked at is bad, 2 wrong usage.
 */
#ifndef GT_TOOLS_CMDS_H
#define GT_TOOLS_CMDS_H

#define GT_RC_OK    0
#define GT_RC_BAD   1
#define GT_RC_USAGE 2

/*
 * Weak, so that the tool links with the commands that the build has: a command whose address is
 * NULL is not offered. argv[0] is the command's name.
 */
#define GT_COMMAND(name) int gt_cmd_##name(int argc, char **argv) __attribute__((weak))

GT_COMMAND(run);
GT_COMMAND(info);
GT_COMMAND(check);
GT_COMMAND(recover);
GT_COMMAND(filter);
GT_COMMAND(assemble); /* hidden: started by libgputrace.so at the end of a run */

#endif
