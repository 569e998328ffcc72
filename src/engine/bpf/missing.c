/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands for the engine in a build without clang, bpftool or libbpf. */
#include <errno.h>
#include <stdio.h>

#include "engine/engine.h"

#define WHY "this syscull was built without it"
#define FIX "build it where clang, bpftool and libbpf-dev are (make deps installs them): meson setup -Dbpf=enabled"

static void probe_nothing(struct engine_probe *ret)
{
	*ret = (struct engine_probe){ 0 };
	(void)snprintf(ret->why, sizeof ret->why, "%s", WHY);
	(void)snprintf(ret->fix, sizeof ret->fix, "%s", FIX);
}

static int start_nothing(const struct engine_spec *spec, struct engine **ret_engine, struct error *err)
{
	(void)spec;
	*ret_engine = NULL;
	return error_set(err, ENOTSUP, "no bpf engine: %s; %s", WHY, FIX);
}

const struct engine_ops engine_bpf = {
	.name = "bpf",
	.title = "programs in the kernel; not in this build",
	.live = true,
	.probe = probe_nothing,
	.start = start_nothing,
};
