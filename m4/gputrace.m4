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
