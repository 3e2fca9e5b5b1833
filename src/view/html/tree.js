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
	const field = /^(dso|thread):/.exec(word);
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
 * The names that a search finds: words that all match, or after a '|' others.
 * @param {string} text
 * @returns {{found: Uint8Array, n: number, isPlain: boolean}}
 */
function searchNames(text) {
	const choices = splitOutside(text, /\|/).map(part => splitOutside(part, /\s/).map(termOf)).filter(c => c.length);
	const found = new Uint8Array(data.names.length);
	let n = 0;

	if (choices.length === 1 && choices[0].length === 1 && !choices[0][0].field) {
		const {regexp, isPlain} = choices[0][0];

		for (let i = 0; i < found.length; i++)
			n += found[i] = regexp.test(data.names[i]) ? 1 : 0;
		return {found, n, isPlain};
	}
	for (let i = 0; i < found.length && choices.length; i++) {
		const isTask = data.kinds[i] === KIND_TASK;

		found[i] = +choices.some(terms => terms.every(({field, regexp}) =>
			field === 'dso' ? !isTask && regexp.test(data.about.dsos[data.dsos[i]])
				: (field !== 'thread' || isTask) && regexp.test(data.names[i])));
		n += found[i];
	}
	return {found, n, isPlain: choices.some(terms => terms.some(term => term.isPlain))};
}

const KIND_TASK = 't'.charCodeAt(0);

/**
 * The value of stacks that have one of these names, each counted once; and the nodes that have it first.
 * @param {Tree} t @param {Uint8Array} found
 */
function sumFound(t, found) {
	let sum = 0;
	const nodes = [];

	for (let i = 0; i < t.n;) {
		if (found[t.name[i]]) {
			if (t.sum[t.end[i]] > t.sum[i]) {
				sum += t.sum[t.end[i]] - t.sum[i];
				nodes.push(i);
			}
			i = t.end[i];
		} else {
			i++;
		}
	}
	return {sum, nodes: Uint32Array.from(nodes)};
}

/* ---- filters: the tree stays, values go ---- */

/** @param {Tree} t @param {Float64Array} sum @returns {Tree} */
function withSums(t, sum) {
	return {n: t.n, name: t.name, depth: t.depth, end: t.end, sum};
}

/**
 * Only the stacks that have one of these names, or only those that have none.
 * @param {Tree} t @param {Uint8Array} found @param {boolean} keeps
 */
function filterStacks(t, found, keeps) {
	const sum = new Float64Array(t.n + 1);
	let inside = 0, all = 0;

	for (let i = 0; i < t.n; i++) {
		if (i >= inside && found[t.name[i]])
			inside = t.end[i];
		if (i < inside === keeps)
			all += t.sum[i + 1] - t.sum[i];
		sum[i + 1] = all;
	}
	return withSums(t, sum);
}

/* ---- merges: nodes move to other parents ---- */

/** Makes trees from paths: children by parent and name. */
class Trie {
	/** @param {number} guess */
	constructor(guess) {
		this.n = 1;
		this.room = 1024;
		while (this.room < guess)
			this.room *= 2;
		this.name = new Uint32Array(this.room);
		this.parent = new Uint32Array(this.room);
		this.value = new Float64Array(this.room);
		this.slots = new Uint32Array(2 * this.room);
	}

	grow() {
		const {name, parent, value} = this;

		this.room *= 2;
		this.name = new Uint32Array(this.room);
		this.parent = new Uint32Array(this.room);
		this.value = new Float64Array(this.room);
		this.name.set(name);
		this.parent.set(parent);
		this.value.set(value);
		this.slots = new Uint32Array(2 * this.room);
		for (let node = 1; node < this.n; node++)
			this.slots[this.slotOf(this.parent[node], this.name[node])] = node;
	}

	/** @param {number} parent @param {number} name */
	slotOf(parent, name) {
		const mask = this.slots.length - 1;
		let slot = Math.imul(Math.imul(parent, 0x9e3779b1) ^ Math.imul(name + 1, 0x85ebca6b), 0xc2b2ae35);

		slot = (slot ^ slot >>> 15) & mask;
		for (;; slot = slot + 1 & mask) {
			const node = this.slots[slot];

			if (!node || (this.parent[node] === parent && this.name[node] === name))
				return slot;
		}
	}

	/** The child of this name, made if there is none. Node 0 is the root. @param {number} parent @param {number} name */
	child(parent, name) {
		const slot = this.slotOf(parent, name);

		if (this.slots[slot])
			return this.slots[slot];
		const node = this.n++;
		this.slots[slot] = node;
		this.name[node] = name;
		this.parent[node] = parent;
		if (this.n === this.room)
			this.grow();
		return node;
	}

