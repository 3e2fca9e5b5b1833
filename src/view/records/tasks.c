#include "view/records/tasks.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/table.h"

/* The threads in the order of their ids, linked to their parents. */
struct tree {
	const struct machine *machine;
	const struct thread **threads;
	size_t n;
	u32 *first_child, *next_sibling; /* positions + 1; 0: none */
	bool has_maps;
	struct str *text;
};

static int by_number(const void *a, const void *b)
{
	const struct thread *x = *(const struct thread *const *)a,
			    *y = *(const struct thread *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static const char *name_of(const struct tree *t, const struct thread *thread)
{
	if (thread->comms.n)
		return thread->comms.at[thread->comms.n - 1].text;
	return thread->tid ? "" : t->machine->swapper;
}

static void add_map(void *ctx, const struct map *map)
{
	struct tree *t = ctx;

	str_addf(t->text, "%*s  %llx-%llx %08llx ", 30, "", (unsigned long long)map->start,
		(unsigned long long)map->end, (unsigned long long)map->pgoff);
	str_add_safe(t->text, map->dso->path, strlen(map->dso->path));
	str_addc(t->text, '\n');
}

static void add_task(struct tree *t, size_t i, unsigned depth)
{
	const struct thread *thread = t->threads[i];
	const struct process *p = thread->process;
	const char *name = name_of(t, thread);

	str_addf(t->text, "  %8d %8d %8d |%*s", (s32)thread->pid, (s32)thread->tid,
		thread->ppid || thread->tid == 1 ? (s32)thread->ppid : -1, (int)MIN(depth, 100u),
		"");
	str_add_safe(t->text, name, strlen(name));
	str_addc(t->text, '\n');
	if (t->has_maps && p && thread->tid == thread->pid)
		maps_each(process_newest(p)->maps, add_map, t);
}

/*
 * Walks depth first without recursion: in a hostile recording forks may be as deep as it is long. Threads that were
 * shown are removed from their parent's list.
 */
static void add_below(struct tree *t, size_t root)
{
	VEC(u32) path = {0};

	add_task(t, root, 0);
	vec_add(&path, (u32)root);
	while (path.n) {
		u32 child = t->first_child[path.at[path.n - 1]];

		if (!child) {
			path.n--;
			continue;
		}
		t->first_child[path.at[path.n - 1]] = t->next_sibling[child - 1];
		add_task(t, child - 1, (unsigned)path.n);
		vec_add(&path, child - 1);
	}
	vec_fini(&path);
}

/* Finds the thread with the parent's id that the child was born in: the latest one that began before it. */
static size_t parent_of(const struct tree *t, const struct table *index, size_t child)
{
	struct table_probe probe = table_probe(index, hash_u64(t->threads[child]->ppid));
	size_t best = SIZE_MAX;
	u32 i;

	while ((i = table_next(index, &probe)) != TABLE_NONE)
		if (t->threads[i]->tid == t->threads[child]->ppid && i != child &&
			t->threads[i]->from <= t->threads[child]->from &&
			(best == SIZE_MAX || t->threads[i]->from > t->threads[best]->from))
			best = i;
	return best;
}

void tasks_add_text(const struct machine *m, bool has_maps, struct str *text)
{
	struct tree t = {.machine = m, .n = m->threads.n, .has_maps = has_maps, .text = text};
	struct table index = {0};
	bool *has_parent = mem_zalloc(t.n + 1);

	t.threads = mem_alloc((t.n + 1) * sizeof(*t.threads));
	t.first_child = mem_zalloc((t.n + 1) * sizeof(*t.first_child));
	t.next_sibling = mem_zalloc((t.n + 1) * sizeof(*t.next_sibling));
	for (size_t i = 0; i < t.n; i++)
		t.threads[i] = m->threads.at[i];
	qsort(t.threads, t.n, sizeof(*t.threads), by_number);
	for (size_t i = 0; i < t.n; i++)
		table_add(&index, hash_u64(t.threads[i]->tid), (u32)i);
	/* From last to first, so that lists begin with the smallest id. */
	for (size_t i = t.n; i--;) {
		size_t parent = t.threads[i]->ppid ? parent_of(&t, &index, i) : SIZE_MAX;

		if (parent == SIZE_MAX)
			continue;
		t.next_sibling[i] = t.first_child[parent];
		t.first_child[parent] = (u32)i + 1;
		has_parent[i] = true;
	}
	str_addf(text, "# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (size_t i = 0; i < t.n; i++)
		if (!has_parent[i])
			add_below(&t, i);
	table_fini(&index);
	mem_free(t.threads);
	mem_free(t.first_child);
	mem_free(t.next_sibling);
	mem_free(has_parent);
}
