#include "event/metricexpr.h"

#include <math.h>

#include "base/str.h"
#include "test.h"

/* A world of letters: "a" counts 1, "b" 2 and so on; what begins with "no" is not there. */
static double value_of(void *ctx, u32 name)
{
	const struct metricexpr *x = ctx;
	const char *text = x->names.at[name].text;

	return strncmp(text, "no", 2) ? text[0] - 'a' + 1 : NAN;
}

static double sources_of(void *ctx, u32 name)
{
	return 100 * value_of(ctx, name);
}

static bool has_event(void *ctx, u32 name)
{
	return !isnan(value_of(ctx, name));
}

static bool has_pmu(void *ctx, const char *pmu)
{
	(void)ctx;
	return !strcmp(pmu, "cpu");
}

static bool is_cpu(void *ctx, const char *model)
{
	(void)ctx;
	return !strcmp(model, "0x410fd493");
}

static double literal_of(void *ctx, const char *name)
{
	(void)ctx;
	return !strcmp(name, "num_cpus") ? 8 : !strcmp(name, "smt_on") ? 0 : NAN;
}

static struct metricexpr_world world_of(struct metricexpr *x)
{
	return (struct metricexpr_world){value_of, sources_of, has_event, has_pmu, is_cpu,
		literal_of, x};
}

static void compile(struct metricexpr *x, const char *text)
{
	struct err err;

	if (metricexpr_compile(x, text, 3, &err))
		test_failed(__FILE__, __LINE__, "%s: %s", text, err.msg);
}

static double value(const char *text)
{
	struct metricexpr x;
	struct metricexpr_world world;
	double result;

	compile(&x, text);
	world = world_of(&x);
	result = metricexpr_value(&x, &world);
	metricexpr_fini(&x);
	return result;
}

static void check(const char *text, double expected)
{
	double is = value(text);

	if (is != expected && !(isnan(is) && isnan(expected)))
		test_failed(__FILE__, __LINE__, "%s is %.17g, not %.17g", text, is, expected);
}

TEST(metricexpr_calculates_with_the_usual_precedence)
{
	check("1 + 2 * 3", 7);
	check("(1 + 2) * 3", 9);
	check("10 - 4 - 3", 3);
	check("16 / 4 / 2", 2);
	check("17 % 5 * 2", 4);
	check("-2 * -3", 6);
	check("2 - -1", 3);
	check("1e9 / 1e-3", 1e12);
	check("0x10 + .5 + 1.", 17.5);
	check("a + b * c", 7);
	check("z/b", 13);
}

TEST(metricexpr_compares_and_combines)
{
	check("a < b", 1);
	check("a + 1 > b", 0);
	check("a >= 1", 1);
	check("b <= 1", 0);
	check("a == 1", 1);
	check("a != 1", 0);
	/* All is true that is not 0. */
	check("4 & 2", 1);
	check("4 & 0", 0);
	check("0 | 3", 1);
	check("3 ^ 4", 0);
	check("3 ^ 0", 1);
	/* '&' binds more than '^', and this more than '|'; comparisons more than all of them. */
	check("1 | 0 & 0", 1);
	check("1 ^ 1 & 0", 1);
	check("1 | 1 ^ 1", 1);
	check("a > 0 & b > 1", 1);
}

TEST(metricexpr_chooses_branches)
{
	check("a if 1 else b", 1);
	check("a if 0 else b", 2);
	/* All that stands left of "if" belongs to the branch. */
	check("c + a if b > 1 else d", 4);
	check("a if 0 else b if 0 else c", 3);
	check("(a if 0 else b) + 1", 3);
	check("d / (2 if #smt_on else 1)", 4);
	check("max(a, b if c else d)", 2);
}

TEST(metricexpr_has_functions)
{
	check("min(a, b) + max(a, b)", 3);
	check("d_ratio(c, b)", 1.5);
	check("d_ratio(c, a - 1)", 0);
	check("source_count(b)", 200);
	check("has_event(b)", 1);
	check("has_event(nothing)", 0);
	check("has_pmu(cpu)", 1);
	check("has_pmu(dsu)", 0);
	check("strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x410fd490) ^ 1", 1);
	check("#num_cpus * 2 + #SMT_on", 16);
}

TEST(metricexpr_says_what_is_not_known)
{
	check("a / 0", NAN);
	check("a % 0", NAN);
	check("nothing", NAN);
	check("nothing * 0", NAN);
	check("max(nothing, 1)", NAN);
	check("min(1, nothing)", NAN);
	check("nothing > 1", NAN);
	check("nothing & 1", NAN);
	check("#slots", NAN);
	check("NaN", NAN);
	check("a if nothing else b", NAN);
	/* Nothing depends on it here. */
	check("nothing & 0", 0);
	check("1 | nothing", 1);
	check("nothing if 0 else a", 1);
	check("nothing if has_event(nothing) else b", 2);
}

