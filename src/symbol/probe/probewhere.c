#include "symbol/probe/probewhere.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "arch/arch.h"

static bool set_register(const struct probe_finding *f, struct probe_where *w, u64 number)
{
	const struct arch *a = f->file->arch;

	for (unsigned i = 0; a && i < a->n_regs; i++)
		if (a->regs[i].name && a->regs[i].dwarf == number && number != ARCH_NO_REG) {
			snprintf(w->base, sizeof(w->base), "%%%s", a->regs[i].name);
			for (char *c = w->base; *c; c++)
				*c = (char)tolower((unsigned char)*c);
			w->kind = PROBE_IN_REGISTER;
			return true;
		}
	if (!a || a->is_x86)
		return false;
	if (number == a->sp)
		snprintf(w->base, sizeof(w->base), "%%sp");
	else
		snprintf(w->base, sizeof(w->base), "%%%c%llu", a->letter,
			(unsigned long long)number);
	w->kind = PROBE_IN_REGISTER;
	return number < 32;
}

bool probewhere_add_fetch(const struct probe_finding *f, const struct probe_where *w,
	struct str *text)
{
	const struct elf *elf = &f->file->image;
	u64 code_offset;

	switch (w->kind) {
	case PROBE_IN_REGISTER:
		str_add(text, w->base);
		return true;
	case PROBE_IN_MEMORY:
		str_addf(text, "%+lld(%s)", (long long)w->offset, w->base);
		return true;
	case PROBE_AT_ADDRESS:
		if (!elf_offset_of_address(elf, f->spot->address, &code_offset))
			return false;
		/*
		 * The kernel adds the number to where the file's first byte would be, as seen from the code: data
		 * is at another distance from its bytes in the file.
		 */
		str_addf(text, "@+0x%llx",
			(unsigned long long)((u64)w->offset - f->spot->address + code_offset));
		return true;
	case PROBE_IS_CONSTANT:
		str_addf(text, "\\%lld", (long long)w->offset);
		return true;
	default:
		return false;
	}
}

int probewhere_follow(const struct probe_finding *f, struct probe_where *w)
{
	struct str text = {0};
	bool fits = probewhere_add_fetch(f, w, &text) && text.n < sizeof(w->base) &&
		w->kind != PROBE_IS_CONSTANT;

	if (fits) {
		memcpy(w->base, text.at, text.n + 1);
		w->kind = PROBE_IN_MEMORY;
		w->offset = 0;
	}
	str_fini(&text);
	return fits ? 0
		    : err_set(f->err, ERR_UNSUPPORTED,
			      "a pointer cannot be followed: it is a constant, or too far away");
}

/* Makes a register's value, plus an offset, a place. */
static void point(struct probe_where *w, s64 offset)
{
	w->kind = PROBE_IN_MEMORY;
	w->offset = offset;
}

static bool frame_address(const struct probe_finding *f, struct probe_where *w)
{
	u32 function, row;
	bool is_cleared;
	const struct row_rule *cfa;

	if (!rows_find(&f->file->rows, &f->file->cfi, f->spot->address, &function, &row,
		    &is_cleared))
		return false;
	cfa = &f->file->rows.at.at[row].cfa;
	if (cfa->kind != ROW_REGISTER || !set_register(f, w, cfa->from))
		return false;
	point(w, cfa->value);
	return true;
}

/* What DW_OP_fbreg counts from. */
static bool frame_base(const struct probe_finding *f, struct probe_where *w)
{
	Dwarf_Die code = f->spot->code;
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(&code, DW_AT_frame_base, &a) ||
		dwarf_getlocation_addr(&a, f->spot->address, &ops, &n, 1) != 1 || !n)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa && n == 1)
		return frame_address(f, w);
	if (n != 1)
		return false;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31) {
		if (!set_register(f, w, ops[0].atom - DW_OP_reg0))
			return false;
		point(w, 0);
		return true;
	}
	if (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31 ||
		!set_register(f, w, ops[0].atom - DW_OP_breg0))
		return false;
	point(w, (s64)ops[0].number);
	return true;
}

/*
 * One operation on the address or value so far: PROBE_IN_MEMORY stands for the address base + offset until the end,
 * PROBE_IS_CONSTANT for a number. False: the kernel cannot compute it.
 */
