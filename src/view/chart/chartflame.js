// chartflame.js - stacks: where tasks waited and ran in a range, as a flame graph, and where wakers were.

const stacks = {
	parent: new Uint32Array(1), name: new Uint32Array(1), // by node; 0 is no stack
	waits: new Float64Array(0),   // until, length, life, stack, state
	samples: new Float64Array(0), // time, life, stack
	first: 0, // of the names that are not frames: states, then rows
	isCpu: false,
};
/** @type {Flame|undefined} */
let flame;

async function loadStacks() {
	if (!hasChunk('stacks'))
		return;
	const chunks = await Promise.all([textOfChunk('frames'), inflateChunk('kinds'), inflateChunk('stacks'), inflateChunk('waits'), inflateChunk('samples')]);
	const count = (/** @type {Uint8Array} */ bytes) => bytes.reduce((sum, byte) => sum + (byte < 128 ? 1 : 0), 0);
	const rows = Array.from({length: chart.about.rows}, (_, row) => laneName(chart.about.cpus.length + row));
	const pairs = readNumbers(chunks[2], new Uint32Array(count(chunks[2]))), n = pairs.length / 2;

	stacks.first = count(chunks[1]);
	data.names = [...chunks[0].split('\n').slice(0, stacks.first), ...STATE_NAMES, ...rows];
	data.kinds = new Uint8Array(data.names.length).fill('t'.charCodeAt(0));
	readNumbers(chunks[1], data.kinds.subarray(0, stacks.first));
	stacks.parent = new Uint32Array(n + 1);
	stacks.name = new Uint32Array(n + 1);
	for (let i = 1; i <= n; i++) {
		stacks.parent[i] = i - 1 - pairs[2 * i - 2];
		stacks.name[i] = pairs[2 * i - 1];
	}
	stacks.waits = readNumbers(chunks[3], new Float64Array(count(chunks[3])));
	stacks.samples = readNumbers(chunks[4], new Float64Array(count(chunks[4])));
	for (let i = 0, time = 0; i < stacks.waits.length; i += 5)
		stacks.waits[i] = time += distance(stacks.waits[i]);
	for (let i = 0, time = 0; i < stacks.samples.length; i += 3)
		stacks.samples[i] = time += distance(stacks.samples[i]);
}

/** The functions of a stack, innermost first. @param {number} node */
function framesOf(node) {
	const names = [];

	for (; node; node = stacks.parent[node])
		names.push(data.names[stacks.name[node]]);
	return names;
}

/** Where a life was in the wait that covers a time, or 0. @param {number} life @param {number} time */
function waitedAt(life, time) {
	const w = stacks.waits;

	for (let i = 0; i < w.length; i += 5)
		if (w[i + 2] === life && w[i] > time && w[i] - w[i + 1] <= time)
			return w[i + 3];
	return 0;
}

/**
 * What was in a range, of the tasks that are shown: time off CPUs by state, task and stack, or samples by task and stack.
 * @param {number} from @param {number} to @returns {Tree}
 */
