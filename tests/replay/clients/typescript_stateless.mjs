// A session of the official TypeScript SDK's client in the stateless era: KIND WORDS…, as the others.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [kind, ...words] = process.argv.slice(2);
const results = [];
const beside = {};

function heard(what, value) {
  (beside[what] ??= []).push(value);
}

async function until(what, count) {
  const end = Date.now() + 30000;
  while ((beside[what] ?? []).length < count) {
    if (Date.now() > end) throw new Error(`no ${count} of ${what}`);
    await new Promise((go) => setTimeout(go, 10));
  }
}

const progress = (name) => ({ onprogress: (told) => heard(name, told) });
const transport =
  kind === 'stdio'
    ? new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: 'ignore' })
    : new StreamableHTTPClientTransport(new URL(words[0]));

const capabilities = { sampling: {}, elicitation: { form: {}, url: {} }, roots: {} };
const versionNegotiation = { mode: { pin: '2026-07-28' } };
const client = new Client({ name: 'typescript', version: '1' }, { capabilities, versionNegotiation });
client.setRequestHandler('sampling/createMessage', async (request) => {
  heard('sampling', request.params);
  return { role: 'assistant', model: 'model-1', content: { type: 'text', text: 'hi there' } };
});
client.setRequestHandler('elicitation/create', async (request) => {
  heard('elicitation', request.params);
  return request.params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { n: 3 } };
});
client.setRequestHandler('roots/list', async () => {
  heard('roots', 'asked');
  return { roots: [{ uri: 'file:///work/home-1', name: 'home' }] };
});
client.setNotificationHandler('notifications/message', ({ params }) => heard('log', params));
for (const list of ['tools', 'prompts', 'resources']) {
  const method = `notifications/${list}/list_changed`;
  client.setNotificationHandler(method, ({ method }) => heard(method, 'told'));
}
client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
  heard('notifications/resources/updated', params.uri));

const logged = { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } };
const call = (name, args = {}, options) => client.callTool({ name, arguments: args, ...logged }, options);

await client.connect(transport);
results.push([client.getNegotiatedProtocolVersion(), client.getServerVersion(), client.getServerCapabilities()]);
results.push(await client.listTools());
results.push(await client.listResources());
results.push(await client.listResourceTemplates());
results.push(await client.listPrompts());
results.push(await client.readResource({ uri: 'memo://one' }));
results.push(await client.getPrompt({ name: 'greet', arguments: { name: 'Ann' } }));
results.push(await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'q' } }));
results.push(await call('ask'));
results.push(await client.getPrompt({ name: 'asking' }));
results.push(await client.readResource({ uri: 'memo://x/asked' }));
results.push(await call('work', { steps: 2, seconds: 0.05 }, progress('work')));
const subscription = await client.listen({
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['memo://one'],
});
results.push(subscription.honoredFilter);
results.push(await call('tell'));
for (const list of ['tools', 'prompts', 'resources']) await until(`notifications/${list}/list_changed`, 1);
await until('notifications/resources/updated', 1);
await subscription.close();
try {
  await client.getPrompt({ name: 'nobody' });
} catch (error) {
  results.push([error.code, error.message]);
}
const abort = new AbortController();
const held = call('hold', {}, { ...progress('held'), signal: abort.signal }).catch(() => 'given up');
await until('held', 1);
abort.abort();
results.push(await held);
results.push(await client.readResource({ uri: 'memo://one' }));
await client.close();
const ordered = Object.fromEntries(Object.entries(beside).sort(([a], [b]) => (a < b ? -1 : 1)));
console.log(JSON.stringify({ results, beside: ordered }));
process.exit(0);
