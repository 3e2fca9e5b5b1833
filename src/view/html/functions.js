// functions.js - the table of functions, how sure their shares are, and what calls the chosen one and is called by it.

const NORMAL = 1.959964; // a normal variable exceeds this, in either direction, with 5 %

/** As in profile/rows/batchmeans: blocks of time, and how much more variance they often show although samples are independent. */
const BLOCKS = 64, BLOCK_LEAST = 16, BLOCKS_LEAST = 4, BY_CHANCE = 1.2;
/** With more nodes than this, samples count as independent: to look at each block of time would take a while. */
const DEPENDENCE_NODES = 50000;

/**
 * By function: how many samples are as good as one that is independent of the others.
 * @typedef {{self: Float64Array, total: Float64Array, t: number}} Dependence
 */

/** Of events; null: not known, or each sample counts. @type {(Dependence|null|undefined)[]} */
const dependences = [];

/**
 * Neighbouring samples depend on each other. How much the values of a function vary from block to block of time says how many are as good as
 * one. Source: von Neumann et al., The Mean Square Successive Difference (1941).
 * @param {Moments} m @param {Float64Array} whole the sums of the event @returns {Dependence|null}
 */
function dependenceOf(m, whole) {
	const n = Math.min(BLOCKS, Math.floor(m.n / BLOCK_LEAST)), names = data.names.length, all = sumFunctions(wholeTree(whole));
	const keys = /** @type {('self'|'total')[]} */ (['self', 'total']), period = whole[whole.length - 1];
	const before = {self: new Float64Array(names), total: new Float64Array(names)};
	const ret = {self: new Float64Array(names), total: new Float64Array(names), t: NORMAL};

	if (n < BLOCKS_LEAST || data.about.nodes > DEPENDENCE_NODES || !period)
		return null;
	for (let block = 0; block < n; block++) {
		const sum = new Float64Array(whole.length), last = Math.floor((block + 1) * m.n / n);
		let i = Math.floor(block * m.n / n);

		for (; i < last; i++)
			sum[m.node[i] + 1] += m.period ? m.period[i] : m.common;
		for (i = 1; i < sum.length; i++)
			sum[i] += sum[i - 1];
		const found = sumFunctions(wholeTree(sum)), expected = sum[sum.length - 1] / period;
		for (const key of keys)
			for (let name = 0; name < names; name++) {
				const off = found[key][name] - all[key][name] * expected;

				ret[key][name] += block ? (off - before[key][name]) ** 2 : 0;
				before[key][name] = off;
			}
	}
	for (const key of keys)
		for (let name = 0; name < names; name++) {
			const share = all[key][name] / period, spread = share * (1 - share);
			const times = spread > 0 ? ret[key][name] / 2 * n / (n - 1) / period / period * m.n / spread : 0;

			ret[key][name] = times > BY_CHANCE ? times : 1;
		}
	// Student's quantile, by its expansion in the degrees of freedom.
	const free = 2 * (n - 1) ** 2 / (3 * n - 4), z = NORMAL;
	ret.t = z + (z ** 3 + z) / (4 * free) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * free ** 2);
	return ret;
}

/** What is known of the event that is shown; the table is shown again when there is more. */
function dependenceShown() {
	const event = state.event;

	if (dependences[event] === undefined && when.about) {
		dependences[event] = null;
		Promise.all([momentsOf(event), sumsOf(event)]).then(([m, whole]) => {
			dependences[event] = dependenceOf(m, whole);
			if (dependences[event] && state.event === event)
				SECTIONS[state.view].show?.();
		});
	}
	return dependences[event] || null;
}

/**
 * Where the true share lies with 95 % (E. B. Wilson, 1927).
 * @param {number} share @param {number} n samples @param {number} times so many of them are as good as one @param {number} t of Student's
 * @returns {[number, number]}
 */
