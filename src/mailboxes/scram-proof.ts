/** Finds the password of a mailbox that a SCRAM proof was made with. */
import { randomBytes } from 'node:crypto';
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { ScramProof } from '../mail/sasl/scram.ts';
import { nextSlice } from '../system/slices.ts';
import { listUsable, type Use } from './app-passwords/match.ts';
import { MAX_APP_PASSWORDS } from './app-passwords/store.ts';
import { type Credential, OWN_PASSWORD } from './credential.ts';
import { type ScramVerifier, verifyProof } from './passwords/scram-verifier.ts';

/**
 * Number of verifiers that a wrong proof is tried against: one of the password and two of each app password. A name that has fewer, or that
 * nobody has, costs as much, so that the time of a refusal tells nothing.
 */
const TRIED = 1 + 2 * MAX_APP_PASSWORDS;
/** Number of verifiers after which other work runs. They take some tenths of a millisecond. */
const PER_SLICE = 16;
/** A verifier of random keys, for which nobody has a proof. It stands in where a name has no more verifiers. */
const NOBODY: ScramVerifier = {
  storedKey: randomBytes(32).toString('base64'),
  serverKey: randomBytes(32).toString('base64'),
};
/** An id that no mailbox has. */
const NO_MAILBOX: MailboxRow['id'] = 'mbx_';

/** A verifier, and the credential that it belongs to. */
type Known = { verifier: ScramVerifier; credential: Credential };

/** Returns the verifiers that may open a mailbox in this way. A mailbox that does not exist has none. */
export async function listVerifiers(
  app: Pick<App, 'db' | 'clock'>,
  mailbox: MailboxRow | undefined,
  use: Use,
): Promise<Known[]> {
  const own = mailbox?.passwordLogin === 1 ? mailbox.scramVerifier : null;
  const rows = await listUsable(app, mailbox?.id ?? NO_MAILBOX, use);
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

/**
 * Returns the credential of a right proof, with the signature of the server; undefined when the proof is wrong for all verifiers, which
 * takes as long for few of them as for many.
 */
export async function findProven(
  known: readonly Known[],
  proof: ScramProof,
): Promise<{ credential: Credential; serverSignature: string } | undefined> {
  for (let index = 0; index < TRIED; index++) {
    if (index > 0 && index % PER_SLICE === 0) await nextSlice();
    const one = known[index];
    const serverSignature = verifyProof(one?.verifier ?? NOBODY, proof);
    if (one && serverSignature !== undefined) return { credential: one.credential, serverSignature };
  }
  return undefined;
}
