/** The scripted server notices requests that are not as a case expects: otherwise no suite of a client library could fail. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'undici';
import type { ExpectedRequest, WireCase } from './cases.ts';
import { startScriptedServer } from './scripted-server.ts';

const TOPIC = { method: 'POST', path: '/v1/topics', headers: { 'x-key': 'a' }, body: { name: 'News' } };

/** Makes a case, sends it two requests for a topic, and returns what is wrong with them. */
async function problemsOf(requests: ExpectedRequest[]): Promise<string[]> {
  await using server = await startScriptedServer();
  const wire: WireCase = { name: 'a case', answers: [{ status: 200, body: {} }], requests };
  const made = await fetch(`${server.address}/cases`, { method: 'POST', body: JSON.stringify(wire) });
  const { id, baseUrl } = (await made.json()) as { id: string; baseUrl: string };
  const client = new Client(baseUrl);
  for (let count = 0; count < 2; count++) {
    const answer = await client.request({
      method: 'POST',
      path: '/v1/topics?limit=2',
      headers: { 'x-key': 'a' },
      body: '{"name":"News"}',
    });
    await answer.body.text();
  }
  await client.close();
  const ended = await fetch(`${server.address}/cases/${id}`);
  return ((await ended.json()) as { problems: string[] }).problems;
}

test('requests that are as expected have no problems', async () => {
  assert.deepEqual(await problemsOf([TOPIC, { headers: { 'x-key': { $same: 0 } }, connection: 'same' }]), []);
});

const WRONG: Record<string, ExpectedRequest[]> = {
  'a method': [{ method: 'PUT' }, {}],
  'a path': [{ path: '/v1/topic' }, {}],
  'a query': [{ query: { limit: '3' } }, {}],
  'a header': [{ headers: { 'x-key': 'b' } }, {}],
  'a header that must be absent': [{ headers: { 'x-key': null } }, {}],
  'a header that must be there': [{ headers: { 'x-other': { $any: 'string' } } }, {}],
  'a body': [{ body: { name: 'Old' } }, {}],
  'a body with another field': [{ body: { name: 'News', colour: 'blue' } }, {}],
  'a pause': [{}, { minWaitMs: 10_000 }],
  'a connection': [{}, { connection: 'new' }],
  'one request too many': [{}],
  'a request that did not arrive': [{}, {}, {}],
};

for (const [name, requests] of Object.entries(WRONG)) {
  test(`${name} is noticed`, async () => {
    assert.equal((await problemsOf(requests)).length, 1);
  });
}
