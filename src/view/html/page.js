// page.js - the page: its state, which is all in the address, its sections, what keys and clicks do.

/**
 * The sections, by the word in the address. `has`: whether this page has it; `show` fills it in, each time that it is shown or that what is
 * shown has changed.
 * @type {Object<string, {title: string, has?: () => boolean, build: () => HTMLElement, show?: () => void}>}
 */
const SECTIONS = {
	summary: {title: 'Summary', build: buildSummary, show: showFirst},
	flame: {title: 'Flame graph', build: buildFlame},
	functions: {title: 'Functions', build: buildFunctions, show: showFunctions},
	change: {title: 'Change', has: () => data.sides !== null, build: buildChange, show: showChange},
	time: {title: 'Time', has: () => when.about !== null, build: buildTime, show: showTime},
	code: {title: 'Code', has: () => hasChunk('code'), build: buildCode, show: showCode},
	events: {title: 'Events', has: () => hasChunk('counters'), build: buildEvents, show: showEvents},
};
/** Those of this page. @type {string[]} */
let views = [];
const USES = {highlight: 'Highlight', keep: 'Keep only', remove: 'Remove'};

/** All of it is in the address. `zoom` is a path of names, `done` the transforms: a key and a name each. */
const state = {
	view: 'flame', event: 0, search: '', use: 'highlight', isHeavy: false, isFlame: false, isInverted: false,
	zoom: /** @type {number[]} */ ([]), done: /** @type {[string, number][]} */ ([]), sort: 'self', filter: '', picked: -1,
};

/** What is shown now; made of the state. */
const shown = {
	tree: /** @type {Tree} */ (/** @type {any} */ (null)),
	search: /** @type {Search|null} */ (null),
	marks: /** @type {Uint8Array|null} */ (null), // by node of the tree: what the search finds
	isPlain: false, hits: {sum: 0, nodes: new Uint32Array(0), nNames: 0},
	functions: /** @type {{self: Float64Array, total: Float64Array}|null} */ (null),
	nRows: 100, searchMs: 0, treeMs: 0,
};

/** @type {Object<string, HTMLElement>} */
const ui = {};
/** @type {Flame} */
let flame;

/* ---- numbers ---- */

const eventShown = () => data.about.events[state.event];

/** A value of the event: time as such, the rest as numbers. @param {number} value */
function amount(value) {
	if (!eventShown().time)
		return value.toLocaleString('en');
	for (const [unit, ns] of /** @type {[string, number][]} */ ([['s', 1e9], ['ms', 1e6], ['\u00b5s', 1e3]]))
		if (value >= ns)
			return `${(value / ns).toFixed(value >= 100 * ns ? 0 : value >= 10 * ns ? 1 : 2)} ${unit}`;
	return `${value} ns`;
}

/** @param {number} name */
function fileOf(name) {
	return data.about.dsos[data.dsos[name]] || '';
}

/** @param {number} name */
function kindOf(name) {
	const kind = KINDS[String.fromCharCode(data.kinds[name])];
	return kind ? kind[2] : '';
}

/* ---- the state and the address ---- */

/** @param {string} text */
function namesOf(text) {
	return text.split('.').filter(word => word !== '').map(Number).filter(name => name >= 0 && name < data.names.length);
}

/** @param {'isHeavy'|'isFlame'|'isInverted'} what @param {string} word @returns {[() => string, (text: string) => void]} */
function flag(what, word) {
	return [() => state[what] ? word : '', text => state[what] = text === word];
}

/** @param {'search'|'filter'} what @returns {[() => string, (text: string) => void]} */
function words(what) {
	return [() => state[what], text => state[what] = text];
}

/** @param {'view'|'use'|'sort'} what @param {() => string[]} of @param {string} usual @returns {[() => string, (text: string) => void]} */
function choice(what, of, usual) {
	return [() => state[what] === usual ? '' : state[what], text => state[what] = of().includes(text) ? text : usual];
}

/**
 * What is in the address: by its key, how the state is written there, and how it is read; '' is what is usual.
 * @type {Object<string, [() => string, (text: string) => void]>}
 */
