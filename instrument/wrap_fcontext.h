/* SPDX-License-Identifier: BSD-3-Clause */
/* What the loader's interception tells that of Boost.Context. Limits: one function. */
#ifndef GT_INSTRUMENT_WRAP_FCONTEXT_H
#define GT_INSTRUMENT_WRAP_FCONTEXT_H

#include "gputrace/compiler.h"

/* A library has gone: what was found for callers may have been in it. */
GT_HIDDEN void gt_fcontext_forget(void);

#endif
