/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every function of CUPTI fails, with every kind of error, each in a process of its own that uses CUDA all
 * the same. Prints how many processes there were and how many went well.
 *
 * Limits: error codes as CUPTI 13 has them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"

static const char *const functions[] = {
	"cuptiSubscribe_v2", "cuptiGetVersion", "cuptiEnableCallback", "cuptiGetCallbackName",
	"cuptiActivityRegisterCallbacks", "cuptiActivityEnable", "cuptiActivityFlushAll",
	"cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords",
	"cuptiActivityRegisterTimestampCallback", "cuptiActivitySetAttribute", "cuptiGetTimestamp",
};
static const int others[] = { 1, 8, 15, 27, 999 };

static void child(const char *function, int code)
{
	char text[96];

	snprintf(text, sizeof(text), "%s=%d", function, code);
	setenv("FAKE_FAIL", text, 1);
	for (int i = 0; i < 20; i++)
		if (cudaLaunchKernel("_Z4workv", 1, 32, (void *)13))
			exit(1);
	exit(cudaDeviceSynchronize() ? 2 : 0);
}

static int run(const char *function, int code)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		child(function, code);
	waitpid(pid, &status, 0);
	if (status)
		printf("%s=%d: status %x\n", function, code, (unsigned)status);
	return !status;
}

int main(void)
{
	int all = 0, well = 0;

	for (int code = 1; code <= 48; code++, all++)
		well += run(functions[0], code);
	for (size_t i = 1; i < sizeof(functions) / sizeof(*functions); i++)
		for (size_t k = 0; k < sizeof(others) / sizeof(*others); k++, all++)
			well += run(functions[i], others[k]);
	printf("%d of %d\n", well, all);
	return well != all;
}
