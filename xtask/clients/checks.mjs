// What a client must see, whichever client it is. Start at `run`: a client is a function that opens
// the program and gives `tools()` and `call(name, arguments)`. The house is asked over a second
// connection, so that the program under test is not its own witness.
import { readFile } from 'node:fs/promises';

const TOOLS = ['call_service', 'home_overview', 'list_entities', 'list_macros', 'preview_macro', 'run_macro'];
const REQUEST_MS = 10_000;
const LOCKED_MS = 30_000;
const STAYS_MS = 5_000;

/** The README's own client configuration, with the program and the house of this run in it. */
export async function configuration(program) {
	const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
	const block = readme.match(/```json\n([\s\S]*?"mcpServers"[\s\S]*?)```/);
	if (!block) throw new Error('README.md has no JSON block with mcpServers');
	const config = JSON.parse(block[1]);
	const [[name, server]] = Object.entries(config.mcpServers);
	if (server.command !== 'menshen') throw new Error(`README.md starts ${server.command}, not menshen`);
	server.command = program;
	for (const key of Object.keys(server.env)) server.env[key] = process.env[key] ?? '';
	return { name, server, config };
}

async function house(path) {
	const answer = await fetch(`${process.env.HOME_ASSISTANT_URL}/api/${path}`, {
		headers: { authorization: `Bearer ${process.env.HOME_ASSISTANT_TOKEN}` },
		signal: AbortSignal.timeout(REQUEST_MS),
	});
	if (!answer.ok) throw new Error(`the house answered ${answer.status} to ${path}`);
	return answer.json();
}

const state = async (id) => (await house(`states/${id}`)).state;

/** Polls until the deadline; true as soon as the lock is in that state. */
async function reaches(id, wanted, within) {
	const deadline = Date.now() + within;
	while (Date.now() < deadline) {
		if ((await state(id)) === wanted) return true;
		await new Promise((next) => setTimeout(next, 100));
	}
	return false;
}

/** Polls the whole time; false as soon as the lock is anything else. */
async function stays(id, wanted, during) {
	const deadline = Date.now() + during;
	while (Date.now() < deadline) {
		if ((await state(id)) !== wanted) return false;
		await new Promise((next) => setTimeout(next, 100));
	}
	return true;
}

/** A lock that a person would name first. */
async function aLock() {
	const locks = (await house('states')).map((entity) => entity.entity_id).filter((id) => id.startsWith('lock.'));
	if (locks.length === 0) throw new Error('this house has no lock');
	return locks.includes('lock.front_door') ? 'lock.front_door' : locks.sort()[0];
}

export async function run(client, open) {
	let hold = 0;
	let fail = 0;
	const check = (sentence, holds, seen) => {
		if (holds) hold += 1;
		else fail += 1;
		console.log(`${client}: ${holds ? 'holds' : 'does NOT hold'}: ${sentence}`);
		if (!holds) console.log(`  seen: ${JSON.stringify(seen)}`);
	};
	try {
		const session = await open();
		try {
			const lock = await aLock();
			const names = (await session.tools()).sort();
			check('the six tools are offered', names.join() === TOOLS.join(), names);
			const overview = await session.call('home_overview', {});
			check('home_overview names rooms', overview.rooms?.length > 0, overview);
			const locking = await session.call('call_service', { domain: 'lock', service: 'lock', entity_id: lock });
			const locked = await reaches(lock, 'locked', LOCKED_MS);
			check('locking is not held back', locking.ok === true && locked, locking);
			const refused = await session.call('call_service', { domain: 'lock', service: 'unlock', entity_id: lock });
			const shape = refused.ok === false && refused.refused === true && refused.error === 'needs_confirmation';
			check('unlocking is refused and says so', shape && refused.targets?.includes(lock), refused);
			check('the lock has not moved', await stays(lock, 'locked', STAYS_MS), await state(lock));
		} finally {
			await session.close();
		}
	} catch (error) {
		check('the conversation comes to its end', false, String(error?.stack ?? error));
	}
	console.log(`${client}: ${hold} checks hold, ${fail} do not`);
	process.exitCode = fail === 0 ? 0 : 1;
}
