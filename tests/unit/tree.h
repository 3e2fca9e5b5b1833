/*
 * tree.h - copies of /proc and /sys for tests: small files in nested folders.
 */
#ifndef PACE_TESTS_TREE_H
#define PACE_TESTS_TREE_H

/* Writes text to <root>/<path>, whose folders are made. The path is a format. */
void tree_file(const char *root, const char *text, const char *path, ...)
	__attribute__((format(printf, 3, 4)));
void tree_dir(const char *root, const char *path, ...) __attribute__((format(printf, 2, 3)));

#endif
