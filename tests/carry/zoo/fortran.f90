! SPDX-License-Identifier: GPL-2.0-or-later
! Units stay open all the time; at the end each is read again.
program units
  implicit none
  integer :: step, value, total
  character(len=32) :: line
  open(unit=10, file='formatted.txt', status='replace', action='readwrite')
  open(unit=11, file='direct.bin', status='replace', access='direct', recl=4, form='unformatted')
  open(unit=12, file='unformatted.bin', status='replace', form='unformatted')
  do step = 1, 26
    write(10, '(a,i0)') 'line ', step * step
    write(11, rec=27 - step) step
    write(12) step * 3
    print '(i0,1x,i0)', step, step * step
    flush(6)
    call sleep_half()
  end do
  rewind(10)
  rewind(12)
  total = 0
  do step = 1, 26
    read(10, '(a)') line
    if (step == 26) print '(a)', trim(line)
    read(11, rec=step) value
    if (value /= 27 - step) stop 1
    read(12) value
    total = total + value
  end do
  print '(i0)', total
  stop 3
contains
  subroutine sleep_half()
    interface
      function usleep(microseconds) bind(c, name='usleep') result(status)
        use, intrinsic :: iso_c_binding, only: c_int
        integer(c_int), value :: microseconds
        integer(c_int) :: status
      end function usleep
    end interface
    if (usleep(500000) /= 0) print '(a)', 'woken early'
  end subroutine sleep_half
end program units
