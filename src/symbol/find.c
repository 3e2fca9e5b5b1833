#include "symbol/find.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "base/str.h"
#include "symbol/loadmap.h"
#include "symbol/vdso.h"

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

/* The number that tells files apart that had one inode after the other; 0: file systems without any. */
static int read_generation(const char *path, u64 *ret_generation, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), generation = 0;

	if (fd < 0)
		return err_sys(err, errno, "opening '%s'", path);
	if (ioctl(fd, FS_IOC_GETVERSION, &generation))
		generation = 0;
	close(fd);
	*ret_generation = (u32)generation;
	return 0;
}

enum identity { SAME_FILE, OTHER_FILE, UNKNOWN_FILE };

/*
 * Whether the file at a path is the one that was mapped, by its inode. On another device (an overlay's
 * own) nothing can be compared.
 */
static int identify(const struct dso *dso, const char *path, enum identity *ret, struct err *err)
{
	struct stat st;
	u64 generation = 0;

	*ret = UNKNOWN_FILE;
	if (!dso->inode)
		return 0;
	if (stat(path, &st))
		return err_sys(err, errno, "looking at '%s'", path);
	if (((u64)major(st.st_dev) << 32 | minor(st.st_dev)) != dso->device) {
		*ret = dso->namesake ? OTHER_FILE : UNKNOWN_FILE;
		return 0;
	}
	if (st.st_ino == dso->inode && dso->generation && read_generation(path, &generation, err))
		return err->code;
	*ret = st.st_ino != dso->inode || (generation && generation != dso->generation) ? OTHER_FILE
											: SAME_FILE;
	return 0;
}

bool find_is_elsewhere(const struct find_places *places, const char *path, struct err *err)
{
	if (places->is_now || *places->symfs || places->origin != FIND_ELSEWHERE)
		return false;
	err_set(err, ERR_FORMAT,
		"the recording was made on another machine%s%.64s%s, and has no build-id that '%.300s' here could be known by: '--symfs DIR' names a copy of that machine's files ('--symfs /' takes those that are here)",
		places->hostname ? ", '" : "", places->hostname ? places->hostname : "",
		places->hostname ? "'" : "", path);
	return true;
}

/* Whether a file can have been the one that ran where no build-id tells. */
static bool can_be(const struct find_places *places, const struct dso *dso, const struct elf *elf,
	const char *path, struct err *err)
{
	enum identity identity = UNKNOWN_FILE;
	enum loadmap_fit fit;

	if (find_is_elsewhere(places, path, err) ||
		(!*places->symfs && identify(dso, path, &identity, err)))
		return false;
	if (identity == OTHER_FILE) {
		err_set(err, ERR_FORMAT,
			"'%s' is another file than the one that ran: it was replaced meanwhile%s",
			path, places->is_now ? "" : " ('--symfs /' takes it all the same)");
		return false;
	}
	if (places->is_now || dso->code_from == dso->code_to)
		return true;
	fit = loadmap_compare(dso, elf);
	if (fit == LOADMAP_WHOLE ||
		(fit == LOADMAP_PART && (identity == SAME_FILE || *places->symfs)))
		return true;
	err_set(err, ERR_FORMAT,
		"'%s' is another build: its code is not what was mapped, bytes 0x%llx to 0x%llx of the file%s",
		path, (unsigned long long)dso->code_from, (unsigned long long)dso->code_to,
		*places->symfs ? "" : "; '--symfs DIR' names a copy of the files that ran");
	return false;
}

