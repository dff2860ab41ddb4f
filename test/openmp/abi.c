/* SPDX-License-Identifier: BSD-3-Clause */
/* openmp/ompt.h against the compiler's omp-tools.h: it compiles if they agree. */
#include <omp-tools.h>

#include "openmp/ompt.h"

#define SAME(a, b) _Static_assert((long long)(a) == (long long)(b), #b)

SAME(GT_OMPT_THREAD_BEGIN, ompt_callback_thread_begin);
SAME(GT_OMPT_THREAD_END, ompt_callback_thread_end);
SAME(GT_OMPT_PARALLEL_BEGIN, ompt_callback_parallel_begin);
SAME(GT_OMPT_PARALLEL_END, ompt_callback_parallel_end);
SAME(GT_OMPT_TASK_CREATE, ompt_callback_task_create);
SAME(GT_OMPT_TASK_SCHEDULE, ompt_callback_task_schedule);
SAME(GT_OMPT_IMPLICIT_TASK, ompt_callback_implicit_task);
SAME(GT_OMPT_TARGET, ompt_callback_target);
SAME(GT_OMPT_TARGET_DATA_OP, ompt_callback_target_data_op);
SAME(GT_OMPT_TARGET_CODE, ompt_target);
SAME(GT_OMPT_TARGET_ENTER_DATA, ompt_target_enter_data);
SAME(GT_OMPT_TARGET_EXIT_DATA, ompt_target_exit_data);
SAME(GT_OMPT_TARGET_UPDATE, ompt_target_update);
SAME(GT_OMPT_TARGET_CODE + GT_OMPT_TARGET_NOWAIT, ompt_target_nowait);
SAME(GT_OMPT_TRANSFER_TO, ompt_target_data_transfer_to_device);
SAME(GT_OMPT_TRANSFER_FROM, ompt_target_data_transfer_from_device);
SAME(GT_OMPT_SYNC_REGION_WAIT, ompt_callback_sync_region_wait);
SAME(GT_OMPT_MUTEX_RELEASED, ompt_callback_mutex_released);
SAME(GT_OMPT_DEPENDENCES, ompt_callback_dependences);
SAME(GT_OMPT_TASK_DEPENDENCE, ompt_callback_task_dependence);
SAME(GT_OMPT_WORK, ompt_callback_work);
SAME(GT_OMPT_MASKED, ompt_callback_masked);
SAME(GT_OMPT_SYNC_REGION, ompt_callback_sync_region);
SAME(GT_OMPT_MUTEX_ACQUIRE, ompt_callback_mutex_acquire);
SAME(GT_OMPT_MUTEX_ACQUIRED, ompt_callback_mutex_acquired);
SAME(GT_OMPT_NEST_LOCK, ompt_callback_nest_lock);
SAME(GT_OMPT_BEGIN, ompt_scope_begin);
SAME(GT_OMPT_END, ompt_scope_end);
SAME(GT_OMPT_THREAD_INITIAL, ompt_thread_initial);
SAME(GT_OMPT_THREAD_WORKER, ompt_thread_worker);
SAME(GT_OMPT_WORK_LOOP, ompt_work_loop);
SAME(GT_OMPT_WORK_SECTIONS, ompt_work_sections);
SAME(GT_OMPT_WORK_SINGLE_EXECUTOR, ompt_work_single_executor);
SAME(GT_OMPT_WORK_SINGLE_OTHER, ompt_work_single_other);
SAME(GT_OMPT_WORK_WORKSHARE, ompt_work_workshare);
SAME(GT_OMPT_WORK_DISTRIBUTE, ompt_work_distribute);
SAME(GT_OMPT_WORK_TASKLOOP, ompt_work_taskloop);
SAME(GT_OMPT_SYNC_BARRIER, ompt_sync_region_barrier);
SAME(GT_OMPT_SYNC_IMPLICIT, ompt_sync_region_barrier_implicit);
SAME(GT_OMPT_SYNC_EXPLICIT, ompt_sync_region_barrier_explicit);
SAME(GT_OMPT_SYNC_IMPLEMENTATION, ompt_sync_region_barrier_implementation);
SAME(GT_OMPT_SYNC_TASKWAIT, ompt_sync_region_taskwait);
SAME(GT_OMPT_SYNC_TASKGROUP, ompt_sync_region_taskgroup);
SAME(GT_OMPT_SYNC_REDUCTION, ompt_sync_region_reduction);
SAME(GT_OMPT_MUTEX_LOCK, ompt_mutex_lock);
SAME(GT_OMPT_MUTEX_TEST_LOCK, ompt_mutex_test_lock);
SAME(GT_OMPT_MUTEX_NEST_LOCK, ompt_mutex_nest_lock);
SAME(GT_OMPT_MUTEX_TEST_NEST_LOCK, ompt_mutex_test_nest_lock);
SAME(GT_OMPT_MUTEX_CRITICAL, ompt_mutex_critical);
SAME(GT_OMPT_MUTEX_ATOMIC, ompt_mutex_atomic);
SAME(GT_OMPT_MUTEX_ORDERED, ompt_mutex_ordered);
SAME(GT_OMPT_TASK_INITIAL, ompt_task_initial);
SAME(GT_OMPT_TASK_EXPLICIT, ompt_task_explicit);
SAME(GT_OMPT_TASK_UNTIED, ompt_task_untied);
SAME(GT_OMPT_COMPLETE, ompt_task_complete);
SAME(GT_OMPT_YIELD, ompt_task_yield);
SAME(GT_OMPT_CANCEL, ompt_task_cancel);
SAME(GT_OMPT_DETACH, ompt_task_detach);
SAME(GT_OMPT_EARLY_FULFILL, ompt_task_early_fulfill);
SAME(GT_OMPT_LATE_FULFILL, ompt_task_late_fulfill);
SAME(GT_OMPT_SWITCH, ompt_task_switch);
SAME(GT_OMPT_SET_NEVER, ompt_set_never);
SAME(sizeof(union gt_ompt_data), sizeof(ompt_data_t));
SAME(sizeof(struct gt_ompt_tool), sizeof(ompt_start_tool_result_t));
