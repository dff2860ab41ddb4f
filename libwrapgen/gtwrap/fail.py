# SPDX-License-Identifier: BSD-3-Clause
"""The one kind of error that ends the generator: a sentence for the user.

Limits: anything else that is raised is a bug.
"""


class Failure(Exception):
    """What is wrong with the input, in a sentence; exit status 2."""


class Unspeakable(Exception):
    """A function that cannot be wrapped, with the reason."""
