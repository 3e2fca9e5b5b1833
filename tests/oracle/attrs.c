/* attrs SYSFS EVENT...: the attrs that each text becomes, as `perf stat -vv` shows them. */
#include <stdio.h>

#include "event/parse.h"

static int show(const char *text, const struct parse_env *env)
{
	struct event_list events = {0};
	struct err err;
	int r = parse_events(text, env, &events, &err);

	printf("%s\n", text);
	if (r)
		printf("\terror: %s\n", err.msg);
	vec_each(e, &events) {
		struct str attr = {0};

		if (r)
			break;
		attr_add_text(&e->attr, "=", &attr);
		printf("\t%s\t%s\n", e->name, str_text(&attr));
		str_fini(&attr);
	}
	event_list_fini(&events);
	return r;
}

int main(int argc, char **argv)
{
	const struct parse_env env = {.sysfs = argc > 1 ? argv[1] : "/sys"};

	for (int i = 2; i < argc; i++)
		show(argv[i], &env);
	return 0;
}
