/** Says whose mail waits for approval. Each way of sending goes through it: the API, batches, SMTP, broadcasts, and confirmation mail. */
import type { MessageRow } from '../db/tables.ts';
import type { ApiKeyRow } from '../db/tenant-tables.ts';
import { AppError } from '../system/errors.ts';
import type { Caller } from './authenticate.ts';

/** Returns the key in whose name mail of this kind asks for approval; null when the mail of the caller needs none. */
export function findAsker(
  { approval }: Pick<Caller, 'approval'>,
  kind: MessageRow['kind'],
): ApiKeyRow['id'] | null {
  if (approval === null) return null;
  return kind === 'broadcast' || approval.covers === 'broadcasts_and_emails' ? approval.keyId : null;
}

/**
 * Refuses a caller whose mail of this kind needs approval.
 * @param what the thing that its key cannot do
 * @throws AppError restricted_api_key
 */
export function requireNoAsker(
  caller: Pick<Caller, 'approval'>,
  { kind, what }: { kind: MessageRow['kind']; what: string },
): void {
  if (findAsker(caller, kind) === null) return;
  throw new AppError(
    'restricted_api_key',
    `The mail of this API key requires approval, so the key cannot ${what}`,
  );
}
