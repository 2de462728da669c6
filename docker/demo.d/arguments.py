# SPDX-License-Identifier: GPL-2.0-or-later
"""Values on a command line."""

import argparse


def positive(word):
    """A whole number above 0."""
    value = int(word) if word.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{word}' is no whole number above 0")
    return value