	/** Nodes in preorder, children by name or the heaviest first. @param {boolean} isHeavy @returns {Tree} */
	tree(isHeavy) {
		const total = Float64Array.from(this.value.subarray(0, this.n));

		for (let node = this.n - 1; node > 0; node--)
			total[this.parent[node]] += total[node];
		return orderedTree(this.n, this.name, this.parent, this.value, total, isHeavy);
	}
}

/**
 * The order of names, by their text.
 * @returns {Uint32Array}
 */
function nameRanks() {
	if (!ranksOfNames) {
		const order = Array.from(data.names.keys());

		order.sort((a, b) => data.names[a] < data.names[b] ? -1 : data.names[a] > data.names[b] ? 1 : a - b);
		ranksOfNames = new Uint32Array(order.length);
		order.forEach((name, i) => ranksOfNames[name] = i);
	}
	return ranksOfNames;
}

/** @type {Uint32Array} */
let ranksOfNames;

/**
 * Most lists of children are short.
 * @param {Uint32Array} list @param {number} from @param {number} to @param {(a: number, b: number) => number} compare
 */
function sortRange(list, from, to, compare) {
	if (to - from > 12) {
		list.subarray(from, to).sort(compare);
		return;
	}
	for (let i = from + 1; i < to; i++) {
		const one = list[i];
		let k = i;

		for (; k > from && compare(list[k - 1], one) > 0; k--)
			list[k] = list[k - 1];
		list[k] = one;
	}
}

/**
 * @param {number} n @param {Uint32Array} name @param {Uint32Array} parent @param {Float64Array} value
 * @param {Float64Array} total @param {boolean} isHeavy
 * @returns {Tree}
 */
function orderedTree(n, name, parent, value, total, isHeavy) {
	const ranks = nameRanks(), first = new Uint32Array(n + 1), children = new Uint32Array(n);

	for (let node = 1; node < n; node++)
		first[parent[node] + 1]++;
	for (let node = 0; node < n; node++)
		first[node + 1] += first[node];
	const at = first.slice();
	for (let node = 1; node < n; node++)
		children[at[parent[node]]++] = node;
	const byName = (/** @type {number} */ a, /** @type {number} */ b) => ranks[name[a]] - ranks[name[b]];
	const byTotal = (/** @type {number} */ a, /** @type {number} */ b) => total[b] - total[a] || byName(a, b);
	for (let node = 0; node < n; node++)
		if (first[node + 1] - first[node] > 1)
			sortRange(children, first[node], first[node + 1], isHeavy ? byTotal : byName);
	const ret = {n: n - 1, name: new Uint32Array(n - 1), depth: new Uint16Array(n - 1), end: new Uint32Array(n - 1),
		sum: new Float64Array(n)};
	let count = 0, node = 0, depth = 0;
	const next = first.slice(), place = new Uint32Array(n);
	for (;;) {
		if (next[node] < first[node + 1]) {
			node = children[next[node]++];
			depth++;
			place[node] = count;
			ret.name[count] = name[node];
			ret.depth[count] = depth;
			ret.sum[count + 1] = ret.sum[count] + value[node];
			count++;
			continue;
		}
		if (!node)
			return ret;
		ret.end[place[node]] = count;
		node = parent[node];
		depth--;
	}
}

/** Each node's parent + 1; 0 is the root. @param {Tree} t */
function parentsOf(t) {
	const parent = new Uint32Array(t.n), open = new Uint32Array(65537);

	for (let i = 0; i < t.n; i++) {
		parent[i] = open[t.depth[i] - 1];
		open[t.depth[i]] = i + 1;
	}
	return parent;
}

/** @param {Tree} t @param {boolean} isHeavy */
function reorder(t, isHeavy) {
	const n = t.n + 1, name = new Uint32Array(n), value = new Float64Array(n), total = new Float64Array(n);
	const parent = new Uint32Array(n);

	parent.set(parentsOf(t), 1);
	name.set(t.name, 1);
	for (let i = 0; i < t.n; i++) {
		value[i + 1] = t.sum[i + 1] - t.sum[i];
		total[i + 1] = t.sum[t.end[i]] - t.sum[i];
	}
	return orderedTree(n, name, parent, value, total, isHeavy);
}

const OUTSIDE = 0xffffffff;

/**
 * Moves each node to where `place` says: below its parent's place, to that place itself (merged), or OUTSIDE (left out).
 * @param {Tree} t @param {boolean} isHeavy
 * @param {(trie: Trie, above: number, node: number) => number} place
 */