function rangeTree(from, to) {
	/** @typedef {{name: number, self: number, below: Map<number, Node_>}} Node_ */
	const root = /** @type {Node_} */ ({name: 0, self: 0, below: new Map()}), known = /** @type {Map<number, Node_>} */ (new Map());
	const shown = new Uint8Array(chart.about.rows), {waits, samples, parent} = stacks, order = /** @type {[Node_, number][]} */ ([]);
	const sums = /** @type {Map<number, number>} */ (new Map()); // by state, row and stack

	for (const lane of lanes)
		if (lane >= chart.about.cpus.length)
			shown[lane - chart.about.cpus.length] = 1; // lanes of I/O are beyond its end
	/** @param {number} state @param {number} life @param {number} stack @param {number} value */
	const add = (state, life, stack, value) => {
		const row = chart.lives[6 * life + 3] - 1, key = (state * shown.length + row) * parent.length + stack;
		if (value > 0 && shown[row])
			sums.set(key, (sums.get(key) || 0) + value);
	};
	for (let i = 0; i < waits.length && !stacks.isCpu; i += 5)
		add(waits[i + 4], waits[i + 2], waits[i + 3], Math.min(to, waits[i]) - Math.max(from, waits[i] - waits[i + 1]));
	for (let i = 0; i < samples.length && stacks.isCpu; i += 3)
		if (samples[i] >= from && samples[i] < to)
			add(0, samples[i + 1], samples[i + 2], chart.about.samplesEvery || 1);
	/** @param {Node_} node @param {number} name @returns {Node_} */
	const child = (node, name) => {
		const below = node.below.get(name) || {name, self: 0, below: new Map()};
		node.below.set(name, below);
		return below;
	};
	/** @param {number} key @returns {Node_} */
	const nodeOf = key => {
		const stack = key % parent.length, place = (key - stack) / parent.length, state = Math.floor(place / shown.length);
		const node = known.get(key) || (stack ? child(nodeOf(key - stack + parent[stack]), stacks.name[stack])
			: child(state ? child(root, stacks.first + state) : root, stacks.first + STATES + place % shown.length));
		known.set(key, node);
		return node;
	};
	for (const [key, value] of sums)
		nodeOf(key).self += value;
	const ranks = nameRanks();
	/** @param {Node_} node @param {number} depth */
	const walk = (node, depth) => {
		for (const below of [...node.below.values()].sort((a, b) => ranks[a.name] - ranks[b.name])) {
			order.push([below, depth]);
			walk(below, depth + 1);
		}
	};
	walk(root, 1);
	const n = order.length, depth = Uint16Array.from(order, ([, depth]) => depth), sum = new Float64Array(n + 1);
	order.forEach(([node], i) => sum[i + 1] = sum[i] + node.self);
	return {n, name: Uint32Array.from(order, ([node]) => node.name), depth, end: endsOf(depth, n), sum};
}

/** The flame graph of a range; an element for it. @param {number} from @param {number} to */
function rangeFlame(from, to) {
	if (!hasChunk('stacks'))
		return make('p', {class: 'dim'}, 'A flame graph of the range needs stacks: pace timechart record -g');
	const hasSamples = stacks.samples.length > 0, what = make('select', {'aria-label': 'What the flame graph shows', change: () => { stacks.isCpu = what.value === '1'; fill(); }},
		make('option', {value: ''}, 'Where tasks waited'), ...hasSamples ? [make('option', {value: '1'}, 'Where tasks ran (samples)')] : []);
	const canvas = make('canvas', {role: 'img', 'aria-label': 'Flame graph of the range'}), filler = make('div', {class: 'filler'}, canvas);
	const pane = make('div', {class: 'pane', style: 'height: 260px; flex: none'}, filler), said = make('p', {class: 'dim', 'aria-live': 'polite'}), own = flame = new Flame(pane, canvas, filler);
	const amount = (/** @type {number} */ value) => stacks.isCpu ? `${value.toLocaleString('en')} samples` : timeText(value);
	/** @param {number} node */
	const tell = node => {
		const t = own.tree, all = t.sum[t.n], total = node < 0 ? all : t.sum[t.end[node]] - t.sum[node];
		said.textContent = `${node < 0 ? 'all' : data.names[t.name[node]]}: ${amount(total)}${all ? ` (${share(total, all)})` : ''}`
			+ (chart.about.waitsShortest && !stacks.isCpu ? `; waits shorter than ${timeText(chart.about.waitsShortest)} are left out` : '');
	};
	const fill = () => {
		const tree = rangeTree(from, to);
		own.title = `all: ${amount(tree.sum[tree.n])}`;
		own.show(tree);
		tell(-1);
		own.later();
	};

	what.value = stacks.isCpu ? '1' : '';
	canvas.addEventListener('pointermove', e => tell(Math.max(-1, own.at(e.offsetX, e.offsetY))));
	canvas.addEventListener('click', e => {
		const node = own.at(e.offsetX, e.offsetY);
		if (node > -2) {
			own.zoomTo(node);
			own.later();
		}
	});
	pane.addEventListener('scroll', () => own.later());
	own.prepare();
	requestAnimationFrame(fill);
	return make('div', {}, make('h3', {}, 'Flame graph of the range'), make('div', {class: 'tools'}, what), pane, said);
}
