#include "symbol/find/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "arch/arch.h"
#include "base/str.h"
#include "symbol/find/loadmap.h"
#include "symbol/elf/vdso.h"

enum { PATH_SIZE = 4096 };

static void add_hex(const u8 *id, u8 n, struct str *text)
{
	for (u8 i = 0; i < n; i++)
		str_addf(text, "%02x", id[i]);
}

static bool is_same_build(const struct dso *dso, const struct elf *elf)
{
	u8 id[BUILD_ID_MAX], n = elf_build_id(elf, id);

	return n == dso->build_id_size && !memcmp(id, dso->build_id, n);
}

enum identity { SAME_FILE, OTHER_FILE, UNKNOWN_FILE };

/*
 * Whether a file is the one that was mapped, judging by its inode. If the devices differ (an overlay has
 * its own) inodes cannot be compared.
 */
static enum identity identify(const struct dso *dso, const struct elf *elf)
{
	if (!dso->inode)
		return UNKNOWN_FILE;
	if (elf->device != dso->device)
		return dso->namesake ? OTHER_FILE : UNKNOWN_FILE;
	if (elf->inode != dso->inode)
		return OTHER_FILE;
	return dso->generation && elf->generation && elf->generation != dso->generation ? OTHER_FILE
											: SAME_FILE;
}

bool find_is_elsewhere(const struct find_places *places, const char *path, struct err *err)
{
	if (places->is_now || *places->symfs || places->origin != FIND_ELSEWHERE)
		return false;
	err_set(err, ERR_FORMAT,
		"the recording was made on another machine%s%.64s%s, and has no build-id to check '%.300s' of this machine against: name a copy of that machine's files by '--symfs DIR' ('--symfs /' uses the files of this machine)",
		places->hostname ? ", '" : "", places->hostname ? places->hostname : "",
		places->hostname ? "'" : "", path);
	return true;
}

/* Whether a file can be the one that ran, if there is no build-id to tell. */
static bool can_be(const struct find_places *places, const struct dso *dso, const struct elf *elf,
	const char *path, struct err *err)
{
	enum identity identity = *places->symfs ? UNKNOWN_FILE : identify(dso, elf);
	enum loadmap_fit fit;

	if (find_is_elsewhere(places, path, err))
		return false;
	if (identity == OTHER_FILE) {
		err_set(err, ERR_FORMAT,
			"'%s' is not the file that ran: it has been replaced since%s", path,
			places->is_now ? "" : " ('--symfs /' uses it anyway)");
		return false;
	}
	if (places->is_now || dso->code_from == dso->code_to)
		return true;
	fit = loadmap_compare(dso, elf);
	if (fit == LOADMAP_WHOLE ||
		(fit == LOADMAP_PART && (identity == SAME_FILE || *places->symfs)))
		return true;
	err_set(err, ERR_FORMAT,
		"'%s' is another build: the code that was mapped, bytes 0x%llx to 0x%llx of the file, does not fit it%s",
		path, (unsigned long long)dso->code_from, (unsigned long long)dso->code_to,
		*places->symfs ? "" : "; name a copy of the files that ran by '--symfs DIR'");
	return false;
}

static bool is_this_machine(const char *recorded, const char *ours)
{
	const struct arch *a = arch_of_name(recorded), *b = arch_of_name(ours);

	return !strcmp(recorded, ours) || (a && (a == b || (b && a->sibling == b)));
}

void find_set_recording(struct find_places *places, const struct host *recorded)
{
	struct utsname own;
	bool is_possible;

	if (uname(&own))
		return;
	is_possible = !recorded->arch || is_this_machine(recorded->arch, own.machine);
	places->hostname = recorded->hostname;
	places->is_of_this_release =
		is_possible && recorded->release && !strcmp(recorded->release, own.release);
	if (!is_possible)
		places->origin = FIND_ELSEWHERE;
	else if (!recorded->hostname)
		places->origin = FIND_ANYWHERE;
	else
		places->origin =
			strcmp(recorded->hostname, own.nodename) ? FIND_ELSEWHERE : FIND_HERE;
}

