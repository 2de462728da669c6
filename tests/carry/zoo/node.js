#!/usr/bin/node
// SPDX-License-Identifier: GPL-2.0-or-later
// expect: refused io_uring
// Node.js: its library has io_uring mapped, which no image can hold.

const crypto = require("crypto");
const fs = require("fs");
const hash = crypto.createHash("md5");
let step = 0;
fs.rmSync("n.txt", { force: true });
const timer = setInterval(() => {
    hash.update("step " + step);
    fs.appendFileSync("n.txt", "line " + step + "\n");
    console.log(step, hash.copy().digest("hex"));
    step += 1;
    if (step === 26) {
        clearInterval(timer);
        console.log(fs.readFileSync("n.txt").length);
    }
}, 500);
