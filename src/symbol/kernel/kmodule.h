/*
 * kmodule.h - reads a kernel module's functions from its file, when the module is not loaded here.
 *
 * In       a module as it was recorded: a path, or its name in brackets; the kernel's release
 * Out      the opened file and its functions, relative to the module's load address; the file that has its
 *          debug information, with sections laid out the same way
 * Errors   ERR_NOENT: the file is not here; ERR_FORMAT: another build, or not a module
 * Source   kernel/module/main.c, layout_sections(): executable sections in the order of the file, each
 *          aligned, those for initialization elsewhere; modules.dep(5). Where the kernel enlarges a section
 *          while loading (.plt of arm64), all later ones move: such files are refused
 */
#ifndef PACE_SYMBOL_KMODULE_H
#define PACE_SYMBOL_KMODULE_H

#include "symbol/find/find.h"
#include "symbol/elf/symtab.h"

int kmodule_open(const struct find_places *places, const struct dso *dso, const char *release,
	struct elf *ret_elf, struct symtab *ret_symtab, struct err *err);

/*
 * Opens the module's own file or else its separate debug file. ERR_NOENT also if neither has debug
 * information.
 */
int kmodule_open_debug(const struct find_places *places, const struct dso *dso, const char *release,
	struct elf *ret_elf, struct err *err);

#endif
