#include "symbol/elf/vdso.h"

#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

int vdso_open(struct elf *ret_elf, struct err *err)
{
	const ElfW(Ehdr) *base = (const void *)getauxval(AT_SYSINFO_EHDR);

	if (!base)
		return err_set(err, ERR_NOENT, "this kernel maps no vdso");
	/* The kernel's build puts its section headers at the end. */
	return elf_of_memory(ret_elf, base, base->e_shoff + (u64)base->e_shnum * base->e_shentsize,
		err);
}

u8 vdso_build_id(u8 id[BUILD_ID_MAX])
{
	struct elf elf;
	struct err err;
	u8 n;

	if (vdso_open(&elf, &err))
		return 0;
	n = elf_build_id(&elf, id);
	elf_close(&elf);
	return n;
}
