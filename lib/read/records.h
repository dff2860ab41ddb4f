/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of OTF2 3.0 by their fields, in the order of libotf2's callbacks. From here come the structures of
 * read.h and the callbacks of defs.c and events.c.
 *
 * Definitions:	S(name) a string, O(name) one that may be missing, R(KIND, type, name) a reference,
 *		Q(KIND, type, name) one that may be missing, V(type, name) a value.
 * Events:	V(type, name), R(KIND, type, name).
 *
 * Limits: definitions with lists are written out in defs.c.
 */
#ifndef GT_OTF2_RECORDS_H
#define GT_OTF2_RECORDS_H

/* kind, name in read.h, name in OTF2 */
#define GT_OTF2_DEFS(D)                                 \
	D(ATTRIBUTE, attribute, Attribute)              \
	D(NODE, node, SystemTreeNode)                   \
	D(LOCATION_GROUP, location_group, LocationGroup) \
	D(LOCATION, location, Location)                 \
	D(REGION, region, Region)                       \
	D(CALLSITE, callsite, Callsite)                 \
	D(CALLPATH, callpath, Callpath)                 \
	D(METRIC_MEMBER, metric_member, MetricMember)   \
	D(PARAMETER, parameter, Parameter)              \
	D(WINDOW, window, RmaWin)                       \
	D(SOURCE, source, SourceCodeLocation)           \
	D(CONTEXT, context, CallingContext)             \
	D(INTERRUPT, interrupt, InterruptGenerator)     \
	D(IO_HANDLE, io_handle, IoHandle)               \
	D(DIMENSION, dimension, CartDimension)

#define GT_OTF2_DEF_Attribute(S, O, R, Q, V) S(name) O(description) V(OTF2_Type, type)
#define GT_OTF2_DEF_SystemTreeNode(S, O, R, Q, V)                                                   \
	S(name) S(class_name) Q(NODE, OTF2_SystemTreeNodeRef, parent)
#define GT_OTF2_DEF_LocationGroup(S, O, R, Q, V)                                                    \
	S(name) V(OTF2_LocationGroupType, type) R(NODE, OTF2_SystemTreeNodeRef, parent)             \
	Q(LOCATION_GROUP, OTF2_LocationGroupRef, creator)
#define GT_OTF2_DEF_Location(S, O, R, Q, V)                                                         \
	S(name) V(OTF2_LocationType, type) V(uint64_t, events) R(LOCATION_GROUP, OTF2_LocationGroupRef, group)
#define GT_OTF2_DEF_Region(S, O, R, Q, V)                                                           \
	S(name) O(canonical) O(description) V(OTF2_RegionRole, role) V(OTF2_Paradigm, paradigm)     \
	V(OTF2_RegionFlag, flags) O(file) V(uint32_t, begin_line) V(uint32_t, end_line)
#define GT_OTF2_DEF_Callsite(S, O, R, Q, V)                                                         \
	O(file) V(uint32_t, line) Q(REGION, OTF2_RegionRef, entered) Q(REGION, OTF2_RegionRef, left)
#define GT_OTF2_DEF_Callpath(S, O, R, Q, V)                                                         \
	Q(CALLPATH, OTF2_CallpathRef, parent) Q(REGION, OTF2_RegionRef, region)
#define GT_OTF2_DEF_MetricMember(S, O, R, Q, V)                                                     \
	S(name) O(description) V(OTF2_MetricType, metric_type) V(OTF2_MetricMode, mode) V(OTF2_Type, type) \
	V(OTF2_Base, base) V(int64_t, exponent) O(unit)
