#include "view/forms/forms.h"

#include <string.h>

/* A row a form: form_x, in a file of its own. */
#define FORMS(X)      \
	X(text)       \
	X(csv)        \
	X(json)       \
	X(markdown)   \
	X(folded)     \
	X(speedscope) \
	X(firefox)    \
	X(chrome)     \
	X(pprof)      \
	X(callgrind)  \
	X(otlp)       \
	X(sqlite)     \
	X(ndjson)     \
	X(html)       \
	X(svg)

#define DECLARE(name) extern const struct form form_##name;
FORMS(DECLARE)

#define ROW(name) &form_##name,
const struct form *const form_table[] = {FORMS(ROW) NULL};

static const struct form *find(const char *name)
{
	for (size_t i = 0; form_table[i]; i++)
		if (!strcmp(form_table[i]->name, name))
			return form_table[i];
	return NULL;
}

static int unknown_name(const char *name, struct err *err)
{
	struct str known = {0};

	for (size_t i = 0; form_table[i]; i++)
		str_addf(&known, "%s%s", i ? ", " : "", form_table[i]->name);
	err_set(err, ERR_INVAL, "--format: '%.60s' is none of %s", name, str_text(&known));
	str_fini(&known);
	return err->code;
}

int form_check(const struct form_choice *c, enum form_source of, struct err *err)
{
	unsigned n = (c->name != NULL) + (c->separator != NULL), wants;
	const char *missing;

	for (size_t i = 0; i < FORM_IDS; i++)
		n += c->is_chosen[i];
	if (n > 1)
		return err_set(err, ERR_INVAL, "--json, --csv, --md and -t are forms: choose one");
	if (c->separator && !*c->separator)
		return err_set(err, ERR_INVAL, "-t: the separator is empty");
	if (c->name && !find(c->name))
		return unknown_name(c->name, err);
	missing = form_chosen(c)->missing ? form_chosen(c)->missing() : NULL;
	if (missing)
		return err_set(err, ERR_UNSUPPORTED, "--format %s: %s", form_chosen(c)->name,
			missing);
	wants = form_chosen(c)->wants;
	if (of == FORM_OF_SIDES && wants & (FORM_WANTS_FUNCTIONS | FORM_WANTS_ADDRESSES) &&
		!(wants & FORM_SHOWS_SIDES && c->is_chosen[FORM_HTML]))
		return err_set(err, ERR_INVAL,
			"--format: '%s' shows one recording; folded shows both sides, and so does 'pace flame'",
			form_chosen(c)->name);
	if (of != FORM_OF_SAMPLES && of != FORM_OF_SIDES && wants & FORM_WANTS_STACKS)
		return err_set(err, ERR_INVAL,
			"--format: '%s' shows stacks, and there are none here",
			form_chosen(c)->name);
	if (of == FORM_OF_NESTED && !(wants & (FORM_IS_FOR_PEOPLE | FORM_NESTS)))
		return err_set(err, ERR_INVAL,
			"--format: '%s' has no place for tables within rows; text and json have",
			form_chosen(c)->name);
	return 0;
}

const struct form *form_chosen(const struct form_choice *c)
{
	static const struct form *const by_option[] = {[FORM_CSV] = &form_csv,
		[FORM_JSON] = &form_json,
		[FORM_MARKDOWN] = &form_markdown,
		[FORM_FOLDED] = &form_folded,
		[FORM_HTML] = &form_html,
		[FORM_SVG] = &form_svg};
	const struct form *named = c->name ? find(c->name) : NULL;

	for (size_t i = 0; i < FORM_IDS; i++)
		if (c->is_chosen[i])
			return by_option[i];
	return c->separator ? &form_separated : named ? named : &form_text;
}

void page_begin(struct page *p)
{
	if (p->form->begin)
		p->form->begin(p);
}

void page_end(struct page *p, const struct account *account)
{
	if (p->form->end)
		p->form->end(p, account);
}

void page_about_add(struct page_about *a, const char *name, const char *text)
{
	if (text && *text)
		vec_add(&a->facts,
			((struct page_fact){name, arena_strdup(&a->arena, text, strlen(text))}));
}

void page_about_fini(struct page_about *a)
{
	str_fini(&a->title);
	str_fini(&a->ledger);
	vec_fini(&a->facts);
	vec_each(document, &a->documents)
		str_fini(&document->text);
	vec_fini(&a->documents);
	arena_fini(&a->arena);
}

void form_show(const struct form *form, const struct rowmaker *m, struct out *out)
{
	const struct rowset table = rowmaker_table(m);
	struct page p = {.form = form, .out = out};

	page_begin(&p);
	form->table(&p, &table);
	page_end(&p, NULL);
}
