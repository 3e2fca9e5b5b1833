#include "symbol/kernel/kallsyms.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/sysfile.h"
#include "base/vec.h"
#include "collect/around/privilege.h"
#include "symbol/find/cache.h"
#include "symbol/elf/elf.h"

enum {
	FILE_LIMIT = 256 << 20,
	USUAL_BYTES = 16 << 20,
	USUAL_LINE = 40,
	KEY_SIZE = 128,
	MODULES_LIMIT = 4 << 20
};

/* The head of a stored table; the entries and the names follow. */
struct stored {
	u64 magic;
	u64 text;
	u64 n, names_size;
};

#define STORED_MAGIC 0x32736d7973656b70ULL /* "pkesyms2" */

/* Parses a line of /proc/modules: name size users state 0xaddress. */
static bool take_module(const char *line, const char *end,
	bool (*take)(void *ctx, const char *name, size_t n, u64 base, u64 size), void *ctx)
{
	const char *space = memchr(line, ' ', end - line),
		   *hex = space ? memmem(space, end - space, " 0x", 3) : NULL;

	return !hex || space == line ||
		take(ctx, line, space - line, strtoull(hex + 1, NULL, 16),
			strtoull(space + 1, NULL, 10));
}

void kallsyms_each_module(const char *path, struct log *log,
	bool (*take)(void *ctx, const char *name, size_t n, u64 base, u64 size), void *ctx)
{
	struct str text = {0};
	struct err err;

	if (sysfile_read(path, MODULES_LIMIT, &text, &err)) {
		log_untried(log, "modules", &err);
	} else {
		const char *line = text.at, *stop = line + text.n;

		while (line < stop) {
			const char *newline = memchr(line, '\n', stop - line),
				   *end = newline ? newline : stop;

			if (!take_module(line, end, take, ctx))
				break;
			line = end + 1;
		}
	}
	str_fini(&text);
}

struct wanted {
	const char *name;
	size_t n;
	u64 base;
};

static bool is_wanted_module(void *ctx, const char *name, size_t n, u64 base, u64 size)
{
	struct wanted *w = ctx;

	(void)size;
	if (n != w->n || memcmp(name, w->name, n))
		return true;
	w->base = base;
	return false;
}

u64 kallsyms_module_base(const char *path, const char *name, size_t n, struct log *log)
{
	struct wanted wanted = {name, n, 0};

	kallsyms_each_module(path, log, is_wanted_module, &wanted);
	return wanted.base;
}

/* ---- reading the text ---- */

/* One line that names a function. */
struct line {
	u64 start;
	const char *name;
	bool is_core; /* of the kernel itself, not of a module */
};

typedef VEC(struct line) lines;

/* Whether the symbol is a function, or data: some entry code has labels of that type. */
static bool is_wanted(char type)
{
	char lower = type | 0x20;

	return lower == 't' || lower == 'w' || lower == 'd' || lower == 'b';
}

/* Parses the hexadecimal digits at *at and moves *at behind them. */
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

/* What the lines say about the file. */
struct looks {
	u64 text; /* the address of _text; 0: not seen */
	bool has_address, has_hidden;
};

static void parse(char *text, char *end, lines *all, struct looks *looks)
{
	for (char *line = text; line < end;) {
		char *newline = memchr(line, '\n', end - line);
		char *stop = newline ? newline : end;
		const char *p = line;
		u64 address = scan_address(&p);
		char *name, *tab;

		/*
		 * "ffffffff81000000 T _text"; symbols of modules have a tab and [module] behind
		 * the name
		 */
		looks->has_hidden |= p - line >= 4 && p + 3 < stop && *p == ' ' && !address;
		if (p + 3 < stop && *p == ' ' && address) {
			char type = p[1];

			name = (char *)p + 3;
			*stop = '\0';
			tab = stop[-1] == ']' ? strchr(name, '\t') : NULL;
			if (tab)
				*tab = '\0';
			looks->has_address |= p - line >= 4 && p[2] == ' ';
			if (name[0] == '_' &&
				(!strcmp(name, "_text") ||
					(!looks->text && !strcmp(name, "_stext"))))
				looks->text = address;
			if (is_wanted(type))
				vec_add(all, ((struct line){address, name, !tab}));
		}
		line = stop + 1;
	}
}

