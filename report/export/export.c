/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The visitor that finds what is exported, and the course of an export.
 *
 * Limits: see export.h.
 */
#include "config.h"

#include "report/export/export.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/utf8.h"
#include "report/print/output.h"

enum { MUCH = 256 << 10 };

/* ---- the stack --------------------------------------------------------------------------------- */

uint64_t gt_export_inner(const struct gt_export_place *place)
{
	return place->open_count ? place->open[place->open_count - 1].id : 0;
}

static void open_region(struct gt_export_place *place, const struct gt_otf2_region *region, uint64_t time)
{
	const struct gt_export_face *face = place->export->options->face;

	if (place->open_count == place->room) {
		place->room = place->room ? 2 * place->room : 32;
		place->open = gt_resized(place->open, place->room, sizeof(*place->open));
	}
	place->open[place->open_count++] = (struct gt_open){ .id = ++place->last };
	if (face->enter)
		face->enter(place, region, time);
}

static void close_region(struct gt_export_place *place, const struct gt_otf2_frame *frame, uint64_t end,
			 bool whole)
{
	const struct gt_export *export = place->export;
	struct gt_open *open = &place->open[--place->open_count];
	struct gt_export_call call = { .id = open->id, .parent = gt_export_inner(place),
				       .region = frame->region, .begin = frame->begin, .end = end,
				       .depth = place->open_count + 1, .whole = whole };

	if (call.begin < export->part.from) {
		call.begin = export->part.from;
		call.whole = false;
	}
	if (whole)
		call.path = gt_stack_call_path(place->at, export->stacks.path);
	call.self = end - call.begin - open->inside;
	if (place->open_count)
		open[-1].inside += end - call.begin;
	if (export->options->face->call)
		export->options->face->call(place, &call);
}

/* Closes regions that are open at the end of the window, or of the location. */
static void close_all(struct gt_export_place *place, const struct gt_otf2_cursor *at, uint64_t time)
{
	while (place->open_count)
		close_region(place, &at->stack[place->open_count - 1], time, false);
}

/*
 * Before an event that is at at->time. `depth`: of the stack before it. Regions that are open where the
 * window begins are entered there. True: the event is in the window.
 */
static bool enter_window(struct gt_export_place *place, const struct gt_otf2_cursor *at, size_t depth)
{
	const struct gt_part *part = &place->export->part;

	if (!place->selected || place->over || at->time < part->from)
		return false;
	if (!place->entered)
		for (size_t i = 0; i < depth; i++)
			open_region(place, at->stack[i].region, part->from);
	place->entered = true;
	return at->time < part->to;
}

static void leave_window(struct gt_export_place *place, const struct gt_otf2_cursor *at)
{
	const struct gt_part *part = &place->export->part;

	if (!place->selected || place->over || at->time < part->to)
		return;
	close_all(place, at, part->to);
	place->over = true;
}

/* ---- the visitor ------------------------------------------------------------------------------- */

static struct gt_export_place *place_of(const struct gt_otf2_cursor *at)
{
	return at->state;
}

static void on_begin(struct gt_otf2_cursor *at)
{
	struct gt_export_place *place = at->state;

	place->export = at->user;
	place->at = at;
	place->selected = gt_part_has(&place->export->part, at->index);
	place->last = (uint64_t)(at->index + 1) << 40;
	if (place->selected && place->export->options->face->begin)
		place->export->options->face->begin(place);
}

static void on_enter(struct gt_otf2_cursor *at)
{
	struct gt_export_place *place = place_of(at);
	bool inside = enter_window(place, at, at->depth - 1);

	leave_window(place, at);
	if (inside)
		open_region(place, at->stack[at->depth - 1].region, at->time);
	gt_match_enter(&place->match, at, place->export->correlation, inside ? gt_export_inner(place) : 0);
}

static void on_leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct gt_export_place *place = place_of(at);
	bool inside = enter_window(place, at, at->depth + 1);

	/* What was left lies behind the end of the stack, where the reader keeps it. */
	leave_window(place, at);
	gt_match_leave(&place->match, at, place->export->mpi_error);
	if (inside)
		close_region(place, frame, at->time, true);
}

static void on_event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct gt_export_place *place = place_of(at);
	const struct gt_export_face *face = place->export->options->face;
	bool inside = enter_window(place, at, at->depth);

	leave_window(place, at);
	gt_match_event(&place->match, at, event, inside ? gt_export_inner(place) : 0);
	if (inside && face->event)
		face->event(place, event);
}