const ADDRESS = {
	v: choice('view', () => views, 'flame'),
	e: [() => state.event ? String(state.event) : '',
		text => state.event = Math.min(data.about.events.length - 1, Math.max(0, Number(text) | 0))],
	s: words('search'),
	u: choice('use', () => Object.keys(USES), 'highlight'),
	o: flag('isHeavy', 'heavy'),
	d: flag('isFlame', 'flame'),
	i: flag('isInverted', '1'),
	t: [() => state.done.map(([key, name]) => key + name).join('.'),
		text => state.done = /** @type {[string, number][]} */ (text.split('.').filter(word => transforms.hasOwnProperty(word[0])
			&& namesOf(word.slice(1)).length).map(word => [word[0], Number(word.slice(1))]))],
	z: [() => state.zoom.join('.'), text => state.zoom = namesOf(text)],
	by: choice('sort', () => ['self', 'total', 'name'], 'self'),
	f: words('filter'),
	p: [() => state.picked < 0 ? '' : String(state.picked), text => state.picked = namesOf(text)[0] ?? -1],
	...TIME_ADDRESS,
};

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));

	for (const [key, [, read]] of Object.entries(ADDRESS))
		read(words.get(key) || '');
}

/** @param {boolean} [isStep] a step that the browser's back button undoes */
function writeAddress(isStep) {
	const words = new URLSearchParams();

	for (const [key, [write]] of Object.entries(ADDRESS))
		if (write())
			words.set(key, write());
	const hash = '#' + words;
	if (hash !== (location.hash || '#'))
		history[isStep ? 'pushState' : 'replaceState'](null, '', hash);
}

/* ---- the tree of the state ---- */

/** What the state makes of the whole tree. @param {Tree} tree */
function transformed(tree) {
	for (const [key, name] of state.done)
		tree = transforms[key].of(tree, name);
	if (shown.search && state.use !== 'highlight')
		tree = filterStacks(tree, markNodes(tree, shown.search), state.use === 'keep');
	if (state.isInverted)
		tree = invertTree(tree);
	return state.isHeavy ? heavyFirst(tree) : tree;
}

async function makeTree() {
	const sum = await chosenSums(state.event), began = performance.now();

	search();
	const tree = shown.tree = transformed(wholeTree(sum));
	shown.functions = null;
	shown.treeMs = performance.now() - began;
	markShown();
	flame.title = `all: ${amount(tree.sum[tree.n])}`;
	flame.isIcicle = !state.isFlame;
	flame.marks = state.use === 'highlight' ? shown.marks : null;
	flame.show(tree);
	await compare();
	zoomToState();
}

function search() {
	const began = performance.now();

	shown.search = state.search.trim() ? searchNames(state.search) : null;
	shown.isPlain = shown.search !== null && shown.search.isPlain;
	shown.searchMs = performance.now() - began;
}

/** Finds what is searched in the tree that is shown. */
function markShown() {
	shown.marks = shown.search && markNodes(shown.tree, shown.search);
	if (shown.marks)
		shown.hits = sumFound(shown.tree, shown.marks);
}

/** The node of a path of names, or as far as there is one. */
function zoomToState() {
	const t = shown.tree;
	let node = -1;

	for (const name of state.zoom) {
		let child = node + 1;
		const last = node < 0 ? t.n : t.end[node];

		while (child < last && t.name[child] !== name)
			child = t.end[child];
		if (child >= last)
			break;
		node = child;
	}
	flame.zoomTo(node);
}

/** Everything again. @param {boolean} [isStep] */
async function renew(isStep) {
	writeAddress(isStep);
	await makeTree();
	showAll();
}

/* ---- sections ---- */

function showAll() {
	for (const view of views) {
		ui[view].hidden = view !== state.view;
		ui['to-' + view].toggleAttribute('aria-current', view === state.view);
	}
	ui.app.classList.toggle('fixed', state.view === 'flame');
	/** @type {HTMLSelectElement} */ (ui.event).value = String(state.event);
	/** @type {HTMLSelectElement} */ (ui.use).value = state.use;
	if (document.activeElement !== ui.search)
		/** @type {HTMLInputElement} */ (ui.search).value = state.search;
	ui.direction.setAttribute('aria-pressed', String(state.isFlame));
	ui.order.setAttribute('aria-pressed', String(state.isHeavy));
	ui.invert.setAttribute('aria-pressed', String(state.isInverted));
	showRange();
	showCrumbs();
	showStatus();
	showDetail();
	SECTIONS[state.view].show?.();
	flame.measure();
	flame.later();
}

