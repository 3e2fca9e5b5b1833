#include "view/pages/checkup_page.h"

#include <stdio.h>

#include "view/text/colour.h"

enum { SCHEMA_VERSION = 1, LABEL_WIDTH = 22, COMMANDS_MAX = TRIAL_COUNT, CAUSES_MAX = 2 };

static const char *const group_titles[] = {
	[FINDING_MACHINE] = "This machine",
	[FINDING_RIGHTS] = "Rights",
	[FINDING_LIMITS] = "Limits",
	[FINDING_KERNEL] = "Kernel",
};

static const char *const option_states[] = {
	[KCONFIG_UNKNOWN] = "unknown",
	[KCONFIG_MISSING] = "missing",
	[KCONFIG_MODULE] = "module",
	[KCONFIG_BUILT_IN] = "built in",
};

/* Something that has to be done once, for all trials that it would change. */
struct change {
	struct str text;
	const struct remedy *remedy;
	const char *why[CAUSES_MAX]; /* distinct causes; further ones would repeat them */
	size_t n_why;
};

struct changes {
	struct change at[COMMANDS_MAX];
	size_t n;
	size_t of[TRIAL_COUNT]; /* the change that a trial needs, from 1; 0: none */
};

static void add_cause(struct change *change, const char *why)
{
	for (size_t i = 0; i < change->n_why; i++)
		if (!strcmp(change->why[i], why))
			return;
	if (change->n_why < CAUSES_MAX)
		change->why[change->n_why++] = why;
}

/* Trials that need the same command or, without a command, have the same cause share a number. */
static void sort_changes(const struct checkup *c, struct changes *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < TRIAL_COUNT; i++) {
		const struct trial *t = &c->trials[i];
		struct str text = {0};
		size_t k = 0;

		if (t->works)
			continue;
		remedy_add(&t->remedy, &c->privilege.site, &text);
		while (k < ret->n &&
			(text.n ? strcmp(str_text(&ret->at[k].text), str_text(&text))
				: ret->at[k].text.n || strcmp(ret->at[k].why[0], t->why)))
			k++;
		if (k == ret->n) {
			ret->at[ret->n++] = (struct change){.text = text, .remedy = &t->remedy};
			text = (struct str){0};
		}
		add_cause(&ret->at[k], t->why);
		ret->of[i] = k + 1;
		str_fini(&text);
	}
}

static void fini_changes(struct changes *changes)
{
	for (size_t i = 0; i < changes->n; i++)
		str_fini(&changes->at[i].text);
}

/* ---- the page ---- */

static void add_colour(const struct checkup_page *page, const char *code, struct str *out)
{
	if (page->has_colour)
		str_add(out, code);
}

/*
 * Adds text broken between words. All lines but the first begin with `indent` spaces; the first has `at` columns
 * already. Commands are not broken, so that they can be copied.
 */
static void add_wrapped(const struct checkup_page *page, const char *text, size_t at, size_t indent,
	struct str *out)
{
	bool is_first = true;

	for (const char *word = text; *word;) {
		size_t n = strcspn(word, " ");

		if (!is_first && at + 1 + n > page->columns) {
			str_addc(out, '\n');
			str_fill(out, ' ', indent);
			at = indent;
		} else if (!is_first) {
			str_addc(out, ' ');
			at++;
		}
		at += str_add_safe(out, word, n);
		word += n + strspn(word + n, " ");
		is_first = false;
	}
	str_addc(out, '\n');
}

static void add_title(const struct checkup_page *page, const char *title, struct str *out)
{
	add_colour(page, COLOUR_BOLD, out);
	str_addf(out, "%s", title);
	add_colour(page, COLOUR_END, out);
	str_addc(out, '\n');
}

static void add_verdict(const struct checkup *c, const struct checkup_page *page, struct str *out)
{
	char text[300];
	size_t n_works = 0;

	for (size_t i = 0; i < TRIAL_COUNT; i++)
		n_works += c->trials[i].works;
	snprintf(text, sizeof(text), "%s: %s; %zu of %d things work%s",
		c->privilege.site.root ? c->privilege.site.root : "pace doctor",
		checkup_is_fit(c) ? "your own programs can be measured"
				  : "your own programs cannot be measured",
		n_works, TRIAL_COUNT,
		c->privilege.site.root ? " according to the copied files (nothing is tried)" : "");
	add_wrapped(page, text, 0, 2, out);
}

