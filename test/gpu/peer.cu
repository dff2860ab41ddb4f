/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies between two GPUs, without and with peer access.
 *
 * Limits: needs two devices.
 */
#include "count.h"

int main(void)
{
	const size_t bytes = 8 << 20;
	char *on[2];
	int can = 0;

	CK(cudaDeviceCanAccessPeer(&can, 0, 1));
	for (int d = 0; d < 2; d++) {
		CK(cudaSetDevice(d));
		CK(cudaMalloc(&on[d], bytes));
		CK(cudaMemset(on[d], d, bytes));
	}
	CK(cudaSetDevice(0));
	for (int i = 0; i < 20; i++)
		CK(cudaMemcpyPeerAsync(on[1], 1, on[0], 0, bytes, 0));
	CK(cudaDeviceSynchronize());
	put_count("staged", 20);
	if (can) {
		CK(cudaDeviceEnablePeerAccess(1, 0));
		for (int i = 0; i < 30; i++)
			CK(cudaMemcpyPeerAsync(on[1], 1, on[0], 0, bytes, 0));
		CK(cudaDeviceSynchronize());
		put_count("peer", 30);
		put_count("peer_bytes", 30 * bytes);
	}
	put_count("memsets", 2);
	return 0;
}
