#include "event/vendor.h"

#include <ctype.h>
#include <strings.h>

#include "base/num.h"

/* Units whose PMU has another name; for all others it is "uncore_" and the unit in lower case. */
static const struct {
	const char *unit, *pmu;
} units[] = {
	{"core", "cpu"},
	{"cpu_core", "cpu_core"},
	{"cpu_atom", "cpu_atom"},
	{"CBO", "uncore_cbox"},
	{"SBO", "uncore_sbox"},
	{"UBO", "uncore_ubox"},
	{"QPI LL", "uncore_qpi"},
	{"UPI LL", "uncore_upi"},
	{"iMPH-U", "uncore_arb"},
	{"DFPMC", "amd_df"},
	{"L3PMC", "amd_l3"},
	{"UMCPMC", "amd_umc"},
	{"CPU-M-CF", "cpum_cf"},
	{"CPU-M-SF", "cpum_sf"},
	{"PAI-CRYPTO", "pai_crypto"},
	{"PAI-EXT", "pai_ext"},
	{"ali_drw", "ali_drw"},
	{"arm_cmn", "arm_cmn"},
	{"imx8_ddr", "imx8_ddr"},
	{"imx9_ddr", "imx9_ddr"},
	{"hisi_sccl,ddrc", "hisi_sccl,ddrc"},
	{"hisi_sccl,hha", "hisi_sccl,hha"},
	{"hisi_sccl,l3c", "hisi_sccl,l3c"},
	{"hisi_sicl,cpa", "hisi_sicl,cpa"},
};

/* Fields that become one term. Zeros are left out: they are the default. */
static const struct {
	enum eventfile_field field;
	const char *term;
	bool is_decimal;
} terms[] = {
	{FIELD_EVENT_ID, "eventid"},
	{FIELD_NODE_TYPE, "type"},
	{FIELD_CMASK, "cmask", true},
	{FIELD_INVERT, "inv", true},
	{FIELD_EDGE, "edge", true},
	{FIELD_ANY_THREAD, "any", true},
	{FIELD_PORT_MASK, "ch_mask"},
	{FIELD_FC_MASK, "fc_mask"},
	{FIELD_READ_WRITE_MASK, "rdwrmask"},
	{FIELD_ALL_CORES, "enallcores"},
	{FIELD_ALL_SLICES, "enallslices"},
	{FIELD_SLICE, "sliceid"},
	{FIELD_THREAD_MASK, "threadmask"},
};

/* Registers that hold a second word for some events. */
static const struct {
	u64 msr;
	const char *term;
} msrs[] = {
	{0x1a6, "offcore_rsp"},
	{0x1a7, "offcore_rsp"},
	{0x3f6, "ldlat"},
	{0x3f7, "frontend"},
};

/* For these, Intel's tables give the numbers of fixed counters, which are not event codes. */
static const struct {
	const char *name, *code;
} fixed[] = {
	{"inst_retired.any", "event=0xc0"},
	{"cpu_clk_unhalted.thread", "event=0x3c"},
	{"cpu_clk_unhalted.core", "event=0x3c"},
	{"cpu_clk_unhalted.thread_any", "event=0x3c,any=1"},
	{"cpu_clk_unhalted.ref", "event=0x0,umask=0x3"},
	{"cpu_clk_unhalted.ref_tsc", "event=0x0,umask=0x3"},
};

int vendor_number(const struct eventfile_row *row, enum eventfile_field field, u64 *ret_v)
{
	const char *text = row->text[field];
	bool is_hex;

	*ret_v = 0;
	if (!text || !*text || !strcmp(text, "null"))
		return 0;
	text += strspn(text, " ");
	is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	text += is_hex ? 2 : 0;
	if (!num_scan(&text, is_hex ? 16 : 10, ret_v))
		return -1;
	text += strspn(text, " ");
	/* "0xB7, 0xBB": either will do. */
	return *text && *text != ',' ? -1 : 1;
}

static void add_term(struct str *text, const char *term, u64 v, bool is_decimal)
{
	str_addf(text, is_decimal ? "%s%s=%llu" : "%s%s=0x%llx", text->n ? "," : "", term,
		(unsigned long long)v);
}

/* event= and umask=, or config=. */
static bool add_code(const struct eventfile_row *row, struct str *text)
{
	u64 code, more, umask, umask_more, config, id;
	int has_code = vendor_number(row, FIELD_CODE, &code), has_config, has_id;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (!strcasecmp(row->text[FIELD_NAME], fixed[i].name)) {
			str_add(text, fixed[i].code);
			return true;
		}
	}
	has_config = vendor_number(row, FIELD_CONFIG, &config);
	has_id = vendor_number(row, FIELD_EVENT_ID, &id);
	if (has_code < 0 || has_config < 0 || has_id < 0 ||
		vendor_number(row, FIELD_CODE_MORE, &more) < 0 ||
		vendor_number(row, FIELD_UMASK, &umask) < 0 ||
		vendor_number(row, FIELD_UMASK_MORE, &umask_more) < 0)
		return false;
	if (has_config)
		add_term(text, "config", config, false);
	else if (has_code || !has_id)
		add_term(text, "event", code | more << 8, false);
	umask |= umask_more << 8;
	if (umask)
		add_term(text, "umask", umask, false);
	return true;
}

static bool add_msr(const struct eventfile_row *row, struct str *text)
{
	u64 msr, value;

	if (vendor_number(row, FIELD_MSR, &msr) < 0 ||
		vendor_number(row, FIELD_MSR_VALUE, &value) < 0)
		return false;
	if (!msr || !value)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(msrs); i++) {
		if (msrs[i].msr == msr) {
			add_term(text, msrs[i].term, value, false);
			return true;
		}
	}
	return false;
}

/* "occ_sel=1", in the words of sysfs already; or a number for the second word. */
static bool add_filter(const struct eventfile_row *row, struct str *text)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFXx_=,";
	const char *filter = row->text[FIELD_FILTER];
	u64 value;

	if (filter && strchr(filter, '=')) {
		if (filter[strspn(filter, allowed)])
			return false;
		str_addf(text, "%s%s", text->n ? "," : "", filter);
		return true;
	}
	if (vendor_number(row, FIELD_FILTER_VALUE, &value) < 0)
		return false;
	if (value)
		add_term(text, "config1", value, false);
	return true;
}

bool vendor_add_terms(const struct eventfile_row *row, struct str *text)
{
	u64 v;

	if (!add_code(row, text))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(terms); i++) {
		if (vendor_number(row, terms[i].field, &v) < 0)
			return false;
		if (v)
			add_term(text, terms[i].term, v, terms[i].is_decimal);
	}
	if (!add_msr(row, text) || !add_filter(row, text) ||
		vendor_number(row, FIELD_PERIOD, &v) < 0)
		return false;
	if (v)
		add_term(text, "period", v, true);
	return true;
}

void vendor_add_pmu(const char *unit, struct str *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!strcmp(unit, units[i].unit)) {
			str_add(text, units[i].pmu);
			return;
		}
	}
	str_add(text, "uncore_");
	for (; *unit; unit++)
		str_addc(text, (char)tolower((u8)*unit));
}
