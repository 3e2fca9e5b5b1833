/*
 * mcp_folders.h - the folders below which pace mcp opens recordings, and nothing else.
 *
 * In       folders of the command line; paths that a client asks for
 * Out      the path of the file behind such a path, if it lies in one of the folders
 * Owns     a descriptor for each folder
 * Errors   ERR_NOENT for what lies elsewhere and for what does not exist: the sentence is the same, so that nobody learns which
 *          files there are elsewhere. Nothing outside is touched to find that out
 *
 * The kernel resolves a path from the folder's descriptor and refuses to leave it (openat2(2), RESOLVE_BENEATH), so no link that is
 * swapped meanwhile leads out. The fence of the process that reads the file (mcp_fence_raise()) guards the moment after that.
 */
#ifndef PACE_CMD_MCP_FOLDERS_H
#define PACE_CMD_MCP_FOLDERS_H

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

struct mcp_folder {
	char *name; /* as it was given, but absolute */
	char *real; /* without links */
	int fd;
};

struct mcp_folders {
	VEC(struct mcp_folder) all;
};

int mcp_folders_add(struct mcp_folders *f, const char *path, struct err *err);
void mcp_folders_fini(struct mcp_folders *f);

/* The path without links; relative ones are looked for in each folder. */
int mcp_folders_find(const struct mcp_folders *f, const char *path, struct str *ret,
	struct err *err);

/* Adds "'A', 'B'". */
void mcp_folders_add_names(const struct mcp_folders *f, struct str *text);

/*
 * From now on this process can open files in the folders, and where programs and their debug information lie on this machine, to name
 * functions. pace's own cache may be written. ERR_UNSUPPORTED: the kernel has no Landlock.
 */
int mcp_fence_raise(const struct mcp_folders *f, struct err *err);

#endif
