// Weather by place on the TypeScript SDK 1.x, over stdio. testenv.py copies it beside the SDK it imports.
// `--refresh` renews the forecasts now and then, as a server with a cache does.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const REFRESH_MS = 60_000;
const forecasts = new Map([
  ['oslo', 'snow'],
  ['lisbon', 'sun'],
]);
const forecast = (place) => forecasts.get(place.toLowerCase()) ?? 'unknown';
const server = new McpServer({ name: 'weather', version: '1.0.0' });

server.registerTool(
  'get_forecast',
  { description: 'Tells the weather of a place', inputSchema: { place: z.string() } },
  async ({ place }) => ({ content: [{ type: 'text', text: forecast(place) }] }),
);
server.registerResource(
  'region',
  new ResourceTemplate('weather://regions{/path*}', { list: undefined }),
  { description: 'The weather of a region, such as weather://regions/oslo' },
  async (uri, { path }) => ({ contents: [{ uri: uri.href, text: forecast([path].flat().at(-1)) }] }),
);

if (process.argv.includes('--refresh')) setInterval(() => forecasts.set('oslo', 'snow'), REFRESH_MS);
await server.connect(new StdioServerTransport());
