/**
 * What one tenant may know of another: nothing. Every operation of the document is asked with every id in every place that
 * is not its caller's own: another tenant's, one that was deleted, one that never was, one of another kind, no id at all.
 * All are answered as one, byte for byte.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { LightMyRequestResponse } from 'fastify';
import { isId, newId } from '../src/system/ids.ts';
import { turn } from './bad-input/turns.ts';
import { type ApiOperation, findDelete } from './support/resources/operations.ts';
import { type Asked, openPopulated, type Party, pathOf } from './support/resources/populated.ts';
import type { Prefix } from './support/resources/resource.ts';
import { PREFIXES, ROWS } from './support/resources/resources.ts';
import { idFieldsOf, type Place, placesOf, requestsOf } from './tenancy/places.ts';

const world = await openPopulated();
const { owner, stranger, operations } = world;
/** Of the owner, by kind, no longer there. */
const deleted = new Map<Prefix, string>();
/** Of the owner: a contact of another audience than its `ids.aud`, a delivery of another endpoint. */
const otherFamily = new Map<Prefix, string>();
/** All that the stranger can see, before anybody asked about it. */
let strangers: Map<string, unknown>;

const MODAL = ROWS.filter(({ isModal }) => isModal).map(({ prefix }) => prefix);
/** Operations that use up what they are asked about, besides those that delete it. */
const ONCE = [
  'cancelEmail',
  'sendBroadcast',
  'pauseBroadcast',
  'resumeBroadcast',
  'cancelBroadcast',
  'replayInboundMessage',
];
/** Actions that bring a new broadcast into the state in which the operation works. */
const FIRST: Readonly<Record<string, readonly string[]>> = {
  pauseBroadcast: ['send'],
  resumeBroadcast: ['send', 'pause'],
  cancelBroadcast: ['send'],
};

before(async () => {
  for (const { prefix, isKept } of ROWS) {
    const remove = findDelete(operations, prefix);
    assert.equal(remove === undefined, isKept === true, prefix);
    if (remove) deleted.set(prefix, await makeAndDelete(remove, prefix));
  }
  const aud = await world.make(owner, 'aud');
  otherFamily.set('ct', await world.make(owner, 'ct', { ids: { aud } }));
  const wh = await world.make(owner, 'wh');
  otherFamily.set('whd', await world.make(owner, 'whd', { ids: { wh } }));
  strangers = await seenBy(stranger);
});
after(() => world.close());

/** What each operation that only reads answers to a party. */
async function seenBy(party: Party): Promise<Map<string, unknown>> {
  const seen = new Map<string, unknown>();
  // The log of requests grows with each question.
  for (const operation of operations.filter(({ method, listed }) => method === 'GET' && listed !== 'req')) {
    const { body } = await world.ask(party, { method: 'GET', url: pathOf(operation, party) });
    // Keys were used since, by this very question too. Metrics end with the present day.
    seen.set(operation.name, body.replace(/"lastUsedAt":[^,}]+|"(?:from|to)":"\d{4}-[^"]+",/g, ''));
  }
  return seen;
}

async function makeAndDelete(remove: ApiOperation, prefix: Prefix): Promise<string> {
  const id = await world.make(owner, prefix);
  const url = pathOf(remove, owner, { id });
  const { statusCode, body } = await world.ask(owner, { method: 'DELETE', url });
  assert.equal(statusCode, 204, `${url} ${body}`);
  return id;
}

/** All that a caller can see of an answer, but for what is of this very request. */
function faceOf({ statusCode, headers, body }: LightMyRequestResponse) {
  const { 'x-request-id': _, date: __, ...rest } = headers;
  return { statusCode, headers: rest, body: body.replace(/\breq_[0-9a-z]{26}\b/g, 'req_') };
}

type Face = ReturnType<typeof faceOf>;

/** Well-formed ids that were never given out. */
const missing = (prefix: Prefix) => newId(prefix, world.testApp.app.clock.now());

/** No ids, however like one they look. */
function garbageFor(prefix: Prefix): string[] {
  const own = owner.ids[prefix];
  return [
    ...['x', '%', '_', '*', "' OR 1=1 --", '\u0000', '__proto__', 'null', `${prefix}_`, `${prefix}_%`],
    ...[own.toUpperCase(), own.slice(0, -1), `${own}0`, `${own} `, ` ${own}`, `${own}\u0000`, own.slice(3)],
    ...[`${own.slice(0, -1)}_`, `${own.slice(0, -1)}%`, owner.tenantId, `${'9'.repeat(200)}`],
  ];
}

