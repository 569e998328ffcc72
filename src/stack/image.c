/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/image.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/vec.h"

#define SYMBOLS_MAX 4000000
#define SLOTS_MAX 1000000
#define CFI_MAX 16384 /* kept rules of one file */
#define NESTED_MAX 32 /* symbols looked at that begin before an address */

struct symbol {
	uint64_t start, end;
	const char *name;
	bool choice; /* an indirect function */
};

struct slot {
	uint64_t address;
	const char *name;
};

struct image {
	Elf *elf, *debug_elf; /* its separate file; NULL none */
	Dwarf *dwarf, *debug; /* of both; NULL none */
	int debug_fd;
	bool debug_sought, dwarf_sought, cfi_sought, symbols_read, slots_read;
	size_t segments;
	const char *raw;
	size_t raw_bytes;
	char build_id[IMAGE_BUILD_ID_MAX];
	Dwarf_CFI *eh_frame, *debug_frame;
	struct map rules; /* address → Dwarf_Frame *, NULL none */
	VEC(struct symbol) symbols;
	VEC(struct slot) slots;
};

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static void read_build_id(struct image *image)
{
	for (size_t i = 0; i < image->segments; i++) {
		GElf_Phdr phdr;
		Elf_Data *data;
		GElf_Nhdr note;
		size_t at = 0, next, name, desc;

		if (!gelf_getphdr(image->elf, (int)i, &phdr) || phdr.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(image->elf, (int64_t)phdr.p_offset, phdr.p_filesz,
					    phdr.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		while (data && (next = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
			const unsigned char *bytes = (const unsigned char *)data->d_buf + desc;

			at = next;
			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
			    memcmp((const char *)data->d_buf + name, "GNU", 4) != 0 || note.n_descsz < 2 ||
			    note.n_descsz * 2 >= IMAGE_BUILD_ID_MAX)
				continue;
			for (size_t k = 0; k < note.n_descsz; k++)
				(void)snprintf(image->build_id + 2 * k, 3, "%02x", bytes[k]);
			return;
		}
	}
}

struct image *image_open(int fd)
{
	struct image *image = calloc(1, sizeof *image);
	GElf_Ehdr ehdr;

	if (!image)
		return NULL;
	(void)elf_version(EV_CURRENT);
	image->debug_fd = -1;
	image->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &ehdr) ||
	    ehdr.e_machine != MACHINE || gelf_getclass(image->elf) != ELFCLASS64 ||
	    elf_getphdrnum(image->elf, &image->segments) != 0 || image->segments > 1024) {
		(void)elf_end(image->elf);
		free(image);
		return NULL;
	}
	image->raw = elf_rawfile(image->elf, &image->raw_bytes);
	map_init(&image->rules, sizeof(Dwarf_Frame *), CFI_MAX);
	read_build_id(image);
	return image;
}

const char *image_build_id(const struct image *image)
{
	return image->build_id[0] ? image->build_id : NULL;
}

static bool segment_of(const struct image *image, bool by_offset, uint64_t value, GElf_Phdr *ret)
{
	for (size_t i = 0; i < image->segments; i++) {
		uint64_t from, bytes;

		if (!gelf_getphdr(image->elf, (int)i, ret) || ret->p_type != PT_LOAD || !(ret->p_flags & PF_X))
			continue;
		from = by_offset ? ret->p_offset : ret->p_vaddr;
		bytes = ret->p_filesz;
		if (value >= from && value - from < bytes)
			return true;
	}
	return false;
}

bool image_address(const struct image *image, uint64_t file_offset, uint64_t *ret_address)
{
	GElf_Phdr phdr;

	if (!segment_of(image, true, file_offset, &phdr))
		return false;
	*ret_address = file_offset - phdr.p_offset + phdr.p_vaddr;
	return true;
}

bool image_offset(const struct image *image, uint64_t address, uint64_t *ret_file_offset)
{
	GElf_Phdr phdr;

	if (!segment_of(image, false, address, &phdr))
		return false;
	*ret_file_offset = address - phdr.p_vaddr + phdr.p_offset;
	return true;
}

const uint8_t *image_bytes(const struct image *image, uint64_t address, size_t bytes)
{
	uint64_t offset;

	if (!image->raw || !image_offset(image, address, &offset) || offset >= image->raw_bytes ||
	    bytes > image->raw_bytes - offset)
		return NULL;
	return (const uint8_t *)image->raw + offset;
}

static void seek_debug(struct image *image)
{
	if (image->debug_sought)
		return;
	image->debug_sought = true;
	if (image->build_id[0])
		image->debug_elf = image_debug_open(image->build_id, &image->debug_fd);
}

