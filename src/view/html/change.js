// change.js - what differs between what is shown and a baseline: shares, and whether they differ by more than chance.

/**
 * Both sides of a comparison: the totals of the tree's nodes, which are matched by their paths, and what functions have themselves. `tree` is of the side that is not shown. `n` is how many equal samples would be as certain.
 * @typedef {{tree: Tree, after: Float64Array, before: Float64Array, all: number, allBefore: number, n: number, nBefore: number, spread: number,
 *     self: Float64Array, total: Float64Array, judged: Int8Array}} Comparison
 */

const change = {
	/** @type {Comparison|null} */
	now: null,
};

/** Of differences that are called more than chance, at most so many are not. As in profile/diff/significance. */
const FALSE_SHARE = 0.05, LEAST_SAMPLES = 6, PIECES = 8;

/** The share of a normal distribution beyond z, both tails; exact to 7 digits. Source: Numerical Recipes, erfcc. @param {number} z */
function tails(z) {
	const x = Math.abs(z) / Math.SQRT2, t = 1 / (1 + 0.5 * x);
	const terms = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277];

	return t * Math.exp(-x * x + terms.reduceRight((sum, term) => sum * t + term, 0));
}

/**
 * How much more samples vary between pieces of a range than chance explains: Pearson's statistic by its degrees of freedom, over functions
 * with enough samples. Programs have phases: this is 1 only where they have none.
 * @param {Moments} m @param {Span[]} ranges
 */
function spreadOf(m, ranges) {
	let statistic = 0, freedom = 0;

	for (const range of ranges) {
		const counts = new Float64Array(data.names.length * PIECES), ofPiece = new Float64Array(PIECES), scale = PIECES / (range[1] - range[0]);
		let n = 0;

		eachMoment(m, range, i => {
			const piece = Math.floor((m.tick[i] - range[0]) * scale);
			counts[data.name[m.node[i]] * PIECES + piece]++;
			ofPiece[piece]++;
			n++;
		});
		for (let at = 0; at < counts.length; at += PIECES) {
			const own = counts.subarray(at, at + PIECES).reduce((a, b) => a + b, 0);

			if (own < LEAST_SAMPLES * PIECES || own === n)
				continue;
			for (let k = 0; k < PIECES; k++) {
				const expected = own * ofPiece[k] / n;
				if (expected)
					statistic += (counts[at + k] - expected) ** 2 / expected / (1 - own / n);
			}
			freedom += ofPiece.reduce((a, b) => a + +(b > 0), 0) - 1;
		}
	}
	return freedom > 0 ? Math.max(1, statistic / freedom) : 1;
}

/**
 * How many deviations two shares differ by. @param {number} a @param {number} b the values before
 * @param {{all: number, allBefore: number, n: number, nBefore: number, spread: number}} c
 */
function deviations(a, b, c) {
	const pooled = (a / c.all * c.n + b / c.allBefore * c.nBefore) / (c.n + c.nBefore);
	const variance = c.spread * pooled * (1 - pooled) * (1 / c.n + 1 / c.nBefore);

	return variance > 0 && pooled * (c.n + c.nBefore) >= LEAST_SAMPLES ? (a / c.all - b / c.allBefore) / Math.sqrt(variance) : 0;
}

/**
 * Judges pairs of values: 0 if they differ by no more than chance, else 1 to 3 for more, -1 to -3 for less, by how many times.
 * Source: Benjamini and Hochberg 1995.
 * @param {number} n @param {(i: number) => number} after @param {(i: number) => number} before @param {Parameters<typeof deviations>[2]} c
 */
function judge(n, after, before, c) {
	const ret = new Int8Array(n), z = new Float64Array(n);
	let tested = 0, least = Infinity;

	for (let i = 0; i < n; i++)
		z[i] = c.all && c.allBefore ? deviations(after(i), before(i), c) : 0;
	const sorted = z.filter(v => v).map(Math.abs).sort();
	for (let k = sorted.length - 1; k >= 0; k--)
		if (tails(sorted[k]) <= FALSE_SHARE * ++tested / sorted.length)
			least = sorted[k];
	for (let i = 0; i < n; i++)
		if (Math.abs(z[i]) >= least) {
			const times = after(i) / c.all / (before(i) / c.allBefore), size = times > 1 ? times : 1 / times;
			ret[i] = (times > 1 ? 1 : -1) * (size > 3 ? 3 : size > 1.5 ? 2 : 1);
		}
	return ret;
}

