/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included by the generated wrappers (wrap-<flavour>.c): all of the adapter, and short names for the table
 * in gen.py. Limits: included by them only.
 */
#ifndef GT_MPI_WRAP_H
#define GT_MPI_WRAP_H

#include "mpi/choose.h"
#include "mpi/colls.h"
#include "mpi/comms.h"
#include "mpi/hosts.h"
#include "mpi/init.h"
#include "mpi/io.h"
#include "mpi/messages.h"
#include "mpi/rma.h"

#define N                  ((uint64_t)c.size)
#define AT(list)           ((list) ? (list)[c.me] : 0)
#define NEAR(n)            ((uint64_t)((n) - __builtin_popcountll(c.nulls)))
#define NSUM(n, counts, type) gt_mpi_some(&c, n, sizeof((counts)[0]), counts, &(type), true)
#define NSUMW(n, counts, types) gt_mpi_some(&c, n, sizeof((counts)[0]), counts, types, false)
#define SUM(counts, type)  gt_mpi_sum(c.size, sizeof((counts)[0]), counts, type)
#define SUMW(counts, types) gt_mpi_sum_types(c.size, sizeof((counts)[0]), counts, types)

#endif
