# SPDX-License-Identifier: BSD-3-Clause
# Macros of gputrace's own configure.

# GT_RELATIVE(variable, from, to): variable = the path that leads from folder `from` to folder `to`,
# both absolute and without "..". Shell only, so that an installation can be moved as a whole.
AC_DEFUN([GT_RELATIVE], [
gt_from=`AS_ECHO(["$2/"]) | sed 's|//*|/|g'`
gt_to=`AS_ECHO(["$3/"]) | sed 's|//*|/|g'`
# Drop what both begin with, one folder at a time.
while :; do
  gt_first=`AS_ECHO(["$gt_from"]) | sed 's|^/||; s|/.*||'`
  gt_other=`AS_ECHO(["$gt_to"]) | sed 's|^/||; s|/.*||'`
  test -n "$gt_first" && test "x$gt_first" = "x$gt_other" || break
  gt_from=`AS_ECHO(["$gt_from"]) | sed 's|^/@<:@^/@:>@*||'`
  gt_to=`AS_ECHO(["$gt_to"]) | sed 's|^/@<:@^/@:>@*||'`
done
$1=`AS_ECHO(["$gt_from"]) | sed 's|^/||; s|@<:@^/@:>@@<:@^/@:>@*/|../|g'``AS_ECHO(["$gt_to"]) | sed 's|^/||'`
$1=`AS_ECHO(["$$1"]) | sed 's|/$||'`
test -n "$$1" || $1=.
])

# GT_EXPAND(variable, directory variable): the value with ${prefix} and the like put in.
AC_DEFUN([GT_EXPAND], [
gt_save_prefix=$prefix
gt_save_exec_prefix=$exec_prefix
test "x$prefix" = xNONE && prefix=$ac_default_prefix
test "x$exec_prefix" = xNONE && exec_prefix=$prefix
eval $1=\"$2\"
eval $1=\"$$1\"
prefix=$gt_save_prefix
exec_prefix=$gt_save_exec_prefix
])

# GT_WITH(name, description): --with-name=yes|no|auto in with_name, auto by default.
AC_DEFUN([GT_WITH], [
AC_ARG_WITH([$1], [AS_HELP_STRING([--with-$1=yes|no|auto], [$2 (default: auto)])], [],
  [with_]m4_translit([$1], [-], [_])[=auto])
AS_CASE([$with_]m4_translit([$1], [-], [_]), [yes|no|auto], [],
  [AC_MSG_ERROR([--with-$1 takes yes, no or auto])])
])

# GT_FOUND(name, have variable, what to install): with --with-name=yes a missing part is an error.
AC_DEFUN([GT_FOUND], [
AS_IF([test "$with_]m4_translit([$1], [-], [_])[" = yes && test "$$2" = no],
  [AC_MSG_ERROR([--with-$1=yes, but it was not found: install $3])])
])

# GT_PART(name, have variable, part, what it needs): a part of gputrace that this build has or lacks. It is
# said at once, in configure's table, by quickstart and by `gputrace info`.
AC_DEFUN([GT_PART], [
AS_IF([test "$$2" = yes], [gt_parts_in="${gt_parts_in}${gt_parts_in:+, }$3"], [
  AS_CASE([$with_]m4_translit([$1], [-], [_]), [no], [gt_why="--without-$1"], [gt_why="it needs $4"])
  gt_parts_out="${gt_parts_out}$3: $gt_why
"
  AC_MSG_NOTICE([left out: $3: $gt_why])])
])

# GT_PARTS: what GT_PART has gathered, for config.h and the table.
AC_DEFUN([GT_PARTS], [
gt_parts_lines=`AS_ECHO(["$gt_parts_out"]) | $SED '/^$/d; s/.*/    &/'`
gt_parts_c=`AS_ECHO(["$gt_parts_out"]) | $SED '/^$/d; s/.*/&\\\\n/' | tr -d '\n'`
AC_DEFINE_UNQUOTED([GT_PARTS_IN], ["$gt_parts_in"], [Parts that this build has])
AC_DEFINE_UNQUOTED([GT_PARTS_OUT], ["$gt_parts_c"], [Parts that it lacks: a line each, with what they need])
])

