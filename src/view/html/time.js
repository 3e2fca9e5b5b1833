// time.js - when samples were taken, and ranges of time that all sections follow. What is drawn is in tracks.js.

/**
 * The samples of an event, in the order of time. Without `period`, each counts `common`.
 * @typedef {{n: number, tick: Uint32Array, thread: Uint32Array|Uint16Array, cpu: Uint16Array, node: Uint32Array,
 *     period: Uint32Array|Float64Array|null, common: number}} Moments
 * @typedef {{tick: number, first: number, ticks: number, threads: number, every: number, timeless: number,
 *     parts: {samples: number, common: number}[]}} Times
 * @typedef {{n: number, end: Uint32Array, state: Uint8Array, from: number}} Lane pieces, one behind the other
 * @typedef {[number, number]} Span ticks: from the first to behind the last
 */

/** What the file says about times. */
const when = {
	about: /** @type {Times|null} */ (null),
	threads: /** @type {{pid: number, tid: number, name: string}[]} */ ([]),
	moments: /** @type {Moments[]} */ ([]),
	lanes: /** @type {Map<string, Lane[]>} */ (new Map()), // by what they are of: a thread's id (t123), or a CPU (c4)
	hasStates: false,
};

/** States, as enum lane_state numbers them: what they are called, their colours, and how much of a band is filled. @type {[string, string, number][]} */
const STATES = [['unknown', '', 0], ['running', 'hsl(140 60% 42%)', 1], ['idle', '', 0], ['idle', '', 0], ['idle', '', 0], ['sleeping', 'hsl(220 12% 60%)', 0.35],
	['waiting for a CPU', 'hsl(35 95% 50%)', 1], ['blocked on I/O', 'hsl(320 65% 50%)', 0.7]];

/** What is chosen; all of it is in the address. `who` is a thread (t4) or a CPU (c4); `unit` the seconds of a heat map's column. */
const chosenTime = {
	range: /** @type {Span|null} */ (null), base: /** @type {Span|null} */ (null), window: /** @type {Span|null} */ (null),
	who: '', unit: 0, byCpu: false,
};

const NO_CPU = 0xffff, HEAT_ROWS = 50;
const HEAT_UNITS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600];

/* ---- data ---- */

async function loadTimes() {
	if (!document.getElementById('times'))
		return;
	const chunks = await Promise.all([textOfChunk('times'), textOfChunk('threads')]);

	when.about = JSON.parse(chunks[0]);
	when.threads = chunks[1].split('\n').slice(0, -1).map(line => {
		const words = line.split(' ', 2);
		return {pid: Number(words[0]), tid: Number(words[1]), name: line.slice(words[0].length + words[1].length + 2)};
	});
}

/** The same numbers in half of the room, if they fit. @param {Uint32Array} numbers @returns {Uint32Array|Uint16Array} */
function narrow(numbers) {
	for (let i = 0; i < numbers.length; i++)
		if (numbers[i] > 0xffff)
			return numbers.slice();
	return Uint16Array.from(numbers);
}

/** @param {number} event @returns {Promise<Moments>} */
async function momentsOf(event) {
	if (when.moments[event])
		return when.moments[event];
	const bytes = await inflateChunk('moments' + event), {samples: n, common} = /** @type {Times} */ (when.about).parts[event];
	const tick = new Uint32Array(n), cpu = new Uint16Array(n), node = new Uint32Array(n), some = new Uint32Array(n);
	const last = new Uint16Array(when.threads.length).fill(NO_CPU);
	let at = readColumn(bytes, 0, tick);

	for (let i = 1; i < n; i++)
		tick[i] += tick[i - 1];
	at = readColumn(bytes, at, some);
	const thread = narrow(some);
	at = readColumn(bytes, at, some);
	for (let i = 0; i < n; i++) {
		if (some[i])
			last[thread[i]] = some[i] === 1 ? NO_CPU : some[i] - 2;
		cpu[i] = last[thread[i]];
	}
	at = readColumn(bytes, at, node);
	const period = common ? null : new Float64Array(n);
	if (period)
		readColumn(bytes, at, period);
	return when.moments[event] = {n, tick, thread, cpu, node, common, period: period && period.every(v => v <= 0xffffffff) ? Uint32Array.from(period) : period};
}

