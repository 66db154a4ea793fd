/** Runs scripts over messages for tests. */
import assert from 'node:assert/strict';
import type { Action } from '../../../src/mail/sieve/actions.ts';
import { checkScript } from '../../../src/mail/sieve/check.ts';
import type { RunInput, Script } from '../../../src/mail/sieve/run/run.ts';
import { type Outcome, runScript } from '../../../src/mail/sieve/run-script.ts';
import type { ScriptError } from '../../../src/mail/sieve/syntax/script-error.ts';

/** Message A of RFC 5228 section 9. */
export const MESSAGE_A = `Date: Tue, 1 Apr 1997 09:06:31 -0800 (PST)
From: coyote@desert.example.org
To: roadrunner@acme.example.com
Subject: I have a present for you

Look, I'm sorry about the whole anvil thing, and I really
didn't mean to try and drop it on you from the top of the
cliff.  I want to try to make it up to you.  I've got some
great birdseed over here at my place--top of the line
stuff--and if you come by, I'll have it all wrapped up
for you.  I'm really sorry for all the problems I've caused
for you over the years, but I know we can work this out.
--
Wile E. Coyote   "Super Genius"   coyote@desert.example.org
`;

/** Message B of RFC 5228 section 9. */
export const MESSAGE_B = `From: youcouldberich!@reply-by-postal-mail.invalid
Sender: b1ff@de.res.example.com
To: rube@landru.example.com
Date:  Mon, 31 Mar 1997 18:26:10 -0800
Subject: $$$ YOU, TOO, CAN BE A MILLIONAIRE! $$$

YOU MAY HAVE ALREADY WON TEN MILLION DOLLARS, BUT I DOUBT
IT!  SO JUST POST THIS TO SIX HUNDRED NEWSGROUPS!  IT WILL
GUARANTEE THAT YOU GET AT LEAST FIVE RESPONSES WITH MONEY!
MONEY! MONEY! COLD HARD CASH!  YOU WILL RECEIVE OVER
$20,000 IN LESS THAN TWO MONTHS!  AND IT'S LEGAL!!!!!!!!!
!!!!!!!!!!!!!!!!!!111111111!!!!!!!11111111111!!1  JUST
SEND $5 IN SMALL, UNMARKED BILLS TO THE ADDRESSES BELOW!
`;

/** Returns the octets of a message that a test writes with LF. */
export function octetsOf(message: string): Buffer {
  return Buffer.from(message.replace(/\r?\n/g, '\r\n'));
}

/** Returns a script that checks. */
export function compile(text: string): Script {
  const checked = checkScript(text);
  assert.deepEqual(checked.kind === 'invalid' ? checked.errors : [], []);
  return (checked as { script: Script }).script;
}

/** Returns the errors of a script, each as `line:column message`. */
export function errorsOf(text: string): string[] {
  const checked = checkScript(text);
  const errors: readonly ScriptError[] = checked.kind === 'invalid' ? checked.errors : [];
  return errors.map(({ line, column, message }) => `${line}:${column} ${message}`);
}

/** Returns the input of a run. */
export function inputOf(message: string, changes: Partial<RunInput> = {}): RunInput {
  const octets = octetsOf(message);
  return {
    message: { octets, sizeBytes: octets.length },
    envelope: { from: 'sender@example.org', to: 'owner@example.com' },
    environment: {},
    now: Date.UTC(2026, 10, 25, 10, 30),
    zoneMinutes: 0,
    folders: undefined,
    duplicates: [],
    scripts: new Map(),
    spamPercent: undefined,
    ...changes,
  };
}

/** Returns the outcome of a script for a message. */
export function run(text: string, message = MESSAGE_A, changes: Partial<RunInput> = {}): Outcome {
  return runScript(compile(text), inputOf(message, changes));
}

/** Returns the actions of a script, each in a short form such as `fileinto INBOX.lists`. */
export function actionsOf(text: string, message = MESSAGE_A, changes: Partial<RunInput> = {}): string[] {
  const outcome = run(text, message, changes);
  if (outcome.kind === 'failed') return [`failed: ${outcome.error.message}`];
  if (outcome.kind === 'needs') return [`needs ${outcome.needed.what}`];
  return outcome.actions.map(describe);
}

/** Returns true when a test is true. */
export function holds(
  test: string,
  message = MESSAGE_A,
  { require = [] as readonly string[], ...changes }: Partial<RunInput> & { require?: readonly string[] } = {},
): boolean {
  const needs = require.length > 0 ? `require ${JSON.stringify(require)};\n` : '';
  const outcome = run(`${needs}if ${test} { discard; }`, message, changes);
  assert.equal(outcome.kind, 'done', JSON.stringify(outcome));
  return outcome.kind === 'done' && outcome.actions.length === 0;
}

function describe(action: Action): string {
  if (action.kind === 'keep') return withFlags(action.isImplicit ? 'implicit keep' : 'keep', action.flags);
  if (action.kind === 'fileinto') return withFlags(`fileinto ${action.mailbox}`, action.flags);
  if (action.kind === 'redirect') return `redirect ${action.address}`;
  return action.kind;
}

function withFlags(text: string, flags: readonly string[]): string {
  return flags.length > 0 ? `${text} [${flags.join(' ')}]` : text;
}
