/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page that shows a picture: its parts, which are in the program, and how they are put together.
 *
 * Limits: the parts must not have "</script" or "</style" in them.
 */
#ifndef GT_REPORT_PAGE_PAGE_H
#define GT_REPORT_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/page/store.h"

/* page.html, page.css and the scripts. Made by build-aux/embed.sh. */
extern const unsigned char gt_page_html[], gt_page_css[], gt_page_js[];
extern const size_t gt_page_html_size, gt_page_css_size, gt_page_js_size;

/*
 * Writes the page with all that fits into `most` bytes, about; the whole run is always in it, and so are the
 * call trees of the run that it is compared with, if `against` is not NULL. False: it could not be written
 * (errno).
 */
bool gt_page_write(const struct gt_store *store, const struct gt_store *against, uint64_t most, FILE *out);
/* The page that asks a server for what it shows; what it is compared with is in it. */
void gt_page_served(const struct gt_store *store, const struct gt_store *against, struct gt_bytes *out);
/* Adds a tile with its head, as a pack has it. */
void gt_page_tile(struct gt_bytes *out, const struct gt_store *store, const struct gt_tile *tile);
/* NULL: there is none. */
const struct gt_tile *gt_page_text(const struct gt_store *store, enum gt_text_row row);

#endif
