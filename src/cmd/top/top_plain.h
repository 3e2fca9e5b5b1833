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
#include "cmd/live/feed.h"
#include "cmd/top/top_rows.h"

/* "4000 Hz, all processes"; "60% idle, 12% kernel"; "1,990/s, 0 lost; pace: 0.4% CPU, 20.1 MiB". */
void top_add_measured(const struct feed *f, struct str *text);
void top_add_modes(const struct moment *m, const struct feed_facts *facts, struct str *text);
void top_add_rates(const struct feed_facts *facts, struct str *text);

void top_show_text(const struct feed *f, const struct top_rows *r, const struct moment *s,
	const struct feed_facts *facts, struct out *out);
void top_show_json(const struct feed *f, const struct top_rows *r, const struct moment *s,
	const struct feed_facts *facts, struct out *out);

#endif
