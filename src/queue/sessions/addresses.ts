/** Remembers which addresses of a site are avoided or need plain text. Times are milliseconds of the monotonic clock. */

/** Time for which mail for an address is sent in plain text after TLS has failed with it. */
const PLAIN_TEXT_FOR_MS = 24 * 3_600_000;
/** Time for which an address that broke off a session is avoided while the site has others. */
const AVOID_MS = 60_000;

export class Addresses {
  readonly #avoidedUntil = new Map<string, number>();
  readonly #plainTextUntil = new Map<string, number>();

  avoid(address: string, now: number): void {
    this.#avoidedUntil.set(address, now + AVOID_MS);
  }

  isAvoided(address: string, now: number): boolean {
    return (this.#avoidedUntil.get(address) ?? 0) > now;
  }

  rememberPlainText(address: string, now: number): void {
    this.#plainTextUntil.set(address, now + PLAIN_TEXT_FOR_MS);
  }

  needsPlainText(address: string, now: number): boolean {
    return (this.#plainTextUntil.get(address) ?? 0) > now;
  }

  /** Forgets all addresses that are not in the set, because they no longer belong to the site. */
  keepOnly(addresses: ReadonlySet<string>): void {
    for (const map of [this.#avoidedUntil, this.#plainTextUntil]) {
      for (const address of map.keys()) if (!addresses.has(address)) map.delete(address);
    }
  }
}
