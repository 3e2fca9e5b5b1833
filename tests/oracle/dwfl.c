/*
 * dwfl.c - stacks walked by pace and by libdwfl, from the same registers, dumps and files.
 *
 *     dwfl RECORDING [N]
 *
 * Prints how many samples with a dump there are, and how many of the two chains of addresses are
 * equal; then for at most N of each kind of difference both chains. Kinds: "caller" (libdwfl leaves
 * out the caller of the sampled function: it has no call frame information for that, and follows the
 * frame pointer, which is the caller's; the return address is there, below the frame, behind a call),
 * "longer" (pace goes on where libdwfl stops), "shorter", "ending" (the same frames, but only libdwfl
 * says that the last one is the root), "other". Behind the kind stands how the stack ends for pace.
 *
 * libdwfl reads registers that an epilogue has popped from where they were, below the stack pointer,
 * which is not recorded: there it gets what they have again.
 */
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "event/abi.h"
#include "machine/machine.h"
#include "symbol/resolve/callers.h"
#include "symbol/elf/vdso.h"
#include "unwind/chain.h"
#include "unwind/ending.h"

enum { KINDS = 8, FRAMES_MAX = 2 * CALLERS_MAX_FRAMES, VDSO_PATH_MAX = 64 };

struct frame {
	u64 ip;
	bool is_return;
};

struct frames {
	struct frame at[FRAMES_MAX];
	size_t n;
};

/* A process as libdwfl sees it at a time. */
struct process_view {
	u32 space; /* + 1 */
	Dwfl *dwfl;
};

struct difference {
	const char *kind;
	enum stack_ending ending;
	u64 n;
};

struct oracle {
	struct session session;
	struct machine machine;
	struct dso_files files;
	struct callers callers;
	struct callers_walk walk;
	struct intern strings;
	VEC(struct process_view) views;
	VEC(struct difference) differences;
	char vdso[VDSO_PATH_MAX];
	const struct sample *sample; /* at hand */
	u64 mask;
	struct frames ours, theirs;
	/* libdwfl asked for what is not in the dump: such an end it takes for the root, or not */
	bool has_missed;
	const char *error;
	u64 n, n_equal, n_frames, n_shown_max;
};

/* ---- libdwfl ---- */

/* DWARF numbers of x86-64 by the bits of sample masks. */
static const int x86_64[] = {0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11,
	12, 13, 14, 15};

static pid_t next_thread(Dwfl *dwfl, void *ctx, void **thread_arg)
{
	if (*thread_arg)
		return 0;
	*thread_arg = ctx;
	return dwfl_pid(dwfl);
}

/* A register of the sample; false: it is not recorded. */
static bool register_of(const struct oracle *o, int dwarf, u64 *ret_v)
{
	u64 k = 0;

	for (unsigned bit = 0; bit < ARRAY_SIZE(x86_64); bit++) {
		if (!(o->mask >> bit & 1))
			continue;
		if (x86_64[bit] == dwarf) {
			*ret_v = load_u64(o->sample->user_regs.values.at + 8 * k);
			return true;
		}
		k++;
	}
	return false;
}

/* The rules of libdw for the sampled instruction; to be freed. */
static Dwarf_Frame *rules_of_sample(struct oracle *o, Dwfl *dwfl)
{
	enum { IP = 16 };
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	Dwfl_Module *module;
	Dwarf_CFI *cfi;
	u64 ip;

	if (!register_of(o, IP, &ip))
		return NULL;
	module = dwfl_addrmodule(dwfl, ip);
	cfi = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	return cfi && !dwarf_cfi_addrframe(cfi, ip - bias, &frame) ? frame : NULL;
}

