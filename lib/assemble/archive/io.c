/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * I/O records: handles that are opened, used, duplicated and closed; their definitions.
 *
 * Limits: a handle of POSIX or ISO C belongs to one process, one that is shared to the members of a
 * communicator. Files have no place in the system tree. A record whose handle is unknown is counted as one
 * that could not be read.
 */
#include "config.h"

#include "lib/assemble/archive/io.h"

#include "lib/assemble/archive/records.h"
#include "lib/assemble/adapters/half.h"

#include <string.h>

enum { POSIX, ISOC, SHARED, PARADIGMS };

static const struct {
	const char *id, *name;
	OTF2_IoParadigmClass class;
	OTF2_IoParadigmFlag flags;
} paradigms[PARADIGMS] = {
	[POSIX] = { "POSIX", "POSIX I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS },
	[ISOC] = { "ISOC", "ISO C I/O", OTF2_IO_PARADIGM_CLASS_SERIAL, OTF2_IO_PARADIGM_FLAG_OS },
	/* an adapter's */
	[SHARED] = { NULL, NULL, OTF2_IO_PARADIGM_CLASS_PARALLEL, OTF2_IO_PARADIGM_FLAG_NONE },
};

static const char *id_of(unsigned paradigm)
{
	return paradigms[paradigm].id ? paradigms[paradigm].id : gt_half_io()->id;
}

static const char *name_of(unsigned paradigm)
{
	return paradigms[paradigm].name ? paradigms[paradigm].name : gt_half_io()->name;
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* The handle with this id, as the process that recorded knows it. GT_UNDEFINED: it does not. */
uint32_t gt_archive_handle(struct gt_track *t, uint64_t id)
{
	uint64_t word = GT_WORD(GT_T_IO_OPEN, id);
	const struct gt_lookup_entry *entry = gt_lookup_find(&t->w->lookup, word);
	struct gt_handle handle = { .name = GT_UNDEFINED, .file = GT_UNDEFINED, .comm = GT_UNDEFINED };
	uint64_t key = (uint64_t)t->loc->proc->number << 32 | id;
	const struct gt_def_shared *def;
	const char *name;
	uint32_t number;

	if (entry)
		return entry->value;
	def = gt_proc_find(t->loc->proc, GT_D_HANDLE, (uint32_t)id, NULL);
	if (!def || id > UINT32_MAX || def->paradigm < 1 || def->paradigm > PARADIGMS)
		return GT_UNDEFINED;
	name = gt_proc_find(t->loc->proc, GT_D_STRING, def->name, NULL);
	handle.name = gt_defs_string(t->conv->defs, name ? name : "");
	if (name && def->flags & GT_HANDLE_FILE)
		handle.file = gt_defs_file(t->conv->defs, handle.name);
	handle.paradigm = (uint8_t)(def->paradigm - 1);
	handle.created = !(def->flags & GT_HANDLE_FOUND);
	handle.mode = (uint8_t)(def->flags >> GT_HANDLE_MODE_SHIFT);
	handle.status = (uint16_t)(def->flags >> GT_HANDLE_STATUS_SHIFT);
	if (def->paradigm == SHARED + 1) {
		if (!gt_half_shared(t, def, &handle.comm, &key))
			return GT_UNDEFINED;
		key |= UINT64_C(1) << 63; /* no process has so high a number */
	}
	number = gt_defs_handle(t->conv->defs, key, &handle);
	if (!gt_lookup_put(&t->w->lookup, word, number, 0))
		return gt_track_no_memory(t);
	return number;
}

/* All of them, if there is any I/O. */
static unsigned paradigm_count(const struct gt_defs *defs)
{
	return gt_table_count(&defs->files) || gt_table_count(&defs->handles)
		       ? gt_half_io() ? PARADIGMS : SHARED
		       : 0;
}

void gt_archive_prepare_io(struct gt_defs *defs)
{
	for (unsigned i = 0; i < paradigm_count(defs); i++) {
		gt_defs_string(defs, id_of(i));
		gt_defs_string(defs, name_of(i));
	}
}

OTF2_ErrorCode gt_archive_write_io(OTF2_GlobalDefWriter *writer, struct gt_defs *defs)
{
	const struct gt_handle *handles = defs->handles.items;
	const uint32_t *files = defs->files.items;
	uint32_t count = (uint32_t)gt_table_count(&defs->handles);
	OTF2_ErrorCode rc = OTF2_SUCCESS;

	for (unsigned i = 0; rc == OTF2_SUCCESS && i < paradigm_count(defs); i++)
		rc = OTF2_GlobalDefWriter_WriteIoParadigm(
			writer, (OTF2_IoParadigmRef)i, gt_defs_string(defs, id_of(i)),
			gt_defs_string(defs, name_of(i)), paradigms[i].class,
			paradigms[i].flags, 0, NULL, NULL, NULL);
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < gt_table_count(&defs->files); i++)
		rc = OTF2_GlobalDefWriter_WriteIoRegularFile(writer, i, files[i],
							     OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (uint32_t i = 0; rc == OTF2_SUCCESS && i < count; i++) {
		const struct gt_handle *h = &handles[i];

		rc = OTF2_GlobalDefWriter_WriteIoHandle(
			writer, i, h->name, h->file == GT_UNDEFINED ? OTF2_UNDEFINED_IO_FILE : h->file,
			h->paradigm,
			h->created ? OTF2_IO_HANDLE_FLAG_NONE : OTF2_IO_HANDLE_FLAG_PRE_CREATED,
			h->comm == GT_UNDEFINED ? OTF2_UNDEFINED_COMM : h->comm,
			OTF2_UNDEFINED_IO_HANDLE);
		if (rc == OTF2_SUCCESS && !h->created)
			rc = OTF2_GlobalDefWriter_WriteIoPreCreatedHandleState(writer, i, h->mode,
									      h->status);
	}
	return rc;
}

/* ---- events ------------------------------------------------------------------------------------ */

/* The operation that an IO_ENTER of this handle began last. Those within it did not come back. */
static bool pop(struct gt_track *t, uint32_t handle, struct gt_io_open *io)
{
	for (unsigned i = t->io_depth; i-- > 0;)
		if (t->io[i].handle == handle) {
			*io = t->io[i];
			t->io_depth = i;
			return true;
		}
	return false;
}

static void push(struct gt_track *t, struct gt_io_open io)
{
	unsigned most = sizeof(t->io) / sizeof(t->io[0]);

	if (t->io_depth == most) { /* the outermost were left by longjmp, most likely */
		memmove(t->io, t->io + 1, (most - 1) * sizeof(t->io[0]));
		t->io_depth--;
	}
	t->io[t->io_depth++] = io;
}

static void complete(struct gt_track *t, uint32_t handle, uint64_t bytes, uint64_t id, uint64_t ns)
{
	struct gt_io_open io = { .id = id };

	if (!id && !pop(t, handle, &io))
		t->w->tally.unknown_records++;
	else
		gt_track_write(t, IoOperationComplete, ns, handle, bytes, io.id);
}

static void io_short(struct gt_track *t, uint64_t word, uint64_t tick)
{
	uint32_t handle = gt_archive_handle(t, GT_IO_WORD_HANDLE(word)), bytes = GT_IO_WORD_BYTES(word);
	uint64_t ns;

	if (handle == GT_UNDEFINED) {
		t->w->tally.unknown_records++;
		return;
	}
	ns = gt_track_time(t, tick);
	if (GT_WORD_TYPE(word) == GT_T_IO_LEAVE) {
		complete(t, handle, bytes, 0, ns);
		return;
	}
	push(t, (struct gt_io_open){ .handle = handle, .id = ++t->io_ids });
	gt_track_write(t, IoOperationBegin, ns, handle, (OTF2_IoOperationMode)GT_IO_WORD_MODE(word),
		       OTF2_IO_OPERATION_FLAG_NONE, bytes == GT_IO_UNKNOWN ? UINT64_MAX : bytes, t->io_ids);
}

void gt_convert_io_delete(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const char *name = gt_proc_string(t->loc->proc, (uint32_t)GT_WORD_LOW(slot->word));
	uint64_t paradigm = slot[1].time - 1;
	uint32_t file;

	if (!name || paradigm >= PARADIGMS) {
		t->w->tally.unknown_records++;
		return;
	}
	file = gt_defs_file(t->conv->defs, gt_defs_string(t->conv->defs, name));
	gt_track_write(t, IoDeleteFile, gt_track_time(t, tick), (uint8_t)paradigm, file);
}

void gt_convert_io(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	unsigned type = GT_WORD_TYPE(slot->word);
	uint32_t handle = gt_archive_handle(t, GT_WORD_LOW(slot->word)), other = GT_UNDEFINED;
	uint32_t low, high;
	uint64_t ns;

	if (type == GT_T_IO_DUP)
		other = gt_archive_handle(t, slot[1].word);
	if (handle == GT_UNDEFINED || (type == GT_T_IO_DUP && other == GT_UNDEFINED)) {
		gt_convert_unknown(t, slot, tick);
		return;
	}
	ns = gt_track_time(t, tick);
	low = (uint32_t)slot[1].time;
	high = (uint32_t)(slot[1].time >> 32);
	switch (type) {
	case GT_T_IO_OPEN:
		gt_track_write(t, IoCreateHandle, ns, handle, (OTF2_IoAccessMode)low, high & 0xffff,
			       high >> 16);
		break;
	case GT_T_IO_CLOSE:
		gt_track_write(t, IoDestroyHandle, ns, handle);
		break;
	case GT_T_IO_BEGIN:
		gt_track_write(t, IoOperationBegin, ns, handle, (OTF2_IoOperationMode)low, high, slot[1].word,
			       slot[2].time);
		break;
	case GT_T_IO_COMPLETE:
		complete(t, handle, slot[2].word, slot[2].time, ns);
		break;
	case GT_T_IO_SEEK:
		gt_track_write(t, IoSeek, ns, handle, (int64_t)slot[1].word, (OTF2_IoSeekOption)low,
			       slot[2].word);
		break;
	case GT_T_IO_ISSUED:
		gt_track_write(t, IoOperationIssued, ns, handle, slot[2].time);
		break;
	case GT_T_IO_CANCELLED:
		gt_track_write(t, IoOperationCancelled, ns, handle, slot[2].time);
		break;
	case GT_T_IO_DUP:
		gt_track_write(t, IoDuplicateHandle, ns, handle, other, low);
		break;
	}
}

void gt_convert_io_enter(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	gt_track_enter_word(t, GT_WORD(GT_T_ENTER, GT_IO_WORD_REGION(slot->word)), tick);
	io_short(t, slot->word, tick);
}

void gt_convert_io_leave(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	io_short(t, slot->word, tick);
	gt_track_leave_word(t, GT_WORD(GT_T_LEAVE, GT_IO_WORD_REGION(slot->word)), tick);
}
