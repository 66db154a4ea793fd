import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createUserConnections } from '../../src/submission/submission-app.ts';
import { dialPlain, openSubmissionWorld, PASSWORD, plain } from './submission-world.ts';

test('a user and a tenant have a share of the connections, and get it back', () => {
  const connections = createUserConnections(200);
  const take = (tenantId: string, id: string, count: number) =>
    Array.from({ length: count }, () => connections.take({ tenantId: tenantId as 'ten_', id })).filter(
      (end) => end !== undefined,
    );
  const ann = take('ten_a', 'ann', 60);
  assert.equal(ann.length, 50);
  for (const id of ['ben', 'cleo', 'dan', 'eve']) take('ten_a', id, 50);
  assert.equal(take('ten_a', 'fay', 1).length, 0, 'the tenant has its share');
  assert.equal(take('ten_b', 'other', 30).length, 30);
  for (const end of ann) end();
  assert.equal(take('ten_a', 'ann', 10).length, 10);
});

test('a login beyond the share ends the connection, and a connection that ends gives its place back', async () => {
  const world = await openSubmissionWorld({ env: { POSTRIDER_SUBMISSION_CONNECTIONS: '1' } });
  const second = async () => {
    const client = await dialPlain(world.ports.starttls);
    await client.ask('STARTTLS\r\n');
    const secure = await client.encrypt();
    await secure.ask('EHLO client.example\r\n');
    return { secure, reply: await secure.ask(`AUTH PLAIN ${plain(world.ann.address, PASSWORD)}\r\n`) };
  };
  const first = await world.logIn();
  const refused = await second();
  assert.match(refused.reply, /^421 4\.7\.0 /);
  assert.equal(await refused.secure.reply(), 'closed');
  await first.ask('QUIT\r\n');
  assert.equal(await first.reply(), 'closed');
  const { secure, reply } = await second();
  assert.match(reply, /^235 /);
  secure.socket.destroy();
});