static void on_end(struct gt_otf2_cursor *at, bool whole)
{
	struct gt_export_place *place = place_of(at);
	struct gt_export *export = place->export;

	(void)whole;
	if (place->selected && !place->over)
		close_all(place, at, at->time);
	if (place->selected && export->options->face->end)
		export->options->face->end(place);
	if (place->text.count)
		gt_export_write(export, &place->text);
	free(place->text.data);
	free(place->open);
}

static void on_merge(struct gt_otf2_cursor *at)
{
	struct gt_export_place *place = place_of(at);

	gt_match_end(&place->match, &place->export->ends);
}

static const struct gt_otf2_visitor visitor = {
	.state_size = sizeof(struct gt_export_place),
	.begin = on_begin,
	.enter = on_enter,
	.leave = on_leave,
	.event = on_event,
	.end = on_end,
	.merge = on_merge,
};

static void on_pair(void *user, const struct gt_end *from, const struct gt_end *to)
{
	struct gt_export *export = user;
	const struct gt_part *part = &export->part;

	if (gt_part_at(part, from->time) && gt_part_at(part, to->time) && gt_part_has(part, from->location) &&
	    gt_part_has(part, to->location))
		export->options->face->pair(export, from, to);
}

/* ---- text -------------------------------------------------------------------------------------- */

void gt_text_room(struct gt_export_text *text, size_t more)
{
	size_t room = text->room;

	while (room < text->count + more + 1)
		room = room ? 2 * room : 4096;
	if (room != text->room)
		text->data = gt_need(realloc(text->data, room));
	text->room = room;
}

__attribute__((format(printf, 2, 0)))
static void add_v(struct gt_export_text *text, const char *format, va_list args)
{
	va_list again;
	int n;

	va_copy(again, args);
	gt_text_room(text, 128);
	n = vsnprintf(text->data + text->count, text->room - text->count, format, args);
	if (n > 0 && (size_t)n >= text->room - text->count) {
		gt_text_room(text, (size_t)n);
		vsnprintf(text->data + text->count, text->room - text->count, format, again);
	}
	text->count += n > 0 ? (size_t)n : 0;
	va_end(again);
}

void gt_text_add(struct gt_export_text *text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_v(text, format, args);
	va_end(args);
}

void gt_export_print(struct gt_export_place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_v(&place->text, format, args);
	va_end(args);
	gt_export_flush(place);
}

void gt_export_flush(struct gt_export_place *place)
{
	if (place->text.count >= MUCH)
		gt_export_write(place->export, &place->text);
}

void gt_export_write(struct gt_export *export, struct gt_export_text *text)
{
	pthread_mutex_lock(&export->lock);
	if (text->count && fwrite(text->data, 1, text->count, export->out) < text->count && !export->error)
		export->error = errno;
	pthread_mutex_unlock(&export->lock);
	text->count = 0;
}

char *gt_export_clean(const char *string)
{
	size_t size = 4 * strlen(string) + 1;
	char *clean = gt_need(malloc(size));

	gt_utf8_clean(clean, size, string);
	return clean;
}

void gt_text_json(struct gt_export_text *text, const char *string)
{
	size_t room = 6 * strlen(string) + 1;

	gt_text_room(text, room + 2);
	text->data[text->count++] = '"';
	gt_utf8_json(text->data + text->count, room, string);
	text->count += strlen(text->data + text->count);
	gt_text_add(text, "\"");
}

void gt_text_csv(struct gt_export_text *text, const char *string)
{
	char *clean = gt_export_clean(string);

	gt_text_add(text, "\"");
	for (const char *c = clean; *c; c++)
		gt_text_add(text, *c == '"' ? "\"\"" : "%c", *c);
	gt_text_add(text, "\"");
	free(clean);
}

char **gt_export_region_names(const struct gt_otf2 *read)
{
	size_t count = read->tables[GT_OTF2_REGION].count;
	char **names = gt_zeroed(count + 1, sizeof(*names));

	for (size_t i = 0; i <= count; i++) {
		struct gt_export_text text = { .count = 0 };

		gt_text_json(&text, i < count ? gt_otf2_region_at(read, i)->name : "?");
		names[i] = text.data;
	}
	return names;
}

size_t gt_export_region(const struct gt_export_place *place, const struct gt_otf2_region *region)
{
	const struct gt_otf2 *read = place->export->read;
	ptrdiff_t index = gt_otf2_index(read, GT_OTF2_REGION, region->id);

	return index < 0 ? read->tables[GT_OTF2_REGION].count : (size_t)index;
}

