# SPDX-License-Identifier: GPL-2.0-or-later
# R: linear algebra, the random generator's state, a connection that stays open.

set.seed(4)
kept <- file("r.txt", "w")
for (step in 1:26) {
    m <- matrix(rnorm(900), 30)
    line <- paste(step, format(sum(solve(m) %*% rnorm(30)), digits = 8), format(runif(1), digits = 10))
    writeLines(line, kept)
    cat(line, "\n")
    Sys.sleep(0.5)
}
close(kept)
cat(length(readLines("r.txt")), unname(tools::md5sum("r.txt")), "\n")
