#include "symbol/types/dwarfvars.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "symbol/types/dwarftype.h"
#include "unwind/operand.h"

enum {
	DEPTH_MAX = 256,      /* of nested blocks */
	PLACES_MAX = 1 << 18, /* of a function or a unit; no real one has more */
	RANGES_MAX = 64,      /* of a block: if it has more they are merged */
};

struct span {
	u64 start, end;
};

/* The current block and the ranges of its code. */
struct block {
	u32 depth;
	u32 n_spans; /* 0: unlimited */
	struct span spans[RANGES_MAX];
};

struct reading {
	struct dwarfvars *vars;
	u8 frame_kind; /* what DW_OP_fbreg is relative to */
	u8 frame_reg;
	s64 frame_offset;
	bool has_frame;
};

static void add_place(struct reading *r, const struct dwarfvars_place *place, const struct block *b,
	bool is_everywhere)
{
	struct dwarfvars_place p = *place;

	if (r->vars->places.n >= PLACES_MAX)
		return;
	p.depth = b->depth;
	if (!is_everywhere || !b->n_spans) {
		vec_add(&r->vars->places, p);
		return;
	}
	for (u32 i = 0; i < b->n_spans; i++) {
		p.start = b->spans[i].start;
		p.end = b->spans[i].end;
		vec_add(&r->vars->places, p);
	}
}

/* ---- expressions ---- */

/* The register number of a DW_OP_regN. Returns false for another operation. */
static bool register_of(const struct reading *r, const Dwarf_Op *op, u8 *ret_reg)
{
	u64 reg = op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31 ? (u64)(op->atom - DW_OP_reg0)
		: op->atom == DW_OP_regx                            ? op->number
								    : UINT64_MAX;

	if (reg >= UINT8_MAX)
		return false;
	*ret_reg = operand_reg((u8)reg, r->vars->is_64);
	return *ret_reg != OPERAND_NO_REG;
}

/* The same for DW_OP_bregN, with its offset. */
static bool near_of(const struct reading *r, const Dwarf_Op *op, u8 *ret_reg, s64 *ret_offset)
{
	bool is_x = op->atom == DW_OP_bregx;
	u64 reg = op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31
		? (u64)(op->atom - DW_OP_breg0)
		: is_x ? op->number
		       : UINT64_MAX;

	if (reg >= UINT8_MAX)
		return false;
	*ret_reg = operand_reg((u8)reg, r->vars->is_64);
	*ret_offset = (s64)(is_x ? op->number2 : op->number);
	return *ret_reg != OPERAND_NO_REG;
}

static bool address_of(Dwarf_Attribute *location, const Dwarf_Op *op, u64 *ret_address)
{
	Dwarf_Attribute a;
	Dwarf_Addr address;

	if (op->atom == DW_OP_addr) {
		*ret_address = op->number;
		return true;
	}
	if ((op->atom != DW_OP_addrx && op->atom != DW_OP_GNU_addr_index) ||
		dwarf_getlocation_attr(location, op, &a) || dwarf_formaddr(&a, &address))
		return false;
	*ret_address = address;
	return true;
}

/* Converts a single operation. Returns false if it is no place, or one that must be computed. */
static bool place_of(const struct reading *r, Dwarf_Attribute *location, const Dwarf_Op *op,
	struct dwarfvars_place *p)
{
	u64 address;

	if (register_of(r, op, &p->reg)) {
		p->kind = VARS_REGISTER;
		p->offset = 0;
		return true;
	}
	if (near_of(r, op, &p->reg, &p->offset)) {
		p->kind = VARS_NEAR;
		return true;
	}
	if (op->atom == DW_OP_fbreg && r->has_frame) {
		p->kind = r->frame_kind;
		p->reg = r->frame_reg;
		p->offset = (s64)((u64)op->number + (u64)r->frame_offset);
		return true;
	}
	if (!address_of(location, op, &address))
		return false;
	p->kind = VARS_ADDRESS;
	p->offset = (s64)address;
	return true;
}

/* Adds those pieces of a variable in pieces that are in registers. */
static void add_pieces(struct reading *r, const Dwarf_Op *ops, size_t n, struct dwarfvars_place *p,
	const struct block *b, bool is_everywhere)
{
	s64 at = 0;

	for (size_t i = 0; i < n; i++) {
		bool is_register = register_of(r, &ops[i], &p->reg);

		if (is_register && i + 1 < n && ops[i + 1].atom == DW_OP_piece) {
			p->kind = VARS_REGISTER;
			p->offset = at;
			add_place(r, p, b, is_everywhere);
		}
		if (ops[i].atom == DW_OP_piece)
			at += (s64)ops[i].number;
	}
}

