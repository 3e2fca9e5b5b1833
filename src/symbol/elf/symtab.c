#include "symbol/elf/symtab.h"

#include <elf.h>

#include "arch/arch.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/table.h"

/* One entry of a symbol table. */
struct entry {
	u32 name;
	u8 info, other;
	u16 section;
	u64 value, size;
	const struct elf_section *its; /* the section with number `section`; NULL: none */
};

static bool take_entry(const struct elf *elf, struct bytes *b, struct entry *e)
{
	u32 value, size;

	if (!bytes_u32(b, &e->name))
		return false;
	if (elf->is_64)
		return bytes_u8(b, &e->info) && bytes_u8(b, &e->other) &&
			bytes_u16(b, &e->section) && bytes_u64(b, &e->value) &&
			bytes_u64(b, &e->size);
	if (!bytes_u32(b, &value) || !bytes_u32(b, &size) || !bytes_u8(b, &e->info) ||
		!bytes_u8(b, &e->other) || !bytes_u16(b, &e->section))
		return false;
	e->value = value;
	e->size = size;
	return true;
}

/* The NUL-terminated text at an offset of a string table. */
static const char *text_at(struct bytes strings, u32 offset)
{
	const char *text;
	size_t n;

	return bytes_skip(&strings, offset) && bytes_cstr(&strings, &text, &n) ? text : NULL;
}

/*
 * ARM and RISC-V mark code and data with symbols that are not names of functions; RISC-V's jump targets
 * keep the assembler's labels, .LBB1_2.
 */
static bool is_mapping_symbol(const char *name)
{
	if (name[0] == '.' && name[1] == 'L')
		return true;
	return name[0] == '$' && name[1] && strchr("axdt", name[1]) && (!name[2] || name[2] == '.');
}

/* The section of the n-th symbol; `numbers`: the table of section numbers that need more than 16 bits. */
static const struct elf_section *section_of(const struct elf *elf, struct bytes numbers, u16 number,
	u64 n)
{
	u32 wide;

	if (number != SHN_XINDEX)
		return elf_section_at(elf, number);
	return numbers.at && bytes_skip(&numbers, n * sizeof(u32)) && bytes_u32(&numbers, &wide)
		? elf_section_at(elf, wide)
		: NULL;
}

/* Whether samples can fall into the symbol: functions, and all named things in executable sections. */
static bool is_code(const struct elf *elf, const struct entry *e)
{
	bool is_executable = e->its && e->its->flags & SHF_EXECINSTR;
	u8 type = e->info & 0xf;

	if (e->section == SHN_UNDEF || e->section == SHN_ABS)
		return false;
	/* In an unlinked file: symbols in executable sections. */
	if (elf->type == ET_REL)
		return (type <= STT_FUNC || type == STT_GNU_IFUNC) && is_executable;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return (type == STT_NOTYPE || type == STT_OBJECT) && is_executable;
}

static void add(struct symtab *t, u64 start, u64 size, const char *name,
	enum symtab_binding binding)
{
	struct symbol s = {.start = start, .end = start + size, .name = name, .binding = binding};

	if (s.end < start)
		s.end = start;
	vec_add(&t->symbols, s);
}

static bool is_data(const struct elf *elf, const struct entry *e)
{
	(void)elf;
	return (e->info & 0xf) == STT_OBJECT && e->size && e->section != SHN_UNDEF && e->its &&
		e->its->flags & SHF_ALLOC && !(e->its->flags & SHF_EXECINSTR);
}

static size_t add_entries(struct symtab *t, const struct elf *elf, u32 section_type,
	bool (*is_wanted)(const struct elf *elf, const struct entry *e))
{
	const struct elf_section *s = elf_section_of_type(elf, section_type);
	struct bytes entries, strings, numbers = {0};
	const struct arch *arch = arch_of_machine(elf->machine);
	bool has_thumb = arch && arch->has_thumb;
	size_t before = t->symbols.n;
	struct entry e;

	if (!elf_contents(elf, s, &entries) ||
		!elf_contents(elf, elf_section_at(elf, s->link), &strings))
		return 0;
	elf_contents(elf, elf_section_of_type(elf, SHT_SYMTAB_SHNDX), &numbers);
	for (u64 n = 0; take_entry(elf, &entries, &e); n++) {
		const char *name;
		u8 binding = e.info >> 4;

		e.its = section_of(elf, numbers, e.section, n);
		if (!is_wanted(elf, &e) || !(name = text_at(strings, e.name)) || !*name ||
			is_mapping_symbol(name))
			continue;
		/* The lowest bit of an address only marks Thumb code. */
		if (has_thumb && (e.info & 0xf) == STT_FUNC)
			e.value &= ~(u64)1;
		if (elf->type == ET_REL)
			e.value += e.its->addr;
		add(t, e.value, e.size, name,
			binding == STB_WEAK            ? SYMTAB_WEAK
				: binding == STB_LOCAL ? SYMTAB_LOCAL
						       : SYMTAB_GLOBAL);
	}
	return t->symbols.n - before;
}

