#include "symbol/probe/probearg.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "symbol/probe/probewhere.h"
#include "symbol/types/dwarftype.h"

enum { DEPTH_MAX = 256, STACK_MAX = 16, ELEMENTS_MAX = 64, WORD = 64 };

/* ---- variables ---- */

static bool is_variable(int tag)
{
	return tag == DW_TAG_variable || tag == DW_TAG_formal_parameter;
}

static void add_variables(Dwarf_Die *block, u64 address, bool goes_into_calls, probe_variables *ret,
	int depth)
{
	Dwarf_Die at;

	if (depth == DEPTH_MAX || dwarf_child(block, &at))
		return;
	do {
		int tag = dwarf_tag(&at);
		struct probe_variable v = {.entry = at,
			.is_parameter = tag == DW_TAG_formal_parameter};

		if (is_variable(tag) && (v.name = dwarf_diename(&at)) != NULL) {
			if (!dwarftype_of(&at, &v.type))
				v.type.addr = NULL;
			vec_add(ret, v);
		} else if ((tag == DW_TAG_lexical_block ||
				   (goes_into_calls && tag == DW_TAG_inlined_subroutine)) &&
			dwarf_haspc(&at, address) > 0) {
			add_variables(&at, address, goes_into_calls, ret, depth + 1);
		}
	} while (!dwarf_siblingof(&at, &at));
}

static void add_globals(Dwarf_Die *outer, probe_variables *ret, int depth)
{
	Dwarf_Die at;

	if (depth == DEPTH_MAX || !outer->addr || dwarf_child(outer, &at))
		return;
	do {
		int tag = dwarf_tag(&at);
		struct probe_variable v = {.entry = at, .is_global = true};

		if (tag == DW_TAG_variable && (v.name = dwarf_diename(&at)) != NULL) {
			if (!dwarftype_of(&at, &v.type))
				v.type.addr = NULL;
			vec_add(ret, v);
		} else if (tag == DW_TAG_namespace) {
			add_globals(&at, ret, depth + 1);
		}
	} while (!dwarf_siblingof(&at, &at));
}

bool probearg_is_there(struct probe_file *file, const struct probe_spot *spot, Dwarf_Die *variable)
{
	struct err ignored;
	const struct probe_finding f = {file, spot, &ignored};
	struct probe_where w;

	return probewhere_locate(&f, variable, &w) == PROBE_FOUND;
}

void probearg_list(struct probe_file *file, const struct probe_spot *spot, bool globals, bool every,
	probe_variables *ret)
{
	probe_variables all = {0};
	Dwarf_Die function = spot->function, unit = spot->unit;

	if (!function.addr)
		return;
	if (globals)
		add_globals(&unit, &all, 0);
	add_variables(&function, spot->address, false, &all, 0);
	vec_each(v, &all)
		if (every || probearg_is_there(file, spot, &v->entry))
			vec_add(ret, *v);
	vec_fini(&all);
}

/* ---- types ---- */

/* Without typedef, const and the like; false: void. */
static bool plain_type(Dwarf_Die *type, Dwarf_Die *ret)
{
	return type->addr && !dwarf_peel_type(type, ret);
}

