// timechart.js - what a timechart can do where scripts run: zooming and moving along the axis of time, and saying which interval is under the pointer.
'use strict';
(() => {
	const root = document.documentElement, get = id => document.getElementById(id);
	const plot = get('plot'), lanes = get('lanes'), axis = get('axis'), readout = get('readout');
	const tick = +root.dataset.tick, span = Math.max(1, (root.dataset.end - root.dataset.begin) / tick);
	const left = plot.x.baseVal.value, top = plot.y.baseVal.value, width = plot.width.baseVal.value, height = plot.height.baseVal.value;
	const labels = [...get('labels').children].map(text => ({text, at: text.dataset.x / width * span}));
	const names = {r: 'Running', h: 'Running', i: 'Idle', d: 'Deeper Idle', e: 'Deepest Idle', s: 'Sleeping', w: 'Waiting for CPU', b: 'Blocked on IO',
		disk: 'disk', net: 'net', sync: 'sync', poll: 'poll', error: 'error'};
	const step = 0.1;
	let from = 0, to = span, dragged = null;

	function make(name, attributes, text) {
		const element = document.createElementNS('http://www.w3.org/2000/svg', name);
		for (const key in attributes)
			element.setAttribute(key, attributes[key]);
		element.textContent = text || '';
		return element;
	}

	function timeText(ns, digits) {
		const units = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']];
		const [size, unit] = units.find(([size]) => Math.abs(ns) >= size) || units[3];
		return ns ? `${+(ns / size).toFixed(digits)} ${unit}` : '0';
	}

	function drawAxis() {
		const visible = (to - from) * tick;
		let round = 10 ** Math.floor(Math.log10(visible / 10));
		round *= [1, 2, 5, 10].find(n => visible / (round * n) <= 10);
		round = Math.max(round, 1);
		const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(round))));
		axis.replaceChildren();
		for (let at = Math.ceil(from * tick / round) * round; at <= to * tick; at += round) {
			const x = left + (at / tick - from) / (to - from) * width;
			axis.append(make('path', {class: 'grid', d: `M${x} ${top - 8}V${top + height}`}));
			if (x < left + width - 30)
				axis.append(make('text', {class: 'dim', x: x + 2, y: top - 4}, timeText(at, Math.min(digits, 6))));
		}
	}

	function show(a, b) {
		const size = Math.min(span, Math.max(b - a, Math.min(span, 20)));
		from = Math.max(0, Math.min(a, span - size));
		to = from + size;
		const scale = width / size;
		lanes.setAttribute('transform', `translate(${-from * scale} 0) scale(${scale} 1)`);
		root.classList.toggle('zoomed', span / size > 1.9);
		for (const {text, at} of labels)
			text.setAttribute('x', (at - from) * scale + 2);
		drawAxis();
	}

	function zoom(factor, x) {
		const at = from + (to - from) * x;
		show(at - (at - from) * factor, at + (to - at) * factor);
	}

	const move = share => show(from + (to - from) * share, to + (to - from) * share);

	/* The pointer's place in the plot, 0 to 1. */
	function placeOf(event) {
		const matrix = root.getScreenCTM();
		return ((event.clientX - matrix.e) / matrix.a - left) / width;
	}

	/* The interval of a path that has this tick. */
	function intervalAt(path, at) {
		let x = 0;
		for (const [, command, number] of path.getAttribute('d').matchAll(/([Mmh])(-?[\d.]+)/g)) {
			const before = x;
			x = command === 'M' ? +number : x + +number;
			if (command === 'h' && before <= at && at <= x)
				return [before, x];
		}
		return null;
	}

	function nameOf(lane) {
		if (lane.dataset.cpu)
			return `CPU ${lane.dataset.cpu}`;
		const name = get(`row${lane.dataset.row}`);
		return name ? name.lastChild.textContent : '';
	}

	function point(event) {
		const path = event.target, name = names[path.getAttribute('class')], lane = path.closest('[data-cpu],[data-row]');
		const found = name && path.tagName === 'path' && intervalAt(path, from + (to - from) * placeOf(event));
		readout.textContent = found
			? `${lane ? nameOf(lane) + ': ' : ''}${name} for ${timeText((found[1] - found[0]) * tick, 6)} from ${timeText(found[0] * tick, 9)}` : '';
	}

	const keys = {w: () => zoom(0.5, 0.5), s: () => zoom(2, 0.5), a: () => move(-step), d: () => move(step), '+': () => zoom(0.5, 0.5), '-': () => zoom(2, 0.5),
		ArrowLeft: () => move(-step), ArrowRight: () => move(step), 0: () => show(0, span), Escape: () => show(0, span)};
	addEventListener('keydown', event => {
		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key])
			return;
		keys[event.key]();
		event.preventDefault();
	});
	root.addEventListener('wheel', event => {
		if (!event.ctrlKey && !event.shiftKey)
			return;
		event.preventDefault();
		zoom(event.deltaY + event.deltaX < 0 ? 0.8 : 1.25, Math.max(0, Math.min(1, placeOf(event))));
	}, {passive: false});
	root.addEventListener('pointerdown', event => {
		const x = placeOf(event);
		dragged = event.button === 0 && x >= 0 && x <= 1 ? {x, from, to} : null;
	});
	root.addEventListener('pointermove', event => {
		if (!dragged) {
			point(event);
			return;
		}
		const by = (dragged.x - placeOf(event)) * (dragged.to - dragged.from);
		show(dragged.from + by, dragged.to + by);
	});
	addEventListener('pointerup', () => dragged = null);
	root.addEventListener('dblclick', event => zoom(0.25, placeOf(event)));
	root.dataset.ready = '1';
})();