bool find_is_own_vdso(const struct find_places *places, const struct dso *dso)
{
	u8 id[BUILD_ID_MAX], n = vdso_build_id(id);

	if (dso->build_id_size)
		return n == dso->build_id_size && !memcmp(id, dso->build_id, n);
	return places->is_now || places->is_of_this_release;
}

/* The search for a file of a DSO: it opens all candidates and records what is wrong with them. */
struct search {
	const struct find_places *places;
	const struct dso *dso;
	struct elf *ret_elf;
	struct err err;     /* of the last candidate */
	struct err refused; /* of the first candidate that exists and was refused; code 0: none */
};

/*
 * Whether a file that could not be opened exists: it is damaged or not readable for us, or memory is short.
 */
static bool is_there(const char *path, const struct err *err)
{
	return err->code == ERR_FORMAT || (err->code != ERR_NOENT && !access(path, F_OK));
}

static bool refuse(struct search *s, const char *path)
{
	log_untried(s->places->log, s->dso->path, &s->err);
	if (!s->refused.code && is_there(path, &s->err))
		s->refused = s->err;
	return false;
}

/* Closes and refuses an opened candidate. */
static bool close_refused(struct search *s, const char *path)
{
	elf_close(s->ret_elf);
	return refuse(s, path);
}

/* Whether the candidate has the recorded build-id or can be the one; otherwise s->err says why not. */
static bool is_the_one(struct search *s, const char *path)
{
	struct str is = {0}, wanted = {0};
	u8 id[BUILD_ID_MAX];

	if (!s->dso->build_id_size)
		return can_be(s->places, s->dso, s->ret_elf, path, &s->err);
	if (is_same_build(s->dso, s->ret_elf))
		return true;
	add_hex(id, elf_build_id(s->ret_elf, id), &is);
	add_hex(s->dso->build_id, s->dso->build_id_size, &wanted);
	err_set(&s->err, ERR_FORMAT, "'%s' is another build: build-id %s, recorded was %s", path,
		is.n ? str_text(&is) : "(none)", str_text(&wanted));
	str_fini(&is);
	str_fini(&wanted);
	return false;
}

static bool try_path(struct search *s, const char *path)
{
	if (elf_open(s->ret_elf, path, &s->err))
		return refuse(s, path);
	if (!is_the_one(s, path))
		return close_refused(s, path);
	log_debug(s->places->log, "%s: using '%s'", s->dso->path, path);
	return true;
}

/* Tries the file that ran itself, not a copy of it. */
static bool try_original(struct search *s, const char *path)
{
	if (!try_path(s, path))
		return false;
	if (s->places->kept)
		roots_keep_file(s->places->kept, s->dso->path, s->dso->inode, path);
	return true;
}

/* Tries a copy that a tool made. A truncated copy is not used. */
static bool try_copy(struct search *s, const char *path)
{
	if (!try_path(s, path))
		return false;
	if (!s->ret_elf->is_cut)
		return true;
	err_set(&s->err, ERR_FORMAT, "'%s' is cut off at its end: delete it, or fetch it again",
		path);
	return close_refused(s, path);
}

/* A place where files are stored by their build-id. */
struct shelf {
	enum { OF_SYSTEM, OF_PERF, OF_DEBUGINFOD } whose;
	const char *suffix;
};

static const struct shelf image_shelves[] = {{OF_PERF, "/elf"}, {OF_PERF, ""}, {OF_SYSTEM, ""},
	{OF_DEBUGINFOD, "/executable"}};
/* The shelves of --symfs come first. */
static const struct shelf debug_shelves[] = {{OF_SYSTEM, ".debug"}, {OF_PERF, "/debug"},
	{OF_DEBUGINFOD, "/debuginfo"}};

