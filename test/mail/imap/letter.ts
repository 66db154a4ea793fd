/** Sessions whose transcripts are held to the letter. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Account } from '../../../src/mail/imap/session.ts';
import { startServer, type TestClient } from './fixture.ts';

type Delivery = { flags?: readonly string[]; atMs?: number; zoneMinutes?: number };

/** Mail of one user. */
export type LetterMail = {
  openAccount(): Account;
  /** Adds a message to a mailbox without a session. */
  deliver(mailbox: string, text: string | Buffer, options?: Delivery): Promise<void> | void;
};

export type Opened = {
  mailbox: string;
  client: TestClient;
  ask(command: string): Promise<string[]>;
  /** Opens another session, which has selected the mailbox and runs these commands. */
  connect(...commands: string[]): Promise<TestClient>;
  deliver(text: string | Buffer, options?: Delivery): Promise<void>;
};

type Ask = Opened['ask'];

export const message = (subject: string): string =>
  `Subject: ${subject}\r\nFrom: a@test.example\r\n\r\nbody of ${subject}\r\n`;

/** Returns the responses without their last line, which must complete the command with OK. */
export async function ok(ask: Ask, command: string): Promise<string[]> {
  const lines = await ask(command);
  assert.match(lines.at(-1) ?? '', /^OK/, `${command}: ${lines.join('\n')}`);
  return lines.slice(0, -1);
}

export async function completes(ask: Ask, command: string, status: RegExp): Promise<void> {
  assert.match((await ask(command)).at(-1) ?? '', status, command);
}

/** Returns the first numbers behind a name, such as those of all `MODSEQ (n)`. */
export function numbersOf(name: string, lines: readonly string[]): number[] {
  return [...lines.join('\n').matchAll(new RegExp(`${name} \\(?(\\d+)`, 'g'))].map(([, number]) =>
    Number(number),
  );
}

let mailboxes = 0;

/** Returns the function that opens a session, which has selected a new mailbox with a message for each subject. */
export function openerOf(
  mail: LetterMail,
): (t: TestContext, subjects: readonly string[], ...commands: string[]) => Promise<Opened> {
  return async (t, subjects, ...commands) => {
    const mailbox = `m${++mailboxes}`;
    const server = await startServer<LetterMail>(t, { mail });
    const deliver = async (text: string | Buffer, options?: Delivery) => mail.deliver(mailbox, text, options);
    const first = await server.open(`CREATE ${mailbox}`);
    for (const subject of subjects) await deliver(message(subject));
    for (const command of [`SELECT ${mailbox}`, ...commands]) await ok(first.ask, command);
    const connect = (...more: string[]) => server.open(`SELECT ${mailbox}`, ...more);
    return { mailbox, client: first, ask: (command) => first.ask(command), connect, deliver };
  };
}
