// tracks.js - the drawing of the section about time: a track for each thread or CPU, a heat map of offsets, and what is marked on them.

const TRACK = 22, RULER = 20;

class TimeView {
	/** @param {HTMLElement} pane scrolls @param {HTMLElement} filler is as tall as all tracks @param {HTMLCanvasElement} tracks @param {HTMLCanvasElement} heat */
	constructor(pane, filler, tracks, heat) {
		this.pane = pane;
		this.filler = filler;
		this.tracks = tracks;
		this.heat = heat;
		/** @type {Moments|null} */
		this.moments = null;
		/** @type {string[]} of the tracks, from top to bottom */
		this.rows = [];
		this.rowCursor = -1;
		this.cursor = 0; // a tick
		this.anchor = 0;
		this.isBase = false; // ranges are baselines
		this.wasBase = false; // it was so before a key made it so
		/** @type {Span|null} */
		this.dragged = null;
		this.isStale = false;
		this.isLoaded = false; // states are
		this.redrawMs = 0;
		this.rowsKey = this.trackKey = this.heatKey = '';
		this.cells = new Float64Array(0);
		this.columns = new Float64Array(0);
		this.trackImage = document.createElement('canvas');
		this.heatImage = document.createElement('canvas');
		/** @type {Object<string, string>} */
		this.ink = {};
	}

	/** The busiest threads, or CPUs, first. @param {Moments} m @param {string} key */
	orderRows(m, key) {
		if (this.rowsKey === key)
			return;
		const kind = chosenTime.byCpu ? 'c' : 't', of = chosenTime.byCpu ? m.cpu : m.thread, sums = new Float64Array(Math.max(65536, when.threads.length));

		for (let i = 0; i < m.n; i++)
			sums[of[i]] += m.period ? m.period[i] : m.common;
		const order = [];
		for (let i = 0; i < sums.length; i++)
			if (sums[i])
				order.push(i);
		order.sort((a, b) => sums[b] - sums[a] || a - b);
		this.rows = order.map(i => kind + i);
		this.rowsKey = key;
		this.rowCursor = -1;
	}

	labelWidth() {
		return this.pane.clientWidth < 600 ? 100 : 190;
	}

	/** Where tracks begin and how wide they are. */
	area() {
		return {left: this.labelWidth(), width: Math.max(10, this.pane.clientWidth - this.labelWidth() - 8)};
	}

	/** @param {number} x */
	tickAt(x) {
		const {left, width} = this.area(), [from, to] = visibleTime();

		return Math.round(Math.min(to, Math.max(from, from + (x - left) / width * (to - from))));
	}

	/** @param {number} tick */
	xOf(tick) {
		const {left, width} = this.area(), [from, to] = visibleTime();

		return left + Math.min(1, Math.max(0, (tick - from) / (to - from))) * width;
	}

	later() {
		if (this.isStale)
			return;
		this.isStale = true;
		requestAnimationFrame(() => this.draw());
	}

	draw() {
		const began = performance.now(), m = this.moments;

		this.isStale = false;
		if (!m || !this.pane.clientWidth)
			return;
		const style = getComputedStyle(this.pane), value = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
		this.ink = {text: style.color, dim: value('--dim'), line: value('--line'), mark: value('--mark'), back: value('--back'),
			panel: value('--panel'), base: value('--base'), scheme: style.colorScheme + matchMedia('(prefers-color-scheme: dark)').matches};
		this.orderRows(m, `${state.event} ${chosenTime.byCpu}`);
		this.drawTracks(m);
		this.drawHeat(m);
		this.redrawMs = performance.now() - began;
	}

