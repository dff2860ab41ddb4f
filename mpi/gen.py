#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the wrappers of all MPI functions from what the preprocessor makes of each mpi.h.

    gen.py stubs OUT FLAVOUR=PREPROCESSED...        the entry points of libgputrace-mpi.so
    gen.py wrap OUT FLAVOUR FLAVOUR=PREPROCESSED... the wrappers for one MPI
    gen.py real OUT FLAVOUR FLAVOUR=PREPROCESSED... what they and the adapter call
    gen.py faulty WRAPPERS MESSAGES                 functions in which the compiler found errors

--without=FLAVOUR:NAME,... leaves wrappers out: of functions that an mpi.h nobody has met yet declares in a way
that does not compile here. Calls of them reach the MPI and are not recorded; what the adapter calls itself is
still there. The table below says what a function means; all others are entered and left. Limits:
functions with a variable number of arguments, conversions of handles and the clock are not wrapped.
"""
import os
import re
import sys

# ---- what is not wrapped ------------------------------------------------------------------------

NOT = re.compile(r"_(f2c|c2f|f082c|c2f08|f082f|f2f08|fromint|toint)$|^MPI_(Wtime|Wtick|Pcontrol|Aint_add|Aint_diff)$")

# ---- roles of regions (OTF2_RegionRole) ---------------------------------------------------------

ROLES = [
    (r"I?barrier(_init)?$", 15),
    (r"I?(bcast|scatterv?)(_init)?$", 23),
    (r"I?(reduce|gatherv?)(_init)?$", 24),
    (r"I?(neighbor_)?(allgatherv?|alltoall[vw]?|allreduce|reduce_scatter(_block)?|scan|exscan)(_init)?$", 25),
    (r"([BSR]|)send(_init)?$|I[bsr]?send$|I?recv(_init)?$|I?sendrecv(_replace)?$|I?m?probe$|Improbe$|I?mrecv$"
     r"|P(send|recv)_init$|Start(all)?$|(Wait|Test)(all|any|some)?$|Cancel$|Test_cancelled$|Request_|Pready|Parrived"
     r"|Buffer_", 28),
    (r"Win_|R?put$|R?get$|R?accumulate$|R?get_accumulate$|Fetch_and_op$|Compare_and_swap$", 29),
    (r"File_(open|close|delete|set|get_(size|info|amode|view|group|byte|position|atomicity|type))", 38),
    (r"File_", 27),
    (r"Comm_(dup|create|split|idup|spawn|accept|connect|join|free|disconnect)|Cart_(create|sub)|.*raph_create"
     r"|Intercomm_|Finalize$|Init(_thread)?$", 26),
    (r"Alloc_mem$", 35),
    (r"Free_mem$", 36),
]

# ---- what functions mean ------------------------------------------------------------------------
# name without MPI_, before the call, after it. $1 is the first argument ...; `rc` is the result,
# `on` whether the call is recorded. BEGIN(f, arguments) and END(f, arguments) take the place of
# gt_mpi_begin() and gt_mpi_end(). A function of the same name with _c takes large counts.

MEANING = []


def mean(names, before="", after=""):
    for name in names.split():
        MEANING.append((name, before, after))


STATUS = "MPI_Status own; if ($%d == MPI_STATUS_IGNORE) $%d = &own;\n\t"


def own(n):
    return STATUS % (n, n)


mean("Init Init_thread", "gt_mpi_hosts_begin();", "if (rc == MPI_SUCCESS) gt_mpi_initialized();")
mean("Finalize", "gt_mpi_finalizing();", "if (on) gt_mpi_freed_received();")
mean("Abort", "gt_mpi_aborting($2);")

REFUSED = "if (on && rc != MPI_SUCCESS) gt_mpi_send_refused(rc, %s, $4, $2, $3);"
mean("Send Bsend Ssend Rsend", "BEGIN(gt_mpi_begin_send, $6, $4, $5, $2, $3)", REFUSED % "$6")
mean("Recv", own(7), "END(gt_mpi_end_recv, rc, $6, $7, $2, $3)")
mean("Sendrecv", own(12) + "BEGIN(gt_mpi_begin_send, $11, $4, $5, $2, $3)", REFUSED % "$11" + " END(gt_mpi_end_recv, rc, $11, $12, $7, $8)")
mean("Sendrecv_replace", own(9) + "BEGIN(gt_mpi_begin_send, $8, $4, $5, $2, $3)",
     REFUSED % "$8" + " END(gt_mpi_end_recv, rc, $8, $9, $2, $3)")
mean("Isend Ibsend Issend Irsend", "struct gt_mpi_op begun; gt_mpi_isend(&begun, on, $6, $4, $5, $2, $3);",
     "gt_mpi_bind(on, &begun, rc, $7);")
mean("Irecv", "struct gt_mpi_op begun; gt_mpi_irecv(&begun, on, $6, $4, $5, $2, $3);",
     "gt_mpi_bind(on, &begun, rc, $7);")
for name, comm, source, count in (("Isendrecv", 11, 9, 7), ("Isendrecv_replace", 8, 6, 2)):
    mean(name, "struct gt_mpi_op begun = gt_mpi_isendrecv(on, $%d, $4, $5, $2, $3, $%d, $%d, $%d, $%d);" % (
        comm, source, source + 1, count, count + 1), "gt_mpi_bind(on, &begun, rc, $%d);" % (comm + 1))
mean("Send_init Bsend_init Ssend_init Rsend_init", "",
     "if (rc == MPI_SUCCESS) gt_mpi_persistent(GT_MPI_SEND, $7, $6, $4, $5, $2, $3);")
mean("Recv_init", "", "if (rc == MPI_SUCCESS) gt_mpi_persistent(GT_MPI_RECV, $7, $6, $4, $5, $2, $3);")
mean("Psend_init", "",
     "if (rc == MPI_SUCCESS) gt_mpi_persistent(GT_MPI_SEND, $9, $7, $5, $6, $2 * (MPI_Count)$3, $4);")
mean("Precv_init", "",
     "if (rc == MPI_SUCCESS) gt_mpi_persistent(GT_MPI_RECV, $9, $7, $5, $6, $2 * (MPI_Count)$3, $4);")
mean("Start", "gt_mpi_start(on, 1, $1);", "if (rc != MPI_SUCCESS) gt_mpi_start_failed(on, 1, $1);")
mean("Startall", "gt_mpi_start(on, $1, $2);", "if (rc != MPI_SUCCESS) gt_mpi_start_failed(on, $1, $2);")
mean("Cancel", "gt_mpi_cancel($1);")
mean("Request_free", "gt_mpi_forget(on, $1);")

mean("Mprobe", "", "if (rc == MPI_SUCCESS) gt_mpi_matched(on, $4, $3);")
mean("Improbe", "", "if (rc == MPI_SUCCESS && *$4) gt_mpi_matched(on, $5, $3); POLL(rc == MPI_SUCCESS && !*$4)")
mean("Mrecv", own(5) + "struct gt_mpi_op begun = gt_mpi_mrecv($4);",
     "gt_mpi_mrecv_done(on, rc, &begun, $4, $5, $2, $3);")
mean("Imrecv", "struct gt_mpi_op begun = gt_mpi_imrecv(on, $4, $2, $3);",
     "gt_mpi_bind(on, &begun, rc, $5); if (rc != MPI_SUCCESS) gt_mpi_imrecv_failed(&begun, $4);")
mean("Iprobe", "", "POLL(rc == MPI_SUCCESS && !*$4)")
mean("Request_get_status", "", "POLL(rc == MPI_SUCCESS && !*$2)")

mean("Wait", own(2) + "void *was = gt_mpi_look($1);", "gt_mpi_complete(on, rc, was, $1, $2);")
mean("Test", own(3) + "void *was = gt_mpi_look($1);",
     "if (rc != MPI_SUCCESS || *$2) gt_mpi_complete(on, rc, was, $1, $3); POLL(rc == MPI_SUCCESS && !*$2)")
mean("Waitany", own(4) + "GT_MPI_LIST list = gt_mpi_list_of($1, $2, NULL);",
     "gt_mpi_complete_one(on, rc, &list, *$3, $2, $4);")
mean("Testany", own(5) + "GT_MPI_LIST list = gt_mpi_list_of($1, $2, NULL);",
     "if (rc != MPI_SUCCESS || *$4) gt_mpi_complete_one(on, rc, &list, *$3, $2, $5); "
     "POLL(rc == MPI_SUCCESS && !*$4)")
mean("Waitall", "GT_MPI_LIST list = gt_mpi_list_of($1, $2, &$3);",
     "gt_mpi_complete_all(on, rc, &list, $3);")
mean("Testall", "GT_MPI_LIST list = gt_mpi_list_of($1, $2, &$4);",
     "if (rc != MPI_SUCCESS || *$3) gt_mpi_complete_all(on, rc, &list, $4); "
     "POLL(rc == MPI_SUCCESS && !*$3)")
mean("Waitsome", "GT_MPI_LIST list = gt_mpi_list_of($1, $2, &$5);",
     "gt_mpi_complete_some(on, rc, &list, *$3, $4, $5);")
mean("Testsome", "GT_MPI_LIST list = gt_mpi_list_of($1, $2, &$5);",
     "gt_mpi_complete_some(on, rc, &list, *$3, $4, $5); POLL(rc == MPI_SUCCESS && *$3 == 0)")

# Communicators that all members of another one make together; which argument is the new one.
for names, made in (("Comm_dup", 2), ("Comm_dup_with_info Comm_create Cart_sub Intercomm_merge", 3), ("Comm_split", 4),
                    ("Comm_split_type", 5), ("Cart_create Graph_create", 6), ("Dist_graph_create", 9),
                    ("Dist_graph_create_adjacent", 10)):
    mean(names, "struct gt_mpi_coll c = { 0 }; if (on) { c = gt_mpi_coll_of($1, 17, GT_MPI_ROOTLESS); gt_mpi_coll_begin(&c); }",
         "if (rc == MPI_SUCCESS) gt_mpi_comm_made($1, $%d); if (on) gt_mpi_coll_end(&c, rc);" % made)
# Processes of other jobs. Where the communicator, the root, the new one and the port are.
MEET_CALL = ("struct gt_mpi_coll c = { 0 }; uint64_t began = gt_now(); "
             "if (on) { c = gt_mpi_coll_of($%d, 17, GT_MPI_ROOTLESS); gt_mpi_coll_begin(&c); }")
for names, comm, root, made, what in (
        ("Comm_spawn", 6, 5, 7, "spawned(began, $%d, $%d, "), ("Comm_spawn_multiple", 7, 6, 8, "spawned(began, $%d, $%d, "),
        ("Comm_accept", 4, 3, 5, "met(true, began, $%d, $%d, $1, "), ("Comm_connect", 4, 3, 5, "met(false, began, $%d, $%d, $1, ")):
    mean(names, MEET_CALL % comm, "if (rc == MPI_SUCCESS) gt_mpi_comm_" + what % (comm, root) +
         "$%d); if (on) gt_mpi_coll_end(&c, rc);" % made)
mean("Comm_join", "uint64_t began = gt_now();", "if (rc == MPI_SUCCESS) gt_mpi_comm_joined(began, $1, $2);")
mean("Comm_idup", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_later($1, $2, $3);")
mean("Comm_idup_with_info", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_later($1, $3, $4);")
mean("Comm_create_group", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_by_group($1, $3, $4);")
mean("Intercomm_create", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_by_group($1, $5, $6);")
# Sessions: MPI goes on until the last one has ended.
mean("Session_init", "",
     "MPI_Group all;\n\tif (rc == MPI_SUCCESS && gt_mpi_Group_from_session_pset()(*$3, \"mpi://WORLD\", &all) == MPI_SUCCESS)"
     "\n\t\tgt_mpi_session_begun(all);")
mean("Session_finalize", "gt_mpi_comms_end();")
mean("Comm_create_from_group", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_by_tag($2, $5);")
mean("Intercomm_create_from_groups", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_by_tag($5, $8);")
mean("Comm_free Comm_disconnect", "struct gt_mpi_comm *left = gt_mpi_comm_leaves($1);", "gt_mpi_comm_left(left, rc);")
mean("Comm_set_name", "", "if (rc == MPI_SUCCESS) gt_mpi_comm_named($1, $2);")

# Collectives: OTF2_CollectiveOp, position of the communicator, root, bytes sent and received.
COLL = [
    ("barrier", 0, 1, None, "0", "0"),
    ("bcast", 1, 5, 4, "c.root ? N * gt_mpi_bytes($2, $3) : 0", "c.takes ? gt_mpi_bytes($2, $3) : 0"),
    ("gather", 2, 8, 7, "c.gives && $1 != MPI_IN_PLACE ? gt_mpi_bytes($2, $3) : 0",
     "c.root ? (N - ($1 == MPI_IN_PLACE)) * gt_mpi_bytes($5, $6) : 0"),
    ("gatherv", 3, 9, 8, "c.gives && $1 != MPI_IN_PLACE ? gt_mpi_bytes($2, $3) : 0",
     "c.root ? SUM($5, $7) - ($1 == MPI_IN_PLACE ? gt_mpi_bytes(AT($5), $7) : 0) : 0"),
    ("scatter", 4, 8, 7, "c.root ? (N - ($4 == MPI_IN_PLACE)) * gt_mpi_bytes($2, $3) : 0",
     "c.takes && $4 != MPI_IN_PLACE ? gt_mpi_bytes($5, $6) : 0"),
    ("scatterv", 5, 9, 8, "c.root ? SUM($2, $4) - ($5 == MPI_IN_PLACE ? gt_mpi_bytes(AT($2), $4) : 0) : 0",
     "c.takes && $5 != MPI_IN_PLACE ? gt_mpi_bytes($6, $7) : 0"),
    ("allgather", 6, 7, None,
     "$1 == MPI_IN_PLACE ? (N - 1) * gt_mpi_bytes($5, $6) : N * gt_mpi_bytes($2, $3)",
     "(N - ($1 == MPI_IN_PLACE)) * gt_mpi_bytes($5, $6)"),
    ("allgatherv", 7, 8, None,
     "$1 == MPI_IN_PLACE ? (N - 1) * gt_mpi_bytes(AT($5), $7) : N * gt_mpi_bytes($2, $3)",
     "SUM($5, $7) - ($1 == MPI_IN_PLACE ? gt_mpi_bytes(AT($5), $7) : 0)"),
    ("alltoall", 8, 7, None,
     "$1 == MPI_IN_PLACE ? (N - 1) * gt_mpi_bytes($5, $6) : N * gt_mpi_bytes($2, $3)",
     "(N - ($1 == MPI_IN_PLACE)) * gt_mpi_bytes($5, $6)"),
    ("alltoallv", 9, 9, None,
     "$1 == MPI_IN_PLACE ? SUM($6, $8) - gt_mpi_bytes(AT($6), $8) : SUM($2, $4)",
     "SUM($6, $8) - ($1 == MPI_IN_PLACE ? gt_mpi_bytes(AT($6), $8) : 0)"),
    ("alltoallw", 10, 9, None,
     "$1 == MPI_IN_PLACE ? SUMW($6, $8) - gt_mpi_bytes(AT($6), AT($8)) : SUMW($2, $4)",
     "SUMW($6, $8) - ($1 == MPI_IN_PLACE ? gt_mpi_bytes(AT($6), AT($8)) : 0)"),
    ("allreduce", 11, 6, None, "gt_mpi_bytes($3, $4)", "gt_mpi_bytes($3, $4)"),
    ("reduce", 12, 7, 6, "c.gives ? gt_mpi_bytes($3, $4) : 0", "c.root ? N * gt_mpi_bytes($3, $4) : 0"),
    ("reduce_scatter", 13, 6, None, "gt_mpi_sum(c.local, sizeof($3[0]), $3, $4)", "N * gt_mpi_bytes(AT($3), $4)"),
    ("scan", 14, 6, None, "gt_mpi_bytes($3, $4)", "gt_mpi_bytes($3, $4)"),
    ("exscan", 15, 6, None, "gt_mpi_bytes($3, $4)", "c.me ? gt_mpi_bytes($3, $4) : 0"),
    ("reduce_scatter_block", 16, 6, None, "N * gt_mpi_bytes($3, $4)", "N * gt_mpi_bytes($3, $4)"),
]
MEET = [0, 6, 7, 8, 9, 10, 11] # nobody leaves before all have come
# Among neighbours of a topology: what all do together, but each with its own partners only.
NEAR = [
    ("allgather", 6, 7, "NEAR(c.out) * gt_mpi_bytes($2, $3)", "NEAR(c.in) * gt_mpi_bytes($5, $6)"),
    ("allgatherv", 7, 8, "NEAR(c.out) * gt_mpi_bytes($2, $3)", "NSUM(c.in, $5, $7)"),
    ("alltoall", 8, 7, "NEAR(c.out) * gt_mpi_bytes($2, $3)", "NEAR(c.in) * gt_mpi_bytes($5, $6)"),
    ("alltoallv", 9, 9, "NSUM(c.out, $2, $4)", "NSUM(c.in, $6, $8)"),
    ("alltoallw", 10, 9, "NSUMW(c.out, $2, $4)", "NSUMW(c.in, $6, $8)"),
]
COLL = [(n, o, c, r, s, t, "") for n, o, c, r, s, t in COLL]
COLL += [("neighbor_" + n, o, c, None, s, t, "gt_mpi_neighbours($%d, &c); " % c) for n, o, c, s, t in NEAR]
for name, number, comm, root, sent, received, more in COLL:
    look = "struct gt_mpi_coll c = gt_mpi_coll_of($%d, %d, %s); " % (comm, number, "$%d" % root if root else "GT_MPI_ROOTLESS")
    size = more + "if (c.ref) { c.sent = %s; c.received = %s; } " % (sent, received)
    mean(name.capitalize(), "struct gt_mpi_coll c = { 0 }; if (on) { " + look.replace("struct gt_mpi_coll c", "c") +
         size + "gt_mpi_coll_begin(&c); }", "if (on) gt_mpi_coll_end(&c, rc);" +
         ("\n\tif (rc == MPI_SUCCESS)\n\t\tgt_mpi_met($%d);" % comm if number in MEET and not more else ""))
    mean("I" + name, look + size + "struct gt_mpi_op begun = gt_mpi_icoll(on, &c);",
         "gt_mpi_bind(on, &begun, rc, $%d);" % (comm + 1))
    mean(name.capitalize() + "_init", "",
         "if (rc == MPI_SUCCESS) { " + look + size + "gt_mpi_coll_init(&c, $%d); }" % (comm + 2))

# ---- one-sided -----------------------------------------------------------------------------------

for names, comm, win, memory in (("Win_create", 5, 6, 0), ("Win_allocate Win_allocate_shared", 4, 6, 1),
                                 ("Win_create_dynamic", 2, 3, 0)):
    mean(names, "uint64_t began = on ? gt_now() : 0;",
         "if (rc == MPI_SUCCESS) gt_mpi_win_made(began, $%d, %s, $%d);" % (comm, "true" if memory else "false", win))
mean("Win_free", "uint64_t began = on ? gt_now() : 0; void *left = gt_mpi_win_leaves($1);", "gt_mpi_win_left(began, left, rc);")
mean("Win_set_name", "", "if (rc == MPI_SUCCESS) gt_mpi_win_named($1, $2);")

# position of target and window, what it is, bytes out and in; of the same with a request: its position
ACCESS = [
    ("Put", "Rput", 4, 8, "GT_MPI_PUT", "gt_mpi_bytes($6, $7)", "0"),
    ("Get", "Rget", 4, 8, "GT_MPI_GET", "gt_mpi_bytes($6, $7)", "0"),
    ("Accumulate", "Raccumulate", 4, 9, "GT_MPI_ATOMIC", "gt_mpi_bytes($6, $7)", "0"),
    ("Get_accumulate", "Rget_accumulate", 7, 12, "GT_MPI_ATOMIC + 7", "gt_mpi_bytes($2, $3)", "gt_mpi_bytes($5, $6)"),
    ("Fetch_and_op", None, 4, 7, "gt_mpi_fetch_kind($6)", "gt_mpi_bytes(1, $3)", "gt_mpi_bytes(1, $3)"),
    ("Compare_and_swap", None, 5, 7, "GT_MPI_ATOMIC + 3", "gt_mpi_bytes(1, $4)", "gt_mpi_bytes(1, $4)"),
]
for name, later, target, win, kind, out, back in ACCESS:
    if name == "Get_accumulate": # with MPI_NO_OP the first buffer is not looked at
        out = "($11 == MPI_NO_OP ? 0 : %s)" % out
    call = "$%d, $%d, %s, %s, %s)" % (win, target, kind, out, back)
    begun = "struct gt_mpi_op begun = gt_mpi_access(on, " + call + ";"
    under_way = "if (rc == MPI_SUCCESS) gt_mpi_accessed(&begun, $%d, %%s);" % win
    mean(name, begun, under_way % "false")
    if later:
        mean(later, begun, under_way % "true" + " gt_mpi_bind(on, &begun, rc, $%d);" % (win + 1))

mean("Win_fence", "uint64_t began = on ? gt_now() : 0;", "if (on && rc == MPI_SUCCESS) gt_mpi_win_fenced(began, $2);")
DONE = "if (on && rc == MPI_SUCCESS) "
mean("Win_start", "", DONE + "gt_mpi_win_start($3, $1);")
mean("Win_complete", "", DONE + "gt_mpi_win_complete($1);")
mean("Win_post", "", DONE + "gt_mpi_win_post($3, $1);")
mean("Win_wait", "", DONE + "gt_mpi_win_wait($1);")
mean("Win_test", "", "if (on && rc == MPI_SUCCESS && *$2) gt_mpi_win_wait($1); POLL(rc == MPI_SUCCESS && !*$2)")
mean("Win_lock", "if (on) gt_mpi_win_lock($4, $2, $1, false);", DONE + "gt_mpi_win_lock($4, $2, $1, true);")
mean("Win_lock_all", "if (on) gt_mpi_win_lock($2, GT_MPI_ALL_TARGETS, MPI_LOCK_SHARED, false);",
     DONE + "gt_mpi_win_lock($2, GT_MPI_ALL_TARGETS, MPI_LOCK_SHARED, true);")
mean("Win_unlock", "", DONE + "gt_mpi_win_unlock($2, $1);")
mean("Win_unlock_all", "", DONE + "gt_mpi_win_unlock($1, GT_MPI_ALL_TARGETS);")
for name, win, target in (("Win_flush", 2, "$1"), ("Win_flush_all", 1, "GT_MPI_ALL_TARGETS")):
    mean(name, "", DONE + "gt_mpi_win_flushed($%d, %s, true);" % (win, target))
    mean(name.replace("flush", "flush_local"), "", DONE + "gt_mpi_win_flushed($%d, %s, false);" % (win, target))
mean("Win_sync", "", DONE + "gt_mpi_win_sync($1);")

# ---- files ---------------------------------------------------------------------------------------

mean("File_open", "", "if (rc == MPI_SUCCESS) gt_mpi_file_opened(on, $1, $2, $3, $5);")
mean("File_close", "void *left = gt_mpi_file_leaves($1);", "gt_mpi_file_left(on, left, rc);")
mean("File_delete", "", DONE + "gt_mpi_file_deleted($1);")
mean("File_seek", "", DONE + "gt_mpi_file_seek($1, $2, $3, false);")
mean("File_seek_shared", "", "if (on && rc == MPI_SUCCESS) { gt_mpi_file_seek($1, $2, $3, true); gt_mpi_file_together($1); }")
mean("File_set_view File_set_size File_preallocate File_set_atomicity File_set_info", "", DONE + "gt_mpi_file_together($1);")
mean("File_sync", "struct gt_mpi_op begun = gt_mpi_io_begin(on, $1, GT_IO_OPERATION_MODE_FLUSH, GT_MPI_IO_COLLECTIVE, 0, MPI_BYTE);",
     "if (on) gt_mpi_io_end(&begun, rc, NULL);")
for verb in ("read", "write"):
    for suffix, count, together in (("", 3, False), ("_shared", 3, False), ("_at", 4, False), ("_all", 3, True),
                                    ("_ordered", 3, True), ("_at_all", 4, True)):
        def begun(later):
            flags = " | ".join((["GT_MPI_IO_LATER"] if later else []) + (["GT_MPI_IO_COLLECTIVE"] if together else []))
            return "struct gt_mpi_op begun = gt_mpi_io_begin(on, $1, GT_IO_OPERATION_MODE_%s, %s, $%d, $%d);" % (
                verb.upper(), flags or "0", count, count + 1)
        mean("File_" + verb + suffix, own(count + 2) + begun(False), "if (on) gt_mpi_io_end(&begun, rc, $%d);" % (count + 2))
        mean("File_i" + verb + suffix, begun(True),
             "if (rc == MPI_SUCCESS) gt_mpi_io_issued(on, &begun); "
             "gt_mpi_bind(on, &begun, rc, $%d);" % (count + 2))
        if together:
            mean("File_" + verb + suffix + "_begin", begun(True), "gt_mpi_io_split(on, &begun, rc, $1);")
            mean("File_" + verb + suffix + "_end", own(3) + "struct gt_mpi_op begun = gt_mpi_io_joined($1);",
                 "if (on) gt_mpi_io_end(&begun, rc, $3);")

MEANING = {name: (before, after) for name, before, after in MEANING}

# ---- reading mpi.h ------------------------------------------------------------------------------


def without_attributes(text):
    out = ""
    while True:
        at = text.find("__attribute__")
        if at < 0:
            return out + text
        out += text[:at]
        at = text.index("(", at)
        depth = 0
        while True:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
            if depth == 0:
                break
        text = text[at:]


def split(arguments):
    parts, depth = [""], 0
    for c in arguments:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(c, 0)
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts]


def read(path):
    with open(path, encoding="utf-8") as f:
        text = without_attributes(f.read())
    text = re.sub(r"\{[^{}]*\}", ";", re.sub(r"^#.*$", "", text, flags=re.M))
    functions = {}
    for statement in text.split(";"):
        statement = " ".join(statement.split())
        found = re.fullmatch(r"(?:extern )?([A-Za-z_][\w ]*?[ *]+)(MPI_[A-Z](?:[a-z]\w*|_[a-z]\w*))\s*\((.*)\)", statement)
        if not found or statement.startswith("typedef"):
            continue
        kind, name, arguments = found.group(1).strip(), found.group(2), found.group(3)
        if "..." in arguments or NOT.search(name):
            continue
        parameters = [] if arguments.strip() in ("void", "") else split(arguments)
        last = [re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*$", parameter) for parameter in parameters]
        if all(last):
            functions[name] = (kind, parameters, [found.group(1) for found in last])
        else:
            print("gen.py: left out, because it cannot be read: " + statement, file=sys.stderr)
    if "MPI_Send" not in functions:
        sys.exit("gen.py: no MPI_Send in " + path)
    return functions


# ---- writing ------------------------------------------------------------------------------------

HEAD = """/* SPDX-License-Identifier: BSD-3-Clause */
/* Made by mpi/gen.py: %s. Limits: see there. */
"""


def stubs(out, every):
    names = sorted(set().union(*every.values()))
    out.write(HEAD % "the entry points")
    out.write('#include "mpi/choose.h"\n\nconst char *const gt_mpi_names[] = {\n')
    out.writelines('\t"%s",\n' % n for n in names)
    out.write("};\nconst unsigned gt_mpi_count = %d;\n\n" % len(names))
    entries = ["P" * p + n for n in names for p in (0, 1)]
    out.write("__asm__(\n")
    for i, n in enumerate(entries):
        out.write('\tGT_MPI_STUB("%s", "%d")\n' % (n, i))
    out.write('\tGT_MPI_TABLE_BEGIN\n')
    for i in range(len(entries)):
        out.write('\tGT_MPI_TABLE_ENTRY("%d")\n' % i)
    out.write("\tGT_MPI_TABLE_END);\n")


def role(name):
    short = re.sub(r"_c$", "", name[4:])
    for pattern, number in ROLES:
        if re.match("(?:" + pattern + ")", short):
            return number
    return 1


# Buffers of messages: the first that is only read, and the first that may be written.
BUFFERS = re.compile(r"(const )?void \*\s*((?:send|recv)?buf(?:fer)?|origin_addr|result_addr|compare_addr|inbuf|outbuf)$")
NO_MESSAGE = re.compile(r"^MPI_(Buffer|Comm_(attach|detach)|Session)_|_buffer$")


def buffers(name, parameters):
    found = {True: "NULL", False: "NULL"}
    for parameter in parameters if not NO_MESSAGE.search(name) else ():
        match = BUFFERS.match(parameter)
        if match and found[bool(match.group(1))] == "NULL":
            found[bool(match.group(1))] = match.group(2)
    return found[True], found[False]


def body(name, function, index):
    kind, parameters, names = function
    gives = kind != "void"
    code = "rc" if kind == "int" else "MPI_SUCCESS" # what is no error code says nothing of errors
    short = name[4:]
    meaning = MEANING.get(short) or MEANING.get(re.sub(r"_c$", "", short)) or ("", "")

    def fill(text):
        return re.sub(r"\$(\d+)", lambda m: names[int(m.group(1)) - 1], text)

    before, after = (re.sub(r"; (?=if |gt_)", ";\n\t", fill(text)) for text in meaning)
    poll = "POLL(" in after
    special = {"BEGIN": None, "END": None}
    for word in special:
        found = re.search(word + r"\((\w+), (.*)\)$", before if word == "BEGIN" else after)
        if found:
            special[word] = found.groups()
            before, after = (before[:found.start()], after) if word == "BEGIN" else (before, after[:found.start()])
    if poll:
        after = re.sub(r"\s?POLL\((.*)\)$", r"\n\tidle = \1;", after).lstrip()
    call = "real(%s)" % ", ".join(names)
    # MPI_ and PMPI_ functions share one body, but for those whose few instructions count.
    fast = poll or any(special.values()) or re.search("gt_mpi_(bind|complete)", after)
    lines = ["static %s %s body_%s(%sunsigned level)" %
             ("inline __attribute__((always_inline))" if fast else "__attribute__((noinline))", kind, name,
              "".join(q + ", " for q in parameters)),
             "{",
             "\t%s (*real)(%s) = (__typeof__(real))gt_mpi_real[2 * %d + level];" %
             (kind, ", ".join(parameters) or "void", index),
             *(["\t%s rc;" % kind] if gives else []), "\tbool on;"]
    if poll:
        lines += ["\tbool idle = false;", "\tstruct gt_mpi_poll polled;"]
    lines += ["", "\tif (gt_mpi_nested())%s" % ("" if gives else " {"),
              "\t\treturn %s;" % call if gives else "\t\t%s;\n\t\treturn;\n\t}" % call]
    if buffers(name, parameters) != ("NULL", "NULL"):
        lines.append("\tgt_mpi_buffers(%s, %s);" % buffers(name, parameters))
    if poll:
        lines.append("\ton = gt_mpi_poll_begin(%d, &polled);" % index)
    else:
        lines.append("\ton = %s(%d%s);" % ((special["BEGIN"][0], index, ", " + special["BEGIN"][1]) if special["BEGIN"]
                                           else ("gt_mpi_begin", index, "")))
    if before:
        lines.append("\t" + before.rstrip())
    lines.append("\t%s%s;" % ("rc = " if gives else "", call))
    if poll:
        lines.append("\tgt_mpi_poll_found(%d, on, &polled, rc != MPI_SUCCESS || %s);" % (index, fill(FOUND[re.sub('_c$', '', short)])))
    if after:
        lines.append("\t" + after)
    if poll:
        lines.append("\tgt_mpi_poll_end(%d, on, rc, &polled, idle);" % index)
    elif special["END"]:
        lines.append("\t%s(%d, on, %s);" % (special["END"][0], index, special["END"][1]))
    else:
        lines.append("\tgt_mpi_end(%d, on, %s);" % (index, code))
    lines += (["\treturn rc;"] if gives else []) + ["}", ""]
    for p in (0, 1):
        lines += ["static %s via_%s%s(%s)" % (kind, "P" * p, name, ", ".join(parameters) or "void"),
                  "{", "\t%sbody_%s(%s%d);" % ("return " if gives else "", name, "".join(n + ", " for n in names), p), "}", ""]
    return "\n".join(lines)


# Of the functions that poll: did this call find anything?
FOUND = {"Test": "*$2", "Testany": "*$4", "Testall": "*$3", "Testsome": "*$3 != 0", "Iprobe": "*$4",
         "Improbe": "*$4", "Request_get_status": "*$2", "Win_test": "*$2"}


def wrap(out, flavour, every):
    names = sorted(set().union(*every.values()))
    functions = every[flavour]
    out.write(HEAD % ("the wrappers for " + flavour))
    out.write('#include "mpi/wrap.h"\n\n')
    declare(out, needed(names, functions))
    wrapped = functions.keys() - UNWRAPPED.get(flavour, set())
    for i, name in enumerate(names):
        if name in wrapped:
            out.write(body(name, functions[name], i) + "\n")
    out.write("static void *const wrappers[] = {\n")
    for name in names:
        there = name in wrapped
        out.write("\t%s, %s,\n" % (("via_" + name, "via_P" + name) if there else ("NULL", "NULL")))
    out.write('};\n\nstruct gt_mpi_flavour gt_mpi_flavour __attribute__((visibility("default"))) = {\n'
              "\t.functions = %d,\n\t.wrappers = wrappers,\n\t.real = gt_mpi_real,\n\t.setup = gt_mpi_setup,\n};\n" % len(names))


def real(out, flavour, every):
    names = sorted(set().union(*every.values()))
    functions = every[flavour]
    out.write(HEAD % ("the functions of " + flavour))
    out.write('#include "mpi/real.h"\n\nconst unsigned gt_mpi_functions = %d;\n\n' % len(names))
    out.write("const struct gt_mpi_function gt_mpi_function[] = {\n")
    out.writelines('\t{ "%s", %d },\n' % (n, role(n)) for n in names)
    out.write("};\nvoid *gt_mpi_real[2 * %d];\ngt_ref gt_mpi_region[%d];\n\n" % (len(names), len(names)))
    declare(out, needed(names, functions))
    for i, name in needed(names, functions):
        out.write("%s_fn *gt_mpi_%s(void) { return (%s_fn *)gt_mpi_real[%d]; }\n" %
                  (name, name[4:], name, 2 * i + 1))


def needed(names, functions):
    return [(i, name) for i, name in enumerate(names) if name in NEEDED and name in functions]


def declare(out, functions):
    for _, name in functions: # Open MPI 5 has MPI 4's sessions and says that it is 3.1
        out.write("typedef __typeof__({0}) {0}_fn;\n{0}_fn *gt_mpi_{1}(void);\n".format(name, name[4:]))


# What the hand-written part calls itself: mpi/real.h declares these.
NEEDED = ["MPI_Bcast", "MPI_Comm_create_group", "MPI_Comm_free", "MPI_Comm_set_errhandler", "MPI_Group_incl",
          "MPI_Recv", "MPI_Send", "MPI_Comm_group", "MPI_Comm_remote_group", "MPI_Group_translate_ranks", "MPI_Group_size",
          "MPI_Group_free", "MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_remote_size", "MPI_Comm_test_inter",
          "MPI_Type_size_x", "MPI_Test_cancelled", "MPI_Request_get_status",
          "MPI_Initialized", "MPI_Finalized", "MPI_Error_class", "MPI_Get_library_version", "MPI_Comm_get_attr", "MPI_Comm_get_name", "MPI_Comm_get_parent",
          "MPI_Topo_test", "MPI_Cartdim_get", "MPI_Cart_get", "MPI_Cart_shift", "MPI_Graph_neighbors", "MPI_Graph_neighbors_count",
          "MPI_Dist_graph_neighbors", "MPI_Dist_graph_neighbors_count", "MPI_Group_rank", "MPI_Group_from_session_pset", "MPI_Win_get_group", "MPI_File_get_position", "MPI_File_get_position_shared"]


UNWRAPPED = {} # flavour -> names, from --without


def faulty(wrappers, messages):
    with open(wrappers, encoding="utf-8") as f:
        lines = f.read().split("\n")
    with open(messages, encoding="utf-8", errors="replace") as f:
        wrong = [int(n) for n in re.findall(re.escape(wrappers) + r":(\d+):(?:\d+:)? (?:fatal )?error:", f.read())]
    for n in wrong:
        for line in reversed(lines[:n]):
            found = re.match(r"static .*?\b(?:body_|via_P?)(MPI_\w+)\(", line)
            if found:
                yield found.group(1)
                break


def main():
    what, target, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "faulty":
        print(",".join(sorted(set(faulty(target, rest[0])))))
        return
    without = [f[len("--without="):].split(":", 1) for f in rest if f.startswith("--without=")]
    rest = [f for f in rest if not f.startswith("--without=")]
    every = {f.split("=", 1)[0]: read(f.split("=", 1)[1]) for f in rest if "=" in f}
    for flavour, names in without:
        UNWRAPPED.setdefault(flavour, set()).update(names.split(","))
    with open(target + ".tmp", "w", encoding="utf-8") as out:
        if what == "stubs":
            stubs(out, every)
        else:
            {"wrap": wrap, "real": real}[what](out, rest[0], every)
    os.rename(target + ".tmp", target)


main()
