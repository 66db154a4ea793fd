/**
 * Postrider and Debian's Dovecot, with maildir and with mdbox, all with TLS and with the same messages. A system is started
 * and filled once, because that takes longer than everything that is measured.
 */
import { installPackages } from '../support/debian.ts';
import { DOVECOT_PACKAGES, type Format, startDovecot } from './imap/dovecot-peer.ts';
import * as measures from './imap/measures.ts';
import { startPostriderImap } from './imap/postrider-server.ts';
import { fillSystem, type ImapSystem } from './imap/system.ts';
import type { Group, Measure, Row } from './row.ts';

const USERS = 4;

type Case = {
  name: string;
  unit: Row['unit'];
  /** Ratio to the better peer that Postrider is to reach, or an absolute figure. Some rows have mdbox as their only peer. */
  aim: string;
  peers: 'both' | 'mdbox';
  measure: measures.ImapMeasure;
};

const CASES: readonly Case[] = [
  { name: 'SELECT', unit: 'ms', aim: '<= 1 x', peers: 'both', measure: measures.select },
  { name: 'FETCH of flags', unit: 'ms', aim: '<= 1 x', peers: 'both', measure: measures.fetchFlags },
  { name: 'STORE on all', unit: 'ms', aim: '<= 1 x', peers: 'both', measure: measures.storeAll },
  {
    ...{ name: 'ENVELOPE BODYSTRUCTURE, the first time', unit: 'ms', aim: '<= 0.1 x', peers: 'both' },
    measure: measures.fetchStructureFirst,
  },
  {
    ...{ name: 'ENVELOPE BODYSTRUCTURE', unit: 'ms', aim: '<= 0.5 x', peers: 'both' },
    measure: measures.fetchStructure,
  },
  { name: 'BODY.PEEK[] of all', unit: 'ms', aim: '<= 1 x', peers: 'both', measure: measures.fetchAll },
  { name: 'SEARCH SUBJECT', unit: 'ms', aim: '<= 0.3 x', peers: 'both', measure: measures.searchSubject },
  { name: 'SEARCH TEXT', unit: 'ms', aim: '<= 0.1 x', peers: 'both', measure: measures.searchText },
  { name: 'APPEND', unit: 'msg/s', aim: '>= 2 x', peers: 'mdbox', measure: measures.appendOne },
  {
    name: 'APPEND by four users',
    unit: 'msg/s',
    aim: '>= 1.2 x',
    peers: 'mdbox',
    measure: measures.appendFour,
  },
  { name: 'logins', unit: 'logins/s', aim: '>= 5 x', peers: 'mdbox', measure: measures.logins },
  { name: 'APPEND to push, p95', unit: 'ms', aim: '10 ms', peers: 'both', measure: measures.push },
];

/** Mailboxes from about this size on have so much text that it is indexed. */
const INDEXED_MESSAGES = 100_000;
const INDEXED: Case = {
  ...{ name: 'SEARCH TEXT, indexed', unit: 'ms', aim: '<= 0.02 x', peers: 'both' },
  measure: measures.searchTextIndexed,
};

/** Returns the group for mailboxes of this size. */
export function imap(messages: number): Group {
  return {
    name: 'imap',
    async prepare(workspace) {
      if (process.getuid?.() !== 0) return { unavailable: 'Dovecot runs only as root' };
      const reason = installPackages(DOVECOT_PACKAGES);
      if (reason !== undefined) return { unavailable: reason };
      const dovecot = (format: Format) =>
        once(async () => fillSystem(await startDovecot(workspace, format, USERS), messages));
      const systems = {
        maildir: dovecot('maildir'),
        mdbox: dovecot('mdbox'),
        postrider: once(async () => fillSystem(await startPostriderImap(workspace, USERS), messages)),
      };
      const cases = messages >= INDEXED_MESSAGES ? [...CASES, INDEXED] : CASES;
      return { rows: cases.flatMap((asked) => compare(asked, systems)) };
    },
  };
}

type Systems = Record<Format | 'postrider', () => Promise<ImapSystem>>;

function compare({ name, unit, aim, peers, measure }: Case, systems: Systems): Row[] {
  const job = `IMAP, ${name}` as const;
  const run = (system: () => Promise<ImapSystem>) => async (): Promise<Measure> => measure(await system());
  return [
    {
      ...{ name: `Dovecot maildir: ${name}`, unit, measure: run(systems.maildir) },
      ...(peers === 'both' && { comparison: { job, role: 'peer' } }),
    },
    { name: `Dovecot mdbox: ${name}`, unit, comparison: { job, role: 'peer' }, measure: run(systems.mdbox) },
    {
      ...{ name: `Postrider: ${name}`, unit, aim, comparison: { job, role: 'measured' } },
      measure: run(systems.postrider),
    },
  ];
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
