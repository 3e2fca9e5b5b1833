#include "collect/around/kconfig.h"

#include <stdio.h>
#include <zlib.h>

enum { CONFIG_LIMIT = 16 << 20 };

/* Reads compressed and plain files alike. */
static bool read_file(const char *path, struct str *text)
{
	gzFile file = gzopen(path, "re");
	char buf[65536];
	int n = -1;

	if (!file)
		return false;
	while ((n = gzread(file, buf, sizeof(buf))) > 0 && text->n < CONFIG_LIMIT)
		str_addn(text, buf, n);
	/* After reading half a file, options that were merely not read would look missing. */
	if (gzclose(file) != Z_OK || n != 0 || !strstr(str_text(text), "CONFIG_"))
		str_clear(text);
	return text->n > 0;
}

void kconfig_read(struct kconfig *k, const struct site *site, const char *release)
{
	static const char *const places[] = {"/proc/config.gz", "/boot/config-%s",
		"/lib/modules/%s/config", "/usr/lib/modules/%s/config",
		"/usr/lib/ostree-boot/config-%s"};

	memset(k, 0, sizeof(*k));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char path[512];

		snprintf(k->path, sizeof(k->path), places[i], release);
		if (read_file(site_path(site, path, sizeof(path), "%s", k->path), &k->text))
			return;
	}
	k->path[0] = '\0';
}

void kconfig_fini(struct kconfig *k)
{
	str_fini(&k->text);
}

enum kconfig_state kconfig_state(const struct kconfig *k, const char *name)
{
	size_t n = strlen(name);

	if (!k->path[0])
		return KCONFIG_UNKNOWN;
	for (const char *line = str_text(&k->text); line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, n) && line[n] == '=')
			return line[n + 1] == 'm' ? KCONFIG_MODULE : KCONFIG_BUILT_IN;
	}
	return KCONFIG_MISSING;
}
