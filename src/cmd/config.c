#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/out.h"
#include "base/sysfile.h"
#include "cmd/cmd.h"
#include "cmd/settings.h"
#include "file/fresh.h"

struct config_options {
	bool of_user, of_system, lists;
	unsigned verbose;
};

#define AT(member) offsetof(struct config_options, member)

static const struct opt options[] = {
	{'l', "list", OPT_BOOL, AT(lists), NULL, "print all keys and values"},
	{0, "user", OPT_BOOL, AT(of_user), NULL, "read and write ~/.perfconfig only"},
	{0, "system", OPT_BOOL, AT(of_system), NULL, "read and write /etc/perfconfig only"},
	{'v', "verbose", OPT_COUNT, AT(verbose), NULL,
		"say where each value stands, and which keys have no effect"},
	{.kind = OPT_END},
};

static int read_files(const struct config_options *o, struct config *c, struct err *err)
{
	struct str user = {0};
	int r = 0;

	settings_user_file(o->of_user, &user);
	if (o->of_system || (!o->of_user && !getenv("PERF_CONFIG")))
		r = settings_read(c, settings_system_file(), err);
	if (!r && !o->of_system && user.n)
		r = settings_read(c, user.at, err);
	str_fini(&user);
	return r;
}

static bool is_options(const char *key)
{
	const char *name = strrchr(key, '.');

	return !strncmp(key, "pace.", 5) && name > key + 5 && !strcmp(name, ".options");
}

/* "COMMAND" or "COMMAND SUBCOMMAND", n bytes. */
static bool is_command(const struct cmd *cmd, const char *name, size_t n)
{
	const size_t n_cmd = strlen(cmd->name);

	if (n < n_cmd || strncmp(name, cmd->name, n_cmd) != 0)
		return false;
	if (n == n_cmd)
		return !cmd->needs_subcommand;
	for (size_t i = 0; cmd->subcommands[i] && name[n_cmd] == ' '; i++)
		if (strlen(cmd->subcommands[i]) == n - n_cmd - 1 &&
			!strncmp(cmd->subcommands[i], name + n_cmd + 1, n - n_cmd - 1))
			return true;
	return false;
}

/* pace.COMMAND.options: whether there is such a command. */
static bool options_have_effect(const char *key, const char **ret_effect)
{
	const char *name = key + strlen("pace.");
	const size_t n = (size_t)(strrchr(key, '.') - name);

	*ret_effect = "options before the command's";
	for (size_t i = 0; cmd_table[i]; i++)
		if (is_command(cmd_table[i], name, n))
			return true;
	*ret_effect = "there is no such command; subcommands are named like [pace \"c2c report\"]";
	return false;
}

/* Likewise of all keys; *ret_effect as settings_has_effect() has it. */
static bool has_effect(const char *key, const char **ret_effect)
{
	return is_options(key) ? options_have_effect(key, ret_effect)
			       : settings_has_effect(key, ret_effect);
}

static const char *reason(const char *effect)
{
	return effect ? effect : "pace has no such key";
}

/* What is written for perf, or by mistake. */
static void say_no_effect(const char *key)
{
	const char *effect;
	struct log log;

	if (has_effect(key, &effect))
		return;
	cmd_log_init(&log, LOG_NOTE);
	log_note(&log, "%s has no effect in pace: %s", key, reason(effect));
	log_fini(&log);
}

static void add_entry(const struct config_options *o, const struct config_entry *e,
	struct str *text)
{
	const char *effect;
	const bool is_used = has_effect(e->key, &effect);

	str_add_safe(text, e->key, strlen(e->key));
	str_addc(text, '=');
	str_add_safe(text, e->value ? e->value : "true", strlen(e->value ? e->value : "true"));
	if (o->verbose)
		str_addf(text, "  # %s:%u%s%s", e->path, e->line,
			is_used ? "" : ": no effect: ", is_used ? "" : reason(effect));
	str_addc(text, '\n');
}

static void add_all(const struct config_options *o, const struct config *c, struct str *text)
{
	vec_each(e, &c->entries)
		if (e == config_find(c, e->key))
			add_entry(o, e, text);
}

/* ---- changing ---- */

