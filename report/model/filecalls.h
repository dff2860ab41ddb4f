/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies the C library's functions on files by what they do with them: one table for all readers of
 * archives.
 *
 * Limits: names, as POSIX, Linux and glibc have them. A close may be of anything that has a descriptor.
 */
#ifndef GT_REPORT_FILECALLS_H
#define GT_REPORT_FILECALLS_H

enum gt_file_call {
	GT_FILE_CALL_OTHER,
	GT_FILE_CALL_OPEN,
	GT_FILE_CALL_CLOSE,
	GT_FILE_CALL_NAME, /* makes, renames, removes or looks at a name, or lists a directory */
	GT_FILE_CALL_SYNC, /* waits until data are on the disk */
};

enum gt_file_call gt_file_call_of(const char *name);

#endif
