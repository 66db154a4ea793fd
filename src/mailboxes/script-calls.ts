/**
 * Manages the scripts of a mailbox for its owner, on the main thread (mailbox-access/listeners.ts calls it). Each command asks
 * again whether its login still holds, so that a new password or a suspension ends what the old one could do.
 */
import type { App } from '../app.ts';
import type { MailboxRow } from '../db/mailbox-tables.ts';
import type { Account, Refusal } from '../mail/managesieve/session.ts';
import type { Authenticate, LoginRequest } from './authenticate.ts';
import { type LoginMark, type LoginRefusal, markOf, renewMarked, sessionCredential } from './credential.ts';
import type { ScriptRunner } from './scripts/runner.ts';
import {
  activateScript,
  deleteScript,
  excessOfScript,
  findScript,
  listScripts,
  MAX_SCRIPT_BYTES,
  MAX_SCRIPTS,
  MAX_TOTAL_BYTES,
  putScript,
  renameScript,
  type ScriptRefusal,
} from './scripts/store.ts';

/** A login, whose mark the connection hands over with each command. */
export type ScriptLoginAnswer =
  | {
      owner: string;
      login: LoginMark;
      /** Time at which the login ends by itself, in Unix milliseconds; null when it does not. */
      expiresAt: number | null;
      /** Proof of the server, after a login by a proof. */
      serverSignature: string | undefined;
    }
  | { refused: LoginRefusal };

type Methods = Omit<Account, 'owner' | 'ended'>;
type ScriptCall = { login: LoginMark; method: keyof Methods; args: readonly unknown[] };

/** Functions of the main thread for the thread of the connections. */
export type ScriptCalls = {
  loginToScripts(request: LoginRequest): Promise<ScriptLoginAnswer>;
  /** Calls a method of the account, and returns its answer. */
  manageScripts(call: ScriptCall): Promise<unknown>;
  /** Returns undefined while a login stands, and a refusal otherwise: a session can last longer than its password. */
  findScriptLoginEnd(login: LoginMark): Promise<Refusal | undefined>;
};

const LOGIN_HAS_ENDED: Refusal = { refused: 'BYE', text: 'The login does not stand any more' };

const REFUSALS: Readonly<Record<ScriptRefusal, Refusal>> = {
  missing: { refused: 'NO', code: 'NONEXISTENT', text: 'There is no script with this name' },
  exists: { refused: 'NO', code: 'ALREADYEXISTS', text: 'There is a script with the new name already' },
  active: {
    refused: 'NO',
    code: 'ACTIVE',
    text: 'The script is active; make another one or none active first',
  },
  'too many': {
    refused: 'NO',
    code: 'QUOTA/MAXSCRIPTS',
    text: `A mailbox has at most ${MAX_SCRIPTS} scripts`,
  },
  'too large': {
    refused: 'NO',
    code: 'QUOTA/MAXSIZE',
    text: `A script has at most ${MAX_SCRIPT_BYTES} octets, and all scripts of a mailbox have at most ${MAX_TOTAL_BYTES}`,
  },
  mailbox: { refused: 'BYE', text: 'The mailbox was deleted' },
};

/** Returns the functions that serve logins and commands. */
export function createScriptCalls(
  app: App & { scriptRunner: ScriptRunner },
  authenticate: Authenticate,
): ScriptCalls {
  return {
    async loginToScripts(request) {
      const answer = await authenticate(request);
      if ('refused' in answer) return answer;
      const { mailbox, credential, serverSignature } = answer;
      const { expiresAt } = sessionCredential(credential);
      return { owner: mailbox.address, login: markOf(answer), expiresAt, serverSignature };
    },
    async manageScripts({ login, method, args }) {
      const renewed = await renewMarked(app, login);
      if ('refused' in renewed) return LOGIN_HAS_ENDED;
      const methods: Record<string, (...given: never[]) => Promise<unknown>> = scriptsOf(
        app,
        renewed.mailbox,
      );
      return await methods[method]?.(...(args as never[]));
    },
    findScriptLoginEnd: async (login) =>
      'refused' in (await renewMarked(app, login)) ? LOGIN_HAS_ENDED : undefined,
  };
}

function scriptsOf(
  { db, clock, scriptRunner }: App & { scriptRunner: Pick<ScriptRunner, 'findProblem'> },
  { id: mailboxId, tenantId }: MailboxRow,
): Methods {
  const check = (content: string): Promise<Refusal | undefined> =>
    refusalOf(content, (checked) => scriptRunner.findProblem(checked, tenantId));
  return {
    async list() {
      const scripts = await listScripts(db.read, mailboxId);
      return scripts.map(({ name, isActive }) => ({ name, isActive: isActive === 1 }));
    },
    async get(name) {
      const script = await findScript(db.read, { mailboxId, name });
      return script ? { content: script.content } : REFUSALS.missing;
    },
    async haveSpace(name, sizeBytes) {
      const refusal = refusalOfName(name);
      if (refusal) return refusal;
      const excess = await excessOfScript(db.read, { mailboxId, name, sizeBytes });
      return excess && REFUSALS[excess];
    },
    async put(name, content) {
      const refusal = refusalOfName(name) ?? (await check(content));
      if (refusal) return refusal;
      return toRefusal(await db.commit(putScript, { mailboxId, name, content, now: clock.now() }));
    },
    check,
    setActive: async (name) => toRefusal(await db.commit(activateScript, { mailboxId, name })),
    delete: async (name) => toRefusal(await db.commit(deleteScript, { mailboxId, name })),
    async rename(name, to) {
      return refusalOfName(to) ?? toRefusal(await db.commit(renameScript, { mailboxId, name, to }));
    },
  };
}

function toRefusal(answer: { refused: ScriptRefusal } | undefined): Refusal | undefined {
  return answer && REFUSALS[answer.refused];
}

function refusalOfName(name: string): Refusal | undefined {
  const problem = problemOfScriptName(name);
  return problem === undefined ? undefined : { refused: 'NO', text: problem };
}

/** Refuses a script that is not correct: the text names line and column of each error (RFC 5804 section 2.6). */
async function refusalOf(
  content: string,
  findProblem: (content: string) => Promise<string | undefined>,
): Promise<Refusal | undefined> {
  // An empty script should not be stored (RFC 5804 section 2.6).
  if (content === '') return { refused: 'NO', text: 'The script is empty' };
  // Nothing reads a script that could not be stored.
  if (Buffer.byteLength(content) > MAX_SCRIPT_BYTES) return REFUSALS['too large'];
  const problem = await findProblem(content);
  return problem === undefined ? undefined : { refused: 'NO', text: problem };
}

/** Maximum length of a name: servers must allow 128 characters (RFC 5804 section 1.6). */
export const MAX_NAME_CHARACTERS = 256;
/** Matches characters that no name has: controls, and the separators of lines and paragraphs (RFC 5804 section 1.6). */
const FORBIDDEN = /[\p{Cc}\u2028\u2029]/u;

/** Returns what is wrong with the name of a script, as a sentence; undefined when it is allowed. Names are kept as they are written. */
export function problemOfScriptName(name: string): string | undefined {
  if (name === '') return 'A script needs a name';
  if ([...name].length > MAX_NAME_CHARACTERS)
    return `The name of a script has at most ${MAX_NAME_CHARACTERS} characters`;
  if (!name.isWellFormed() || FORBIDDEN.test(name))
    return 'The name of a script has no control characters and no line breaks';
  return undefined;
}
