// The inspector's command line against `menshen mcp`: node inspector.mjs PROGRAM
// It starts the program anew for each question, so this also shows that no state is needed.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { configuration, run } from './checks.mjs';

const INSPECTOR = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector/cli/build/cli.js', import.meta.url));
const QUESTION_MS = 60_000;

await run('inspector', async () => {
	const { name, config } = await configuration(process.argv[2]);
	const folder = await mkdtemp(join(tmpdir(), 'menshen-inspector-'));
	const file = join(folder, 'mcp.json');
	await writeFile(file, JSON.stringify(config), { mode: 0o600 });
	const ask = async (...words) => {
		const command = [INSPECTOR, '--cli', '--config', file, '--server', name, ...words];
		const { stdout } = await promisify(execFile)(process.execPath, command, { timeout: QUESTION_MS });
		return JSON.parse(stdout);
	};
	return {
		tools: async () => (await ask('--method', 'tools/list')).tools.map((tool) => tool.name),
		call: async (tool, args) => {
			const pairs = Object.entries(args).flatMap(([key, value]) => ['--tool-arg', `${key}=${value}`]);
			const answer = await ask('--method', 'tools/call', '--tool-name', tool, ...pairs);
			return answer.structuredContent ?? JSON.parse(answer.content[0].text);
		},
		close: () => rm(folder, { recursive: true }),
	};
});