size_t symtab_add_elf(struct symtab *t, const struct elf *elf, u32 section_type)
{
	return add_entries(t, elf, section_type, is_code);
}

size_t symtab_add_data(struct symtab *t, const struct elf *elf, u32 section_type)
{
	return add_entries(t, elf, section_type, is_data);
}

void symtab_merge_elf(struct symtab *t, const struct elf *elf, u32 section_type)
{
	struct symtab more = {0};
	size_t n = 0;

	if (symtab_add_elf(&more, elf, section_type))
		symtab_finish(&more);
	vec_each(s, &more.symbols) {
		const struct symbol *there = symtab_find(t, s->start);

		if (!there || there->start != s->start)
			more.symbols.at[n++] = *s;
	}
	for (size_t i = 0; i < n; i++)
		vec_add(&t->symbols, more.symbols.at[i]);
	if (n)
		symtab_finish(t);
	symtab_fini(&more);
}

/* ---- PLT ---- */

struct slot { /* a word of the GOT, and the function whose address it gets */
	u64 address;
	const char *name; /* NULL: the one that the resolver at `ifunc` chooses */
	u64 ifunc;
};

struct slots {
	VEC(struct slot) at;
	struct table index;
	VEC(u64) lazy; /* addresses of slots by number, in the order of the PLT's relocations */
	const struct arch *arch;
	u64 got; /* the address in the register by which i386's shared code reaches the GOT */
};

static const struct slot *find_slot(const struct slots *slots, u64 address)
{
	struct table_probe probe = table_probe(&slots->index, hash_u64(address));
	u32 i;

	while ((i = table_next(&slots->index, &probe)) != TABLE_NONE)
		if (slots->at.at[i].address == address)
			return &slots->at.at[i];
	return NULL;
}

/* The word that a section has for an address; 0 if none has. */
static u32 word_at(const struct elf *elf, u64 address)
{
	for (u32 i = 0; i < elf->n_sections; i++) {
		const struct elf_section *s = &elf->sections[i];
		struct bytes b;
		u32 word;

		if (s->flags & SHF_ALLOC && address >= s->addr && address - s->addr < s->size)
			return elf_contents(elf, s, &b) && bytes_skip(&b, address - s->addr) &&
					bytes_u32(&b, &word)
				? word
				: 0;
	}
	return 0;
}

/* Names a slot by its relocation: after a symbol, or after a resolver. */
static bool name_slot(const struct elf *elf, const struct elf_section *symbols, u64 symbol,
	bool is_ifunc, struct slot *slot)
{
	u64 each = elf->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct bytes entries, strings;
	struct entry e;

	slot->name = NULL;
	if (!symbol)
		return is_ifunc;
	return symbols && elf_contents(elf, elf_section_at(elf, symbols->link), &strings) &&
		elf_contents(elf, symbols, &entries) && bytes_skip(&entries, symbol * each) &&
		take_entry(elf, &entries, &e) && (slot->name = text_at(strings, e.name)) &&
		*slot->name;
}

/* Reads one relocation. On 64-bit machines it has an addend; i386 has addends in the slots. */
static bool take_relocation(const struct elf *elf, struct bytes *rel, struct slot *slot,
	u64 *ret_symbol, u32 *ret_type)
{
	u32 address, info;
	u64 wide;

	if (!elf->is_64) {
		if (!bytes_u32(rel, &address) || !bytes_u32(rel, &info))
			return false;
		slot->address = address;
		slot->ifunc = 0;
		*ret_symbol = info >> 8;
		*ret_type = info & 0xff;
		return true;
	}
	if (!bytes_u64(rel, &slot->address) || !bytes_u64(rel, &wide) ||
		!bytes_u64(rel, &slot->ifunc))
		return false;
	*ret_symbol = wide >> 32;
	*ret_type = (u32)wide;
	return true;
}

static void add_relocations(const struct elf *elf, const struct elf_section *s, bool is_lazy,
	struct slots *slots)
{
	const struct elf_section *symbols = elf_section_at(elf, s->link);
	struct slot slot;
	struct bytes rel;
	u64 symbol;
	u32 type;