static void sort_lines(lines *all)
{
	struct sort_item *items = mem_alloc((all->n + 1) * sizeof(*items));
	struct line *sorted = mem_alloc((all->n + 1) * sizeof(*sorted));

	for (size_t i = 0; i < all->n; i++)
		items[i] = (struct sort_item){all->at[i].start, i};
	sort_by_key(items, all->n);
	for (size_t i = 0; i < all->n; i++)
		sorted[i] = all->at[items[i].value];
	mem_free(items);
	mem_free(all->at);
	all->at = sorted;
	all->cap = all->n;
}

/*
 * Sorts the lines and keeps one name for each address. Of several it keeps the last in the file, as perf does:
 * for system calls this is the familiar name (__x64_sys_fork, after __do_sys_fork and __ia32_sys_fork).
 */
static void choose(lines *all)
{
	size_t n = 0;

	sort_lines(all);
	vec_each(line, all) {
		if (n && all->at[n - 1].start == line->start)
			n--;
		all->at[n++] = *line;
	}
	all->n = n;
}

/* ---- the table ---- */

/* Writes the chosen lines as a stored table; without modules if `core_only`. */
static void lay_out(const lines *all, u64 text, bool core_only, struct str *out)
{
	struct stored head = {.magic = STORED_MAGIC, .text = text};

	vec_each(line, all) {
		if (core_only && !line->is_core)
			continue;
		head.n++;
		head.names_size += strlen(line->name) + 1;
	}
	str_reserve(out, sizeof(head) + head.n * sizeof(struct kallsyms_entry) + head.names_size);
	str_addn(out, &head, sizeof(head));
	head.names_size = 0;
	vec_each(line, all) {
		struct kallsyms_entry entry = {line->start, head.names_size};

		if (core_only && !line->is_core)
			continue;
		str_addn(out, &entry, sizeof(entry));
		head.names_size += strlen(line->name) + 1;
	}
	vec_each(line, all)
		if (!core_only || line->is_core)
			str_addn(out, line->name, strlen(line->name) + 1);
}

/* Points the table at a stored one. Returns false if the bytes are not a table. */
static bool point(struct kallsyms *k, const u8 *data, u64 size)
{
	struct stored head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	if (head.magic != STORED_MAGIC ||
		head.n > (size - sizeof(head)) / sizeof(struct kallsyms_entry) ||
		head.names_size != size - sizeof(head) - head.n * sizeof(struct kallsyms_entry) ||
		!head.names_size || data[size - 1])
		return false;
	k->entries = (const void *)(data + sizeof(head));
	k->n = head.n;
	k->names = (const char *)data + (size - head.names_size);
	k->names_size = head.names_size;
	k->text = head.text;
	return true;
}

/* The start of the kernel's code, from the first lines of the file; 0 if it is hidden. */
static u64 read_text_address(const char *path)
{
	char buf[65536];
	struct looks looks = {0};
	lines none = {0};
	ssize_t n;
	int fd;

	/* Room for the largest possible number of lines: nothing may be allocated while the file is open. */
	vec_reserve(&none, sizeof(buf) / 8);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		vec_fini(&none);
		return 0;
	}
	/*
	 * One read returns a page. The symbol is on the first page or, after per-CPU offsets, on one of the next.
	 */
	for (int i = 0; i < 16 && !looks.text && (n = fd_read(fd, buf, sizeof(buf) - 1)) > 0; i++) {
		buf[n] = 0;
		parse(buf, buf + n, &none, &looks);
		none.n = 0;
	}
	vec_fini(&none);
	close(fd);
	return looks.text;
}

/* The key has the build and the address: both the same means that all functions are where they were when cached. */
static void make_key(u64 text, const u8 *build_id, u8 n, char key[KEY_SIZE])
{
	size_t at = snprintf(key, KEY_SIZE, "kallsyms-%llx-", (unsigned long long)text);

	for (u8 i = 0; i < n; i++)
		at += snprintf(key + at, KEY_SIZE - at, "%02x", build_id[i]);
}

static bool open_cached(struct kallsyms *k, const char *key)
{
	if (!cache_map(key, false, &k->map, &k->map_size))
		return false;
	if (point(k, k->map, k->map_size))
		return true;
	munmap((void *)k->map, k->map_size);
	k->map = NULL;
	return false;
}

