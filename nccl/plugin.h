/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of NCCL's profiler plug-ins, versions 2 (NCCL 2.24) to 6 (2.29): a table of functions
 * under the name ncclProfiler_vN, and the descriptions of events passed to them. Declared here: NCCL need
 * not be there when this is built.
 *
 * Limits: version 1 was NCCL 2.23's only. What a network plug-in describes is not declared. Sizes and offsets
 * were compared with NCCL's own headers (the assertions in plugin.c).
 */
#ifndef GT_NCCL_PLUGIN_H
#define GT_NCCL_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of the mask that a plug-in answers with; one of them is the type of an event. */
enum {
	GT_NCCL_GROUP = 1,
	GT_NCCL_COLL = 2,
	GT_NCCL_P2P = 4,
	GT_NCCL_PROXY_OP = 8,
	GT_NCCL_PROXY_STEP = 16,
	GT_NCCL_PROXY_CTRL = 32,
	GT_NCCL_KERNEL_CH = 64,
	GT_NCCL_NET_PLUGIN = 128,
	GT_NCCL_GROUP_API = 256,
	GT_NCCL_COLL_API = 512,
	GT_NCCL_P2P_API = 1024,
	GT_NCCL_KERNEL_LAUNCH = 2048,
	GT_NCCL_CE_COLL = 4096,
};

/* States of an event that are recorded. */
enum {
	GT_NCCL_STEP_SEND_GPU_WAIT = 8,
	GT_NCCL_STEP_SEND_WAIT = 9,
	GT_NCCL_STEP_RECV_WAIT = 10,
	GT_NCCL_STEP_RECV_FLUSH_WAIT = 11,
	GT_NCCL_STEP_RECV_GPU_WAIT = 12,
	GT_NCCL_CTRL_IDLE = 13,
	GT_NCCL_CTRL_ACTIVE = 14,
	GT_NCCL_CTRL_SLEEP = 15,
	GT_NCCL_CTRL_WAKEUP = 16,
	GT_NCCL_CTRL_APPEND = 17,
	GT_NCCL_CTRL_APPEND_END = 18,
	GT_NCCL_STEP_SEND_PEER_WAIT = 20,
	GT_NCCL_KERNEL_CH_STOP = 22,
	GT_NCCL_GROUP_END_BEGINS = 24,
};

/* ncclResult_t: 0 is success. */
typedef int gt_nccl_result;
typedef void gt_nccl_logger(int level, unsigned long flags, const char *file, int line, const char *format,
			    ...);

#define GT_NCCL_PROXIES                       \
	struct {                            \
		int32_t pid;                \
		uint8_t channel;            \
		int peer, steps, chunk, is_send; \
	} proxy_op;                         \
	struct {                            \
		int step;                   \
	} proxy_step

struct gt_nccl_v2_event {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t hash, sequence;
			const char *function;
			const void *send;
			void *receive;
			size_t count;
			int root;
			const char *datatype;
			size_t traffic;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} coll;
		struct {
			const char *name;
			uint64_t hash;
			const char *function;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
		} p2p;
		GT_NCCL_PROXIES;
	};
};

#define GT_NCCL_CHANNEL3                 \
	struct {                           \
		uint8_t channel;           \
	} kernel_ch;                       \
	struct {                           \
		int64_t id;                \
		void *data;                \
	} net_plugin

#define GT_NCCL_CHANNEL                  \
	struct {                           \
		uint8_t channel;           \
		uint64_t timer;            \
	} kernel_ch;                       \
	struct {                           \
		int64_t id;                \
		void *data;                \
	} net_plugin

struct gt_nccl_v3_event {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t hash, sequence;
			const char *function;
			const void *send;
			void *receive;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels, warps;
			const char *algorithm, *protocol;
		} coll;
		struct {
			const char *name;
			uint64_t hash;
			const char *function;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
		} p2p;
		GT_NCCL_PROXIES;
		GT_NCCL_CHANNEL3;
	};
};

#define GT_NCCL_TASKS(last)                        \
	struct {                                  \
		uint64_t sequence;                \
		const char *function;             \
		const void *send;                 \
		void *receive;                    \
		size_t count;                     \
		int root;                         \
		const char *datatype;             \
		uint8_t channels, warps;          \
		const char *algorithm, *protocol; \
		last                              \
	} coll;                                   \
	struct {                                  \
		const char *function;             \
		void *buffer;                     \
		const char *datatype;             \
		size_t count;                     \
		int peer;                         \
		uint8_t channels;                 \
		last                              \
	} p2p

struct gt_nccl_v4_event {
	uint8_t type;
	void *parent;
	int rank;
	union {
		GT_NCCL_TASKS();
		GT_NCCL_PROXIES;
		GT_NCCL_CHANNEL;
	};
};

/* Of versions 5 and 6; 5 ends before what copy engines do. */
struct gt_nccl_v6_event {
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct {
			bool captured;
			int depth;
		} group_api;
		struct {
			const char *function;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool captured;
		} coll_api;
		struct {
			const char *function;
			size_t count;
			const char *datatype;
			void *stream;
			bool captured;
		} p2p_api;
		struct {
			void *stream;
		} kernel_launch;
		GT_NCCL_TASKS(void *group;);
		GT_NCCL_PROXIES;
		GT_NCCL_CHANNEL;
		struct {
			uint64_t sequence;
			const char *function;
			const void *send;
			void *receive;
			size_t count;
			int root;
			const char *datatype, *strategy;
			bool intra_sync;
			uint32_t batch, batches, number;
			void *stream;
		} ce_coll;
	};
};

/* Arguments of a state; versions 2 and 3 have more, after the size of a transfer. */
union gt_nccl_state_args {
	struct {
		size_t bytes;
	} step;
	struct {
		int appended;
	} control;
	struct {
		uint64_t timer;
	} kernel_ch;
};

#define GT_NCCL_TABLE(N, EVENT, ...)                                                                 \
	struct gt_nccl_v##N {                                                                        \
		const char *name;                                                                    \
		gt_nccl_result (*init)(__VA_ARGS__);                                                 \
		gt_nccl_result (*start)(void *context, void **handle, struct EVENT *event);          \
		gt_nccl_result (*stop)(void *handle);                                                \
		gt_nccl_result (*state)(void *handle, int state, union gt_nccl_state_args *args);         \
		gt_nccl_result (*finalize)(void *context);                                           \
	}

GT_NCCL_TABLE(2, gt_nccl_v2_event, void **context, int *mask);
GT_NCCL_TABLE(3, gt_nccl_v3_event, void **context, int *mask);
GT_NCCL_TABLE(4, gt_nccl_v4_event, void **context, int *mask, const char *name, uint64_t hash, int nodes,
	      int ranks, int rank, gt_nccl_logger *log);
GT_NCCL_TABLE(5, gt_nccl_v6_event, void **context, uint64_t hash, int *mask, const char *name, int nodes,
	      int ranks, int rank, gt_nccl_logger *log);
GT_NCCL_TABLE(6, gt_nccl_v6_event, void **context, uint64_t hash, int *mask, const char *name, int nodes,
	      int ranks, int rank, gt_nccl_logger *log);

#endif