function intervalOf(share, n, times, t) {
	const quantile = times > 1 ? t : NORMAL, t2 = quantile * quantile;

	if (!(n > 0))
		return [0, 1];
	n /= times;
	const middle = (share + t2 / (2 * n)) / (1 + t2 / n);
	const half = quantile * Math.sqrt(share * (1 - share) / n + t2 / (4 * n * n)) / (1 + t2 / n);
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** How many samples the tree that is shown stands for. */
function samplesShown() {
	const event = eventShown(), all = shown.tree.sum[shown.tree.n];

	return event.period ? Math.max(1, event.samples * all / event.period) : 0;
}

/** @param {number} name @param {'self'|'total'} key @param {number} part @param {number} all @param {number} n */
function intervalShown(name, key, part, all, n) {
	const known = dependences[state.event];

	return intervalOf(all ? Math.min(1, part / all) : 0, n, known ? known[key][name] : 1, known ? known.t : 0);
}

/** @param {number} name @param {'self'|'total'} key @param {number} part @param {number} all @param {number} n */
function intervalText(name, key, part, all, n) {
	const [low, high] = intervalShown(name, key, part, all, n);

	return `${(100 * low).toFixed(2)}\u2013${(100 * high).toFixed(2)}%`;
}

/** @param {string} by */
function sortFunctions(by) {
	state.sort = by;
	writeAddress();
	showFunctions();
}

/** @param {number} name @param {string} [view] */
function pick(name, view = 'functions') {
	state.picked = name;
	state.view = view;
	writeAddress(true);
	showAll();
}

function buildFunctions() {
	const heading = (/** @type {string} */ title, /** @type {string} */ by) => make('th', {'data-by': by, class: by === 'name' ? '' : 'number'},
		make('button', {click: () => sortFunctions(by)}, title));
	const filter = make('input', {type: 'search', 'aria-label': 'Filter functions', placeholder: 'Filter functions', value: state.filter,
		input: () => { state.filter = filter.value; shown.nRows = 100; writeAddress(); showFunctions(); }});

	ui.filter = filter;
	ui.rows = make('tbody');
	ui.more = make('button', {click: () => { shown.nRows *= 4; showFunctions(); }});
	ui.picked = make('aside', {'aria-label': 'Callers and callees', 'aria-live': 'polite'});
	return make('section', {'aria-label': 'Functions'}, make('p', {}, filter),
		make('div', {class: 'beside'},
			make('div', {}, make('div', {class: 'scroll'}, make('table', {class: 'functions'}, make('thead', {}, make('tr', {}, heading('Self', 'self'),
				make('th', {class: 'samples'}), heading('Total', 'total'), make('th', {class: 'samples'}),
				ui.interval = make('th', {class: 'number interval'}),
				heading('Function', 'name'), make('th', {class: 'file'}, 'File'))), ui.rows)), make('p', {}, ui.more)),
			ui.picked));
}

function showFunctions() {
	const t = shown.tree, all = t.sum[t.n];
	const sums = shown.functions = shown.functions || sumFunctions(t);
	const wanted = state.filter.trim() ? searchNames(state.filter).found : null;
	const rows = [], key = state.sort === 'total' ? sums.total : sums.self, n = samplesShown(), isKnown = dependenceShown() !== null;

	for (let name = 0; name < data.names.length; name++)
		if (sums.total[name] > 0 && data.kinds[name] !== KIND_TASK && (!wanted || wanted[name]))
			rows.push(name);
	if (state.sort === 'name')
		rows.sort((a, b) => nameRanks()[a] - nameRanks()[b]);
	else
		rows.sort((a, b) => key[b] - key[a] || sums.total[b] - sums.total[a] || a - b);
	ui.rows.replaceChildren(...rows.slice(0, shown.nRows).map(name => functionRow(name, sums, key[name], all, n)));
	ui.more.hidden = rows.length <= shown.nRows;
	ui.more.textContent = `Show more of ${rows.length.toLocaleString('en')} functions`;
	for (const heading of ui.functions.querySelectorAll('th'))
		if (heading.dataset.by)
			heading.setAttribute('aria-sort', heading.dataset.by === state.sort ? state.sort === 'name' ? 'ascending' : 'descending' : 'none');
	ui.interval.textContent = change.now ? 'Self before \u2192 after' : '95% interval';
	ui.interval.title = change.now ? '' : 'Where the true share lies with 95 %, of the column that the table is sorted by. '
		+ (isKnown ? 'How much it varies over time is taken into account.' : 'Samples count as independent of each other: phases of a program make it wider.');
	showPicked(sums, all, n);
}

/** Both shares of a function itself, and whether they differ. @param {number} name */
function changeOf(name) {
	const c = /** @type {Comparison} */ (change.now);

	return `${share(c.self[name], c.allBefore)} \u2192 ${share(c.total[name], c.all)} ${changeText(c.total[name], c.self[name], c.judged[name])}`;
}

/** @param {number} name @param {{self: Float64Array, total: Float64Array}} sums @param {number} part @param {number} all @param {number} n */
function functionRow(name, sums, part, all, n) {
	const open = () => pick(name);

	return make('tr', {tabindex: 0, 'data-name': name, 'aria-selected': name === state.picked, click: open,
		keydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter') open(); }},
	make('td', {class: 'number'}, share(sums.self[name], all)), make('td', {class: 'number samples'}, amount(sums.self[name])),
	make('td', {class: 'number'}, share(sums.total[name], all)), make('td', {class: 'number samples'}, amount(sums.total[name])),
	make('td', {class: 'number interval'}, change.now ? changeOf(name) : intervalText(name, state.sort === 'total' ? 'total' : 'self', part, all, n)),
	make('td', {class: 'name'}, make('div', {}, short(data.names[name], 400))), make('td', {class: 'name file'}, fileOf(name)));
}

/** The chosen function beside the table. @param {{self: Float64Array, total: Float64Array}} sums @param {number} all @param {number} n */
function showPicked(sums, all, n) {
	const name = state.picked;

	if (name < 0 || !(sums.total[name] > 0)) {
		ui.picked.replaceChildren(make('p', {class: 'dim'}, 'A click on a function shows what calls it and what it calls.'));
		return;
	}
	const total = sums.total[name], {callers, callees} = sumNeighbours(shown.tree, name);
	const actions = Object.entries(ACTIONS).map(([key, title]) => make('button', {click: () => transform(key, name)}, title));
	if (hasChunk('code'))
		loadCode().then(({shown: codes}) => {
			if (state.picked === name && codes.some(code => nameOfCode(code) === name))
				ui.picked.querySelector('.actions')?.append(make('button', {click: () => pick(name, 'code')}, 'Code'));
		});
	const rest = all ? make('p', {}, `Self ${share(sums.self[name], all)} (${intervalText(name, 'self', sums.self[name], all, n)}), total ${share(total, all)} (${
		intervalText(name, 'total', total, all, n)})`) : '';

	ui.picked.replaceChildren(make('h2', {class: 'name'}, short(data.names[name], 300)),
		make('p', {class: 'dim'}, [kindOf(name), fileOf(name), sourceOf(name)].filter(Boolean).join(' \u00b7 ')), rest,
		make('p', {class: 'actions'}, ...actions),
		neighbourTable('Called by', callers, total), neighbourTable('Calls', callees, total, sums.self[name]));
}

const NEIGHBOURS_SHOWN = 25;

/** @param {string} title @param {Float64Array} values @param {number} total @param {number} [self] */
function neighbourTable(title, values, total, self) {
	const names = Array.from(values.keys()).filter(name => values[name] > 0).sort((a, b) => values[b] - values[a]);
	const row = (/** @type {number} */ value, /** @type {Node|string} */ what) => make('tr', {}, make('td', {class: 'number'}, share(value, total)),
		make('td', {class: 'number samples'}, amount(value)), make('td', {class: 'name'}, what));
	const rows = names.slice(0, NEIGHBOURS_SHOWN).map(name => row(values[name], data.kinds[name] === KIND_TASK
		? make('span', {}, `thread ${data.names[name]}`) : make('button', {class: 'plain', click: () => pick(name)}, short(data.names[name], 200))));

	if (self)
		rows.unshift(row(self, make('span', {class: 'dim'}, 'its own code')));
	if (names.length > NEIGHBOURS_SHOWN)
		rows.push(row(names.slice(NEIGHBOURS_SHOWN).reduce((sum, name) => sum + values[name], 0),
			make('span', {class: 'dim'}, `${names.length - NEIGHBOURS_SHOWN} more`)));
	return make('div', {}, make('h3', {}, title), rows.length ? make('table', {}, make('tbody', {}, ...rows)) : make('p', {class: 'dim'}, 'nothing'));
}
