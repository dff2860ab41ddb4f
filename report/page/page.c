/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page: its parts, and tiles as base64 of what zlib makes of them, level by level.
 *
 * Limits: see page.h. Without zlib there are no tiles in a page.
 */
#include "config.h"

#include "report/page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

enum { NONCE = 16 };

const struct gt_tile *gt_page_text(const struct gt_store *store, enum gt_text_row row)
{
	size_t i = gt_store_find(store, 0, GT_TILE_TEXT, row, 0);

	return i < store->count && store->tiles[i].kind == GT_TILE_TEXT && store->tiles[i].row == row
		       ? &store->tiles[i] : NULL;
}

void gt_page_tile(struct gt_bytes *out, const struct gt_store *store, const struct gt_tile *tile)
{
	gt_bytes_number(out, tile->kind);
	gt_bytes_number(out, tile->row);
	gt_bytes_number(out, tile->level);
	gt_bytes_number(out, tile->tile);
	gt_bytes_number(out, tile->length);
	gt_bytes_add(out, gt_store_data(store, tile), tile->length);
}

/* ---- base64 -------------------------------------------------------------------------------------- */

static void base64(struct gt_bytes *out, const unsigned char *data, size_t size)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	gt_bytes_room(out, (size + 2) / 3 * 4);
	for (size_t i = 0; i < size; i += 3) {
		uint32_t three = (uint32_t)data[i] << 16 | (i + 1 < size ? (uint32_t)data[i + 1] << 8 : 0) |
				 (i + 2 < size ? data[i + 2] : 0);

		for (unsigned d = 0; d < 4; d++) {
			char digit = i + d <= size ? digits[three >> (18 - 6 * d) & 63] : '=';

			out->data[out->count++] = (unsigned char)digit;
		}
	}
}

/* Who does not know it can put no script into the page. */
static void make_nonce(char nonce[2 * NONCE + 1])
{
	unsigned char random[NONCE];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		abort();
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(nonce + 2 * i, 3, "%02x", random[i]);
}

/* ---- packs --------------------------------------------------------------------------------------- */

#ifdef HAVE_ZLIB
static bool deflate_some(z_stream *z, const void *data, size_t size, int flush, struct gt_bytes *out)
{
	z->next_in = (Bytef *)data;
	z->avail_in = (uInt)size;
	do {
		gt_bytes_room(out, 1 << 16);
		z->next_out = out->data + out->count;
		z->avail_out = (uInt)(out->room - out->count);
		if (deflate(z, flush) == Z_STREAM_ERROR)
			return false;
		out->count = out->room - z->avail_out;
	} while (!z->avail_out);
	return true;
}

/* All tiles of a level, of the kinds `first` <= kind < `end`. False: they are more than `most` bytes. */
static bool make_pack(const struct gt_store *store, unsigned level, enum gt_tile_kind first,
		      enum gt_tile_kind end, uint64_t most, struct gt_bytes *out)
{
	size_t i = gt_store_find(store, level, first, 0, 0);
	struct gt_bytes ahead = { .count = 0 };
	z_stream z = { .next_in = NULL };
	bool fits = deflateInit(&z, Z_DEFAULT_COMPRESSION) == Z_OK;

	for (; fits && i < store->count && store->tiles[i].level == level; i++) {
		if (store->tiles[i].kind >= end)
			continue;
		ahead.count = 0;
		gt_page_tile(&ahead, store, &store->tiles[i]);
		fits = deflate_some(&z, ahead.data, ahead.count, Z_NO_FLUSH, out) && out->count <= most;
	}
	fits = fits && deflate_some(&z, NULL, 0, Z_FINISH, out) && out->count <= most;
	deflateEnd(&z);
	free(ahead.data);
	return fits;
}
#else
static bool make_pack(const struct gt_store *store, unsigned level, enum gt_tile_kind first,
		      enum gt_tile_kind end, uint64_t most, struct gt_bytes *out)
{
	(void)store, (void)level, (void)first, (void)end, (void)most, (void)out;
	return false;
}
#endif

static unsigned level_count(const struct gt_store *store)
{
	return store->count ? store->tiles[store->count - 1].level + 1 : 0;
}

static void put_pack(const char *id, const struct gt_bytes *pack, struct gt_bytes *out)
{
	gt_bytes_print(out, "<script type=\"text/plain\" id=\"%s\">", id);
	base64(out, pack->data, pack->count);
	gt_bytes_print(out, "</script>\n");
}

/* As many levels as fit; the first one always. */
static unsigned make_packs(const struct gt_store *store, uint64_t most, struct gt_bytes *out)
{
	unsigned level, count = level_count(store);

	for (level = 0; level < count; level++) {
		struct gt_bytes pack = { .count = 0 };
		char id[32];
		uint64_t left = out->count < most ? (most - out->count) / 4 * 3 : 0;

		if (!make_pack(store, level, GT_TILE_CALLS, GT_TILE_SEEN, level ? left : UINT64_MAX, &pack)) {
			free(pack.data);
			break;
		}
		snprintf(id, sizeof(id), "gt-pack-%u", level);
		put_pack(id, &pack, out);
		free(pack.data);
	}
	return level;
}

/* ---- the page ------------------------------------------------------------------------------------ */