#define GT_OTF2_DEF_Parameter(S, O, R, Q, V) S(name) V(OTF2_ParameterType, type)
#define GT_OTF2_DEF_RmaWin(S, O, R, Q, V) O(name) R(COMM, OTF2_CommRef, comm) V(OTF2_RmaWinFlag, flags)
#define GT_OTF2_DEF_SourceCodeLocation(S, O, R, Q, V) O(file) V(uint32_t, line)
#define GT_OTF2_DEF_CallingContext(S, O, R, Q, V)                                                   \
	Q(REGION, OTF2_RegionRef, region) Q(SOURCE, OTF2_SourceCodeLocationRef, source)             \
	Q(CONTEXT, OTF2_CallingContextRef, parent)
#define GT_OTF2_DEF_InterruptGenerator(S, O, R, Q, V)                                                        \
	O(name)                                                                                              \
	V(OTF2_InterruptGeneratorMode, mode) V(OTF2_Base, base) V(int64_t, exponent) V(uint64_t, period)
#define GT_OTF2_DEF_IoHandle(S, O, R, Q, V)                                                         \
	O(name) Q(IO_FILE, OTF2_IoFileRef, file) R(IO_PARADIGM, OTF2_IoParadigmRef, paradigm)       \
	V(OTF2_IoHandleFlag, flags) Q(COMM, OTF2_CommRef, comm) Q(IO_HANDLE, OTF2_IoHandleRef, parent)
#define GT_OTF2_DEF_CartDimension(S, O, R, Q, V)                                                    \
	O(name) V(uint32_t, size) V(OTF2_CartPeriodicity, periodic)

/*
 * Enter and Leave have callbacks of their own. L: events with lists, or with fields that are not stored as
 * others of their type. In the order of their numbers in files.
 */
#define GT_OTF2_EVENTS_ALL(E) GT_OTF2_EVENTS_OF(E, E)
#define GT_OTF2_EVENTS_OF(E, L)                                                                     \
	E(Unknown) L(BufferFlush) E(MeasurementOnOff) E(MpiSend) E(MpiIsend) E(MpiIsendComplete)    \
	E(MpiIrecvRequest) E(MpiRecv) E(MpiIrecv) E(MpiRequestTest) E(MpiRequestCancelled)          \
	E(MpiCollectiveBegin) E(MpiCollectiveEnd) E(OmpFork) E(OmpJoin) E(OmpAcquireLock)           \
	E(OmpReleaseLock) E(OmpTaskCreate) E(OmpTaskSwitch) E(OmpTaskComplete) L(Metric)            \
	E(ParameterString) E(ParameterInt) E(ParameterUnsignedInt) E(RmaWinCreate) E(RmaWinDestroy) \
	E(RmaCollectiveBegin) E(RmaCollectiveEnd) E(RmaGroupSync) E(RmaRequestLock) E(RmaAcquireLock) \
	E(RmaTryLock) E(RmaReleaseLock) E(RmaSync) E(RmaWaitChange) E(RmaPut) E(RmaGet) E(RmaAtomic) \
	E(RmaOpCompleteBlocking) E(RmaOpCompleteNonBlocking) E(RmaOpTest) E(RmaOpCompleteRemote)    \
	E(ThreadFork) E(ThreadJoin) E(ThreadTeamBegin) E(ThreadTeamEnd) E(ThreadAcquireLock)        \
	E(ThreadReleaseLock) E(ThreadTaskCreate) E(ThreadTaskSwitch) E(ThreadTaskComplete)          \
	E(ThreadCreate) E(ThreadBegin) E(ThreadWait) E(ThreadEnd) E(CallingContextEnter)            \
	E(CallingContextLeave) E(CallingContextSample) E(IoCreateHandle) E(IoDestroyHandle)         \
	E(IoDuplicateHandle) E(IoSeek) E(IoChangeStatusFlags) E(IoDeleteFile) E(IoOperationBegin)   \
	E(IoOperationTest) E(IoOperationIssued) E(IoOperationComplete) E(IoOperationCancelled)      \
	E(IoAcquireLock) E(IoReleaseLock) E(IoTryLock) L(ProgramBegin) E(ProgramEnd)                \
	E(NonBlockingCollectiveRequest) E(NonBlockingCollectiveComplete) E(CommCreate) E(CommDestroy)

