/*
 * protobuf.h - messages of protocol buffers, field by field.
 *
 * In       a cursor over a message
 * Out      its fields, in the order of the bytes; those of a packed list one by one
 * Owns     nothing: fields are views into the message
 * Errors   a field that is cut off, has a number or type that there is not, or a number of more than 64 bits,
 *          is damage: the cursor stays before it
 * Source   protobuf.dev/programming-guides/encoding
 */
#ifndef PACE_BASE_PROTOBUF_H
#define PACE_BASE_PROTOBUF_H

#include "base/bytes.h"

enum protobuf_type {
	PROTOBUF_VARINT = 0,
	PROTOBUF_I64 = 1,
	PROTOBUF_BYTES = 2,
	PROTOBUF_I32 = 5,
};

struct protobuf_field {
	u32 number;
	u8 type;
	u64 value;          /* of what is no PROTOBUF_BYTES */
	struct bytes bytes; /* of what is: text, a message, a packed list */
};

/* 1: *ret is the next field; 0: the end; -1: damage. */
int protobuf_next(struct bytes *message, struct protobuf_field *ret);

/* The next number of a packed list; false at its end, or of damage: then bytes are left. */
bool protobuf_varint(struct bytes *list, u64 *ret_v);

#endif
