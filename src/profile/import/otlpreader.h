/*
 * otlpreader.h - a profile of OpenTelemetry while it is read: its dictionary, and what was made of the entries.
 *
 * In       the messages of a dictionary; numbers that refer to its entries
 * Out      stacks and labels of a profile; entries are read when they are referred to, and once
 * Owns     its tables, until otlp_reader_fini(); messages are views into the file
 * Errors   ERR_FORMAT: a message is damaged, or refers to an entry that is not there; ERR_LIMIT
 * Source   profile/import/otlp.h
 */
#ifndef PACE_PROFILE_OTLPREADER_H
#define PACE_PROFILE_OTLPREADER_H

#include "profile/import/messages.h"
#include "profile/import/otlp.h"

struct otlp_event {
	u64 type, unit; /* strings */
	u32 event;
	u64 sum, n_samples;
};

struct otlp_location {
	struct bytes message;
	u32 frame; /* PROFILE_NO_FRAME: not made yet */
};

struct otlp_mapping {
	struct bytes message;
	u64 start, offset;
	u32 dso; /* PROFILE_NO_FRAME: not made yet */
};

struct otlp_function {
	u64 name, system_name, file; /* strings */
	const char *text;            /* NULL: not looked up yet */
};

struct otlp_attribute {
	struct bytes message;
	const char *key;  /* interned; NULL: it was not read yet */
	const char *text; /* interned; NULL: its value is not a text */
	u64 number;
};

struct otlp_stack {
	struct bytes message;
	struct importing_stack made;
	bool is_made;
};

/* A line of a location. */
struct otlp_call {
	u64 function, line;
};

struct otlp_reader {
	struct importing b;
	message_strings strings;
	VEC(struct otlp_mapping) mappings;
	VEC(struct otlp_location) locations;
	VEC(struct otlp_function) functions;
	VEC(struct otlp_attribute) attributes;
	VEC(struct otlp_stack) stacks;
	VEC(struct otlp_event) events;
	VEC(struct bytes) profiles;  /* of the current scope */
	VEC(struct otlp_call) calls; /* of the current location, the innermost first */
	VEC(u32) inlined;
	VEC(u64) path, values, numbers;
	u64 n_times; /* of the current sample */
	u32 unknown; /* a DSO; PROFILE_NO_FRAME until there is one */
	struct str room;
};

void otlp_reader_fini(struct otlp_reader *r);

/* Set *err, and return its code. `at` is the place in the file. */
int otlp_unknown_entry(const struct otlp_reader *r, const struct bytes *at, struct err *err);

/* Takes in the entries of a dictionary. */
int otlp_take_dictionary(struct otlp_reader *r, struct bytes b, struct err *err);

/* Sets the labels of a sample, whose attributes are in r->numbers. */
int otlp_take_labels(struct otlp_reader *r, const struct bytes *at, u64 *labels, struct err *err);

/* Finds a stack; many samples may have the same. */
int otlp_find_stack(struct otlp_reader *r, u64 i, const struct bytes *at,
	const struct importing_stack **ret, struct err *err);

#endif
