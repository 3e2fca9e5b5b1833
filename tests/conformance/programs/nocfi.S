	.text

/* No call frame information, a frame. */
	.globl hot_bare_frame
	.type hot_bare_frame, @function
hot_bare_frame:
	push %rbp
	mov %rsp, %rbp
1:	dec %rdi
	jnz 1b
	pop %rbp
	ret
	.size hot_bare_frame, . - hot_bare_frame

/* Neither: the return address is where the call put it. */
	.globl hot_bare_leaf
	.type hot_bare_leaf, @function
hot_bare_leaf:
1:	dec %rdi
	jnz 1b
	ret
	.size hot_bare_leaf, . - hot_bare_leaf

	.globl bare_frame_calls
	.type bare_frame_calls, @function
bare_frame_calls:
	push %rbp
	mov %rsp, %rbp
	call *%rdi
	pop %rbp
	ret
	.size bare_frame_calls, . - bare_frame_calls

	.globl bare_push_calls
	.type bare_push_calls, @function
bare_push_calls:
	push %rbx
	sub $16, %rsp
	mov %rdi, %rbx
	call *%rbx
	add $16, %rsp
	pop %rbx
	ret
	.size bare_push_calls, . - bare_push_calls

/* Interrupted at its first instruction: what is before it belongs to another function. */
	.globl faults
	.type faults, @function
faults:
	.cfi_startproc
	ud2
	ret
	.cfi_endproc
	.size faults, . - faults

	.section .note.GNU-stack, "", @progbits
