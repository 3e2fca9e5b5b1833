#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fleet/fleetanswer.h"
#include "fleet/fleetquery.h"
#include "base/clock.h"
#include "fleet/fleetserver.h"
#include "fleet/pushstore.h"
#include "fleet/rowtext.h"
#include "profile/batch/batchbytes.h"

static const char *said(const char *address)
{
	static struct err err;
	struct fleeturl url;
	struct fleetquery query = {0};

	err = (struct err){0};
	if (!fleeturl_parse(&url, address, &err))
		fleetquery_parse(&query, &url, NULL, 1795528800ULL * 1000000000, &err);
	fleetquery_fini(&query);
	fleeturl_fini(&url);
	return err.msg;
}

TEST(addresses_have_a_server_a_database_a_user_and_words)
{
	struct fleeturl u;
	struct err err;

	CHECK(!fleeturl_parse(&u, "clickhouse://me%40x@store/db?service=a%26b&from=-1h&service=c",
		&err));
	CHECK_STR(u.server, "http://store:8123/");
	CHECK_STR(u.database, "db");
	CHECK_STR(u.login.user, "me@x");
	CHECK_STR(fleeturl_word(&u, "service"), "c");
	CHECK(!fleeturl_word(&u, "to"));
	fleeturl_fini(&u);
	CHECK(!fleeturl_parse(&u, "clickhouses://[::1]?database=x", &err));
	CHECK_STR(u.server, "https://[::1]:8443/");
	CHECK_STR(u.database, "x");
	fleeturl_fini(&u);
	CHECK(fleeturl_is("clickhouse://x") && !fleeturl_is("http://x/") &&
		!fleeturl_is("perf.data"));
}

TEST(what_is_asked_for_is_quoted_and_the_roll_up_is_used_only_where_it_knows_enough)
{
	struct fleeturl u;
	struct fleetquery q;
	struct str sql = {0};
	struct err err = {0};

	CHECK(!fleeturl_parse(&u, "clickhouse://h?service=a'b,c\\d&from=-90m", &err));
	CHECK(!fleetquery_parse(&q, &u, NULL, 1795528830ULL * 1000000000, &err));
	CHECK(fleetquery_fits_minutes(&q));
	/* Whole minutes, outwards. */
	CHECK_EQ(q.from_s, 1795523400);
	CHECK_EQ(q.to_s, 1795528860);
	fleetquery_add_filters(&q, FLEETQUERY_SUMS, &sql);
	CHECK_STR(str_text(&sql), " AND service IN ('a\\'b', 'c\\\\d')");
	CHECK(!fleetquery_group_by(&q, "service", &err) && fleetquery_fits_minutes(&q));
	CHECK(!fleetquery_group_by(&q, "label.x'y", &err) && !fleetquery_fits_minutes(&q));
	str_clear(&sql);
	fleetquery_add_expression(&sql, q.groups[1]);
	CHECK_STR(str_text(&sql), "label_values[indexOf(label_names, 'x\\'y')]");
	fleetquery_fini(&q);
	fleeturl_fini(&u);
	str_fini(&sql);
}

TEST(words_that_nobody_knows_are_errors)
{
	CHECK(strstr(said("clickhouse://h?sevice=x"), "'sevice' is none of service"));
	CHECK(strstr(said("clickhouse://h?max=0"), "1 to"));
	CHECK(strstr(said("clickhouse://h?timeout=x"), "timeout"));
	CHECK(strstr(said("clickhouse://u:p@h"), "password"));
	CHECK_STR(said("clickhouse://h?host=a&label.region=eu&type=x&group=a,b"), "");
}

/* Every beginning of an answer is either whole rows or an error, and nothing is read beyond it. */
TEST(answers_that_are_cut_off_are_errors)
{
	static const u8 row[] = {3, 'w', 'e', 'b', 2, 1, 'a', 0, 7, 0, 0, 0, 0, 0, 0, 0};
	struct arena arena = {0};

	for (size_t n = 0; n <= 2 * sizeof(row); n++) {
		u8 *bytes = malloc(n + !n);
		struct str text = {(char *)bytes, n, n};
		struct fleetanswer a = fleetanswer_of(&text, "h");
		const char *texts[4];
		struct err err = {0};
		u32 rows = 0;

		for (size_t i = 0; i < n; i++)
			bytes[i] = row[i % sizeof(row)];
		while (fleetanswer_more(&a)) {
			fleetanswer_text(&a, &arena);
			fleetanswer_texts(&a, 4, texts, &arena);
			rows += fleetanswer_u64(&a) == 7 && !a.is_damaged;
		}
		CHECK_EQ(rows, n / sizeof(row));
		CHECK(!fleetanswer_end(&a, &err) == !(n % sizeof(row)));
		free(bytes);
	}
	arena_fini(&arena);
}

