/* It has a frame, so that walkers of frame pointers see its caller. */
	.text
	.global	spin
	.type	spin, %function
spin:
	.cfi_startproc
	stp	x29, x30, [sp, #-16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	x29, sp
1:	subs	x0, x0, #1
	b.ne	1b
	ldp	x29, x30, [sp], #16
	.cfi_restore 30
	.cfi_restore 29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	spin, . - spin
	.section .note.GNU-stack, "", %progbits
