#include "symbol/types/dataflow.h"

#include <elf.h>
#include <string.h>

#include "base/sort.h"
#include "symbol/types/dwarftype.h"

enum {
	PASSES_MAX = 8,        /* over a function: nested loops need one each */
	LEADERS_MAX = 1 << 15, /* jump targets; each has a state of 2.5 KB */
	JUMPS_MAX = 1 << 17,
	/* A sort key: an offset in the code (22 bits, see FUNCTION_MAX) and a place. */
	PLACE_BITS = 20,
};

/* ---- values ---- */

static bool is_same_type(const struct datavalue *a, const struct datavalue *b)
{
	Dwarf_Die x = a->object.type, y = b->object.type;

	return dwarftype_is_same(&x, &y);
}

/* The value of a register where two paths meet. */
static struct datavalue joined(const struct datavalue *a, const struct datavalue *b)
{
	struct datavalue v = *a;
	Dwarf_Die type, other;
	u64 x, y;

	if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_DISPUTED)
		return *b;
	if (b->kind == VALUE_UNKNOWN || a->kind == VALUE_DISPUTED)
		return *a;
	v.object.is_array = a->object.is_array || b->object.is_array;
	if (a->kind == b->kind && a->object.offset == b->object.offset &&
		(a->kind == VALUE_ADDRESS || is_same_type(a, b)))
		return v;
	/* A pointer that moves through an array. */
	v.object.is_array = true;
	if (a->kind == VALUE_POINTS && b->kind == VALUE_POINTS && is_same_type(a, b) &&
		dataobject_settle(&v.object, &type, &x)) {
		struct dataobject moved = b->object;

		moved.is_array = true;
		if (dataobject_settle(&moved, &other, &y) && x == y)
			return v;
	}
	v.kind = VALUE_DISPUTED;
	return v;
}

static bool is_same(const struct datavalue *a, const struct datavalue *b)
{
	return a->kind == b->kind &&
		(a->kind == VALUE_UNKNOWN || a->kind == VALUE_DISPUTED ||
			(a->object.offset == b->object.offset &&
				a->object.is_array == b->object.is_array &&
				(a->kind == VALUE_ADDRESS || is_same_type(a, b))));
}

/* The object that a value of this type points to. */
static struct datavalue value_of_type(Dwarf_Die *type)
{
	struct datavalue v = {0};

	if (type->addr && dwarftype_pointee(type, &v.object.type))
		v.kind = VALUE_POINTS;
	return v;
}

/* The value that is loaded from an object. */
static struct datavalue value_in(struct datascope *s, const struct dataobject *o)
{
	struct str path = {0};
	struct datavalue v = {0};
	Dwarf_Die type, member;
	u64 offset;

	if (!dataobject_settle(o, &type, &offset))
		return v;
	if (!dwarftype_has_members(&type))
		return offset ? v : value_of_type(&type);
	if (dwarftype_member(&s->members, &type, offset, &path, &member))
		v = value_of_type(&member);
	str_fini(&path);
	return v;
}

static struct datavalue *slot_of(struct datastate *s, s64 offset)
{
	for (u32 i = 0; i < s->n_slots; i++)
		if (s->slots[i].offset == offset)
			return &s->slots[i].value;
	return NULL;
}

static void set_slot(struct datastate *s, s64 offset, const struct datavalue *v)
{
	struct datavalue *known = slot_of(s, offset);

	if (known) {
		*known = *v;
	} else if (v->kind != VALUE_UNKNOWN && s->n_slots < DATAFLOW_SLOTS) {
		s->slots[s->n_slots].offset = offset;
		s->slots[s->n_slots++].value = *v;
	}
}

/* Joins `from` into `into`. Returns whether `into` changed. */
static bool join(struct datastate *into, const struct datastate *from)
{
	bool is_changed = false;

	for (u32 i = 0; i < OPERAND_REGS; i++) {
		struct datavalue v = joined(&into->regs[i], &from->regs[i]);

		is_changed |= !is_same(&v, &into->regs[i]);
		into->regs[i] = v;
	}
	for (u32 i = 0; i < from->n_slots; i++) {
		struct datavalue none = {0}, *known = slot_of(into, from->slots[i].offset), v;

		v = joined(known ? known : &none, &from->slots[i].value);
		is_changed |= known ? !is_same(&v, known) : into->n_slots < DATAFLOW_SLOTS;
		set_slot(into, from->slots[i].offset, &v);
	}
	return is_changed;
}

