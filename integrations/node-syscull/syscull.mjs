// SPDX-License-Identifier: BSD-2-Clause
// Tells syscull where each test begins and ends, by looking up a name that never
// exists.  Counts nothing itself: without syscull around it tests run as ever.
import { accessSync } from "node:fs";
import { afterEach, beforeEach } from "node:test";

const OUTSIDE = "node"; // the region of all that is no test
const NAME_MAX = 200; // bytes of a region's name that are told apart

/** A region begins. */
export function mark(name) {
	try {
		accessSync("/.syscull/mark/" + Buffer.from(name).subarray(0, NAME_MAX).toString().replace(/\0/g, "_"));
	} catch {
		// There is no such file, which is the point.
	}
}

/** For the top of a test file: each of its tests is a region, called by its name behind the prefix. */
export function regions(prefix = "") {
	beforeEach((test) => mark(prefix + test.name));
	afterEach(() => mark(OUTSIDE));
}