function moveNodes(t, isHeavy, place) {
	const trie = new Trie(t.n >> 1), places = new Uint32Array(65537);

	places[0] = 0;
	for (let i = 0; i < t.n; i++) {
		if (t.sum[t.end[i]] <= t.sum[i]) {
			i = t.end[i] - 1;
			continue;
		}
		const to = place(trie, places[t.depth[i] - 1], i);

		places[t.depth[i]] = to;
		if (to !== OUTSIDE)
			trie.value[to] += t.sum[i + 1] - t.sum[i];
	}
	return trie.tree(isHeavy);
}

/**
 * Transforms, by the key that does them. Each makes a tree of a tree, for a name.
 * @type {Object<string, {title: string, of: (t: Tree, name: number, isHeavy: boolean) => Tree}>}
 */
const transforms = {
	f: {title: 'only', of: (t, name, isHeavy) => {
		let inside = 0;
		return moveNodes(t, isHeavy, (trie, above, i) => {
			if (i >= inside) {
				if (t.name[i] !== name)
					return OUTSIDE;
				inside = t.end[i];
				return trie.child(0, name);
			}
			return trie.child(above, t.name[i]);
		});
	}},
	m: {title: 'merged', of: (t, name, isHeavy) => moveNodes(t, isHeavy, (trie, above, i) =>
		t.name[i] === name ? above : trie.child(above, t.name[i]))},
	d: {title: 'without', of: (t, name) => {
		const found = new Uint8Array(data.names.length);

		found[name] = 1;
		return filterStacks(t, found, false);
	}},
	c: {title: 'file as one', of: (t, name, isHeavy) => {
		const dso = data.dsos[name];
		return moveNodes(t, isHeavy, (trie, above, i) =>
			above && data.kinds[t.name[i]] !== KIND_TASK && data.dsos[t.name[i]] === dso
				&& data.kinds[trie.name[above]] !== KIND_TASK && data.dsos[trie.name[above]] === dso
				? above : trie.child(above, t.name[i]));
	}},
	r: {title: 'recursion as one', of: (t, name, isHeavy) => {
		let first = 0, inside = 0;
		return moveNodes(t, isHeavy, (trie, above, i) => {
			if (t.name[i] !== name)
				return trie.child(above, t.name[i]);
			if (i < inside)
				return first;
			inside = t.end[i];
			return first = trie.child(above, name);
		});
	}},
	b: {title: 'callers of', of: (t, name, isHeavy) => invertTree(t, isHeavy, name)},
};

/**
 * Callers below what they called: of all functions, or of one with all below it. Nodes under a 4,000th of the whole keep their callers to
 * themselves: nobody could see them.
 * @param {Tree} t @param {boolean} isHeavy @param {number} [name]
 */
function invertTree(t, isHeavy, name) {
	const parent = parentsOf(t), trie = new Trie(t.n >> 3), least = t.sum[t.n] / 4000;
	let at = new Uint32Array(t.n), to = new Uint32Array(t.n), value = new Float64Array(t.n), n = 0;

	for (let i = 0; i < t.n; i++) {
		const isWhole = name !== undefined && t.name[i] === name;
		const own = isWhole ? t.sum[t.end[i]] - t.sum[i] : t.sum[i + 1] - t.sum[i];

		if (own > 0 && (name === undefined || isWhole)) {
			at[n] = i + 1;
			value[n++] = own;
		}
		if (isWhole)
			i = t.end[i] - 1;
	}
	// A level of callers at a time; trie.value holds totals meanwhile. The first level has the most, and needs no search for children.
	const roots = new Uint32Array(data.names.length);
	for (let level = 0; n; level++) {
		let kept = 0;

		for (let k = 0; k < n; k++) {
			const called = t.name[at[k] - 1];

			to[k] = level ? trie.child(to[k], called) : roots[called] || (roots[called] = trie.child(0, called));
			trie.value[to[k]] += value[k];
		}
		for (let k = 0; k < n; k++) {
			const above = parent[at[k] - 1];

			if (!above || trie.value[to[k]] < least)
				continue;
			at[kept] = above;
			to[kept] = to[k];
			value[kept++] = value[k];
		}
		n = kept;
	}
	const total = trie.value.slice(0, trie.n), own = total.slice();
	for (let node = 1; node < trie.n; node++)
		if (trie.parent[node])
			own[trie.parent[node]] -= total[node];
	for (let node = 1; node < trie.n; node++)
		own[node] = Math.max(0, own[node]);
	return orderedTree(trie.n, trie.name, trie.parent, own, total, isHeavy);
}

/* ---- functions ---- */

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
