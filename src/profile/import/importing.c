#include "profile/import/importing.h"

#include <string.h>

#include "base/hash.h"
#include "machine/dso.h"

void importing_init(struct importing *b, const struct import *in, const struct import_options *o,
	struct profile *p)
{
	*b = (struct importing){.profile = p, .options = o, .in = in};
}

void importing_fini(struct importing *b)
{
	table_fini(&b->dso_index);
	table_fini(&b->symbol_index);
	table_fini(&b->frame_index);
	vec_fini(&b->path);
}

u32 importing_dso(struct importing *b, enum dso_kind kind, const char *path, const char *name,
	const char *build)
{
	struct profile *p = b->profile;
	struct profile_dso dso = {.path = intern_str(&p->strings, path),
		.name = intern_str(&p->strings, name),
		.kind = (u8)kind,
		.source = (u32)p->dsos.n,
		.build = build ? intern_str(&p->strings, build) : NULL};
	const u64 hash = hash_mix((u64)(uintptr_t)dso.path, (u64)(uintptr_t)dso.build);
	struct table_probe probe = table_probe(&b->dso_index, hash);
	u32 i;

	while ((i = table_next(&b->dso_index, &probe)) != TABLE_NONE)
		if (p->dsos.at[i].path == dso.path && p->dsos.at[i].build == dso.build)
			return i;
	table_add(&b->dso_index, hash, dso.source);
	vec_add(&p->dsos, dso);
	return dso.source;
}

/* Whether this is a kernel's mapping: "[kernel.kallsyms]_text", "[guest.kernel.kallsyms.12]". */
static bool is_kernel(const char *name)
{
	return !strncmp(name, "[kernel.", 8) || !strncmp(name, "[guest.kernel.", 14);
}

u32 importing_mapped(struct importing *b, const char *path, const char *build)
{
	const char *slash = strrchr(path, '/'), *name = slash && path[0] != '[' ? slash + 1 : path;

	if (is_kernel(path))
		return importing_dso(b, DSO_KERNEL, path, "[kernel.kallsyms]", build);
	return importing_dso(b, DSO_FILE, path, name, build);
}

u32 importing_event(struct importing *b, const char *name, u32 n_group)
{
	struct profile *p = b->profile;

	vec_add(&p->events,
		((struct profile_event){.name = intern_str(&p->strings, name),
			.n_group = n_group}));
	return (u32)p->events.n - 1;
}

static bool is_same_symbol(const struct profile_symbol *a, const struct profile_symbol *b)
{
	return a->name == b->name && a->dso == b->dso && a->mode == b->mode &&
		a->start == b->start && a->mark == b->mark && a->line == b->line &&
		a->file == b->file && a->function == b->function && a->is_inlined == b->is_inlined;
}

static u64 hash_of_symbol(const struct profile_symbol *s)
{
	u64 h = hash_mix((u64)(uintptr_t)s->name, s->start);

	h = hash_mix(h ^ (u64)(uintptr_t)s->mark,
		(u64)s->dso << 9 | (u64)s->mode << 1 | s->is_inlined);
	return hash_mix(h ^ (u64)(uintptr_t)s->line,
		(u64)(uintptr_t)s->file ^ (u64)s->function << 32);
}

u32 importing_symbol(struct importing *b, const struct profile_symbol *s)
{
	const u64 hash = hash_of_symbol(s);
	struct profile *p = b->profile;
	struct table_probe probe = table_probe(&b->symbol_index, hash);
	u32 i;

	while ((i = table_next(&b->symbol_index, &probe)) != TABLE_NONE)
		if (is_same_symbol(&p->symbols.at[i], s))
			return i;
	i = (u32)p->symbols.n;
	table_add(&b->symbol_index, hash, i);
	vec_add(&p->symbols, *s);
	return i;
}

