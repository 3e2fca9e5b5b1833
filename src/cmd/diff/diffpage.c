#include "cmd/diff/diffpage.h"

#include <math.h>

#include "base/json.h"

void diffpage_open(struct diffpage *p, const struct delta_recording *recordings, size_t n)
{
	*p = (struct diffpage){.recordings = recordings, .n = n};
	str_addc(&p->text, '{');
	json_open(&p->text, "events", '[');
}

void diffpage_add_event(struct diffpage *p, const struct significance *s)
{
	str_addc(&p->text, '{');
	json_bool(&p->text, "has_variance", s->has_variance);
	json_key(&p->text, "factor");
	str_addf(&p->text, "%.4f,",
		s->has_variance && isfinite(s->factor) ? fmax(s->factor, 1) : 1);
	json_close(&p->text, '}');
}

void diffpage_close(struct diffpage *p, struct page_about *ret_about)
{
	json_close(&p->text, ']');
	json_end(&p->text, '}');
	for (size_t i = 0; i < p->n; i++) {
		const bool is_baseline = p->recordings[i].side == DELTA_A;

		page_about_add(ret_about, is_baseline ? "Baseline" : "Compared",
			p->recordings[i].name);
		if (ret_about->title.n)
			str_add(&ret_about->title,
				p->recordings[i - 1].side == DELTA_A && !is_baseline
					? " \xe2\x86\x92 "
					: ", ");
		str_add(&ret_about->title, p->recordings[i].name);
	}
	vec_add(&ret_about->documents, ((struct page_document){"sides", p->text}));
}
