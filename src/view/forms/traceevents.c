#include "view/forms/traceevents.h"

/* The processes that tracks of CPUs and of tasks' states are in. */
enum { CPUS = TRACEEVENTS_OTHER, TASKS };

void traceevents_begin(struct traceevents *t, const char *phase, u32 pid, u32 tid)
{
	/* Flush before an event: the last one's comma is removed. */
	out_flush_some(t->out);
	str_addf(t->text, "{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,", phase, pid, tid);
	t->has_some = true;
}

void traceevents_end(struct traceevents *t)
{
	json_close(t->text, '}');
	str_addc(t->text, '\n');
}

static void add_us(struct traceevents *t, const char *key, u64 ns)
{
	str_addf(t->text, "\"%s\":%llu.%03llu,", key, (unsigned long long)ns / 1000,
		(unsigned long long)ns % 1000);
}

void traceevents_time(struct traceevents *t, u64 time)
{
	add_us(t, "ts", time - t->first_time);
}

void traceevents_name(struct traceevents *t, const char *what, u32 pid, u32 tid, const char *name)
{
	traceevents_begin(t, "M", pid, tid);
	json_text(t->text, "name", what);
	json_open(t->text, "args", '{');
	json_text(t->text, "name", name);
	json_close(t->text, '}');
	traceevents_end(t);
}

void traceevents_close(struct traceevents *t)
{
	if (t->has_some)
		str_cut(t->text, t->text->n - 1);
	json_close(t->text, ']');
}

/* ---- what CPUs and tasks did ---- */

/* Begins a slice, to which arguments may be added before end_slice(). */
static void begin_slice(struct traceevents *t, u32 pid, u32 tid, u64 from, u64 until,
	const char *name)
{
	traceevents_begin(t, "X", pid, tid);
	traceevents_time(t, from);
	add_us(t, "dur", until - from);
	json_text(t->text, "name", name);
	json_open(t->text, "args", '{');
}

static void end_slice(struct traceevents *t)
{
	json_close(t->text, '}');
	traceevents_end(t);
}

static const char *task_name(const struct chart *chart, u32 life, struct str *room)
{
	str_clear(room);
	if (life < chart->lives.n) {
		const char *name = chart->lives.at[life].name;

		str_add_safe(room, name, strlen(name));
	} else {
		/* Pieces that were too short are merged. */
		str_add(room, "[several tasks]");
	}
	return str_text(room);
}

static void add_cpu(struct traceevents *t, const struct chart *chart, u32 number)
{
	const struct chart_cpu *cpu = &chart->cpus.at[number];
	struct str room = {0};

	str_addf(&room, "CPU %u", number);
	traceevents_name(t, "thread_name", CPUS, number, str_text(&room));
	vec_each(piece, &cpu->lane.pieces) {
		if (piece->state != LANE_RUNNING)
			continue;
		begin_slice(t, CPUS, number, piece->from, lane_piece_end(&cpu->lane, piece),
			task_name(chart, piece->who, &room));
		if (piece->who < chart->lives.n)
			json_u64(t->text, "tid", chart->lives.at[piece->who].tid);
		end_slice(t);
	}
	vec_each(speed, &cpu->speeds) {
		str_clear(&room);
		str_addf(&room, "CPU %u: kHz", number);
		traceevents_begin(t, "C", CPUS, number);
		traceevents_time(t, speed->time);
		json_text(t->text, "name", str_text(&room));
		json_open(t->text, "args", '{');
		json_u64(t->text, "value", speed->khz);
		end_slice(t);
	}
	str_fini(&room);
}

static void add_row(struct traceevents *t, const struct chart_row *row, u32 number)
{
	struct str name = {0};

	str_add_safe(&name, row->name, strlen(row->name));
	if (row->pid)
		str_addf(&name, " (process %u)", row->pid);
	traceevents_name(t, "thread_name", TASKS, number, str_text(&name));
	vec_each(piece, &row->lane.pieces) {
		if (piece->state == LANE_NOTHING)
			continue;
		begin_slice(t, TASKS, number, piece->from, lane_piece_end(&row->lane, piece),
			chart_state_name(piece->state));
		if (piece->state == LANE_RUNNING && piece->who != LANE_SEVERAL)
			json_u64(t->text, "cpu", piece->who);
		end_slice(t);
	}
	str_fini(&name);
}

/* A wake-up is a slice without length where the task begins to wait for a CPU. */
static void add_wake(struct traceevents *t, const struct chart *chart, const struct chart_wake *w)
{
	struct str name = {0}, room = {0};

	str_addf(&name, "woken by %s",
		w->from == CHART_NONE ? "an interrupt" : task_name(chart, w->from, &room));
	begin_slice(t, TASKS, chart->lives.at[w->to].row, w->time, w->time, str_text(&name));
	if (w->from != CHART_NONE)
		json_u64(t->text, "tid", chart->lives.at[w->from].tid);
	if (w->n > 1)
		json_u64(t->text, "times", w->n);
	end_slice(t);
	str_fini(&name);
	str_fini(&room);
}

void traceevents_add_chart(struct traceevents *t, const struct chart *chart)
{
	traceevents_name(t, "process_name", CPUS, 0, "CPUs");
	traceevents_name(t, "process_name", TASKS, 0, "Tasks");
	for (u32 i = 0; i < chart->cpus.n; i++)
		if (chart->cpus.at[i].is_seen)
			add_cpu(t, chart, i);
	for (u32 i = 0; i < chart->rows.n; i++)
		add_row(t, &chart->rows.at[i], i);
	vec_each(wake, &chart->wakes)
		add_wake(t, chart, wake);
}
