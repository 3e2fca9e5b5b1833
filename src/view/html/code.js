// code.js - source and instructions of the hottest functions, with what was sampled in each line.

/**
 * As view/code/annotate_page.h says. A row: index, offset, text, what it refers to, the index it jumps to, chain, then event, samples, period
 * of each event that was sampled there.
 * @typedef {{path: string, why?: string, lines: any[][]}} CodeFile
 * @typedef {{name: string, dso: string, start: string, size: number, counts: number[], code_from?: string, by?: string, no_code?: string,
 *   no_lines?: string, n_rows: number, files: CodeFile[], chains: [string, number, number][][], rows: any[][]}} Code
 */

const ROW_COUNTS = 6, EVENTS_BESIDE = 3;

/** @type {{functions: number, shown: Code[]}|undefined} */
let codes;
/** What stands in the section now. */
let codeShown = '';

/**
 * As view/code/annotate_types_page.h says. Of each event: samples in types with members, all samples, how far they are from accesses.
 * @typedef {{types: number, events: [number, number, number][], shown: {name: string, size: number, n: number, lines: any[][]}[]}} Types
 */

const LINE_COUNTS = 7, TYPES_OPEN = 2;
/** What is said of events whose samples are not exactly where the access was. */
const DISTANCES = ['', '; its samples are late: the access is that of the instruction that ran before the sampled one',
	'; its samples are some way behind what caused them: types are those of the sampled instructions'];

async function loadCode() {
	codes = codes || JSON.parse(await textOfChunk('code'));
	return /** @type {{functions: number, shown: Code[]}} */ (codes);
}

/** The name of a function that has code, as a number, or -1. @param {Code} code */
function nameOfCode(code) {
	return data.names.findIndex((name, i) => name === code.name && fileOf(i) === code.dso && data.kinds[i] !== KIND_TASK);
}

function buildCode() {
	ui.codeOf = make('select', {'aria-label': 'Function', change: () => pick(Number(/** @type {HTMLSelectElement} */ (ui.codeOf).value), 'code')});
	ui.codeAbout = make('p', {class: 'dim'});
	ui.source = make('div', {class: 'listing', 'aria-label': 'Source', tabindex: 0});
	ui.assembly = make('div', {class: 'listing', 'aria-label': 'Instructions', tabindex: 0});
	return make('section', {class: 'code', 'aria-label': 'Code'}, make('p', {class: 'tools'}, ui.codeOf,
		ui.toTypes = make('button', {hidden: true, click: () => ui.types.scrollIntoView()}, 'Data types')), ui.codeAbout,
		make('div', {class: 'two'}, ui.source, ui.assembly), ui.types = make('div', {class: 'types'}));
}

async function showCode() {
	const {functions, shown: all} = await loadCode(), event = state.event;

	showTypes();
	const list = all.filter(code => code.counts[2 * event] > 0).sort((a, b) => b.counts[2 * event + 1] - a.counts[2 * event + 1]);
	const names = list.map(nameOfCode), at = Math.max(0, names.indexOf(state.picked)), code = list[at];
	const key = [event, state.picked].join();

	if (state.view !== 'code' || key === codeShown)
		return;
	codeShown = key;
	ui.codeOf.replaceChildren(...list.map((code, i) => make('option', {value: names[i], selected: i === at},
		`${share(code.counts[2 * event + 1], eventShown().period)}  ${short(code.name, 80)}  ${code.dso[0] === '[' ? code.dso : `[${code.dso}]`}`)));
	if (!code) {
		ui.codeAbout.textContent = 'None of the functions whose code is here was sampled by this event.';
		ui.source.replaceChildren();
		ui.assembly.replaceChildren();
		return;
	}
	const rest = functions - all.length, said = [`${code.size.toLocaleString('en')} bytes at ${code.start} of ${code.dso}`];
	if (code.code_from)
		said.push(`from ${code.code_from}, disassembled by ${code.by}`);
	said.push('percent are of the function');
	if (rest > 0)
		said.push(`the page has the code of the ${all.length} hottest of ${functions.toLocaleString('en')} functions: pace annotate shows the others`);
	ui.codeAbout.replaceChildren(make('span', {}, said.join('; ') + '.'));
	const hottest = showLines(code);
	showRows(code);
	if (hottest)
		mark(hottest);
}

/** What was sampled in a row of an event: its period. @param {any[]} row @param {number} event @param {number} [first] where counts begin */
function countOf(row, event, first = ROW_COUNTS) {
	for (let k = first; k < row.length; k += 3)
		if (row[k] === event)
			return row[k + 2];
	return 0;
}

/** A cell with a share, darker the more it is. @param {number} part @param {number} whole */
function heatCell(part, whole) {
	const cell = make('td', {class: 'number'}, part ? share(part, whole) : '');

	if (part)
		cell.style.background = `color-mix(in srgb, var(--heat) ${Math.min(85, Math.ceil(8 + 200 * part / whole))}%, transparent)`;
	return cell;
}

