// An echo server on the TypeScript SDK 1.x over streamable HTTP with sessions: PORT [json].
// testenv.py copies it beside the SDK it imports.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const [port, mode] = process.argv.slice(2);
const sessions = new Map();

function echoServer() {
  const server = new McpServer({ name: 'ts', version: '1' });
  server.registerTool(
    'echo',
    {
      description: 'Answers with the text it was given, at once or after some milliseconds',
      inputSchema: { text: z.string(), ms: z.number().optional() },
    },
    async ({ text, ms }) => {
      if (ms) await sleep(ms);
      return { content: [{ type: 'text', text }] };
    },
  );
  return server;
}

async function newSession() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: mode === 'json',
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
listener.listen(Number(port), '127.0.0.1');
