#include "cmd/codeoptions.h"

#include <string.h>

static const struct {
	const char *name;
	bool is_global, is_by_hits;
} types[] = {
	{"local-period", false, false},
	{"local-hits", false, true},
	{"global-period", true, false},
	{"global-hits", true, true},
	{"period-local", false, false},
	{"hits-local", false, true},
	{"period-global", true, false},
	{"hits-global", true, true},
};

static size_t find_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].name, name))
			return i;
	return ARRAY_SIZE(types);
}

int code_options_check(const struct code_options *o, struct err *err)
{
	enum disasm_engine engine;

	if (o->percent_type && find_type(o->percent_type) == ARRAY_SIZE(types))
		return err_set(err, ERR_INVAL,
			"--percent-type '%s' is none of local-period, local-hits, global-period, global-hits",
			o->percent_type);
	if (o->syntax && strcmp(o->syntax, "intel") && strcmp(o->syntax, "att"))
		return err_set(err, ERR_INVAL, "-M '%s' is neither att nor intel", o->syntax);
	return o->engine && disasm_choose(o->engine, &engine, err)
		? err_prefix(err, "--disassembler")
		: 0;
}

void code_options_tell(const struct code_options *o, const struct symbol_options *symbols,
	struct assembly_options *assembly, struct annotate_options *shown)
{
	struct err err;

	assembly->disasm.is_intel = o->syntax && !strcmp(o->syntax, "intel");
	assembly->disasm.objdump = o->objdump;
	if (o->engine)
		disasm_choose(o->engine, &assembly->disasm.engine, &err);
	assembly->places = (struct source_places){symbols->symfs ? symbols->symfs : "", o->prefix,
		o->prefix ? o->n_stripped : 0};
	if (o->percent_type) {
		const size_t i = find_type(o->percent_type);

		shown->is_global = types[i].is_global;
		shown->is_by_hits = types[i].is_by_hits;
	}
	shown->has_bytes = o->has_bytes;
	shown->has_source = o->has_source;
}
