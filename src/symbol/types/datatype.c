#include "symbol/types/datatype.h"

#include <dwarf.h>
#include <elf.h>

#include "arch/arch.h"
#include "base/sort.h"
#include "base/str.h"
#include "symbol/types/dataflow.h"
#include "symbol/dwarf/dwarffile.h"
#include "symbol/types/dwarftype.h"
#include "symbol/types/predecessor.h"

enum {
	FUNCTION_MAX = 4 << 20, /* bytes of code: no real function is larger */
	/* Offsets from %fs, and from %gs on i386: a convention of compilers and the C library. */
	CANARY = 0x28,
	I386_CANARY = 0x14,
};

static const struct {
	const char *name, *reason;
} outcomes[] = {
	[DATATYPE_FOUND] = {"", NULL},
	[DATATYPE_NO_ACCESS] = {"(no memory access)", NULL},
	[DATATYPE_STACK] = {"(stack operation)", NULL},
	[DATATYPE_CANARY] = {"(stack canary)", NULL},
	[DATATYPE_CONSTANT] = {"(constants)", NULL},
	[DATATYPE_LINKER] = {"(global offset table)", NULL},
	[DATATYPE_NO_DEBUG] = {"(unknown)", "in files without debug information (-g)"},
	[DATATYPE_UNDESCRIBED] = {"(unknown)", "in code that was compiled without -g"},
	[DATATYPE_ASSEMBLER] = {"(unknown)", "in assembly code"},
	[DATATYPE_NO_CODE] = {"(unknown)", "at instructions whose code is missing"},
	[DATATYPE_THREAD] = {"(unknown)", "in thread-local memory"},
	[DATATYPE_WAYS] = {"(unknown)", "where several paths through the code meet"},
	[DATATYPE_UNTRACKED] = {"(unknown)", "through addresses of no known variable"},
	[DATATYPE_TOO_LARGE] = {"(unknown)", "in functions that are too large to be followed"},
	[DATATYPE_OUTSIDE] = {"(unknown)", "outside of the type that they seem to be in"},
};

const char *datatype_outcome_name(enum datatype_outcome outcome)
{
	return outcomes[outcome].name;
}

const char *datatype_outcome_reason(enum datatype_outcome outcome)
{
	return outcomes[outcome].reason;
}

void datatype_add_place(struct str *text, const char *type, u64 offset, const char *member)
{
	str_add_safe(text, type, strlen(type));
	str_addf(text, offset ? " +0x%llx" : " +%llx", (unsigned long long)offset);
	if (!*member)
		return;
	str_add(text, " (");
	str_add_safe(text, member, strlen(member));
	str_addc(text, ')');
}

struct known_type {
	const void *entry;
	u32 layout;
};

struct datatypes {
	struct dwarf_file *file;
	struct dwarf_handle *handle;
	dwarf_units units;
	interval_list unit_pieces; /* values: index of the unit, + 1 */
	struct datascope scope;
	const struct elf *image;
	u32 unit; /* the open one, + 1; 0: none */
	VEC(Dwarf_Die) functions;
	interval_list function_pieces; /* values: index of the function, + 1 */
	struct intern texts;
	struct typelayout layouts;
	VEC(struct known_type) known; /* types that are in `layouts` */
};

int datatypes_open(struct datatypes **ret, const struct elf *image, const struct elf *debug,
	struct err *err)
{
	range_list ranges = {0};
	struct err complaint = {0};
	struct datatypes *t;

	if (!elf_arch(image) || !elf_arch(image)->is_x86)
		return err_set(err, ERR_NOENT, "it is not x86 code");
	t = mem_zalloc(sizeof(*t));
	datascope_init(&t->scope, image, debug);
	t->image = image;
	if (dwarf_open_whole(&t->file, debug, err) ||
		!(t->handle = dwarf_handle_new(t->file, err))) {
		datatypes_close(t);
		return err->code;
	}
	dwarf_list(t->handle, &t->units, &ranges, &complaint);
	intervalmap_of(&ranges, &t->unit_pieces);
	vec_fini(&ranges);
	*ret = t;
	return 0;
}

void datatypes_close(struct datatypes *t)
{
	if (!t)
		return;
	datascope_fini(&t->scope);
	vec_fini(&t->units);
	vec_fini(&t->unit_pieces);
	vec_fini(&t->functions);
	vec_fini(&t->function_pieces);
	intern_fini(&t->texts);
	typelayout_fini(&t->layouts);
	vec_fini(&t->known);
	dwarf_close(t->file);
	mem_free(t);
}

