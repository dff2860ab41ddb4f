# SPDX-License-Identifier: BSD-3-Clause
# gputrace libwrapgen: Python as it is, run from where it is installed.
libwrapgendir = $(pkgdatadir)/libwrapgen
dist_libwrapgen_DATA = libwrapgen/main.py libwrapgen/runtime.c libwrapgen/dlsym.c \
	libwrapgen/find.h
gtwrapdir = $(libwrapgendir)/gtwrap
dist_gtwrap_DATA = libwrapgen/gtwrap/castxml.py libwrapgen/gtwrap/elf.py libwrapgen/gtwrap/emit.py \
	libwrapgen/gtwrap/fail.py libwrapgen/gtwrap/options.py libwrapgen/gtwrap/project.py \
	libwrapgen/gtwrap/rules.py libwrapgen/gtwrap/select.py libwrapgen/gtwrap/spell.py

# The wrappers that we ship: made where castxml and the libraries' headers are, else left out; one that could not
# be made has no stamp, so that each make tries it again. Fewer: make SHIPPED='io memory'
EXTRA_DIST += libwrapgen/shipped libwrapgen/io/hooks.c libwrapgen/io/hooks.h libwrapgen/io/more.h \
	libwrapgen/io/rules libwrapgen/memory/hooks.c libwrapgen/memory/hooks.h libwrapgen/memory/more.h \
	libwrapgen/memory/rules libwrapgen/maths/blas.rules libwrapgen/maths/cublas.rules \
	libwrapgen/maths/cufft.rules libwrapgen/maths/cusolver.rules libwrapgen/maths/cusparse.rules \
	libwrapgen/maths/fftw.rules libwrapgen/maths/lapack.rules libwrapgen/maths/nccl.rules
wrapdir = $(libdir)/gputrace
SHIPPABLE = lapack cusolver cusparse cublas io memory blas fblas fftw cufft nccl
SHIPPED = $(SHIPPABLE)
# They are linked with the library, but need not be made again whenever it is.
$(SHIPPED:%=wrappers/%.made): wrappers/%.made: include/gputrace/compiler.h include/gputrace/wrap.h include/gputrace/adapter.h \
	include/gputrace/syscall.h $(dist_libwrapgen_DATA) \
	$(dist_gtwrap_DATA) \
	$(filter libwrapgen/shipped libwrapgen/io/% libwrapgen/memory/% libwrapgen/maths/%,$(EXTRA_DIST)) \
	| lib/libgputrace.la
	$(AM_V_at)$(MKDIR_P) wrappers
	$(AM_V_at)$(SHELL) $(srcdir)/libwrapgen/shipped $* $(abs_top_srcdir) $(abs_top_srcdir)/include \
		$(abs_top_builddir)/lib/.libs '$(CC)' $(abs_top_builddir)/wrappers $(WITH_CUDA_DIR)
if HAVE_WRAPPERS
WRAPPERS_MADE = $(SHIPPED:%=wrappers/%.made)
WRAPPERS_WHY = make SHIPPED left it out when gputrace was built
else
WRAPPERS_WHY = it needs castxml and python3 when gputrace is built
endif
all-local: $(WRAPPERS_MADE)
install-data-local: $(WRAPPERS_MADE)
	$(AM_V_at)$(MKDIR_P) '$(DESTDIR)$(wrapdir)'
	$(AM_V_at)for file in wrappers/*.so wrappers/*.txt; do test ! -f $$file || \
		$(INSTALL_DATA) $$file '$(DESTDIR)$(wrapdir)' || exit 1; done
	$(AM_V_at)$(SHELL) $(srcdir)/libwrapgen/shipped --absent wrappers '$(WRAPPERS_WHY)' $(SHIPPABLE) \
		>'$(DESTDIR)$(wrapdir)/wrappers.absent'
uninstall-local:
	rm -f '$(DESTDIR)$(wrapdir)'/libgputrace-wrap-* '$(DESTDIR)$(wrapdir)/wrappers.absent'
clean-local: clean-local-wrappers
clean-local-wrappers:
	rm -rf wrappers
.PHONY: clean-local-wrappers

SETTINGS += libwrapgen/settings.def
dist_doc_DATA += doc/libwrapgen.md
include test/libwrapgen/local.mk
