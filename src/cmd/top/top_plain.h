/*
 * top_plain.h - top as lines: text for people, or a JSON document for each refresh.
 *
 * In       moments, what there is to say about them
 * Out      the lines, written at once
 * Owns     nothing
 */
#ifndef PACE_CMD_TOP_PLAIN_H
#define PACE_CMD_TOP_PLAIN_H

#include "base/out.h"
#include "cmd/top/top_feed.h"
#include "cmd/top/top_rows.h"

/* "1,990 samples/s of cycles, 12% kernel, ...": the line above the rows. */
void top_add_facts(const struct feed *f, const struct feed_facts *facts, struct str *text);

void top_show_text(const struct feed *f, const struct top_rows *r, const struct moment *s,
	const struct feed_facts *facts, struct out *out);
void top_show_json(const struct feed *f, const struct top_rows *r, const struct moment *s,
	const struct feed_facts *facts, struct out *out);

#endif
