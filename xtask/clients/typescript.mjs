// The official TypeScript SDK against `menshen mcp`: node typescript.mjs PROGRAM
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { configuration, run } from './checks.mjs';

await run('sdk-typescript', async () => {
	const { server } = await configuration(process.argv[2]);
	const client = new Client({ name: 'menshen-tests', version: '1.0.0' }, { capabilities: {} });
	await client.connect(new StdioClientTransport(server));
	return {
		tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
		// With output schemas in the list, the SDK checks `structuredContent` against them by itself.
		call: async (name, args) => {
			const answer = await client.callTool({ name, arguments: args });
			return answer.structuredContent ?? JSON.parse(answer.content[0].text);
		},
		close: () => client.close(),
	};
});
