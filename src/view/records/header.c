#include "view/records/header.h"

#include <sys/stat.h>
#include <time.h>

#include "file/feature.h"

static void add_capture_time(const struct reader *r, struct str *text)
{
	struct stat st;
	char when[64];
	struct tm tm;

	if (fstat(r->parts.at[0].fd, &st) || !localtime_r(&st.st_mtime, &tm))
		return;
	strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
	str_addf(text, "# captured on    : %s\n", when);
}

/* Whether the header promises a section that is missing: the recorder was killed, or the file was cut. */
static bool is_missing(const struct reader *r, unsigned id)
{
	return layout_has_feature(&r->header, id) && feature_is_read(id) && !r->is_pipe_mode &&
		!r->sections[id].offset;
}

static void add_missing(const struct reader *r, struct str *text)
{
	const char *between = r->is_unfinished || r->n_behind
		? "# never written, because the recorder did not finish the file: "
		: "# not readable: ";

	for (unsigned id = 1; id < LAYOUT_FEATURE_BITS; id++) {
		if (!is_missing(r, id))
			continue;
		str_addf(text, "%s%s", between, feature_name(id));
		between = " ";
	}
	if (*between == ' ')
		str_addc(text, '\n');
}

void header_add_text(const struct reader *r, bool details, struct str *text)
{
	const struct layout_header *h = &r->header;

	str_add(text, "# ========\n");
	add_capture_time(r, text);
	str_addf(text,
		"# header version : %d\n# data offset    : %llu\n# data size      : %llu\n# feat offset    : %llu\n",
		h->magic == LAYOUT_MAGIC_2 ? 1 : 0, (unsigned long long)h->data.offset,
		(unsigned long long)h->data.size,
		(unsigned long long)(h->data.offset + h->data.size));
	for (unsigned id = 0; id < LAYOUT_FEATURE_BITS; id++)
		if (layout_has_feature(h, id) && !is_missing(r, id))
			feature_add_text(id, &r->info, details, text);
	add_missing(r, text);
	str_add(text, "# missing features: ");
	/* Sections of simpleperf and of pace are not part of perf's format, and cannot be missing. */
	for (unsigned id = 1; id < LAYOUT_SIMPLEPERF; id++) {
		if (!feature_name(id) || layout_has_feature(h, id))
			continue;
		str_addf(text, "%s ", feature_name(id));
	}
	str_add(text, "\n# ========\n#\n");
}
