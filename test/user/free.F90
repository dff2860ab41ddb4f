! SPDX-License-Identifier: BSD-3-Clause
! Every macro of vt_user.inc in free form.
! Limits: fixed.F does the same in fixed form; both give the same records (fortran.test, user.test).
program free
implicit none
#include "vt_user.inc"
integer region, group, ci, ci8, cr, cd, err, warn, hint, ring, on
integer i
integer(kind=8) big
character(len=40) name

VT_COMMENT_DEF('made by free.F90')
VT_USER_DEF('solve', 'Solver', 'solve.f', 12, region)
VT_USER_DEF('bare', '', '', 0, i)
VT_USER_START('main')
VT_USER_START2(region)
VT_USER_END2(region)
VT_USER_START2(i)
VT_USER_END2(i)
do i = 1, 3
   write (name, '(a,i0)') 'iteration ', i
   VT_USER_START(name)
   VT_USER_END(name)
end do
VT_USER_START('a name that fills the line as far as it can go.!!')
VT_USER_END('a name that fills the line as far as it can go.!!  ')
if (i > 0) VT_USER_START('made for C'//char(0)//'rubbish')
if (i > 0) VT_USER_END('made for C')

VT_COUNT_GROUP_DEF('Solver', group)
VT_COUNT_DEF('ci', 'bytes', VT_COUNT_TYPE_INTEGER, group, ci)
VT_COUNT_DEF('ci8', '1', VT_COUNT_TYPE_INTEGER8, group, ci8)
VT_COUNT_DEF('cr', 'm', VT_COUNT_TYPE_REAL, group, cr)
VT_COUNT_DEF('cd','s',VT_COUNT_TYPE_DOUBLE,VT_COUNT_DEFGROUP,cd)
big = -2_8**40
VT_COUNT_INTEGER_VAL(ci, -7)
VT_COUNT_INTEGER8_VAL(ci8, big)
VT_COUNT_REAL_VAL(cr, 0.5)
VT_COUNT_DOUBLE_VAL(cd, 2.25d0)

VT_MARKER_DEF('err', VT_MARKER_TYPE_ERROR, err)
VT_MARKER_DEF('warn', VT_MARKER_TYPE_WARNING, warn)
VT_MARKER_DEF('hint', VT_MARKER_TYPE_HINT, hint)
VT_MARKER(err, 'one')
VT_MARKER(warn, 'two  ')
VT_MARKER(hint, name)

VT_MSG_COMM_DEF('ring', ring)
VT_COMM_DEF('ring', i)
if (i .ne. ring) print *, 'two ids for one communicator'
VT_MSG_SEND(ring, 7, 1024)
VT_MSG_RECV(ring, 7, 1024)
VT_SEND(VT_COMM_WORLD, 8, 16)
VT_RECV(VT_MSG_DEFCOMM, 8, 16)
VT_COMMENT('now')

VT_BUFFER_FLUSH()
VT_TIMESYNC()
VT_UPDATE_COUNTER()
VT_SET_REWIND_MARK()
VT_USER_START('rewound')
VT_USER_END('rewound')
VT_REWIND()
VT_OFF()
VT_IS_ON(on)
if (on .ne. 0) print *, 'on after VT_OFF'
VT_USER_START('while off')
VT_USER_END('while off')
VT_ON()
VT_IS_ON(on)
if (on .ne. 1) print *, 'off after VT_ON'
VT_USER_END('main')
end program free
