/*
 * key_own.h - keys that only one input has: fields of tracepoints, labels of profiles from elsewhere.
 *
 * In       names, as words of --sort have them
 * Out      keys, whose labels are LABEL_FIELD + i; the names by which gathering finds them
 * Owns     the keys and their names: it must stay where it is
 */
#ifndef PACE_PROFILE_KEY_OWN_H
#define PACE_PROFILE_KEY_OWN_H

#include "profile/rows/key.h"

struct key_own {
	struct key keys[LABEL_FIELDS];
	char names[LABEL_FIELDS][64];
	const char *fields[LABEL_FIELDS]; /* what gathering looks for */
	size_t n;
};

/* The key of that name, if it was added. */
const struct key *key_own_find(const struct key_own *o, const char *name, size_t n);

/* Copies a name into the place of the next key; NULL: there are too many, or it is too long. */
char *key_own_name(struct key_own *o, const char *name, size_t n);

/* Adds the key whose name was copied last. `field`: a part of that name. */
struct key *key_own_add(struct key_own *o, const char *field);

#endif