# GT_LINK_FLAG(variable, flag): adds the flag to the variable if the linker takes it.
AC_DEFUN([GT_LINK_FLAG], [
AC_CACHE_CHECK([whether the linker takes $2], AS_TR_SH([gt_cv_link_$2]), [
gt_save=$LDFLAGS
LDFLAGS="$LDFLAGS $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM()], AS_TR_SH([gt_cv_link_$2])[=yes], AS_TR_SH([gt_cv_link_$2])[=no])
LDFLAGS=$gt_save
])
AS_IF([test $AS_TR_SH([gt_cv_link_$2]) = yes], [$1="$$1 $2"])
])

# GT_COMPILE_FLAG(variable, flag): adds the flag to the variable if the compiler takes it silently.
AC_DEFUN([GT_COMPILE_FLAG], [
AC_CACHE_CHECK([whether $CC takes $2], AS_TR_SH([gt_cv_cc_$2]), [
gt_save=$CFLAGS
CFLAGS="$CFLAGS -Werror $2"
AC_COMPILE_IFELSE([AC_LANG_PROGRAM()], AS_TR_SH([gt_cv_cc_$2])[=yes], AS_TR_SH([gt_cv_cc_$2])[=no])
CFLAGS=$gt_save
])
AS_IF([test $AS_TR_SH([gt_cv_cc_$2]) = yes], [$1="$$1 $2"])
])

dnl GT_MPI_COMPILES(name, FLAGS, VARIABLE, IF-YES, IF-NO): makes the wrappers of an MPI and lets the compiler
dnl read the adapter; an mpi.h that nobody has met yet must cost neither the build nor, if the wrapper of one
dnl function does not compile, the other functions: VARIABLE names those that are left out.
AC_DEFUN([GT_MPI_COMPILES], [
rm -rf conftest.mpi
mkdir conftest.mpi && cp confdefs.h conftest.mpi/config.h
gt_mpi_compile="$CC $CPPFLAGS $2 -Iconftest.mpi -D_GNU_SOURCE -I$srcdir -I$srcdir/include -fsyntax-only -Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types"
gt_mpi_left= gt_mpi_good=no
AS_IF([AS_ECHO(["@%:@include <mpi.h>"]) | $CC $CPPFLAGS $2 -E -P -x c -o conftest.mpi/mpi.i - >&AS_MESSAGE_LOG_FD 2>&1], [
  while $PYTHON3 $srcdir/mpi/gen.py wrap conftest.mpi/wrap.c $1 $1=conftest.mpi/mpi.i ${gt_mpi_left:+--without=$1:$gt_mpi_left} \
      >&AS_MESSAGE_LOG_FD 2>&1; do
    AS_IF([$gt_mpi_compile conftest.mpi/wrap.c >conftest.mpi/messages 2>&1], [gt_mpi_good=yes; break])
    cat conftest.mpi/messages >&AS_MESSAGE_LOG_FD
    gt_mpi_faulty=`$PYTHON3 $srcdir/mpi/gen.py faulty conftest.mpi/wrap.c conftest.mpi/messages 2>&AS_MESSAGE_LOG_FD`
    test -n "$gt_mpi_faulty" || break
    gt_mpi_left=${gt_mpi_left:+$gt_mpi_left,}$gt_mpi_faulty
  done])
AS_IF([test $gt_mpi_good = yes && (for gt_source in $srcdir/mpi/*.c; do
    case $gt_source in */wrap-*|*/real-*|*/stubs.c|*/choose.c) continue ;; esac
    $gt_mpi_compile $gt_source || exit 1
  done) >&AS_MESSAGE_LOG_FD 2>&1], [$3=$gt_mpi_left; $4], [$5])
rm -rf conftest.mpi
])

