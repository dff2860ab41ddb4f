# SPDX-License-Identifier: BSD-3-Clause
# What others make packages of gputrace with. debian/ is copied to the top of the unpacked source archive;
# test/systems/packages.sh does so. None of it is needed to build or install gputrace.
EXTRA_DIST += packaging/smoke packaging/debian/changelog packaging/debian/control packaging/debian/copyright \
	packaging/debian/gputrace-doc.install packaging/debian/gputrace.install packaging/debian/gputrace.lintian-overrides \
	packaging/debian/libgputrace-dev.install packaging/debian/libgputrace0.install \
	packaging/debian/libgputrace0.lintian-overrides packaging/debian/libgputrace0.symbols packaging/debian/rules \
	packaging/debian/source/format packaging/debian/tests/control packaging/debian/tests/smoke \
	packaging/easybuild/gputrace-0.1.0-gompi-2024a.eb packaging/spack/gputrace/package.py packaging/tarball/make \
	packaging/Containerfile
