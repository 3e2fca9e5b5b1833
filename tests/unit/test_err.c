#include <errno.h>

#include "base/err.h"

#include "test.h"

/* "xxx..." of n characters. */
static const char *long_text(size_t n)
{
	static char text[4096];

	CHECK(n < sizeof(text));
	memset(text, 'x', n);
	text[n] = '\0';
	return text;
}

TEST(err_set_fills_code_and_message_and_returns_the_code)
{
	struct err err = {.sys = 99};

	CHECK_EQ(err_set(&err, ERR_LIMIT, "%d of %s", 3, "four"), ERR_LIMIT);
	CHECK_EQ(err.code, ERR_LIMIT);
	CHECK_EQ(err.sys, 0);
	CHECK_STR(err.msg, "3 of four");
}

TEST(err_codes_are_negative_and_differ)
{
	static const int codes[] = {ERR_SYS, ERR_PERM, ERR_NOENT, ERR_INVAL, ERR_FORMAT,
		ERR_UNSUPPORTED, ERR_LIMIT};

	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		CHECK(codes[i] < 0);
		for (size_t j = 0; j < i; j++)
			CHECK(codes[i] != codes[j]);
	}
}

TEST(err_sys_sorts_errnos_and_adds_their_text)
{
	static const struct {
		int sys, code;
		const char *msg;
	} cases[] = {
		{ENOENT, ERR_NOENT, "opening 'a': No such file or directory"},
		{EACCES, ERR_PERM, "opening 'a': Permission denied"},
		{EPERM, ERR_PERM, "opening 'a': Operation not permitted"},
		{ENOSPC, ERR_SYS, "opening 'a': No space left on device"},
		{EIO, ERR_SYS, "opening 'a': Input/output error"},
		{123456, ERR_SYS, "opening 'a': Unknown error 123456"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = {0};

		CHECK_EQ(err_sys(&err, cases[i].sys, "opening '%s'", "a"), cases[i].code);
		CHECK_EQ(err.code, cases[i].code);
		CHECK_EQ(err.sys, cases[i].sys);
		CHECK_STR(err.msg, cases[i].msg);
	}
}

TEST(err_prefix_puts_context_in_front_and_keeps_code_and_errno)
{
	struct err err = {0};

	err_sys(&err, ENOENT, "opening 'a'");
	CHECK_EQ(err_prefix(&err, "reading %s", "b"), ERR_NOENT);
	CHECK_EQ(err_prefix(&err, "outer"), ERR_NOENT);
	CHECK_EQ(err.sys, ENOENT);
	CHECK_STR(err.msg, "outer: reading b: opening 'a': No such file or directory");
}

TEST(err_messages_longer_than_the_buffer_are_cut)
{
	struct err err = {0};
	const size_t room = sizeof(err.msg) - 1;

	err_set(&err, ERR_INVAL, "%s", long_text(room));
	CHECK_EQ(strlen(err.msg), room);
	err_set(&err, ERR_INVAL, "%s", long_text(room + 1));
	CHECK_EQ(strlen(err.msg), room);

	CHECK_EQ(err_sys(&err, ENOENT, "%s", long_text(room + 500)), ERR_NOENT);
	CHECK_EQ(strlen(err.msg), room);
	/* The reason is cut, not written past the end. */
	err_sys(&err, ENOENT, "%s", long_text(room - 4));
	CHECK_EQ(strlen(err.msg), room);
	CHECK_STR(err.msg + room - 4, ": No");

	err_set(&err, ERR_INVAL, "%s", long_text(room));
	CHECK_EQ(err_prefix(&err, "ab"), ERR_INVAL);
	CHECK_EQ(strlen(err.msg), room);
	CHECK(!strncmp(err.msg, "ab: xxx", 7));
	err_set(&err, ERR_INVAL, "short");
	err_prefix(&err, "%s", long_text(room + 1));
	CHECK_EQ(strlen(err.msg), room);
}

TEST(err_messages_may_be_empty)
{
	struct err err = {0};

	err_sys(&err, ENOENT, "%s", "");
	CHECK_STR(err.msg, ": No such file or directory");
	err_set(&err, ERR_INVAL, "%s", "");
	CHECK_STR(err.msg, "");
	err_prefix(&err, "%s", "");
	CHECK_STR(err.msg, ": ");
}

TEST(err_text_with_percent_signs_is_not_a_format)
{
	struct err err = {0};

	err_set(&err, ERR_INVAL, "%s", "100%s %n");
	err_prefix(&err, "%s", "%d");
	CHECK_STR(err.msg, "%d: 100%s %n");
}
