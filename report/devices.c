/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who ended the waits of hosts for devices and of devices for hosts.
 *
 * Limits: see sync.h.
 */
#include "config.h"

#include "report/sync.h"

void gt_device_causes(struct gt_sync *sync)
{
	gt_bag_free(&sync->bags[GT_BAG_LAUNCHES]);
}
