# SPDX-License-Identifier: BSD-3-Clause
# What is computed from an archive, and its faces.
noinst_LTLIBRARIES += report/libgtreport.la
# What makes a report of its sections.
report_libgtreport_la_SOURCES = report/report.c report/report.h
# What all of them are computed from.
report_libgtreport_la_SOURCES += report/model/classes.c report/model/classes.h report/model/results.c \
	report/model/conditions.c report/model/conditions.h report/model/sums.c report/model/sums.h report/model/stacks.c report/model/stacks.h report/model/spread.c report/model/spread.h report/model/posix.c \
	report/model/posix.h report/model/rules.h report/model/calls.c report/model/calls.h registry/classes.def \
	accel/classes.def mpi/classes.def cuda/classes.def hip/classes.def opencl/classes.def levelzero/classes.def \
	report/model/device.c report/model/device.h report/model/lives.c report/model/lives.h \
	report/model/filecalls.c report/model/filecalls.h report/model/spans.c report/model/spans.h report/model/turns.c \
	report/model/turns.h report/model/spill.c report/model/spill.h
# Sections that are counted.
report_libgtreport_la_SOURCES += report/sections/profile.c report/sections/profile.h report/sections/calls.c \
	report/sections/profile_tables.c report/sections/run.c report/sections/states.c report/sections/states.h report/sections/samples.c report/sections/samples.h \
	report/sections/sampled.c report/sections/call_path.c report/sections/callers.c report/sections/meanwhile.c report/sections/call_tree.c report/sections/messages.c report/sections/files.c \
	report/sections/metrics.c report/sections/gpu.c report/sections/gpu.h report/sections/gpu_counters.c \
	report/sections/kernel_metrics.c report/sections/losses.c report/sections/lacking.c \
	report/sections/lacking.h report/sections/solo.c report/sections/solo.h
# Who waits for whom, and what it delays.
report_libgtreport_la_SOURCES += report/waits/locks.c report/waits/sync.c report/waits/sync.h \
	report/waits/processes.c report/waits/children.c report/waits/sync_int.h report/waits/sync_mpi.c report/waits/sync_state.c \
	report/waits/crew.c report/waits/crew.h report/waits/segments.c report/waits/causes.c \
	report/waits/devices.c report/waits/launches.c report/waits/delays.c report/waits/waits.c report/waits/path.c report/waits/gain.c \
	report/waits/sync_io.c report/waits/channels.c report/waits/whatif.c report/waits/whatif.h
# What costs time, and what could be done.
report_libgtreport_la_SOURCES += report/findings/efficiency.c report/findings/findings.c \
	report/findings/findings_all.c report/findings/findings.h report/findings/findings_host.c \
	report/findings/findings_gpu.c report/findings/suggest.h report/findings/suggest.c report/findings/diff.h \
	report/findings/diff.c report/findings/spins.c report/findings/lanes.h \
	report/findings/findings_threads.c report/findings/findings_files.c report/findings/findings_ranks.c \
	report/findings/findings_peers.c report/findings/findings_processors.c
# Parts of an archive, and what belongs together in it.
report_libgtreport_la_SOURCES += report/part/part.h report/part/part.c report/part/match.h \
	report/part/match.c report/part/keep.h report/part/keep.c report/part/slice.h report/part/slice.c \
	report/part/contexts.h report/part/contexts.c
# How it is shown.
report_libgtreport_la_SOURCES += report/print/figures.c report/print/figures.h report/print/faces.c \
	report/print/cells.c report/print/table.c report/print/table.h report/print/output.h report/print/output.c \
	report/print/draw.h report/print/draw.c
# The end of a run.
report_libgtreport_la_SOURCES += report/summary/summary.h report/summary/print.c \
	report/summary/printer.h report/summary/table.c \
	report/summary/summarise.c report/summary/hottest.c
report_libgtreport_la_CPPFLAGS = $(AM_CPPFLAGS) $(OTF2_CFLAGS)
report_libgtreport_la_LIBADD = -lm

# gputrace source
report_libgtreport_la_SOURCES += report/source/source.h report/source/source.c report/source/samples.h \
	report/source/samples.c report/source/cubin.h report/source/cubin.c report/source/paths.c report/source/text.c \
	report/source/annotate.c report/source/counts.c report/source/blocks.h report/source/blocks.c \
	report/source/launches.c report/source/html.c

# gputrace timeline
report_libgtreport_la_SOURCES += report/timeline/grid.h report/timeline/grid.c report/timeline/timeline.h \
	report/timeline/shares.h report/timeline/shares.c report/timeline/text.c report/timeline/picture.c \
	report/timeline/screen.c