static bool is_same_frame(const struct profile *p, u32 frame, u32 symbol, u64 address,
	const u32 *inlined, u32 n)
{
	const struct profile_frame *f = &p->frames.at[frame];

	return f->symbol == symbol && f->address == address && f->n_inlined == n &&
		(!n || !memcmp(p->inlined.at + f->first_inlined, inlined, n * sizeof(*inlined)));
}

u32 importing_frame(struct importing *b, u32 symbol, u64 address, const u32 *inlined, u32 n)
{
	struct profile *p = b->profile;
	const struct profile_symbol *s = &p->symbols.at[symbol];
	u64 hash = hash_mix(address, symbol);
	struct table_probe probe;
	u32 i;

	n = b->options->has_inlined ? n : 0;
	for (u32 k = 0; k < n; k++)
		hash = hash_mix(hash, inlined[k]);
	probe = table_probe(&b->frame_index, hash);
	while ((i = table_next(&b->frame_index, &probe)) != TABLE_NONE)
		if (is_same_frame(p, i, symbol, address, inlined, n))
			return i;
	i = (u32)p->frames.n;
	table_add(&b->frame_index, hash, i);
	vec_add(&p->frames,
		((struct profile_frame){.dso = s->dso,
			.symbol = symbol,
			.address = address,
			.at = address,
			.mode = s->mode,
			.first_inlined = (u32)p->inlined.n,
			.n_inlined = n}));
	for (u32 k = 0; k < n; k++)
		vec_add(&p->inlined, inlined[k]);
	return i;
}

/* The position in the path of the outermost frame within the depth limit. Inlined functions count like others. */
static size_t first_kept(const struct importing *b)
{
	const u32 deepest = b->options->max_stack ? b->options->max_stack : IMPORT_DEEPEST;
	size_t first = b->path.n - 1;
	u64 depth = 0;

	do {
		depth += 1 + b->profile->frames.at[b->path.at[first]].n_inlined;
	} while (depth <= deepest && first-- > 0);
	return first + 1 == 0 ? 0 : MIN(first + 1, b->path.n - 1);
}

struct importing_stack importing_stack(struct importing *b)
{
	const size_t last = b->path.n - 1, first = b->options->has_stacks ? first_kept(b) : last;
	struct importing_stack stack = {.frame = b->path.at[last],
		.is_cut = b->options->has_stacks && first};

	for (size_t i = first; i < last; i++)
		stack.callers = profile_stack(b->profile, stack.callers, b->path.at[i]);
	return stack;
}

void importing_add_stack(struct importing *b, const struct importing_stack *stack, u32 event,
	u64 n_samples, u64 period, const u64 *labels)
{
	const struct profile_row row = {.event = event,
		.frame = stack->frame,
		.callers = stack->callers,
		.n_samples = n_samples,
		.period = period};
	struct profile *p = b->profile;

	if (!n_samples && !period)
		return;
	p->has_stacks |= row.callers != 0;
	p->n_cut += stack->is_cut && !event;
	profile_add_row(p, &row, labels);
}

void importing_add_row(struct importing *b, u32 event, u64 n_samples, u64 period, const u64 *labels)
{
	struct importing_stack stack;

	if (!b->path.n || (!n_samples && !period))
		return;
	stack = importing_stack(b);
	importing_add_stack(b, &stack, event, n_samples, period, labels);
}

int importing_charge(struct importing *b, u64 offset, struct err *err)
{
	enum { EACH = 1 << 16 };

	if (offset < b->charged_at)
		return 0;
	b->charged_at = offset + EACH;
	return import_charge(b->in, b->profile, b->held, offset, err);
}

int importing_charge_names(struct importing *b, u64 offset, struct err *err)
{
	enum { EACH = 1 << 20 };
	const u64 n_bytes = b->profile->strings.arena.total;

	if (n_bytes < b->charged_names)
		return 0;
	b->charged_names = n_bytes + EACH;
	return import_charge(b->in, b->profile, b->held, offset, err);
}
