// An echo server on the TypeScript SDK 1.x over stdio. testenv.py copies it beside the SDK it imports.
// `timer` holds a timer, which keeps the process alive after stdin's EOF, as in many real servers.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const text = (text) => ({ content: [{ type: 'text', text }] });
const server = new McpServer({ name: 'ts', version: '1' });

server.registerTool(
  'echo',
  { description: 'Answers with the text it was given', inputSchema: { text: z.string() } },
  async (input) => text(input.text),
);
server.registerTool(
  'slow',
  { description: 'Answers after some milliseconds', inputSchema: { ms: z.number() } },
  async ({ ms }) => {
    await sleep(ms);
    return text('done');
  },
);
// An exploded variable: what CVE-2026-0621 (SDK before 1.25.2) needs to block the server.
server.registerResource(
  'exploded',
  new ResourceTemplate('x:/{/id*}', { list: undefined }),
  {},
  async (uri) => ({ contents: [{ uri: uri.href, text: 'ok' }] }),
);

if (process.argv[2] === 'timer') setInterval(() => {}, 60_000);
await server.connect(new StdioServerTransport());
