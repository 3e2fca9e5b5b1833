// chartpage.js - a chart of CPUs and tasks: lanes on a canvas, which is as large as the window, whatever there is to draw.
'use strict';

const NOTHING = 0, RUNNING = 1, SLEEPING = 5, WAITING = 6, BLOCKED = 7, STATES = 8;
const STATE_NAMES = ['Nothing', 'Running', 'Idle', 'Deeper Idle', 'Deepest Idle', 'Sleeping', 'Waiting for CPU', 'Blocked on IO'];
const LIGHT = ['', '#2f6fde', '#b9dccb', '#7fbf9f', '#3f9a72', '#aab2bd', '#eba300', '#d0342c'];
const DARK = ['', '#5b93f5', '#3f6b58', '#58947a', '#7cc7a5', '#5f6873', '#e0a526', '#ef6a5f'];
const HEIGHTS = [0, 1, .5, .35, .2, .15, .75, .5];
const BAR = 14, AXIS = 22, GUTTER = 170, CHAIN = 12, TABLE_ROWS = 200, WAKE = 5;

/**
 * Pieces of all lanes, one lane after the other: those of lane i from starts[i] up to starts[i + 1], each until the next begins, the last
 * until ends[i].
 */
const chart = {
	about: /** @type {{title: string, remarks: string, span: number, begin: number, shortest: number, rows: number, lives: number, pieces: number,
		wakes: number, leftOut: number, cpus: number[], waitsShortest?: number, samplesEvery?: number}} */ (/** @type {any} */ (null)),
	names: /** @type {string[]} */ ([]),
	rows: new Uint32Array(0),   // name, process, lives, the first one's tid
	lives: new Float64Array(0), // tid, process, name, row + 1, start, length
	starts: new Uint32Array(0),
	ends: new Float64Array(0),
	from: new Float64Array(0),
	state: new Uint8Array(0),
	who: new Uint32Array(0),
	wakeAt: new Float64Array(0),
	wakes: new Float64Array(0),
	livesOf: /** @type {number[][]} */ ([]),
};

const view = {from: 0, to: 1, top: 0, search: '', range: /** @type {number[]|null} */ (null), at: /** @type {{lane: number, piece: number}|null} */ (null)};
let lanes = /** @type {number[]} */ ([]); // those that the search leaves

async function loadChart() {
	const chunks = await Promise.all([textOfChunk('about'), textOfChunk('names'), inflateChunk('rows')]), pieces = await inflateChunk('pieces');
	const about = chart.about = JSON.parse(chunks[0]), nLanes = about.cpus.length + about.rows;

	chart.names = chunks[1].split('\n');
	chart.rows = readNumbers(chunks[2], new Uint32Array(4 * about.rows));
	chart.starts = new Uint32Array(nLanes + 1);
	chart.ends = new Float64Array(nLanes);
	chart.from = new Float64Array(about.pieces);
	chart.state = new Uint8Array(about.pieces);
	chart.who = new Uint32Array(about.pieces);
	readLanes(pieces, nLanes);
}

/** A distance in either direction, written as a small number. @param {number} n */
const distance = n => n % 2 ? -(n + 1) / 2 : n / 2;

/** Lives, wake-ups, I/O and stacks, which the first picture does not need. */
async function loadRest() {
	const about = chart.about, chunks = await Promise.all([inflateChunk('lives'), inflateChunk('wakes')]);
	const lives = readNumbers(chunks[0], new Float64Array(6 * about.lives)), wakes = chart.wakes = readNumbers(chunks[1], new Float64Array(WAKE * about.wakes));

	for (let i = 0, tid = 0, from = 0; i < lives.length; i += 6) {
		lives[i] = tid += distance(lives[i]);
		lives[i + 1] = tid + distance(lives[i + 1]);
		lives[i + 4] = from += distance(lives[i + 4]);
	}
	chart.wakeAt = new Float64Array(about.wakes);
	for (let i = 0, at = 0; i < about.wakes; i++)
		chart.wakeAt[i] = at += wakes[WAKE * i];
	chart.livesOf = Array.from({length: about.rows}, () => []);
	for (let i = 0; i < about.lives; i++)
		if (lives[6 * i + 3])
			chart.livesOf[lives[6 * i + 3] - 1].push(i);
	chart.lives = lives;
	await Promise.all([loadIo(), loadStacks()]);
}

