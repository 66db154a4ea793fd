/** What the tests of emails share: a request body that is accepted, and ways to spoil it. */
import type { TestApp } from '../support/test-app.ts';

export const HOSTNAME = 'mx.postrider.example';
export const SANDBOX = `sandbox.${HOSTNAME}`;
export const SIMULATOR = `simulator.${HOSTNAME}`;

/** Accepted from a test key as it is; fields of `more` that are undefined are left out. */
export function emailBody(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    from: `Ada <ada@${SANDBOX}>`,
    to: 'bob@rcpt.example',
    subject: 'Hello',
    text: 'Hello Bob',
    type: 'transactional',
    ...more,
  };
}

/** Every header line of a composed message, unfolded (RFC 5322 2.2.3). */
export async function headerLines(app: TestApp['app'], emailId: string): Promise<string[]> {
  const { blobId } = await app.db.read
    .selectFrom('messages')
    .select('blobId')
    .where('id', '=', emailId as `em_${string}`)
    .executeTakeFirstOrThrow();
  const raw = (await app.blobs.read(blobId)).toString('latin1');
  return raw
    .slice(0, raw.indexOf('\r\n\r\n'))
    .replace(/\r\n(?=[ \t])/g, '')
    .split('\r\n');
}
