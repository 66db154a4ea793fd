/**
 * The specification as a table: each statement of its sections 2 to 8 (a field, rule, limit, state, error) with the tests
 * that prove it. A statement is a short sentence of ours, for people. A proof names a file under test/ and a test in it,
 * and counts only if a test of that name passed in the run (unproven.ts).
 */

/** `emails/send.test.ts: an email to 51 addresses is refused`. */
export type Proof = `${string}.test.ts: ${string}`;

/** Statements of the specification whose feature is still to come. */
export const TO_COME = 'to come';

export type Statements = Readonly<Record<string, Proof | readonly [Proof, ...Proof[]] | typeof TO_COME>>;

export type Section = { title: string; statements: Statements };

/** The proofs of what the specification says of every list. */
export const EVERY_LIST: readonly [Proof, ...Proof[]] = [
  'specification/lists.test.ts: GET /v1/emails pages as every list does',
  'specification/lists.test.ts: GET /v1/domains pages as every list does',
  'specification/lists.test.ts: GET /v1/templates pages as every list does',
  'specification/lists.test.ts: GET /v1/broadcasts pages as every list does',
  'specification/lists.test.ts: GET /v1/segments pages as every list does',
  'specification/lists.test.ts: GET /v1/audiences pages as every list does',
  'specification/lists.test.ts: GET /v1/audiences/{audienceId}/contacts pages as every list does',
  'specification/lists.test.ts: GET /v1/topics pages as every list does',
  'specification/lists.test.ts: GET /v1/suppressions pages as every list does',
  'specification/lists.test.ts: GET /v1/inbound/routes pages as every list does',
  'specification/lists.test.ts: GET /v1/webhooks pages as every list does',
];
