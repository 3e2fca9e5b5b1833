#include "test.h"

#include "symbol/code/shape.h"

/* "exact", "loose" or "none": in what two instructions are the same. */
static const char *likeness(const struct shape_text *a, const struct shape_text *b)
{
	struct str scratch = {0};
	struct shape x = shape_of(a, &scratch), y = shape_of(b, &scratch);

	str_fini(&scratch);
	CHECK(x.exact != y.exact || x.loose == y.loose);
	return x.exact == y.exact ? "exact" : x.loose == y.loose ? "loose" : "none";
}

static const char *plain(const char *a, const char *b)
{
	return likeness(&(struct shape_text){.text = a}, &(struct shape_text){.text = b});
}

TEST(shapes_forget_registers_and_places_on_the_stack)
{
	CHECK_STR(plain("movl   %eax, %ebx", "movl   %eax, %ebx"), "exact");
	CHECK_STR(plain("movl   %eax, %ebx", "movl   %ecx, %r10d"), "loose");
	CHECK_STR(plain("movl   0x18(%rsp), %ebx", "movl   -0x28(%rbp), %ebx"), "loose");
	CHECK_STR(plain("mov    eax, dword ptr [rsp + 0x18]", "mov    ecx, dword ptr [rbp - 0x8]"),
		"none");
	CHECK_STR(plain("mov    eax, dword ptr [rsp + 0x18]", "mov    ecx, dword ptr [rsp + 0x8]"),
		"loose");
	CHECK_STR(plain("ldr    x0, [sp, #24]", "ldr    x7, [sp, #16]"), "loose");
	CHECK_STR(plain("movaps %xmm0, %xmm1", "movaps %xmm7, %xmm2"), "loose");
	CHECK_STR(plain("movl   $0x402010, %edi", "movl   $0x403020, %edi"), "loose");
}

TEST(shapes_keep_what_an_instruction_does)
{
	CHECK_STR(plain("movl   %eax, %ebx", "movq   %rax, %rbx"), "none");
	CHECK_STR(plain("addl   $0x1, %eax", "addl   $0x2, %eax"), "none");
	CHECK_STR(plain("movl   0x18(%rdi), %eax", "movl   0x10(%rdi), %eax"), "none");
	CHECK_STR(plain("movl   %eax, (%rdi)", "movl   (%rdi), %eax"), "none");
	CHECK_STR(plain("mov    eax, dword ptr [rdi]", "mov    eax, qword ptr [rdi]"), "none");
	CHECK_STR(plain("movq   %xmm0, %rax", "movq   %rbx, %rax"), "none");
}

TEST(shapes_take_addresses_for_what_lies_there)
{
	struct shape_text a = {.text = "callq  0x401136", .has_target = true, .target = "f"},
			  b = {.text = "callq  0x501020", .has_target = true, .target = "f"};

	CHECK_STR(likeness(&a, &b), "exact");
	b.target = "g";
	CHECK_STR(likeness(&a, &b), "none");
	a = (struct shape_text){.text = "jne    0x401136", .has_target = true};
	b = (struct shape_text){.text = "jne    0x501020", .has_target = true};
	CHECK_STR(likeness(&a, &b), "exact");
	a = (struct shape_text){.text = "movl   0x2ee4(%rip), %eax",
		.has_reference = true,
		.reference = "table"};
	b = (struct shape_text){.text = "movl   -0x1100(%rip), %eax",
		.has_reference = true,
		.reference = "table"};
	CHECK_STR(likeness(&a, &b), "exact");
	b.text = "movl   -0x1100(%rip), %ecx";
	CHECK_STR(likeness(&a, &b), "loose");
	b.reference = "other";
	CHECK_STR(likeness(&a, &b), "none");
}

TEST(shapes_of_bytes_are_the_bytes)
{
	struct shape_text a = {.text = ".byte  0x06", .is_bytes = true},
			  b = {.text = ".byte  0x07", .is_bytes = true};

	CHECK_STR(likeness(&a, &b), "none");
	CHECK_STR(likeness(&a, &a), "exact");
}
