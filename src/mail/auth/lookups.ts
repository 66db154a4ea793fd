/**
 * The DNS of one message: its lookups are limited in number and in time, so no message can keep a thread or a resolver
 * busy. A lookup beyond a limit has failed, and whatever depends on it becomes `temperror`.
 */
import type { Clock } from '../../system/clock.ts';
import type { DnsAnswer, DnsLookups } from '../../system/dns.ts';

/**
 * Maximum number of lookups for one message. SPF of the sender may need 111 (RFC 7208 section 4.6.4), while real messages
 * need about ten.
 */
const MAX_LOOKUPS = 200;
/** Time for all lookups of one message, in milliseconds. Clients wait for ten minutes (RFC 5321 section 4.5.3.2.6). */
const LOOKUPS_TIMEOUT_MS = 8_000;

type MessageLookups = DnsLookups & {
  /** Number of lookups that were asked for. */
  readonly count: number;
  /** Ends the time of the lookups. Each one that is still under way has failed. */
  end(): void;
};

/** Returns lookups for one message. Their time begins now. */
export function createMessageLookups(dns: DnsLookups, clock: Clock): MessageLookups {
  let count = 0;
  const over = Promise.withResolvers<{ kind: 'failed'; reason: string }>();
  let isOver = false;
  const end = (): void => {
    isOver = true;
    timer.cancel();
    over.resolve({ kind: 'failed', reason: 'ETIMEOUT' });
  };
  const timer = clock.after(LOOKUPS_TIMEOUT_MS, end);
  const limited =
    <T>(ask: (name: string) => Promise<DnsAnswer<T>>) =>
    async (name: string): Promise<DnsAnswer<T>> => {
      count += 1;
      if (count > MAX_LOOKUPS) return { kind: 'failed', reason: 'too many lookups' };
      return isOver ? over.promise : Promise.race([ask(name), over.promise]);
    };
  return {
    get count() {
      return count;
    },
    end,
    mx: limited((name) => dns.mx(name)),
    a: limited((name) => dns.a(name)),
    aaaa: limited((name) => dns.aaaa(name)),
    txt: limited((name) => dns.txt(name)),
    cname: limited((name) => dns.cname(name)),
    ptr: limited((name) => dns.ptr(name)),
    srv: limited((name) => dns.srv(name)),
  };
}
