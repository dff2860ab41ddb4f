/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Callbacks for the events of other tools' traces: OpenMP, tasks, sampling, I/O, RMA details.
 *
 * Limits: time, order and references only; nothing is checked that spans several of them.
 */
#include "config.h"
#include "tools/check.h"

/* The arguments that are not looked at stay: the callbacks must have libotf2's types. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define REFER(kind, id, what) check_plain_reference(data, kind, id, what);
#define OTHER(name, checks, ...)                                                                   \
	static OTF2_CallbackCode on_##name(OTF2_LocationRef location, OTF2_TimeStamp time,         \
					   uint64_t position, void *data,                          \
					   OTF2_AttributeList *list, ##__VA_ARGS__)                \
	{                                                                                          \
		check_plain_event(data, time, list);                                               \
		checks return OTF2_CALLBACK_SUCCESS;                                               \
	}

OTHER(Unknown, )
OTHER(OmpFork, , uint32_t numberOfRequestedThreads)
OTHER(OmpJoin, )
OTHER(OmpAcquireLock, , uint32_t lockID, uint32_t acquisitionOrder)
OTHER(OmpReleaseLock, , uint32_t lockID, uint32_t acquisitionOrder)
OTHER(OmpTaskCreate, , uint64_t taskID)
OTHER(OmpTaskSwitch, , uint64_t taskID)
OTHER(OmpTaskComplete, , uint64_t taskID)
OTHER(RmaCollectiveBegin, )
OTHER(RmaCollectiveEnd, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_CollectiveOp collectiveOp,
      OTF2_RmaSyncLevel syncLevel, OTF2_RmaWinRef win, uint32_t root, uint64_t bytesSent,
      uint64_t bytesReceived)
OTHER(RmaGroupSync, REFER(KIND_RMA_WIN, win, "RMA window") REFER(KIND_GROUP, group, "group"),
      OTF2_RmaSyncLevel syncLevel, OTF2_RmaWinRef win, OTF2_GroupRef group)
OTHER(RmaRequestLock, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win, uint32_t
      remote, uint64_t lockId, OTF2_LockType lockType)
OTHER(RmaAcquireLock, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win, uint32_t
      remote, uint64_t lockId, OTF2_LockType lockType)
OTHER(RmaTryLock, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win, uint32_t remote,
      uint64_t lockId, OTF2_LockType lockType)
OTHER(RmaReleaseLock, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win, uint32_t
      remote, uint64_t lockId)
OTHER(RmaSync, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win, uint32_t remote,
      OTF2_RmaSyncType syncType)
OTHER(RmaWaitChange, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win)
OTHER(RmaOpTest, REFER(KIND_RMA_WIN, win, "RMA window"), OTF2_RmaWinRef win, uint64_t
      matchingId)
OTHER(ThreadFork, , OTF2_Paradigm model, uint32_t numberOfRequestedThreads)
OTHER(ThreadJoin, , OTF2_Paradigm model)
OTHER(ThreadTaskCreate, REFER(KIND_COMM, threadTeam, "communicator"), OTF2_CommRef threadTeam,
      uint32_t creatingThread, uint32_t generationNumber)
OTHER(ThreadTaskSwitch, REFER(KIND_COMM, threadTeam, "communicator"), OTF2_CommRef threadTeam,
      uint32_t creatingThread, uint32_t generationNumber)
OTHER(ThreadTaskComplete, REFER(KIND_COMM, threadTeam, "communicator"), OTF2_CommRef threadTeam,
      uint32_t creatingThread, uint32_t generationNumber)
OTHER(CallingContextEnter, , OTF2_CallingContextRef callingContext, uint32_t unwindDistance)
OTHER(CallingContextLeave, , OTF2_CallingContextRef callingContext)
OTHER(CallingContextSample, , OTF2_CallingContextRef callingContext, uint32_t unwindDistance,
      OTF2_InterruptGeneratorRef interruptGenerator)
OTHER(IoCreateHandle, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      OTF2_IoAccessMode mode, OTF2_IoCreationFlag creationFlags, OTF2_IoStatusFlag statusFlags)
OTHER(IoDestroyHandle, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle)
OTHER(IoDuplicateHandle, REFER(KIND_IO_HANDLE, oldHandle, "I/O handle") REFER(KIND_IO_HANDLE,
      newHandle, "I/O handle"), OTF2_IoHandleRef oldHandle, OTF2_IoHandleRef newHandle,
      OTF2_IoStatusFlag statusFlags)
OTHER(IoSeek, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle, int64_t
      offsetRequest, OTF2_IoSeekOption whence, uint64_t offsetResult)
OTHER(IoChangeStatusFlags, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      OTF2_IoStatusFlag statusFlags)
OTHER(IoDeleteFile, REFER(KIND_IO_FILE, file, "I/O file"), OTF2_IoParadigmRef ioParadigm,
      OTF2_IoFileRef file)
OTHER(IoOperationBegin, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      OTF2_IoOperationMode mode, OTF2_IoOperationFlag operationFlags, uint64_t bytesRequest,
      uint64_t matchingId)
OTHER(IoOperationTest, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      uint64_t matchingId)
OTHER(IoOperationIssued, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      uint64_t matchingId)
OTHER(IoOperationComplete, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      uint64_t bytesResult, uint64_t matchingId)
OTHER(IoOperationCancelled, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef
      handle, uint64_t matchingId)
OTHER(IoAcquireLock, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      OTF2_LockType lockType)
OTHER(IoReleaseLock, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      OTF2_LockType lockType)
OTHER(IoTryLock, REFER(KIND_IO_HANDLE, handle, "I/O handle"), OTF2_IoHandleRef handle,
      OTF2_LockType lockType)

void check_other_callbacks(OTF2_EvtReaderCallbacks *callbacks)
{
#define SET(name) OTF2_EvtReaderCallbacks_Set##name##Callback(callbacks, on_##name)
	SET(Unknown);
	SET(OmpFork);
	SET(OmpJoin);
	SET(OmpAcquireLock);
	SET(OmpReleaseLock);
	SET(OmpTaskCreate);
	SET(OmpTaskSwitch);
	SET(OmpTaskComplete);
	SET(RmaCollectiveBegin);
	SET(RmaCollectiveEnd);
	SET(RmaGroupSync);
	SET(RmaRequestLock);
	SET(RmaAcquireLock);
	SET(RmaTryLock);
	SET(RmaReleaseLock);
	SET(RmaSync);
	SET(RmaWaitChange);
	SET(RmaOpTest);
	SET(ThreadFork);
	SET(ThreadJoin);
	SET(ThreadTaskCreate);
	SET(ThreadTaskSwitch);
	SET(ThreadTaskComplete);
	SET(CallingContextEnter);
	SET(CallingContextLeave);
	SET(CallingContextSample);
	SET(IoCreateHandle);
	SET(IoDestroyHandle);
	SET(IoDuplicateHandle);
	SET(IoSeek);
	SET(IoChangeStatusFlags);
	SET(IoDeleteFile);
	SET(IoOperationBegin);
	SET(IoOperationTest);
	SET(IoOperationIssued);
	SET(IoOperationComplete);
	SET(IoOperationCancelled);
	SET(IoAcquireLock);
	SET(IoReleaseLock);
	SET(IoTryLock);
#undef SET
}