static int write_file(const char *path, const struct str *text, struct err *err)
{
	struct fresh to;
	int fd, sys;

	if (fresh_init(&to, path, true, err) || (fd = fresh_open(&to, err)) < 0)
		return err->code;
	sys = fd_write(fd, text->at, text->n);
	if (close(fd) && !sys)
		sys = errno;
	if (sys) {
		fresh_abandon(&to);
		return err_sys(err, sys, "writing '%s'", path);
	}
	return fresh_commit(&to, err);
}

/* word: KEY=VALUE */
static int change(const char *path, const char *word, struct err *err)
{
	const char *equals = strchr(word, '=');
	struct str key = {0}, text = {0}, changed = {0};
	int r = 0;

	str_addn(&key, word, (size_t)(equals - word));
	if (!key.n || !config_is_key(key.at))
		r = err_set(err, ERR_INVAL,
			"'%s' is not a key: it has a section and a name, like report.children",
			str_text(&key));
	else if (!equals[1])
		r = err_set(err, ERR_INVAL, "'%s' has no value: KEY=VALUE", word);
	else if (!settings_takes(key.at, equals + 1))
		r = err_set(err, ERR_INVAL, "%s is a switch, and '%s' is neither true nor false",
			key.at, equals + 1);
	else if (sysfile_read(path, 1 << 20, &text, err) && err->code != ERR_NOENT)
		r = err->code;
	if (!r)
		r = config_change(path, str_text(&text), text.n, key.at, equals + 1, &changed, err);
	if (!r)
		r = write_file(path, &changed, err);
	if (!r)
		say_no_effect(key.at);
	str_fini(&key);
	str_fini(&text);
	str_fini(&changed);
	return r;
}

static int take_word(const struct config_options *o, const struct config *c, const char *word,
	struct str *text, struct err *err)
{
	struct str path = {0};
	const struct config_entry *e;
	int r;

	if (!strchr(word, '=')) {
		if (!config_is_key(word))
			return err_set(err, ERR_INVAL,
				"'%s' is not a key: it has a section and a name, like report.children",
				word);
		e = config_find(c, word);
		if (e)
			add_entry(o, e, text);
		return 0;
	}
	if (o->of_system)
		str_add(&path, settings_system_file());
	else
		settings_user_file(o->of_user, &path);
	r = path.n ? change(path.at, word, err)
		   : err_set(err, ERR_INVAL, "HOME does not say where ~/.perfconfig is");
	str_fini(&path);
	return r;
}

static int run_config(int argc, char **argv)
{
	struct config_options o = {0};
	struct out out = {.fd = STDOUT_FILENO};
	int status = cmd_parse(&cmd_config, &o, 0, &argc, argv);
	struct config c = {0};
	struct err err;

	if (status >= 0)
		return status;
	if (o.of_user && o.of_system) {
		err_set(&err, ERR_INVAL, "--user and --system contradict each other");
		return cmd_fail(&cmd_config, &err, EXIT_USAGE);
	}
	if (o.lists && argc) {
		err_set(&err, ERR_INVAL, "unexpected argument '%s': -l prints all keys", argv[0]);
		return cmd_fail(&cmd_config, &err, EXIT_USAGE);
	}
	status = EXIT_OK;
	if (read_files(&o, &c, &err))
		status = cmd_fail(&cmd_config, &err, EXIT_FAILED);
	else if (!argc)
		add_all(&o, &c, &out.text);
	for (int i = 0; i < argc && status == EXIT_OK; i++)
		if (take_word(&o, &c, argv[i], &out.text, &err))
			status = cmd_fail(&cmd_config, &err,
				err.code == ERR_INVAL ? EXIT_USAGE : EXIT_FAILED);
	config_fini(&c);
	return out_close(&out, &err) ? cmd_fail(&cmd_config, &err, EXIT_FAILED) : status;
}

const struct cmd cmd_config = {
	.name = "config",
	.summary = "print and change what configuration files set",
	.usage = {"[-l] [--user | --system]", "KEY...", "KEY=VALUE...", NULL},
	.notes =
		"Keys are perf's, like report.percent-limit, and pace.COMMAND.options for any options of a command.\n"
		"The options of the command line have the last word; PERF_CONFIG=/dev/null turns all of it off.\n",
	.options = options,
	.run = run_config,
};