	if (!elf_contents(elf, s, &rel))
		return;
	while (take_relocation(elf, &rel, &slot, &symbol, &type)) {
		if (is_lazy)
			vec_add(&slots->lazy, slot.address);
		/*
		 * A slot is filled once: a file with millions of relocations for one slot must not
		 * take an hour.
		 */
		if (find_slot(slots, slot.address) ||
			!name_slot(elf, symbols, symbol, type == slots->arch->irelative, &slot))
			continue;
		if (!slot.name && !elf->is_64)
			slot.ifunc = word_at(elf, slot.address);
		table_add(&slots->index, hash_u64(slot.address), slots->at.n);
		vec_add(&slots->at, slot);
	}
}

static u64 got_base(const struct elf *elf)
{
	const struct elf_section *got = elf_section(elf, ".got.plt");

	if (!got)
		got = elf_section(elf, ".got");
	return got ? got->addr : 0;
}

/* The slot that a stub makes the dynamic linker fill; 0: it does not say. */
static u64 slot_to_fill(const struct slots *slots, const u8 *code, u64 n)
{
	const struct arch *arch = slots->arch;
	u64 number;

	return arch->plt->number && arch->plt->number(arch, code, n, &number) &&
			number < slots->lazy.n
		? slots->lazy.at[number]
		: 0;
}

/* A function that a resolver chooses is named after the resolver: strlen@plt. */
static const char *name_of_slot(const struct symtab *t, const struct slot *slot)
{
	const struct symbol *resolver = slot->name ? NULL : symtab_find(t, slot->ifunc);

	return resolver ? resolver->name : slot->name;
}

/* The function that a stub jumps to; NULL: it is not a stub. */
static const char *name_of_stub(const struct symtab *t, const struct slots *slots, const u8 *code,
	u64 n, u64 va)
{
	const struct arch_plt *plt = slots->arch->plt;
	const struct slot *slot;
	u64 to;

	if (plt->is_front && plt->is_front(code, n))
		return slots->lazy.n ? "_dl_runtime_resolve" : NULL;
	to = slot_to_fill(slots, code, n);
	if (!to)
		to = plt->slot(slots->arch, code, n, va, slots->got);
	slot = to ? find_slot(slots, to) : NULL;
	return slot ? name_of_slot(t, slot) : NULL;
}

static void find_stubs(const struct symtab *t, const struct elf *elf, const struct elf_section *s,
	const struct slots *slots, symbol_list *stubs)
{
	const struct arch_plt *plt = slots->arch->plt;
	u64 each = s->entry_size >= 8 && s->entry_size <= 64 ? s->entry_size : 16, n, step;
	struct bytes code;

	if (!elf_contents(elf, s, &code) || elf->swap)
		return;
	for (u64 va = s->addr; bytes_left(&code); va += step) {
		const char *name;

		n = plt->size ? plt->size(code.at, bytes_left(&code)) : each;
		if (n > bytes_left(&code))
			break;
		name = n ? name_of_stub(t, slots, code.at, n, va) : NULL;
		step = name || !plt->size ? n : plt->step;
		if (name)
			vec_add(stubs,
				((struct symbol){.start = va,
					.end = va + n,
					.name = name,
					.binding = SYMTAB_GLOBAL,
					.is_plt = true}));
		if (!bytes_skip(&code, step))
			break;
	}
}

void symtab_add_plt(struct symtab *t, const struct elf *elf)
{
	static const struct {
		const char *name;
		bool is_lazy;
	} relocations[] = {{".rela.plt", true}, {".rela.dyn", false}, {".rel.plt", true},
		{".rel.dyn", false}};
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".plt.bnd"};
	struct slots slots = {.arch = elf_arch(elf)};
	symbol_list stubs = {0};

	if (!slots.arch || !slots.arch->plt)
		return;
	slots.got = elf->is_64 ? 0 : got_base(elf);
	for (size_t i = 0; i < ARRAY_SIZE(relocations); i++) {
		const struct elf_section *s = elf_section(elf, relocations[i].name);

		if (s && s->type == (elf->is_64 ? SHT_RELA : SHT_REL))
			add_relocations(elf, s, relocations[i].is_lazy, &slots);
	}
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct elf_section *s = elf_section(elf, sections[i]);

		if (s)
			find_stubs(t, elf, s, &slots, &stubs);
	}
	vec_each(stub, &stubs)
		vec_add(&t->symbols, *stub);
	if (stubs.n)
		symtab_finish(t);
	vec_fini(&stubs);
	table_fini(&slots.index);
	vec_fini(&slots.at);
	vec_fini(&slots.lazy);
}

