// tree.js - what can be done to a tree: searches, filters, merges, inversion, sums by function.

/* ---- search ---- */

/**
 * Splits at a character that is neither escaped nor in brackets.
 * @param {string} text @param {RegExp} at
 */
function splitOutside(text, at) {
	const parts = [''];
	let depth = 0;

	for (let i = 0; i < text.length; i++) {
		const c = text[i];

		if (c === '\\' && i + 1 < text.length) {
			parts[parts.length - 1] += c + text[++i];
			continue;
		}
		depth += c === '(' || c === '[' ? 1 : c === ')' || c === ']' ? -1 : 0;
		if (depth <= 0 && at.test(c))
			parts.push('');
		else
			parts[parts.length - 1] += c;
	}
	return parts.filter(part => part !== '');
}

/** One word of a search. @param {string} word */
function termOf(word) {
	const field = /^(dso|file|thread):/.exec(word);
	const text = field ? word.slice(field[0].length) : word;
	const flags = /\p{Lu}/u.test(text) ? '' : 'i';
	let regexp, isPlain = false;

	try {
		regexp = new RegExp(text, flags);
	} catch {
		regexp = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags);
		isPlain = true;
	}
	return {field: field ? field[1] : '', regexp, isPlain};
}

/**
 * @typedef {ReturnType<typeof termOf>} Term
 * @typedef {{found: Uint8Array, pairs: {tasks: Uint8Array, names: Uint8Array}[], isPlain: boolean}} Search
 */

/** The names that all of these words match. @param {Term[]} terms */
function namesMatching(terms) {
	const found = new Uint8Array(data.names.length);

	for (let i = 0; i < found.length; i++) {
		const isTask = data.kinds[i] === KIND_TASK;

		found[i] = +terms.every(({field, regexp}) =>
			field === 'dso' ? !isTask && regexp.test(data.about.dsos[data.dsos[i]])
				: field === 'file' ? data.files[i] > 0 && regexp.test(sourceOf(i))
				: (field !== 'thread' || isTask) && regexp.test(data.names[i]));
	}
	return found;
}

/**
 * What a search finds: words that all match, or after a '|' others. Threads and functions have names of their own: where words are about both,
 * they are a pair, which stacks have that have one of each.
 * @param {string} text
 * @returns {Search}
 */
function searchNames(text) {
	const choices = splitOutside(text, /\|/).map(part => splitOutside(part, /\s/).map(termOf)).filter(c => c.length);
	const found = new Uint8Array(data.names.length), pairs = [];

	for (const terms of choices) {
		const ofTasks = terms.filter(term => term.field === 'thread');

		if (ofTasks.length && ofTasks.length < terms.length)
			pairs.push({tasks: namesMatching(ofTasks), names: namesMatching(terms.filter(term => term.field !== 'thread'))});
		else
			namesMatching(terms).forEach((is, i) => found[i] |= is);
	}
	return {found, pairs, isPlain: choices.some(terms => terms.some(term => term.isPlain))};
}

/**
 * The nodes that a search finds. Of a pair it is the node where a stack has both: the function below its thread or, if the tree is inverted, the
 * thread below the function.
 * @param {Tree} t @param {Search} search
 */
function markNodes(t, {found, pairs}) {
	const marks = new Uint8Array(t.n);

	for (let i = 0; i < t.n; i++)
		marks[i] = found[t.name[i]];
	for (const {tasks, names} of pairs)
		for (let i = 0, inTask = 0, inName = 0; i < t.n; i++) {
			const name = t.name[i];

			if (tasks[name])
				inTask = Math.max(inTask, t.end[i]);
			if (names[name])
				inName = Math.max(inName, t.end[i]);
			if (tasks[name] && i < inName || names[name] && i < inTask)
				marks[i] = 1;
		}
	return marks;
}

/** The file that a function is written in, or ''. @param {number} name */
function sourceOf(name) {
	return data.about.files[data.files[name] - 1] || '';
}

const KIND_TASK = 't'.charCodeAt(0);

/**
 * The value of stacks that have a marked node, each counted once; the nodes that are it first; and how many names marked nodes have.
 * @param {Tree} t @param {Uint8Array} marks
 */
