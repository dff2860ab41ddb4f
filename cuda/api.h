/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of CUPTI and of the CUDA driver that the adapter calls: one table, filled from the
 * library that is found when CUDA starts, or by a test.
 *
 * Limits: the table is written once, before anything is enabled. Members may be NULL where a library
 * lacks them; `needed` ones may not.
 */
#ifndef GT_CUDA_API_H
#define GT_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "gputrace/compiler.h"

typedef void gt_cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data);
typedef void gt_cupti_request(uint8_t **buffer, size_t *size, size_t *records);
typedef void gt_cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			       size_t valid);

struct gt_cupti_api {
	/* needed */
	int (*version)(uint32_t *version);
	int (*subscribe)(void **subscriber, gt_cupti_callback *callback, void *user);
	int (*enable_callback)(uint32_t on, void *subscriber, uint32_t domain, uint32_t id);
	int (*callback_name)(uint32_t domain, uint32_t id, const char **name);
	int (*register_buffers)(gt_cupti_request *request, gt_cupti_complete *complete);
	int (*enable)(uint32_t kind);
	int (*flush)(uint32_t flag);
	int (*next_record)(uint8_t *buffer, size_t valid, struct cu_record **record);
	int (*dropped)(void *context, uint32_t stream, size_t *dropped);
	int (*timestamp)(uint64_t *now);
	int (*result_string)(int result, const char **text);
	/* may be missing */
	int (*subscribe_v2)(void **subscriber, gt_cupti_callback *callback, void *user,
			    struct cu_subscriber_params *params);
	int (*disable)(uint32_t kind);
	int (*set_attribute)(uint32_t attribute, size_t *size, void *value);
	int (*register_timestamp)(uint64_t (*now)(void));
	int (*stream_id)(void *context, void *stream, uint8_t per_thread, uint32_t *id);
	int (*device_id)(void *context, uint32_t *device);
	int (*context_id)(void *context, uint32_t *id);
	int (*unified_configure)(void *configs, uint32_t count);
	char path[512]; /* of the library */
};

extern GT_HIDDEN struct gt_cupti_api gt_cu_api;

/*
 * Finds CUPTI: one that is in the process already, else the newest that can be loaded, but none
 * that is newer than the driver allows. False, with a sentence in `why`, if there is none.
 */
GT_HIDDEN bool gt_cu_api_load(char *why, size_t size);

/* Another function of the CUPTI that was found, NULL: it has none of this name. */
GT_HIDDEN void *gt_cu_api_symbol(const char *name);

/* The driver's description of an error of a CUDA call; NULL: it has none. */
GT_HIDDEN const char *gt_cu_error(uint32_t error);

/* The name of a result, for messages. */
GT_HIDDEN const char *gt_cu_result(int result);

#endif
