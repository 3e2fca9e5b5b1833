/*
 * protobuf.h - reads and writes messages of protocol buffers, field by field.
 *
 * In       a cursor over a message
 * Out      its fields, in the order of the bytes; the numbers of a packed list one by one
 * Owns     nothing: fields are views into the message
 * Errors   damage: a field is cut off, its number or type is invalid, or a value has more than 64 bits; the
 *          cursor stays in front of the field
 * Source   protobuf.dev/programming-guides/encoding
 */
#ifndef PACE_BASE_PROTOBUF_H
#define PACE_BASE_PROTOBUF_H

#include "base/bytes.h"
#include "base/str.h"

enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_I64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_I32 = 5,
};

struct protobuf_field {
	u32 number;
	u8 type;
	u64 value;          /* of all types but PROTOBUF_BYTES */
	struct bytes bytes; /* of PROTOBUF_BYTES: text, a message, a packed list */
};

/* 1: *ret is the next field; 0: the end; -1: damage. */
int protobuf_next(struct bytes *message, struct protobuf_field *ret);

/* Reads the next number of a packed list. False at its end, and on damage; bytes are left after damage. */
bool protobuf_varint(struct bytes *list, u64 *ret_v);

/* Adds a field; a number that is 0 is left out, as readers expect it. */
void protobuf_add_u64(struct str *message, u32 number, u64 v);
void protobuf_add_bytes(struct str *message, u32 number, const void *data, size_t n);
/* Adds a number to a packed list. */
void protobuf_add_varint(struct str *list, u64 v);

#endif
