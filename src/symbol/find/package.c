#include "symbol/find/package.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/sysfile.h"
#include "symbol/find/cache.h"
#include "symbol/elf/unpack.h"

enum {
	LIST_MAX = 16 << 20,      /* bytes of a package's list of files */
	OWNERS_MAX = 512 << 20,   /* of all these lists */
	APT_LIST_MAX = 256 << 20, /* of an archive's list, packed or unpacked */
	SMALL_LIST = 1 << 18 /* lists below this size are parsed as fast as the cache is read */
};

void packages_init(struct packages *p, const char *root)
{
	memset(p, 0, sizeof(*p));
	p->root = root;
	pthread_mutex_init(&p->lock, NULL);
}

void packages_fini(struct packages *p)
{
	str_fini(&p->owners);
	vec_fini(&p->lists);
	vec_fini(&p->debug);
	intern_fini(&p->texts);
	pthread_mutex_destroy(&p->lock);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), tail = strlen(end);

	return n >= tail && !strcmp(text + n - tail, end);
}

/* ---- dpkg ---- */

static const char dpkg_lists[] = "/var/lib/dpkg/info", list_tail[] = ".list";

static bool read_files(void *ctx, const struct dirent *entry)
{
	struct packages *p = ctx;
	struct package_files list = {.name = (u32)p->owners.n};
	struct err ignored;
	char path[PATH_MAX];
	size_t n;

	if (!ends_with(entry->d_name, list_tail))
		return true;
	/* libc6:amd64.list */
	n = MIN(strcspn(entry->d_name, ":"), strlen(entry->d_name) - strlen(list_tail));
	snprintf(path, sizeof(path), "%s%s/%s", p->root, dpkg_lists, entry->d_name);
	str_addn(&p->owners, entry->d_name, n);
	str_addn(&p->owners, "\0\n", 2);
	list.files = (u32)p->owners.n - 1;
	if (!sysfile_read(path, LIST_MAX, &p->owners, &ignored)) {
		list.end = (u32)p->owners.n;
		vec_add(&p->lists, list);
	}
	return p->owners.n < OWNERS_MAX;
}

/* Whether the line "\nPATH\n" is among the files of a package. */
static bool has_file(const struct packages *p, const struct package_files *list, const char *line)
{
	return memmem(p->owners.at + list->files, list->end - list->files, line, strlen(line)) !=
		NULL;
}

/* The package that installed a file, or NULL. With a merged /usr the path may have the prefix /usr or not. */
static const char *owner_of(const struct packages *p, const char *path)
{
	static const char usr[] = "/usr";
	bool is_in_usr = !strncmp(path, usr, strlen(usr)) && path[strlen(usr)] == '/';
	char line[2 * PATH_MAX], other[2 * PATH_MAX];

	snprintf(line, sizeof(line), "\n%s\n", path);
	snprintf(other, sizeof(other), "\n%s%s\n", is_in_usr ? "" : usr,
		is_in_usr ? path + strlen(usr) : path);
	vec_each(list, &p->lists)
		if (has_file(p, list, line) || has_file(p, list, other))
			return p->owners.at + list->name;
	return NULL;
}

/* ---- apt ---- */

static const char apt_lists[] = "/var/lib/apt/lists";

/* The value of a line "KEY: VALUE"; NULL: the line has another key. */
static const char *value_of(const char *line, size_t n, const char *key, size_t *ret_n)
{
	size_t key_n = strlen(key);

	if (n < key_n || memcmp(line, key, key_n))
		return NULL;
	*ret_n = n - key_n;
	return line + key_n;
}

static bool is_of_debug(const char *name, size_t n)
{
	return (n > strlen("-dbg") && !memcmp(name + n - strlen("-dbg"), "-dbg", strlen("-dbg"))) ||
		(n > strlen("-dbgsym") &&
			!memcmp(name + n - strlen("-dbgsym"), "-dbgsym", strlen("-dbgsym")));
}

/* Takes the packages with debug symbols from a list's paragraphs. */
static void take_paragraphs(struct packages *p, const struct str *text)
{
	const char *at = str_text(text), *end = at + text->n, *value;
	bool is_wanted = false;
	size_t n, value_n;

	for (; at < end; at += n + 1) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		n = (size_t)((stop ? stop : end) - at);
		value = value_of(at, n, "Package: ", &value_n);
		if (value) {
			is_wanted = is_of_debug(value, value_n);
			if (is_wanted)
				vec_add(&p->debug,
					((struct package_debug){
						intern_add(&p->texts, value, value_n), ""}));
			continue;
		}
		value = is_wanted ? value_of(at, n, "Build-Ids: ", &value_n) : NULL;
		if (value)
			p->debug.at[p->debug.n - 1].build_ids =
				intern_add(&p->texts, value, value_n);
	}
}

