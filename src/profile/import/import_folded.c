/*
 * Folded stacks, one per line, root first: the input of flame graphs.
 *
 *     sqlite3;main;sqlite3_step;read;entry_SYSCALL_64_[k] 120
 *
 * difffolded.pl writes two counts. In the output of stackcollapse-perf.pl, the first frame is the thread's name;
 * "[libc.so.6]" is an unknown function of that file; names may end in "_[k]" (kernel), "_[i]" (inlined), "_[j]"
 * (generated code) or "_[w]" (stack of the thread that woke this one).
 * Source   Brendan Gregg's FlameGraph: stackcollapse-*.pl, difffolded.pl, flamegraph.pl
 */
#include "profile/import/importing.h"

#include "event/abi.h"
#include "machine/dso.h"

enum { COUNTS = 2 }; /* most counts of a line */

/* A line without its end. */
struct line {
	const char *at;
	size_t n;
	u64 number, offset;
};

struct count {
	u64 n;
	const char *reason; /* why it is not a count; NULL: it is */
	bool is_rounded;
};

struct folded_reader {
	struct importing b;
	const struct import *in;
	size_t n_counts; /* of each line */
	u64 n_rounded;   /* counts that were not whole numbers */
	u64 sums[COUNTS];
	bool has_modes; /* kernel functions are marked, so that all others are in user space */
	u32 unknown, kernel, jit; /* DSOs; PROFILE_NO_FRAME until there is one */
	VEC(u32) inlined;         /* of the frame that is added next */
};

/* ---- lines ---- */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes the next line that is not empty or a comment, without the blanks and the CR at its end. */
static bool next_line(struct bytes *left, struct line *line)
{
	while (bytes_left(left)) {
		const char *at = (const char *)left->at;
		const char *end = memchr(at, '\n', bytes_left(left));
		size_t n = end ? (size_t)(end - at) : bytes_left(left);

		line->number++;
		line->offset = left->offset;
		bytes_skip(left, n + (end != NULL));
		while (n && (is_blank(at[n - 1]) || at[n - 1] == '\r'))
			n--;
		/* "#<Class..." is a Ruby class, not a comment. */
		if (!n || (*at == '#' && (n == 1 || is_blank(at[1]) || at[1] == '!')))
			continue;
		line->at = at;
		line->n = n;
		return true;
	}
	return false;
}

/* The start of the last word, which must have blanks before it; 0: there is no such word. */
static size_t last_word(const char *at, size_t n)
{
	size_t i = n;

	while (i && !is_blank(at[i - 1]))
		i--;
	return i;
}

/* The length of the text without its last word and the blanks before that. */
static size_t before_word(const char *at, size_t n)
{
	n = last_word(at, n);
	while (n && is_blank(at[n - 1]))
		n--;
	return n;
}

/* Reads a count such as "120", or "120.5", which flamegraph.pl accepts too. */
static struct count read_count(const char *at, size_t n)
{
	struct count c = {0};
	size_t i = 0;

	if (n > 1 && *at == '-' && is_digit(at[1]))
		return (struct count){.reason = "is negative"};
	for (; i < n && is_digit(at[i]); i++)
		if (__builtin_mul_overflow(c.n, 10, &c.n) ||
			__builtin_add_overflow(c.n, (u64)(at[i] - '0'), &c.n))
			return (struct count){.reason = "is more than 64 bits hold"};
	if (!i)
		return (struct count){.reason = "is no number"};
	if (i < n && at[i] == '.') {
		c.n += ++i < n && at[i] >= '5' && is_digit(at[i]) && c.n < UINT64_MAX;
		for (; i < n && is_digit(at[i]); i++)
			c.is_rounded |= at[i] != '0';
	}
	return i == n ? c : (struct count){.reason = "is no number"};
}

static bool ends_in_count(const char *at, size_t n)
{
	const size_t i = last_word(at, n);

	return i && before_word(at, n) && !read_count(at + i, n - i).reason;
}

static bool is_text(const u8 *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (at[i] < ' ' && at[i] != '\t' && at[i] != '\r' && at[i] != '\n')
			return false;
	return true;
}

/* Whether some line at the beginning, or a line that is longer than the beginning, is a stack. */
static bool folded_recognizes(const u8 *first, size_t n)
{
	struct bytes left = bytes_of(first, n);
	struct line line = {0};

	if (memchr(first, 0, MIN(n, (size_t)64)))
		return false;
	while (next_line(&left, &line)) {
		if (!is_text((const u8 *)line.at, line.n))
			continue;
		if (ends_in_count(line.at, line.n))
			return true;
		if (n >= IMPORT_PEEK && !bytes_left(&left) && memchr(line.at, ';', line.n))
			return true;
	}
	return false;
}

