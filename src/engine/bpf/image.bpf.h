/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A new image: its environment, arguments, code and names, copied before they can
 * be gone.  Part of kernel.bpf.c, not a file by itself; looks for no names in
 * what it copies.
 */
static __always_inline struct kern_exec *exec_in(struct kern_scratch *scratch)
{
	return (struct kern_exec *)scratch->data;
}

/*
 * A new image: first its environment in parts, for whoever knows the names
 * that are wanted, then one record with all the rest.  All is in the kernel's
 * hands or in pages that it has just written; a moment later it may be gone.
 */
SEC("raw_tp/sched_process_exec")
int on_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = find(ctx, bpf_get_current_task_btf(), CHAIN_EXEC);
	struct kern_scratch *scratch = my_scratch();
	uint64_t mm;

	if (!task || !scratch)
		return 0;
	mm = kernel_u64(bpf_get_current_task(), at.task_mm);
	task->flags &= ~KERN_TASK_STARTING;
	scratch->from = kernel_u64(mm, at.mm_env_start);
	scratch->to = kernel_u64(mm, at.mm_env_end);
	scratch->next = 0;
	if (settings.stacks)
		go_on(ctx, CHAIN_CODE);
	go_on(ctx, CHAIN_ENVIRONMENT);
	return 0;
}

/* Where the new image has code: the program's own, and its loader. */
SEC("raw_tp")
int on_code(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_books *book = my_books();
	uint64_t mm, inode, start;
	struct kern_code *code;

	if (!settings.stacks || !task || !book)
		return 0;
	task->images++;
	(void)code_drop(task->code);
	task->code = code_new();
	code = code_at(task->code);
	mm = kernel_u64(bpf_get_current_task(), at.task_mm);
	inode = kernel_u64(kernel_u64(mm, at.mm_exe_file), at.file_inode);
	task->image = mix(kernel_u64(inode, at.inode_ino), kernel_u32(kernel_u64(inode, at.inode_sb), at.sb_dev));
	if (!code) {
		book->codes_full++;
	} else {
		start = kernel_u64(mm, at.mm_start_code) & ~(PAGE_BYTES - 1);
		(void)code_add(code, start, kernel_u64(mm, at.mm_end_code) - start);
		(void)add_loader(code, kernel_u64(task->regs, REGISTERS_IP));
	}
	go_on(ctx, CHAIN_ENVIRONMENT);
	return 0;
}

SEC("raw_tp")
int on_environment(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	struct kern_env *env;
	uint64_t bytes;

	if (!task || !scratch || !book)
		return 0;
	if (scratch->from >= scratch->to) {
		go_on(ctx, CHAIN_IMAGE);
		return 0;
	}
	env = (struct kern_env *)scratch->data;
	bytes = scratch->to - scratch->from;
	KEEP(bytes);
	if (bytes > KERN_ENV_CHUNK)
		bytes = KERN_ENV_CHUNK;
	env->unread = bpf_probe_read_user(env + 1, bytes, (void *)scratch->from) != 0;
	env->bytes = (uint32_t)bytes;
	env->head.type = KERN_RECORD_ENV;
	env->head.flags = 0;
	env->head.pid = env->head.tid = task->call.head.pid;
	env->head.time_ns = 0;
	scratch->from += bytes;
	bytes = (bytes + 7) & ~7ull;
	env->head.bytes = (uint32_t)(sizeof *env + bytes);
	put_state(book, env, sizeof *env + bytes);
	if (scratch->next++ < KERN_ENV_CHUNKS)
		go_on(ctx, CHAIN_ENVIRONMENT);
	go_on(ctx, CHAIN_IMAGE);
	return 0;
}

