#include "base/log.h"
#include "base/workers.h"

#include "test.h"

static void take(void *ctx, enum log_level level, const char *sentence)
{
	str_addf(ctx, "%c:%s\n", "wnd"[level], sentence);
}

static struct log log_to(struct str *heard, enum log_level level)
{
	return (struct log){.level = level, .write = take, .ctx = heard};
}

TEST(log_that_is_null_or_mute_swallows_everything)
{
	struct log mute = {.level = LOG_DEBUG};

	log_warn(NULL, "x");
	log_say(NULL, LOG_DEBUG, "%d", 1);
	log_warn(&mute, "x");
	CHECK_EQ(mute.said.strings.n, 0);
	log_hold(&mute);
	log_warn(&mute, "x");
	log_release(&mute);
	log_fini(&mute);
}

TEST(log_passes_on_what_is_important_enough)
{
	static const char *const expected[] = {"w:a1\n", "w:a1\nn:b2\n", "w:a1\nn:b2\nd:c3\n"};

	for (int level = LOG_WARN; level <= LOG_DEBUG; level++) {
		struct str heard = {0};
		struct log log = log_to(&heard, level);

		log_warn(&log, "a%d", 1);
		log_note(&log, "b%d", 2);
		log_debug(&log, "c%d", 3);
		CHECK_STR(str_text(&heard), expected[level]);
		log_fini(&log);
		str_fini(&heard);
	}
}

TEST(log_says_a_sentence_once)
{
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_NOTE);

	for (int i = 0; i < 10; i++) {
		log_warn(&log, "the file '%s' is gone", "a");
		log_note(&log, "the file '%s' is gone", "a");
		log_warn(&log, "number %d", i / 9);
	}
	CHECK_STR(str_text(&heard), "w:the file 'a' is gone\nw:number 0\nw:number 1\n");
	log_fini(&log);
	str_fini(&heard);
}

TEST(log_sentence_that_was_too_unimportant_may_be_said_later)
{
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_WARN);

	log_note(&log, "a");
	log_warn(&log, "a");
	CHECK_STR(str_text(&heard), "w:a\n");
	log_fini(&log);
	str_fini(&heard);
}

TEST(log_passes_on_long_and_empty_sentences_whole)
{
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_WARN);

	log_warn(&log, "%s", "");
	CHECK_STR(str_text(&heard), "w:\n");
	str_clear(&heard);
	log_warn(&log, "%*s", 5000, "end");
	CHECK_EQ(heard.n, 5003);
	CHECK(!strcmp(heard.at + 4999, "end\n"));
	log_fini(&log);
	str_fini(&heard);
}

TEST(log_that_is_held_says_nothing_until_released)
{
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_NOTE);

	log_warn(&log, "first");
	log_hold(&log);
	log_warn(&log, "first");
	log_note(&log, "second");
	log_debug(&log, "never");
	log_warn(&log, "third");
	log_note(&log, "second");
	CHECK_STR(str_text(&heard), "w:first\n");
	log_release(&log);
	CHECK_STR(str_text(&heard), "w:first\nn:second\nw:third\n");
	log_release(&log);
	log_warn(&log, "fourth");
	log_warn(&log, "third");
	CHECK_STR(str_text(&heard), "w:first\nn:second\nw:third\nw:fourth\n");
	log_fini(&log);
	str_fini(&heard);
}

TEST(log_forget_drops_what_was_held_and_goes_on)
{
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_NOTE);

	log_hold(&log);
	log_warn(&log, "a");
	log_forget(&log);
	CHECK_STR(str_text(&heard), "");
	log_warn(&log, "b");
	CHECK_STR(str_text(&heard), "w:b\n");
	log_release(&log);
	CHECK_STR(str_text(&heard), "w:b\n");
	log_fini(&log);
	str_fini(&heard);
}

TEST(log_ended_while_it_is_held_says_nothing)
{
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_NOTE);

	log_hold(&log);
	log_warn(&log, "a");
	log_fini(&log);
	CHECK_STR(str_text(&heard), "");
	str_fini(&heard);
}

static void say(void *ctx, size_t i, unsigned worker)
{
	(void)worker;
	/* Each sentence is said by two workers. */
	log_note(ctx, "sentence %zu", i / 2);
	log_debug(ctx, "unheard %zu", i);
}

TEST(log_takes_sentences_from_many_threads)
{
	enum { N = 4000 };
	static bool has_said[N];
	struct str heard = {0};
	struct log log = log_to(&heard, LOG_NOTE);
	size_t n = 0;

	workers_run(8, 2 * (size_t)N, say, &log);
	for (char *line = heard.at, *end; line < heard.at + heard.n; line = end + 1, n++) {
		size_t i;

		end = strchr(line, '\n');
		CHECK(end);
		*end = '\0';
		CHECK_EQ(sscanf(line, "n:sentence %zu", &i), 1);
		CHECK(i < N && !has_said[i]);
		has_said[i] = true;
	}
	CHECK_EQ(n, N);
	log_fini(&log);
	str_fini(&heard);
}
