/**
 * Talks to the primary name server of the configuration: signed questions and updates over TCP, whose answers are checked. The operator
 * names its address, which may be private as that of a resolver may; no tenant can change it.
 */
import { randomInt } from 'node:crypto';
import type { App } from '../app.ts';
import { exchangeOverTcp } from '../system/dns/exchange-over-tcp.ts';
import { HeldEgressError } from '../system/egress.ts';
import { errorMessage } from '../system/errors.ts';
import { readUpdateKey, type UpdateKey } from './key.ts';
import { codeOf, readValues, type Update, type UpdateType, writeQuestion, writeUpdate } from './message.ts';
import { signMessage, verifyResponse } from './tsig.ts';

/** Reports that the server cannot be used at all, in a sentence for the operator. */
export class PrimaryError extends Error {
  override readonly name = 'PrimaryError';
}

export type Primary = {
  /** Returns the values of a name; undefined when an alias is there instead. @throws PrimaryError */
  ask(name: string, type: UpdateType): Promise<readonly string[] | undefined>;
  /** Makes a change. Returns undefined when it was made, or else why not. @throws PrimaryError */
  update(update: Update): Promise<string | undefined>;
};

const TIMEOUT_MS = 10_000;
const MESSAGE_IDS = 0x1_0000;
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
/** Codes of refusals (RFC 2136 section 2.2). */
const REASONS: Readonly<Record<number, string>> = {
  1: 'the server could not read the update (FORMERR)',
  2: 'the server has failed (SERVFAIL)',
  4: 'the server takes no updates (NOTIMP)',
  5: 'the server refuses: it must allow the key to read and to update the zone (REFUSED)',
  6: 'the name has changed meanwhile (YXDOMAIN); it is tried again',
  7: 'the records have changed meanwhile (YXRRSET); it is tried again',
  8: 'the records have changed meanwhile (NXRRSET); it is tried again',
  9: 'the server is not the primary of the zone, or does not take the key (NOTAUTH)',
  10: 'the name is not in a zone of the server (NOTZONE)',
};

/** Returns the primary of the configuration. @throws PrimaryError when the key cannot be read, or nothing may leave this machine */
export async function openPrimary({
  config,
  clock,
  egress,
}: Pick<App, 'config' | 'clock' | 'egress'>): Promise<Primary> {
  if (egress.isHeld) throw new PrimaryError(new HeldEgressError().message);
  const { server, key: file } = config.dns.update;
  const key = await readUpdateKey(file).catch((error: unknown) => {
    throw new PrimaryError(`the key cannot be used: ${errorMessage(error)}`);
  });
  const exchange = (message: Buffer) => exchangeSigned(clock, { server, key, message });
  return {
    async ask(name, type) {
      const response = await exchange(writeQuestion(name, type, randomInt(MESSAGE_IDS)));
      const code = codeOf(response);
      if (code !== NO_ERROR && code !== NO_SUCH_NAME) throw new PrimaryError(reasonOf(code));
      try {
        return readValues(response, name, type);
      } catch (error) {
        throw new PrimaryError(`${server}: its response cannot be read`, { cause: error });
      }
    },
    async update(update) {
      const code = codeOf(await exchange(writeUpdate(update, randomInt(MESSAGE_IDS))));
      return code === NO_ERROR ? undefined : reasonOf(code);
    },
  };
}

type SignedExchange = { server: string; key: UpdateKey; message: Buffer };

async function exchangeSigned(
  clock: App['clock'],
  { server, key, message }: SignedExchange,
): Promise<Buffer> {
  const signed = signMessage(message, key, clock.now());
  const response = await exchangeOverTcp(clock, {
    server,
    message: signed.message,
    timeoutMs: TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new PrimaryError(`${server} does not answer: ${errorMessage(error)}`);
  });
  const verified = verifyResponse(response, key, { mac: signed.mac, nowMs: clock.now() });
  if (verified.kind === 'invalid') throw new PrimaryError(`${server}: ${verified.reason}`);
  if (response.readUInt16BE(0) !== message.readUInt16BE(0))
    throw new PrimaryError(`${server}: its response belongs to another message`);
  return response;
}

function reasonOf(code: number): string {
  return REASONS[code] ?? `the server answers with code ${code}`;
}
