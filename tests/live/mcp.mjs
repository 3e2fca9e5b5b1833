// Asks pace mcp through the SDK of the protocol, as agents do, and prints what came back.
//     node mcp.mjs MODULES PACE FOLDER... <questions     a JSON list of {tool, arguments}; arguments may name "$NODE:text", the id of a
//     line of an earlier tree whose last name is `text`
import {createRequire} from 'module';
import {readFileSync} from 'fs';
import {pathToFileURL} from 'url';

const [modules, pace, ...folders] = process.argv.slice(2);
const require = createRequire(modules + '/');
const load = name => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)));
const {Client} = await load('client/index.js');
const {StdioClientTransport} = await load('client/stdio.js');

const transport = new StdioClientTransport({command: pace, args: ['mcp', ...folders], env: process.env, stderr: 'inherit'});
const client = new Client({name: 'test', version: '1.0.0'});

await client.connect(transport);
const {tools} = await client.listTools();
const nodes = new Map();
const answers = [];
for (const {tool, arguments: given} of JSON.parse(readFileSync(0, 'utf-8'))) {
	for (const [name, value] of Object.entries(given))
		if (typeof value === 'string' && value.startsWith('$NODE:'))
			given[name] = nodes.get(value.slice(6));
	const result = await client.callTool({name: tool, arguments: given}, undefined, {timeout: 120000});
	for (const row of result.structuredContent?.rows ?? [])
		if (row.node && row.names)
			nodes.set(row.names.at(-1), row.node);
	answers.push(result);
}
const about = {server: client.getServerVersion(), capabilities: client.getServerCapabilities(), instructions: client.getInstructions()};
await client.close();
process.stdout.write(JSON.stringify({tools, answers, about}));
