import assert from 'node:assert/strict';
import { test } from 'node:test';
import MailComposer from 'nodemailer/lib/mail-composer/index.js';
import { bodyOf, carriesItsFiles, type Kind, type Submission } from '../faults/submission.ts';

function submission(kind: Kind): Submission {
  return {
    idempotencyKey: `some-${kind}`,
    recipient: 'a@dest.test',
    kind,
    scheduledAtMs: undefined,
    cancellation: 'none',
    answeredIds: [],
  };
}

type Attached = { filename: string; contentType: string; contentId?: string; content: string };

/** As another composer than ours would write it. */
function compose(body: Record<string, unknown>): Promise<Buffer> {
  const { html, text, attachments } = body as { html?: string; text?: string; attachments: Attached[] };
  const files = attachments.map(({ contentId, content, ...named }) => ({
    ...named,
    content: Buffer.from(content, 'base64'),
    ...(contentId === undefined ? {} : { cid: contentId }),
  }));
  return new MailComposer({ ...(html && { html }), ...(text && { text }), attachments: files })
    .compile()
    .build();
}

test('files are found in a message whoever composed it', async () => {
  for (const kind of ['text', 'html', 'attached', 'file'] as const) {
    const asked = submission(kind);
    assert.equal(carriesItsFiles(asked, await compose(bodyOf(asked, 'b@sender.test'))), true, kind);
  }
});

test('a file that is missing, or has one other character, is noticed', async () => {
  const asked = submission('attached');
  const body = bodyOf(asked, 'b@sender.test');
  const without = { ...body, attachments: (body['attachments'] as Attached[]).slice(1) };
  assert.equal(carriesItsFiles(asked, await compose(without)), false);

  const message = await compose(body);
  const at = message.lastIndexOf('\r\n\r\n') + 8;
  message[at] = message[at] === 0x41 ? 0x42 : 0x41;
  assert.equal(carriesItsFiles(asked, message), false);
});

test('the same submission always has the same body, and another has other files', () => {
  const asked = submission('file');
  assert.deepEqual(bodyOf(asked, 'b@sender.test'), bodyOf(asked, 'b@sender.test'));
  const other = bodyOf({ ...asked, idempotencyKey: 'another' }, 'b@sender.test');
  assert.notDeepEqual(other['attachments'], bodyOf(asked, 'b@sender.test')['attachments']);
});