/** @param {string} path */
function lastPart(path) {
	return path.slice(path.lastIndexOf('/') + 1);
}

/** Lines of the source with what was sampled in their own code, and in what is inlined there. @param {Code} code */
function showLines(code) {
	const own = new Map(), all = new Map(), whole = code.counts[2 * state.event + 1], parts = [];
	const add = (/** @type {Map<string, number>} */ map, /** @type {string} */ key, /** @type {number} */ n) => map.set(key, (map.get(key) || 0) + n);

	for (const row of code.rows) {
		const n = countOf(row, state.event), chain = code.chains[row[5]];

		if (!n || !chain)
			continue;
		add(own, `${chain[0][1]}:${chain[0][2]}`, n);
		for (const key of new Set(chain.map(([, file, line]) => `${file}:${line}`)))
			add(all, key, n);
	}
	code.files.forEach((file, k) => {
		const row = (/** @type {number} */ line, /** @type {string} */ text) => {
			const key = `${k}:${line}`, more = (all.get(key) || 0) - (own.get(key) || 0);
			const element = make('tr', {'data-line': key, tabindex: own.has(key) || more ? 0 : false, click: () => mark(key),
				keydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter') mark(key); }},
			heatCell(own.get(key) || 0, whole), make('td', {class: 'number dim', title: 'in functions that are inlined here'}, more ? `+${share(more, whole)}` : ''),
			make('td', {class: 'number dim'}, String(line)), make('td', {class: 'text'}, text));
			return element;
		};
		const rows = [];

		for (const [first, ...texts] of file.lines) {
			if (rows.length)
				rows.push(make('tr', {class: 'gap'}, make('td', {colspan: 4}, '\u2026')));
			texts.forEach((text, i) => rows.push(row(first + i, text)));
		}
		if (!file.lines.length)
			for (const [key] of [...all].filter(([key]) => key.startsWith(k + ':')).sort((a, b) => b[1] - a[1]).slice(0, 30))
				rows.push(row(Number(key.split(':')[1]), ''));
		if (rows.length)
			parts.push(make('h3', {title: file.path}, lastPart(file.path)), file.why ? make('p', {class: 'dim'}, `${file.path}: ${file.why}`) : '',
				make('table', {}, make('tbody', {}, ...rows)));
	});
	if (!parts.length)
		parts.push(make('p', {class: 'dim'}, code.no_lines || 'No source lines are known.'));
	ui.source.replaceChildren(...parts);
	return [...own].sort((a, b) => b[1] - a[1])[0]?.[0];
}

/** The event that is shown, and some others. @param {(event: number) => boolean} isThere */
function eventsBeside(isThere) {
	return [state.event, ...data.about.events.map((_, i) => i).filter(i => i !== state.event && isThere(i)).slice(0, EVENTS_BESIDE)];
}

/** @param {number[]} events */
function eventHeadings(events) {
	return events.map(event => make('th', {class: 'number'}, short(data.about.events[event].name, 18)));
}

/** @param {Code} code */
function showRows(code) {
	const shownEvents = eventsBeside(i => code.counts[2 * i] > 0), rows = [];
	const n_cells = shownEvents.length + 2;
	const note = (/** @type {string} */ text, /** @type {string} */ kind) => rows.push(make('tr', {class: kind}, make('td', {colspan: n_cells}, text)));
	let before = -1, functions = '';

	for (const row of code.rows) {
		const [index, offset, text, refers, to, chainOf] = row, chain = code.chains[chainOf] || [];
		const names = chain.map(([name]) => name).join(' < ');

		if (index !== before + 1)
			note(`\u2026 ${(index - before - 1).toLocaleString('en')} instructions without samples nearby`, 'gap');
		// Which inlined functions this is in, where they begin.
		if (names !== functions && (chain.length > 1 || functions.includes(' < ')))
			note(chain.map(([name, file, line]) => `${name}${file >= 0 ? ` ${lastPart(code.files[file].path)}:${line}` : ''}`).join(' < '), 'inlined');
		functions = names;
		before = index;
		rows.push(make('tr', {'data-row': index, 'data-heat': countOf(row, state.event), 'data-lines': chain.map(([, file, line]) => `${file}:${line}`).join(' '), tabindex: countOf(row, state.event) ? 0 : false,
			click: () => chain.length && mark(`${chain[0][1]}:${chain[0][2]}`),
			keydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === 'Enter' && chain.length) mark(`${chain[0][1]}:${chain[0][2]}`); }},
		...shownEvents.map(event => heatCell(countOf(row, event), code.counts[2 * event + 1])),
		make('td', {class: 'number dim'}, `+${offset.toString(16)}`),
		make('td', {class: 'text'}, text, refers ? make('span', {class: 'dim'}, ` \u2192 ${short(refers, 80)}`) : '',
			to >= 0 ? make('button', {class: 'plain', title: 'Go to where it jumps', click: (/** @type {Event} */ e) => { e.stopPropagation(); goToRow(to); }},
				to < index ? ' \u2191' : ' \u2193') : '')));
	}
	if (code.n_rows > before + 1)
		note(`\u2026 ${(code.n_rows - before - 1).toLocaleString('en')} instructions without samples nearby`, 'gap');
	ui.assembly.replaceChildren(code.no_code ? make('p', {class: 'dim'}, code.no_code) : make('h3', {}, 'Instructions'),
		make('table', {}, make('thead', {}, make('tr', {}, ...eventHeadings(shownEvents),
			make('th', {}), make('th', {}))), make('tbody', {}, ...rows)));
}