/* ---- units and functions ---- */

struct listing {
	struct datatypes *types;
	range_list ranges;
};

static int take_function(Dwarf_Die *function, void *ctx)
{
	struct listing *l = ctx;
	struct err ignored = {0};
	size_t before = l->ranges.n;

	dwarf_add_ranges(l->types->handle, function, (u32)l->types->functions.n + 1, &l->ranges,
		&ignored);
	if (l->ranges.n > before)
		vec_add(&l->types->functions, *function);
	datascope_add_function(&l->types->scope, function);
	return DWARF_CB_OK;
}

/* Moves to the entry with the functions: for a skeleton unit, the one in the other file. */
static void go_to_split(Dwarf_Die *unit)
{
	Dwarf_Die split;

	if (!dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) &&
		dwarf_tag(&split) == DW_TAG_compile_unit)
		*unit = split;
}

static void open_unit(struct datatypes *t, u32 unit)
{
	struct listing l = {.types = t};
	Dwarf_Die entry;

	t->unit = unit;
	t->functions.n = t->function_pieces.n = 0;
	if (!dwarf_offdie(t->handle->dwarf, t->units.at[unit - 1].entry, &entry))
		return;
	go_to_split(&entry);
	datascope_enter_unit(&t->scope, &entry);
	dwarf_getfuncs(&entry, take_function, &l, 0);
	intervalmap_of(&l.ranges, &t->function_pieces);
	vec_fini(&l.ranges);
}

/* The function at an address, and the range of its code around the address. */
static Dwarf_Die *function_at(struct datatypes *t, u64 pc, u64 *ret_start, u64 *ret_end)
{
	u32 unit = intervalmap_find(t->unit_pieces.at, t->unit_pieces.n, pc), function;
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	if (!unit)
		return NULL;
	if (t->unit != unit)
		open_unit(t, unit);
	function = intervalmap_find(t->function_pieces.at, t->function_pieces.n, pc);
	if (!function)
		return NULL;
	while ((next = dwarf_ranges(&t->functions.at[function - 1], next, &base, &start, &end)) >
		0) {
		if (pc < start || pc >= end)
			continue;
		*ret_start = start;
		*ret_end = end;
		return &t->functions.at[function - 1];
	}
	return NULL;
}

/* ---- answers ---- */

struct asking {
	struct datatypes *types;
	const u64 *pcs;
	size_t at, n;                              /* of those in the function */
	struct datatype_answer *answers, *befores; /* befores: NULL: not wanted */
	struct predecessor predecessor;
};

/* A linear search: there are some hundreds. */
static u32 layout_of(struct datatypes *t, Dwarf_Die *type)
{
	u32 layout = (u32)t->layouts.lines.n + 1;

	vec_each(k, &t->known)
		if (k->entry == type->addr)
			return k->layout;
	typelayout_add(&t->layouts, type);
	vec_add(&t->known, ((struct known_type){type->addr, layout}));
	return layout;
}

const struct typelayout *datatypes_layouts(const struct datatypes *t)
{
	return &t->layouts;
}

static void describe(struct datatypes *t, const struct dataobject *o, struct datatype_answer *a)
{
	struct str text = {0};
	Dwarf_Die type, ignored;

	if (!dataobject_settle(o, &type, &a->offset)) {
		a->outcome = DATATYPE_OUTSIDE;
		return;
	}
	a->outcome = DATATYPE_FOUND;
	a->size = dwarftype_size(&type);
	dwarftype_add_name(&type, &text);
	a->type = intern_str(&t->texts, str_text(&text));
	str_clear(&text);
	if (dwarftype_has_members(&type)) {
		a->layout = layout_of(t, &type);
		dwarftype_member(&t->scope.members, &type, a->offset, &text, &ignored);
	}
	a->member = intern_str(&t->texts, str_text(&text));
	str_fini(&text);
}

/* The outcome for a constant address without a variable. */
static enum datatype_outcome unnamed(const struct elf *image, u64 address)
{
	for (u32 i = 0; i < image->n_sections; i++) {
		const struct elf_section *s = &image->sections[i];

		if (!(s->flags & SHF_ALLOC) || s->flags & SHF_TLS || address < s->addr ||
			address - s->addr >= s->size)
			continue;
		return elf_has_name(image, s, ".got") ? DATATYPE_LINKER
			: s->flags & SHF_WRITE        ? DATATYPE_UNTRACKED
						      : DATATYPE_CONSTANT;
	}
	return DATATYPE_UNTRACKED;
}

