/** Limits the open connections of each client: an IPv4 address, or an IPv6 network of 64 bits. */
import { addressBlock } from '../address-block.ts';

type ConnectionCounts = {
  /** Counts one more connection of a client. Returns what ends it; undefined when the client has its maximum. */
  take(address: string): (() => void) | undefined;
};

/** Returns counts of a listener without connections. They hold one entry for each client that is connected. */
export function createConnectionCounts(maxPerAddress: number): ConnectionCounts {
  const counts = new Map<string, number>();
  return {
    take(address) {
      const client = addressBlock(address);
      const count = counts.get(client) ?? 0;
      if (count >= maxPerAddress) return undefined;
      counts.set(client, count + 1);
      return () => {
        const left = (counts.get(client) ?? 0) - 1;
        if (left > 0) counts.set(client, left);
        else counts.delete(client);
      };
    },
  };
}