/**
 * The values of another tree, by the nodes of this one that have the same paths.
 * @param {Tree} t @param {Tree} other
 */
function matched(t, other) {
	const before = new Float64Array(t.n);

	if (t.name === other.name && t.end === other.end) {
		for (let i = 0; i < t.n; i++)
			before[i] = other.sum[t.end[i]] - other.sum[i];
		return before;
	}
	let room = 1024;
	while (room < 2 * t.n)
		room *= 2;
	const slots = new Uint32Array(room), parent = parentsOf(t), place = new Uint32Array(65537);
	const slotOf = (/** @type {number} */ above, /** @type {number} */ name) => {
		let slot = Math.imul(Math.imul(above, 0x9e3779b1) ^ Math.imul(name + 1, 0x85ebca6b), 0xc2b2ae35);

		slot = (slot ^ slot >>> 15) & room - 1;
		while (slots[slot] && (parent[slots[slot] - 1] !== above || t.name[slots[slot] - 1] !== name))
			slot = slot + 1 & room - 1;
		return slot;
	};
	for (let i = 0; i < t.n; i++)
		slots[slotOf(parent[i], t.name[i])] = i + 1;
	for (let i = 0; i < other.n;) {
		const node = slots[slotOf(place[other.depth[i] - 1], other.name[i])];

		if (!node) {
			i = other.end[i];
			continue;
		}
		place[other.depth[i]] = node;
		before[node - 1] += other.sum[other.end[i]] - other.sum[i];
		i++;
	}
	return before;
}

/**
 * What is compared with what is shown: sums of the other side, how many samples each side has and of which sums, and how much more samples vary
 * than chance explains. `isFlipped`: what is shown is the baseline.
 * @returns {Promise<{sum: Float64Array, n: number, whole: number, nMine: number, wholeMine: number, spread: number, isFlipped: boolean}|null>}
 */
async function otherSide() {
	const {base, range} = chosenTime, nodes = data.about.nodes;

	if (data.sides) {
		const [mine, other] = [state.event, state.event ^ 1].map(i => data.about.events[i]);

		return {sum: await sumsOf(state.event ^ 1), n: other.samples, whole: other.period, nMine: mine.samples, wholeMine: mine.period,
			spread: data.sides.events[state.event >> 1].factor, isFlipped: (state.event & 1) > 0};
	}
	if (!when.about || !base)
		return null;
	const m = await momentsOf(state.event), other = sumRange(m, base), mine = sumRange(m, range || wholeTime());

	return {sum: other.sum, n: other.n, whole: other.sum[nodes], nMine: mine.n, wholeMine: mine.sum[nodes],
		spread: spreadOf(m, [range || wholeTime(), base]), isFlipped: false};
}

/** The totals of nodes. @param {Tree} t */
function totalsOf(t) {
	const totals = new Float64Array(t.n);

	for (let i = 0; i < t.n; i++)
		totals[i] = t.sum[t.end[i]] - t.sum[i];
	return totals;
}

/** Compares what is shown with the baseline, if there is one. */
async function compare() {
	const t = shown.tree, other = await otherSide();

	change.now = null;
	ui.changes.hidden = !other;
	ui.legend.hidden = !!other;
	if (!other)
		return;
	const tree = transformed(wholeTree(other.sum)), [last, first] = other.isFlipped ? [tree, t] : [t, tree];
	const values = [totalsOf(t), matched(t, tree)], [after, before] = other.isFlipped ? values.reverse() : values;
	// Searches and transforms may leave a part of the samples.
	const samples = [other.nMine * t.sum[t.n] / (other.wholeMine || 1), other.n * tree.sum[tree.n] / (other.whole || 1)];
	const [n, nBefore] = other.isFlipped ? samples.reverse() : samples;
	const c = {tree, after, before, all: last.sum[last.n], allBefore: first.sum[first.n], n, nBefore, spread: other.spread,
		total: sumFunctions(last).self, self: sumFunctions(first).self, judged: new Int8Array(0)};

	c.judged = judge(data.names.length, i => c.total[i], i => c.self[i], c);
	change.now = c;
	flame.change = judge(t.n, i => after[i], i => before[i], c);
}

