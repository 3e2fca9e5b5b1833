/*
 * forms.h - the forms that tables and trees are shown in: one row of a table each.
 *
 * A command opens a page, hands over what it found out, table by table, and closes the page; it does not
 * know which form it is. Adding a form is a file with its functions, and its row in forms.c: --format and
 * what else needs a form's name follow.
 * In       tables and trees of cells (profile/rows/rowset.h)
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_FORMS_H
#define PACE_VIEW_FORMS_H

#include "profile/check/account.h"
#include "profile/rows/rowmaker.h"
#include "view/forms/text.h"

enum form_want {
	FORM_IS_FOR_PEOPLE = 1,  /* what a command has to say beside its tables is said, too */
	FORM_WANTS_TREE = 2,     /* the call tree as well as its rows */
	FORM_SKIPS_EMPTY = 4,    /* events without samples, if others have some */
	FORM_SPLITS_COLUMNS = 8, /* events that are columns for people have a table of their own */
	FORM_HAS_NO_TREE = 16,   /* it is of tables alone */
	FORM_WANTS_STACKS = 32, /* the tree of all stacks (view/rows/stackrows.h) instead of rows */
	FORM_IS_READ = 128,     /* people read its tables: rows and cells are those for them */
	FORM_NESTS = 64, /* it has a place for tables within rows, and for an object of them */
};

struct page {
	const struct form *form;
	struct out *out;
	const struct text_options *text; /* how call graphs are drawn, what is above rows */
	const char *separator; /* of form_separated; what has it in it gets a '.' instead */
	const char *list; /* of tables, for programs: "events"; NULL: the table is all there is */
	u64 n_lines;      /* of a table at most, if the form can tell the rest; 0: all */
	u32 n_parts;      /* of the table with the most; 0: none has several */
	unsigned width;   /* of the terminal; 0: it goes elsewhere */
	unsigned version; /* of the members that programs get */
	bool has_others;  /* there are more tables: each says what it is of */
	bool is_lines; /* rows come while it is measured: for programs each is on a line of its own */
	bool has_head; /* the form has told columns' names */
};

struct form {
	const char *name, *extension, *help;
	unsigned wants;
	void (*begin)(struct page *p);
	void (*table)(struct page *p,
		const struct rowset *r); /* or a cut tree, unless it has none */
	/* account: where the samples went; NULL: rows are not made of samples alone. */
	void (*end)(struct page *p, const struct account *account);
};

extern const struct form form_text, form_separated;

/* All that can be asked for by their names; closed by NULL. */
extern const struct form *const form_table[];

enum form_id { FORM_CSV, FORM_JSON, FORM_MARKDOWN, FORM_FOLDED, FORM_IDS };

/* What options say of it. */
struct form_choice {
	bool is_chosen[FORM_IDS]; /* by an option of its own */
	const char *separator;    /* of form_separated */
	const char *name;         /* --format; NULL: nothing */
};

/* What a command shows: of samples, rows of anything else, or tables within rows. */
enum form_source { FORM_OF_SAMPLES, FORM_OF_ROWS, FORM_OF_NESTED };

/* ERR_INVAL: several, a name that none has, or one that has no place for what is shown. */
int form_check(const struct form_choice *c, enum form_source of, struct err *err);
/* The one; text, if nothing was said. */
const struct form *form_chosen(const struct form_choice *c);

/* Whether it is for a program: nothing but data may be said. */
static inline bool form_is_data(const struct form *f)
{
	return !(f->wants & FORM_IS_FOR_PEOPLE);
}

/* A word of CSV, quoted where it must be, and the separator behind it. */
void form_csv_add(const char *word, const char *separator, struct str *text);

/* A row, with all that is below it, as members of an object of JSON, with a comma behind each. */
void form_json_members(const struct rowset *r, size_t row, struct out *out);

void page_begin(struct page *p);
void page_end(struct page *p, const struct account *account);

/* A table that is all there is. */
void form_show(const struct form *form, const struct rowmaker *m, struct out *out);

#endif
