#include "test.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#include "symbol/find/find.h"
#include "symbol/elf/vdso.h"
#include "unit/elfmaker.h"
#include "unit/said.h"
#include "unit/tree.h"

static const u8 id_a[BUILD_ID_MAX] = {0xaa, 0x01, 0x02, 0x03}, id_b[BUILD_ID_MAX] = {0xbb, 0x04};
#define HEX_A "aa01020300000000000000000000000000000000"
#define HEX_B "bb04000000000000000000000000000000000000"

/* Everything below the test's folder: the files are those of <symfs>, the user's home is there too.
 */
struct finding {
	struct find_places places;
	struct said said;
	struct dso dso;
	struct elf elf;
	struct err err;
};

static void finding_init(struct finding *f, const char *path, const u8 *id, u8 id_size)
{
	memset(f, 0, sizeof(*f));
	said_init(&f->said, LOG_DEBUG);
	f->places = (struct find_places){.symfs = test_dir(), .log = &f->said.log};
	f->dso = (struct dso){.kind = DSO_FILE,
		.path = path,
		.name = "prog",
		.build_id_size = id_size};
	if (id)
		memcpy(f->dso.build_id, id, id_size);
	setenv("HOME", test_path("home"), 1);
}

static void finding_fini(struct finding *f)
{
	elf_close(&f->elf);
	said_fini(&f->said);
}

/* Writes an ELF file with that build-id (NULL: none) and, as a mark, one function. Its checksum. */
static u32 make_file(const char *path, const u8 *id, const char *mark, const char *link,
	u32 link_crc)
{
	char full[1024];
	struct elfmaker m;
	u32 crc;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = mark, .type = SHT_PROGBITS, .size = 8});
	if (id)
		elfmaker_note(&m, ".note.gnu.build-id", "GNU", NT_GNU_BUILD_ID, id, BUILD_ID_MAX);
	if (link)
		elfmaker_debug_link(&m, link, link_crc);
	elfmaker_finish(&m);
	tree_file(test_dir(), "", "%s", path);
	snprintf(full, sizeof(full), "%s/%s", test_dir(), path);
	test_write(full, m.file.at, m.file.n);
	crc = crc32(crc32(0, NULL, 0), (const u8 *)m.file.at, m.file.n);
	elfmaker_fini(&m);
	return crc;
}

/* The file that was found is the one with that mark. */
static void check_found(struct finding *f, int r, const char *mark)
{
	if (r)
		test_failed(__FILE__, __LINE__, "%s\n%s", f->err.msg, str_text(&f->said.text));
	CHECK(elf_section(&f->elf, mark));
	elf_close(&f->elf);
}

static int image(struct finding *f)
{
	return find_image(&f->places, &f->dso, &f->elf, &f->err);
}

/* ---- files that no build-id tells ---- */

/* Code in the pages from 0x1000 to 0x4000 of the file, at its place in memory; data behind it. */
static void make_program(const char *path, const u8 *id, u8 id_size)
{
	char full[1024];
	struct elfmaker m;

	elfmaker_init(&m, true, false, EM_X86_64);
	elfmaker_section(&m,
		&(struct elfmaker_section){.name = ".here",
			.type = SHT_PROGBITS,
			.offset = 0x1000,
			.size = 0x2345});
	elfmaker_segment(&m, PT_LOAD, PF_R, 0, 0x400000, 0x300);
	elfmaker_segment(&m, PT_LOAD, PF_R | PF_X, 0x1000, 0x401000, 0x2345);
	elfmaker_segment(&m, PT_LOAD, PF_R | PF_W, 0x3345, 0x404345, 0x10);
	if (id)
		elfmaker_note(&m, ".note.gnu.build-id", "GNU", NT_GNU_BUILD_ID, id, id_size);
	elfmaker_finish(&m);
	tree_file(test_dir(), "", "%s", path);
	snprintf(full, sizeof(full), "%s/%s", test_dir(), path);
	test_write(full, m.file.at, m.file.n);
	elfmaker_fini(&m);
}

