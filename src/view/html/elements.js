// elements.js - what pages are made of. Texts are texts, never markup.

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Object<string, any>} [attributes] @param {...(Node|string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes))
		if (typeof value === 'function')
			element.addEventListener(name, value);
		else if (value !== false && value !== undefined)
			element.setAttribute(name, value === true ? '' : value);
	element.append(...children.map(child => typeof child === 'string' ? visible(child) : child));
	return element;
}

/** What would do something instead of being seen is written as its number. @param {string} text */
function visible(text) {
	return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, c => c === '\n' || c === '\t' ? c : `\\u{${(c.codePointAt(0) || 0).toString(16)}}`);
}

/** @param {number} part @param {number} whole */
function share(part, whole) {
	return whole ? `${(100 * part / whole).toFixed(2)}%` : '0.00%';
}

/** @param {string} text @param {number} n */
function short(text, n) {
	return text.length > n ? text.slice(0, n - 1) + '\u2026' : text;
}
