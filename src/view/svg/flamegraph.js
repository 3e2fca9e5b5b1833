// flamegraph.js - searches, zooms and reorders the boxes of an SVG of view/svg/flamegraph.c. All that it needs is in the picture; all that is chosen is in the address.
(() => {
	'use strict';
	const ROW = 18, MARGIN = 10, LINE = 16, BAR = 8, CONTROLS = 48, LEAST = 29, FOUND = '#e6007e';
	const script = document.currentScript, svg = /** @type {SVGSVGElement} */ (script && script.closest('svg') || document.documentElement);
	const HTML = 'http://www.w3.org/1999/xhtml', SVG = 'http://www.w3.org/2000/svg';

	/** @param {string} what @returns {any} */
	const get = what => svg.querySelector(what);
	/** @param {string} what @returns {any[]} */
	const all = what => [...svg.querySelectorAll(what)];
	/** @param {Element} at @param {Object<string, any>} values */
	const set = (at, values) => {
		for (const name in values)
			if (at.getAttribute(name) !== `${values[name]}`)
				at.setAttribute(name, values[name]);
		return at;
	};
	/** @param {string} space @param {string} name @param {Object<string, any>} values @param {(Node|string)[]} below @returns {any} */
	const make = (space, name, values, ...below) => {
		const at = set(document.createElementNS(space, name), values);

		at.append(...below);
		return at;
	};

	const graph = get('#graph'), labels = get('#labels'), rects = all('#boxes rect'), n = rects.length;
	const levels = +graph.dataset.levels, isFixed = !!graph.dataset.fixed;
	const first = {z: 0, s: '', o: graph.dataset.order, w: graph.dataset.way};
	const state = {...first};

	// ---- what the picture says ----

	const value = rects.map(rect => +rect.dataset.v), fill = rects.map(rect => rect.getAttribute('fill'));
	const lines = rects.map(rect => rect.querySelector('title').textContent.split('\n'));
	const isRest = rects.map(rect => !!rect.dataset.n), isMany = rects.map(rect => rect.dataset.n > 1);
	const depth = rects.map(rect => {
		const row = Math.round(+rect.getAttribute('y') / ROW);

		return first.w === 'icicle' ? row : levels - 1 - row;
	});
	const parent = new Int32Array(n).fill(-1), left = new Float64Array(n), at = new Int32Array(n);
	/** @type {number[][]} */
	const children = rects.map(() => []);
	for (let i = 1, path = [0]; i < n; i++) {
		path.length = depth[i];
		parent[i] = path[depth[i] - 1];
		children[parent[i]].push(i);
		path.push(i);
	}
	const names = lines.map((line, i) => (rects[i].dataset.s ? rects[i].dataset.s + ' ' : '') + line[0]
		+ (isRest[i] || !i ? (i ? ', ' : ' ') + share(value[i]) : ''));
	// Boxes are in preorder: what is inside of one follows it.
	const end = Int32Array.from(rects, (_, i) => i + 1);
	for (let i = n - 1; i > 0; i--)
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
	const inside = (/** @type {number} */ i, /** @type {number} */ of) => i >= of && i < end[of];

	/** As much of a text as fits into so many columns; most letters from U+1100 on take two. @param {string} text @param {number} room */
	function fitting(text, room) {
		let taken = 0, end = 0, short = 0;

		for (const letter of text) {
			const code = /** @type {number} */ (letter.codePointAt(0));

			taken += code >= 0x1100 && (code < 0x2000 || code >= 0x2e80) ? 2 : 1;
			if (taken > room)
				return text.slice(0, short) + '\u2026';
			end += letter.length;
			short = taken < room ? end : short;
		}
		return text;
	}

	/** @param {number} part */
	function share(part) {
		return `${(value[0] ? 100 * part / value[0] : 0).toFixed(2)}%`;
	}

	let arranged = '';

	/** Left edges, in the order that is chosen; what is merged is last. */
	function arrange() {
		if (arranged === state.o)
			return;
		arranged = state.o;
		const order = (/** @type {number} */ a, /** @type {number} */ b) => +isRest[a] - +isRest[b]
			|| (state.o === 'heaviest' ? value[b] - value[a] : 0) || (lines[a][0] < lines[b][0] ? -1 : +(lines[a][0] > lines[b][0])) || a - b;
		let place = 0;

		for (const stack = [0]; stack.length;) {
			const i = /** @type {number} */ (stack.pop()), below = children[i].sort(order);
			let x = left[i];

			at[place++] = i;
			for (const child of below) {
				left[child] = x;
				x += value[child];
			}
			stack.push(...below.slice().reverse());
		}
	}

	// ---- what is searched ----

	/** @type {boolean[]} */
	let found = [];
	let status = '';

	/** The parts of a search between separators that stand in no group or class of a regular expression. @param {string} text @param {RegExp} separator */
	function split(text, separator) {
		const parts = [''];
		let depth = 0, inClass = false;

		for (let i = 0; i < text.length; i++) {
			const c = text[i];

			if (c === '\\') {
				parts[parts.length - 1] += c + (text[++i] || '');
				continue;
			}
			if (inClass || c === '[')
				inClass = c !== ']';
			else
				depth = Math.max(0, depth + +(c === '(') - +(c === ')'));
			if (!depth && !inClass && separator.test(c))
				parts.push('');
			else
				parts[parts.length - 1] += c;
		}
		return parts.filter(Boolean);
	}

	/** A word of a search: a regular expression, or a plain text if it is none; capitals count if there are any. @param {string} word */
	function termOf(word) {
		const [, field, text] = /** @type {RegExpExecArray} */ (/^((?:dso|file|thread):)?(.*)$/.exec(word));
		const flags = /\p{Lu}/u.test(text) ? '' : 'i';
		let regexp;

		try {
			regexp = new RegExp(text, flags);
		} catch {
			regexp = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags);
		}
		return (/** @type {number} */ i) => {
			const isThread = lines[i][1] === 'thread';

			return field && field !== 'thread:' ? !isThread && regexp.test(lines[i][1]) : (!field || isThread) && regexp.test(lines[i][0]);
		};
	}

	/** Words are all wanted; after a '|' come others. @param {string} text */
	function search(text) {
		const choices = split(text, /\|/).map(part => split(part, /\s/).map(termOf)).filter(terms => terms.length);
		let sum = 0, count = 0, hidden = 0;
		const covered = new Uint8Array(n);

		found = choices.length ? rects.map((_, i) => i > 0 && !isMany[i] && choices.some(terms => terms.every(test => test(i)))) : [];
		for (let i = 1; choices.length && i < n; i++) {
			covered[i] = +(covered[parent[i]] || found[i]);
			count += +found[i];
			sum += found[i] && !covered[parent[i]] ? value[i] : 0;
			hidden += isRest[i] && !covered[i] ? value[i] : 0;
		}
		status = choices.length ? `${share(sum)} in ${count} ${count === 1 ? 'box' : 'boxes'}`
			+ (hidden ? `; what is merged may have up to ${share(hidden)} more` : '') : '';
	}

	// ---- drawing ----

	let width = 0, top = 0, tall = levels, letter = 7.3, cursor = -1;
	const frame = make(SVG, 'rect', {fill: 'none', stroke: '#000', 'stroke-width': 2, 'pointer-events': 'none', visibility: 'hidden'});
	graph.append(frame);

	/** Breaks a paragraph into lines, from what its lines were. @param {any} text @param {number} y @param {number} wide */
	function wrap(text, y, wide) {
		text.whole = text.whole || [...text.childNodes].map(line => line.textContent).join(' ');
		const most = Math.max(8, Math.floor((width - MARGIN) / wide)), rows = [''];
		for (let word of text.whole.split(' ')) {
			if (rows[rows.length - 1] && rows[rows.length - 1].length + 1 + word.length > most)
				rows.push('');
			for (; word.length > most; word = word.slice(most))
				rows.splice(-1, 1, word.slice(0, most), '');
			rows[rows.length - 1] += (rows[rows.length - 1] ? ' ' : '') + word;
		}
		text.replaceChildren(...rows.map((row, i) => make(SVG, 'tspan', {x: MARGIN, y: y + (i + 1) * LINE}, row)));
		return y + rows.length * LINE;
	}

	/** The lines above and below the graph, in the width that there is. */
	function drawFrame() {
		const lost = get('#lost');
		let y = 6, x = MARGIN;

		for (const text of all('#head > text'))
			y = wrap(text, y, +(text.getAttribute('font-size') || 12) / 12 * letter);
		y += LINE + 4;
		for (const swatch of all('#legend > g')) {
			const wide = 22 + letter * swatch.textContent.length;

			if (x > MARGIN && x + wide > width) {
				x = MARGIN;
				y += LINE;
			}
			swatch.setAttribute('transform', `translate(${x},${y})`);
			x += wide + 8;
		}
		if (lost) {
			y += LINE + 4;
			lost.firstChild.setAttribute('y', y);
			set(lost.lastChild, {y: y + 4, width: Math.max(2, width * lost.dataset.share)});
			y += 4 + BAR;
		}
		top = y + 12 + CONTROLS;
		y = top + tall * ROW + 4;
		graph.setAttribute('transform', `translate(${MARGIN},${top})`);
		for (const text of all('#foot > text'))
			y = wrap(text, y, letter);
		svg.setAttribute('height', `${y + 12}`);
		set(controls, {width: width + 2 * MARGIN, height: CONTROLS + 2});
		follow();
	}

	const topOf = (/** @type {number} */ i) => ROW * (state.w === 'icicle' ? depth[i] : tall - 1 - depth[i]);

	/** Where a box is: left edge and width, or null if it is not in the part that is zoomed to. @param {number} i @returns {[number, number]|null} */
	function place(i) {
		const z = state.z, scale = value[z] ? width / value[z] : 0;

		if (inside(z, i))
			return [0, width];
		return inside(i, z) ? [(left[i] - left[z]) * scale, value[i] * scale] : null;
	}

	function draw() {
		const texts = [];
		let deepest = 0;

		// As tall as what is shown is deep.
		for (let i = 0; i < n; i++)
			deepest = place(i) ? Math.max(deepest, depth[i]) : deepest;
		if (tall !== deepest + 1) {
			tall = deepest + 1;
			drawFrame();
		}

		for (let i = 0; i < n; i++) {
			const box = place(i), rect = rects[i];

			if (!box) {
				rect.setAttribute('display', 'none');
				continue;
			}
			const [x, wide] = box, isPale = found.length ? !found[i] : i !== state.z && inside(state.z, i);

			rect.removeAttribute('display');
			set(rect, {x: x.toFixed(2), y: topOf(i), width: Math.max(0, wide > 2 ? wide - 0.5 : wide).toFixed(2),
				fill: found[i] ? FOUND : fill[i], opacity: isPale ? 0.5 : 1});
			const room = Math.floor((wide - 6) / letter);

			if (wide >= LEAST && room > 1)
				texts.push(make(SVG, 'text', {x: (x + 3).toFixed(2), y: topOf(i) + 13, ...found[i] ? {fill: '#fff'} : isPale ? {class: 'ink'} : {}},
					fitting(names[i], room)));
		}
		labels.replaceChildren(...texts);
		const box = cursor >= 0 && place(cursor);
		frame.setAttribute('visibility', box ? 'visible' : 'hidden');
		if (box)
			set(frame, {x: box[0] + 1, y: topOf(cursor) + 1, width: Math.max(2, box[1] - 2), height: ROW - 3});
		say();
	}

	/** Says what a box is; else what was found, or where the zoom is. @param {number} [i] */
	function say(i = cursor) {
		const path = [];

		for (let k = state.z; k >= 0; k = parent[k])
			path.unshift(lines[k][0]);
		output.textContent = i >= 0 ? lines[i].filter(Boolean).join(' \u00b7 ') : status || (state.z ? path.join(' \u203a ') : 'click: zoom, ?: keys');
	}

	// ---- what is chosen ----

	function read() {
		const words = new URLSearchParams(location.hash.slice(1)), z = parseInt(words.get('z') || '0', 10);

		state.z = z > 0 && z < n ? z : 0;
		state.s = words.get('s') || first.s;
		state.o = ['name', 'heaviest'].includes(words.get('o') || '') ? words.get('o') : first.o;
		state.w = ['flame', 'icicle'].includes(words.get('w') || '') ? words.get('w') : first.w;
	}

	/** @param {boolean} isStep the back button undoes it */
	function write(isStep) {
		const words = new URLSearchParams();

		for (const key of /** @type {('z'|'s'|'o'|'w')[]} */ (['z', 's', 'o', 'w']))
			if (state[key] !== first[key])
				words.set(key, `${state[key]}`);
		const hash = '#' + words;
		if (hash === (location.hash || '#'))
			return;
		try {
			history[isStep ? 'pushState' : 'replaceState'](null, '', hash);
		} catch (e) {
			location.hash = hash;
		}
	}

	function show() {
		search(state.s);
		if (input.value !== state.s)
			input.value = state.s;
		buttons.o.textContent = `Order: ${state.o}`;
		buttons.w.textContent = state.w === 'flame' ? 'Flame' : 'Icicle';
		arrange();
		draw();
	}

	/** @param {Object<string, any>} change @param {boolean} [isStep] */
	function choose(change, isStep) {
		Object.assign(state, change);
		write(!!isStep);
		show();
	}

	/** @param {number} i */
	function zoom(i) {
		cursor = -1;
		choose({z: i}, true);
	}

	function reset() {
		cursor = -1;
		choose({z: 0, s: '', o: first.o, w: first.w}, true);
	}

	/** Puts the cursor on a box, zooming out or in if it cannot be seen. @param {number} i */
	function go(i) {
		if (!place(i))
			state.z = 0;
		const box = place(i);

		cursor = i;
		if (box && box[1] < 3)
			state.z = parent[i] >= 0 && value[i] * 20 < value[parent[i]] ? i : Math.max(parent[i], 0);
		write(true);
		draw();
		const y = top + topOf(i);
		if (y < scrollY + CONTROLS || y > scrollY + innerHeight - ROW)
			scrollTo(scrollX, y - innerHeight / 2);
	}

	/** @param {number} way */
	function jump(way) {
		const order = [...at].filter(i => found[i]);
		const here = order.indexOf(cursor);

		if (order.length)
			go(order[here < 0 ? way > 0 ? 0 : order.length - 1 : (here + way + order.length) % order.length]);
	}

	/** @param {number} way */
	function aside(way) {
		const near = cursor > 0 ? children[parent[cursor]] : [], next = near[near.indexOf(cursor) + way];

		if (next !== undefined)
			go(next);
	}

	// ---- keys and buttons ----

	const KEYS = '/ search (dso: files, thread: threads) \u00b7 n N next match \u00b7 arrows, Enter: walk, zoom \u00b7 o order \u00b7 i icicle or flame \u00b7 u zoom out \u00b7 Esc reset';
	const other = () => choose({o: state.o === 'name' ? 'heaviest' : 'name'});
	const turn = () => { choose({w: state.w === 'flame' ? 'icicle' : 'flame'}); settle(); };
	const up = () => go(Math.max(0, parent[Math.max(cursor, 0)])), down = () => go(cursor < 0 ? state.z : (children[cursor][0] || cursor));
	/** @type {Object<string, () => void>} */
	const keys = {
		'/': () => input.focus(), n: () => jump(1), N: () => jump(-1), o: other, i: turn, Escape: reset, u: () => zoom(Math.max(0, parent[state.z])),
		ArrowUp: () => state.w === 'flame' ? down() : up(), ArrowDown: () => state.w === 'flame' ? up() : down(),
		ArrowLeft: () => aside(-1), ArrowRight: () => aside(1), Enter: () => cursor >= 0 && zoom(cursor), '?': () => { output.textContent = KEYS; },
	};
	const input = make(HTML, 'input', {type: 'search', placeholder: 'Search', 'aria-label': 'Search'});
	/** @param {string} text @param {() => void} act */
	const button = (text, act) => {
		const made = make(HTML, 'button', {type: 'button'}, text);

		made.addEventListener('click', act);
		return made;
	};
	const buttons = {o: button('', other), w: button('', turn), r: button('Reset', reset)};
	const output = make(HTML, 'output', {'aria-live': 'polite'});
	const controls = make(SVG, 'foreignObject', {id: 'controls'},
		make(HTML, 'div', {class: 'bar'}, make(HTML, 'div', {}, input, buttons.r, buttons.o, buttons.w), output));
	svg.append(controls);

	input.addEventListener('input', () => choose({s: input.value}));
	input.addEventListener('keydown', (/** @type {KeyboardEvent} */ e) => {
		e.stopPropagation();
		if (e.key === 'Escape' || e.key === 'Enter')
			input.blur();
		if (e.key === 'Enter')
			jump(1);
	});
	addEventListener('keydown', e => {
		if (e.ctrlKey || e.altKey || e.metaKey || !keys[e.key] || e.key === 'Enter' && document.activeElement && document.activeElement.localName === 'button')
			return;
		e.preventDefault();
		keys[e.key]();
	});
	const boxOf = (/** @type {any} */ e) => rects.indexOf(e.target.closest('rect'));
	get('#boxes').addEventListener('click', (/** @type {Event} */ e) => zoom(Math.max(0, boxOf(e))));
	get('#boxes').addEventListener('mouseover', (/** @type {Event} */ e) => say(boxOf(e)));
	get('#boxes').addEventListener('mouseleave', () => say());

	/** The controls stay in sight. */
	function follow() {
		set(controls, {x: 0, y: Math.max(top - CONTROLS - 2, scrollY || 0)});
	}

	/** Shows where stacks begin. */
	function settle() {
		if (state.w === 'flame' && top + tall * ROW > innerHeight)
			scrollTo(0, top + tall * ROW - innerHeight + 2 * ROW);
		else if (scrollY > top)
			scrollTo(0, 0);
	}

	function fit() {
		if (!isFixed) {
			svg.removeAttribute('viewBox');
			svg.setAttribute('width', '100%');
			// The height first: it decides whether there is a bar to scroll with.
			width = Math.max(220, (svg.clientWidth || innerWidth) - 2 * MARGIN);
			drawFrame();
		}
		width = Math.max(220, (svg.clientWidth || innerWidth) - 2 * MARGIN);
		drawFrame();
		draw();
	}

	const probe = make(SVG, 'text', {visibility: 'hidden'}, 'mmmmmmmmmm');
	svg.append(probe);
	letter = probe.getComputedTextLength() / 10 || letter;
	probe.remove();
	read();
	show();
	fit();
	settle();
	addEventListener('resize', fit);
	addEventListener('scroll', follow);
	addEventListener('hashchange', () => { read(); show(); });
	addEventListener('popstate', () => { read(); show(); });
	svg.dataset.ready = '1';
})();
