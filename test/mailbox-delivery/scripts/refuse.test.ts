/** Scripts that refuse mail before the answer to DATA. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/system/errors.ts';
import { sendMail } from '../../inbound/mail-world.ts';
import { openScriptWorld } from './world.ts';

const world = await openScriptWorld();
const REJECT =
  'require "reject"; if header :contains "subject" "offer" { reject "No offers,\r\nplease: \u00e9."; }';
const OFFER = 'From: ann@sender.example\r\nSubject: An offer\r\n\r\nHi\r\n';

const send = async (to: string | string[], message = OFFER) => sendMail(await world.open(), { to, message });

test('a message that all recipients refuse is refused with the reason, and leaves nothing behind', async () => {
  const [one, two] = [await world.add(REJECT), await world.add(REJECT)];
  const before = (await world.messages()).length;
  assert.equal(await send(one.address), '550-5.7.1 No offers,\r\n550 5.7.1 please: ?.\r\n');
  assert.match(await send([one.address, two.address]), /^550-5\.7\.1 /);
  assert.equal((await world.messages()).length, before);
  assert.match(await send(one.address, OFFER.replace('offer', 'invoice')), /^250 /);
});

test('a message that one recipient takes is accepted, and the copy of the other one is dropped', async () => {
  const [refusing, taking] = [await world.add(REJECT), await world.add('keep;')];
  assert.match(await send([refusing.address, taking.address]), /^250 /);
  world.stored.length = 0;
  await world.run();
  assert.deepEqual(
    world.stored.filter(({ text }) => text.includes('An offer')).map(({ mailboxId }) => mailboxId),
    [taking.id],
  );
  assert.match(await send([taking.address, refusing.address]), /^250 /);
});

test('a refusal of an included script counts, and a script that fails or is busy refuses nothing', async () => {
  const { id, address } = await world.add('keep;');
  await world.activate(id, REJECT);
  await world.activate(id, 'require "include"; include "other";', 'including');
  assert.match(await send(address), /^250 /, 'there is no such script');
  await world.activate(id, 'require "include"; include "rules";', 'including');
  assert.match(await send(address), /^550-5\.7\.1 /);
  world.replaced.run = async () => ({ kind: 'busy', reason: 'no thread was free' });
  assert.match(await send(address), /^250 /);
  delete world.replaced.run;
});

test('a message that is seen for the first time is no duplicate when it is delivered', async () => {
  const script = 'require ["duplicate", "ereject", "fileinto"]; if duplicate { ereject "Twice."; }';
  const { address } = await world.add(script);
  const message = 'From: ann@sender.example\r\nMessage-ID: <dup@sender.example>\r\n\r\nHi\r\n';
  assert.match(await send(address, message), /^250 /);
  world.stored.length = 0;
  await world.run();
  assert.ok(world.stored.length > 0);
  assert.match(await send(address, message), /^550 5\.7\.1 Twice\./);
});

test('a damaged mailbox whose script asks for its folders refuses nothing', async () => {
  const asking = await world.add('require ["reject", "mailbox"]; if not mailboxexists "x" { reject "No."; }');
  const { address } = await world.add(REJECT);
  world.replaced.listTargets = () => {
    throw new AppError('unavailable', 'The mailbox is damaged');
  };
  assert.match(await send([address, asking.address]), /^250 /);
  delete world.replaced.listTargets;
  assert.match(await send([address, asking.address]), /^550 5\.7\.1 /);
});

test('scripts of a transaction that take too long together refuse nothing', async () => {
  const slow = await world.add('keep;');
  const other = await world.add('keep;');
  const reject = {
    kind: 'reject',
    reason: 'No.',
    isExtended: false,
    line: 1,
    script: undefined,
    header: undefined,
  };
  let runs = 0;
  world.replaced.run = async () => {
    runs++;
    await world.clock.advance(3_000);
    return { kind: 'done', actions: [reject as never], remembered: [] };
  };
  for (const { id } of [slow, other]) await world.activate(id, REJECT);
  assert.match(await send([slow.address, other.address]), /^550 5\.7\.1 /, 'both are asked within the time');
  const third = await world.add(REJECT);
  runs = 0;
  assert.match(await send([slow.address, other.address, third.address]), /^250 /);
  assert.equal(runs, 2);
  delete world.replaced.run;
  await world.run();
});

test('a script that needs something again and again is run for 10 s, and refuses nothing', async () => {
  const { address } = await world.add(REJECT);
  let runs = 0;
  world.replaced.run = async () => {
    await world.clock.advance(3_000);
    runs++;
    return { kind: 'needs', what: 'folders' };
  };
  assert.match(await send(address), /^250 /);
  assert.equal(runs, 2, 'before the reply it is run for 5 s');
  runs = 0;
  assert.equal(await world.run(), 1);
  assert.equal(runs, 4);
  delete world.replaced.run;
});