/** Names of things of the stranger that are taken for ids where their path takes one or the other. */
async function addressesOf(prefix: Prefix): Promise<string[]> {
  const get = operations.find(
    (one) => one.method === 'GET' && one.path.endsWith('{id}') && one.ids.at(-1)?.prefix === prefix,
  );
  if (!get) return [];
  const shown = await world.ask(stranger, { method: 'GET', url: pathOf(get, stranger) });
  const { email } = shown.json<{ email?: string }>();
  return email === undefined ? [] : [email];
}

type NotTheirs = { what: string; id: string };

/** Returns ids that are not found in a place. Ids of all kinds are parsed alike, so the places share the other kinds. */
async function notTheirs({ prefix, kind }: Place, number: number): Promise<NotTheirs[]> {
  const gone = deleted.get(prefix);
  const cousin = kind === 'path' ? otherFamily.get(prefix) : undefined;
  const addresses = kind === 'path' ? await addressesOf(prefix) : [];
  return [
    { what: 'foreign', id: stranger.ids[prefix] },
    ...(gone === undefined ? [] : [{ what: 'deleted', id: gone }]),
    ...(cousin === undefined ? [] : [{ what: 'own, of another family', id: cousin }]),
    ...addresses.map((id) => ({ what: 'a foreign address', id })),
    ...turn(PREFIXES, number, 4)
      .filter((one) => one !== prefix)
      .map((one) => ({ what: `own ${one}`, id: owner.ids[one] })),
    ...turn(garbageFor(prefix), number, 2).map((id) => ({ what: 'garbage', id })),
  ];
}

/** What is said of an id that never was, in this place. */
function assertMissing({ kind, name }: Place, { statusCode, body }: LightMyRequestResponse): void {
  const { error, data } = JSON.parse(body) as {
    error?: { type: string; message: string; param?: string };
    data?: { error?: { type: string } }[];
  };
  switch (kind) {
    case 'path':
      assert.deepEqual([statusCode, error?.type, error?.param], [404, 'not_found', undefined], body);
      assert.match(error?.message ?? '', /^[A-Z][A-Za-z ]+ not found$/);
      return;
    case 'body':
      if (statusCode === 200) {
        assert.equal(data?.[0]?.error?.type, 'validation_error', body);
        return;
      }
      assert.deepEqual([statusCode, error?.type], [400, 'validation_error'], body);
      assert.equal(error?.param?.replace(/\[\d+\]/g, ''), name, body);
      return;
    case 'query':
      assert.deepEqual([statusCode, data], [200, []], body);
  }
}

for (const [index, operation] of operations.entries()) {
  test(`${operation.name} tells nothing of what is not its caller's, and works with what is`, async () => {
    for (const [at, place] of placesOf(operation, owner).entries()) await assertOneAnswer(place, index + at);
    for (const asked of await ownRequests(operation)) {
      const { statusCode, body } = await world.ask(owner, asked);
      const about = `${asked.method} ${asked.url} ${asked.payload}: ${statusCode} ${body.slice(0, 500)}`;
      assert.ok((statusCode >= 200 && statusCode < 300) || isUndecidable(operation, statusCode), about);
      assert.doesNotMatch(body, /"status":"failed"/, about);
    }
  });
}

/**
 * A decision names the hash of mail that waits, which the example does not; test/emails and test/broadcasts have such mail. The import of the
 * example has ended; test/imports/waiting.test.ts has those that wait.
 */
function isUndecidable({ name }: ApiOperation, statusCode: number): boolean {
  return (
    statusCode === 409 &&
    /^(?:(?:approve|decline)(?:Email|Broadcast)|previewWaitingImport|startImport)$/.test(name)
  );
}

async function assertOneAnswer(place: Place, number: number): Promise<void> {
  const first = await world.ask(owner, place.asked(missing(place.prefix)));
  assertMissing(place, first);
  const expected = faceOf(first);
  for (const { what, id } of await notTheirs(place, number)) {
    const asked = place.asked(id);
    const face = faceOf(await world.ask(owner, asked));
    const about = `${what} ${JSON.stringify(id)} in ${place.name}: ${asked.method} ${asked.url} ${asked.payload}`;
    assert.deepEqual(face, expected, about);
    if (id.length > 5) assert.ok(!face.body.includes(id), `echoed: ${about}`);
  }
}

