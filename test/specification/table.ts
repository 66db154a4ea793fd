/**
 * The specification as a table: each statement of its sections 2 to 8 (a field, rule, limit, state, error) with the test
 * that proves it best. A statement is a short sentence of ours, for people. A proof names a file under test/ and a test in it,
 * and counts only if a test of that name passed in the run (unproven.ts).
 */

/** `emails/send.test.ts: an email to 51 addresses is refused`. */
export type Proof = `${string}.test.ts: ${string}`;

/** Statements of the specification whose feature is still to come. */
export const TO_COME = 'to come';

export type Statements = Readonly<Record<string, Proof | typeof TO_COME>>;

export type Section = { title: string; statements: Statements };