static void add_trials(const struct checkup *c, const struct checkup_page *page,
	const struct changes *changes, struct str *out)
{
	add_title(page, c->privilege.site.root ? "What should work" : "What works now", out);
	for (size_t i = 0; i < TRIAL_COUNT; i++) {
		const struct trial *t = &c->trials[i];
		size_t start;

		str_add(out, "  ");
		add_colour(page, t->works ? COLOUR_GREEN : COLOUR_RED, out);
		str_add(out, t->works ? "ok" : "no");
		add_colour(page, COLOUR_END, out);
		start = out->n;
		str_addf(out, "  %s", t->what);
		if (t->detail[0])
			str_addf(out, " (%s)", t->detail);
		if (changes->of[i]) {
			str_fill(out, ' ', MAX(start + 54, out->n + 1) - out->n);
			str_addf(out, "[%zu]", changes->of[i]);
		}
		str_addc(out, '\n');
	}
}

/* Adds a command on its own line, or advice in words. */
static void add_remedy(const struct remedy *r, const struct checkup *c,
	const struct checkup_page *page, size_t indent, struct str *out)
{
	const struct site *site = &c->privilege.site;
	struct str text = {0};

	remedy_add(r, site, &text);
	if (!text.n)
		return;
	str_fill(out, ' ', indent);
	if (remedy_is_command(r, site)) {
		add_colour(page, COLOUR_BOLD, out);
		str_addf(out, "%s %s", remedy_is_outside(r, site) ? "host$" : "$", str_text(&text));
		add_colour(page, COLOUR_END, out);
		str_addc(out, '\n');
	} else {
		str_add(out, "> ");
		add_wrapped(page, str_text(&text), indent + 2, indent + 2, out);
	}
	str_clear(&text);
	remedy_add_lasting(r, site, &text);
	if (page->is_verbose && text.n) {
		str_fill(out, ' ', indent);
		str_addf(out, "permanently: %s\n", str_text(&text));
	}
	str_fini(&text);
}

/* If settings of the kernel would have to change for all programs: what does the same for pace alone. */
static bool for_pace_alone(const struct checkup *c, struct remedy *ret)
{
	const struct site *site = &c->privilege.site;
	size_t n = 0;

	for (size_t i = 0; i < TRIAL_COUNT; i++) {
		enum remedy_kind kind = c->trials[i].remedy.kind;

		n += kind == REMEDY_LEVEL || kind == REMEDY_KPTR_AND_LEVEL;
	}
	*ret = (struct remedy){REMEDY_CAPABILITIES, .capabilities = REMEDY_PERFMON | REMEDY_SYSLOG};
	return n && !site->container && !site->in_user_namespace;
}

static void add_changes(const struct checkup *c, const struct checkup_page *page,
	const struct changes *changes, struct str *out)
{
	struct remedy alone;

	if (!changes->n)
		return;
	str_addc(out, '\n');
	add_title(page, "What would change this", out);
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->at[i];
		struct str why = {0};

		for (size_t k = 0; k < change->n_why; k++)
			str_addf(&why, "%s%s", k ? "; " : "", change->why[k]);
		str_addf(out, " [%zu] ", i + 1);
		add_wrapped(page, str_text(&why), 5, 5, out);
		add_remedy(change->remedy, c, page, 5, out);
		str_fini(&why);
	}
	if (for_pace_alone(c, &alone)) {
		str_add(out,
			"  or, instead of changing kernel.* for all programs, for pace alone:\n");
		add_remedy(&alone, c, page, 5, out);
	}
}

/* Whether the page shows the remedy already. */
static bool is_said(const struct checkup *c, const struct remedy *r, const struct changes *changes)
{
	struct str text = {0};
	bool r_said = false;

	remedy_add(r, &c->privilege.site, &text);
	for (size_t i = 0; i < changes->n && !r_said; i++)
		r_said = strstr(str_text(&changes->at[i].text), str_text(&text)) != NULL;
	str_fini(&text);
	return r_said;
}

static void add_options(const struct checkup *c, struct str *out)
{
	for (size_t i = 0; i < c->n_options; i++)
		str_addf(out, "    %-34s %-9s %s\n", c->options[i].name,
			option_states[c->options[i].state], c->options[i].gives);
}

