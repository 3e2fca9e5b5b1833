#include "profile/code/typefiles.h"

static void open_types(struct typefile *t, struct resolver *resolver)
{
	const struct elf *image = NULL, *debug;

	resolver_load_lines(resolver, t->dso);
	debug = resolver_dwarf(resolver, t->dso, &image, &t->shift);
	if (!debug)
		err_set(&t->why, ERR_NOENT, "the file has no debug information (-g)");
	else
		datatypes_open(&t->types, image, debug, &t->why);
}

const struct typefile *typefiles_get(struct typefiles *f, struct resolver *resolver,
	const struct dso *dso)
{
	vec_each(t, &f->at)
		if (t->dso == dso)
			return t;
	vec_add(&f->at, ((struct typefile){.dso = dso}));
	open_types(&f->at.at[f->at.n - 1], resolver);
	return &f->at.at[f->at.n - 1];
}

void typefiles_fini(struct typefiles *f)
{
	vec_each(t, &f->at)
		datatypes_close(t->types);
	vec_fini(&f->at);
}
