/* A configuration file: what it says, and the same after each of its values was changed. The first byte is the length of a value. */
#include "fuzz/fuzz.h"

#include "base/configfile.h"

/* How many entries have another key, and what they say, added up. */
static u64 sum_of_others(const struct config *c, const char *key)
{
	u64 sum = 0;

	vec_each(e, &c->entries)
		if (strcmp(e->key, key) != 0)
			for (const char *p = e->value ? e->value : "\x01"; *p; p++)
				sum = sum * 31 + (u8)*p;
	return sum;
}

/* A changed text has the new value, and all others as before. */
static void check_change(const struct config *c, const char *text, size_t n, const char *key,
	const char *value)
{
	struct config again = {0};
	struct str out = {0};
	struct err err;

	FUZZ_CHECK(!config_change("file", text, n, key, value, &out, &err));
	FUZZ_CHECK(!config_parse(&again, "file", str_text(&out), out.n, &err));
	FUZZ_CHECK(config_find(&again, key) && !strcmp(config_find(&again, key)->value, value));
	FUZZ_CHECK(sum_of_others(c, key) == sum_of_others(&again, key));
	config_fini(&again);
	str_fini(&out);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t n)
{
	const size_t n_value = n ? MIN((size_t)data[0] % 16, n - 1) : 0;
	char value[17] = "", *text;
	struct config c = {0};
	struct err err;

	if (!n)
		return 0;
	memcpy(value, data + 1, n_value);
	data += 1 + n_value;
	n -= 1 + n_value;
	text = (char *)fuzz_exact(data, n);
	if (!config_parse(&c, "file", text, n, &err)) {
		for (size_t i = 0; i < c.entries.n && i < 20; i++) {
			const struct config_entry *e = &c.entries.at[i];
			bool is_on;

			FUZZ_CHECK(e->from <= e->name_at && e->name_at < e->to && e->to <= n);
			config_bool(e, &is_on);
			if (config_is_key(e->key))
				check_change(&c, text, n, e->key, value);
		}
		check_change(&c, text, n, "new.sub.key", value);
	}
	config_fini(&c);
	free(text);
	return 0;
}