#define GT_OTF2_COMM_(R)    R(COMM, OTF2_CommRef, comm)
#define GT_OTF2_WIN_(R)     R(WINDOW, OTF2_RmaWinRef, win)
#define GT_OTF2_HANDLE_(R)  R(IO_HANDLE, OTF2_IoHandleRef, handle)
#define GT_OTF2_MESSAGE_(V, R) V(uint32_t, peer) GT_OTF2_COMM_(R) V(uint32_t, tag) V(uint64_t, bytes)
#define GT_OTF2_REQUEST_(V) V(uint64_t, request)
#define GT_OTF2_COLLECTIVE_(V, R)                                                                   \
	V(OTF2_CollectiveOp, op) GT_OTF2_COMM_(R) V(uint32_t, root) V(uint64_t, sent) V(uint64_t, received)
#define GT_OTF2_TASK_(V, R) R(COMM, OTF2_CommRef, comm) V(uint32_t, creator) V(uint32_t, generation)
#define GT_OTF2_THREAD_(V, R) R(COMM, OTF2_CommRef, comm) V(uint64_t, number)
#define GT_OTF2_LOCK_(V) V(OTF2_Paradigm, model) V(uint32_t, lock) V(uint32_t, order)

#define GT_OTF2_EVT_Unknown(V, R)
#define GT_OTF2_EVT_BufferFlush(V, R) V(OTF2_TimeStamp, stop)
#define GT_OTF2_EVT_MeasurementOnOff(V, R) V(OTF2_MeasurementMode, mode)
#define GT_OTF2_EVT_MpiSend(V, R) GT_OTF2_MESSAGE_(V, R)
#define GT_OTF2_EVT_MpiIsend(V, R) GT_OTF2_MESSAGE_(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_MpiIsendComplete(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_MpiIrecvRequest(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_MpiRecv(V, R) GT_OTF2_MESSAGE_(V, R)
#define GT_OTF2_EVT_MpiIrecv(V, R) GT_OTF2_MESSAGE_(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_MpiRequestTest(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_MpiRequestCancelled(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_MpiCollectiveBegin(V, R)
#define GT_OTF2_EVT_MpiCollectiveEnd(V, R) GT_OTF2_COLLECTIVE_(V, R)
#define GT_OTF2_EVT_OmpFork(V, R) V(uint32_t, threads)
#define GT_OTF2_EVT_OmpJoin(V, R)
#define GT_OTF2_EVT_OmpAcquireLock(V, R) V(uint32_t, lock) V(uint32_t, order)
#define GT_OTF2_EVT_OmpReleaseLock(V, R) V(uint32_t, lock) V(uint32_t, order)
#define GT_OTF2_EVT_OmpTaskCreate(V, R) V(uint64_t, task)
#define GT_OTF2_EVT_OmpTaskSwitch(V, R) V(uint64_t, task)
#define GT_OTF2_EVT_OmpTaskComplete(V, R) V(uint64_t, task)
#define GT_OTF2_EVT_Metric(V, R)                                                                    \
	R(METRIC, OTF2_MetricRef, metric) V(uint8_t, count) V(const OTF2_Type *, types)             \
	V(const OTF2_MetricValue *, values)
#define GT_OTF2_EVT_ParameterString(V, R)                                                           \
	R(PARAMETER, OTF2_ParameterRef, parameter) R(STRING, OTF2_StringRef, string)
