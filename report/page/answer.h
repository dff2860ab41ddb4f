/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Answers the page's requests (doc/page-data.md).
 *
 * Limits: as serve.h.
 */
#ifndef GT_REPORT_PAGE_ANSWER_H
#define GT_REPORT_PAGE_ANSWER_H

#include "report/page/serve.h"

/* The value of a parameter of the request, or NULL. */
typedef const char *gt_parameter(void *request, const char *name);

/* Looks up what answers need. False: it is not in the store. */
bool gt_answer_prepare(struct gt_serve *serve);
/* Fills `out` and sets the type. The status of HTTP; an error's text is in `out`. */
unsigned gt_answer(struct gt_serve *serve, const char *what, gt_parameter *parameter, void *request,
		   struct gt_bytes *out, const char **type);

#endif
