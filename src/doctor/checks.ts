/** Every check, in the order in which findings are shown. */
import type { Check } from './check.ts';
import { address } from './checks/address.ts';
import { backgroundWork } from './checks/background-work.ts';
import { backup } from './checks/backup.ts';
import { blocklists } from './checks/blocklists.ts';
import { certificates } from './checks/certificates.ts';
import { clock } from './checks/clock.ts';
import { complaints } from './checks/complaints.ts';
import { disk } from './checks/disk.ts';
import { dnsRecords } from './checks/dns-records.ts';
import { domains } from './checks/domains.ts';
import { memory } from './checks/memory.ts';
import { outboundPort } from './checks/outbound-port.ts';
import { pages } from './checks/pages.ts';
import { queueAge } from './checks/queue-age.ts';
import { reverseDns } from './checks/reverse-dns.ts';
import { tlsa } from './checks/tlsa.ts';

export const CHECKS: readonly Check[] = [
  disk,
  memory,
  clock,
  address,
  reverseDns,
  outboundPort,
  blocklists,
  dnsRecords,
  certificates,
  tlsa,
  pages,
  domains,
  complaints,
  queueAge,
  backup,
  backgroundWork,
];
