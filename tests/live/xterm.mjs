// A terminal (@xterm/headless) that shows what stdin says, a line of JSON each, and answers each line with one:
//     node xterm.mjs MODULES COLUMNS ROWS
//     {"write": BASE64}   {"resize": [COLUMNS, ROWS]}   {"look": true}: what it shows
import {createRequire} from 'module';
import {createInterface} from 'readline';

const [modules, columns, rows] = process.argv.slice(2);
const {Terminal} = createRequire(modules + '/')('@xterm/headless');
const terminal = new Terminal({cols: Number(columns), rows: Number(rows), allowProposedApi: true, scrollback: 100});

// A row as runs of cells of one look: [column, text, foreground, background, attributes]; colours of 24 bits are #rrggbb.
const colour = (isRgb, isPalette, value) => isRgb ? '#' + value.toString(16).padStart(6, '0') : isPalette ? value : null;

function runs(line) {
	const all = [];
	let before = '';

	for (let x = 0; x < terminal.cols; x++) {
		const cell = line.getCell(x);
		const look = [colour(cell.isFgRGB(), cell.isFgPalette(), cell.getFgColor()), colour(cell.isBgRGB(), cell.isBgPalette(), cell.getBgColor()),
			(cell.isBold() ? 'b' : '') + (cell.isDim() ? 'd' : '') + (cell.isUnderline() ? 'u' : '') + (cell.isInverse() ? 'r' : '')];
		const name = JSON.stringify(look);

		if (name !== before)
			all.push([x, '', ...look]);
		before = name;
		all[all.length - 1][1] += cell.getWidth() ? cell.getChars() || ' ' : '';
	}
	return all;
}

function look() {
	const buffer = terminal.buffer.active;
	const lines = [...Array(terminal.rows).keys()].map(y => buffer.getLine(buffer.baseY + y));

	return {
		lines: lines.map(line => line.translateToString(true)), runs: lines.map(runs), buffer: buffer.type,
		mouse: terminal.modes.mouseTrackingMode, wraps: terminal.modes.wraparoundMode, keys: terminal.modes.applicationCursorKeysMode};
}

for await (const line of createInterface({input: process.stdin})) {
	const order = JSON.parse(line);

	if (order.write !== undefined)
		await new Promise(done => terminal.write(Buffer.from(order.write, 'base64'), done));
	if (order.resize)
		terminal.resize(...order.resize);
	console.log(JSON.stringify(order.look ? look() : {}));
}
