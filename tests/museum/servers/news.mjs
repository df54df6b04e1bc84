// Headlines by topic on mcp-handler, over streamable HTTP: PORT. testenv.py copies it beside the packages it imports.
import { createServer } from 'node:http';
import { text as bodyOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMcpHandler } from 'mcp-handler';
import { z } from 'zod';

const NEWSROOM_MS = 300;
const port = Number(process.argv[2]);

const handle = createMcpHandler((server) => {
  server.registerTool(
    'get_headline',
    { description: 'Asks the newsroom for the headline of a topic', inputSchema: { topic: z.string() } },
    async ({ topic }) => {
      await sleep(NEWSROOM_MS);
      return { content: [{ type: 'text', text: `All quiet in ${topic}` }] };
    },
  );
});

async function answer(request, response) {
  const body = request.method === 'POST' ? await bodyOf(request) : undefined;
  const url = new URL(request.url, `http://127.0.0.1:${port}`);
  const answer = await handle(new Request(url, { method: request.method, headers: request.headers, body }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}

createServer((request, response) => {
  // What a handler throws is a 500 in the frameworks that it is made for.
  answer(request, response).catch(() => (response.headersSent ? response.destroy() : response.writeHead(500).end()));
}).listen(port, '127.0.0.1');