static void check_refused(struct finding *f, int r, const char *said)
{
	CHECK_EQ(r, ERR_FORMAT);
	if (!strstr(f->err.msg, said))
		test_failed(__FILE__, __LINE__, "'%s' lacks '%s'", f->err.msg, said);
}

TEST(find_image_without_a_build_id_refuses_a_file_whose_code_lies_elsewhere)
{
	static const struct {
		u64 from, to;
		bool is_it;
	} maps[] = {{0x1000, 0x4000, true}, {0x2000, 0x3000, true}, {0, 0, true},
		/* The file as a whole. */
		{0, 0x4000, true}, {0x28000, 0x1b0000, false}, {0x1000, 0x5000, false},
		{0, 0x3000, false}, {0x4000, 0x5000, false}};
	struct finding f;

	make_program("usr/bin/prog", NULL, 0);
	finding_init(&f, "/usr/bin/prog", NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		f.dso.code_from = maps[i].from;
		f.dso.code_to = maps[i].to;
		if (maps[i].is_it)
			check_found(&f, image(&f), ".here");
		else
			check_refused(&f, image(&f), "another build: the code that was mapped");
	}
	finding_fini(&f);
}

TEST(find_image_without_a_build_id_takes_no_part_of_a_file_that_may_be_any)
{
	struct finding f;

	make_program("usr/bin/prog", NULL, 0);
	finding_init(&f, test_path("usr/bin/prog"), NULL, 0);
	f.places.symfs = "";
	f.dso.code_from = 0x1000;
	f.dso.code_to = 0x4000;
	check_found(&f, image(&f), ".here");
	/* A map that was cut (madvise, mprotect), or a smaller program. */
	f.dso.code_to = 0x3000;
	check_refused(&f, image(&f), "another build");
	/* Nothing is known that would speak against it. */
	f.dso.code_from = f.dso.code_to = 0;
	check_found(&f, image(&f), ".here");
	finding_fini(&f);
}

TEST(find_image_without_a_build_id_knows_a_file_by_its_inode)
{
	struct finding f;
	struct stat st;

	make_program("usr/bin/prog", NULL, 0);
	CHECK_EQ(stat(test_path("usr/bin/prog"), &st), 0);
	finding_init(&f, test_path("usr/bin/prog"), NULL, 0);
	f.places.symfs = "";
	f.dso.device = (u64)major(st.st_dev) << 32 | minor(st.st_dev);
	f.dso.inode = st.st_ino;
	f.dso.code_from = 0x1000;
	f.dso.code_to = 0x3000;
	check_found(&f, image(&f), ".here");
	f.dso.inode++;
	f.dso.code_to = 0x4000;
	check_refused(&f, image(&f), "it has been replaced since");
	/* Another device has other numbers. */
	f.dso.device++;
	check_found(&f, image(&f), ".here");
	finding_fini(&f);
}

TEST(find_image_without_a_build_id_takes_no_file_for_one_of_another_machine)
{
	struct utsname own;
	struct finding f;
	struct host host;

	CHECK_EQ(uname(&own), 0);
	make_program("usr/bin/prog", NULL, 0);
	finding_init(&f, test_path("usr/bin/prog"), NULL, 0);
	f.places.symfs = "";
	f.dso.code_from = 0x1000;
	f.dso.code_to = 0x4000;
	host = (struct host){.hostname = own.nodename, .release = own.release, .arch = own.machine};
	find_set_recording(&f.places, &host);
	CHECK_EQ(f.places.origin, FIND_HERE);
	check_found(&f, image(&f), ".here");
	host.hostname = NULL;
	find_set_recording(&f.places, &host);
	CHECK_EQ(f.places.origin, FIND_ANYWHERE);
	check_found(&f, image(&f), ".here");
	host.hostname = "some-other-machine";
	find_set_recording(&f.places, &host);
	CHECK_EQ(f.places.origin, FIND_ELSEWHERE);
	check_refused(&f, image(&f), "made on another machine, 'some-other-machine'");
	host.hostname = own.nodename;
	host.arch = "vax";
	find_set_recording(&f.places, &host);
	CHECK_EQ(f.places.origin, FIND_ELSEWHERE);
	check_refused(&f, image(&f), "made on another machine");
	/* Who names the place answers for it. */
	f.places.symfs = test_dir();
	f.dso.path = "/usr/bin/prog";
	check_found(&f, image(&f), ".here");
	finding_fini(&f);
}

