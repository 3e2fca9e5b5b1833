// Opens an SVG of flame in headless Chromium, several times, and prints the medians of what it takes, in milliseconds, until it is painted.
//     node picture.mjs MODULES FILE TIMES
import {createRequire} from 'module';

const [modules, file, times] = process.argv.slice(2);
const {chromium} = createRequire(modules + '/')('playwright-core');
const median = list => list.sort((a, b) => a - b)[list.length >> 1];
const all = [];

for (let i = 0; i < Number(times); i++) {
	// A browser for each: nothing is warm.
	const browser = await chromium.launch({executablePath: process.env.PACE_CHROMIUM, args: ['--no-sandbox']});
	const page = await (await browser.newContext({viewport: {width: 1280, height: 800}})).newPage();

	await page.goto('file://' + file);
	all.push(await page.evaluate(async () => {
		const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
		const median = list => list.sort((a, b) => a - b)[list.length >> 1];
		await painted();
		const ret = {loaded: performance.now(), elements: document.querySelectorAll('*').length, zoom: [], unzoom: []};
		const boxes = [...document.querySelectorAll('#boxes rect')], wide = boxes.find(box => box.getAttribute('width') > 100 && box.getAttribute('width') < 300);
		const click = async at => {
			const began = performance.now();

			at.dispatchEvent(new MouseEvent('click', {bubbles: true}));
			await painted();
			return performance.now() - began;
		};
		for (let k = 0; k < 5; k++) {
			ret.zoom.push(await click(wide));
			if (wide.getAttribute('width') < 1000)
				throw new Error('the click did not zoom');
			ret.unzoom.push(await click(boxes[0]));
		}
		return {...ret, zoom: median(ret.zoom), unzoom: median(ret.unzoom)};
	}));
	await browser.close();
}
console.log(JSON.stringify(Object.fromEntries(Object.keys(all[0]).map(key => [key, median(all.map(one => one[key]))]))));
