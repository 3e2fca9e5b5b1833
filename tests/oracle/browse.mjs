// Opens a page in headless Chromium, runs what stdin says with it, and prints what that returned and what went wrong meanwhile.
//     node browse.mjs MODULES FILE WIDTH SCHEME <script     `page` is playwright's, `reopen(hash)` opens the file anew
import {createRequire} from 'module';
import {readFileSync} from 'fs';

const [modules, file, width, scheme] = process.argv.slice(2);
const {chromium} = createRequire(modules + '/')('playwright-core');
const browser = await chromium.launch({
	executablePath: process.env.PACE_CHROMIUM, args: ['--no-sandbox', '--enable-precise-memory-info', '--js-flags=--expose-gc']});
const problems = [];

try {
	const context = await browser.newContext({viewport: {width: Number(width), height: 800}, colorScheme: scheme});
	const page = await context.newPage();
	page.on('console', message => problems.push(`console: ${message.text()}`));
	page.on('pageerror', error => problems.push(`error: ${error.stack}`));
	page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
	page.on('request', request => request.url().startsWith('file://' + file) || problems.push(`request: ${request.url()}`));
	const reopen = async hash => {
		await page.goto('about:blank');
		await page.goto('file://' + file + (hash || ''));
		await page.waitForFunction(() => document.documentElement.dataset.ready, null, {timeout: 60000});
	};
	await reopen('');
	const run = new (Object.getPrototypeOf(async () => {}).constructor)('page', 'reopen', readFileSync(0, 'utf8'));
	const result = await run(page, reopen);
	console.log(JSON.stringify({result, problems: problems.filter(p => !p.includes('about:blank'))}));
} finally {
	await browser.close();
}