/** What is used up is made anew, for each. */
async function ownRequests(operation: ApiOperation): Promise<Asked[]> {
  const subject = operation.ids.at(-1);
  const isOnce = operation.method === 'DELETE' || ONCE.includes(operation.name);
  if (!subject || !isOnce) return requestsOf(operation, owner);
  const made = await world.make(owner, subject.prefix);
  for (const action of FIRST[operation.name] ?? [])
    await world.ask(owner, { method: 'POST', url: `/v1/broadcasts/${made}/${action}` });
  return requestsOf(operation, owner, { [subject.name]: made });
}

test('a family of ids that is wholly the stranger’s is not found', async () => {
  for (const operation of operations.filter(({ ids }) => ids.length > 1)) {
    const foreign = Object.fromEntries(operation.ids.map(({ name, prefix }) => [name, stranger.ids[prefix]]));
    const unknown = Object.fromEntries(operation.ids.map(({ name, prefix }) => [name, missing(prefix)]));
    const faces = [];
    for (const ids of [foreign, unknown]) {
      const [asked] = requestsOf(operation, owner, ids);
      assert.ok(asked);
      faces.push(faceOf(await world.ask(owner, asked)));
    }
    assert.equal(faces[0]?.statusCode, 404, operation.name);
    assert.deepEqual(faces[0], faces[1], operation.name);
  }
});

/** Shown, and named in no request. */
const NEVER_ASKED = ['evt', 'tsk'];

test('every kind of id that is shown is one that is asked with', async () => {
  const document = JSON.stringify((await world.testApp.openServer()).openApi());
  const shown = [...document.matchAll(/\b([a-z]+)_[0-9a-hjkmnp-tv-z]{26}\b/g)].map(
    ([, prefix = '']) => prefix,
  );
  assert.deepEqual([...new Set(shown)].toSorted(), [...PREFIXES, ...NEVER_ASKED].toSorted());
});

test('every field of a body that holds an id is asked with those of others', () => {
  const unasked = operations.flatMap((operation) => {
    const asked = placesOf(operation, owner).map(({ name }) => name);
    const fields = operation.body ? idFieldsOf(operation.body.schema) : [];
    return fields.filter((field) => !asked.includes(field)).map((field) => `${operation.name} ${field}`);
  });
  assert.deepEqual(unasked, []);
});

test('a live key does not see resources of the test mode, and sees those of both modes', async () => {
  for (const operation of operations) {
    const subject = operation.ids.at(-1);
    if (operation.method !== 'GET' || !subject) continue;
    const isModal = operation.ids.some(({ prefix }) => MODAL.includes(prefix));
    const [own, unknown] = await Promise.all(
      [owner.ids, Object.fromEntries(PREFIXES.map((prefix) => [prefix, missing(prefix)]))].map((ids) =>
        world.ask(owner, { method: 'GET', url: pathOf(operation, { ids: ids as Party['ids'] }) }, 'live'),
      ),
    );
    assert.ok(own && unknown);
    assert.equal(unknown.statusCode, 404, operation.name);
    if (isModal) assert.deepEqual(faceOf(own), faceOf(unknown), operation.name);
    else assert.equal(own.statusCode, 200, `${operation.name} ${own.body}`);
  }
});

test('nothing of the test mode can be changed by a live key', async () => {
  for (const operation of operations) {
    const isModal = operation.ids.some(({ prefix }) => MODAL.includes(prefix));
    if (operation.method === 'GET' || !isModal) continue;
    for (const asked of requestsOf(operation, owner)) {
      const { statusCode, body } = await world.ask(owner, asked, 'live');
      assert.equal(statusCode, 404, `${operation.name} ${body}`);
    }
  }
});

