#include "profile/code/rowtypes.h"

void rowtypes_init(struct rowtypes *t, const struct assembly *a, struct resolver *resolver)
{
	const struct dso *dso = resolver->machine->dsos.at.at[a->dso->source];
	const struct elf *image = NULL, *debug;
	u64 shift, *pcs;

	*t = (struct rowtypes){0};
	if (a->no_code.code) {
		t->why = a->no_code;
		return;
	}
	resolver_load_lines(resolver, dso);
	debug = resolver_dwarf(resolver, dso, &image, &shift);
	if (!debug) {
		err_set(&t->why, ERR_NOENT, "the file has no debug information (-g)");
		return;
	}
	if (datatypes_open(&t->types, image, debug, &t->why))
		return;
	pcs = mem_alloc((a->rows.n + 1) * sizeof(*pcs));
	t->answers = mem_zalloc((a->rows.n + 1) * sizeof(*t->answers));
	for (size_t i = 0; i < a->rows.n; i++)
		pcs[i] = a->rows.at[i].va - a->va + a->symbol->start + shift;
	datatypes_find(t->types, pcs, a->rows.n, t->answers, NULL);
	mem_free(pcs);
}

void rowtypes_fini(struct rowtypes *t)
{
	datatypes_close(t->types);
	mem_free(t->answers);
	*t = (struct rowtypes){0};
}

bool rowtypes_add(const struct rowtypes *t, size_t row, struct str *text)
{
	const struct datatype_answer *a = t->answers ? &t->answers[row] : NULL;

	if (!a || a->outcome != DATATYPE_FOUND || !*a->type)
		return false;
	str_add_safe(text, a->type, strlen(a->type));
	if (*a->member) {
		str_addc(text, '.');
		str_add_safe(text, a->member, strlen(a->member));
	}
	return true;
}