TEST(find_is_own_vdso_by_its_build_id_or_by_the_kernels_release)
{
	struct dso dso = {.kind = DSO_VDSO};
	struct find_places places = {.symfs = ""};
	struct utsname own;
	struct host host;

	CHECK_EQ(uname(&own), 0);
	host = (struct host){.hostname = "another", .release = own.release, .arch = own.machine};
	CHECK(!find_is_own_vdso(&places, &dso));
	find_set_recording(&places, &host);
	CHECK(find_is_own_vdso(&places, &dso));
	host.release = "3.10.0";
	find_set_recording(&places, &host);
	CHECK(!find_is_own_vdso(&places, &dso));
	host = (struct host){.release = own.release, .arch = "vax"};
	find_set_recording(&places, &host);
	CHECK(!find_is_own_vdso(&places, &dso));
	dso.build_id_size = vdso_build_id(dso.build_id);
	if (!dso.build_id_size)
		test_skip("this kernel's vdso has no build-id");
	CHECK(find_is_own_vdso(&places, &dso));
	dso.build_id[0] ^= 1;
	CHECK(!find_is_own_vdso(&places, &dso));
}

TEST(find_image_of_a_short_build_id_whatever_it_was_filled_up_with)
{
	static const u8 id[BUILD_ID_MAX] = {1, 2, 3, 4, 5, 6, 7, 0};
	struct finding f;

	make_program("usr/bin/prog", id, 8);
	finding_init(&f, "/usr/bin/prog", NULL, 0);
	dso_set_build_id(&f.dso, id, BUILD_ID_MAX);
	CHECK_EQ(f.dso.build_id_size, 8);
	check_found(&f, image(&f), ".here");
	finding_fini(&f);
}

/* ---- the image ---- */

TEST(find_image_looks_below_symfs_at_the_recorded_path)
{
	struct finding f;

	make_file("usr/bin/prog", id_a, ".here", NULL, 0);
	finding_init(&f, "/usr/bin/prog", id_a, BUILD_ID_MAX);
	check_found(&f, image(&f), ".here");
	CHECK_EQ(said_count(&f.said, "debug: /usr/bin/prog: using '"), 1);
	finding_fini(&f);
}

TEST(find_image_without_a_recorded_build_id_takes_what_is_there)
{
	struct finding f;

	make_file("usr/bin/prog", id_b, ".here", NULL, 0);
	finding_init(&f, "/usr/bin/prog", NULL, 0);
	check_found(&f, image(&f), ".here");
	finding_fini(&f);
}

TEST(find_image_of_another_build_is_refused_with_both_ids)
{
	char message[600];
	struct finding f;

	make_file("usr/bin/prog", id_b, ".here", NULL, 0);
	finding_init(&f, "/usr/bin/prog", id_a, BUILD_ID_MAX);
	CHECK_EQ(image(&f), ERR_FORMAT);
	snprintf(message, sizeof(message),
		"'%s/usr/bin/prog' is another build: build-id " HEX_B ", recorded was " HEX_A,
		test_dir());
	CHECK_STR(f.err.msg, message);
	CHECK_HAS(str_text(&f.said.text), message);

	/* A beginning of the id is not the id; a file without one is another build. */
	f.dso.build_id_size = 4;
	make_file("usr/bin/prog", id_a, ".here", NULL, 0);
	CHECK_EQ(image(&f), ERR_FORMAT);
	CHECK_HAS(f.err.msg, "build-id " HEX_A ", recorded was aa010203");
	make_file("usr/bin/prog", NULL, ".here", NULL, 0);
	CHECK_EQ(image(&f), ERR_FORMAT);
	CHECK_HAS(f.err.msg, "build-id (none), recorded was aa010203");
	finding_fini(&f);
}

#define CACHED "home/.debug/.build-id/aa/01020300000000000000000000000000000000"

