#include "symbol/probe/markers.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/find/filecache.h"
#include "symbol/probe/stapnote.h"

static void add_all(struct markers *m, const struct elf *elf, const char *path, const char *id)
{
	stapnote_list notes = {0};

	stapnotes_read(elf, elf_arch(elf), &notes);
	path = intern_str(&m->strings, path);
	id = intern_str(&m->strings, id);
	vec_each(n, &notes)
		vec_add(&m->at,
			((struct marker){intern_str(&m->strings, n->provider),
				intern_str(&m->strings, n->name), intern_str(&m->strings, n->args),
				path, id, 1}));
	vec_fini(&notes);
}

int markers_add_file(struct markers *m, const char *path, struct err *err)
{
	u8 id[BUILD_ID_MAX];
	struct str text = {0};
	char *real = realpath(path, NULL);
	struct elf elf;
	u8 n;

	if (elf_open(&elf, path, err)) {
		free(real);
		return err->code;
	}
	n = elf_build_id(&elf, id);
	for (u8 i = 0; i < n; i++)
		str_addf(&text, "%02x", id[i]);
	add_all(m, &elf, real ? real : path, str_text(&text));
	elf_close(&elf);
	str_fini(&text);
	free(real);
	return 0;
}

int markers_add_cache(struct markers *m, struct err *err)
{
	struct filecache cache;

	if (filecache_open(&cache, err))
		return err->code;
	vec_each(e, &cache.entries) {
		struct str link = {0}, folder = {0}, path = {0};
		struct err ignored;
		struct elf elf;

		filecache_add_names(e, &link, &folder);
		str_addf(&path, "%s/%s/elf", cache.folder.at, str_text(&folder));
		if (!elf_open(&elf, str_text(&path), &ignored)) {
			add_all(m, &elf, e->path, e->id);
			elf_close(&elf);
		}
		str_fini(&link);
		str_fini(&folder);
		str_fini(&path);
	}
	filecache_close(&cache);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct marker *x = a, *y = b;
	int r = strcmp(x->provider, y->provider);

	r = r ? r : strcmp(x->name, y->name);
	r = r ? r : strcmp(x->id, y->id);
	return r ? r : strcmp(x->path, y->path);
}

void markers_finish(struct markers *m)
{
	size_t n = 0;

	if (m->at.n)
		qsort(m->at.at, m->at.n, sizeof(*m->at.at), compare);
	vec_each(one, &m->at) {
		if (n && !compare(&m->at.at[n - 1], one))
			m->at.at[n - 1].n_places++;
		else
			m->at.at[n++] = *one;
	}
	m->at.n = n;
}

void markers_fini(struct markers *m)
{
	vec_fini(&m->at);
	intern_fini(&m->strings);
}

void marker_add_name(const struct marker *m, struct str *text)
{
	str_add(text, "sdt_");
	str_add_safe(text, m->provider, strlen(m->provider));
	str_addc(text, ':');
	str_add_safe(text, m->name, strlen(m->name));
}

bool marker_is(const struct marker *m, const char *word)
{
	struct str name = {0};
	bool is;

	word += *word == '%';
	marker_add_name(m, &name);
	/* Behind "sdt_" and behind the colon: the shorter names of the same. */
	is = !fnmatch(word, name.at, 0) || !fnmatch(word, name.at + 4, 0) ||
		!fnmatch(word, m->name, 0);
	str_fini(&name);
	return is;
}
