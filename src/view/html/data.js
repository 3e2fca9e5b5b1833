// data.js - from the page's chunks to columns.

/**
 * Reads numbers of 7 bits a byte, from a place on. Returns where they end. Beyond 2^53 numbers lose their last digits.
 * @param {Uint8Array} bytes @param {number} at @param {Uint8Array|Uint32Array|Float64Array} into
 */
function readColumn(bytes, at, into) {
	for (let i = 0; i < into.length; i++) {
		let byte = bytes[at++], value = byte & 127, scale = 128;

		while (byte > 127) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
			scale *= 128;
		}
		into[i] = value;
	}
	return at;
}

/**
 * Reads numbers from the beginning on.
 * @template {Uint8Array|Uint32Array|Float64Array} T
 * @param {Uint8Array} bytes @param {T} into
 */
function readNumbers(bytes, into) {
	readColumn(bytes, 0, into);
	return into;
}

/**
 * A tree: nodes in preorder. sum[i] is the value of all nodes before i, so a node's total is sum[end[i]] - sum[i].
 * @typedef {{n: number, name: Uint32Array, depth: Uint16Array, end: Uint32Array, sum: Float64Array, parent?: Uint32Array}} Tree
 * @typedef {{name: string, samples: number, period: number, time: boolean, common: number}} Event_
 * @typedef {{version: number, title: string, nodes: number, depth: number, events: Event_[], facts: string[][], dsos: string[],
 *   files: string[]}} About
 */

/** All that the file holds. */
const data = {
	about: /** @type {About} */ (/** @type {any} */ (null)),
	names: /** @type {string[]} */ ([]),
	kinds: new Uint8Array(0),
	dsos: new Uint32Array(0),
	files: new Uint32Array(0), // the number of a source file, from 1
	ledger: '',
	// Of a page that compares recordings; an event is followed by its baseline.
	sides: /** @type {{events: {has_variance: boolean, factor: number}[]}|null} */ (null),
	name: new Uint32Array(0),
	depth: new Uint16Array(0),
	end: new Uint32Array(0),
	sums: /** @type {Float64Array[]} */ ([]),
	parent: /** @type {Uint32Array|undefined} */ (undefined),
};

/**
 * The end of each node's subtree follows from the depths.
 * @param {Uint16Array} depth @param {number} n
 */
function endsOf(depth, n) {
	const end = new Uint32Array(n), open = new Uint32Array(65536);
	let level = 0;

	for (let i = 0; i < n; i++) {
		while (level >= depth[i])
			end[open[level--]] = i;
		open[++level] = i;
	}
	while (level > 0)
		end[open[level--]] = n;
	return end;
}

async function loadData() {
	const chunks = await Promise.all([textOfChunk('about'), textOfChunk('names'), inflateChunk('places'),
		inflateChunk('ups'), inflateChunk('nodes'), textOfChunk('ledger')]);
	const about = data.about = JSON.parse(chunks[0]), n = about.nodes;

	if (hasChunk('sides')) {
		data.sides = JSON.parse(await textOfChunk('sides'));
		data.about.events.forEach((event, i) => event.name += i & 1 ? ' (before)' : ' (after)');
	}
	data.names = chunks[1].split('\n');
	data.names.pop();
	data.ledger = chunks[5];
	const places = readNumbers(chunks[2], new Uint32Array(3 * data.names.length));
	data.kinds = new Uint8Array(data.names.length);
	data.dsos = new Uint32Array(data.names.length);
	data.files = new Uint32Array(data.names.length);
	for (let i = 0; i < data.names.length; i++) {
		data.kinds[i] = places[3 * i];
		data.dsos[i] = places[3 * i + 1];
		data.files[i] = places[3 * i + 2];
	}
	const ups = readNumbers(chunks[3], new Uint32Array(n));
	data.name = readNumbers(chunks[4], new Uint32Array(n));
	data.depth = new Uint16Array(n);
	for (let i = 0, before = 0; i < n; i++)
		data.depth[i] = before = before + 1 - ups[i];
	data.end = endsOf(data.depth, n);
}

/** The values of an event: sums over the nodes before each. @param {number} event @returns {Promise<Float64Array>} */
async function sumsOf(event) {
	if (!data.sums[event]) {
		const sum = new Float64Array(data.about.nodes + 1), bytes = await inflateChunk('period' + event);
		readNumbers(bytes, sum.subarray(1));
		for (let i = 1; i < sum.length; i++)
			sum[i] += sum[i - 1];
		data.sums[event] = sum;
	}
	return data.sums[event];
}

/** The tree with these values. @param {Float64Array} sum @returns {Tree} */
function wholeTree(sum) {
	const tree = {n: data.about.nodes, name: data.name, depth: data.depth, end: data.end, sum, parent: data.parent};

	data.parent = parentsOf(tree);
	return tree;
}