dnl GT_MPI(PREFIX, name, MACRO, WRAPPERS): looks for a compiler wrapper whose mpi.h defines MACRO;
dnl sets have_<name>, PREFIX_CFLAGS, PREFIX_LIBS, and adds functions that must be left out to MPI_WITHOUT. If the
dnl user has set the first two, no wrapper is asked (another processor's cannot be run here). An MPI that was
dnl asked for must be there; of one that is there and cannot be used, a warning says why.
AC_DEFUN([GT_MPI], [
AC_ARG_VAR([$1_CFLAGS], [C compiler flags for $2, in place of what its compiler wrapper says])
AC_ARG_VAR([$1_LIBS], [linker flags for $2, in place of what its compiler wrapper says])
have_$2=no gt_mpi_there=
gt_mpi_set="$$1_CFLAGS $$1_LIBS"
$1_CFLAGS=
$1_LIBS=
AS_CASE([$with_$2], [no], [], [yes|auto], [gt_mpi_wrappers="$4"], [gt_mpi_wrappers="$with_$2"])
AS_IF([test "$with_$2" != no && test $gt_mpi_possible = yes], [
  AC_MSG_CHECKING([for $2])
  AS_IF([test "$gt_mpi_set" != " "], [gt_mpi_wrappers=set])
  for gt_wrapper in $gt_mpi_wrappers; do
    AS_IF([test $gt_wrapper = set], [gt_mpi_line=$gt_mpi_set],
      [gt_mpi_line=`$gt_wrapper -show 2>/dev/null` || continue])
    gt_mpi_cflags= gt_mpi_libs= gt_mpi_words=
    for gt_word in $gt_mpi_line; do
      AS_CASE([$gt_word], [-I*|-D*], [gt_mpi_cflags="$gt_mpi_cflags $gt_word"],
        [-L*], [gt_mpi_libs="$gt_mpi_libs $gt_word"], [-l*], [gt_mpi_words="$gt_mpi_words $gt_word"])
    done
    dnl Open MPI 6 has a library beside libmpi; others name more than our wrappers need.
    gt_save_CPPFLAGS=$CPPFLAGS gt_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $gt_mpi_cflags"
    AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <mpi.h>
#ifndef $3
#error another one
#endif]])], [gt_mpi_there=$gt_wrapper])
    for gt_lib in -lmpi -lmpich "$gt_mpi_words"; do
      LIBS="$gt_save_LIBS $gt_mpi_libs $gt_lib"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>
#ifndef $3
#error another one
#endif]], [[MPI_Count n; PMPI_Type_size_x(MPI_INT, &n); PMPI_Comm_rank(MPI_COMM_WORLD, (int *)&n);]])],
        [have_$2=yes; $1_CFLAGS=$gt_mpi_cflags; $1_LIBS="$gt_mpi_libs $gt_lib"; break])
    done
    CPPFLAGS=$gt_save_CPPFLAGS LIBS=$gt_save_LIBS
    AS_IF([test $have_$2 = yes], [break])
  done
  AC_MSG_RESULT([$have_$2])
  AS_IF([test $have_$2 = no && test -n "$gt_mpi_there"],
    [AC_MSG_WARN([programs of $2 will not be recorded: a program does not link with it (config.log has the errors)])])
])
AS_IF([test $have_$2 = yes], [
  AC_MSG_CHECKING([whether the adapter for $2 compiles])
  GT_MPI_COMPILES([$2], [$$1_CFLAGS], [gt_mpi_left], [
    AC_MSG_RESULT([yes])
    AS_IF([test -n "$gt_mpi_left"], [
      MPI_WITHOUT="$MPI_WITHOUT --without=$2:$gt_mpi_left"
      AC_MSG_WARN([functions of $2 that will not be recorded, because their wrappers do not compile with its mpi.h: $gt_mpi_left (config.log has the errors)])])], [
    AC_MSG_RESULT([no])
    AC_MSG_WARN([programs of $2 will not be recorded: the adapter does not compile with its mpi.h (config.log has the errors)])
    have_$2=no])
])
AS_IF([test $have_$2 = yes], [gt_mpi_one=1], [gt_mpi_one=0])
AC_DEFINE_UNQUOTED([GT_HAVE_$1], [$gt_mpi_one], [1: there is an adapter for $2])
AS_IF([test $have_$2 = no], [AS_CASE([$with_$2], [no|auto], [],
  [AC_MSG_ERROR([$2 was asked for but cannot be used (python3 and an MPI of version 3 are needed)])])])
])