/* Late, since it unpacks all that is packed. */
static void seek_dwarf(struct image *image)
{
	if (image->dwarf_sought)
		return;
	image->dwarf_sought = true;
	seek_debug(image);
	image->dwarf = dwarf_begin_elf(image->elf, DWARF_C_READ, NULL);
	if (image->debug_elf)
		image->debug = dwarf_begin_elf(image->debug_elf, DWARF_C_READ, NULL);
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) : 0;
}

static void read_symbols_of(struct image *image, Elf *elf)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr shdr;
		Elf_Data *data;
		GElf_Sym sym;

		if (!gelf_getshdr(section, &shdr) || (shdr.sh_type != SHT_SYMTAB && shdr.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
			unsigned type = GELF_ST_TYPE(sym.st_info);
			const char *name;

			if ((type != STT_FUNC && type != STT_GNU_IFUNC) || sym.st_shndx == SHN_UNDEF ||
			    sym.st_size == 0)
				continue;
			name = elf_strptr(elf, shdr.sh_link, sym.st_name);
			if (!name || !*name || sym.st_value + sym.st_size < sym.st_value ||
			    image->symbols.used >= SYMBOLS_MAX)
				continue;
			(void)vec_push(&image->symbols, (struct symbol){ .start = sym.st_value,
									 .end = sym.st_value + sym.st_size,
									 .name = name,
									 .choice = type == STT_GNU_IFUNC });
		}
	}
}

static void read_symbols(struct image *image)
{
	if (image->symbols_read)
		return;
	image->symbols_read = true;
	seek_debug(image);
	read_symbols_of(image, image->elf);
	if (image->debug_elf)
		read_symbols_of(image, image->debug_elf);
	if (image->symbols.used > 0)
		qsort(image->symbols.at, image->symbols.used, sizeof image->symbols.at[0], by_start);
}

/* Of several names of one function the plainest: "open", not "__open64". */
static bool is_plainer(const char *a, const char *b)
{
	size_t a_lines = strspn(a, "_"), b_lines = strspn(b, "_"), a_bytes = strlen(a), b_bytes = strlen(b);

	if (a_lines != b_lines)
		return a_lines < b_lines;
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes;
	return strcmp(a, b) < 0;
}