/* What was at an address below the stack pointer: a register that has been popped from there. */
static bool was_popped(struct oracle *o, Dwfl *dwfl, u64 va, u64 *ret_v)
{
	Dwarf_Frame *frame = rules_of_sample(o, dwfl);
	Dwarf_Op memory[3], *ops;
	bool is_found = false;
	size_t n;
	u64 cfa;

	if (!frame)
		return false;
	if (!dwarf_frame_cfa(frame, &ops, &n) && n == 1 && ops[0].atom == DW_OP_bregx &&
		register_of(o, (int)ops[0].number, &cfa)) {
		cfa += ops[0].number2;
		for (int reg = 0; reg < 16 && !is_found; reg++)
			is_found = !dwarf_frame_register(frame, reg, memory, &ops, &n) && n == 2 &&
				ops[0].atom == DW_OP_call_frame_cfa &&
				ops[1].atom == DW_OP_plus_uconst && cfa + ops[1].number == va &&
				register_of(o, reg, ret_v);
	}
	free(frame);
	return is_found;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr va, Dwarf_Word *ret_v, void *ctx)
{
	struct oracle *o = ctx;
	const struct sample_regs *regs = &o->sample->user_regs;
	unsigned sp = (unsigned)__builtin_popcountll(o->mask & ((1 << 7) - 1));
	u64 start = load_u64(regs->values.at + 8 * sp);

	if (va < start && was_popped(o, dwfl, va, ret_v))
		return true;
	if (va < start || va - start + 8 > o->sample->user_stack.dyn_size) {
		o->has_missed = true;
		return false;
	}
	*ret_v = load_u64((const u8 *)o->sample->user_stack.bytes.at + (va - start));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *ctx)
{
	struct oracle *o = ctx;
	Dwarf_Word regs[17] = {0};
	u64 k = 0;

	for (unsigned bit = 0; bit < ARRAY_SIZE(x86_64); bit++) {
		if (!(o->mask >> bit & 1))
			continue;
		if (x86_64[bit] >= 0)
			regs[x86_64[bit]] = load_u64(o->sample->user_regs.values.at + 8 * k);
		k++;
	}
	return dwfl_thread_state_registers(thread, 0, 17, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_registers,
};

static int no_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *file, const char *link, GElf_Word crc, char **ret_file)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)crc,
		(void)ret_file;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct reporting_modules {
	struct oracle *oracle;
	Dwfl *dwfl;
};

static void report_module(void *ctx, const struct map *map)
{
	struct reporting_modules *r = ctx;
	const char *path = map->dso->path;
	struct elf elf;
	struct err err;
	u64 rva;

	if (map->dso->kind == DSO_VDSO)
		path = r->oracle->vdso;
	else if (map->dso->kind != DSO_FILE)
		return;
	if (elf_open(&elf, path, &err))
		return;
	/*
	 * Maps of data would report it a second time; and a program with fixed addresses is known in
	 * one place only, though node maps a part of itself a second time elsewhere.
	 */
	if (!dwfl_addrmodule(r->dwfl, map->start) &&
		elf_address_of_offset(&elf, map->pgoff, &rva) &&
		(elf.type != ET_EXEC || map->start == rva))
		dwfl_report_elf(r->dwfl, path, path, -1, map->start - rva, true);
	elf_close(&elf);
}

static Dwfl *view_of(struct oracle *o, const struct space *space)
{
	struct reporting_modules r = {o, NULL};

	vec_each(view, &o->views)
		if (view->space == space->id + 1)
			return view->dwfl;
	r.dwfl = dwfl_begin(&callbacks);
	dwfl_report_begin_add(r.dwfl);
	maps_each(space->maps, report_module, &r);
	dwfl_report_end(r.dwfl, NULL, NULL);
	if (!dwfl_attach_state(r.dwfl, NULL, 1, &thread_callbacks, o)) {
		dwfl_end(r.dwfl);
		r.dwfl = NULL;
	}
	vec_add(&o->views, ((struct process_view){space->id + 1, r.dwfl}));
	return r.dwfl;
}

static int take_frame(Dwfl_Frame *frame, void *ctx)
{
	struct oracle *o = ctx;
	Dwarf_Addr pc;
	bool is_interrupted;

	if (!dwfl_frame_pc(frame, &pc, &is_interrupted))
		return DWARF_CB_ABORT;
	if (o->theirs.n == CALLERS_MAX_FRAMES)
		return DWARF_CB_ABORT;
	o->theirs.at[o->theirs.n++] = (struct frame){pc, !is_interrupted};
	return DWARF_CB_OK;
}

