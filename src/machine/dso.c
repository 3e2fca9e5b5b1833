#include "machine/dso.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/hash.h"

void dso_list_init(struct dso_list *list, struct intern *strings)
{
	memset(list, 0, sizeof(*list));
	list->strings = strings;
	dso_get_kind(list, "[unknown]", 9, DSO_UNKNOWN);
}

void dso_list_fini(struct dso_list *list)
{
	table_fini(&list->index);
	vec_fini(&list->at);
	arena_fini(&list->arena);
}

void dso_list_copy(struct dso_list *to, const struct dso_list *from)
{
	for (size_t i = to->at.n; i < from->at.n; i++) {
		struct dso *dso = arena_zalloc(&to->arena, sizeof(*dso));

		*dso = *from->at.at[i];
		dso->path = intern_str(to->strings, dso->path);
		dso->name = intern_str(to->strings, dso->name);
		vec_add(&to->at, dso);
	}
	vec_each(dso, &to->at)
		if ((*dso)->namesake)
			(*dso)->namesake = to->at.at[(*dso)->namesake->id];
}

void dso_add_build(const struct dso *dso, struct str *text)
{
	for (unsigned i = 0; i < dso->build_id_size; i++)
		str_addf(text, "%02x", dso->build_id[i]);
	if (!dso->build_id_size && dso->inode)
		str_addf(text, "%016llx",
			(unsigned long long)hash_lasting(dso->inode,
				hash_lasting(dso->device, dso->generation)));
}

static bool begins(const char *text, size_t n, const char *with)
{
	size_t m = strlen(with);

	return n >= m && !memcmp(text, with, m);
}

/* "/lib/modules/6.1/kernel/net/nf-tables.ko.xz" -> "[nf_tables]", as the kernel calls it. */
static const char *module_name(struct dso_list *list, const char *path)
{
	const char *base = strrchr(path, '/'), *end;
	struct str name = {0};
	const char *kept;

	if (path[0] == '[')
		return path;
	base = base ? base + 1 : path;
	end = strstr(base, ".ko");
	str_addc(&name, '[');
	for (const char *p = base; *p && p != end; p++)
		str_addc(&name, *p == '-' ? '_' : *p);
	str_addc(&name, ']');
	kept = intern_add(list->strings, str_text(&name), name.n);
	str_fini(&name);
	return kept;
}

static const char *short_name(struct dso_list *list, enum dso_kind kind, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (kind == DSO_MODULE)
		return module_name(list, path);
	/* "//anon" and "[stack:12]" are names as they are. */
	if ((kind != DSO_FILE && kind != DSO_JITDUMP) || !slash || !slash[1])
		return path;
	return intern_str(list->strings, slash + 1);
}

static struct dso *add(struct dso_list *list, enum dso_kind kind, const char *path)
{
	struct dso *dso = arena_zalloc(&list->arena, sizeof(*dso));

	dso->id = list->at.n;
	dso->kind = kind;
	dso->path = path;
	dso->name = short_name(list, kind, path);
	vec_add(&list->at, dso);
	return dso;
}

static struct dso *get(struct dso_list *list, const char *path, size_t n, enum dso_kind kind,
	bool is_guest, u32 pid)
{
	const char *kept = intern_add(list->strings, path, n);
	u64 hash = hash_mix((u64)(uintptr_t)kept, kind | (u64)is_guest << 8 | (u64)pid << 16);
	struct table_probe probe = table_probe(&list->index, hash);
	struct dso *dso;
	u32 i;

	while ((i = table_next(&list->index, &probe)) != TABLE_NONE)
		if (list->at.at[i]->path == kept && list->at.at[i]->kind == kind &&
			list->at.at[i]->is_guest == is_guest &&
			(!is_guest || list->at.at[i]->pid == pid))
			return list->at.at[i];
	table_add(&list->index, hash, list->at.n);
	dso = add(list, kind, kept);
	dso->is_guest = is_guest;
	dso->pid = pid;
	return dso;
}

struct dso *dso_get_kind(struct dso_list *list, const char *path, size_t n, enum dso_kind kind)
{
	return get(list, path, n, kind, false, 0);
}

struct dso *dso_get_guest(struct dso_list *list, const char *path, size_t n, u32 pid)
{
	const char *end;

	n = strnlen(path, n);
	if (!begins(path, n, "[guest.kernel"))
		return get(list, path, n, DSO_MODULE, true, pid);
	end = memchr(path, ']', n);
	return get(list, path, end ? (size_t)(end + 1 - path) : n, DSO_KERNEL, true, pid);
}

static bool is_anonymous(const char *path, size_t n)
{
	return begins(path, n, "//anon") || begins(path, n, "/dev/zero") ||
		begins(path, n, "/anon_hugepage") || n == 0;
}

/* Anonymous executable memory belongs to a JIT; its symbols, if any, are in /tmp/perf-PID.map. */
static struct dso *get_jit(struct dso_list *list, u32 pid)
{
	char path[64], name[64];
	struct dso *dso;
	int n = snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);

	dso = dso_get_kind(list, path, n, DSO_JIT);
	n = snprintf(name, sizeof(name), "[JIT] tid %u", pid);
	dso->name = intern_add(list->strings, name, n);
	dso->pid = pid;
	return dso;
}