static void add_variable(struct reading *r, Dwarf_Die *die, const struct block *b)
{
	Dwarf_Attribute location;
	struct dwarfvars_place p = {0};
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &location) || !dwarftype_of(die, &p.type))
		return;
	while ((next = dwarf_getlocations(&location, next, &base, &start, &end, &ops, &n)) > 0) {
		bool is_everywhere = start == 0 && end == (Dwarf_Addr)-1;

		p.start = start;
		p.end = end;
		if (!n || start >= end)
			continue;
		if (n == 1 && place_of(r, &location, ops, &p))
			add_place(r, &p, b, is_everywhere);
		else if (n > 1 && ops[n - 1].atom == DW_OP_piece)
			add_pieces(r, ops, n, &p, b, is_everywhere);
	}
}

/* ---- calls ---- */

static void add_call(struct reading *r, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Die callee;
	Dwarf_Addr back;
	struct dwarfvars_call call = {0};

	/* In version 4, low_pc is the return address. */
	if (!dwarf_attr(die, DW_AT_call_return_pc, &a) && !dwarf_attr(die, DW_AT_low_pc, &a))
		return;
	if (dwarf_formaddr(&a, &back))
		return;
	if (!dwarf_attr(die, DW_AT_call_origin, &a) && !dwarf_attr(die, DW_AT_abstract_origin, &a))
		return;
	if (!dwarf_formref_die(&a, &callee))
		return;
	call.at = back;
	if (!dwarftype_of(&callee, &call.type))
		call.type.addr = NULL;
	vec_add(&r->vars->calls.at, call);
}

/* ---- blocks ---- */

/* Takes the ranges of a block; a block without addresses has those of the outer one. */
static void take_spans(Dwarf_Die *die, const struct block *outer, struct block *b)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t next = 0;

	b->n_spans = 0;
	while ((next = dwarf_ranges(die, next, &base, &start, &end)) > 0) {
		if (b->n_spans == RANGES_MAX) {
			b->n_spans = 0;
			break;
		}
		if (start < end)
			b->spans[b->n_spans++] = (struct span){start, end};
	}
	if (!b->n_spans && outer) {
		b->n_spans = outer->n_spans;
		memcpy(b->spans, outer->spans, outer->n_spans * sizeof(*b->spans));
	}
}

static void read_block(struct reading *r, Dwarf_Die *block, const struct block *b)
{
	struct block inner = {.depth = b->depth + 1};
	Dwarf_Die die;

	if (b->depth == DEPTH_MAX || dwarf_child(block, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			add_variable(r, &die, b);
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_inlined_subroutine:
			take_spans(&die, b, &inner);
			read_block(r, &die, &inner);
			break;
		case DW_TAG_call_site:
		case DW_TAG_GNU_call_site:
			add_call(r, &die);
			break;
		default:
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void take_frame(struct reading *r, Dwarf_Die *function)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &a) ||
		dwarf_getlocation(&a, &ops, &n))
		return;
	r->frame_offset = 0;
	/* clang for i386, from 17 on: the stack pointer's value after the prologue, relative to the CFA */
	if (n == 3 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_consts &&
		ops[2].atom == DW_OP_plus)
		r->frame_offset = (s64)ops[1].number;
	else if (n != 1)
		return;
	r->frame_kind = VARS_NEAR;
	r->has_frame = true;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		r->frame_kind = VARS_FRAME;
	else if (!register_of(r, &ops[0], &r->frame_reg) &&
		!near_of(r, &ops[0], &r->frame_reg, &r->frame_offset))
		r->has_frame = false;
}

void dwarfvars_add_function(struct dwarfvars *v, Dwarf_Die *function)
{
	struct reading r = {.vars = v};
	struct block b = {0};

	take_spans(function, NULL, &b);
	take_frame(&r, function);
	read_block(&r, function, &b);
}

/* ---- units ---- */

static void read_names(struct reading *r, Dwarf_Die *outer, const struct block *b)
{
	struct block inner = {.depth = b->depth + 1};
	Dwarf_Die die;

	if (b->depth == DEPTH_MAX || dwarf_child(outer, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_variable)
			add_variable(r, &die, b);
		else if (dwarf_tag(&die) == DW_TAG_namespace)
			read_names(r, &die, &inner);
	} while (!dwarf_siblingof(&die, &die));
}

void dwarfvars_add_unit(struct dwarfvars *v, Dwarf_Die *unit)
{
	struct reading r = {.vars = v};
	struct block b = {0};

	read_names(&r, unit, &b);
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (dwarf_attr(die, DW_AT_linkage_name, &a))
		name = dwarf_formstring(&a);
	return name ? name : dwarf_diename(die);
}

static const struct dwarfvars_name *find_name(const struct dwarfvars_names *names, u64 hash,
	const char *text)
{
	struct table_probe probe = table_probe(&names->index, hash);
	u32 i;

	while ((i = table_next(&names->index, &probe)) != TABLE_NONE)
		if (!strcmp(names->at.at[i].text, text))
			return &names->at.at[i];
	return NULL;
}

