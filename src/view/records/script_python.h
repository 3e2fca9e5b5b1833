/*
 * script_python.h - samples and records as values of Python's, for the driver of scripts (cmd/script/driver.py).
 *
 * In       visits of a trace, in time order
 * Out      tuples in the encoding of base/marshal.h, appended to a struct str. Their first value is their kind; driver.py
 *          has a function for each, which names the others
 * Threads  one
 */
#ifndef PACE_VIEW_SCRIPT_PYTHON_H
#define PACE_VIEW_SCRIPT_PYTHON_H

#include "view/records/script.h"

enum script_python_kind {
	PYTHON_EVENT,
	PYTHON_WORD,
	PYTHON_SAMPLE,
	PYTHON_SWITCH,
	PYTHON_THROTTLE,
	PYTHON_AUX_ERROR,
	PYTHON_END,
};

/* What the script does not ask for is not looked up. */
struct script_python_wishes {
	bool instructions, sources;
};

/* An event of the recording, and the words that its format has for values. Before its first sample. */
u32 script_python_event(struct script *s, u32 event, struct str *text);

void script_python_sample(struct script *s, struct visit *v,
	const struct script_python_wishes *wishes, struct str *text);

/* A switch, a throttling, an error of a trace. False: scripts see no such record. */
bool script_python_record(struct script *s, const struct visit *v, const union record_body *body,
	struct str *text);

void script_python_end(struct str *text);

#endif
