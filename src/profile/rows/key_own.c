#include "profile/rows/key_own.h"

#include <string.h>

const struct key *key_own_find(const struct key_own *o, const char *name, size_t n)
{
	for (size_t i = 0; i < o->n; i++)
		if (strlen(o->names[i]) == n && !memcmp(o->names[i], name, n))
			return &o->keys[i];
	return NULL;
}

char *key_own_name(struct key_own *o, const char *name, size_t n)
{
	if (o->n == LABEL_FIELDS || !n || n >= sizeof(o->names[0]))
		return NULL;
	memcpy(o->names[o->n], name, n);
	o->names[o->n][n] = '\0';
	return o->names[o->n];
}

struct key *key_own_add(struct key_own *o, const char *field)
{
	struct key *key = &o->keys[o->n];

	*key = *key_find("trace", 5);
	key->name = o->names[o->n];
	key->alias = NULL;
	key->title = field;
	key->help = "field of a tracepoint";
	key->label = (enum profile_label)(LABEL_FIELD + o->n);
	o->fields[o->n++] = field;
	return key;
}
