#include "event/maker.h"

#include <string.h>

int maker_fail(struct maker *m, struct word w, int code, const char *message)
{
	return syntax_fail(m->text, w.at, code, message, m->err);
}

struct event *maker_add(struct maker *m, const struct event_attr *attr, const struct node *node)
{
	char name[512];

	return event_add(m->events, attr,
		syntax_copy((struct word){node->start, node->end - node->start}, name,
			sizeof(name)));
}

const char *maker_strdup(struct maker *m, const char *text, size_t n)
{
	return arena_strdup(&m->events->arena, text, n);
}