/* If a name comes twice, the first counts. */
static void add_name(struct dwarfvars_names *names, Dwarf_Die *die)
{
	struct dwarfvars_name n = {.text = name_of(die)};
	u64 hash = n.text ? hash_bytes(n.text, strlen(n.text)) : 0;

	if (!n.text || names->at.n >= PLACES_MAX || find_name(names, hash, n.text) ||
		!dwarftype_of(die, &n.type))
		return;
	table_add(&names->index, hash, (u32)names->at.n);
	vec_add(&names->at, n);
}

static void read_declared(struct dwarfvars_names *names, Dwarf_Die *outer, u32 depth)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX || dwarf_child(outer, &die))
		return;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_variable)
			add_name(names, &die);
		else if (tag == DW_TAG_namespace)
			read_declared(names, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

bool dwarfvars_find_declared(struct dwarfvars_names *names, Dwarf_Die *unit, const char *name,
	Dwarf_Die *ret_type)
{
	const struct dwarfvars_name *found;

	if (!names->is_read)
		read_declared(names, unit, 0);
	names->is_read = true;
	found = find_name(names, hash_bytes(name, strlen(name)), name);
	if (found)
		*ret_type = found->type;
	return found != NULL;
}

void dwarfvars_forget_names(struct dwarfvars_names *names)
{
	vec_fini(&names->at);
	table_fini(&names->index);
	names->is_read = false;
}

/* ---- finding ---- */

SORT_BY(compare_spots, struct dwarfvars_spot, group, start, place)

static u32 group_of(u8 kind, u8 reg)
{
	return (u32)kind << 8 | reg;
}

void dwarfvars_index(struct dwarfvars *v)
{
	v->spots.n = 0;
	for (size_t i = 0; i < v->places.n; i++) {
		const struct dwarfvars_place *p = &v->places.at[i];
		struct dwarfvars_spot spot = {.group = group_of(p->kind, p->reg),
			.place = (u32)i,
			.start = p->offset};
		Dwarf_Die type = p->type;
		u64 size;

		if (p->kind == VARS_REGISTER)
			continue;
		/* Arrays without a length have at least their start. */
		size = MAX(dwarftype_size(&type), (u64)1);
		spot.end = size > (u64)INT64_MAX || spot.start > INT64_MAX - (s64)size
			? INT64_MAX
			: spot.start + (s64)size;
		vec_add(&v->spots, spot);
	}
	if (v->spots.n)
		qsort(v->spots.at, v->spots.n, sizeof(*v->spots.at), compare_spots);
	for (size_t i = 0; i < v->spots.n; i++) {
		struct dwarfvars_spot *s = &v->spots.at[i];

		s->reach = i && s[-1].group == s->group ? MAX(s[-1].reach, s->end) : s->end;
	}
}

const struct dwarfvars_place *dwarfvars_find(const struct dwarfvars *v, u64 pc, u8 kind, u8 reg,
	s64 at)
{
	const struct dwarfvars_place *best = NULL;
	u32 group = group_of(kind, reg);
	const struct dwarfvars_spot *spots = v->spots.at;
	size_t low = search_first(i, v->spots.n,
		spots[i].group > group || (spots[i].group == group && spots[i].start > at));

	/* Towards lower ones, while one of them reaches that far. */
	while (low--) {
		const struct dwarfvars_spot *s = &v->spots.at[low];
		const struct dwarfvars_place *p = &v->places.at[s->place];

		if (s->group != group || s->reach <= at)
			break;
		if (at < s->end && pc >= p->start && pc < p->end &&
			(!best || p->depth > best->depth || (p->depth == best->depth && p > best)))
			best = p;
	}
	return best;
}

bool dwarfvars_find_call(struct dwarfvars_calls *calls, u64 at, Dwarf_Die *ret_type)
{
	size_t k;

	if (calls->order.n != calls->at.n) {
		calls->order.n = 0;
		for (size_t i = 0; i < calls->at.n; i++)
			vec_add(&calls->order, ((struct sort_item){calls->at.at[i].at, i}));
		sort_by_key(calls->order.at, calls->order.n);
	}
	k = search_from(calls->order.at, calls->order.n, sizeof(*calls->order.at), at);
	for (; k < calls->order.n && calls->order.at[k].key == at; k++) {
		*ret_type = calls->at.at[calls->order.at[k].value].type;
		if (ret_type->addr)
			return true;
	}
	return false;
}

void dwarfvars_clear(struct dwarfvars *v)
{
	v->places.n = v->spots.n = 0;
	v->calls.at.n = v->calls.order.n = 0;
}

void dwarfvars_fini(struct dwarfvars *v)
{
	vec_fini(&v->places);
	vec_fini(&v->spots);
	vec_fini(&v->calls.at);
	vec_fini(&v->calls.order);
}
