# SPDX-License-Identifier: BSD-3-Clause
"""Calling contexts as python3-otf2 has them."""


def path_of(context):
    """The nodes from the root."""
    path = []
    while context is not None:
        path.insert(0, context)
        context = context.parent
    return path