SEC("raw_tp")
int on_image(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_task *task = bpf_task_storage_get(&tasks, bpf_get_current_task_btf(), NULL, 0);
	struct kern_scratch *scratch = my_scratch();
	uint64_t mm, file, inode, start, bytes;
	struct kern_exec *exec;
	long got;

	if (!task || !scratch)
		return 0;
	exec = exec_in(scratch);
	exec->head.type = KERN_RECORD_EXEC;
	exec->head.flags = 0;
	exec->head.pid = exec->head.tid = task->call.head.pid;
	exec->head.time_ns = bpf_ktime_get_ns();
	/* A thread that calls execve takes the leader's place and number. */
	exec->former_tid = task->call.head.tid;
	task->call.head.tid = task->call.head.pid;

	mm = kernel_u64(bpf_get_current_task(), at.task_mm);
	exec->env_whole = kernel_u64(mm, at.mm_env_end) - kernel_u64(mm, at.mm_env_start);
	if (bpf_probe_read_kernel(exec->auxv, sizeof exec->auxv, (void *)(mm + at.mm_saved_auxv)) != 0)
		exec->auxv[0] = 0;
	start = kernel_u64(mm, at.mm_arg_start);
	bytes = kernel_u64(mm, at.mm_arg_end) - start;
	exec->argv_whole = bytes;
	if (bytes > KERN_ARGV_BYTES)
		bytes = KERN_ARGV_BYTES;
	bytes = read_some(exec + 1, start, bytes);
	exec->argv_bytes = (uint32_t)bytes;
	scratch->used = sizeof *exec + ((bytes + 7) & ~7ull);

	exec->filename_bytes = 0;
	got = 0;
	bytes = scratch->used;
	KEEP(bytes);
	if (bytes <= USED_MOST)
		got = bpf_probe_read_kernel_str(scratch->data + bytes, 4096,
						(void *)kernel_u64(ctx->args[2], at.bprm_filename));
	if (got > 0) {
		exec->filename_bytes = (uint32_t)got;
		scratch->used += ((uint64_t)got + 7) & ~7ull;
	}
	file = kernel_u64(mm, at.mm_exe_file);
	inode = kernel_u64(file, at.file_inode);
	exec->ino = kernel_u64(inode, at.inode_ino);
	exec->dev = kernel_u32(kernel_u64(inode, at.inode_sb), at.sb_dev);
	scratch->dentry = kernel_u64(file, at.file_path + at.path_dentry);
	scratch->mnt = kernel_u64(file, at.file_path + at.path_mnt);
	exec->deleted = kernel_u64(scratch->dentry, at.dentry_hash + 8) == 0;
	exec->names_cut = 1;
	scratch->names_begin = scratch->used;
	scratch->next = 0;
	go_on(ctx, CHAIN_NAMES);
	return 0;
}

/* Adds a component, or steps from a mount to what it is mounted on: false at
 * the root. */
__noinline int add_name(struct kern_scratch *scratch)
{
	uint64_t dentry, mnt, above, parent;
	char *place;
	long got;

	if (!scratch)
		return 0;
	dentry = scratch->dentry;
	mnt = scratch->mnt;
	parent = kernel_u64(dentry, at.dentry_parent);
	place = place_in(scratch);
	if (!place)
		return 0;
	if (dentry == kernel_u64(mnt, at.vfsmount_root)) {
		above = kernel_u64(mnt - at.mount_mnt, at.mount_parent);
		if (above == mnt - at.mount_mnt || above == 0) {
			exec_in(scratch)->names_cut = 0;
			return 0;
		}
		scratch->dentry = kernel_u64(mnt - at.mount_mnt, at.mount_point);
		scratch->mnt = above + at.mount_mnt;
		return 1;
	}
	got = bpf_probe_read_kernel_str(place, 256, (void *)kernel_u64(dentry, at.dentry_name + at.qstr_name));
	if (got <= 0)
		return 0;
	scratch->used += got;
	scratch->dentry = parent;
	if (dentry != parent)
		return 1;
	/* Something without a place, as a memfd. */
	exec_in(scratch)->names_cut = 0;
	return 0;
}

/* Components of a path from the last to the first, each with its NUL. */
SEC("raw_tp")
int on_names(struct bpf_raw_tracepoint_args *ctx)
{
	struct kern_scratch *scratch = my_scratch();
	struct kern_books *book = my_books();
	uint64_t used;

	if (!scratch || !book)
		return 0;
	if (add_name(scratch) && add_name(scratch) && add_name(scratch) && add_name(scratch) &&
	    scratch->next++ < KERN_NAMES_CALLS)
		go_on(ctx, CHAIN_NAMES);
	exec_in(scratch)->names_bytes = (uint32_t)(scratch->used - scratch->names_begin);
	used = (scratch->used + 7) & ~7ull;
	exec_in(scratch)->head.bytes = (uint32_t)used;
	KEEP(used);
	if (used <= KERN_SCRATCH_BYTES)
		put_state(book, scratch->data, used);
	else
		book->lost_state++;
	return 0;
}
