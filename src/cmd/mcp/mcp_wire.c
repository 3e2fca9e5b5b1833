#include "cmd/mcp/mcp_wire.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

void wire_add(struct wire *w, const char *bytes, size_t n)
{
	/* What was handed out makes room first. */
	if (w->n_taken) {
		memmove(w->line.at, w->line.at + w->n_taken, w->line.n - w->n_taken);
		str_cut(&w->line, w->line.n - w->n_taken);
		w->n_taken = 0;
	}
	str_addn(&w->line, bytes, n);
}

static bool is_utf8(const char *text, size_t n)
{
	u32 cp;

	for (size_t i = 0; i < n;) {
		const size_t length = utf8_length((const u8 *)text + i, n - i, &cp);

		if (!length || !cp)
			return false;
		i += length;
	}
	return true;
}

/* cJSON takes 64 bytes a value, and calls itself for each level: both are bounded before it begins. */
static bool is_modest(const char *text, size_t n)
{
	size_t depth = 0, values = 0;
	bool is_string = false;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i];

		if (is_string) {
			i += c == '\\';
			is_string = c != '"';
		} else if (c == '"') {
			is_string = true;
		} else if (c == '[' || c == '{') {
			depth++;
			values++;
		} else if (c == ']' || c == '}') {
			depth -= depth > 0;
		} else if (c == ',') {
			values++;
		}
		if (depth > WIRE_DEPTH || values > WIRE_VALUES)
			return false;
	}
	return true;
}

static cJSON *parse(const char *text, size_t n, const char **ret_why)
{
	cJSON *message;
	const char *end;

	*ret_why = "parse error: the line is not UTF-8";
	if (!is_utf8(text, n))
		return NULL;
	*ret_why = "parse error: the JSON is nested too deeply, or has too many values";
	if (!is_modest(text, n))
		return NULL;
	*ret_why = "parse error: the line is not JSON";
	message = cJSON_ParseWithLengthOpts(text, n, &end, false);
	if (message && strspn(end, " \t\r") < (size_t)(text + n - end)) {
		cJSON_Delete(message);
		return NULL;
	}
	return message;
}

bool wire_next(struct wire *w, bool is_end, cJSON **ret, const char **ret_why)
{
	while (w->n_taken < w->line.n) {
		char *line = w->line.at + w->n_taken, *end;
		size_t n = w->line.n - w->n_taken;

		end = memchr(line, '\n', n);
		if (!end && n > WIRE_LINE) {
			w->is_long = true;
			w->n_taken = w->line.n;
		}
		if (!end && (!is_end || w->is_long))
			break;
		n = end ? (size_t)(end - line) : n;
		w->n_taken += n + (end != NULL);
		if (w->is_long || n > WIRE_LINE) {
			w->is_long = false;
			*ret = NULL;
			*ret_why = "parse error: the line is longer than 1 MiB";
			return true;
		}
		while (n && (line[n - 1] == '\r' || line[n - 1] == ' '))
			n--;
		if (!n)
			continue;
		/* Ends the text for functions that look for its end. */
		line[n] = '\0';
		*ret = parse(line, n, ret_why);
		return true;
	}
	if (!is_end || !w->is_long)
		return false;
	w->is_long = false;
	*ret = NULL;
	*ret_why = "parse error: the line is longer than 1 MiB";
	return true;
}

void wire_fini(struct wire *w)
{
	str_fini(&w->line);
}

char *wire_id(const cJSON *request)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(request, "id");
	struct str text = {0};

	if (cJSON_IsNumber(id))
		str_addf(&text, "%.17g", id->valuedouble);
	else if (cJSON_IsString(id) && strlen(id->valuestring) <= WIRE_ID)
		json_string(&text, id->valuestring);
	return text.at;
}

static void begin(struct str *out, const char *id)
{
	str_addc(out, '{');
	json_text(out, "jsonrpc", "2.0");
	json_key(out, "id");
	str_addf(out, "%s,", id ? id : "null");
}

void wire_add_result(struct str *out, const char *id, const char *result)
{
	begin(out, id);
	json_key(out, "result");
	str_add(out, result);
	json_end(out, '}');
}

void wire_add_error(struct str *out, const char *id, enum wire_error code, const char *sentence)
{
	begin(out, id);
	json_open(out, "error", '{');
	json_s64(out, "code", code);
	json_text(out, "message", sentence);
	json_close(out, '}');
	json_end(out, '}');
}
