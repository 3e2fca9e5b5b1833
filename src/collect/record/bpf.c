#include "collect/record/bpf.h"

#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "event/abi.h"
#include "record/record.h"

enum { FUNCTIONS_MAX = 4096, BTF_MAX = 16 << 20, PROGRAMS_MAX = 1 << 16 };

static long call(int command, union bpf_attr *attr)
{
	return syscall(__NR_bpf, command, attr, sizeof(*attr));
}

static u64 address(const void *p)
{
	return (u64)(uintptr_t)p;
}

static int info_of(int fd, void *info, u32 size)
{
	union bpf_attr attr = {
		.info = {.bpf_fd = (u32)fd, .info_len = size, .info = address(info)}};

	return call(BPF_OBJ_GET_INFO_BY_FD, &attr) ? -1 : 0;
}

/* ---- names ---- */

/* How many bytes follow the 12 bytes that all types have. */
static bool tail_of(u32 info, u32 *ret_size)
{
	u32 n = BTF_INFO_VLEN(info);

	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_INT:
		*ret_size = 4;
		return true;
	case BTF_KIND_ARRAY:
		*ret_size = sizeof(struct btf_array);
		return true;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		*ret_size = n * (u32)sizeof(struct btf_member);
		return true;
	case BTF_KIND_ENUM:
		*ret_size = n * (u32)sizeof(struct btf_enum);
		return true;
	case BTF_KIND_ENUM64:
		*ret_size = n * 12;
		return true;
	case BTF_KIND_FUNC_PROTO:
		*ret_size = n * (u32)sizeof(struct btf_param);
		return true;
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		*ret_size = 4;
		return true;
	case BTF_KIND_DATASEC:
		*ret_size = n * (u32)sizeof(struct btf_var_secinfo);
		return true;
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		*ret_size = 0;
		return true;
	}
	return false;
}

const char *bpf_function_name(struct bytes btf, u32 type_id)
{
	u32 name, info, size, tail, header_size, types, types_size, strings, strings_size;
	struct bytes list, texts;
	const char *text;
	u8 version, flags;
	u16 magic;
	size_t n;

	list = texts = btf;
	if (!bytes_u16(&btf, &magic) || magic != BTF_MAGIC || !bytes_u8(&btf, &version) ||
		!bytes_u8(&btf, &flags) || !bytes_u32(&btf, &header_size) ||
		!bytes_u32(&btf, &types) || !bytes_u32(&btf, &types_size) ||
		!bytes_u32(&btf, &strings) || !bytes_u32(&btf, &strings_size) ||
		!bytes_skip(&list, header_size) || !bytes_skip(&list, types) ||
		!bytes_skip(&texts, header_size) || !bytes_skip(&texts, strings))
		return NULL;
	/* Types have no index: each type's size gives the start of the next. Numbers start at 1. */
	for (u32 id = 1;
		bytes_u32(&list, &name) && bytes_u32(&list, &info) && bytes_u32(&list, &size);
		id++) {
		if (id == type_id)
			return BTF_INFO_KIND(info) == BTF_KIND_FUNC && bytes_skip(&texts, name) &&
					bytes_cstr(&texts, &text, &n) && n
				? text
				: NULL;
		if (!tail_of(info, &tail) || !bytes_skip(&list, tail))
			break;
	}
	return NULL;
}

static bool read_btf(u32 id, struct str *out)
{
	union bpf_attr attr = {.btf_id = id};
	struct bpf_btf_info info = {0};
	int fd = id ? (int)call(BPF_BTF_GET_FD_BY_ID, &attr) : -1;

	if (fd < 0)
		return false;
	if (!info_of(fd, &info, sizeof(info)) && info.btf_size && info.btf_size <= BTF_MAX) {
		str_reserve(out, info.btf_size);
		info.btf = address(out->at);
		if (!info_of(fd, &info, sizeof(info)))
			out->n = MIN(info.btf_size, (u32)BTF_MAX);
	}
	close(fd);
	return out->n > 0;
}

/* ---- programs ---- */

struct program {
	struct bpf_prog_info info;
	u64 *addresses;
	u32 *sizes;
	u8 (*tags)[BPF_TAG_SIZE];
	struct bpf_func_info *functions;
	struct str btf;
};