struct dso *dso_get(struct dso_list *list, const char *path, size_t n, u32 pid, bool is_kernel)
{
	n = strnlen(path, n);
	if (is_kernel) {
		/*
		 * "[kernel.kallsyms]_text": what follows the bracket names the symbol the address
		 * belongs to.
		 */
		if (begins(path, n, "[kernel.kallsyms]") || begins(path, n, "[kernel]"))
			return dso_get_kind(list, "[kernel.kallsyms]", 17, DSO_KERNEL);
		return dso_get_kind(list, path, n, DSO_MODULE);
	}
	if (begins(path, n, "[vdso]"))
		return dso_get_kind(list, path, n, DSO_VDSO);
	if (is_anonymous(path, n))
		return get_jit(list, pid);
	if (begins(path, n, "/SYSV") || path[0] == '[')
		return dso_get_kind(list, path, n, DSO_NONE);
	return dso_get_kind(list, path, n, DSO_FILE);
}

u8 dso_build_id_bytes(const u8 *id, u8 n)
{
	u8 used = n;

	if (n != BUILD_ID_MAX)
		return n;
	while (used && !id[used - 1])
		used--;
	/* The last byte of an id may be zero; the last four of a hash are not. */
	return n - used < 4 ? n : (u8)align_up(used, 4);
}

void dso_set_build_id(struct dso *dso, const u8 *id, u8 n)
{
	dso->build_id_size = dso_build_id_bytes(id, n);
	memcpy(dso->build_id, id, dso->build_id_size);
}

void dso_note_code(struct dso *dso, u64 pgoff, u64 n)
{
	u64 end = n > UINT64_MAX - pgoff ? UINT64_MAX : pgoff + n;
	bool is_first = dso->code_from == dso->code_to;

	dso->code_from = is_first ? pgoff : MIN(dso->code_from, pgoff);
	dso->code_to = is_first ? end : MAX(dso->code_to, end);
}

static u64 device_of(const struct record_mmap *map)
{
	return (u64)map->maj << 32 | map->min;
}

/* Whether a map is of another file than the DSO, though the path is the same. */
static bool is_other_file(const struct dso *dso, const struct record_mmap *map)
{
	u8 n = dso_build_id_bytes(map->build_id, map->build_id_size);

	if (n && dso->has_build_id_said)
		return n != dso->build_id_size || memcmp(map->build_id, dso->build_id, n);
	if (!map->ino || !dso->inode || device_of(map) != dso->device)
		return false;
	/* The inode number of a deleted file is used again, with another generation. */
	return map->ino != dso->inode ||
		(map->ino_generation && dso->generation && map->ino_generation != dso->generation);
}

/* Adds a file that took the place of another one, or has the same path elsewhere. */
static struct dso *add_namesake(struct dso_list *list, struct dso *last)
{
	struct dso *dso = add(list, DSO_FILE, last->path);

	dso->nth = last->nth + 1;
	dso->has_namesakes = last->has_namesakes = true;
	last->namesake = dso;
	/* Tables of build-ids are made at the end: they describe the file that was there then. */
	if (last->build_id_size && !last->has_build_id_said) {
		memcpy(dso->build_id, last->build_id, last->build_id_size);
		dso->build_id_size = last->build_id_size;
		last->build_id_size = 0;
	}
	return dso;
}

struct dso *dso_expect(struct dso_list *list, struct dso *first, u32 nth)
{
	struct dso *dso = first;

	if (dso->kind != DSO_FILE || nth >= DSO_NAMESAKES_MAX)
		return dso;
	for (; dso->nth < nth; dso = dso->namesake)
		if (!dso->namesake)
			add_namesake(list, dso);
	return dso;
}

struct dso *dso_get_mapped(struct dso_list *list, const struct record_mmap *map, bool is_kernel)
{
	const char *path = (const char *)map->path.at;
	size_t n = strnlen(path, map->path.n);
	struct dso *dso;

	/* Memory that cannot be executed holds no code. If it can be later, another record says so. */
	if (!is_kernel && map->prot && !(map->prot & PROT_EXEC) && is_anonymous(path, n))
		return n ? dso_get_kind(list, path, n, DSO_NONE)
			 : dso_get_kind(list, "//anon", 6, DSO_NONE);
	dso = dso_get(list, path, n, map->pid, is_kernel);
	if (dso->kind == DSO_FILE) {
		while (is_other_file(dso, map) && dso->namesake)
			dso = dso->namesake;
		if (is_other_file(dso, map) && dso->nth + 1 < DSO_NAMESAKES_MAX)
			dso = add_namesake(list, dso);
		if (map->ino && !dso->inode) {
			dso->device = device_of(map);
			dso->inode = map->ino;
		}
		if (map->ino == dso->inode && !dso->generation)
			dso->generation = map->ino_generation;
	}
	if (dso_build_id_bytes(map->build_id, map->build_id_size)) {
		dso_set_build_id(dso, map->build_id, map->build_id_size);
		dso->has_build_id_said = true;
	}
	return dso;
}
