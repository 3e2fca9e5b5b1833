#include "profile/code/rowtypes.h"

static void to_rows(struct datatype_answer *answers, size_t n, u64 shift)
{
	for (size_t i = 0; i < n; i++)
		answers[i].pc -= answers[i].pc ? shift : 0;
}

void rowtypes_init(struct rowtypes *t, const struct assembly *a, struct resolver *resolver,
	struct typefiles *files)
{
	const struct dso *dso = resolver->machine->dsos.at.at[a->dso->source];
	const struct typefile *file;
	u64 shift, *pcs;

	*t = (struct rowtypes){0};
	if (a->no_code.code) {
		t->why = a->no_code;
		return;
	}
	file = typefiles_get(files, resolver, dso);
	if (!file->types) {
		t->why = file->why;
		return;
	}
	shift = a->symbol->start - a->va + file->shift;
	pcs = mem_alloc((a->rows.n + 1) * sizeof(*pcs));
	t->answers = mem_zalloc((a->rows.n + 1) * sizeof(*t->answers));
	t->befores = mem_zalloc((a->rows.n + 1) * sizeof(*t->befores));
	for (size_t i = 0; i < a->rows.n; i++)
		pcs[i] = a->rows.at[i].va + shift;
	datatypes_find(file->types, pcs, a->rows.n, t->answers, t->befores);
	to_rows(t->answers, a->rows.n, shift);
	to_rows(t->befores, a->rows.n, shift);
	mem_free(pcs);
}

void rowtypes_fini(struct rowtypes *t)
{
	mem_free(t->answers);
	mem_free(t->befores);
	*t = (struct rowtypes){0};
}

const struct datatype_answer *rowtypes_found(const struct rowtypes *t, size_t row)
{
	const struct datatype_answer *a = t->answers ? &t->answers[row] : NULL;

	return a && a->outcome == DATATYPE_FOUND && *a->type ? a : NULL;
}

bool rowtypes_add(const struct rowtypes *t, size_t row, struct str *text)
{
	const struct datatype_answer *a = rowtypes_found(t, row);

	if (!a)
		return false;
	str_add_safe(text, a->type, strlen(a->type));
	if (*a->member) {
		str_addc(text, '.');
		str_add_safe(text, a->member, strlen(a->member));
	}
	return true;
}
