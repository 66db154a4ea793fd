/** Mail that a mailbox sends because of a message, as it is queued in the write that settles the delivery. */
import type { BlobRow } from '../../db/tables.ts';
import type { Target } from '../../mail/sieve/actions.ts';
import type { MemoryKey } from '../../mailboxes/scripts/memory-key.ts';
import type { BuiltForward } from '../forward/forward.ts';
import type { OwnMail } from '../forward/own-mail.ts';

/** A reply is sent only when no other delivery has claimed its key. */
export type ReplyClaim = { key: MemoryKey; expiresAt: number };

export type BuiltRedirect = {
  kind: 'redirect';
  forward: Extract<BuiltForward, { kind: 'built' }>;
  /** Bytes that were made for the redirect, which several redirects may share; undefined when they are those of the message. */
  blob: BlobRow | undefined;
};

/** Mail that is composed here. */
export type BuiltAnswer = {
  kind: 'vacation' | 'notify' | 'reject';
  mail: OwnMail;
  claim: ReplyClaim | undefined;
  /** The folder that gets a copy, and the message with its date. */
  copy: { target: Target; bytes: Buffer } | undefined;
};

/** Rows to add in the write that settles the delivery. */
export type BuiltMail = (BuiltRedirect | BuiltAnswer) & {
  /** Number of the action among those of its kind in the plan. It names the copy, also where limits leave out all of another kind. */
  position: number;
};

/** Returns the blobs that are stored together with the rows of a mail. */
export function blobsOf(built: BuiltMail): BlobRow[] {
  if (built.kind === 'redirect') return built.blob ? [built.blob] : [];
  return [built.mail.blob];
}
