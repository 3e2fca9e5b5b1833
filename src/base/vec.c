#include "base/vec.h"

void *vec_grow(void *at, size_t *cap, size_t need, size_t item_size)
{
	size_t to = *cap ? *cap * 2 : MAX((size_t)8, 64 / item_size);

	*cap = MAX(to, need);
	return mem_realloc(at, *cap * item_size);
}