function sumFound(t, marks) {
	const names = new Set();
	let sum = 0, nodes = new Uint32Array(1024), n = 0;

	for (let i = 0; i < t.n; i++)
		if (marks[i])
			names.add(t.name[i]);
	for (let i = 0; i < t.n;) {
		if (!marks[i]) {
			i++;
			continue;
		}
		const value = t.sum[t.end[i]] - t.sum[i];

		if (value > 0) {
			if (n === nodes.length)
				nodes = withRoom(nodes, n + 1);
			nodes[n++] = i;
			sum += value;
		}
		i = t.end[i];
	}
	return {sum, nodes: nodes.subarray(0, n), nNames: names.size};
}

/* ---- filters: the tree stays, values go ---- */

/** @param {Tree} t @param {Float64Array} sum @returns {Tree} */
function withSums(t, sum) {
	return {n: t.n, name: t.name, depth: t.depth, end: t.end, sum, parent: t.parent};
}

/**
 * Only the stacks that have a marked node, or only those that have none.
 * @param {Tree} t @param {Uint8Array} marks @param {boolean} keeps
 */
function filterStacks(t, marks, keeps) {
	const sum = new Float64Array(t.n + 1);
	let inside = 0, all = 0;

	for (let i = 0; i < t.n; i++) {
		if (i >= inside && marks[i])
			inside = t.end[i];
		if (i < inside === keeps)
			all += t.sum[i + 1] - t.sum[i];
		sum[i + 1] = all;
	}
	return withSums(t, sum);
}

/* ---- names in their order ---- */

/**
 * The order of names, by their text.
 * @returns {Uint32Array}
 */
function nameRanks() {
	if (!ranksOfNames) {
		namesByRank = Uint32Array.from(data.names.keys());
		namesByRank.sort((a, b) => data.names[a] < data.names[b] ? -1 : data.names[a] > data.names[b] ? 1 : a - b);
		ranksOfNames = new Uint32Array(data.names.length);
		namesByRank.forEach((name, i) => ranksOfNames[name] = i);
	}
	return ranksOfNames;
}

/** @type {Uint32Array} */
let ranksOfNames;
/** @type {Uint32Array} */
let namesByRank;

/**
 * Sorts a range of numbers; most ranges are short.
 * @param {Float64Array|Uint32Array} list @param {number} from @param {number} to
 */
function sortRange(list, from, to) {
	if (to - from > 16) {
		list.subarray(from, to).sort();
		return;
	}
	for (let i = from + 1; i < to; i++) {
		const one = list[i];
		let k = i;

		for (; k > from && list[k - 1] > one; k--)
			list[k] = list[k - 1];
		list[k] = one;
	}
}

/**
 * @template {Uint32Array|Int32Array|Float64Array} T
 * @param {T} list @param {number} n @returns {T} a list with room for n
 */
function withRoom(list, n) {
	if (n <= list.length)
		return list;
	const longer = /** @type {T} */ (new /** @type {any} */ (list.constructor)(2 * n));
	longer.set(/** @type {any} */ (list));
	return longer;
}

/** A tree that is made node by node, in preorder. `end` is set when a node's last descendant is there. @param {number} room @returns {Tree} */
function emptyTree(room) {
	return {n: 0, name: new Uint32Array(room), depth: new Uint16Array(room), end: new Uint32Array(room), sum: new Float64Array(room + 1)};
}

/** Gives back the room that is left. @param {Tree} t @returns {Tree} */
function trimmed(t) {
	return t.n === t.name.length ? t : {n: t.n, name: t.name.slice(0, t.n), depth: t.depth.slice(0, t.n), end: t.end.slice(0, t.n),
		sum: t.sum.slice(0, t.n + 1)};
}

/** Each node's parent + 1; 0 is the root. @param {Tree} t */
function parentsOf(t) {
	if (!t.parent) {
		const parent = t.parent = new Uint32Array(t.n), open = new Uint32Array(65537);

		for (let i = 0; i < t.n; i++) {
			parent[i] = open[t.depth[i] - 1];
			open[t.depth[i]] = i + 1;
		}
	}
	return t.parent;
}

