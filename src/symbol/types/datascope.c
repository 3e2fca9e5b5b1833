#include "symbol/types/datascope.h"

#include <string.h>

#include "symbol/types/dwarftype.h"
#include "symbol/elf/elfcfi.h"
#include "unwind/operand.h"

void datascope_init(struct datascope *s, const struct elf *image, const struct elf *debug)
{
	struct cfi_input in = {0};

	memset(s, 0, sizeof(*s));
	s->image = image;
	s->debug = debug;
	s->function.is_64 = s->unit.is_64 = image->is_64;
	elfcfi_find(image, &in);
	cfi_init(&s->cfi, &in);
}

void datascope_fini(struct datascope *s)
{
	dwarfvars_fini(&s->function);
	dwarfvars_fini(&s->unit);
	dwarfvars_forget_names(&s->declared);
	vec_fini(&s->functions.at);
	vec_fini(&s->functions.order);
	datanames_fini(&s->names);
	typemembers_fini(&s->members);
	rows_fini(&s->rows);
	cfi_fini(&s->cfi);
}

void datascope_enter_unit(struct datascope *s, Dwarf_Die *unit)
{
	dwarfvars_clear(&s->unit);
	dwarfvars_forget_names(&s->declared);
	dwarfvars_clear(&s->function);
	s->functions.at.n = s->functions.order.n = 0;
	s->unit_entry = *unit;
	dwarfvars_add_unit(&s->unit, unit);
	dwarfvars_index(&s->unit);
}

void datascope_add_function(struct datascope *s, Dwarf_Die *function)
{
	struct dwarfvars_call f = {0};
	Dwarf_Addr start;

	if (dwarf_entrypc(function, &start) || !dwarftype_of(function, &f.type))
		return;
	f.at = start;
	vec_add(&s->functions.at, f);
}

bool datascope_result(struct datascope *s, u64 to, u64 back, Dwarf_Die *ret_type)
{
	return dwarfvars_find_call(&s->function.calls, back, ret_type) ||
		dwarfvars_find_call(&s->functions, to, ret_type);
}

void datascope_enter(struct datascope *s, Dwarf_Die *function)
{
	dwarfvars_clear(&s->function);
	dwarfvars_add_function(&s->function, function);
	dwarfvars_index(&s->function);
}

static bool find_place(const struct dwarfvars *v, u64 pc, u8 kind, u8 reg, s64 at,
	struct dataobject *ret)
{
	const struct dwarfvars_place *p = dwarfvars_find(v, pc, kind, reg, at);

	if (p)
		*ret = (struct dataobject){p->type, at - p->offset, false};
	return p != NULL;
}

/* Finds a variable of another unit that this one declares. */
static bool find_declared(struct datascope *s, u64 address, struct dataobject *ret)
{
	const struct symbol *symbol = datanames_find(&s->names, s->debug, address);
	char name[256];
	size_t n;

	if (!symbol || address < symbol->start)
		return false;
	/* stdout@GLIBC_2.2.5 */
	n = strcspn(symbol->name, "@");
	if (n >= sizeof(name))
		return false;
	memcpy(name, symbol->name, n);
	name[n] = '\0';
	if (!dwarfvars_find_declared(&s->declared, &s->unit_entry, name, &ret->type))
		return false;
	ret->offset = (s64)(address - symbol->start);
	ret->is_array = false;
	return true;
}

bool datascope_find(struct datascope *s, u64 pc, u64 address, struct dataobject *ret)
{
	return find_place(&s->function, pc, VARS_ADDRESS, 0, (s64)address, ret) ||
		find_place(&s->unit, pc, VARS_ADDRESS, 0, (s64)address, ret) ||
		find_declared(s, address, ret);
}

bool datascope_frame(struct datascope *s, u64 pc, u8 reg, s64 disp, s64 *ret_offset)
{
	const struct row_rule *cfa;
	bool is_cleared;
	u32 function, row;

	if ((reg != OPERAND_RSP && reg != OPERAND_RBP) ||
		!rows_find(&s->rows, &s->cfi, pc, &function, &row, &is_cleared))
		return false;
	cfa = &s->rows.at.at[row].cfa;
	if (cfa->kind != ROW_REGISTER || operand_reg((u8)cfa->from, s->image->is_64) != reg)
		return false;
	*ret_offset = (s64)((u64)disp - (u64)cfa->value);
	return true;
}

bool datascope_find_near(struct datascope *s, u64 pc, u8 reg, s64 disp, struct dataobject *ret)
{
	s64 offset;

	return find_place(&s->function, pc, VARS_NEAR, reg, disp, ret) ||
		(datascope_frame(s, pc, reg, disp, &offset) &&
			find_place(&s->function, pc, VARS_FRAME, 0, offset, ret));
}

bool dataobject_settle(const struct dataobject *o, Dwarf_Die *ret_type, u64 *ret_offset)
{
	Dwarf_Die type = o->type, element;
	s64 size;

	if (!dwarftype_element(&type, &element))
		return false;
	size = (s64)MIN(dwarftype_size(&element), (u64)INT64_MAX);
	if (size && (o->offset < 0 || o->offset >= size)) {
		/* Scalars may be elements of an array; next to a single struct the contents are unknown. */
		bool is_in_array = o->is_array || !dwarftype_has_members(&element) ||
			(u64)o->offset < dwarftype_size(&type);

		if (!is_in_array)
			return false;
		*ret_offset = (u64)(o->offset % size + (o->offset % size < 0 ? size : 0));
	} else if (o->offset < 0) {
		return false;
	} else {
		*ret_offset = (u64)o->offset;
	}
	*ret_type = element;
	return true;
}
