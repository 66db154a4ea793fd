/** Every check by its area, in the order in which findings are shown. */
import type { Check } from './check.ts';
import { address } from './checks/address.ts';
import { backgroundWork } from './checks/background-work.ts';
import { backup } from './checks/backup.ts';
import { blocklists } from './checks/blocklists.ts';
import { certificates } from './checks/certificates.ts';
import { clock } from './checks/clock.ts';
import { complaints } from './checks/complaints.ts';
import { dane } from './checks/dane.ts';
import { disk } from './checks/disk.ts';
import { dnsRecords } from './checks/dns-records.ts';
import { domains } from './checks/domains.ts';
import { memory } from './checks/memory.ts';
import { outboundPort } from './checks/outbound-port.ts';
import { pages } from './checks/pages.ts';
import { ports } from './checks/ports.ts';
import { queueAge } from './checks/queue-age.ts';
import { receivers } from './checks/receivers.ts';
import { reverseDns } from './checks/reverse-dns.ts';
import { sources } from './checks/sources.ts';
import { standby } from './checks/standby.ts';
import { tlsa } from './checks/tlsa.ts';

/** The checks by what they are about. */
export const CHECK_AREAS = {
  machine: [disk, memory, clock, ports],
  network: [address, reverseDns, sources, outboundPort, blocklists, dane],
  names: [dnsRecords, certificates, tlsa, pages],
  mail: [domains, complaints, receivers, queueAge],
  upkeep: [backup, standby, backgroundWork],
} as const satisfies Record<string, readonly Check[]>;
export type CheckArea = keyof typeof CHECK_AREAS;

export const CHECKS: readonly Check[] = Object.values(CHECK_AREAS).flat();
