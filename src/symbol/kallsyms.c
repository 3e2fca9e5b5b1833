#include "symbol/kallsyms.h"

#include "base/num.h"
#include "base/str.h"
#include "base/sysfile.h"
#include "collect/privilege.h"

enum { FILE_LIMIT = 256 << 20 };

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
	return strchr("tTwWdDbB", type) != NULL;
}

static void parse(char *text, char *end, struct symtab *t, u64 *ret_text, bool *ret_has_address)
{
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', end - line);
		char *stop = newline ? newline : end;
		const char *p = line;
		char type, *name, *tab;
		u64 address;

		/* "ffffffff81000000 T _text", and behind the names of modules' symbols a tab and [module] */
		if (num_scan(&p, 16, &address) && p + 3 < stop && address) {
			type = p[1];
			name = (char *)p + 3;
			*stop = '\0';
			tab = strchr(name, '\t');
			if (tab)
				*tab = '\0';
			*ret_has_address = true;
			if (!strcmp(name, "_text") || (!*ret_text && !strcmp(name, "_stext")))
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
	struct str file = {0};
	char *text;

	if (sysfile_read(path, FILE_LIMIT, &file, err)) {
		str_fini(&file);
		return err->code;
	}
	/* The names stay where they are, in the symtab's arena. */
	text = arena_strdup(&t->arena, str_text(&file), file.n);
	str_fini(&file);
	*ret_text = 0;
	parse(text, text + strlen(text), t, ret_text, &has_address);
	if (has_address)
		return 0;
	privilege_read(&p);
	return err_set(err, ERR_PERM,
		"'%s' shows no addresses (kptr_restrict is %lld): run as root or 'sudo sysctl kernel.kptr_restrict=0'", path,
		(long long)p.kptr_restrict);
}