void gt_text_process(struct gt_export_text *text, const struct gt_otf2 *read,
		     const struct gt_otf2_location_group *group)
{
	const struct gt_otf2_location_group *creator =
		group ? gt_otf2_find_location_group(read, group->creator) : NULL;

	if (creator)
		gt_text_add(text, "%s: ", creator->name);
	gt_text_add(text, "%s", group ? group->name : "?");
}

void gt_text_location(struct gt_export_text *text, const struct gt_otf2 *read,
		      const struct gt_otf2_location *location)
{
	gt_text_process(text, read, gt_otf2_find_location_group(read, location->group));
	gt_text_add(text, "/%s", location->name);
}

/* ---- the course -------------------------------------------------------------------------------- */

static bool complain(const char *path)
{
	fprintf(stderr, "gputrace export: %s cannot be written: %m\n", path);
	return false;
}

/* The temporary name, and what is written there. */
static bool open_output(struct gt_export *export, char **path)
{
	const struct gt_export_options *options = export->options;

	if (!options->out) {
		export->out = stdout;
		return true;
	}
	if (options->face->seekable && gt_output_special(options->out)) {
		fprintf(stderr, "gputrace export: %s is a pipe or a device, --%s needs a file\n",
			options->out, options->face->option);
		return false;
	}
	*path = gt_output_part(options->out);
	export->path = *path;
	if (options->face->folder)
		return !mkdir(*path, 0777) || complain(*path);
	if (options->face->seekable) { /* an empty file is a new one */
		FILE *file = gt_output_open(*path, options->out);

		return file ? !fclose(file) : complain(*path);
	}
	export->out = gt_output_open(*path, options->out);
	return export->out || complain(*path);
}

static bool close_output(struct gt_export *export)
{
	const struct gt_export_options *options = export->options;

	if (export->out && fflush(export->out) && !export->error)
		export->error = errno;
	if (export->error == EPIPE && !options->out)
		return false; /* `| head` has seen enough */
	if (export->error) {
		errno = export->error;
		return complain(options->out ? options->out : "standard output");
	}
	if (!export->path)
		return true;
	return gt_output_keep(export->path, options->out) || complain(options->out);
}

static struct gt_otf2 *open_archive(struct gt_export *export, const char *anchor)
{
	struct gt_otf2_options options = { .visitor = &visitor,
					   .user = export,
					   .threads = export->options->face->serial,
					   .command = "gputrace export" };
	struct gt_otf2 *read = gt_otf2_open(anchor, &options);

	return read && !gt_otf2_definitions(read) ? read : NULL;
}

static bool convert(struct gt_export *export, struct gt_otf2 *read)
{
	const struct gt_export_face *face = export->options->face;

	export->read = read;
	export->correlation = gt_otf2_attribute_named(read, "CORRELATION_ID");
	export->mpi_error = gt_otf2_attribute_named(read, "MPI_ERROR");
	export->stacks = gt_stacks_of(read);
	export->part = export->options->part;
	if (!gt_part_choose(&export->part, read, export->options->patterns, "gputrace export"))
		return false;
	if (face->start && !face->start(export))
		return false;
	if (gt_otf2_events(read))
		return false;
	if (face->pair)
		gt_match_all(&export->ends, &(struct gt_matched){ export, on_pair, NULL });
	return true;
}

static bool finish(struct gt_export *export)
{
	const struct gt_export_options *options = export->options;
	struct gt_otf2 *other = options->against ? open_archive(export, options->against) : NULL;

	if (options->against && (!other || !convert(export, other)))
		return false;
	return !options->face->finish || options->face->finish(export);
}

int gt_export_archive(const char *anchor, void *argument, FILE *unused)
{
	const struct gt_export_options *options = argument;
	struct gt_export export = { .options = options, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct gt_otf2 *read;
	char *path = NULL;
	bool done;

	(void)unused;
	signal(SIGPIPE, SIG_IGN); /* writing fails then, and that is said */
	signal(SIGXFSZ, SIG_IGN);
	read = open_archive(&export, anchor);
	if (!read || !open_output(&export, &path))
		return 2;
	done = convert(&export, read) && finish(&export) && close_output(&export);
	if (!done && path)
		gt_output_discard(options->out);
	/* The reader is not closed: the process ends, and libotf2 may be in any state. */
	return done ? 0 : 2;
}
