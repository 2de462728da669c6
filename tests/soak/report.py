# SPDX-License-Identifier: GPL-2.0-or-later
"""What findings have in common."""


def few(things):
    things = list(things)
    return "; ".join(map(str, things[:5])) + (f"; and {len(things) - 5} more" if len(things) > 5 else "")
