#include "base/fence.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* linux/landlock.h of most distributions has only the oldest of these. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule       445
#define SYS_landlock_restrict_self  446
#endif

enum {
	ASK_VERSION = 1 << 0, /* LANDLOCK_CREATE_RULESET_VERSION */
	BENEATH = 1,          /* LANDLOCK_RULE_PATH_BENEATH */
};

/* LANDLOCK_ACCESS_FS_* */
enum {
	RUN = 1 << 0,
	WRITE_FILE = 1 << 1,
	READ_FILE = 1 << 2,
	READ_FOLDER = 1 << 3,
	REMOVE_FILE = 1 << 5,
	MAKE_FILE = 1 << 8,
	TRUNCATE = 1 << 14,
};

struct rules { /* struct landlock_ruleset_attr; older kernels know only its beginning */
	u64 files, network, scoped;
};

struct beneath { /* struct landlock_path_beneath_attr */
	u64 allowed;
	s32 parent;
} __attribute__((packed));

/* What the kernel's versions of the interface know, and how much of struct rules they read. */
static const struct version {
	unsigned n_files, n_network, n_scoped; /* the lowest bits */
	size_t size;
} versions[] = {
	{13, 0, 0, 8},
	{14, 0, 0, 8},
	{15, 0, 0, 8},
	{15, 2, 0, 16},
	{16, 2, 0, 16},
	{16, 2, 2, 24},
};

static long ask_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_VERSION);
}

bool fence_is_there(void)
{
	return ask_version() > 0;
}

static u64 low_bits(unsigned n)
{
	return (1ull << n) - 1;
}

int fence_open(struct fence *f, struct err *err)
{
	const long n = ask_version();
	const struct version *v = &versions[MIN((size_t)MAX(n, 1), ARRAY_SIZE(versions)) - 1];
	const struct rules rules = {low_bits(v->n_files), low_bits(v->n_network),
		low_bits(v->n_scoped)};

	*f = (struct fence){.rules = -1};
	if (n <= 0)
		return err_set(err, ERR_UNSUPPORTED, "this kernel has no Landlock");
	f->known = rules.files;
	f->rules = (int)syscall(SYS_landlock_create_ruleset, &rules, v->size, 0);
	return f->rules < 0 ? err_sys(err, errno, "making a set of rules of Landlock") : 0;
}

static void allow(struct fence *f, const char *path, u64 rights)
{
	struct beneath rule = {.parent = open(path, O_PATH | O_CLOEXEC)};
	struct stat st;

	if (rule.parent < 0)
		return;
	/* The kernel refuses rights of folders for a file. */
	if (!fstat(rule.parent, &st) && !S_ISDIR(st.st_mode))
		rights &= RUN | READ_FILE | WRITE_FILE | TRUNCATE;
	rule.allowed = rights & f->known;
	syscall(SYS_landlock_add_rule, f->rules, BENEATH, &rule, 0);
	close(rule.parent);
}

void fence_allow_read(struct fence *f, const char *path)
{
	allow(f, path, READ_FILE | READ_FOLDER);
}

void fence_allow_run(struct fence *f, const char *path)
{
	allow(f, path, RUN | READ_FILE | READ_FOLDER);
}

void fence_allow_write(struct fence *f, const char *path)
{
	allow(f, path, READ_FILE | READ_FOLDER | WRITE_FILE | REMOVE_FILE | MAKE_FILE | TRUNCATE);
}

int fence_raise(struct fence *f, struct err *err)
{
	int result = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		syscall(SYS_landlock_restrict_self, f->rules, 0))
		result = err_sys(err, errno, "raising the fence of Landlock");
	fence_drop(f);
	return result;
}

void fence_drop(struct fence *f)
{
	if (f->rules >= 0)
		close(f->rules);
	f->rules = -1;
}
