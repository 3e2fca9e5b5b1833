#include "profile/code/ipc.h"

#include "symbol/code/code.h"
#include "symbol/code/disasm.h"

struct counting {
	struct resolver *resolver;
	const struct dso *dso;
	const struct profile_symbol *symbol;
	const struct code *code;
	const struct listing *listing;
	bool *is_covered; /* by instruction */
};

/* The instruction that begins at an offset of the DSO; UINT32_MAX: the function has none there. */
static u32 instruction_at(const struct counting *c, u64 offset)
{
	const u64 at = resolver_find(c->resolver, c->dso, offset).at;
	const u64 va = at - c->symbol->start + c->code->va;
	const u32 i = at < c->symbol->start ? UINT32_MAX : listing_find(c->listing, va);

	return i != UINT32_MAX && c->listing->instructions.at[i].va == va ? i : UINT32_MAX;
}

static void count_run(const struct counting *c, const struct block *run, struct ipc_function *ret)
{
	const u32 first = instruction_at(c, run->start), last = instruction_at(c, run->end);

	if (first == UINT32_MAX || last == UINT32_MAX || last < first)
		return;
	ret->n_run += run->n_times * (last - first + 1);
	ret->n_cycles += run->n_cycles;
	for (u32 i = first; i <= last; i++)
		c->is_covered[i] = true;
}

static void count_listing(struct counting *c, const struct block *runs, size_t n,
	struct ipc_function *ret)
{
	c->is_covered = mem_zalloc(c->listing->instructions.n + 1);
	for (size_t i = 0; i < n; i++)
		count_run(c, &runs[i], ret);
	for (size_t i = 0; i < c->listing->instructions.n; i++) {
		ret->n_code += !c->listing->instructions.at[i].is_bad;
		ret->n_covered += c->is_covered[i];
	}
	mem_free(c->is_covered);
}

static void count_function(struct resolver *r, const struct dso *dso,
	const struct profile_symbol *symbol, const struct block *runs, size_t n,
	struct ipc_function *ret)
{
	const struct disasm_options options = {.engine = DISASM_ANY};
	struct disasm d;
	struct code code;
	struct err err;

	if (code_find(&code, r, dso, symbol->start, symbol->end, &err))
		return;
	if (!disasm(&d, &code, &options, &err)) {
		struct counting c = {.resolver = r,
			.dso = dso,
			.symbol = symbol,
			.code = &code,
			.listing = &d.listing};

		if (d.engine != DISASM_RAW)
			count_listing(&c, runs, n, ret);
		disasm_fini(&d);
	}
	code_fini(&code);
}

/* The runs that begin in a symbol. */
static const struct block *runs_of(struct resolver *r, const struct dso *dso,
	const struct profile_symbol *s, const struct blocks *b, size_t *ret_n)
{
	const struct elf *image = resolver_image(r, dso);
	u64 start = s->start;

	*ret_n = 0;
	if (image && !elf_offset_of_address(image, s->start, &start))
		return NULL;
	return blocks_between(b, dso->id, start, start + (s->end - s->start), ret_n);
}

void ipc_init(struct ipc *i, const struct profile *p, const struct blocks *b, struct resolver *r)
{
	i->of = mem_zalloc((p->symbols.n + 1) * sizeof(*i->of));
	for (u32 k = 1; k < p->symbols.n; k++) {
		const struct profile_symbol *s = &p->symbols.at[k];
		const struct block *runs;
		const u32 source = p->dsos.at[s->dso].source;
		const struct dso *dso;
		size_t n;

		if (s->end <= s->start || s->is_inlined || profile_function(p, k) != k ||
			source >= r->machine->dsos.at.n)
			continue;
		dso = r->machine->dsos.at.at[source];
		resolver_load(r, dso);
		runs = runs_of(r, dso, s, b, &n);
		if (n)
			count_function(r, dso, s, runs, n, &i->of[k]);
	}
}

void ipc_fini(struct ipc *i)
{
	mem_free(i->of);
}