static void add_findings(const struct checkup *c, const struct checkup_page *page,
	const struct changes *changes, struct str *out)
{
	int group = -1;

	vec_each(f, &c->findings) {
		if ((int)f->group != group) {
			if (group < 0)
				str_addc(out, '\n');
			add_title(page, group_titles[f->group], out);
			group = f->group;
		}
		str_addf(out, "%s%-*s", f->state == FINDING_LIMITS_US ? "! " : "  ",
			LABEL_WIDTH - 2, f->label);
		add_wrapped(page, f->text, LABEL_WIDTH, LABEL_WIDTH, out);
		if (f->remedy.kind && !is_said(c, &f->remedy, changes))
			add_remedy(&f->remedy, c, page, LABEL_WIDTH, out);
		if (page->is_verbose && !strcmp(f->key, "config"))
			add_options(c, out);
	}
}

void checkup_page_add(const struct checkup *c, const struct checkup_page *page, struct str *out)
{
	struct changes changes;

	sort_changes(c, &changes);
	add_verdict(c, page, out);
	str_addc(out, '\n');
	add_trials(c, page, &changes, out);
	add_changes(c, page, &changes, out);
	add_findings(c, page, &changes, out);
	fini_changes(&changes);
}

/* ---- rows ---- */

static void add_remedy_cells(struct rowmaker *m, const char *name, const struct remedy *r,
	const struct site *site)
{
	struct str text = {0}, lasting = {0};

	remedy_add(r, site, &text);
	remedy_add_lasting(r, site, &lasting);
	if (text.n) {
		m = rowmaker_below(m, name, ROWMAKER_OBJECT);
		rowmaker_text(m, remedy_is_command(r, site) ? "command" : "advice",
			rowmaker_copy(m, str_text(&text)));
		rowmaker_bool(m, "on_host", remedy_is_outside(r, site));
		rowmaker_text(m, "lasting",
			lasting.n ? rowmaker_copy(m, str_text(&lasting)) : NULL);
	} else {
		rowmaker_text(m, name, NULL);
	}
	str_fini(&text);
	str_fini(&lasting);
}

static void add_trial_rows(struct rowmaker *m, const struct checkup *c)
{
	for (size_t i = 0; i < TRIAL_COUNT; i++) {
		const struct trial *t = &c->trials[i];

		rowmaker_row(m);
		rowmaker_text(m, "key", t->key);
		rowmaker_text(m, "what", t->what);
		rowmaker_bool(m, "works", t->works);
		rowmaker_text(m, "detail", t->detail[0] ? t->detail : NULL);
		rowmaker_text(m, "reason", t->works ? NULL : t->why);
		add_remedy_cells(m, "remedy", &t->remedy, &c->privilege.site);
	}
}

static void add_fact_cells(struct rowmaker *facts, const struct checkup *c)
{
	static const char *const states[] = {"fine", "limits", "unknown"};

	vec_each(f, &c->findings) {
		struct rowmaker *m = rowmaker_below(facts, f->key, ROWMAKER_OBJECT);

		rowmaker_text(m, "state", states[f->state]);
		if (f->has_value)
			cell_number(rowmaker_add(m, "value"), CELL_SIGNED, (u64)f->value);
		else
			rowmaker_text(m, "value", NULL);
		rowmaker_text(m, "text", f->text);
		add_remedy_cells(m, "remedy", &f->remedy, &c->privilege.site);
	}
}

void checkup_page_rows(const struct form *form, const struct checkup *c, struct out *out)
{
	struct rowmaker document = {.shape = ROWMAKER_OBJECT}, *config;
	struct remedy alone;

	rowmaker_row(&document);
	rowmaker_text(&document, "schema", "pace-doctor");
	rowmaker_u64(&document, "version", SCHEMA_VERSION);
	rowmaker_text(&document, "pace", PACE_VERSION);
	rowmaker_bool(&document, "tried", !c->privilege.site.root);
	rowmaker_bool(&document, "fit", checkup_is_fit(c));
	add_trial_rows(rowmaker_below(&document, "abilities", ROWMAKER_ROWS), c);
	if (!for_pace_alone(c, &alone))
		alone.kind = REMEDY_NONE;
	add_remedy_cells(&document, "for_pace_alone", &alone, &c->privilege.site);
	add_fact_cells(rowmaker_below(&document, "facts", ROWMAKER_OBJECT), c);
	config = rowmaker_below(&document, "config", ROWMAKER_OBJECT);
	for (size_t i = 0; i < c->n_options; i++)
		rowmaker_text(config, c->options[i].name, option_states[c->options[i].state]);
	form_show(form, &document, out);
	rowmaker_fini(&document);
}
