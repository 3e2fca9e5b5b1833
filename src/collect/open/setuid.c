#include "collect/open/setuid.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/sysfile.h"
#include "collect/open/program.h"

enum { SUID_DUMP_USER = 1 }; /* fs.suid_dumpable: a program that gains rights stays open to us */

struct file {
	char path[PATH_MAX];
	struct stat st;
};

static bool find_program(const char *command, struct file *f)
{
	return program_find(command, f->path) && !stat(f->path, &f->st);
}

/* The rights of a script are those of its interpreter. */
static bool is_script(const struct file *f)
{
	char interpreter[PATH_MAX];

	return program_interpreter(f->path, interpreter);
}

static bool may_change_rights(const struct file *f)
{
	struct statvfs fs;

	return !prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) &&
		(statvfs(f->path, &fs) || !(fs.f_flag & ST_NOSUID));
}

static u64 own_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	return syscall(SYS_capget, &header, data)
		? 0
		: data[0].permitted | (u64)data[1].permitted << 32;
}

/* Whether the file has capabilities that we lack. */
static bool gives_capabilities(const struct file *f)
{
	u8 raw[sizeof(struct vfs_ns_cap_data)];
	ssize_t n = getxattr(f->path, "security.capability", raw, sizeof(raw));
	struct bytes b = bytes_of(raw, n > 0 ? (size_t)n : 0);
	u32 magic, low, inheritable, high = 0;

	if (!geteuid() || !bytes_u32(&b, &magic) || !bytes_u32(&b, &low))
		return false;
	if ((magic & VFS_CAP_REVISION_MASK) != VFS_CAP_REVISION_1 &&
		(!bytes_u32(&b, &inheritable) || !bytes_u32(&b, &high)))
		return false;
	return (low | (u64)high << 32) & ~own_capabilities();
}

/* What is special about the file; NULL: nothing. */
static const char *peculiarity_of(const struct file *f, bool *ret_helps_root)
{
	mode_t mode = f->st.st_mode;

	*ret_helps_root = geteuid() != 0;
	if (may_change_rights(f)) {
		if (mode & S_ISGID && mode & S_IXGRP && f->st.st_gid != getgid()) {
			*ret_helps_root = false;
			return "is setgid";
		}
		if (mode & S_ISUID && f->st.st_uid != getuid()) {
			*ret_helps_root &= !f->st.st_uid;
			return f->st.st_uid ? "is setuid" : "is setuid root";
		}
		if (gives_capabilities(f))
			return "has capabilities";
	}
	return access(f->path, R_OK) ? "is not readable" : NULL;
}

bool setuid_takes_counters(const char *command, struct str *why)
{
	const char *peculiarity;
	bool helps_root;
	struct file f;
	s64 dumpable;

	if (!find_program(command, &f))
		return false;
	peculiarity = peculiarity_of(&f, &helps_root);
	if (!peculiarity || is_script(&f) ||
		(sysfile_s64("/proc/sys/fs/suid_dumpable", &dumpable) &&
			dumpable == SUID_DUMP_USER))
		return false;
	str_addf(why,
		"'%s' %s, and the kernel takes the counters away from such a program when it starts: %scount the whole "
		"system (-a) while it runs",
		f.path, peculiarity, helps_root ? "run pace as root, or " : "");
	return true;
}
