/** Limits the open connections of each client: an IPv4 address, or the network and the site of an IPv6 address. */
import { countedBlocks } from '../address-block.ts';

type ConnectionCounts = {
  /** Counts one more connection of a client. Returns what ends it; undefined when the client has its maximum. */
  take(address: string): (() => void) | undefined;
};

/** Returns counts of a listener without connections. They hold the entries of each client that is connected. */
export function createConnectionCounts(maxPerAddress: number): ConnectionCounts {
  const counts = new Map<string, number>();

  function add(name: string, connections: 1 | -1): void {
    const count = (counts.get(name) ?? 0) + connections;
    if (count > 0) counts.set(name, count);
    else counts.delete(name);
  }

  return {
    take(address) {
      const blocks = countedBlocks(address);
      if (blocks.some(({ name, factor }) => (counts.get(name) ?? 0) >= maxPerAddress * factor))
        return undefined;
      for (const { name } of blocks) add(name, 1);
      return () => {
        for (const { name } of blocks) add(name, -1);
      };
    },
  };
}
