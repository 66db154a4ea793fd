/** The commands by their names. */

import { ConnectionFault } from '../../access/fault.ts';
import { privacyOf } from '../../access/privacy.ts';
import { channelBindingOf } from '../../sasl/channel-binding.ts';
import { SaslError } from '../../sasl/exchange.ts';
import { runMechanism, saslSessionOf } from '../../sasl/mechanisms.ts';
import {
  type Command,
  type Connection,
  defineCommand,
  defineScriptCommand,
  nextCommand,
  type Result,
  sendCapabilities,
} from '../command.ts';
import { encrypt } from '../encrypt.ts';
import { writeCompletion, writeString } from '../respond.ts';
import { type Account, isRefusal, type Refusal } from '../session.ts';

/** CAPABILITY, STARTTLS, NOOP and LOGOUT (RFC 5804 section 2). */
const capability = defineCommand({
  name: 'CAPABILITY',
  states: 'any',
  parameters: [],
  async run(connection) {
    sendCapabilities(connection);
    return undefined;
  },
});

const starttls = defineCommand({
  name: 'STARTTLS',
  states: 'not authenticated',
  parameters: [],
  async run(connection) {
    const { tls } = connection.context.options;
    if (!tls || !privacyOf(connection).offersTls) return { refused: 'NO', text: 'TLS is not available' };
    return {
      text: 'Begin TLS now',
      async next() {
        const secure = await encrypt(connection, tls.certificates);
        // The client learns the capabilities again, now that nobody in between can have changed them (RFC 5804 section 2.2).
        sendCapabilities(secure);
        secure.wire.send(writeCompletion('OK', { text: 'TLS is active' }));
        return secure;
      },
    };
  },
});

const noop = defineCommand({
  name: 'NOOP',
  states: 'any',
  parameters: ['string?'],
  async run(_connection, [tag]) {
    return { code: tag === undefined ? undefined : `TAG ${writeString(tag)}`, text: 'Done' };
  },
});

const logout = defineCommand({
  name: 'LOGOUT',
  states: 'any',
  parameters: [],
  async run(connection) {
    connection.isOpen = false;
    return { text: 'Logged out' };
  },
});

/** The commands about scripts (RFC 5804 sections 2.5 to 2.12). */
const haveSpace = defineScriptCommand({
  name: 'HAVESPACE',
  parameters: ['string', 'number'],
  run: (account, [name, sizeBytes]) => account.haveSpace(name, sizeBytes),
});

const putScript = defineScriptCommand({
  name: 'PUTSCRIPT',
  parameters: ['string', 'string'],
  run: (account, [name, content]) => account.put(name, content),
});

const checkScript = defineScriptCommand({
  name: 'CHECKSCRIPT',
  parameters: ['string'],
  run: (account, [content]) => account.check(content),
});

const listScripts = defineScriptCommand({
  name: 'LISTSCRIPTS',
  parameters: [],
  async run(account, _args, { wire }) {
    const scripts = await account.list();
    if (isRefusal(scripts)) return scripts;
    for (const { name, isActive } of scripts)
      wire.send(`${writeString(name)}${isActive ? ' ACTIVE' : ''}\r\n`);
    return undefined;
  },
});

const getScript = defineScriptCommand({
  name: 'GETSCRIPT',
  parameters: ['string'],
  async run(account, [name], { wire }) {
    const script = await account.get(name);
    if (isRefusal(script)) return script;
    wire.send(`{${Buffer.byteLength(script.content)}}\r\n${script.content}\r\n`);
    return undefined;
  },
});

const setActive = defineScriptCommand({
  name: 'SETACTIVE',
  parameters: ['string'],
  run: (account, [name]) => account.setActive(name),
});

const deleteScript = defineScriptCommand({
  name: 'DELETESCRIPT',
  parameters: ['string'],
  run: (account, [name]) => account.delete(name),
});

const renameScript = defineScriptCommand({
  name: 'RENAMESCRIPT',
  parameters: ['string', 'string'],
  run: (account, [from, to]) => account.rename(from, to),
});

/** AUTHENTICATE and UNAUTHENTICATE (RFC 5804 sections 2.1 and 2.14.1). */

/** Mechanism whose first challenge has data, with which an initial response is refused (RFC 5804 section 2.1). */
const SERVER_FIRST = 'LOGIN';

const authenticate = defineCommand({
  name: 'AUTHENTICATE',
  states: 'not authenticated',
  parameters: ['string', 'string?'],
  async run(connection, [mechanism, initial]): Promise<Result> {
    if (!privacyOf(connection).isPrivate)
      return {
        refused: 'NO',
        code: 'ENCRYPT-NEEDED',
        text: 'The connection must be encrypted before a login',
      };
    if (initial !== undefined && mechanism.toUpperCase() === SERVER_FIRST)
      return { refused: 'NO', text: 'The mechanism takes no initial response' };
    const binding = channelBindingOf(connection.socket);
    const channel = { initial, binding, ask: (challenge: string) => ask(connection, challenge) };
    try {
      return admit(
        connection,
        await runMechanism(mechanism, channel, saslSessionOf(connection.session, connection.client)),
      );
    } catch (error) {
      if (error instanceof SaslError) return { refused: 'NO', text: error.message };
      throw error;
    }
  },
});

/** Sends a challenge, and returns the string that the client answers. */
async function ask(connection: Connection, challenge: string): Promise<string | undefined> {
  connection.wire.send(`${writeString(challenge)}\r\n`);
  const answer = await nextCommand(connection);
  if (answer.kind === 'too large') return undefined;
  const [token, ...more] = answer.kind === 'complete' ? answer.tokens : [];
  if (token?.kind === 'string' && more.length === 0) return token.value;
  throw new SaslError('malformed', 'An answer is one string');
}

function admit(connection: Connection, answer: Account | Refusal): Result {
  connection.context.metrics.login(isRefusal(answer) ? 'refused' : 'accepted');
  if (isRefusal(answer)) return answer;
  connection.account = answer;
  void answer.ended?.then(({ text }) => {
    // The client may have logged out of the account, and into another one.
    if (connection.account === answer) connection.wire.interrupt(new ConnectionFault('session', text));
  });
  return { text: 'Logged in' };
}

const unauthenticate = defineCommand({
  name: 'UNAUTHENTICATE',
  states: 'authenticated',
  parameters: [],
  async run(connection) {
    connection.account = undefined;
    // The client has as much time for its next login as for the first one.
    connection.beganAt = connection.context.clock.elapsed();
    return { text: 'Logged out of the account' };
  },
});

const ALL: readonly Command[] = [
  authenticate,
  unauthenticate,
  starttls,
  capability,
  noop,
  logout,
  haveSpace,
  putScript,
  checkScript,
  listScripts,
  getScript,
  setActive,
  deleteScript,
  renameScript,
];

export const COMMANDS: ReadonlyMap<string, Command> = new Map(ALL.map((command) => [command.name, command]));
