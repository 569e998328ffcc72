/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the fields are that the programs read, from the kernel's own type
 * information.  A general reader of it takes 9 ms, most of a short run; this
 * one walks over it once a boot and knows a few structs.  It is the kernel's, but
 * lengths are checked all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "engine/bpf/bpf.h"

#define BTF_FILE "/sys/kernel/btf/vmlinux"
#define BTF_BYTES_MAX (64u << 20)
#define DEPTH_MAX 6 /* structs without a name inside each other */

struct field {
	const char *type, *member;
	size_t place; /* in struct kern_offsets */
};

static const struct field fields[] = {
#define FIELD(name, type, member) { type, member, offsetof(struct kern_offsets, name) },
	KERN_FIELDS(FIELD)
#undef FIELD
};
#define FIELD_COUNT (sizeof fields / sizeof fields[0])

/* What an older kernel may lack, or one for another machine. */
static bool is_optional(const struct field *field)
{
	return strcmp(field->type, "sched_info") == 0 || strcmp(field->member, "sched_info") == 0 ||
	       strcmp(field->member, "status") == 0;
}

struct types {
	const char *data; /* of all types */
	size_t bytes;
	const char *strings;
	size_t string_bytes;
	uint32_t *at; /* by id: where a type begins; id 0 is void */
	uint32_t count;
	struct fields_types found;
};

static const struct {
	uint32_t kind;
	const char *name;
	size_t place; /* in struct fields_types */
} sought[] = {
#define SOUGHT(name, kind, type) { kind, type, offsetof(struct fields_types, name) },
	FIELDS_TYPES(SOUGHT)
#undef SOUGHT
};

static const char *string_at(const struct types *types, uint32_t offset)
{
	return offset < types->string_bytes ? types->strings + offset : "";
}

static const struct btf_type *type_at(const struct types *types, uint32_t id)
{
	return id > 0 && id < types->count ? (const void *)(types->data + types->at[id]) : NULL;
}

/* Bytes of what follows a type of this kind; SIZE_MAX for an unknown one. */
static size_t tail_of(const struct btf_type *type)
{
	size_t members = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return members * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return members * sizeof(struct btf_enum);
	case BTF_KIND_FUNC_PROTO:
		return members * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return members * sizeof(struct btf_var_secinfo);
	case BTF_KIND_ENUM64:
		return members * 12;
	default:
		return SIZE_MAX;
	}
}

static bool find_member(const struct types *types, const struct btf_type *type, const char *name, int depth,
			uint32_t *ret_offset)
{
	const struct btf_member *members = (const void *)(type + 1);
	unsigned count = BTF_INFO_VLEN(type->info);
	bool bits = BTF_INFO_KFLAG(type->info);

	for (unsigned i = 0; i < count; i++) {
		uint32_t offset = bits ? BTF_MEMBER_BIT_OFFSET(members[i].offset) : members[i].offset;
		const char *found = string_at(types, members[i].name_off);
		const struct btf_type *inner;

		if (strcmp(found, name) == 0) {
			*ret_offset = offset / 8;
			return true;
		}
		if (*found || depth == DEPTH_MAX)
			continue;
		inner = type_at(types, members[i].type);
		if (!inner ||
		    (BTF_INFO_KIND(inner->info) != BTF_KIND_STRUCT && BTF_INFO_KIND(inner->info) != BTF_KIND_UNION))
			continue;
		if (find_member(types, inner, name, depth + 1, ret_offset)) {
			*ret_offset += offset / 8;
			return true;
		}
	}
	return false;
}

static void take(const struct types *types, const struct btf_type *type, struct kern_offsets *ret)
{
	const char *name = string_at(types, type->name_off);

	for (size_t i = 0; i < FIELD_COUNT; i++) {
		uint32_t *place = (uint32_t *)(void *)((char *)ret + fields[i].place);
		uint32_t offset;

		if (*place == KERN_NO_FIELD && strcmp(fields[i].type, name) == 0 &&
		    find_member(types, type, fields[i].member, 0, &offset))
			*place = offset;
	}
}

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < FIELD_COUNT; i++)
		if (fields[i].type[0] == name[0] && strcmp(fields[i].type, name) == 0)
			return true;
	return false;
}