TEST(find_image_falls_back_to_perfs_cache)
{
	struct finding f;

	make_file(CACHED "/elf", id_a, ".cached", NULL, 0);
	finding_init(&f, "/usr/bin/prog", id_a, BUILD_ID_MAX);
	check_found(&f, image(&f), ".cached");
	/* Also when there is a file, but another build. */
	make_file("usr/bin/prog", id_b, ".here", NULL, 0);
	check_found(&f, image(&f), ".cached");
	finding_fini(&f);
}

TEST(find_image_does_not_trust_the_cache_either)
{
	struct finding f;

	make_file(CACHED "/elf", id_b, ".cached", NULL, 0);
	finding_init(&f, "/usr/bin/prog", id_a, BUILD_ID_MAX);
	/* What was wrong with the recorded path is the better explanation. */
	CHECK_EQ(image(&f), ERR_NOENT);
	CHECK_HAS(f.err.msg, "/usr/bin/prog': No such file or directory");
	finding_fini(&f);
}

/* A recorder keeps what it has read: it may be deleted, or give its name to another build. */
TEST(find_image_that_was_kept_is_found_when_its_file_is_gone)
{
	struct roots roots = {0};
	struct machine nobody = {0};
	struct liveproc liveproc;
	struct finding f;
	char path[1024];

	make_file("lib.so", id_a, ".first", NULL, 0);
	snprintf(path, sizeof(path), "%s", test_path("lib.so"));
	finding_init(&f, path, id_a, BUILD_ID_MAX);
	f.dso.inode = 7;
	f.places.symfs = "";
	f.places.kept = &roots;
	check_found(&f, image(&f), ".first");
	check_found(&f, image(&f), ".first");
	CHECK_EQ(roots.files.n, 1);
	f.places.kept = NULL;
	CHECK(!unlink(path));
	liveproc_init(&liveproc, &nobody, "/proc");
	f.places.liveproc = &liveproc;
	CHECK_EQ(image(&f), ERR_NOENT);
	liveproc.roots = &roots;
	check_found(&f, image(&f), ".first");
	make_file("lib.so", id_b, ".second", NULL, 0);
	check_found(&f, image(&f), ".first");
	/* Another file of that name is not meant. */
	f.dso.inode = 8;
	CHECK_EQ(image(&f), ERR_FORMAT);
	liveproc_fini(&liveproc);
	roots_fini(&roots);
	finding_fini(&f);
}

TEST(find_image_without_a_home_has_no_cache)
{
	struct finding f;

	finding_init(&f, "/usr/bin/prog", id_a, BUILD_ID_MAX);
	setenv("HOME", "", 1);
	CHECK_EQ(image(&f), ERR_NOENT);
	unsetenv("HOME");
	CHECK_EQ(image(&f), ERR_NOENT);
	finding_fini(&f);
}

TEST(find_image_does_not_wait_for_a_fifo)
{
	struct finding f;

	tree_dir(test_dir(), "usr/bin");
	CHECK_EQ(mkfifo(test_path("usr/bin/prog"), 0600), 0);
	finding_init(&f, "/usr/bin/prog", NULL, 0);
	CHECK_EQ(image(&f), ERR_FORMAT);
	CHECK_HAS(f.err.msg, "is not a regular file");
	finding_fini(&f);
}

TEST(find_image_survives_a_path_of_any_length)
{
	char *path = malloc(8001);
	struct finding f;

	memset(path, 'x', 8000);
	path[0] = '/';
	path[8000] = '\0';
	finding_init(&f, path, id_a, BUILD_ID_MAX);
	CHECK(image(&f) < 0);
	CHECK(find_debug(&f.places, &f.dso, NULL, &f.elf, &f.err) < 0);
	finding_fini(&f);
	free(path);
}

/* ---- debug symbols ---- */

static int debug(struct finding *f, const struct elf *elf)
{
	return find_debug(&f->places, &f->dso, elf, &f->elf, &f->err);
}