function showCrumbs() {
	ui.crumbs.replaceChildren();
	if (!state.done.length)
		return;
	ui.crumbs.append(make('button', {click: () => stepBack(0)}, 'all'));
	state.done.forEach(([key, name], i) =>
		ui.crumbs.append(make('button', {click: () => stepBack(i + 1), 'aria-current': i === state.done.length - 1},
			`${transforms[key].title} ${key === 'c' ? fileOf(name) : short(data.names[name], 40)}`)));
}

/** @param {number} n transforms stay */
function stepBack(n) {
	state.done.length = Math.min(n, state.done.length);
	state.zoom = [];
	renew(true);
}

function showStatus() {
	const t = shown.tree, all = t.sum[t.n];
	let text = '';

	if (shown.search && state.use === 'highlight')
		text = shown.hits.sum ? `${share(shown.hits.sum, all)} (${amount(shown.hits.sum)}) in ${shown.hits.nNames.toLocaleString('en')} matching names`
			: 'nothing matches';
	else if (shown.search)
		text = `${amount(all)} of ${amount(eventShown().period)} left (${share(all, eventShown().period)})`;
	if (shown.isPlain)
		text += '; not a regular expression: searched as plain text';
	ui.status.textContent = text;
}

function showDetail() {
	const node = flame.cursor >= 0 ? flame.cursor : flame.zoom, t = shown.tree;

	ui.what.textContent = node < 0 ? 'Click a frame to zoom; keys act on the frame under the pointer or cursor (? lists them).' : describe(node);
	for (const button of ui.detail.querySelectorAll('button'))
		button.disabled = node < 0 || (button.dataset.key === 'c' && data.kinds[t.name[node]] === KIND_TASK);
}

/** @param {number} node */
function describe(node) {
	const t = shown.tree, total = t.sum[t.end[node]] - t.sum[node], self = t.sum[node + 1] - t.sum[node], name = t.name[node];

	return `${short(data.names[name], 300)} [${[kindOf(name), fileOf(name), sourceOf(name)].filter(Boolean).join(', ')}] `
		+ `total ${share(total, t.sum[t.n])} (${amount(total)}), self ${share(self, t.sum[t.n])} (${amount(self)})${describeChange(node)}`;
}