/* ---- accesses ---- */

static const struct datavalue *reg_of(const struct datastate *s, u8 reg)
{
	static const struct datavalue none;

	return reg < OPERAND_REGS ? &s->regs[reg] : &none;
}

static bool object_at(struct datascope *s, u64 pc, const struct datavalue *v, s64 disp,
	bool is_array, struct dataobject *ret)
{
	if (v->kind == VALUE_ADDRESS) {
		u64 at = (u64)v->object.offset + (u64)disp;

		if (!datascope_find(s, pc, s->image->is_64 ? at : (u32)at, ret))
			return false;
	} else if (v->kind == VALUE_POINTS) {
		*ret = v->object;
		ret->offset = (s64)((u64)ret->offset + (u64)disp);
	} else {
		return false;
	}
	ret->is_array |= is_array;
	return true;
}

bool dataflow_object(struct datascope *s, u64 pc, const struct operand *o,
	const struct datastate *state, struct dataobject *ret)
{
	bool has_index = o->index != OPERAND_NO_REG;
	struct datavalue fixed = {.kind = VALUE_ADDRESS};

	if (o->segment || o->is_vague)
		return false;
	if (o->is_relative)
		return datascope_find(s, pc, pc + o->size + (u64)o->disp, ret);
	if (o->base == OPERAND_NO_REG && object_at(s, pc, &fixed, o->disp, has_index, ret))
		return true;
	if (o->base != OPERAND_NO_REG &&
		object_at(s, pc, reg_of(state, o->base), o->disp, has_index, ret))
		return true;
	if (o->base != OPERAND_NO_REG && datascope_find_near(s, pc, o->base, o->disp, ret)) {
		ret->is_array |= has_index;
		return true;
	}
	/* Either of the two may be the address: compilers do not order them. */
	if (has_index && !o->scale && object_at(s, pc, reg_of(state, o->index), o->disp, true, ret))
		return true;
	/* An array at a constant address; with one register only in files that are not relocated. */
	return (has_index || s->image->type == ET_EXEC) && o->base != OPERAND_NO_REG &&
		o->disp > 0 && reg_of(state, o->base)->kind == VALUE_UNKNOWN &&
		object_at(s, pc, &fixed, o->disp, true, ret);
}

bool dataflow_address(u64 pc, const struct operand *o, const struct datastate *state,
	u64 *ret_address)
{
	const struct datavalue *base = reg_of(state, o->base), *index = reg_of(state, o->index);

	if (o->segment)
		return false;
	*ret_address = (u64)o->disp;
	if (o->is_relative)
		*ret_address += pc + o->size;
	else if (base->kind == VALUE_ADDRESS)
		*ret_address += (u64)base->object.offset;
	else if (index->kind == VALUE_ADDRESS && !o->scale)
		*ret_address += (u64)index->object.offset;
	else if (o->base != OPERAND_NO_REG)
		return false;
	if (o->word == 4)
		*ret_address = (u32)*ret_address;
	return true;
}

/* ---- effects of instructions ---- */

/* The object that a variable points to, computed on demand. */
struct place_value {
	bool is_known;
	struct datavalue value;
};

/* The value of the return address that the instruction at `pc` pops. */
struct popped {
	u64 pc;
	struct datavalue value;
};

struct flow {
	struct datascope *scope;
	const struct dataflow_code *code;
	struct datastate now;
	struct popped popped;
	bool is_reached; /* whether the previous instruction leads to the next one */
	u32 *leaders;    /* by offset in the code: index of the state there, + 1; 0: none */
	VEC(u64) leads;  /* the offsets of leaders, ascending */
	u32 n_joins;     /* the number of states that belong to jump targets */
	VEC(struct datastate) states;
	VEC(struct sort_item) begins; /* key: offset in the code and place, value: the place */
	struct place_value *values;   /* of the function's places */
	struct datastate tables;      /* at jumps with unknown targets */
	bool is_changed;
};

