#include "test.h"

#include "symbol/name/origin.h"

TEST(origin_says_what_functions_are_called)
{
	struct intern strings = {0};

	CHECK_STR(origin_title(ORIGIN_TABLE, "_Z3foov", 0x4220, 0, &strings), "foo");
	CHECK_STR(origin_title(ORIGIN_TABLE, "_Z3foov", 0x4220, DEMANGLE_PARAMETERS, &strings),
		"foo()");
	CHECK_STR(origin_title(ORIGIN_PLT, "_Z3foov", 0x4220, DEMANGLE_PARAMETERS, &strings),
		"foo()@plt");
	CHECK_STR(origin_title(ORIGIN_PLT, "_Z3foov", 0x4220, DEMANGLE_NOT, &strings),
		"_Z3foov@plt");
	CHECK_STR(origin_title(ORIGIN_CRT, "main", 0x4220, 0, &strings), "main");
	CHECK_STR(origin_title(ORIGIN_EXTENT, NULL, 0x4220, 0, &strings), "fun_4220");
	CHECK(!origin_title(ORIGIN_NONE, NULL, 0x4220, 0, &strings));
	intern_fini(&strings);
}
