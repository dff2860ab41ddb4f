/* SPDX-License-Identifier: BSD-3-Clause */
/* What the driver does not have, but the loader wants to be there. */
/* Tables of which nothing is used: the loader wants all. */
#define EMPTY(api, name) \
	__attribute__((visibility("default"))) int api##Get##name##ProcAddrTable(unsigned v, \
											  void *table); \
	int api##Get##name##ProcAddrTable(unsigned v, void *table) \
	{ \
		(void)v;\
		(void)table; \
		return 0; \
	}
EMPTY(ze, DeviceExp) EMPTY(ze, EventExp) EMPTY(ze, FabricEdgeExp) EMPTY(ze, FabricVertexExp)
EMPTY(ze, Image) EMPTY(ze, ImageExp) EMPTY(ze, KernelExp) EMPTY(ze, ModuleBuildLog) EMPTY(ze, PhysicalMem)
EMPTY(ze, Sampler) EMPTY(ze, VirtualMem) EMPTY(zes, Device) EMPTY(zes, Diagnostics) EMPTY(zes, Driver)
EMPTY(zes, Engine) EMPTY(zes, FabricPort) EMPTY(zes, Fan) EMPTY(zes, Firmware) EMPTY(zes, Frequency)
EMPTY(zes, Led) EMPTY(zes, Memory) EMPTY(zes, PerformanceFactor) EMPTY(zes, Power) EMPTY(zes, Psu)
EMPTY(zes, Ras) EMPTY(zes, Scheduler) EMPTY(zes, Standby) EMPTY(zes, Temperature) EMPTY(zet, CommandList)
EMPTY(zet, Context) EMPTY(zet, Debug) EMPTY(zet, Device) EMPTY(zet, Kernel) EMPTY(zet, MetricGroupExp)
EMPTY(zet, MetricGroup) EMPTY(zet, Metric) EMPTY(zet, MetricQueryPool) EMPTY(zet, MetricQuery)
EMPTY(zet, MetricStreamer) EMPTY(zet, Module) EMPTY(zet, TracerExp)
