/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The executable mappings that an exec has made, from the files themselves:
 * the program, the loader that it names, the kernel's own page.  The process
 * may be gone, and its list of mappings with it; where they lie follows from
 * the auxiliary vector.  The files are foreign: they are only read, and
 * every number in them is checked.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/bpf/bpf.h"

#define SEGMENTS_MAX 8
#define HEADERS_MAX 64
#define IMAGES_MAX 4096
#define VSYSCALL_START UINT64_C(0xffffffffff600000)

struct segment {
	uint64_t start, end, offset;
	uint32_t prot;
};

struct image {
	uint64_t dev, ino;
	char *path;
	char *loader; /* as the program names it; NULL none */
	uint64_t entry;
	bool moves; /* ET_DYN */
	unsigned count;
	struct segment segments[SEGMENTS_MAX];
};

void exec_files_init(struct images *images)
{
	*images = (struct images){ 0 };
	map_init(&images->by_file, sizeof(struct image *), IMAGES_MAX);
}

static void image_free(struct image *image)
{
	if (!image)
		return;
	free(image->path);
	free(image->loader);
	free(image);
}

void exec_files_done(struct images *images)
{
	struct image **slot;
	size_t iter = 0;

	while ((slot = map_next(&images->by_file, &iter, NULL)))
		image_free(*slot);
	map_done(&images->by_file);
}

static void read_loader(struct image *image, int fd, const Elf64_Phdr *header)
{
	if (header->p_filesz < 2 || header->p_filesz > PATH_MAX)
		return;
	image->loader = calloc(1, header->p_filesz + 1);
	if (image->loader &&
	    pread(fd, image->loader, header->p_filesz, (off_t)header->p_offset) != (ssize_t)header->p_filesz) {
		free(image->loader);
		image->loader = NULL;
	}
}

static void read_headers(struct image *image, int fd)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	Elf64_Phdr headers[HEADERS_MAX];
	Elf64_Ehdr head;
	size_t bytes;

	if (pread(fd, &head, sizeof head, 0) != sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof headers[0] || head.e_phnum > HEADERS_MAX)
		return;
	bytes = head.e_phnum * sizeof headers[0];
	if (pread(fd, headers, bytes, (off_t)head.e_phoff) != (ssize_t)bytes)
		return;
	image->moves = head.e_type == ET_DYN;
	image->entry = head.e_entry;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		const Elf64_Phdr *header = &headers[i];
		struct segment *segment = &image->segments[image->count];

		if (header->p_type == PT_INTERP && !image->loader)
			read_loader(image, fd, header);
		if (header->p_type != PT_LOAD || !(header->p_flags & PF_X) || image->count == SEGMENTS_MAX ||
		    header->p_vaddr > UINT64_MAX / 2 || header->p_filesz > UINT64_MAX / 4)
			continue;
		segment->start = header->p_vaddr & ~(page - 1);
		segment->end = (header->p_vaddr + header->p_filesz + page - 1) & ~(page - 1);
		segment->offset = header->p_offset & ~(page - 1);
		segment->prot = (header->p_flags & PF_R ? 1u : 0) | (header->p_flags & PF_W ? 2u : 0) | 4u;
		image->count++;
	}
}

/* What is known of the file behind a path; NULL when it is another one than
 * `ino` (0: any), or cannot be read. */
static struct image *image_of(struct images *images, const char *path, uint64_t ino)
{
	struct image **slot, *image;
	uint64_t key;
	struct stat st;
	bool made;
	int fd;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || (ino && st.st_ino != ino))
		return NULL;
	/* One that was written anew under its old number is another. */
	key = map_mix(map_mix(st.st_dev, st.st_ino),
		      map_mix((uint64_t)st.st_size,
			      (uint64_t)st.st_ctim.tv_sec * 1000000007u + (uint64_t)st.st_ctim.tv_nsec));
	slot = map_put(&images->by_file, key, &made);
	if (!slot)
		return NULL;
	if (!made)
		return *slot;
	image = calloc(1, sizeof *image);
	*slot = image;
	if (!image)
		return NULL;
	image->dev = st.st_dev;
	image->ino = st.st_ino;
	image->path = realpath(path, NULL);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		read_headers(image, fd);
		(void)close(fd);
	}
	return image;
}

static void tell(struct engine_bpf *e, const struct event_head *exec, uint64_t start, const struct segment *segment,
		 const char *path, const struct image *image)
{
	struct event_map *record = event_begin(&e->record, EVENT_MAP);

	if (!record) {
		e->stats.state_errors++;
		return;
	}
	record->head.pid = exec->pid;
	record->head.tid = exec->tid;
	record->head.time_ns = exec->time_ns;
	record->start = start + segment->start;
	record->end = start + segment->end;
	record->file_offset = segment->offset;
	record->dev = image ? image->dev : 0;
	record->ino = image ? image->ino : 0;
	record->prot = segment->prot;
	(void)event_item_add(&e->record, SYS_ITEM_PATH, 0, 0, path, strlen(path));
	(void)bpf_emit(e);
}

static void tell_image(struct engine_bpf *e, const struct event_head *exec, const struct image *image, uint64_t start,
		       const char *path)
{
	for (unsigned i = 0; i < image->count; i++)
		tell(e, exec, start, &image->segments[i], path, image);
}

/* The kernel's own pages are as large in every process; ours shows them. */
static void look_at_own(struct images *images)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	images->looked = true;
	while (maps && fgets(line, sizeof line, maps)) {
		uint64_t start, end;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		if (strstr(line, "[vdso]"))
			images->vdso_bytes = end - start;
		else if (strstr(line, "[vsyscall]"))
			images->vsyscall = true;
	}
	if (maps)
		(void)fclose(maps);
}

void exec_files_tell(struct engine_bpf *e, const struct event_head *exec, const char *path, uint64_t ino,
		     const struct exec_auxv *auxv)
{
	struct images *images = &e->images;
	const struct image *program, *loader = NULL;

	if (auxv->compat || auxv->entry == 0)
		return;
	if (!images->looked)
		look_at_own(images);
	program = image_of(images, path, ino);
	if (!program) {
		/* Of another root: while it runs, through its own eyes. */
		char link[PROC_PATH_MAX];

		proc_path(link, (pid_t)exec->pid, "exe");
		program = image_of(images, link, ino);
	}
	if (program)
		tell_image(e, exec, program, program->moves ? auxv->entry - program->entry : 0, path);
	if (program && program->loader && auxv->base)
		loader = image_of(images, program->loader, 0);
	if (loader)
		tell_image(e, exec, loader, auxv->base, loader->path ? loader->path : program->loader);
	if (auxv->vdso && images->vdso_bytes)
		tell(e, exec, auxv->vdso, &(struct segment){ .end = images->vdso_bytes, .prot = 5 }, "[vdso]", NULL);
	if (images->vsyscall)
		tell(e, exec, VSYSCALL_START, &(struct segment){ .end = 4096, .prot = 4 }, "[vsyscall]", NULL);
}