TEST(find_debug_looks_into_the_build_id_folders)
{
	struct finding f;

	finding_init(&f, "/usr/bin/prog", id_a, BUILD_ID_MAX);
	CHECK_EQ(debug(&f, NULL), ERR_NOENT);
	make_file(CACHED "/debug", id_a, ".of_cache", NULL, 0);
	check_found(&f, debug(&f, NULL), ".of_cache");
	make_file("usr/lib/debug/.build-id/aa/01020300000000000000000000000000000000.debug", id_a,
		".of_system", NULL, 0);
	check_found(&f, debug(&f, NULL), ".of_system");
	/* One of another build is passed over. */
	make_file("usr/lib/debug/.build-id/aa/01020300000000000000000000000000000000.debug", id_b,
		".of_system", NULL, 0);
	check_found(&f, debug(&f, NULL), ".of_cache");
	finding_fini(&f);
}

/* What a debug package unpacks to: no images. Theirs is this machine's file of the same build. */
TEST(find_image_of_a_tree_of_debug_files_is_here)
{
	static const char unpacked[] =
		"tree/usr/lib/debug/.build-id/aa/01020300000000000000000000000000000000.debug";
	struct finding f;
	char path[1024], tree[1024];

	snprintf(path, sizeof(path), "%s/bin/prog", test_dir());
	snprintf(tree, sizeof(tree), "%s/tree", test_dir());
	finding_init(&f, path, id_a, BUILD_ID_MAX);
	f.places.symfs = tree;
	make_file("bin/prog", id_a, ".here", NULL, 0);
	/* It is no file of that tree, which says nothing of it. */
	CHECK_EQ(image(&f), ERR_NOENT);
	make_file(unpacked, id_b, ".debug", NULL, 0);
	CHECK_EQ(image(&f), ERR_NOENT);
	make_file(unpacked, id_a, ".debug", NULL, 0);
	check_found(&f, image(&f), ".here");
	check_found(&f, debug(&f, NULL), ".debug");
	/* Another build is none. */
	make_file("bin/prog", id_b, ".here", NULL, 0);
	CHECK_EQ(image(&f), ERR_NOENT);
	finding_fini(&f);
}

/* The image of the DSO, with a link to a debug file. */
static void open_image(struct elf *elf, const u8 *id, const char *link, u32 crc)
{
	struct err err;

	make_file("opt/app/prog", id, ".image", link, crc);
	CHECK_EQ(elf_open(elf, test_path("opt/app/prog"), &err), 0);
}

TEST(find_debug_uses_the_images_own_build_id_when_none_was_recorded)
{
	struct finding f;
	struct elf elf;

	make_file("usr/lib/debug/.build-id/aa/01020300000000000000000000000000000000.debug", id_a,
		".of_system", NULL, 0);
	finding_init(&f, "/opt/app/prog", NULL, 0);
	open_image(&elf, id_a, NULL, 0);
	check_found(&f, debug(&f, &elf), ".of_system");
	elf_close(&elf);
	finding_fini(&f);
}

TEST(find_debug_follows_the_link_to_its_three_places)
{
	static const char *const places[] = {"usr/lib/debug/opt/app/prog.dbg",
		"opt/app/.debug/prog.dbg", "opt/app/prog.dbg"};
	struct finding f;
	struct elf elf;
	u32 crc;

	finding_init(&f, "/opt/app/prog", NULL, 0);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		/* All with one checksum, so that the place alone decides: the last one in the list
		 * comes first. */
		crc = make_file(places[i], NULL, ".dbg", NULL, 0);
		open_image(&elf, NULL, "prog.dbg", crc);
		check_found(&f, debug(&f, &elf), ".dbg");
		CHECK_HAS(str_text(&f.said.text), places[i]);
		elf_close(&elf);
	}
	CHECK_EQ(said_count(&f.said, "has its debug symbols"), 3);
	finding_fini(&f);
}

