#include "view/text/words.h"

#include "base/num.h"

void words_add_safe(struct str *text, const char *s)
{
	str_add_safe(text, s, strlen(s));
}

void words_add_label(struct str *text, const char *label)
{
	str_addf(text, "%-*s", WORDS_LABEL, label);
}

void words_add_column(struct str *text, const char *s, unsigned width)
{
	struct str safe = {0};
	size_t columns = str_add_safe(&safe, s, strlen(s));

	str_addn(text, safe.at, safe.n);
	str_fill(text, ' ', columns < width ? width - columns : 0);
	str_fini(&safe);
}

void words_add_number(struct str *text, u64 v, unsigned width)
{
	struct str number = {0};

	num_add_grouped(&number, v);
	str_addf(text, "%*s", (int)width, str_text(&number));
	str_fini(&number);
}

void words_add_count(struct str *text, u64 n, const char *what)
{
	num_add_grouped(text, n);
	str_addf(text, " %s%s", what, n == 1 ? "" : "s");
}

void words_add_seconds(struct str *text, u64 ns)
{
	str_addf(text, "%llu.%09llu s", (unsigned long long)(ns / 1000000000),
		(unsigned long long)(ns % 1000000000));
}

void words_add_ns(struct str *text, u64 ns)
{
	num_add_grouped(text, ns);
	str_add(text, " ns");
}

void words_add_wrapped(const char *words, size_t indent, size_t columns, struct str *text)
{
	struct str safe = {0};
	size_t used = 0;
	const char *at;

	words_add_safe(&safe, words);
	at = str_text(&safe);
	while (*(at += strspn(at, " "))) {
		size_t n = strcspn(at, " ");

		if (!used || used + 1 + n > columns) {
			str_add(text, used ? "\n" : "");
			str_fill(text, ' ', indent);
			used = indent + n;
		} else {
			str_addc(text, ' ');
			used += 1 + n;
		}
		str_addn(text, at, n);
		at += n;
	}
	str_add(text, used ? "\n" : "");
	str_fini(&safe);
}

void words_add_page_size(struct str *text, u64 size)
{
	static const char units[] = "BKMGT";
	size_t unit = 0;

	for (; size >= 1024 && unit + 2 < sizeof(units); size /= 1024)
		unit++;
	num_add_u64(text, size);
	str_addc(text, units[unit]);
}