/* The folder of a shelf. Returns false if this user has none. */
static bool shelf_folder(const struct find_places *places, const struct shelf *shelf,
	struct str *path)
{
	const char *home = getenv("HOME"), *cache = getenv("DEBUGINFOD_CACHE_PATH"),
		   *xdg = getenv("XDG_CACHE_HOME"), *own = getenv("PERF_BUILDID_DIR");

	if (shelf->whose == OF_SYSTEM) {
		str_addf(path, "%s/usr/lib/debug/.build-id", places->symfs);
		return true;
	}
	if (shelf->whose == OF_DEBUGINFOD && cache && *cache) {
		str_add(path, cache);
		return true;
	}
	if (shelf->whose == OF_DEBUGINFOD && xdg && *xdg) {
		str_addf(path, "%s/debuginfod_client", xdg);
		return true;
	}
	if (shelf->whose == OF_PERF && own && *own) {
		str_addf(path, "%s/.build-id", own);
		return true;
	}
	if (!home || !*home)
		return false;
	str_addf(path, "%s/%s", home,
		shelf->whose == OF_PERF ? ".debug/.build-id" : ".cache/debuginfod_client");
	return true;
}

static bool try_shelves(struct search *s, const struct shelf *shelves, size_t n)
{
	const struct dso *dso = s->dso;
	bool is_found = false;

	for (size_t i = 0; i < n && !is_found && dso->build_id_size >= 2; i++) {
		bool is_flat = shelves[i].whose == OF_DEBUGINFOD;
		struct str path = {0};

		if (shelf_folder(s->places, &shelves[i], &path)) {
			str_addf(&path, is_flat ? "/%02x" : "/%02x/", dso->build_id[0]);
			add_hex(dso->build_id + 1, dso->build_id_size - 1, &path);
			str_add(&path, shelves[i].suffix);
			is_found = try_copy(s, path.at);
		}
		str_fini(&path);
	}
	return is_found;
}

static bool try_liveproc_path(void *search, const char *path)
{
	return try_original(search, path);
}

/* Tries the file as seen by a process that still has it mapped. */
static bool try_liveproc(struct search *s, bool elsewhere_only)
{
	return s->places->liveproc && !*s->places->symfs &&
		liveproc_each_path(s->places->liveproc, s->dso, elsewhere_only, try_liveproc_path,
			s);
}

/*
 * The tree of --symfs may hold nothing but debug files by build-id. Then the image is the file of this machine
 * with the recorded build-id.
 */
static bool try_beside_debug_tree(struct search *s)
{
	if (!*s->places->symfs || !s->dso->build_id_size || !try_shelves(s, debug_shelves, 1))
		return false;
	elf_close(s->ret_elf);
	return try_copy(s, s->dso->path);
}

const char *find_path_below(const struct find_places *places, const char *path)
{
	const char *slash = strrchr(path, '/');

	return places->is_flat && slash ? slash : path;
}

int find_image(const struct find_places *places, const struct dso *dso, struct elf *ret_elf,
	struct err *err)
{
	struct search s = {.places = places, .dso = dso, .ret_elf = ret_elf};
	struct err named;
	char path[PATH_SIZE];

	/* Without build-ids the file at this path may be another one than the container's. */
	if (!dso->build_id_size && try_liveproc(&s, true))
		return 0;
	snprintf(path, sizeof(path), "%s%s", places->symfs, find_path_below(places, dso->path));
	if (try_original(&s, path))
		return 0;
	named = s.err;
	if (try_liveproc(&s, false) || try_shelves(&s, image_shelves, ARRAY_SIZE(image_shelves)) ||
		try_beside_debug_tree(&s))
		return 0;
	/* An error of the file with the recorded name explains more. */
	*err = named;
	return err->code;
}

/* Whether the file has the checksum of .gnu_debuglink. */
static bool has_checksum(const struct elf *elf, u32 crc)
{
	uLong sum = crc32(0, NULL, 0);

	for (u64 at = 0; at < elf->size; at += 1 << 20)
		sum = crc32(sum, elf->data + at, MIN(elf->size - at, (u64)1 << 20));
	return (u32)sum == crc;
}

