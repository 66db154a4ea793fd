/** The networks of services that open mail and follow its links by themselves, from config/scanner-networks.json. */
import { type BlockList, isIP } from 'node:net';
import { readDataFile } from '../data-files.ts';
import type { EngagementRow } from '../db/tracking-tables.ts';
import { blockList } from '../system/blocklist.ts';

type Kind = EngagementRow['kind'];

/** One entry of the file. */
type NetworkEntry = { name: string; scope: string; cidrs: readonly string[] };

const FILE = 'scanner-networks.json';

export type ScannerNetworks = {
  /** Returns true when the address belongs to a network whose scope is this kind. Other texts never do. */
  includes(address: string | null, kind: Kind): boolean;
};

/**
 * Returns the networks of the file.
 * @throws Error naming the entry that has an unknown scope or a CIDR that cannot be parsed
 */
export function readScannerNetworks(entries: readonly NetworkEntry[] = entriesOfFile()): ScannerNetworks {
  const lists = { open: listOf(entries, 'open'), click: listOf(entries, 'click') };
  return {
    includes(address, kind) {
      const family = isIP(address ?? '');
      if (address === null || family === 0) return false;
      return lists[kind].check(address, family === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

function entriesOfFile(): readonly NetworkEntry[] {
  return (readDataFile(FILE) as { networks: readonly NetworkEntry[] }).networks;
}

function listOf(entries: readonly NetworkEntry[], kind: Kind): BlockList {
  const unknown = entries.find(({ scope }) => !['open', 'click', 'both'].includes(scope));
  if (unknown)
    throw new Error(`the scanner network "${unknown.name}" has the unknown scope "${unknown.scope}"`);
  return blockList(
    entries.filter(({ scope }) => scope === kind || scope === 'both').flatMap(({ cidrs }) => cidrs),
  );
}
