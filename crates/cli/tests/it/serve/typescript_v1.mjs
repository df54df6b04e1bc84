// The TypeScript SDK 1.x against `serve --mcp`: `typescript_v1.mjs URL`, or `typescript_v1.mjs COMMAND WORD...`.
// Prints one JSON report; crates/cli/tests/it/serve/clients.rs says what must be in it.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [target, ...words] = process.argv.slice(2);
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: words });
const client = new Client({ name: 'typescript_v1', version: '0' });
await client.connect(transport);

let told = 0;
const onprogress = () => (told += 1);
const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);

const { tools } = await client.listTools();
const probe = { tool: 'echo', concurrent: 3, hang_threshold_secs: 0.3, grace_period_secs: 0.3 };
const deadlocked = await call('deadlock_probe', { server: 'deadlocked', ...probe }, { onprogress });
const refused = await call('probe', { server_command: 'sh -c id' });
const abort = new AbortController();
const seen = told;
const load = { server: 'healthy', tool: 'echo', duration_secs: 60 };
const ended = call('sustained_load', load, { onprogress, signal: abort.signal }).catch((error) => error);
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