TEST(metricexpr_takes_names_as_tables_write_them)
{
	static const struct {
		const char *text, *name;
	} rows[] = {
		{"cpu@UOPS_EXECUTED.THREAD\\,cmask\\=1@ / 2", "cpu/UOPS_EXECUTED.THREAD,cmask=1/"},
		{"topdown\\-fe\\-bound", "topdown-fe-bound"},
		{"CPU_CLK_UNHALTED.THREAD_P:k", "CPU_CLK_UNHALTED.THREAD_P:k"},
		{"hv_24x7@PM_PB_CYC\\,chip\\=?@", "hv_24x7/PM_PB_CYC,chip=3/"},
		{"4k_aliasing", "4k_aliasing"},
		{"iffy", "iffy"},
		{"minimum", "minimum"},
		{"min", "min"},
		{"1e3x", "1e3x"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct metricexpr x;

		compile(&x, rows[i].text);
		CHECK_EQ(x.names.n, 1);
		CHECK_STR(x.names.at[0].text, rows[i].name);
		CHECK_EQ(x.has_parameter, strchr(rows[i].text, '?') != NULL);
		metricexpr_fini(&x);
	}
}

/* The names that a value depends on, each followed by a blank. */
static const char *needs(const char *text)
{
	static struct str out;
	struct metricexpr x;
	struct metricexpr_world world;
	bool marks[16] = {false};

	compile(&x, text);
	world = world_of(&x);
	CHECK(x.names.n <= ARRAY_SIZE(marks));
	metricexpr_needs(&x, &world, marks);
	str_clear(&out);
	for (size_t i = 0; i < x.names.n; i++)
		if (marks[i])
			str_addf(&out, "%s ", x.names.at[i].text);
	metricexpr_fini(&x);
	return str_text(&out);
}

TEST(metricexpr_needs_only_what_its_value_depends_on)
{
	CHECK_STR(needs("a + b * a"), "a b ");
	CHECK_STR(needs("a if #smt_on else b"), "b ");
	CHECK_STR(needs("a if has_event(c) else b"), "a ");
	CHECK_STR(needs("a if has_event(nothing) else b"), "b ");
	CHECK_STR(needs("a if c > 1 else b"), "a c b ");
	CHECK_STR(needs("a if 1 | c else b"), "a ");
	CHECK_STR(needs("a if 0 & c else b"), "b ");
	CHECK_STR(needs("a if 1 & c else b"), "a c b ");
	CHECK_STR(needs("d_ratio(a, #smt_on) + b"), "b ");
	CHECK_STR(needs("source_count(b)"), "b ");
	CHECK_STR(needs("has_event(b)"), "");
	CHECK_STR(needs("#num_cpus * 2"), "");
	/* #slots is not known here: both branches may be needed. */
	CHECK_STR(needs("a if #slots else b"), "a b ");
}

TEST(metricexpr_refuses_with_the_column)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"", "column 1: expected a value, but the formula ends there"},
		{"a +", "column 4: expected a value, but the formula ends there"},
		{"a b", "column 3: expected an operator, not 'b'"},
		{"(a + b", "column 7: expected an operator or ')', but the formula ends there"},
		{"a if b", "column 7: expected an operator or 'else', but the formula ends there"},
		{"if", "column 1: expected a value, not 'if'"},
		{"min(a)", "column 6: expected ',' and a second argument, not ')'"},
		{"max(a, b, c)", "column 9: expected ')' after two arguments, not ', c)'"},
		{"has_event(1 + 2)", "column 13: expected ')' after the name, not '+ 2)'"},
		{"has_event()", "column 11: expected a name, not ')'"},
		{"#num_moons",
			"column 1: expected a literal like #smt_on, #num_cpus or #slots, not "
			"'#num_moons'"},
		{"a = b", "column 3: expected an operator, not '= b'"},
		{"a $ b", "column 3: expected an operator, not '$ b'"},
		{"a * / 2", "column 5: expected a value, not '/ 2'"},
		{"0x12345678123456789",
			"column 1: expected a number of 64 bits, not "
			"'0x12345678123456789'"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct metricexpr x;
		struct err err = {0};

		CHECK_EQ(metricexpr_compile(&x, rows[i].text, 0, &err), ERR_INVAL);
		CHECK_STR(err.msg, rows[i].message);
	}
}

TEST(metricexpr_refuses_bombs)
{
	static const char *const parts[] = {"(", "-", "a if b else ", "min("};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		struct str text = {0};
		struct metricexpr x;
		struct err err = {0};

		for (unsigned k = 0; k < 100000; k++)
			str_add(&text, parts[i]);
		CHECK_EQ(metricexpr_compile(&x, text.at, 0, &err), ERR_LIMIT);
		str_clear(&text);
		str_addc(&text, 'a');
		for (unsigned k = 0; k < 100000; k++)
			str_add(&text, "+a");
		CHECK_EQ(metricexpr_compile(&x, text.at, 0, &err), ERR_LIMIT);
		str_fini(&text);
	}
}