static struct batch small(void)
{
	struct batch b;
	u32 cells[BATCH_COLUMNS] = {0};

	batch_init(&b);
	b.start_ns = 1795528800ULL * 1000000000;
	b.end_ns = b.start_ns + 60000000000;
	batch_say(&b, "host", "web\"1");
	batch_say(&b, "label.region", "eu");
	batch_say(&b, "label.zone", "b");
	batch_column(&b, "service");
	batch_column(&b, "zone");
	cells[0] = batch_add_string(&b, "api");
	cells[1] = batch_add_string(&b, "b");
	batch_count(&b,
		&(struct batch_row){batch_event(&b, "cpu-clock"),
			batch_stack(&b, 0,
				batch_frame(&b,
					&(struct batch_frame){.name = batch_add_string(&b, "f\xff"),
						.mode = 2,
						.is_named = 1})),
			0, 3, 300},
		cells);
	return b;
}

TEST(equal_batches_have_the_same_number_and_rows_say_each_label_once)
{
	struct batch a = small(), b = small();
	struct rowtext x, y;
	struct str text = {0};

	rowtext_init(&x, &a, NULL);
	rowtext_init(&y, &b, NULL);
	CHECK(x.id == y.id);
	rowtext_add_sample(&x, 0, &text);
	CHECK(strstr(str_text(&text),
		"\"service\":\"api\",\"type\":\"cpu-clock\",\"time\":\"2026-11-24 14:00:00\",\"host\":\"web\\\"1\""));
	CHECK(strstr(str_text(&text),
		"\"label_names\":[\"zone\",\"region\"],\"label_values\":[\"b\",\"eu\"]"));
	CHECK(text.at[text.n - 1] == '\n');
	str_clear(&text);
	rowtext_add_stack(&x, 1, &text);
	CHECK(strstr(str_text(&text), "\"frames\":[\"f\\ufffd\"]") &&
		strstr(str_text(&text), "\"modes\":[18]"));
	str_clear(&text);
	rowtext_add_batch(&x, &text);
	CHECK(strstr(str_text(&text),
		"\"row_counts\":[1],\"sample_sums\":[3],\"value_sums\":[300]"));
	CHECK(strstr(str_text(&text), "\"label_names\":[\"region\",\"zone\"]"));
	rowtext_fini(&y);
	batch_say(&b, "host", "web2");
	rowtext_init(&y, &b, NULL);
	CHECK(x.id != y.id);
	rowtext_fini(&x);
	rowtext_fini(&y);
	batch_fini(&a);
	batch_fini(&b);
	str_fini(&text);
}

/* Nobody answers: whoever wakes the thread never waits, its end is bounded, and the store is as it was. */
TEST(a_pusher_never_delays_its_owner_and_keeps_what_was_not_acknowledged)
{
	char folder[] = "/tmp/pace-pusher-XXXXXX", path[64];
	struct batch_writer writer = {0};
	struct batch b = small();
	struct str bytes = {0};
	struct fleeturl url;
	struct pusher p;
	struct err err = {0};
	u64 began_ns;
	FILE *file;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/2026-11-24T14.batches", folder);
	CHECK(!batch_write(&writer, &b, &bytes, &err));
	file = fopen(path, "w");
	CHECK(file && fwrite(bytes.at, 1, bytes.n, file) == bytes.n && !fclose(file));
	/* Port 1: the connection is refused. */
	CHECK(!fleeturl_parse(&url, "http://127.0.0.1:1/", &err));
	if (pusher_begin(&p,
		    &(struct push_options){.url = &url, .timeout_ms = 1000, .n_attempts = 100},
		    folder, &err)) {
		CHECK_EQ(err.code, ERR_UNSUPPORTED);
		SKIP("libcurl is not installed");
	}
	began_ns = clock_now_ns();
	for (int i = 0; i < 1000; i++)
		pusher_wake(&p);
	CHECK(clock_now_ns() - began_ns < 1000000000);
	CHECK(!pusher_end(&p, 300));
	CHECK(clock_now_ns() - began_ns < 60000000000);
	CHECK(strstr(p.err.msg, "attempts failed"));
	CHECK(!access(path, R_OK));
	CHECK(!unlink(path) && !rmdir(folder));
	fleeturl_fini(&url);
	batch_writer_fini(&writer);
	batch_fini(&b);
	str_fini(&bytes);
}
