# SPDX-License-Identifier: BSD-3-Clause
# The manual. Pages are written for scdoc; a source archive holds them made, so that only who
# changes them needs scdoc.
MAN_PAGES = doc/man/gputrace.1 doc/man/gputrace-run.1 doc/man/gputrace-cc.1 \
	doc/man/gputrace-info.1 doc/man/gputrace-report.1 doc/man/gputrace-export.1 doc/man/gputrace-slice.1 doc/man/gputrace-diff.1 doc/man/gputrace-top.1 doc/man/gputrace-check.1 doc/man/gputrace-recover.1 \
	doc/man/gputrace-filter.1 doc/man/gputrace-libwrapgen.1 doc/man/vt_user.3 doc/man/gputrace-adapter.3 doc/man/gputrace-plugin.3 \
	doc/man/gputrace-filter.5 doc/man/gputrace-messages.7 doc/man/gputrace-mpi.7 doc/man/gputrace-cuda.7 \
	doc/man/gputrace-metrics.7 doc/man/gputrace-waits.7 doc/man/gputrace-findings.7
MAN_PAGES += doc/man/gputrace-source.1 doc/man/gputrace-timeline.1 doc/man/gputrace-html.1 doc/man/gputrace-flow.1 \
	doc/man/gputrace-view.1 doc/man/gputrace-whatif.1
MAN_GENERATED = doc/man/gputrace-settings.7
MAN_ALIASES = doc/man/gputrace-c++.1 doc/man/gputrace-fc.1 doc/man/gputrace-mpicc.1 \
	doc/man/gputrace-mpic++.1 doc/man/gputrace-mpifc.1 doc/man/gputrace-nvcc.1

if HAVE_MAN_PAGES
dist_man_MANS += $(MAN_PAGES) $(MAN_GENERATED) $(MAN_ALIASES)
endif

if HAVE_SCDOC
.1.scd.1 .3.scd.3 .5.scd.5 .7.scd.7:
	$(AM_V_GEN)$(MKDIR_P) doc/man && $(SCDOC) < $< > $@.tmp && mv $@.tmp $@
doc/man/gputrace-settings.7: registry/settings.def $(SETTINGS) doc/man/settings.awk
	$(AM_V_GEN)$(MKDIR_P) doc/man && $(AWK) -f $(srcdir)/doc/man/settings.awk \
		`sed -n 's|^#include "\(.*\)"|$(srcdir)/\1|p' $(srcdir)/registry/settings.def` | $(SCDOC) > $@.tmp && mv $@.tmp $@
endif
$(MAN_ALIASES):
	$(AM_V_GEN)$(MKDIR_P) doc/man && echo '.so man1/gputrace-cc.1' > $@
SUFFIXES = .1.scd .1 .3.scd .3 .5.scd .5 .7.scd .7
CLEANFILES += doc/man/*.tmp
MAINTAINERCLEANFILES = $(MAN_PAGES) $(MAN_GENERATED) $(MAN_ALIASES)
EXTRA_DIST += $(MAN_PAGES:=.scd) doc/man/settings.awk doc/records.awk doc/layouts.awk doc/glossary.md

# The tables of records and of layouts in FORMAT.md; test/tree compares.
LAYOUTS = $(srcdir)/include/gputrace/records.h $(srcdir)/lib/format.h $(srcdir)/lib/common/pack.h
update-format:
	$(AM_V_GEN)$(AWK) -f $(srcdir)/doc/records.awk $(srcdir)/include/gputrace/records.def \
		$(srcdir)/doc/FORMAT.md > $(srcdir)/doc/FORMAT.md.tmp && \
		$(AWK) -f $(srcdir)/doc/layouts.awk $(LAYOUTS) $(srcdir)/doc/FORMAT.md.tmp > $(srcdir)/doc/FORMAT.md && \
		rm $(srcdir)/doc/FORMAT.md.tmp
.PHONY: update-format

# The schema of a report in JSON, from its tables; test/report compares.
update-schema:
	$(AM_V_GEN)$(PYTHON3) $(srcdir)/doc/schema.py $(srcdir) > $(srcdir)/doc/report.schema.json.tmp && \
		mv $(srcdir)/doc/report.schema.json.tmp $(srcdir)/doc/report.schema.json
.PHONY: update-schema
EXTRA_DIST += doc/schema.py

exampledir = $(docdir)/examples
dist_example_DATA = doc/examples/demo.c doc/examples/cg.c doc/examples/kokkos.cpp doc/examples/timeline.py doc/examples/worked.c
exampleplugindir = $(exampledir)/plugin
dist_exampleplugin_DATA = doc/examples/plugin/Makefile doc/examples/plugin/calls.c doc/examples/plugin/check.sh \
	doc/examples/plugin/program.c doc/examples/plugin/squares.c
examplesamplerdir = $(exampledir)/sampler
dist_examplesampler_DATA = doc/examples/sampler/sampler.c
exampleadapterdir = $(exampledir)/adapter
dist_exampleadapter_DATA = doc/examples/adapter/Makefile doc/examples/adapter/assembling.c doc/examples/adapter/check.sh \
	doc/examples/adapter/parcel.c doc/examples/adapter/parcel.h doc/examples/adapter/program.c doc/examples/adapter/recording.c

# What users may want to read is installed; the decisions stay with the source.
dist_doc_DATA += doc/FORMAT.md doc/gpu-results.md doc/PERFORMANCE.md doc/PROMISES.md doc/LIMITS.md doc/questions.md doc/page-data.md \
	doc/worked-case.md doc/recording.md doc/other-tools.md doc/install.md doc/systems.md doc/RELEASING.md doc/mpi-scale.svg doc/mpi-scale.json doc/flow-16-ranks.svg doc/report.schema.json \
	doc/page.png doc/page-dark.png doc/page-narrow.png doc/page-flow.png
EXTRA_DIST += doc/adr/0001-own-window-and-spool.md doc/adr/0002-reserve-with-xadd.md \
	doc/adr/0003-pack-when-spooling.md doc/adr/0004-dlopen-is-not-wrapped.md \
	doc/adr/0005-cupti-without-its-headers.md doc/adr/0006-dlsym-is-jumped-through.md \
	doc/adr/0007-which-wrappers-are-generated.md \
	doc/adr/0008-hosts-meet-in-files.md doc/adr/0009-hosts-convert-their-own.md \
	doc/adr/0010-links-between-programs.md doc/adr/0011-run-stays-as-the-parent.md \
	doc/adr/0012-confined-programs.md doc/adr/0013-one-folder-is-held.md \
	doc/adr/0014-messages-order-hosts.md doc/adr/0015-kept-after-a-review.md doc/adr/0016-the-live-view-is-read-from-outside.md \
	doc/adr/0017-plug-ins-are-tried-in-a-copy.md \
	doc/adr/0025-samples-come-by-a-hidden-signal.md doc/adr/0026-states-by-reading.md doc/adr/0027-hooks-off-by-one-byte.md doc/adr/0028-call-paths-where-calls-end.md doc/adr/0029-house-review.md doc/adr/0018-own-decoder-of-events.md doc/adr/0019-flow-graphs-align.md doc/adr/0020-names-come-with-their-library.md \
	doc/adr/0021-landlock-lets-us-into-our-folder.md doc/adr/0022-summary-is-a-report.md \
	doc/adr/0023-one-helper-where-it-saves.md \
	doc/adr/0024-rooms.md