/* Says why a file has no functions: it is another kind of file, or its addresses are zeros. */
static int refuse(const char *path, const struct looks *looks, struct err *err)
{
	struct privilege p;
	char why[256];

	if (looks->has_address)
		return err_set(err, ERR_FORMAT, "'%s' has no functions", path);
	if (!looks->has_hidden)
		return err_set(err, ERR_FORMAT,
			"'%s' is not a list of a kernel's functions: it has no line like 'ffffffff81000000 T _text'",
			path);
	/* The restrictions of this machine do not explain a copy. */
	if (strncmp(path, "/proc/", 6))
		return err_set(err, ERR_PERM,
			"'%s' has no addresses: they were hidden from the user who copied it; copy it as root",
			path);
	privilege_read(&p);
	return err_set(err, ERR_PERM, "'%s' shows no addresses: %s", path,
		privilege_explain_hidden(&p, why, sizeof(why)));
}

int kallsyms_open(struct kallsyms *k, const char *path, bool with_modules, const u8 *build_id, u8 n,
	struct err *err)
{
	struct looks looks = {0};
	struct str text = {0}, core = {0};
	lines all = {0};
	char key[KEY_SIZE];
	u64 address = 0;

	memset(k, 0, sizeof(*k));
	if (n && !with_modules && (address = read_text_address(path)) != 0) {
		make_key(address, build_id, n, key);
		if (open_cached(k, key))
			return 0;
	}
	str_reserve(&text, USUAL_BYTES);
	if (sysfile_read(path, FILE_LIMIT, &text, err)) {
		str_fini(&text);
		return err->code;
	}
	vec_reserve(&all, text.n / USUAL_LINE);
	parse(text.at, text.at + text.n, &all, &looks);
	choose(&all);
	lay_out(&all, looks.text, false, &k->bytes);
	if (looks.has_address && n && looks.text) {
		lay_out(&all, looks.text, true, &core);
		make_key(looks.text, build_id, n, key);
		cache_store(key, &(struct cache_part){core.at, core.n}, 1);
	}
	str_fini(&core);
	str_fini(&text);
	vec_fini(&all);
	if (!looks.has_address || !point(k, (const u8 *)k->bytes.at, k->bytes.n)) {
		kallsyms_close(k);
		return refuse(path, &looks, err);
	}
	return 0;
}

void kallsyms_close(struct kallsyms *k)
{
	if (k->map)
		munmap((void *)k->map, k->map_size);
	str_fini(&k->bytes);
	memset(k, 0, sizeof(*k));
}

const char *kallsyms_find(const struct kallsyms *k, u64 address, u64 *ret_start, u64 *ret_end)
{
	enum { LAST_ROOM = 4096 };
	/* `start` is the first member, so search_behind() compares it. */
	u64 low = search_behind(k->entries, k->n, sizeof(*k->entries), address), end;

	if (!low || k->entries[low - 1].name >= k->names_size)
		return NULL;
	end = low < k->n ? k->entries[low].start : k->entries[low - 1].start + LAST_ROOM;
	if (address >= end)
		return NULL;
	*ret_start = k->entries[low - 1].start;
	*ret_end = end;
	return k->names + k->entries[low - 1].name;
}

int kallsyms_each_named(const char *path, const char *name,
	void (*take)(void *ctx, u64 address, const char *module, size_t n), void *ctx,
	struct err *err)
{
	const size_t n_name = strlen(name);
	struct str text = {0};
	const char *at, *stop;

	str_reserve(&text, USUAL_BYTES);
	if (!n_name || sysfile_read(path, FILE_LIMIT, &text, err)) {
		str_fini(&text);
		return n_name ? err->code : 0;
	}
	stop = text.at + text.n;
	for (const char *line = text.at; line < stop; line = at + 1) {
		const char *p = line, *behind;
		u64 address = scan_address(&p);

		at = memchr(line, '\n', stop - line);
		at = at ? at : stop;
		behind = p + 3 + n_name;
		if (!address || behind > at || memcmp(p + 3, name, n_name) || !is_wanted(p[1]))
			continue;
		if (behind == at)
			take(ctx, address, "", 0);
		else if (*behind == '\t' && at - behind >= 3 && behind[1] == '[' && at[-1] == ']')
			take(ctx, address, behind + 2, at - behind - 3);
	}
	str_fini(&text);
	return 0;
}