static bool is_this_machine(const char *recorded, const char *ours)
{
	static const char *const families[][2] = {{"x86_64", "i686"}, {"x86_64", "i386"},
		{"aarch64", "armv8l"}, {"aarch64", "armv7l"}, {"s390x", "s390"}, {"ppc64", "ppc"}};

	if (!strcmp(recorded, ours))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if ((!strcmp(recorded, families[i][0]) && !strcmp(ours, families[i][1])) ||
			(!strcmp(recorded, families[i][1]) && !strcmp(ours, families[i][0])))
			return true;
	return false;
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

/* Opens a candidate. 0: it is the one; ERR_FORMAT: another build; ERR_NOENT and others: no. A failed system call is said. */
static int try_path(const struct find_places *places, const struct dso *dso, const char *path,
	struct elf *ret_elf, struct err *err)
{
	struct elf elf;

	if (elf_open(&elf, path, err)) {
		log_untried(places->log, dso->path, err);
		return err->code;
	}
	if (!dso->build_id_size && !can_be(places, dso, &elf, path, err)) {
		elf_close(&elf);
		log_untried(places->log, dso->path, err);
		return err->code;
	}
	if (!is_same_build(dso, &elf)) {
		u8 id[BUILD_ID_MAX];
		struct str is = {0}, wanted = {0};

		add_hex(id, elf_build_id(&elf, id), &is);
		add_hex(dso->build_id, dso->build_id_size, &wanted);
		err_set(err, ERR_FORMAT, "'%s' is another build: build-id %s, recorded was %s",
			path, is.n ? str_text(&is) : "(none)", str_text(&wanted));
		log_untried(places->log, dso->path, err);
		str_fini(&is);
		str_fini(&wanted);
		elf_close(&elf);
		return err->code;
	}
	log_debug(places->log, "%s: using '%s'", dso->path, path);
	*ret_elf = elf;
	return 0;
}

/* What ran itself, not a copy of it. */
static int try_original(const struct find_places *places, const struct dso *dso, const char *path,
	struct elf *ret_elf, struct err *err)
{
	int r = try_path(places, dso, path, ret_elf, err);

	if (!r && places->kept)
		roots_keep_file(places->kept, dso->path, dso->inode, path);
	return r;
}

/* A copy that somebody made; of one that is not whole nothing is believed. */
static int try_copy(const struct find_places *places, const struct dso *dso, const char *path,
	struct elf *ret_elf, struct err *err)
{
	int r = try_path(places, dso, path, ret_elf, err);

	if (r || !ret_elf->is_cut)
		return r;
	elf_close(ret_elf);
	err_set(err, ERR_FORMAT, "'%s' is cut off at its end: delete it, or fetch it again", path);
	log_untried(places->log, dso->path, err);
	return err->code;
}

/* Where files lie by their build-id. */
struct shelf {
	enum { OF_SYSTEM, OF_PERF, OF_DEBUGINFOD } whose;
	const char *suffix;
};

static const struct shelf image_shelves[] = {{OF_PERF, "/elf"}, {OF_PERF, ""}, {OF_SYSTEM, ""},
	{OF_DEBUGINFOD, "/executable"}};
/* Those that --symfs is of come first. */
static const struct shelf debug_shelves[] = {{OF_SYSTEM, ".debug"}, {OF_PERF, "/debug"},
	{OF_DEBUGINFOD, "/debuginfo"}};

/* The folder of a shelf; false if this user has none. */
static bool shelf_folder(const struct find_places *places, const struct shelf *shelf,
	struct str *path)
{
	const char *home = getenv("HOME"), *cache = getenv("DEBUGINFOD_CACHE_PATH"),
		   *xdg = getenv("XDG_CACHE_HOME");

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
	if (!home || !*home)
		return false;
	str_addf(path, "%s/%s", home,
		shelf->whose == OF_PERF ? ".debug/.build-id" : ".cache/debuginfod_client");
	return true;
}

/* Whether a file that could not be opened is there: damaged, not ours to read, or there is no memory for it. */
static bool is_there(const char *path, const struct err *err)
{
	return err->code == ERR_FORMAT || (err->code != ERR_NOENT && !access(path, F_OK));
}

/* Looks on all shelves. Errors: as of the first that was found and refused, else ERR_NOENT. */
static int try_shelves(const struct find_places *places, const struct dso *dso,
	const struct shelf *shelves, size_t n, struct elf *ret_elf, struct err *err)
{
	struct err why;

	err_set(err, ERR_NOENT, "'%s' is nowhere by its build-id", dso->path);
	if (dso->build_id_size < 2)
		return err->code;
	for (size_t i = 0; i < n; i++) {
		struct str path = {0};
		int r = ERR_NOENT;

		if (shelf_folder(places, &shelves[i], &path)) {
			bool is_flat = shelves[i].whose == OF_DEBUGINFOD;

			str_addf(&path, is_flat ? "/%02x" : "/%02x/", dso->build_id[0]);
			add_hex(dso->build_id + 1, dso->build_id_size - 1, &path);
			str_add(&path, shelves[i].suffix);
			r = try_copy(places, dso, path.at, ret_elf, &why);
		}
		if (r && r != ERR_NOENT && err->code == ERR_NOENT && is_there(path.at, &why))
			*err = why;
		str_fini(&path);
		if (!r)
			return 0;
	}
	return err->code;
}

struct attempt {
	const struct find_places *places;
	const struct dso *dso;
	struct elf *ret_elf;
};

static bool try_living_path(void *ctx, const char *path)
{
	const struct attempt *a = ctx;
	struct err ignored;

	return !try_original(a->places, a->dso, path, a->ret_elf, &ignored);
}

/* As a process sees it that still has the file mapped. */
static bool try_living(const struct find_places *places, const struct dso *dso, bool elsewhere_only,
	struct elf *ret_elf)
{
	struct attempt a = {places, dso, ret_elf};

	return places->living && !*places->symfs &&
		living_each_path(places->living, dso, elsewhere_only, try_living_path, &a);
}

/* Whether servers are to be asked for something of a DSO. */
static bool is_worth_asking(const struct find_places *places, const struct dso *dso)
{
	return places->debuginfod && places->shares && dso->build_id_size &&
		places->shares[dso->id] >= FIND_SHARE_MIN &&
		debuginfod_is_wanted(places->debuginfod);
}

/* Says why not in err only if a server was asked. */
static bool try_servers(const struct find_places *places, const struct dso *dso,
	enum debuginfod_kind kind, struct elf *ret_elf, struct err *err)
{
	struct str path = {0};
	bool is_found;

	if (!is_worth_asking(places, dso))
		return false;
	is_found = !debuginfod_fetch(places->debuginfod, kind, dso->path, dso->build_id,
			   dso->build_id_size, &path, err) &&
		!try_copy(places, dso, path.at, ret_elf, err);
	/* What took too long, or is wrong with the file, is said where the names are missing. */
	if (!is_found && err->code != ERR_LIMIT && err->code != ERR_FORMAT &&
		err->code != ERR_UNSUPPORTED)
		log_note(places->log, "%s", err->msg);
	/* It is no failure of this machine, which would be a warning. */
	if (!is_found && err->code == ERR_SYS)
		err->code = ERR_UNSUPPORTED;
	str_fini(&path);
	return is_found;
}

/*
 * The tree of --symfs may hold nothing but debug files by their build-ids: what they are of is the file of
 * this machine that has the recorded build-id.
 */
static bool try_beside_debug_tree(const struct find_places *places, const struct dso *dso,
	struct elf *ret_elf)
{
	struct elf debug;
	struct err ignored;

	if (!*places->symfs || !dso->build_id_size ||
		try_shelves(places, dso, debug_shelves, 1, &debug, &ignored))
		return false;
	elf_close(&debug);
	return !try_copy(places, dso, dso->path, ret_elf, &ignored);
}

int find_image(const struct find_places *places, const struct dso *dso, struct elf *ret_elf,
	struct err *err)
{
	char path[PATH_SIZE];
	struct err ignored;

	/* Without build-ids the file of that name may be another one than a container's. */
	if (!dso->build_id_size && try_living(places, dso, true, ret_elf))
		return 0;
	snprintf(path, sizeof(path), "%s%s", places->symfs, dso->path);
	if (!try_original(places, dso, path, ret_elf, err) ||
		try_living(places, dso, false, ret_elf))
		return 0;
	/* What was wrong with the file of the recorded name is the better explanation. */
	if (!try_shelves(places, dso, image_shelves, ARRAY_SIZE(image_shelves), ret_elf,
		    &ignored) ||
		try_servers(places, dso, DEBUGINFOD_EXECUTABLE, ret_elf, &ignored) ||
		try_beside_debug_tree(places, dso, ret_elf))
		return 0;
	return err->code;
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
	char path[PATH_SIZE], refused[PATH_SIZE] = "";
	struct err closed = {0};
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
			log_untried(places->log, dso->path, err);
			if (!closed.code && is_there(path, err))
				closed = *err;
			continue;
		}
		is_it = has_checksum(ret_elf, crc);
		if (!is_it && !*refused)
			snprintf(refused, sizeof(refused), "%s", path);
		log_debug(places->log, "%s: '%s' %s", dso->path, path,
			is_it ? "has its debug symbols" : "has another checksum");
		if (is_it)
			return 0;
		elf_close(ret_elf);
	}
	if (*refused)
		return err_set(err, ERR_FORMAT,
			"the debug file '%.400s' is not that of '%.400s': its checksum is not %08x",
			refused, dso->path, crc);
	if (closed.code) {
		*err = closed;
		return err->code;
	}
	return err_set(err, ERR_NOENT, "the debug file '%s' of '%s' is not installed", name,
		dso->path);
}

