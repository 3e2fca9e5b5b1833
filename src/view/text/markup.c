#include "view/text/markup.h"

#include <string.h>

/* U+FFFE and U+FFFF are no characters of XML. */
static bool is_no_character(const char *p, size_t n)
{
	return n >= 3 && !memcmp(p, "\xef\xbf", 2) && (u8)p[2] >= 0xbe;
}

void markup_addn(struct str *out, const char *safe, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (safe[i]) {
		case '<':
			str_add(out, "&lt;");
			break;
		case '>':
			str_add(out, "&gt;");
			break;
		case '&':
			str_add(out, "&amp;");
			break;
		case '"':
			str_add(out, "&quot;");
			break;
		default:
			if (!is_no_character(safe + i, n - i)) {
				str_addc(out, safe[i]);
				break;
			}
			str_add(out, (u8)safe[i + 2] == 0xbe ? "\\ufffe" : "\\uffff");
			i += 2;
		}
	}
}

void markup_add(struct str *out, const char *text)
{
	struct str safe = {0};

	str_add_safe(&safe, text, strlen(text));
	markup_addn(out, str_text(&safe), safe.n);
	str_fini(&safe);
}
