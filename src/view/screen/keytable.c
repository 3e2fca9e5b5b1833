#include "view/screen/keytable.h"

const void *keytable_find(const struct keytable *t, u8 modes, u32 key)
{
	for (size_t i = 0; key && i < t->n; i++) {
		const struct keytable_row *row = keytable_at(t, i);

		if (row->modes & modes && (row->key == key || row->other == key))
			return row;
	}
	return NULL;
}

void keytable_add_line(const char *name, const char *what, const char *where, struct str *text)
{
	enum { NAME = 14 };
	const size_t start = text->n;

	str_add(text, name);
	str_pad_right(text, start, NAME);
	str_addf(text, "%s%s\n", what, where);
}

static const char *where_of(const struct keytable *t, u8 modes)
{
	for (const struct keytable_mode *m = t->modes; m && m->modes; m++)
		if (m->modes == modes)
			return m->where;
	return "";
}

void keytable_add_help(const struct keytable *t, struct str *text)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct keytable_row *row = keytable_at(t, i);

		keytable_add_line(row->name, row->what, where_of(t, row->modes), text);
	}
}
