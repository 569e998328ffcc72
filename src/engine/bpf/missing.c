/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands for the engine in a build without clang, bpftool or libbpf. */
#include <errno.h>
#include <stdio.h>

#include "engine/count.h"

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

void counting_probe(struct engine_probe *ret)
{
	probe_nothing(ret);
}

int counting_start(const struct counting_spec *spec, struct counting **ret, struct error *err)
{
	(void)spec;
	*ret = NULL;
	return error_set(err, ENOTSUP, "cannot count in the kernel: %s; %s", WHY, FIX);
}

/* Nobody can have one to call these with. */
int counting_wait(struct counting *counting, unsigned ms)
{
	(void)counting;
	(void)ms;
	return 0;
}

void counting_let_go(struct counting *counting)
{
	(void)counting;
}

void counting_forward(struct counting *counting, int signal)
{
	(void)counting;
	(void)signal;
}

void counting_exit_of(const struct counting *counting, struct engine_exit *ret)
{
	(void)counting;
	*ret = (struct engine_exit){ 0 };
}

void counting_end(struct counting *counting)
{
	(void)counting;
}

void counting_stats(const struct counting *counting, struct counting_stats *ret)
{
	(void)counting;
	*ret = (struct counting_stats){ 0 };
}

const char *counting_note(struct counting *counting)
{
	(void)counting;
	return NULL;
}

size_t counting_rows(const struct counting *counting)
{
	(void)counting;
	return 0;
}

const struct count_row *counting_row(const struct counting *counting, size_t n)
{
	(void)counting;
	(void)n;
	return NULL;
}

void counting_flip(struct counting *counting)
{
	(void)counting;
}

uint64_t counting_take_max(struct counting *counting, size_t n)
{
	(void)counting;
	(void)n;
	return 0;
}

bool counting_next_error(const struct counting *counting, uint64_t *iter, uint32_t *ret_row, uint32_t *ret_err,
			 uint64_t *ret_count)
{
	(void)counting;
	(void)iter;
	(void)ret_row;
	(void)ret_err;
	(void)ret_count;
	return false;
}

bool counting_next_plain(const struct counting *counting, size_t *iter, struct counting_plain *ret)
{
	(void)counting;
	(void)iter;
	(void)ret;
	return false;
}

const char *counting_exe(struct counting *counting, uint32_t group)
{
	(void)counting;
	(void)group;
	return NULL;
}

const char *counting_cgroup(struct counting *counting, uint32_t group)
{
	(void)counting;
	(void)group;
	return NULL;
}

void counting_stop(struct counting *counting)
{
	(void)counting;
}
