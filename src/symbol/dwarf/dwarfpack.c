#include "symbol/dwarf/dwarfpack.h"

#include <dwarf.h>
#include <gelf.h>

#include "base/mem.h"

enum { SECTIONS = 6 };

/* Adds a section whose contents are not copied. */
static bool add_section(Elf *elf, u32 name, u32 type, struct bytes b)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = section ? elf_newdata(section) : NULL;
	GElf_Shdr header;

	if (!data || !gelf_getshdr(section, &header))
		return false;
	header.sh_name = name;
	header.sh_type = type;
	header.sh_size = bytes_left(&b);
	data->d_buf = (void *)b.at;
	data->d_size = bytes_left(&b);
	data->d_type = ELF_T_BYTE;
	data->d_align = 1;
	return gelf_update_shdr(section, &header);
}

/* Builds the file; it exists in memory only. */
static bool make_file(struct dwarfpack *p, int nowhere, const struct elf *like,
	const struct bytes *parts)
{
	static const char *const names[SECTIONS] = {".debug_info", ".debug_abbrev",
		".debug_str_offsets", ".debug_str", ".debug_addr", ".shstrtab"};
	/* The names above; the first byte is the empty name. */
	static const char texts[] = "\0.debug_info\0.debug_abbrev\0.debug_str_offsets\0.debug_str\0"
				    ".debug_addr\0.shstrtab";
	GElf_Ehdr header;
	u32 name = 1;

	p->elf = elf_begin(nowhere, ELF_C_WRITE, NULL);
	if (!p->elf || !gelf_newehdr(p->elf, like->is_64 ? ELFCLASS64 : ELFCLASS32) ||
		!gelf_getehdr(p->elf, &header))
		return false;
	header.e_ident[EI_DATA] = like->data[EI_DATA];
	header.e_machine = like->machine;
	header.e_type = ET_EXEC;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = SECTIONS;
	if (!gelf_update_ehdr(p->elf, &header))
		return false;
	for (int i = 0; i < SECTIONS; i++) {
		struct bytes b = i < SECTIONS - 1 ? parts[i] : bytes_of(texts, sizeof(texts));

		if (!add_section(p->elf, name, i < SECTIONS - 1 ? SHT_PROGBITS : SHT_STRTAB, b))
			return false;
		name += (u32)strlen(names[i]) + 1;
	}
	return true;
}

/* The part of a section that the skeleton refers to; empty if there is none. */
static struct bytes part_of(struct bytes section, Dwarf_Die *skeleton, unsigned name,
	unsigned old_name)
{
	Dwarf_Attribute a;
	Dwarf_Word at = 0;

	if (section.at && (dwarf_attr(skeleton, name, &a) || dwarf_attr(skeleton, old_name, &a)) &&
		!dwarf_formudata(&a, &at) && !bytes_skip(&section, at))
		section.end = section.at;
	return section;
}

void dwarf_exhausted(void)
{
	mem_exhausted(0);
}

int dwarfpack_open(struct dwarfpack *p, const struct dwp *package, const struct dwp_unit *unit,
	Dwarf_Die *skeleton, const struct dwarfpack_sections *sections, Dwarf_Die *ret_unit,
	struct err *err)
{
	struct bytes addresses =
		part_of(sections->addresses, skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base);
	struct bytes parts[SECTIONS - 1] = {unit->parts[DWP_INFO], unit->parts[DWP_ABBREV],
		unit->parts[DWP_STR_OFFSETS], package->str, addresses};
	Dwarf_Off next;
	Dwarf_Addr base;
	Dwarf_Half version;
	size_t header;
	u8 address_bytes;

	*p = (struct dwarfpack){0};
	if (!make_file(p, sections->nowhere, &package->elf, parts) ||
		!(p->dwarf = dwarf_begin_elf(p->elf, DWARF_C_READ, NULL)) ||
		dwarf_next_unit(p->dwarf, 0, &next, &header, &version, NULL, &address_bytes, NULL,
			NULL, NULL) ||
		!dwarf_offdie(p->dwarf, header, ret_unit)) {
		err_set(err, ERR_FORMAT, "'%s' is damaged: %s", package->elf.path,
			dwarf_errmsg(-1) ? dwarf_errmsg(-1) : "a unit is malformed");
		dwarfpack_close(p);
		return err->code;
	}
	dwarf_new_oom_handler(p->dwarf, dwarf_exhausted);
	p->tree.info = parts[0];
	p->tree.abbrevs = parts[1];
	p->lines = (struct linetable_sections){.line = unit->parts[DWP_LINE], .str = package->str};
	p->ranges = (struct rangelist_source){.addresses = addresses,
		.base = dwarf_lowpc(skeleton, &base) ? 0 : base,
		.version = version,
		.address_bytes = address_bytes};
	p->ranges.lists = version >= 5
		? unit->parts[DWP_RNGLISTS]
		: part_of(sections->ranges, skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base);
	return 0;
}

void dwarfpack_close(struct dwarfpack *p)
{
	dietree_fini(&p->tree);
	if (p->dwarf)
		dwarf_end(p->dwarf);
	if (p->elf)
		elf_end(p->elf);
	*p = (struct dwarfpack){0};
}
