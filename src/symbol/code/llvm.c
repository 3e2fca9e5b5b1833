#include "symbol/code/llvm.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

#include "base/mem.h"

enum { NEWEST = 22, OLDEST = 11 };

/* LLVMDisassembler_Option_*, _ReferenceType_In_* of llvm-c/DisassemblerTypes.h */
enum { PRINT_IMMEDIATES_AS_HEX = 2, OTHER_SYNTAX = 4 };
enum { REFERENCE_BRANCH = 1, REFERENCE_LOAD = 2 };

typedef int op_info(void *ctx, uint64_t pc, uint64_t offset, uint64_t size, int tag, void *buf);
typedef const char *lookup(void *ctx, uint64_t value, uint64_t *type, uint64_t pc,
	const char **ret_name);

static struct {
	void *handle;
	char name[32];
	char why[256]; /* why it could not be loaded; "" if it was */
	void *(*create)(const char *triple, const char *cpu, const char *features, void *ctx,
		int tag, op_info *info, lookup *look_up);
	int (*set_options)(void *context, uint64_t options);
	size_t (*instruction)(void *context, uint8_t *bytes, uint64_t n, uint64_t pc, char *text,
		size_t size);
	void (*dispose)(void *context);
} llvm;

/* The distributions' names: libLLVM.so.19.1 from 18 on, before that libLLVM-14.so.1 or -14.so. */
static const char *const names[] = {"libLLVM.so.%d.1", "libLLVM-%d.so.1", "libLLVM-%d.so"};

static void *open_newest(void)
{
	for (int version = NEWEST; version >= OLDEST; version--)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			void *handle;

			snprintf(llvm.name, sizeof(llvm.name), names[i], version);
			handle = dlopen(llvm.name, RTLD_LAZY | RTLD_LOCAL);
			if (handle)
				return handle;
		}
	return NULL;
}

static void no_memory(void)
{
	mem_exhausted(0);
}

static void no_block(void *ctx, const char *reason, bool is_core_wanted)
{
	(void)ctx, (void)reason, (void)is_core_wanted;
	mem_exhausted(0);
}

/*
 * LLVM, and the C++ library below it, abort if memory runs out, even while they are being loaded.
 * std::set_new_handler() and llvm::install_bad_alloc_error_handler() let us report it first; libraries in
 * which they have other names keep their behaviour.
 */
static void prepare_library(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	void (*set)(void (*handler)(void));

	if (!library)
		return;
	*(void **)&set = dlsym(library, "_ZSt15set_new_handlerPFvvE");
	if (set)
		set(no_memory);
}

static void prepare_llvm(void)
{
	void (*set)(void (*handler)(void *, const char *, bool), void *ctx);

	*(void **)&set =
		dlsym(llvm.handle, "_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");
	if (set)
		set(no_block, NULL);
}

static void load(void)
{
	prepare_library();
	llvm.handle = open_newest();
	if (!llvm.handle) {
		snprintf(llvm.why, sizeof(llvm.why),
			"no libLLVM from %d to %d is installed (package libllvm%d or the like)",
			OLDEST, NEWEST, 14);
		return;
	}
	prepare_llvm();
	*(void **)&llvm.create = dlsym(llvm.handle, "LLVMCreateDisasmCPUFeatures");
	*(void **)&llvm.set_options = dlsym(llvm.handle, "LLVMSetDisasmOptions");
	*(void **)&llvm.instruction = dlsym(llvm.handle, "LLVMDisasmInstruction");
	*(void **)&llvm.dispose = dlsym(llvm.handle, "LLVMDisasmDispose");
	if (!llvm.create || !llvm.set_options || !llvm.instruction || !llvm.dispose)
		snprintf(llvm.why, sizeof(llvm.why), "%s lacks functions that pace needs",
			llvm.name);
}

int llvm_load(const char **ret_name, struct err *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	if (llvm.why[0])
		return err_set(err, ERR_NOENT, "%s", llvm.why);
	*ret_name = llvm.name;
	return 0;
}

/* Initializes LLVM for an instruction set; repeated calls do no harm. */
static bool start_target(const struct isa *isa)
{
	static const char *const parts[] = {"TargetInfo", "TargetMC", "Disassembler"};
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	bool is_there = true;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < ARRAY_SIZE(parts) && is_there; i++) {
		char name[64];
		void (*start)(void);

		snprintf(name, sizeof(name), "LLVMInitialize%s%s", isa->llvm, parts[i]);
		*(void **)&start = dlsym(llvm.handle, name);
		is_there = start != NULL;
		if (start)
			start();
	}
	pthread_mutex_unlock(&lock);
	return is_there;
}

struct looking_up {
	bool has_reference;
	u64 reference;
};

/*
 * LLVM asks for symbols while it writes. It gets none, so that it writes addresses; but its questions
 * tell which data an instruction refers to.
 */
static const char *look_up(void *ctx, uint64_t value, uint64_t *type, uint64_t pc,
	const char **ret_name)
{
	struct looking_up *l = ctx;

	(void)pc;
	if (*type == REFERENCE_LOAD) {
		l->has_reference = true;
		l->reference = value;
	}
	*type = 0;
	*ret_name = NULL;
	return NULL;
}

static void add_bad(const struct code *c, u64 at, struct listing *ret)
{
	u64 n = MIN((u64)c->isa->unit, c->n - at);

	listing_add_bytes(ret, c->va + at, c->at + at, (u32)n);
}

int llvm_list(const struct code *c, bool is_intel, struct listing *ret, struct err *err)
{
	const char *name;
	struct looking_up l = {0};
	void *context;
	u64 size;

	if (llvm_load(&name, err))
		return err->code;
	context = start_target(c->isa)
		? llvm.create(c->isa->triple, "", c->isa->features, &l, 0, NULL, look_up)
		: NULL;
	if (!context)
		return err_set(err, ERR_UNSUPPORTED, "%s was built without %s", name, c->isa->name);
	/* Set the syntax first: it replaces the printer, which loses other options. */
	if (is_intel && c->isa->has_syntaxes)
		llvm.set_options(context, OTHER_SYNTAX);
	llvm.set_options(context, PRINT_IMMEDIATES_AS_HEX);
	for (u64 at = 0; at < c->n; at += size) {
		struct instruction *i;
		char text[256];

		l.has_reference = false;
		size = llvm.instruction(context, (u8 *)(uintptr_t)(c->at + at), c->n - at,
			c->va + at, text, sizeof(text));
		if (!size || size > c->n - at) {
			add_bad(c, at, ret);
			size = ret->instructions.at[ret->instructions.n - 1].size;
			continue;
		}
		i = listing_add(ret, c->isa, c->va + at, (u32)size, text);
		i->has_reference = l.has_reference;
		i->reference = l.reference;
	}
	llvm.dispose(context);
	return 0;
}
