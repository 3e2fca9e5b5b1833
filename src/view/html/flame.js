// flame.js - draws a tree on a canvas as tall as what is visible of it. What is narrower than half a pixel is one pixel, whatever is below.

const ROW = 18, FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** Hues of kinds of code, and their saturation. @type {Object<string, [number, number, string]>} */
const KINDS = {
	t: [250, 38, 'thread'],
	u: [12, 78, 'program'],
	l: [45, 80, 'library'],
	k: [205, 62, 'kernel'],
	j: [140, 45, 'JIT'],
	i: [165, 55, 'inlined'],
	'?': [0, 0, 'no name'],
	'!': [285, 45, 'truncated'],
};

/** From much less to much more. */
const CHANGES = ['hsl(212 90% 66%)', 'hsl(212 85% 76%)', 'hsl(212 75% 86%)', 'hsl(0 0% 82%)', 'hsl(8 85% 86%)', 'hsl(8 90% 77%)', 'hsl(8 95% 68%)'];

/** @param {string} text */
function hashOf(text) {
	let hash = 0x811c9dc5;

	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}

/** @param {string} kind @param {number} shade 0 to 7 */
function colourOf(kind, shade) {
	const [hue, saturation] = KINDS[kind] || KINDS.u;

	return `hsl(${hue} ${saturation}% ${66 + 2 * shade}%)`;
}

class Flame {
	/** @param {HTMLElement} pane scrolls @param {HTMLCanvasElement} canvas @param {HTMLElement} filler is as tall as the tree */
	constructor(pane, canvas, filler) {
		this.pane = pane;
		this.canvas = canvas;
		this.filler = filler;
		this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
		/** @type {Tree} */
		this.tree = {n: 0, name: new Uint32Array(0), depth: new Uint16Array(0), end: new Uint32Array(0), sum: new Float64Array(1)};
		this.zoom = -1; // the node that is as wide as the canvas; -1: the root
		this.cursor = -1;
		this.isIcicle = true;
		/** @type {Uint8Array|null} */
		this.marks = null; // by node: found by a search
		this.isStale = false;
		this.title = '';
		this.ink = '';
		this.redrawMs = 0;
		this.levels = 0;
		/** @type {string[]} */
		this.palette = [];
		this.colours = new Uint8Array(0);
		/** By node: 0 the same as before, 1 to 3 more, -1 to -3 less. @type {Int8Array|null} */
		this.change = null;
	}

	/** The colour of each name is chosen once. */
	prepare() {
		const keys = Object.keys(KINDS), shades = 8;

		for (const kind of keys)
			for (let shade = 0; shade < shades; shade++)
				this.palette.push(colourOf(kind, shade));
		this.colours = new Uint8Array(data.names.length);
		for (let i = 0; i < data.names.length; i++)
			this.colours[i] = Math.max(0, keys.indexOf(String.fromCharCode(data.kinds[i]))) * shades
				+ hashOf(data.names[i]) % shades;
	}

	/** @param {Tree} tree */
	show(tree) {
		this.tree = tree;
		this.zoom = this.cursor = -1;
		this.change = null;
		this.measure();
	}

	/** From what to what value the canvas reaches. */
	range() {
		const {tree, zoom} = this;

		return zoom < 0 ? [0, tree.sum[tree.n]] : [tree.sum[zoom], tree.sum[tree.end[zoom]]];
	}

	/** Rows: of the zoomed part, as deep as it has anything that is wide enough to be seen. */
	measure() {
		const {tree, zoom} = this, [from, to] = this.range(), least = (to - from) / Math.max(1, this.width()) / 2;
		let deepest = zoom < 0 ? 0 : tree.depth[zoom];
		const last = zoom < 0 ? tree.n : tree.end[zoom];

		for (let i = zoom < 0 ? 0 : zoom; i < last;) {
			if (tree.sum[tree.end[i]] - tree.sum[i] < least) {
				i = tree.end[i];
				continue;
			}
			deepest = Math.max(deepest, tree.depth[i]);
			i++;
		}
		this.levels = deepest + 1;
		this.filler.style.height = `${this.levels * ROW}px`;
	}

	width() {
		return this.pane.clientWidth;
	}

	height() {
		return this.pane.clientHeight;
	}

	/** The row's upper edge, on the canvas. @param {number} depth */
	top(depth) {
		return this.tops()(depth);
	}