/** What threads and CPUs did, if the recording says so. */
async function loadStates() {
	const bytes = await inflateChunk('states'), head = new Uint32Array(4);

	when.hasStates = bytes.length > 0;
	for (let at = 0; at < bytes.length;) {
		at = readColumn(bytes, at, head);
		const n = head[3], numbers = new Uint32Array(2 * n), lane = {n, from: head[2], end: new Uint32Array(n), state: new Uint8Array(n)};
		at = readColumn(bytes, at, numbers);
		for (let i = 0, tick = lane.from; i < n; i++) {
			lane.end[i] = tick += numbers[2 * i];
			lane.state[i] = numbers[2 * i + 1];
		}
		const key = (head[0] ? 'c' : 't') + head[1];
		when.lanes.set(key, [...when.lanes.get(key) || [], lane]);
	}
}

/** The lanes of a track. @param {string} who */
function lanesOf(who) {
	return when.lanes.get(who[0] === 'c' ? who : `t${when.threads[Number(who.slice(1))]?.tid}`) || [];
}

/** Calls `take` for the pieces of lanes that touch a range. @param {Lane[]} lanes @param {Span} range @param {(from: number, to: number, state: number) => void} take */
function eachPiece(lanes, range, take) {
	for (const lane of lanes)
		for (let i = firstAt(lane.end, range[0] + 1); i < lane.n; i++) {
			const from = Math.max(range[0], i ? lane.end[i - 1] : lane.from);

			if (from >= range[1])
				break;
			take(from, Math.min(range[1], lane.end[i]), lane.state[i]);
		}
}

/** How long a track was in each state, in words. @param {string} who @param {Span} range */
function statesText(who, range) {
	const sums = /** @type {Object<string, number>} */ ({});

	eachPiece(lanesOf(who), range, (from, to, state) => { sums[STATES[state][0]] = (sums[STATES[state][0]] || 0) + to - from; });
	return Object.entries(sums).filter(([name]) => name !== 'unknown').map(([name, ticks]) => `${name} ${+seconds(ticks).toPrecision(4)} s`).join(', ');
}

