/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive as text.
 *
 * Limits: see readback.h.
 */
#include "test/unit/readback.h"

#include <otf2/otf2.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

struct rb {
	FILE *out;
	bool definitions; /* write these, else events */
	char *strings[MOST];
	uint32_t region[MOST], attribute[MOST], parameter[MOST], comm[MOST], member[MOST];
	uint32_t group[MOST], window[MOST], handle[MOST], io[8];
};

static const char *text(const struct rb *rb, uint32_t string)
{
	return string < MOST && rb->strings[string] ? rb->strings[string] : "?";
}

static const char *name(const struct rb *rb, const uint32_t *table, uint32_t number)
{
	return number < MOST ? text(rb, table[number]) : "?";
}

static void say(struct rb *rb, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct rb *rb, const char *format, ...)
{
	va_list ap;

	if (!rb->definitions)
		return;
	va_start(ap, format);
	vfprintf(rb->out, format, ap);
	va_end(ap);
}

/* ---- definitions ---------------------------------------------------------------------------- */

static OTF2_CallbackCode on_string(void *data, OTF2_StringRef self, const char *string)
{
	struct rb *rb = data;

	if (self < MOST)
		rb->strings[self] = strdup(string);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length,
				  uint64_t real)
{
	say(data, "clock %" PRIu64 " from %" PRIu64 " length %" PRIu64 " real %d\n", resolution,
	    offset, length, real > UINT64_C(1500000000000000000));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_node(void *data, OTF2_SystemTreeNodeRef self, OTF2_StringRef node_name,
				 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent)
{
	say(data, "node %u %s %s parent %d\n", self, text(data, class_name), text(data, node_name),
	    (int)parent);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *data, OTF2_LocationGroupRef self, OTF2_StringRef group_name,
				  OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
				  OTF2_LocationGroupRef creator)
{
	struct rb *rb = data;

	if (self < MOST)
		rb->group[self] = group_name;
	say(rb, "group %u %s %s node %u creator %d\n", self,
	    type == OTF2_LOCATION_GROUP_TYPE_PROCESS ? "PROCESS" : "ACCELERATOR",
	    text(rb, group_name), parent, (int)creator);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location(void *data, OTF2_LocationRef self, OTF2_StringRef loc_name,
				     OTF2_LocationType type, uint64_t events,
				     OTF2_LocationGroupRef group)
{
	struct rb *rb = data;

	say(rb, "location %" PRIu64 " %s %s in %s: %" PRIu64 " events\n", self,
	    type == OTF2_LOCATION_TYPE_CPU_THREAD ? "THREAD"
	    : type == OTF2_LOCATION_TYPE_METRIC	  ? "METRIC"
						  : "STREAM",
	    text(rb, loc_name), name(rb, rb->group, group), events);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *data, OTF2_RegionRef self, OTF2_StringRef region_name,
				   OTF2_StringRef canonical, OTF2_StringRef description,
				   OTF2_RegionRole role, OTF2_Paradigm paradigm,
				   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
				   uint32_t end)
{
	struct rb *rb = data;

	(void)canonical;
	(void)description;
	(void)flags;
	(void)end;
	if (self < MOST)
		rb->region[self] = region_name;
	say(rb, "region %u %s role %u paradigm %u at %s:%u\n", self, text(rb, region_name), role,
	    paradigm, text(rb, file), begin);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_attribute(void *data, OTF2_AttributeRef self, OTF2_StringRef attr_name,
				      OTF2_StringRef description, OTF2_Type type)
{
	struct rb *rb = data;

	(void)description;
	(void)type;
	if (self < MOST)
		rb->attribute[self] = attr_name;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_parameter(void *data, OTF2_ParameterRef self, OTF2_StringRef param_name,
				      OTF2_ParameterType type)
{
	struct rb *rb = data;

	(void)type;
	if (self < MOST)
		rb->parameter[self] = param_name;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_set(void *data, OTF2_GroupRef self, OTF2_StringRef set_name,
				OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
				uint32_t count, const uint64_t *members)
{
	static const char *const types[] = { "UNKNOWN", "LOCATIONS", "REGIONS", "METRIC",
					     "COMM_LOCATIONS", "COMM_GROUP", "COMM_SELF" };

	(void)flags;
	say(data, "set %u %s %s paradigm %u:", self, types[type], text(data, set_name), paradigm);
	for (uint32_t i = 0; i < count; i++)
		say(data, " %" PRIu64, members[i]);
	say(data, "\n");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *data, OTF2_CommRef self, OTF2_StringRef comm_name,
				 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct rb *rb = data;

	(void)flags;
	if (self < MOST)
		rb->comm[self] = comm_name;
	say(rb, "comm %u %s set %u parent %d\n", self, text(rb, comm_name), group, (int)parent);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_window(void *data, OTF2_RmaWinRef self, OTF2_StringRef window_name,
				   OTF2_CommRef comm, OTF2_RmaWinFlag flags)
{
	struct rb *rb = data;

	(void)flags;
	if (self < MOST)
		rb->window[self] = window_name;
	say(rb, "window %u %s comm %u\n", self, text(rb, window_name), comm);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_paradigm(void *data, OTF2_Paradigm paradigm, OTF2_StringRef paradigm_name,
				     OTF2_ParadigmClass kind)
{
	say(data, "paradigm %u %s class %u\n", paradigm, text(data, paradigm_name), kind);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_paradigm(void *data, OTF2_IoParadigmRef self, OTF2_StringRef id,
					OTF2_StringRef io_name, OTF2_IoParadigmClass kind,
					OTF2_IoParadigmFlag flags, uint8_t count,
					const OTF2_IoParadigmProperty *properties,
					const OTF2_Type *types, const OTF2_AttributeValue *values)
{
	struct rb *rb = data;

	(void)kind;
	(void)flags;
	(void)count;
	(void)properties;
	(void)types;
	(void)values;
	if (self < 8)
		rb->io[self] = id;
	say(rb, "io %u %s %s\n", self, text(rb, id), text(rb, io_name));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_file(void *data, OTF2_IoFileRef self, OTF2_StringRef file_name,
				    OTF2_SystemTreeNodeRef where)
{
	(void)where;
	say(data, "file %u %s\n", self, text(data, file_name));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_handle(void *data, OTF2_IoHandleRef self, OTF2_StringRef handle_name,
				      OTF2_IoFileRef file, OTF2_IoParadigmRef paradigm,
				      OTF2_IoHandleFlag flags, OTF2_CommRef comm,
				      OTF2_IoHandleRef parent)
{
	struct rb *rb = data;

	(void)comm;
	(void)parent;
	if (self < MOST)
		rb->handle[self] = handle_name;
	say(rb, "handle %u %s %s file %d%s\n", self, paradigm < 8 ? text(rb, rb->io[paradigm]) : "?",
	    text(rb, handle_name), (int)file,
	    flags & OTF2_IO_HANDLE_FLAG_PRE_CREATED ? " found" : "");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_io_state(void *data, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
				     OTF2_IoStatusFlag flags)
{
	say(data, "found %u mode %u status %u\n", handle, mode, flags);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_member(void *data, OTF2_MetricMemberRef self, OTF2_StringRef member_name,
				   OTF2_StringRef description, OTF2_MetricType type,
				   OTF2_MetricMode mode, OTF2_Type value, OTF2_Base base,
				   int64_t exponent, OTF2_StringRef unit)
{
	struct rb *rb = data;

	(void)description;
	(void)type;
	(void)base;
	(void)exponent;
	if (self < MOST)
		rb->member[self] = member_name;
	say(rb, "member %u %s mode %u type %u unit %s\n", self, text(rb, member_name), mode, value,
	    text(rb, unit));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_class(void *data, OTF2_MetricRef self, uint8_t count,
				  const OTF2_MetricMemberRef *members, OTF2_MetricOccurrence when,
				  OTF2_RecorderKind kind)
{
	(void)when;
	(void)kind;
	say(data, "class %u:", self);
	for (unsigned i = 0; i < count; i++)
		say(data, " %u", members[i]);
	say(data, "\n");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_instance(void *data, OTF2_MetricRef self, OTF2_MetricRef class_number,
				     OTF2_LocationRef recorder, OTF2_MetricScope scope,
				     uint64_t scope_id)
{
	say(data, "instance %u of %u recorder %" PRIu64 " scope %u %" PRIu64 "\n", self,
	    class_number, recorder, scope, scope_id);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group_property(void *data, OTF2_LocationGroupRef group,
					   OTF2_StringRef key, OTF2_Type type,
					   OTF2_AttributeValue value)
{
	(void)type;
	say(data, "group %u %s=%s\n", group, text(data, key), text(data, value.stringRef));
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_location_property(void *data, OTF2_LocationRef location,
					      OTF2_StringRef key, OTF2_Type type,
					      OTF2_AttributeValue value)
{
	(void)type;
	say(data, "location %" PRIu64 " %s=%s\n", location, text(data, key),
	    text(data, value.stringRef));
	return OTF2_CALLBACK_SUCCESS;
}

static void put_properties(struct rb *rb, OTF2_Reader *reader)
{
	uint32_t count = 0;
	char **names = NULL;

	if (OTF2_Reader_GetPropertyNames(reader, &count, &names) != OTF2_SUCCESS)
		return;
	for (uint32_t i = 0; i < count; i++) {
		char *value = NULL;

		if (OTF2_Reader_GetProperty(reader, names[i], &value) == OTF2_SUCCESS)
			say(rb, "property %s=%s\n", names[i], value);
		free(value);
	}
	free(names);
}

static bool read_definitions(struct rb *rb, OTF2_Reader *reader)
{
	OTF2_GlobalDefReader *defs = OTF2_Reader_GetGlobalDefReader(reader);
	OTF2_GlobalDefReaderCallbacks *cb = OTF2_GlobalDefReaderCallbacks_New();
	uint64_t n;
	OTF2_ErrorCode rc;

	OTF2_GlobalDefReaderCallbacks_SetStringCallback(cb, on_string);
	OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(cb, on_clock);
	OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(cb, on_node);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(cb, on_group);
	OTF2_GlobalDefReaderCallbacks_SetLocationCallback(cb, on_location);
	OTF2_GlobalDefReaderCallbacks_SetRegionCallback(cb, on_region);
	OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(cb, on_attribute);
	OTF2_GlobalDefReaderCallbacks_SetParameterCallback(cb, on_parameter);
	OTF2_GlobalDefReaderCallbacks_SetGroupCallback(cb, on_set);
	OTF2_GlobalDefReaderCallbacks_SetCommCallback(cb, on_comm);
	OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(cb, on_window);
	OTF2_GlobalDefReaderCallbacks_SetParadigmCallback(cb, on_paradigm);
	OTF2_GlobalDefReaderCallbacks_SetIoParadigmCallback(cb, on_io_paradigm);
	OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(cb, on_io_file);
	OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(cb, on_io_handle);
	OTF2_GlobalDefReaderCallbacks_SetIoPreCreatedHandleStateCallback(cb, on_io_state);
	OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(cb, on_member);
	OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(cb, on_class);
	OTF2_GlobalDefReaderCallbacks_SetMetricInstanceCallback(cb, on_instance);
	OTF2_GlobalDefReaderCallbacks_SetLocationGroupPropertyCallback(cb, on_group_property);
	OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(cb, on_location_property);
	OTF2_Reader_RegisterGlobalDefCallbacks(reader, defs, cb, rb);
	OTF2_GlobalDefReaderCallbacks_Delete(cb);
	rc = OTF2_Reader_ReadAllGlobalDefinitions(reader, defs, &n);
	OTF2_Reader_CloseGlobalDefReader(reader, defs);
	return rc == OTF2_SUCCESS;
}

/* ---- events ---------------------------------------------------------------------------------------- */

#define EVENT_ARGS OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, \
		   void *data, OTF2_AttributeList *attributes

static OTF2_CallbackCode put_event(EVENT_ARGS, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

static OTF2_CallbackCode put_event(EVENT_ARGS, const char *format, ...)
{
	struct rb *rb = data;
	va_list ap;

	(void)position;
	fprintf(rb->out, "%" PRIu64 " %" PRIu64 " ", location, time);
	va_start(ap, format);
	vfprintf(rb->out, format, ap);
	va_end(ap);
	for (uint32_t i = 0; i < OTF2_AttributeList_GetNumberOfElements(attributes); i++) {
		OTF2_AttributeRef number;
		OTF2_Type type;
		OTF2_AttributeValue value;

		OTF2_AttributeList_GetAttributeByIndex(attributes, i, &number, &type, &value);
		if (type == OTF2_TYPE_STRING)
			fprintf(rb->out, " [%s=%s]", name(rb, rb->attribute, number),
				text(rb, value.stringRef));
		else
			fprintf(rb->out, " [%s=%" PRIu64 "]", name(rb, rb->attribute, number),
				value.uint64);
	}
	putc('\n', rb->out);
	return OTF2_CALLBACK_SUCCESS;
}
#define PUT(...) put_event(location, time, position, data, attributes, __VA_ARGS__)
#define NAME(table, number) name(data, ((struct rb *)data)->table, number)

static OTF2_CallbackCode on_enter(EVENT_ARGS, OTF2_RegionRef region)
{
	return PUT("ENTER %s", NAME(region, region));
}

static OTF2_CallbackCode on_leave(EVENT_ARGS, OTF2_RegionRef region)
{
	return PUT("LEAVE %s", NAME(region, region));
}

static OTF2_CallbackCode on_switch(EVENT_ARGS, OTF2_MeasurementMode mode)
{
	return PUT("%s", mode == OTF2_MEASUREMENT_ON ? "ON" : "OFF");
}

static OTF2_CallbackCode on_begin(EVENT_ARGS, OTF2_StringRef program, uint32_t count,
				  const OTF2_StringRef *arguments)
{
	return PUT("BEGIN %s%s%s", text(data, program), count ? " " : "",
		   count ? text(data, arguments[0]) : "");
}

static OTF2_CallbackCode on_end(EVENT_ARGS, int64_t status)
{
	if (status == OTF2_UNDEFINED_INT64)
		return PUT("END");
	return PUT("END %" PRId64, status);
}

static OTF2_CallbackCode on_metric(EVENT_ARGS, OTF2_MetricRef metric, uint8_t count,
				   const OTF2_Type *types, const OTF2_MetricValue *values)
{
	char list[400] = "";
	size_t used = 0;

	for (unsigned i = 0; i < count && used < sizeof(list) - 40; i++)
		used += (size_t)(types[i] == OTF2_TYPE_DOUBLE
					 ? snprintf(list + used, 40, " %g", values[i].floating_point)
				 : types[i] == OTF2_TYPE_INT64
					 ? snprintf(list + used, 40, " %" PRId64,
						    values[i].signed_int)
					 : snprintf(list + used, 40, " %" PRIu64,
						    values[i].unsigned_int));
	return PUT("METRIC %u%s", metric, list);
}

static OTF2_CallbackCode on_int(EVENT_ARGS, OTF2_ParameterRef parameter, int64_t value)
{
	return PUT("INT %s=%" PRId64, NAME(parameter, parameter), value);
}

static OTF2_CallbackCode on_uint(EVENT_ARGS, OTF2_ParameterRef parameter, uint64_t value)
{
	return PUT("UINT %s=%" PRIu64, NAME(parameter, parameter), value);
}

static OTF2_CallbackCode on_str(EVENT_ARGS, OTF2_ParameterRef parameter, OTF2_StringRef string)
{
	return PUT("STRING %s=%s", NAME(parameter, parameter), text(data, string));
}

static OTF2_CallbackCode on_send(EVENT_ARGS, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
				 uint64_t bytes)
{
	return PUT("SEND to %u tag %u %" PRIu64 " bytes on %s", peer, tag, bytes, NAME(comm, comm));
}

static OTF2_CallbackCode on_recv(EVENT_ARGS, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
				 uint64_t bytes)
{
	return PUT("RECV from %u tag %u %" PRIu64 " bytes on %s", peer, tag, bytes,
		   NAME(comm, comm));
}

static OTF2_CallbackCode on_put(EVENT_ARGS, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes,
				uint64_t matching)
{
	return PUT("PUT to %u in %s bytes %" PRIu64 " id %" PRIu64, remote, NAME(window, window), bytes,
		   matching);
}

static OTF2_CallbackCode on_get(EVENT_ARGS, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes,
				uint64_t matching)
{
	return PUT("GET from %u in %s bytes %" PRIu64 " id %" PRIu64, remote, NAME(window, window),
		   bytes, matching);
}

static OTF2_CallbackCode on_complete(EVENT_ARGS, OTF2_RmaWinRef window, uint64_t matching)
{
	return PUT("COMPLETE in %s id %" PRIu64, NAME(window, window), matching);
}

static OTF2_CallbackCode on_acquire(EVENT_ARGS, OTF2_Paradigm model, uint32_t lock, uint32_t order)
{
	return PUT("ACQUIRE %u order %u paradigm %u", lock, order, model);
}

static OTF2_CallbackCode on_release(EVENT_ARGS, OTF2_Paradigm model, uint32_t lock, uint32_t order)
{
	return PUT("RELEASE %u order %u paradigm %u", lock, order, model);
}

static OTF2_CallbackCode on_t_create(EVENT_ARGS, OTF2_CommRef comm, uint64_t sequence)
{
	return PUT("THREAD_CREATE %" PRIu64 " on %s", sequence, NAME(comm, comm));
}

static OTF2_CallbackCode on_t_begin(EVENT_ARGS, OTF2_CommRef comm, uint64_t sequence)
{
	return PUT("THREAD_BEGIN %" PRIu64 " on %s", sequence, NAME(comm, comm));
}

static OTF2_CallbackCode on_t_wait(EVENT_ARGS, OTF2_CommRef comm, uint64_t sequence)
{
	return PUT("THREAD_WAIT %" PRIu64 " on %s", sequence, NAME(comm, comm));
}

static OTF2_CallbackCode on_t_end(EVENT_ARGS, OTF2_CommRef comm, uint64_t sequence)
{
	return PUT("THREAD_END %" PRIu64 " on %s", sequence, NAME(comm, comm));
}

static OTF2_CallbackCode on_io_open(EVENT_ARGS, OTF2_IoHandleRef handle, OTF2_IoAccessMode mode,
				    OTF2_IoCreationFlag creation, OTF2_IoStatusFlag status)
{
	return PUT("OPEN %s mode %u creation %u status %u", NAME(handle, handle), mode, creation, status);
}

static OTF2_CallbackCode on_io_close(EVENT_ARGS, OTF2_IoHandleRef handle)
{
	return PUT("CLOSE %s", NAME(handle, handle));
}

static OTF2_CallbackCode on_io_dup(EVENT_ARGS, OTF2_IoHandleRef old, OTF2_IoHandleRef new,
				   OTF2_IoStatusFlag status)
{
	return PUT("DUP %s to %u %s status %u", NAME(handle, old), new, NAME(handle, new), status);
}

static OTF2_CallbackCode on_io_seek(EVENT_ARGS, OTF2_IoHandleRef handle, int64_t offset,
				    OTF2_IoSeekOption whence, uint64_t now)
{
	return PUT("SEEK %s %" PRId64 " whence %u at %" PRId64, NAME(handle, handle), offset, whence,
		   (int64_t)now);
}

static OTF2_CallbackCode on_io_begin(EVENT_ARGS, OTF2_IoHandleRef handle, OTF2_IoOperationMode mode,
				     OTF2_IoOperationFlag flags, uint64_t bytes, uint64_t matching)
{
	return PUT("IO %s mode %u flags %u bytes %" PRId64 " id %" PRIx64, NAME(handle, handle), mode, flags,
		   (int64_t)bytes, matching);
}

static OTF2_CallbackCode on_io_end(EVENT_ARGS, OTF2_IoHandleRef handle, uint64_t bytes, uint64_t matching)
{
	return PUT("DONE %s bytes %" PRId64 " id %" PRIx64, NAME(handle, handle), (int64_t)bytes, matching);
}

static void set_callbacks(OTF2_EvtReaderCallbacks *cb)
{
	OTF2_EvtReaderCallbacks_SetEnterCallback(cb, on_enter);
	OTF2_EvtReaderCallbacks_SetLeaveCallback(cb, on_leave);
	OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(cb, on_switch);
	OTF2_EvtReaderCallbacks_SetProgramBeginCallback(cb, on_begin);
	OTF2_EvtReaderCallbacks_SetProgramEndCallback(cb, on_end);
	OTF2_EvtReaderCallbacks_SetMetricCallback(cb, on_metric);
	OTF2_EvtReaderCallbacks_SetParameterIntCallback(cb, on_int);
	OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(cb, on_uint);
	OTF2_EvtReaderCallbacks_SetParameterStringCallback(cb, on_str);
	OTF2_EvtReaderCallbacks_SetMpiSendCallback(cb, on_send);
	OTF2_EvtReaderCallbacks_SetMpiRecvCallback(cb, on_recv);
	OTF2_EvtReaderCallbacks_SetRmaPutCallback(cb, on_put);
	OTF2_EvtReaderCallbacks_SetRmaGetCallback(cb, on_get);
	OTF2_EvtReaderCallbacks_SetRmaOpCompleteBlockingCallback(cb, on_complete);
	OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(cb, on_acquire);
	OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(cb, on_release);
	OTF2_EvtReaderCallbacks_SetThreadCreateCallback(cb, on_t_create);
	OTF2_EvtReaderCallbacks_SetThreadBeginCallback(cb, on_t_begin);
	OTF2_EvtReaderCallbacks_SetThreadWaitCallback(cb, on_t_wait);
	OTF2_EvtReaderCallbacks_SetThreadEndCallback(cb, on_t_end);
	OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(cb, on_io_open);
	OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(cb, on_io_close);
	OTF2_EvtReaderCallbacks_SetIoDuplicateHandleCallback(cb, on_io_dup);
	OTF2_EvtReaderCallbacks_SetIoSeekCallback(cb, on_io_seek);
	OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(cb, on_io_begin);
	OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(cb, on_io_end);
}

static bool read_events(struct rb *rb, OTF2_Reader *reader)
{
	OTF2_EvtReaderCallbacks *cb = OTF2_EvtReaderCallbacks_New();
	uint64_t locations = 0, n;
	bool ok = true;

	set_callbacks(cb);
	OTF2_Reader_GetNumberOfLocations(reader, &locations);
	for (uint64_t i = 0; i < locations; i++)
		OTF2_Reader_SelectLocation(reader, i);
	OTF2_Reader_OpenDefFiles(reader);
	for (uint64_t i = 0; i < locations; i++) { /* corrections of its times */
		OTF2_DefReader *def = OTF2_Reader_GetDefReader(reader, i);

		if (def && OTF2_Reader_ReadAllLocalDefinitions(reader, def, &n) == OTF2_SUCCESS)
			OTF2_Reader_CloseDefReader(reader, def);
	}
	OTF2_Reader_CloseDefFiles(reader);
	OTF2_Reader_OpenEvtFiles(reader);
	for (uint64_t i = 0; ok && i < locations; i++) {
		OTF2_EvtReader *evt = OTF2_Reader_GetEvtReader(reader, i);

		ok = evt != NULL;
		if (!ok)
			break;
		OTF2_Reader_RegisterEvtCallbacks(reader, evt, cb, rb);
		ok = OTF2_Reader_ReadAllLocalEvents(reader, evt, &n) == OTF2_SUCCESS;
		OTF2_Reader_CloseEvtReader(reader, evt);
	}
	OTF2_EvtReaderCallbacks_Delete(cb);
	OTF2_Reader_CloseEvtFiles(reader);
	return ok;
}

/* ---- markers ----------------------------------------------------------------------------------------- */

struct markers {
	FILE *out;
	char *category[256];
};

static OTF2_CallbackCode on_def_marker(void *data, OTF2_MarkerRef self, const char *group,
				       const char *category, OTF2_MarkerSeverity severity)
{
	struct markers *markers = data;

	(void)group;
	(void)severity;
	if (self < 256)
		markers->category[self] = strdup(category);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_marker(void *data, OTF2_TimeStamp time, OTF2_TimeStamp duration,
				   OTF2_MarkerRef marker, OTF2_MarkerScope kind, uint64_t scope,
				   const char *words)
{
	struct markers *markers = data;

	(void)duration;
	fprintf(markers->out, "marker %" PRIu64 " %s %s %" PRIu64 " %s\n", time,
		marker < 256 && markers->category[marker] ? markers->category[marker] : "?",
		kind == OTF2_MARKER_SCOPE_LOCATION ? "location" : "group", scope, words);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_Reader *open_archive(const char *dir)
{
	char path[700];
	OTF2_Reader *reader;

	snprintf(path, sizeof(path), "%s/traces.otf2", dir);
	reader = OTF2_Reader_Open(path);
	if (reader)
		OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	return reader;
}

char *rb_markers(const char *dir)
{
	OTF2_Reader *reader = open_archive(dir);
	struct markers markers = { 0 };
	OTF2_MarkerReader *read;
	char *words = NULL;
	size_t size;
	uint64_t n;

	if (!reader)
		return NULL;
	markers.out = open_memstream(&words, &size);
	read = OTF2_Reader_GetMarkerReader(reader);
	if (read) {
		OTF2_MarkerReaderCallbacks *cb = OTF2_MarkerReaderCallbacks_New();

		OTF2_MarkerReaderCallbacks_SetDefMarkerCallback(cb, on_def_marker);
		OTF2_MarkerReaderCallbacks_SetMarkerCallback(cb, on_marker);
		OTF2_Reader_RegisterMarkerCallbacks(reader, read, cb, &markers);
		OTF2_MarkerReaderCallbacks_Delete(cb);
		OTF2_Reader_ReadAllMarkers(reader, read, &n);
		OTF2_Reader_CloseMarkerReader(reader, read);
	}
	OTF2_Reader_Close(reader);
	fclose(markers.out);
	for (unsigned i = 0; i < 256; i++)
		free(markers.category[i]);
	return words;
}

static char *read_archive(const char *dir, bool definitions)
{
	OTF2_Reader *reader = open_archive(dir);
	struct rb *rb;
	char *words = NULL;
	size_t size;
	bool ok;

	if (!reader)
		return NULL;
	rb = calloc(1, sizeof(*rb));
	if (!rb)
		abort();
	rb->definitions = definitions;
	rb->out = open_memstream(&words, &size);
	put_properties(rb, reader);
	ok = read_definitions(rb, reader) && (definitions || read_events(rb, reader));
	OTF2_Reader_Close(reader);
	fclose(rb->out);
	for (unsigned i = 0; i < MOST; i++)
		free(rb->strings[i]);
	free(rb);
	if (!ok) {
		free(words);
		return NULL;
	}
	return words;
}

char *rb_events(const char *dir)
{
	return read_archive(dir, false);
}

char *rb_definitions(const char *dir)
{
	return read_archive(dir, true);
}
