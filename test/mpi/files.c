/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO in all its forms on files in a folder; says what it did as onesided.c does.
 *
 *     files FOLDER
 *
 * Limits: the default file view, but for one with another type.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int me, size;
static long opened, closed, begun, later, seeks, deleted;
static long long moved;

static void one(long bytes)
{
	begun++;
	moved += bytes;
}

static void later_one(long bytes)
{
	later++;
	one(bytes);
}

static void alone(MPI_File f)
{
	MPI_Offset base = (MPI_Offset)me * 1000;
	MPI_Request request;
	MPI_Status status;
	char data[200] = { 0 };
	int done = 0;

	MPI_File_write_at(f, base, data, 100, MPI_CHAR, &status);
	one(100);
	MPI_File_seek(f, base + 100, MPI_SEEK_SET);
	seeks++;
	MPI_File_write(f, data, 25, MPI_INT, MPI_STATUS_IGNORE);
	one(100);
	MPI_File_iwrite_at(f, base + 200, data, 50, MPI_CHAR, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	later_one(50);
	MPI_File_seek(f, -50, MPI_SEEK_CUR);
	seeks++;
	MPI_File_iread(f, data, 30, MPI_CHAR, &request);
	while (!done)
		MPI_Test(&request, &done, &status);
	later_one(30);
	MPI_File_read_at(f, base, data, 60, MPI_CHAR, MPI_STATUS_IGNORE);
	one(60);
}

static void together(MPI_File f)
{
	MPI_Offset base = (MPI_Offset)me * 1000;
	char data[200] = { 0 };

	MPI_File_write_at_all(f, base, data, 200, MPI_CHAR, MPI_STATUS_IGNORE);
	one(200);
	MPI_File_write_at_all_begin(f, base, data, 80, MPI_CHAR);
	MPI_File_write_at_all_end(f, data, MPI_STATUS_IGNORE);
	later_one(80);
	MPI_File_sync(f);
	begun++;
	MPI_File_read_at_all(f, base, data, 90, MPI_CHAR, MPI_STATUS_IGNORE);
	one(90);
	MPI_File_seek(f, base, MPI_SEEK_SET);
	seeks++;
	MPI_File_read_all_begin(f, data, 10, MPI_CHAR);
	MPI_File_read_all_end(f, data, MPI_STATUS_IGNORE);
	later_one(10);
}

int main(int argc, char **argv)
{
	char name[4096], own[4096];
	long mine[6], all[6];
	long long bytes;
	MPI_File f;
	char data[64] = { 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof(name), "%s/together", argv[1]);
	snprintf(own, sizeof(own), "%s/own.%d", argv[1], me);

	if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f))
		MPI_Abort(MPI_COMM_WORLD, 3);
	opened++;
	alone(f);
	together(f);
	MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	MPI_File_write_at(f, 2 * me, data, 2, MPI_INT, MPI_STATUS_IGNORE);
	one(8);
	MPI_File_close(&f);
	closed++;

	MPI_File_open(MPI_COMM_SELF, own, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
	opened++;
	MPI_File_write(f, data, 64, MPI_CHAR, MPI_STATUS_IGNORE);
	one(64);
	MPI_File_close(&f);
	closed++;
	MPI_File_delete(own, MPI_INFO_NULL);
	deleted++;

	mine[0] = opened, mine[1] = closed, mine[2] = begun, mine[3] = later, mine[4] = seeks;
	mine[5] = deleted;
	MPI_Reduce(mine, all, 6, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&moved, &bytes, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (me == 0)
		printf("count IO_CREATE_HANDLE %ld\ncount IO_DESTROY_HANDLE %ld\n"
		       "count IO_OPERATION_BEGIN %ld\ncount IO_OPERATION_COMPLETE %ld\n"
		       "count IO_OPERATION_ISSUED %ld\ncount IO_SEEK %ld\ncount IO_DELETE_FILE %ld\n"
		       "bytes IO_OPERATION_COMPLETE %lld\n",
		       all[0], all[1], all[2], all[2], all[3], all[4], all[5], bytes);
	MPI_Finalize();
	return 0;
}