/** Scrolls a listing to a row, and not the page. @param {Element|undefined|null} row */
function reveal(row) {
	const list = row && row.closest('.listing');

	if (!row || !list)
		return;
	const at = row.getBoundingClientRect(), box = list.getBoundingClientRect();
	if (at.top < box.top || at.bottom > box.bottom)
		list.scrollTop += at.top - box.top - list.clientHeight / 3;
}

/** @param {number} index */
function goToRow(index) {
	reveal(ui.assembly.querySelector(`[data-row="${index}"]`));
}

/** Marks a line of the source and its instructions, and scrolls to the hottest of them. @param {string} line its file and number */
function mark(line) {
	const rows = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('.code tr')]);
	let most = -1, hottest;

	for (const row of rows) {
		const isIt = row.dataset.line === line || (row.dataset.lines || '').split(' ').includes(line);

		row.classList.toggle('marked', isIt);
		if (row.dataset.line === line)
			reveal(row);
		else if (isIt && Number(row.dataset.heat) > most) {
			most = Number(row.dataset.heat);
			hottest = row;
		}
	}
	reveal(hottest);
}

/* ---- data types ---- */

async function showTypes() {
	if (!hasChunk('types'))
		return;
	/** @type {Types} */
	const types = JSON.parse(await textOfChunk('types')), event = state.event, [typed, all, distance] = types.events[event];
	const whole = (/** @type {any} */ type) => countOf(type.lines[0], event, LINE_COUNTS);
	const list = types.shown.filter(whole).sort((a, b) => whole(b) - whole(a));

	ui.toTypes.hidden = !list.length;
	ui.types.replaceChildren();
	if (!list.length)
		return;
	ui.types.append(make('h2', {}, 'Data types'), make('p', {class: 'dim'},
		`${share(typed, all)} of the samples of ${eventShown().name} access types with members${DISTANCES[distance]}. Percent of members are of their type.`),
	...list.map((type, i) => make('details', {open: i < TYPES_OPEN}, make('summary', {},
		`${share(whole(type), eventShown().period)}  ${type.name} (${type.size.toLocaleString('en')} bytes)`), typeTable(type))));
	if (types.types > types.shown.length)
		ui.types.append(make('p', {class: 'dim'}, `${types.types - types.shown.length} more types are accessed less: pace annotate --data-type shows them`));
}

/** The members of a type. @param {Types['shown'][0]} type */
function typeTable(type) {
	const counted = eventsBeside(i => countOf(type.lines[0], i, LINE_COUNTS) > 0), rows = [], open = /** @type {number[]} */ ([]);
	const text = (/** @type {string} */ words) => make('tr', {}, make('td', {colspan: counted.length + 2}), make('td', {class: 'text dim'}, words));
	/** @param {number} depth */
	const closeTo = depth => {
		while (open.length && open[open.length - 1] >= depth)
			rows.push(text(`${'    '.repeat(open.pop() || 0)}}`));
	};
	let next = 0;

	for (const line of type.lines) {
		const [index, depth, kind, of, name, offset, size] = line;

		if (index > next)
			rows.push(text(`${'    '.repeat(depth)}\u2026 ${index - next} lines without samples`));
		else
			closeTo(depth);
		while (open.length && open[open.length - 1] >= depth)
			open.pop();
		next = index + 1;
		rows.push(make('tr', {}, ...counted.map(i => heatCell(countOf(line, i, LINE_COUNTS), countOf(type.lines[0], i, LINE_COUNTS))),
			make('td', {class: 'number dim'}, String(offset)), make('td', {class: 'number dim'}, String(size)),
			make('td', {class: 'text'}, `${'    '.repeat(depth)}${of}${name && depth ? (of.endsWith('*') && !kind ? '' : ' ') + name : ''}${kind ? ' {' : ';'}`)));
		if (kind)
			open.push(depth);
	}
	closeTo(0);
	return make('table', {}, make('thead', {}, make('tr', {}, ...eventHeadings(counted), make('th', {class: 'number'}, 'Offset'),
		make('th', {class: 'number'}, 'Size'), make('th', {}, 'Member'))), make('tbody', {}, ...rows));
}