static void put_meta(const struct gt_store *store, const char *id, const char *first, struct gt_bytes *out)
{
	const struct gt_tile *meta = gt_page_text(store, GT_TEXT_META);

	gt_bytes_print(out, "<script type=\"application/json\" id=\"%s\">{%s", id, first);
	if (meta)
		gt_bytes_add(out, gt_store_data(store, meta), meta->length);
	gt_bytes_print(out, "}</script>\n");
}

static void put_json(const struct gt_store *store, enum gt_text_row row, const char *id, struct gt_bytes *out)
{
	const struct gt_tile *text = gt_page_text(store, row);

	gt_bytes_print(out, "<script type=\"application/json\" id=\"%s\">", id);
	if (text)
		gt_bytes_add(out, gt_store_data(store, text), text->length);
	gt_bytes_print(out, "</script>\n");
}

static void put_texts(const struct gt_store *store, struct gt_bytes *out)
{
	put_json(store, GT_TEXT_REPORT, "gt-report", out);
	put_json(store, GT_TEXT_FLOW, "gt-flow", out);
}

/* What is known of the run that this one is compared with, and its call trees. */
static void put_against(const struct gt_store *against, struct gt_bytes *out)
{
	struct gt_bytes pack = { .count = 0 };

	put_meta(against, "gt-against", "", out);
	if (make_pack(against, 0, GT_TILE_TREE, GT_TILE_TREE + 1, UINT64_MAX, &pack))
		put_pack("gt-against-pack", &pack, out);
	free(pack.data);
}

struct page {
	const struct gt_store *store;
	const struct gt_bytes *data;
	const char *connect;
	char nonce[2 * NONCE + 1];
};

/* Writes the text that replaces the mark. */
static void put_mark(const struct page *page, const char *mark, size_t length, struct gt_bytes *out)
{
	const struct gt_tile *title = gt_page_text(page->store, GT_TEXT_TITLE);

	if (length == 3 && !memcmp(mark, "CSP", 3)) {
		gt_bytes_print(out, "<meta http-equiv=\"Content-Security-Policy\" "
				    "content=\"default-src 'none'; script-src 'nonce-%s'; "
				    "style-src 'nonce-%s'; img-src data: blob:; "
				    "connect-src %s; base-uri 'none'; form-action 'none'\">\n",
			       page->nonce, page->nonce, page->connect);
		gt_bytes_print(out, "<title>");
		if (title)
			gt_bytes_add(out, gt_store_data(page->store, title), title->length);
		gt_bytes_print(out, " - gputrace</title>\n");
	} else if (length == 3 && !memcmp(mark, "CSS", 3)) {
		gt_bytes_print(out, "<style nonce=\"%s\">\n", page->nonce);
		gt_bytes_add(out, gt_page_css, gt_page_css_size);
		gt_bytes_print(out, "</style>\n");
	} else if (length == 2 && !memcmp(mark, "JS", 2)) {
		gt_bytes_print(out, "<script nonce=\"%s\">\n", page->nonce);
		gt_bytes_add(out, gt_page_js, gt_page_js_size);
		gt_bytes_print(out, "</script>\n");
	} else if (length == 4 && !memcmp(mark, "DATA", 4)) {
		gt_bytes_add(out, page->data->data, page->data->count);
	}
}

static void put_page(const struct gt_store *store, const char *connect, const struct gt_bytes *data,
		     struct gt_bytes *out)
{
	const char *at = (const char *)gt_page_html, *end = at + gt_page_html_size;
	struct page page = { store, data, connect, "" };

	make_nonce(page.nonce);
	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		size_t length = line ? (size_t)(line - at) + 1 : (size_t)(end - at);

		if (length > 8 && !memcmp(at, "<!--", 4) && !memcmp(at + length - 4, "-->\n", 4))
			put_mark(&page, at + 4, length - 8, out);
		else
			gt_bytes_add(out, at, length);
		at += length;
	}
}

bool gt_page_write(const struct gt_store *store, const struct gt_store *against, uint64_t most, FILE *out)
{
	struct gt_bytes packs = { .count = 0 }, data = { .count = 0 }, page = { .count = 0 };
	char first[128];
	uint64_t used;
	unsigned levels;
	bool done;

	put_meta(store, "gt-meta", "", &data);
	put_texts(store, &data);
	if (against)
		put_against(against, &data);
	used = data.count + gt_page_html_size + gt_page_css_size + gt_page_js_size + 4096;
	data.count = 0;
	levels = make_packs(store, most > used ? most - used : 0, &packs);
	snprintf(first, sizeof(first), "\"mode\":\"html\",\"page_levels\":%u,\"complete\":%s,", levels,
		 levels == level_count(store) ? "true" : "false");
	put_meta(store, "gt-meta", first, &data);
	put_texts(store, &data);
	if (against)
		put_against(against, &data);
	gt_bytes_add(&data, packs.data, packs.count);
	free(packs.data);
	put_page(store, "'none'", &data, &page);
	free(data.data);
	done = fwrite(page.data, 1, page.count, out) == page.count;
	free(page.data);
	return done;
}

void gt_page_served(const struct gt_store *store, const struct gt_store *against, struct gt_bytes *out)
{
	struct gt_bytes data = { .count = 0 };
	char first[128];

	snprintf(first, sizeof(first), "\"mode\":\"view\",\"page_levels\":%u,\"complete\":true,",
		 level_count(store));
	put_meta(store, "gt-meta", first, &data);
	if (against)
		put_against(against, &data);
	put_page(store, "'self'", &data, out);
	free(data.data);
}
