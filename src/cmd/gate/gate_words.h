/*
 * gate_words.h - gate: the verdict in words, as Markdown for a pull request, and as JSON.
 *
 * In       the verdict, what it rests on
 * Out      text
 */
#ifndef PACE_CMD_GATE_WORDS_H
#define PACE_CMD_GATE_WORDS_H

#include "base/str.h"
#include "cmd/gate/gate_history.h"
#include "cmd/gate/gate_rounds.h"
#include "profile/diff/gating.h"

struct gate_result {
	const struct gating *gating;
	const struct delta *delta;
	const struct significance *significance;
	const struct gate_rounds *rounds;
	const struct gate_past *past;
	double null_q; /* of the baseline's own runs; NAN: there were too few */
	const char *event;
	bool is_learning; /* there is a history file */
};

/* "slower", "faster", "same" */
const char *gate_word(enum gating_verdict verdict);

void gate_add_text(const struct gate_result *r, struct str *text);
void gate_add_markdown(const struct gate_result *r, struct str *text);
void gate_add_json(const struct gate_result *r, struct str *text);

#endif
