#include "view/stat/threadcounts_text.h"

#include <stdio.h>
#include <string.h>

enum { NUMBER_WIDTH = 7 };

/* The width of each event's column; 0: it has no counts. The caller frees it. */
static int *find_widths(const struct threadcounts *t, const struct session *s)
{
	int *widths = mem_zalloc((s->reader.events.n + 1) * sizeof(*widths));

	vec_each(c, &t->at) {
		int width = snprintf(NULL, 0, "%llu", (unsigned long long)c->n);

		width = MAX(width, (int)strlen(s->reader.events.at[c->event].name));
		widths[c->event] = MAX(widths[c->event], width);
	}
	return widths;
}

static void add_heading(const struct session *s, const int *widths, struct str *text)
{
	str_addf(text, "#\n# %*s %*s", NUMBER_WIDTH - 2, "PID", NUMBER_WIDTH - 1, "TID");
	vec_each(e, &s->reader.events) {
		int width = widths[e - s->reader.events.at];

		if (!width)
			continue;
		str_addf(text, "  %*s", width - (int)strlen(e->name), "");
		str_add_safe(text, e->name, strlen(e->name));
	}
	str_add(text, "  Command\n");
}

void threadcounts_add_text(const struct threadcounts *t, const struct session *s,
	const struct machine *m, struct str *text)
{
	int *widths = find_widths(t, s);
	struct intern strings = {0};

	add_heading(s, widths, text);
	for (size_t i = 0; i < t->at.n;) {
		const struct threadcount *first = &t->at.at[i];
		struct thread_state state;

		machine_state_at(m, first->pid, first->tid, first->time, &strings, &state);
		str_addf(text, "%*u %*u", NUMBER_WIDTH, first->pid, NUMBER_WIDTH - 1, first->tid);
		for (u32 event = 0; event < s->reader.events.n; event++) {
			const struct threadcount *c = &t->at.at[i];

			if (i < t->at.n && c->pid == first->pid && c->tid == first->tid &&
				c->event == event)
				str_addf(text, "  %*llu", widths[event],
					(unsigned long long)t->at.at[i++].n);
			else if (widths[event])
				str_addf(text, "  %*s", widths[event], "-");
		}
		str_add(text, "  ");
		str_add_safe(text, state.comm, strlen(state.comm));
		str_add(text, "\n");
	}
	str_add(text, "\n\n");
	mem_free(widths);
	intern_fini(&strings);
}
