// The npm library for the benchmark: says `imported` and `ready`, then makes each call that it reads
// (`turn_on light.desk_lamp`) and answers with its milliseconds.
import { createInterface } from 'node:readline';

import { HomeBridge } from '@three-ws/home-bridge';

console.log('imported');
const home = new HomeBridge({ baseUrl: process.env.HOME_ASSISTANT_URL, token: process.env.HOME_ASSISTANT_TOKEN });
await home.connect();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
	const [service, entity_id] = line.split(' ');
	const begun = performance.now();
	await home.call('light', service, { entity_id });
	console.log(performance.now() - begun);
}
process.exit(0);
