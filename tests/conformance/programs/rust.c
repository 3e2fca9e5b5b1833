/* Functions with the names that rustc makes. */
#include "scene.h"

#define HOT(name, symbol)                \
	void name(void) __asm__(symbol); \
	NOINLINE void name(void)

HOT(legacy, "_ZN7mycrate4deep10hot_legacy17h0123456789abcdefE")
{
	SPIN; /* at mycrate::deep::hot_legacy */
}

HOT(v0, "_RNvNtCs1234_7mycrate4deep6hot_v0")
{
	SPIN; /* at mycrate::deep::hot_v0 */
}

HOT(generic, "_RINvNtCs1234_7mycrate4deep11hot_genericlE")
{
	SPIN; /* at mycrate::deep::hot_generic::<i32> */
}

/* chain: mycrate::deep::hot_legacy <- scene_rust@rust_legacy <- main */
/* chain: mycrate::deep::hot_v0 <- scene_rust@rust_v0 <- main */
/* chain: mycrate::deep::hot_generic::<i32> <- scene_rust@rust_generic <- main */
NOINLINE void scene_rust(void)
{
	legacy();  /* at rust_legacy */
	v0();      /* at rust_v0 */
	generic(); /* at rust_generic */
	AFTER;
}