/* The outcome for an instruction whose memory is not a known object. */
static enum datatype_outcome unknown(struct datatypes *t, u64 pc, const struct operand *o,
	const struct datastate *state)
{
	s64 ignored;
	u64 address;

	if (o->base == OPERAND_NO_REG &&
		(o->word == 8 ? o->segment == 'f' && o->disp == CANARY
			      : o->segment == 'g' && o->disp == I386_CANARY))
		return DATATYPE_CANARY;
	if (o->segment)
		return DATATYPE_THREAD;
	if (o->base == OPERAND_RSP || datascope_frame(&t->scope, pc, o->base, o->disp, &ignored))
		return DATATYPE_STACK;
	if (dwarf_srclang(&t->scope.unit_entry) == DW_LANG_Mips_Assembler)
		return DATATYPE_ASSEMBLER;
	if (dataflow_address(pc, o, state, &address))
		return unnamed(t->image, address);
	return DATATYPE_UNTRACKED;
}

static void answer(struct datatypes *t, u64 pc, const struct operand *o,
	const struct datastate *state, struct datatype_answer *a)
{
	struct dataobject object;

	if (o->access == OPERAND_NOTHING)
		a->outcome = DATATYPE_NO_ACCESS;
	else if (o->access == OPERAND_STACK)
		a->outcome = DATATYPE_STACK;
	else if (dataflow_object(&t->scope, pc, o, state, &object))
		describe(t, &object, a);
	else
		a->outcome = unknown(t, pc, o, state);
}

static void take_before(struct asking *k, u64 pc, const struct operand *o,
	const struct datastate *state)
{
	struct datatype_answer a = {.outcome = DATATYPE_NO_ACCESS,
		.type = "",
		.member = "",
		.pc = pc};

	if (predecessor_needs(&k->predecessor, pc, o))
		answer(k->types, pc, o, state, &a);
	predecessor_take(&k->predecessor, pc, o, &a);
}

static void take_instruction(void *ctx, u64 pc, const struct operand *o,
	const struct datastate *state)
{
	struct asking *k = ctx;

	while (k->at < k->n && k->pcs[k->at] < pc)
		k->at++;
	for (; k->at < k->n && k->pcs[k->at] == pc; k->at++) {
		answer(k->types, pc, o, state, &k->answers[k->at]);
		k->answers[k->at].pc = pc;
	}
	if (k->befores)
		take_before(k, pc, o, state);
}

static bool ask(struct asking *k, const struct dataflow_code *code)
{
	bool is_followed;

	if (k->befores)
		predecessor_begin(&k->predecessor, k->pcs, k->n);
	is_followed =
		dataflow_run(&k->types->scope, code, &(struct dataflow_sink){k, take_instruction});
	if (k->befores)
		predecessor_finish(&k->predecessor, k->befores);
	return is_followed;
}

/* Gives all n the same outcome. */
static void give_reason(enum datatype_outcome outcome, size_t n, struct datatype_answer *answers,
	struct datatype_answer *befores)
{
	const struct datatype_answer none = {.outcome = outcome, .type = "", .member = ""};

	for (size_t i = 0; i < n; i++) {
		answers[i] = none;
		if (befores)
			befores[i] = none;
	}
}

void datatypes_find(struct datatypes *t, const u64 *pcs, size_t n, struct datatype_answer *answers,
	struct datatype_answer *befores)
{
	for (size_t i = 0, next; i < n; i = next) {
		struct dataflow_code code = {0};
		u64 end = 0;
		Dwarf_Die *function = function_at(t, pcs[i], &code.start, &end);
		struct asking k = {.types = t,
			.pcs = pcs + i,
			.answers = answers + i,
			.befores = befores ? befores + i : NULL};

		for (next = i + 1; next < n && pcs[next] < end; next++)
			;
		k.n = next - i;
		code.n = end - code.start;
		give_reason(!function                   ? DATATYPE_UNDESCRIBED
				: code.n > FUNCTION_MAX ? DATATYPE_TOO_LARGE
							: DATATYPE_NO_CODE,
			k.n, k.answers, k.befores);
		if (!function || code.n > FUNCTION_MAX)
			continue;
		code.at = elf_bytes_at(t->image, code.start, code.n);
		if (!code.at)
			continue;
		datascope_enter(&t->scope, function);
		if (!ask(&k, &code))
			give_reason(DATATYPE_TOO_LARGE, k.n, k.answers, k.befores);
	}
}