/** @param {Uint8Array} bytes @param {number} nLanes */
function readLanes(bytes, nLanes) {
	const one = new Float64Array(1);
	let at = 0, piece = 0;

	function number() {
		at = readColumn(bytes, at, one);
		return one[0];
	}
	for (let lane = 0; lane < nLanes; lane++) {
		const n = number();
		let time = 0;
		chart.starts[lane] = piece;
		for (let i = 0; i < n; i++, piece++) {
			chart.from[piece] = time += number();
			chart.state[piece] = number();
			chart.who[piece] = number();
		}
		chart.ends[lane] = n ? time + number() : 0;
	}
	chart.starts[nLanes] = piece;
}

/* ---- what is where ---- */

/** The first position in [low, high) whose value is above `value`, or `high`. @param {ArrayLike<number>} array @param {number} low @param {number} high @param {number} value */
function above(array, low, high, value) {
	while (low < high) {
		const middle = (low + high) >> 1;
		if (array[middle] > value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/** The piece of a lane at a time, or -1. @param {number} lane @param {number} time */
function pieceAt(lane, time) {
	const start = chart.starts[lane], i = above(chart.from, start, chart.starts[lane + 1], time) - 1;
	return i >= start && time < chart.ends[lane] ? i : -1;
}

/** @param {number} lane @param {number} piece */
const endOf = (lane, piece) => piece + 1 < chart.starts[lane + 1] ? chart.from[piece + 1] : chart.ends[lane];

/** The life in a row at a time, or -1. @param {number} row @param {number} time */
function lifeAt(row, time) {
	let found = -1;
	for (const life of chart.livesOf[row])
		if (chart.lives[6 * life + 4] <= time && time <= chart.lives[6 * life + 4] + chart.lives[6 * life + 5])
			found = life;
	return found;
}

/** @param {number} life */
const lifeName = life => `${chart.names[chart.lives[6 * life + 2]]}:${chart.lives[6 * life]}`;

/** @param {number} lane */
function laneName(lane) {
	if (ioLane(lane))
		return IO_GROUPS[ioLane(lane).group];
	const row = lane - chart.about.cpus.length;
	if (row < 0)
		return `CPU ${chart.about.cpus[lane]}`;
	const name = chart.names[chart.rows[4 * row]], n = chart.rows[4 * row + 2];
	return n > 1 ? `${name} \u00d7${n}` : `${name}:${chart.rows[4 * row + 3]}`;
}

/** @param {number} ns @param {number} [digits] */
function timeText(ns, digits = 6) {
	const units = /** @type {[number, string][]} */ ([[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']]);
	const [size, unit] = units.find(([least]) => Math.abs(ns) >= least) || units[3];
	return ns ? `${+(ns / size).toFixed(digits)} ${unit}` : '0';
}

/** The last wake-up of a life at or before a time, or -1. @param {number} life @param {number} time */
function wakeBefore(life, time) {
	let wake = above(chart.wakeAt, 0, chart.wakeAt.length, time) - 1;
	while (wake >= 0 && chart.wakes[WAKE * wake + 2] !== life)
		wake--;
	return wake;
}

/** What woke a life up to a time, and what woke that: sentences, and where the waker was. @param {number} life @param {number} time */
function chainOf(life, time) {
	const lines = /** @type {{text: string, stack: number}[]} */ ([]);

	for (let i = 0; i < CHAIN && life >= 0; i++) {
		const wake = wakeBefore(life, time);
		if (wake < 0)
			break;
		const at = chart.wakeAt[wake], from = chart.wakes[WAKE * wake + 1] - 1, n = chart.wakes[WAKE * wake + 3], stack = chart.wakes[WAKE * wake + 4];
		const many = n > 1 ? ` (the first of ${n} that were merged)` : '';
		if (from < 0) {
			lines.push({text: `${lifeName(life)} was woken at ${timeText(at, 9)} by an interrupt${many}`, stack});
			break;
		}
		const row = chart.lives[6 * from + 3] - 1, lane = row + chart.about.cpus.length, piece = row < 0 ? -1 : pieceAt(lane, at);
		const ran = piece >= 0 && chart.state[piece] >> 2 === RUNNING
			? `, which had run since ${timeText(chart.from[piece], 9)} (${timeText(at - chart.from[piece])})` : '';
		lines.push({text: `${lifeName(life)} was woken at ${timeText(at, 9)} by ${lifeName(from)}${ran}${many}`, stack});
		life = from;
		time = piece >= 0 ? chart.from[piece] : at - 1;
	}
	return lines;
}

/** The time of each state of a lane in a range. @param {number} lane @param {number} from @param {number} to */
function sumsOfLane(lane, from, to) {
	const sums = new Float64Array(STATES), end = chart.starts[lane + 1];
	for (let i = Math.max(chart.starts[lane], above(chart.from, chart.starts[lane], end, from) - 1); i < end && chart.from[i] < to; i++)
		sums[chart.state[i] >> 2] += Math.max(0, Math.min(to, endOf(lane, i)) - Math.max(from, chart.from[i]));
	return sums;
}

/* ---- the page ---- */

const canvas = make('canvas', {tabindex: '0', role: 'img', 'aria-label': 'CPUs and tasks over time; w, s, a and d zoom and move'});
const pane = make('div', {class: 'pane'}), filler = make('div', {class: 'filler'});
const search = make('input', {type: 'search', placeholder: 'search tasks (regular expression)', 'aria-label': 'search tasks'});
const statusLine = make('span', {class: 'status', 'aria-live': 'polite'}), detail = make('div', {class: 'detail', 'aria-live': 'polite'});
const sums = make('section', {hidden: ''}), help = make('section', {hidden: ''});
let waits = false;

const isDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

function plotWidth() {
	return Math.max(50, pane.clientWidth - gutter());
}

const gutter = () => Math.min(GUTTER, pane.clientWidth * .35);

/** What lanes are drawn on, pixel by pixel: a rectangle of a canvas for each interval would take a hundred times as long. */
const layer = {canvas: document.createElement('canvas'), pixels: new Uint32Array(0), width: 0, height: 0};

/** A colour as the pixels of this machine have it. @param {string} colour */
function pixelOf(colour) {
	const n = parseInt(colour.slice(1), 16) || 0, bytes = new Uint8Array([n >> 16, n >> 8, n, 255]);
	return new Uint32Array(bytes.buffer)[0];
}

/** @param {number} left @param {number} right @param {number} top @param {number} bottom @param {number} pixel */
function fillBox(left, right, top, bottom, pixel) {
	const {pixels, width, height} = layer, from = Math.max(0, Math.round(left)), to = Math.min(width, Math.max(from + 1, Math.round(right)));
	for (let y = Math.max(0, Math.round(top)); y < Math.min(height, Math.round(bottom)); y++)
		pixels.fill(pixel, y * width + from, y * width + to);
}

/** Draws a lane: pieces of more than a pixel as bars, others as the shares that they have in their pixel.
 * @param {number} lane @param {number} y @param {number} bar its height @param {number[]} colours */
function drawLane(lane, y, bar, colours) {
	const width = layer.width, scale = width / (view.to - view.from), end = chart.starts[lane + 1], bottom = y + bar;
	const shares = new Float64Array(STATES);
	let pixel = -1, isEmpty = true;

	function flush() {
		let top = bottom;
		for (let s = 1; s < STATES && !isEmpty; s++)
			if (shares[s]) {
				const least = s === RUNNING ? .15 : .08, height = Math.min(top - bottom + bar, Math.ceil(bar * Math.max(shares[s] * scale, least)));
				fillBox(pixel, pixel + 1, top - height, top, colours[s]);
				top -= height;
				shares[s] = 0;
			}
		isEmpty = true;
	}
	for (let i = Math.max(chart.starts[lane], above(chart.from, chart.starts[lane], end, view.from) - 1); i < end && chart.from[i] < view.to; i++) {
		const state = chart.state[i] >> 2, until = endOf(lane, i);
		if (!state)
			continue;
		const x = Math.max(0, (chart.from[i] - view.from) * scale), right = Math.min(width, (until - view.from) * scale);
		if (right - x >= 1) {
			flush();
			fillBox(x, right, bottom - Math.max(1, bar * HEIGHTS[state]), bottom, colours[state]);
			continue;
		}
		if (Math.floor(x) !== pixel) {
			flush();
			pixel = Math.floor(x);
		}
		shares[state] += until - chart.from[i];
		isEmpty = false;
	}
	flush();
}

/** @param {CanvasRenderingContext2D} c @param {number} ratio @param {{lane: number, y: number}[]} shown */
function drawLanes(c, ratio, shown) {
	const colours = (isDark() ? DARK : LIGHT).map(pixelOf), own = /** @type {CanvasRenderingContext2D} */ (layer.canvas.getContext('2d'));
	layer.width = layer.canvas.width = Math.round(plotWidth() * ratio);
	layer.height = layer.canvas.height = canvas.height;
	const image = own.createImageData(layer.width, layer.height);
	layer.pixels = new Uint32Array(image.data.buffer);
	for (const {lane, y} of shown)
		if (ioLane(lane))
			drawIo(lane, y * ratio, BAR * ratio);
		else
			drawLane(lane, y * ratio, BAR * ratio, colours);
	own.putImageData(image, 0, 0);
	c.drawImage(layer.canvas, gutter(), 0, plotWidth(), layer.height / ratio);
}

/** @param {CanvasRenderingContext2D} c @param {number} width @param {string} colour @param {string} line */
function drawAxis(c, width, colour, line) {
	const visible = view.to - view.from;
	let step = 10 ** Math.floor(Math.log10(visible / 8));
	step = Math.max(1, step * (/** @type {number} */ ([1, 2, 5, 10].find(n => visible / (step * n) <= 8))));
	for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
		const x = Math.round(gutter() + (at - view.from) / visible * plotWidth()) + .5;
		c.strokeStyle = line;
		c.beginPath();
		c.moveTo(x, AXIS - 6);
		c.lineTo(x, canvas.clientHeight);
		c.stroke();
		c.fillStyle = colour;
		if (x < width - 40)
			c.fillText(timeText(at, 9), x + 3, AXIS - 8);
	}
}

/** The names of tasks inside of bars that have room. @param {CanvasRenderingContext2D} c @param {number} lane @param {number} y */
function drawNames(c, lane, y) {
	const left = gutter(), scale = plotWidth() / (view.to - view.from), end = chart.starts[lane + 1];
	if (lane >= chart.about.cpus.length || !chart.lives.length)
		return;
	c.fillStyle = isDark() ? '#10131a' : '#fff';
	for (let i = Math.max(chart.starts[lane], above(chart.from, chart.starts[lane], end, view.from) - 1), n = 0; i < end && chart.from[i] < view.to && n < 200; i++) {
		const x = Math.max(0, (chart.from[i] - view.from) * scale), width = (endOf(lane, i) - view.from) * scale - x;
		if (width < 24 || chart.state[i] >> 2 !== RUNNING || !chart.who[i])
			continue;
		const text = chart.names[chart.lives[6 * (chart.who[i] - 1) + 2]];
		n++;
		if (c.measureText(text).width < width - 4)
			c.fillText(text, left + x + 2, y + BAR - 3);
	}
}

function draw() {
	const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d')), ratio = devicePixelRatio || 1;
	const width = pane.clientWidth, height = pane.clientHeight, style = getComputedStyle(document.documentElement);
	const text = style.getPropertyValue('--text'), line = style.getPropertyValue('--line'), dim = style.getPropertyValue('--dim'), mark = style.getPropertyValue('--mark');

	waits = false;
	filler.style.height = `${AXIS + lanes.length * ROW}px`;
	canvas.style.width = `${width}px`;
	canvas.style.height = `${height}px`;
	canvas.width = width * ratio;
	canvas.height = height * ratio;
	c.setTransform(ratio, 0, 0, ratio, 0, 0);
	c.font = '12px system-ui, "DejaVu Sans", sans-serif';
	drawAxis(c, width, dim, line);
	const first = Math.max(0, Math.floor(pane.scrollTop / ROW)), last = Math.min(lanes.length, first + Math.ceil(height / ROW) + 1);
	const shown = lanes.slice(first, last).map((lane, i) => ({lane, y: AXIS + (first + i) * ROW - pane.scrollTop})).filter(({y}) => y >= AXIS - 4);
	drawLanes(c, ratio, shown);
	for (const {lane, y} of shown) {
		const row = lane - chart.about.cpus.length, isIo = ioLane(lane) !== undefined, isThread = isIo || (row >= 0 && chart.rows[4 * row + 1]);
		drawSpeeds(c, lane, y);
		drawNames(c, lane, y);
		c.save();
		c.beginPath();
		c.rect(0, y, gutter() - 6, ROW);
		c.clip();
		c.fillStyle = isThread ? dim : text;
		c.fillText(laneName(lane), isIo ? 30 : isThread ? 16 : 6, y + BAR - 2);
		c.restore();
	}
	drawMarks(c, mark);
}

/** The range that is selected, and the interval that was clicked with who woke it. @param {CanvasRenderingContext2D} c @param {string} mark */
function drawMarks(c, mark) {
	const left = gutter(), scale = plotWidth() / (view.to - view.from), at = view.at;
	/** @param {number} time */
	const xOf = time => left + Math.max(0, Math.min(plotWidth(), (time - view.from) * scale));
	if (view.range) {
		c.globalAlpha = .15;
		c.fillStyle = mark;
		c.fillRect(xOf(view.range[0]), 0, xOf(view.range[1]) - xOf(view.range[0]), canvas.clientHeight);
		c.globalAlpha = 1;
	}
	const place = at ? lanes.indexOf(at.lane) : -1;
	if (!at || place < 0)
		return;
	const y = AXIS + place * ROW - pane.scrollTop;
	c.strokeStyle = mark;
	c.lineWidth = 2;
	c.strokeRect(xOf(chart.from[at.piece]), y, Math.max(2, xOf(endOf(at.lane, at.piece)) - xOf(chart.from[at.piece])), BAR + 1);
	c.lineWidth = 1;
	const life = at.lane < chart.about.cpus.length ? -1 : lifeAt(at.lane - chart.about.cpus.length, chart.from[at.piece]);
	const wake = life < 0 ? -1 : wakeBefore(life, chart.from[at.piece]);
	const from = wake < 0 ? -1 : chart.wakes[WAKE * wake + 1] - 1, row = from < 0 ? -1 : chart.lives[6 * from + 3] - 1;
	const other = row < 0 ? -1 : lanes.indexOf(row + chart.about.cpus.length), time = wake < 0 ? 0 : chart.wakeAt[wake];
	if (other < 0 || time < view.from || time > view.to)
		return;
	c.beginPath();
	c.moveTo(xOf(time), AXIS + other * ROW - pane.scrollTop + BAR / 2);
	c.lineTo(xOf(time), y + BAR / 2);
	c.stroke();
	c.beginPath();
	c.arc(xOf(time), y + BAR / 2, 3, 0, 7);
	c.fillStyle = mark;
	c.fill();
}

function redraw() {
	if (!waits)
		requestAnimationFrame(draw);
	waits = true;
}

/* ---- state ---- */

function remember() {
	const parts = new URLSearchParams();
	if (view.from > 0 || view.to < chart.about.span)
		parts.set('t', `${Math.round(view.from)}-${Math.round(view.to)}`);
	if (view.search)
		parts.set('s', view.search);
	if (view.range)
		parts.set('r', view.range.map(Math.round).join('-'));
	history.replaceState(null, '', '#' + parts);
}

/** @param {string} text */
function spanOf(text) {
	const found = /^(\d+)-(\d+)$/.exec(text);
	return found && +found[1] < +found[2] ? [+found[1], Math.min(+found[2], chart.about.span)] : null;
}

function recall() {
	const parts = new URLSearchParams(location.hash.slice(1)), span = spanOf(parts.get('t') || '');
	view.search = search.value = parts.get('s') || '';
	view.range = spanOf(parts.get('r') || '');
	filterLanes();
	show(...(/** @type {[number, number]} */ (span || [0, chart.about.span])));
	showSums();
}

/** @param {number} from @param {number} to */
function show(from, to) {
	const size = Math.min(chart.about.span, Math.max(to - from, Math.min(100, chart.about.span)));
	view.from = Math.max(0, Math.min(from, chart.about.span - size));
	view.to = view.from + size;
	remember();
	redraw();
}

/** @param {number} factor @param {number} [share] */
function zoom(factor, share = .5) {
	const at = view.from + (view.to - view.from) * share;
	show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

/** @param {number} share */
const move = share => show(view.from + (view.to - view.from) * share, view.to + (view.to - view.from) * share);

function filterLanes() {
	const all = Array.from({length: chart.starts.length - 1}, (_, i) => i);
	let pattern = null;

	try {
		pattern = view.search ? new RegExp(view.search, /[A-Z]/.test(view.search) ? '' : 'i') : null;
	} catch (error) {
		statusLine.textContent = `this is no regular expression: ${error instanceof Error ? error.message : ''}`;
		return;
	}
	lanes = all.filter(lane => lane < chart.about.cpus.length || !pattern || pattern.test(laneName(lane)) ||
		(chart.livesOf[lane - chart.about.cpus.length] || []).some(life => pattern && pattern.test(lifeName(life)))).flatMap(withIo);
	statusLine.textContent = pattern ? `${lanes.filter(lane => !ioLane(lane)).length - chart.about.cpus.length} of ${chart.about.rows} rows` : '';
	redraw();
}

/** Says all about the interval at a place. @param {number} lane @param {number} time */
function select(lane, time) {
	const isIo = ioLane(lane) !== undefined, piece = isIo ? -1 : pieceAt(lane, time), nCpus = chart.about.cpus.length;
	view.at = piece >= 0 && chart.state[piece] >> 2 && chart.lives.length ? {lane, piece} : null;
	detail.replaceChildren();
	redraw();
	if (isIo)
		detail.append(...ioTexts(lane, time).map(text => make('div', {}, text)));
	if (!view.at)
		return;
	const end = endOf(lane, piece), life = lane < nCpus ? chart.who[piece] - 1 : lifeAt(lane - nCpus, time), state = chart.state[piece] >> 2;
	const where = lane >= nCpus && state === RUNNING && chart.who[piece] ? ` on CPU ${chart.who[piece] - 1}` : '';
	const merged = chart.state[piece] & 2 ? ' in a group of shorter intervals, whose order is not known' : '';
	const lines = [`${lane < nCpus ? laneName(lane) + ': ' : ''}${life >= 0 ? lifeName(life) + ' ' : ''}${STATE_NAMES[state]}${where} for ${timeText(end - chart.from[piece])}` +
		`, from ${timeText(chart.from[piece], 9)} to ${timeText(end, 9)}${speedText(lane, time)}${merged}`];
	for (const text of lines)
		detail.append(make('div', {}, text));
	if (life >= 0 && (state === RUNNING || state === WAITING))
		for (const {text, stack} of chainOf(life, chart.from[piece]))
			detail.append(withStack(text, stack));
	else if (life >= 0)
		detail.append(withStack('Where it was meanwhile', waitedAt(life, time), ''));
}

/** A sentence, with the stack that belongs to it folded away. @param {string} text @param {number} stack @param {string} [without] what is said if there is none */
function withStack(text, stack, without = text) {
	return stack ? make('details', {}, make('summary', {}, text), make('div', {class: 'name'}, ...framesOf(stack).map(name => make('div', {}, name)))) : make('div', {}, without);
}

/** The tables and the flame graph of the selected range. */
function showSums() {
	sums.hidden = !view.range;
	sums.replaceChildren();
	if (!view.range)
		return;
	const [from, to] = view.range, nCpus = chart.about.cpus.length, states = [RUNNING, WAITING, BLOCKED, SLEEPING];
	const rows = lanes.filter(lane => lane >= nCpus && !ioLane(lane)).map(lane => ({lane, ns: sumsOfLane(lane, from, to)}))
		.filter(row => states.some(s => row.ns[s])).sort((a, b) => b.ns[RUNNING] - a.ns[RUNNING] || a.lane - b.lane);
	const table = make('table', {class: 'sums'}, make('thead', {}, make('tr', {}, ...states.map(s => make('th', {class: 'number'}, STATE_NAMES[s])), make('th', {}, 'Task'))));
	const body = make('tbody', {});
	for (const row of rows.slice(0, TABLE_ROWS))
		body.append(make('tr', {}, ...states.map(s => make('td', {class: 'number'}, row.ns[s] ? timeText(row.ns[s]) : '')), make('td', {class: 'name'}, laneName(row.lane))));
	table.append(body);
	sums.append(make('h2', {}, `${timeText(to - from)} from ${timeText(from, 9)}`), make('div', {class: 'tools'},
		make('button', {click: () => show(from, to)}, 'Zoom to it'), make('button', {click: keys.Escape}, 'Clear')),
		make('div', {class: 'two'}, rangeFlame(from, to), make('div', {class: 'scroll'}, table,
			make('p', {class: 'dim'}, rows.length > TABLE_ROWS ? `and ${rows.length - TABLE_ROWS} more rows` : ''), ioTable(from, to))));
}

/** @type {Object<string, () => void>} */
const keys = {
	w: () => zoom(.5), s: () => zoom(2), a: () => move(-.2), d: () => move(.2), '+': () => zoom(.5), '-': () => zoom(2), ArrowLeft: () => move(-.2), ArrowRight: () => move(.2),
	0: () => show(0, chart.about.span), '/': () => search.focus(),
	f: () => view.at && show(chart.from[view.at.piece] - (endOf(view.at.lane, view.at.piece) - chart.from[view.at.piece]), 2 * endOf(view.at.lane, view.at.piece) - chart.from[view.at.piece]),
	Escape: () => { view.range = view.at = null; detail.replaceChildren(); help.hidden = true; showSums(); remember(); redraw(); },
	'?': () => { help.hidden = !help.hidden; redraw(); },
};
const KEY_TEXTS = [['w s, + -, Ctrl or Shift and the wheel', 'zoom'], ['a d, arrows, dragging', 'move'], ['Shift and dragging', 'sums and a flame graph of that range'],
	['click', 'the interval, who woke the task, and where these were'], ['f', 'zoom to the interval'], ['/', 'search tasks'], ['0', 'everything'], ['Escape', 'select nothing']];

/** @param {MouseEvent} event */
function placeOf(event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left - gutter(), y = event.clientY - box.top + pane.scrollTop - AXIS;
	return {share: x / plotWidth(), time: view.from + (view.to - view.from) * x / plotWidth(), lane: lanes[Math.floor(y / ROW)]};
}

function listen() {
	let drag = /** @type {{share: number, time: number, from: number, to: number, selects: boolean, moved: boolean}|null} */ (null);

	canvas.addEventListener('pointerdown', event => {
		const {share, time} = placeOf(event);
		if (event.button === 0 && share >= 0)
			drag = {share, time, from: view.from, to: view.to, selects: event.shiftKey, moved: false};
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener('pointermove', event => {
		const {share, time} = placeOf(event);
		if (!drag || (!drag.moved && Math.abs(share - drag.share) * plotWidth() < 3))
			return;
		drag.moved = true;
		if (drag.selects) {
			view.range = [Math.max(0, Math.min(time, drag.time)), Math.min(chart.about.span, Math.max(time, drag.time))];
			redraw();
		} else {
			const by = (drag.share - share) * (drag.to - drag.from);
			show(drag.from + by, drag.to + by);
		}
	});
	canvas.addEventListener('pointerup', event => {
		const {time, lane} = placeOf(event), was = drag;
		drag = null;
		if (was && !was.moved && lane !== undefined)
			select(lane, time);
		if (was && was.moved && was.selects) {
			showSums();
			remember();
		}
	});
	canvas.addEventListener('wheel', event => {
		if (!event.ctrlKey && !event.shiftKey)
			return;
		event.preventDefault();
		zoom(event.deltaY + event.deltaX < 0 ? .8 : 1.25, Math.max(0, Math.min(1, placeOf(event).share)));
	}, {passive: false});
	canvas.addEventListener('dblclick', event => zoom(.25, placeOf(event).share));
	pane.addEventListener('scroll', redraw);
	addEventListener('resize', redraw);
	addEventListener('hashchange', recall);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
	search.addEventListener('input', () => { view.search = search.value; filterLanes(); showSums(); remember(); });
	addEventListener('keydown', event => {
		if (event.target === search && event.key !== 'Escape' || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key))
			return;
		if (event.target === search)
			search.blur();
		keys[event.key]();
		event.preventDefault();
	});
}

/** What I/O and frequencies look like, if there are any. */
function addLegend() {
	const colours = isDark() ? IO_DARK : IO_LIGHT, legend = document.querySelector('.legend');
	/** @param {string} colour @param {string} text */
	const add = (colour, text) => {
		const swatch = make('i');
		swatch.style.background = colour;
		legend?.append(make('span', {}, swatch, text));
	};
	IO_GROUPS.forEach((name, group) => io.lanes.some(lane => lane.group === group) && add(colours[group], name));
	if (io.lanes.some(lane => lane.ios.some(i => io.all[i + 6])))
		add(colours[4], 'I/O that failed');
	if (io.speeds.some(speeds => speeds.length))
		add(isDark() ? '#d9a4f5' : '#7b3fa0', 'frequency');
}

function build() {
	const app = /** @type {HTMLElement} */ (document.getElementById('app')), legend = make('div', {class: 'legend'});

	for (let s = 1; s < STATES; s++) {
		const swatch = make('i');
		swatch.style.background = (isDark() ? DARK : LIGHT)[s];
		legend.append(make('span', {}, swatch, STATE_NAMES[s]));
	}
	help.append(make('h2', {}, 'Keys'), make('table', {class: 'facts'}, ...KEY_TEXTS.map(([key, text]) => make('tr', {}, make('th', {}, key), make('td', {}, text)))));
	filler.append(canvas);
	pane.append(filler);
	sums.style.cssText = 'max-height: 38vh; overflow-y: auto; flex: none';
	help.style.flex = 'none';
	detail.style.cssText = 'display: block; max-height: 26vh; overflow-y: auto; flex: none';
	const remarks = (chart.about.shortest ? `Neighbours shorter than ${timeText(chart.about.shortest)} are merged: their times are exact, their order within is not.\n` : '') + chart.about.remarks;
	app.append(make('header', {}, make('h1', {}, chart.about.title), make('button', {'aria-label': 'keys', click: keys['?']}, '?')), make('div', {class: 'bar'}, search, statusLine), legend, help, pane, detail, sums,
		make('div', {class: 'legend'}, ...remarks.split('\n').filter(text => text).map(text => make('span', {}, text))));
	app.classList.add('fixed');
}

(async () => {
	await loadChart();
	build();
	listen();
	recall();
	document.documentElement.dataset.drawn = '1';
	await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
	await loadRest();
	filterLanes();
	showSums();
	addLegend();
	document.documentElement.dataset.ready = '1';
})().catch(error => {
	(document.getElementById('app') || document.body).textContent = `This page cannot be shown: ${error.message}`;
	throw error;
});
