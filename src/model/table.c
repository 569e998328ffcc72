/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptor tables.  Records come in the order in which calls returned, and
 * that is not the order in which the kernel did them.  So an instance has an
 * interval: it began at the latest when its creating call returned, and a
 * call that was entered earlier means the instance before it.
 */
#include <stdlib.h>
#include <string.h>

#include "model/state.h"

struct table *table_new(void)
{
	struct table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->refs = 1;
	map_init(&table->far, sizeof(struct slot), 0);
	return table;
}

struct slot *table_slot(const struct table *table, uint32_t fd)
{
	if (fd < MODEL_NEAR_FDS)
		return fd < table->room ? &table->near[fd] : NULL;
	return map_get(&table->far, fd);
}

static struct slot *slot_make(struct table *table, uint32_t fd)
{
	uint32_t room = table->room ? table->room : 16;
	struct slot *near;

	if (fd >= MODEL_NEAR_FDS)
		return map_put(&table->far, fd, NULL);
	if (fd < table->room)
		return &table->near[fd];
	while (room <= fd)
		room *= 2;
	near = realloc(table->near, room * sizeof(*near));
	if (!near)
		return NULL;
	memset(near + table->room, 0, (room - table->room) * sizeof(*near));
	table->near = near;
	table->room = room;
	return &near[fd];
}

/* Walks the live slots: *iter starts at 0. */
static struct slot *slot_next(const struct table *table, size_t *iter, uint32_t *ret_fd)
{
	while (*iter < table->room) {
		struct slot *slot = &table->near[(*iter)++];

		if (slot->file) {
			*ret_fd = (uint32_t)(*iter - 1);
			return slot;
		}
	}
	for (size_t far = *iter - table->room;;) {
		uint64_t fd;
		struct slot *slot = map_next(&table->far, &far, &fd);

		*iter = far + table->room;
		if (!slot || slot->file) {
			*ret_fd = slot ? (uint32_t)fd : 0;
			return slot;
		}
	}
}

struct table *table_copy(struct model *model, const struct table *from, bool spread)
{
	struct table *table = table_new();
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	if (table) {
		uint32_t room = from->room;

		table->untold = from->untold;
		while (room > 0 && !from->near[room - 1].file)
			room--;
		table->near = room > 0 ? calloc(room, sizeof(*table->near)) : NULL;
		if (room > 0 && !table->near) {
			table_unref(model, table);
			return NULL;
		}
		table->room = room;
	}
	while (table && (slot = slot_next(from, &iter, &fd))) {
		struct slot *to = slot_make(table, fd);

		if (!to) {
			table_unref(model, table);
			return NULL;
		}
		*to = *slot;
		to->file->refs++;
		to->file->pub.offset_shared |= spread;
		table->live++;
	}
	return table;
}

void table_outside(struct table *table, bool for_good)
{
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	while (!table->spread && table->live > 0 && (slot = slot_next(table, &iter, &fd)))
		file_outside(slot->file);
	table->spread |= for_good;
}

void table_untold(struct table *table)
{
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	while (!table->untold && table->live > 0 && (slot = slot_next(table, &iter, &fd)))
		file_untold(slot->file);
	table->untold = true;
}

void table_renamed(const struct table *table, const struct model_path *from, const struct model_path *to)
{
	char text[MODEL_PATH_MAX];
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	while (table->live > 0 && (slot = slot_next(table, &iter, &fd))) {
		const char *path = slot->file->pub.path, *rest = path + from->bytes;

		if (slot->file->name == from->hash) {
			slot->file->name = to->hash;
			continue;
		}
		if (!path || strncmp(path, from->text, from->bytes) != 0 || (*rest && *rest != '/'))
			continue;
		if (to->bytes + strlen(rest) >= sizeof(text))
			continue;
		memcpy(text, to->text, to->bytes);
		memcpy(text + to->bytes, rest, strlen(rest));
		slot->file->name = map_hash(text, to->bytes + strlen(rest));
	}
}

void table_forget(struct model *model, struct table *table)
{
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	while ((slot = slot_next(table, &iter, &fd))) {
		file_unref(model, slot->file);
		slot->file = NULL;
	}
	for (unsigned i = 0; table->ended && i < MODEL_ENDED_MAX; i++)
		file_unref(model, table->ended[i].file);
	free(table->ended);
	table->ended = NULL;
	table->last_end_ns = 0;
	map_done(&table->far);
	table->live = 0;
}

