// An echo server on the TypeScript SDK 2.x over stdio. testenv.py copies it beside the SDK it imports.
// `plain` speaks the legacy era only; `timer` holds a timer, which keeps the process alive after stdin's EOF.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const modes = process.argv.slice(2);

function echoServer() {
  const server = new McpServer({ name: 'ts2', version: '2' });
  server.registerTool(
    'echo',
    { description: 'Answers with the text it was given', inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: 'text', text }] }),
  );
  return server;
}

if (modes.includes('timer')) setInterval(() => {}, 60_000);
if (modes.includes('plain')) {
  await echoServer().connect(new StdioServerTransport());
} else {
  await serveStdio(echoServer);
}