#define GT_OTF2_EVT_ParameterInt(V, R) R(PARAMETER, OTF2_ParameterRef, parameter) V(int64_t, value)
#define GT_OTF2_EVT_ParameterUnsignedInt(V, R) R(PARAMETER, OTF2_ParameterRef, parameter) V(uint64_t, value)
#define GT_OTF2_EVT_RmaWinCreate(V, R) GT_OTF2_WIN_(R)
#define GT_OTF2_EVT_RmaWinDestroy(V, R) GT_OTF2_WIN_(R)
#define GT_OTF2_EVT_RmaCollectiveBegin(V, R)
#define GT_OTF2_EVT_RmaCollectiveEnd(V, R)                                                          \
	V(OTF2_CollectiveOp, op) V(OTF2_RmaSyncLevel, level) GT_OTF2_WIN_(R) V(uint32_t, root)      \
	V(uint64_t, sent) V(uint64_t, received)
#define GT_OTF2_EVT_RmaGroupSync(V, R)                                                              \
	V(OTF2_RmaSyncLevel, level) GT_OTF2_WIN_(R) R(GROUP, OTF2_GroupRef, group)
#define GT_OTF2_EVT_RmaRequestLock(V, R)                                                            \
	GT_OTF2_WIN_(R) V(uint32_t, remote) V(uint64_t, lock) V(OTF2_LockType, type)
#define GT_OTF2_EVT_RmaAcquireLock(V, R) GT_OTF2_EVT_RmaRequestLock(V, R)
#define GT_OTF2_EVT_RmaTryLock(V, R) GT_OTF2_EVT_RmaRequestLock(V, R)
#define GT_OTF2_EVT_RmaReleaseLock(V, R) GT_OTF2_WIN_(R) V(uint32_t, remote) V(uint64_t, lock)
#define GT_OTF2_EVT_RmaSync(V, R) GT_OTF2_WIN_(R) V(uint32_t, remote) V(OTF2_RmaSyncType, type)
#define GT_OTF2_EVT_RmaWaitChange(V, R) GT_OTF2_WIN_(R)
#define GT_OTF2_EVT_RmaPut(V, R) GT_OTF2_WIN_(R) V(uint32_t, remote) V(uint64_t, bytes) V(uint64_t, matching)
#define GT_OTF2_EVT_RmaGet(V, R) GT_OTF2_EVT_RmaPut(V, R)
#define GT_OTF2_EVT_RmaAtomic(V, R)                                                                 \
	GT_OTF2_WIN_(R) V(uint32_t, remote) V(OTF2_RmaAtomicType, type) V(uint64_t, sent)           \
	V(uint64_t, received) V(uint64_t, matching)
#define GT_OTF2_EVT_RmaOpCompleteBlocking(V, R) GT_OTF2_WIN_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_RmaOpCompleteNonBlocking(V, R) GT_OTF2_WIN_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_RmaOpTest(V, R) GT_OTF2_WIN_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_RmaOpCompleteRemote(V, R) GT_OTF2_WIN_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_ThreadFork(V, R) V(OTF2_Paradigm, model) V(uint32_t, threads)
#define GT_OTF2_EVT_ThreadJoin(V, R) V(OTF2_Paradigm, model)
#define GT_OTF2_EVT_ThreadTeamBegin(V, R) GT_OTF2_COMM_(R)
#define GT_OTF2_EVT_ThreadTeamEnd(V, R) GT_OTF2_COMM_(R)
#define GT_OTF2_EVT_ThreadAcquireLock(V, R) GT_OTF2_LOCK_(V)
#define GT_OTF2_EVT_ThreadReleaseLock(V, R) GT_OTF2_LOCK_(V)
#define GT_OTF2_EVT_ThreadTaskCreate(V, R) GT_OTF2_TASK_(V, R)
#define GT_OTF2_EVT_ThreadTaskSwitch(V, R) GT_OTF2_TASK_(V, R)
#define GT_OTF2_EVT_ThreadTaskComplete(V, R) GT_OTF2_TASK_(V, R)
#define GT_OTF2_EVT_ThreadCreate(V, R) GT_OTF2_THREAD_(V, R)
#define GT_OTF2_EVT_ThreadBegin(V, R) GT_OTF2_THREAD_(V, R)
#define GT_OTF2_EVT_ThreadWait(V, R) GT_OTF2_THREAD_(V, R)
#define GT_OTF2_EVT_ThreadEnd(V, R) GT_OTF2_THREAD_(V, R)
#define GT_OTF2_EVT_CallingContextEnter(V, R) V(OTF2_CallingContextRef, context) V(uint32_t, unwind)
#define GT_OTF2_EVT_CallingContextLeave(V, R) V(OTF2_CallingContextRef, context)
#define GT_OTF2_EVT_CallingContextSample(V, R)                                                      \
	R(CONTEXT, OTF2_CallingContextRef, context) V(uint32_t, unwind)                                     \
	R(INTERRUPT, OTF2_InterruptGeneratorRef, interrupt)
