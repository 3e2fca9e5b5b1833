#include "symbol/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/str.h"

enum { PATH_SIZE = 4096 };

static void add_hex(const u8 *id, u8 n, struct str *text)
{
	for (u8 i = 0; i < n; i++)
		str_addf(text, "%02x", id[i]);
}

/* Whether the file may stand for the DSO: same build, or nothing to compare. */
static bool is_same_build(const struct dso *dso, const struct elf *elf)
{
	u8 id[BUILD_ID_MAX], n;

	if (!dso->build_id_size)
		return true;
	n = elf_build_id(elf, id);
	return n == dso->build_id_size && !memcmp(id, dso->build_id, n);
}

/* Opens a candidate. 0: it is the one; ERR_FORMAT: another build; ERR_NOENT and others: no. */
static int try_path(const struct find_places *places, const struct dso *dso, const char *path,
	struct elf *ret_elf, struct err *err)
{
	struct elf elf;

	if (elf_open(&elf, path, err)) {
		log_debug(places->log, "%s: %s", dso->path, err->msg);
		return err->code;
	}
	if (!is_same_build(dso, &elf)) {
		u8 id[BUILD_ID_MAX];
		struct str is = {0}, wanted = {0};

		add_hex(id, elf_build_id(&elf, id), &is);
		add_hex(dso->build_id, dso->build_id_size, &wanted);
		err_set(err, ERR_FORMAT, "'%s' is another build: build-id %s, recorded was %s",
			path, is.n ? str_text(&is) : "(none)", str_text(&wanted));
		log_debug(places->log, "%s: %s", dso->path, err->msg);
		str_fini(&is);
		str_fini(&wanted);
		elf_close(&elf);
		return err->code;
	}
	log_debug(places->log, "%s: using '%s'", dso->path, path);
	*ret_elf = elf;
	return 0;
}

/* <dir>/XX/YYYY<suffix>, by build-id; "" if the DSO has none. */
static void build_id_path(const struct dso *dso, const char *dir, const char *suffix, char *path)
{
	struct str text = {0};

	path[0] = '\0';
	if (dso->build_id_size < 2)
		return;
	str_addf(&text, "%s/%02x/", dir, dso->build_id[0]);
	add_hex(dso->build_id + 1, dso->build_id_size - 1, &text);
	str_add(&text, suffix);
	snprintf(path, PATH_SIZE, "%s", str_text(&text));
	str_fini(&text);
}

/* perf's cache of binaries, if this user has one. */
static bool cache_dir(char *dir)
{
	const char *home = getenv("HOME");

	return home && *home && snprintf(dir, PATH_SIZE, "%s/.debug/.build-id", home) < PATH_SIZE;
}

int find_image(const struct find_places *places, const struct dso *dso, struct elf *ret_elf,
	struct err *err)
{
	char path[PATH_SIZE], dir[PATH_SIZE];
	struct err ignored;

	snprintf(path, sizeof(path), "%s%s", places->symfs, dso->path);
	if (!try_path(places, dso, path, ret_elf, err))
		return 0;
	if (!cache_dir(dir))
		return err->code;
	build_id_path(dso, dir, "/elf", path);
	/* What was wrong with the file of the recorded name is the better explanation. */
	return *path && !try_path(places, dso, path, ret_elf, &ignored) ? 0 : err->code;
}

/* The checksum that .gnu_debuglink has of its file. */
static bool has_checksum(const struct elf *elf, u32 crc)
{
	uLong sum = crc32(0, NULL, 0);

	for (u64 at = 0; at < elf->size; at += 1 << 20)
		sum = crc32(sum, elf->data + at, MIN(elf->size - at, (u64)1 << 20));
	return (u32)sum == crc;
}

static int find_by_link(const struct find_places *places, const struct dso *dso,
	const struct elf *image, struct elf *ret_elf, struct err *err)
{
	static const struct {
		const char *root, *dir;
	} places_by_name[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	const char *name, *slash = strrchr(dso->path, '/');
	char path[PATH_SIZE];
	u32 crc;

	if (!image || !slash || !elf_debug_link(image, &name, &crc) || strchr(name, '/'))
		return err_set(err, ERR_NOENT, "'%s' has no separate debug file", dso->path);
	for (size_t i = 0; i < ARRAY_SIZE(places_by_name); i++) {
		struct str text = {0};
		bool is_it;

		str_addf(&text, "%s%s%.*s%s%s", places->symfs, places_by_name[i].root,
			(int)(slash - dso->path), dso->path, places_by_name[i].dir, name);
		snprintf(path, sizeof(path), "%s", str_text(&text));
		str_fini(&text);
		if (elf_open(ret_elf, path, err)) {
			log_debug(places->log, "%s: %s", dso->path, err->msg);
			continue;
		}
		is_it = has_checksum(ret_elf, crc);
		log_debug(places->log, "%s: '%s' %s", dso->path, path,
			is_it ? "has its debug symbols" : "has another checksum");
		if (is_it)
			return 0;
		elf_close(ret_elf);
	}
	return err_set(err, ERR_NOENT, "the debug file '%s' of '%s' is not installed", name,
		dso->path);
}

int find_debug(const struct find_places *places, const struct dso *dso, const struct elf *image,
	struct elf *ret_elf, struct err *err)
{
	struct dso known = *dso;
	char path[PATH_SIZE], dir[PATH_SIZE];

	/* A recording without build-ids: the image's own leads to its debug file. */
	if (!known.build_id_size && image)
		known.build_id_size = elf_build_id(image, known.build_id);
	snprintf(dir, sizeof(dir), "%s/usr/lib/debug/.build-id", places->symfs);
	build_id_path(&known, dir, ".debug", path);
	if (*path && !try_path(places, &known, path, ret_elf, err))
		return 0;
	if (cache_dir(dir)) {
		build_id_path(&known, dir, "/debug", path);
		if (*path && !try_path(places, &known, path, ret_elf, err))
			return 0;
	}
	return find_by_link(places, &known, image, ret_elf, err);
}
