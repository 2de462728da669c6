# SPDX-License-Identifier: GPL-2.0-or-later
#
# An image of Dockerfile with the packages of slurm-dfrs installed (see docker/up). The context is the directory of
# the packages.

ARG SLURM
FROM ${SLURM}

COPY *.deb /packages/

RUN dpkg --install /packages/*.deb && rm -rf /packages
