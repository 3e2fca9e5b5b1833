// functions.js - the table of functions, how sure their shares are, and what calls the chosen one and is called by it.

const NORMAL = 1.959964; // a normal variable exceeds this, in either direction, with 5 %

/**
 * Where the true share lies with 95 %, if n samples are independent of each other (E. B. Wilson, 1927).
 * @param {number} share @param {number} n @returns {[number, number]}
 */
function intervalOf(share, n) {
	const t2 = NORMAL * NORMAL;

	if (!(n > 0))
		return [0, 1];
	const middle = (share + t2 / (2 * n)) / (1 + t2 / n);
	const half = NORMAL * Math.sqrt(share * (1 - share) / n + t2 / (4 * n * n)) / (1 + t2 / n);
	return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** How many samples the tree that is shown stands for. */
function samplesShown() {
	const event = eventShown(), all = shown.tree.sum[shown.tree.n];

	return event.period ? Math.max(1, event.samples * all / event.period) : 0;
}

/** @param {number} part @param {number} all @param {number} n */
function intervalText(part, all, n) {
	const [low, high] = intervalOf(all ? Math.min(1, part / all) : 0, n);

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
				ui.interval = make('th', {class: 'number interval', title: 'Where the true share lies with 95 %, of the column that the table is sorted by. '
					+ 'Samples count as independent of each other: phases of a program make it wider (report --ci).'}, '95% interval'),
				heading('Function', 'name'), make('th', {class: 'file'}, 'File'))), ui.rows)), make('p', {}, ui.more)),
			ui.picked));
}

function showFunctions() {
	const t = shown.tree, all = t.sum[t.n];
	const sums = shown.functions = shown.functions || sumFunctions(t);
	const wanted = state.filter.trim() ? searchNames(state.filter).found : null;
	const rows = [], key = state.sort === 'total' ? sums.total : sums.self, n = samplesShown();

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
	make('td', {class: 'number interval'}, change.now ? changeOf(name) : intervalText(part, all, n)),
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
	const rest = all ? make('p', {}, `Self ${share(sums.self[name], all)} (${intervalText(sums.self[name], all, n)}), total ${share(total, all)} (${
		intervalText(total, all, n)})`) : '';

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
