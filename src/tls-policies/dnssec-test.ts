/**
 * Finds out whether the resolvers validate DNSSEC, by a name in a signed zone. What they say of other names is believed only once
 * they have passed. Without an answer nothing is known: mail to signed domains then waits, since whoever silences the test must not
 * thereby turn DANE off.
 */
import type { System } from '../system/system.ts';

export type DnssecState =
  | { kind: 'validates' }
  | { kind: 'does-not-validate' }
  | { kind: 'unknown'; reason: string };

/** Time for which a result counts, in milliseconds. */
const HOLDS_MS = { validates: 3_600_000, 'does-not-validate': 600_000, unknown: 15_000 } as const;

export class DnssecTest {
  readonly #world: Pick<System, 'clock' | 'dns'>;
  readonly #signedName: string;
  #state: DnssecState = { kind: 'unknown', reason: 'not tested yet' };
  #holdsUntil = Number.NEGATIVE_INFINITY;
  #underWay: Promise<DnssecState> | undefined;

  constructor(world: Pick<System, 'clock' | 'dns'>, signedName: string) {
    this.#world = world;
    this.#signedName = signedName;
  }

  /** Returns the state, after a test when the last one is too old. It never rejects. */
  state(): Promise<DnssecState> {
    if (this.#world.clock.elapsed() < this.#holdsUntil) return Promise.resolve(this.#state);
    this.#underWay ??= this.#test().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #test(): Promise<DnssecState> {
    const { clock, dns } = this.#world;
    const tested = await testDnssec(dns, this.#signedName);
    // Resolvers that have passed keep what they have proven while they do not answer.
    if (tested.kind !== 'unknown' || this.#state.kind !== 'validates') this.#state = tested;
    this.#holdsUntil = clock.elapsed() + HOLDS_MS[tested.kind];
    return this.#state;
  }
}

/** Name in a zone that is never signed, which resolvers answer themselves or ask AS112 for (RFC 6303 section 4.1). */
const UNSIGNED_NAME = '10.in-addr.arpa';

/**
 * Asks for a signed name. An answer about it, even that it has no such record, is signed. A resolver that says the same of a name that
 * nobody signs has copied what the question asked for.
 */
export async function testDnssec(
  dns: Pick<System['dns'], 'fresh'>,
  signedName: string,
): Promise<DnssecState> {
  const answer = await dns.fresh.txt(signedName);
  if (answer.kind === 'failed') return { kind: 'unknown', reason: `${signedName}: ${answer.reason}` };
  if (!answer.isSecure) return { kind: 'does-not-validate' };
  const unsigned = await dns.fresh.txt(UNSIGNED_NAME);
  const isCopied = unsigned.kind !== 'failed' && unsigned.isSecure === true;
  return { kind: isCopied ? 'does-not-validate' : 'validates' };
}
