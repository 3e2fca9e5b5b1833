#include "view/records/recordtext.h"

#include "event/abi.h"

static void add_path(const struct record_bytes *path, struct str *text)
{
	str_add_safe(text, (const char *)path->at, path->n);
}

/* "0x12", and "0" without the 0x. */
static void add_hex(u64 v, struct str *text)
{
	str_addf(text, v ? "0x%llx" : "%llx", (unsigned long long)v);
}

static void add_map_range(const struct record_mmap *m, struct str *text)
{
	str_addf(text, " %d/%d: [", (s32)m->pid, (s32)m->tid);
	add_hex(m->addr, text);
	str_addc(text, '(');
	add_hex(m->len, text);
	str_add(text, ") @ ");
	add_hex(m->pgoff, text);
}

static void add_mmap(const struct record *rec, const union record_body *body, struct str *text)
{
	const struct record_mmap *m = &body->mmap;

	add_map_range(m, text);
	str_addf(text, "]: %c ", rec->misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x');
	add_path(&m->path, text);
}

static void add_mmap2(const struct record *rec, const union record_body *body, struct str *text)
{
	enum { READ = 1, WRITE = 2, EXECUTE = 4, SHARED = 1 };
	const struct record_mmap *m = &body->mmap;

	add_map_range(m, text);
	if (rec->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		str_add(text, " <");
		for (unsigned i = 0; i < m->build_id_size && i < BUILD_ID_MAX; i++)
			str_addf(text, "%02x", m->build_id[i]);
		str_addc(text, '>');
	} else {
		str_addf(text, " %02x:%02x %llu %llu", m->maj, m->min, (unsigned long long)m->ino,
			(unsigned long long)m->ino_generation);
	}
	str_addf(text, "]: %c%c%c%c ", m->prot & READ ? 'r' : '-', m->prot & WRITE ? 'w' : '-',
		m->prot & EXECUTE ? 'x' : '-', m->flags & SHARED ? 's' : 'p');
	add_path(&m->path, text);
}

static void add_comm(const struct record *rec, const union record_body *body, struct str *text)
{
	str_addf(text, "%s: ", rec->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "");
	add_path(&body->comm.comm, text);
	str_addf(text, ":%d/%d", (s32)body->comm.pid, (s32)body->comm.tid);
}

static void add_task(const struct record *rec, const union record_body *body, struct str *text)
{
	(void)rec;
	str_addf(text, "(%d:%d):(%d:%d)", (s32)body->task.pid, (s32)body->task.tid,
		(s32)body->task.ppid, (s32)body->task.ptid);
}

static void add_namespaces(const struct record *rec, const union record_body *body,
	struct str *text)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	enum { ENTRY_SIZE = 16, IN_A_LINE = 4 };
	const struct record_namespaces *ns = &body->namespaces;
	u32 n = ns->namespaces.n / ENTRY_SIZE;

	(void)rec;
	str_addf(text, " %d/%d - nr_namespaces: %u\n\t\t[", (s32)ns->pid, (s32)ns->tid, n);
	for (u32 i = 0; i < n; i++) {
		const u8 *at = ns->namespaces.at + (size_t)i * ENTRY_SIZE;

		if (i && i % IN_A_LINE == 0)
			str_add(text, "\n\t\t ");
		str_addf(text, "%u/%s: %llu/", i, i < ARRAY_SIZE(names) ? names[i] : "unknown",
			(unsigned long long)load_u64(at));
		add_hex(load_u64(at + 8), text);
		str_add(text, i + 1 < n ? ", " : "]");
	}
	if (!n)
		str_addc(text, ']');
}

static void add_cgroup(const struct record *rec, const union record_body *body, struct str *text)
{
	(void)rec;
	str_addf(text, " cgroup: %llu ", (unsigned long long)body->cgroup.id);
	add_path(&body->cgroup.path, text);
}

static void add_switch(const struct record *rec, const union record_body *body, struct str *text)
{
	bool is_out = rec->misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool is_preempted = rec->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;

	str_addf(text, " %-11s", !is_out ? "IN" : is_preempted ? "OUT preempt" : "OUT");
	if (rec->type == PERF_RECORD_SWITCH_CPU_WIDE)
		str_addf(text, "  %s pid/tid: %5d/%-5d", is_out ? "next" : "prev",
			(s32)body->sched_switch.next_prev_pid,
			(s32)body->sched_switch.next_prev_tid);
}

