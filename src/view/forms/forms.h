/*
 * forms.h - the forms of output for tables and trees: one row of a table for each.
 *
 * A command opens a page, hands over what it found out, table by table, and closes the page; it does not
 * know which form it is. A new form is a file with its functions and a row in forms.c: --format and
 * everything else that uses a form's name follows.
 * In       tables and trees of cells (profile/rows/rowset.h)
 * Out      text
 * Owns     nothing
 */
#ifndef PACE_VIEW_FORMS_H
#define PACE_VIEW_FORMS_H

#include "profile/chart/chart.h"
#include "profile/check/account.h"
#include "profile/rows/rowmaker.h"
#include "view/forms/text.h"
#include "view/svg/picture.h"

enum form_want {
	FORM_IS_FOR_PEOPLE = 1,  /* also print what a command says besides its tables */
	FORM_WANTS_TREE = 2,     /* wants the call tree as well as the rows */
	FORM_SKIPS_EMPTY = 4,    /* leave out events without samples, if others have some */
	FORM_SPLITS_COLUMNS = 8, /* events that are columns for people get a table of their own */
	FORM_HAS_NO_TREE = 16,   /* has tables only */
	FORM_WANTS_STACKS =
		32,      /* wants the tree of all stacks (view/rows/stackrows.h) instead of rows */
	FORM_NESTS = 64, /* has a place for tables within rows, and for an object of them */
	FORM_IS_READ = 128, /* people read its tables: rows and cells are those for people */
	/* with FORM_WANTS_STACKS: nodes have places (rowset.places), of functions or of addresses */
	FORM_WANTS_FUNCTIONS = 256,
	FORM_WANTS_ADDRESSES = 512,
	FORM_IS_BINARY = 1024,  /* nothing for a terminal */
	FORM_SHOWS_WALL = 2048, /* of stacks: of time on and off the CPU, too */
	FORM_WANTS_TIMES =
		4096, /* with FORM_WANTS_STACKS: also when samples were taken, if that is known (rowset.times) */
	FORM_SHOWS_SIDES = 32768,     /* of FORM_OF_SIDES: parts are pairs, the baseline second */
	FORM_WANTS_DOCUMENTS = 65536, /* page_about.documents */
	FORM_WANTS_CHART =
		16384, /* with FORM_WANTS_TIMES: also what CPUs and tasks did (page.chart) */
	FORM_WANTS_LINES = 8192, /* with FORM_WANTS_ADDRESSES: places know their lines of source */
};

struct page_fact {
	const char *name, *text;
};

/* Something that is larger than a fact: JSON for one section of form_html, by the section's name. */
struct page_document {
	const char *name;
	struct str text;
};

/* What a page says besides its tables, for forms that are read on their own. All texts are foreign. */
struct page_about {
	struct str title;
	VEC(struct page_fact) facts; /* what was recorded, where and how */
	struct str ledger;           /* what the result lacks: lines that begin with "# " */
	VEC(struct page_document) documents;
	u64 wall_offset_ns; /* what to add to times of samples for ns since 1970; 0: not known */
	u64 n_samples;
	/* Dropped by the kernel; records may be samples that are counted there, too. */
	u64 n_lost_samples, n_lost_records;
	struct arena arena; /* of the facts */
};

void page_about_add(struct page_about *a, const char *name,
	const char *text); /* copies text; NULL: nothing */
void page_about_fini(struct page_about *a);

struct page {
	const struct form *form;
	struct out *out;
	const struct text_options *text; /* how call graphs are drawn; what is above rows */
	const char *separator;           /* for form_separated; it becomes '.' inside of cells */
	const char *
		list; /* the name of the list of tables, for programs: "events"; NULL: the table is the whole document */
	u64 n_lines;      /* at most, of a table, if the form can sum up the rest; 0: all */
	u32 n_parts;      /* of the table with the most parts; 0: no table has several */
	unsigned width;   /* of the terminal; 0: output is not a terminal */
	unsigned version; /* of the members for programs */
	const struct page_about *about; /* NULL: not known */
	struct picture *picture;   /* of forms that are pictures; NULL: as they are by default */
	const struct chart *chart; /* of FORM_WANTS_CHART; NULL: not known */
	bool has_others;           /* there are more tables: each has to say what it is about */
	bool is_lines; /* rows come while measuring: programs get each on its own line */
	bool has_head; /* the names of columns were written */
};

struct form {
	const char *name, *extension, *help;
	unsigned wants;
	const char *(*missing)(
		void); /* why it cannot be written here, or NULL; NULL: it always can */
	u64 n_times;   /* with FORM_WANTS_TIMES: samples one by one, at most; 0: TIMELINE_MOST */
	void (*begin)(struct page *p);
	void (*table)(struct page *p,
		const struct rowset *r); /* or a cut tree, unless it has none */
	/* account: where the samples went; NULL: rows are not only made of samples. */
	void (*end)(struct page *p, const struct account *account);
};

extern const struct form form_text, form_separated, form_sqlite;

/* All forms that can be chosen by name; NULL-terminated. */
extern const struct form *const form_table[];

enum form_id { FORM_CSV, FORM_JSON, FORM_MARKDOWN, FORM_FOLDED, FORM_HTML, FORM_SVG, FORM_IDS };

/* The form that options choose. */
struct form_choice {
	bool is_chosen[FORM_IDS]; /* by its own option */
	const char *separator;    /* of form_separated */
	const char *name;         /* --format; NULL: not given */
};

/* What a command shows: samples, samples of several recordings, other rows, or tables within rows. */
enum form_source { FORM_OF_SAMPLES, FORM_OF_SIDES, FORM_OF_ROWS, FORM_OF_NESTED };

/* ERR_INVAL: several forms, an unknown name, or a form that cannot show this. */
int form_check(const struct form_choice *c, enum form_source of, struct err *err);
/* The chosen form; text by default. */
const struct form *form_chosen(const struct form_choice *c);

/* Whether the form is for a program: output must hold nothing but data. */
static inline bool form_is_data(const struct form *f)
{
	return !(f->wants & FORM_IS_FOR_PEOPLE);
}

/* Adds a row with everything below it as members of a JSON object, each with a comma after it. */
void form_json_members(const struct rowset *r, size_t row, struct out *out);

/* Adds a row, without what is below it, as a line that needs no head. */
void form_json_line(struct page *p, const struct rowset *r, size_t row);

void page_begin(struct page *p);
void page_end(struct page *p, const struct account *account);

/* Shows a table that is the whole document. */
void form_show(const struct form *form, const struct rowmaker *m, struct out *out);

#endif