static bool try_linked(struct search *s, const char *path, u32 crc)
{
	if (elf_open(s->ret_elf, path, &s->err))
		return refuse(s, path);
	if (has_checksum(s->ret_elf, crc)) {
		log_debug(s->places->log, "%s: '%s' has its debug symbols", s->dso->path, path);
		return true;
	}
	err_set(&s->err, ERR_FORMAT,
		"the debug file '%.400s' is not that of '%.400s': its checksum is not %08x", path,
		s->dso->path, crc);
	return close_refused(s, path);
}

static bool try_link(struct search *s, const struct elf *image)
{
	static const struct {
		const char *root, *dir;
	} places_by_name[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
	const char *path = find_path_below(s->places, s->dso->path), *name;
	const char *slash = strrchr(path, '/');
	bool is_found = false;
	u32 crc;

	if (!image || !slash || !elf_debug_link(image, &name, &crc) || strchr(name, '/')) {
		err_set(&s->err, ERR_NOENT, "'%s' has no separate debug file", path);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places_by_name) && !is_found; i++) {
		struct str text = {0};

		str_addf(&text, "%s%s%.*s%s%s", s->places->symfs, places_by_name[i].root,
			(int)(slash - path), path, places_by_name[i].dir, name);
		is_found = try_linked(s, str_text(&text), crc);
		str_fini(&text);
	}
	if (!is_found)
		err_set(&s->err, ERR_NOENT, "the debug file '%s' of '%s' is not installed", name,
			path);
	return is_found;
}

/* If the recording has no build-id, that of the image leads to its debug file. */
static struct dso with_build_id(const struct dso *dso, const struct elf *image)
{
	struct dso known = *dso;

	if (!known.build_id_size && image)
		known.build_id_size = elf_build_id(image, known.build_id);
	return known;
}

int find_debug(const struct find_places *places, const struct dso *dso, const struct elf *image,
	struct elf *ret_elf, struct err *err)
{
	struct dso known = with_build_id(dso, image);
	struct search s = {.places = places, .dso = &known, .ret_elf = ret_elf};

	if (try_shelves(&s, debug_shelves, ARRAY_SIZE(debug_shelves)) || try_link(&s, image))
		return 0;
	/* A file that exists and was refused explains more. */
	*err = s.refused.code ? s.refused : s.err;
	return err->code;
}

/* ---- servers ---- */

bool find_may_fetch(const struct find_places *places, const struct dso *dso,
	const struct elf *image)
{
	u8 id[BUILD_ID_MAX];

	return places->debuginfod && places->shares &&
		(dso->build_id_size || (image && elf_build_id(image, id))) &&
		places->shares[dso->id] >= FIND_SHARE_MIN &&
		debuginfod_is_wanted(places->debuginfod);
}

void find_ask(const struct find_places *places, const struct dso *dso, enum debuginfod_kind kind)
{
	debuginfod_ask(places->debuginfod, kind, dso->path, dso->build_id, dso->build_id_size);
}

int find_fetch(const struct find_places *places, const struct dso *dso, const struct elf *image,
	enum debuginfod_kind kind, struct elf *ret_elf, struct err *err)
{
	struct dso known = with_build_id(dso, image);
	struct search s = {.places = places, .dso = &known, .ret_elf = ret_elf};
	struct str path = {0};
	int r;

	if (!find_may_fetch(places, &known, NULL))
		return ERR_NOENT;
	r = debuginfod_fetch(places->debuginfod, kind, known.path, known.build_id,
		known.build_id_size, &path, err);
	if (!r && !try_copy(&s, path.at)) {
		*err = s.err;
		r = err->code;
	}
	/* A timeout or a wrong file is reported where the names are missing. */
	if (r && r != ERR_LIMIT && r != ERR_FORMAT && r != ERR_UNSUPPORTED)
		log_note(places->log, "%s", err->msg);
	/* Not an error of this machine, which would be a warning. */
	if (r == ERR_SYS)
		r = err->code = ERR_UNSUPPORTED;
	str_fini(&path);
	return r;
}
