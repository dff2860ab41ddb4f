/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with NVTX as NVIDIA's header would make it: the injection library is loaded at the first
 * call and fills in the table.
 * Limits: the part of the header that finds the library is imitated here; with NVTX_HEADER the real one
 * is used.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#ifdef NVTX_HEADER
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#else
#include "nvtx_like.h"
#endif

static nvtxRangeId_t elsewhere;

static void *other(void *unused)
{
	nvtxRangeEnd(elsewhere);
	nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "worker of nvtx");
	nvtxNameOsThreadW((uint32_t)syscall(SYS_gettid), NULL); /* no name: it keeps the one that it has */
	for (int i = 0; i < 10; i++) {
		nvtxRangePushA("outer");
		nvtxRangePop();
	}
	return unused;
}

/* As NCCL has them: the payload comes with the end. And ranges that have nothing but a payload. */
static void with_payloads(nvtxDomainHandle_t domain, nvtxEventAttributes_t *a)
{
	a->messageType = 1;
	a->message.ascii = "payload at its end";
	for (int i = 0; i < 6; i++) {
		nvtxDomainRangePushEx(domain, a);
		nvtxRangePushPayload(domain, NULL, 0);
		nvtxRangePopPayload(domain, NULL, 0);
		nvtxRangePopPayload(domain, NULL, 0);
	}
	nvtxRangeEndPayload(domain, nvtxRangeStartPayload(domain, NULL, 0), NULL, 0);
}

int main(void)
{
	nvtxEventAttributes_t a = { 0 };
	nvtxDomainHandle_t domain;
	nvtxStringHandle_t string;
	pthread_t thread;
	nvtxRangeId_t range, first, second;

	nvtxRangePushA("outer");
	nvtxMarkA("here it begins");
	range = nvtxRangeStartA("overlapping");
	for (int i = 0; i < 3; i++) {
		nvtxRangePushW(L"gr\u00fc\u00dfe");
		nvtxRangePop();
	}
	nvtxRangePop();
	nvtxRangeEnd(range);
	domain = nvtxDomainCreateA("mine");
	nvtxDomainNameCategoryA(domain, 7, "a category");
	string = nvtxDomainRegisterStringA(domain, "registered");
	a.version = 3;
	a.size = sizeof(a);
	a.category = 7;
	a.payloadType = 1;
	a.payload.ullValue = 42;
	a.messageType = 1;
	a.message.ascii = "in the domain";
	for (int i = 0; i < 5; i++) {
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	a.messageType = 3;
	a.message.registered = string;
	for (int i = 0; i < 4; i++) {
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	a.payloadType = 0;
	with_payloads(domain, &a);
	a.messageType = 3;
	a.message.registered = string;
	/* Every kind of payload; ranges that overlap, one that ends elsewhere, one that does not end. */
	for (a.payloadType = 1; a.payloadType <= 6; a.payloadType++) {
		a.payload.ullValue = 0;
		switch (a.payloadType) {
		case 2:
			a.payload.llValue = -7;
			break;
		case 3:
			a.payload.dValue = 2.5;
			break;
		case 4:
			a.payload.uiValue = 70000;
			break;
		case 5:
			a.payload.iValue = -8;
			break;
		case 6:
			a.payload.fValue = 0.25f;
			break;
		}
		nvtxDomainRangePushEx(domain, &a);
		nvtxDomainRangePop(domain);
	}
	a.payloadType = 1;
	a.payload.ullValue = 4711;
	first = nvtxDomainRangeStartEx(domain, &a);
	usleep(2000);
	second = nvtxDomainRangeStartEx(domain, &a);
	usleep(2000);
	nvtxDomainRangeEnd(domain, first);
	usleep(2000);
	nvtxDomainRangeEnd(domain, second);
	nvtxDomainRangeEnd(domain, second); /* once more: nothing */
	elsewhere = nvtxRangeStartA("ends elsewhere");
	for (int i = 0; i < 6000; i++) /* more than may be open in a smaller table */
		nvtxRangeStartA("never ends");
	if (!fork()) { /* its parent's ranges are not its own */
		nvtxRangeEnd(nvtxRangeStartA("in the child"));
		_exit(0);
	}
	wait(NULL);
	for (int i = 0; i < 1200; i++) /* deeper than is recorded, and one pop too many */
		nvtxRangePushA("deep");
	for (int i = 0; i < 1201; i++)
		nvtxRangePop();
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	return 0;
}