/* Moves a pointer; `by` unknown: by a multiple of the size of the object it points to. */
static struct datavalue moved(const struct datavalue *v, s64 by, bool is_known)
{
	struct datavalue result = *v;
	s64 size = 0;
	Dwarf_Die type;

	if (v->kind == VALUE_ADDRESS || v->kind == VALUE_POINTS)
		result.object.offset = (s64)((u64)v->object.offset + (is_known ? (u64)by : 0));
	if (!is_known)
		result.object.is_array = true;
	if (v->kind != VALUE_POINTS || !is_known)
		return result;
	type = v->object.type;
	if (dwarftype_element(&type, &type))
		size = (s64)MIN(dwarftype_size(&type), (u64)INT64_MAX);
	if (size && by % size == 0) {
		result.object.offset = v->object.offset;
		result.object.is_array = true;
	}
	return result;
}

static struct datavalue loaded(struct flow *f, u64 pc, const struct operand *o)
{
	struct datavalue v = {0}, *slot;
	struct dataobject object;
	s64 offset;

	if (o->bytes != o->word)
		return v;
	if (dataflow_object(f->scope, pc, o, &f->now, &object))
		return value_in(f->scope, &object);
	if (o->index == OPERAND_NO_REG &&
		datascope_frame(f->scope, pc, o->base, o->disp, &offset) &&
		(slot = slot_of(&f->now, offset)) != NULL)
		v = *slot;
	return v;
}

static void store(struct flow *f, u64 pc, const struct operand *o)
{
	s64 offset;

	if (o->index == OPERAND_NO_REG && datascope_frame(f->scope, pc, o->base, o->disp, &offset))
		set_slot(&f->now, offset, reg_of(&f->now, o->source));
}

/* A number that is the address of data in the file, or just a number. */
static struct datavalue constant(struct flow *f, u64 pc, u64 number)
{
	struct datavalue v = {.kind = VALUE_POINTS};

	if (!f->scope->image->is_64)
		number = (u32)number;
	if (!datanames_is_data(f->scope->image, number))
		return (struct datavalue){0};
	if (datascope_find(f->scope, pc, number, &v.object))
		return v;
	/* What is added to it later may show which variable is meant. */
	return (struct datavalue){.kind = VALUE_ADDRESS, .object.offset = (s64)number};
}

static struct datavalue address(struct flow *f, u64 pc, const struct operand *o)
{
	bool has_index = o->index != OPERAND_NO_REG;
	struct datavalue v = {.kind = VALUE_POINTS};

	if (o->is_relative || (o->base == OPERAND_NO_REG && !has_index))
		return constant(f, pc, (o->is_relative ? pc + o->size : 0) + (u64)o->disp);
	if (!has_index && o->base != OPERAND_RSP && reg_of(&f->now, o->base)->kind)
		return moved(reg_of(&f->now, o->base), o->disp, true);
	if (!dataflow_object(f->scope, pc, o, &f->now, &v.object))
		v.kind = VALUE_UNKNOWN;
	return v;
}

/* Adds the address of an array to a number that is not a pointer, in files that are not relocated. */
static struct datavalue added(struct flow *f, u64 pc, const struct operand *o)
{
	const struct datavalue *v = reg_of(&f->now, o->target);
	struct datavalue array;

	if (v->kind != VALUE_UNKNOWN || f->scope->image->type != ET_EXEC)
		return moved(v, o->imm, true);
	array = constant(f, pc, (u64)o->imm);
	array.object.is_array = true;
	return array;
}

/* Adds two values, of which one is a pointer, the other a number. */
static struct datavalue moved_by(struct flow *f, u64 pc, const struct operand *o)
{
	struct datavalue in_memory =
		o->source == OPERAND_NO_REG ? loaded(f, pc, o) : (struct datavalue){0};
	const struct datavalue *a = reg_of(&f->now, o->target);
	const struct datavalue *b =
		o->source == OPERAND_NO_REG ? &in_memory : reg_of(&f->now, o->source);

	if (a->kind && b->kind)
		return (struct datavalue){0};
	return moved(a->kind ? a : b, 0, false);
}

/*
 * Recognises how 32-bit code gets its own address: it calls `mov (%esp),%reg; ret`, or calls the next instruction,
 * which pops the address. Returns the register; OPERAND_NO_REG: it is another call.
 */