function buildSummary() {
	const about = data.about, rows = about.facts.map(([name, text]) => make('tr', {}, make('th', {scope: 'row'}, name), make('td', {}, text)));
	const events = about.events.map((e, i) => make('tr', {},
		make('td', {}, make('button', {click: () => { state.event = i; state.view = 'flame'; renew(true); }}, e.name)),
		make('td', {class: 'number'}, e.samples.toLocaleString('en')),
		make('td', {class: 'number'}, e.time ? `${(e.period / 1e9).toFixed(3)} s` : e.period.toLocaleString('en'))));

	return make('section', {'aria-label': 'Summary'}, make('h2', {}, 'Recording'), make('table', {class: 'facts'}, make('tbody', {}, ...rows)),
		make('h2', {}, 'Events'), make('div', {class: 'scroll'}, make('table', {},
			make('thead', {}, make('tr', {}, make('th', {}, 'Event'), make('th', {class: 'number'}, 'Samples'), make('th', {class: 'number'}, 'Sum'))),
			make('tbody', {}, ...events))),
		ui.first = make('div', {}),
		when.about ? '' : make('p', {class: 'dim'}, 'There is no section about time: no times of samples are known.'),
		make('h2', {}, 'What is missing'), make('pre', {}, data.ledger.replace(/^# ?/gm, '').trim() || 'Nothing.'));
}

const FIRST = 10;

/** How sure the first rows are: a row is apart from the next one if their intervals do not overlap. */
function showFirst() {
	const t = shown.tree, all = t.sum[t.n], sums = shown.functions = shown.functions || sumFunctions(t), n = samplesShown();
	const isKnown = dependenceShown() !== null;
	const rows = Array.from(sums.self.keys()).filter(name => sums.self[name] > 0 && data.kinds[name] !== KIND_TASK)
		.sort((a, b) => sums.self[b] - sums.self[a] || a - b);
	const apart = (/** @type {number} */ i) => i + 1 >= rows.length || intervalShown(rows[i], 'self', sums.self[rows[i]], all, n)[0]
		> intervalShown(rows[i + 1], 'self', sums.self[rows[i + 1]], all, n)[1];

	if (change.now || !rows.length)
		return ui.first.replaceChildren();
	ui.first.replaceChildren(make('h2', {}, 'How sure the first functions are'), make('div', {class: 'scroll'}, make('table', {},
		make('thead', {}, make('tr', {}, make('th', {class: 'number'}, 'Self'), make('th', {class: 'number'}, '95% interval'), make('th', {}, 'Function'), make('th', {}, 'Order'))),
		make('tbody', {}, ...rows.slice(0, FIRST).map((name, i) => make('tr', {},
			make('td', {class: 'number'}, share(sums.self[name], all)),
			make('td', {class: 'number'}, intervalText(name, 'self', sums.self[name], all, n)),
			make('td', {class: 'name'}, make('button', {click: () => pick(name)}, short(data.names[name], 100))),
			make('td', {class: 'dim'}, i + 1 >= rows.length ? '' : apart(i) ? 'more than the next' : 'may change places with the next'))))),
		make('p', {class: 'dim'}, isKnown ? 'Phases of the program are taken into account.' : 'Samples count as independent of each other.')));
}

const ACTIONS = {f: 'Only it', b: 'Callers', m: 'Merge', d: 'Drop', c: 'File as one', r: 'Recursion as one'};

function buildFlame() {
	const canvas = make('canvas', {role: 'img', 'aria-label': 'Flame graph; the same as a table is under Functions'});
	const filler = make('div', {class: 'filler'}, canvas);
	const pane = make('div', {class: 'pane', tabindex: 0, 'aria-label': 'Flame graph: arrow keys move, Enter zooms', role: 'application'}, filler);
	const legend = ui.legend = make('div', {class: 'legend'});
	const buttons = Object.entries(ACTIONS).map(([key, title]) => make('button', {'data-key': key, title: `${title} (${key})`, click: () => transformHere(key)}, title));

	for (const kind of Object.keys(KINDS))
		if (data.kinds.includes(kind.charCodeAt(0))) {
			const spot = make('i');
			spot.style.background = colourOf(kind, 3);
			legend.append(make('span', {}, spot, KINDS[kind][2]));
		}
	ui.pane = pane;
	ui.what = make('span', {'aria-live': 'polite'});
	ui.detail = make('div', {class: 'detail'}, ui.what, ...buttons);
	flame = new Flame(pane, canvas, filler);
	flame.prepare();
	listenToFlame(canvas);
	return make('section', {class: 'flame', 'aria-label': 'Flame graph'}, legend, ui.changes = buildChanges(), pane, ui.detail);
}

function buildBar() {
	const about = data.about;
	const flip = (/** @type {'isFlame'|'isHeavy'|'isInverted'} */ what) => () => { state[what] = !state[what]; renew(); };

	ui.event = make('select', {'aria-label': 'Event', change: () => { state.event = Number(/** @type {HTMLSelectElement} */ (ui.event).value); renew(true); }},
		...about.events.map((e, i) => make('option', {value: i}, short(e.name, 60))));
	ui.search = make('input', {type: 'search', 'aria-label': 'Search', placeholder: 'Search: regexp, dso:name, a b = both, a|b = either  ( / )', spellcheck: 'false',
		input: () => { state.search = /** @type {HTMLInputElement} */ (ui.search).value; searchAgain(); }});
	ui.use = make('select', {'aria-label': 'What the search does', change: () => { state.use = /** @type {HTMLSelectElement} */ (ui.use).value; renew(true); }},
		...Object.entries(USES).map(([value, title]) => make('option', {value}, title)));
	ui.direction = make('button', {title: 'Roots at the bottom (t)', click: flip('isFlame')}, 'Flames');
	ui.order = make('button', {title: 'Heaviest first, instead of by name (o)', click: flip('isHeavy')}, 'Heavy first');
	ui.invert = make('button', {title: 'Callers below functions (i)', click: flip('isInverted')}, 'Inverted');
	ui.status = make('span', {class: 'status', role: 'status', 'aria-live': 'polite'});
	return make('div', {class: 'bar', role: 'toolbar', 'aria-label': 'What is shown'}, ui.event, ui.search, ui.use, ui.direction, ui.order, ui.invert,
		make('button', {title: 'Everything again (0)', click: reset}, 'Reset'), ui.status);
}

/** A highlight needs no new tree. */
function searchAgain() {
	if (state.use !== 'highlight') {
		renew();
		return;
	}
	search();
	const began = performance.now();
	markShown();
	shown.searchMs += performance.now() - began;
	flame.marks = shown.marks;
	writeAddress();
	showStatus();
	flame.later();
}

function reset() {
	Object.assign(state, {search: '', use: 'highlight', isHeavy: false, isFlame: false, isInverted: false, zoom: [], done: []});
	Object.assign(chosenTime, {range: null, base: null, window: null, who: ''});
	renew(true);
}

/* ---- what is done to frames ---- */

/** @param {number} node */
function zoomTo(node) {
	flame.zoomTo(node);
	state.zoom = node < 0 ? [] : [...flame.above(node), node].map(i => shown.tree.name[i]);
	writeAddress(true);
	showDetail();
}

/** @param {string} key @param {number} name */
function transform(key, name) {
	state.done.push([key, name]);
	state.zoom = [];
	state.view = 'flame';
	renew(true);
}

/** The frame under the pointer, else the cursor's. */
function chosen() {
	return hovered >= 0 ? hovered : flame.cursor >= 0 ? flame.cursor : flame.zoom;
}

/** @param {string} key */
function transformHere(key) {
	const node = chosen();

	if (node >= 0 && !(key === 'c' && data.kinds[shown.tree.name[node]] === KIND_TASK))
		transform(key, shown.tree.name[node]);
}

/** To the next match, or the one before; narrow ones are zoomed to. @param {number} step */
function jump(step) {
	const nodes = shown.hits.nodes;

	if (!shown.search || state.use === 'remove' || !nodes.length)
		return;
	let k = step > 0 ? nodes.findIndex(node => node > flame.cursor) : nodes.findLastIndex(node => node < flame.cursor);
	if (k < 0)
		k = step > 0 ? 0 : nodes.length - 1;
	flame.cursor = nodes[k];
	const box = flame.place(flame.cursor);
	if (!box || box[1] < 3)
		zoomTo(wideEnough(flame.cursor));
	flame.reveal(shown.tree.depth[flame.cursor]);
	ui.status.textContent = `match ${k + 1} of ${nodes.length}: ${describe(flame.cursor)}`;
	showDetail();
	flame.later();
}

/** The outermost caller below which a node is wide enough to be seen. @param {number} node */
function wideEnough(node) {
	const t = shown.tree, value = t.sum[t.end[node]] - t.sum[node];

	for (const i of flame.above(node))
		if (value / (t.sum[t.end[i]] - t.sum[i]) * flame.width() >= 3)
			return i;
	return node;
}

/** @param {string} key */
function moveCursor(key) {
	const t = shown.tree, from = flame.cursor, isDown = (key === 'ArrowDown') === flame.isIcicle;
	const visible = (/** @type {number} */ i) => t.sum[t.end[i]] > t.sum[i];
	let to = from;

	if (from < 0) {
		to = Math.max(flame.zoom, 0);
	} else if (key === 'ArrowUp' || key === 'ArrowDown') {
		to = isDown ? heaviestChild(from) : flame.parent(from);
	} else {
		const parent = flame.parent(from);

		if (key === 'ArrowRight')
			for (to = t.end[from]; to < t.n && t.depth[to] === t.depth[from] && !visible(to);)
				to = t.end[to];
		else
			for (let i = parent + 1; i < from; i = t.end[i])
				to = visible(i) ? i : to;
		if (to >= t.n || flame.parent(to) !== parent)
			to = from;
	}
	if (to < 0 || to >= t.n)
		return;
	flame.cursor = to;
	flame.reveal(t.depth[to]);
	showDetail();
	flame.later();
}

/** @param {number} node */
function heaviestChild(node) {
	const t = shown.tree;
	let best = node, most = 0;

	for (let i = node + 1; i < t.end[node]; i = t.end[i])
		if (t.sum[t.end[i]] - t.sum[i] > most) {
			most = t.sum[t.end[i]] - t.sum[i];
			best = i;
		}
	return best;
}

/* ---- pointer and keys ---- */

let hovered = -1;

/** @param {HTMLCanvasElement} canvas */
function listenToFlame(canvas) {
	const at = (/** @type {MouseEvent} */ e) => {
		const box = canvas.getBoundingClientRect();
		return flame.at(e.clientX - box.left, e.clientY - box.top);
	};

	canvas.addEventListener('mousemove', e => {
		hovered = at(e);
		canvas.style.cursor = hovered >= -1 ? 'pointer' : '';
		showTip(e);
	});
	canvas.addEventListener('mouseleave', () => {
		hovered = -1;
		ui.tip.hidden = true;
	});
	canvas.addEventListener('click', e => {
		const node = at(e);

		if (node < -1)
			return;
		flame.cursor = node;
		zoomTo(node === flame.zoom ? flame.parent(node) : node);
	});
	ui.pane.addEventListener('scroll', () => flame.later());
	new ResizeObserver(() => {
		flame.measure();
		flame.later();
	}).observe(ui.pane);
}

/** @param {MouseEvent} e */
function showTip(e) {
	const t = shown.tree, tip = ui.tip;

	tip.hidden = hovered < 0;
	if (tip.hidden)
		return;
	const name = t.name[hovered], total = t.sum[t.end[hovered]] - t.sum[hovered], self = t.sum[hovered + 1] - t.sum[hovered];
	tip.replaceChildren(make('div', {class: 'name'}, short(data.names[name], 600)),
		make('div', {class: 'dim'}, [kindOf(name), fileOf(name), sourceOf(name)].filter(Boolean).join(' \u00b7 ')),
		make('div', {}, `total ${share(total, t.sum[t.n])} (${amount(total)}), self ${share(self, t.sum[t.n])} (${amount(self)})${describeChange(hovered)}`));
	placeTip(e);
}

/** Beside the pointer. @param {MouseEvent} e */
function placeTip(e) {
	const tip = ui.tip, box = tip.getBoundingClientRect();

	tip.style.left = `${Math.max(4, Math.min(e.clientX + 12, innerWidth - box.width - 6))}px`;
	tip.style.top = `${e.clientY + 16 + box.height > innerHeight ? Math.max(4, e.clientY - box.height - 10) : e.clientY + 16}px`;
}

/** Keys, what they say of themselves, what they do. @type {[string, string, string, (e: KeyboardEvent) => void][]} */
const keys = [
	['?', '?', 'this list', () => /** @type {HTMLDialogElement} */ (ui.help).showModal()],
	['1', '1 2 3 \u2026', 'the sections', e => go(views[Number(e.key) - 1] || state.view)],
	['/', '/', 'search', () => ui.search.focus()],
	['n', 'n N', 'next match, match before', () => jump(1)],
	['N', '', '', () => jump(-1)],
	['Enter', 'Enter', 'zoom to the cursor', () => flame.cursor >= 0 && zoomTo(flame.cursor)],
	['Escape', 'Esc', 'zoom out by one, then step back by one', () => flame.zoom >= 0 ? zoomTo(flame.parent(flame.zoom)) : state.done.length ? stepBack(state.done.length - 1) : 0],
	['ArrowUp', '\u2190 \u2191 \u2192 \u2193', 'move the cursor', e => moveCursor(e.key)],
	['ArrowDown', '', '', e => moveCursor(e.key)],
	['ArrowLeft', '', '', e => moveCursor(e.key)],
	['ArrowRight', '', '', e => moveCursor(e.key)],
	['t', 't', 'roots at the bottom, or at the top', () => ui.direction.click()],
	['o', 'o', 'heaviest first, or by name', () => ui.order.click()],
	['i', 'i', 'inverted: callers below functions', () => ui.invert.click()],
	['f', 'f', 'only this function and what it calls', () => transformHere('f')],
	['b', 'b', 'callers of this function', () => transformHere('b')],
	['m', 'm', 'merge this function into its callers', () => transformHere('m')],
	['d', 'd', 'drop stacks with this function', () => transformHere('d')],
	['c', 'c', 'show calls within this file as one frame', () => transformHere('c')],
	['r', 'r', 'show recursion of this function as one frame', () => transformHere('r')],
	['0', '0', 'everything again', reset],
	...TIME_KEYS,
];

/** @param {string} view */
function go(view) {
	state.view = view;
	writeAddress(true);
	showAll();
}

/** @param {KeyboardEvent} e */
function pressed(e) {
	const target = /** @type {HTMLElement} */ (e.target), word = /^[1-9]$/.test(e.key) ? '1' : e.key, key = keys.find(row => row[0] === word);
	const isWriting = target.matches('input, select, textarea'), isFrame = /^Arrow|^[fbmdcr]$|^Enter$/.test(e.key);

	if (isWriting && e.key === 'Escape')
		target.blur();
	if (isWriting && e.key === 'Enter' && target === ui.search)
		jump(e.shiftKey ? -1 : 1);
	if (!key || isWriting || e.ctrlKey || e.metaKey || e.altKey || /** @type {HTMLDialogElement} */ (ui.help).open)
		return;
	if (isFrame && (state.view !== 'flame' || (target.matches('button, a') && e.key === 'Enter')))
		return;
	e.preventDefault();
	key[3](e);
}

function buildHelp() {
	const rows = keys.filter(row => row[1]).map(row => make('tr', {},
		make('td', {}, ...row[1].split(' ').flatMap(word => [make('kbd', {}, word), ' '])), make('td', {}, row[2])));

	return make('dialog', {'aria-label': 'Keys'}, make('h2', {}, 'Keys'), make('table', {}, make('tbody', {}, ...rows)),
		make('h2', {}, 'Search'), make('p', {}, 'A regular expression on names of functions; capitals count if there are any. Words are all wanted, | begins '
			+ 'another choice, a backslash before a blank makes it part of a word. dso:libc matches programs and libraries, file:parse\\.c source files, thread:sh names of threads.'),
		make('form', {method: 'dialog'}, make('button', {}, 'Close')));
}

function build() {
	const app = ui.app = /** @type {HTMLElement} */ (document.getElementById('app'));

	app.replaceChildren();
	for (const view of views) {
		ui['to-' + view] = make('button', {click: () => go(view)}, SECTIONS[view].title);
		ui[view] = SECTIONS[view].build();
	}
	ui.help = buildHelp();
	ui.range = make('div', {class: 'crumbs', role: 'navigation', 'aria-label': 'Range of time'});
	ui.crumbs = make('div', {class: 'crumbs', role: 'navigation', 'aria-label': 'Transforms'});
	ui.tip = make('div', {class: 'tip', hidden: true});
	app.append(make('header', {}, make('h1', {title: data.about.title}, data.about.title), make('nav', {'aria-label': 'Sections'},
		...views.map(view => ui['to-' + view]), make('button', {title: 'Keys (?)', 'aria-label': 'Keys', click: () => keys[0][3](/** @type {any} */ (null))}, '?'))),
	buildBar(), ui.range, ui.crumbs, ...views.map(view => ui[view]), ui.help, ui.tip);
	document.addEventListener('keydown', pressed);
	addEventListener('popstate', () => { readAddress(); makeTree().then(showAll); });
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => flame.later());
	addEventListener('beforeprint', () => { showFunctions(); flame.measure(); flame.draw(); });
}

async function start() {
	await Promise.all([loadData(), loadTimes()]);
	views = Object.keys(SECTIONS).filter(view => !SECTIONS[view].has || SECTIONS[view].has());
	readAddress();
	build();
	await makeTree();
	showAll();
	document.documentElement.dataset.ready = String(Math.round(performance.now()));
	setTimeout(nameRanks, 300); // takes a while; transforms will want it
}

start().catch(error => {
	const app = /** @type {HTMLElement} */ (document.getElementById('app'));

	app.textContent = `This page could not be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
