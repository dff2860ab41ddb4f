/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Metric plug-ins of Score-P as sources of counters. What a plug-in is, is described in Score-P's manual
 * ("Metric plugins"): a shared library that exports SCOREP_MetricPlugin_<name>_get_info, which returns the
 * struct below.
 *
 * Limits: GT_CN_SCOREP plug-ins with GT_PLUGIN_METRICS metrics each. Times that a plug-in computes itself,
 * instead of asking the clock that it was given, are not those of the trace.
 */
#ifndef GT_COUNTERS_SCOREP_H
#define GT_COUNTERS_SCOREP_H

#include "counters/counters.h"

#define GT_CN_SCOREP 8u

/* The plug-in that this function of it (get_info) describes, NULL: why is in why[]. */
GT_HIDDEN const struct gt_plugin *gt_cn_scorep(const char *name, void *get_info, char *why, size_t room);

#endif
