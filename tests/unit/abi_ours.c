/* What event/abi.h and event/attr.h say, for test_abi.c, which cannot include them. */
#include "event/abi.h"
#include "event/attr.h"

#include "abi_list.h"

#define NUMBER(n)        {#n, (unsigned long long)(n)},
#define OURS(n, theirs)  {#n, (unsigned long long)(n)},
#define PLACE(s, m)      {#m, offsetof(struct s, m), sizeof(((struct s *)0)->m)},
#define FIELD(m, theirs) PLACE(event_attr, m)
#define PAGE(m, theirs)  PLACE(ring_page, m)

const struct abi_number abi_numbers[] = {ABI_NUMBERS(NUMBER){0}};
const struct abi_number abi_sizes[] = {ABI_SIZES(OURS){0}};
const struct abi_number abi_flags[] = {ABI_FLAGS(OURS){0}};
const struct abi_place abi_fields[] = {ABI_FIELDS(FIELD){0}};
const struct abi_place abi_page[] = {ABI_PAGE(PAGE){0}};