static void add_lost(const struct record *rec, const union record_body *body, struct str *text)
{
	(void)rec;
	str_addf(text, " lost %llu", (unsigned long long)body->lost.lost);
}

static void add_ksymbol(const struct record *rec, const union record_body *body, struct str *text)
{
	const struct record_ksymbol *k = &body->ksymbol;

	(void)rec;
	str_addf(text, " addr %llx len %u type %u flags 0x%x name ", (unsigned long long)k->addr,
		k->len, k->ksym_type, k->flags);
	add_path(&k->name, text);
}

static void add_bpf(const struct record *rec, const union record_body *body, struct str *text)
{
	(void)rec;
	str_addf(text, " type %u, flags %u, id %u", body->bpf.bpf_type, body->bpf.flags,
		body->bpf.id);
}

static void add_bytes(const char *title, const u8 *at, size_t n, struct str *text)
{
	enum { IN_A_LINE = 16 };

	for (size_t i = 0; i < n; i++) {
		if (i % IN_A_LINE == 0)
			str_addf(text, "\n            %s bytes:", title);
		str_addf(text, " %02x", at[i]);
	}
}

static void add_poke(const struct record *rec, const union record_body *body, struct str *text)
{
	const struct record_text_poke *p = &body->text_poke;
	size_t n_old = MIN(p->old_len, p->bytes.n);

	(void)rec;
	str_addf(text, " %llx  old len %u new len %u", (unsigned long long)p->addr, p->old_len,
		p->new_len);
	add_bytes("Old", p->bytes.at, n_old, text);
	add_bytes("New", p->bytes.at + n_old, MIN(p->new_len, p->bytes.n - n_old), text);
}

static const struct {
	u32 type;
	void (*add)(const struct record *rec, const union record_body *body, struct str *text);
} forms[] = {
	{PERF_RECORD_MMAP, add_mmap},
	{PERF_RECORD_MMAP2, add_mmap2},
	{PERF_RECORD_COMM, add_comm},
	{PERF_RECORD_FORK, add_task},
	{PERF_RECORD_EXIT, add_task},
	{PERF_RECORD_NAMESPACES, add_namespaces},
	{PERF_RECORD_CGROUP, add_cgroup},
	{PERF_RECORD_SWITCH, add_switch},
	{PERF_RECORD_SWITCH_CPU_WIDE, add_switch},
	{PERF_RECORD_LOST, add_lost},
	{PERF_RECORD_LOST_SAMPLES, add_lost},
	{PERF_RECORD_KSYMBOL, add_ksymbol},
	{PERF_RECORD_BPF_EVENT, add_bpf},
	{PERF_RECORD_TEXT_POKE, add_poke},
};

void recordtext_add(const struct record *rec, const union record_body *body, struct str *text)
{
	const char *name = record_type_name(rec->type);

	str_addf(text, "PERF_RECORD_%s", name ? name : "UNKNOWN");
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (forms[i].type != rec->type)
			continue;
		forms[i].add(rec, body, text);
		str_addc(text, '\n');
		return;
	}
	if (rec->type < PERF_RECORD_USER_TYPE_START) {
		str_addc(text, ' ');
		record_add_text(rec->type, rec->misc, body, text);
	}
	str_addc(text, '\n');
}

/* ---- misc ---- */

static char mode_letter(unsigned mode)
{
	static const char letters[] = {[PERF_RECORD_MISC_KERNEL] = 'K',
		[PERF_RECORD_MISC_USER] = 'U',
		[PERF_RECORD_MISC_HYPERVISOR] = 'H',
		[PERF_RECORD_MISC_GUEST_KERNEL] = 'G',
		[PERF_RECORD_MISC_GUEST_USER] = 'g'};

	return mode && mode < ARRAY_SIZE(letters) ? letters[mode] : 0;
}

void recordtext_add_misc(u32 type, u16 misc, struct str *text)
{
	char letters[8] = {mode_letter(misc & PERF_RECORD_MISC_CPUMODE_MASK)};
	char *more = letters + strlen(letters);

	if (misc & PERF_RECORD_MISC_MMAP_DATA) {
		if (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2)
			*more++ = 'M';
		else if (type == PERF_RECORD_COMM)
			*more++ = 'E';
		else if (type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE)
			*more++ = 'S';
	}
	if (more > letters && more[-1] == 'S' && misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
		*more++ = 'p';
	str_addf(text, "%-5s ", letters);
}
