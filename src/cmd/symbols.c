#include "cmd/symbols.h"

#include <unistd.h>

#include "symbol/demangle.h"

unsigned symbol_options_style(const struct symbol_options *o, unsigned verbose)
{
	return (verbose ? DEMANGLE_PARAMETERS : 0) | (o->is_compact ? DEMANGLE_COMPACT : 0) |
		(o->demangles ? 0 : DEMANGLE_NOT);
}

void symbol_options_init(const struct symbol_options *o, struct resolver *r,
	const struct machine *machine, const struct reader *reader, struct log *log)
{
	resolver_init(r, machine, o->symfs, log);
	r->vmlinux = o->vmlinux;
	r->kallsyms_copy = o->kallsyms;
	r->recorded_kallsyms = reader->kallsyms;
	r->ignores_vmlinux = o->ignores_vmlinux;
	r->guest_files = o->guest;
	r->recorded_release = reader->info.host.release;
	r->recorded_machine = reader->info.host.arch;
}
