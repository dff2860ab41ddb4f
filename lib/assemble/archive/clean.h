/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Removing and placing the files of an archive directory: only names that gputrace or libotf2 give.
 *
 * Limits: follows no symbolic links and never removes a file whose name is not ours.
 */
#ifndef GT_ASSEMBLE_ARCHIVE_CLEAN_H
#define GT_ASSEMBLE_ARCHIVE_CLEAN_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/assemble/spool/spool.h"

#define GT_ASSEMBLING "assembling" /* the archive is written here first */

/* Makes an empty DIR/assembling, in place of one that was left behind. Returns it open, or -errno. */
int gt_clean_begin(int dirfd);

/* Moves the finished archive to its place, the anchor last. 0 or a negative errno. */
int gt_clean_publish(int dirfd);

/* Removes DIR/assembling and all in it. */
void gt_clean_abandon(int dirfd);

/*
 * The same for a part (partial.h): "making" in the folder `home` below `dirfd`; then it gets its name. A part
 * is there as a whole or not at all.
 */
int gt_clean_begin_partial(int dirfd, const char *home);
int gt_clean_publish_partial(int dirfd, const char *home);
void gt_clean_abandon_partial(int dirfd, const char *home);

/* Removes the processes of all hosts in `spool`, but not their run headers: they are in a part now. */
int gt_clean_processes(const struct gt_spool *spool);

/* Removes parts that have been joined. */
void gt_clean_partials(const struct gt_spool *spool);

/* Removes the spool. Foreign files in it stay, with their folders. 0 or a negative errno. */
int gt_clean_spool(const struct gt_spool *spool);

/*
 * The archive is complete: removes what a gt_clean_spool() that was interrupted has left. 0, or -ENOTEMPTY.
 */
int gt_clean_rest(int dirfd);

/*
 * The archive is complete, and what DIR holds of it gets the permissions that files of a user with this umask
 * have, but only to be read. A spool that is kept stays its owner's. 0 or a negative errno.
 */
int gt_clean_share(int dir, mode_t mask);

/* Bytes of the archive's own files in DIR. */
uint64_t gt_clean_size(int dirfd);

#endif