report_libgtreport_la_CPPFLAGS += $(CAIRO_CFLAGS) $(NCURSES_CFLAGS)

# gputrace html, gputrace view
report_libgtreport_la_SOURCES += report/page/bytes.c report/page/bytes.h report/page/store.c report/page/store.h \
	report/page/pyramid.c report/page/pyramid.h report/page/curve.c report/page/curve.h report/page/links.c \
	report/page/links.h report/page/picture.c report/page/picture.h report/page/meta.c report/page/page.c \
	report/page/page.h report/page/index.c report/page/index.h
report_libgtreport_la_CPPFLAGS += $(ZLIB_CFLAGS)
report_libgtreport_la_LIBADD += $(ZLIB_LIBS)
# The page itself is in the program. The scripts in this order.
page_scripts = report/page/util.js report/page/theme.js report/page/source.js report/page/model.js report/page/draw.js \
	report/page/links.js report/page/input.js report/page/tables.js report/page/sheets.js report/page/calls.js \
	report/page/flame.js report/page/flow.js report/page/print.js report/page/start.js
page_parts = report/page/page.html report/page/page.css $(page_scripts)
nodist_report_libgtreport_la_SOURCES = report/page/page_html.c report/page/page_css.c report/page/page_js.c
embed = $(AM_V_GEN)$(MKDIR_P) report/page && cd $(srcdir) && $(SHELL) build-aux/embed.sh
report/page/page_html.c: report/page/page.html build-aux/embed.sh
	$(embed) gt_page_html report/page/page.html >$(abs_builddir)/$@
report/page/page_css.c: report/page/page.css build-aux/embed.sh
	$(embed) gt_page_css report/page/page.css >$(abs_builddir)/$@
report/page/page_js.c: $(page_scripts) build-aux/embed.sh
	$(embed) gt_page_js $(page_scripts) >$(abs_builddir)/$@
CLEANFILES += report/page/page_html.c report/page/page_css.c report/page/page_js.c
EXTRA_DIST += $(page_parts) build-aux/embed.sh
if HAVE_MICROHTTPD
report_libgtreport_la_SOURCES += report/page/single.c report/page/single.h report/page/answer.c report/page/answer.h \
	report/page/serve.c report/page/serve.h
report_libgtreport_la_CPPFLAGS += $(MICROHTTPD_CFLAGS)
endif

# gputrace export
report_libgtreport_la_SOURCES += report/export/export.h report/export/export.c report/export/chrome.c \
	report/export/speedscope.c report/export/tree.h report/export/tree.c report/export/folded.c \
	report/export/flame.c report/export/tables.h report/export/tables.c \
	report/export/csv.c report/export/pprof.c
if HAVE_SQLITE
report_libgtreport_la_SOURCES += report/export/sqlite.c
report_libgtreport_la_CPPFLAGS += $(SQLITE_CFLAGS)
report_libgtreport_la_LIBADD += $(SQLITE_LIBS)
endif
if HAVE_NANOARROW
report_libgtreport_la_SOURCES += report/export/arrow.c
report_libgtreport_la_CPPFLAGS += $(NANOARROW_CFLAGS)
report_libgtreport_la_LIBADD += $(NANOARROW_LIBS)
endif
if HAVE_PROTOBUF_C
report_libgtreport_la_SOURCES += report/export/perfetto.c
nodist_report_libgtreport_la_SOURCES += report/export/perfetto.pb-c.c report/export/perfetto.pb-c.h
report_libgtreport_la_CPPFLAGS += $(PROTOBUF_C_CFLAGS) -I$(top_builddir)
report_libgtreport_la_LIBADD += $(PROTOBUF_C_LIBS)
BUILT_SOURCES += report/export/perfetto.pb-c.h
CLEANFILES += report/export/perfetto.pb-c.c report/export/perfetto.pb-c.h
report/export/perfetto.pb-c.c: report/export/perfetto.pb-c.h
report/export/perfetto.pb-c.h: report/export/perfetto.proto
	$(AM_V_GEN)$(MKDIR_P) report/export && $(PROTOC_C) --proto_path=$(top_srcdir) --c_out=. \
		report/export/perfetto.proto
endif
EXTRA_DIST += report/export/perfetto.proto

# gputrace flow
report_libgtreport_la_SOURCES += report/flow/tree.h report/flow/tree.c report/flow/graph.h report/flow/align.c \
	report/flow/items.c report/flow/similar.c report/flow/merge.c report/flow/draw.h report/flow/draw.c \
	report/flow/flow.h report/flow/flow.c report/flow/sites.c report/flow/branches.c report/flow/syncs.c report/flow/differ.c \
	report/flow/put.c report/flow/text.c report/flow/dot.c report/flow/svg.c report/flow/json.c report/flow/page.c