/* The number of counts per line: 2 only if all lines have two, because a name may end in a number, too. */
static size_t find_counts(struct bytes left)
{
	struct line line = {0};
	bool has_lines = false;

	while (next_line(&left, &line)) {
		has_lines = true;
		if (!ends_in_count(line.at, line.n) ||
			!ends_in_count(line.at, before_word(line.at, line.n)))
			return 1;
	}
	return has_lines ? 2 : 1;
}

static int bad_line(const struct folded_reader *r, const struct line *line, const char *reason,
	struct err *err)
{
	return err_set(err, ERR_FORMAT, "'%s': line %llu, at offset 0x%llx, %s", r->in->path,
		(unsigned long long)line->number, (unsigned long long)line->offset, reason);
}

/* Takes the counts off the line. */
static int take_counts(struct folded_reader *r, struct line *line, u64 *counts, struct err *err)
{
	struct str said = {0};
	const char *nul = memchr(line->at, 0, line->n);

	if (nul)
		return bad_line(r, line, "has a NUL byte in it", err);
	for (size_t i = r->n_counts; i-- > 0;) {
		const size_t word = last_word(line->at, line->n);
		const struct count c = read_count(line->at + word, line->n - word);

		if (!word || !before_word(line->at, line->n))
			return bad_line(r, line,
				word ? "has a count without a stack before it"
				     : "has no count after its stack: 'main;f 12' is expected",
				err);
		if (c.reason) {
			str_addf(&said, "has a count that %s: '", c.reason);
			str_add_safe(&said, line->at + word, MIN(line->n - word, (size_t)40));
			str_addc(&said, '\'');
			bad_line(r, line, said.at, err);
			str_fini(&said);
			return err->code;
		}
		if (__builtin_add_overflow(r->sums[i], c.n, &r->sums[i]))
			return bad_line(r, line,
				"makes the sum of all counts more than 64 bits hold", err);
		counts[i] = c.n;
		r->n_rounded += c.is_rounded;
		line->n = before_word(line->at, line->n);
	}
	return 0;
}

/* ---- frames ---- */

/* Whether this is "; 32]", the end of a Rust array type such as "[u8; 32]". */
static bool is_array_end(const char *at, const char *end)
{
	if (end - at < 4 || at[1] != ' ' || !is_digit(at[2]))
		return false;
	for (at += 3; at < end && is_digit(*at);)
		at++;
	return at < end && *at == ']';
}

/* The end of the frame that begins at `at`. Not every ';' ends a frame: see "Ljava/lang/Object;::wait". */
static const char *frame_end(const char *at, const char *end)
{
	bool is_open = false;

	for (const char *p = at; p < end; p++) {
		if (*p == '[' || *p == ']')
			is_open = *p == '[';
		if (*p != ';' || (end - p > 2 && p[1] == ':' && p[2] == ':') ||
			(is_open && is_array_end(p, end)))
			continue;
		return p;
	}
	return end;
}

static u32 get_dso(struct folded_reader *r, u32 *dso, enum dso_kind kind, const char *name)
{
	if (*dso == PROFILE_NO_FRAME)
		*dso = importing_dso(&r->b, kind, name, name, NULL);
	return *dso;
}

/* The file of "[libc.so.6]". */
static u32 file_of(struct folded_reader *r, const char *name, size_t n)
{
	const char *text = intern_add(&r->b.profile->strings, name, n);

	return importing_dso(&r->b, DSO_FILE, text, text, NULL);
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(at, word, n);
}

/* The DSO that a name in brackets stands for. */
static u32 dso_in_brackets(struct folded_reader *r, const char *at, size_t n)
{
	static const char *const none[] = {"unknown", "heap", "stack", "anon", "vdso", "vsyscall"};

	if (n < 3 || *at != '[' || at[n - 1] != ']')
		return get_dso(r, &r->unknown, DSO_UNKNOWN, "[unknown]");
	at++;
	n -= 2;
	if (is_word(at, n, "kernel.kallsyms") || is_word(at, n, "[kernel.kallsyms]"))
		return get_dso(r, &r->kernel, DSO_KERNEL, "[kernel.kallsyms]");
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		if (is_word(at, n, none[i]))
			return i ? file_of(r, at - 1, n + 2)
				 : get_dso(r, &r->unknown, DSO_UNKNOWN, "[unknown]");
	/* A name with blanks describes the stack itself: "[truncated: no frame pointer]". */
	return memchr(at, ' ', n) ? get_dso(r, &r->unknown, DSO_UNKNOWN, "[unknown]")
				  : file_of(r, at, n);
}

/* The letter of "_[k]" at the end of a name, or 0. */
static char mark_of(const char *at, size_t n)
{
	const char *mark = at + n - 4;

	return n > 4 && mark[0] == '_' && mark[1] == '[' && mark[3] == ']' &&
			memchr("kjiw", mark[2], 4)
		? mark[2]
		: 0;
}

