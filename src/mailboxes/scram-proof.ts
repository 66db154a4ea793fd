/** Finds the password of a mailbox that a SCRAM proof was made with. */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { ScramProof } from '../mail/sasl/scram.ts';
import { listUsable, type Use } from './app-passwords/match.ts';
import { type Credential, OWN_PASSWORD } from './credential.ts';
import { type ScramVerifier, verifyProof } from './passwords/scram-verifier.ts';

/** A verifier, and the credential that it belongs to. */
type Known = { verifier: ScramVerifier; credential: Credential };

/** Returns the verifiers that may open a mailbox in this way. A mailbox that does not exist has none. */
export async function listVerifiers(
  app: Pick<App, 'db' | 'clock'>,
  mailbox: MailboxRow | undefined,
  use: Use,
): Promise<Known[]> {
  if (!mailbox) return [];
  const own = mailbox.passwordLogin === 1 ? mailbox.scramVerifier : null;
  const rows = await listUsable(app, mailbox.id, use);
  return [
    ...(own === null ? [] : [{ verifier: JSON.parse(own) as ScramVerifier, credential: OWN_PASSWORD }]),
    ...rows.flatMap((row) =>
      (JSON.parse(row.scramVerifiers) as ScramVerifier[]).map((verifier) => ({
        verifier,
        credential: { kind: 'app-password', row } as const,
      })),
    ),
  ];
}

/** Returns the credential of a right proof, with the signature of the server; undefined when the proof is wrong for all verifiers. */
export function findProven(
  known: readonly Known[],
  proof: ScramProof,
): { credential: Credential; serverSignature: string } | undefined {
  for (const { verifier, credential } of known) {
    const serverSignature = verifyProof(verifier, proof);
    if (serverSignature !== undefined) return { credential, serverSignature };
  }
  return undefined;
}