/** What colours say while two ranges are compared. */
function buildChanges() {
	const words = ['\u25bc a third or less', '\u25bc less', '', '\u2248 within noise', '', '\u25b2 more', '\u25b2 3 times or more'];

	return make('div', {class: 'legend', hidden: true}, 'Shares beside the baseline\u2019s:', ...words.flatMap((text, i) => {
		const spot = make('i');

		spot.style.background = CHANGES[i];
		return text ? [make('span', {}, spot, text)] : [];
	}));
}

/** @param {number} part @param {number} before @param {number} judged */
function changeText(part, before, judged) {
	const c = /** @type {Comparison} */ (change.now), points = 100 * (part / (c.all || 1) - before / (c.allBefore || 1));
	const sign = points < 0 ? '\u2212' : '+';

	return `${judged > 0 ? '\u25b2 ' : judged < 0 ? '\u25bc ' : '\u2248 '}${sign}${Math.abs(points).toFixed(2)}`;
}

/** In words. @param {number} node */
function describeChange(node) {
	const c = change.now;

	if (!c || !flame.change)
		return '';
	const judged = flame.change[node];
	return `; baseline ${share(c.before[node], c.allBefore)}, ${data.sides ? 'after' : 'range'} ${share(c.after[node], c.all)}: ${changeText(c.after[node], c.before[node], judged)} points, `
		+ (judged > 0 ? 'more than before' : judged < 0 ? 'less than before' : 'within noise');
}

/** Functions with the largest differences, those beyond chance first. */
function changedFunctions() {
	const c = /** @type {Comparison} */ (change.now), points = (/** @type {number} */ i) => Math.abs(c.total[i] / (c.all || 1) - c.self[i] / (c.allBefore || 1));
	const rows = [];

	for (let i = 0; i < data.names.length; i++)
		if (c.total[i] + c.self[i] > 0 && data.kinds[i] !== KIND_TASK)
			rows.push(i);
	return rows.sort((a, b) => +!c.judged[a] - +!c.judged[b] || points(b) - points(a) || a - b);
}

/** The section of a page that compares recordings. */
function buildChange() {
	return make('section', {'aria-label': 'Change'}, ui.change = make('div'));
}

/** The table of that section, or of the time section. */
function showChange() {
	const c = change.now;

	ui.change.hidden = !c;
	if (!c)
		return;
	const rows = changedFunctions().slice(0, 20).map(i => make('tr', {tabindex: 0, class: c.judged[i] > 0 ? 'more' : c.judged[i] < 0 ? 'less' : 'same', click: () => pick(i),
		keydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter') pick(i); }},
		make('td', {class: 'number'}, changeText(c.total[i], c.self[i], c.judged[i])), make('td', {class: 'number'}, share(c.total[i], c.all)),
		make('td', {class: 'number'}, share(c.self[i], c.allBefore)),
		make('td', {}, c.judged[i] > 0 ? 'more' : c.judged[i] < 0 ? 'less' : 'within noise'), make('td', {class: 'name'}, make('div', {}, short(data.names[i], 400)))));

	ui.change.replaceChildren(make('h2', {}, 'What differs from the baseline'),
		make('p', {class: 'dim'}, `Shares of each function itself. \u25b2 more, \u25bc less, \u2248 within noise: of those marked, at most 1 of 20 is so by chance.`
			+ (!data.sides ? ` Within both, samples vary ${c.spread.toFixed(1)} times as much as chance alone would make them; that is taken into account.`
				: data.sides.events[state.event >> 1].has_variance ? ` Between runs of one side, samples vary ${c.spread.toFixed(1)} times as much as sampling explains; that is taken into account.`
					: ' There is one recording on each side: only the chance of sampling is known, not how much runs differ anyway. Several on each side tell (pace diff A1 A2 -- B1 B2).')),
		make('div', {class: 'scroll'}, make('table', {class: 'functions'}, make('thead', {}, make('tr', {}, make('th', {class: 'number'}, 'Points'),
			make('th', {class: 'number'}, data.sides ? 'After' : 'Range'), make('th', {class: 'number'}, 'Baseline'), make('th', {}, 'Is'), make('th', {}, 'Function'))), make('tbody', {}, ...rows))));
}