/* The same for a list that may be packed; `raw` has its bytes. */
static void take_list(struct packages *p, const struct str *raw)
{
	struct bytes b = bytes_of(str_text(raw), raw->n);
	enum unpack_form form = unpack_form_of(b);
	struct str text = {0};
	struct err ignored;

	if (form == UNPACK_NONE)
		take_paragraphs(p, raw);
	else if (!unpack(form, b, APT_LIST_MAX, &text, &ignored))
		take_paragraphs(p, &text);
	str_fini(&text);
}

/* Takes a list's result from the cache: an archive has 60,000 packages, of which a few hundred matter. */
static bool take_kept(struct packages *p, const char *key)
{
	const u8 *data;
	struct str text = {0};
	u64 size;

	if (!cache_map(key, false, &data, &size))
		return false;
	str_addn(&text, data, size);
	munmap((void *)data, size);
	take_paragraphs(p, &text);
	str_fini(&text);
	return true;
}

static void keep(const struct packages *p, size_t first, const char *key)
{
	struct str text = {0};

	for (size_t i = first; i < p->debug.n; i++)
		str_addf(&text, "Package: %s\nBuild-Ids: %s\n", p->debug.at[i].name,
			p->debug.at[i].build_ids);
	/* An empty file cannot be mapped. */
	str_addc(&text, '\n');
	cache_store(key, &(struct cache_part){text.at, text.n}, 1);
	str_fini(&text);
}

/* ..._Packages, or packed: _Packages.lz4 */
static bool read_list(void *ctx, const struct dirent *entry)
{
	struct packages *p = ctx;
	const char *name = strstr(entry->d_name, "_Packages");
	struct str raw = {0};
	size_t first = p->debug.n;
	struct err ignored;
	char path[PATH_MAX], key[128];
	struct stat st;

	if (!name || strchr(name, '_') != name || strlen(name) > sizeof("_Packages.zst") - 1)
		return true;
	snprintf(path, sizeof(path), "%s%s/%s", p->root, apt_lists, entry->d_name);
	if (stat(path, &st))
		return true;
	snprintf(key, sizeof(key), "%s%llx-%llx-%llx.%llx", cache_kinds[CACHE_PACKAGES].prefix,
		(unsigned long long)st.st_dev, (unsigned long long)st.st_ino,
		(unsigned long long)st.st_size,
		(unsigned long long)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec);
	if (st.st_size > SMALL_LIST && take_kept(p, key)) {
		p->has_lists = true;
	} else if (!sysfile_read(path, APT_LIST_MAX, &raw, &ignored)) {
		p->has_lists = true;
		take_list(p, &raw);
		if (st.st_size > SMALL_LIST)
			keep(p, first, key);
	}
	str_fini(&raw);
	return true;
}

static const char *named_like(const struct packages *p, const char *owner)
{
	static const char *const tails[] = {"-dbgsym", "-dbg"};
	size_t n = strlen(owner);

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++)
		vec_each(d, &p->debug)
			if (!strncmp(d->name, owner, n) && !strcmp(d->name + n, tails[i]))
				return d->name;
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (; *text; text += strcspn(text, " "), text += *text == ' ')
		if (!strncmp(text, word, n) && (!text[n] || text[n] == ' '))
			return true;
	return false;
}

static const char *of_build_id(const struct packages *p, const char *hex)
{
	vec_each(d, &p->debug)
		if (*hex && has_word(d->build_ids, hex))
			return d->name;
	return NULL;
}

/* ---- rpm ---- */

/* Advises to install the debug file, if rpm has made its link for the build-id of an installed file. */
static bool advise_rpm(const struct packages *p, const char *hex, struct str *out)
{
	char path[PATH_MAX];

	if (strlen(hex) <= 2)
		return false;
	snprintf(path, sizeof(path), "%s/usr/lib/.build-id/%.2s/%s", p->root, hex, hex + 2);
	if (access(path, F_OK))
		return false;
	str_addf(out,
		"install them by 'dnf --enablerepo=*debug* install /usr/lib/debug/.build-id/%.2s/%s.debug'",
		hex, hex + 2);
	return true;
}

/* ---- all together ---- */

