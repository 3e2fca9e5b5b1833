// events.js - what was recorded: events with their settings and groups, and what of them was lost.

/**
 * As cmd/report/report_events.h says.
 * @typedef {{name: string, leader?: string, members: number, frequency?: number, period?: number, precise: number, attr: string,
 *   filter?: string, cgroup?: string, counters: number, enabled?: number, running?: number}} Counter
 */

/** Whether an event had its counter all the time. @param {Counter} e */
function multiplexed(e) {
	if (!e.enabled || e.running === undefined)
		return '';
	if (e.running >= e.enabled)
		return 'on a counter all the time';
	return `multiplexed: on a counter ${share(e.running, e.enabled)} of its time (${timeOf(e.running)} of ${timeOf(e.enabled)} s), `
		+ 'its samples and their sum are of that part and not scaled to the whole';
}

/** @param {number} ns */
const timeOf = ns => (ns / 1e9).toFixed(3);

function buildEvents() {
	ui.eventRows = make('div');
	return make('section', {'aria-label': 'Events'}, ui.eventRows);
}

async function showEvents() {
	if (ui.eventRows.firstChild)
		return;
	const counters = JSON.parse(await textOfChunk('counters')), n = (/** @type {number} */ value) => value.toLocaleString('en');
	const lost = /** @type {[string, number][]} */ ([['samples were lost: the kernel had no room for them', counters.lost_samples],
		['records of any kind were lost', counters.lost_records], ['times an event was throttled: it came too often', counters.throttled],
		['records could not be decoded', counters.undecoded], ['samples are of events that the file does not describe', counters.foreign]]);
	// A page of wall-clock time has the states of threads as events.
	const isOther = !counters.events.some((/** @type {Counter} */ e) => data.about.events.some(event => event.name === e.name));
	const rows = counters.events.flatMap((/** @type {Counter} */ e) => {
		const part = data.about.events.findIndex(event => event.name === e.name), sums = data.about.events[part];
		const rate = e.frequency ? `${n(e.frequency)} a second` : e.period ? `every ${n(e.period)}` : 'counted only';
		const facts = [e.leader ? `in the group of ${e.leader}` : e.members > 1 ? `leads a group of ${e.members}` : '',
			e.precise ? `precise ${e.precise}` : '', e.filter ? `filter ${e.filter}` : '', e.cgroup ? `cgroup ${e.cgroup}` : '',
			e.counters ? `${n(e.counters)} counters` : '', multiplexed(e)].filter(Boolean).join(', ');

		return [make('tr', {}, make('td', {class: 'name'}, sums ? make('button', {class: 'plain', click: () => {
			state.event = part;
			state.view = 'flame';
			renew(true);
		}}, e.name) : e.name), make('td', {class: 'number'}, sums ? n(sums.samples) : isOther ? '' : '0'),
		make('td', {class: 'number'}, sums ? sums.time ? `${(sums.period / 1e9).toFixed(3)} s` : n(sums.period) : ''),
		make('td', {class: 'number'}, rate)), make('tr', {}, make('td', {colspan: 4}, make('details', {}, make('summary', {}, facts || 'attributes'),
			make('p', {class: 'name'}, e.attr))))];
	});

	ui.eventRows.replaceChildren(make('h2', {}, 'Events'), make('div', {class: 'scroll'}, make('table', {class: 'events'},
		make('thead', {}, make('tr', {}, make('th', {}, 'Event'), make('th', {class: 'number'}, 'Samples'), make('th', {class: 'number'}, 'Sum'),
			make('th', {class: 'number'}, 'Sampled'))), make('tbody', {}, ...rows))),
	isOther ? make('p', {class: 'dim'}, `Samples count as time of threads, by what these did then: ${data.about.events.map(event => event.name).join(', ')}.`) : '',
	make('h2', {}, 'Lost'), make('table', {}, make('tbody', {}, ...lost.map(([text, count]) =>
		make('tr', {}, make('td', {class: 'number'}, n(count)), make('td', {}, text))))));
}
