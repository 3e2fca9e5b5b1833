/*
 * encoded.h - pointers as .eh_frame encodes them: one byte gives their width and what they are relative to.
 *
 * In       a cursor whose `offset` is the address that its byte is loaded at
 * Out      addresses
 * Errors   false: the bytes end, or the encoding is unknown, or is one of pointers that only the running
 *          process can follow
 * Source   LSB 5.0, 10.5 (DWARF Exception Header Encoding)
 */
#ifndef PACE_UNWIND_ENCODED_H
#define PACE_UNWIND_ENCODED_H

#include "base/bytes.h"

/* The low four bits give the size, the high four what the value is relative to. */
enum {
	ENCODED_ABSPTR = 0x00,
	ENCODED_ULEB128 = 0x01,
	ENCODED_UDATA2 = 0x02,
	ENCODED_UDATA4 = 0x03,
	ENCODED_UDATA8 = 0x04,
	ENCODED_SLEB128 = 0x09,
	ENCODED_SDATA2 = 0x0a,
	ENCODED_SDATA4 = 0x0b,
	ENCODED_SDATA8 = 0x0c,
	ENCODED_PCREL = 0x10,
	ENCODED_TEXTREL = 0x20,
	ENCODED_DATAREL = 0x30,
	ENCODED_FUNCREL = 0x40,
	ENCODED_INDIRECT = 0x80,
	ENCODED_OMIT = 0xff,
};

struct encoded_bases {
	u64 text, data; /* bases of textrel and datarel pointers: .text, .got */
	u8 address_size;
};

/* Reads a number of 2, 4 or 8 bytes. */
bool encoded_fixed(struct bytes *b, unsigned size, bool is_signed, u64 *ret_v);

/* Reads the number as written, without adding its base. */
bool encoded_number(struct bytes *b, u8 encoding, u8 address_size, u64 *ret_v);

bool encoded_pointer(struct bytes *b, u8 encoding, const struct encoded_bases *bases, u64 *ret_v);

#endif
