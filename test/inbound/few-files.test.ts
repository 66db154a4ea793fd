import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { openMailWorld } from './mail-world.ts';

/** A fifth of the files is for connections to the listener. */
const world = await openMailWorld({ replace: () => ({ maxOpenFiles: 10 }) });

test('a client is told 421 while there are files left for everything else', async () => {
  const [first, second] = [await world.open(), await world.open()];
  // A connection that does nothing would make room for the newcomer.
  for (const client of [first, second]) {
    await client.ask('EHLO client.example\r\n');
    await client.ask('MAIL FROM:<ann@sender.example>\r\n');
  }
  const refused = connect({ host: '127.0.0.1', port: world.port });
  const [greeting] = await once(refused.setEncoding('latin1'), 'data');
  refused.destroy();
  assert.match(greeting, /^421 /);
  assert.match(await first.ask('NOOP\r\n'), /^250 /);
  assert.match(await second.ask('NOOP\r\n'), /^250 /);
});
