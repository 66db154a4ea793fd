/** Which received messages an API key sees: those that routes got, and with a key of one domain, the recipients there. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addReceived } from '../../inbound/fixtures.ts';
import { openPopulated } from '../../support/resources/populated.ts';
import { addFamily, type Family } from '../../tenancy/families.ts';

const PATH = '/v1/inbound/messages';
const world = await openPopulated();
const { tenantId } = world.owner;
const home = await addFamily(world, 'home.example');
const away = await addFamily(world, 'away.example');
after(() => world.close());

const ask = (party: Pick<Family, 'keys'>, url: string, method: 'GET' | 'POST' = 'GET') =>
  world.ask(party, { method, url: `${PATH}${url}` }, 'live');
const whole = { keys: home.whole };
const listed = async (party: Pick<Family, 'keys'>, query = '') =>
  (await ask(party, `?limit=100${query}`)).json<{ data: { id: string; to: string[] }[] }>().data;

const TO = ['support@home.example', 'sales@away.example'];
const routeIds = [home.ids.rt, away.ids.rt];

test('a message for two domains shows a key of one of them its own recipients and posts', async () => {
  const id = await addReceived(world.testApp, { tenantId, routeIds, addresses: TO });
  for (const [index, family] of [home, away].entries()) {
    const shown = (await ask(family, `/${id}`)).json();
    assert.deepEqual(shown.envelope.to, [TO[index]]);
    assert.deepEqual(
      shown.deliveries.map(({ routeId }: { routeId: string }) => routeId),
      [routeIds[index]],
    );
    assert.deepEqual((await listed(family)).find((one) => one.id === id)?.to, [TO[index]]);
    const other = 1 - index;
    assert.deepEqual(await listed(family, `&routeId=${routeIds[other]}`), []);
    assert.deepEqual(await listed(family, `&address=${TO[other]}`), []);
    assert.deepEqual(await listed(family, `&address=${TO[index]}&routeId=${routeIds[other]}`), []);
    assert.ok((await listed(family, `&address=${TO[index]}&routeId=${routeIds[index]}`)).length > 0);
  }
  assert.deepEqual((await ask(whole, `/${id}`)).json().envelope.to, TO);
});

test('a replay with a key of one domain posts to the routes of that domain alone', async () => {
  const task = { state: 'failed' } as const;
  const id = await addReceived(world.testApp, { tenantId, routeIds, addresses: TO, task });
  const replayed = await ask(home, `/${id}/replay`, 'POST');
  assert.equal(replayed.statusCode, 202, replayed.body);
  const { deliveries } = (await ask(whole, `/${id}`)).json();
  assert.deepEqual(
    deliveries.map((one: { routeId: string; status: string }) => [one.routeId, one.status]),
    [
      [home.ids.rt, 'pending'],
      [away.ids.rt, 'failed'],
    ],
  );
});

test('a route that is moved to a domain does not take the messages of its former domain along', async () => {
  const routeId = await away.make('rt');
  const id = await addReceived(world.testApp, { tenantId, routeIds: [routeId], address: TO[1] as string });
  const payload = JSON.stringify({ address: 'moved@home.example' });
  const moved = await world.ask(
    whole,
    { method: 'PATCH', url: `/v1/inbound/routes/${routeId}`, payload },
    'live',
  );
  assert.equal(moved.statusCode, 200, moved.body);
  assert.equal((await ask(home, `/${id}`)).statusCode, 404);
  assert.equal((await ask(away, `/${id}`)).statusCode, 200);
  assert.deepEqual(await listed(home, `&routeId=${routeId}`), []);
});

test('mail that arrived for a mailbox alone is no message of the API', async () => {
  const received = {
    tenantId,
    routeIds: [home.ids.mbx],
    address: 'person@home.example',
    kind: 'mailbox',
  } as const;
  const id = await addReceived(world.testApp, received);
  for (const party of [whole, home]) {
    for (const path of ['', '/raw', '/attachments/1'])
      assert.equal((await ask(party, `/${id}${path}`)).statusCode, 404, path);
    assert.equal((await ask(party, `/${id}/replay`, 'POST')).statusCode, 404);
    assert.ok(!(await listed(party)).some((one) => one.id === id));
    assert.deepEqual(await listed(party, '&address=person@home.example'), []);
    assert.deepEqual(await listed(party, `&routeId=${home.ids.mbx}`), []);
  }
});
