#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Perl: a child that writes into a pipe, sleeps by select, a script whose file stays open, and its DATA.

use strict;
use warnings;
$| = 1;
pipe(my $reader, my $writer) or die "pipe: $!";
my $child = fork() // die "fork: $!";
if ($child == 0) {
    close $reader;
    select($writer);
    $| = 1;
    srand(3);
    for (1 .. 26) { print int(rand(1e6)), "\n"; select(undef, undef, undef, 0.5) }
    exit 6;
}
close $writer;
my $sum = 0;
while (my $line = <$reader>) { chomp $line; $sum += $line; print "$line $sum\n" }
waitpid($child, 0);
print "the child ended with ", $? >> 8, "\n";
print "data: $_" while (<DATA>);
__DATA__
first
second