void table_unref(struct model *model, struct table *table)
{
	if (!table || --table->refs > 0)
		return;
	table_forget(model, table);
	free(table->near);
	free(table);
}

/* Takes over the reference.  Remembers only where calls of others can still be under way. */
static void remember(struct model *model, struct table *table, uint32_t fd, struct file *file, uint64_t ret_ns,
		     uint64_t end_ns)
{
	struct ended *ended;

	if (table->refs == 1 && end_ns >= table->last_end_ns) {
		file_unref(model, file);
		return;
	}
	if (!table->ended)
		table->ended = calloc(MODEL_ENDED_MAX, sizeof(*table->ended));
	if (!table->ended) {
		(void)model_no_memory(model);
		file_unref(model, file);
		return;
	}
	ended = &table->ended[table->ended_at++ % MODEL_ENDED_MAX];
	file_unref(model, ended->file);
	*ended = (struct ended){ .file = file, .ret_ns = ret_ns, .end_ns = end_ns, .fd = fd };
	if (end_ns > table->last_end_ns)
		table->last_end_ns = end_ns;
}

struct file *table_lookup(const struct table *table, int64_t fd, uint64_t enter_ns)
{
	const struct slot *slot;

	if (!table || fd < 0 || fd > INT32_MAX)
		return NULL;
	slot = table_slot(table, (uint32_t)fd);
	if (slot && slot->file && enter_ns >= slot->ret_ns)
		return slot->file;
	if (!table->ended || enter_ns >= table->last_end_ns)
		return NULL;
	for (unsigned i = 0; i < MODEL_ENDED_MAX; i++) {
		const struct ended *ended = &table->ended[i];

		if (ended->file && ended->fd == (uint32_t)fd && enter_ns >= ended->ret_ns && enter_ns < ended->end_ns)
			return ended->file;
	}
	return NULL;
}

static void slot_end(struct model *model, struct table *table, uint32_t fd, struct slot *slot, uint64_t end_ns)
{
	remember(model, table, fd, slot->file, slot->ret_ns, end_ns);
	slot->file = NULL;
	table->live--;
	/* `slot` is void from here on. */
	if (fd >= MODEL_NEAR_FDS)
		(void)map_remove(&table->far, fd);
}

int table_install(struct model *model, struct table *table, uint32_t fd, struct file *file, uint64_t ret_ns,
		  bool cloexec)
{
	struct slot *slot = table_slot(table, fd);

	if (slot && slot->file) {
		/* Told late: a younger one has the number already. */
		if (slot->ret_ns > ret_ns) {
			remember(model, table, fd, file, ret_ns, slot->ret_ns);
			return 0;
		}
		slot_end(model, table, fd, slot, ret_ns);
	}
	if (!file)
		return 0;
	if (table->live >= model->limits.fds) {
		file_untold(file);
		file_unref(model, file);
		return model_lose(model, "descriptors");
	}
	slot = slot_make(table, fd);
	if (!slot) {
		file_untold(file);
		file_unref(model, file);
		return model_no_memory(model);
	}
	*slot = (struct slot){ .file = file, .ret_ns = ret_ns, .cloexec = cloexec };
	if (table->spread)
		file_outside(file);
	if (table->untold)
		file_untold(file);
	table->live++;
	return 0;
}

void table_close(struct model *model, struct table *table, uint32_t fd, uint64_t enter_ns, uint64_t end_ns)
{
	struct slot *slot = table_slot(table, fd);

	if (slot && slot->file && enter_ns >= slot->ret_ns)
		slot_end(model, table, fd, slot, end_ns);
}

void table_close_range(struct model *model, struct table *table, uint32_t first, uint32_t last, bool cloexec_only,
		       uint64_t enter_ns, uint64_t end_ns)
{
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	while (table->live > 0 && (slot = slot_next(table, &iter, &fd))) {
		if (fd < first || fd > last || enter_ns < slot->ret_ns)
			continue;
		if (cloexec_only)
			slot->cloexec = true;
		else
			slot_end(model, table, fd, slot, end_ns);
	}
}

void table_exec(struct model *model, struct table *table, uint64_t now_ns)
{
	struct slot *slot;
	size_t iter = 0;
	uint32_t fd;

	while (table->live > 0 && (slot = slot_next(table, &iter, &fd))) {
		if (slot->cloexec)
			slot_end(model, table, fd, slot, now_ns);
	}
	table->spread = table->untold = false;
}
