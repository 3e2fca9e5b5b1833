#include "unit/keyscripts.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

void keyscripts_say(const struct keyscript *script)
{
	printf("# key %x in mode %d after '%s'\n", script->key, script->mode, script->before);
	fflush(stdout);
}

void check_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		test_failed(__FILE__, __LINE__, "\"%s\" holds \"%s\"", text, part);
}

void keyscripts_judge(const struct keyscript *script, const char *shown)
{
	CHECK_HAS(shown, script->shows + keyscripts_is_anywhere(script));
	if (script->lacks)
		check_lacks(shown, script->lacks);
}

static bool is_pressed(const struct keytable_row *row, u32 key, const struct keyscript *scripts,
	size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (scripts[i].key == key && scripts[i].mode & row->modes)
			return true;
	return false;
}

static bool means_both(const struct keytable_row *a, const struct keytable_row *b)
{
	return a->modes & b->modes &&
		(a->key == b->key || a->key == b->other ||
			(a->other && (a->other == b->key || a->other == b->other)));
}

void keyscripts_check(const struct keytable *keys, const struct keyscript *scripts, size_t n,
	const char *help)
{
	for (size_t i = 0; i < keys->n; i++) {
		const struct keytable_row *row = keytable_at(keys, i);

		if (!is_pressed(row, row->key, scripts, n) ||
			(row->other && !is_pressed(row, row->other, scripts, n)))
			test_failed(__FILE__, __LINE__, "no script presses '%s' (%s)", row->name,
				row->what);
		CHECK_HAS(help, row->name);
		CHECK_HAS(help, row->what);
		for (size_t j = 0; j < i; j++)
			CHECK(!means_both(row, keytable_at(keys, j)));
	}
	for (size_t i = 0; i < n; i++)
		if (!keytable_find(keys, scripts[i].mode, scripts[i].key))
			test_failed(__FILE__, __LINE__, "key %x means nothing in mode %d",
				scripts[i].key, scripts[i].mode);
}
