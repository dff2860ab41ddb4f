/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hooks of functions that are never recorded: after some calls, they are no longer called. See
 * doc/adr/0027.
 *
 * Limits: x86-64 only. Elsewhere, and where code cannot be written, hooks go on asking gt_plainly_dropped().
 */
#ifndef GT_PATCH_H
#define GT_PATCH_H

#include "gputrace/compiler.h"

#include <stdint.h>

/*
 * A hook has found that `function` is dropped, though not plainly. `site`: where the hook will return to;
 * `hook`: its own address. [signal-safe]
 */
GT_HIDDEN void gt_patch_dropped(uintptr_t function, uintptr_t site, uintptr_t hook);

/* Says in the journal how many calls have been switched off. */
GT_HIDDEN void gt_patch_tell(void);

#endif