/* ---- order ---- */

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/*
 * Whether `a` is the better of two names for one address: one that has a size, is not weak, is
 * global, has fewer leading underscores, is longer; if all are equal the first in the
 * file. These are perf's rules, so both print the same name.
 */
static bool is_better(const struct symbol *a, const struct symbol *b)
{
	size_t a_n, b_n;

	if ((a->end > a->start) != (b->end > b->start))
		return a->end > a->start;
	if ((a->binding == SYMTAB_WEAK) != (b->binding == SYMTAB_WEAK))
		return a->binding != SYMTAB_WEAK;
	if ((a->binding == SYMTAB_GLOBAL) != (b->binding == SYMTAB_GLOBAL))
		return a->binding == SYMTAB_GLOBAL;
	a_n = underscores(a->name);
	b_n = underscores(b->name);
	if (a_n != b_n)
		return a_n < b_n;
	return strlen(a->name) > strlen(b->name);
}

static bool is_sorted(const struct symtab *t)
{
	for (size_t i = 1; i < t->symbols.n; i++)
		if (t->symbols.at[i - 1].start > t->symbols.at[i].start)
			return false;
	return true;
}

static void sort_by_start(struct symtab *t)
{
	struct sort_item *items;
	struct symbol *sorted;

	if (is_sorted(t))
		return;
	items = mem_alloc(t->symbols.n * sizeof(*items));
	sorted = mem_alloc(t->symbols.n * sizeof(*sorted));
	for (size_t i = 0; i < t->symbols.n; i++)
		items[i] = (struct sort_item){t->symbols.at[i].start, i};
	sort_by_key(items, t->symbols.n);
	for (size_t i = 0; i < t->symbols.n; i++)
		sorted[i] = t->symbols.at[items[i].value];
	mem_free(items);
	mem_free(t->symbols.at);
	t->symbols.at = sorted;
	t->symbols.cap = t->symbols.n;
}

/*
 * Extends symbols without size to the next one; of several at one address the last. Symbols inside
 * of one that has a size stay empty: they are labels of its code, like glibc's
 * __syscall_cancel_arch_start.
 */
static void extend(struct symtab *t)
{
	enum { LAST_ROOM = 4096 };
	u64 covered = 0; /* the highest end so far of symbols with a size */

	for (size_t i = 0; i < t->symbols.n; i++) {
		struct symbol *s = &t->symbols.at[i];

		if (s->end != s->start && !s->is_open)
			covered = MAX(covered, s->end);
		if (s->end != s->start || s->start < covered)
			continue;
		s->is_open = true;
		s->end = i + 1 < t->symbols.n ? s[1].start
					      : align_up(s->start + 1, LAST_ROOM) + LAST_ROOM;
	}
}

void symtab_finish(struct symtab *t)
{
	size_t n = 0;

	sort_by_start(t);
	extend(t);
	for (size_t i = 0; i < t->symbols.n; i++) {
		if (t->symbols.at[i].end == t->symbols.at[i].start)
			continue;
		if (n && t->symbols.at[n - 1].start == t->symbols.at[i].start) {
			if (is_better(&t->symbols.at[i], &t->symbols.at[n - 1]))
				t->symbols.at[n - 1] = t->symbols.at[i];
			continue;
		}
		t->symbols.at[n++] = t->symbols.at[i];
	}
	t->symbols.n = n;
	t->reach = mem_realloc(t->reach, MAX(n, (size_t)1) * sizeof(*t->reach));
	for (size_t i = 0; i < n; i++)
		t->reach[i] = i && t->reach[i - 1] > t->symbols.at[i].end ? t->reach[i - 1]
									  : t->symbols.at[i].end;
}

const struct symbol *symtab_find(const struct symtab *t, u64 address)
{
	/* `start` is the first member, so search_behind() compares it. */
	size_t low = search_behind(t->symbols.at, t->symbols.n, sizeof(*t->symbols.at), address);

	/* Go outwards while a symbol before this one reaches that far. */
	while (low-- > 0 && t->reach[low] > address)
		if (t->symbols.at[low].end > address)
			return &t->symbols.at[low];
	return NULL;
}

void symtab_fini(struct symtab *t)
{
	vec_fini(&t->symbols);
	mem_free(t->reach);
	memset(t, 0, sizeof(*t));
}
