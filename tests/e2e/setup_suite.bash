# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Before the first test.

setup_suite() {
	# shellcheck source=helpers.bash
	. "${BATS_TEST_DIRNAME:-$(dirname "${BASH_SOURCE[0]}")}/helpers.bash"
	configure
	reconfigure
}