int find_debug(const struct find_places *places, const struct dso *dso, const struct elf *image,
	struct elf *ret_elf, struct err *err)
{
	struct dso known = *dso;
	struct err refused;

	/* A recording without build-ids: the image's own leads to its debug file. */
	if (!known.build_id_size && image)
		known.build_id_size = elf_build_id(image, known.build_id);
	if (!try_shelves(places, &known, debug_shelves, ARRAY_SIZE(debug_shelves), ret_elf,
		    &refused) ||
		!find_by_link(places, &known, image, ret_elf, err))
		return 0;
	/* One that is there and was refused is the better explanation. */
	if (err->code == ERR_NOENT && refused.code != ERR_NOENT)
		*err = refused;
	return try_servers(places, &known, DEBUGINFOD_DEBUG, ret_elf, err) ? 0 : err->code;
}

void find_ask(const struct find_places *places, const struct dso *dso)
{
	struct find_places here = *places;
	struct elf image = {0}, debug = {0};
	bool has_image, has_debug;
	struct err ignored;

	if (dso->kind != DSO_FILE || !is_worth_asking(places, dso))
		return;
	here.debuginfod = NULL;
	here.log = NULL;
	has_image = !find_image(&here, dso, &image, &ignored);
	if (!has_image)
		debuginfod_ask(places->debuginfod, DEBUGINFOD_EXECUTABLE, dso->path, dso->build_id,
			dso->build_id_size);
	has_debug = (has_image && elf_section(&image, ".symtab")) ||
		!find_debug(&here, dso, has_image ? &image : NULL, &debug, &ignored);
	if (!has_debug)
		debuginfod_ask(places->debuginfod, DEBUGINFOD_DEBUG, dso->path, dso->build_id,
			dso->build_id_size);
	elf_close(&image);
	elf_close(&debug);
}
