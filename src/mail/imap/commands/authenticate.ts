/**
 * AUTHENTICATE (RFC 9051 section 6.2.2) with the mechanisms PLAIN (RFC 4616) and LOGIN, which is not standardised, and with an initial
 * response (RFC 4959).
 */
import { bad } from '../command-error.ts';
import { type Connection, defineCommand, type Result } from './command.ts';
import { logIn, refusePlaintext } from './log-in.ts';

/** Maximum length of a client's answer: the longest that SASL clients send (RFC 4954 section 4). */
const MAX_ANSWER_OCTETS = 12_288;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Asks the client with a challenge, and returns its answer as text. */
type Ask = (challenge: string) => Promise<string>;
type Credentials = { username: string; password: string };

const MECHANISMS: ReadonlyMap<string, (ask: Ask) => Promise<Credentials>> = new Map([
  ['PLAIN', askPlain],
  ['LOGIN', askLogin],
]);

export const authenticate = defineCommand({
  name: 'AUTHENTICATE',
  states: 'not authenticated',
  parse(cursor) {
    cursor.space();
    const mechanism = cursor.word();
    let initial: string | undefined;
    if (!cursor.isAtEnd) {
      cursor.space();
      initial = cursor.rest();
    }
    return { mechanism, initial };
  },
  async run(connection, { mechanism, initial }): Promise<Result> {
    const refusal = refusePlaintext(connection);
    if (refusal) return refusal;
    const ask = MECHANISMS.get(mechanism);
    if (!ask) return { refused: 'NO', code: 'CANNOT', text: 'The mechanism is not supported' };
    let first = initial === '=' ? '' : initial;
    const credentials = await ask(async (challenge) => {
      const answer = first ?? (await readAnswer(connection, challenge));
      first = undefined;
      return decode(answer);
    });
    return await logIn(connection, credentials);
  },
});

async function askPlain(ask: Ask): Promise<Credentials> {
  const parts = (await ask('')).split('\0');
  const [authority = '', username = '', password = ''] = parts;
  if (parts.length !== 3 || username === '')
    bad('The answer of PLAIN has three parts, with NUL between them');
  // No user may act for another one.
  if (authority !== '' && authority !== username) bad('The identity to act for is not that of the user');
  return { username, password };
}

/** Clients expect these two challenges, letter by letter. */
async function askLogin(ask: Ask): Promise<Credentials> {
  const username = await ask('Username:');
  return { username, password: await ask('Password:') };
}

async function readAnswer({ wire, framing }: Connection, challenge: string): Promise<string> {
  wire.send(`+ ${Buffer.from(challenge).toString('base64')}\r\n`);
  const line = await framing.readLine(MAX_ANSWER_OCTETS);
  if (!line) return bad(`An answer has at most ${MAX_ANSWER_OCTETS} octets`, 'LIMIT');
  const answer = line.toString('latin1');
  return answer === '*' ? bad('The client has cancelled the login') : answer;
}

function decode(answer: string): string {
  if (!BASE64.test(answer)) bad('The answer is not base64');
  const text = Buffer.from(answer, 'base64').toString('utf8');
  return text.includes('\ufffd') ? bad('The answer is not UTF-8') : text;
}
