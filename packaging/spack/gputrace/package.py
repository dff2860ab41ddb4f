# SPDX-License-Identifier: BSD-3-Clause
"""gputrace in Spack: copy the folder `gputrace` into a repository's packages/ (spack repo create
DIR ours; DIR/spack_repo/ours/packages; spack repo add DIR/spack_repo/ours), stand where the release
archive is, and `spack install --no-checksum gputrace`.

Limits: one MPI per installation, as Spack has it; Spack has no package of castxml, without which
the wrappers for files (VT_IOTRACE), memory (VT_MEMTRACE), BLAS, LAPACK and FFTW are not made
(+wrappers takes the one in PATH)."""

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class Gputrace(AutotoolsPackage):
    """gputrace records what threads, processes, MPI ranks and GPUs do, writes OTF2 archives,
    and reports where the time went."""

    manual_download = True
    url = f"file://{os.getcwd()}/gputrace-0.1.0.tar.xz"

    license("BSD-3-Clause")

    # The checksum is known when the archive is made (doc/RELEASING.md).
    version("0.1.0")

    variant("mpi", default=True, description="Record programs of this MPI (Open MPI, MPICH)")
    variant("papi", default=True, description="Counters of PAPI")
    variant("wrappers", default=False, description="Wrappers of libraries, by the castxml in PATH")
    variant("sqlite", default=True, description="gputrace export --sqlite")
    variant("perfetto", default=True, description="gputrace export --perfetto")
    variant("png", default=False, description="gputrace timeline --png")
    variant("view", default=True, description="gputrace view")

    depends_on("c", type=("build", "run"))
    depends_on("cxx", type=("build", "run"))
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("otf2@3:")
    depends_on("elfutils@0.186:")
    depends_on("ncurses")
    depends_on("zlib-api")
    depends_on("mpi@3:", when="+mpi")
    depends_on("papi", when="+papi")
    depends_on("sqlite@3", when="+sqlite")
    depends_on("protobuf-c", when="+perfetto")
    depends_on("cairo", when="+png")
    depends_on("libmicrohttpd", when="+view")

    conflicts("platform=darwin", msg="gputrace records Linux programs of glibc")
    conflicts("platform=windows", msg="gputrace records Linux programs of glibc")

    def configure_args(self):
        args = [
            "--with-ncurses",
            "--with-zlib",
            "--with-man",
            "--without-criterion",
            "--without-nanoarrow",
            f"OTF2_CONFIG={self.spec['otf2'].prefix.bin.join('otf2-config')}",
        ]
        args += self.with_or_without("papi")
        args += self.with_or_without("wrappers")
        args += self.with_or_without("sqlite")
        args += self.with_or_without("protobuf-c", variant="perfetto")
        args += self.with_or_without("cairo", variant="png")
        args += self.with_or_without("microhttpd", variant="view")
        return args + self.mpi_args()

    def mpi_args(self):
        """The adapter for the MPI that Spack was asked for, and for no other that is in PATH."""
        flavour = None
        if self.spec.satisfies("+mpi"):
            flavour = "openmpi" if self.spec["mpi"].name == "openmpi" else "mpich"
        return [
            f"--with-{name}={self.spec['mpi'].mpicc}" if name == flavour else f"--without-{name}"
            for name in ("openmpi", "mpich")
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        """Records a program, and checks the archive."""
        gputrace = Executable(self.prefix.bin.gputrace)
        with working_dir("smoke", create=True):
            gputrace("run", "-o", "trace", "true")
            gputrace("check", "trace")
