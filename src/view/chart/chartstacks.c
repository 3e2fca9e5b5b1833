#include "view/chart/chartstacks.h"

#include <string.h>

#include "base/hash.h"
#include "profile/rows/codekind.h"
#include "unwind/chain.h"

enum { DEEPEST = 512, CHAINS_MOST = 1 << 18 };

void chartstacks_init(struct chartstacks *s, struct trace *t)
{
	*s = (struct chartstacks){.trace = t};
	locator_init(&s->locator, &t->machine, &t->resolver);
	vec_add(&s->nodes, ((struct chartstacks_node){0}));
}

void chartstacks_fini(struct chartstacks *s)
{
	arena_fini(&s->arena);
	intern_fini(&s->strings);
	vec_fini(&s->nodes);
	vec_fini(&s->names);
	vec_fini(&s->chains);
	table_fini(&s->node_index);
	table_fini(&s->name_index);
	table_fini(&s->chain_index);
}

u64 chartstacks_bytes(const struct chartstacks *s)
{
	return s->arena.total + s->nodes.n * sizeof(*s->nodes.at) +
		s->names.n * sizeof(*s->names.at) + s->chains.n * sizeof(*s->chains.at);
}

/* ---- names ---- */

static enum codekind kind_of(const struct location *l, const struct chain_step *step, bool is_named)
{
	const u8 kind = l->dso->kind;

	if (step->mode == PERF_RECORD_MISC_KERNEL || kind == DSO_KERNEL || kind == DSO_MODULE ||
		kind == DSO_BPF)
		return CODEKIND_KERNEL;
	if (kind == DSO_JIT || kind == DSO_JITDUMP)
		return CODEKIND_JIT;
	if (!is_named)
		return CODEKIND_NAMELESS;
	return strstr(l->dso->name, ".so") || kind == DSO_VDSO ? CODEKIND_LIBRARY
							       : CODEKIND_PROGRAM;
}

static u32 name_number(struct chartstacks *s, const char *text, u8 kind)
{
	const u64 hash = hash_mix((u64)(uintptr_t)text, kind);
	struct table_probe probe = table_probe(&s->name_index, hash);
	u32 i;

	while ((i = table_next(&s->name_index, &probe)) != TABLE_NONE)
		if (s->names.at[i].text == text && s->names.at[i].kind == kind)
			return i;
	table_add(&s->name_index, hash, (u32)s->names.n);
	vec_add(&s->names, ((struct chartstacks_name){text, kind}));
	return (u32)s->names.n - 1;
}

static u32 name_of(struct chartstacks *s, const struct thread_state *state,
	const struct chain_step *step, bool *lasts)
{
	struct resolver_answer answer;
	struct location location;
	struct str text = {0};
	const char *title;
	u32 name;

	locator_find(&s->locator, state, step, &location);
	answer = locator_name(&s->locator, &location);
	title = resolver_title(&answer, 0, &s->strings);
	if (title)
		str_add_safe(&text, title, strlen(title));
	else
		str_addf(&text, *location.dso->name == '[' ? "%s" : "[%s]", location.dso->name);
	*lasts &= location.is_lasting;
	name = name_number(s, intern_add(&s->strings, str_text(&text), text.n),
		(u8)kind_of(&location, step, title));
	str_fini(&text);
	return name;
}

/* ---- nodes ---- */

static u32 node_below(struct chartstacks *s, u32 parent, u32 name)
{
	const u64 hash = hash_mix(parent, name);
	struct table_probe probe = table_probe(&s->node_index, hash);
	u32 i;

	while ((i = table_next(&s->node_index, &probe)) != TABLE_NONE)
		if (s->nodes.at[i].parent == parent && s->nodes.at[i].name == name)
			return i;
	table_add(&s->node_index, hash, (u32)s->nodes.n);
	vec_add(&s->nodes, ((struct chartstacks_node){parent, name}));
	return (u32)s->nodes.n - 1;
}

static u32 node_of(struct chartstacks *s, const struct thread_state *state, const struct visit *v,
	bool *lasts)
{
	struct chain_walk walk = chain_walk(&v->chain, v->mode);
	struct chain_step step;
	u32 names[DEEPEST], node = 0;
	size_t n = 0;

	while (n < DEEPEST && chain_next(&walk, &step))
		names[n++] = name_of(s, state, &step, lasts);
	while (n)
		node = node_below(s, node, names[--n]);
	return node;
}

/* ---- chains ---- */

static u32 space_id(const struct space *space)
{
	return space ? space->id : UINT32_MAX;
}

u32 chartstacks_of(struct chartstacks *s, struct visit *v)
{
	const struct thread_state *state;
	struct chartstacks_chain chain;
	struct table_probe probe;
	bool lasts = true;
	u64 hash;
	u32 i;

	if (!v->sample)
		return 0;
	visit_callers(v);
	if (!v->chain.n)
		return 0;
	state = visit_state(v);
	chain = (struct chartstacks_chain){v->chain.at, v->chain.n, space_id(state->user),
		space_id(state->kernel), 0, v->mode};
	hash = hash_mix(hash_bytes(chain.words, chain.n * 8),
		(u64)chain.user << 32 ^ (u64)chain.mode << 24 ^ chain.kernel);
	probe = table_probe(&s->chain_index, hash);
	while ((i = table_next(&s->chain_index, &probe)) != TABLE_NONE) {
		const struct chartstacks_chain *c = &s->chains.at[i];

		if (c->n == chain.n && c->user == chain.user && c->kernel == chain.kernel &&
			c->mode == chain.mode && !memcmp(c->words, chain.words, chain.n * 8))
			return c->node;
	}
	chain.node = node_of(s, state, v, &lasts);
	/* A space that is still growing may have other code there later. */
	if (!lasts || s->chains.n >= CHAINS_MOST)
		return chain.node;
	chain.words = arena_copy(&s->arena, chain.words, chain.n * 8);
	table_add(&s->chain_index, hash, (u32)s->chains.n);
	vec_add(&s->chains, chain);
	return chain.node;
}