static u8 reg_of_own_address(const struct flow *f, u64 pc, const struct operand *o)
{
	enum { THUNK = 4, MOV = 0x8b, ESP_SIB = 0x24, RET = 0xc3 };
	const struct elf *image = f->scope->image;
	u64 at = pc - f->code->start + o->size;
	struct operand next;
	const u8 *code;

	if (o->word != 4 || !o->is_direct)
		return OPERAND_NO_REG;
	if (!o->to)
		return at < f->code->n &&
				operand_decode(f->code->at + at, (u32)MIN(f->code->n - at, (u64)16),
					image->is_64, &next) &&
				next.access == OPERAND_STACK && next.effect == EFFECT_OTHER
			? next.target
			: OPERAND_NO_REG;
	code = elf_bytes_at(image, (u32)(pc + o->size + (u64)o->to), THUNK);
	return code && code[0] == MOV && (code[1] & 0xc7) == 4 && code[2] == ESP_SIB &&
			code[3] == RET
		? operand_reg(code[1] >> 3 & 7, false)
		: OPERAND_NO_REG;
}

/* Clobbers the registers that a function need not preserve: System V ABI, 3.2.1; for i386, 2.2.1. */
static void call(struct flow *f, u64 pc, const struct operand *o)
{
	static const u8 spoilt[] = {0, 1, 2, 4, 5, 8, 9, 10, 11};
	enum { SPOILT_I386 = 3 };
	u64 back = pc + o->size;
	u8 own = reg_of_own_address(f, pc, o);
	Dwarf_Die result;

	if (own < OPERAND_REGS) {
		struct datavalue here = {.kind = VALUE_ADDRESS, .object.offset = (s64)back};

		if (o->to)
			f->now.regs[own] = here;
		else
			f->popped = (struct popped){back, here};
		return;
	}
	for (size_t i = 0; i < (o->word == 4 ? SPOILT_I386 : ARRAY_SIZE(spoilt)); i++)
		f->now.regs[spoilt[i]] = (struct datavalue){0};
	if (datascope_result(f->scope, o->to ? back + (u64)o->to : UINT64_MAX, back, &result))
		f->now.regs[OPERAND_RAX] = value_of_type(&result);
}

static struct datavalue new_value(struct flow *f, u64 pc, const struct operand *o)
{
	switch (o->effect) {
	case EFFECT_LOAD:
		return loaded(f, pc, o);
	case EFFECT_COPY:
		return *reg_of(&f->now, o->source);
	case EFFECT_ADDRESS:
		return address(f, pc, o);
	case EFFECT_ADD:
		return added(f, pc, o);
	case EFFECT_MOVE_BY:
		return moved_by(f, pc, o);
	case EFFECT_SET:
		return constant(f, pc, (u64)o->imm);
	default:
		return f->popped.pc == pc && pc ? f->popped.value : (struct datavalue){0};
	}
}

static void apply(struct flow *f, u64 pc, const struct operand *o)
{
	if (o->effect == EFFECT_STORE)
		store(f, pc, o);
	else if (o->effect && o->target < OPERAND_REGS) {
		struct datavalue v = new_value(f, pc, o);

		if (o->is_conditional)
			v = joined(&v, reg_of(&f->now, o->target));
		f->now.regs[o->target] = v;
	}
	for (u32 spoilt = o->spoilt, reg = 0; spoilt; spoilt >>= 1, reg++)
		if (spoilt & 1 && reg < OPERAND_REGS)
			f->now.regs[reg] = (struct datavalue){0};
	if (o->flow == OPERAND_CALL)
		call(f, pc, o);
}

/* ---- control flow ---- */

static u64 target_of(const struct flow *f, u64 at, const struct operand *o)
{
	u64 to = at + o->size + (u64)o->to;

	return (o->flow == OPERAND_BRANCH || o->flow == OPERAND_JUMP) && to < f->code->n
		? to
		: UINT64_MAX;
}

static bool ends(const struct operand *o)
{
	return o->flow == OPERAND_JUMP || o->flow == OPERAND_TABLE || o->flow == OPERAND_END;
}

