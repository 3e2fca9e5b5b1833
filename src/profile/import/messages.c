#include "profile/import/messages.h"

#include <string.h>

int messages_damaged(const struct import *in, const struct bytes *at, const char *reason,
	struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': at offset 0x%llx%s, %s", in->path,
		(unsigned long long)at->offset, in->is_packed ? " of the unpacked data" : "",
		reason);
}

int messages_cut_off(const struct import *in, const struct bytes *at, struct err *err)
{
	return messages_damaged(in, at, "a field of the profile is cut off or damaged", err);
}

int messages_take_numbers(const struct import *in, struct bytes b, u64 *const *places, size_t n,
	struct err *err)
{
	struct protobuf_field f;
	int got;

	while ((got = protobuf_next(&b, &f)) > 0)
		if (f.number < n && places[f.number] && f.type == PROTOBUF_VARINT)
			*places[f.number] = f.value;
	return got ? messages_cut_off(in, &b, err) : 0;
}

/* A text is cut between characters, and says so. */
static const char *intern_cut(struct importing *b, const char *at, size_t n, size_t most)
{
	static const char end[] = "...";
	struct str cut = {0};
	const char *text;

	if (n <= most)
		return intern_add(&b->profile->strings, at, n);
	for (n = most - (sizeof(end) - 1); n && ((u8)at[n] & 0xc0) == 0x80;)
		n--;
	str_addn(&cut, at, n);
	str_add(&cut, end);
	text = intern_add(&b->profile->strings, cut.at, cut.n);
	str_fini(&cut);
	return text;
}

/* A text up to its first NUL. */
static size_t text_of(const message_strings *strings, u64 i, const char **ret_at)
{
	*ret_at = i < strings->n ? (const char *)strings->at[i].at : "";
	return i < strings->n ? strnlen(*ret_at, bytes_left(&strings->at[i])) : 0;
}

const char *messages_string(struct importing *b, const message_strings *strings, u64 i)
{
	const char *at;
	const size_t n = text_of(strings, i, &at);

	return intern_cut(b, at, n, MESSAGES_NAME_MOST);
}

const char *messages_label(struct importing *b, const message_strings *strings, u64 i)
{
	const char *at;
	const size_t n = text_of(strings, i, &at);

	return intern_cut(b, at, n, MESSAGES_LABEL_MOST);
}

const char *messages_file(struct importing *b, const message_strings *strings, u64 i)
{
	const char *at;
	const size_t n = text_of(strings, i, &at);
	const char *slash = !n || b->options->has_full_paths ? NULL : memrchr(at, '/', n);
	const size_t head = slash ? (size_t)(slash + 1 - at) : 0;

	return intern_cut(b, at + head, n - head, MESSAGES_LABEL_MOST);
}

bool messages_is(const message_strings *strings, u64 i, const char *text)
{
	const char *at;
	const size_t n = text_of(strings, i, &at);

	return n == strlen(text) && !memcmp(at, text, n);
}