	/** The same for many rows. To ask the pane makes browsers lay out the page, which costs more than drawing a frame. */
	tops() {
		const {isIcicle} = this, scrolled = this.pane.scrollTop, tall = Math.max(this.levels * ROW, this.height());

		return (/** @type {number} */ depth) => (isIcicle ? depth * ROW : tall - (depth + 1) * ROW) - scrolled;
	}

	/** @param {number} y */
	depthAt(y) {
		const tall = Math.max(this.levels * ROW, this.height()), at = y + this.pane.scrollTop;

		return Math.floor((this.isIcicle ? at : tall - at) / ROW);
	}

	later() {
		if (this.isStale)
			return;
		this.isStale = true;
		requestAnimationFrame(() => this.draw());
	}

	draw() {
		const began = performance.now(), ratio = devicePixelRatio || 1, wide = this.width(), tall = this.height();
		const {canvas, context: g} = this;

		this.isStale = false;
		if (!wide || !tall)
			return;
		if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
			canvas.width = Math.round(wide * ratio);
			canvas.height = Math.round(tall * ratio);
			canvas.style.width = `${wide}px`;
			canvas.style.height = `${tall}px`;
		}
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, wide, tall);
		g.font = FONT;
		g.textBaseline = 'middle';
		this.letter = this.letter || g.measureText('mmmmmmmmmm').width / 10;
		this.ink = getComputedStyle(this.pane).color;
		const top = this.tops(), texts = this.drawBoxes(wide, tall, top);
		g.fillStyle = '#111';
		for (let k = 0; k < texts.length; k += 3)
			this.drawText(texts[k], texts[k + 1], texts[k + 2], wide, tall, top);
		this.drawCursor();
		this.redrawMs = performance.now() - began;
	}

	/** Draws what is zoomed to, and what is above it. Returns nodes that have room for text: node, left edge, width.
	 * @param {number} wide @param {number} tall @param {(depth: number) => number} top */
	drawBoxes(wide, tall, top) {
		const {tree, zoom, context: g, colours, palette, marks, change} = this, [from, to] = this.range(), scale = wide / (to - from);
		const texts = /** @type {number[]} */ ([]), last = zoom < 0 ? tree.n : tree.end[zoom], seen = new Float64Array(this.levels + 2).fill(-1);
		// Rows beyond the far edge have nothing visible below them.
		const deepest = this.isIcicle ? this.depthAt(tall) : this.depthAt(0);
		let fill = '', alpha = 1;

		if (!(to > from))
			return texts;
		for (let i of this.above(zoom))
			texts.push(i, 0, wide);
		this.box(0, 0, wide, '', marks ? '#8885' : '#8884');
		for (let k = 0; k < texts.length; k += 3)
			this.box(tree.depth[texts[k]], 0, wide, change ? CHANGES[3 + change[texts[k]]] : palette[colours[tree.name[texts[k]]]],
				'#0002');
		for (let i = Math.max(zoom, 0); i < last;) {
			const x = (tree.sum[i] - from) * scale, w = (tree.sum[tree.end[i]] - from) * scale - x, depth = tree.depth[i];

			if (depth > deepest || !(w > 0)) {
				i = tree.end[i];
				continue;
			}
			const y = top(depth), isSmall = w < 0.5, pixel = Math.floor(x);

			if (y > -ROW && y < tall && !(isSmall && seen[depth] === pixel)) {
				const name = tree.name[i], isFound = marks && marks[i];
				const colour = isFound ? '#e6007e' : change ? CHANGES[3 + change[i]] : palette[colours[name]];

				const strength = marks && !isFound ? 0.45 : 1;

				if (strength !== alpha)
					g.globalAlpha = alpha = strength;
				if (colour !== fill)
					g.fillStyle = fill = colour;
				if (isSmall)
					g.fillRect(pixel, y, 1, ROW - 1);
				else
					g.fillRect(x, y, w > 2 ? w - 0.6 : w, ROW - 1);
				// Not by colour alone: more has a bar above, less a dashed one below.
				if (change && change[i] && w > 3) {
					g.fillStyle = fill = '#0008';
					if (change[i] > 0)
						g.fillRect(x, y, w - 0.6, 2);
					for (let at = x; change[i] < 0 && at < x + w - 3; at += 6)
						g.fillRect(at, y + ROW - 3, 3, 2);
				}
				if (w > 24)
					texts.push(i, x, w);
				seen[depth] = isSmall ? pixel : -1;
			}
			i = isSmall ? tree.end[i] : i + 1;
		}
		g.globalAlpha = 1;
		return texts;
	}

	/** @param {number} depth @param {number} x @param {number} w @param {string} colour @param {string} shade */
	box(depth, x, w, colour, shade) {
		const y = this.top(depth);

		if (y <= -ROW || y >= this.height())
			return;
		for (const style of [colour, shade])
			if (style) {
				this.context.fillStyle = style;
				this.context.fillRect(x, y, w, ROW - 1);
			}
		if (!colour) {
			this.context.fillStyle = this.ink;
			this.context.fillText(this.title, 4, y + ROW / 2, w - 8);
		}
	}

	/** @param {number} node @param {number} x @param {number} w @param {number} wide @param {number} tall @param {(depth: number) => number} top */
	drawText(node, x, w, wide, tall, top) {
		const y = top(this.tree.depth[node]), name = this.tree.name[node];
		const left = Math.max(x, 0), room = Math.floor((Math.min(x + w, wide) - left - 6) / (this.letter || 7));

		if (y <= -ROW || y >= tall || room < 2)
			return;
		const mark = this.change ? Math.sign(this.change[node]) : 0;
		const text = (mark > 0 ? '\u25b2 ' : mark < 0 ? '\u25bc ' : '') + data.names[name], isFound = this.marks && this.marks[node];

		if (isFound)
			this.context.fillStyle = '#fff';
		else if (this.marks)
			this.context.fillStyle = this.ink;
		this.context.fillText(text.length <= room ? text : text.slice(0, room - 1) + '\u2026', left + 3, y + ROW / 2);
		if (this.marks)
			this.context.fillStyle = '#111';
	}

	drawCursor() {
		const box = this.cursor >= 0 && this.place(this.cursor);

		if (!box)
			return;
		const [x, w] = box, g = this.context;

		g.lineWidth = 2;
		g.strokeStyle = this.ink;
		g.strokeRect(x + 1, this.top(this.tree.depth[this.cursor]) + 1, Math.max(2, w - 2), ROW - 3);
	}

	/** The left edge and the width of a node, or null if it is not in the zoomed part. @param {number} i @returns {[number, number]|null} */
	place(i) {
		const {tree, zoom} = this, [from, to] = this.range(), scale = this.width() / (to - from);

		if (zoom >= 0 && i < zoom && tree.end[i] >= tree.end[zoom])
			return [0, this.width()];
		if (zoom >= 0 && (i < zoom || i >= tree.end[zoom]))
			return null;
		return [(tree.sum[i] - from) * scale, (tree.sum[tree.end[i]] - tree.sum[i]) * scale];
	}

	/** The node's callers, outermost first. @param {number} node */
	above(node) {
		const path = [];

		for (let i = this.parent(node); i >= 0; i = this.parent(i))
			path.unshift(i);
		return path;
	}

	/** -1: the root. @param {number} node */
	parent(node) {
		if (node < 0)
			return -1;
		return parentsOf(this.tree)[node] - 1;
	}

	/** The node at a place of the canvas; -1: the root, -2: none. @param {number} x @param {number} y */
	at(x, y) {
		const {tree, zoom} = this, depth = this.depthAt(y), [from, to] = this.range();
		const value = from + x / this.width() * (to - from);

		if (depth === 0)
			return -1;
		if (depth < 0 || !tree.n)
			return -2;
		if (zoom >= 0 && depth < tree.depth[zoom])
			return this.above(zoom)[depth - 1];
		for (let i = Math.max(zoom, 0); i < tree.n;) {
			if (tree.sum[i] > value)
				return -2;
			if (tree.sum[tree.end[i]] <= value)
				i = tree.end[i];
			else if (tree.depth[i] === depth)
				return i;
			else
				i++;
		}
		return -2;
	}

	/** Scrolls so that a node's row can be seen. @param {number} depth */
	reveal(depth) {
		const y = this.top(depth);

		if (y < ROW || y > this.height() - 2 * ROW)
			this.pane.scrollTop += y - this.height() / 2;
	}

	/** @param {number} node */
	zoomTo(node) {
		this.zoom = node;
		this.measure();
		this.pane.scrollTop = this.isIcicle ? 0 : this.pane.scrollHeight;
		if (node >= 0)
			this.reveal(this.tree.depth[node]);
		this.later();
	}
}
