// SPDX-License-Identifier: BSD-2-Clause
// Four tests, each of which does one thing too often, or takes its time.
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import test from "node:test";

import { regions } from "./syscull.mjs";

regions("four.test.mjs::");

test("sleeps", async () => {
	await new Promise((done) => setTimeout(done, 300));
});

test("fsyncs", () => {
	const fd = openSync("f", "w");

	for (let i = 0; i < 40; i++) {
		writeSync(fd, "x\n");
		fsyncSync(fd);
	}
	closeSync(fd);
});

test("spawns", () => {
	for (let i = 0; i < 30; i++)
		assert.equal(spawnSync("/bin/true").status, 0);
});

test("rereads", () => {
	writeFileSync("config", "a = 1\n");
	for (let i = 0; i < 200; i++)
		assert.equal(readFileSync("config", "utf8"), "a = 1\n");
});