/** Operations that a sending key may use (specification 5): it sends, and reads and changes emails. */
const FOR_SENDING = [
  ...[
    'cancelEmail',
    'checkEmail',
    'getEmail',
    'getEmailAttachment',
    'getEmailAttempts',
    'getRawEmail',
    'listEmails',
  ],
  ...['rescheduleEmail', 'searchEmailSubjects', 'sendBatch', 'sendEmail'],
];
/** A key that is limited in any way manages no keys. */
const FOR_WHOLE_KEYS = ['getApiKey', 'listApiKeys'];
/** A private address of a person, which opens a mailbox. */
const FOR_ADMINISTRATORS = ['getRecoveryAddress'];
/** They show what their body would find or become, and change nothing. */
const READ_BY_POST = ['countSegment', 'previewBranding', 'previewTemplate', 'previewWaitingImport'];

test('a sending key may do what sending needs, a reading key may read, and neither may do anything else', async () => {
  const reads = operations.filter(({ method, name }) => method === 'GET' || READ_BY_POST.includes(name));
  const forReading = reads
    .map(({ name }) => name)
    .filter((name) => ![...FOR_WHOLE_KEYS, ...FOR_ADMINISTRATORS].includes(name));
  for (const [permission, permitted] of [
    ['sending_access', FOR_SENDING],
    ['read_only', forReading],
  ] as const) {
    const key = await world.testApp.newKey({ permission });
    const done: string[] = [];
    for (const operation of operations) {
      const [asked = { method: operation.method, url: operation.path }] = requestsOf(operation, owner);
      const { statusCode, body } = await world.ask({ keys: { test: key, live: key } }, asked);
      if (statusCode !== 403) done.push(operation.name);
      else assert.equal(JSON.parse(body).error.type, 'restricted_api_key', operation.name);
    }
    assert.deepEqual(done.toSorted(), permitted.toSorted(), permission);
  }
});

test('a cursor is a position, whoever’s id it is; what is no id of the list is refused', async () => {
  for (const operation of operations) {
    const { listed } = operation;
    if (listed === undefined) continue;
    const url = pathOf(operation, owner);
    const others = PREFIXES.filter((prefix) => prefix !== listed).map((prefix) => owner.ids[prefix]);
    const noCursors = [...garbageFor(listed).filter((text) => !isId(listed, text)), ...others];
    for (const name of ['startingAfter', 'endingBefore']) {
      const at = async (cursor: string): Promise<Face> =>
        faceOf(
          await world.ask(owner, { method: 'GET', url: `${url}?${name}=${encodeURIComponent(cursor)}` }),
        );
      for (const known of [stranger.ids[listed], deleted.get(listed)]) {
        if (known === undefined) continue;
        const face = await at(known);
        assert.equal(face.statusCode, 200, `${operation.name} ${name}`);
        assert.deepEqual(face, await at(neighbourOf(known)), `${operation.name} ${name}`);
      }
      const refusal = await at('x');
      assert.equal(refusal.statusCode, 400, operation.name);
      assert.equal(JSON.parse(refusal.body).error.param, name);
      for (const text of noCursors) {
        assert.deepEqual(await at(text), refusal, `${operation.name} ${name} ${text}`);
      }
    }
  }
});

/** An id that nobody has, with nothing between it and this one. */
function neighbourOf(id: string): string {
  return `${id.slice(0, -1)}${id.endsWith('7') ? '8' : '7'}`;
}

test('no request of a tenant has changed anything of another tenant', async () => {
  assert.ok(strangers.size > 20);
  assert.deepEqual(await seenBy(stranger), strangers);
});

test('an idempotency key is its tenant’s, and its mode’s', async () => {
  const send = operations.find(({ name }) => name === 'sendEmail');
  assert.ok(send);
  const ids = new Set<string>();
  for (const [index, party] of [owner, stranger].entries()) {
    const payload = JSON.stringify({
      ...{ from: `Ada <ada@sandbox.mx.postrider.example>`, to: `reader${index}@rcpt.example` },
      ...{ subject: 'Hello', text: 'Hello', type: 'transactional' },
    });
    const headers = {
      'idempotency-key': 'one',
      authorization: `Bearer ${party.keys.test}`,
      'content-type': 'application/json',
    };
    const sent: LightMyRequestResponse = await world.testApp.inject({
      method: 'POST',
      url: send.path,
      headers,
      payload,
    });
    assert.equal(sent.statusCode, 200, sent.body);
    assert.equal(sent.headers['idempotency-replayed'], undefined);
    ids.add(sent.json().id);
  }
  assert.equal(ids.size, 2);
});
