// The TypeScript client 2.x against `serve --mcp`: `typescript_v2.mjs MODE URL`, or `... MODE COMMAND WORD...`.
// Prints one JSON report; crates/cli/tests/it/serve/clients.rs says what must be in it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, target, ...words] = process.argv.slice(2);
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: words });
const client = new Client({ name: 'typescript_v2', version: '0' }, { versionNegotiation: { mode } });
await client.connect(transport);

let told = 0;
const onprogress = () => (told += 1);
const call = (name, args, options) => client.callTool({ name, arguments: args }, options);

const { tools } = await client.listTools();
const deadlocked = await call(
  'deadlock_probe',
  { server: 'deadlocked', tool: 'echo', concurrent: 3, hang_threshold_secs: 0.3, grace_period_secs: 0.3 },
  { onprogress },
);
const refused = await call('probe', { server_command: 'sh -c id' });
const abort = new AbortController();
const seen = told;
const long = call('sustained_load', { server: 'healthy', tool: 'echo', duration_secs: 60 }, { onprogress, signal: abort.signal });
const ended = long.catch((error) => error);
while (told === seen) await sleep(10);
abort.abort('enough');
const cancelled = (await ended) instanceof Error;
// The seat is free again once the run has ended.
let healthy;
do healthy = await call('deadlock_probe', { server: 'healthy', tool: 'echo', concurrent: 3 });
while (healthy.isError);
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    schemas: tools.every((tool) => tool.outputSchema),
    deadlocked: deadlocked.structuredContent.deadlock_count,
    healthy: healthy.structuredContent.deadlock_count,
    refused: [refused.isError, refused.content[0].text],
    cancelled,
    told: told > 0,
  }),
);
await client.close();