/** The same tree, children in the order of their totals. Subtrees keep their sizes. @param {Tree} t */
function heavyFirst(t) {
	const to = emptyTree(t.n), total = (/** @type {number} */ i) => t.sum[t.end[i]] - t.sum[i];
	let waiting = new Uint32Array(1024), n = 0;
	const push = (/** @type {number} */ first, /** @type {number} */ last) => {
		const from = n;

		for (let i = first; i < last; i = t.end[i]) {
			let k = n;

			// The heaviest comes last, for it is taken first; of equal ones the first.
			if (n === waiting.length)
				waiting = withRoom(waiting, n + 1);
			if (n - from < 16) {
				const weight = total(i);
				for (; k > from && total(waiting[k - 1]) >= weight; k--)
					waiting[k] = waiting[k - 1];
			}
			waiting[k] = i;
			n++;
		}
		if (n - from > 16)
			waiting.subarray(from, n).sort((a, b) => total(a) - total(b) || b - a);
	};

	push(0, t.n);
	while (n) {
		const i = waiting[--n], at = to.n++;

		to.name[at] = t.name[i];
		to.depth[at] = t.depth[i];
		to.end[at] = at + t.end[i] - i;
		to.sum[at + 1] = to.sum[at] + t.sum[i + 1] - t.sum[i];
		if (t.end[i] > i + 1)
			push(i + 1, t.end[i]);
	}
	return to;
}

/* ---- merges: nodes move to other parents ---- */

const KEY = 2 ** 32; // a key for sorting is a name's rank and a node

/**
 * A tree without some nodes: their own values, and what was below them, belong to what is said instead.
 * @typedef {object} Move
 * @property {Uint32Array} moved nodes in preorder; where there is none, a subtree stays as it is
 * @property {Uint32Array} [roots] what stays, if not all
 * @property {boolean} [isFar] a moved node joins not the node above it but the next one above with its name
 */

