// An echo server on the TypeScript SDK 2.x over streamable HTTP with sessions: PORT.
// testenv.py copies it beside the SDK it imports.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const port = Number(process.argv[2]);
const sessions = new Map();

function echoServer() {
  const server = new McpServer({ name: 'ts2', version: '2' });
  server.registerTool(
    'echo',
    {
      description: 'Answers with the text it was given, at once or after some milliseconds',
      inputSchema: z.object({ text: z.string(), ms: z.number().optional() }),
    },
    async ({ text, ms }) => {
      if (ms) await sleep(ms);
      return { content: [{ type: 'text', text }] };
    },
  );
  return server;
}

async function newSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await echoServer().connect(transport);
  return transport;
}

const listener = http.createServer(async (request, response) => {
  const transport = sessions.get(request.headers['mcp-session-id']) ?? (await newSession());
  await transport.handleRequest(request, response);
});
listener.listen(port, '127.0.0.1');