static unsigned decode(const struct flow *f, u64 at, struct operand *ret)
{
	return operand_decode(f->code->at + at, (u32)MIN(f->code->n - at, (u64)16),
		f->scope->image->is_64, ret);
}

static void add_leader(struct flow *f, u64 at)
{
	if (at >= f->code->n || f->leaders[at])
		return;
	vec_add(&f->states, ((struct datastate){0}));
	f->leaders[at] = (u32)f->states.n;
}

/* Finds the leaders: jump targets, and code after jumps that is not reached otherwise. False: too many. */
static bool find_leaders(struct flow *f)
{
	size_t n_jumps = 0;
	struct operand o;

	for (u64 at = 0; at < f->code->n && decode(f, at, &o); at += o.size) {
		u64 to = target_of(f, at, &o);

		n_jumps += to != UINT64_MAX;
		if (n_jumps > JUMPS_MAX || f->states.n > LEADERS_MAX)
			return false;
		add_leader(f, to);
	}
	f->n_joins = (u32)f->states.n;
	add_leader(f, 0);
	for (u64 at = 0; at < f->code->n && decode(f, at, &o); at += o.size) {
		if (f->states.n > LEADERS_MAX)
			return false;
		if (ends(&o))
			add_leader(f, at + o.size);
	}
	for (u64 at = 0; at < f->code->n; at++)
		if (f->leaders[at])
			vec_add(&f->leads, at);
	return true;
}

/* A variable that is in a register at a leader and stays there. */
struct holder {
	u64 end; /* byte of code */
	u32 place;
};

typedef VEC(struct holder) holders;

static void push_holder(holders *h, struct holder one)
{
	size_t i = h->n, up;

	vec_add(h, one);
	/* The last place comes first: variables declared further inside hide others. */
	for (; i && h->at[up = (i - 1) / 2].place < one.place; i = up)
		h->at[i] = h->at[up];
	h->at[i] = one;
}

static void pop_holder(holders *h)
{
	struct holder last = h->at[--h->n];
	size_t i = 0, down;

	while ((down = 2 * i + 1) < h->n) {
		down += down + 1 < h->n && h->at[down + 1].place > h->at[down].place;
		if (h->at[down].place <= last.place)
			break;
		h->at[i] = h->at[down];
		i = down;
	}
	if (h->n)
		h->at[i] = last;
}

static void add_begin(struct flow *f, u64 at, u32 place)
{
	vec_add(&f->begins, ((struct sort_item){at << PLACE_BITS | place, place}));
}

/* Adds, at a leader, the variable in each register. */
static void add_going_on(struct flow *f, u64 lead, holders *of_regs)
{
	for (u32 reg = 0; reg < OPERAND_REGS; reg++) {
		holders *h = &of_regs[reg];

		while (h->n && h->at[0].end <= lead)
			pop_holder(h);
		if (h->n)
			add_begin(f, lead, h->at[0].place);
	}
}

/* The part of a place's range that is in this code. Returns false if it is not in a register here. */
static bool stretch_of(const struct flow *f, const struct dwarfvars_place *p, u64 *ret_start,
	u64 *ret_end)
{
	if (p->kind != VARS_REGISTER || p->reg >= OPERAND_REGS || p->end <= f->code->start)
		return false;
	*ret_start = MAX(p->start, f->code->start) - f->code->start;
	*ret_end = MIN(p->end - f->code->start, f->code->n);
	return *ret_start < *ret_end;
}

/* Finds where variables get into registers: at the start of their ranges, and at all leaders within them. */
static void find_begins(struct flow *f)
{
	const struct dwarfvars *v = &f->scope->function;
	holders of_regs[OPERAND_REGS] = {0};
	size_t n_starts, next = 0;
	u64 start, end = 0;

	for (size_t i = 0; i < v->places.n; i++)
		if (stretch_of(f, &v->places.at[i], &start, &end))
			add_begin(f, start, (u32)i);
	n_starts = f->begins.n;
	sort_by_key(f->begins.at, n_starts);
	vec_each(lead, &f->leads) {
		/* Those that begin at the leader itself are already there. */
		for (; next < n_starts && f->begins.at[next].key >> PLACE_BITS < *lead; next++) {
			u32 place = (u32)f->begins.at[next].value;
			const struct dwarfvars_place *p = &v->places.at[place];

			stretch_of(f, p, &start, &end);
			push_holder(&of_regs[p->reg], (struct holder){end, place});
		}
		add_going_on(f, *lead, of_regs);
	}
	sort_by_key(f->begins.at, f->begins.n);
	for (u32 reg = 0; reg < OPERAND_REGS; reg++)
		vec_fini(&of_regs[reg]);
}

