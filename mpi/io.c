/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO: files that are opened, read, written, moved in and closed.
 *
 * Limits: offsets of seeks are in units of the file's view, as the program gives them. What the MPI
 * library does to the file system for it is the matter of the I/O wrapper.
 */
#include <string.h>

#include "gputrace/ranks.h"
#include "mpi/comms.h"
#include "mpi/handles.h"
#include "mpi/io.h"


static void record(unsigned type, gt_ref file, uint32_t low, uint32_t high, uint64_t a, uint64_t id,
		   uint64_t b)
{
	gt_record(type, file, (uint64_t[4]){ low | (uint64_t)high << 32, a, id, b }, 2);
}

void gt_mpi_file_opened(bool on, MPI_Comm comm, const char *name, int mode, const MPI_File *file)
{
	const struct gt_mpi_comm *c = gt_mpi_comm_of(comm);
	struct gt_mpi_handle *f = c && c->ref ? gt_mpi_handle_add(GT_MPI_FILE, GT_MPI_BITS(*file)) : NULL;
	struct gt_shared_info info = { .bytes = sizeof(info), .name = name, .paradigm = GT_IO_PARADIGM_MPI,
				     .flags = GT_HANDLE_FILE };
	uint32_t access = mode & MPI_MODE_RDWR ? 2 : mode & MPI_MODE_WRONLY ? 1 : 0;
	uint32_t creation = (mode & MPI_MODE_CREATE ? 1 : 0) | (mode & MPI_MODE_EXCL ? 1 << 3 : 0) |
			    (mode & MPI_MODE_UNIQUE_OPEN ? 1 << 10 : 0) |
			    (mode & MPI_MODE_SEQUENTIAL ? 1 << 9 : 0);
	uint32_t status = (mode & MPI_MODE_APPEND ? 1 << 1 : 0) |
			  (mode & MPI_MODE_DELETE_ON_CLOSE ? 1 << 8 : 0);

	if (!f)
		return;
	info.parent = c->ref;
	info.key = gt_hash_mix(gt_mpi_comm_child(c), gt_hash_text(GT_HASH_START, name));
	f->ref = gt_def_shared(GT_SHARED_FILE, &info, GT_NONE);
	if (on && f->ref)
		record(GT_T_IO_OPEN, f->ref, access, creation | status << 16, 0, 0, 0);
}

static struct gt_mpi_handle *find(MPI_File file)
{
	struct gt_mpi_handle *f = gt_mpi_handle_find(GT_MPI_FILE, GT_MPI_BITS(file));

	return f && f->ref ? f : NULL;
}

void *gt_mpi_file_leaves(const MPI_File *file)
{
	return file ? gt_mpi_handle_leaves(GT_MPI_FILE, GT_MPI_BITS(*file)) : NULL;
}

void gt_mpi_file_left(bool on, void *file, int rc)
{
	struct gt_mpi_handle *f = file;

	if (!f)
		return;
	if (on && f->ref && rc == MPI_SUCCESS)
		record(GT_T_IO_CLOSE, f->ref, 0, 0, 0, 0, 0);
	gt_mpi_handle_left(GT_MPI_FILE, f, rc == MPI_SUCCESS);
}

void gt_mpi_file_deleted(const char *name)
{
	gt_ref text = gt_def_string(name);

	if (text)
		gt_record(GT_T_IO_DELETE, text, (uint64_t[2]){ GT_IO_PARADIGM_MPI, 0 }, 1);
}

void gt_mpi_file_together(MPI_File file)
{
	const struct gt_mpi_handle *f = find(file);
	static gt_ref attribute;
	gt_ref known = __atomic_load_n(&attribute, __ATOMIC_RELAXED);

	if (!f)
		return;
	if (!known)
		known = gt_def_attribute("MPI_FILE", "File that a collective call is about", GT_VALUE_FILE);
	__atomic_store_n(&attribute, known, __ATOMIC_RELAXED);
	gt_attribute(known, f->ref);
}

void gt_mpi_file_seek(MPI_File file, MPI_Offset offset, int whence, bool shared)
{
	const struct gt_mpi_handle *f = find(file);
	MPI_Offset now = 0;
	int rc;

	if (!f)
		return;
	rc = shared ? gt_mpi_File_get_position_shared()(file, &now)
		    : gt_mpi_File_get_position()(file, &now);
	record(GT_T_IO_SEEK, f->ref, whence == MPI_SEEK_SET ? 0 : whence == MPI_SEEK_CUR ? 1 : 2, 0,
	       (uint64_t)offset, 0, rc == MPI_SUCCESS ? (uint64_t)now : 0);
}

/* ---- operations ----------------------------------------------------------------------------- */

struct gt_mpi_op gt_mpi_io_begin(bool on, MPI_File file, unsigned mode, unsigned flags,
				 MPI_Count count, MPI_Datatype type)
{
	const struct gt_mpi_handle *f = on ? find(file) : NULL;
	struct gt_mpi_op op = { .kind = GT_MPI_NOTHING };
	uint64_t bytes;

	if (!f)
		return op;
	bytes = mode == GT_IO_OPERATION_MODE_FLUSH ? 0 : gt_mpi_bytes(count, type);
	op = (struct gt_mpi_op){ .kind = GT_MPI_IO, .active = true, .comm = f->ref,
				 .id = gt_mpi_new_id(), .bytes = bytes };
	record(GT_T_IO_BEGIN, f->ref, mode, flags, bytes, op.id, 0);
	return op;
}

void gt_mpi_io_end(const struct gt_mpi_op *op, int rc, const MPI_Status *status)
{
	if (op->kind != GT_MPI_NOTHING)
		record(GT_T_IO_COMPLETE, op->comm, 0, 0, 0, op->id,
		       rc == MPI_SUCCESS && status ? gt_mpi_status_bytes(status) : 0);
}

void gt_mpi_io_issued(bool on, const struct gt_mpi_op *op)
{
	if (on && op->kind != GT_MPI_NOTHING)
		record(GT_T_IO_ISSUED, op->comm, 0, 0, 0, op->id, 0);
}

void gt_mpi_io_cancelled(const struct gt_mpi_op *op)
{
	record(GT_T_IO_CANCELLED, op->comm, 0, 0, 0, op->id, 0);
}

/* A file has one split collective at a time. */
void gt_mpi_io_split(bool on, const struct gt_mpi_op *op, int rc, MPI_File file)
{
	struct gt_mpi_handle *f = find(file);

	if (!f || op->kind == GT_MPI_NOTHING)
		return;
	if (rc == MPI_SUCCESS) {
		gt_mpi_io_issued(on, op);
		f->split = *op;
	} else if (on) {
		gt_mpi_io_cancelled(op);
	}
}

struct gt_mpi_op gt_mpi_io_joined(MPI_File file)
{
	struct gt_mpi_handle *f = find(file);
	struct gt_mpi_op op = { .kind = GT_MPI_NOTHING };

	if (f) {
		op = f->split;
		f->split.kind = GT_MPI_NOTHING;
	}
	return op;
}
