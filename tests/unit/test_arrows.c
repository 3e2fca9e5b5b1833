#include "test.h"

#include "view/code/arrows.h"

/* What is drawn for n rows, a line each, without the blanks at their ends. */
static const char *drawn(const u32 *to, u32 n)
{
	static struct str text;
	struct arrows a;

	str_clear(&text);
	arrows_init(&a, to, n);
	for (u32 row = 0; row < n; row++) {
		arrows_add(&a, row, &text);
		while (text.n && text.at[text.n - 1] == ' ')
			str_cut(&text, text.n - 1);
		str_addc(&text, '\n');
	}
	arrows_fini(&a);
	return str_text(&text);
}

enum { NONE = -1 };

TEST(a_jump_is_an_arrow_from_its_row_to_its_target)
{
	CHECK_STR(drawn((u32[]){2, NONE, NONE}, 3), ",--\n|\n'->\n");
	CHECK_STR(drawn((u32[]){NONE, NONE, 0}, 3), ",->\n|\n'--\n");
	CHECK_STR(drawn((u32[]){NONE, NONE}, 2), "\n\n");
	/* To itself, or to nowhere. */
	CHECK_STR(drawn((u32[]){0, 77}, 2), "\n\n");
}

TEST(jumps_to_one_row_share_a_line)
{
	CHECK_STR(drawn((u32[]){3, 3, NONE, NONE, 3}, 5), ",--\n+--\n|\n+->\n'--\n");
}

TEST(short_jumps_lie_inside_of_long_ones)
{
	CHECK_STR(drawn((u32[]){5, NONE, 4, NONE, NONE, NONE}, 6),
		",----\n|\n| ,--\n| |\n| '->\n'--->\n");
	/* They cross. */
	CHECK_STR(drawn((u32[]){2, 4, NONE, NONE, NONE}, 5), "  ,--\n,-|--\n| '->\n|\n'--->\n");
}

TEST(what_finds_no_room_is_left_out)
{
	enum { N = 40 };
	u32 to[N];
	struct arrows a;

	for (u32 i = 0; i < N; i++)
		to[i] = i < N / 2 ? i + N / 2 : ARROWS_NONE;
	arrows_init(&a, to, N);
	CHECK_EQ(a.n_lanes, ARROWS_LANES);
	arrows_fini(&a);
}
