/** Verifies the signatures of a message, up to a limit. */

import { fieldValue, type HeaderField } from '../dkim/verify/header-fields.ts';
import { parseSignature } from '../dkim/verify/signature.ts';
import { type SignatureOutcome, type SignedMessage, verifySignature } from '../dkim/verify/verify.ts';
import { isSameOrBelow } from '../same-or-below.ts';

/**
 * Maximum number of signatures that are verified. Messages have one to three; each needs a lookup and an operation with
 * its key. Our own limit.
 */
const MAX_VERIFIED_SIGNATURES = 8;
/** Maximum number of signatures that are reported. The others are ignored. Our own limit. */
const MAX_REPORTED_SIGNATURES = 16;

/**
 * Returns the outcomes in the order of their fields. Signatures of the author's own domain are verified first, so others
 * that were added above them do not use up the limit.
 */
export async function verifySignatures(
  fields: readonly HeaderField[],
  message: SignedMessage,
  authorDomain: string,
): Promise<SignatureOutcome[]> {
  const signatures = fields.filter(({ name }) => name === 'dkim-signature');
  const verified = new Set(chooseSignatures(signatures, authorDomain));
  const reported = signatures
    .filter((field, index) => verified.has(field) || index < MAX_REPORTED_SIGNATURES)
    .slice(0, MAX_REPORTED_SIGNATURES + MAX_VERIFIED_SIGNATURES);
  return Promise.all(
    reported.map((field) => (verified.has(field) ? verifySignature(field, message) : unverified(field))),
  );
}

function chooseSignatures(signatures: readonly HeaderField[], authorDomain: string): HeaderField[] {
  if (signatures.length <= MAX_VERIFIED_SIGNATURES) return [...signatures];
  const isOfAuthor = (field: HeaderField): boolean => {
    const { domain } = parseSignature(fieldValue(field), 'dkim');
    return domain !== '' && isSameOrBelow(authorDomain, domain);
  };
  const own = new Set(signatures.filter(isOfAuthor));
  const others = signatures.filter((field) => !own.has(field));
  return [...own, ...others].slice(0, MAX_VERIFIED_SIGNATURES);
}

function unverified(field: HeaderField): SignatureOutcome {
  const { domain, selector, algorithm } = parseSignature(fieldValue(field), 'dkim');
  return { result: 'policy', domain, selector, algorithm, reason: 'the message has too many signatures' };
}