static void take_variable(struct flow *f, u32 place)
{
	const struct dwarfvars_place *p = &f->scope->function.places.at[place];
	struct place_value *known = &f->values[place];
	struct dataobject whole = {p->type, p->offset, false};

	if (!known->is_known)
		known->value = value_in(f->scope, &whole);
	known->is_known = true;
	f->now.regs[p->reg] = known->value;
}

/* Takes all variables that get into registers before `end`. */
static void take_variables(struct flow *f, u64 end, size_t *k)
{
	for (; *k < f->begins.n && f->begins.at[*k].key >> PLACE_BITS < end; ++*k)
		take_variable(f, (u32)f->begins.at[*k].value);
}

static void arrive(struct flow *f, u64 at)
{
	u32 leader = f->leaders[at];
	struct datastate *state;

	if (!leader)
		return;
	state = &f->states.at[leader - 1];
	if (f->is_reached)
		join(state, &f->now);
	else if (leader > f->n_joins)
		join(state, &f->tables);
	f->now = *state;
	f->is_reached = true;
}

static void leave(struct flow *f, u64 at, const struct operand *o)
{
	u64 to = target_of(f, at, o);

	if (to != UINT64_MAX && join(&f->states.at[f->leaders[to] - 1], &f->now) && to <= at)
		f->is_changed = true;
	if (o->flow == OPERAND_TABLE)
		f->is_changed |= join(&f->tables, &f->now);
	if (!ends(o))
		return;
	memset(&f->now, 0, sizeof(f->now));
	f->is_reached = false;
}

/*
 * Arguments passed on the stack stay there until something else is stored in their place, even where the debug
 * information says that they are no longer alive.
 */
static void take_arguments(struct flow *f)
{
	vec_each(p, &f->scope->function.places) {
		struct dataobject whole = {p->type, 0, false};
		struct datavalue v;

		if (p->kind != VARS_FRAME || p->offset < 0 || p->start > f->code->start ||
			p->end <= f->code->start)
			continue;
		v = value_in(f->scope, &whole);
		set_slot(&f->now, p->offset, &v);
	}
}

static void pass(struct flow *f, const struct dataflow_sink *sink)
{
	struct operand o;
	size_t k = 0;

	memset(&f->now, 0, sizeof(f->now));
	take_arguments(f);
	f->is_reached = true;
	f->is_changed = false;
	for (u64 at = 0; at < f->code->n && decode(f, at, &o); at += o.size) {
		arrive(f, at);
		take_variables(f, at + 1, &k);
		if (sink)
			sink->take(sink->ctx, f->code->start + at, &o, &f->now);
		apply(f, f->code->start + at, &o);
		/* A variable whose range begins in the middle of an instruction is valid for the next one. */
		take_variables(f, at + o.size, &k);
		leave(f, at, &o);
	}
}

static void follow(struct flow *f, const struct dataflow_sink *sink)
{
	find_begins(f);
	for (int i = 0; i < PASSES_MAX; i++) {
		pass(f, NULL);
		if (!f->is_changed)
			break;
	}
	pass(f, sink);
}

bool dataflow_run(struct datascope *s, const struct dataflow_code *code,
	const struct dataflow_sink *sink)
{
	struct flow f = {.scope = s, .code = code};
	bool is_followed;

	f.leaders = mem_zalloc((code->n + 1) * sizeof(*f.leaders));
	f.values = mem_zalloc((s->function.places.n + 1) * sizeof(*f.values));
	is_followed = find_leaders(&f);
	if (is_followed)
		follow(&f, sink);
	vec_fini(&f.states);
	vec_fini(&f.begins);
	vec_fini(&f.leads);
	mem_free(f.leaders);
	mem_free(f.values);
	return is_followed;
}