static bool take_operation(const struct probe_finding *f, Dwarf_Attribute *location,
	const Dwarf_Op *op, struct probe_where *w)
{
	Dwarf_Attribute a;
	Dwarf_Addr address;

	if (w->kind == PROBE_AT_NOWHERE) {
		if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
			bool is_known = set_register(f, w, op->atom - DW_OP_breg0);

			point(w, (s64)op->number);
			return is_known;
		}
		if (op->atom == DW_OP_bregx) {
			bool is_known = set_register(f, w, op->number);

			point(w, (s64)op->number2);
			return is_known;
		}
		if (op->atom == DW_OP_fbreg) {
			if (!frame_base(f, w))
				return false;
			w->offset = (s64)((u64)w->offset + (u64)op->number);
			return true;
		}
		if (op->atom == DW_OP_call_frame_cfa)
			return frame_address(f, w);
		if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
			w->offset = op->atom - DW_OP_lit0;
			w->kind = PROBE_IS_CONSTANT;
			return true;
		}
		if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) {
			w->offset = (s64)op->number;
			w->kind = PROBE_IS_CONSTANT;
			return true;
		}
		if (op->atom != DW_OP_addr && op->atom != DW_OP_addrx &&
			op->atom != DW_OP_GNU_addr_index)
			return false;
		address = op->number;
		if (op->atom != DW_OP_addr &&
			(dwarf_getlocation_attr(location, op, &a) || dwarf_formaddr(&a, &address)))
			return false;
		w->kind = PROBE_AT_ADDRESS;
		w->offset = (s64)address;
		return true;
	}
	switch (op->atom) {
	case DW_OP_plus_uconst:
		w->offset = (s64)((u64)w->offset + op->number);
		return w->kind != PROBE_IN_REGISTER;
	case DW_OP_deref:
		return !probewhere_follow(f, w);
	default:
		return false;
	}
}

/* Whether the value of a register when the function was called is still in it. */
static bool entry_value(const struct probe_finding *f, Dwarf_Attribute *location,
	const Dwarf_Op *op, struct probe_where *w)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	return f->spot->is_entry && !dwarf_getlocation_attr(location, op, &a) &&
		!dwarf_getlocation(&a, &ops, &n) && n == 1 && ops[0].atom >= DW_OP_reg0 &&
		ops[0].atom <= DW_OP_reg31 && set_register(f, w, ops[0].atom - DW_OP_reg0);
}

static bool take_expression(const struct probe_finding *f, Dwarf_Attribute *location,
	const Dwarf_Op *ops, size_t n, struct probe_where *w)
{
	bool is_value = n && ops[n - 1].atom == DW_OP_stack_value;

	memset(w, 0, sizeof(*w));
	n -= is_value;
	if (n == 1 && ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return set_register(f, w, ops[0].atom - DW_OP_reg0);
	if (n == 1 && ops[0].atom == DW_OP_regx)
		return set_register(f, w, ops[0].number);
	if (n == 1 && (ops[0].atom == DW_OP_entry_value || ops[0].atom == DW_OP_GNU_entry_value))
		return entry_value(f, location, &ops[0], w);
	if (n == 1 && ops[0].atom == DW_OP_implicit_value) {
		Dwarf_Block block;

		if (dwarf_getlocation_implicit_value(location, &ops[0], &block) || block.length > 8)
			return false;
		memcpy(&w->offset, block.data, block.length);
		w->kind = PROBE_IS_CONSTANT;
		return true;
	}
	for (size_t i = 0; i < n; i++)
		if (!take_operation(f, location, &ops[i], w))
			return false;
	if (!is_value)
		return w->kind != PROBE_IS_CONSTANT && n > 0;
	/* A value that must be added to something else first cannot be fetched. */
	if (w->kind == PROBE_IN_MEMORY && !w->offset && *w->base == '%') {
		w->kind = PROBE_IN_REGISTER;
		return true;
	}
	return w->kind == PROBE_IS_CONSTANT;
}

enum probe_found probewhere_locate(const struct probe_finding *f, Dwarf_Die *variable,
	struct probe_where *w)
{
	Dwarf_Attribute a;
	Dwarf_Sword constant;
	Dwarf_Op *ops;
	size_t n;

	memset(w, 0, sizeof(*w));
	if (dwarf_attr_integrate(variable, DW_AT_const_value, &a) &&
		!dwarf_formsdata(&a, &constant)) {
		w->kind = PROBE_IS_CONSTANT;
		w->offset = constant;
		return PROBE_FOUND;
	}
	if (!dwarf_attr_integrate(variable, DW_AT_location, &a) ||
		dwarf_getlocation_addr(&a, f->spot->address, &ops, &n, 1) != 1 || !n)
		return PROBE_NOT_THERE;
	return take_expression(f, &a, ops, n, w) ? PROBE_FOUND : PROBE_MUST_BE_COMPUTED;
}
