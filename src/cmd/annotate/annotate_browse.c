#include "cmd/annotate/annotate_browse.h"

#include <unistd.h>

#include "base/pager.h"
#include "view/screen/codeview.h"

/* Options that say which part of the code of which functions is printed, and how. */
static bool is_for_text(const struct annotate_command *o)
{
	return o->is_text || o->shows_all || o->n_functions || o->percent_limit > 0 ||
		o->skips_missing || o->around != ANNOTATE_NOT_SAID || o->colour != COLOUR_AUTO;
}

int annotate_browse_check(const struct annotate_command *o, struct err *err)
{
	if (o->browser <= 0 || o->is_text)
		return 0;
	if (form_chosen(&o->forms) != &form_text || o->is_diff || o->has_types || o->is_dump)
		return err_set(err, ERR_INVAL,
			"--tui shows the code of one recording: --json, --diff, --data-type and -D print something else");
	if (is_for_text(o))
		return err_set(err, ERR_INVAL,
			"--tui shows all code of one function at a time: --all, --max-functions, --percent-limit, --skip-missing, --context and --stdio-color are for text");
	return 0;
}

bool annotate_browse_is_wanted(struct annotating *r, const struct out *out)
{
	const struct annotate_command *o = r->options;

	if (!o->browser || out->fd != STDOUT_FILENO || form_chosen(&o->forms) != &form_text ||
		is_for_text(o))
		return false;
	if (o->browser < 0)
		return !o->is_quiet && !o->is_strict && screen_is_default();
	if (screen_is_possible())
		return true;
	log_note(&r->log,
		"--tui needs a terminal on which it can place the cursor (TERM): this is plain text");
	return false;
}

int annotate_browse(struct annotating *r, u32 function, struct err *err)
{
	const struct codeview_source source = {.title = r->recorded.trace.session.reader.path,
		.annotation = &r->annotation,
		.resolver = &r->recorded.trace.resolver,
		.assembly = &r->assembly,
		.shown = &r->view};
	struct screen screen;

	pager_never();
	if (screen_open(&screen, NULL, err))
		return err->code;
	/* What is said meanwhile would stand on the screen. */
	log_hold(&r->log);
	codeview_run(&source, &(struct codeview_place){.function = function, .row = ASSEMBLY_NONE},
		&screen);
	screen_close(&screen);
	log_release(&r->log);
	return 0;
}