/* ---- comparing ---- */

static void print_frames(const char *whose, const struct frames *f)
{
	printf("  %s", whose);
	for (size_t i = 0; i < f->n; i++)
		printf(" %s%llx", f->at[i].is_return ? "" : "*", (unsigned long long)f->at[i].ip);
	putchar('\n');
}

static void differ(struct oracle *o, const char *kind, const struct stack_end *end)
{
	struct difference *d = NULL;

	vec_each(known, &o->differences)
		if (!strcmp(known->kind, kind) && known->ending == end->ending)
			d = known;
	if (!d) {
		vec_add(&o->differences, ((struct difference){kind, end->ending, 0}));
		d = &o->differences.at[o->differences.n - 1];
	}
	if (d->n++ >= o->n_shown_max)
		return;
	printf("%s, %s in %s, at %llu of %u\n", kind, ending_text(end->ending),
		o->machine.dsos.at.at[end->dso]->path, (unsigned long long)o->sample->time,
		o->sample->tid);
	if (o->error)
		printf("  libdwfl: %s\n", o->error);
	print_frames("pace   ", &o->ours);
	print_frames("libdwfl", &o->theirs);
}

static bool is_same_frame(const struct frame *a, const struct frame *b)
{
	return a->ip == b->ip && a->is_return == b->is_return;
}

/* Whether the code before a return address calls somebody; of generated code nobody knows any more. */
static bool is_behind_call(const struct space *space, u64 ip)
{
	enum { LONGEST = 7 };
	const struct map *map = machine_find(space, ip - 1);
	u8 code[LONGEST];
	ssize_t n = 0;
	int fd;

	if (!map || map->dso->kind == DSO_JIT)
		return map != NULL;
	fd = open(map->dso->path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = pread(fd, code, LONGEST, (off_t)(map_offset(map, ip) - LONGEST));
		close(fd);
	}
	if (n != LONGEST)
		return false;
	/* call near; call *reg, *mem, with displacements of 0, 1 and 4 bytes, with a SIB byte */
	if (code[2] == 0xe8)
		return true;
	for (unsigned size = 2; size <= LONGEST; size++)
		if (code[LONGEST - size] == 0xff && (code[LONGEST - size + 1] & 0x38) == 0x10)
			return true;
	return false;
}

/* Whether a word lies on the stack below the frame pointer, which libdwfl follows. */
static bool is_below_frame(const struct oracle *o, u64 word)
{
	const struct sample_stack *stack = &o->sample->user_stack;
	u64 sp, fp;

	if (!register_of(o, 7, &sp) || !register_of(o, 6, &fp))
		return false;
	for (u64 at = 0; at + 8 <= stack->dyn_size && sp + at < fp; at += 8)
		if (load_u64((const u8 *)stack->bytes.at + at) == word)
			return true;
	return false;
}

/*
 * Where a function has no call frame information and no frame of its own (yet), libdwfl follows the
 * frame pointer past its caller.
 */
static bool is_caller_left_out(struct oracle *o, Dwfl *dwfl, const struct space *space)
{
	Dwarf_Frame *frame;

	if (o->ours.n != o->theirs.n + 1)
		return false;
	for (size_t i = 1; i < o->theirs.n; i++)
		if (!is_same_frame(&o->ours.at[i + 1], &o->theirs.at[i]))
			return false;
	if (!is_same_frame(&o->ours.at[0], &o->theirs.at[0]))
		return false;
	frame = rules_of_sample(o, dwfl);
	free(frame);
	return !frame && is_below_frame(o, o->ours.at[1].ip) &&
		is_behind_call(space, o->ours.at[1].ip);
}

