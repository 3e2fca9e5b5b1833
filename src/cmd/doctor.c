#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/out.h"
#include "base/term.h"
#include "cmd/cmd.h"
#include "cmd/formrow.h"
#include "collect/known/checkup.h"
#include "view/pages/checkup_page.h"
#include "view/text/colour.h"

enum { COLUMNS_LEAST = 60, COLUMNS_MOST = 100, COLUMNS_USUAL = 80 };

struct doctor_options {
	struct form_choice forms;
	bool is_verbose;
	const char *root;
};

#define AT(member) offsetof(struct doctor_options, member)

static const struct opt options[] = {
	{'v', "verbose", OPT_BOOL, AT(is_verbose), NULL,
		"also show how to keep each change after a reboot, and the kernel's configuration"},
	{0, "json", OPT_BOOL, AT(forms.is_chosen[FORM_JSON]), NULL,
		"print JSON; pace-doctor(1) describes it"},
	FORM_ROW(struct doctor_options, forms),
	{0, "root", OPT_STR, AT(root), "DIR",
		"judge another machine by copies of its /proc, /sys and /boot below DIR"},
	{.kind = OPT_END},
};

static bool has_folder(const char *root, const char *name)
{
	char path[512];

	return (size_t)snprintf(path, sizeof(path), "%s/%s", root, name) < sizeof(path) &&
		access(path, X_OK) == 0;
}

static int check_words(int argc, char **argv, const struct doctor_options *o, struct err *err)
{
	struct stat st;

	if (argc)
		return err_set(err, ERR_INVAL, "unexpected argument '%s': doctor takes none",
			argv[0]);
	if (!o->root)
		return 0;
	if (stat(o->root, &st) || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_NOENT, "--root: '%s' is not a directory", o->root);
	if (!has_folder(o->root, "proc") && !has_folder(o->root, "sys"))
		return err_set(err, ERR_NOENT, "--root: '%s' contains neither 'proc' nor 'sys'",
			o->root);
	return 0;
}

static int run_doctor(int argc, char **argv)
{
	struct doctor_options o = {0};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse(&cmd_doctor, &o, 0, &argc, argv);
	bool is_terminal = term_is_terminal(STDOUT_FILENO);
	struct checkup_page page = {.columns = COLUMNS_USUAL,
		.has_colour = colour_is_on(COLOUR_AUTO, STDOUT_FILENO)};
	struct checkup checkup;
	struct err err;

	if (status >= 0)
		return status;
	if (check_words(argc, argv, &o, &err) || form_check(&o.forms, FORM_OF_NESTED, &err))
		return cmd_fail(&cmd_doctor, &err, EXIT_USAGE);
	if (is_terminal)
		page.columns = MIN(MAX(term_columns(STDOUT_FILENO), COLUMNS_LEAST), COLUMNS_MOST);
	page.is_verbose = o.is_verbose;
	checkup_run(&checkup, o.root);
	if (form_is_data(form_chosen(&o.forms)))
		checkup_page_rows(form_chosen(&o.forms), &checkup, &out);
	else
		checkup_page_add(&checkup, &page, &out.text);
	status = checkup_is_fit(&checkup) ? EXIT_OK : EXIT_FAILED;
	checkup_fini(&checkup);
	return out_close(&out, &err) ? cmd_fail(&cmd_doctor, &err, EXIT_FAILED) : status;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "show what can be measured here, and what would allow the rest",
	.usage = {"[OPTIONS]", NULL},
	.notes = "The exit status is 0 if you can measure your own programs, else 1.\n",
	.options = options,
	.is_paged = true,
	.run = run_doctor,
};
