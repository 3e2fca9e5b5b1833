/*
 * watch_options.h - watch: its options, as given.
 *
 * Owns     the words of events, the lists; other strings are argv's
 */
#ifndef PACE_CMD_WATCH_OPTIONS_H
#define PACE_CMD_WATCH_OPTIONS_H

#include "cmd/live/feed.h"
#include "fleet/fleeturl.h"
#include "fleet/store.h"

struct watch_options {
	/* First: the rows that commands have in common fill it in. Only what concerns sampling is used. */
	struct record_options record;
	struct symbol_options symbols;
	struct profile_filter filter; /* of nothing */
	struct opt_list cgroups, units, labels;
	const char *service, *store, *size, *odd;
	const char *push; /* the server to send to; NULL: none */
	struct fleeturl_secrets secrets;
	struct str restriction; /* of all cgroups and units, for events */
	u64 every_ns, size_bytes;
	u64 odd_bytes; /* of recordings of odd minutes; 0: none are kept */
	bool is_status;
};

extern const struct opt watch_option_rows[];

/* The defaults. */
void watch_options_init(struct watch_options *o);

/* After parsing: what the words mean together. ERR_INVAL. */
int watch_options_settle(struct watch_options *o, struct err *err);

/* The key and the value of a label; *ret_n: the key's length. */
const char *watch_label_value(const char *label, size_t *ret_n);

/* Where the store is: as named, or the user's. */
int watch_store_path(const struct watch_options *o, bool reads, char path[STORE_PATH],
	struct err *err);

/* What of them concerns measuring; it borrows them. */
struct feed_options watch_options_feed(const struct watch_options *o);
void watch_options_fini(struct watch_options *o);

#endif
