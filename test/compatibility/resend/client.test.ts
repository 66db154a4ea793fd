/** The client of Resend as a whole: each of its methods has an answer or a reason, the page lists it, and the examples of its README run. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Resend } from 'resend';
import { CALLS } from '../../../src/compatibility/resend/api.ts';
import { findReason, PREFIX } from '../../../src/compatibility/resend/unsupported.ts';
import { openSpool } from '../../support/spool.ts';
import { clientsOf } from './client.ts';

const PAGE = readFileSync(new URL('../../../docs/coming-from-resend.md', import.meta.url), 'utf8');

/** Functions of the client that other functions call, and one that asks nobody. */
const NO_CALLS = [
  ...['performCreate', 'forwardPassthrough', 'forwardWrapped', 'downloadRaw'],
  ...['buildCreateFormData', 'buildColumnMap', 'appendField', 'verify'],
];
/** Fields of payloads that are lists, or that the client reads when they are there. Each other field is text. */
const FIELDS: Readonly<Record<string | symbol, unknown>> = {
  ...{
    react: undefined,
    attachments: undefined,
    template: undefined,
    variables: undefined,
    headers: undefined,
  },
  ...{
    steps: [],
    connections: [],
    metrics: ['sent'],
    dimensions: ['period'],
    domainId: ['x'],
    emailId: ['x'],
  },
  ...{ broadcastId: ['x'], inboxId: 'x', id: 'x' },
  [Symbol.iterator]: () => [][Symbol.iterator](),
  [Symbol.toPrimitive]: () => 'x',
};
/** Stands for any argument. */
const ANY = new Proxy(
  {},
  { get: (_, name) => (name in FIELDS ? FIELDS[name] : name === 'then' ? undefined : 'x') },
);

type Method = { name: string; call: (...args: unknown[]) => unknown };

/** Returns the methods of a client, with the paths by which programs reach them. */
function methodsOf(object: object, path: string): Method[] {
  const isOwn = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !(value instanceof Resend) && !(value instanceof Headers);
  const inner = Object.entries(object).flatMap(([name, value]) =>
    isOwn(value) ? methodsOf(value, path === '' ? name : `${path}.${name}`) : [],
  );
  if (path === '') return inner;
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter(
    (name) => name !== 'constructor' && !NO_CALLS.includes(name),
  );
  const own = names.map((name) => ({
    name: `${path}.${name}`,
    call: (object as Record<string, Method['call']>)[name]?.bind(object) ?? assert.fail(name),
  }));
  return [...own, ...inner];
}

async function requestsOf(): Promise<Map<string, string>> {
  const resend = new Resend('re_test', { baseUrl: 'http://127.0.0.1:9' });
  const requests = new Map<string, string>();
  for (const { name, call } of methodsOf(resend, '')) {
    resend.fetchRequest = async <Data>(path: string, { method }: { method?: string } = {}) => {
      requests.set(name, `${method} ${path.replace(/\?.*$/, '')}`);
      return {
        data: null,
        error: { name: 'not_found', message: '', statusCode: 404 },
        headers: null,
      } as Awaited<ReturnType<typeof Resend.prototype.fetchRequest<Data>>>;
    };
    await call(ANY, ANY, {});
    assert.ok(requests.has(name), `${name} asks the server for something`);
  }
  return requests;
}

test('each method of the client has an answer, or a reason why it has none, and is on the page', async () => {
  const answered = CALLS.map(({ at }) => new RegExp(`^${at.replace(/:\w+/g, '[^/]+')}$`));
  const requests = await requestsOf();
  assert.ok(requests.size > 100, `${requests.size} methods`);
  const left: string[] = [];
  for (const [name, request] of requests) {
    const [method = '', path = ''] = request.split(' ');
    const reason = findReason({ method, url: PREFIX + path });
    const isAnswered = answered.some((pattern) => pattern.test(request));
    if (!isAnswered && reason === undefined) left.push(`${name}: ${request} has no answer and no reason`);
    const [group = ''] = /^.*(?=\.)/.exec(name) ?? [];
    const [root = ''] = name.split('.');
    const isListed = [name, group, root].some((listed) => PAGE.includes(`\`${listed}\``));
    if (!isListed) left.push(`${name} is not on the page`);
  }
  assert.deepEqual(left, []);
});

test('the examples of its README run word for word', async () => {
  await using spool = await openSpool();
  await spool.addDomain(spool.liveKey, 'example.com');
  const clientWith = await clientsOf(spool);
  const readme = readFileSync(new URL('../../../node_modules/resend/readme.md', import.meta.url), 'utf8');
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code);
  const examples = blocks.filter((code) => code.includes('emails.send') && !code.includes('react'));
  assert.equal(examples.length, 2);
  const said: string[] = [];
  const AsyncFunction = (async () => {}).constructor as new (
    ...code: string[]
  ) => (...args: unknown[]) => Promise<void>;
  for (const code of examples)
    await new AsyncFunction('resend', 'console', code)(clientWith(spool.liveKey), {
      log: (line: string) => said.push(line),
    });
  for (const [index, line] of said.entries()) {
    const [id = ''] = /em_\w+/.exec(line) ?? [];
    const email = await spool.email(id);
    assert.deepEqual(
      [email.from, email.to, email.replyTo],
      ['you@example.com', ['user@gmail.com'], ['you@example.com']],
    );
    assert.equal(email.html, [null, '<strong>it works!</strong>'][index]);
  }
  assert.equal(said.length, 2);
});
