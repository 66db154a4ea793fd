/** Messages with a header that a script has edited. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EditedMessages } from '../../../src/mailbox-delivery/scripts/edited-message.ts';

const HEADER = Buffer.from('Subject: old\r\n\r\n');
const CHUNKS = ['Subject: o', 'ld\r\n\r\nHel', 'lo'];

test('an edited header replaces that of the message, which is written once for each header and never held whole', async () => {
  const events: string[] = [];
  const chunks = async function* () {
    for (const chunk of CHUNKS) {
      events.push('read');
      yield Buffer.from(chunk);
    }
  };
  let blobs = 0;
  const message = { header: HEADER, content: { sizeBytes: 21, chunks } };
  const edited = new EditedMessages(
    {
      async prepare(pieces) {
        for await (const piece of pieces) events.push(Buffer.from(piece).toString());
        return { id: `blob_${++blobs}` as const } as never;
      },
    },
    message,
  );
  const first = await edited.prepare(Buffer.from('Subject: new\r\n\r\n'));
  assert.deepEqual(events, ['Subject: new\r\n\r\n', 'read', '', 'read', 'Hel', 'read', 'lo']);
  assert.equal(await edited.prepare(Buffer.from('Subject: new\r\n\r\n')), first);
  assert.notEqual(await edited.prepare(Buffer.from('Subject: other\r\n\r\n')), first);
  assert.equal(edited.rows.length, 2);
});