	/** @param {HTMLCanvasElement} canvas @param {number} wide @param {number} tall */
	sized(canvas, wide, tall) {
		const ratio = devicePixelRatio || 1, g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));

		if (canvas.width !== Math.round(wide * ratio) || canvas.height !== Math.round(tall * ratio)) {
			canvas.width = Math.round(wide * ratio);
			canvas.height = Math.round(tall * ratio);
			canvas.style.width = `${wide}px`;
			canvas.style.height = `${tall}px`;
		}
		g.setTransform(ratio, 0, 0, ratio, 0, 0);
		g.clearRect(0, 0, wide, tall);
		g.font = '12px system-ui, "DejaVu Sans", sans-serif';
		g.textBaseline = 'middle';
		return g;
	}

	/* ---- tracks ---- */

	/** @param {Moments} m */
	drawTracks(m) {
		this.filler.style.height = `${RULER + this.rows.length * TRACK}px`;
		const wide = this.pane.clientWidth, tall = this.pane.clientHeight, {left, width} = this.area();
		const first = Math.floor(this.pane.scrollTop / TRACK), last = Math.min(this.rows.length, first + Math.ceil(tall / TRACK) + 1);
		const key = [this.rowsKey, visibleTime(), wide, tall, this.pane.scrollTop, chosenTime.who, this.rowCursor, this.ink.scheme, devicePixelRatio].join();
		if (this.trackKey !== key) {
			const g = this.sized(this.trackImage, wide, tall);

			this.sumTracks(m, first, last, Math.ceil(width));
			for (let row = first; row < last; row++)
				this.drawTrack(g, row, (row - first) * Math.ceil(width));
			g.fillStyle = this.ink.back;
			g.fillRect(0, 0, wide, RULER);
			this.drawRuler(g);
			this.trackKey = key;
		}
		const g = this.sized(this.tracks, wide, tall);
		g.drawImage(this.trackImage, 0, 0, wide, tall);
		for (const [range, colour, title] of this.marks())
			this.drawMark(g, range, colour, title, tall);
		g.fillStyle = this.ink.text;
		g.fillRect(this.xOf(this.cursor) - 0.5, RULER - 4, 1, tall);
		g.fillStyle = this.ink.line;
		g.fillRect(left - 1, RULER, 1, tall);
	}

	/** What is marked: the chosen ranges, and the one that is being dragged. @returns {[Span, string, string][]} */
	marks() {
		const ret = /** @type {[Span, string, string][]} */ ([]);

		if (chosenTime.base && !(this.dragged && this.isBase))
			ret.push([chosenTime.base, this.ink.base, 'baseline']);
		if (chosenTime.range && !(this.dragged && !this.isBase))
			ret.push([chosenTime.range, this.ink.mark, 'range']);
		if (this.dragged)
			ret.push([this.dragged, this.isBase ? this.ink.base : this.ink.mark, this.isBase ? 'baseline' : 'range']);
		return ret;
	}

	/** @param {CanvasRenderingContext2D} g @param {Span} range @param {string} colour @param {string} title @param {number} tall */
	drawMark(g, range, colour, title, tall) {
		const [from, to] = visibleTime();

		if (range[1] <= from || range[0] >= to)
			return;
		const x = this.xOf(range[0]), w = Math.max(2, this.xOf(range[1]) - x);

		g.fillStyle = colour;
		g.globalAlpha = 0.16;
		g.fillRect(x, RULER, w, tall);
		g.globalAlpha = 1;
		g.fillRect(x, RULER, 1.5, tall);
		g.fillRect(x + w - 1.5, RULER, 1.5, tall);
		g.fillRect(x, RULER - 4, w, 4);
		const room = g.measureText(title).width + 8;
		const at = Math.min(x, this.pane.clientWidth - room - 2);
		g.fillRect(at, 0, room, RULER - 4);
		g.fillStyle = this.ink.back;
		g.fillText(title, at + 4, (RULER - 4) / 2);
	}

	/** Sums by visible track and pixel. @param {Moments} m @param {number} first @param {number} last @param {number} width */
	sumTracks(m, first, last, width) {
		const row = new Int32Array(Math.max(65536, when.threads.length)).fill(-1), of = chosenTime.byCpu ? m.cpu : m.thread;
		const [from, to] = visibleTime(), scale = width / (to - from), end = firstAt(m.tick, to);

		for (let i = first; i < last; i++)
			row[Number(this.rows[i].slice(1))] = (i - first) * width;
		this.columns = new Float64Array(Math.max(0, last - first) * width);
		for (let i = firstAt(m.tick, from); i < end; i++) {
			const at = row[of[i]];

			if (at >= 0)
				this.columns[at + ((m.tick[i] - from) * scale | 0)] += m.period ? m.period[i] : m.common;
		}
	}

	/** The value of a column as high as a track: all of the time, or the largest of all columns. @param {number} width */
	fullColumn(width) {
		const [from, to] = visibleTime();
		let most = 0;

		if (eventShown().time)
			return seconds(to - from) * 1e9 / width;
		for (const value of this.columns)
			most = Math.max(most, value);
		return most || 1;
	}

	/** @param {CanvasRenderingContext2D} g @param {number} row @param {number} at of its columns */
	drawTrack(g, row, at) {
		const who = this.rows[row], y = RULER + row * TRACK - this.pane.scrollTop, {left, width} = this.area(), n = Math.ceil(width);
		const isChosen = chosenTime.who === who, full = this.fullColumn(n);

		if (row % 2 || isChosen) {
			g.fillStyle = isChosen ? this.ink.line : this.ink.panel;
			g.fillRect(0, y, this.pane.clientWidth, TRACK);
		}
		g.fillStyle = this.ink.mark;
		g.globalAlpha = !chosenTime.who || isChosen ? 0.9 : 0.35;
		for (let x = 0; x < n; x++)
			if (this.columns[at + x]) {
				const tall = Math.max(1.5, Math.min(1, this.columns[at + x] / full) * (when.hasStates ? TRACK - 9 : TRACK - 4));
				g.fillRect(left + x, y + TRACK - 2 - tall, 1, tall);
			}
		g.globalAlpha = 1;
		this.drawStates(g, who, y + 1);
		g.fillStyle = this.ink.text;
		g.fillText(fitted(g, whoText(who), left - 14), 8, y + TRACK / 2);
		if (row === this.rowCursor) {
			g.strokeStyle = this.ink.text;
			g.lineWidth = 2;
			g.strokeRect(1, y + 1, this.pane.clientWidth - 2, TRACK - 2);
		}
	}

	/** A band of states at the top of a track; pieces below a pixel are joined to the state that most of it has. @param {CanvasRenderingContext2D} g @param {string} who @param {number} y */
	drawStates(g, who, y) {
		const {left, width} = this.area(), [from, to] = visibleTime(), scale = width / (to - from), tall = 5;
		let pixel = -1, longest = 0;

		eachPiece(lanesOf(who), [from, to], (begin, end, state) => {
			const x = left + (begin - from) * scale, w = (end - begin) * scale, [, colour, part] = STATES[state];

			if (w < 1 && Math.floor(x) === pixel && w <= longest)
				return;
			longest = w < 1 && Math.floor(x) === pixel ? Math.max(longest, w) : w;
			pixel = Math.floor(x);
			if (!part)
				return;
			g.fillStyle = colour;
			g.fillRect(w < 1 ? pixel : x, y + tall * (1 - part), Math.max(1, w), tall * part);
		});
	}

	/** @param {CanvasRenderingContext2D} g */
	drawRuler(g) {
		const {left, width} = this.area(), [from, to] = visibleTime(), span = seconds(to - from), most = Math.max(1, Math.floor(width / 90));
		let step = 1e-6;

		for (let k = 0; span / step > most; k++)
			step *= k % 3 === 1 ? 2.5 : 2;
		g.fillStyle = this.ink.dim;
		for (let k = Math.ceil(seconds(from) / step); k * step <= seconds(to); k++) {
			const x = left + (k * step - seconds(from)) / span * width, text = `${+(k * step).toFixed(6)} s`;

			g.fillRect(x, RULER - 4, 1, 4);
			g.fillText(text, Math.min(x + 3, left + width - g.measureText(text).width), RULER / 2 - 2);
		}
	}

	/* ---- the heat map ---- */

	/** Seconds of a column: as chosen, or such that there are 60 columns or more, and not more than fit. */
	unit() {
		if (chosenTime.unit)
			return chosenTime.unit;
		const [from, to] = visibleTime(), span = seconds(to - from), {width} = this.area();
		const wanted = Math.min(120, width / 4);

		return HEAT_UNITS.findLast(unit => span / unit >= wanted) || HEAT_UNITS[0];
	}

	/** The cells' size in ticks and pixels. */
	grid() {
		const [from, to] = visibleTime(), unit = Math.max(HEAT_ROWS, Math.round(this.unit() * 1e9 / /** @type {Times} */ (when.about).tick));
		const first = Math.floor(from / unit), columns = Math.ceil(to / unit) - first, {left, width} = this.area();

		return {first, columns, unit, row: unit / HEAT_ROWS, left, wide: Math.min(40, width / columns), tall: Math.max(4, Math.min(6, Math.floor(innerHeight / 160)))};
	}

	/** @param {Moments} m */
	drawHeat(m) {
		const grid = this.grid(), wide = this.pane.clientWidth, height = grid.tall * HEAT_ROWS + RULER;
		const key = [state.event, visibleTime(), wide, height, grid.unit, chosenTime.who, this.ink.scheme, devicePixelRatio].join();

		if (this.heatKey !== key) {
			this.drawCells(m, this.sized(this.heatImage, wide, height), grid);
			this.heatKey = key;
		}
		const g = this.sized(this.heat, wide, height);
		g.drawImage(this.heatImage, 0, 0, wide, height);
		for (const [range, colour] of this.marks())
			this.markCells(g, range, colour, grid);
		const cell = Math.floor(this.cursor / grid.row);
		g.strokeStyle = this.ink.text;
		g.lineWidth = 1;
		g.strokeRect(grid.left + (Math.floor(cell / HEAT_ROWS) - grid.first) * grid.wide + 0.5, RULER + (cell % HEAT_ROWS) * grid.tall + 0.5, Math.max(2, grid.wide - 1), grid.tall - 1);
	}

	/** @param {Moments} m @param {CanvasRenderingContext2D} g @param {ReturnType<TimeView['grid']>} grid */
	drawCells(m, g, grid) {
		const isDark = this.ink.scheme.endsWith('true'), cells = this.cells = new Float64Array(grid.columns * HEAT_ROWS), start = grid.first * grid.unit;
		let most = 0;

		eachMoment(m, visibleTime(), i => {
			cells[(m.tick[i] - start) / grid.row | 0] += m.period ? m.period[i] : m.common;
		});
		for (const value of cells)
			most = Math.max(most, value);
		g.fillStyle = this.ink.panel;
		g.fillRect(grid.left, RULER, grid.columns * grid.wide, grid.tall * HEAT_ROWS);
		for (let i = 0; i < cells.length; i++)
			if (cells[i]) {
				const heat = Math.sqrt(cells[i] / most);

				g.fillStyle = `hsl(${55 - 50 * heat} 90% ${isDark ? 20 + 45 * heat : 88 - 46 * heat}%)`;
				g.fillRect(grid.left + Math.floor(i / HEAT_ROWS) * grid.wide, RULER + i % HEAT_ROWS * grid.tall, grid.wide > 3 ? grid.wide - 0.5 : grid.wide, grid.tall - 0.5);
			}
		this.labelCells(g, grid);
	}

	/** @param {CanvasRenderingContext2D} g @param {ReturnType<TimeView['grid']>} grid */
	labelCells(g, grid) {
		const unit = grid.unit * /** @type {Times} */ (when.about).tick / 1e9;
		const every = Math.max(1, Math.ceil(80 / grid.wide));

		g.fillStyle = this.ink.dim;
		for (let column = 0; column < grid.columns; column += every) {
			const text = `${+((grid.first + column) * unit).toFixed(3)} s`;

			g.fillText(text, Math.min(grid.left + column * grid.wide, this.pane.clientWidth - g.measureText(text).width - 4), RULER / 2 - 2);
		}
		g.textAlign = 'right';
		for (let row = 0; row < HEAT_ROWS; row += 10)
			g.fillText(`+${+(row * unit / HEAT_ROWS * 1e3).toPrecision(4)} ms`, grid.left - 6, RULER + row * grid.tall + 7);
		g.textAlign = 'left';
	}

	/** @param {CanvasRenderingContext2D} g @param {Span} range @param {string} colour @param {ReturnType<TimeView['grid']>} grid */
	markCells(g, range, colour, grid) {
		const from = Math.max(range[0], grid.first * grid.unit), to = Math.min(range[1], (grid.first + grid.columns) * grid.unit);

		for (let column = Math.floor(from / grid.unit); column * grid.unit < to; column++) {
			const y = Math.max(0, Math.floor((from - column * grid.unit) / grid.row)), end = Math.min(HEAT_ROWS, Math.ceil((to - column * grid.unit) / grid.row));
			const x = grid.left + (column - grid.first) * grid.wide;

			g.fillStyle = colour;
			g.globalAlpha = 0.25;
			g.fillRect(x, RULER + y * grid.tall, grid.wide, (end - y) * grid.tall);
			g.globalAlpha = 1;
			g.fillRect(x, RULER + y * grid.tall, grid.wide, 1.5);
			g.fillRect(x, RULER + end * grid.tall - 1.5, grid.wide, 1.5);
		}
	}

	/** The first tick of the cell at a place of the heat map. @param {number} x @param {number} y */
	cellAt(x, y) {
		const grid = this.grid();
		const column = Math.min(grid.columns - 1, Math.max(0, Math.floor((x - grid.left) / grid.wide))), row = Math.min(HEAT_ROWS - 1, Math.max(0, Math.floor((y - RULER) / grid.tall)));

		return (grid.first + column) * grid.unit + row * grid.row;
	}

	/** The track at a place, or -1. @param {number} y */
	rowAt(y) {
		const row = Math.floor((y - RULER + this.pane.scrollTop) / TRACK);

		return y < RULER || row >= this.rows.length ? -1 : row;
	}
}

/** @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
function fitted(g, text, width) {
	let cut = text.slice(0, 200);

	if (g.measureText(cut).width <= width && cut === text)
		return text;
	while (cut && g.measureText(cut + '\u2026').width > width)
		cut = cut.slice(0, cut.length > 40 ? cut.length >> 1 : -1);
	return cut + '\u2026';
}

/** @type {TimeView} */
let timeView;