static u32 symbol_of(struct folded_reader *r, const char *at, size_t n)
{
	struct intern *strings = &r->b.profile->strings;
	const char mark = mark_of(at, n);
	struct profile_symbol s = {.mode = PROFILE_NO_MODE, .is_inlined = mark == 'i'};

	if (mark) {
		n -= 4;
		s.mark = intern_add(strings, at + n, 4);
	}
	s.name = intern_add(strings, at, n);
	s.dso = mark == 'k'   ? get_dso(r, &r->kernel, DSO_KERNEL, "[kernel.kallsyms]")
		: mark == 'j' ? get_dso(r, &r->jit, DSO_JIT, "[JIT]")
			      : dso_in_brackets(r, at, n);
	if (mark == 'k' || s.dso == r->kernel)
		s.mode = PERF_RECORD_MISC_KERNEL;
	r->has_modes |= mark == 'k';
	if (r->b.options->source)
		s.line = s.file = intern_str(strings, "");
	return importing_symbol(&r->b, &s);
}

static void end_frame(struct folded_reader *r, u32 symbol)
{
	if (!symbol)
		return;
	vec_add(&r->b.path,
		importing_frame(&r->b, symbol, symbol, r->inlined.at, (u32)r->inlined.n));
	r->inlined.n = 0;
}

/* Takes the frames of a line; an inlined function belongs to the frame before it. */
static void take_frames(struct folded_reader *r, const char *at, const char *end)
{
	u32 outer = 0; /* a symbol, 0: none */

	r->b.path.n = 0;
	for (;;) {
		const char *stop = frame_end(at, end);
		const u32 symbol = symbol_of(r, at, (size_t)(stop - at));

		if (outer && r->b.profile->symbols.at[symbol].is_inlined &&
			r->inlined.n < IMPORT_INLINED) {
			vec_add(&r->inlined, symbol);
		} else {
			end_frame(r, outer);
			outer = symbol;
		}
		if (stop == end)
			break;
		at = stop + 1;
	}
	end_frame(r, outer);
}

/* ---- all of it ---- */

/* Takes the first of several frames as the thread's name, if that is wanted. */
static u64 take_comm(struct folded_reader *r, const char **at, const char *end)
{
	const char *stop = frame_end(*at, end), *comm;

	if (!(r->b.options->labels & LABEL_BIT(LABEL_COMM)) || stop == end)
		return 0;
	comm = intern_add(&r->b.profile->strings, *at, (size_t)(stop - *at));
	*at = stop + 1;
	return (u64)(uintptr_t)comm;
}

static int read_lines(struct folded_reader *r, struct err *err)
{
	struct bytes left = import_bytes(r->in);
	struct line line = {0};

	while (next_line(&left, &line)) {
		const char *at = line.at;
		u64 counts[COUNTS], comm;

		if (take_counts(r, &line, counts, err) || importing_charge(&r->b, line.offset, err))
			return err->code;
		comm = take_comm(r, &at, line.at + line.n);
		take_frames(r, at, line.at + line.n);
		for (u32 i = 0; i < r->n_counts; i++)
			importing_add_row(&r->b, i, counts[i], counts[i], &comm);
	}
	return import_charge(r->in, r->b.profile, 0, r->in->bytes.n, err);
}

/* If kernel functions are marked, all others are in user space. */
static void set_modes(const struct folded_reader *r)
{
	if (!r->has_modes)
		return;
	vec_each(s, &r->b.profile->symbols)
		s->mode = s->mode == PROFILE_NO_MODE ? PERF_RECORD_MISC_USER : s->mode;
	vec_each(f, &r->b.profile->frames)
		f->mode = f->mode == PROFILE_NO_MODE ? PERF_RECORD_MISC_USER : f->mode;
}

static int folded_read(const struct import *in, const struct import_options *o, struct profile *p,
	struct err *err)
{
	struct folded_reader r = {.in = in,
		.n_counts = find_counts(import_bytes(in)),
		.unknown = PROFILE_NO_FRAME,
		.kernel = PROFILE_NO_FRAME,
		.jit = PROFILE_NO_FRAME};
	int result;

	importing_init(&r.b, in, o, p);
	if (r.n_counts == 2) {
		importing_event(&r.b, "before", 2);
		importing_event(&r.b, "after", 0);
	} else {
		importing_event(&r.b, "samples", 1);
	}
	result = read_lines(&r, err);
	set_modes(&r);
	if (!result && r.n_rounded)
		log_note(o->log, "'%s': %llu counts are not whole numbers and were rounded",
			in->path, (unsigned long long)r.n_rounded);
	importing_fini(&r.b);
	vec_fini(&r.inlined);
	return result;
}

const struct importer import_folded = {.name = "folded",
	.what = "folded stacks",
	.keys = "symbol",
	.labels = LABEL_BIT(LABEL_COMM),
	.recognizes = folded_recognizes,
	.read = folded_read};
