// A server of the official TypeScript SDK in both eras: over stdio, or over HTTP on the port in PORT.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { McpServer, createMcpHandler } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const URI = 'memo://one';
let handler;

function make() {
  const server = new McpServer({ name: 'typescript', version: '1' });
  server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
    content: [{ type: 'text', text: String(a + b) }],
  }));
  // Tells that the resource has changed.
  server.registerTool('tell', {}, async () => {
    if (handler) handler.notify.resourceUpdated(URI);
    else await server.server.sendResourceUpdated({ uri: URI });
    return { content: [{ type: 'text', text: 'told' }] };
  });
  // Reports progress once, then waits until it is cancelled, which it tells on stderr.
  server.registerTool('hold', {}, async (ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
    await new Promise((done) => ctx.mcpReq.signal.addEventListener('abort', done));
    console.error('hold was cancelled');
    return { content: [] };
  });
  server.registerResource('one', URI, {}, () => ({ contents: [{ uri: URI, text: 'remember' }] }));
  server.server.registerCapabilities({ resources: { subscribe: true } });
  server.server.setRequestHandler('resources/subscribe', () => ({}));
  return server;
}

if (process.env.PORT) {
  handler = createMcpHandler(make);
  createServer(async (request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const body = request.method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {};
    const { method, headers } = request;
    const asked = new Request(`http://localhost${request.url}`, { method, headers, signal: gone.signal, ...body });
    const answer = await handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    if (answer.body) Readable.fromWeb(answer.body).on('error', () => {}).pipe(response);
    else response.end();
  }).listen(Number(process.env.PORT), '127.0.0.1');
} else {
  serveStdio(make);
}
