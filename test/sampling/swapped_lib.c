/* SPDX-License-Identifier: BSD-3-Clause */
/* ROOM: bytes of a frame. The code of all sizes from 256 on has the same length. */
int call(int n, void (*bottom)(void *), void *data);

__attribute__((noinline)) int call(int n, void (*bottom)(void *), void *data)
{
	volatile char room[ROOM];

	room[0] = (char)n;
	if (n > 1)
		room[1] = (char)call(n - 1, bottom, data);
	else
		bottom(data);
	return room[0];
}