static bool is_reference(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static Dwarf_Word encoding_of(Dwarf_Die *type)
{
	Dwarf_Word encoding = 0;

	(void)dwarf_number(type, DW_AT_encoding, &encoding);
	return encoding;
}

static bool is_char(Dwarf_Die *type)
{
	Dwarf_Die plain;
	Dwarf_Word encoding = plain_type(type, &plain) ? encoding_of(&plain) : 0;

	return dwarftype_size(type) == 1 &&
		(encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

/* The kernel's name of a number's type; "": it has none. */
static void number_type(Dwarf_Die *type, char *buf, size_t size)
{
	Dwarf_Die plain;
	u64 bytes = dwarftype_size(type);
	char sign = 'x';

	*buf = '\0';
	if (!plain_type(type, &plain))
		return;
	if (dwarf_tag(&plain) == DW_TAG_base_type) {
		Dwarf_Word encoding = encoding_of(&plain);

		sign = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? 's' : 'x';
	}
	if (dwarf_tag(&plain) == DW_TAG_pointer_type || is_reference(&plain))
		bytes = bytes ? bytes : 8;
	/* Of what is larger than a register, the first part. */
	if (bytes > 8)
		bytes = 8;
	if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)
		snprintf(buf, size, "%c%llu", sign, (unsigned long long)bytes * 8);
}

/* The type of an array: its text if it is one of characters, else its first elements. */
static void array_type(Dwarf_Die *array, char *buf, size_t size)
{
	Dwarf_Die element;
	u64 each, all = dwarftype_size(array);
	char of[16];

	*buf = '\0';
	if (!dwarftype_element(array, &element))
		return;
	each = dwarftype_size(&element);
	number_type(&element, of, sizeof(of));
	if (is_char(&element))
		snprintf(buf, size, "string");
	else if (*of && each && each <= 8 && all >= each)
		snprintf(buf, size, "%s[%llu]", of,
			(unsigned long long)MIN(all / each, (u64)ELEMENTS_MAX));
	else
		snprintf(buf, size, "%s", of);
}

/* ---- members ---- */

static bool find_member(Dwarf_Die *type, const char *name, Dwarf_Die *ret_member, u64 *ret_offset,
	struct nearest *near, int depth)
{
	Dwarf_Die at, its;
	u64 offset;

	if (depth == DEPTH_MAX || dwarf_child(type, &at))
		return false;
	do {
		int tag = dwarf_tag(&at);
		const char *its_name = dwarf_diename(&at);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!dwarftype_member_offset(&at, &offset))
			continue;
		if (its_name && tag == DW_TAG_member) {
			nearest_offer(near, its_name);
			if (!strcmp(its_name, name)) {
				*ret_member = at;
				*ret_offset += offset;
				return true;
			}
			continue;
		}
		/* The members of anonymous structs and of base classes are the type's own. */
		if (!dwarftype_of(&at, &its) || !plain_type(&its, &its))
			continue;
		*ret_offset += offset;
		if (find_member(&its, name, ret_member, ret_offset, near, depth + 1))
			return true;
		*ret_offset -= offset;
	} while (!dwarf_siblingof(&at, &at));
	return false;
}

/* How a bit field is fetched: "b3@4/32"; "": it is none. Moves to the word that it is in. */
static void bit_type(Dwarf_Die *member, Dwarf_Die *type, struct probe_where *w, u64 *offset,
	char *buf, size_t size)
{
	Dwarf_Word bits, at;
	u64 container = dwarftype_size(type) * 8, start;

	*buf = '\0';
	if (!dwarf_number(member, DW_AT_bit_size, &bits))
		return;
	if (dwarf_number(member, DW_AT_data_bit_offset, &at)) {
		start = at % container;
		*offset += (at - start) / 8 - at / 8;
	} else if (dwarf_number(member, DW_AT_bit_offset, &at)) {
		/* DWARF 3: from the highest bit. */
		start = container - at - bits;
	} else {
		start = 0;
	}
	(void)w;
	if (container && container <= WORD && start + bits <= container)
		snprintf(buf, size, "b%llu@%llu/%llu", (unsigned long long)bits,
			(unsigned long long)start, (unsigned long long)container);
}

/* The value so far, on the way through members. */
struct value {
	struct probe_where where;
	Dwarf_Die type;
	char bits[32]; /* the type of a bit field; "": it is none */
};

static int move_by(const struct probe_finding *f, struct value *v, u64 offset, const char *name)
{
	if (v->where.kind == PROBE_IN_MEMORY || v->where.kind == PROBE_AT_ADDRESS) {
		v->where.offset = (s64)((u64)v->where.offset + offset);
		return 0;
	}
	if (v->where.kind == PROBE_IN_REGISTER && offset < 8) {
		v->where.bits_before += offset * 8;
		return 0;
	}
	return err_set(f->err, ERR_UNSUPPORTED,
		"'%s' is part of a value that is not in memory here", name);
}

/* If it is a pointer or a reference, goes to what it points to. */
static int enter_pointer(const struct probe_finding *f, struct value *v, bool *ret_was)
{
	Dwarf_Die plain, target;

	*ret_was = false;
	if (!plain_type(&v->type, &plain) ||
		(dwarf_tag(&plain) != DW_TAG_pointer_type && !is_reference(&plain)))
		return 0;
	*ret_was = true;
	if (!dwarftype_pointee(&plain, &target))
		return err_set(f->err, ERR_INVAL,
			"a pointer to void, or to a function, cannot be followed");
	v->type = target;
	return probewhere_follow(f, &v->where);
}

static int enter_member(const struct probe_finding *f, struct value *v,
	const struct probe_member *m, const char *before)
{
	struct nearest near = {.typed = m->name};
	struct str name = {0}, hint = {0};
	Dwarf_Die plain, member, its;
	bool was_pointer;
	u64 offset = 0;

	if (enter_pointer(f, v, &was_pointer))
		return f->err->code;
	if (!plain_type(&v->type, &plain) || !dwarftype_has_members(&plain)) {
		dwarftype_add_name(&v->type, &name);
		err_set(f->err, ERR_INVAL, "'%s' has no members: it is of type %s", before,
			str_text(&name));
		str_fini(&name);
		return f->err->code;
	}
	if (!find_member(&plain, m->name, &member, &offset, &near, 0) ||
		!dwarftype_of(&member, &its)) {
		dwarftype_add_name(&plain, &name);
		nearest_add_hint(&near, &hint);
		err_set(f->err, ERR_NOENT, "%s has no member '%s'%s", str_text(&name), m->name,
			str_text(&hint));
		str_fini(&name);
		str_fini(&hint);
		return f->err->code;
	}
	bit_type(&member, &its, &v->where, &offset, v->bits, sizeof(v->bits));
	v->type = its;
	return move_by(f, v, offset, m->name);
}

static int enter_element(const struct probe_finding *f, struct value *v,
	const struct probe_member *m, const char *before)
{
	Dwarf_Die plain, element;
	bool was_pointer;
	u64 size;

	if (!plain_type(&v->type, &plain))
		return err_set(f->err, ERR_INVAL, "'%s' has no elements", before);
	if (dwarf_tag(&plain) == DW_TAG_array_type) {
		if (!dwarftype_of(&plain, &element))
			return err_set(f->err, ERR_INVAL, "'%s' has no elements", before);
		v->type = element;
	} else if (enter_pointer(f, v, &was_pointer)) {
		return f->err->code;
	} else if (!was_pointer) {
		return err_set(f->err, ERR_INVAL,
			"'%s' is no array and no pointer: it has no element [%llu]", before,
			(unsigned long long)m->index);
	}
	size = dwarftype_size(&v->type);
	return move_by(f, v, size * m->index, before);
}

/* ---- the argument ---- */

static bool is_string(const char *type)
{
	return type && (!strcmp(type, "string") || !strcmp(type, "ustring"));
}

/* For a text, the place must be that of its first character. */
static int settle_string(const struct probe_finding *f, struct value *v, const char *name,
	char *buf, size_t size, const char *type)
{
	Dwarf_Die plain;
	int tag = plain_type(&v->type, &plain) ? dwarf_tag(&plain) : 0;

	snprintf(buf, size, "%s", type);
	if (tag == DW_TAG_pointer_type || is_reference(&plain))
		return probewhere_follow(f, &v->where);
	if (tag != DW_TAG_array_type)
		return err_set(f->err, ERR_INVAL,
			"'%s' is no text: it is neither a pointer nor an array", name);
	return 0;
}

static int settle_type(const struct probe_finding *f, const char *name, const char *asked,
	struct value *v, char *buf, size_t size)
{
	Dwarf_Die plain;
	u64 bytes = dwarftype_size(&v->type);
	bool was_reference = plain_type(&v->type, &plain) && is_reference(&plain);

	/* What a reference is bound to is meant, as in the source. */
	if (was_reference && !is_string(asked) &&
		(enter_pointer(f, v, &was_reference) || !plain_type(&v->type, &plain)))
		return f->err->code;
	if (is_string(asked))
		return settle_string(f, v, name, buf, size, asked);
	if (asked)
		snprintf(buf, size, "%s", asked);
	else if (*v->bits)
		snprintf(buf, size, "%s", v->bits);
	else if (plain_type(&v->type, &plain) && dwarf_tag(&plain) == DW_TAG_array_type)
		array_type(&plain, buf, size);
	else
		number_type(&v->type, buf, size);
	if (v->where.kind == PROBE_IN_REGISTER && v->where.bits_before) {
		if (asked || *v->bits || !bytes || v->where.bits_before + bytes * 8 > WORD)
			return err_set(f->err, ERR_UNSUPPORTED, "'%s' is part of a register here",
				name);
		snprintf(buf, size, "b%llu@%llu/%d", (unsigned long long)bytes * 8,
			(unsigned long long)v->where.bits_before, WORD);
	}
	return 0;
}

/* perf's name for an argument: the last member's, or the variable's, and the type that was asked for. */
static void add_name(const struct probe_arg *arg, struct str *text)
{
	const char *name = arg->text;

	if (arg->name) {
		str_add(text, arg->name);
		return;
	}
	vec_each(m, &arg->members)
		if (m->name)
			name = m->name;
	for (; *name; name++)
		str_addc(text, isalnum((unsigned char)*name) ? *name : '_');
	if (!arg->type || arg->members.n)
		return;
	str_addc(text, '_');
	for (name = arg->type; *name; name++)
		str_addc(text, isalnum((unsigned char)*name) ? *name : '_');
}

/* Appends the name, with a number if another argument has it. */
static void add_own_name(const struct probe_arg *arg, struct str *text)
{
	struct str name = {0}, tried = {0};

	add_name(arg, &name);
	for (int i = 0; i < 100; i++) {
		str_clear(&tried);
		str_addf(&tried, " %s", str_text(&name));
		if (i)
			str_addf(&tried, "_%d", i);
		str_addc(&tried, '=');
		if (!strstr(str_text(text), str_text(&tried)))
			break;
	}
	str_add(text, str_text(&tried));
	str_fini(&name);
	str_fini(&tried);
}

static int add_value(const struct probe_finding *f, const struct probe_arg *arg, struct value *v,
	struct str *text)
{
	const char *name = arg->text;
	char type[64];

	vec_each(m, &arg->members) {
		if (m->name ? enter_member(f, v, m, name) : enter_element(f, v, m, name))
			return f->err->code;
		name = m->name ? m->name : name;
	}
	if (settle_type(f, name, arg->type, v, type, sizeof(type)))
		return f->err->code;
	add_own_name(arg, text);
	if (!probewhere_add_fetch(f, &v->where, text))
		return err_set(f->err, ERR_UNSUPPORTED, "'%s' cannot be fetched", name);
	if (*type)
		str_addf(text, ":%s", type);
	return 0;
}

static int refuse_variable(const struct probe_finding *f, const struct probe_arg *arg,
	enum probe_found found, bool exists, probe_variables *all)
{
	struct nearest near = {.typed = arg->text};
	struct str hint = {0};

	if (exists)
		return err_set(f->err, found == PROBE_NOT_THERE ? ERR_NOENT : ERR_UNSUPPORTED,
			found == PROBE_NOT_THERE
				? "'%s' is optimized out at this place: the compiler keeps it nowhere here; 'pace probe -V PLACE --range' shows where it is"
				: "'%s' would have to be computed at this place (it was optimized), which the kernel's probes cannot: 'pace probe -V PLACE --range' shows other places",
			arg->text);
	vec_each(v, all)
		nearest_offer(&near, v->name);
	nearest_add_hint(&near, &hint);
	err_set(f->err, ERR_NOENT, "there is no variable '%s' here%s", arg->text, str_text(&hint));
	str_fini(&hint);
	return f->err->code;
}

/* A variable of the innermost block that has the name; globals last. */
static int add_variable(const struct probe_finding *f, const struct probe_arg *arg,
	struct str *text)
{
	probe_variables all = {0};
	struct value v = {0};
	enum probe_found found = PROBE_NOT_THERE;
	bool exists = false;
	Dwarf_Die function = f->spot->function, code = f->spot->code, unit = f->spot->unit;
	int r;

	add_globals(&unit, &all, 0);
	if (code.addr != function.addr)
		add_variables(&code, f->spot->address, true, &all, 0);
	add_variables(&function, f->spot->address, true, &all, 0);
	add_variables(&function, f->spot->address, false, &all, 0);
	for (size_t i = all.n; i-- && found != PROBE_FOUND;) {
		struct probe_variable *one = &all.at[i];
		enum probe_found its;

		if (strcmp(one->name, arg->text) != 0)
			continue;
		exists = true;
		its = probewhere_locate(f, &one->entry, &v.where);
		found = its > found ? its : found;
		v.type = one->type;
		/* A variable that is hidden by one without a place is not the one that is meant. */
		if (its != PROBE_FOUND && !one->is_global)
			break;
	}
	r = found == PROBE_FOUND ? add_value(f, arg, &v, text)
				 : refuse_variable(f, arg, found, exists, &all);
	vec_fini(&all);
	return r;
}

/* $retval with the function's type, unless another one was asked for. */
static void add_kernel_arg(const struct probe_finding *f, const struct probe_arg *arg,
	struct str *text)
{
	Dwarf_Die function = f->spot->function, type;
	char name[16] = "";

	str_addf(text, " %s%s%s", arg->name ? arg->name : "", arg->name ? "=" : "", arg->text);
	if (!arg->type && !strcmp(arg->text, "$retval") && function.addr &&
		dwarftype_of(&function, &type))
		number_type(&type, name, sizeof(name));
	if (arg->type)
		str_addf(text, ":%s", arg->type);
	else if (*name)
		str_addf(text, ":%s", name);
}

/* All variables there; those that have no place, or none that the kernel can fetch, are left out. */
static int add_all(const struct probe_finding *f, const struct probe_arg *arg, struct str *text)
{
	probe_variables all = {0};

	probearg_list(f->file, f->spot, false, false, &all);
	vec_each(v, &all) {
		const struct probe_arg one = {.text = v->name};
		struct value value = {.type = v->type};
		size_t before = text->n;

		if ((arg->kind == PROBE_ARG_PARAMS && !v->is_parameter) ||
			probewhere_locate(f, &v->entry, &value.where) != PROBE_FOUND)
			continue;
		if (add_value(f, &one, &value, text))
			str_cut(text, before);
	}
	vec_fini(&all);
	return 0;
}

int probearg_add(struct probe_file *file, const struct probe_spot *spot,
	const struct probe_arg *arg, struct str *text, struct err *err)
{
	const struct probe_finding f = {file, spot, err};

	if (arg->kind == PROBE_ARG_KERNEL) {
		add_kernel_arg(&f, arg, text);
		return 0;
	}
	if (!spot->code.addr)
		return file->dwarf ? err_set(err, ERR_NOENT,
					     "'%s': this part of '%s' has no debug information",
					     arg->text ? arg->text : "$vars", file->path)
				   : probefile_needs_debug(file, "a variable", err);
	return arg->kind == PROBE_ARG_VARIABLE ? add_variable(&f, arg, text)
					       : add_all(&f, arg, text);
}