static void read_all(struct packages *p)
{
	char path[PATH_MAX];

	p->is_read = true;
	snprintf(path, sizeof(path), "%s%s", p->root, dpkg_lists);
	folder_each(path, read_files, p);
	if (!p->lists.n)
		return;
	snprintf(path, sizeof(path), "%s%s", p->root, apt_lists);
	folder_each(path, read_list, p);
}

/* What is known about a file. */
struct package_answer {
	const char *owner,
		*debug; /* the file's package, and the one with its symbols; "": unknown */
	bool has_lists; /* apt's lists were read */
};

/*
 * Makes the key of an answer, which is valid until packages are installed or lists fetched. "": not
 * cacheable.
 */
static void make_key(const struct packages *p, const char *hex, char *key, size_t size)
{
	static const char *const folders[] = {dpkg_lists, apt_lists};
	struct str text = {0};
	char path[PATH_MAX];
	struct stat st;

	str_add(&text, cache_kinds[CACHE_PACKAGES].prefix);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		snprintf(path, sizeof(path), "%s%s", p->root, folders[i]);
		if (!stat(path, &st))
			str_addf(&text, "%llx-%llx.%lx-", (unsigned long long)st.st_ino,
				(unsigned long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	}
	str_add(&text, hex);
	snprintf(key, size, "%s", *hex && text.n < size ? str_text(&text) : "");
	str_fini(&text);
}

/*
 * Takes an answer from the cache: four concatenated strings, of which `path` is the file that was asked for.
 */
static bool take_answer(struct packages *p, const char *key, const char *path,
	struct package_answer *ret)
{
	const char *strings[4] = {""};
	const u8 *data;
	u64 size, at = 0;
	size_t i = 0;

	if (!*key || !cache_map(key, false, &data, &size))
		return false;
	for (; i < ARRAY_SIZE(strings) && memchr(data + at, '\0', size - at); i++) {
		strings[i] = intern_str(&p->texts, (const char *)data + at);
		at += strlen((const char *)data + at) + 1;
	}
	munmap((void *)data, size);
	if (i < ARRAY_SIZE(strings) || strcmp(strings[0], path))
		return false;
	*ret = (struct package_answer){strings[1], strings[2], *strings[3] != '\0'};
	return true;
}

static void keep_answer(const char *key, const char *path, const struct package_answer *a)
{
	const struct cache_part parts[] = {{path, strlen(path) + 1},
		{a->owner, strlen(a->owner) + 1}, {a->debug, strlen(a->debug) + 1},
		{a->has_lists ? "apt" : "", a->has_lists ? sizeof("apt") : 1}};

	if (*key)
		cache_store(key, parts, ARRAY_SIZE(parts));
}

static struct package_answer find_answer(struct packages *p, const char *path, const char *hex)
{
	struct package_answer a = {"", "", false};
	const char *owner, *debug;

	if (!p->is_read)
		read_all(p);
	owner = owner_of(p, path);
	debug = of_build_id(p, hex);
	if (!debug && owner)
		debug = named_like(p, owner);
	a.owner = owner ? owner : "";
	a.debug = debug ? debug : "";
	a.has_lists = p->has_lists;
	return a;
}

/* Symbols in none of apt's lists may be in an archive that is not among its sources, or on a server. */
static void advise_archive(const struct package_answer *a, struct str *out)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	str_addf(out, "it belongs to the package '%s'", a->owner);
	if (a->has_lists)
		str_add(out, ", whose debug symbols (-dbgsym) are in none of apt's sources");
	if (urls && *urls)
		str_addf(out, ": add an archive that has them, or let report ask %.200s", urls);
	else
		str_add(out, ": add an archive that has them, or set DEBUGINFOD_URLS");
}

bool packages_advise(struct packages *p, const char *path, const u8 *build_id, u8 build_id_size,
	struct str *out)
{
	struct package_answer a;
	struct str hex = {0};
	bool is_known = true;
	char key[256];

	for (u8 i = 0; i < build_id_size; i++)
		str_addf(&hex, "%02x", build_id[i]);
	pthread_mutex_lock(&p->lock);
	make_key(p, str_text(&hex), key, sizeof(key));
	if (!take_answer(p, key, path, &a)) {
		a = find_answer(p, path, str_text(&hex));
		keep_answer(key, path, &a);
	}
	if (*a.debug)
		str_addf(out, "install the package '%s'", a.debug);
	else if (*a.owner)
		advise_archive(&a, out);
	else
		is_known = advise_rpm(p, str_text(&hex), out);
	pthread_mutex_unlock(&p->lock);
	str_fini(&hex);
	return is_known;
}
