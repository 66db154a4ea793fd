import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mayUseAddress } from '../../src/mailboxes/sender-addresses.ts';
import { openTestApp } from '../support/test-app.ts';
import { addMailbox } from './fixtures.ts';

const world = await openTestApp();
after(() => world.close());

test('the owner of a mailbox may write from its address and its aliases, with tags, and from nothing else', async () => {
  const aliases = ['role@write.example', 'ann@other.example', 'änn@write.example', '*@write.example'];
  const ann = await addMailbox(world, { address: 'ann@write.example', aliases });
  const bob = await addMailbox(world, { address: 'bob@write.example' });
  const may = (address: string) => mayUseAddress(world.app.db.read, ann, address);
  for (const address of [
    'Ann@Write.example',
    'ann+news@write.example',
    'role@write.example',
    'ROLE+x@write.example',
    'A\u0308NN+x@write.example',
  ])
    assert.equal(await may(address), true, address);
  assert.equal(await may('ann@other.example'), true);
  for (const address of [
    ...[
      'bob@write.example',
      'bob+x@write.example',
      'anybody@write.example',
      '*@write.example',
      '*+x@write.example',
    ],
    ...['"ann+x"@write.example', '+ann@write.example', 'role@other.example', 'ann', ''],
  ])
    assert.equal(await may(address), false, address);
  assert.equal(await mayUseAddress(world.app.db.read, bob, 'bob+x@write.example'), true);
});
