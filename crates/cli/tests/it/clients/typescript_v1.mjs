// The TypeScript SDK 1.x against an MCP server: `typescript_v1.mjs URL`, or `... COMMAND WORD...`.
// Prints one JSON report; crates/cli/tests/it/clients/mod.rs says what must be in it.
// testenv.py copies it beside the SDK that it imports.
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [target, ...words] = process.argv.slice(2);
const transport = target.startsWith('http')
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: words });
const client = new Client({ name: 'typescript_v1', version: '0' });
await client.connect(transport);

const call = (name, args = {}, options) =>
  client.callTool({ name, arguments: args }, undefined, options);

async function fail() {
  try {
    await call('error', { message: 'boom', code: -32050 });
  } catch (error) {
    // This SDK puts its own words before those of the server.
    return [error.code, error.message.replace(/^MCP error -?\d+: /, '')];
  }
}

async function progress() {
  const events = [];
  const onprogress = ({ message }) => events.push(message);
  const result = await call('progress', { steps: 3, step_ms: 100 }, { onprogress });
  return { told: events, sent: JSON.parse(result.content[0].text).notified };
}

async function cancel() {
  const abort = new AbortController();
  const slow = call('slow', { milliseconds: 60000 }, { signal: abort.signal }).catch((error) => error);
  // Whatever is answered now was sent later than the call.
  for (let n = 0; n < 5; n++) await call('echo');
  abort.abort('enough');
  const error = await slow;
  // Whoever closes now takes the news of it along.
  for (let n = 0; n < 5; n++) await call('echo');
  return error instanceof Error;
}

const message = JSON.parse(await text(process.stdin));
const wrong = await call('error', { message: 'boom', as_tool: true });
const report = {
  tools: (await client.listTools()).tools.slice(0, 3).map((tool) => tool.name),
  echo: JSON.parse((await call('echo', { message })).content[0].text),
  protocol_error: await fail(),
  tool_error: [wrong.isError, wrong.content[0].text],
  progress: await progress(),
  cancelled: await cancel(),
};
console.log(JSON.stringify(report));
await client.close();
