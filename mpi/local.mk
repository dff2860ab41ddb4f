# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-mpi.so, the entry points of all MPI functions, and one library of wrappers for each MPI
# that was found. What the preprocessor makes of each mpi.h is the table that both are made from.
lib_libgtassemble_la_SOURCES += mpi/assemble/comms.h mpi/assemble/comms.c mpi/assemble/links.h \
	mpi/assemble/links.c mpi/assemble/messages.c mpi/assemble/mpi.h mpi/assemble/mpi.c mpi/assemble/rma.c
EXTRA_DIST += mpi/gen.py mpi/libgputrace-mpi.map mpi/flavour.map
MPI_TABLE_FILES =
MPI_TABLES =
if HAVE_OPENMPI
MPI_TABLE_FILES += mpi/openmpi.i
MPI_TABLES += openmpi=mpi/openmpi.i
endif
if HAVE_MPICH
MPI_TABLE_FILES += mpi/mpich.i
MPI_TABLES += mpich=mpi/mpich.i
endif
MPI_MADE = mpi/stubs.c mpi/wrap-openmpi.c mpi/wrap-mpich.c mpi/real-openmpi.c mpi/real-mpich.c
CLEANFILES += mpi/openmpi.i mpi/mpich.i $(MPI_MADE)

MPI_TABLE = $(AM_V_GEN)$(MKDIR_P) mpi && printf '\043include <mpi.h>\n' | $(CC) -E -P -x c -o $@
MPI_GEN = $(AM_V_GEN)$(PYTHON3) $(srcdir)/mpi/gen.py
mpi/openmpi.i: Makefile
	$(MPI_TABLE) $(OPENMPI_CFLAGS) -
mpi/mpich.i: Makefile
	$(MPI_TABLE) $(MPICH_CFLAGS) -
mpi/stubs.c: mpi/gen.py $(MPI_TABLE_FILES)
	$(MPI_GEN) stubs $@ $(MPI_TABLES) $(MPI_WITHOUT)
mpi/wrap-openmpi.c: mpi/gen.py $(MPI_TABLE_FILES)
	$(MPI_GEN) wrap $@ openmpi $(MPI_TABLES) $(MPI_WITHOUT)
mpi/real-openmpi.c: mpi/gen.py $(MPI_TABLE_FILES)
	$(MPI_GEN) real $@ openmpi $(MPI_TABLES) $(MPI_WITHOUT)
mpi/wrap-mpich.c: mpi/gen.py $(MPI_TABLE_FILES)
	$(MPI_GEN) wrap $@ mpich $(MPI_TABLES) $(MPI_WITHOUT)
mpi/real-mpich.c: mpi/gen.py $(MPI_TABLE_FILES)
	$(MPI_GEN) real $@ mpich $(MPI_TABLES) $(MPI_WITHOUT)

MPI_LDFLAGS = -no-undefined -Wl,-z,defs -Wl,-z,nodelete -Wl,-z,relro,-z,now
MPI_FLAVOUR_LDFLAGS = -module -avoid-version $(MPI_LDFLAGS) -Wl,--version-script=$(top_srcdir)/mpi/flavour.map
MPI_PARTS = mpi/base.c mpi/base.h mpi/choose.h mpi/clocks.c mpi/clocks.h mpi/colls.c mpi/colls.h mpi/comms.c mpi/comms.h \
	mpi/handles.c mpi/handles.h mpi/hosts.c mpi/hosts.h mpi/init.c mpi/init.h mpi/io.c mpi/io.h mpi/links.c \
	mpi/links.h mpi/messages.c mpi/messages.h mpi/real.h mpi/requests.c mpi/requests.h mpi/rma.c mpi/rma.h mpi/wrap.h
# Wrappers in order of the table, one as the other: no time is gained by warnings about them. The stack
# protector would look after the two words of a record in each of them, twice in each call.
MPI_CFLAGS = $(AM_CFLAGS) -fno-plt -fno-stack-protector -Wno-deprecated-declarations

if HAVE_MPI
lib_LTLIBRARIES += mpi/libgputrace-mpi.la
mpi_libgputrace_mpi_la_SOURCES = mpi/choose.c mpi/choose.h
nodist_mpi_libgputrace_mpi_la_SOURCES = mpi/stubs.c
mpi_libgputrace_mpi_la_LDFLAGS = -version-info 0:0:0 $(MPI_LDFLAGS) \
	-Wl,--version-script=$(top_srcdir)/mpi/libgputrace-mpi.map
mpi_libgputrace_mpi_la_LIBADD = lib/libgputrace.la
EXTRA_mpi_libgputrace_mpi_la_DEPENDENCIES = mpi/libgputrace-mpi.map
endif

# libgputrace-mpi.so loads them by their full paths: they are nothing to link with.
mpiflavourdir = $(libdir)/gputrace
mpiflavour_LTLIBRARIES =
if HAVE_OPENMPI
mpiflavour_LTLIBRARIES += mpi/libgputrace-mpi-openmpi.la
mpi_libgputrace_mpi_openmpi_la_SOURCES = $(MPI_PARTS)
nodist_mpi_libgputrace_mpi_openmpi_la_SOURCES = mpi/wrap-openmpi.c mpi/real-openmpi.c
mpi_libgputrace_mpi_openmpi_la_CPPFLAGS = $(AM_CPPFLAGS) $(OPENMPI_CFLAGS)
mpi_libgputrace_mpi_openmpi_la_CFLAGS = $(MPI_CFLAGS)
mpi_libgputrace_mpi_openmpi_la_LDFLAGS = $(MPI_FLAVOUR_LDFLAGS)
mpi_libgputrace_mpi_openmpi_la_LIBADD = lib/libgputrace.la $(OPENMPI_LIBS)
EXTRA_mpi_libgputrace_mpi_openmpi_la_DEPENDENCIES = mpi/flavour.map
endif

if HAVE_MPICH
mpiflavour_LTLIBRARIES += mpi/libgputrace-mpi-mpich.la
mpi_libgputrace_mpi_mpich_la_SOURCES = $(MPI_PARTS)
nodist_mpi_libgputrace_mpi_mpich_la_SOURCES = mpi/wrap-mpich.c mpi/real-mpich.c
mpi_libgputrace_mpi_mpich_la_CPPFLAGS = $(AM_CPPFLAGS) $(MPICH_CFLAGS)
mpi_libgputrace_mpi_mpich_la_CFLAGS = $(MPI_CFLAGS)
mpi_libgputrace_mpi_mpich_la_LDFLAGS = $(MPI_FLAVOUR_LDFLAGS)
mpi_libgputrace_mpi_mpich_la_LIBADD = lib/libgputrace.la $(MPICH_LIBS)
EXTRA_mpi_libgputrace_mpi_mpich_la_DEPENDENCIES = mpi/flavour.map
endif

SETTINGS += mpi/settings.def
dist_doc_DATA += doc/mpi.md
include test/mpi/local.mk
