// chartio.js - what tasks read and wrote, in lanes below their states, and the frequencies of CPUs.

const IO_GROUPS = ['disk', 'network', 'sync', 'poll'], IO = 8;
/** By enum chart_io_kind: group, what is said of it, and where in the lane it is drawn: -1 in its upper half, 1 in its lower one. @type {[number, string, number][]} */
const IO_KINDS = [[0, 'read', -1], [0, 'write', 1], [2, 'sync', 0], [1, 'receive', -1], [1, 'send', 1], [3, 'poll', 0]];
const IO_LIGHT = ['#1c5bd0', '#16803c', '#8a7a00', '#0c8a8a', '#d0342c'], IO_DARK = ['#5b93f5', '#4cc27a', '#cdb93a', '#4dbdbd', '#ef6a5f'];

const io = {
	all: new Float64Array(0), // from, length, kind, life, bytes, file descriptor + 1, errno, how many
	lanes: /** @type {{row: number, group: number, ios: number[]}[]} */ ([]),
	ofRow: /** @type {number[][]} */ ([]), // numbers of these
	speeds: /** @type {{at: number, khz: number}[][]} */ ([]), // by CPU's lane
};

async function loadIo() {
	const chunks = await Promise.all([inflateChunk('ios'), inflateChunk('speeds')]), one = new Float64Array(1);
	const n = chunks[0].reduce((sum, byte) => sum + (byte < 128 ? 1 : 0), 0);
	const all = io.all = readNumbers(chunks[0], new Float64Array(n));
	/** @type {Map<number, number>} */
	const places = new Map();
	let at = 0, time = 0;

	for (let i = 0; i < n; i += IO) {
		all[i] = time += distance(all[i]);
		const row = chart.lives[6 * all[i + 3] + 3] - 1, key = row * IO_GROUPS.length + IO_KINDS[all[i + 2]][0];
		if (row < 0)
			continue;
		if (!places.has(key)) {
			places.set(key, io.lanes.length);
			io.lanes.push({row, group: key % IO_GROUPS.length, ios: []});
			(io.ofRow[row] = io.ofRow[row] || []).push(io.lanes.length - 1);
		}
		io.lanes[/** @type {number} */ (places.get(key))].ios.push(i);
	}
	for (const lane of io.lanes)
		lane.ios.sort((a, b) => all[a] - all[b]);
	for (const row of io.ofRow)
		row?.sort((a, b) => io.lanes[a].group - io.lanes[b].group);
	const number = () => { at = readColumn(chunks[1], at, one); return one[0]; };
	io.speeds = chart.about.cpus.map(() => {
		time = 0;
		return Array.from({length: number()}, () => ({at: time += number(), khz: number()}));
	});
}

/** Lanes of I/O have numbers behind those of CPUs and rows. @param {number} lane */
const ioLane = lane => io.lanes[lane - chart.starts.length + 1];

/** A lane and those of its I/O. @param {number} lane */
function withIo(lane) {
	return [lane, ...(io.ofRow[lane - chart.about.cpus.length] || []).map(i => chart.starts.length - 1 + i)];
}

/** @param {number} lane @param {number} y @param {number} bar */
function drawIo(lane, y, bar) {
	const colours = (isDark() ? IO_DARK : IO_LIGHT).map(pixelOf), scale = layer.width / (view.to - view.from), {ios, group} = ioLane(lane);

	for (const i of ios) {
		const x = (io.all[i] - view.from) * scale, right = (io.all[i] + io.all[i + 1] - view.from) * scale, side = IO_KINDS[io.all[i + 2]][2];
		if (right >= 0 && x < layer.width)
			fillBox(x, right, y + (side > 0 ? bar / 2 : 0), y + (side < 0 ? bar / 2 : bar), colours[io.all[i + 6] ? 4 : group]);
	}
}

/** The frequency of a CPU as a line, up to its highest one. @param {CanvasRenderingContext2D} c @param {number} lane @param {number} y */
function drawSpeeds(c, lane, y) {
	const speeds = io.speeds[lane] || [], most = speeds.reduce((most, {khz}) => Math.max(most, khz), 1);
	const xOf = (/** @type {number} */ time) => gutter() + Math.max(0, Math.min(1, (time - view.from) / (view.to - view.from))) * plotWidth();

	if (!speeds.length)
		return;
	c.strokeStyle = isDark() ? '#d9a4f5' : '#7b3fa0';
	c.lineWidth = 1.5;
	c.beginPath();
	speeds.forEach(({at, khz}, i) => {
		const until = i + 1 < speeds.length ? speeds[i + 1].at : chart.about.span, height = y + BAR - (BAR - 1) * khz / most;
		if (until < view.from || at > view.to)
			return;
		c.lineTo(xOf(at), height);
		c.lineTo(xOf(until), height);
	});
	c.stroke();
	c.lineWidth = 1;
}

/** @param {number} lane @param {number} time */
function speedText(lane, time) {
	const speed = (io.speeds[lane] || []).filter(({at}) => at <= time).pop();

	return speed ? `, at ${+(speed.khz / 1000).toFixed(1)} MHz` : '';
}

/** What is said of the I/O at a place; nothing if there is none. @param {number} lane @param {number} time */
function ioTexts(lane, time) {
	const near = (view.to - view.from) / plotWidth() * 2;

	return ioLane(lane).ios.filter(i => io.all[i] - near <= time && time <= io.all[i] + io.all[i + 1] + near).slice(0, 5).map(i => {
		const [from, length, kind, life, bytes, fd, error, n] = io.all.subarray(i, i + IO);
		return `${lifeName(life)} ${IO_KINDS[kind][1]}${bytes ? ` ${bytes.toLocaleString('en')} bytes` : ''}${fd ? ` (file ${fd - 1})` : ''} for ${timeText(length)}, from ${
			timeText(from, 9)} to ${timeText(from + length, 9)}${error ? `: failed with error ${error}` : ''}${n > 1 ? ` (${n} that were close together)` : ''}`;
	});
}

/** A table of the I/O in a range, of lanes that are shown. @param {number} from @param {number} to */
function ioTable(from, to) {
	const rows = lanes.filter(ioLane).map(lane => {
		const sums = {lane, n: 0, bytes: 0, ns: 0, errors: 0};
		for (const i of ioLane(lane).ios) {
			const ns = Math.min(to, io.all[i] + io.all[i + 1]) - Math.max(from, io.all[i]);
			if (ns < 0)
				continue;
			sums.ns += ns;
			sums.n += io.all[i + 7];
			sums.bytes += io.all[i + 4];
			sums.errors += io.all[i + 6] ? io.all[i + 7] : 0;
		}
		return sums;
	}).filter(sums => sums.n).sort((a, b) => b.ns - a.ns).slice(0, TABLE_ROWS);
	const cells = (/** @type {string[]} */ texts, /** @type {'td'|'th'} */ tag) => texts.map((text, i) => make(tag, {class: i < 4 ? 'number' : 'name'}, text));

	return rows.length ? make('table', {class: 'ios'}, make('thead', {}, make('tr', {}, ...cells(['I/O', 'Calls', 'Failed', 'Bytes', 'Task'], 'th'))),
		make('tbody', {}, ...rows.map(({lane, n, bytes, ns, errors}) => make('tr', {}, ...cells([timeText(ns), n.toLocaleString('en'),
			errors ? errors.toLocaleString('en') : '', bytes ? bytes.toLocaleString('en') : '',
			`${laneName(chart.about.cpus.length + ioLane(lane).row)} ${IO_GROUPS[ioLane(lane).group]}`], 'td'))))) : '';
}
