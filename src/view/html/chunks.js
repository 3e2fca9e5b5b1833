// chunks.js - unpacks what the page holds, its other scripts first of all. Nothing here changes the document for good, so that "Save page as"
// keeps what it needs.
'use strict';

/** @param {string} text @returns {Uint8Array} */
function bytesOfBase64(text) {
	const own = /** @type {any} */ (Uint8Array).fromBase64;

	if (own)
		return own.call(Uint8Array, text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < binary.length; i++)
		bytes[i] = binary.charCodeAt(i);
	return bytes;
}

/** @param {string} id @returns {Promise<Uint8Array>} */
async function inflateChunk(id) {
	const element = document.getElementById(id);

	if (!element)
		return new Uint8Array(0);
	// By hand: a Blob's stream, or a Response of this one, takes twice the time.
	const stream = new DecompressionStream('deflate-raw'), writer = stream.writable.getWriter(), reader = stream.readable.getReader();
	const parts = [];
	let n = 0;
	writer.write(/** @type {any} */ (bytesOfBase64(element.textContent || ''))).catch(() => {}); // the reader says it, too
	writer.close().catch(() => {});
	for (let part = await reader.read(); !part.done; part = await reader.read()) {
		parts.push(part.value);
		n += part.value.length;
	}
	const bytes = new Uint8Array(n);
	n = 0;
	for (const part of parts) {
		bytes.set(part, n);
		n += part.length;
	}
	return bytes;
}

/** @param {string} id */
function hasChunk(id) {
	return document.getElementById(id) !== null;
}

/** @param {string} id */
async function textOfChunk(id) {
	return new TextDecoder().decode(await inflateChunk(id));
}

/** Runs the other scripts, all at once. */
async function unpackScript() {
	const script = document.createElement('script');

	script.textContent = await textOfChunk('script');
	document.body.append(script);
	script.remove();
}

unpackScript().catch(error => {
	const app = document.getElementById('app');

	if (app)
		app.textContent = `This page could not be shown: ${error.message}. It needs a browser of 2023 or later.`;
});
