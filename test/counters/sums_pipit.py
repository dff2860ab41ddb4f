# SPDX-License-Identifier: BSD-3-Clause
"""Inclusive and exclusive sums of each metric for each region, as Pipit computes them.

    sums_pipit.py ARCHIVE METRIC...     lines "METRIC<tab>REGION<tab>CALLS<tab>INCLUSIVE<tab>EXCLUSIVE"

Limits: Pipit reads locations of threads, and the metrics of one class.
"""
import sys
import warnings

warnings.simplefilter("ignore")
import pipit

trace = pipit.Trace.from_otf2(sys.argv[1], num_processes=1)
metrics = sys.argv[2:]
trace.calc_inc_metrics(metrics)
trace.calc_exc_metrics(metrics)
enters = trace.events[trace.events["Event Type"] == "Enter"]
for metric in metrics:
    groups = enters.groupby("Name", observed=True)
    for name, group in groups:
        print(metric, name, len(group), *(round(group[metric + way].sum()) for way in (".inc", ".exc")), sep="\t")
