#include "symbol/kallsyms.h"

#include "base/str.h"
#include "base/sysfile.h"
#include "collect/privilege.h"

enum { FILE_LIMIT = 256 << 20, USUAL_BYTES = 16 << 20, USUAL_LINE = 40 };

u8 kallsyms_build_id(u8 id[BUILD_ID_MAX])
{
	struct str notes = {0};
	struct err err;
	u8 n = 0;

	if (!sysfile_read("/sys/kernel/notes", 1 << 20, &notes, &err))
		n = elf_build_id_in_notes(bytes_of(notes.at, notes.n), id);
	str_fini(&notes);
	return n;
}

/* Functions, and data, because some entry code is labelled so. */
static bool is_wanted(char type)
{
	char lower = type | 0x20;

	return lower == 't' || lower == 'w' || lower == 'd' || lower == 'b';
}

/* The 16 (or 8) hexadecimal digits that a line starts with; *at goes behind them. */
static u64 scan_address(const char **at)
{
	const char *p = *at;
	u64 v = 0;

	for (;; p++) {
		unsigned digit = (u8)*p - '0';

		if (digit > 9) {
			digit = (u8)*p - 'a' + 10;
			if (digit - 10 > 5)
				break;
		}
		v = v << 4 | digit;
	}
	*at = p;
	return v;
}

static void parse(char *text, char *end, struct symtab *t, u64 *ret_text, bool *ret_has_address)
{
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', end - line);
		char *stop = newline ? newline : end;
		const char *p = line;
		u64 address = scan_address(&p);
		char type, *name, *tab;

		/* "ffffffff81000000 T _text", and behind the names of modules' symbols a tab and [module] */
		if (p + 3 < stop && *p == ' ' && address) {
			type = p[1];
			name = (char *)p + 3;
			*stop = '\0';
			tab = stop[-1] == ']' ? strchr(name, '\t') : NULL;
			if (tab)
				*tab = '\0';
			*ret_has_address = true;
			if (name[0] == '_' && (!strcmp(name, "_text") || (!*ret_text && !strcmp(name, "_stext"))))
				*ret_text = address;
			if (is_wanted(type))
				symtab_add(t, address, 0, name,
					type == 'w' || type == 'W' ? SYMTAB_WEAK
					: type >= 'a'		   ? SYMTAB_LOCAL
								   : SYMTAB_GLOBAL);
		}
		line = stop + 1;
	}
}

int kallsyms_read(const char *path, struct symtab *t, u64 *ret_text, struct err *err)
{
	bool has_address = false;
	struct privilege p;

	/* The names stay where they are read to. */
	str_reserve(&t->text, USUAL_BYTES);
	if (sysfile_read(path, FILE_LIMIT, &t->text, err))
		return err->code;
	*ret_text = 0;
	vec_reserve(&t->symbols, t->text.n / USUAL_LINE);
	parse(t->text.at, t->text.at + t->text.n, t, ret_text, &has_address);
	if (has_address)
		return 0;
	privilege_read(&p);
	return err_set(err, ERR_PERM,
		"'%s' shows no addresses (kptr_restrict is %lld): run as root or 'sudo sysctl kernel.kptr_restrict=0'", path,
		(long long)p.kptr_restrict);
}
