// A session of the official TypeScript SDK's client in the handshake era: KIND WORDS…, as the others.
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
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

function transport() {
  if (kind === 'stdio') return new StdioClientTransport({ command: words[0], args: words.slice(1), stderr: 'ignore' });
  if (kind === 'sse') return new SSEClientTransport(new URL(words[0]));
  return new StreamableHTTPClientTransport(new URL(words[0]));
}

const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
const client = new Client({ name: 'typescript', version: '1' }, { capabilities });
client.setRequestHandler('sampling/createMessage', async (request) => {
  heard('sampling', request.params);
  return { role: 'assistant', model: 'model-1', content: { type: 'text', text: 'hi there' } };
});
client.setRequestHandler('elicitation/create', async (request) => {
  heard('elicitation', request.params);
  return { action: 'accept', content: { name: 'Zoe', count: 7 } };
});
client.setRequestHandler('roots/list', async () => {
  heard('roots', 'asked');
  return { roots: [{ uri: 'file:///work/home-1', name: 'home' }] };
});
client.setNotificationHandler('notifications/message', ({ params }) =>
  heard(`log ${String(params.data).split(' ')[0]}`, params));
for (const list of ['tools', 'prompts', 'resources']) {
  const method = `notifications/${list}/list_changed`;
  client.setNotificationHandler(method, (told) => heard(method, told));
}
client.setNotificationHandler('notifications/resources/updated', (told) =>
  heard('notifications/resources/updated', told));

const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, options);

await client.connect(transport());
results.push([client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
results.push(await client.listTools());
results.push(await client.setLoggingLevel('info'));
results.push(await call('add', { a: 20, b: 1 }));
results.push(await call('fail'));
results.push(await call('work', { name: 'one', steps: 2 }, progress('one')));
results.push(await Promise.all([
  call('work', { name: 'left', steps: 2 }, progress('left')),
  call('work', { name: 'right', steps: 3 }, progress('right')),
]));
for (const name of ['ask', 'sample', 'roots']) results.push(await call(name));
results.push(await client.listResources());
results.push(await client.listResourceTemplates());
results.push(await client.readResource({ uri: 'memo://one' }));
results.push(await client.readResource({ uri: 'memo://Ann/note' }));
results.push(await client.subscribeResource({ uri: 'memo://one' }));
results.push(await client.listPrompts());
results.push(await client.getPrompt({ name: 'greet', arguments: { name: 'Ann' } }));
results.push(await client.complete({ ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: 'name', value: 'q' } }));
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
results.push(await call('was_held'));
results.push(await call('change'));
await until('notifications/resources/updated', 1);
results.push(await client.listTools());
results.push(await client.ping());
for (const name of ['one', 'left', 'right']) await until(`log ${name}`, name === 'right' ? 3 : 2);
for (const list of ['tools', 'prompts', 'resources']) await until(`notifications/${list}/list_changed`, 1);
await client.close();
const ordered = Object.fromEntries(Object.entries(beside).sort(([a], [b]) => (a < b ? -1 : 1)));
console.log(JSON.stringify({ results, beside: ordered }));
process.exit(0);