static void look(struct types *types, const struct btf_type *type)
{
	for (size_t i = 0; i < sizeof sought / sizeof sought[0]; i++) {
		uint32_t *place = (uint32_t *)(void *)((char *)&types->found + sought[i].place);

		if (*place == 0 && BTF_INFO_KIND(type->info) == sought[i].kind &&
		    strcmp(string_at(types, type->name_off), sought[i].name) == 0)
			*place = types->count;
	}
}

static int walk(struct types *types, struct kern_offsets *ret)
{
	uint32_t wanted[64], wanted_count = 0, room = 1 << 17;
	size_t at = 0;

	types->at = malloc(room * sizeof *types->at);
	if (!types->at)
		return -ENOMEM;
	types->count = 1;
	while (at + sizeof(struct btf_type) <= types->bytes) {
		const struct btf_type *type = (const void *)(types->data + at);
		size_t tail = tail_of(type);

		if (tail > types->bytes - at - sizeof *type)
			return -EINVAL;
		if (types->count == room) {
			uint32_t *more = realloc(types->at, (size_t)room * 2 * sizeof *more);

			if (!more)
				return -ENOMEM;
			types->at = more;
			room *= 2;
		}
		if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT && wanted_count < 64 &&
		    is_wanted(string_at(types, type->name_off)))
			wanted[wanted_count++] = types->count;
		look(types, type);
		types->at[types->count++] = (uint32_t)at;
		at += sizeof *type + tail;
	}
	for (uint32_t i = 0; i < wanted_count; i++) {
		const struct btf_type *type = type_at(types, wanted[i]);

		if (type)
			take(types, type, ret);
	}
	return 0;
}

static int read_types(const char *data, size_t bytes, struct kern_offsets *ret, struct fields_types *ret_types)
{
	const struct btf_header *head = (const void *)data;
	struct types types = { 0 };
	int r;

	if (bytes < sizeof *head || head->magic != BTF_MAGIC || head->hdr_len > bytes ||
	    head->type_off > bytes - head->hdr_len || head->type_len > bytes - head->hdr_len - head->type_off ||
	    head->str_off > bytes - head->hdr_len || head->str_len > bytes - head->hdr_len - head->str_off ||
	    head->str_len == 0 || data[head->hdr_len + head->str_off + head->str_len - 1] != '\0')
		return -EINVAL;
	types.data = data + head->hdr_len + head->type_off;
	types.bytes = head->type_len;
	types.strings = data + head->hdr_len + head->str_off;
	types.string_bytes = head->str_len;
	r = walk(&types, ret);
	*ret_types = types.found;
	free(types.at);
	return r;
}

/* All types: once a boot. */
static int fields_read(struct kern_offsets *ret, struct fields_types *ret_types)
{
	struct buf copy = BUF_INIT;
	struct stat st;
	int fd = open(BTF_FILE, O_RDONLY | O_CLOEXEC);
	void *mapped = MAP_FAILED;
	int r;

	memset(ret, 0xff, sizeof *ret);
	*ret_types = (struct fields_types){ 0 };
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= BTF_BYTES_MAX)
		mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (mapped != MAP_FAILED) {
		r = read_types(mapped, (size_t)st.st_size, ret, ret_types);
		(void)munmap(mapped, (size_t)st.st_size);
	} else {
		/* It cannot be mapped before Linux 6.16. */
		r = buf_read_fd(&copy, fd, BTF_BYTES_MAX);
		if (r == 0)
			r = read_types(copy.data, copy.bytes, ret, ret_types);
		buf_done(&copy);
	}
	(void)close(fd);
	return r;
}

int fields_find_types(struct kern_offsets *ret, struct fields_types *ret_types, const char **ret_missing)
{
	bool kept = fields_cache_read(ret, ret_types) == 0;
	int r = kept ? 0 : fields_read(ret, ret_types);

	*ret_missing = "its type information (" BTF_FILE ", CONFIG_DEBUG_INFO_BTF)";
	for (size_t i = 0; r == 0 && i < FIELD_COUNT; i++) {
		const uint32_t *place = (const uint32_t *)(const void *)((const char *)ret + fields[i].place);

		if (*place == KERN_NO_FIELD && !is_optional(&fields[i])) {
			*ret_missing = fields[i].member;
			r = -ENOENT;
		}
	}
	if (r == 0 && !kept)
		fields_cache_write(ret, ret_types);
	return r;
}

int fields_find(struct kern_offsets *ret, const char **ret_missing)
{
	struct fields_types unused;

	return fields_find_types(ret, &unused, ret_missing);
}