/** The position of the first sample at that tick or later. @param {Uint32Array} ticks @param {number} tick */
function firstAt(ticks, tick) {
	let low = 0, high = ticks.length;

	while (low < high) {
		const middle = (low + high) >>> 1;

		if (ticks[middle] < tick)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** Calls `take` for each sample of a range that is of the chosen thread or CPU. @param {Moments} m @param {Span} range @param {(i: number) => void} take */
function eachMoment(m, range, take) {
	const last = firstAt(m.tick, range[1]), of = chosenTime.who[0] === 't' ? m.thread : m.cpu, which = Number(chosenTime.who.slice(1));

	for (let i = firstAt(m.tick, range[0]); i < last; i++)
		if (!chosenTime.who || of[i] === which)
			take(i);
}

/** @returns {Span} */
function wholeTime() {
	return [0, when.about ? when.about.ticks : 0];
}

/** @returns {Span} */
function visibleTime() {
	return chosenTime.window || wholeTime();
}

/** The sums of a range's values over the nodes before each, and how many samples they are of. @param {Moments} m @param {Span} range */
function sumRange(m, range) {
	const sum = new Float64Array(data.about.nodes + 1);
	let n = 0;

	eachMoment(m, range, i => {
		sum[m.node[i] + 1] += m.period ? m.period[i] : m.common;
		n++;
	});
	for (let i = 1; i < sum.length; i++)
		sum[i] += sum[i - 1];
	return {sum, n};
}

/** The sums of an event: of the chosen range and thread, or of all. @param {number} event */
async function chosenSums(event) {
	if (!when.about || (!chosenTime.range && !chosenTime.who))
		return sumsOf(event);
	return sumRange(await momentsOf(event), chosenTime.range || wholeTime()).sum;
}

/* ---- the address ---- */

/** @param {string} text @returns {Span|null} */
function rangeOf(text) {
	const words = /^(\d+)-(\d+)$/.exec(text);
	const ticks = wholeTime()[1];

	if (!words || Number(words[1]) >= Number(words[2]) || Number(words[1]) >= ticks)
		return null;
	return [Number(words[1]), Math.min(Number(words[2]), ticks)];
}

/** @param {'range'|'base'|'window'} what @returns {[() => string, (text: string) => void]} */
function spanWord(what) {
	return [() => chosenTime[what]?.join('-') || '', text => chosenTime[what] = rangeOf(text)];
}

/** Rows of ADDRESS. @type {Object<string, [() => string, (text: string) => void]>} */
const TIME_ADDRESS = {
	r: spanWord('range'),
	b: spanWord('base'),
	x: spanWord('window'),
	w: [() => chosenTime.who, text => {
		chosenTime.who = /^c\d+$/.test(text) || (/^t\d+$/.test(text) && Number(text.slice(1)) < when.threads.length) ? text : '';
	}],
	hs: [() => chosenTime.unit ? String(chosenTime.unit) : '', text => chosenTime.unit = HEAT_UNITS.includes(Number(text)) ? Number(text) : 0],
	k: [() => chosenTime.byCpu ? 'cpu' : '', text => chosenTime.byCpu = text === 'cpu'],
};

/* ---- words ---- */

/** Seconds since the first sample. @param {number} tick */
function seconds(tick) {
	return tick * /** @type {Times} */ (when.about).tick / 1e9;
}

/** @param {number} s @param {number} span how long what is shown is */
function secondsText(s, span) {
	return `${s.toFixed(span >= 100 ? 1 : span >= 1 ? 3 : span >= 0.01 ? 5 : 6)} s`;
}

/** @param {Span} range */
function rangeText(range) {
	const span = seconds(range[1] - range[0]), shown = span >= 10 ? 1 : span / 10;

	return `${secondsText(seconds(range[0]), shown)} \u2013 ${secondsText(seconds(range[1]), shown)}`;
}

/** As report --time takes it, whose ends are inclusive. @param {Span} range */
function rangeOption(range) {
	const {tick, first} = /** @type {Times} */ (when.about);
	const text = (/** @type {bigint} */ ns) => `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, '0')}`;

	return `${text(BigInt(first + range[0]) * BigInt(tick))},${text(BigInt(first + range[1]) * BigInt(tick) - 1n)}`;
}

/** A thread (t4) or a CPU (c4). @param {string} who */
function whoText(who) {
	const number = Number(who.slice(1)), thread = when.threads[number];

	if (who[0] === 'c')
		return number === NO_CPU ? 'no CPU' : `CPU ${number}`;
	return thread ? `${visible(thread.name)} ${thread.tid}` : '';
}

/* ---- what is done ---- */

/** Chooses a range, or the baseline, and shows everything again. @param {Span|null} range @param {boolean} isBase */
function chooseRange(range, isBase) {
	if (range) {
		const [from, to] = wholeTime(), first = Math.max(from, Math.min(to - 1, Math.floor(range[0])));

		range = [first, Math.max(first + 1, Math.min(to, Math.ceil(range[1])))];
	}
	chosenTime[isBase ? 'base' : 'range'] = range;
	renew(true);
}

/** @param {string} who */
function chooseWho(who) {
	chosenTime.who = chosenTime.who === who ? '' : who;
	renew(true);
}

/** @param {Span|null} range */
function showWindow(range) {
	const [from, to] = wholeTime();

	if (range) {
		const span = Math.max(10, range[1] - range[0]), first = Math.max(from, Math.min(Math.round(range[0]), to - span));

		range = [first, Math.min(to, Math.round(first + span))];
	}
	chosenTime.window = range && (range[0] > from || range[1] < to) ? range : null;
	writeAddress();
	showTime();
}

/** @param {number} factor */
function zoomTime(factor) {
	const [from, to] = visibleTime(), span = (to - from) * factor, share = Math.min(1, Math.max(0, (timeView.cursor - from) / (to - from)));

	showWindow([timeView.cursor - span * share, timeView.cursor + span * (1 - share)]);
}

/** @param {number} step */
function changeUnit(step) {
	const at = HEAT_UNITS.indexOf(timeView.unit()) + step;

	if (at < 0 || at >= HEAT_UNITS.length)
		return;
	chosenTime.unit = HEAT_UNITS[at];
	writeAddress();
	showTime();
}

/** Follows a pointer from its press to its release. @param {HTMLCanvasElement} canvas @param {(x: number, y: number) => number} tickAt @param {() => number} least ticks of what a click chooses; 0: nothing */
function listenToDrags(canvas, tickAt, least) {
	let from = 0, pressed = -1, x0 = 0, isMoved = false;
	const place = (/** @type {PointerEvent} */ e) => {
		const box = canvas.getBoundingClientRect();
		return {x: e.clientX - box.left, y: e.clientY - box.top};
	};
	const range = (/** @type {number} */ to) => /** @type {Span} */ ([Math.min(from, to), Math.max(from, to) + least()]);

	canvas.addEventListener('pointerdown', e => {
		const {x, y} = place(e);

		if (e.button || x < timeView.labelWidth())
			return;
		from = tickAt(x, y);
		pressed = e.pointerId;
		x0 = x + y;
		isMoved = false;
		timeView.wasBase = timeView.isBase;
		timeView.isBase = timeView.isBase || e.ctrlKey || e.shiftKey || e.metaKey;
		canvas.setPointerCapture(pressed);
	});
	canvas.addEventListener('pointermove', e => {
		const {x, y} = place(e);

		if (pressed !== e.pointerId) {
			showTimeTip(e, canvas, x, y);
			return;
		}
		isMoved = isMoved || Math.abs(x + y - x0) > 3;
		if (!isMoved)
			return;
		timeView.dragged = range(timeView.cursor = tickAt(x, y));
		ui.timeText.textContent = `${timeView.isBase ? 'baseline' : 'range'}: ${rangeText(timeView.dragged)}`;
		timeView.later();
	});
	const end = (/** @type {PointerEvent} */ e) => {
		const {x, y} = place(e), isBase = timeView.isBase;

		if (pressed !== e.pointerId)
			return;
		pressed = -1;
		timeView.dragged = null;
		timeView.isBase = timeView.wasBase;
		timeView.cursor = timeView.anchor = tickAt(x, y);
		if (e.type === 'pointerup' && (isMoved || least()))
			chooseRange(range(timeView.cursor), isBase);
		else
			showTime();
	};
	canvas.addEventListener('pointerup', end);
	canvas.addEventListener('pointercancel', end);
	canvas.addEventListener('pointerleave', () => { ui.tip.hidden = true; });
}

/** @param {PointerEvent} e @param {HTMLCanvasElement} canvas @param {number} x @param {number} y */
function showTimeTip(e, canvas, x, y) {
	const v = timeView, {left, width} = v.area(), lines = [];

	if (canvas === v.tracks) {
		const row = v.rowAt(y), first = Math.floor(v.pane.scrollTop / TRACK), n = Math.ceil(width);

		if (row >= 0) {
			const thread = v.rows[row][0] === 't' ? when.threads[Number(v.rows[row].slice(1))] : null;

			lines.push(thread ? `${short(thread.name, 200)} (process ${thread.pid}, thread ${thread.tid})` : whoText(v.rows[row]));
			if (when.hasStates)
				lines.push(statesText(v.rows[row], chosenTime.range || visibleTime()));
			if (x >= left)
				lines.push(amount(v.columns[(row - first) * n + Math.floor(x - left)] || 0));
			else
				lines.push('A click shows only this in all sections.');
		}
		if (x >= left)
			lines.push(`at ${secondsText(seconds(v.tickAt(x)), seconds(visibleTime()[1] - visibleTime()[0]) / 100)}`);
	} else if (x >= left) {
		const grid = v.grid(), tick = v.cellAt(x, y);

		lines.push(rangeText([tick, tick + grid.row]), amount(v.cells[Math.floor((tick - grid.first * grid.unit) / grid.row)] || 0));
	}
	ui.tip.hidden = !lines.length;
	if (!lines.length)
		return;
	ui.tip.replaceChildren(...lines.map(line => make('div', {}, line)));
	placeTip(e);
}

/** What the sheet of keys says of them; timeKey() does it. @type {[string, string, string, (e: KeyboardEvent) => void][]} */
const TIME_KEYS = [
	['', 'Shift+\u2190 Shift+\u2192', 'Time: choose a range from the cursor on', () => 0],
	['', 'b', 'Time: ranges are baselines, or not any more', () => 0],
	['', 'Esc', 'Time: take the range back, then the baseline', () => 0],
	['', '\u2191 \u2193 Enter', 'Time: choose a thread or CPU', () => 0],
	['', '+ \u2212 [ ]', 'Time: closer, farther; finer or coarser heat map', () => 0],
];

/** Keys of the two panes. @param {KeyboardEvent} e @param {boolean} isHeat */
function timeKey(e, isHeat) {
	const v = timeView, [from, to] = visibleTime(), grid = v.grid();
	const step = isHeat ? grid.unit : Math.max(1, Math.round((to - from) / 100)), small = isHeat ? grid.row : 0;
	/** @type {Object<string, number>} */
	const steps = {ArrowLeft: -step, ArrowRight: step, ArrowUp: -small, ArrowDown: small, Home: from - v.cursor, End: to - v.cursor};
	const rowStep = !isHeat && e.key === 'ArrowUp' ? -1 : !isHeat && e.key === 'ArrowDown' ? 1 : 0;

	if (e.ctrlKey || e.metaKey || e.altKey)
		return;
	if (rowStep) {
		v.rowCursor = Math.min(v.rows.length - 1, Math.max(0, v.rowCursor + rowStep));
		v.pane.scrollTop = Math.max(0, Math.min(v.pane.scrollTop, v.rowCursor * TRACK), (v.rowCursor + 2) * TRACK + RULER - v.pane.clientHeight);
		ui.timeText.textContent = v.rows.length ? whoText(v.rows[v.rowCursor]) : '';
		v.later();
	} else if (e.key in steps) {
		v.cursor = Math.round(Math.min(to, Math.max(from, v.cursor + steps[e.key])));
		if (e.shiftKey) {
			chosenLater([Math.min(v.anchor, v.cursor), Math.max(v.anchor, v.cursor)]);
		} else {
			v.anchor = v.cursor;
			ui.timeText.textContent = `at ${secondsText(seconds(v.cursor), seconds(to - from) / 100)}`;
			v.later();
		}
	} else if (e.key === 'Enter' && !isHeat && v.rowCursor >= 0) {
		chooseWho(v.rows[v.rowCursor]);
	} else if (e.key === 'Escape' && (chosenTime.range || chosenTime.base)) {
		chooseRange(null, !chosenTime.range);
	} else if (e.key === '+' || e.key === '=' || e.key === '-') {
		zoomTime(e.key === '-' ? 2 : 0.5);
	} else if (e.key === '[' || e.key === ']') {
		changeUnit(e.key === '[' ? -1 : 1);
	} else if (e.key === 'b') {
		ui.baseline.click();
	} else {
		return;
	}
	e.preventDefault();
	e.stopPropagation();
}

let timer = 0;

/** Chooses what keys have marked, as soon as they rest. @param {Span} range */
function chosenLater(range) {
	const isBase = timeView.isBase;

	timeView.dragged = range;
	ui.timeText.textContent = `${isBase ? 'baseline' : 'range'}: ${rangeText(range)}`;
	timeView.later();
	clearTimeout(timer);
	timer = setTimeout(() => {
		timeView.dragged = null;
		if (range[1] > range[0])
			chooseRange(range, isBase);
	}, 200);
}

/* ---- the section ---- */

function buildTime() {
	const tracks = make('canvas', {role: 'img', 'aria-label': 'Tracks: who was sampled when'}), heat = make('canvas', {role: 'img', 'aria-label': 'Heat map: samples by time and offset'});
	const filler = make('div', {class: 'filler'}, tracks);
	const keys = 'arrow keys move the cursor, with Shift they choose a range, b: of the baseline, Escape clears it';
	const pane = make('div', {class: 'tracks', tabindex: 0, role: 'application', 'aria-label': `Tracks by time: ${keys}, Enter chooses the track`,
		keydown: (/** @type {KeyboardEvent} */ e) => timeKey(e, false), scroll: () => timeView.later()}, filler);
	const map = make('div', {class: 'heat', tabindex: 0, role: 'application', 'aria-label': `Heat map: ${keys}`,
		keydown: (/** @type {KeyboardEvent} */ e) => timeKey(e, true)}, heat);

	timeView = new TimeView(pane, filler, tracks, heat);
	ui.timeText = make('p', {role: 'status', 'aria-live': 'polite'});
	ui.byCpu = make('select', {'aria-label': 'Tracks', change: () => {
		chosenTime.byCpu = /** @type {HTMLSelectElement} */ (ui.byCpu).value === 'cpu';
		writeAddress();
		showTime();
	}}, make('option', {value: ''}, 'Threads'), make('option', {value: 'cpu'}, 'CPUs'));
	ui.baseline = make('button', {title: 'What is dragged is the baseline (b; or Ctrl or Shift with a drag)', click: () => {
		timeView.isBase = !timeView.isBase;
		showTime();
	}}, 'Baseline');
	const bar = make('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Time'}, ui.byCpu, ui.baseline,
		make('button', {click: () => showWindow(chosenTime.range), title: 'Shows only the range'}, 'Zoom to range'),
		make('button', {click: () => zoomTime(0.5), title: 'Closer (+)', 'aria-label': 'Closer'}, '+'),
		make('button', {click: () => zoomTime(2), title: 'Farther (-)', 'aria-label': 'Farther'}, '\u2212'),
		make('button', {click: () => showWindow(null), title: 'Shows all of the time'}, 'Whole time'),
		make('button', {click: () => changeUnit(-1), title: 'Shorter columns of the heat map ([)'}, 'Finer'),
		make('button', {click: () => changeUnit(1), title: 'Longer columns of the heat map (])'}, 'Coarser'));

	listenToDrags(tracks, x => timeView.tickAt(x), () => 0);
	listenToDrags(heat, (x, y) => timeView.cellAt(x, y), () => timeView.grid().row);
	tracks.addEventListener('click', e => {
		const box = tracks.getBoundingClientRect(), row = timeView.rowAt(e.clientY - box.top);

		if (e.clientX - box.left < timeView.labelWidth() && row >= 0)
			chooseWho(timeView.rows[row]);
	});
	new ResizeObserver(() => timeView.later()).observe(pane);
	ui.states = make('div', {class: 'legend', hidden: true}, 'Above the samples:', ...[1, 6, 7, 5].map(i => {
		const spot = make('i');

		spot.style.background = STATES[i][1];
		return make('span', {}, spot, STATES[i][0]);
	}));
	ui.heatText = make('p', {class: 'dim'});
	ui.change = make('div');
	return make('section', {class: 'time', 'aria-label': 'Time'}, bar, ui.timeText, ui.states, pane, ui.heatText, map, ui.change);
}

/** Sentences about what is chosen. */
function timeWords() {
	const {range, who} = chosenTime, of = chosenTime.range || wholeTime(), words = [];

	words.push(`${range ? 'Range' : 'All'}: ${rangeText(of)}${who ? `, ${short(whoText(who), 60)}` : ''}: ${amount(shown.tree.sum[shown.tree.n])}`
		+ ` (${share(shown.tree.sum[shown.tree.n], eventShown().period)})`);
	if (range)
		words.push(`report --time ${rangeOption(range)}`);
	if (who && when.hasStates)
		words.push(statesText(who, of));
	if (!range)
		words.push('Drag to choose a range: all sections follow. Ctrl or Shift and a drag choose the baseline.');
	return words.join(' \u00b7 ');
}

async function showTime() {
	const about = when.about;

	if (!about || state.view !== 'time')
		return;
	timeView.moments = await momentsOf(state.event);
	if (!timeView.isLoaded) {
		timeView.isLoaded = true;
		await loadStates();
		timeView.trackKey = '';
	}
	ui.states.hidden = !when.hasStates;
	/** @type {HTMLSelectElement} */ (ui.byCpu).value = chosenTime.byCpu ? 'cpu' : '';
	ui.baseline.setAttribute('aria-pressed', String(timeView.isBase));
	ui.timeText.textContent = timeWords();
	const unit = timeView.unit();
	ui.heatText.textContent = `Heat map: a column is ${unit >= 1 ? `${unit} s` : `${unit * 1000} ms`}, a cell ${+(unit * 1000 / HEAT_ROWS).toPrecision(4)} ms of it.`
		+ (about.every > 1 ? ` One of ${about.every} samples is in this file and stands for the others: sums of ranges are estimates, those without a range have all samples.` : '')
		+ (about.timeless ? ` ${about.timeless.toLocaleString('en')} samples have no time and are left out here.` : '');
	showChange();
	timeView.later();
}

/** What is chosen, above all sections. */
function showRange() {
	const chip = (/** @type {string} */ text, /** @type {() => void} */ clear) => make('button', {click: clear, title: 'A click takes it back'}, `${text} \u00d7`);

	ui.range.replaceChildren();
	if (chosenTime.range)
		ui.range.append(chip(`range ${rangeText(chosenTime.range)}`, () => chooseRange(null, false)));
	if (chosenTime.base)
		ui.range.append(chip(`baseline ${rangeText(chosenTime.base)}`, () => chooseRange(null, true)));
	if (chosenTime.who)
		ui.range.append(chip(`only ${short(whoText(chosenTime.who), 40)}`, () => chooseWho(chosenTime.who)));
	if (chosenTime.range || chosenTime.who)
		ui.range.append(make('span', {class: 'dim'}, `shown: ${amount(shown.tree.sum[shown.tree.n])}, ${share(shown.tree.sum[shown.tree.n], eventShown().period)} of the event`));
}
