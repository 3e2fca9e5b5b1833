#include "base/namelist.h"

#include <string.h>

#include "base/sysfile.h"

enum { FILE_LIMIT = 16 << 20 };

static void add_name(struct name_list *l, const char *name, size_t n)
{
	if (!n)
		return;
	vec_add(&l->names, intern_add(&l->strings, name, n));
	if (l->joined.n)
		str_addc(&l->joined, ',');
	str_addn(&l->joined, name, n);
}

static int add_file(struct name_list *l, const char *path, size_t n, struct err *err)
{
	struct str name = {0}, text = {0};
	int r;

	str_addn(&name, path, n);
	r = sysfile_read(str_text(&name), FILE_LIMIT, &text, err);
	for (const char *p = str_text(&text); !r && *p; p += strspn(p, "\n")) {
		add_name(l, p, strcspn(p, "\n"));
		p += strcspn(p, "\n");
	}
	str_fini(&name);
	str_fini(&text);
	return r;
}

int name_list_parse(struct name_list *l, const char *option, const char *text, struct err *err)
{
	static const char scheme[] = "file://";
	const size_t skip = sizeof(scheme) - 1;

	for (const char *p = text; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
		size_t n = strcspn(p, ",");

		if (n > skip && !memcmp(p, scheme, skip)) {
			if (add_file(l, p + skip, n - skip, err))
				return err_prefix(err, "%s", option);
		} else {
			add_name(l, p, n);
		}
	}
	return 0;
}

bool name_list_has(const struct name_list *l, const char *name)
{
	vec_each(known, &l->names)
		if (!strcmp(*known, name))
			return true;
	return false;
}

void name_list_fini(struct name_list *l)
{
	vec_fini(&l->names);
	intern_fini(&l->strings);
	str_fini(&l->joined);
}
