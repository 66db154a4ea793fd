/** Scripts that ask about the account while they run get the answers of their own mailbox. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWriting } from '../../../src/db/connection.ts';
import { kyselyOn } from '../../../src/db/dialect.ts';
import { hashCorrespondent } from '../../../src/submission/limits/limits.ts';
import { recordRecipients } from '../../../src/submission/limits/store.ts';
import { openScriptWorld } from './world.ts';

const world = await openScriptWorld();
const folders = () => world.stored.splice(0).map(({ target }) => target?.mailbox);

test('the address book of a mailbox has the addresses that it has written to, and no other mailbox sees them', async () => {
  const script = `require ["extlists", "fileinto"];
    if header :list "from" ":addrbook:default" { fileinto "Friends"; }`;
  const [ann, ben] = [await world.add(script), await world.add(script)];
  const addressHash = hashCorrespondent(world.app, ann.id, 'friend@sender.example');
  const correspondents = { unknown: [addressHash], known: [] };
  const side = openWriting(join(world.test.dataDir, 'postrider.db'), 'NORMAL');
  await recordRecipients(kyselyOn(side), { mailbox: ann, recipients: 1, correspondents, now: 1 });
  side.close();
  for (const { address } of [ann, ben]) await world.deliver(address, { from: 'FRIEND@sender.example' });
  assert.deepEqual(folders().toSorted(), ['Friends', 'INBOX']);
});

test('the annotations of the mailbox decide', async () => {
  const { address } = await world.add(
    `require ["mboxmetadata", "fileinto"];
    if metadata "INBOX" "/private/vacation" "on" { fileinto "Away"; }`,
  );
  await world.deliver(address);
  assert.deepEqual(folders(), ['Away']);
});