static void compare(struct oracle *o, Dwfl *dwfl, const struct space *space,
	const struct stack_end *end)
{
	size_t n = 0;

	while (n < o->ours.n && n < o->theirs.n && is_same_frame(&o->ours.at[n], &o->theirs.at[n]))
		n++;
	o->n++;
	o->n_frames += o->ours.n;
	if (n && n < o->ours.n && is_caller_left_out(o, dwfl, space))
		differ(o, "caller", end);
	else if (n < o->ours.n && n < o->theirs.n)
		differ(o, "other", end);
	else if (n < o->ours.n)
		differ(o, "longer", end);
	else if (n < o->theirs.n)
		differ(o, "shorter", end);
	else if (!o->error && !o->has_missed && end->ending != STACK_COMPLETE)
		differ(o, "ending", end);
	else
		o->n_equal++;
}

static void take_ours(struct oracle *o, const struct sample_words *chain)
{
	struct chain_walk walk = chain_walk(chain, PERF_RECORD_MISC_USER);
	struct chain_step step;

	o->ours.n = 0;
	while (chain_next(&walk, &step) && o->ours.n < FRAMES_MAX)
		if (step.mode == PERF_RECORD_MISC_USER)
			o->ours.at[o->ours.n++] = (struct frame){step.ip, step.is_return};
}

static void take_sample(void *ctx, const struct session_sample *in)
{
	struct oracle *o = ctx;
	struct thread_state state;
	struct sample_words chain;
	struct stack_end end;
	Dwfl *dwfl;

	o->sample = in->sample;
	o->mask = o->session.reader.formats.at[in->event].user_regs;
	machine_state_at(&o->machine, in->sample->pid, in->sample->tid, in->time, &o->strings,
		&state);
	if (!callers_find(&o->walk, state.user, o->mask, in->sample, &chain, &end) || !state.user)
		return;
	take_ours(o, &chain);
	o->theirs.n = 0;
	dwfl = view_of(o, state.user);
	if (!dwfl)
		return;
	o->has_missed = false;
	o->error = dwfl_getthread_frames(dwfl, 1, take_frame, o) ? dwfl_errmsg(-1) : NULL;
	compare(o, dwfl, state.user, &end);
}

static void write_vdso(struct oracle *o)
{
	struct elf elf = {0};
	struct err err;
	int fd;

	strcpy(o->vdso, "/tmp/pace-vdso-XXXXXX");
	fd = mkstemp(o->vdso);
	if (fd < 0 || vdso_open(&elf, &err) || write(fd, elf.data, elf.size) != (ssize_t)elf.size)
		*o->vdso = '\0';
	elf_close(&elf);
	close(fd);
}

int main(int argc, char **argv)
{
	static struct oracle o;
	void *workers[] = {&o};
	struct session_sink sink = {PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		take_sample, workers};
	struct find_places places = {.symfs = ""};
	struct log log = {0};
	struct err err;

	if (argc < 2) {
		fprintf(stderr, "dwfl: which recording?\n");
		return EXIT_FAILURE;
	}
	o.n_shown_max = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	write_vdso(&o);
	if (session_open(&o.session, argv[1], &log, &err) ||
		machine_scan(&o.machine, &o.session, &err)) {
		fprintf(stderr, "dwfl: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	places.log = &log;
	dso_files_init(&o.files, &o.machine, &places);
	callers_init(&o.callers, &o.files, o.session.reader.info.host.arch);
	callers_walk_init(&o.walk, &o.callers);
	if (session_samples(&o.session, 1, &sink, &err)) {
		fprintf(stderr, "dwfl: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	printf("samples %llu equal %llu frames %llu\n", (unsigned long long)o.n,
		(unsigned long long)o.n_equal, (unsigned long long)o.n_frames);
	vec_each(d, &o.differences)
		printf("%s %llu %s\n", d->kind, (unsigned long long)d->n, ending_text(d->ending));
	vec_each(view, &o.views)
		dwfl_end(view->dwfl);
	unlink(o.vdso);
	callers_walk_fini(&o.walk);
	callers_fini(&o.callers);
	dso_files_fini(&o.files);
	vec_fini(&o.views);
	vec_fini(&o.differences);
	intern_fini(&o.strings);
	machine_fini(&o.machine);
	session_close(&o.session);
	return EXIT_SUCCESS;
}
