#include "profile/rows/key.h"

#include <string.h>

#include "base/nearest.h"
#include "base/num.h"
#include "profile/rows/key_family.h"

/* In the order of their help. key_parts has names that others have, too: they come last. */
static const struct key_family *const families[] = {&key_figures, &key_walls, &key_contexts,
	&key_places, &key_types, &key_branches, &key_memory, &key_parts};

const struct key *key_at(size_t i)
{
	for (size_t f = 0; f < ARRAY_SIZE(families); i -= families[f++]->n)
		if (i < families[f]->n)
			return &families[f]->keys[i];
	return NULL;
}

void key_add_help(struct str *text)
{
	enum { MARGIN = 32 };

	for (size_t f = 0; f < ARRAY_SIZE(families); f++) {
		str_addf(text, "%sKeys: %s\n", f ? "\n" : "", families[f]->title);
		for (size_t i = 0; i < families[f]->n; i++) {
			const struct key *key = &families[f]->keys[i];
			const size_t start = text->n;

			str_addf(text, "  %s%s%s", key->name, key->alias ? ", " : "",
				key->alias ? key->alias : "");
			str_pad_right(text, start, MARGIN);
			str_addf(text, "  %s\n", key->help);
		}
	}
}

static bool is_word(const char *name, const char *text, size_t n)
{
	return name && !strncmp(name, text, n) && !name[n];
}

static bool is_named(const struct key *key, const char *name, size_t n)
{
	return is_word(key->name, name, n) || is_word(key->alias, name, n);
}

const struct key *key_find(const char *name, size_t n)
{
	const struct key *key;

	for (size_t i = 0; (key = key_at(i)) != NULL; i++)
		if (!key->has_parts && is_named(key, name, n))
			return key;
	return NULL;
}

const char *key_field_average(const char *name, size_t n)
{
	static const char *const averages[][2] = {{"weight", "weight1"}, {"ins_lat", "weight2"},
		{"retire_lat", "weight3"}, {"p_stage_cyc", "weight3"}};

	for (size_t i = 0; i < ARRAY_SIZE(averages); i++)
		if (is_word(averages[i][0], name, n))
			return averages[i][1];
	return NULL;
}

const struct key *key_find_field(const char *name, size_t n)
{
	const char *average = key_field_average(name, n);

	if (average)
		return key_find(average, strlen(average));
	for (size_t i = 0; i < key_parts.n; i++)
		if (is_named(&key_parts.keys[i], name, n))
			return &key_parts.keys[i];
	return key_find(name, n);
}

void key_cell(const struct key *key, const struct hist *h, const struct hist_entry *e, u32 event,
	struct str *room, struct cell *ret)
{
	const struct key_value v = {h, e, event,
		key->label && !key->is_value ? hist_label(h, e->group, key) : 0, room, key};

	*ret = (struct cell){0};
	str_cut(room, 0);
	key->cell(&v, ret);
}

void key_cell_decimal(const struct key_value *v, struct cell *ret)
{
	const char *number, *digits, *end;
	u64 n;

	key_cell_text_or_not(v, ret);
	if (ret->kind != CELL_TEXT)
		return;
	number = ret->text;
	end = digits = number + (*number == '-');
	/* A number with leading zeros is text. */
	if ((*digits == '0' && digits[1]) || !num_scan(&end, 10, &n) || *end ||
		(digits > number && n > INT64_MAX))
		return;
	cell_number(ret, digits > number ? CELL_SIGNED : CELL_COUNT, digits > number ? -n : n);
}

u64 key_labels(const struct key *const *keys, size_t n)
{
	u64 labels = 0;

	for (size_t i = 0; i < n; i++)
		labels |= LABEL_BIT(keys[i]->label);
	return labels & ~LABEL_BIT(LABEL_NONE);
}

enum naming_source key_naming_source(const struct key *const *keys, size_t n)
{
	enum naming_source source = NAMING_NO_SOURCE;

	for (size_t i = 0; i < n; i++) {
		if (keys[i]->frame == KEY_LINE || keys[i]->is_of_line)
			return NAMING_LINES;
		if (keys[i]->frame == KEY_FILE)
			source = NAMING_FILES;
	}
	return source;
}

bool key_is_of_branches(const struct key *key)
{
	return key->label == LABEL_BLOCK || key->label == LABEL_FROM || key->label == LABEL_TO ||
		key->label == LABEL_BRANCH;
}

/* ---- lists of keys ---- */

static int unknown_word(const char *word, struct err *err)
{
	struct nearest near = {.typed = word};
	struct str hint = {0};
	const struct key *key;

	for (size_t i = 0; (key = key_at(i)) != NULL; i++) {
		nearest_offer(&near, key->name);
		if (key->alias)
			nearest_offer(&near, key->alias);
	}
	nearest_add_hint(&near, &hint);
	if (!near.best) {
		str_add(&hint, "; known are");
		/* Words of -F alone have the names of keys. */
		for (size_t i = 0; (key = key_at(i)) != NULL; i++)
			if (!key->has_parts)
				str_addf(&hint, " %s", key->name);
	}
	err_set(err, ERR_INVAL, "there is no key '%s'%s", word, str_text(&hint));
	str_fini(&hint);
	return err->code;
}

/* Keys of perf that pace does not have, and why. */
static const struct {
	const char *name, *reason;
} absent[] = {
	{"simd", "it needs traces of Arm SPE, which pace does not decode"},
	{"ipc_null",
		"perf adds it where nothing is known; 'ipc_lbr' shows instructions per cycle, of recordings with branches"},
};

static int unknown_key(const char *word, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		if (!strcmp(absent[i].name, word))
			return err_set(err, ERR_INVAL, "there is no key '%s': %s", word,
				absent[i].reason);
	return unknown_word(word, err);
}

int key_parse_list(const char *text, const struct key **ret_keys, size_t max, size_t *ret_n,
	struct err *err)
{
	return key_parse_list_of(text, NULL, ret_keys, max, ret_n, err);
}

int key_parse_list_of(const char *text, const struct key_source *more, const struct key **ret_keys,
	size_t max, size_t *ret_n, struct err *err)
{
	size_t n = 0;

	while (*text) {
		size_t length = strcspn(text, ", ");
		const struct key *key = more && more->has_fields ? key_find_field(text, length)
								 : key_find(text, length);

		if (n == max)
			return err_set(err, ERR_INVAL, "more than %zu keys", max);
		if (!key && more)
			key = more->find(more->ctx, text, length);
		if (!key) {
			char word[64];

			memcpy(word, text, MIN(length, sizeof(word) - 1));
			word[MIN(length, sizeof(word) - 1)] = '\0';
			return unknown_key(word, err);
		}
		ret_keys[n++] = key;
		text += length;
		text += strspn(text, ", ");
	}
	if (!n)
		return err_set(err, ERR_INVAL, "a list of keys is needed, like comm,dso,symbol");
	*ret_n = n;
	return 0;
}
