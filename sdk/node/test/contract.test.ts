/** The contract of all libraries: calls against a daemon in test mode, the wire against a scripted server, and signatures. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { type ClientOptions, Postrider, webhooks } from '../src/index.ts';
import {
  attempt,
  callAndRead,
  check,
  fill,
  methodOf,
  type Outcome,
  operations,
  readCases,
  runSteps,
  type Step,
} from './contract.ts';

const { CONTRACT_BASE_URL, CONTRACT_KEY, CONTRACT_HOSTNAME, CONTRACT_SERVER } = process.env;

test('there is a method for each operation, and an operation for each method', () => {
  const client = new Postrider({ key: 'svc_dev_a', baseUrl: 'http://localhost' });
  for (const { call } of operations) methodOf(client, call);
  assert.deepEqual(methodsOf(client).sort(), operations.map(({ call }) => call).sort());
});

/** Returns the names of all methods of the resources of a client, which ask the server. */
function methodsOf(owner: object, prefix = ''): string[] {
  const resources = Object.entries(owner).filter(([, value]) => typeof value === 'object');
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(owner)).filter(
    (name) => prefix !== '' && name !== 'constructor',
  );
  return [
    ...methods.map((name) => `${prefix}${name}`),
    ...resources.flatMap(([name, value]) => methodsOf(value, `${prefix}${name}.`)),
  ];
}

type Calls = { name: string; steps: Step[] };

if (CONTRACT_BASE_URL !== undefined) {
  const client = new Postrider({ key: CONTRACT_KEY ?? '', baseUrl: CONTRACT_BASE_URL });
  for (const { name, steps } of readCases<Calls>('calls'))
    test(`calls: ${name}`, () => runSteps(client, steps, { hostname: CONTRACT_HOSTNAME }));
}

type Wire = Omit<Step, 'options'> & {
  name: string;
  client?: ClientOptions & { pathBefore?: string };
  before?: Step[];
  options?: { idempotencyKey?: string; timeoutMs?: number; deadlineMs?: number; cancelAfterMs?: number };
  maxMs?: number;
};

if (CONTRACT_SERVER !== undefined)
  for (const one of readCases<Wire>('wire')) test(`wire: ${one.name}`, () => runOnWire(one, CONTRACT_SERVER));

async function runOnWire(one: Wire, server: string): Promise<void> {
  const body = JSON.stringify(one);
  const created = await fetch(`${server}/cases`, { method: 'POST', body });
  const { id, baseUrl } = (await created.json()) as { id: string; baseUrl: string };
  const startedAt = performance.now();
  const actual = await attempt(() => makeCalls(one, baseUrl));
  const tookMs = performance.now() - startedAt;
  check(one, actual);
  const seen = await fetch(`${server}/cases/${id}`);
  const { problems } = (await seen.json()) as { problems: string[] };
  assert.deepEqual(problems, []);
  assert.ok(tookMs <= (one.maxMs ?? Number.POSITIVE_INFINITY), `It took ${Math.round(tookMs)} ms.`);
}

async function makeCalls({ client: given = {}, before = [], options, ...step }: Wire, address: string) {
  const { pathBefore = '', ...settings } = given;
  const client = new Postrider({ key: 'svc_dev_contract', baseUrl: address + pathBefore, ...settings });
  if (step.call === undefined) return undefined;
  for (const earlier of before) await callAndRead(client, earlier);
  const { cancelAfterMs, ...others } = options ?? {};
  const signal = cancelAfterMs === undefined ? {} : { signal: AbortSignal.timeout(cancelAfterMs) };
  const args = fill(step.args ?? [], {}) as unknown[];
  return await callAndRead(client, { ...step, args }, { ...others, ...signal });
}

type Signature = {
  name: string;
  body: string;
  header: string;
  secret: string;
  now: number;
  tolerance?: number;
  valid: boolean;
};

for (const one of readCases<Signature>('signatures')) {
  test(`signatures: ${one.name}`, async () => {
    mock.timers.enable({ apis: ['Date'], now: one.now * 1000 });
    try {
      const result = attempt(() => webhooks.verify(one.body, one.header, one.secret, one.tolerance));
      const expected: Outcome = one.valid
        ? { result: JSON.parse(one.body) }
        : { error: { type: 'invalid_signature' } };
      check(expected, await result);
    } finally {
      mock.timers.reset();
    }
  });
}