/** The position of the first of ascending numbers that is not below a limit. @param {Uint32Array} list @param {number} limit */
function firstFrom(list, limit) {
	let low = 0, high = list.length;

	while (low < high) {
		const middle = low + high >> 1;

		if (list[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** @param {Tree} t @param {Move} move @returns {Tree} */
function moveNodes(t, {moved, roots, isFar}) {
	const to = emptyTree(t.n), ranks = nameRanks(), isMoved = new Uint8Array(t.n);
	// Groups of nodes that become one: regions of keys, one for each level, above each other.
	let keys = new Float64Array(4096), next = new Uint32Array(256), stop = new Uint32Array(256), open = new Uint32Array(256);
	let group = new Uint32Array(256), n = 0, level = 0;
	const add = (/** @type {number} */ i) => {
		if (t.sum[t.end[i]] <= t.sum[i])
			return;
		if (n === keys.length)
			keys = withRoom(keys, n + 1);
		keys[n++] = ranks[t.name[i]] * KEY + i;
	};
	const copy = (/** @type {number} */ i) => {
		const offset = to.n - i, up = level + 1 - t.depth[i];

		for (let k = i; k < t.end[i]; k++) {
			const at = to.n++;

			to.name[at] = t.name[k];
			to.depth[at] = t.depth[k] + up;
			to.end[at] = t.end[k] + offset;
			to.sum[at + 1] = to.sum[at] + t.sum[k + 1] - t.sum[k];
		}
	};

	for (const i of moved)
		isMoved[i] = 1;
	if (roots)
		roots.forEach(add);
	else
		for (let i = 0; i < t.n; i = t.end[i])
			add(i);
	sortRange(keys, 0, n);
	next[0] = 0;
	stop[0] = n;
	for (;;) {
		if (next[level] === stop[level]) {
			if (!level)
				return trimmed(to);
			to.end[open[--level]] = to.n;
			n = stop[level];
			continue;
		}
		let first = next[level], size = 0;
		const rank = Math.floor(keys[first] / KEY), one = keys[first] - rank * KEY;

		do {
			group = withRoom(group, size + 1);
			group[size++] = keys[first++] - rank * KEY;
		} while (first < stop[level] && keys[first] < (rank + 1) * KEY);
		next[level] = first;
		if (size === 1 && !(moved[firstFrom(moved, one)] < t.end[one])) {
			copy(one);
			continue;
		}
		// The group grows while it is looked through. What moves far is found at once, and is not there when its parent is looked at.
		if (isFar && moved.length && t.name[moved[0]] === t.name[one])
			for (let k = 0, all = size; k < all; k++)
				for (let hit = firstFrom(moved, group[k] + 1); hit < moved.length && moved[hit] < t.end[group[k]]; hit++) {
					group = withRoom(group, size + 1);
					group[size++] = moved[hit];
				}
		const start = n, at = to.n++;
		let own = 0, isMixed = size > 1;
		for (let k = 0; k < size; k++) {
			const i = group[k];

			own += t.sum[i + 1] - t.sum[i];
			for (let child = i + 1; child < t.end[i]; child = t.end[child]) {
				if (!isMoved[child]) {
					add(child);
				} else if (!isFar) {
					group = withRoom(group, size + 1);
					group[size++] = child;
					isMixed = true;
				}
			}
		}
		to.name[at] = t.name[one];
		to.depth[at] = level + 1;
		to.sum[at + 1] = to.sum[at] + own;
		to.end[at] = to.n;
		if (n === start)
			continue;
		if (isMixed)
			sortRange(keys, start, n);
		open = withRoom(open, level + 2);
		next = withRoom(next, level + 2);
		stop = withRoom(stop, level + 2);
		open[level++] = at;
		next[level] = start;
		stop[level] = n;
	}
}

/**
 * The nodes of a tree that a test finds; it is told whether it has found one above. In preorder.
 * @param {Tree} t @param {(node: number, isBelow: boolean) => boolean} test
 */
function nodesThat(t, test) {
	let list = new Uint32Array(1024), n = 0, inside = 0;

	for (let i = 0; i < t.n; i++)
		if (test(i, i < inside)) {
			if (n === list.length)
				list = withRoom(list, n + 1);
			list[n++] = i;
			inside = Math.max(inside, t.end[i]);
		}
	return list.slice(0, n);
}

/**
 * Transforms, by the key that does them. Each makes a tree of a tree, for a name.
 * @type {Object<string, {title: string, of: (t: Tree, name: number) => Tree}>}
 */
const transforms = {
	f: {title: 'only', of: (t, name) =>
		moveNodes(t, {moved: new Uint32Array(0), roots: nodesThat(t, (i, isBelow) => t.name[i] === name && !isBelow)})},
	m: {title: 'merged', of: (t, name) => {
		const moved = nodesThat(t, i => t.name[i] === name);

		// What is at the top has nothing to be merged into: what it called takes its place.
		return moveNodes(t, {moved, roots: moved.some(i => t.depth[i] === 1) ? topsWithout(t, name) : undefined});
	}},
	d: {title: 'without', of: (t, name) => {
		const found = new Uint8Array(data.names.length);

		found[name] = 1;
		return filterStacks(t, markNodes(t, {found, pairs: [], isPlain: false}), false);
	}},
	c: {title: 'file as one', of: (t, name) => {
		const isIn = data.dsos.map((dso, k) => +(dso === data.dsos[name] && data.kinds[k] !== KIND_TASK)), parent = parentsOf(t);

		return moveNodes(t, {moved: nodesThat(t, i => isIn[t.name[i]] > 0 && parent[i] > 0 && isIn[t.name[parent[i] - 1]] > 0)});
	}},
	r: {title: 'recursion as one', of: (t, name) => {
		let inside = 0;
		const moved = nodesThat(t, i => {
			if (t.name[i] !== name)
				return false;
			const isAgain = i < inside;
			inside = Math.max(inside, t.end[i]);
			return isAgain;
		});

		return moveNodes(t, {moved, isFar: true});
	}},
	b: {title: 'callers of', of: (t, name) => invertTree(t, name)},
};

/** What is at the top if a name there is left out. @param {Tree} t @param {number} name */
function topsWithout(t, name) {
	const tops = [];

	for (let i = 0; i < t.n; i = t.name[i] === name ? i + 1 : t.end[i])
		if (t.name[i] !== name)
			tops.push(i);
	return Uint32Array.from(tops);
}

/**
 * A tree that grows level by level: children side by side, in the order of their names. Node 0 is the root.
 * @typedef {{names: Uint32Array, totals: Float64Array, first: Uint32Array, last: Uint32Array, n: number}} Levels
 *
 * What may have a further level: the k-th of `nodes` has the callers starts[k] to starts[k + 1] - 1, each with its name, its own caller + 1 and
 * what it counts. They are read in this order; to look them up in the tree would be much slower.
 * @typedef {{nodes: number[], starts: number[], name: Uint32Array, up: Uint32Array, value: Float64Array}} Callers
 */

/** @param {number} n */
function roomForCallers(n) {
	return {name: new Uint32Array(n), up: new Uint32Array(n), value: new Float64Array(n)};
}

/** @param {Levels} to @param {number} name @param {number} total */
function addNode(to, name, total) {
	const node = to.n++;

	if (node === to.names.length) {
		to.names = withRoom(to.names, to.n);
		to.totals = withRoom(to.totals, to.n);
		to.first = withRoom(to.first, to.n);
		to.last = withRoom(to.last, to.n);
	}
	to.names[node] = name;
	to.totals[node] = total;
	return node;
}

/**
 * Callers below what they called: of all functions, or of one with all below it. Nodes under a 4,000th of the whole keep their callers to
 * themselves: nobody could see them.
 * @param {Tree} t @param {number} [name]
 */
function invertTree(t, name) {
	const to = {names: new Uint32Array(4096), totals: new Float64Array(4096), first: new Uint32Array(4096), last: new Uint32Array(4096), n: 1};
	const least = t.sum[t.n] / 4000;
	let callers = firstCallers(t, to, least, name === undefined ? -1 : name);

	while (callers.nodes.length)
		callers = nextCallers(t, to, least, callers);
	return treeOfLevels(to);
}

/** The functions themselves. @param {Tree} t @param {Levels} to @param {number} least @param {number} only a name, or -1 @returns {Callers} */
function firstCallers(t, to, least, only) {
	const parent = parentsOf(t), ranks = nameRanks(), {n, name, sum, end} = t;
	const totals = new Float64Array(ranks.length), counts = new Uint32Array(ranks.length), places = new Int32Array(ranks.length).fill(-1);
	const nodes = [], starts = [0];
	let kept = 0;

	for (let i = 0; i < n; i++) {
		const called = name[i], last = called === only ? end[i] : i + 1, own = sum[last] - sum[i];

		if (own > 0 && (only < 0 || called === only)) {
			totals[called] += own;
			counts[called] += parent[i] ? 1 : 0;
		}
		i = last - 1;
	}
	to.first[0] = to.n;
	for (const called of namesByRank) {
		const node = totals[called] > 0 ? addNode(to, called, totals[called]) : 0;

		if (!node || totals[called] < least || !counts[called])
			continue;
		places[called] = kept;
		kept += counts[called];
		nodes.push(node);
		starts.push(kept);
	}
	to.last[0] = to.n;
	const next = roomForCallers(kept);
	for (let i = 0; i < n; i++) {
		const called = name[i], last = called === only ? end[i] : i + 1, own = sum[last] - sum[i];

		if (own > 0 && places[called] >= 0 && parent[i]) {
			const place = places[called]++, caller = parent[i] - 1;

			next.name[place] = name[caller];
			next.up[place] = parent[caller];
			next.value[place] = own;
		}
		i = last - 1;
	}
	return {nodes, starts, ...next};
}

/** A level further. @param {Tree} t @param {Levels} to @param {number} least @param {Callers} callers @returns {Callers} */
function nextCallers(t, to, least, callers) {
	const parent = parentsOf(t), ranks = nameRanks(), {name, up, value} = callers, nodes = [], starts = [0];
	const slotOf = new Int32Array(ranks.length).fill(-1), next = roomForCallers(name.length);
	let keys = new Uint32Array(1024), sums = new Float64Array(1024), places = new Int32Array(1024), kept = 0;

	for (let k = 0; k < callers.nodes.length; k++) {
		const from = callers.starts[k], last = callers.starts[k + 1], before = kept;
		let n = 0;

		for (let e = from; e < last; e++) {
			const caller = name[e];
			let slot = slotOf[caller];

			if (slot < 0) {
				slot = slotOf[caller] = n++;
				if (n > keys.length) {
					keys = withRoom(keys, n);
					sums = withRoom(sums, n);
					places = withRoom(places, n);
				}
				keys[slot] = ranks[caller];
				sums[slot] = places[slot] = 0;
			}
			sums[slot] += value[e];
			places[slot] += up[e] ? 1 : 0;
		}
		sortRange(keys, 0, n);
		to.first[callers.nodes[k]] = to.n;
		for (let i = 0; i < n; i++) {
			const caller = namesByRank[keys[i]], slot = slotOf[caller], node = addNode(to, caller, sums[slot]), count = places[slot];

			places[slot] = -1;
			if (sums[slot] < least || !count)
				continue;
			places[slot] = kept;
			kept += count;
			nodes.push(node);
			starts.push(kept);
		}
		to.last[callers.nodes[k]] = to.n;
		if (kept > before)
			for (let e = from; e < last; e++) {
				const slot = slotOf[name[e]];

				if (places[slot] >= 0 && up[e]) {
					const place = places[slot]++, caller = up[e] - 1;

					next.name[place] = t.name[caller];
					next.up[place] = parent[caller];
					next.value[place] = value[e];
				}
			}
		for (let i = 0; i < n; i++)
			slotOf[namesByRank[keys[i]]] = -1;
	}
	return {nodes, starts, ...next};
}

/** The same in preorder. What a node has more than its children is its own. @param {Levels} levels */
function treeOfLevels({names, totals, first, last, n}) {
	const to = emptyTree(n - 1);
	let next = new Uint32Array(256), stop = new Uint32Array(256), open = new Uint32Array(256), level = 0;

	next[0] = first[0];
	stop[0] = last[0];
	for (;;) {
		if (next[level] === stop[level]) {
			if (!level)
				return to;
			to.end[open[--level]] = to.n;
			continue;
		}
		const node = next[level]++, at = to.n++;
		let own = totals[node];

		for (let k = first[node]; k < last[node]; k++)
			own -= totals[k];
		to.name[at] = names[node];
		to.depth[at] = level + 1;
		to.sum[at + 1] = to.sum[at] + Math.max(0, own);
		to.end[at] = to.n;
		if (first[node] === last[node])
			continue;
		next = withRoom(next, level + 2);
		stop = withRoom(stop, level + 2);
		open = withRoom(open, level + 2);
		open[level++] = at;
		next[level] = first[node];
		stop[level] = last[node];
	}
}

/* ---- functions ---- */

/**
 * What a function calls, what calls it, and how much of it is in each: a stack counts once for each of them.
 * @param {Tree} t @param {number} name
 */
function sumNeighbours(t, name) {
	const n = data.names.length, callers = new Float64Array(n), callees = new Float64Array(n);
	const callersUntil = new Uint32Array(n), calleesUntil = new Uint32Array(n), parent = parentsOf(t);

	for (let i = 0; i < t.n; i++) {
		if (t.name[i] !== name)
			continue;
		if (parent[i]) {
			const caller = t.name[parent[i] - 1];

			if (i >= callersUntil[caller]) {
				callers[caller] += t.sum[t.end[i]] - t.sum[i];
				callersUntil[caller] = t.end[i];
			}
		}
		for (let child = i + 1; child < t.end[i]; child = t.end[child])
			if (child >= calleesUntil[t.name[child]]) {
				callees[t.name[child]] += t.sum[t.end[child]] - t.sum[child];
				calleesUntil[t.name[child]] = t.end[child];
			}
	}
	return {callers, callees};
}

/** Self and total of each name; recursion counts once. @param {Tree} t */
function sumFunctions(t) {
	const self = new Float64Array(data.names.length), total = new Float64Array(data.names.length);
	const until = new Uint32Array(data.names.length);

	for (let i = 0; i < t.n; i++) {
		const name = t.name[i];

		self[name] += t.sum[i + 1] - t.sum[i];
		if (i >= until[name]) {
			total[name] += t.sum[t.end[i]] - t.sum[i];
			until[name] = t.end[i];
		}
	}
	return {self, total};
}