#define GT_OTF2_EVT_IoCreateHandle(V, R)                                                                     \
	GT_OTF2_HANDLE_(R)                                                                                   \
	V(OTF2_IoAccessMode, mode) V(OTF2_IoCreationFlag, creation) V(OTF2_IoStatusFlag, status)
#define GT_OTF2_EVT_IoDestroyHandle(V, R) GT_OTF2_HANDLE_(R)
#define GT_OTF2_EVT_IoDuplicateHandle(V, R)                                                         \
	GT_OTF2_HANDLE_(R) R(IO_HANDLE, OTF2_IoHandleRef, copy) V(OTF2_IoStatusFlag, status)
#define GT_OTF2_EVT_IoSeek(V, R)                                                                    \
	GT_OTF2_HANDLE_(R) V(int64_t, offset) V(OTF2_IoSeekOption, whence) V(uint64_t, result)
#define GT_OTF2_EVT_IoChangeStatusFlags(V, R) GT_OTF2_HANDLE_(R) V(OTF2_IoStatusFlag, status)
#define GT_OTF2_EVT_IoDeleteFile(V, R) V(OTF2_IoParadigmRef, paradigm) R(IO_FILE, OTF2_IoFileRef, file)
#define GT_OTF2_EVT_IoOperationBegin(V, R)                                                          \
	GT_OTF2_HANDLE_(R) V(OTF2_IoOperationMode, mode) V(OTF2_IoOperationFlag, flags) V(uint64_t, bytes) \
	V(uint64_t, matching)
#define GT_OTF2_EVT_IoOperationTest(V, R) GT_OTF2_HANDLE_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_IoOperationIssued(V, R) GT_OTF2_HANDLE_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_IoOperationComplete(V, R) GT_OTF2_HANDLE_(R) V(uint64_t, bytes) V(uint64_t, matching)
#define GT_OTF2_EVT_IoOperationCancelled(V, R) GT_OTF2_HANDLE_(R) V(uint64_t, matching)
#define GT_OTF2_EVT_IoAcquireLock(V, R) GT_OTF2_HANDLE_(R) V(OTF2_LockType, type)
#define GT_OTF2_EVT_IoReleaseLock(V, R) GT_OTF2_HANDLE_(R) V(OTF2_LockType, type)
#define GT_OTF2_EVT_IoTryLock(V, R) GT_OTF2_HANDLE_(R) V(OTF2_LockType, type)
#define GT_OTF2_EVT_ProgramBegin(V, R)                                                              \
	R(STRING, OTF2_StringRef, name) V(uint32_t, count) V(const OTF2_StringRef *, arguments)
#define GT_OTF2_EVT_ProgramEnd(V, R) V(int64_t, status)
#define GT_OTF2_EVT_NonBlockingCollectiveRequest(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_NonBlockingCollectiveComplete(V, R) GT_OTF2_COLLECTIVE_(V, R) GT_OTF2_REQUEST_(V)
#define GT_OTF2_EVT_CommCreate(V, R) GT_OTF2_COMM_(R)
#define GT_OTF2_EVT_CommDestroy(V, R) GT_OTF2_COMM_(R)

#endif