TEST(find_debug_passes_over_a_file_with_another_checksum)
{
	struct finding f;
	struct elf elf;
	u32 crc;

	make_file("opt/app/prog.dbg", NULL, ".wrong", NULL, 0);
	crc = make_file("opt/app/.debug/prog.dbg", NULL, ".right", NULL, 0);
	finding_init(&f, "/opt/app/prog", NULL, 0);
	open_image(&elf, NULL, "prog.dbg", crc);
	check_found(&f, debug(&f, &elf), ".right");
	CHECK_EQ(said_count(&f.said, "its checksum is not"), 1);
	elf_close(&elf);

	open_image(&elf, NULL, "prog.dbg", crc + 1);
	/* What is there and was refused is said, the first of several. */
	CHECK_EQ(debug(&f, &elf), ERR_FORMAT);
	CHECK_HAS(f.err.msg,
		"/opt/app/prog.dbg' is not that of '/opt/app/prog': its checksum is not ");
	elf_close(&elf);
	open_image(&elf, NULL, "nowhere.dbg", crc);
	CHECK_EQ(debug(&f, &elf), ERR_NOENT);
	CHECK_STR(f.err.msg, "the debug file 'nowhere.dbg' of '/opt/app/prog' is not installed");
	elf_close(&elf);
	finding_fini(&f);
}

TEST(find_debug_checks_the_whole_of_a_large_file)
{
	/* The checksum is made piece by piece. */
	static char big[(1 << 20) + 4321];
	struct finding f;
	struct elf elf;
	FILE *file;
	u32 crc;

	make_file("opt/app/prog.dbg", NULL, ".dbg", NULL, 0);
	file = fopen(test_path("opt/app/prog.dbg"), "ab");
	CHECK(file && fwrite(big, sizeof(big), 1, file) == 1 && !fclose(file));
	finding_init(&f, "/opt/app/prog", NULL, 0);
	open_image(&elf, NULL, "prog.dbg", 0);
	CHECK_EQ(debug(&f, &elf), ERR_FORMAT);
	elf_close(&elf);
	CHECK_EQ(elf_open(&elf, test_path("opt/app/prog.dbg"), &f.err), 0);
	crc = crc32(crc32(0, NULL, 0), elf.data, elf.size);
	elf_close(&elf);
	open_image(&elf, NULL, "prog.dbg", crc);
	check_found(&f, debug(&f, &elf), ".dbg");
	elf_close(&elf);
	finding_fini(&f);
}

TEST(find_debug_does_not_follow_a_link_out_of_its_places)
{
	struct finding f;
	struct elf elf;
	u32 crc = make_file("opt/secret.dbg", NULL, ".dbg", NULL, 0);

	finding_init(&f, "/opt/app/prog", NULL, 0);
	open_image(&elf, NULL, "../secret.dbg", crc);
	CHECK_EQ(debug(&f, &elf), ERR_NOENT);
	CHECK_STR(f.err.msg, "'/opt/app/prog' has no separate debug file");
	elf_close(&elf);
	finding_fini(&f);
}

TEST(find_debug_of_a_file_without_link_says_so)
{
	struct finding f;
	struct elf elf;

	finding_init(&f, "/opt/app/prog", NULL, 0);
	open_image(&elf, NULL, NULL, 0);
	CHECK_EQ(debug(&f, &elf), ERR_NOENT);
	CHECK_STR(f.err.msg, "'/opt/app/prog' has no separate debug file");
	CHECK_EQ(debug(&f, NULL), ERR_NOENT);
	f.dso.path = "no_folder";
	CHECK_EQ(debug(&f, &elf), ERR_NOENT);
	elf_close(&elf);
	finding_fini(&f);
}

TEST(find_debug_does_not_wait_for_a_fifo)
{
	struct finding f;
	struct elf elf;

	finding_init(&f, "/opt/app/prog", id_a, BUILD_ID_MAX);
	open_image(&elf, id_a, "prog.dbg", 0);
	CHECK_EQ(mkfifo(test_path("opt/app/prog.dbg"), 0600), 0);
	tree_dir(test_dir(), "usr/lib/debug/.build-id/aa");
	CHECK_EQ(mkfifo(test_path("usr/lib/debug/.build-id/aa/"
				  "01020300000000000000000000000000000000.debug"),
			 0600),
		0);
	CHECK_EQ(debug(&f, &elf), ERR_FORMAT);
	CHECK_HAS(f.err.msg, "is not a regular file");
	elf_close(&elf);
	finding_fini(&f);
}
