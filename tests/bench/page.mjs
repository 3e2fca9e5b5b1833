// Opens a page of report --html in headless Chromium, several times, and prints the medians of what it takes: milliseconds and bytes.
//     node page.mjs MODULES FILE TIMES
import {createRequire} from 'module';

const [modules, file, times] = process.argv.slice(2);
const {chromium} = createRequire(modules + '/')('playwright-core');
const all = [];

for (let i = 0; i < Number(times); i++) {
	// A browser for each: nothing is warm.
	const browser = await chromium.launch({
		executablePath: process.env.PACE_CHROMIUM, args: ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--expose-gc']});
	const page = await (await browser.newContext({viewport: {width: 1280, height: 800}})).newPage();

	await page.goto('file://' + file);
	await page.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 300000});
	await page.waitForTimeout(500);
	all.push(await page.evaluate(async () => {
		const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
		const median = list => list.sort((a, b) => a - b)[list.length >> 1];
		const time = async what => {
			const began = performance.now();
			await what();
			return performance.now() - began;
		};
		const draw = () => {
			flame.draw();
			flame.context.getImageData(0, 0, 1, 1); // what was asked of the canvas is done
		};
		const ret = {nodes: data.about.nodes, names: data.names.length, ready: Number(document.documentElement.dataset.ready)};
		gc();
		ret.heap = performance.memory.usedJSHeapSize;
		const redraws = [];
		for (let k = 0; k < 7; k++)
			redraws.push(await time(draw));
		ret.redraw = median(redraws);
		const searches = [];
		for (const text of ['parse_1', 'lock|json', 'f.*a$', 'Std', 'x']) {
			state.search = text;
			searches.push(await time(searchAgain));
			await painted();
		}
		ret.search = median(searches);
		state.search = 'parse_1';
		state.use = 'keep';
		ret.filter = await time(makeTree);
		state.search = '';
		state.use = 'highlight';
		await makeTree();
		state.isInverted = true;
		ret.invert = await time(makeTree);
		ret.inverted = shown.tree.n;
		state.isInverted = false;
		state.isHeavy = true;
		ret.heavy = await time(makeTree);
		state.isHeavy = false;
		for (const key of ['f', 'm', 'd', 'c', 'r', 'b']) {
			state.done = [[key, data.name[Math.floor(data.about.nodes / 3)]]];
			ret['key ' + key] = await time(makeTree);
		}
		state.done = [];
		await makeTree();
		ret.functions = await time(() => go('functions'));
		for (let k = 0; k < 3; k++) {
			gc();
			await painted();
		}
		ret['heap later'] = performance.memory.usedJSHeapSize;
		return ret;
	}));
	await browser.close();
}
const median = key => all.map(one => one[key]).sort((a, b) => a - b)[all.length >> 1];
console.log(JSON.stringify(Object.fromEntries(Object.keys(all[0]).map(key => [key, median(key)]))));