/* Asks the kernel for the number of functions, then for all their data. */
static bool read_program(int fd, struct program *p)
{
	struct bpf_prog_info counts = {0};
	u32 n;

	if (info_of(fd, &counts, sizeof(counts)))
		return false;
	n = counts.nr_jited_ksyms;
	if (!n || n > FUNCTIONS_MAX || counts.nr_jited_func_lens != n)
		return false;
	p->addresses = mem_zalloc(n * sizeof(*p->addresses));
	p->sizes = mem_zalloc(n * sizeof(*p->sizes));
	p->tags = mem_zalloc(n * sizeof(*p->tags));
	p->functions = mem_zalloc(n * sizeof(*p->functions));
	p->info.nr_jited_ksyms = p->info.nr_jited_func_lens = n;
	p->info.jited_ksyms = address(p->addresses);
	p->info.jited_func_lens = address(p->sizes);
	if (counts.nr_prog_tags == n) {
		p->info.nr_prog_tags = n;
		p->info.prog_tags = address(p->tags);
	}
	if (counts.nr_func_info == n && counts.func_info_rec_size == sizeof(*p->functions)) {
		p->info.nr_func_info = n;
		p->info.func_info_rec_size = sizeof(*p->functions);
		p->info.func_info = address(p->functions);
	}
	if (info_of(fd, &p->info, sizeof(p->info)) || p->info.nr_jited_ksyms != n)
		return false;
	/* If a program has one function, the program's tag is the function's. */
	if (!p->info.nr_prog_tags)
		memcpy(p->tags[0], p->info.tag, BPF_TAG_SIZE);
	if (p->info.nr_func_info == n)
		read_btf(p->info.btf_id, &p->btf);
	return true;
}

static void program_fini(struct program *p)
{
	mem_free(p->addresses);
	mem_free(p->sizes);
	mem_free(p->tags);
	mem_free(p->functions);
	str_fini(&p->btf);
}

/* Adds the name that the kernel shows in kallsyms: "bpf_prog_0123456789abcdef_name". */
static void add_name(const struct program *p, u32 i, struct str *name)
{
	const char *word = NULL;

	str_add(name, "bpf_prog_");
	for (u32 k = 0; k < BPF_TAG_SIZE; k++)
		str_addf(name, "%02x", p->tags[i][k]);
	if (p->btf.n)
		word = bpf_function_name(bytes_of(p->btf.at, p->btf.n), p->functions[i].type_id);
	if (!word && p->info.nr_jited_ksyms == 1 && *p->info.name)
		word = p->info.name;
	/* The kernel's name for functions of a program without BTF. */
	if (!word && p->info.nr_jited_ksyms > 1)
		word = "F";
	if (word)
		str_addf(name, "_%s", word);
}

static void tell(const struct program *p, u32 trailer, struct str *out)
{
	enum { LOADED = 1, BPF_CODE = 1 };
	union record_body body;
	struct str name = {0};

	for (u32 i = 0; i < p->info.nr_jited_ksyms; i++) {
		/* Hidden from users who may not see addresses. */
		if (!p->addresses[i] || !p->sizes[i])
			continue;
		str_clear(&name);
		add_name(p, i, &name);
		body = (union record_body){.ksymbol = {.addr = p->addresses[i],
						   .len = p->sizes[i],
						   .ksym_type = BPF_CODE,
						   .name = {(const u8 *)name.at, name.n}}};
		record_encode(PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL, &body, trailer, out);
	}
	body = (union record_body){.bpf = {.bpf_type = LOADED, .id = p->info.id}};
	memcpy(body.bpf.tag, p->info.tag, sizeof(body.bpf.tag));
	record_encode(PERF_RECORD_BPF_EVENT, PERF_RECORD_MISC_KERNEL, &body, trailer, out);
	str_fini(&name);
}

void bpf_synth(u32 trailer, struct str *out)
{
	union bpf_attr attr = {.start_id = 0};

	for (u32 n = 0; n < PROGRAMS_MAX && !call(BPF_PROG_GET_NEXT_ID, &attr); n++) {
		u32 id = attr.next_id;
		struct program p = {0};
		int fd;

		attr = (union bpf_attr){.prog_id = id};
		fd = (int)call(BPF_PROG_GET_FD_BY_ID, &attr);
		if (fd >= 0) {
			if (read_program(fd, &p))
				tell(&p, trailer, out);
			program_fini(&p);
			close(fd);
		}
		attr = (union bpf_attr){.start_id = id};
	}
}
