# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Before the first test of each file.

setup_suite() {
	# shellcheck source=helpers.bash
	. "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
	configure
	reconfigure
}