/* The first symbol that begins behind an address. */
static size_t behind(const struct image *image, uint64_t address)
{
	size_t low = 0, high = image->symbols.used;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (image->symbols.at[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool image_symbol(struct image *image, uint64_t address, struct image_symbol *ret)
{
	const struct symbol *best = NULL;

	read_symbols(image);
	for (size_t i = behind(image, address), n = 0; i > 0 && n < NESTED_MAX; i--, n++) {
		const struct symbol *symbol = &image->symbols.at[i - 1];

		if (best && symbol->start != best->start)
			break;
		if (address < symbol->end && (!best || is_plainer(symbol->name, best->name)))
			best = symbol;
	}
	if (!best)
		return false;
	*ret = (struct image_symbol){ best->name, best->start, best->end };
	return true;
}

bool image_has_name(struct image *image, uint64_t start, const char *name, bool *ret_choice)
{
	bool found = false;

	read_symbols(image);
	*ret_choice = false;
	for (size_t i = 0; i < image->symbols.used; i++) {
		const struct symbol *symbol = &image->symbols.at[i];

		if (strcmp(symbol->name, name) != 0)
			continue;
		*ret_choice = *ret_choice || symbol->choice;
		found = found || symbol->start == start;
	}
	return found;
}

bool image_exports(struct image *image, const char *name)
{
	read_symbols(image);
	for (size_t i = 0; i < image->symbols.used; i++)
		if (strcmp(image->symbols.at[i].name, name) == 0)
			return true;
	return false;
}

/* The table of .eh_frame_hdr in the one form that linkers write. */
static bool fde_start(const struct image *image, uint64_t address, uint64_t *ret_start)
{
	for (size_t i = 0; i < image->segments; i++) {
		GElf_Phdr phdr;
		const uint8_t *at;
		uint32_t count;
		size_t low = 0, high;
		int32_t from;

		if (!gelf_getphdr(image->elf, (int)i, &phdr) || phdr.p_type != PT_GNU_EH_FRAME)
			continue;
		if (!image->raw || phdr.p_offset > image->raw_bytes || phdr.p_filesz < 12 ||
		    phdr.p_filesz > image->raw_bytes - phdr.p_offset)
			return false;
		at = (const uint8_t *)image->raw + phdr.p_offset;
		if (at[0] != 1 || at[1] != 0x1b || at[2] != 0x03 || at[3] != 0x3b)
			return false;
		memcpy(&count, at + 8, sizeof count);
		if (count == 0 || count > (phdr.p_filesz - 12) / 8)
			return false;
		for (high = count; low < high;) {
			size_t middle = low + (high - low) / 2;

			memcpy(&from, at + 12 + 8 * middle, sizeof from);
			if (phdr.p_vaddr + (uint64_t)(int64_t)from <= address)
				low = middle + 1;
			else
				high = middle;
		}
		if (low == 0)
			return false;
		memcpy(&from, at + 12 + 8 * (low - 1), sizeof from);
		*ret_start = phdr.p_vaddr + (uint64_t)(int64_t)from;
		return true;
	}
	return false;
}

bool image_function(struct image *image, uint64_t address, uint64_t *ret_start)
{
	struct image_symbol symbol;

	if (image_symbol(image, address, &symbol)) {
		*ret_start = symbol.start;
		return true;
	}
	/* The table has no ends: rules that cover the address have. */
	return image_cfi(image, address) && fde_start(image, address, ret_start);
}

bool image_is_stub(const struct image *image, uint64_t address)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(image->elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(image->elf, section))) {
		const char *name;
		GElf_Shdr shdr;

		if (!gelf_getshdr(section, &shdr) || address < shdr.sh_addr || address - shdr.sh_addr >= shdr.sh_size ||
		    !(shdr.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(image->elf, names, shdr.sh_name);
		return name && strncmp(name, ".plt", 4) == 0;
	}
	return false;
}

static int by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1) : 0;
}

static void read_slots(struct image *image)
{
	Elf_Scn *section = NULL;

	image->slots_read = true;
	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr shdr, symbols_shdr;
		Elf_Scn *symbols;
		Elf_Data *data, *symbols_data;
		GElf_Rela rela;
		GElf_Sym sym;

		if (!gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_RELA)
			continue;
		symbols = elf_getscn(image->elf, shdr.sh_link);
		if (!symbols || !gelf_getshdr(symbols, &symbols_shdr) || symbols_shdr.sh_type != SHT_DYNSYM)
			continue;
		data = elf_getdata(section, NULL);
		symbols_data = elf_getdata(symbols, NULL);
		for (int i = 0; data && symbols_data && gelf_getrela(data, i, &rela); i++) {
			const char *name = NULL;

			if (GELF_R_SYM(rela.r_info) == 0 || image->slots.used >= SLOTS_MAX)
				continue;
			if (gelf_getsym(symbols_data, (int)GELF_R_SYM(rela.r_info), &sym))
				name = elf_strptr(image->elf, symbols_shdr.sh_link, sym.st_name);
			if (name && *name)
				(void)vec_push(&image->slots, (struct slot){ rela.r_offset, name });
		}
	}
	if (image->slots.used > 0)
		qsort(image->slots.at, image->slots.used, sizeof image->slots.at[0], by_address);
}

const char *image_slot(struct image *image, uint64_t address)
{
	struct slot key = { .address = address };
	const struct slot *slot;

	if (!image->slots_read)
		read_slots(image);
	if (image->slots.used == 0)
		return NULL;
	slot = bsearch(&key, image->slots.at, image->slots.used, sizeof image->slots.at[0], by_address);
	return slot ? slot->name : NULL;
}

Dwarf_Frame *image_cfi(struct image *image, uint64_t address)
{
	Dwarf_Frame *frame = NULL, **place;
	bool added;

	if (!image->cfi_sought)
		image->eh_frame = dwarf_getcfi_elf(image->elf);
	image->cfi_sought = true;
	place = map_get(&image->rules, address);
	if (place)
		return *place;
	if (!image->eh_frame || dwarf_cfi_addrframe(image->eh_frame, address, &frame) != 0) {
		frame = NULL;
		if (!image->dwarf_sought) {
			seek_dwarf(image);
			image->debug_frame = image->debug ? dwarf_getcfi(image->debug) : NULL;
			if (!image->debug_frame && image->dwarf)
				image->debug_frame = dwarf_getcfi(image->dwarf);
		}
		if (!image->debug_frame || dwarf_cfi_addrframe(image->debug_frame, address, &frame) != 0)
			frame = NULL;
	}
	place = map_put(&image->rules, address, &added);
	if (place)
		*place = frame;
	return frame;
}

bool image_line(struct image *image, uint64_t address, const char **ret_file, uint32_t *ret_line)
{
	seek_dwarf(image);
	return (image->debug && image_line_of(image->debug, address, ret_file, ret_line)) ||
	       (image->dwarf && image_line_of(image->dwarf, address, ret_file, ret_line));
}
