/*
 * messages.h - messages of protocol buffers, as several importers read them.
 *
 * In       views into the file
 * Out      numbers by field, strings of a table, errors with the place in the file
 * Errors   ERR_FORMAT; functions that fail set *err and return its code
 * Source   protobuf.dev/programming-guides/encoding
 */
#ifndef PACE_PROFILE_MESSAGES_H
#define PACE_PROFILE_MESSAGES_H

#include "base/protobuf.h"
#include "profile/import/importing.h"

/* The strings that a profile refers to by their numbers. */
typedef VEC(struct bytes) message_strings;

/* `at` is the place in the file. */
int messages_damaged(const struct import *in, const struct bytes *at, const char *reason,
	struct err *err);
int messages_cut_off(const struct import *in, const struct bytes *at, struct err *err);

/* Stores the numbers of a message at places[field]; skips other fields. */
int messages_take_numbers(const struct import *in, struct bytes b, u64 *const *places, size_t n,
	struct err *err);

/* Adds the numbers of a repeated field, packed or single, to a list of u64; true if they are damaged. */
#define MESSAGES_TAKE_LIST(f, list)                                              \
	({                                                                       \
		struct bytes b_ = (f)->bytes;                                    \
		u64 v_;                                                          \
		if ((f)->type == PROTOBUF_VARINT)                                \
			vec_add(list, (f)->value);                               \
		while ((f)->type == PROTOBUF_BYTES && protobuf_varint(&b_, &v_)) \
			vec_add(list, v_);                                       \
		(f)->type == PROTOBUF_BYTES &&bytes_left(&b_);                   \
	})

/* Longer texts are cut, because a few bytes refer to a text, again and again. */
enum { MESSAGES_NAME_MOST = 1 << 16, MESSAGES_LABEL_MOST = 4096 };

/* A text, interned in the profile; "" if there is no such string. */
const char *messages_string(struct importing *b, const message_strings *strings, u64 i);
/* Likewise what may be there for each sample, and a source file: without its folders unless options say so. */
const char *messages_label(struct importing *b, const message_strings *strings, u64 i);
const char *messages_file(struct importing *b, const message_strings *strings, u64 i);
/* Whether it is that text. */
bool messages_is(const message_strings *strings, u64 i, const char *text);

#endif
